"""The best prefix of a list, and the threshold below it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rows_of_queries import lists_of
from skfilterrank._lists.prefixes import best_prefix, thresholds_of
from skfilterrank._lists.queries import GroupIndex

INF = np.inf


class TestThresholds:
    @given(st.integers(0, 10**6))
    def test_say_what_is_shown_where_no_tie_is_cut(self, seed):
        _, scores, groups = lists_of(seed)
        index = GroupIndex.from_groups(groups)
        level = np.random.RandomState(seed).randint(-1, 17, index.n_queries) / 4.0
        shown = (scores >= level[index.codes()]) & (scores > -INF)
        thresholds = thresholds_of(shown, scores, index)
        np.testing.assert_array_equal((scores >= thresholds) & (scores > -INF), shown)
        for query in range(index.n_queries):
            assert len(set(thresholds[index.codes() == query])) <= 1


def prefix_sums(expected, scores, k):
    """The expected sum of every prefix of one query that cuts no tie, {lowest score: sum}."""
    sums = {INF: 0.0}
    for lowest in np.unique(scores[np.isfinite(scores)]):
        total, place = 0.0, 0
        for score in np.unique(scores[scores >= lowest])[::-1]:
            tied = expected[scores == score]
            for _ in tied:
                if k is None or place < k:
                    total += tied.mean() / np.log2(place + 2)
                place += 1
        sums[lowest] = total
    return sums


@pytest.mark.slow
@pytest.mark.parametrize("k", [None, 1, 3, 10])
@pytest.mark.parametrize("filtered", [False, True])
def test_best_prefix_is_the_best_of_all(k, filtered):
    rng = np.random.default_rng(0)
    for _ in range(8):
        groups = rng.integers(0, 6, size=25)
        scores = rng.integers(0, 8, size=25).astype(float)  # many ties
        if filtered:
            scores[rng.uniform(size=25) < 0.3] = -INF
        expected = rng.normal(size=25)
        shown = best_prefix(expected, scores, GroupIndex.from_groups(groups), k)
        for query in np.unique(groups):
            rows = groups == query
            kept = scores[rows & shown]
            assert kept.min(initial=INF) > scores[rows & ~shown].max(initial=-INF)
            sums = prefix_sums(expected[rows], scores[rows], k)
            assert np.isfinite(kept).all()
            chosen = kept.min() if len(kept) else INF
            best = max(sums.values())
            assert sums[chosen] == pytest.approx(best, abs=1e-9)
            # The longest of equally good prefixes.
            assert chosen == min(low for low, total in sums.items() if total >= best - 1e-9)


def thresholds(expected, scores, index, k=None):
    """Return the thresholds below the best prefixes."""
    return thresholds_of(best_prefix(expected, scores, index, k), scores, index)


@pytest.mark.parametrize(
    ("groups", "expected", "scores", "found"),
    [
        (
            "aaabbbccc",
            [1, 1, -1, -1, -1, -1, 1, 1, 1],
            [3, 2, 0, 3, 2, 0, 3, 2, 0],
            [1, 1, 1, INF, INF, INF, -INF, -INF, -INF],
        ),
        # It is taken to the last row too, and is finite if scores are extreme.
        ("aaa", [1, 1, -1], [3, 2, 1], [1.5, 1.5, 1.5]),
        ("aa", [1, -1], [1.5e308, -1e308], [0.25e308, 0.25e308]),
    ],
)
def test_threshold_is_in_the_middle(groups, expected, scores, found):
    rows = np.array(expected, dtype=float), np.array(scores, dtype=float)
    actual = thresholds(*rows, GroupIndex.from_groups(list(groups)), 3)
    np.testing.assert_allclose(actual, found, rtol=1e-15)


@pytest.mark.parametrize(("loss", "threshold"), [(0.0, -INF), (1e-13, -INF), (1e-11, 1.5)])
def test_prefixes_that_are_rounding_apart_are_equal(loss, threshold):
    # The second document, at 1 / log2(3), takes away what is too little or just enough.
    index = GroupIndex.from_groups([0, 0])
    expected = np.array([1.0, -loss * np.log2(3)])
    assert thresholds(expected, np.array([2.0, 1.0]), index).tolist() == [threshold] * 2


def test_a_list_that_is_worth_nothing_is_shown():
    index = GroupIndex.from_groups([0, 1])
    shown = best_prefix(np.array([0.0, -1e-9]), np.array([2.0, 2.0]), index, None)
    assert shown.tolist() == [True, False]


def test_neighbouring_floats_have_no_middle():
    index = GroupIndex.from_groups([0, 0])
    scores = np.array([np.nextafter(1.0, 2), 1.0])
    found = thresholds(np.array([1.0, -1]), scores, index)
    np.testing.assert_array_equal(scores >= found, [True, False])


def test_other_lists_of_a_batch_change_nothing():
    # What the last list adds is below the rounding of a sum of all lists.
    expected, groups = np.append(np.ones(200_000), -1.2e-11), np.arange(200_001)
    shown = best_prefix(expected, np.zeros(200_001), GroupIndex.from_groups(groups), None)
    assert shown[:-1].all()
    assert not shown[-1]
