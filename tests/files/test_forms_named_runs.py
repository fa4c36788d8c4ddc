"""Runs get their names from their files, and errors say which run they came up with."""

import io
import os
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skfilterrank._files.forms import (
    are_runs,
    are_several_runs,
    as_table,
    errors_of,
    files_of_folders,
    for_any_process,
    is_by_query,
    is_table,
    name_of_path,
    named_runs,
)
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError
from skfilterrank.io import QrelsIndex, read_run

RUN = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})

QRELS = pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [1]})

NESTED = {"1": {"a": 1.0}}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/bm25.txt", "bm25"),
        ("bm25.txt.gz", "bm25"),
        (Path("x") / "bm25.parquet", "bm25"),
        ("bm25.v2.run", "bm25.v2.run"),
        ("my.run.csv.bz2", "my.run"),
        ("input.BM25.json", "input.BM25"),
        (".txt", ".txt"),
        (b"a\xff.txt", "a\\xff"),
        (os.fsdecode(b"a\xff.txt"), "a\\xff"),
    ],
)
def test_names_of_files(path, name):
    assert name_of_path(path) == name


@pytest.mark.parametrize(
    ("runs", "error", "message"),
    [
        (RUN, InputTypeError, "got one DataFrame. Name a run, as in {'name': run}; judgments come"),
        (NESTED, InputTypeError, "got one dict. Name a run"),
        (io.StringIO("1 Q0 a 1 1 x"), InputTypeError, "got one StringIO"),
        (QRELS, InputTypeError, "got judgments. Swap them"),
        (RUN["score"], InputTypeError, "data frame or other run}, got one Series. Make a data fr"),
        (QrelsIndex(QRELS), InputTypeError, "got judgments. Swap them: judgments come first"),
        ([RUN], InputTypeError, "a list that holds DataFrame: only a path gives a run its name"),
        ([io.BytesIO()], InputTypeError, "a list that holds BytesIO"),
        (["x/a.txt", "y/a.gz"], InputError, r"y/a.gz and x/a.txt give two runs of the name 'a'"),
        ([], InputError, "runs must hold at least 1 run, got 0"),
        ({}, InputError, "runs must hold at least 1 run, got 0"),
        (3, InputError, "runs must be a list of paths, or a dict"),
    ],
)
def test_what_names_no_runs(runs, error, message):
    with pytest.raises(error, match=message):
        named_runs(runs)


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (RUN, "run"),
        (RUN.assign(run="bm25"), "bm25"),
        (pd.concat([RUN.assign(run="a"), RUN.assign(run="b")]), "run"),
        (NESTED, "run"),
        (io.StringIO("1 Q0 a 1 1 x"), "run"),
        (SimpleNamespace(name="bm25", to_pandas=RUN.copy), "bm25"),
        (SimpleNamespace(name=None, y_score=[1.0]), "run"),
    ],
)
def test_one_run_where_one_will_do(run, name):
    found = named_runs(run, may_be_one=True)
    assert list(found) == [name]
    assert found[name] is run


def test_one_open_file_is_named_after_its_path(tmp_path):
    path = tmp_path / "bm25.txt"
    path.write_text("1 Q0 a 1 1 x")
    with open(path) as file:
        assert named_runs(file, may_be_one=True) == {"bm25": file}


def test_as_many_as_are_needed():
    with pytest.raises(InputError, match="runs must hold at least 2 runs, got 1"):
        named_runs("a.txt", least=2)
    assert len(named_runs(["a.txt", "b.txt"], least=2)) == 2


@pytest.mark.parametrize(
    ("source", "are", "several"),
    [
        ("a.txt", True, False),
        (["a.txt"], True, True),
        ({"a": RUN}, True, True),
        ({"a": "a.txt", "b": 3}, True, True),
        (NESTED, True, False),
        ({"a": 3}, False, False),
        ([1, 2], False, False),
        (RUN, False, False),
        (io.StringIO(), False, False),
    ],
)
def test_one_run_or_several(source, are, several):
    assert are_runs(source) is are
    assert are_several_runs(source) is several


