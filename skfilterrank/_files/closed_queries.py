"""Detection of queries whose rows do not stand together, and files that bring them together."""

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
    """Parts that are merged have queries in common."""


class ClosedQueries:
    """Queries that have ended, in 8 bytes each, so that one that comes back is noticed.

    Whole numbers are kept as they are, and others as 64-bit hashes: none that comes back is missed,
    and of n queries by text one is falsely taken for another with a probability below n**2 / 2**65.
    """

    def __init__(self):
        # Sorted, each at least twice as long as the next.
        self._levels: list[np.ndarray] = []

    def add(self, ids: np.ndarray) -> None:
        """Close these queries; raise for one that was closed before, or comes twice."""
        keys = keys_of(ids)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        again = np.append(False, keys[1:] == keys[:-1]) | self._holds(keys)
        if again.any():
            raise came_back(ids[order[again.argmax()]])
        self._push(keys)

    def merge(self, other: "ClosedQueries") -> "ClosedQueries":
        """Join the queries of both; raise for one that is in both."""
        both = ClosedQueries()
        both._levels = list(self._levels)
        both.take(other)
        return both

    def take(self, other: "ClosedQueries") -> None:
        """Close the queries of the other, too; raise for one that is closed already."""
        for keys in other._levels:
            again = self._holds(keys)
            if again.any():
                raise QueriesInSeveralParts(
                    f"{again.sum()} queries have rows in both of two parts that are merged: "
                    "measures need whole queries, so bring the rows of each into one part."
                )
        for keys in other._levels:
            self._push(keys)

    def _holds(self, keys):
        """Tell which sorted keys are there already."""
        found = np.zeros(len(keys), dtype=bool)
        for level in self._levels:
            if len(keys) and keys[0] <= level[-1] and keys[-1] >= level[0]:
                places = np.minimum(np.searchsorted(level, keys), len(level) - 1)
                found |= level[places] == keys
        return found

    def _push(self, keys):
        """Add sorted keys that are new."""
        if not len(keys):
            return
        while self._levels and len(self._levels[-1]) < 2 * len(keys):
            keys = np.sort(np.concatenate([self._levels.pop(), keys]), kind="stable")
        self._levels.append(keys)


def came_back(query) -> InputError:
    """Make the error for a query whose rows do not stand together."""
    query = getattr(query, "item", lambda: query)()
    return InputError(
        f"the rows of query {brief(query)} do not stand together: it comes back after other "
        "queries. Sort rows by query, or give Rows(..., scattered='partition'), which brings them "
        "together in a temporary folder."
    )


def keys_of(ids: np.ndarray) -> np.ndarray:
    """Compute 64 bits for each id, the same in every process: equal ids have equal bits."""
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
    """Compute 64 bits of an id that is no text."""
    return int.from_bytes(blake2b(ascii(_comparable(value)).encode(), digest_size=8).digest())


def _comparable(value):
    """Return an id in a form that equal ids share, as True, 1 and 1.0 are equal."""
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Number) and value - value == 0:
        return value.as_integer_ratio()
    return value if isinstance(value, bytes) else str(value)


# With this number of parts, 1e9 rows of three columns take 100 MB each.
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
    # numpy's own error does not say that the disk is full.
    packed = io.BytesIO()
    for values in columns:
        np.save(packed, values)
    try:
        # A view that outlives an error keeps the buffer from being closed.
        with open(path, "ab") as handle, packed.getbuffer() as view:
            handle.write(view)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
