"""What nDCG_f and its family keep to: the propositions of the paper, and bounds over all lists."""

from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skfilterrank.metrics import (
    dcg_bounds,
    dcg_score,
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


class TestBounds:
    @given(pools, cutoffs)
    def test_best_and_worst_of_all_lists(self, gains, k):
        y_true, y_score, groups = all_lists(gains)
        values = dcg_score(y_true, y_score, groups=groups, k=k, average=None)
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
