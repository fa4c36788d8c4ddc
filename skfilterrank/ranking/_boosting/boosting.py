"""What the boosting rankers share: checked rows, held-out queries, the loop over rounds."""

import warnings
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data
from tqdm.auto import tqdm

from skfilterrank._gains import as_gains
from skfilterrank._groups import GroupIndex
from skfilterrank._validation import check_groups, find_groups
from skfilterrank.metrics._core.measure import ParsedMeasure
from skfilterrank.ranking._features.check_features import check_finite_columns


class QueryRows(NamedTuple):
    """Checked rows: features (dense or csc), gains, and the number of the query of each row."""

    X: np.ndarray | sparse.csc_array
    gains: np.ndarray
    queries: np.ndarray

    def of(self, kept) -> "QueryRows":
        """Some of the rows: a mask, or row numbers in the order that is wanted."""
        return QueryRows(self.X[kept], self.gains[kept], self.queries[kept])


def check_features(ranker, X, *, reset, allow_nan=False):
    """A float matrix, dense or csc; what is not a number is an error that names the column."""
    X = validate_data(
        ranker,
        X,
        reset=reset,
        accept_sparse="csc",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
    )
    check_finite_columns(X, estimator=ranker, allow_nan=allow_nan)
    if sparse.issparse(X) and not X.has_canonical_format:
        # A cell may be stored in parts, which count as their sum.
        X = X.copy()
        X.sum_duplicates()
    return X


def training_rows(ranker, X, y, groups, *, reset=True, allow_nan=False) -> QueryRows:
    """The judged rows of what `fit` was given; sets `n_unjudged_`."""
    name = type(ranker).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    found = find_groups(groups, y, X)
    rows = _check_rows(ranker, X, y, found, reset=reset, allow_nan=allow_nan)
    if found is None:
        warnings.warn(
            f"{name} was given no query ids: each row is its own query, so that there is no order "
            "to learn and all scores are 0. Pass groups=, the query id of each row, or give y an "
            "index level named 'qid'.",
            UserWarning,
            stacklevel=3,
        )
    judged = ~np.isnan(rows.gains)
    ranker.n_unjudged_ = len(judged) - int(np.count_nonzero(judged))
    if not judged.any():
        raise ValueError("y holds no judged row: expected at least one label that is not NaN.")
    if ranker.n_unjudged_:
        warnings.warn(
            f"{ranker.n_unjudged_} of {len(judged)} rows are unjudged (NaN label): they are not "
            "learned from.",
            UserWarning,
            stacklevel=3,
        )
        rows = rows.of(judged)
    return rows


def rows_with_order(rows: QueryRows) -> QueryRows:
    """The rows of queries with two different gains, sorted by query and then gain."""
    order = np.lexsort((rows.gains, rows.queries))
    queries, gains = rows.queries[order], rows.gains[order]
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    ends = np.append(starts[1:], len(queries)) - 1
    has_two = gains[starts] != gains[ends]
    return rows.of(order[np.repeat(has_two, ends - starts + 1)])


def column(X, number) -> np.ndarray:
    """A column as a dense float64 vector."""
    if not sparse.issparse(X):
        return X[:, number].astype(np.float64)
    dense = np.zeros(X.shape[0])
    stored = slice(X.indptr[number], X.indptr[number + 1])
    dense[X.indices[stored]] = X.data[stored]
    return dense


class QueryMeasure:
    """A measure of the scores of fixed rows."""

    def __init__(self, parsed: ParsedMeasure, gains, queries):
        self.parsed = parsed
        self._gains = gains
        self._index = GroupIndex.from_groups(queries)
        self._kernel = parsed.measure.bind(parsed.k, parsed.options)

    def per_query(self, scores) -> np.ndarray:
        """One value per query, NaN where undefined."""
        entry = self.parsed.measure
        lists = entry.ranked_lists(
            self._gains,
            scores,
            groups=self._index,
            gains=None,
            ties=entry.ties[0],
            unjudged="zero",
            options=self.parsed.options,
        )
        return lists.per_query(self._kernel)

    def mean(self, scores) -> float:
        """Mean over queries; those for which the measure is undefined count 0."""
        return float(np.nan_to_num(self.per_query(scores), nan=0.0).mean())

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows of each query."""
        return self._index.sizes


class HeldOut:
    """A held-out set, and its measure after each round."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure):
        self.X = rows.X
        self.curve = []
        self.n_best = 0
        self._best = -np.inf
        self._scores = np.zeros(len(rows.gains))
        self._measure = QueryMeasure(parsed, rows.gains, rows.queries)
        self._sign = 1 if parsed.measure.greater_is_better else -1

    def add(self, contribution) -> None:
        """Measure the set after one more round; `n_best` is the first best number of rounds."""
        self._scores += contribution
        self.curve.append(self._measure.mean(self._scores))
        if self._sign * self.curve[-1] > self._best:
            self._best, self.n_best = self._sign * self.curve[-1], len(self.curve)


