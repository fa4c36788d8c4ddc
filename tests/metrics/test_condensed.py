"""The variants of bpref, by hand."""

import numpy as np
import pytest

from skfilterrank.metrics import (
    bpref_score,
)

NO, NAN = -np.inf, np.nan


def one(measure, gains, scores=None, **params):
    """A measure of one query; without scores, the documents stand as they are given."""
    scores = range(len(gains), 0, -1) if scores is None else scores
    return measure(gains, scores, groups=["q"] * len(gains), **params)


class TestBpref:
    @pytest.mark.parametrize("variant", ["trec_eval", "buckley2004", "printed"])
    def test_nothing_nonrelevant(self, variant):
        assert one(bpref_score, [1, NAN, 1], variant=variant) == 1
        assert one(bpref_score, [1, NAN, 1], [3, 2, NO], variant=variant) == 1 / 2

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
