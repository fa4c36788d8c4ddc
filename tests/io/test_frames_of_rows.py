"""Rows come as any table, and are those of arrays; ids that are missing or of several types."""

import sys
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rows_of_queries import COLUMNS, IN_MEMORY, NAMES, arrays, cut, make_rows, same, written
from skfilterrank import metrics
from skfilterrank.exceptions import InputError, InputTypeError, MissingPackageError
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate
from thinned import thinned

# Not among the oldest packages.
pl = pytest.importorskip("polars")


def test_other_names_of_columns():
    columns = {"q": COLUMNS["qid"], "y": COLUMNS["label"], "s": COLUMNS["score"]}
    same(evaluate(Rows(columns, query="q", label="y", score="s"), NAMES))


def test_labels_that_are_words():
    gains = {"bad": -1, "good": 1}
    words = np.where(COLUMNS["label"] < 0, "bad", "good").astype(object)
    columns = COLUMNS | {"label": words}
    expected = metrics.evaluate(**arrays(columns), measures="ndcg_f", gains=gains).means
    same(evaluate(Rows(cut(columns, 70)), "ndcg_f", gains=gains), expected)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars"])
def test_missing_query_ids(kind):
    frame = pd.DataFrame(COLUMNS).astype({"qid": "Int64"})
    frame.loc[200, "qid"] = None
    source = {
        "pandas": frame,
        "pyarrow": pa.Table.from_pandas(frame),
        "polars": pl.from_pandas(frame),
    }[kind]
    with pytest.raises(InputError, match="'qid' has 1 missing id"):
        evaluate(Rows(source), "ap")


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table, pl.DataFrame])
def test_empty_query_ids(make):
    source = make({"qid": ["a", "", "", "b"], "label": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
    with pytest.raises(InputError, match="'qid' has 2 missing ids, the first at row 1: every row"):
        evaluate(Rows(source), "ap")


def test_ids_of_two_types():
    numbers, texts = make_rows(5), make_rows(5, text_ids=True)
    with pytest.raises(InputError, match="query ids are of different types"):
        evaluate(Rows([numbers, texts]), "ap")


def objects(*values):
    ids = np.empty(len(values), dtype=object)
    ids[:] = values
    return ids


# Ids in one table: the first, another query, and one that is or is not the first.
IDS = {
    "zero bytes": objects("a", "b", "a\0"),
    "zero bytes, bytes": objects(b"a", b"b", b"a\0"),
    "True and 1": objects(True, 2, 1),
    "1 and 1.0": objects(1, 2, 1.0),
    "1 and Decimal": objects(1, 2.5, Decimal(1)),
    "-0.0": np.array([-0.0, 1.0, 0.0]),
    "-0.0 and 0": objects(-0.0, 1.0, 0),
    "near 2**53": objects(2**53, 1, 2**53 + 1),
    "above 2**64": objects(2**70, 1, 2**70 + 1),
    "-1 and -2": objects(-1, 0, -2),
    "numbers of numpy": objects(np.int64(1), 2, np.float32(1)),
    "dates": objects(date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)),
    "tuples": objects((1, "a"), (2, "a"), (1.0, "a")),
    "datetime64": np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="M8[D]"),
    "uint64": np.array([2**63, 1, 2**63 + 1], dtype=np.uint64),
}

# Ids of two tables, of which a computer cannot say, or not without loss, whether they are equal.
UNLIKE = {
    "a and b'a'": (["a", "a"], [b"a", b"a"]),
    "a and b'a' in one": (objects("a", b"a"), objects("a", b"a")),
    "True and 1": ([True, True], [1, 1]),
    "1 and 1.0": ([1, 1], [1.0, 2.0]),
    "uint64 and int64": (np.array([2**63, 2**63], dtype=np.uint64), [-1, -1]),
    "units": (np.array([1, 1], dtype="M8[s]"), np.array([1, 1], dtype="M8[ms]")),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", IDS)
def test_equal_ids_are_one_query_as_in_memory(kind):
    columns = {"qid": IDS[kind], "label": [1, 0, 1], "score": [3, 2, 1]}
    names = {"label": "y_true", "score": "y_score", "qid": "groups"}
    in_memory = metrics.evaluate(
        **{names[name]: values for name, values in columns.items()}, measures="ap"
    ).per_query
    frames = [{name: values[i : i + 1] for name, values in columns.items()} for i in range(3)]
    together = [{name: np.asarray(values) for name, values in columns.items()}]
    if len(in_memory) == 3:
        found = evaluate(Rows(together), "ap")
        assert found.n_queries == 3
        same(found, in_memory.mean())
    else:
        for rows in (Rows(together), Rows(frames)):
            with pytest.raises(InputError, match="comes back"):
                evaluate(rows, "ap")


@pytest.mark.parametrize("kind", UNLIKE)
def test_ids_of_unlike_types_are_an_error(kind):
    frames = [{"qid": ids, "label": [1, 0], "score": [2, 1]} for ids in UNLIKE[kind]]
    with pytest.raises(InputError, match="of different types"):
        evaluate(Rows(frames), "ap")


KINDS = [
    *("Parquet", "folder", "files", "memory maps", "pandas", "index"),
    *("polars", "pyarrow", "dictionary", "batches", "reader", "generator", "function"),
    *("other endianness", "lists", "float32", "polars lazy", "polars categories", "dataset"),
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", thinned(KINDS, parts=2))
def test_sources(kind, tmp_path):
    source, two = written(tmp_path, kind), ["ndcg_f@10", "num_rel"]
    same(evaluate(Rows(source, chunk_rows=64), two), IN_MEMORY[two])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["generator", "reader"])
def test_what_is_read_once_says_so(kind, tmp_path):
    rows = Rows(written(tmp_path, kind))
    evaluate(rows, NAMES)
    with pytest.raises(InputError, match="rows can be read only once"):
        evaluate(rows, NAMES)


def test_pyarrow_is_named_where_it_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (
        lambda: Rows(tmp_path / "a.parquet"),
        lambda: evaluate(Rows(COLUMNS), "ap", out=tmp_path / "values.parquet"),
    ):
        with pytest.raises(MissingPackageError, match=r"skfilterrank\[parquet\]"):
            call()
    # Everything else goes without it.
    same(evaluate(Rows(pd.DataFrame(COLUMNS)), NAMES))


@pytest.mark.parametrize("source", [None, 3, np.zeros(3), pd.Series([1.0]), "", 4.5, dict])
def test_what_names_no_rows(source):
    with pytest.raises((InputTypeError, FileNotFoundError)):
        evaluate(Rows(source), "ap")
