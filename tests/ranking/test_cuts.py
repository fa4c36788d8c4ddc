"""Where lists are cut: keys, the best level of them, and what is shown."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import evaluate, ndcg_f_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.ranking._filtering.cuts import FirstK, LargestGap, Surprise
from skfilterrank.ranking._filtering.expected import ExpectedGain
from skfilterrank.ranking._filtering.list_filter import level_curve
from skfilterrank.ranking._filtering.per_query import normalised_gains
from skfilterrank.ranking._filtering.prefixes import places, thresholds_of

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


class TestExpectedGain:
    """E[gain / (I - W)] from the probability of each gain."""

    @staticmethod
    def of_probabilities(gains, k=None):
        """A cut to which scores are the probability of the higher of two gains."""
        cut = ExpectedGain(k)
        cut.gains_ = np.array(gains, dtype=float)
        cut.curves_ = [(np.array([0.0, 1.0]), np.array([0.0, 1.0]))]
        cut.correlation_ = 0.0
        return cut

    @pytest.mark.parametrize("k", [None, 1, 2])
    def test_is_that_of_all_outcomes(self, k):
        p = np.array([0.9, 0.6, 0.35, 0.2])
        index = GroupIndex.from_groups([0] * 4)
        exact = np.zeros(4)
        for number in range(2**4):
            is_good = np.array([number >> i & 1 for i in range(4)], dtype=bool)
            chance = np.where(is_good, p, 1 - p).prod()
            exact += chance * normalised_gains(np.where(is_good, 2.0, -3.0), index, k)
        found = self.of_probabilities([-3, 2], k).expected(p, index)
        np.testing.assert_allclose(found, exact, atol=0.03)

    def test_one_document_is_shown_from_a_half_on_whatever_a_bad_one_costs(self):
        p = np.array([0.45, 0.55])
        for price in (0.5, 1, 10, 100):
            keys = self.of_probabilities([-price, 1]).keys(p, GroupIndex.from_groups([0, 1]))
            assert keys.tolist() == [-1, 1]

    def test_of_a_long_list_what_pays_in_gains(self):
        # Bad = -10: 10 / 11.
        n = 300
        p = np.linspace(0.999, 0.8, n)
        index = GroupIndex.from_groups(np.zeros(n, dtype=int))
        worth = self.of_probabilities([-10, 1]).expected(p, index)
        assert p[worth > 0].min() == pytest.approx(10 / 11, abs=0.01)

    def test_learns_the_probabilities(self):
        _, y, groups, scores = make_rank_and_filter(2000, random_state=0)
        cut = ExpectedGain(3).fit(y.astype(float), scores, GroupIndex.from_groups(groups))
        assert cut.gains_.tolist() == np.unique(y).tolist()
        for low, (nodes, values) in zip(cut.gains_[1:], cut.curves_):
            found = np.interp(scores, nodes, values)
            for part in np.array_split(np.argsort(scores), 5):
                assert found[part].mean() == pytest.approx(np.mean(y[part] >= low), abs=0.03)

    @pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
    def test_learns_how_documents_of_a_query_go_together(self, correlation):
        rng = np.random.RandomState(0)
        groups = np.repeat(np.arange(2000), 10)
        scores = rng.uniform(0.05, 0.95, len(groups))
        behind = np.sqrt(correlation) * rng.normal(size=2000)[groups]
        behind += np.sqrt(1 - correlation) * rng.normal(size=len(groups))
        gains = np.where(behind < ndtri(scores), 1.0, -1.0)
        cut = ExpectedGain().fit(gains, scores, GroupIndex.from_groups(groups))
        assert cut.correlation_ == pytest.approx(correlation, abs=0.06)

    def test_documents_that_go_together(self):
        # All good or all bad: (1 / I) / 2 - (1 / -W) / 2 = 0 at any price but for the discounts.
        cut = self.of_probabilities([-5, 1])
        cut.correlation_ = 0.95
        apart = self.of_probabilities([-5, 1])
        p, index = np.full(20, 0.5), GroupIndex.from_groups(np.zeros(20, dtype=int))
        assert apart.expected(p, index).max() < 3 * cut.expected(p, index).min() < 0

    def test_lists_do_not_depend_on_each_other(self):
        _, y, groups, scores = make_rank_and_filter(200, random_state=0)
        index = GroupIndex.from_groups(groups)
        cut = ExpectedGain(3).fit(y.astype(float), scores, index)
        every = cut.expected(scores, index)
        for query in (0, 7, 100):
            rows = np.flatnonzero(groups == query)
            alone = cut.expected(scores[rows], GroupIndex.from_groups(groups[rows]))
            np.testing.assert_allclose(alone, every[rows], atol=1e-15)

    def test_many_gains_are_binned(self):
        rng = np.random.RandomState(0)
        gains, scores = rng.normal(size=3000), rng.normal(size=3000)
        cut = ExpectedGain().fit(gains, scores, GroupIndex.from_groups(np.arange(3000) // 10))
        assert len(cut.gains_) == 10
        assert cut.gains_.mean() == pytest.approx(gains.mean(), abs=0.01)

    def test_follows_the_size_of_lists_where_one_threshold_does_not(self):
        # Chosen on lists of ten, used on lists of one, where a half is the best threshold.
        rng = np.random.RandomState(0)
        p = rng.uniform(size=6000)
        y = np.where(rng.uniform(size=6000) < p, 1, -10)
        groups = np.arange(6000) // 10
        new_p = rng.uniform(size=3000)
        new_y = np.where(rng.uniform(size=3000) < new_p, 1, -10)
        value = {}
        for mode in ("tune", "expected"):
            model = RankAndFilter("passthrough", threshold=mode).fit(p, y, groups=groups)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                kept = model.predict(new_p, groups=np.arange(3000))
            value[mode] = ndcg_f_score(new_y, kept, groups=np.arange(3000))
        best = ndcg_f_score(new_y, np.where(new_p >= 0.5, 0, -INF), groups=np.arange(3000))
        assert value["expected"] == pytest.approx(best, abs=0.01)
        assert value["tune"] < best - 0.1
