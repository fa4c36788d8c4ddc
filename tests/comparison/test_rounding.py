"""Values that only rounding keeps apart are equal to everything that orders or counts."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skfilterrank._base.rounding import merge
from skfilterrank.comparison import (
    SystemScores,
    compare_systems,
    kendall_tau,
    order_systems,
    swap_rate,
    tau_ap,
)
from skfilterrank.metaevaluation import agreement

SUM = 0.1 + 0.2
# One value of two has another last digit.
SCORES = SystemScores([[SUM, 0.5], [0.3, 0.5]], systems=["a", "b"])
# Means of 0.2, as sums of tenths in another order.
MEANS = SystemScores([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.5, 0.5, 0.5]], systems=["x", "y", "z"])
# Numbers of hits and steps of a measure such as precision@10.
HITS = st.tuples(st.integers(2, 6), st.integers(1, 9)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 5))
)
STEPS = st.sampled_from([3, 7, 10, 30, 1000])


def test_numbers_are_what_they_seem_not():
    assert SUM != 0.3
    assert len(set(MEANS.values.mean(axis=1))) == 3


def test_values():
    assert SCORES.fraction_tied() == 1
    assert compare_systems(SCORES).n_tied.tolist() == [2]
    assert agreement(SCORES, SCORES).n_compared == 0
    assert order_systems(SCORES, n_resamples=0, random_state=0).scores.tolist() == [0.5, 0.5]
    assert order_systems(SCORES, n_resamples=0, random_state=0).n_wins.tolist() == [[0, 0], [0, 0]]
    assert str(SCORES).splitlines()[2].split() == ["a", "0.400", "0.141", "0"]
    assert str(SCORES).splitlines()[3].split() == ["b", "0.400", "0.141", "0"]


def test_a_difference_of_the_tolerance_is_a_tie():
    values = [[0.3, 0.2], [0.2, 0.1]]
    assert SystemScores(values).fraction_tied(tolerance=0.1) == 1
    assert agreement(values, values, tolerance=0.1).n_compared == 0


def test_means():
    order = ["z", "x", "y"]
    assert list(MEANS.means.index) == order
    assert list(MEANS.select(systems=["y", "x", "z"]).means.index) == ["z", "y", "x"]
    # One of three pairs is tied: 2 / sqrt(2 * 3).
    assert kendall_tau(MEANS, order) == pytest.approx(2 / np.sqrt(6))
    assert kendall_tau(MEANS.means, order) == pytest.approx(2 / np.sqrt(6))
    assert tau_ap(MEANS, MEANS, symmetric=True) == 1
    assert swap_rate(MEANS, ["z", "y", "x"]) == swap_rate(MEANS, order) == 0
    with pytest.raises(ValueError, match="predicted must not have ties"):
        tau_ap(order, MEANS)


@pytest.mark.slow
@given(HITS, STEPS)
def test_fractions_are_as_whole_numbers(hits, steps):
    fractions = hits / steps
    assert SystemScores(fractions).fraction_tied() == SystemScores(hits).fraction_tied()
    found, expected = (
        order_systems(each, n_resamples=0, random_state=0) for each in (fractions, hits)
    )
    np.testing.assert_array_equal(found.n_wins, expected.n_wins)
    np.testing.assert_array_equal(found.rank, expected.rank)
    # Sums of whole numbers are exact.
    exact = dict(zip("abcdef", hits.sum(axis=1)))
    scores = SystemScores(fractions, systems=list(exact))
    assert list(scores.means.index) == sorted(exact, key=exact.get, reverse=True)
    for one, other in itertools.pairwise(scores.means.index):
        tied = swap_rate(scores.select(systems=[one, other]), [other, one]) == 0
        assert tied == (exact[one] == exact[other])
    np.testing.assert_equal(kendall_tau(scores, exact), kendall_tau(exact, exact))


def test_small_values_of_a_dict_stay_apart():
    # As of documents by a model that is sure of the first.
    first = {"a": 1.0, "b": 1e-14, "c": 1e-15, "d": 0.0}
    assert kendall_tau(first, list("abcd")) == 1


def test_merging():
    found = merge(np.array([3.0, 1.0, 1.4, 2.2, 1.9]), 0.5)
    # 1.0, 1.4, 1.9 and 2.2 follow one another closely.
    assert found.tolist() == [3, 1, 1, 1, 1]
    infinite = np.array([np.inf, 1.0, -np.inf, np.inf, 1.0 + 1e-15])
    assert merge(infinite, relative=1e-12).tolist() == [np.inf, 1, -np.inf, np.inf, 1]
    rows = np.array([[1.0, 1.2, 5.0], [1.0, 1.2, 5.0]])
    assert merge(rows, np.array([[0.1], [0.3]])).tolist() == [[1, 1.2, 5], [1, 1, 5]]
