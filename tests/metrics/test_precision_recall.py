"""Precision, recall, R-precision, reciprocal rank and success: values by hand, trec_eval, ties."""

from math import comb

import numpy as np
import pytest

from one_query import one
from skfilterrank.metrics import (
    precision_at_k_score,
    r_precision_score,
    recall_at_k_score,
    reciprocal_rank_score,
    success_at_k_score,
)

NO, NAN = -np.inf, np.nan


class TestByHand:
    """Relevant are the first, the fourth and the fifth place; one relevant document is missed."""

    y_true = (2, 0, NAN, 1, 1, -1, 3)
    y_score = (9, 8, 7, 6, 5, 4, NO)

    def value(self, function, **params):
        return one(function, self.y_true, self.y_score, **params)

    @pytest.mark.parametrize(("k", "found"), [(1, 1), (2, 1), (4, 2), (5, 3), (6, 3), (20, 3)])
    def test_precision_and_recall(self, k, found):
        assert self.value(precision_at_k_score, k=k) == pytest.approx(found / k)
        assert self.value(recall_at_k_score, k=k) == pytest.approx(found / 4)

    def test_the_whole_list(self):
        assert self.value(precision_at_k_score) == pytest.approx(3 / 6)
        assert self.value(recall_at_k_score) == pytest.approx(3 / 4)

    def test_without_the_unjudged_document(self):
        assert self.value(precision_at_k_score, k=3, unjudged="drop") == pytest.approx(2 / 3)
        assert self.value(precision_at_k_score, unjudged="drop") == pytest.approx(3 / 5)
        assert self.value(r_precision_score, unjudged="drop") == pytest.approx(3 / 4)

    def test_r_precision(self):
        assert self.value(r_precision_score) == pytest.approx(2 / 4)

    def test_first_relevant_document(self):
        assert self.value(reciprocal_rank_score) == 1
        y_score = (NO, *self.y_score[1:])
        assert one(reciprocal_rank_score, self.y_true, y_score) == pytest.approx(1 / 3)
        assert one(reciprocal_rank_score, self.y_true, y_score, k=2) == 0
        assert one(success_at_k_score, self.y_true, y_score, k=2) == 0
        assert one(success_at_k_score, self.y_true, y_score, k=3) == 1


class TestTies:
    """One tie of n documents, r of them relevant, below `above` others that are not."""

    shapes = pytest.mark.parametrize(
        ("above", "n", "r"), [(0, 2, 1), (0, 7, 1), (3, 7, 2), (2, 9, 8), (1, 5, 5), (4, 40, 13)]
    )

    def tie(self, above, n, r):
        return [0] * above + [1] * r + [0] * (n - r), [2] * above + [1] * n

    @shapes
    def test_reciprocal_rank(self, above, n, r):
        """Place j of the tie is the first relevant one in C(n - j, r - 1) of C(n, r) orders."""
        expected = sum(comb(n - j, r - 1) / comb(n, r) / (above + j) for j in range(1, n - r + 2))
        actual = one(reciprocal_rank_score, *self.tie(above, n, r))
        assert actual == pytest.approx(expected, rel=1e-12)

    @shapes
    @pytest.mark.parametrize("k", [1, 3, 5])
    def test_success_at_a_cut_off_within_the_tie(self, above, n, r, k):
        places = min(max(k - above, 0), n)
        expected = 1 - comb(n - r, places) / comb(n, places)
        actual = one(success_at_k_score, *self.tie(above, n, r), k=k)
        assert actual == pytest.approx(expected, rel=1e-12)

    def test_10_000_tied_documents(self):
        y_true = np.zeros(10_000)
        y_true[:3] = 1
        # Of the 3 places the first is n in 3 (N - n)(N - n - 1) of N (N - 1)(N - 2) cases.
        n = np.arange(1.0, 10_001)
        first = 3 * (10_000 - n) * (9_999 - n) / (10_000.0 * 9_999 * 9_998)
        actual = one(reciprocal_rank_score, y_true, np.zeros(10_000))
        assert actual == pytest.approx((first / n).sum(), rel=1e-10)
