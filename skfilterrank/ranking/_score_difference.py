"""score_difference: explain why a document is ranked above another, or hidden."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from skfilterrank._base.checks import check_count, count_rows
from skfilterrank._base.results import Result
from skfilterrank._base.sklearn_compat import BaseSearchCV, feature_names, safe_indexing
from skfilterrank._base.words import counted
from skfilterrank._estimators.responses import before_last, document_scores
from skfilterrank._estimators.wrapping import WrappingRanker
from skfilterrank._lists.queries import check_groups, find_groups
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._rank_and_filter import RankAndFilter
from skfilterrank.ranking._rankboost import RankBoostRanker, scores_of_round

# Relative error of XGBoost's sums, which are computed in float32.
_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class ScoreDifference(Result):
    """Contributions of features to the difference of two scores, by :func:`score_difference`."""

    features: list
    values: np.ndarray
    other_values: np.ndarray | None
    contributions: np.ndarray
    baseline: float
    difference: float
    scale: str

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each feature, largest contribution first.

        Returns
        -------
        DataFrame
            Index "feature"; columns "value", "other" (between documents) and "contribution".
            Against the threshold the last row is "(baseline)".
        """
        columns = {"value": self.values, "other": self.other_values}
        columns = {name: column for name, column in columns.items() if column is not None}
        columns["contribution"] = self.contributions
        frame = pd.DataFrame(columns, index=pd.Index(self.features, name="feature"))
        frame = frame.iloc[np.argsort(-np.abs(self.contributions), kind="stable")]
        if self.other_values is None:
            frame.loc["(baseline)", "contribution"] = self.baseline
        return frame

    def _summary(self):
        return f"{self._head()}, {counted(len(self.features), 'feature')}"

    def _head(self):
        what = "another" if self.other_values is not None else "the threshold"
        where = "above" if self.difference >= 0 else "below"
        return f"{abs(self.difference):.4g} {where} {what} ({self.scale})"

    def _places(self, n_rows):
        places = super()._places(n_rows)
        if self.other_values is None:
            places[-1] = n_rows - 1
        return places


def score_difference(model, X, document, other=None, *, groups=None) -> ScoreDifference:
    """Explain why a document is ranked above another, or why it is shown or hidden.

    Parameters
    ----------
    model : estimator
        A fitted linear model, RankBoostRanker, or trees of LightGBM, XGBoost or CatBoost, alone or
        inside a Pipeline, a search, :class:`QueryRanker` or :class:`RankAndFilter`.
    X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
        Documents, as the model's `predict` takes them.
    document : int
        Row number of the document, from 0.
    other : int or None, default=None
        Row number of the other document. None takes the threshold of a RankAndFilter.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, where `predict` needs it. None looks for an index level "qid" on `X`.

    Returns
    -------
    ScoreDifference
        Contributions of features; ``print`` shows a table.

        features : list of str
            Names of the features, as the last step of the model sees them.
        values : ndarray of shape (n_features,)
            Their values in the document.
        other_values : ndarray of shape (n_features,) or None
            Their values in the other document; None where the other is the threshold.
        contributions : ndarray of shape (n_features,), dtype float64
            Contribution of each feature to the difference.
        baseline : float
            Part of the difference that does not depend on features: 0 between two documents.
            Against the threshold, it is the common part of all scores minus the threshold. The
            common part is the intercept of a linear model, or for trees the mean score of the
            training rows.
        difference : float
            The score of the document minus that of the other, or minus the threshold: the sum of
            all contributions and the baseline. Above 0 the document stands higher, or is shown.
        scale : {"score", "log-odds"}
            Scale of the difference. Log-odds are used for probabilities of a classifier, because
            only log-odds are sums over features.

    Raises
    ------
    ValueError
        If a row number is out of range, the model's score is not a sum over features, or the
        threshold is missing or shows or hides every document.

    Notes
    -----
    For a linear model a feature adds its weight times the difference of its values. For trees it
    adds the difference of its Shapley values, exactly, by TreeSHAP [1]_ as LightGBM, XGBoost and
    CatBoost compute it. The contributions sum up to the difference of the scores, up to rounding:
    XGBoost's in float32, others in float64. They describe the model, not the documents: of two
    redundant features, a model may use either.

    References
    ----------
    .. [1] S. Lundberg et al., "From Local Explanations to Global Understanding with Explainable
       AI for Trees", Nature Machine Intelligence 2, 2020.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from skfilterrank.ranking import RankAndFilter, score_difference
    >>> X = pd.DataFrame({"bm25": [3.0, 1.0, 2.0, 0.0], "age": [0.0, 1.0, 1.0, 0.0]})
    >>> model = RankAndFilter(Ridge(alpha=1e-9), threshold=0.0)
    >>> model = model.fit(X, [2, -1, 0, -1], groups=[1, 1, 2, 2])
    >>> print(score_difference(model, X, 0, 1))
    3 above another (score)
             value  other  contribution
    feature
    bm25    3.0000 1.0000        2.0000
    age     0.0000 1.0000        1.0000
    >>> score_difference(model, X, 1)  # why it is hidden
    <ScoreDifference: 1 below the threshold (score), 2 features>
    """
    n_rows = count_rows(X)
    rows = [
        check_count(row, name, least=0, most=n_rows - 1)
        for name, row in (("document", document), ("other", other))
        if row is not None or name == "document"
    ]
    groups = find_groups(groups, X)
    if groups is not None:
        groups = check_groups(groups, n_rows=n_rows).row_ids()
    scores = _raw_scores(model, X, groups)[rows]
    threshold = None if other is not None else _threshold(model, X, rows[0], groups)
    estimator, seen, names = _innermost(model, X, groups)
    seen = safe_indexing(seen, rows)
    if not hasattr(seen, "shape"):
        seen = np.asarray(seen)
    parts, is_log_odds = _signed(estimator, contributions(estimator, seen), scores)
    values = seen.toarray() if hasattr(seen, "toarray") else np.asarray(seen)
    if threshold is not None and is_log_odds:
        threshold = logit(threshold) if 0 < threshold < 1 else np.inf
    if threshold is not None and not np.isfinite(threshold):
        raise InputError(
            "the threshold shows or hides every document, whatever its score: give other=, the "
            "row number of a document to compare with."
        )
    mine = parts[0] - (0.0 if other is None else parts[1])
    baseline = 0.0 if other is not None else float(mine[-1] - threshold)
    return ScoreDifference(
        features=list(map(str, range(len(mine) - 1) if names is None else names)),
        values=values[0],
        other_values=None if other is None else values[1],
        contributions=mine[:-1],
        baseline=baseline,
        difference=float(mine[:-1].sum() + baseline),
        scale="log-odds" if is_log_odds else "score",
    )