def held_out_sets(ranker, eval_set, eval_groups, parsed, *, allow_nan=False) -> list[HeldOut]:
    """The held-out sets of `fit`, checked."""
    if eval_set is None:
        if ranker.early_stopping_rounds is not None:
            raise ValueError(
                "early_stopping_rounds needs eval_set=(X, y) in fit: held-out queries to stop by, "
                "with eval_groups, their query ids."
            )
        return []
    if isinstance(eval_set, tuple) and len(eval_set) == 2:
        eval_set = [eval_set]
        eval_groups = None if eval_groups is None else [eval_groups]
    if eval_groups is None:
        eval_groups = [None] * len(eval_set)
    if len(eval_groups) != len(eval_set):
        raise ValueError(
            f"eval_groups has {len(eval_groups)} entries but eval_set has {len(eval_set)}."
        )
    sets = []
    for (X, y), groups in zip(eval_set, eval_groups):
        found = find_groups(groups, y, X)
        if found is None:
            raise ValueError(
                "eval_groups is missing: pass the query id of each row of eval_set, or give its y "
                "as a pandas Series whose index has a level named 'qid'."
            )
        rows = _check_rows(
            ranker, X, y, found, reset=False, allow_nan=allow_nan, name="y of eval_set"
        )
        sets.append(HeldOut(rows, parsed))
    return sets


def _check_rows(ranker, X, y, groups, *, reset, allow_nan, name="y"):
    """Features, gains and queries of as many rows; without query ids, each row is a query."""
    X = check_features(ranker, X, reset=reset, allow_nan=allow_nan)
    gains = as_gains(y, ranker.gains, name=name)
    if len(gains) != X.shape[0]:
        raise ValueError(f"{name} has {len(gains)} labels but X has {X.shape[0]} rows.")
    if groups is None:
        return QueryRows(X, gains, np.arange(len(gains)))
    return QueryRows(X, gains, check_groups(groups, n_rows=len(gains)).codes())


def run_rounds(learner, held_out: list[HeldOut], *, n_rounds, patience, verbose) -> int | None:
    """Add rounds until there are so many, nothing is left to learn, or a held-out set stalls.

    Rounds that the learner has already, from an earlier fit, are measured again and not learned
    again. `learner` has `n_rounds`, ``step()``, which adds a round or returns False, and
    ``contribution(number, X)``. Returns the best number of rounds for the held-out set that
    stalled, else for the first, and None where none is to stop by.
    """
    for number in tqdm(range(n_rounds), desc="rounds", unit="round", disable=not verbose):
        if number == learner.n_rounds and not learner.step():
            break
        for held in held_out:
            held.add(learner.contribution(number, held.X))
        if patience is not None:
            for held in held_out:
                if len(held.curve) - held.n_best >= patience:
                    return held.n_best
    return held_out[0].n_best if held_out and patience is not None else None


def check_rounds(ranker, n_done) -> None:
    """A warm start cannot take rounds away."""
    if ranker.n_estimators < n_done:
        raise ValueError(
            f"n_estimators={ranker.n_estimators} must be at least {n_done}, the rounds of the "
            "earlier fit, with warm_start=True: raise it, or use warm_start=False."
        )


def first_best(values) -> int:
    """Position of the maximum, the first of those that differ from it by rounding alone."""
    highest = values.max()
    return int(np.argmax(values >= highest - 1e-10))


def check_count(value, name, least) -> None:
    """A whole number from `least` up."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} up, got {value!r}.")


def check_flag(value, name) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")


def check_not_negative(value, name) -> None:
    """A finite real number from 0 up."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number, 0 or above, got {value!r}.")
