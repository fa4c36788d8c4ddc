"""Sums without rounding, against fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._core.moments import Moments, exact_sum
from skfilterrank.exceptions import InputError
from skfilterrank.stream._closed import ClosedQueries

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e140, max_value=1e140)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), max_size=30))
def test_sums_are_exact(values):
    total = exact_sum(np.array(values)) if values else 0
    assert Fraction(total, 1 << 1074) == sum(map(Fraction, values), Fraction(0))


@given(st.lists(NUMBERS.filter(lambda x: x == 0 or abs(x) > 1e-120), min_size=2, max_size=20))
def test_moments_are_those_of_fractions(values):
    moments = Moments.of(np.array(values))
    exact = list(map(Fraction, values))
    mean = sum(exact, Fraction(0)) / len(exact)
    assert moments.mean == float(mean)
    assert moments.squares_about_mean == float(sum((each - mean) ** 2 for each in exact))


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.data())
def test_merging_in_any_order_changes_nothing(values, data):
    ends = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=5)))
    parts = [Moments.of(part) for part in np.split(np.array(values), ends)]
    total = Moments()
    for part in data.draw(st.permutations(parts)):
        total = part.merge(total)
    assert total == Moments.of(np.array(values))


def test_by_hand():
    moments = Moments.of(np.array([1.0, 2.0, np.nan, 4.0, 5.0]))
    assert (moments.n, moments.sum, moments.mean) == (4, 12.0, 3.0)
    assert moments.squares_about_mean == 10.0
    assert moments.sd == math.sqrt(10 / 3)
    nothing = Moments.of(np.array([np.nan]))
    assert nothing == Moments()
    assert math.isnan(nothing.mean)
    assert math.isnan(nothing.sd)
    assert math.isnan(Moments.of(np.array([2.0])).sd)


def test_what_cancels_is_not_lost():
    values = 1.0 + 1e-12 * np.arange(1000)
    assert Moments.of(values).sd == pytest.approx(np.std(values - 1.0, ddof=1), rel=1e-9)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True), st.integers(1, 7))
def test_closed_queries_are_known_again(ids, step):
    closed = ClosedQueries()
    for begin in range(0, len(ids), step):
        closed.add(np.array(ids[begin : begin + step], dtype=np.int64))
    for query in ids:
        with pytest.raises(InputError, match=f"query {query} do not stand together"):
            closed.add(np.array([query], dtype=np.int64))
    other = ClosedQueries()
    other.add(np.array([each for each in (5, 6, 7) if each not in ids], dtype=np.int64))
    closed.merge(other)
