"""Tables in memory, of whatever library, as blocks of rows."""

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import as_column, as_numbers
from skfilterrank._core.checks import check_scores
from skfilterrank._core.queries import query_runs
from skfilterrank._core.row_blocks import Block
from skfilterrank.exceptions import (
    InputError,
    InputTypeError,
    MissingPackageError,
    brief,
    brief_list,
)


class Wanted(NamedTuple):
    """The columns to read: of queries, of labels, and of scores and others by what they serve."""

    query: str
    label: str | None
    scores: Mapping[Any, str]
    others: Mapping[Any, str]

    @property
    def names(self) -> list[str]:
        """All of them, each once."""
        labels = [] if self.label is None else [self.label]
        every = [self.query, *labels, *self.scores.values(), *self.others.values()]
        return list(dict.fromkeys(every))


def import_pyarrow(what: str):
    """The package pyarrow, which `what` needs."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackageError(
            f"{what} needs pyarrow, which is not installed; "
            'pip install "skfilterrank[parquet]", or pass NumPy arrays or pandas frames.'
        ) from error
    return pyarrow


def is_frame(data) -> bool:
    """Whether data is a table in memory."""
    return isinstance(data, pd.DataFrame | Mapping) or hasattr(data, "__arrow_c_stream__")


def slices_of(frame, n_rows: int):
    """A table in parts of at most so many rows."""
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
    """A column of which slices are rows."""
    if not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
        raise InputTypeError(
            f"rows must be frames, or dicts of columns, and a column is {brief(values)}: expected "
            "an array or a list."
        )
    return values.array if isinstance(values, pd.Series | pd.Index) else values


def _arrow_slices(frame, n_rows):
    """Record batches of what offers a stream of Arrow."""
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
    """The wanted columns of a table, checked; `where` says in messages what it is."""

    def named(name):
        return f"{where}: column {brief(name)}"

    ids, sizes = query_runs(_column(frame, wanted.query, where), named(wanted.query))
    n_rows = int(sizes.sum())
    columns: dict[Any, np.ndarray] = {}
    if wanted.label is not None:
        columns["label"] = _plain(_column(frame, wanted.label, where), named(wanted.label))
    for key, name in wanted.scores.items():
        columns[key] = check_scores(_column(frame, name, where), name=named(name))
    for key, name in wanted.others.items():
        columns[key] = _plain(_column(frame, name, where), named(name))
    for key, values in columns.items():
        if len(values) != n_rows:
            raise InputError(
                f"{where} has {n_rows} query ids but {len(values)} entries of {brief(key)}."
            )
    return Block(ids, sizes, columns)


def _plain(values, name):
    """Numbers, or objects where they are none."""
    column = as_column(values, name)
    numbers = as_numbers(column, name)
    return np.asarray(column, dtype=object) if numbers is None else numbers


def _column(frame, name, where):
    """A column by its name."""
    if isinstance(frame, pd.DataFrame) and name not in frame.columns and name in frame.index.names:
        return frame.index.get_level_values(name)
    names = list(column_names(frame))
    if names.count(name) != 1:
        said = "several columns" if name in names else "no column"
        raise InputError(
            f"{where} has {said} {brief(name)}: say which hold queries, labels and scores by "
            f"query=, label= and score=. Its columns are {brief_list(names)}."
        )
    if isinstance(frame, Mapping | pd.DataFrame):
        return frame[name]
    # What is not imported cannot have made it.
    column = frame.column(name) if "pyarrow" in sys.modules else frame[name]
    return plain_texts(column)


def plain_texts(column):
    """An Arrow column without its dictionary, which may be another in the next file."""
    pyarrow = sys.modules["pyarrow"]
    if not pyarrow.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    if pyarrow.types.is_string_view(values.type):
        # That of polars' categories, from which pyarrow takes nothing; the oldest casts no such.
        try:
            values = values.cast(pyarrow.large_string())
        except pyarrow.ArrowNotImplementedError:
            values = pyarrow.array(values.to_pylist(), pyarrow.large_string())
    return values.take(column.indices)


def column_names(frame) -> list:
    """Names of the columns of a table."""
    if isinstance(frame, Mapping):
        return list(frame)
    if isinstance(frame, pd.DataFrame):
        return list(frame.columns)
    return list(frame.schema.names)
