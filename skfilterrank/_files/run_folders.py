"""Runs in a folder of two Parquet files, which number the documents and so are read at once.

"runs.parquet" has the columns run, qid (text), document (int32) and score, rows in the order of
the runs that were given, and no row group with rows of two runs. "documents.parquet" has the column
docno, sorted by bytes: document i is its row i, so that numbers are ordered as ids are.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.files import is_path, reason_of
from skfilterrank._files.tables import check_pyarrow
from skfilterrank._files.text_columns import arrow_texts, distinct_column, text_column
from skfilterrank._files.tokens import Tokens
from skfilterrank.exceptions import FileFormatError, InputError, brief

RUNS, DOCUMENTS = "runs.parquet", "documents.parquet"
VERSION = 1
# What the metadata of both files stand under.
KEY = b"skfilterrank"


@dataclass(frozen=True)
class StoredRun:
    """A run of a folder, not read yet."""

    folder: str
    name: str

    def to_pandas(self) -> pd.DataFrame:
        """Topic, document, score and tag of each row, in the order of the run."""
        rows = self.rows()
        columns = {
            "qid": distinct_column(rows.codes, rows.topics),
            "docno": text_column(Tokens.from_texts(rows.documents.tolist())),
            "score": rows.scores,
        }
        if rows.tag is not None:
            columns["run"] = rows.tag
        return pd.DataFrame(columns)

    def rows(self) -> "StoredRows":
        """The rows, documents by number."""
        return run_folder(self.folder).rows_of(self.name)


class StoredRows(NamedTuple):
    """Rows of a run: the topic of row i is topics[codes[i]]."""

    topics: list[str]
    codes: np.ndarray
    documents: "Documents"
    scores: np.ndarray
    tag: str | None


class Documents:
    """Documents of rows by their numbers in a folder; they are sorted and taken as tokens are."""

    __slots__ = ("folder", "numbers")

    def __init__(self, folder, numbers):
        self.folder, self.numbers = folder, numbers

    def __len__(self):
        return len(self.numbers)

    def take(self, rows) -> "Documents":
        """Documents of some rows (positions, slice or mask)."""
        return Documents(self.folder, self.numbers[rows])

    def sort_keys(self) -> list[np.ndarray]:
        """Keys for numpy.lexsort that sort by bytes, as the numbers do."""
        return [self.numbers]

    def tolist(self) -> list[str]:
        """The ids as a list of str."""
        distinct, codes = np.unique(self.numbers, return_inverse=True)
        return self.folder.texts_of(distinct)[codes].tolist()


class RunFolder:
    """The runs of a folder; what is read is read when it is asked for, a run at a time."""

    def __init__(self, path):
        check_pyarrow(os.path.join(path, RUNS))
        self.path = path
        self._runs, said = _opened(os.path.join(path, RUNS), read_dictionary=["qid"])
        self._documents, also = _opened(os.path.join(path, DOCUMENTS))
        self.id = said.get("id")
        if said.get("version") != VERSION or self.id is None:
            raise FileFormatError(
                f"the file is none that write_runs of this version wrote (version "
                f"{brief(said.get('version'))}, {VERSION} was expected); write it again.",
                os.path.join(path, RUNS),
            )
        if also.get("id") != self.id:
            raise FileFormatError(
                f"the documents are not those of {RUNS} beside it: both are written together, and "
                "must be copied together.",
                os.path.join(path, DOCUMENTS),
            )
        self._entries = {entry["name"]: entry for entry in said["runs"]}
        self.n_documents = self._documents.metadata.num_rows

    @property
    def names(self) -> list[str]:
        """Names of the runs, in their order."""
        return list(self._entries)

    def rows_of(self, name) -> StoredRows:
        """The rows of a run."""
        entry = self._entries[name]
        if not entry["n_rows"]:
            none = np.zeros(0, dtype=np.int32)
            return StoredRows([], none, Documents(self, none), np.zeros(0), entry["tag"])
        path = os.path.join(self.path, RUNS)
        with _errors_of(path):
            table = self._runs.read_row_groups(
                range(*entry["row_groups"]), ["qid", "document", "score"], use_threads=False
            )
            qids = table["qid"].unify_dictionaries()
            codes = np.concatenate([chunk.indices.to_numpy() for chunk in qids.chunks])
            topics = qids.chunk(0).dictionary.to_pylist()
            numbers, scores = table["document"].to_numpy(), table["score"].to_numpy()
        if (
            len(codes) != entry["n_rows"]
            or not len(codes)
            or not (numbers.min() >= 0 and numbers.max() < self.n_documents)
            or not scores.max() < np.inf
            or codes.dtype.kind != "i"
        ):
            raise FileFormatError(
                f"the rows of the run {brief(name)} are not those that were written; write the "
                "runs again.",
                path,
            )
        return StoredRows(topics, codes, Documents(self, numbers), scores, entry["tag"])

    def numbers_of(self, tokens: Tokens) -> np.ndarray:
        """Number of the document with each id, -1 where there is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = arrow_texts(tokens).dictionary_encode()
        numbers = np.full(len(wanted.dictionary), -1, dtype=np.int64)
        for first, texts in self._parts():
            found = pc.index_in(texts, value_set=wanted.dictionary)
            rows = np.flatnonzero(pc.is_valid(found).to_numpy(zero_copy_only=False))
            numbers[found.take(pa.array(rows)).to_numpy()] = first + rows
        return numbers[wanted.indices.to_numpy()]

    def texts_of(self, numbers: np.ndarray) -> np.ndarray:
        """Ids of documents by their numbers, which ascend."""
        parts = [np.zeros(0, dtype=object)]
        for first, texts in self._parts():
            begin, end = np.searchsorted(numbers, [first, first + len(texts)])
            if begin < end:
                parts.append(np.array(texts.take(numbers[begin:end] - first).to_pylist(), object))
        return np.concatenate(parts)

    def _parts(self) -> Iterator[tuple]:
        """Number of the first document, and the ids, of one row group after the other."""
        import pyarrow as pa

        first = 0
        for group in range(self._documents.num_row_groups):
            with _errors_of(os.path.join(self.path, DOCUMENTS)):
                column = self._documents.read_row_group(group, use_threads=False)["docno"]
                texts = column.cast(pa.large_string()).combine_chunks()
            yield first, texts
            first += len(texts)


