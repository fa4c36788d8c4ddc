"""Queries that come back are noticed, and rows in any order are brought together."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rows_of_queries import COLUMNS, NAMES, cut, make_rows, same
from skfilterrank._files.closed_queries import ClosedQueries
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True), st.integers(1, 7))
def test_closed_queries_are_known_again(ids, step):
    closed = ClosedQueries()
    for begin in range(0, len(ids), step):
        closed.add(np.array(ids[begin : begin + step], dtype=np.int64))
    for query in ids:
        with pytest.raises(InputError, match=f"query {query} do not stand together"):
            closed.add(np.array([query], dtype=np.int64))
    other = ClosedQueries()
    other.add(np.array([each for each in (5, 6, 7) if each not in ids], dtype=np.int64))
    closed.merge(other)


def shuffled(columns, seed=0):
    order = np.random.default_rng(seed).permutation(len(columns["qid"]))
    return {name: values[order] for name, values in columns.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("text_ids", "n_jobs"), [(False, None), (True, 2)])
def test_scattered_rows_are_brought_together(tmp_path, text_ids, n_jobs):
    columns = make_rows(text_ids=text_ids)
    frames = cut(shuffled(columns), 100, 400)
    rows = Rows(frames, scattered="partition", folder=tmp_path, chunk_rows=70, n_jobs=n_jobs)
    same(evaluate(rows, NAMES))
    assert os.listdir(tmp_path) == []
    # A generator is written once, and read as often as wanted.
    same(evaluate(Rows(iter(frames), scattered="partition"), NAMES))


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, monkeypatch):
    import skfilterrank._files.closed_queries as partition

    class Full:
        def __init__(self, *args):
            open(*args).close()

        def __enter__(self):
            return self

        def __exit__(self, *args):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(partition, "open", Full, raising=False)
    rows = Rows(COLUMNS, scattered="partition", folder=tmp_path)
    with pytest.raises(OSError, match="No space left") as error:
        evaluate(rows, "ap")
    assert str(tmp_path) in error.value.filename
    assert "pass a folder with more space" in error.value.__notes__[0]
    assert os.listdir(tmp_path) == []
