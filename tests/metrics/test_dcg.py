"""nDCG_f and its family by hand.

Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents", SIGIR 2022.
"""

from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from one_query import one
from skfilterrank.metrics import (
    dcg_bounds,
    dcg_score,
    filtering_difficulty,
    ndcg_0_score,
    ndcg_f_score,
    ndcg_min_score,
    ndcg_score,
)

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf

# A query's pool of gains, small enough to go through all lists that can be returned.
pools = st.lists(st.sampled_from([-10.0, -1.0, -0.5, 0.0, 1.0, 2.0]), min_size=1, max_size=4)
cutoffs = st.sampled_from([None, 1, 2, 3, 4, 9])


def all_lists(gains):
    """Every list that ranking and filtering can return from a pool, one query each.

    Returns labels, scores and groups; query 0 is the empty list.
    """
    n = len(gains)
    shown = [rows for length in range(n + 1) for rows in permutations(range(n), length)]
    scores = np.full((len(shown), n), NO)
    for query, rows in enumerate(shown):
        for place, row in enumerate(rows):
            scores[query, row] = -place
    return np.tile(gains, len(shown)), scores.ravel(), np.repeat(np.arange(len(shown)), n)


class TestByHand:
    """Documents of gain 2, 1 and -1, returned as 1, -1, 2."""

    gains = (2, 1, -1)
    scores = (0.1, 0.9, 0.5)
    dcg = 1 / log2(1 + 1) - 1 / log2(2 + 1) + 2 / log2(3 + 1)

    def test_dcg(self):
        assert one(dcg_score, self.gains, self.scores) == pytest.approx(self.dcg)

    def test_ndcg(self):
        ideal = 2 / log2(2) + 1 / log2(3) - 1 / log2(4)
        assert one(ndcg_score, self.gains, self.scores) == pytest.approx(self.dcg / ideal)

    def test_ndcg_0(self):
        achieved = 1 / log2(2) + 0 / log2(3) + 2 / log2(4)
        ideal = 2 / log2(2) + 1 / log2(3) + 0 / log2(4)
        assert one(ndcg_0_score, self.gains, self.scores) == pytest.approx(achieved / ideal)

    def test_ndcg_min(self):
        ideal = 2 / log2(2) + 1 / log2(3) - 1 / log2(4)
        worst = -1 / log2(2) + 1 / log2(3) + 2 / log2(4)
        expected = (self.dcg - worst) / (ideal - worst)
        assert one(ndcg_min_score, self.gains, self.scores) == pytest.approx(expected)

    def test_ndcg_min_of_the_top(self):
        # With k = 2 the worst list begins with -1 and 1, and does not reach the 2.
        ideal = 2 / log2(2) + 1 / log2(3)
        worst = -1 / log2(2) + 1 / log2(3)
        expected = (1 / log2(2) - 1 / log2(3) - worst) / (ideal - worst)
        assert one(ndcg_min_score, self.gains, self.scores, k=2) == pytest.approx(expected)

    def test_ndcg_f(self):
        ideal = 2 / log2(2) + 1 / log2(3)
        worst = -1 / log2(2)
        expected = (self.dcg - worst) / (ideal - worst)
        assert one(ndcg_f_score, self.gains, self.scores) == pytest.approx(expected)

    def test_ndcg_f_of_the_top(self):
        ideal, worst = 2 / log2(2), -1 / log2(2)
        expected = (1 / log2(2) - worst) / (ideal - worst)
        assert one(ndcg_f_score, self.gains, self.scores, k=1) == pytest.approx(expected)

    def test_places_close_up_where_a_document_is_filtered(self):
        closed_up = 1 / log2(2) + 2 / log2(3)
        assert one(dcg_score, self.gains, [0.1, 0.9, NO]) == pytest.approx(closed_up)
        assert one(dcg_score, self.gains, [0.1, 0.9, NO], k=2) == pytest.approx(closed_up)
        expected = (closed_up + 1) / (2 / log2(2) + 1 / log2(3) + 1)
        assert one(ndcg_f_score, self.gains, [0.1, 0.9, NO]) == pytest.approx(expected)

    def test_filtered_documents_stay_in_the_pool(self):
        # The bounds are those of all three documents, though one is shown.
        shown = 1 / log2(2)
        ideal = 2 / log2(2) + 1 / log2(3) - 1 / log2(4)
        assert one(ndcg_score, self.gains, [NO, 0.9, NO]) == pytest.approx(shown / ideal)

    def test_mean_and_order_of_queries(self):
        # "10" stands before "9" as text, behind it as a number.
        y_true, y_score = [1, 3, 1], [5, 5, 5]
        text = dcg_score.per_query(y_true, y_score, groups=["9", "10", "9"])
        number = dcg_score.per_query(y_true, y_score, groups=[9, 10, 9])
        two = 1 / log2(2) + 1 / log2(3)
        assert text.tolist() == pytest.approx([3, two])
        assert number.tolist() == pytest.approx([two, 3])
        assert dcg_score(y_true, y_score, groups=[9, 10, 9]) == pytest.approx((3 + two) / 2)


