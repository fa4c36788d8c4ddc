"""The base of rankers that learn from a matrix of features, and the measure of their scores."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.wrapping import check_finite_columns, refuse_dates
from skfilterrank._lists.checks import check_container
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups, refuse_query_column
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.ranking._held_out_sets import (
    check_no_sets,
    held_out_rows,
    read_eval_set,
    warn_unless_stopped_by,
)
from skfilterrank.ranking._training_rows import count_unjudged


class QueryRows(NamedTuple):
    """Checked rows: features, gains, and the number of the query of each row."""

    X: np.ndarray | sparse.csc_array
    gains: np.ndarray
    queries: np.ndarray

    def take(self, rows) -> "QueryRows":
        """Take some rows, by a mask or by row numbers in the wanted order."""
        return QueryRows(self.X[rows], self.gains[rows], self.queries[rows])


class FeatureRanker(RankerMixin, BaseEstimator):
    """A ranker that learns from a matrix of features, dense or sparse."""

    takes_unjudged = True
    n_unjudged_: int
    n_features_in_: int
    feature_names_in_: Any
    best_iteration_: int
    evals_result_: Any
    _sparse_format = "csc"
    # True takes NaN as a missing value of a feature, False makes it an error.
    _takes_nan = False

    def _check_features(self, X, *, groups=None, reset=False):
        """Return a float matrix, dense or sparse; an error names the column of other values."""
        check_container(X)
        refuse_dates(X)
        find_groups(groups, X, names=("X",))
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=self._sparse_format,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            # A query may have no documents to score.
            ensure_min_samples=int(reset),
        )
        names = getattr(self, "feature_names_in_", None)
        refuse_query_column(names)
        check_finite_columns(X, owner=type(self).__name__, names=names, allow_nan=self._takes_nan)
        if sparse.issparse(X) and not X.has_canonical_format:
            # A cell may be stored in parts, which count as their sum.
            X = X.copy()
            X.sum_duplicates()
        return X

    def _judged_rows(self, X, y, groups, *, reset=True) -> QueryRows:
        """Check the rows of `fit`, and return the judged ones; sets `n_unjudged_`."""
        groups = self._find_groups(X, y, groups)
        X = self._check_features(X, reset=reset)
        gains = as_gains(y, self.gains, name="y")
        if len(gains) != X.shape[0]:
            raise InputError(f"y has {len(gains)} labels but X has {X.shape[0]} rows.")
        if groups is None:
            name, loss = type(self).__name__, self._lost_without_groups()
            warn_user(
                f"{name} was given no query ids: each row is its own query, so that {loss}. Pass "
                "groups=, the query id of each row, or give y an index level named 'qid'.",
                FitWarning,
            )
            queries = np.arange(len(gains))
        else:
            queries = check_groups(groups, n_rows=len(gains)).codes()
        rows = QueryRows(X, gains, queries)
        judged = ~np.isnan(gains)
        self.n_unjudged_ = count_unjudged(judged)
        return rows if judged.all() else rows.take(judged)

    def _rows_and_held_out(self, X, y, groups, eval_set, eval_groups, *, reset=True) -> tuple:
        """Return the judged rows to learn from, and those of each held-out set."""
        rows = self._judged_rows(X, y, groups, reset=reset)
        if self.validation_fraction is None:
            return rows, self._held_out_rows(eval_set, eval_groups)
        check_no_sets(eval_set)
        held = held_out_rows(self.validation_fraction, rows.queries)
        warn_unless_stopped_by(self.validation_fraction, self)
        return rows.take(~held), [rows.take(held)]

    def _lost_without_groups(self) -> str:
        """Describe the loss where there are no query ids; raise where nothing can be learned."""
        return "there is no order to learn and all scores are 0"

    def _held_out_rows(self, eval_set, eval_groups) -> list[QueryRows]:
        """Return the judged rows of each held-out set of `fit`."""
        if eval_set is None and self.early_stopping_rounds is not None:
            raise InputError(
                "early_stopping_rounds needs eval_set=(X, y) in fit: held-out queries to stop by, "
                "with eval_groups, their query ids; or validation_fraction, a share of the queries."
            )
        sets = read_eval_set(
            eval_set, eval_groups, self.gains, needs_groups=self.fitted_with_groups_
        )
        return [QueryRows(self._check_features(s.X), s.gains, s.queries) for s in sets]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_nan
        return tags


def column(X, number) -> np.ndarray:
    """Return a column as a dense float64 vector, to be read only."""
    if not sparse.issparse(X):
        return X[:, number].astype(np.float64, copy=False)
    dense = np.zeros(X.shape[0])
    stored = slice(X.indptr[number], X.indptr[number + 1])
    dense[X.indices[stored]] = X.data[stored]
    return dense


class MeasuredRows:
    """Rows whose measure is computed again and again, by other scores.

    Parameters
    ----------
    parsed : ParsedMeasure
        The measure.
    gains : ndarray of shape (n_rows,)
        Gains of the documents, NaN where unjudged.
    index : GroupIndex
        Their queries.
    ties : str or None, default=None
        Order of rows of equal scores; None takes the measure's default.
    """

    def __init__(self, parsed: ParsedMeasure, gains, index: GroupIndex, ties: str | None = None):
        self.parsed, self.gains, self.index = parsed, gains, index
        # Negative where lower values of the measure are better.
        self.sign = 1.0 if parsed.measure.greater_is_better else -1.0
        self._kernel = parsed.measure.bind(parsed.k, parsed.options)
        ties = ties or parsed.measure.ties[0]
        self._lists = RankedLists(gains, np.zeros(len(gains)), groups=index, ties=ties)

    def per_query(self, scores, threshold: float | None = None) -> np.ndarray:
        """Measure each query, NaN where undefined; rows below the threshold are hidden."""
        return self._lists.with_scores(scores, threshold).per_query(self._kernel)

    def mean(self, scores, threshold: float | None = None) -> float:
        """Average over queries; those without a value count 0."""
        return float(np.nan_to_num(self.per_query(scores, threshold), nan=0.0).mean())

    def __call__(self, scores, threshold: float | None = None) -> float:
        """Return the mean, negated where lower is better."""
        return self.sign * self.mean(scores, threshold)
