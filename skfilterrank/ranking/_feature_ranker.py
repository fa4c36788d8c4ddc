"""Base classes of rankers that learn from a feature matrix."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._base.checks import check_container, check_count
from skfilterrank._base.words import progress_bar, warn_user
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.wrapping import (
    check_finite_columns,
    raise_for_text,
    refuse_dates,
)
from skfilterrank._lists.content import by_content, hash_rows
from skfilterrank._lists.cut_queries import note_documents, warn_of_cut_queries
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups, refuse_query_column
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.ranking._fit_with_groups import warn_without_pairs
from skfilterrank.ranking._held_out_sets import (
    check_no_sets,
    held_out_rows,
    read_eval_set,
    warn_unless_stopped_by,
)
from skfilterrank.ranking._training_rows import tell_unjudged


class QueryRows(NamedTuple):
    """Checked rows: features, gains, and the number of the query of each row."""

    X: np.ndarray | sparse.csc_array
    gains: np.ndarray
    queries: np.ndarray

    def take(self, rows) -> "QueryRows":
        """Take some rows, by a mask or by row numbers in the wanted order."""
        return QueryRows(self.X[rows], self.gains[rows], self.queries[rows])


class FeatureRanker(RankerMixin, BaseEstimator):
    """Base class of rankers that learn from a dense or sparse feature matrix."""

    takes_unjudged = True
    n_unjudged_: int
    n_features_in_: int
    feature_names_in_: Any
    best_iteration_: int
    evals_result_: Any
    _sparse_format = "csc"
    # True if NaN is a missing value of a feature, False if it is an error.
    _takes_nan = False

    def _check_features(self, X, *, groups=None, reset=False):
        """Return X as a dense or sparse float matrix; an error names the column with bad values."""
        check_container(X)
        refuse_dates(X)
        warn_of_cut_queries(self, find_groups(groups, X))
        try:
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=self._sparse_format,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                # X without rows is allowed in predict.
                ensure_min_samples=int(reset),
            )
        except ValueError as error:
            raise_for_text(X, type(self).__name__, error)
            raise
        names = getattr(self, "feature_names_in_", None)
        refuse_query_column(names)
        check_finite_columns(X, owner=type(self).__name__, names=names, allow_nan=self._takes_nan)
        if sparse.issparse(X) and not X.has_canonical_format:
            # A sparse matrix may store a cell in several entries, which are added up.
            X = X.copy()
            X.sum_duplicates()
        return X

    def _judged_rows(self, X, y, groups) -> QueryRows:
        """Check the rows of `fit`, and return the judged ones; sets `n_unjudged_`."""
        groups = self._find_groups(X, y, groups)
        X = self._check_features(X, reset=True)
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
            queries, documents = np.arange(len(gains)), None
        else:
            index = check_groups(groups, n_rows=len(gains))
            hashes, judged = hash_rows(X), ~np.isnan(gains)
            index, _ = by_content(index, np.where(judged, hashes, 0), hashes, gains)
            queries, documents = index.codes(), index.sums(hashes)
        note_documents(self, documents)
        rows = QueryRows(X, gains, queries)
        judged = ~np.isnan(gains)
        self.n_unjudged_ = tell_unjudged(judged)
        rows = rows if judged.all() else rows.take(judged)
        if groups is not None and self.needs_groups:
            warn_without_pairs(self, rows.gains, rows.queries, self._lost_without_groups)
        return rows

    def _rows_and_held_out(self, X, y, groups, eval_set, eval_groups) -> tuple:
        """Return the judged training rows, and the judged rows of each held-out set."""
        rows = self._judged_rows(X, y, groups)
        if self.validation_fraction is None:
            return rows, self._held_out_rows(eval_set, eval_groups)
        check_no_sets(eval_set)
        held = held_out_rows(self.validation_fraction, rows.queries)
        warn_unless_stopped_by(self.validation_fraction, self)
        return rows.take(~held), [rows.take(held)]

    def _lost_without_groups(self) -> str:
        """Describe what is lost without lists of several gains; raise if nothing is learned."""
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
        return [
            QueryRows(
                self._check_features(each.X),
                each.gains,
                GroupIndex.from_groups(each.groups).codes(),
            )
            for each in sets
        ]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_nan
        return tags


def column(X, number) -> np.ndarray:
    """Return a column as a dense, read-only float64 vector."""
    if not sparse.issparse(X):
        return X[:, number].astype(np.float64, copy=False)
    dense = np.zeros(X.shape[0])
    stored = slice(X.indptr[number], X.indptr[number + 1])
    dense[X.indices[stored]] = X.data[stored]
    return dense


class MeasuredRows:
    """Rows for which a measure is computed repeatedly with different scores.

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
        self.sign = parsed.measure.sign
        self._kernel = parsed.measure.bind(parsed.k, parsed.options)
        ties = ties or parsed.measure.ties[0]
        self._lists = RankedLists(gains, np.zeros(len(gains)), groups=index, ties=ties)

    def per_query(self, scores, threshold: float | None = None) -> np.ndarray:
        """Measure each query, NaN where undefined; rows below the threshold are hidden."""
        return self._lists.with_scores(scores, threshold).per_query(self._kernel)

    def mean(self, scores, threshold: float | None = None) -> float:
        """Average over queries; undefined queries count as 0."""
        return float(np.nan_to_num(self.per_query(scores, threshold), nan=0.0).mean())

    def __call__(self, scores, threshold: float | None = None) -> float:
        """Return the mean, negated where lower is better."""
        return self.sign * self.mean(scores, threshold)


