"""Measures normalised by random rankings: by hand, by enumeration, and their properties."""

from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from measure_table import MEASURES
from profiles import times
from reference import NONNEGATIVE, REFERENCE, Case
from reference.bounds import random_ranking, sum_precision_of, v1, v2
from skfilterrank._lists.lists import RankedLists
from skfilterrank.io import read_letor
from skfilterrank.metrics import _normalized as module
from skfilterrank.metrics import evaluate, make_ranking_scorer, ndcg_score, ul_normalized_score
from skfilterrank.metrics._random_rankings import SimulatedRankings
from thinned import thinned

NO = -np.inf

# Whose ideal list is the pool in descending order of gain.
OTHERS = sorted(
    name
    for name, entry in MEASURES.items()
    if entry.greater_is_better and name not in (*NONNEGATIVE, "ndcg_min", "empty_list_rate")
)


def one_query(labels, scores, **params):
    return ul_normalized_score(labels, scores, groups=["q"] * len(labels), **params)


class TestDcgByHand:
    """Labels 2, 1, 0 in the order 1, 2, 0 to place 2."""

    y_true, y_score = [2, 1, 0], [2, 3, 1]
    achieved = 1 + 2 / log2(3)
    ideal = 2 + 1 / log2(3)
    random = 1 * (1 + 1 / log2(3))

    def test_v1(self):
        expected = self.achieved / self.ideal * self.achieved / (self.achieved + self.random)
        assert one_query(self.y_true, self.y_score, k=2, variant="v1") == pytest.approx(expected)

    def test_v2(self):
        expected = (self.achieved - self.random) / (self.ideal - self.random)
        assert one_query(self.y_true, self.y_score, k=2, variant="v2") == pytest.approx(expected)

    def test_v2_below_random(self):
        # 0 before 1.
        achieved = 0 + 1 / log2(3)
        expected = (achieved - self.random) / self.random
        assert one_query(self.y_true, [1, 2, 3], k=2) == pytest.approx(expected)


class TestSumPrecisionByHand:
    """Labels 1, 0, 1, 0, 0 in this order to place 3: precision 1 at place 1 and 2/3 at place 3."""

    y_true, y_score = [1, 0, 1, 0, 0], [5, 4, 3, 2, 1]
    achieved = 1 + 2 / 3
    exact = 2 / 5 * (1 + (1 + 1 / 4) / 2 + (1 + 2 / 4) / 3)
    printed = 3 * (2 / 5) ** 2

    @pytest.mark.parametrize("expectation", ["exact", "paper"])
    def test_both(self, expectation):
        upper, lower = 2, {"exact": self.exact, "paper": self.printed}[expectation]
        params = {"measure": "sp", "k": 3, "expectation": expectation}
        value = one_query(self.y_true, self.y_score, variant="v1", **params)
        assert value == pytest.approx(v1(self.achieved, lower, upper))
        value = one_query(self.y_true, self.y_score, variant="v2", **params)
        assert value == pytest.approx(v2(self.achieved, lower, upper))


pools = st.lists(st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0]), min_size=1, max_size=5)


class TestByEnumeration:
    @pytest.mark.slow
    @pytest.mark.parametrize("variant", ["v1", "v2"])
    @given(pool=pools, k=st.integers(1, 7), shown=st.integers(0, 5))
    def test_sum_precision(self, variant, pool, k, shown):
        scores = [len(pool) - i if i < shown else NO for i in range(len(pool))]
        value = one_query(pool, scores, k=k, measure="sp", variant=variant, undefined="drop")
        upper = min(k, sum(gain > 0 for gain in pool))
        lower = random_ranking(sum_precision_of, pool, k)
        expected = {"v1": v1, "v2": v2}[variant](sum_precision_of(pool[:shown], k), lower, upper)
        assert value == pytest.approx(np.nan if expected is None else expected, nan_ok=True)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", thinned(OTHERS, parts=2))
    @times(1 / 3)
    @given(pool=pools, k=st.sampled_from([None, 1, 2, 3, 9]))
    def test_other_measures(self, name, pool, k):
        entry = MEASURES[name]
        k = k if entry.takes_k else None

        def value(order):
            return REFERENCE[name](Case(list(order), pool, k, list(order), len(pool)))

        orders = [value(order) for order in permutations(pool)]
        params = {"measure": name, "k": k, "undefined": "drop"}
        params["ties"] = entry.ties[0]
        actual = one_query(pool, range(len(pool), 0, -1), **params)
        if None in orders or max(orders) - min(orders) < 1e-12:
            assert np.isnan(actual) or "average" not in entry.ties
            return
        lower = np.mean(orders)
        expected = v2(value(pool), lower, value(sorted(pool, reverse=True)))
        if "average" in entry.ties:
            assert actual == pytest.approx(expected)
        else:
            assert actual == pytest.approx(expected, abs=0.15)


