"""Several systems' scores of the same rows: checked, brought to one scale, and added up."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.checks import (
    check_choice,
    check_number,
    check_numbers,
    check_scores,
    columns_of,
)
from skfilterrank._core.queries import GroupIndex
from skfilterrank._core.same_value import ROUNDING_OF_MEANS
from skfilterrank.exceptions import InputError, brief

METHODS = ("rrf", "combsum", "combmnz", "borda")
NORMALIZATIONS = ("minmax", "zscore", "rank", None)
FILTERED = ("any", "all", "majority")


class ScoreMatrix(NamedTuple):
    """Scores of all systems, float64, -inf where not retrieved, and the systems' names."""

    values: np.ndarray
    names: list


def as_score_matrix(y_scores) -> ScoreMatrix:
    """One column per system, of a dict, a data frame or a 2-D array."""
    columns = columns_of(y_scores, "y_scores")
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
            f"y_scores holds different numbers of scores: {_listing(lengths)}; every system scores "
            "all rows, with -inf where it does not retrieve."
        )
    if not len(checked[0]):
        raise InputError("y_scores is empty: expected at least one row.")
    return ScoreMatrix(
        np.column_stack([scores.astype(np.float64, copy=False) for scores in checked]),
        list(columns),
    )


def check_fusion(method, normalize, rrf_k, filtered) -> None:
    """Raise a ValueError for parameters that are out of range."""
    check_choice(method, "method", METHODS)
    check_choice(normalize, "normalize", NORMALIZATIONS)
    check_choice(filtered, "filtered", FILTERED)
    check_number(rrf_k, "rrf_k", least=0)


def check_weights(weights, names) -> np.ndarray:
    """One weight per system, in the order of the systems."""
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping | pd.Series):
        weights = dict(weights)
        if set(weights) != set(names):
            raise InputError(
                f"weights must name every system and no other: systems are {_listing(names)}, "
                f"weights has {_listing(weights)}."
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


def fuse(matrix, weights, index, *, method, normalize, rrf_k, filtered, tie_keys=None):
    """Fused score of each row; `tie_keys` order equal scores, descending, else ranks are means."""
    used = weights > 0
    values, weights = matrix[:, used], weights[used]
    retrieved = values > -np.inf
    if method == "rrf":
        ranks = list_ranks(values, index, tie_keys)
        parts = np.where(retrieved, 1.0 / (rrf_k + ranks), 0.0)
    elif method == "borda":
        parts = _borda_points(values, retrieved, index, tie_keys)
    else:
        parts = normalized(values, index, normalize, tie_keys)
    fused = _sum(parts * weights)
    if method == "combmnz":
        fused *= np.count_nonzero(retrieved, axis=1)
    fused[is_filtered(retrieved, filtered)] = -np.inf
    return fused


def is_filtered(retrieved, filtered) -> np.ndarray:
    """Which rows the systems filter together."""
    n_systems, n_kept = retrieved.shape[1], np.count_nonzero(retrieved, axis=1)
    if filtered == "any":
        return n_kept < n_systems
    if filtered == "majority":
        return 2 * n_kept < n_systems
    return n_kept == 0


def normalized(values, index: GroupIndex, normalize, tie_keys=None) -> np.ndarray:
    """Scores on the scale of their system's list for the query, 0 where not retrieved."""
    retrieved = values > -np.inf
    if normalize is None:
        return np.where(retrieved, values, 0.0)
    if normalize == "rank":
        ranks = list_ranks(values, index, tie_keys)
        lengths = _reduce(np.add, retrieved.astype(np.float64), index)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(retrieved, 1.0 - (ranks - 1.0) / lengths, 0.0)
    if normalize == "minmax":
        # Halves, because the difference of two large scores may leave the range of float64.
        low = _reduce(np.minimum, np.where(retrieved, values, np.inf), index) / 2
        high = _reduce(np.maximum, values, index) / 2
        with np.errstate(invalid="ignore"):
            share = np.divide(values / 2 - low, high - low, where=high > low, out=np.ones_like(low))
        return np.where(retrieved, share, 0.0)
    finite = np.where(retrieved, values, 0.0)
    lengths = np.maximum(_reduce(np.add, retrieved.astype(np.float64), index), 1.0)
    mean = _reduce(np.add, finite / lengths, index)
    distance = np.where(retrieved, values - mean, 0.0)
    deviation = np.sqrt(_reduce(np.add, distance**2 / lengths, index))
    largest = _reduce(np.maximum, np.abs(finite), index)
    # The standard deviation of equal scores need not be exactly 0.
    varies = deviation > ROUNDING_OF_MEANS * largest
    return np.divide(distance, deviation, where=varies, out=np.zeros_like(distance))


def list_ranks(values, index: GroupIndex, tie_keys=None) -> np.ndarray:
    """Rank of each retrieved row in its system's list for its query, from 1; 1 elsewhere.

    Rows of equal score share the mean of their ranks, unless `tie_keys` order them, descending.
    """
    codes = index.codes()
    ranks = np.ones(values.shape)
    for column, scores in enumerate(values.T):
        rows = np.flatnonzero(scores > -np.inf)
        keys: tuple = (-scores[rows], codes[rows])
        if tie_keys is not None:
            keys = (-tie_keys[rows], *keys)
        rows = rows[np.lexsort(keys)]
        query, ordered = codes[rows], scores[rows]
        new_query = np.append(True, query[1:] != query[:-1])[: len(rows)]
        heads = np.flatnonzero(new_query)
        places = np.arange(1.0, len(rows) + 1) - np.repeat(heads, np.diff(heads, append=len(rows)))
        if tie_keys is None and len(rows):
            ties = np.flatnonzero(new_query | np.append(True, ordered[1:] != ordered[:-1]))
            sizes = np.diff(ties, append=len(rows))
            places = np.repeat(places[ties] + (sizes - 1) / 2, sizes)
        ranks[rows, column] = places
    return ranks


def _borda_points(values, retrieved, index, tie_keys):
    """Candidates less those ranked above; candidates that a system leaves out share the rest."""
    is_candidate = retrieved.any(axis=1, keepdims=True).astype(np.float64)
    n_candidates = _reduce(np.add, is_candidate, index)
    n_ranked = _reduce(np.add, retrieved.astype(np.float64), index)
    points = n_candidates + 1.0 - list_ranks(values, index, tie_keys)
    return np.where(retrieved, points, (n_candidates - n_ranked + 1.0) / 2)


def _sum(parts):
    """Sum over the systems, to the last bit the same whatever their order."""
    return np.sort(parts, axis=1).sum(axis=1)


def _reduce(ufunc, values, index):
    """A ufunc over the rows of each query, given back to every row."""
    order = index.row_order()
    starts = np.cumsum(index.sizes) - index.sizes
    per_query = ufunc.reduceat(values[order], starts, axis=0)
    result = np.empty_like(values)
    result[order] = np.repeat(per_query, index.sizes, axis=0)
    return result


def _listing(items, limit=6):
    """A few names, or names with their values, as text."""
    pairs = list(items.items()) if isinstance(items, Mapping) else list(items)
    shown = ", ".join(
        f"{brief(item[0])}: {brief(item[1])}" if isinstance(items, Mapping) else repr(item)
        for item in pairs[:limit]
    )
    return shown + (f" and {len(pairs) - limit} more" if len(pairs) > limit else "")
