"""Judgments that hold a document of a query more than once."""

import io

import numpy as np
import pandas as pd
import pytest

from skfilterrank.exceptions import DataWarning, FileFormatError, InputError
from skfilterrank.io import align, read_qrels

DIVERSITY = "1 1 a 1\n1 2 a 2\n1 1 b 0\n2 1 a 0\n2 3 c 1\n"


def qrels_of(text, **params):
    table = read_qrels(io.StringIO(text), **params)
    return list(table[["qid", "docno", "label"]].itertuples(index=False, name=None))


def test_subtopics_of_diversity_judgments():
    message = (
        r"<stream>:2: .* document 'a' twice in query '1' \(first in line 1\)\. If the second "
        "column holds subtopics .* ir_measures has alpha-nDCG, and subtopic='max' takes the highest"
    )
    for read in (qrels_of, lambda text: align(io.StringIO(text), {"1": {"a": 1.0}})):
        with pytest.raises(FileFormatError, match=message):
            read(DIVERSITY)
    folded = [("1", "a", 2), ("1", "b", 0), ("2", "a", 0), ("2", "c", 1)]
    assert qrels_of(DIVERSITY, subtopic="max") == folded
    # The same rows as a table of ir_datasets.
    lines = DIVERSITY.replace(" ", ",")
    table = f"query_id,subtopic_id,doc_id,relevance\n{lines}"
    assert qrels_of(table, subtopic="max") == folded
    with pytest.raises(FileFormatError, match="If the second column holds subtopics"):
        qrels_of(table)
    # More subtopics than documents, and subtopics called as judges are.
    assert qrels_of("1 1 a 0\n1 2 a 3\n1 predicted b 1\n", subtopic="max")[0] == ("1", "a", 3)
    with pytest.raises(InputError, match=r"subtopic= is for .* which <stream> has not: leave"):
        qrels_of("qid,docno,label\n1,a,1\n", subtopic="max")


def test_the_same_line_twice_counts_once():
    text = "1 0 a 1\n1 0 b 2\n1 0 a 1\n"
    message = (
        r"<stream> holds 1 judgment a second time, with the same label, such as that of document "
        r"'a' in query '1' \(first in line 1\); each counts once"
    )
    with pytest.warns(DataWarning, match=message):
        assert qrels_of(text) == [("1", "a", 1), ("1", "b", 2)]
    unjudged = pd.DataFrame({"qid": "1", "docno": ["a", "b", "a"], "label": [np.nan, 1, np.nan]})
    with pytest.warns(DataWarning, match=r"holds 1 judgment .* \(first in row 0\)"):
        assert len(read_qrels(unjudged)) == 2
    with pytest.warns(DataWarning, match="holds 1 judgment a second time"):
        assert len(read_qrels(io.StringIO("1 a 2 1 0.5\n1 a 2 1 0.5\n1 b 0 1 1\n"))) == 2


def test_two_labels_of_one_document():
    text = "1 0 a 1\n1 0 b 2\n1 0 a 3\n1 0 a 2\n"
    message = "3: .* 'a' twice .* labels 1 and 3; .* give duplicates='max' or duplicates='first'"
    with pytest.raises(FileFormatError, match=message):
        qrels_of(text)
    assert qrels_of(text, duplicates="first") == [("1", "a", 1), ("1", "b", 2)]
    assert qrels_of(text, duplicates="max") == [("1", "b", 2), ("1", "a", 3)]
    gains = {"1": 1, "2": 5, "3": -1}
    assert qrels_of(text, duplicates="max", gains=gains) == [("1", "b", 5), ("1", "a", 5)]
    # Groups of assessors have other words in the second column.
    assert qrels_of(DIVERSITY, duplicates="first")[0] == ("1", "a", 1)
    # An unjudged document is below every label.
    table = pd.DataFrame({"qid": 1, "docno": "a", "label": [np.nan, -2, np.nan]})
    assert read_qrels(table, duplicates="max")["label"].tolist() == [-2]
    assert np.isnan(read_qrels(table, duplicates="first")["label"]).tolist() == [True]


def test_two_labels_of_one_subtopic():
    text = "1 1 a 1\n1 1 a 2\n1 2 a 0\n1 2 b 1\n"
    with pytest.raises(FileFormatError, match="with the labels 1 and 2"):
        qrels_of(text, subtopic="max")
    both = {how: qrels_of(text, subtopic="max", duplicates=how)[0] for how in ("max", "first")}
    assert both == {"max": ("1", "a", 2), "first": ("1", "a", 1)}


def test_labels_of_two_judges_are_not_folded_in_silence():
    with pytest.raises(FileFormatError, match=r"'a' twice in query '1' \(first in line 1\); keep"):
        qrels_of("1 0 a 1\n1 predicted a 1\n", predicted="use")
    found = read_qrels(
        io.StringIO("1 0 a 1\n1 predicted a 2\n"), predicted="use", duplicates="first"
    )
    assert found[["label", "judged_by"]].to_numpy().tolist() == [[1, "people"]]


def test_probabilities_are_those_of_the_rows_that_stay():
    table = io.StringIO("1 a 0 1 0.5\n1 b 1 1 1\n1 a 1 1 0.25\n")
    found = read_qrels(table, duplicates="max")
    assert found["inclusion_probability"].tolist() == [1, 0.25]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"duplicates": "last"}, "duplicates must be one of 'raise', 'max', 'first', got 'last'"),
        ({"subtopic": "1"}, "subtopic must be None or 'max', got '1'"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        qrels_of("1 0 a 1\n", **params)