class TestWhatTheyMean:
    """Over random judgments."""

    rng = np.random.default_rng(7)
    groups = rng.integers(0, 40, 1500)
    y_true = rng.choice([0.0, 0.0, 0.0, 1.0, 2.0], 1500)
    y_score = y_true + rng.normal(size=1500)

    @pytest.mark.parametrize(("variant", "lowest"), [("v1", 0), ("v2", -1)])
    def test_the_empty_list(self, variant, lowest):
        empty = np.full(len(self.y_true), NO)
        value = ul_normalized_score.per_query(
            self.y_true, empty, groups=self.groups, k=5, variant=variant
        )
        np.testing.assert_array_equal(value, lowest)

    def test_unjudged_documents_take_places_but_are_not_in_the_bounds(self):
        assert one_query([np.nan, 1, 0], [3, 2, 1], k=2) == pytest.approx(
            # Nothing, then gain 1; the ideal is 1, the random ranking half of both places.
            v2(1 / log2(3), (1 + 1 / log2(3)) / 2, 1)
        )
        assert one_query([np.nan, 1, 0], [3, 2, 1], k=2, unjudged="drop") == 1


class TestUndefined:
    @pytest.mark.slow
    @pytest.mark.parametrize("variant", ["v1", "v2"])
    @pytest.mark.parametrize("measure", ["dcg", "ndcg", "sp"])
    def test_all_rankings_are_the_same(self, variant, measure):
        params = {"variant": variant, "measure": measure}
        for labels in ([0, 0], [1, 1, 1], [1], [0], [np.nan]):
            scores = range(len(labels))
            assert np.isnan(one_query(labels, scores, undefined="drop", **params)), labels
            assert one_query(labels, scores, undefined=0.25, **params) == 0.25, labels

    def test_a_measure_that_is_undefined_for_the_list_alone(self):
        """The list has no value then, whatever the bounds are."""
        achieved, lower, upper = np.array([np.nan, 0.0, 0.5]), np.full(3, 0.25), np.full(3, 1.0)
        np.testing.assert_array_equal(module._v1(achieved, lower, upper), [np.nan, 0, 0.25 / 0.75])
        np.testing.assert_array_equal(module._v2(achieved, lower, upper), [np.nan, -1, 1 / 3])
        # Where a random ranking scores 0, as drawn, so does a list that scores 0.
        for formula in (module._v1, module._v2):
            np.testing.assert_array_equal(formula(np.zeros(1), np.zeros(1), np.ones(1)), [0])
        for variant in ("v1", "v2"):
            params = {"measure": "judged", "variant": variant, "undefined": "drop"}
            assert np.isnan(one_query([1, 0], [NO, NO], **params))

    def test_one_document_among_many_is_not_rounding(self):
        labels = np.ones(20_000)
        labels[0] = 0
        assert one_query(labels, labels, k=None) == pytest.approx(1)
        assert one_query(labels, -labels, k=None) < 0


