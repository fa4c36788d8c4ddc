"""Ready models for the six losses of learning to rank and filter."""

from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._core.checks import check_choice
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._lambdarank.lambdarank import LambdaRankRanker
from skfilterrank.ranking._methods.ordinal import OrdinalRanker
from skfilterrank.ranking._methods.shared_features import SharedFeatures

LOSSES = ("bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce")
LEARNERS = ("linear", "trees", "blend")


# Small, slow-learning trees on part of rows and columns: query-grouped cross-validation on text
# features of a few thousand documents prefers them to LightGBM's defaults.
_TREES = {
    "n_estimators": 200,
    "learning_rate": 0.03,
    "num_leaves": 15,
    "colsample_bytree": 0.3,
    "subsample": 0.7,
    "subsample_freq": 1,
    "reg_lambda": 5.0,
}


def make_ranker(loss, *, learner: str = "linear", features=None, random_state=0, n_jobs=None):
    """Make an unfitted estimator for one of the six losses of learning to rank and filter.

    Parameters
    ----------
    loss : {"bce", "mse", "ordinal", "weighted-ordinal", "lambdarank", "lambdarank+bce"}
        Binary cross-entropy (a classifier of gain above 0), squared error (a regressor of the
        gain), Frank and Hall's ordinal loss without and with gain weights, LambdaRank on nDCG_f,
        and LambdaRank plus binary cross-entropy.
    learner : {"linear", "trees", "blend"}, default="linear"
        Linear models, gradient-boosted trees (LightGBM), or the mean of both. The two LambdaRank
        losses always use trees.
    features : transformer, dict, or None, default=None
        What turns X into numbers without looking at labels, such as :func:`make_text_features`;
        a dict gives one for "linear" and one for "trees". None takes X as numbers and, for linear
        models, standardises it with missing values at the mean.
    random_state : int or None, default=0
        Seed of the trees.
    n_jobs : int or None, default=None
        Threads of the trees; None means 1.

    Returns
    -------
    estimator
        For :class:`RankAndFilter`, which adds the threshold.

    Raises
    ------
    ValueError
        For an unknown loss or learner.

    Notes
    -----
    Section 5.1 of [1]_, where one neural text encoder serves all six losses.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.ranking import RankAndFilter, make_ranker
    >>> RankAndFilter(make_ranker("ordinal"), k=3)
    RankAndFilter(...)
    """
    check_choice(loss, "loss", LOSSES)
    check_choice(learner, "learner", LEARNERS)
    trees = {"random_state": random_state, "n_jobs": 1 if n_jobs is None else n_jobs} | _TREES
    if loss.startswith("lambdarank"):
        gamma = 3.0 if loss.endswith("+bce") else 0.0
        return _after_features(features, "trees", LambdaRankRanker(gamma=gamma, **trees))
    quiet = {"verbose": -1, "deterministic": True, "force_row_wise": True}
    if loss == "mse":
        members = {"linear": Ridge(alpha=10.0), "trees": LGBMRegressor(**trees, **quiet)}
        blend = VotingRegressor
    else:
        members = {
            "linear": LogisticRegression(max_iter=1000),
            "trees": LGBMClassifier(**trees, **quiet),
        }
        blend = _soft_vote
    members = {kind: _after_features(features, kind, model) for kind, model in members.items()}
    model = blend(list(members.items())) if learner == "blend" else members[learner]
    if loss.endswith("ordinal"):
        model = OrdinalRanker(model, weights="gain" if loss == "weighted-ordinal" else None)
    return model


def _soft_vote(members):
    """Mean of the members' probabilities."""
    return VotingClassifier(members, voting="soft")


def _after_features(features, kind, model):
    """A Pipeline of the features that suit the kind of model, and the model."""
    if isinstance(features, dict):
        if kind not in features:
            raise InputError(f"features must have the key {kind!r}, got {brief(features)}.")
        features = features[kind]
    if features is not None:
        return Pipeline([("features", SharedFeatures(features)), ("model", model)])
    if kind == "trees":
        return Pipeline([("model", model)])
    impute = SimpleImputer(keep_empty_features=True)
    return Pipeline([("impute", impute), ("scale", StandardScaler()), ("model", model)])
