"""Judgments of a sample: labels with the probability of having been drawn."""

import io

import numpy as np
import pandas as pd
import pytest

from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import QrelsIndex, align, read_prels, read_qrels
from skfilterrank.metrics import stat_ap_score

PRELS = """\
10 d1 2 1 0.5
10 d2 0 0 1
10 d3 1 2 0.25
"""
RUN = pd.DataFrame({"qid": "10", "docno": ["d2", "x", "d3"], "score": [3.0, 2.0, 1.0]})


def test_columns():
    frame = read_prels(io.StringIO(PRELS))
    assert frame["qid"].tolist() == ["10"] * 3
    assert frame["docno"].tolist() == ["d1", "d2", "d3"]
    assert frame["label"].tolist() == [2, 0, 1]
    assert frame["inclusion_probability"].tolist() == [0.5, 1, 0.25]


def test_probabilities_are_carried_along():
    aligned = align(RUN, read_prels(io.StringIO(PRELS)))
    assert aligned.docnos.tolist() == ["d2", "x", "d3", "d1"]
    np.testing.assert_array_equal(aligned.inclusion_probability, [1, np.nan, 0.25, 0.5])
    # R is estimated as 1 / 0.5 + 1 / 0.25; d3 at place 3 has nothing relevant above it.
    y_true, y_score, groups = aligned
    value = stat_ap_score(
        y_true, y_score, groups=groups, inclusion_probability=aligned.inclusion_probability
    )
    assert value == pytest.approx((1 / 0.25) * (1 / 3) / (2 + 4))


def test_without_probabilities_there_are_none():
    qrels = read_prels(io.StringIO(PRELS)).drop(columns="inclusion_probability")
    assert align(RUN, qrels).inclusion_probability is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10 d1 2 1\n", r"4 columns where a prels has 5 .*a qrels has 4: .* use read_qrels"),
        ("10 d1 2 1 0\n", "1: an inclusion probability must be above 0 and at most 1, got 0"),
        ("10 d1 2 1 1\n10 d2 2 1 1.5\n", "2: an inclusion probability must be .* got 1.5"),
        ("10 d1 2 1 nan\n", "1: an inclusion probability must be"),
        ("10 d1 2 1 x\n", "1: an inclusion probability must be a number, got 'x'"),
        ("10 d1 inf 1 1\n", "1: a label must be a finite number, got inf"),
        ("10 d1 2 1 1\n10 d1 2 1 1\n", "d1"),
    ],
)
def test_bad_files(text, message):
    with pytest.raises(FileFormatError, match=message):
        read_prels(io.StringIO(text))


def test_the_readers_name_each_other():
    with pytest.raises(FileFormatError, match="a prels has 5: if this is one, use read_prels"):
        read_qrels(io.StringIO(PRELS))


def test_a_bad_probability_of_a_frame():
    qrels = read_prels(io.StringIO(PRELS))
    qrels["inclusion_probability"] = [0.5, 0, 1]
    with pytest.raises(ValueError, match=r"inclusion probability 0.0 in row 1, which has a label"):
        QrelsIndex(qrels)


def test_real_prels(data_dir):
    frame = read_prels(data_dir / "mq2007" / "prels.txt.gz")
    assert len(frame) == 73_015
    assert frame["qid"].nunique() == 1_778
    assert frame["inclusion_probability"].between(0, 1, inclusive="right").all()
