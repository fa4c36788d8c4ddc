"""One value per query: ratios, the value of undefined queries, and the mean."""

import numpy as np

from skfilterrank._core.checks import is_finite_number
from skfilterrank.exceptions import InputError, brief

# What a measure returns: the mean over queries, or one value per query with average=None.
Scores = float | np.ndarray


def ratio(part, whole) -> np.ndarray:
    """part / whole; NaN, undefined, where the whole is not above 0."""
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def check_undefined(undefined) -> None:
    """A number, or "drop"."""
    is_drop = isinstance(undefined, str) and undefined == "drop"
    if not is_drop and not is_finite_number(undefined):
        raise InputError(f"undefined must be a finite number or 'drop', got {brief(undefined)}.")


def with_undefined(values, undefined) -> np.ndarray:
    """Give undefined queries (NaN) their value."""
    if undefined != "drop":
        values[np.isnan(values)] = undefined
    return values


def mean_over_queries(values) -> float:
    """Mean of the queries that have a value; NaN where none has."""
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else float("nan")
