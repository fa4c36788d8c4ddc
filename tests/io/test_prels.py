"""Judgments of a sample: labels with the probability of having been drawn."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import QrelsIndex, align, read_prels, read_qrels, write_prels
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
    aligned = align(read_prels(io.StringIO(PRELS)), RUN)
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
    assert align(qrels, RUN).inclusion_probability is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10 d1 2 1\n", r"4 columns where a prels has 5 .*a qrels has 4: .* are swapped"),
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
    with pytest.raises(FileFormatError, match="a prels has 5: if this is one, it stands where"):
        read_qrels(io.StringIO(PRELS))


def test_a_bad_probability_of_a_frame():
    qrels = read_prels(io.StringIO(PRELS))
    qrels["inclusion_probability"] = [0.5, 0, 1]
    with pytest.raises(ValueError, match=r"inclusion probability 0.0 in row 1, which has a label"):
        QrelsIndex(qrels)


@pytest.mark.slow
def test_real_prels(data_dir):
    frame = read_prels(data_dir / "mq2007" / "prels.txt.gz")
    assert len(frame) == 73_015
    assert frame["qid"].nunique() == 1_778
    assert frame["inclusion_probability"].between(0, 1, inclusive="right").all()


def test_written_lines():
    file = io.StringIO()
    write_prels(file, read_prels(io.StringIO(PRELS)))
    assert file.getvalue() == "10 d1 2 1 0.5\n10 d2 0 1 1\n10 d3 1 1 0.25\n"


@pytest.mark.slow
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["1", "02", "q"]),
            st.integers(0, 99).map("d{}".format),
            st.one_of(st.integers(-2, 4), st.floats(-1e300, 1e300)),
            st.floats(0, 1, exclude_min=True),
        ),
        min_size=1,
        unique_by=lambda row: row[:2],
    )
)
def test_what_is_written_reads_back(rows):
    columns = ["qid", "docno", "label", "inclusion_probability"]
    prels = pd.DataFrame(rows, columns=columns)
    file = io.StringIO()
    write_prels(file, prels)
    found = read_prels(io.StringIO(file.getvalue()))
    pd.testing.assert_frame_equal(found, prels, check_dtype=False, check_exact=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": np.nan}, "prels holds no label in row 0"),
        ({"inclusion_probability": 0.0}, "inclusion probability 0.0 in row 0, which has a label"),
        ({"inclusion_probability": 1.5}, "it must be above 0 and at most 1"),
        ({"docno": "a b"}, "'a b', which a TREC file cannot carry"),
    ],
)
def test_what_cannot_be_written(change, message):
    prels = read_prels(io.StringIO(PRELS.splitlines()[0] + "\n")).assign(**change)
    with pytest.raises(InputError, match=message):
        write_prels(io.StringIO(), prels)


def test_without_probabilities_nothing_is_written():
    prels = read_prels(io.StringIO(PRELS)).drop(columns="inclusion_probability")
    with pytest.raises(InputError, match=r"no column 'inclusion_probability'.* use write_qrels"):
        write_prels(io.StringIO(), prels)


def test_tables_with_probabilities():
    table = b"qid,docno,label,inclusion_probability\n1,a,2,0.25\n1,b,0,1\n"
    expected = read_prels(io.StringIO("1 a 2 1 0.25\n1 b 0 1 1\n"))
    for read in (read_prels, read_qrels):
        pd.testing.assert_frame_equal(read(io.BytesIO(table)), expected)
    with pytest.raises(ValueError, match="<stream> has no column 'inclusion_probability'"):
        read_prels(io.BytesIO(table.replace(b"inclusion_", b"")))
    with pytest.raises(ValueError, match=r":3: the row holds the inclusion probability 2.0, which"):
        read_prels(io.BytesIO(table.replace(b"0,1\n", b"0,2\n")))
