"""Detection of queries whose rows are not consecutive, and temporary files to group them."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from numbers import Number
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.files import temporary_folder
from skfilterrank._files.frames_of_rows import Wanted
from skfilterrank._lists.checks import entry_types
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.row_blocks import Block, check_one_type
from skfilterrank.exceptions import InputError, brief


class QueriesInSeveralParts(InputError):
    """Raised if parts that are merged have queries in common."""


class ClosedQueries:
    """Set of finished queries, 8 bytes each, which detects a query that occurs again.

    Integer ids are stored exactly, other ids as 64-bit hashes. A repeated query is always detected.
    A hash collision among n text ids raises a false alarm with a probability below n**2 / 2**65.
    """

    def __init__(self):
        # Sorted arrays of keys, each at least twice as long as the next.
        self._levels: list[np.ndarray] = []

    def add(self, ids: np.ndarray) -> None:
        """Add finished queries; raise if one was added before or occurs twice."""
        keys = keys_of(ids)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        again = np.append(False, keys[1:] == keys[:-1]) | self._holds(keys)
        if again.any():
            raise came_back(ids[order[again.argmax()]])
        self._push(keys)

    def merge(self, other: "ClosedQueries") -> "ClosedQueries":
        """Merge two sets of finished queries; raise if a query is in both."""
        both = ClosedQueries()
        both._levels = list(self._levels)
        both.take(other)
        return both

    def take(self, other: "ClosedQueries") -> None:
        """Add all queries of the other set; raise if one is here already."""
        for keys in other._levels:
            again = self._holds(keys)
            if again.any():
                raise QueriesInSeveralParts(
                    f"{again.sum()} queries have rows in both of two parts that are merged: "
                    "measures need whole queries, so bring the rows of each query into one part."
                )
        for keys in other._levels:
            self._push(keys)

    def _holds(self, keys):
        """Return a mask of the sorted keys that are here already."""
        found = np.zeros(len(keys), dtype=bool)
        for level in self._levels:
            if len(keys) and keys[0] <= level[-1] and keys[-1] >= level[0]:
                places = np.minimum(np.searchsorted(level, keys), len(level) - 1)
                found |= level[places] == keys
        return found

    def _push(self, keys):
        """Add new sorted keys."""
        if not len(keys):
            return
        while self._levels and len(self._levels[-1]) < 2 * len(keys):
            keys = np.sort(np.concatenate([self._levels.pop(), keys]), kind="stable")
        self._levels.append(keys)


def came_back(query) -> InputError:
    """Return the error for a query whose rows are not consecutive."""
    query = getattr(query, "item", lambda: query)()
    return InputError(
        f"the rows of query {brief(query)} do not stand together: it comes back after other "
        "queries. Sort rows by query, or pass Rows(..., scattered='partition'), "
        "which groups them in a temporary folder."
    )


def keys_of(ids: np.ndarray) -> np.ndarray:
    """Compute a 64-bit key for each id; equal ids have equal keys in all processes."""
    if ids.dtype.kind in "iub":
        return ids.astype(np.int64).view(np.uint64)
    if ids.dtype.kind == "f":
        return (ids.astype(np.float64) + 0.0).view(np.uint64)
    if ids.dtype.kind in "mM":
        return ids.view(np.uint64)
    ids = ids.astype(object)
    if not all(issubclass(kind, str) for kind in entry_types(ids)):
        return np.array([_key_of(each) for each in ids.tolist()], dtype=np.uint64)
    return pd.util.hash_array(ids, categorize=False)


def _key_of(value):
    """Compute the 64-bit key of an id that is not a text."""
    return int.from_bytes(blake2b(ascii(_comparable(value)).encode(), digest_size=8).digest())


def _comparable(value):
    """Return an id in a common form for equal ids, such as True, 1 and 1.0."""
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Number) and value - value == 0:
        return value.as_integer_ratio()
    return value if isinstance(value, bytes) else str(value)


# Number of parts: 1e9 rows of three columns then take 100 MB in each part.
_N_PARTS = 256
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Part(NamedTuple):
    """Temporary file with the rows of some queries."""

    path: str
    keys: tuple

    def blocks(self) -> Iterator[Block]:
        """Yield all rows of the file, query by query, in their original order within a query."""
        pieces: list[list] = [[] for _ in range(1 + len(self.keys))]
        with open(self.path, "rb") as handle:
            end = os.path.getsize(self.path)
            while handle.tell() < end:
                for column in pieces:
                    # Pickle is allowed because labels may be texts, which are stored as objects.
                    column.append(np.load(handle, allow_pickle=True))
        ids, *columns = (np.concatenate(column) for column in pieces)
        index = GroupIndex.from_groups(ids)
        order = index.row_order()
        in_order = {key: values[order] for key, values in zip(self.keys, columns)}
        yield Block(index.query_ids, index.sizes, in_order)


class Parts:
    """All temporary files of partitioned rows."""

    is_repeatable = True
    looks_for_queries = False

    def __init__(self, parts, n_rows):
        self._parts, self.n_rows = parts, n_rows

    def pieces(self, wanted: Wanted) -> Iterator[Part]:
        """Yield a part for each file."""
        return iter(self._parts)


@contextmanager
def partitioned(source, wanted: Wanted, folder: str | None) -> Iterator[Parts]:
    """Write rows to files by a hash of the query id; the files are removed when the block ends."""
    with temporary_folder(folder) as place:
        try:
            yield _written(source, wanted, place)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                error.add_note(
                    f"The rows were grouped by query in {place}, which is now removed: pass a "
                    "folder with more space, Rows(..., folder=...)."
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
            # Multiplication spreads neighbouring ids over the files.
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
    """Return query ids as numpy texts, which are fast to write, unless one ends in a zero byte."""
    is_text = ids.dtype == object and isinstance(ids[0], str)
    if not is_text or any(text.endswith("\0") for text in ids):
        return ids
    return ids.astype(str)


def _append(path, columns):
    """Append columns of some rows to a file."""
    # numpy's own error would not tell that the disk is full.
    packed = io.BytesIO()
    for values in columns:
        np.save(packed, values)
    try:
        # A view that is kept by a traceback would prevent closing the buffer.
        with open(path, "ab") as handle, packed.getbuffer() as view:
            handle.write(view)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
