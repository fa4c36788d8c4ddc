"""Tables of queries and documents: columns or levels, and pairs that are there twice."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.judgments._pairs import key_columns, refuse_repeated

FRAME = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [0.0, 2.0]})


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.set_index(["qid", "docno"]),
        FRAME.set_index("docno"),
        FRAME.set_index(["qid", "docno"])["label"],
    ],
)
def test_levels_are_columns(table):
    found = key_columns(table, "table", "label")
    assert found["docno"].tolist() == ["a", "b"]
    assert found["label"].tolist() == [0.0, 2.0]


def test_an_index_is_a_table_of_its_levels():
    found = key_columns(FRAME.set_index(["qid", "docno"]).index, "pool")
    pd.testing.assert_frame_equal(found, FRAME[["qid", "docno"]])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1], r"known must be a DataFrame or MultiIndex with 'qid', 'docno', 'label', got \[1\]"),
        (FRAME[["qid"]], "known must be .*'docno', 'label', got columns 'qid'"),
    ],
)
def test_other_tables(table, message):
    with pytest.raises(InputError, match=message):
        key_columns(table, "known", "label")


def test_the_first_repeated_pair_is_named():
    refuse_repeated([1, 1, 2], ["a", "b", "a"], "X")
    # Documents without an id are different ones.
    refuse_repeated([1, 1], [None, np.nan], "X")
    with pytest.raises(InputError, match="X holds document 'b' twice in query 2, again in row 3"):
        refuse_repeated([1, 2, 2, 2, 1], ["a", "b", "a", "b", "a"], "X")
