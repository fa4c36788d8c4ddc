"""The filter's own rates and QWA, by hand; the reference test covers the rest."""

from math import log2

import numpy as np
import pytest

from skfilterrank.metrics import empty_list_rate, false_reject_rate, forbidden_at_k
from skfilterrank.metrics._filtering import qwa_score

NO = -np.inf


class TestForbiddenAtK:
    groups = ("a", "a", "a", "a", "b", "c")
    gains = (1, -1, -1, 0, -1, -1)
    scores = (4, 3, 2, 1, 1, NO)

    def at(self, k, **params):
        values = forbidden_at_k.per_query(
            self.gains, self.scores, groups=self.groups, k=k, **params
        )
        return values.tolist()

    def test_share_of_what_is_shown(self):
        assert self.at(1) == [0 / 1, 1 / 1, 0]
        assert self.at(2) == [1 / 2, 1 / 1, 0]
        assert self.at(3) == pytest.approx([2 / 3, 1 / 1, 0])
        assert self.at(None) == [2 / 4, 1 / 1, 0]
        # Four are shown where five could be: the share is of the four.
        assert self.at(5) == [2 / 4, 1 / 1, 0]

    def test_the_empty_list_shows_nothing(self):
        assert self.at(2, undefined=1) == [1 / 2, 1, 1]
        assert np.isnan(self.at(2, undefined="drop")[2])

    def test_a_tie_over_the_cut_off(self):
        # One of three tied documents is shown, one of them forbidden.
        assert forbidden_at_k([1, -1, 0], [5, 5, 5], groups=[1, 1, 1], k=1) == pytest.approx(1 / 3)
        assert forbidden_at_k([1, -1, 0], [5, 5, 5], groups=[1] * 3, k=1, ties="worst") == 1
        assert forbidden_at_k([1, -1, 0], [5, 5, 5], groups=[1] * 3, k=1, ties="best") == 0

    def test_unjudged_documents_are_shown_unless_dropped(self):
        assert forbidden_at_k([np.nan, -1], [2, 1], groups=[1, 1]) == 1 / 2
        assert forbidden_at_k([np.nan, -1], [2, 1], groups=[1, 1], unjudged="drop") == 1


def test_false_reject_rate():
    # Good documents have a gain above 0; a has three of which two are hidden, b has none.
    gains = [2, 1, 0.5, 0, -1, 0, -1]
    scores = [NO, 1, NO, NO, NO, NO, 5]
    groups = list("aaaaabb")
    values = false_reject_rate.per_query(gains, scores, groups=groups)
    assert values.tolist() == pytest.approx([2 / 3, 0])
    assert false_reject_rate(gains, scores, groups=groups) == pytest.approx(1 / 3)
    assert false_reject_rate(gains, scores, groups=groups, undefined="drop") == pytest.approx(2 / 3)


def test_empty_list_rate():
    gains, groups = [1, 1, 1, np.nan], list("aabc")
    assert empty_list_rate.per_query(gains, [NO, 1, NO, 1], groups=groups).tolist() == [0, 1, 0]
    assert empty_list_rate(gains, [NO, 1, NO, 1], groups=groups) == pytest.approx(1 / 3)
    # A list of unjudged documents is empty once they are taken out.
    rate = empty_list_rate(gains, [NO, 1, NO, 1], groups=groups, unjudged="drop")
    assert rate == pytest.approx(2 / 3)


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