def run_folder(path) -> RunFolder:
    """The runs of a folder, which is opened once."""
    path = os.path.abspath(path)
    found = os.stat(os.path.join(path, RUNS))
    return _folder(path, (found.st_mtime_ns, found.st_size, found.st_ino))


@lru_cache(maxsize=8)
def _folder(path, stamp):
    return RunFolder(path)


def is_run_folder(path) -> bool:
    """Whether a path where runs are wanted is a folder, which must then hold runs."""
    if not os.path.isdir(path):
        return False
    for name in (RUNS, DOCUMENTS):
        if not os.path.isfile(os.path.join(path, name)):
            raise InputError(
                f"{os.fsdecode(path)} is a folder without {name}: name the runs in it, or a folder "
                "that write_runs or the command convert made."
            )
    return True


def stored_runs(path) -> dict[str, StoredRun]:
    """The runs of a folder by their names."""
    folder = run_folder(path)
    return {name: StoredRun(folder.path, name) for name in folder.names}


def as_stored(source):
    """The run of a folder that holds one in place of the path of the folder."""
    if not (is_path(source) and is_run_folder(source)):
        return source
    runs = stored_runs(source)
    if len(runs) > 1:
        raise InputError(
            f"{os.fspath(source)} holds {len(runs):,} runs, where one was expected: pass it where "
            "several are taken, as runs=."
        )
    return next(iter(runs.values()))


def _opened(path, **how):
    """A Parquet file, and what its metadata say."""
    import pyarrow.parquet as pq

    with _errors_of(path):
        opened = pq.ParquetFile(path, **how)
        said = (opened.metadata.metadata or {}).get(KEY, b"{}")
        return opened, json.loads(said)


@contextmanager
def _errors_of(path):
    """Errors say that a file is damaged: damage can make pyarrow raise anything."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        raise FileFormatError(
            f"the file is not a Parquet file of runs, or is damaged ({reason_of(error)}); write "
            "the runs again.",
            path,
        ) from error
