"""A threshold for each query, learned from the scores of its documents."""

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from skfilterrank._all_or_nothing import all_or_nothing
from skfilterrank._core.queries import GroupIndex
from skfilterrank._core.same_value import mean_tolerance
from skfilterrank._files.states import listed, number, numbers, record
from skfilterrank.metrics import dcg_bounds
from skfilterrank.thresholds._cuts import Cut, folds_of_queries
from skfilterrank._core.prefixes import best_prefix, places_of_ties

# Squares do not extrapolate: features are cut to these quantiles of what was learned from.
_RANGE = (0.005, 0.995)
# Folds by query for the thresholds of the rows that were learned from.
# Of each document.
_N_FEATURES = 3
_ROW = numbers(_N_FEATURES, _N_FEATURES)
# What a file holds of it.
_FIELDS = record(
    {
        "mean": number(),
        "deviation": number(),
        "range": listed(_ROW, 2, 2),
        "worth": record(
            {
                "mean": _ROW,
                "scale": _ROW,
                "constant": number(),
                "linear": _ROW,
                "products": listed(_ROW, _N_FEATURES, _N_FEATURES),
            }
        ),
    }
)


class QueryThreshold(Cut):
    """Stop each query's list where showing more is expected to do harm.

    What a document adds to its query's nDCG_f is its gain over I - W, discounted by its place. A
    regression learns that worth from the document's score and from the rest of its list; the
    threshold of a query lies below the prefix of its ranking whose expected sum is highest.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off of nDCG_f; None means all places.

    Attributes
    ----------
    regression_ : Worth
        Ridge regression on the squares and products of :func:`list_features`.
    out_of_fold_thresholds_ : ndarray of shape (n_rows,), dtype float64
        Threshold of each row's query, from a regression that has not seen the query. With one
        query, or none that can be learned from in a fold, from the rows themselves.

    See Also
    --------
    RankAndFilter : Uses it with ``threshold="per_query"``.

    Notes
    -----
    Given the scores, the expected nDCG_f of a list that shows its first n documents is, up to a
    constant, the sum over their places i of ``u_i / log2(i + 1)``, where ``u`` is the expected
    worth E[gain / (I - W)]. With the exact u, this filter is the best possible one for the given
    order. The regression is small on purpose, since there are often only some hundred queries to
    learn from.

    It learns from the first 2 k places of each list, with all that are tied there, between which
    and nothing the decision lies. Unjudged rows are not learned from. Rows that score -inf are
    neither learned from nor kept, and are no part of their list. Nothing here is random.
    """

    # Keys are 1 where a row is shown and -1 where not: the level is no matter of tuning.
    level = 0.0

    @all_or_nothing
    def fit(
        self, gains: np.ndarray, scores: np.ndarray, index: GroupIndex, units=None
    ) -> "QueryThreshold":
        """Learn from out-of-fold scores.

        Parameters
        ----------
        gains : ndarray of shape (n_rows,), float64
            Gain of each row, NaN where unjudged.
        scores : ndarray of shape (n_rows,), float64
            Scores from models that have not seen the row; -inf where filtered.
        index : GroupIndex
            The lists.
        units : ndarray of shape (n_lists,), int, default=None
            Number of the query of each list, as several may be of one; None where none are.

        Returns
        -------
        self : QueryThreshold
            The fitted thresholds.
        """
        self._learn(gains, scores, index)
        thresholds, codes = self.thresholds(scores, index), index.codes()
        for train, test in folds_of_queries(index, units):
            inner = QueryThreshold(self.k)
            of_train, of_test = (GroupIndex.from_groups(codes[rows]) for rows in (train, test))
            if inner._learn(gains[train], scores[train], of_train):
                thresholds[test] = inner.thresholds(scores[test], of_test)
        self.out_of_fold_thresholds_ = thresholds
        self.out_of_fold_keys_ = np.where(scores >= thresholds, 1.0, -1.0)
        return self

    def _learn(self, gains, scores, index) -> bool:
        """Learn scales and the regression; tell whether there is a row to learn from."""
        finite = scores[np.isfinite(scores)]
        self.mean_ = float(finite.mean()) if len(finite) else 0.0
        deviation = float(finite.std()) if len(finite) else 0.0
        # The standard deviation of equal scores need not be exactly 0.
        self.deviation_ = deviation if deviation > mean_tolerance(finite) else 1.0
        features = list_features(self._standardised(scores), index)
        self.range_ = np.quantile(features, _RANGE, axis=0)
        features = np.clip(features, *self.range_)
        worth = normalised_gains(gains, index, self.k)
        learned = np.isfinite(scores) & ~np.isnan(gains)
        if self.k is not None:
            learned &= places_of_ties(scores, index) < 2 * self.k
        self.regression_ = Worth.fitted(features[learned], worth[learned])
        return bool(learned.any())

    def keys(self, scores: np.ndarray, index: GroupIndex) -> np.ndarray:
        return np.where(scores >= self.thresholds(scores, index), 1.0, -1.0)

    def state(self):
        return {
            "mean": self.mean_,
            "deviation": self.deviation_,
            "range": self.range_.tolist(),
            "worth": {
                name: np.asarray(value).tolist()
                for name, value in self.regression_._asdict().items()
            },
        }

    def restore(self, state, name):
        state = _FIELDS(state, name)
        self.mean_, self.deviation_ = state["mean"], state["deviation"]
        self.range_, worth = np.array(state["range"]), state["worth"]
        self.regression_ = Worth(**worth | {"products": np.array(worth["products"])})

    def thresholds(self, scores: np.ndarray, index: GroupIndex) -> np.ndarray:
        """Threshold of each row's query.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,), float64
            Scores of all documents of each query, on the scale of those it was fitted on; -inf
            where filtered.
        index : GroupIndex
            The queries.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            The same for all rows of a query, which are to be kept where ``score >= threshold``:
            -inf where all are, +inf where none is.
        """
        features = list_features(self._standardised(scores), index)
        expected = self.regression_.predict(np.clip(features, *self.range_))
        return best_prefix(expected, scores, index, self.k)

    def _standardised(self, scores):
        """Scores in standard deviations from their mean."""
        return (scores - self.mean_) / self.deviation_


