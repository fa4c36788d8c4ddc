"""Whatever rows come as, as parts that are read one after the other."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import is_dask
from skfilterrank._core.row_blocks import Block
from skfilterrank._dask.frames import is_bag
from skfilterrank._files.files import is_path
from skfilterrank.exceptions import InputError, InputTypeError, brief
from skfilterrank.stream._cluster import DaskPartitions
from skfilterrank.stream._files_of_rows import Files
from skfilterrank.stream._frames import Wanted, block_of, is_frame, slices_of


class FramePart(NamedTuple):
    """Rows of a table in memory, which another process makes a block of."""

    frame: object
    wanted: Wanted
    where: str

    def blocks(self) -> Iterator[Block]:
        """They are one block."""
        yield block_of(self.frame, self.wanted, self.where)


class Frames:
    """Tables one after the other: one, several, or as many as an iterator or a function makes."""

    def __init__(self, source, chunk_rows: int):
        self._source, self._chunk_rows = source, chunk_rows
        self.n_rows = _length(source)
        self.is_repeatable = not _is_read_once(source)
        self._is_begun = False

    def pieces(self, wanted: Wanted) -> Iterator[FramePart]:
        """Slices of the tables."""
        if self._is_begun and not self.is_repeatable:
            raise InputError(
                "rows can be read once only, and are to be read again: pass a list of frames, a "
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


def source_of(source, chunk_rows: int) -> Files | Frames | DaskPartitions:
    """The parts of whatever names rows."""
    if is_dask(source) or is_bag(source):
        return DaskPartitions(source)
    if is_path(source):
        return Files([source], chunk_rows)
    if not is_frame(source):
        source = _batches_of(source)
    if isinstance(source, list | tuple) and source and all(map(is_path, source)):
        return Files(source, chunk_rows)
    is_iterable = isinstance(source, Iterable) and not isinstance(
        source, np.ndarray | pd.Series | pd.Index | str | bytes
    )
    is_function = callable(source) and not isinstance(source, type)
    is_other = hasattr(source, "read") or hasattr(source, "__dask_graph__")
    if is_other or not (is_frame(source) or is_iterable or is_function):
        raise InputTypeError(
            f"source must name rows, got {brief(source)}: expected a Parquet or Arrow file or "
            "folder, a list of files, a frame of pandas, polars, pyarrow or Dask, a dict of "
            "columns, an iterable of frames, or a function that returns one."
        )
    return Frames(source, chunk_rows)


def _batches_of(source):
    """What yields the frames of a query of polars or a dataset of pyarrow; others as they are."""
    for name in ("collect_batches", "to_batches"):
        if hasattr(source, name):
            return getattr(source, name)
    return source


def _iterated(source):
    """The tables of an iterable."""
    if not isinstance(source, Iterable):
        raise InputTypeError(
            f"source is a function that returned {brief(source)}: expected an iterable of frames."
        )
    return source


def _is_read_once(source):
    """Whether a source is used up by reading it."""
    return isinstance(source, Iterator) or hasattr(source, "read_next_batch")


def _length(source):
    """Number of rows, where a table knows it."""
    if isinstance(source, Mapping):
        first = next(iter(source.values()), ())
        return len(first) if hasattr(first, "__len__") else None
    if isinstance(source, pd.DataFrame):
        return len(source)
    n_rows = getattr(source, "num_rows", getattr(source, "height", None))
    return n_rows if isinstance(n_rows, int) else None


def folder_for(path) -> str | None:
    """A folder for temporary files, checked; None leaves it to the system."""
    if path is None:
        return None
    if not is_path(path):
        raise InputTypeError(f"folder must be a path, got {brief(path)}.")
    if not os.path.isdir(path):
        raise InputError(f"folder is {brief(os.fspath(path))}, which is not a folder: make it.")
    return os.fspath(path)
