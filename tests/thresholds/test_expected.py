"""The prefix of the highest expected value, from calibrated probabilities of the gains."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtri

from skfilterrank._core.lists import RankedLists
from skfilterrank._core.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import f_score, ndcg_f_score
from skfilterrank.thresholds import ExpectedThreshold, TunedThreshold, load_threshold
from skfilterrank.thresholds._expected import normalised_gains
from skfilterrank.thresholds._expected_values import expected_worth
from skfilterrank.thresholds._judged_scores import JudgedScores

INF = np.inf


def named(k):
    return "ndcg_f" if k is None else f"ndcg_f@{k}"


def learned(k, gains, scores, groups):
    """A cut that has learned from all rows."""
    lists = RankedLists(gains, scores, groups=groups)
    cut = ExpectedThreshold(named(k))
    cut._learn(JudgedScores(lists, gains, np.arange(lists.index.n_queries), {}), cut._parsed())
    return cut


def worth_of(cut, scores, index, k=None):
    parts = expected_worth(
        cut.gains_, cut._chances(scores), scores, index, k=k, correlation=cut.correlation_
    )
    return parts.sum(axis=0)


class TestNdcgF:
    """E[gain / (I - W)] from the probability of each gain."""

    @staticmethod
    def of_probabilities(gains, k=None):
        """A cut to which scores are the probability of the higher of two gains."""
        cut = ExpectedThreshold(named(k))
        cut._learned_for = cut._parsed()
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
        found = worth_of(self.of_probabilities([-3, 2], k), p, index, k)
        np.testing.assert_allclose(found, exact, atol=0.03)

    def test_one_document_is_shown_from_a_half_on_whatever_a_bad_one_costs(self):
        p = np.array([0.45, 0.55])
        for price in (0.5, 1, 10, 100):
            keys = self.of_probabilities([-price, 1])._keys(p, GroupIndex.from_groups([0, 1]), {})
            assert keys.tolist() == [-1, 1]

    @pytest.mark.slow
    def test_of_a_long_list_what_pays_in_gains(self):
        # Bad = -10: 10 / 11.
        n = 300
        p = np.linspace(0.999, 0.8, n)
        index = GroupIndex.from_groups(np.zeros(n, dtype=int))
        worth = worth_of(self.of_probabilities([-10, 1]), p, index)
        assert p[worth > 0].min() == pytest.approx(10 / 11, abs=0.01)

    @pytest.mark.slow
    def test_learns_the_probabilities(self):
        _, y, groups, scores = make_rank_and_filter(2000, random_state=0)
        cut = learned(3, y.astype(float), scores, groups)
        assert cut.gains_.tolist() == np.unique(y).tolist()
        for low, (nodes, values) in zip(cut.gains_[1:], cut.curves_):
            found = np.interp(scores, nodes, values)
            for part in np.array_split(np.argsort(scores), 5):
                assert found[part].mean() == pytest.approx(np.mean(y[part] >= low), abs=0.03)

    @pytest.mark.slow
    @pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
    def test_learns_how_documents_of_a_query_go_together(self, correlation):
        rng = np.random.RandomState(0)
        groups = np.repeat(np.arange(2000), 10)
        scores = rng.uniform(0.05, 0.95, len(groups))
        behind = np.sqrt(correlation) * rng.normal(size=2000)[groups]
        behind += np.sqrt(1 - correlation) * rng.normal(size=len(groups))
        gains = np.where(behind < ndtri(scores), 1.0, -1.0)
        cut = learned(None, gains, scores, groups)
        assert cut.correlation_ == pytest.approx(correlation, abs=0.06)

    def test_documents_that_go_together(self):
        # All good or all bad: (1 / I) / 2 - (1 / -W) / 2 = 0 at any price but for the discounts.
        cut = self.of_probabilities([-5, 1])
        cut.correlation_ = 0.95
        apart = self.of_probabilities([-5, 1])
        p, index = np.full(20, 0.5), GroupIndex.from_groups(np.zeros(20, dtype=int))
        assert worth_of(apart, p, index).max() < 3 * worth_of(cut, p, index).min() < 0

    def test_lists_do_not_depend_on_each_other(self):
        _, y, groups, scores = make_rank_and_filter(200, random_state=0)
        index = GroupIndex.from_groups(groups)
        cut = learned(3, y.astype(float), scores, groups)
        every = worth_of(cut, scores, index, 3)
        for query in (0, 7, 100):
            rows = np.flatnonzero(groups == query)
            alone = worth_of(cut, scores[rows], GroupIndex.from_groups(groups[rows]), 3)
            np.testing.assert_allclose(alone, every[rows], atol=1e-15)

    @pytest.mark.slow
    def test_many_gains_are_binned(self):
        rng = np.random.RandomState(0)
        gains, scores = rng.normal(size=3000), rng.normal(size=3000)
        cut = learned(None, gains, scores, np.arange(3000) // 10)
        assert len(cut.gains_) == 10
        assert cut.gains_.mean() == pytest.approx(gains.mean(), abs=0.01)

    @pytest.mark.slow
    def test_follows_the_size_of_lists_where_one_threshold_does_not(self):
        # Chosen on lists of ten, used on lists of one, where a half is the best threshold.
        rng = np.random.RandomState(0)
        p = rng.uniform(size=6000)
        y = np.where(rng.uniform(size=6000) < p, 1, -10)
        groups = np.arange(6000) // 10
        new_p = rng.uniform(size=3000)
        new_y = np.where(rng.uniform(size=3000) < new_p, 1, -10)
        value = {}
        for mode, kind in (("tune", TunedThreshold), ("expected", ExpectedThreshold)):
            model = kind().fit(p, y, groups=groups)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)
                kept = model.predict(new_p, groups=np.arange(3000))
            value[mode] = ndcg_f_score(new_y, kept, groups=np.arange(3000))
        best = ndcg_f_score(new_y, np.where(new_p >= 0.5, 0, -INF), groups=np.arange(3000))
        assert value["expected"] == pytest.approx(best, abs=0.01)
        assert value["tune"] < best - 0.1


@pytest.mark.parametrize("measure", ["f", "dcg", "ap", "rbp", "precision"])
def test_other_measures(measure, tmp_path):
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cut = ExpectedThreshold(measure).fit(scores, y, groups=groups)
        shown = cut.predict(scores, groups=groups)
        assert cut.best_score_ >= cut.held_out_score_unfiltered_ - 0.02
        cut.save(tmp_path / "cut.json")
        loaded = load_threshold(tmp_path / "cut.json")
        np.testing.assert_array_equal(loaded.predict(scores, groups=groups), shown)


@pytest.mark.slow
def test_f_follows_the_number_of_relevant_documents():
    # Lists of other sizes than those that were learned from.
    rng = np.random.default_rng(0)
    p = rng.uniform(size=4000) ** 3
    y = (rng.uniform(size=4000) < p).astype(float)
    cut = ExpectedThreshold("f").fit(p, y, groups=np.arange(4000) // 5)
    new_p = rng.uniform(size=4000) ** 3
    new_y = (rng.uniform(size=4000) < new_p).astype(float)
    groups = np.arange(4000) // 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        value = f_score(new_y, cut.predict(new_p, groups=groups), groups=groups)
    best = max(
        f_score(new_y, np.where(new_p >= t, new_p, -INF), groups=groups)
        for t in np.linspace(0, 1, 41)
    )
    assert value > best - 0.01


def test_measures_without_values_of_prefixes_are_named():
    with pytest.raises(ValueError, match="ExpectedThreshold takes measures such as"):
        ExpectedThreshold("bpref").fit([1.0, 2], [0, 1], groups=[0, 0])
