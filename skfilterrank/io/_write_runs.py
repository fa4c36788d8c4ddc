"""Many runs into one folder of Parquet files, documents by number."""

import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skfilterrank._core.results import Result
from skfilterrank._files.files import check_target, folder_replacing_nothing
from skfilterrank._files.named_runs import errors_of, named_runs
from skfilterrank._files.run_folders import DOCUMENTS, KEY, RUNS, VERSION
from skfilterrank._files.tables import check_pyarrow
from skfilterrank._files.text_columns import arrow_texts
from skfilterrank._files.tokens import Tokens
from skfilterrank.io._trec.read import run_rows

# So many rows are in memory before their documents get numbers, or as many as there are documents.
_BATCH_ROWS = 1 << 22
_GROUP_ROWS = 1 << 20
# Not zstd, of which scores take twice as long to read.
_COMPRESSION = "lz4"


@dataclass(frozen=True, eq=False, repr=False)
class WrittenRuns(Result):
    """What `write_runs` did.

    Attributes
    ----------
    runs : int
        Runs in the folder.
    rows : int
        Their rows.
    documents : int
        Different documents.
    """

    runs: int
    rows: int
    documents: int


def write_runs(path, runs, *, verbose: int = 0) -> WrittenRuns:
    r"""Write runs into a folder of Parquet files, which is read many times as fast as text.

    Parameters
    ----------
    path : str or PathLike
        The folder to make; there must be nothing yet. It is made beside, and gets its name when
        all is written.
    runs : path, list of paths, or dict {name: path, open file, data frame or other run}
        The runs, as `read_runs` takes them.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    counts : WrittenRuns
        How many runs, rows and documents were written.

    Raises
    ------
    ValueError, FileFormatError
        As `read_runs`; there is something at `path`; a document is twice in a topic.
    TypeError
        `path` is no path.
    ImportError
        Without pyarrow.

    See Also
    --------
    read_runs : Read such a folder, or runs in any other form.
    skfilterrank.trec.evaluate_runs : Takes the folder as `runs`, and reads one run at a time.

    Notes
    -----
    Kept are names of runs, topics, documents, scores and the order of the rows, and where all rows
    of a run have one tag (the last column of TREC's format), the tag. Ranks and the second column
    of TREC's format are left out: nothing uses them beside scores. Measures of the folder are those
    of the runs themselves, to the last bit, by whatever `ties` and `precision`.

    "runs.parquet" has the columns "run", "qid", "document" (int32) and "score" (float64) in row
    groups of one run each; "documents.parquet" has the column "docno": document i is its row i,
    counted from 0. Other programs read both; in SQL they are joined by row number.

    In memory there are the distinct documents, and some runs with at most as many rows as there are
    documents or four million. Measuring such a folder holds one run at a time in each process.

    Examples
    --------
    >>> import io, os, tempfile
    >>> from skfilterrank.io import read_runs, write_runs
    >>> runs = {"bm25": io.StringIO("1 Q0 d7 1 12.5 x\n1 Q0 d2 2 11 x\n")}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "runs.parquet")
    ...     write_runs(path, runs)
    ...     read_runs(path)["bm25"]
    <WrittenRuns: runs 1, rows 2, documents 2>
      qid docno  score
    0   1    d7   12.5
    1   1    d2   11.0
    """
    check_target(path, "write_runs(path, runs)", may_be_open=False)
    check_pyarrow(os.fspath(path), "writing")
    named = named_runs(runs)
    with folder_replacing_nothing(path) as folder:
        return _Writer(folder).write(_shown(named, verbose))


def _shown(named, verbose):
    """Names and runs, behind a progress bar where it is wanted."""
    if not verbose:
        return named.items()
    from tqdm import tqdm

    return tqdm(named.items(), unit="run", leave=False)


