"""The filter's own rates and QWA, by hand; the reference test covers the rest."""

import numpy as np
import pytest

from skfilterrank.metrics import (
    empty_list_rate,
    false_reject_rate,
    forbidden_at_k,
)

NO = -np.inf


class TestForbiddenAtK:
    groups = ("a", "a", "a", "a", "b", "c")
    gains = (1, -1, -1, 0, -1, -1)
    scores = (4, 3, 2, 1, 1, NO)

    def at(self, k, **params):
        values = forbidden_at_k(
            self.gains, self.scores, groups=self.groups, k=k, average=None, **params
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
    # Good documents have a gain above 0; a has three of which two are filtered, b has none.
    gains = [2, 1, 0.5, 0, -1, 0, -1]
    scores = [NO, 1, NO, NO, NO, NO, 5]
    groups = list("aaaaabb")
    values = false_reject_rate(gains, scores, groups=groups, average=None)
    assert values.tolist() == pytest.approx([2 / 3, 0])
    assert false_reject_rate(gains, scores, groups=groups) == pytest.approx(1 / 3)
    assert false_reject_rate(gains, scores, groups=groups, undefined="drop") == pytest.approx(2 / 3)


def test_empty_list_rate():
    gains, groups = [1, 1, 1, np.nan], list("aabc")
    assert empty_list_rate(gains, [NO, 1, NO, 1], groups=groups, average=None).tolist() == [0, 1, 0]
    assert empty_list_rate(gains, [NO, 1, NO, 1], groups=groups) == pytest.approx(1 / 3)
    # A list of unjudged documents is empty once they are taken out.
    rate = empty_list_rate(gains, [NO, 1, NO, 1], groups=groups, unjudged="drop")
    assert rate == pytest.approx(2 / 3)
