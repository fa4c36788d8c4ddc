"""Quit While Ahead by hand."""

from math import log2

import numpy as np
import pytest

from skfilterrank.metrics._filtering import qwa_score

NO = -np.inf


class TestQWA:
    """Two relevant documents out of four."""

    gains = (1, 0, 1, 0)

    def qwa(self, scores, **params):
        return qwa_score(self.gains, scores, groups=["q"] * 4, **params)

    def test_both_relevant_and_stop(self):
        # The terminal document is worth (1 + 1) / 2, which is the ideal list.
        assert self.qwa([2, NO, 1, NO]) == pytest.approx(1)

    def test_everything_shown(self):
        achieved = 1 / log2(2) + 0 / log2(3) + 1 / log2(4) + 0 / log2(5) + 1 / log2(6)
        ideal = 1 / log2(2) + 1 / log2(3) + 1 / log2(4)
        assert self.qwa([4, 3, 2, 1]) == pytest.approx(achieved / ideal)

    def test_one_relevant_and_stop(self):
        # The terminal is worth 1/2 and stands second, where the ideal has a relevant document.
        expected = (1 / log2(2) + (1 / 2) / log2(3)) / (1 / log2(2) + 1 / log2(3))
        assert self.qwa([1, NO, NO, NO]) == pytest.approx(expected)

    def test_one_useless_and_stop(self):
        # The terminal document is worth nothing.
        assert self.qwa([NO, 1, NO, NO]) == 0

    def test_empty_list(self):
        # The terminal, worth 0 / 2, stands where the ideal has a relevant document.
        assert self.qwa([NO] * 4) == 0

    def test_nothing_relevant(self):
        # The terminal is worth 1: best where it stands first.
        assert qwa_score([0, -0.0], [NO, NO], groups=[1, 1]) == 1
        value = qwa_score([0, 0], [2, 1], groups=[1, 1])
        assert value == pytest.approx((1 / log2(4)) / (1 / log2(2)))

    def test_graded_gains(self):
        # Section 2 of the paper: above 1, and pruning the document of gain 1 pays.
        pruned = qwa_score([10, 1], [2, NO], groups=[1, 1])
        ideal = 10 / log2(2) + 1 / log2(3)
        assert pruned == pytest.approx((10 / log2(2) + (10 / 2) / log2(3)) / ideal)
        both = qwa_score([10, 1], [2, 1], groups=[1, 1])
        ideal = 10 / log2(2) + 1 / log2(3) + 1 / log2(4)
        achieved = 10 / log2(2) + 1 / log2(3) + ((10 + 1) / 2) / log2(4)
        assert both == pytest.approx(achieved / ideal)
        assert pruned > both > 1

    def test_ties(self):
        expected = np.mean([self.qwa([3, 2, NO, NO]), self.qwa([2, 3, NO, NO])])
        assert self.qwa([1, 1, NO, NO]) == pytest.approx(expected)
