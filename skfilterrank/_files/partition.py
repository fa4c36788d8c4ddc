"""Rows in any order, brought together by query in temporary files."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from skfilterrank._files.closed_queries import keys_of
from skfilterrank._files.files import temporary_folder
from skfilterrank._files.frames_of_rows import Wanted
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.row_blocks import Block, check_one_type

# So many parts of 1e9 rows of three columns hold 100 MB each.
_N_PARTS = 256
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Part(NamedTuple):
    """The rows of some queries in a temporary file."""

    path: str
    keys: tuple

    def blocks(self) -> Iterator[Block]:
        """Yield all of its rows, query by query, each in the order in which it came."""
        pieces: list[list] = [[] for _ in range(1 + len(self.keys))]
        with open(self.path, "rb") as handle:
            end = os.path.getsize(self.path)
            while handle.tell() < end:
                for column in pieces:
                    # Labels may be texts.
                    column.append(np.load(handle, allow_pickle=True))
        ids, *columns = (np.concatenate(column) for column in pieces)
        index = GroupIndex.from_groups(ids)
        order = index.row_order()
        in_order = {key: values[order] for key, values in zip(self.keys, columns)}
        yield Block(index.query_ids, index.sizes, in_order)


class Parts:
    """All temporary files."""

    is_repeatable = True
    looks_for_queries = False

    def __init__(self, parts, n_rows):
        self._parts, self.n_rows = parts, n_rows

    def pieces(self, wanted: Wanted) -> Iterator[Part]:
        """Yield one for each file."""
        return iter(self._parts)


@contextmanager
def partitioned(source, wanted: Wanted, folder: str | None) -> Iterator[Parts]:
    """Write rows to files by a hash of their queries, which go when the block ends."""
    with temporary_folder(folder) as place:
        try:
            yield _written(source, wanted, place)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                error.add_note(
                    f"The rows of queries were brought together in {place}, which is removed: "
                    "give a folder with more space, Rows(..., folder=...)."
                )
            raise


def _written(source, wanted, place):
    """Write the rows to files of the folder."""
    paths: dict[int, str] = {}
    keys: tuple = ()
    first_ids, n_rows = None, 0
    for piece in source.pieces(wanted):
        for block in piece.blocks():
            if not len(block.ids):
                continue
            check_one_type(first_ids if n_rows else block.ids, block.ids)
            first_ids = block.ids[:1]
            keys = tuple(block.columns)
            n_rows += block.n_rows
            # Multiplying spreads ids that are near each other.
            with np.errstate(over="ignore"):
                part = keys_of(block.ids) * _MULTIPLIER >> np.uint64(56)
            ids = np.repeat(_for_a_file(block.ids), block.sizes)
            of_row = np.repeat(part.astype(np.uint8), block.sizes)
            order = np.argsort(of_row, kind="stable")
            ends = np.cumsum(np.bincount(of_row, minlength=_N_PARTS))
            for number in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
                rows = order[(ends[number - 1] if number else 0) : ends[number]]
                path = paths.setdefault(number, os.path.join(place, f"{number}.npy"))
                _append(path, [ids[rows], *(values[rows] for values in block.columns.values())])
    return Parts([Part(path, keys) for _, path in sorted(paths.items())], n_rows)


def _for_a_file(ids):
    """Return query ids as numpy writes them fastest: as text, unless that ends in a zero byte."""
    is_text = ids.dtype == object and isinstance(ids[0], str)
    if not is_text or any(text.endswith("\0") for text in ids):
        return ids
    return ids.astype(str)


def _append(path, columns):
    """Add columns of some rows to a file."""
    # Of a file that is full, numpy's own error does not say why.
    packed = io.BytesIO()
    for values in columns:
        np.save(packed, values)
    try:
        # A view that outlives an error keeps the buffer from being closed.
        with open(path, "ab") as handle, packed.getbuffer() as view:
            handle.write(view)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
