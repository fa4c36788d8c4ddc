"""Rows in data frames of any library and in Parquet files, as blocks."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import as_column, as_numbers, check_scores
from skfilterrank._files.files import check_name, reason_of
from skfilterrank._files.tables import import_pyarrow
from skfilterrank._lists.queries import query_runs
from skfilterrank._lists.row_blocks import Block
from skfilterrank.exceptions import (
    FileFormatError,
    InputError,
    InputTypeError,
    SkfilterrankError,
    brief,
    brief_list,
)

# Makes blocks of some rows, also in another process.
Piece = Callable[[], Iterable[Block]]


class Wanted(NamedTuple):
    """Columns to read: query ids, labels, scores, and other columns by key."""

    query: str
    label: str
    score: str
    others: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """Distinct names of all wanted columns."""
        return list(dict.fromkeys([self.query, self.label, self.score, *self.others.values()]))


def is_frame(data) -> bool:
    """Tell whether data is a table in memory."""
    return isinstance(data, pd.DataFrame | Mapping) or hasattr(data, "__arrow_c_stream__")


def slices_of(frame, n_rows: int):
    """Divide a table into parts of at most `n_rows` rows."""
    if isinstance(frame, Mapping):
        frame = {name: _sliceable(values) for name, values in frame.items()}
        lengths = {name: len(values) for name, values in frame.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"rows has columns of different lengths: {brief_list(lengths)}.")
        length = next(iter(lengths.values()), 0)
        for begin in range(0, length, n_rows):
            yield {name: values[begin : begin + n_rows] for name, values in frame.items()}
    elif isinstance(frame, pd.DataFrame):
        for begin in range(0, len(frame), n_rows):
            yield frame.iloc[begin : begin + n_rows]
    else:
        yield from _arrow_slices(frame, n_rows)


def _sliceable(values):
    """Return a column that can be sliced by rows."""
    if not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
        raise InputTypeError(
            f"rows must be frames, or dicts of columns, and a column is {brief(values)}: expected "
            "an array or a list."
        )
    return values.array if isinstance(values, pd.Series | pd.Index) else values


def _arrow_slices(frame, n_rows):
    """Yield record batches of an object with an Arrow stream."""
    pyarrow = import_pyarrow(f"reading rows of {type(frame).__name__}")
    try:
        reader = pyarrow.RecordBatchReader.from_stream(frame)
    except Exception as error:
        raise InputTypeError(
            f"rows is a {type(frame).__name__} that cannot be read as Arrow ({brief(str(error))})."
        ) from error
    with reader:
        for batch in reader:
            for begin in range(0, batch.num_rows, n_rows):
                yield batch.slice(begin, n_rows)


def block_of(frame, wanted: Wanted, where: str = "rows") -> Block:
    """Make a block of a table's wanted columns; `where` names the table in messages."""

    def named(name):
        return f"{where}: column {brief(name)}"

    ids, sizes = query_runs(_column(frame, wanted.query, where), named(wanted.query))
    n_rows = int(sizes.sum())
    columns: dict[Any, np.ndarray] = {
        "label": _plain(_column(frame, wanted.label, where), named(wanted.label)),
        "score": check_scores(_column(frame, wanted.score, where), name=named(wanted.score)),
    }
    for key, name in wanted.others.items():
        columns[key] = _plain(_column(frame, name, where), named(name))
    for key, values in columns.items():
        if len(values) != n_rows:
            raise InputError(
                f"{where} has {n_rows} query ids but {len(values)} entries of {brief(key)}."
            )
    return Block(ids, sizes, columns)


def _plain(values, name):
    """Return an array of numbers, or of objects if some entry is not a number."""
    column = as_column(values, name)
    numbers = as_numbers(column, name)
    return np.asarray(column, dtype=object) if numbers is None else numbers


