"""Floats in order: sorted, the same but for rounding, and the middle between two.

Only rounding keeps some apart: 0.1 + 0.2 and 0.3 are the same value. Rounding to a grid would not
do, as some values lie at the border of two cells.
"""

from typing import NamedTuple

import numpy as np

_ALL_BUT_SIGN = np.int64(np.iinfo(np.int64).max)
_INF_BITS = np.float64(np.inf).view(np.int64)


class SortedRows(NamedTuple):
    """The order of each row of a matrix, and where values may be equal."""

    cells: np.ndarray
    """Flat positions in the matrix, row by row in ascending order of the values; int64."""
    tied: np.ndarray
    """Rows in which neighbours of that order may be equal, +inf aside; int64."""


def sort_rows(keys: np.ndarray) -> SortedRows:
    """Sort each row of a matrix of floats without NaN, ascending, equal values by column.

    About twice as fast as numpy's argsort along rows: what is sorted are 64-bit integers that hold
    the leading bits of a value and its cell, and what the lost bits confused is mended.
    """
    n_bits = max(keys.size - 1, 0).bit_length()
    mask = np.int64((1 << n_bits) - 1)
    # Adding 0.0 makes -0.0 to 0.0, and copies.
    packed = np.add(keys, 0.0, dtype=np.float64, order="C").view(np.int64)
    # Flipping all but the sign of negative floats makes their bits ascend with their value.
    packed ^= (packed >> 63) & _ALL_BUT_SIGN
    packed &= ~mask
    packed.reshape(-1)[:] |= np.arange(keys.size)
    packed.sort(axis=1)
    cells = packed & mask
    packed >>= n_bits
    values = packed.reshape(-1)
    if not (values[1:] == values[:-1]).any():
        return SortedRows(cells, np.empty(0, dtype=np.intp))
    same = (packed[:, 1:] == packed[:, :-1]) & (packed[:, 1:] < _INF_BITS >> n_bits)
    tied = np.flatnonzero(same.any(axis=1))
    if len(tied):
        _mend(keys, cells, tied, same[tied])
    return SortedRows(cells, tied)


def _mend(keys, cells, rows, same):
    """Put right, in place, what only the lost bits tell apart."""
    ranked = keys.take(cells[rows])
    is_confused = (same & (ranked[:, 1:] < ranked[:, :-1])).any(axis=1)
    rows, same = rows[is_confused], same[is_confused]
    if not len(rows):
        return
    # Runs of one leading part are sorted by the whole value; a number for each keeps them apart.
    edge = np.zeros((len(rows), 1), dtype=bool)
    confused = np.flatnonzero(np.hstack((same, edge)) | np.hstack((edge, same)))
    run = np.cumsum(~np.hstack((edge, same)).ravel())[confused]
    mended = cells[rows].ravel()
    found = mended[confused]
    mended[confused] = found[np.lexsort((found, keys.take(found), run))]
    cells[rows] = mended.reshape(len(rows), -1)


def argsort_floats(values: np.ndarray) -> np.ndarray:
    """Row numbers that sort floats ascending, equal ones by row; no NaN."""
    return sort_rows(values[None]).cells[0]


# Values this close, relative to the largest one that they are compared with, differ by rounding.
ROUNDING_OF_VALUES = 2.0**-47
# Sums over queries, in whatever order, gather more.
ROUNDING_OF_MEANS = 1e-12


def value_tolerance(values: np.ndarray) -> float:
    """Size of a difference of two values that is only rounding."""
    return ROUNDING_OF_VALUES * float(np.abs(values).max(initial=0.0))


def mean_tolerance(values: np.ndarray) -> float:
    """Size of a difference of means of such values that is only rounding."""
    return ROUNDING_OF_MEANS * float(np.abs(values).max(initial=0.0))


def first_of_highest(values: np.ndarray) -> int:
    """Index of the highest mean, the first of those that only rounding keeps apart."""
    highest, lowest = values.max(), values.min()
    if np.isfinite(highest) and np.isfinite(lowest):
        slack = ROUNDING_OF_MEANS * float(max(highest, -lowest, 0.0))
    else:
        slack = mean_tolerance(values[np.isfinite(values)])
    return int(np.argmax(values >= highest - slack))


def merge_values(values: np.ndarray) -> np.ndarray:
    """The array, values alike where only rounding keeps them apart: ties can be told by ==."""
    return merge(values.ravel(), value_tolerance(values)).reshape(values.shape)


def merge_means(values: np.ndarray) -> np.ndarray:
    """Mean of each row, alike where only rounding keeps them apart."""
    return merge(values.mean(axis=1), mean_tolerance(values))


def merge(numbers: np.ndarray, tolerance=0.0, *, relative: float = 0.0) -> np.ndarray:
    """Along the last axis, each that is within the tolerance of the next smaller one becomes it.

    What is relative is so to the two numbers themselves, which may be infinite.
    """
    order = np.argsort(numbers, axis=-1, kind="stable")
    ordered = np.take_along_axis(numbers, order, axis=-1)
    below, above = ordered[..., :-1], ordered[..., 1:]
    with np.errstate(invalid="ignore", over="ignore"):
        if relative:
            tolerance = tolerance + relative * np.minimum(np.abs(below), np.abs(above))
        is_new = above - below > tolerance
    place = np.zeros(numbers.shape, dtype=np.intp)
    place[..., 1:] = np.where(is_new, np.arange(1, numbers.shape[-1]), 0)
    np.maximum.accumulate(place, axis=-1, out=place)
    merged = np.empty_like(numbers)
    np.put_along_axis(merged, order, np.take_along_axis(ordered, place, axis=-1), axis=-1)
    return merged


def midpoint(scores, lower) -> float:
    """A threshold between `lower` and the next score above it; +inf where there is none."""
    is_above = scores > lower
    if not is_above.any():
        return np.inf
    return middle(lower, scores.min(where=is_above, initial=scores.max()))


def middle(lower, upper) -> float:
    """A threshold above one score and up to another, which is a number of the scores' own type."""
    # Halves first: the difference of extreme scores overflows. The middle is rounded to the
    # scores' own type, in which it will be compared with them.
    between = float(lower) / 2 + float(upper) / 2
    if upper.dtype.kind == "f":
        between = float(upper.dtype.type(between))
    return between if between > lower else float(upper)