class Worth(NamedTuple):
    """A regression of the worth on squares and products of standardised features.

    A few numbers instead of the four estimators that find them, which take ten times as long to
    look at the twenty documents of a query as to compute.
    """

    mean: np.ndarray
    scale: np.ndarray
    constant: float
    linear: np.ndarray
    products: np.ndarray

    @classmethod
    def fitted(cls, features, worth):
        """Ridge regression; zero without rows to learn from."""
        if not len(worth):
            features, worth = np.zeros((1, _N_FEATURES)), np.zeros(1)
        model = make_pipeline(
            StandardScaler(),
            PolynomialFeatures(2, include_bias=False),
            StandardScaler(),
            Ridge(10.0),
        )
        # Of features without spread StandardScaler may take a root of less than 0, and then 1.
        with np.errstate(invalid="ignore"):
            model.fit(features, worth)
        first, powers, second, ridge = (step for _, step in model.steps)
        weights = ridge.coef_ / second.scale_
        constant = float(ridge.intercept_ - weights @ second.mean_)
        n = features.shape[1]
        products = np.zeros((n, n))
        for row, weight in zip(powers.powers_[n:], weights[n:]):
            products[tuple(np.repeat(np.arange(n), row))] = weight
        return cls(first.mean_, first.scale_, constant, weights[:n], products)

    def predict(self, features) -> np.ndarray:
        """Expected worth of each row."""
        z = (features - self.mean) / self.scale
        return self.constant + z @ self.linear + ((z @ self.products) * z).sum(axis=1)


def normalised_gains(gains, index, k):
    """Gain of each row divided by I - W of its query; 0 where undefined or unjudged."""
    bounds = dcg_bounds(gains, groups=index, k=k)
    spread = (bounds["ideal_filtered"] - bounds["worst_filtered"]).to_numpy()
    scale = np.zeros(len(spread))
    np.divide(1.0, spread, out=scale, where=spread > 0)
    return np.nan_to_num(gains) * scale[index.codes()]


def list_features(scores, index):
    """Features of a document: its score, and the rest of its list.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), float64
        Standardised scores, -inf where filtered.
    index : GroupIndex
        The queries.

    Returns
    -------
    ndarray of shape (n_rows, 3), float64
        The score; the sum of the other scores of the list over its size, which is their mean
        pulled to 0 as if there were one document more; the logarithm of the size. Filtered rows
        are no part of the list and have a score of 0.
    """
    codes = index.codes()
    shown = np.isfinite(scores)
    scores = np.where(shown, scores, 0.0)
    total = np.bincount(codes, weights=scores, minlength=index.n_queries)[codes]
    size = np.bincount(codes, weights=shown, minlength=index.n_queries)[codes]
    size = np.maximum(size, 1.0)
    return np.column_stack([scores, (total - scores) / size, np.log(size)])
