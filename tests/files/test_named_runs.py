"""Runs get their names from their files, and errors say which run they came up with."""

import io
import os
from pathlib import Path

import pandas as pd
import pytest

from skfilterrank._files.named_runs import (
    are_runs,
    are_several_runs,
    errors_of,
    for_any_process,
    name_of_path,
    named_runs,
)
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError
from skfilterrank.io import QrelsIndex, read_run, write_runs

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


def test_a_path_a_list_and_a_dict():
    assert named_runs("x/a.txt") == {"a": "x/a.txt"}
    assert named_runs(["a.txt", Path("b.gz")]) == {"a": "a.txt", "b": Path("b.gz")}
    given = {"a": RUN, 3: "x.txt"}
    assert named_runs(given) == given
    assert named_runs(given) is not given
    assert named_runs(("a.txt",)) == {"a": "a.txt"}


@pytest.mark.parametrize(
    ("runs", "error", "message"),
    [
        (RUN, InputTypeError, "got one DataFrame. Name a run, as in {'name': run}; judgments come"),
        (NESTED, InputTypeError, "got one dict. Name a run"),
        (io.StringIO("1 Q0 a 1 1 x"), InputTypeError, "got one StringIO"),
        (QRELS, InputTypeError, "got judgments, with a column 'label'. Swap them"),
        (QrelsIndex(QRELS), InputTypeError, "got judgments. Swap them: judgments come first"),
        ([RUN], InputTypeError, "a list that holds DataFrame: nothing names what is no path"),
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


def test_as_many_as_are_needed():
    with pytest.raises(InputError, match="runs must hold at least 2 runs, got 1"):
        named_runs("a.txt", least=2)
    assert len(named_runs(["a.txt", "b.txt"], least=2)) == 2


@pytest.fixture
def folder(tmp_path):
    write_runs(tmp_path / "folder", {"first": RUN, "second": RUN})
    return tmp_path / "folder"


def test_a_folder_stands_for_all_that_it_holds(folder):
    assert list(named_runs(folder)) == ["first", "second"]
    assert list(named_runs(["x.txt", folder])) == ["x", "first", "second"]
    with pytest.raises(
        InputError, match=r"a StoredRun and first\.txt give two runs of the name 'fi"
    ):
        named_runs(["first.txt", folder])
    stored = named_runs(folder)["first"]
    with pytest.raises(InputTypeError, match="got one StoredRun"):
        named_runs(stored)
    assert are_several_runs(folder)
    assert are_several_runs(stored)


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


def test_what_a_process_in_another_folder_can_read(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert for_any_process("a.txt") == ("a.txt", str(tmp_path / "a.txt"))
    stored = named_runs(folder)["first"]
    assert for_any_process(stored) == (None, stored)
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
    assert caught.value.__notes__ == ["This came up with the run 'mine'."]
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
