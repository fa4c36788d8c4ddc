"""Held-out sets as `fit` is given them: one reader for every ranker."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import indexable

from skfilterrank._core.arrays import label_array
from skfilterrank._core.checks import check_container, check_groups, count_rows, find_groups
from skfilterrank._core.gains import as_gains
from skfilterrank._core.queries import GroupIndex
from skfilterrank._sklearn_compat import safe_indexing
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError

_EXPECTED = "expected (X, y), such as eval_set=(X_valid, y_valid), or a list of such pairs"


class HeldOutSet(NamedTuple):
    """The judged rows of a held-out set; `queries` numbers the query of each row."""

    X: object
    labels: np.ndarray
    gains: np.ndarray
    queries: np.ndarray


def read_eval_set(eval_set, eval_groups, gains, *, needs_groups: bool) -> list[HeldOutSet]:
    """The held-out sets of `fit`; rows without a label are left out, with a warning.

    `gains` turns labels into gains. Without query ids each row is a query of its own, which is an
    error where `needs_groups` says so.
    """
    return [_read_set(X, y, ids, gains, needs_groups) for X, y, ids in _sets(eval_set, eval_groups)]


def _sets(eval_set, eval_groups):
    """X, y and the given query ids of each held-out set."""
    if eval_set is None:
        return []
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not _is_set(eval_set[0]):
        eval_set = [eval_set]
        eval_groups = None if eval_groups is None else [eval_groups]
    if not isinstance(eval_set, list | tuple):
        raise InputError(
            f"eval_set is {_described(eval_set)}, so that its labels are missing: {_EXPECTED}."
        )
    for number, pair in enumerate(eval_set):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InputError(f"eval_set[{number}] is {_described(pair)}: {_EXPECTED}.")
    if eval_groups is None:
        eval_groups = [None] * len(eval_set)
    if len(eval_groups) != len(eval_set):
        raise InputError(
            f"eval_groups has {len(eval_groups)} entries but eval_set has {len(eval_set)}: "
            "expected the query ids of each held-out set."
        )
    return [(X, y, ids) for (X, y), ids in zip(eval_set, eval_groups)]


def _is_set(item):
    """Whether the first item of a pair is itself a pair of features and labels."""
    is_pair = isinstance(item, list | tuple) and len(item) == 2
    # A list of two rows is a pair too, but of single rows.
    return is_pair and (isinstance(item, tuple) or len(getattr(item[0], "shape", ())) == 2)


def _described(value):
    """Kind and size of a value that came instead of a pair."""
    shape = getattr(value, "shape", None)
    if shape is None and hasattr(value, "__len__"):
        return f"a {type(value).__name__} of {len(value)}"
    return f"one {type(value).__name__}" + ("" if shape is None else f" of shape {shape}")


def _read_set(X, y, ids, gains, needs_groups):
    """The judged rows of one held-out set."""
    check_container(X, "X of eval_set")
    # Sparse formats without rows (COO, DIA, BSR) become CSR.
    (X,) = indexable(X)
    row_gains = as_gains(y, gains, name="the labels of eval_set")
    n_rows = count_rows(X, "X of eval_set")
    if len(row_gains) != n_rows:
        raise InputError(f"eval_set has {len(row_gains)} labels but its X has {n_rows} rows.")
    groups = find_groups(ids, y, X)
    if groups is None and not needs_groups:
        groups = np.arange(n_rows)
    index = check_groups(
        groups, n_rows=n_rows, name="eval_groups", carrier="the y of eval_set as a Series"
    )
    labels, queries = label_array(y), index.codes()
    rows = np.flatnonzero(~np.isnan(row_gains))
    if len(rows) < n_rows:
        if not len(rows):
            raise InputError("eval_set holds no judged row: expected labels that are not NaN.")
        warn_user(
            f"{n_rows - len(rows)} of {n_rows} rows of eval_set are unjudged (NaN label): they are "
            "left out.",
            DataWarning,
        )
        X, labels, row_gains = safe_indexing(X, rows), labels[rows], row_gains[rows]
        queries = GroupIndex.from_groups(queries[rows]).codes()
    return HeldOutSet(X, labels, row_gains, queries)
