"""Numbers of the values of queries: means, their errors, intervals and tests, and exact sums."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.checks import check_choice, is_finite_number
from skfilterrank._lists.query_weights import given_weights, scaled
from skfilterrank.exceptions import InputError, brief

# What a measure returns: the mean over queries, or one value per query with average=None.
Scores = float | np.ndarray


def ratio(part, whole) -> np.ndarray:
    """part / whole; NaN, undefined, where the whole is not above 0."""
    result = np.full(np.shape(whole), np.nan)
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


def check_average(average, query_weight) -> None:
    """A mean, or the values of all queries, which have no weights."""
    check_choice(average, "average", ("mean", None))
    if average is None and query_weight is not None:
        raise InputError(
            "query_weight weighs queries in their mean, and average=None asks for no mean: leave "
            "one of the two out."
        )


def mean_of(values, average, query_weight, index, over_queries="mean") -> Scores:
    """Return the mean over queries, or with ``average=None`` the values."""
    if average is None:
        return values
    return number_over_queries(values, over_queries, given_weights(query_weight, index))


def mean_over_queries(values, weights=None) -> float:
    """Mean of the queries that have a value; NaN where none has.

    `weights` holds one number from 0 up for each query. Where those that count are all alike, the
    mean is the plain one to the bit.
    """
    counted = ~np.isnan(values)
    if weights is not None:
        counted &= weights > 0
    if not counted.all():
        values = values[counted]
        weights = None if weights is None else weights[counted]
    if not len(values):
        return float("nan")
    if weights is None or (weights == weights[0]).all():
        return float(values.mean())
    return float(np.average(values, weights=weights))


def _sum(values, weights=None):
    """Sum of the queries that have a value, each times its weight."""
    if weights is None:
        return float(np.nansum(values))
    return float(np.nansum(values[weights > 0] * weights[weights > 0]))


def _geometric_mean(values, weights=None):
    """Take the geometric mean of values raised to 0.00001, as trec_eval does."""
    return float(np.exp(mean_over_queries(np.log(np.maximum(values, 1e-5)), weights)))


# How one number is made of the values of all queries: the `over_queries` of measures.
OVER_QUERIES = {"mean": mean_over_queries, "sum": _sum, "geometric mean": _geometric_mean}


def number_over_queries(values, how: str, weights=None) -> float:
    """Make one number of the values of all queries, by weights as they were given.

    Means do not depend on the scale of the weights; in a sum, a query of weight 2 counts twice.
    """
    return OVER_QUERIES[how](values, weights if how == "sum" else scaled(weights))


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


# Every float64 is a whole number of these.
_UNIT_BITS = 1074
# The mantissa is added in two halves, each as whole numbers that float64 holds.
_LOW_BITS = 26
_MOST_AT_ONCE = 1 << 24
# Splits a float64 into two halves whose products are exact.
_SPLITTER = 2.0**27 + 1
# Beyond it the splitter overflows, and squares do so soon.
_LARGEST = 2.0**500


def exact_sum(values: np.ndarray) -> int:
    """Sum of finite float64 as a whole number of units of 2**-1074, without any rounding."""
    total = 0
    for begin in range(0, len(values), _MOST_AT_ONCE):
        mantissas, exponents = np.frexp(values[begin : begin + _MOST_AT_ONCE])
        lowest = int(exponents.min())
        places = exponents - lowest
        mantissas = np.ldexp(mantissas, 53)
        high = np.floor(np.ldexp(mantissas, -_LOW_BITS))
        low = mantissas - np.ldexp(high, _LOW_BITS)
        for shift, part in ((_LOW_BITS, high), (0, low)):
            sums = np.bincount(places, part)
            for place in np.flatnonzero(sums):
                # The smallest float64 have fewer digits: what is shifted out is 0.
                up = int(place) + lowest - 53 + _UNIT_BITS + shift
                whole = int(sums[place])
                total += whole << up if up >= 0 else whole >> -up
    return total


def _exact_sum_of_squares(values):
    """Sum up squares without any rounding; each is the sum of two float64."""
    squares = values * values
    scaled = values * _SPLITTER
    high = scaled - (scaled - values)
    low = values - high
    rest = ((high * high - squares) + 2 * high * low) + low * low
    return exact_sum(squares) + exact_sum(rest)


class Moments(NamedTuple):
    """Number, sum and sum of squares of values, sums in units of 2**-1074.

    Sums are whole numbers, so that those of parts, added up in any order, are those of the whole.
    """

    n: int = 0
    total: int = 0
    total_of_squares: int = 0

    @classmethod
    def of(cls, values: np.ndarray) -> "Moments":
        """Compute the moments of finite float64 values; of NaN nothing is counted."""
        values = values[~np.isnan(values)]
        if not len(values):
            return cls()
        if np.abs(values).max() > _LARGEST:
            squares = sum((Fraction(value) ** 2 for value in values.tolist()), Fraction(0))
            return cls(len(values), exact_sum(values), int(squares * (1 << _UNIT_BITS)))
        return cls(len(values), exact_sum(values), _exact_sum_of_squares(values))

    def merge(self, other: "Moments") -> "Moments":
        """Add the moments of another part."""
        return Moments(*(mine + theirs for mine, theirs in zip(self, other)))

    @property
    def sum(self) -> float:
        """The sum, rounded once."""
        return self.total / (1 << _UNIT_BITS)

    @property
    def mean(self) -> float:
        """The mean, rounded once; NaN of nothing."""
        return self.total / (self.n << _UNIT_BITS) if self.n else math.nan

    @property
    def squares_about_mean(self) -> float:
        """Sum of the squared distances from the mean (M2), rounded once."""
        if not self.n:
            return math.nan
        unit = 1 << _UNIT_BITS
        return (self.n * self.total_of_squares * unit - self.total**2) / (self.n * unit * unit)

    @property
    def sd(self) -> float:
        """Standard deviation with n - 1 in the denominator; NaN of fewer than two."""
        # What squares so small that float64 has none of them lose may leave less than 0.
        squares = max(self.squares_about_mean, 0.0)
        return math.sqrt(squares / (self.n - 1)) if self.n > 1 else math.nan

    @property
    def error(self) -> float:
        """Standard error of the mean; NaN of fewer than two."""
        return self.sd / math.sqrt(self.n) if self.n > 1 else math.nan
