"""Conversion of data frames of any library to blocks of rows."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.tables import import_pyarrow
from skfilterrank._lists.checks import as_column, as_numbers, check_scores
from skfilterrank._lists.queries import query_runs
from skfilterrank._lists.row_blocks import Block
from skfilterrank.exceptions import (
    InputError,
    InputTypeError,
    brief,
    brief_list,
)


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
    check_columns(column_names(frame), [name], where)
    if isinstance(frame, Mapping | pd.DataFrame):
        return frame[name]
    # If the package is not imported, the object cannot come from it.
    column = frame.column(name) if "pyarrow" in sys.modules else frame[name]
    return plain_texts(column)


def plain_texts(column):
    """Return an Arrow column without dictionary encoding, which may differ between files."""
    pyarrow = sys.modules["pyarrow"]
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


def column_names(frame) -> list:
    """Return the names of the columns of a table."""
    if isinstance(frame, Mapping):
        return list(frame)
    if isinstance(frame, pd.DataFrame):
        return list(frame.columns)
    return list(frame.schema.names)


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


class FramePart(NamedTuple):
    """Rows of a table in memory, from which another process makes a block."""

    frame: object
    wanted: Wanted
    where: str

    def blocks(self) -> Iterator[Block]:
        """Yield the rows as one block."""
        yield block_of(self.frame, self.wanted, self.where)


class Frames:
    """One or several tables, or the tables of an iterator or a function."""

    def __init__(self, source, chunk_rows: int):
        self._source, self._chunk_rows = source, chunk_rows
        self.n_rows = _length(source)
        self.is_repeatable = not _is_read_once(source)
        self._is_begun = False

    def pieces(self, wanted: Wanted) -> Iterator[FramePart]:
        """Yield slices of the tables."""
        if self._is_begun and not self.is_repeatable:
            raise InputError(
                "rows can be read only once, but must be read again: pass a list of frames, a "
                "file, or a function without arguments that returns an iterator of frames."
            )
        self._is_begun = True
        source = self._source
        if not is_frame(source) and callable(source):
            source = source()
        n_rows = 0
        for number, frame in enumerate([source] if is_frame(source) else _iterated(source)):
            if not is_frame(frame):
                raise InputTypeError(
                    f"rows must be frames, and number {number} is {brief(frame)}: expected tables "
                    "of pandas, polars or pyarrow, or dicts of columns."
                )
            for part in slices_of(frame, self._chunk_rows):
                where = "rows" if n_rows == 0 else f"rows from {n_rows:,}"
                yield FramePart(part, wanted, where)
                n_rows += _length(part) or 0


def _iterated(source):
    """Return the tables of an iterable."""
    if not isinstance(source, Iterable):
        raise InputTypeError(
            f"source is a function that returned {brief(source)}: expected an iterable of frames."
        )
    return source


def _is_read_once(source):
    """Tell whether a source can be read only once."""
    return isinstance(source, Iterator) or hasattr(source, "read_next_batch")


def _length(source):
    """Return the number of rows of a table; None if unknown."""
    if isinstance(source, Mapping):
        first = next(iter(source.values()), ())
        return len(first) if hasattr(first, "__len__") else None
    if isinstance(source, pd.DataFrame):
        return len(source)
    n_rows = getattr(source, "num_rows", getattr(source, "height", None))
    return n_rows if isinstance(n_rows, int) else None
