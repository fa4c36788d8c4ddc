"""Mean and variance of values that come in parts, the same to the bit however they are cut."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

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
    """The same for the squares; each is the sum of two float64."""
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
        """Those of finite float64 values; of NaN nothing is counted."""
        values = values[~np.isnan(values)]
        if not len(values):
            return cls()
        if np.abs(values).max() > _LARGEST:
            squares = sum((Fraction(value) ** 2 for value in values.tolist()), Fraction(0))
            return cls(len(values), exact_sum(values), int(squares * (1 << _UNIT_BITS)))
        return cls(len(values), exact_sum(values), _exact_sum_of_squares(values))

    def merge(self, other: "Moments") -> "Moments":
        """Those of both parts together."""
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
