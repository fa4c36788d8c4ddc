"""Rows come as anything that has columns, and are those of arrays."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from skfilterrank.exceptions import (
    InputError,
    InputTypeError,
    MissingPackageError,
)
from skfilterrank.stream import Rows, evaluate, threshold_curve
from stream_rows import COLUMNS, IN_MEMORY, NAMES, cut, same


def written(tmp_path, kind):
    """The same rows as a source of some kind."""
    table = pa.table(COLUMNS)
    frame = pd.DataFrame(COLUMNS)
    if kind == "Parquet":
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=101)
        return tmp_path / "a.parquet"
    if kind == "Arrow":
        with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=50)
        return str(tmp_path / "a.arrow")
    if kind == "Arrow stream":
        with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=50)
        return tmp_path / "a.arrow"
    if kind in ("folder", "files"):
        (tmp_path / "rows" / "day=1").mkdir(parents=True)
        frame[:300].to_parquet(tmp_path / "rows/0.parquet")
        frame[300:310].to_feather(tmp_path / "rows/1.feather")
        pl.from_pandas(frame[310:]).write_parquet(tmp_path / "rows" / "day=1" / "2.parquet")
        (tmp_path / "rows/_SUCCESS").touch()
        names = ("0.parquet", "1.feather", "day=1/2.parquet")
        folder = tmp_path / "rows"
        return folder if kind == "folder" else [folder / name for name in names]
    if kind == "memory maps":
        for name, values in COLUMNS.items():
            np.save(tmp_path / f"{name}.npy", values)
        return {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in COLUMNS}
    return {
        "pandas": frame,
        "index": frame.set_index("qid"),
        "polars": pl.from_pandas(frame),
        "polars lazy": pl.from_pandas(frame).lazy(),
        "polars categories": pl.from_pandas(frame.astype({"qid": str})).with_columns(
            pl.col("qid").cast(pl.Categorical)
        ),
        "dataset": dataset.dataset(table),
        "pyarrow": table,
        "dictionary": table.set_column(
            0, "qid", table["qid"].cast(pa.string()).dictionary_encode()
        ),
        "batches": table.to_batches(max_chunksize=37),
        "reader": table.to_reader(37),
        "generator": (pl.from_pandas(frame[i : i + 40]) for i in range(0, len(frame), 40)),
        "function": lambda: iter(cut(COLUMNS, 5, 500)),
        "other endianness": {name: v.astype(v.dtype.newbyteorder()) for name, v in COLUMNS.items()},
        "lists": {name: values.tolist() for name, values in COLUMNS.items()},
        "float32": pd.DataFrame(COLUMNS).astype({"label": "float32"}),
    }[kind]


KINDS = [
    *("Parquet", "Arrow", "Arrow stream", "folder", "files", "memory maps", "pandas", "index"),
    *("polars", "pyarrow", "dictionary", "batches", "reader", "generator", "function"),
    *("other endianness", "lists", "float32", "polars lazy", "polars categories", "dataset"),
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_sources(kind, tmp_path):
    source, two = written(tmp_path, kind), ["ndcg_f@10", "num_rel"]
    same(evaluate(Rows(source, chunk_rows=64), two), IN_MEMORY[two])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["generator", "reader"])
def test_what_is_read_once_says_so(kind, tmp_path):
    rows = Rows(written(tmp_path, kind))
    evaluate(rows, NAMES)
    with pytest.raises(InputError, match="rows can be read once only"):
        evaluate(rows, NAMES)


def test_pyarrow_is_named_where_it_is_missing(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (
        lambda: Rows(tmp_path / "a.parquet"),
        lambda: evaluate(Rows(COLUMNS), "ap", out=tmp_path / "values.parquet"),
    ):
        with pytest.raises(MissingPackageError, match=r"skfilterrank\[parquet\]"):
            call()
    # Everything else goes without it.
    same(evaluate(Rows(pd.DataFrame(COLUMNS)), NAMES))


def test_dask_is_not_needed(monkeypatch):
    for name in ("dask", "distributed", "dask.dataframe"):
        monkeypatch.setitem(sys.modules, name, None)
    rows = Rows({"qid": [1, 1], "label": [1, 0], "score": [2, 1]}, scattered="partition")
    assert (evaluate(rows, "ap").means["ap"], threshold_curve(rows).best_value) == (1.0, 1.0)


@pytest.mark.nightly
def test_dask_is_not_needed_from_the_start():
    code = (
        "import sys\n"
        "sys.modules |= dict.fromkeys(['dask', 'distributed', 'dask.dataframe'])\n"
        "from skfilterrank.stream import Rows, evaluate, threshold_curve\n"
        "rows = Rows({'qid': [1, 1], 'label': [1, 0], 'score': [2, 1]}, scattered='partition')\n"
        "print(evaluate(rows, 'ap').means['ap'], threshold_curve(rows).best_value)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1.0 1.0\n"


@pytest.mark.parametrize("source", [None, 3, np.zeros(3), pd.Series([1.0]), "", 4.5, dict])
def test_what_names_no_rows(source):
    with pytest.raises((InputTypeError, FileNotFoundError)):
        evaluate(Rows(source), "ap")
