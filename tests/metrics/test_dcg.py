"""nDCG_f and its family by hand.

Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents", SIGIR 2022.
"""

from itertools import permutations, product
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skfilterrank.metrics import (
    dcg_bounds,
    dcg_score,
    ndcg_0_score,
    ndcg_f_score,
    ndcg_min_score,
    ndcg_score,
)

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf
DCG_FAMILY = [dcg_score, ndcg_score, ndcg_0_score, ndcg_min_score, ndcg_f_score]

# A query's pool of gains, small enough to go through all lists that can be returned.
pools = st.lists(st.sampled_from([-10.0, -1.0, -0.5, 0.0, 1.0, 2.0]), min_size=1, max_size=4)
cutoffs = st.sampled_from([None, 1, 2, 3, 4, 9])


def one(measure, gains, y_score, **params):
    """The value of a single query."""
    return measure(gains, y_score, groups=["q"] * len(gains), **params)


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

    def test_dcg_of_the_top(self):
        assert one(dcg_score, self.gains, self.scores, k=1) == pytest.approx(1 / log2(2))
        two = 1 / log2(2) - 1 / log2(3)
        assert one(dcg_score, self.gains, self.scores, k=2) == pytest.approx(two)

    def test_ndcg(self):
        ideal = 2 / log2(2) + 1 / log2(3) - 1 / log2(4)
        assert one(ndcg_score, self.gains, self.scores) == pytest.approx(self.dcg / ideal)

    def test_ndcg_of_the_top(self):
        expected = (1 / log2(2) - 1 / log2(3)) / (2 / log2(2) + 1 / log2(3))
        assert one(ndcg_score, self.gains, self.scores, k=2) == pytest.approx(expected)

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

    @pytest.mark.parametrize("measure", DCG_FAMILY)
    def test_k_beyond_the_list(self, measure):
        whole = one(measure, self.gains, self.scores)
        for k in (3, 4, 1000, np.int64(3), np.uint8(200)):
            assert one(measure, self.gains, self.scores, k=k) == whole

    def test_mean_and_order_of_queries(self):
        # "10" stands before "9" as text, behind it as a number.
        y_true, y_score = [1, 3, 1], [5, 5, 5]
        text = dcg_score(y_true, y_score, groups=["9", "10", "9"], average=None)
        number = dcg_score(y_true, y_score, groups=[9, 10, 9], average=None)
        two = 1 / log2(2) + 1 / log2(3)
        assert text.tolist() == pytest.approx([3, two])
        assert number.tolist() == pytest.approx([two, 3])
        assert dcg_score(y_true, y_score, groups=[9, 10, 9]) == pytest.approx((3 + two) / 2)


class TestTies:
    def test_average(self):
        # Two orders: 2 before -1 and -1 before 2; both places hold 1/2 on average.
        expected = 0.5 / log2(2) + 0.5 / log2(3)
        assert one(dcg_score, [2, -1], [7, 7]) == pytest.approx(expected)

    def test_average_through_the_cut_off(self):
        # First the 3; the second place holds one of 2, -1 and 0.
        expected = 3 / log2(2) + ((2 - 1 + 0) / 3) / log2(3)
        assert one(dcg_score, [2, 3, -1, 0], [1, 2, 1, 1], k=2) == pytest.approx(expected)

    def test_average_of_a_filtered_list(self):
        # Filtered documents all have -inf but tie with nothing.
        expected = ((2 - 1) / 2) / log2(2) + ((2 - 1) / 2) / log2(3)
        assert one(dcg_score, [2, 5, -1, 5], [1, NO, 1, NO]) == pytest.approx(expected)

    def test_given_orders(self):
        gains, scores = [1, -1, 2], [7, 7, 7]
        in_order = {
            "stable": (1, -1, 2),
            "worst": (-1, 1, 2),
            "best": (2, 1, -1),
        }
        for ties, (first, second, third) in in_order.items():
            expected = first / log2(2) + second / log2(3) + third / log2(4)
            assert one(dcg_score, gains, scores, ties=ties) == pytest.approx(expected)

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

    def test_ids_only_break_ties(self):
        expected = 1 / log2(2) + 2 / log2(3)
        assert one(dcg_score, [1, 2], [2, 1], ties=["a", "b"]) == pytest.approx(expected)

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

    def test_dropped(self):
        expected = (1 / log2(2) + 2 / log2(3)) / self.ideal
        for measure in (ndcg_score, ndcg_0_score, ndcg_f_score):
            value = one(measure, self.gains, self.scores, unjudged="drop")
            assert value == pytest.approx(expected)

    def test_not_in_the_pool(self):
        # The worst list of the judged is 1, 2, not 0, 1, 2.
        worst = 1 / log2(2) + 2 / log2(3)
        dcg = 1 / log2(2) + 0 / log2(3) + 2 / log2(4)
        expected = (dcg - worst) / (self.ideal - worst)
        assert one(ndcg_min_score, self.gains, self.scores) == pytest.approx(expected)

    def test_only_unjudged(self):
        for measure in DCG_FAMILY:
            assert one(measure, [np.nan, np.nan], [1, 2]) == 0
        assert np.isnan(one(ndcg_f_score, [np.nan], [1], undefined="drop"))

    def test_a_tie_of_judged_and_unjudged(self):
        assert one(dcg_score, [2, np.nan], [1, 1]) == pytest.approx(1 / log2(2) + 1 / log2(3))
        assert one(dcg_score, [2, np.nan], [1, 1], unjudged="drop") == 2


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

    @pytest.mark.slow
    @pytest.mark.parametrize(("measure", "gains"), cases)
    def test_beside_a_query_that_has_a_value(self, measure, gains):
        y_true, y_score = [*gains, 2, 1, 0], [*np.arange(len(gains)), 1, 2, 3]
        groups = ["u"] * len(gains) + ["d"] * 3
        value = one(measure, [2, 1, 0], [1, 2, 3])

        def result(**params):
            return measure(y_true, y_score, groups=groups, **params)

        np.testing.assert_allclose(result(average=None), [value, 0])
        np.testing.assert_allclose(result(average=None, undefined=1), [value, 1])
        np.testing.assert_allclose(result(average=None, undefined="drop"), [value, np.nan])
        assert result() == pytest.approx(value / 2)
        assert result(undefined=1) == pytest.approx((value + 1) / 2)
        assert result(undefined="drop") == pytest.approx(value)

    @pytest.mark.slow
    @pytest.mark.parametrize("gain", [0.1, 1 / 3, -0.7, 1, 2.6e-5, 1e9])
    @pytest.mark.parametrize("padded", [False, True])
    def test_equal_gains_leave_no_rest(self, gain, padded):
        # I - W must be 0, in whatever order each was summed up: the score of the empty list, -W
        # over it, was -6e15.
        for n, k in product([2, 3, 5, 8, 13, 16, 17, 50, 100, 1000], [None, 20]):
            sizes = [n, n - padded]
            groups, y_true = np.repeat([0, 1], sizes), np.full(sum(sizes), gain)
            for y_score in (np.arange(len(groups)), np.full(len(groups), NO)):
                values = ndcg_min_score(
                    y_true, y_score, groups=groups, k=k, undefined="drop", average=None
                )
                assert np.isnan(values).all(), (n, k)


