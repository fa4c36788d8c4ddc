"""Pairs of systems that two orders contradict each other about."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.comparison import SystemScores, swap_rate

TWO_ORDERS = st.integers(2, 8).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(-3, 3), min_size=size, max_size=size)] * 2)
)


def named(values):
    return {f"s{place}": value for place, value in enumerate(values)}


@given(TWO_ORDERS)
def test_equals_a_loop_over_pairs(orders):
    first, second = orders
    opposite = [
        (first[i] > first[j] and second[i] < second[j])
        or (first[i] < first[j] and second[i] > second[j])
        for i, j in itertools.combinations(range(len(first)), 2)
    ]
    assert swap_rate(named(first), named(second)) == pytest.approx(np.mean(opposite))


def test_takes_scores_of_other_queries_with_systems_in_any_order():
    first = SystemScores([[0.1, 0.2], [0.3, 0.3], [0.5, 0.6]], systems=["a", "b", "c"])
    second = SystemScores([[0.9], [0.2], [0.4]], systems=["c", "a", "b"], queries=["other"])
    assert swap_rate(first, second) == 0
    means = pd.Series({"b": 0.1, "a": 0.2, "c": 0.3})
    # a and b are opposite, one of three pairs.
    assert swap_rate(first, means) == pytest.approx(1 / 3)
    assert swap_rate(first, ["a", "b", "c"]) == 1


def test_regards_whether_greater_is_better():
    values = [[0.1, 0.2], [0.3, 0.3]]
    assert swap_rate(SystemScores(values), SystemScores(values, greater_is_better=False)) == 1


def test_values_that_differ_by_rounding_are_tied():
    # 0.1 + 0.2 is 0.30000000000000004, so that the first has one more than the second, or less.
    first, second = {"a": 0.1 + 0.2, "b": 0.3}, {"a": 0.3, "b": 0.1 + 0.2}
    assert swap_rate(first, second) == 0
    assert swap_rate({"a": 0.3 + 1e-9, "b": 0.3}, {"a": 0.3, "b": 0.3 + 1e-9}) == 1


def test_infinite_values_have_a_place():
    assert swap_rate({"a": np.inf, "b": 0.0, "c": -np.inf}, ["c", "b", "a"]) == 1


def test_all_tied():
    assert swap_rate({"a": 0.0, "b": 0.0}, {"a": 1, "b": 2}) == 0


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, "must have the same systems"),
        ({"a": 1}, {"a": 1}, "at least 2 systems"),
        ({"a": 1, "b": np.nan}, {"a": 1, "b": 2}, "missing"),
        (pd.Series([1, 2], ["a", "a"]), {"a": 1, "b": 2}, "more than once"),
    ],
)
def test_bad_input(first, second, message):
    with pytest.raises(ValueError, match=message):
        swap_rate(first, second)
