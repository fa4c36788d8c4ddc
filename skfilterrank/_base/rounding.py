"""Equality of values up to rounding, and numbers between two scores.

Values are merged by their distance: rounding to a grid would separate close values at the border of
two cells.
"""

import numpy as np

# Values differ only by rounding if their difference is below this share of the largest value.
ROUNDING_OF_VALUES = 2.0**-47
# Sums over queries accumulate more rounding.
ROUNDING_OF_MEANS = 1e-12


def value_tolerance(values: np.ndarray) -> float:
    """Return the largest difference of two values that counts as rounding."""
    return ROUNDING_OF_VALUES * float(np.abs(values).max(initial=0.0))


def mean_tolerance(values: np.ndarray) -> float:
    """Return the largest difference of two means that counts as rounding."""
    return ROUNDING_OF_MEANS * float(np.abs(values).max(initial=0.0))


def last_of_highest(values: np.ndarray) -> int:
    """Return the index of the highest mean; the last one if several are equal up to rounding."""
    highest, lowest = values.max(), values.min()
    if np.isfinite(highest) and np.isfinite(lowest):
        slack = ROUNDING_OF_MEANS * float(max(highest, -lowest, 0.0))
    else:
        slack = mean_tolerance(values[np.isfinite(values)])
    return int(np.flatnonzero(values >= highest - slack)[-1])


def merge_values(values: np.ndarray) -> np.ndarray:
    """Make values equal that differ only by rounding, so that == finds ties."""
    return merge(values.ravel(), value_tolerance(values)).reshape(values.shape)


def merge_means(values: np.ndarray) -> np.ndarray:
    """Compute the mean of each row, and make means equal that differ only by rounding."""
    return merge(values.mean(axis=1), mean_tolerance(values))


def merge(numbers: np.ndarray, tolerance=0.0, *, relative: float = 0.0) -> np.ndarray:
    """Make numbers equal to the next smaller number if they differ by at most the tolerance.

    `relative` times the smaller absolute value of the two numbers is added to the tolerance.
    Numbers may be infinite.
    """
    order = np.argsort(numbers, axis=-1, kind="stable")
    ordered = np.take_along_axis(numbers, order, axis=-1)
    below, above = ordered[..., :-1], ordered[..., 1:]
    with np.errstate(invalid="ignore", over="ignore"):
        if relative:
            tolerance = tolerance + relative * np.minimum(np.abs(below), np.abs(above))
        gap = above - below
        is_new = (gap > tolerance) | (gap == np.inf)
    place = np.zeros(numbers.shape, dtype=np.intp)
    place[..., 1:] = np.where(is_new, np.arange(1, numbers.shape[-1]), 0)
    np.maximum.accumulate(place, axis=-1, out=place)
    merged = np.empty_like(numbers)
    np.put_along_axis(merged, order, np.take_along_axis(ordered, place, axis=-1), axis=-1)
    return merged


def midpoint(scores, lower) -> float:
    """Return a threshold between `lower` and the next score above it; +inf if there is none."""
    is_above = scores > lower
    if not is_above.any():
        return np.inf
    return middle(lower, scores.min(where=is_above, initial=scores.max()))


def middle(lower, upper) -> float:
    """Return a number above one score and up to another, in the type of the scores."""
    # Scores are halved first, because the difference of extreme scores overflows. The middle is
    # rounded to the type of the scores, since it will be compared with scores.
    between = float(lower) / 2 + float(upper) / 2
    if upper.dtype.kind == "f":
        between = float(upper.dtype.type(between))
    return between if between > lower else float(upper)