def test_what_a_process_in_another_folder_can_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert for_any_process("a.txt") == ("a.txt", str(tmp_path / "a.txt"))
    given, copied = for_any_process(io.StringIO("1 Q0 a 1 2.5 x\n"))
    assert given is None
    assert read_run(copied)["score"].tolist() == [2.5]
    rows = iter([{"qid": "1", "docno": "a", "score": 2.5}])
    assert for_any_process(rows)[1]["score"].tolist() == [2.5]
    assert for_any_process(3) == (None, 3)


def test_errors_name_the_run_and_the_file_as_it_was_given():
    with pytest.raises(FileFormatError) as caught, errors_of("mine", "a.txt", "/tmp/a.txt"):
        raise FileFormatError("It is damaged.", "/tmp/a.txt", 3)
    assert str(caught.value).startswith("a.txt:3: ")
    assert caught.value.__notes__ == ["The error concerns the run 'mine'."]
    with pytest.raises(OSError, match="none") as caught, errors_of("mine", "a.txt", "/tmp/a.txt"):
        raise FileNotFoundError(2, "none", "/tmp/a.txt")
    assert caught.value.filename == "a.txt"
    with pytest.raises(OSError, match="none") as caught, errors_of("mine", "a.txt", "/tmp/a.txt"):
        raise FileNotFoundError(2, "none", "/tmp/other.txt")
    assert caught.value.filename == "/tmp/other.txt"
    # What is no fault of the run goes by without a note.
    with pytest.raises(KeyError) as caught, errors_of("mine"):
        raise KeyError
    assert not hasattr(caught.value, "__notes__")


pl = pytest.importorskip("polars", reason="polars is not installed")

COLUMNS = {"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "score": [2.0, 1.0, 3.0]}

FRAME = pd.DataFrame(COLUMNS)

NESTED_OBJECTS = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 3.0}}

Row = namedtuple("Row", list(COLUMNS))

ROWS = list(FRAME.itertuples(index=False, name="Row"))

DATASET = SimpleNamespace(
    qrels_iter=lambda: iter([Row("1", "q", 7)]), scoreddocs_iter=lambda: iter(ROWS)
)

OF_RANX = SimpleNamespace(to_dict=lambda: NESTED_OBJECTS, get_doc_ids_and_scores=None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME,
        lambda: pl.DataFrame(COLUMNS),
        lambda: pl.DataFrame(COLUMNS).lazy(),
        lambda: pa.table(COLUMNS),
        lambda: pa.table(COLUMNS).to_reader(),
        lambda: SimpleNamespace(to_pandas=lambda: FRAME),
        lambda: NESTED_OBJECTS,
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
    assert list(as_table(NESTED_OBJECTS, "label")) == ["qid", "docno", "label"]


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
    assert is_by_query(NESTED_OBJECTS)
    assert is_by_query({"1": {}})
    for data in ({}, {"1": 2}, {"1": {"a": {}}}, {"1": {"a": FRAME}}, [NESTED_OBJECTS], FRAME):
        assert not is_by_query(data)
    # A query of which nothing is retrieved has no row.
    assert as_table({"1": {}, "2": {"a": 1.0}}, "score")["qid"].tolist() == ["2"]


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([*ROWS, 3], "Row, int|int, Row"),
        ([*ROWS, {"qid": 1}], "Row, dict|dict, Row|Row, dict"),
        (iter([3]), "int"),
        (iter([NESTED_OBJECTS]), "dict"),
    ],
)
def test_rows_of_several_kinds(rows, shown):
    with pytest.raises(InputError, match=rf"rows of a run must be named tuples .*, got ({shown})"):
        as_table(rows, "score")
    with pytest.raises(InputError, match="rows of qrels must be"):
        as_table(iter([3]), "label")


def test_an_iterator_of_nothing_is_an_empty_table():
    assert len(as_table(iter([]), "score")) == 0


def test_a_folder_stands_for_the_files_in_it(tmp_path):
    runs = tmp_path / "runs"
    (runs / "old").mkdir(parents=True)
    for name in ("b.txt", "a.run", ".hidden"):
        (runs / name).write_text("1 Q0 x 1 1.0 r\n")
    expected = {"a.run": str(runs / "a.run"), "b": str(runs / "b.txt")}
    assert named_runs(runs) == named_runs([str(runs)]) == expected
    assert files_of_folders([RUN, runs / "b.txt"])[1] == runs / "b.txt"
    with pytest.raises(InputError, match="at least 1 run, got 0"):
        named_runs(runs / "old")