def unbounded(y_true, y_score, **params):
    """Shares of queries whose nDCG_min is above 1, and below 0."""
    values = ndcg_min_score(y_true, y_score, average=None, **params)
    return np.mean(values > 1 + 1e-9), np.mean(values < -1e-9)


class TestUnboundedQueries:
    def test_by_hand(self):
        # Of the pair -1, 2: only the good document leaves [0, 1] above, only the bad one below,
        # the full list stays inside, and so does an undefined query.
        y_true = [-1, 2] * 4 + [3]
        y_score = [NO, 1, 1, NO, NO, NO, 1, 2, 1]
        groups = np.repeat(list("abcde"), [2, 2, 2, 2, 1])
        assert unbounded(y_true, y_score, groups=groups) == pytest.approx((1 / 5, 2 / 5))

    @given(pools, cutoffs)
    def test_rankings_of_everything_are_bounded(self, gains, k):
        y_true, y_score, groups = all_lists(gains)
        full = np.isin(groups, np.flatnonzero(np.bincount(groups, y_score == NO) == 0))
        assert unbounded(y_true[full], y_score[full], groups=groups[full], k=k) == (0, 0)


class TestPropositions:
    def test_3_1_filtering_leaves_the_bounds_of_ndcg_min(self):
        gains = [-1, 2]
        worst, ideal = -1 + 2 / log2(3), 2 - 1 / log2(3)
        for scores, dcg in (([1, NO], -1), ([NO, 1], 2), ([NO, NO], 0)):
            value = one(ndcg_min_score, gains, scores)
            assert value == pytest.approx((dcg - worst) / (ideal - worst))
            assert not 0 <= value <= 1

    def test_3_1_a_single_document_is_the_same_shown_or_not(self):
        for gain in (-1, 2):
            assert one(ndcg_min_score, [gain], [1]) == one(ndcg_min_score, [gain], [NO]) == 0

    @given(pools, cutoffs)
    def test_3_2_without_forbidden_documents_it_is_ndcg(self, gains, k):
        y_true, y_score, groups = all_lists(np.abs(gains))
        np.testing.assert_allclose(
            ndcg_f_score(y_true, y_score, groups=groups, k=k, average=None),
            ndcg_score(y_true, y_score, groups=groups, k=k, average=None),
            atol=1e-12,
        )

    @given(pools, cutoffs)
    def test_3_3_it_is_bounded_and_the_bounds_are_reached(self, gains, k):
        y_true, y_score, groups = all_lists(gains)
        values = ndcg_f_score(y_true, y_score, groups=groups, k=k, average=None)
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
            measure(y_true, y_score, groups=groups, k=k, average=None)
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
                ndcg_f_score(y_true, y_score, groups=groups, k=k, average=None),
                ndcg_min_score(y_true, y_score, groups=groups, k=k, average=None),
                atol=1e-12,
            )

    def test_3_6_needs_small_k(self):
        gains, scores = [2, 0, -1], [2, 1, 3]
        assert one(ndcg_f_score, gains, scores, k=2) == one(ndcg_min_score, gains, scores, k=2)
        assert one(ndcg_f_score, gains, scores, k=3) != one(ndcg_min_score, gains, scores, k=3)

    def test_table_6_filter_all_and_filter_none_share_the_single_documents(self):
        gains = np.random.default_rng(0).choice([-10, 1, 1, 2], size=500)
        rows = np.arange(500)
        filter_all = ndcg_f_score(gains, np.full(500, NO), groups=rows, k=3)
        filter_none = ndcg_f_score(gains, np.zeros(500), groups=rows, k=3)
        assert filter_all == pytest.approx(np.mean(gains < 0))
        assert filter_all + filter_none == pytest.approx(1)
        assert ndcg_min_score(gains, np.zeros(500), groups=rows, k=3) == 0
