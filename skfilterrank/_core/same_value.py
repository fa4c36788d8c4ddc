"""Values and means that only rounding keeps apart: 0.1 + 0.2 and 0.3 are the same value.

Rounding to a grid would not do: some values lie at the border of two cells.
"""

import numpy as np

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
    slack = mean_tolerance(values[np.isfinite(values)])
    return int(np.argmax(values >= values.max() - slack))


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
