"""Pairs of systems and what all tests of them share: blocks, smallest p values, no spread."""

import numpy as np
import pytest

from skfilterrank.comparison import SystemScores, compare_systems


def test_pairs_come_in_the_order_of_the_systems():
    scores = SystemScores([[1.0, 2], [3, 5], [2, 2]], systems=["c", "a", "b"])
    found = compare_systems(scores)
    assert list(zip(found.first.tolist(), found.second.tolist())) == [(0, 1), (0, 2), (1, 2)]
    assert found.difference.tolist() == [-2.5, -0.5, 2]
    against = compare_systems(scores, baseline="a")
    assert list(zip(against.first.tolist(), against.second.tolist())) == [(0, 1), (2, 1)]
    assert against.difference.tolist() == [-2.5, -2]


def test_ties_are_counted_pair_by_pair():
    values = [[1, 2, 3, 4], [1, 2, 0, 0], [0, 2, 3, 0]]
    assert compare_systems(values).n_tied.tolist() == [2, 2, 2]
    assert compare_systems([*values[:2], [9, 9, 9, 0]]).n_tied.tolist() == [2, 0, 1]


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_differences_without_spread_are_five_equal_signs(test):
    low, high = np.zeros(5), np.full(5, 0.25)
    for values in ([high, low], [low, high]):
        assert compare_systems(values, test=test, random_state=0).p_value == 2 / 2**5


@pytest.mark.parametrize("test", ["sign", "randomization"])
def test_the_smallest_p_value_of_six_queries(test):
    # All signs alike are one pattern of 2^6 on either side.
    values = np.array([np.arange(1.0, 7), np.zeros(6)])
    found = compare_systems(values, test=test, random_state=0)
    assert found.smallest_p == found.p_value == 2 / 2**6


@pytest.mark.parametrize("test", ["t", "sign", "bootstrap"])
def test_figures_of_blocks_are_joined(test, monkeypatch):
    values = np.random.default_rng(0).random((4, 6))
    whole = compare_systems(values, test=test, n_resamples=100, random_state=0)
    monkeypatch.setattr("skfilterrank._base.system_pairs.BLOCK_BYTES", 1)
    parts = compare_systems(values, test=test, n_resamples=100, random_state=0)
    for name in ("difference", "p_value", "effect_size", "low", "high", "n_tied"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), err_msg=name)
    assert parts.smallest_p == whole.smallest_p
    assert parts.interval_of == whole.interval_of