class TestBadInput:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"measure": "mapp"}, "'mapp' is not a measure"),
            ({"measure": "ul_normalized"}, "measure must be another measure than 'ul_normalized'"),
            ({"measure": "forbidden"}, "one for which higher is better, got 'forbidden'"),
            ({"measure": "dcg@3", "k": 5}, "k=5 contradicts the cut-off of 'dcg@3'"),
            ({"measure": "qwa", "k": 5}, "'qwa' has no cut-off"),
            ({"variant": "V1"}, "variant must be one of 'v1', 'v2', 'upper', got 'V1'"),
            ({"expectation": "printed"}, "expectation must be one of 'exact', 'paper'"),
            ({"measure": "ndcg", "expectation": "paper"}, "expectation='paper' is a formula for"),
        ],
    )
    def test_message(self, params, message):
        with pytest.raises(ValueError, match=message):
            one_query([1, 0], [2, 1], **params)

    def test_negative_gains(self):
        with pytest.raises(ValueError, match="gains from 0 up, and some gain is negative: a ran"):
            one_query([1, -1], [2, 1])
        assert one_query([1, -1], [2, 1], gains={1: 1, -1: 0}) == 1

    def test_measures_that_are_negative(self):
        # The empty list is below the worst order.
        with pytest.raises(ValueError, match="never negative, but 'ndcg_min@3' is -"):
            one_query([2, 1], [NO, NO], measure="ndcg_min", k=3)
        # One query among others, and by less than 1: 0 less 1, of 5 less 1.
        y_score, groups = [NO, NO, 3, 2, 1], list("aabbb")
        with pytest.raises(ValueError, match=r"but 'ndcg_min@1' is -0\.25 for some query"):
            ul_normalized_score([5, 1, 0.5, 2, 1], y_score, groups=groups, measure="ndcg_min", k=1)


class TestByName:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(20), 6)
    y_true = rng.choice([0.0, 1.0, 2.0], 120)
    X = y_true[:, None] + rng.normal(size=(120, 2))

    @pytest.mark.parametrize(
        ("text", "params"),
        [
            ("ul_normalized", {}),
            ("ul_normalized@4", {"k": 4}),
            ("ul_normalized(measure=sp,variant=v1)@4", {"measure": "sp", "variant": "v1", "k": 4}),
            ("ul_normalized(measure=ndcg@3)", {"measure": "ndcg", "k": 3}),
            (
                "ul_normalized(measure=sp, expectation=paper)@10",
                {"measure": "sp", "expectation": "paper", "k": 10},
            ),
        ],
    )
    def test_everywhere(self, text, params):
        model = Ridge().fit(self.X, self.y_true)
        expected = ul_normalized_score(
            self.y_true, model.predict(self.X), groups=self.groups, **params
        )
        scorer = make_ranking_scorer(text)
        assert scorer(model, self.X, self.y_true, groups=self.groups) == pytest.approx(expected)
        table = evaluate(self.y_true, model.predict(self.X), text, groups=self.groups).per_query
        assert table[text].mean() == pytest.approx(expected)


class TestSimulatedBounds:
    """Measures without a mean over ties; nDCG stands in for one."""

    def test_close_to_the_exact_bound(self, monkeypatch):
        labels, scores = [3, 2, 1, 0, 0, 1], [4, 1, 5, 3, 6, 2]
        params = {"measure": "ndcg", "k": 3, "ties": "worst"}
        exact = one_query(labels, scores, **params)
        calls = []
        drawn = SimulatedRankings.pool_numbers
        monkeypatch.setattr(
            SimulatedRankings,
            "pool_numbers",
            lambda self, block: calls.append(block) or drawn(self, block),
        )
        object.__setattr__(MEASURES["ndcg"], "ties", ("worst", "best", "stable"))
        try:
            simulated = one_query(labels, scores, **params)
            again = one_query(labels, scores, **params)
        finally:
            object.__setattr__(MEASURES["ndcg"], "ties", MEASURES["dcg"].ties)
        assert len(calls) == 2
        assert simulated == again == pytest.approx(exact, abs=0.05)

    def test_pools_that_are_equal_are_drawn_once(self):
        """0.0 and -0.0 are one gain."""
        gains = {"a": [0.0], "b": [-0.0], "c": [-0.0, 1.0], "d": [1.0, 0.0], "e": [1.0]}
        labels = [gain for pool in gains.values() for gain in pool]
        groups = [name for name, pool in gains.items() for _ in pool]
        calls = []

        def kernel(block):
            calls.append(len(block.sizes))
            return block.gains[:, 0]

        rankings = SimulatedRankings(kernel, 10, 0)
        lists = RankedLists(labels, np.zeros(len(labels)), groups=groups)
        numbers = np.empty(len(gains), dtype=int)
        for block in lists.blocks():
            numbers[block.queries] = rankings.pool_numbers(block)
        a, b, c, d, e = numbers
        assert a == b
        assert c == d
        assert len({a, c, e}) == len(calls) == len(rankings.results) == 3