def _column(frame, name, where):
    """Return a column by its name."""
    if isinstance(frame, pd.DataFrame) and name not in frame.columns and name in frame.index.names:
        return frame.index.get_level_values(name)
    is_plain = isinstance(frame, Mapping | pd.DataFrame)
    check_columns(frame if is_plain else frame.schema.names, [name], where)
    return frame[name] if is_plain else plain_texts(frame.column(name))


def plain_texts(column):
    """Return an Arrow column without dictionary encoding, which may differ between files."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    if pyarrow.types.is_string_view(values.type):
        # pyarrow does not accept categories of polars, and old polars cannot convert all of them.
        try:
            values = values.cast(pyarrow.large_string())
        except pyarrow.ArrowNotImplementedError:
            values = pyarrow.array(values.to_pylist(), pyarrow.large_string())
    return values.take(column.indices)


def check_columns(names, wanted, where: str, error=InputError, *of) -> None:
    """Raise if a wanted column is missing or occurs several times."""
    names = list(names)
    if wrong := [name for name in wanted if names.count(name) != 1]:
        found = "several columns" if wrong[0] in names else "no column"
        raise error(
            f"{where} has {found} {brief_list(wrong)}: name the columns of queries, labels and "
            f"scores by query=, label= and score=. Its columns are {brief_list(names)}.",
            *of,
        )


def read_only_once(how: str) -> InputError:
    """Return the error for a source that must be read several times."""
    return InputError(
        f"rows can be read only once, but must be read {how}: pass a list of frames, a file, or a "
        "function without arguments that returns an iterator of frames."
    )


class Frames:
    """One or several tables, or the tables of an iterator or a function."""

    def __init__(self, source, chunk_rows: int):
        self._source, self._chunk_rows = source, chunk_rows
        self.n_rows = _length(source) if is_frame(source) else None
        self.is_repeatable = not (
            isinstance(source, Iterator) or hasattr(source, "read_next_batch")
        )
        self._is_begun = False

    def pieces(self, wanted: Wanted) -> Iterator[Piece]:
        """Yield slices of the tables."""
        if self._is_begun and not self.is_repeatable:
            raise read_only_once("again")
        self._is_begun = True
        source = self._source
        if not is_frame(source) and callable(source):
            source = source()
        if not isinstance(source, Iterable) and not is_frame(source):
            raise InputTypeError(
                f"source is a function that returned {brief(source)}: expected an iterable of "
                "frames."
            )
        n_rows = 0
        for number, frame in enumerate([source] if is_frame(source) else source):
            if not is_frame(frame):
                raise InputTypeError(
                    f"rows must be frames, and number {number} is {brief(frame)}: expected tables "
                    "of pandas, polars or pyarrow, or dicts of columns."
                )
            for part in slices_of(frame, self._chunk_rows):
                where = "rows" if n_rows == 0 else f"rows from {n_rows:,}"
                yield partial(_blocks_of_frame, part, wanted, where)
                n_rows += _length(part)


def _blocks_of_frame(frame, wanted, where):
    return [block_of(frame, wanted, where)]


def _length(frame):
    """Return the number of rows of a table; None if unknown."""
    first = next(iter(frame.values()), ()) if isinstance(frame, Mapping) else frame
    return len(first) if hasattr(first, "__len__") else None


_PARQUET = (".parquet", ".pq")


def _blocks_of_file(path, groups, n_before, wanted, chunk_rows):
    """Yield the rows of some row groups of a Parquet file."""
    for batch in _batches(path, groups, wanted.names, chunk_rows) if groups else ():
        yield block_of(batch, wanted, f"{path}, rows from {n_before:,}")
        n_before += batch.num_rows


def _batches(path, groups, names, chunk_rows):
    with _opened(path) as file:
        for batch in file.iter_batches(chunk_rows, row_groups=groups, columns=names):
            batch.validate(full=True)  # pyarrow can crash on inconsistent data
            yield batch


@contextmanager
def _opened(path):
    """Open a Parquet file, and name it in errors of pyarrow, which can be of any type."""
    from pyarrow import parquet

    try:
        yield parquet.ParquetFile(path, buffer_size=1 << 20)
    except Exception as error:
        # pyarrow raises OSError itself, without errno.
        if isinstance(error, SkfilterrankError) or getattr(error, "errno", None) is not None:
            raise
        raise FileFormatError(
            "the file is not a Parquet file, or is damaged or ends early "
            f"({reason_of(error)}). For other files, pass an iterator of another library, such as "
            "Rows(lambda: pandas.read_csv(path, chunksize=10**6)).",
            path,
        ) from error


class Files:
    """Several files with the same columns.

    Parameters
    ----------
    paths : list of path
        Files, and folders of files; the files of a folder are read in the order of their names.
    """

    def __init__(self, paths, chunk_rows: int):
        import_pyarrow("reading Parquet files")
        for path in paths:
            check_name(path)
        self._named = [os.path.realpath(os.fsdecode(path)) for path in paths]
        self._paths = [file for path in paths for file in _files_in(os.fspath(path))]
        self._chunk_rows = chunk_rows
        self.n_rows: int | None = None

    def holds(self, path) -> bool:
        """Tell whether a path is one of the given files, or is in one of the given folders."""
        target = os.path.realpath(os.fsdecode(path))
        return any(os.path.commonpath([each, target]) == each for each in self._named)

    def pieces(self, wanted: Wanted) -> Iterator[Piece]:
        """Yield parts of about `chunk_rows` rows, joined from row groups."""
        types: dict = {}
        sizes_of = []
        for path in self._paths:
            with _opened(path) as file:
                schema = file.schema_arrow
                check_columns(schema.names, wanted.names, "the file", FileFormatError, path)
                for name in wanted.names:
                    kind = _type_of(schema.field(name).type)
                    if kind != types.setdefault(name, kind):
                        raise FileFormatError(
                            f"column {brief(name)} holds {kind}, but {types[name]} in "
                            f"{self._paths[0]}: write one type in all files.",
                            path,
                        )
                places = range(file.num_row_groups)
                sizes = [file.metadata.row_group(place).num_rows for place in places]
            sizes_of.append((path, sizes))
        self.n_rows = sum(sum(sizes) for _, sizes in sizes_of) or None
        for path, sizes in sizes_of:
            groups: list[int] = []
            n_before = n_rows = 0
            for place, size in enumerate(sizes):
                n_rows += size
                groups += [place] * (size > 0)
                if n_rows >= self._chunk_rows or place == len(sizes) - 1:
                    yield partial(_blocks_of_file, path, groups, n_before, wanted, self._chunk_rows)
                    groups, n_before, n_rows = [], n_before + n_rows, 0


def _files_in(path):
    """List a file, or all files of a folder and its subfolders."""
    if not os.path.isdir(path):
        return [path]
    found = sorted(
        str(each)
        for each in Path(path).rglob("*")
        if each.is_file() and not any(map(_is_hidden, each.relative_to(path).parts))
    )
    other = [each for each in found if not each.lower().endswith(_PARQUET)]
    if other or not found:
        held = f"it holds {brief_list(other)} too" if other else "it holds none"
        raise InputError(
            f"rows is the folder {brief(path)}, and all files of a folder are read, but {held}: "
            f"expected names that end in {' or '.join(_PARQUET)}."
        )
    return found


def _is_hidden(name):
    """Tell whether query engines ignore a file or folder, such as markers and uncommitted files.

    As in Spark, a folder ``_column=value`` is a partition, and its rows are read.
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _type_of(kind):
    """Return the kind of a column type, on which files must agree; widths of numbers may differ."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_boolean(kind):
        return "whole numbers"
    if types.is_floating(kind):
        return "numbers with a fraction"
    if types.is_string(kind) or types.is_large_string(kind) or "string" in str(kind):
        return "text"
    return str(kind)
