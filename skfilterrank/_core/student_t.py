"""Student's t for a mean over queries: its interval, and whether it differs from 0."""

import math

import numpy as np

from skfilterrank._core.scoring import mean_over_queries


def mean_and_error(values, weights=None, rounding=0.0) -> tuple[float, float, int]:
    """Return the mean over queries, its standard error, and how many have a weight above 0.

    Values no further apart than `rounding` are equal, and have no error.
    """
    if weights is not None and not weights.all():
        values, weights = values[weights > 0], weights[weights > 0]
    n = len(values)
    if n < 2 or np.ptp(values) <= rounding:
        return mean_over_queries(values, weights), 0.0, n
    if weights is None:
        return values.mean(), values.std(ddof=1) / np.sqrt(n), n
    mean = mean_over_queries(values, weights)
    squares = np.sum((weights * (values - mean)) ** 2)
    return mean, np.sqrt(n / (n - 1) * squares) / weights.sum(), n


def t_interval(mean: float, error: float, n: int, confidence: float) -> tuple[float, float]:
    """The interval of a mean of n values with a standard error; NaN for a single value."""
    if n < 2:
        return math.nan, math.nan
    half = error * _student_t().ppf(0.5 + confidence / 2, n - 1)
    return float(mean - half), float(mean + half)


def t_test(mean: float, error: float, n: int) -> float:
    """Two-sided p value of a mean that is not 0 everywhere; NaN for a single value."""
    if n < 2:
        return math.nan
    if not error:
        return 0.0
    return float(2 * _student_t().sf(abs(mean / error), n - 1))


def _student_t():
    # Imported where needed: it takes longer than all the rest, and measures need none of it.
    from scipy import stats

    return stats.t
