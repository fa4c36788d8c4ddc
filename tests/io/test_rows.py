"""Rows are the same in any number of processes and blocks; odd calls are refused."""

import os

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from profiles import times
from rows_of_queries import COLUMNS, NAMES, cut, make_rows, same
from skfilterrank.exceptions import DataWarning, InputError, InputTypeError
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate
from thinned import thinned


def test_one_warning_of_forbidden_documents():
    with pytest.warns(DataWarning, match="some gains are below 0") as caught:
        evaluate(Rows(cut(COLUMNS, 100, 200), chunk_rows=10), "ndcg")
    assert len(caught) == 1


def test_odd_calls():
    for name, value in {"groups": [1], "query_weight": {1: 2}}.items():
        with pytest.raises(InputError, match=f"{name} is not possible where evaluate reads Rows"):
            evaluate(Rows(COLUMNS), "ap", **{name: value})
    # Ids of two rows would order the two rows of each block.
    two = {"qid": [1, 1, 2, 2], "label": [1, 0, 1, 0], "score": [3, 3, 5, 5]}
    for ids in (["a", "b"], ["a", "b", "c", "d"]):
        with pytest.raises(InputError, match="an array as ties is not possible where evaluate r"):
            evaluate(Rows(two), "ap", ties=ids)
    with pytest.raises(InputError, match="out is only for Rows"):
        evaluate([1], [1], "ap", groups=[1], out="values.parquet")
    with pytest.raises(InputTypeError, match="number 1 is 3"):
        evaluate(Rows([COLUMNS, 3]), "ap")
    with pytest.raises(InputError, match="no column 'nothing'"):
        evaluate(Rows(COLUMNS, score="nothing"), "ap")
    with pytest.raises(InputTypeError, match="a column is 3: expected an array"):
        evaluate(Rows({"qid": 3}), "ap")
    with pytest.raises(InputError, match="columns of different lengths"):
        evaluate(Rows(COLUMNS | {"label": [1]}), "ap")
    with pytest.raises(InputError, match="persistence is not an option"):
        evaluate(Rows(COLUMNS), "ap", persistence=0.5)


def test_progress(capsys):
    evaluate(Rows(COLUMNS, verbose=1), "ap")
    assert "row" in capsys.readouterr().err
    evaluate(Rows(COLUMNS), "ap")
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@times(0.5)
@given(st.lists(st.integers(0, len(COLUMNS["qid"])), max_size=20), st.integers(10, 1000))
def test_cuts_change_nothing(places, chunk_rows):
    frames = cut(COLUMNS, *sorted(places))
    same(evaluate(Rows(frames, chunk_rows=chunk_rows), NAMES))


@pytest.mark.slow
@pytest.mark.parametrize("chunk_rows", thinned([100, 20, 10_000], parts=2))
def test_processes_change_nothing(chunk_rows, tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(COLUMNS), path, row_group_size=90)
    for source in (COLUMNS, cut(COLUMNS, 10, 11, 300), path):
        rows = Rows(source, chunk_rows=chunk_rows, n_jobs=3)
        # Threads are processes enough.
        with joblib.parallel_backend("threading"):
            result = evaluate(rows, NAMES)
        same(result)
        assert (result.n_queries, result.n_rows) == (60, len(COLUMNS["qid"]))


@pytest.mark.slow
def test_real_processes(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(COLUMNS), path, row_group_size=90)
    out = tmp_path / "values.parquet"
    result = evaluate(Rows(path, chunk_rows=100, n_jobs=2), NAMES, out=out)
    same(result)
    assert pd.read_parquet(out)["qid"].tolist() == list(dict.fromkeys(COLUMNS["qid"].tolist()))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("chunk_rows", [3, 10_000])
@pytest.mark.parametrize("text_ids", [False, True])
def test_a_query_that_comes_back_is_an_error(tmp_path, n_jobs, chunk_rows, text_ids):
    columns = make_rows(20, text_ids=text_ids)
    moved = {name: np.append(values, values[:1]) for name, values in columns.items()}
    first = columns["qid"].tolist()[0]
    out = tmp_path / "values.parquet"
    said = f"rows of query {first!r} do not stand together"
    with joblib.parallel_backend("threading"), pytest.raises(InputError, match=said):
        evaluate(Rows(moved, chunk_rows=chunk_rows, n_jobs=n_jobs), "ap", out=out)
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_a_source_that_breaks_off_leaves_nothing(tmp_path):
    def broken():
        yield COLUMNS
        raise ConnectionError("the line is dead")

    out = tmp_path / "values.parquet"
    out.write_text("old")
    with pytest.raises(ConnectionError, match="the line is dead"):
        evaluate(Rows(broken), "ap", out=out)
    assert out.read_text() == "old"
    assert os.listdir(tmp_path) == ["values.parquet"]
