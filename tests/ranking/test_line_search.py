"""The line search of coordinate ascent: steps of the measure, and the best of them."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from line_searches import (
    EXACT,
    THRESHOLDED,
    check_best,
    check_steps,
    make_search,
)
from profiles import times
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.ranking._coordinate_ascent import line_search
from skfilterrank.ranking._coordinate_ascent.line_search import (
    Steps,
    best_time,
    between,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
@times(1 / 3)  # of each of many measures
@given(data=st.data())
def test_steps_are_those_of_the_measure(name, data):
    check_steps(data, name, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", THRESHOLDED)
@times(1 / 3)  # of each of many measures
@given(data=st.data())
def test_steps_with_a_threshold(name, data):
    check_steps(data, name, "drawn")


def test_steps_by_hand():
    # Gains 1 and 0 with scores 0 and 1, features 1 and 0: they cross at t = 1.
    index = GroupIndex.from_groups(["q", "q"])
    _, search = make_search(np.array([1.0, 0.0]), index, "ndcg_f")
    steps = search.steps(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    np.testing.assert_allclose(steps.times, [1.0])
    np.testing.assert_allclose(steps.changes, [1 - 1 / log2(3)])
    assert search.best(np.array([0.0, 1.0]), np.array([1.0, 0.0]), None, 0.5) == pytest.approx(1.5)
    # With a threshold of 0.5 the good document appears, in second place, at t = 0.5.
    steps = search.steps(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.5)
    np.testing.assert_allclose(steps.times, [0.5, 1.0])
    np.testing.assert_allclose(steps.changes, [1 / log2(3), 1 - 1 / log2(3)])


def test_equal_documents_that_part_alike_on_both_sides():
    """At t = 0 the relevant one is last of equals, beside it third: no step, and it stays."""
    gains = np.array([-2.0, -2.0, -2.0, 1.0])
    scores, feature = np.zeros(4), np.array([-1.0, 0.0, 1.0, 0.0])
    objective, search = make_search(gains, GroupIndex.from_groups(["q"] * 4), "f@3")
    assert not len(search.steps(scores, feature).times)
    assert search.best(scores, feature, None, 1.0) == 0
    beside = 2 / (3 + 1)  # F of 1 relevant document among 3
    assert objective(scores) == 0
    assert objective(scores - feature) == objective(scores + feature) == pytest.approx(beside)
    check_best(objective, search, (scores, feature, None), beside)


@pytest.mark.parametrize("name", ["ndcg_f@3", "ap", "ul_normalized@3"])
def test_blocks_do_not_matter(name, monkeypatch):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 20, 300)
    gains = rng.choice([0.0, 1.0, 2.0], 300)
    scores, feature = rng.normal(size=(2, 300)).round(1)
    index = GroupIndex.from_groups(groups)
    whole = make_search(gains, index, name)[1].steps(scores, feature)
    monkeypatch.setattr(line_search, "_BLOCK_CELLS", 40)
    monkeypatch.setattr(line_search, "_CROSSING_CELLS", 50)
    small = make_search(gains, index, name)[1].steps(scores, feature)
    np.testing.assert_array_equal(small.times, whole.times)
    np.testing.assert_allclose(np.cumsum(small.changes), np.cumsum(whole.changes), atol=1e-12)


def test_best_time():
    def best(times, changes, penalty=0.0):
        return best_time(Steps(np.array(times), np.array(changes)), 0.5, penalty)

    assert best([], []) == 0
    assert best([1.0, 3.0], [1.0, -1.0]) == 2
    assert best([-3.0, -1.0], [1.0, -1.0]) == -2
    assert best([1.0], [1.0]) == 1.5
    assert best([-1.0], [-1.0]) == -1.5
    # As good where it is.
    assert best([-1.0, 1.0, 3.0, 5.0], [1.0, -1.0, 1.0, -1.0]) == 0
    # The nearer of two.
    assert best([1.0, 2.0, 3.0, 5.0], [1.0, -1.0, 1.0, -1.0]) == 1.5
    assert best([-5.0, -3.0, -2.0, -1.0], [1.0, -1.0, 1.0, -1.0]) == -1.5
    # 0.1 for each 0.5, and steps of 1.5 and 4: the first gains 1 - 0.3, the other 1.3 - 0.8.
    assert best([1.0, 2.0, 3.0, 5.0], [1.0, -1.0, 1.3, -1.3], 0.1) == 1.5
    assert best([1.0, 2.0, 3.0, 5.0], [1.0, -1.0, 1.3, -1.3], 0.01) == 4
    # Too short for rounding.
    assert best([1.0, 1.0 + 1e-13, 2.0, 4.0], [9.0, -9.0, 1.0, -1.0]) == 3
    np.testing.assert_array_equal(
        between(np.array([1.0, 2.0, 5.0]), np.arange(4), 7.0), [-6, 1.5, 3.5, 12]
    )


@pytest.mark.parametrize("side", [1, -1])
def test_the_penalty_is_that_of_the_step_taken(side):
    def best(times, changes, penalty):
        changes = np.array(changes)
        steps = Steps(np.array(times), changes)
        if side < 0:
            steps = Steps(-steps.times[::-1], -changes[::-1])
        return side * best_time(steps, 1.0, penalty)

    # The middle, 2.55, costs 0.255 at 0.1 for each 1, and gains 0.05.
    assert best([0.1, 5.0], [0.05, -0.01], 0.1) == 0
    assert best([0.1, 5.0], [0.05, -0.01], 0.0196) == pytest.approx(2.55)
    assert best([0.1, 5.0], [0.05, -0.01], 0.0197) == 0
    # Beyond the outermost crossing the step is 3 + 1.
    assert best([3.0], [1.0], 0.249) == 4
    assert best([3.0], [1.0], 0.251) == 0
    # Two documents that are equal now: there is no staying, and the shorter step wins.
    assert best([0.0, 2.0, 3.0], [1.0, 0.1, -1.0], 0.01) == pytest.approx(2.5)
    assert best([0.0, 2.0, 3.0], [1.0, 0.1, -1.0], 0.1) == pytest.approx(1.0)
    # Crossings beyond what can be charged.
    assert best([-1.0, 1e300], [-1.0, 1.0], 1e20) == 0


def test_extreme_scores_and_features():
    rng = np.random.default_rng(0)
    gains = rng.choice([-1.0, 0.0, 2.0], 40)
    index = GroupIndex.from_groups(np.repeat(np.arange(4), 10))
    objective, search = make_search(gains, index, "ndcg_f@3")
    scores, feature = rng.normal(size=(2, 40))
    expected = objective(scores + search.best(scores, feature, None, 1.0) * feature)
    for factor in (1e-200, 1e200):
        t = search.best(scores, feature * factor, None, 1.0 / factor)
        assert objective(scores + t * feature * factor) == pytest.approx(expected)
    # Crossings beyond the range of float64.
    feature[:20] *= 1e-308
    t = search.best(scores * 1e100, feature, None, 1.0)
    assert np.isfinite(t)