class TestTies:
    @pytest.mark.parametrize(
        "ids",
        [
            ["b", "a", "c"],
            np.array(["b", "a", "c"]),
            pd.Series([20, 3, 100]),
            (-1, -2, 0),
            pd.Categorical(["b", "a", "c"], categories=["c", "b", "a"]),
        ],
    )
    def test_greatest_id_first(self, ids):
        expected = 2 / log2(2) + 1 / log2(3) - 1 / log2(4)
        assert one(dcg_score, [1, -1, 2], [7, 7, 7], ties=ids) == pytest.approx(expected)

    def test_negative_zero_ties_with_zero(self):
        tied = one(dcg_score, [2, -1], [0.0, 0.0])
        assert one(dcg_score, [2, -1], [0.0, -0.0]) == tied
        assert one(dcg_score, [2, -1], [-0.0, 0.0], ties="worst") == pytest.approx(-1 + 2 / log2(3))

    def test_neighbouring_numbers_do_not_tie(self):
        above = np.nextafter(1.0, 2.0)
        assert one(dcg_score, [-1, 2], [1.0, above]) == pytest.approx(2 - 1 / log2(3))


class TestUnjudged:
    """The list 1, unjudged, 2 out of a pool of 2 and 1."""

    gains = (2, np.nan, 1)
    scores = (0.1, 0.5, 0.9)
    ideal = 2 / log2(2) + 1 / log2(3)

    def test_as_zero(self):
        expected = (1 / log2(2) + 0 / log2(3) + 2 / log2(4)) / self.ideal
        for measure in (ndcg_score, ndcg_0_score, ndcg_f_score):
            assert one(measure, self.gains, self.scores) == pytest.approx(expected)


class TestUndefined:
    cases = (
        # measure, gains, why it is undefined
        (ndcg_score, [0, 0]),
        (ndcg_score, [-1, -2]),
        (ndcg_score, [np.nan]),
        (ndcg_0_score, [0, -1]),
        (ndcg_min_score, [3]),
        (ndcg_min_score, [-0.1, -0.1, -0.1]),
        (ndcg_f_score, [0, 0, np.nan]),
        (ndcg_f_score, [0]),
    )

    @pytest.mark.parametrize(("measure", "gains"), cases)
    def test_alone(self, measure, gains):
        scores = np.arange(len(gains))
        assert one(measure, gains, scores) == 0
        assert one(measure, gains, scores, undefined=1) == 1
        assert one(measure, gains, scores, undefined=-0.5) == -0.5
        assert np.isnan(one(measure, gains, scores, undefined="drop"))


def test_bounds_that_differ_by_rounding_alone_are_equal():
    # A query of equal gains has no best order; sums of many queries at once differ in the last bit.
    gains = np.repeat(np.random.default_rng(0).normal(size=28), 16)
    groups = np.repeat(np.arange(28), 16)
    values = ndcg_min_score.per_query(gains, np.arange(448), groups=groups, undefined="drop")
    assert np.isnan(values).all()


class TestPropositions:
    def test_3_1_filtering_leaves_the_bounds_of_ndcg_min(self):
        gains = [-1, 2]
        worst, ideal = -1 + 2 / log2(3), 2 - 1 / log2(3)
        for scores, dcg in (([1, NO], -1), ([NO, 1], 2), ([NO, NO], 0)):
            value = one(ndcg_min_score, gains, scores)
            assert value == pytest.approx((dcg - worst) / (ideal - worst))
            assert not 0 <= value <= 1

    @given(pools, cutoffs)
    def test_3_2_without_forbidden_documents_it_is_ndcg(self, gains, k):
        y_true, y_score, groups = all_lists(np.abs(gains))
        np.testing.assert_allclose(
            ndcg_f_score.per_query(y_true, y_score, groups=groups, k=k),
            ndcg_score.per_query(y_true, y_score, groups=groups, k=k),
            atol=1e-12,
        )

    @given(pools, cutoffs)
    def test_3_3_it_is_bounded_and_the_bounds_are_reached(self, gains, k):
        y_true, y_score, groups = all_lists(gains)
        values = ndcg_f_score.per_query(y_true, y_score, groups=groups, k=k)
        assert values.min() >= -1e-12
        assert values.max() <= 1 + 1e-12
        if any(gains):
            assert values.min() == pytest.approx(0, abs=1e-12)
            assert values.max() == pytest.approx(1)

    @given(st.lists(st.tuples(st.sampled_from([-10, -1, 0.5, 2]), st.booleans()), min_size=1))
    def test_3_4_single_documents_measure_the_accuracy_of_the_filter(self, queries):
        gains = np.array([gain for gain, _ in queries])
        kept = np.array([keep for _, keep in queries])
        value = ndcg_f_score(gains, np.where(kept, 0.3, NO), groups=np.arange(len(gains)))
        assert value == pytest.approx(np.mean(kept == (gains > 0)))

    @given(pools, cutoffs)
    def test_3_5_same_order_of_systems_as_ndcg_min(self, gains, k):
        # The paper asks for I_f > W_f alone; I > W is needed too, as the next test shows.
        bounds = dcg_bounds(gains, groups=["q"] * len(gains), k=k).iloc[0]
        assume(bounds.ideal > bounds.worst)
        y_true, y_score, groups = all_lists(gains)
        f, low = (
            measure.per_query(y_true, y_score, groups=groups, k=k)
            for measure in (ndcg_f_score, ndcg_min_score)
        )
        f, low = (np.subtract.outer(values, values).round(9) for values in (f, low))
        np.testing.assert_array_equal(np.sign(f), np.sign(low))

    def test_3_5_fails_where_the_bounds_of_ndcg_min_are_equal(self):
        assert one(ndcg_f_score, [2], [1]) > one(ndcg_f_score, [2], [NO])
        assert one(ndcg_min_score, [2], [1]) == one(ndcg_min_score, [2], [NO])

    @given(pools)
    def test_3_6_same_value_as_ndcg_min_for_small_k(self, gains):
        n_not_forbidden = sum(gain >= 0 for gain in gains)
        n_not_relevant = sum(gain <= 0 for gain in gains)
        y_true, y_score, groups = all_lists(gains)
        for k in range(1, min(n_not_forbidden, n_not_relevant) + 1):
            np.testing.assert_allclose(
                ndcg_f_score.per_query(y_true, y_score, groups=groups, k=k),
                ndcg_min_score.per_query(y_true, y_score, groups=groups, k=k),
                atol=1e-12,
            )


