"""QueryScaler: scaling of numeric features within each query."""

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._base.checks import check_choice, check_container
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.wrapping import check_finite_columns, refuse_dates
from skfilterrank._lists.queries import check_groups, find_groups
from skfilterrank.exceptions import InputError

METHODS = ("standardize", "min_max", "rank")
# Parts of 1 in which values are summed, and parts of such a part.
_PARTS = 2.0**30


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Scale each feature within each query.

    Many features are comparable only within a query: a BM25 score of 12 is high for one query and
    low for another. The result for a row depends only on the rows of its query, not on data in
    `fit`. So no information passes between queries, and a query has the same values alone as
    together with other queries.

    Parameters
    ----------
    method : {"standardize", "min_max", "rank"}, default="standardize"
        "standardize": mean 0 and standard deviation 1. "min_max": from 0 to 1. "rank": the share
        of the other documents that have a lower value, equal ones counted half; it is from 0 to 1,
        and does not depend on the scale or on outliers.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the features, where X is a DataFrame.

    See Also
    --------
    sklearn.preprocessing.StandardScaler : Scales over all queries.
    ListFeatures : Features of texts from the other documents of the query.

    Notes
    -----
    With the values :math:`v` of a feature in a query of n documents,

    .. math::

        \frac{v - \mathrm{mean}(v)}{\sqrt{\mathrm{mean}((v - \mathrm{mean}(v))^2)}}, \qquad
        \frac{v - \min(v)}{\max(v) - \min(v)}, \qquad
        \frac{\mathrm{rank}(v) - 1}{n - 1} .

    If all values of a query are equal, or it has only one document, the first two are 0 and the
    third is 0.5. NaN is a missing value: it stays NaN, and the others are scaled without it.
    Features in LETOR's files are scaled by "min_max".

    Query ids come as `groups`, or in an index level "qid" of X, in `fit_transform` also of y.
    If the Pipeline is inside a :class:`~skfilterrank.ranking.RankAndFilter` or a ``QueryRanker``,
    or is scored by a ranking scorer, these pass the query ids to this step. scikit-learn's own
    ``Pipeline.predict(X)`` needs the index level, or metadata routing. Pass all documents of a
    query in one call. A step before this one must keep the index:
    ``set_output(transform="pandas")``.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.ranking import QueryScaler
    >>> X = pd.DataFrame(
    ...     {"bm25": [12.0, 8.0, 10.0, 3.0, 1.0]},
    ...     index=pd.Index(["a", "a", "a", "b", "b"], name="qid"),
    ... )
    >>> QueryScaler("min_max").fit_transform(X).ravel()
    array([1. , 0. , 0.5, 1. , 0. ])
    >>> scaler = QueryScaler("rank").fit(X)
    >>> scaler.transform(X.loc[["b"]]).ravel()  # alone, as when it is served
    array([1., 0.])
    """

    n_features_in_: int
    feature_names_in_: Any

    __metadata_request__transform = {"groups": True}  # noqa: RUF012
    __metadata_request__fit_transform = {"groups": True}  # noqa: RUF012

    def __init__(self, method: str = "standardize") -> None:
        self.method = method

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Store the number and the names of the features.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_features)
            Numbers; NaN is a missing value.
        y : None
            Ignored.

        Returns
        -------
        self : QueryScaler
            The fitted transformer.
        """
        check_choice(self.method, "method", METHODS)
        self._check_features(X, reset=True)
        return self

    def fit_transform(self, X, y=None, groups=None) -> np.ndarray:
        """Fit, and scale X as :meth:`transform` does; query ids may be in the index of y."""
        return self.fit(X).transform(X, groups=find_groups(groups, X, y, names=("X", "y")))

    def transform(self, X, groups=None) -> np.ndarray:
        """Scale each feature within each query.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_features)
            All documents of each query, in any order; NaN is a missing value.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows, n_features), dtype float64
            The scaled features.

        Raises
        ------
        ValueError
            If query ids are missing, X is sparse, holds infinite values, or has other features
            than in `fit`.
        """
        check_is_fitted(self)
        values = self._check_features(X, reset=False)
        index = check_groups(groups, X, n_rows=len(values), carrier="X as a DataFrame")
        return _SCALES[self.method](values, index)

    def _check_features(self, X, *, reset):
        """Return a dense matrix of float64, NaN where missing."""
        check_container(X)
        refuse_dates(X)
        if hasattr(X, "tocsr"):
            raise InputError(
                "X is sparse, and scaling within queries would change its zeros: pass "
                "X.toarray(), or scale only dense columns by a ColumnTransformer."
            )
        X = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        owner = type(self).__name__
        names = getattr(self, "feature_names_in_", None)
        check_finite_columns(X, owner=owner, names=names, allow_nan=True)
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _standardize(values, index):
    """Divide deviations from the mean by their standard deviation."""
    # Scale by the range first: squares cannot overflow then.
    parts = _min_max(values, index)
    parts -= _means(parts, index)
    spread = np.sqrt(_means(parts**2, index))
    return _divide(parts, spread, spread > 0)


def _min_max(values, index):
    """Divide distances from the lowest value by the range of the values."""
    codes = index.codes()
    queries = pd.DataFrame(values).groupby(codes)
    low = queries.min().to_numpy()[codes]
    span = queries.max().to_numpy()[codes] - low
    return _divide(values - low, span, span > 0)


def _rank(values, index):
    """Compute the share of other values that are lower, plus half of those that are equal."""
    codes = index.codes()
    queries = pd.DataFrame(values).groupby(codes)
    n_others = queries.count().to_numpy()[codes] - 1
    return _divide(queries.rank().to_numpy() - 1, n_others, n_others > 0, 0.5)


def _means(values, index):
    """Return the mean of each feature, from -1 to 1, over the query of each row; NaN is left out.

    Sums of whole numbers are exact. So neither query ids nor the order of rows change the last
    digit, as they do in the means of pandas.
    """
    codes = index.codes()
    means = np.empty_like(values)
    for column, found in zip(values.T, means.T):
        is_known = ~np.isnan(column)
        scaled = np.where(is_known, column, 0.0) * _PARTS
        whole = np.rint(scaled)
        rest = np.rint((scaled - whole) * _PARTS)
        whole, rest, n_known = (
            index.sums(each.astype(np.int64)) for each in (whole, rest, is_known)
        )
        found[:] = ((whole + rest / _PARTS) / _PARTS / np.maximum(n_known, 1))[codes]
    return means


def _divide(values, by, where, otherwise=0.0):
    """Divide where the divisor is not 0; NaN stays NaN."""
    quotient = np.divide(values, by, out=np.full(values.shape, otherwise), where=where)
    quotient[np.isnan(values)] = np.nan
    return quotient


_SCALES = {"standardize": _standardize, "min_max": _min_max, "rank": _rank}