def rows_with_order(rows: QueryRows) -> QueryRows:
    """Select the queries with two different gains, sorted by query and then gain."""
    order = np.lexsort((rows.gains, rows.queries))
    queries, gains = rows.queries[order], rows.gains[order]
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    ends = np.append(starts[1:], len(queries)) - 1
    has_two = gains[starts] != gains[ends]
    return rows.take(order[np.repeat(has_two, ends - starts + 1)])


class BoostedRanker(FeatureRanker):
    """Base class of boosted rankers: weighted rounds of one feature each."""

    needs_groups = True
    features_: np.ndarray
    alphas_: np.ndarray

    def _check_rounds(self):
        """Raise for parameters of the rounds that are out of range."""
        check_count(self.n_estimators, "n_estimators", 1)
        check_count(self.early_stopping_rounds, "early_stopping_rounds", or_none=True)

    def _run_rounds(self, learner, held_out: list[QueryRows], parsed: ParsedMeasure) -> int:
        """Add rounds up to `n_estimators`, or until learning or held-out sets stop improving.

        `learner` has `n_rounds`, ``step()``, which adds a round or returns False, and
        ``contribution(number, X)``. Sets `evals_result_`, and returns the number of rounds for
        `predict`: all, or the first with the best mean over the held-out sets.
        """
        curves = [HeldOutCurve(rows, parsed) for rows in held_out]
        patience, best, n_best = self.early_stopping_rounds, -np.inf, 0
        rounds = range(self.n_estimators)
        for number in progress_bar(rounds, desc="rounds", unit="round", verbose=self.verbose):
            if not learner.step():
                break
            values = [curve.add(learner.contribution(number, curve.X)) for curve in curves]
            if patience is not None:
                mean = float(np.mean(values))
                if mean > best:
                    best, n_best = mean, number + 1
                elif number + 1 - n_best >= patience:
                    break
        self.evals_result_ = {
            f"valid_{number}": {parsed.text: curve.values} for number, curve in enumerate(curves)
        }
        return learner.n_rounds if patience is None else n_best

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the absolute weights of the rounds, ``(n_features_in_,)``."""
        check_is_fitted(self)
        kept = slice(self.best_iteration_)
        total = np.bincount(
            self.features_[kept], np.abs(self.alphas_[kept]), minlength=self.n_features_in_
        )
        return total / total.sum() if total.any() else total


class HeldOutCurve:
    """A held-out set with its measure after each round."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure):
        self.X = rows.X
        self.values: list[float] = []
        self._scores = np.zeros(len(rows.gains))
        index = GroupIndex.from_groups(rows.queries)
        self._measure = MeasuredRows(parsed, rows.gains, index)

    def add(self, contribution) -> float:
        """Measure the set after one more round; return the value, negated if lower is better."""
        self._scores += contribution
        self.values.append(self._measure.mean(self._scores))
        return self._measure.sign * self.values[-1]


def first_best(values) -> int:
    """Return the index of the highest value; the first one if several differ only by rounding."""
    # Sums over all pairs accumulate more rounding than means over queries.
    return int(np.argmax(values >= values.max() - 1e-10))
