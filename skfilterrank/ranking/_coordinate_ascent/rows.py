"""The rows a coordinate ascent learns from, checked."""

import warnings

import numpy as np

from skfilterrank._groups import GroupIndex
from skfilterrank._validation import check_groups, find_groups


def queries(groups, n_rows: int, *, has_threshold: bool) -> GroupIndex:
    """Queries of the training rows; without query ids, only a threshold can be learned."""
    if groups is not None:
        return check_groups(groups, n_rows=n_rows)
    if not has_threshold:
        raise ValueError(
            "groups is missing: CoordinateAscentRanker orders the documents of a query. Pass "
            "groups=, the query id of each row, or give y as a pandas Series whose index has a "
            "level named 'qid'; or use filter=True, which learns from single documents."
        )
    warnings.warn(
        "CoordinateAscentRanker was given no query ids: each row is its own query, so that it "
        "learns to filter but not to rank. Pass groups=, the query id of each row, or give y "
        "an index level named 'qid'.",
        UserWarning,
        stacklevel=3,
    )
    return GroupIndex.from_groups(np.arange(n_rows))


def judged_rows(X, gains, index: GroupIndex):
    """Leave out the rows without a label."""
    judged = ~np.isnan(gains)
    n_unjudged = len(gains) - np.count_nonzero(judged)
    if n_unjudged == len(gains):
        raise ValueError("y holds no judged row: expected at least one label that is not NaN.")
    if not n_unjudged:
        return X, gains, index
    warnings.warn(
        f"{n_unjudged} of {len(gains)} rows are unjudged (NaN label): they are not learned from.",
        UserWarning,
        stacklevel=3,
    )
    kept = np.flatnonzero(judged)
    return X[kept], gains[kept], GroupIndex.from_groups(index.codes()[kept])


def held_out_sets(eval_set, eval_groups) -> list:
    """Features, labels and query ids of each held-out set."""
    if eval_set is None:
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
                "eval_groups is missing: pass the query id of each row of eval_set, or give "
                "its y as a pandas Series whose index has a level named 'qid'."
            )
        sets.append((X, y, found))
    return sets


def has_pair(gains, index: GroupIndex) -> bool:
    """Whether some query has two different gains."""
    codes = index.codes()
    highest = np.full(index.n_queries, -np.inf)
    np.maximum.at(highest, codes, gains)
    return bool((gains != highest[codes]).any())