@pytest.fixture(scope="module")
def mq2007(data_dir):
    """Labels, queries, and the scores of one of the best single features of the data set."""
    files = [data_dir / "mq2007" / f"S{i}.txt.gz" for i in (1, 2)]
    X, y_true, groups, *_ = read_letor(files, sparse=False)
    return y_true, X[:, 38], groups


def over_cutoffs(function, mq2007, **params):
    y_true, y_score, groups = mq2007
    return np.array([function(y_true, y_score, groups=groups, k=k, **params) for k in CUTOFFS])


CUTOFFS = (5, 10, 15, 20, 30)


@pytest.mark.nightly
def test_sum_precision_on_real_queries(mq2007):
    """Every row of Table 15 falls to k = 10 in V1 and then rises, and rises in V2.

    That is what the perfect ranking's value as upper bound gives, and not k, as section 3.2 says.
    """
    params = {"measure": "sp", "expectation": "paper"}
    v1_steps = np.diff(over_cutoffs(ul_normalized_score, mq2007, variant="v1", **params))
    v2_steps = np.diff(over_cutoffs(ul_normalized_score, mq2007, variant="v2", **params))
    assert np.sign(v1_steps).tolist() == [-1, 1, 1, 1]
    assert (v2_steps > 0).all()


@pytest.mark.parametrize("name", ["lexirecall", "lexiprecision", "metric_lexirecall"])
def test_measures_that_do_not_average_take_their_own_rule(name):
    y_true, y_score, groups = [1, 0, 1, 0, 0], [2, 2, 1, 1, 0], [0] * 5
    how = {"groups": groups, "measure": name}
    expected = ul_normalized_score(y_true, y_score, ties="worst", **how)
    assert ul_normalized_score(y_true, y_score, **how) == expected
    assert ul_normalized_score(y_true, y_score, ties="best", **how) > expected


class TestUpperBoundAlone:
    """[A]^U: the measure over its value for the ideal ranking."""

    @staticmethod
    def rows():
        rng = np.random.default_rng(3)
        groups = rng.integers(0, 25, 200)
        y = rng.integers(0, 3, 200) * (groups % 5 > 0)
        return y, rng.integers(0, 20, 200) / 2, groups

    @pytest.mark.parametrize("k", [None, 1, 4])
    def test_of_dcg_it_is_ndcg(self, k):
        y, scores, groups = self.rows()
        params = {"groups": groups, "k": k, "gains": "exp2", "undefined": "drop"}
        found = ul_normalized_score.per_query(y, scores, variant="upper", **params)
        np.testing.assert_allclose(found, ndcg_score.per_query(y, scores, **params), atol=1e-12)
        assert np.isnan(found).any()
        assert not np.isnan(found).all()

    @pytest.mark.parametrize("measure", ["sp@5", "err@5", "rbp", "inferred_ap", "lexirecall"])
    def test_it_is_the_measure_over_that_of_the_ideal_ranking(self, measure):
        y, scores, groups = self.rows()
        name = f"ul_normalized(measure={measure},variant=upper)"
        params = {"groups": groups, "undefined": "drop"}
        found = evaluate(y, scores, name, **params).per_query[name]
        achieved = evaluate(y, scores, measure, **params).per_query[measure]
        ideal = evaluate(y, y, measure, **params).per_query[measure]
        np.testing.assert_allclose(found, (achieved / ideal).where(ideal > 0), atol=1e-12)

    def test_by_hand(self):
        # All are relevant: V1 and V2 have nothing to tell, and the ideal ranking is reached.
        assert one_query([1, 1], [1, 2], variant="upper") == 1
        assert one_query([1, 1], [1, 2]) == 0
        assert one_query([1, 0, 1], [2, 3, -np.inf], measure="sp", variant="upper") == 0.25
