"""Bounds of DCG against all lists, and the difficulty of filtering that follows from them."""

from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.metrics import dcg_bounds, dcg_score, filtering_difficulty, ndcg_f_score

# Measures are given gains below 0 here.
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

    def test_average_and_undefined(self):
        y_true = pd.Series([1, -1, 0, np.nan], index=pd.Index(["b", "a", "c", "c"], name="qid"))
        assert filtering_difficulty(y_true, average=None).tolist() == [1, 0, 0]
        assert filtering_difficulty(y_true) == pytest.approx(1 / 3)
        assert filtering_difficulty(y_true, undefined="drop") == pytest.approx(1 / 2)
        assert filtering_difficulty(y_true, gains={1: -1, -1: 1, 0: 1}, average=None).tolist() == [
            0,
            1,
            0,
        ]


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
    with pytest.raises(ValueError, match="average must be one of"):
        filtering_difficulty([1, 2], groups=[1, 1], average="sum")
    with pytest.raises(ValueError, match="undefined must be"):
        filtering_difficulty([1, 2], groups=[1, 1], undefined="skip")