class TestBounds:
    @given(pools, cutoffs)
    def test_best_and_worst_of_all_lists(self, gains, k):
        y_true, y_score, groups = all_lists(gains)
        values = dcg_score.per_query(y_true, y_score, groups=groups, k=k)
        full = np.bincount(groups, np.isfinite(y_score)) == len(gains)
        bounds = dcg_bounds(gains, groups=["q"] * len(gains), k=k)
        assert bounds.index.tolist() == ["q"]
        assert bounds.index.name == "qid"
        bounds = bounds.iloc[0]
        assert bounds.ideal == pytest.approx(values[full].max())
        assert bounds.worst == pytest.approx(values[full].min())
        assert bounds.ideal_filtered == pytest.approx(values.max())
        assert bounds.worst_filtered == pytest.approx(values.min())

    def test_columns_and_order(self):
        bounds = dcg_bounds([2, -1, 3, np.nan], groups=["b", "b", "a", "c"], k=1)
        assert bounds.to_dict("index") == {
            "a": {"ideal": 3, "worst": 3, "ideal_filtered": 3, "worst_filtered": 0},
            "b": {"ideal": 2, "worst": -1, "ideal_filtered": 2, "worst_filtered": -1},
            "c": {"ideal": 0, "worst": 0, "ideal_filtered": 0, "worst_filtered": 0},
        }


class TestFilteringDifficulty:
    def test_by_hand(self):
        # The worst list is -10, -1, the ideal 2: the numerator is W_f, not the printed W.
        worst, ideal = -10 / log2(2) - 1 / log2(3), 2 / log2(2)
        value = filtering_difficulty([2, -1, -10], groups=["q"] * 3)
        assert value == pytest.approx(-worst / (ideal - worst))
        value = filtering_difficulty([2, -1, -10], groups=["q"] * 3, k=1)
        assert value == pytest.approx(10 / (2 + 10))

    @given(pools, cutoffs)
    def test_it_is_the_score_of_the_empty_list(self, gains, k):
        groups, nothing = ["q"] * len(gains), [NO] * len(gains)
        value = filtering_difficulty(gains, groups=groups, k=k, undefined=-1)
        assert value == ndcg_f_score(gains, nothing, groups=groups, k=k, undefined=-1)
        assert value == -1 or 0 <= value <= 1

    def test_each_query_and_undefined(self):
        y_true = pd.Series([1, -1, 0, np.nan], index=pd.Index(["b", "a", "c", "c"], name="qid"))
        assert filtering_difficulty(y_true).tolist() == [1, 0, 0]
        dropped = filtering_difficulty(y_true, undefined="drop")
        np.testing.assert_array_equal(dropped, [1, 0, np.nan])
        assert filtering_difficulty(y_true, gains={1: -1, -1: 1, 0: 1}).tolist() == [0, 1, 0]


def test_bad_input():
    for function in (dcg_bounds, filtering_difficulty):
        with pytest.raises(ValueError, match="groups is missing"):
            function([1, 2])
        with pytest.raises(ValueError, match="k must be None"):
            function([1, 2], groups=[1, 1], k=0)
        with pytest.raises(ValueError, match="no entry in gains: 2"):
            function([1, 2], groups=[1, 1], gains={1: 1})
        with pytest.raises(ValueError, match="y_true is empty"):
            function([], groups=[])
    with pytest.raises(ValueError, match="undefined must be"):
        filtering_difficulty([1, 2], groups=[1, 1], undefined="skip")
