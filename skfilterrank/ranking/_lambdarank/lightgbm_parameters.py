"""The parameters of LightGBM: those LambdaRankRanker sets, and those its users may add."""

from skfilterrank.exceptions import InputError, brief

# LightGBM's name of each parameter it is handed, and the other names it answers to.
_LIGHTGBM_NAMES = {
    "learning_rate": ("learning_rate", "shrinkage_rate", "eta"),
    "num_leaves": ("num_leaves", "num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
    "max_depth": ("max_depth",),
    "min_child_samples": (
        "min_data_in_leaf",
        "min_data_per_leaf",
        "min_data",
        "min_child_samples",
        "min_samples_leaf",
    ),
    "subsample": ("bagging_fraction", "sub_row", "subsample", "bagging"),
    "subsample_freq": ("bagging_freq", "subsample_freq"),
    "colsample_bytree": ("feature_fraction", "sub_feature", "colsample_bytree"),
    "reg_alpha": ("lambda_l1", "reg_alpha", "l1_regularization"),
    "reg_lambda": ("lambda_l2", "reg_lambda", "lambda", "l2_regularization"),
    "n_estimators": (
        "num_iterations",
        "num_iteration",
        "n_iter",
        "num_tree",
        "num_trees",
        "num_round",
        "num_rounds",
        "nrounds",
        "num_boost_round",
        "n_estimators",
        "max_iter",
    ),
    "early_stopping_rounds": (
        "early_stopping_round",
        "early_stopping_rounds",
        "early_stopping",
        "n_iter_no_change",
    ),
    "random_state": ("seed", "random_seed", "random_state"),
    "n_jobs": ("num_threads", "num_thread", "nthread", "nthreads", "n_jobs"),
    "verbose": ("verbosity", "verbose"),
    "sigmoid": ("sigmoid",),
    "k": ("lambdarank_truncation_level",),
    "norm": ("lambdarank_norm",),
    "gains": ("label_gain",),
}
# Handed over in the parameters of LightGBM as they are.
_TREE_PARAMETERS = (
    "learning_rate",
    "num_leaves",
    "max_depth",
    "min_child_samples",
    "subsample",
    "subsample_freq",
    "colsample_bytree",
    "reg_alpha",
    "reg_lambda",
)
_FIXED = ("objective", "objective_type", "app", "application", "loss", "metric", "metrics")


def tree_parameters(estimator) -> dict:
    """Parameters of the estimator's trees, by LightGBM's names."""
    return {_LIGHTGBM_NAMES[name][0]: getattr(estimator, name) for name in _TREE_PARAMETERS}


def further_parameters(params, owner: str) -> dict:
    """A user's own parameters, none of which the estimator called `owner` sets itself."""
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise InputError(f"params must be a dict of LightGBM parameters, got {brief(params)}.")
    for own, names in _LIGHTGBM_NAMES.items():
        for name in set(names) & set(params):
            raise InputError(f"params must not hold {brief(name)}: set {own}= of {owner} instead.")
    for name in set(_FIXED) & set(params):
        raise InputError(
            f"params must not hold {brief(name)}: {owner} has its own objective and measure."
        )
    return params
