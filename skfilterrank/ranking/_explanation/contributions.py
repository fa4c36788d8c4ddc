"""What each feature adds to the score of a document: linear models, and trees by TreeSHAP."""

from itertools import islice

import numpy as np
from scipy import sparse

from skfilterrank.exceptions import InputError
from skfilterrank.ranking._boosting.rankboost import RankBoostRanker


def contributions(estimator, X) -> np.ndarray:
    """What features add to the raw score of each row, and in the last column what all rows have.

    Shape (n_rows, n_features + 1); a row's sum is its raw score, of classifiers the log-odds.
    """
    libraries = {base.__module__.partition(".")[0] for base in type(estimator).__mro__}
    if isinstance(estimator, RankBoostRanker):
        return _of_thresholds(estimator, _dense(X))
    if "lightgbm" in libraries or hasattr(estimator, "booster_"):
        parts = estimator.booster_.predict(_dense(X), pred_contrib=True)
    elif "xgboost" in libraries:
        parts = _of_xgboost(estimator, X)
    elif "catboost" in libraries:
        from catboost import Pool

        pool = Pool(_dense(X), cat_features=estimator.get_cat_feature_indices())
        parts = estimator.get_feature_importance(pool, type="ShapValues")
    elif hasattr(estimator, "coef_"):
        parts = _of_weights(estimator, _dense(X))
    else:
        raise InputError(
            f"{type(estimator).__name__} does not say what a feature adds to its score: expected a "
            "linear model, RankBoostRanker, or trees of LightGBM, XGBoost or CatBoost."
        )
    parts = np.asarray(parts, dtype=np.float64)
    if parts.shape != (X.shape[0], X.shape[1] + 1):
        raise InputError(
            f"{type(estimator).__name__} has a score for each of several classes: expected two "
            "classes, a regressor or a ranker."
        )
    return parts


def _dense(X):
    """The rows, of which there are one or two."""
    return X.toarray() if sparse.issparse(X) else X


def _of_xgboost(estimator, X):
    """TreeSHAP of the trees that predict."""
    from xgboost import DMatrix

    matrix = DMatrix(X, missing=estimator.missing, enable_categorical=True)
    # Without early stopping there is no best round, and 0 stands for all.
    rounds = (0, getattr(estimator, "best_iteration", -1) + 1)
    return estimator.get_booster().predict(matrix, pred_contribs=True, iteration_range=rounds)


def _of_weights(estimator, X):
    """Weights times values."""
    weights = np.atleast_2d(estimator.coef_)
    parts = [weights[:1] * np.asarray(X, dtype=np.float64)] * len(weights)
    offset = np.ravel(getattr(estimator, "intercept_", 0.0))[0]
    return np.column_stack([*parts, np.full(len(X), offset)])


def _of_thresholds(ranker, X):
    """Sums of the rounds of each feature."""
    parts = np.zeros((len(X), X.shape[1] + 1))
    rounds = zip(ranker.features_, ranker.thresholds_, ranker.missing_above_, ranker.alphas_)
    for feature, threshold, missing_above, alpha in islice(rounds, ranker.best_iteration_):
        values = np.asarray(X)[:, feature]
        parts[:, feature] += alpha * ((values > threshold) | (missing_above & np.isnan(values)))
    return parts
