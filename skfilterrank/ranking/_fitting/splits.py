"""Splits of the rows by query, for out-of-fold scores."""

import itertools

import numpy as np
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from skfilterrank._core.checks import is_number, is_whole_number
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief

DEFAULT_FOLDS = 5


def is_prefit(cv) -> bool:
    """Whether `cv` says that the estimator is fitted already."""
    return isinstance(cv, str) and cv == "prefit"


def check_cv(cv) -> None:
    """Raise a ValueError for a `cv` that cannot be used."""
    if cv is None or is_prefit(cv):
        return
    if isinstance(cv, bool | str | bytes | type) or not (
        hasattr(cv, "split")
        or (is_whole_number(cv) and cv >= 2)
        or (is_number(cv) and 0 < cv < 1)
        or np.iterable(cv)
    ):
        raise InputError(
            "cv must be None, a number of folds from 2 up, a share between 0 and 1, a splitter, "
            f"an iterable of (train, test) or 'prefit', got {brief(cv)}."
        )


def make_splits(
    cv, labels, groups, *, single: bool, advice: str = ""
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers of the training and the held-out rows of each fold.

    `groups` numbers the query of each row from 0; `single` demands exactly one split; `advice`
    ends the message where there are too few queries for folds.
    """
    check_cv(cv)
    cv = DEFAULT_FOLDS if cv is None else cv
    if is_number(cv):
        n_needed = int(cv) if is_whole_number(cv) else 2
        n_queries = int(groups.max()) + 1
        if n_queries < n_needed:
            raise InputError(
                f"cv={cv} needs at least {n_needed} queries but their number is {n_queries} "
                f"(n_samples={len(groups)}): {'lower cv or ' if n_needed > 2 else ''}give more "
                f"queries{advice}."
            )
    if is_whole_number(cv) and not single:
        return _dealt_folds(groups, int(cv))
    if is_whole_number(cv):
        cv = GroupKFold(int(cv), shuffle=True, random_state=0)
    elif is_number(cv):
        cv = GroupShuffleSplit(1, test_size=float(cv), random_state=0)
    if hasattr(cv, "split"):
        splits = list(cv.split(np.zeros(len(groups)), labels, groups))
    else:
        splits = _given_splits(cv)
    if not splits:
        raise InputError(
            f"cv makes no split: expected at least one (train, test), got {brief(cv)}."
        )
    if single and len(splits) != 1:
        raise InputError(
            f"refit=False keeps the model of the only split, but cv makes {len(splits)}: use "
            "cv=0.2 or another single split, or refit=True."
        )
    highest = max(int(rows.max(initial=-1)) for split in splits for rows in split)
    if highest >= len(groups):
        raise InputError(
            f"cv names row {highest} but there are {len(groups)} rows: expected row numbers from 0 "
            f"to {len(groups) - 1}."
        )
    for train, test in splits:
        n_shared = count_shared(groups[train], groups[test])
        if n_shared:
            warn_user(
                f"cv splits queries: {n_shared} have rows on both sides of a split, so the "
                "held-out scores are of queries the models have seen. Use GroupKFold.",
                DataWarning,
            )
            break
    return splits


def _dealt_folds(groups, n_folds):
    """Deal shuffled queries to folds, as GroupKFold does, which sorts the rows for each fold."""
    fold = np.empty(int(groups.max()) + 1, dtype=np.intp)
    shuffled = np.random.RandomState(0).permutation(len(fold))
    for number, part in enumerate(np.array_split(shuffled, n_folds)):
        fold[part] = number
    of_row = fold[groups]
    held_out = [of_row == number for number in range(n_folds)]
    return [(np.flatnonzero(~rows), np.flatnonzero(rows)) for rows in held_out]


def _given_splits(cv):
    """Row numbers of the folds that a list of (train, test) holds."""
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv]
        for rows in itertools.chain.from_iterable(splits):
            if rows.size and (rows.ndim != 1 or rows.dtype.kind not in "iu"):
                raise InputError("no row numbers")
    except Exception as error:
        raise InputError(
            f"cv must hold pairs (train, test) of row numbers, got {brief(cv)}."
        ) from error
    return [(train.astype(np.int64), test.astype(np.int64)) for train, test in splits]


def check_each_held_out_once(cv, splits, n_rows) -> None:
    """Raise where some row is held out by no split, or by several."""
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=n_rows)
    if (times != 1).any():
        raise InputError(
            f"cv={brief(cv)} must hold out each row once, but holds out "
            f"{np.count_nonzero(times == 0)} rows never and {np.count_nonzero(times > 1)} several "
            "times: use a number of folds, or GroupKFold."
        )


def count_shared(left, right):
    """Number of queries that occur on both sides; queries are numbered from 0."""
    n_queries = int(max(left.max(initial=0), right.max(initial=0))) + 1
    seen = np.zeros((2, n_queries), dtype=bool)
    seen[0, left] = True
    seen[1, right] = True
    return np.count_nonzero(seen.all(axis=0))