def _threshold(model, X, row, groups):
    """Return the threshold for the score of a row."""
    thresholds = None
    if isinstance(model, RankAndFilter):
        thresholds = model._scores_and_thresholds(X, groups)[1]
    if thresholds is None:
        raise InputError(
            f"{type(model).__name__} has no threshold on its score: give other=, the row number of "
            "a document to compare with, or a RankAndFilter that hides by one score."
        )
    return float(np.broadcast_to(thresholds, count_rows(X))[row])


def _raw_scores(model, X, groups):
    """Compute scores before anything is hidden."""
    if not hasattr(model, "predict"):
        raise InputError(f"model must be a fitted estimator, got {brief(model)}.")
    try:
        if isinstance(model, RankAndFilter):
            return model._scores_and_thresholds(X, groups)[0]
        return document_scores(model, X, groups=groups)
    except (TypeError, ValueError) as error:
        raise InputError(f"model, {type(model).__name__}, cannot score X: {error}") from error


def _innermost(model, X, groups):
    """Return the innermost estimator, its transformed X, and its feature names or None."""
    names = feature_names(X)
    while isinstance(model, WrappingRanker | BaseSearchCV | Pipeline | FrozenEstimator):
        if isinstance(model, Pipeline):
            X = before_last(model, X, groups)
            names = _names_after(model[:-1], names)
            model = model.steps[-1][1]
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        else:
            model = model.best_estimator_ if isinstance(model, BaseSearchCV) else model.estimator_
    return model, X, names


def _names_after(pipeline, names):
    """Return the names of a Pipeline's output; None if a step does not know them."""
    try:
        return pipeline.get_feature_names_out(names) if pipeline.steps else names
    except (AttributeError, ValueError):
        return None


def _signed(estimator, parts, scores):
    """Compute contributions to the raw score, and tell if these are log-odds."""
    is_probability = is_classifier(estimator) and hasattr(estimator, "predict_proba")
    tolerance = _TOLERANCE if is_probability else _TOLERANCE * np.abs(parts).sum(axis=1).max()
    # A classifier's sums are for its second class, which need not be the good one.
    for sign in (1, -1) if is_classifier(estimator) else (1,):
        sums = sign * parts.sum(axis=1)
        if np.allclose(expit(sums) if is_probability else sums, scores, rtol=0, atol=tolerance):
            return sign * parts, is_probability
    raise InputError(
        f"the score of {type(estimator).__name__} is not a sum over features: expected a linear "
        "model, trees whose values are added up, or a classifier whose log-odds are such a sum."
    )


def contributions(estimator, X) -> np.ndarray:
    """Compute contributions of features to raw scores; the last column is the common part.

    Shape (n_rows, n_features + 1). The sum of a row is its raw score; for classifiers, its
    log-odds.
    """
    libraries = {base.__module__.partition(".")[0] for base in type(estimator).__mro__}
    if isinstance(estimator, RankBoostRanker):
        return _of_thresholds(estimator, np.asarray(_dense(X)))
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
            f"{type(estimator).__name__} does not provide contributions of features: expected a "
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
    """Return rows as a dense array."""
    return X.toarray() if sparse.issparse(X) else X


def _of_xgboost(estimator, X):
    """Compute TreeSHAP values of the trees that XGBoost uses in `predict`."""
    from xgboost import DMatrix

    matrix = DMatrix(X, missing=estimator.missing, enable_categorical=True)
    # Without early stopping there is no best round; 0 means all rounds.
    rounds = (0, getattr(estimator, "best_iteration", -1) + 1)
    return estimator.get_booster().predict(matrix, pred_contribs=True, iteration_range=rounds)


def _of_weights(estimator, X):
    """Compute contributions in a linear model: weights times values, and the intercept."""
    weights = np.atleast_2d(estimator.coef_)
    parts = [weights[:1] * np.asarray(X, dtype=np.float64)] * len(weights)
    offset = np.ravel(getattr(estimator, "intercept_", 0.0))[0]
    return np.column_stack([*parts, np.full(len(X), offset)])


def _of_thresholds(ranker, X):
    """Compute contributions in a RankBoostRanker: the sum of the rounds of each feature."""
    parts = np.zeros((len(X), X.shape[1] + 1))
    for round_ in ranker._rounds()[: ranker.best_iteration_]:
        parts[:, round_[0]] += scores_of_round(round_, X)
    return parts
