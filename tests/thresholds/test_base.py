"""Where lists are cut: keys, the best level of them, and what is shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skfilterrank.thresholds._cuts import FirstK, LargestGap, Surprise
from skfilterrank.thresholds._list_filter import level_curve

from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.prefixes import places
from skfilterrank._core.queries import GroupIndex
from skfilterrank.metrics import evaluate, ndcg_f_score

INF = np.inf


def lists_of(seed, n_queries=6, n_ties=4, filtered=True):
    """Labels, scores with ties and -inf, and queries in no order."""
    rng = np.random.RandomState(seed)
    groups = rng.randint(0, n_queries, 40)
    scores = rng.randint(0, n_ties * 4, 40) / 4.0
    if filtered:
        scores[rng.rand(40) < 0.1] = -INF
    return rng.choice([-1.0, 0, 1, 2], 40), scores, groups


class TestLevels:
    """The best level of keys is found as if each were tried."""

    @pytest.mark.slow
    @pytest.mark.parametrize("measure", ["ndcg_f@3", "ap", "rbp", "f@5", "forbidden@3"])
    @pytest.mark.parametrize("seed", range(3))
    def test_values_are_those_of_the_lists_that_are_shown(self, measure, seed):
        y, scores, groups = lists_of(seed)
        # Documents of one score that a cut parts stand in the order of the rows.
        scores = scores + np.arange(40) / 1000
        y = y if measure in ("ndcg_f@3", "forbidden@3") else np.maximum(y, 0)
        index = GroupIndex.from_groups(groups)
        rng = np.random.RandomState(seed)
        per_query = rng.randint(0, 3, index.n_queries).astype(float)
        keys = per_query[index.codes()] - places(scores, index) // 2
        keys[rng.rand(40) < 0.1 * (places(scores, index) == 0)] = INF
        keys[scores == -INF] = -INF
        parsed = parse_measure(measure)
        curve = level_curve(RankedLists(y, scores, groups=groups), keys, parsed)
        sign = 1 if parsed.measure.greater_is_better else -1
        for level, value in zip(curve.thresholds, curve.values):
            kept = np.where(keys >= level, scores, -INF)
            expected = evaluate(y, kept, [measure], groups=groups, average="mean")[measure]
            assert value == pytest.approx(sign * float(expected))
        assert curve.best_value == curve.values.max()
        kept = np.where(keys >= curve.best_threshold, scores, -INF)
        best = evaluate(y, kept, [measure], groups=groups, average="mean")[measure]
        assert curve.best_value == pytest.approx(sign * float(best))

    def test_hidden_and_shown_whatever_the_level(self):
        y, scores, groups = [1.0, -1, 1], [3.0, 2, 1], [0, 0, 0]
        keys = np.array([INF, 1.0, -INF])
        curve = level_curve(RankedLists(y, scores, groups=groups), keys, parse_measure("ndcg_f"))
        assert curve.thresholds.tolist() == [1.0, INF]
        shown = [[3.0, 2, -INF], [3.0, -INF, -INF]]
        expected = [ndcg_f_score(y, kept, groups=groups) for kept in shown]
        np.testing.assert_allclose(curve.values, expected)
        assert curve.best_threshold == INF


class TestKeys:
    @given(st.integers(0, 10**6))
    def test_never_rise_down_a_list(self, seed):
        _, scores, groups = lists_of(seed)
        index = GroupIndex.from_groups(groups)
        order = np.lexsort((-scores, index.codes()))
        for cut in (FirstK(), LargestGap(), Surprise()):
            keys = cut.keys(scores, index)
            assert not np.isnan(keys).any()
            falls = keys[order][1:] <= keys[order][:-1]
            assert falls[np.diff(index.codes()[order]) == 0].all(), type(cut).__name__

    def test_first_k_by_hand(self):
        index = GroupIndex.from_groups([0, 0, 1, 0])
        assert FirstK().keys(np.array([1.0, 3, 5, 1]), index).tolist() == [-2, -1, -1, -3]

    def test_largest_gap_by_hand(self):
        index = GroupIndex.from_groups([0, 0, 0, 1, 1, 1, 2, 3, 3])
        scores = np.array([0.1, 0.9, 0.8, 5, 3, 1, 7, 2, 2])
        shown = LargestGap().keys(scores, index) >= 0
        # Of two gaps of one size the first; lists without a gap are whole.
        assert shown.tolist() == [False, True, True, True, False, False, True, True, True]

    def test_a_filtered_document_makes_no_gap(self):
        index = GroupIndex.from_groups([0] * 4)
        shown = LargestGap().keys(np.array([4.0, 3.5, 1, -INF]), index) >= 0
        assert shown[:3].tolist() == [True, True, False]

    def test_surprise_of_an_exponential_tail_is_the_excess_over_its_scale(self):
        # Quantiles of an exponential distribution: the shape is 0, -log P is x itself.
        n = 4001
        scores = -np.log((np.arange(n) + 0.5) / n)
        keys = Surprise().keys(scores, GroupIndex.from_groups(np.zeros(n, dtype=int)))
        np.testing.assert_allclose(keys[:1000], scores[:1000], rtol=0.05)
        assert keys[100] == pytest.approx(-np.log(100.5 / n), rel=0.02)

    def test_surprise_does_not_change_with_the_scale_of_the_scores(self):
        _, scores, groups = lists_of(3)
        index = GroupIndex.from_groups(groups)
        one, two = Surprise().keys(scores, index), Surprise().keys(8 * scores - 5, index)
        np.testing.assert_allclose(one, two)

    @pytest.mark.parametrize("seed", range(20))
    def test_surprise_of_equal_scores_is_equal(self, seed):
        _, scores, groups = lists_of(seed, n_queries=3)
        keys = Surprise().keys(scores, GroupIndex.from_groups(groups))
        rows = np.flatnonzero(scores > -INF)
        of_score = {(groups[row], scores[row]): keys[row] for row in rows}
        assert [of_score[groups[row], scores[row]] for row in rows] == keys[rows].tolist()
        order = np.random.RandomState(seed).permutation(len(scores))
        moved = Surprise().keys(scores[order], GroupIndex.from_groups(groups[order]))
        np.testing.assert_allclose(moved, keys[order], rtol=1e-12)

    def test_surprise_of_lists_without_a_tail(self):
        index = GroupIndex.from_groups([0, 1, 1, 2, 2, 2, 3])
        keys = Surprise().keys(np.array([1.0, 2, 2, 5, 5, 5, -INF]), index)
        assert np.isfinite(keys[:-1]).all()
