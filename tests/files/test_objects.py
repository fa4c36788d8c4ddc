"""Judgments and runs in objects of other libraries, told by what they can do."""

from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skfilterrank._files.objects import as_table, is_by_topic, is_frame, is_table
from skfilterrank.exceptions import InputError

pl = pytest.importorskip("polars", reason="polars is not installed")

COLUMNS = {"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "score": [2.0, 1.0, 3.0]}
FRAME = pd.DataFrame(COLUMNS)
NESTED = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 3.0}}
Row = namedtuple("Row", list(COLUMNS))
ROWS = list(FRAME.itertuples(index=False, name="Row"))
DATASET = SimpleNamespace(
    qrels_iter=lambda: iter([Row("1", "q", 7)]), scoreddocs_iter=lambda: iter(ROWS)
)
OF_RANX = SimpleNamespace(to_dict=lambda: NESTED, get_doc_ids_and_scores=None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME,
        lambda: pl.DataFrame(COLUMNS),
        lambda: pl.DataFrame(COLUMNS).lazy(),
        lambda: pa.table(COLUMNS),
        lambda: pa.table(COLUMNS).to_reader(),
        lambda: SimpleNamespace(to_pandas=lambda: FRAME),
        lambda: NESTED,
        lambda: OF_RANX,
        lambda: DATASET,
        lambda: ROWS,
        lambda: tuple(ROWS),
        lambda: iter(ROWS),
        lambda: FRAME.to_dict("records"),
        lambda: iter(FRAME.to_dict("records")),
    ],
)
def test_tables_of_all_kinds(make):
    assert is_table(make())
    table = as_table(make(), "score")
    assert {name: list(table[name]) for name in COLUMNS} == COLUMNS


def test_the_value_says_which_of_two_a_dataset_gives():
    assert as_table(DATASET, "label")["docno"].tolist() == ["q"]
    assert list(as_table(NESTED, "label")) == ["qid", "docno", "label"]


@pytest.mark.parametrize(
    "data",
    [
        *(None, 3, "run.txt", b"run.txt", [], {}, [1, 2], ["run.txt"], {"a": 1}, {"a": FRAME}),
        {"a": {"b": {"c": 1}}},
        {"a": {"b": FRAME}},
        FRAME["score"],
        pl.Series([1.0]),
        pa.array([1.0]),
        pa.chunked_array([[1.0]]),
        np.ones((2, 3)),
        SimpleNamespace(read=None, to_pandas=None),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_table(data):
    assert not is_table(data)
    assert as_table(data, "score") is None


def test_topics_of_documents():
    assert is_by_topic(NESTED)
    assert is_by_topic({"1": {}})
    for data in ({}, {"1": 2}, {"1": {"a": {}}}, {"1": {"a": FRAME}}, [NESTED], FRAME):
        assert not is_by_topic(data)
    # A query of which nothing is retrieved has no row.
    assert as_table({"1": {}, "2": {"a": 1.0}}, "score")["qid"].tolist() == ["2"]


def test_frames():
    assert is_frame(FRAME)
    assert is_frame(pl.DataFrame(COLUMNS))
    assert not is_frame(pa.table(COLUMNS))
    assert not is_frame(NESTED)


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([*ROWS, 3], "Row, int|int, Row"),
        ([*ROWS, {"qid": 1}], "Row, dict|dict, Row|Row, dict"),
        (iter([3]), "int"),
        (iter([NESTED]), "dict"),
    ],
)
def test_rows_of_several_kinds(rows, shown):
    with pytest.raises(InputError, match=rf"rows of a run must be named tuples .*, got ({shown})"):
        as_table(rows, "score")
    with pytest.raises(InputError, match="rows of qrels must be"):
        as_table(iter([3]), "label")


def test_an_iterator_of_nothing_is_an_empty_table():
    assert len(as_table(iter([]), "score")) == 0
