"""The queries on which systems are level with chance, and those on which they are far above."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.exceptions import InputError
from skfilterrank.metrics import (
    ndcg_score,
    query_informativeness,
    random_ranking_bound,
    rank_filter_report,
)
from skfilterrank.metrics._informativeness import QueryInformativeness

NO = -np.inf

# Each query has one relevant document of three; the systems place it at these ranks.
RANKS = {"good": {"x": 1, "y": 1}, "fair": {"x": 2, "y": 1}, "poor": {"x": 3, "y": 3}}


class TestByHand:
    groups = np.repeat(list(RANKS), 3)
    y_true = np.tile([1, 0, 0], 3)

    def scores(self, system):
        # The relevant document stands first among the rows of each query.
        orders = {1: [3, 2, 1], 2: [2, 3, 1], 3: [1, 2, 3]}
        return np.concatenate([orders[ranks[system]] for ranks in RANKS.values()])

    def found(self, **params):
        systems = {name: self.scores(name) for name in "xy"}
        params = {"groups": self.groups, "k": (1, 3), "n_queries": 1} | params
        return query_informativeness(self.y_true, systems, **params, random_state=0)

    def test_values(self):
        found = self.found()
        assert found.query_ids.tolist() == ["fair", "good", "poor"]
        # nDCG of the relevant document at ranks 1, 2, 3 at cut-off 1, then 3.
        fair = np.mean([[0, 1 / log2(3)], [1, 1]])
        poor = np.mean([[0, 1 / log2(4)], [0, 1 / log2(4)]])
        np.testing.assert_allclose(found.achieved, [fair, 1, poor])
        chance = np.mean([1 / 3, (1 + 1 / log2(3) + 1 / log2(4)) / 3])
        np.testing.assert_allclose(found.expected, chance)
        np.testing.assert_allclose(found.difference, found.achieved - chance)

    def test_sets(self):
        found = self.found()
        assert found.query_ids[found.uninformative].tolist() == ["poor"]
        assert found.query_ids[found.ideal].tolist() == ["good"]

    def test_table(self):
        found = self.found()
        frame = found.to_frame()
        assert frame.index.name == "qid"
        assert frame.loc["good", "ideal"]
        assert not frame.loc["good", "uninformative"]
        assert frame.loc["fair", "achieved"] == found.achieved[0]
        lines = str(found).splitlines()
        assert lines[0] == "3 queries, 1 ideal and 1 uninformative"
        assert lines[1].split() == ["queries", "achieved", "expected", "difference"]
        assert lines[4].split()[:3] == ["ideal", "1", "1.0000"]

    def test_one_cut_off_and_other_measures(self):
        one = self.found(k=1)
        np.testing.assert_allclose(one.achieved, [1 / 2, 1, 0])
        np.testing.assert_allclose(one.expected, 1 / 3)
        for params in ({"measure": "ndcg@1", "k": None}, {"k": [1]}, {"k": np.array([1])}):
            np.testing.assert_array_equal(self.found(**params).achieved, one.achieved)
        np.testing.assert_allclose(self.found(measure="dcg", k=1).achieved, one.achieved)
        np.testing.assert_allclose(
            self.found(measure="qwa", k=None).expected,
            random_ranking_bound(self.y_true, "qwa", groups=self.groups, random_state=0).value,
        )


def test_gains_ties_and_unjudged_reach_the_measure():
    y_true, groups = [2, np.nan, 0, 1, 1, 0], ["a"] * 3 + ["b"] * 3
    y_score = [1, 1, NO, 0, 0, 0]
    for params in ({"gains": "exp2"}, {"ties": "best"}, {"ties": "worst"}, {"unjudged": "drop"}):
        found = query_informativeness(
            y_true, {"x": y_score}, groups=groups, k=2, n_queries=1, **params, random_state=0
        )
        achieved = ndcg_score.per_query(y_true, y_score, groups=groups, k=2, **params)
        np.testing.assert_allclose(found.achieved, achieved)
    plain = query_informativeness(
        y_true, {"x": y_score}, groups=groups, k=2, n_queries=1, random_state=0
    )
    assert plain.achieved[0] != found.achieved[0]


def test_undefined_queries():
    y_true, groups = [0, 0, 1, 0, 1, 0, 1, 0], np.repeat(list("abcd"), 2)
    systems = {"x": [1, 2, 1, 2, 2, 1, 2, 1]}
    level = query_informativeness(y_true, systems, groups=groups, k=1, n_queries=2, random_state=0)
    assert level.difference[0] == 0
    assert level.uninformative.tolist() == [True, True, False, False]
    skipped = query_informativeness(
        y_true, systems, groups=groups, k=1, n_queries=1, undefined="drop", random_state=0
    )
    assert np.isnan(skipped.difference[0])
    assert skipped.uninformative.tolist() == [False, True, False, False]
    assert skipped.ideal.tolist() == [False, False, False, True]
    assert str(skipped).splitlines()[2].split()[1] == "3"


class TestFromValues:
    @given(
        st.lists(st.floats(-1, 1).map(lambda value: round(value, 6)), min_size=2, max_size=40),
        st.one_of(st.integers(1, 20), st.sampled_from([0.1, 0.25, 0.5])),
    )
    def test_the_two_ends(self, values, n_queries):
        if isinstance(n_queries, int):
            n_queries = min(n_queries, len(values) // 2)
        found = QueryInformativeness.from_values(values, np.zeros(len(values)), n_queries=n_queries)
        low, high = (np.array(values)[mask] for mask in (found.uninformative, found.ideal))
        expected = n_queries if isinstance(n_queries, int) else max(1, int(n_queries * len(values)))
        assert len(low) == len(high) == expected
        between = np.array(values)[~found.uninformative & ~found.ideal]
        assert low.max() <= min(between.min(initial=2), high.min())
        assert high.min() >= max(between.max(initial=-2), low.max())
        assert not (found.uninformative & found.ideal).any()

    def test_shares(self):
        sizes = {
            share: QueryInformativeness.from_values(
                np.arange(100), np.zeros(100), n_queries=share
            ).ideal.sum()
            for share in (0.29, 0.289999999, 0.5, 0.001)
        }
        assert sizes == {0.29: 29, 0.289999999: 28, 0.5: 50, 0.001: 1}

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"one entry per query, got shapes \(2,\), \(3,\)"):
            QueryInformativeness.from_values([1, 2], [1, 2, 3])
        with pytest.raises(ValueError, match=r"got shapes .* and"):
            QueryInformativeness.from_values([1, 2], [1, 2], query_ids=["a"])
        with pytest.raises(ValueError, match=r"3 queries have a value, so take at most 1\.$"):
            QueryInformativeness.from_values([1, 2, 3, np.nan], [0] * 4, n_queries=2)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"y_scores": [1, 2, 3, 4]}, "y_scores must be a dict .* got list"),
        ({"y_scores": {}}, "y_scores must be a dict .* of at least one system"),
        ({"measure": "mapp"}, "'mapp' is not a measure"),
        ({"measure": "forbidden"}, "higher is better, got 'forbidden'"),
        ({"measure": "qwa"}, "'qwa' has no cut-off"),
        ({"k": ()}, "k is empty"),
        ({"k": (1, 0)}, "k must be None"),
        ({"k": np.array(1.0)}, "k must be None"),
        ({"n_queries": 0}, "n_queries must be a whole number from 1 up or a share"),
        ({"n_queries": 0.51}, "n_queries must be a whole number from 1 up or a share"),
        ({"n_queries": True}, "n_queries must be a whole number from 1 up or a share"),
        ({"n_queries": "half"}, "n_queries must be a whole number from 1 up or a share"),
        ({"n_queries": 2}, "that overlap: 2 queries have a value, so take at most 1."),
        ({"undefined": "skip"}, "undefined must be"),
    ],
)
def test_bad_input(params, message):
    usual = {"y_true": [1, 0, 1, 0], "y_scores": {"x": [1, 2, 3, 4]}, "groups": [1, 1, 2, 2]}
    with pytest.raises(ValueError, match=message):
        query_informativeness(**(usual | params), random_state=0)


@pytest.mark.parametrize("function", [query_informativeness, rank_filter_report])
def test_the_system_is_named(function):
    scores = {"x": [1, 2], "y": [1, np.nan]}
    with pytest.raises(ValueError, match="y_score holds 1 NaN") as caught:
        function([1, 0], scores, groups=[1, 1])
    assert caught.value.__notes__ == ["The error concerns the scores of 'y'."]


def test_hard_and_easy_queries_are_uninformative_ones_at_both_ends():
    achieved = [0.1, 0.15, 0.5, 0.9, 0.95, 0.9, 0.2, 0.8]
    expected = [0.1, 0.3, 0.5, 0.9, 0.85, 0.1, 0.0, 0.2]
    found = QueryInformativeness.from_values(achieved, expected, n_queries=4)
    assert np.flatnonzero(found.uninformative).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(found.hard()).tolist() == [0]
    assert np.flatnonzero(found.hard(at_most=0.3)).tolist() == [0, 1]
    assert np.flatnonzero(found.easy()).tolist() == [3]
    assert np.flatnonzero(found.easy(at_least=0.5)).tolist() == [2, 3]
    for function, name in ((found.hard, "at_most"), (found.easy, "at_least")):
        with pytest.raises(InputError, match="must be a finite number, got 'few'"):
            function(**{name: "few"})