class _Writer:
    """Writes runs with numbers of documents as they come, then with those in order."""

    def __init__(self, folder):
        self._folder = folder
        self._entries: list[dict] = []
        self._n_groups = 0

    def write(self, named) -> WrittenRuns:
        """Write runs, and their documents."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._known = pa.array([], type=pa.large_string())
        first = os.path.join(self._folder, "first.parquet")
        with pq.ParquetWriter(first, _schema(), **_HOW) as writer:
            for batch in _batches(named, lambda: len(self._known)):
                filled = [rows for _, rows in batch if len(rows.codes)]
                chunks = iter(())
                if filled:
                    texts = [_texts(rows.docnos) for rows in filled]
                    numbered = pa.chunked_array([self._known, *texts]).dictionary_encode()
                    self._known = numbered.chunk(numbered.num_chunks - 1).dictionary
                    # Where nothing is known yet, there is no chunk of it.
                    chunks = iter(numbered.chunks[-len(filled) :])
                for name, rows in batch:
                    if len(rows.codes):
                        self._write_rows(writer, name, rows, next(chunks).indices)
                    self._add_entry(name, rows)
        return self._in_order(first, self._known)

    def _write_rows(self, writer, name, rows, numbers):
        """Write the rows of a run."""
        import pyarrow as pa

        n_rows = len(rows.codes)
        table = pa.table(
            {
                "run": pa.DictionaryArray.from_arrays(np.zeros(n_rows, dtype=np.int32), [name]),
                "qid": pa.DictionaryArray.from_arrays(
                    rows.codes.astype(np.int32), pa.array(rows.topics)
                ),
                "document": numbers.cast(pa.int32()),
                "score": rows.values,
            },
            schema=_schema(),
        )
        writer.write_table(table, row_group_size=_GROUP_ROWS)

    def _add_entry(self, name, rows):
        """Note where the rows of a run stand."""
        n_rows, begin = len(rows.codes), self._n_groups
        self._n_groups += -(-n_rows // _GROUP_ROWS)
        self._entries.append(
            {
                "name": name,
                "tag": rows.name,
                "n_rows": n_rows,
                "row_groups": [begin, self._n_groups],
            }
        )

    def _in_order(self, first, known) -> WrittenRuns:
        """Write documents in order, and runs with numbers in this order."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        order = pc.sort_indices(known)
        numbers = np.empty(len(known), dtype=np.int32)
        numbers[order.to_numpy()] = np.arange(len(known), dtype=np.int32)
        said = {"version": VERSION, "id": secrets.token_hex(16)}
        schema = pa.schema({"docno": pa.large_string()}, metadata=_metadata(said))
        with pq.ParquetWriter(
            os.path.join(self._folder, DOCUMENTS), schema, compression="zstd", use_dictionary=False
        ) as writer:
            for begin in range(0, len(known), _GROUP_ROWS):
                part = known.take(order[begin : begin + _GROUP_ROWS])
                writer.write_table(pa.table([part], schema=schema))

        path = os.path.join(self._folder, RUNS)
        opened = pq.ParquetFile(first, read_dictionary=["run", "qid"])
        schema = _schema(_metadata(said | {"runs": self._entries}))
        with opened, pq.ParquetWriter(path, schema, **_HOW) as writer:
            for group in range(opened.num_row_groups):
                table = opened.read_row_group(group, use_threads=False)
                table = table.set_column(
                    table.column_names.index("document"),
                    "document",
                    pa.array(numbers[table["document"].to_numpy()]),
                )
                writer.write_table(table.cast(schema), row_group_size=_GROUP_ROWS)
        os.unlink(first)
        for name in (RUNS, DOCUMENTS):
            with open(os.path.join(self._folder, name), "rb") as handle:
                os.fsync(handle.fileno())
        n_rows = sum(entry["n_rows"] for entry in self._entries)
        return WrittenRuns(len(self._entries), n_rows, len(known))


def _texts(docnos):
    """Ids of documents as a pyarrow array; those of another folder have other numbers."""
    return arrow_texts(docnos if isinstance(docnos, Tokens) else Tokens.from_texts(docnos.tolist()))


def _batches(named, n_known) -> Iterator[list]:
    """Yield names and rows of some runs at a time: as many as make it pay to look up all texts."""
    batch, n_rows = [], 0
    for name, run in named:
        with errors_of(name, run):
            rows = run_rows(run)
        batch.append((name, rows))
        n_rows += len(rows.codes)
        if n_rows >= max(_BATCH_ROWS, n_known()):
            yield batch
            batch, n_rows = [], 0
    if batch:
        yield batch


_HOW = {
    "compression": _COMPRESSION,
    "use_dictionary": ["run", "qid"],
    "column_encoding": {"score": "BYTE_STREAM_SPLIT"},
}


def _schema(metadata=None):
    """Columns of the runs."""
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    columns = {"run": text, "qid": text, "document": pa.int32(), "score": pa.float64()}
    return pa.schema(columns, metadata=metadata)


def _metadata(said):
    """What is said of a file, as its metadata hold it."""
    return {KEY: json.dumps(said).encode()}
