"""A pass over rows is the same in any number of processes and blocks."""

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
from skfilterrank.exceptions import (
    InputError,
)
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate

pytestmark = pytest.mark.slow


@times(0.5)
@given(st.lists(st.integers(0, len(COLUMNS["qid"])), max_size=20), st.integers(10, 1000))
def test_cuts_change_nothing(places, chunk_rows):
    frames = cut(COLUMNS, *sorted(places))
    same(evaluate(Rows(frames, chunk_rows=chunk_rows), NAMES))


@pytest.mark.parametrize("chunk_rows", [20, 100, 10_000])
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


def test_real_processes(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(COLUMNS), path, row_group_size=90)
    out = tmp_path / "values.parquet"
    result = evaluate(Rows(path, chunk_rows=100, n_jobs=2), NAMES, out=out)
    same(result)
    assert pd.read_parquet(out)["qid"].tolist() == list(dict.fromkeys(COLUMNS["qid"].tolist()))


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("chunk_rows", [3, 10_000])
@pytest.mark.parametrize("text_ids", [False, True])
def test_a_query_that_comes_back_is_an_error(tmp_path, n_jobs, chunk_rows, text_ids):
    columns = make_rows(20, text_ids=text_ids)
    moved = {name: np.append(values, values[:1]) for name, values in columns.items()}
    first = columns["qid"].tolist()[0]
    out = tmp_path / "values.parquet"
    said = f"rows of query {first!r} do not stand together"
    with joblib.parallel_backend("threading"), pytest.raises(InputError, match=said) as error:
        evaluate(Rows(moved, chunk_rows=chunk_rows, n_jobs=n_jobs), "ap", out=out)
    assert "scattered='partition'" in str(error.value)
    assert os.listdir(tmp_path) == []


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
