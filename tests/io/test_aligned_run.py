"""What `align` returns: three arrays, the documents, frames, and a line that counts."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.io import align
from skfilterrank.metrics import average_precision_score, ndcg_f_score

QRELS = pd.DataFrame(
    {
        "qid": ["2", "1", "1", "1", "3"],
        "docno": ["a", "a", "b", "c", "a"],
        "label": [1.0, 2.0, -1.0, np.nan, 1.0],
    }
)
RUN = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "1", "2", "9", "9"],
        "docno": ["b", "a", "x", "c", "y", "a", "b"],
        "score": [3.0, 5.0, 4.0, -np.inf, 1.0, 1.0, 2.0],
        "run": ["mine"] * 7,
    }
)


@pytest.fixture(scope="module")
def aligned():
    return align(QRELS, RUN)


def test_it_unpacks_into_three_arrays(aligned):
    y_true, y_score, groups = aligned
    # Topic 1: a, x, b are retrieved, c is hidden; of topic 2 y, and a is not retrieved.
    np.testing.assert_array_equal(y_true, [2, np.nan, -1, np.nan, np.nan, 1, 1])
    np.testing.assert_array_equal(y_score, [5, 4, 3, -np.inf, 1, -np.inf, -np.inf])
    assert groups.tolist() == ["1"] * 4 + ["2"] * 2 + ["3"]
    assert aligned.docnos.tolist() == ["a", "x", "b", "c", "y", "a", "a"]
    assert aligned.pooled.tolist() == [True, False, True, True, False, True, True]
    assert aligned.inclusion_probability is None


def test_counts(aligned):
    assert (aligned.name, aligned.ties) == ("mine", "docno")
    assert aligned.missing_queries == ("3",)
    assert aligned.unjudged_queries == ("9",)
    assert aligned.n_left_out == 2
    assert aligned.n_hidden == 1
    assert aligned.n_retrieved == 4
    assert aligned.n_retrieved_unjudged == 2
    assert aligned.n_judged_not_retrieved == 2


def test_frames_carry_the_topics(aligned):
    y_true, y_score = aligned.to_series()
    assert (y_true.name, y_score.name) == ("label", "score")
    assert y_true.index.names == ["qid", "docno"]
    frame = aligned.to_frame()
    assert list(frame) == ["label", "score", "pooled"]
    assert frame.loc[("1", "b")].tolist() == [-1.0, 3.0, True]
    for measure in (ndcg_f_score, average_precision_score):
        expected = measure(aligned.y_true, aligned.y_score, groups=aligned.groups)
        assert measure(y_true, y_score) == expected
        assert measure(aligned.y_true, aligned.y_score, groups=aligned.index) == expected


def test_the_line_that_counts(aligned):
    assert str(aligned) == (
        "mine: 3 queries, 1 of them not in the run; 4 documents retrieved, 2 of them not judged; "
        "2 judged documents not retrieved; 1 document hidden; 1 query without judgments left "
        "out, with 2 rows"
    )
    assert repr(aligned).startswith("<AlignedRun: mine: 3 queries, 1 of them not in the run; 4 doc")
    assert len(repr(aligned)) <= 120


def test_the_line_of_a_run_that_lacks_nothing():
    whole = RUN[RUN["docno"] == "a"].drop(columns="run")
    found = align(QRELS[QRELS["qid"] == "1"], whole[whole["qid"] == "1"])
    assert str(found) == "1 query; 1 document retrieved; 1 judged document not retrieved"
    left_out = align(QRELS, whole[whole["qid"] == "1"], missing="drop")
    assert str(left_out).startswith("1 query; 2 queries not in the run left out; 1 document retr")
