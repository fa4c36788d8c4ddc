"""bpref, AP of the condensed list and the share that is judged: by hand, and what must hold."""

import numpy as np
import pytest

from one_query import one
from skfilterrank.metrics import bpref_score
from skfilterrank.metrics._condensed import induced_ap_score, judged_at_k_score

NO, NAN = -np.inf, np.nan


class TestBpref:
    # R = 2 relevant, N = 3 judged non-relevant; above the relevant ones stand 1 and 3 of them.
    gains = (0, NAN, 1, 0, -1, NAN, 2)

    @pytest.mark.parametrize(
        ("variant", "expected"),
        [
            ("trec_eval", ((1 - 1 / 2) + (1 - 2 / 2)) / 2),
            ("buckley2004", ((1 - 1 / 2) + (1 - 2 / 2)) / 2),
            ("printed", ((1 - 1 / 2) + (1 - 3 / 2)) / 2),
        ],
    )
    def test_more_nonrelevant_than_relevant(self, variant, expected):
        assert one(bpref_score, self.gains, variant=variant) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("variant", "expected"),
        [
            ("trec_eval", (1 + (1 - 1 / 1) + (1 - 1 / 1)) / 3),
            ("buckley2004", (1 + (1 - 1 / 3) + (1 - 1 / 3)) / 3),
            ("printed", (1 + (1 - 1 / 3) + (1 - 1 / 3)) / 3),
        ],
    )
    def test_fewer_nonrelevant_than_relevant(self, variant, expected):
        gains = [1, 0, 1, 1]
        assert one(bpref_score, gains, variant=variant) == pytest.approx(expected)

    @pytest.mark.parametrize("variant", ["trec_eval", "buckley2004", "printed"])
    def test_nothing_nonrelevant(self, variant):
        assert one(bpref_score, [1, NAN, 1], variant=variant) == 1
        assert one(bpref_score, [1, NAN, 1], [3, 2, NO], variant=variant) == 1 / 2

    @pytest.mark.parametrize("variant", ["trec_eval", "buckley2004", "printed"])
    def test_nothing_relevant(self, variant):
        assert np.isnan(one(bpref_score, [0, NAN, -1], variant=variant, undefined="drop"))

    def test_only_retrieved_documents_stand_above_but_all_are_counted(self):
        # The non-relevant one that is not retrieved makes N = 2, and min(R, N) = 2.
        assert one(bpref_score, [0, 1, 1, 0], [4, 3, 2, NO]) == pytest.approx(1 - 1 / 2)
        assert one(bpref_score, [0, 1, 1], [4, 3, 2]) == pytest.approx(1 - 1 / 1)

    @pytest.mark.parametrize(
        ("variant", "expected"),
        [
            # Of the three non-relevant 0, 1, 2 or 3 stand above the relevant document: R = 1.
            ("trec_eval", (1 + 0 + 0 + 0) / 4),
            ("buckley2004", (1 + 0 + 0 + 0) / 4),
            ("printed", (1 + 0 - 1 - 2) / 4),
        ],
    )
    def test_ties(self, variant, expected):
        actual = one(bpref_score, [0, 1, 0, NAN, -1], [5] * 5, variant=variant)
        assert actual == pytest.approx(expected)

    def test_bad_variant(self):
        with pytest.raises(ValueError, match="variant must be one of 'trec_eval', 'buckley2004'"):
            one(bpref_score, [1, 0], variant="trec-eval")


class TestInducedAP:
    def test_by_hand(self):
        # Condensed: relevant at 1, 3 and 4 of five judged; a fourth relevant one is hidden.
        gains = [2, NAN, 0, NAN, 1, 1, NAN, -1, 1]
        scores = [9, 8, 7, 6, 5, 4, 3, 2, NO]
        expected = (1 / 1 + 2 / 3 + 3 / 4) / 4
        assert one(induced_ap_score, gains, scores) == pytest.approx(expected)

    def test_the_cut_off_counts_judged_documents(self):
        gains = [NAN, NAN, 0, NAN, 1, 1]
        assert one(induced_ap_score, gains, k=1) == 0
        assert one(induced_ap_score, gains, k=2) == pytest.approx(1 / 2 / 2)
        assert one(induced_ap_score, gains, k=3) == pytest.approx((1 / 2 + 2 / 3) / 2)

    def test_a_tie_with_an_unjudged_document(self):
        # The relevant one is first or second of the two judged ones.
        gains = [NAN, 1, 0]
        assert one(induced_ap_score, gains, [5, 5, 5]) == pytest.approx((1 + 1 / 2) / 2)


class TestJudgedAtK:
    gains = (1, NAN, 0, NAN, -1, 1)
    scores = (6, 5, 4, 3, 2, NO)

    @pytest.mark.parametrize(
        ("k", "expected"), [(1, 1 / 1), (2, 1 / 2), (3, 2 / 3), (4, 2 / 4), (5, 3 / 5), (9, 3 / 5)]
    )
    def test_share_of_what_is_shown(self, k, expected):
        assert one(judged_at_k_score, self.gains, self.scores, k=k) == pytest.approx(expected)

    def test_nothing_is_shown(self):
        assert np.isnan(one(judged_at_k_score, [1, NAN], [NO, NO], undefined="drop"))

    def test_dropping_the_unjudged_changes_nothing(self):
        actual = one(judged_at_k_score, self.gains, self.scores, k=2, unjudged="drop")
        assert actual == pytest.approx(1 / 2)

    def test_ties(self):
        # Two judged and one unjudged document, of which two are shown.
        gains, scores = [NAN, -3, 0], [1, 1, 1]
        assert one(judged_at_k_score, gains, scores, k=2) == pytest.approx(2 / 3)
        assert one(judged_at_k_score, gains, scores, k=2, ties="worst") == 1 / 2
        assert one(judged_at_k_score, gains, scores, k=2, ties="best") == 1
        assert one(judged_at_k_score, gains, scores, k=2, ties="stable") == 1 / 2
