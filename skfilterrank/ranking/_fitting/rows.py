"""What the rankers of this package share: checked rows, held-out sets, parameters, the score."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from skfilterrank._core.checks import check_groups, find_groups, is_finite_number, refuse_mask
from skfilterrank._core.gains import as_gains
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError, UnjudgedWarning, brief
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
    refuse_mask(X)
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


def column(X, number) -> np.ndarray:
    """A column as a dense float64 vector, to be read only."""
    if not sparse.issparse(X):
        return X[:, number].astype(np.float64, copy=False)
    dense = np.zeros(X.shape[0])
    stored = slice(X.indptr[number], X.indptr[number + 1])
    dense[X.indices[stored]] = X.data[stored]
    return dense


def training_rows(ranker, X, y, groups, *, reset=True, allow_nan=False, filters=False) -> QueryRows:
    """The judged rows of what `fit` was given; sets `n_unjudged_` and `_has_queries`.

    `filters` says that there is something to learn from rows without query ids.
    """
    name = type(ranker).__name__
    if y is None:
        raise InputError(f"{name} requires y to be passed, but the target y is None.")
    found = find_groups(groups, y, X)
    rows = _check_rows(ranker, X, y, found, reset=reset, allow_nan=allow_nan)
    ranker._has_queries = found is not None
    if found is None:
        so = (
            "it learns to filter but not to rank"
            if filters
            else "there is no order to learn and all scores are 0"
        )
        warn_user(
            f"{name} was given no query ids: each row is its own query, so that {so}. Pass "
            "groups=, the query id of each row, or give y an index level named 'qid'.",
            FitWarning,
        )
    judged = ~np.isnan(rows.gains)
    ranker.n_unjudged_ = count_unjudged(judged)
    return rows if judged.all() else rows.of(judged)


def count_unjudged(judged) -> int:
    """How many rows have no label, with a warning; an error where none has one."""
    n_unjudged = len(judged) - int(np.count_nonzero(judged))
    if n_unjudged == len(judged):
        raise InputError("y holds no judged row: expected at least one label that is not NaN.")
    if n_unjudged:
        warn_user(
            f"{n_unjudged} of {len(judged)} rows are unjudged (NaN label): they are not "
            "learned from.",
            UnjudgedWarning,
        )
    return n_unjudged


def held_out_sets(ranker, eval_set, eval_groups) -> list[tuple]:
    """X, y and query ids of each held-out set that `fit` was given."""
    if eval_set is None:
        if ranker.early_stopping_rounds is not None:
            raise InputError(
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
        raise InputError(
            f"eval_groups has {len(eval_groups)} entries but eval_set has {len(eval_set)}."
        )
    sets = []
    for (X, y), groups in zip(eval_set, eval_groups):
        found = find_groups(groups, y, X)
        if found is None:
            raise InputError(
                "eval_groups is missing: pass the query id of each row of eval_set, or give its y "
                "as a pandas Series whose index has a level named 'qid'."
            )
        sets.append((X, y, found))
    return sets


def held_out_rows(ranker, eval_set, eval_groups, *, allow_nan=False) -> list[QueryRows]:
    """The held-out sets of `fit`, checked; unjudged rows stay in them."""
    return [
        _check_rows(ranker, X, y, found, reset=False, allow_nan=allow_nan, name="y of eval_set")
        for X, y, found in held_out_sets(ranker, eval_set, eval_groups)
    ]


def _check_rows(ranker, X, y, groups, *, reset, allow_nan, name="y"):
    """Features, gains and queries of as many rows; without query ids, each row is a query."""
    X = check_features(ranker, X, reset=reset, allow_nan=allow_nan)
    gains = as_gains(y, ranker.gains, name=name)
    if len(gains) != X.shape[0]:
        raise InputError(f"{name} has {len(gains)} labels but X has {X.shape[0]} rows.")
    if groups is None:
        return QueryRows(X, gains, np.arange(len(gains)))
    return QueryRows(X, gains, check_groups(groups, n_rows=len(gains)).codes())


def mean_measure(ranker, parsed: ParsedMeasure, X, y, scores, groups) -> float:
    """What `score` returns: the mean of a measure, negated where lower is better."""
    found = find_groups(groups, y, X)
    if found is None and not ranker._has_queries:
        found = np.arange(len(scores))
    return parsed.utility(y, scores, groups=found, gains=ranker.gains)


def check_count(value, name, least) -> None:
    """A whole number from `least` up."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number from {least} up, got {brief(value)}.")


def check_not_negative(value, name) -> None:
    """A finite real number from 0 up."""
    if not is_finite_number(value) or value < 0:
        raise InputError(f"{name} must be a number, 0 or above, got {brief(value)}.")
