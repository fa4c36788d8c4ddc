"""Several systems' scores of the same rows: checked, and fused by a method of the table."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import (
    check_choice,
    check_number,
    check_numbers,
    check_scores,
    check_share,
    columns_of,
    find_groups,
)
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.ranking._fusion.methods import METHODS, Settings
from skfilterrank.ranking._fusion.scales import NORMALIZATIONS, Lists

FILTERED = ("any", "all", "majority")


class ScoreMatrix(NamedTuple):
    """Scores of all systems, float64, -inf where not retrieved, and the systems' names."""

    values: np.ndarray
    names: list


def as_score_matrix(y_scores, groups=None, y_true=None) -> ScoreMatrix:
    """Make one column per system of a dict, a data frame or a 2-D array.

    Query ids of `groups`, and of indexes, must agree row by row.
    """
    columns = columns_of(y_scores, "y_scores")
    carriers = [y_true, *(columns.values() if isinstance(y_scores, Mapping) else [y_scores])]
    find_groups(groups, *carriers, names=("y_true", *["y_scores"] * (len(carriers) - 1)))
    if not columns:
        raise InputError("y_scores holds no system: expected at least one column of scores.")
    checked = []
    for name, scores in columns.items():
        try:
            checked.append(check_scores(scores, name="y_score"))
        except ValueError as error:
            error.add_note(f"This came up with the scores of {brief(name)}.")
            raise
    lengths = {name: len(scores) for name, scores in zip(columns, checked)}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"y_scores holds different numbers of scores: {brief_list(lengths)}; every system "
            "scores all rows, with -inf where it does not retrieve."
        )
    if not len(checked[0]):
        raise InputError("y_scores is empty: expected at least one row.")
    return ScoreMatrix(
        np.column_stack([scores.astype(np.float64, copy=False) for scores in checked]),
        list(columns),
    )


def check_fusion(method, normalize, rrf_k, persistence, filtered) -> Settings:
    """What methods depend on; raise a ValueError for parameters that are out of range."""
    check_choice(method, "method", METHODS)
    check_choice(normalize, "normalize", NORMALIZATIONS)
    check_choice(filtered, "filtered", FILTERED)
    rrf_k = check_number(rrf_k, "rrf_k", least=0)
    persistence = check_share(persistence, "persistence")
    return Settings(normalize, rrf_k, persistence)


def check_weights(weights, names) -> np.ndarray:
    """One weight per system, in the order of the systems."""
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping | pd.Series):
        weights = dict(weights)
        if set(weights) != set(names):
            raise InputError(
                f"weights must name every system and no other: systems are {brief_list(names)}, "
                f"weights has {brief_list(weights)}."
            )
        weights = [weights[name] for name in names]
    checked = check_numbers(weights, "weights", entry="number").astype(np.float64)
    if len(checked) != len(names):
        raise InputError(
            f"weights must hold one number for each of the {len(names)} systems, got "
            f"{brief(weights)}."
        )
    if not (np.isfinite(checked) & (checked >= 0)).all() or not checked.any():
        raise InputError(
            f"weights must be finite, from 0 up and not all 0, got {brief(weights)}; 0 leaves a "
            "system out."
        )
    return checked


def fuse(matrix, weights, index, *, method, settings, filtered, tie_keys=None):
    """Fused score of each row; `tie_keys` order equal scores, descending, else ranks are means."""
    used = weights > 0
    lists = Lists(matrix[:, used], index, tie_keys)
    gives, combine = METHODS[method]
    fused = combine(gives(lists, settings), weights[used], index)
    fused[is_filtered(lists.retrieved, filtered)] = -np.inf
    return fused


def is_filtered(retrieved, filtered) -> np.ndarray:
    """Which rows the systems filter together."""
    n_systems, n_kept = retrieved.shape[1], np.count_nonzero(retrieved, axis=1)
    if filtered == "any":
        return n_kept < n_systems
    if filtered == "majority":
        return 2 * n_kept < n_systems
    return n_kept == 0
