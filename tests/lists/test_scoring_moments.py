"""Means and variances that are exact, however the values are cut into parts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._lists.row_blocks import merged
from skfilterrank._lists.scoring import Moments, exact_sum

UNIT = 1 << 1074
VALUES = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9)


def of(*values):
    return Moments.of(np.array(values, dtype=np.float64))


def test_values_by_hand():
    found = of(1, 2, 4, np.nan)
    # Mean 7 / 3; distances 16 / 9 + 1 / 9 + 25 / 9 = 42 / 9.
    assert (found.n, found.sum) == (3, 7.0)
    assert found.mean == 7 / 3
    assert found.squares_about_mean == 42 / 9
    assert found.sd == math.sqrt(42 / 9 / 2)


def test_few_values():
    assert math.isnan(of().mean)
    assert math.isnan(of(np.nan).squares_about_mean)
    one = of(0.1)
    assert (one.n, one.mean, one.squares_about_mean) == (1, 0.1, 0.0)
    assert math.isnan(one.sd)


@given(VALUES)
def test_sums_are_exact(values):
    assert Fraction(exact_sum(np.array(values)), UNIT) == sum(map(Fraction, values))


@pytest.mark.parametrize("size", [1e-170, 1e-3, 1.0, 1e30, 1e160, 1e308])
def test_sums_of_squares(size):
    values = [size * each for each in (1.0, 1 / 3, -0.7)]
    exact = sum(Fraction(value) ** 2 for value in values)
    found = Fraction(of(*values).total_of_squares, UNIT)
    # Squares below what float64 holds are lost, a unit or less for each value and half of it.
    assert abs(found - exact) <= Fraction(8, UNIT)


def test_a_sum_that_floats_lose():
    # The third is lost beside the first, and so is the variance of neighbours of 1e8.
    assert of(1e100, -1e100, 1.0).sum == 1.0
    assert of(1e8, 1e8 + 1, 1e8 + 2).squares_about_mean == 2.0
    assert of(1e8, 1e8 + 1, 1e8 + 2).sd == 1.0


def test_equal_values_have_no_variance():
    found = of(*[0.1] * 1000)
    assert (found.mean, found.squares_about_mean, found.sd) == (0.1, 0.0, 0.0)


@given(VALUES, st.data())
def test_parts_in_any_order_are_the_whole(values, data):
    cut = data.draw(st.integers(0, len(values)))
    parts = [of(*values[cut:]), of(*values[:cut])]
    assert merged(parts) == of(*values)
