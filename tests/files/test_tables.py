"""Damaged Parquet and Arrow files, and small ones that say that they are large."""

import contextlib

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from skfilterrank._files import packings
from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import Rows, read_run
from skfilterrank.metrics import evaluate
from thinned import thinned

N = 300
TABLE = pa.table(
    {
        "qid": ["a"] * N + ["b"] * N,
        "docno": [str(i) for i in range(2 * N)],
        "label": [1, 0] * N,
        "score": np.arange(2.0 * N),
    }
)


def arrow(new, **options):
    sink = pa.BufferOutputStream()
    with new(sink, TABLE.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(TABLE, max_chunksize=200)
    return sink.getvalue().to_pybytes()


def parquet_of(table, **options):
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


FILES = {
    "file.arrow": lambda: arrow(pa.ipc.new_file),
    "packed.arrow": lambda: arrow(pa.ipc.new_file, compression="lz4"),
    "stream.arrow": lambda: arrow(pa.ipc.new_stream),
    "plain.parquet": lambda: parquet_of(TABLE),
    "packed.parquet": lambda: parquet_of(TABLE, compression="zstd", row_group_size=100),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_raise_errors_of_input(name, tmp_path):
    whole, path = FILES[name](), tmp_path / name
    rng = np.random.default_rng(7)
    path.write_bytes(whole[:-100])
    with pytest.raises(FileFormatError, match=f"{name}: .*damaged"):
        evaluate(Rows(path), "ap")
    n_errors, times = 0, thinned(range(30))
    for _ in times:
        damaged = np.frombuffer(whole, dtype=np.uint8).copy()
        damaged[rng.integers(0, len(whole), 3)] = rng.integers(0, 256, 3)
        path.write_bytes(damaged.tobytes()[: rng.integers(1, 8 * len(whole))])
        for read in (lambda: evaluate(Rows(path), "ap"), lambda: read_run(path)):
            # Where bytes of values changed, ids and scores are others, and any may be refused.
            with contextlib.suppress(InputError):
                read()
                n_errors -= 1
            n_errors += 1
    assert n_errors > len(times) / 3


def test_few_bytes_that_say_they_are_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(packings, "_MOST_BYTES", 1 << 20)
    columns = {"qid": ["q"], "docno": ["d"], "score": [1.0]}
    rows = pa.table({name: pa.array(value * 100_000) for name, value in columns.items()})
    (tmp_path / "run.parquet").write_bytes(parquet_of(rows))
    with pytest.raises(
        FileFormatError, match=r"run\.parquet: the file holds 100,000 rows of 3 col"
    ):
        read_run(tmp_path / "run.parquet")
