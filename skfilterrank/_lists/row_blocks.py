"""Blocks of rows in memory, and detection of queries whose rows are not consecutive."""

from collections.abc import Iterable
from functools import reduce
from hashlib import blake2b
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import entry_types
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief


class Block(NamedTuple):
    """Some consecutive rows of a table: runs of equal query ids, and columns.

    Attributes
    ----------
    ids : ndarray of shape (n_stretches,)
        Query id of each run of consecutive rows with one id.
    sizes : ndarray of shape (n_stretches,)
        Number of rows of each run.
    columns : dict of key to ndarray of shape (n_rows,)
        Columns of the rows.
    """

    ids: np.ndarray
    sizes: np.ndarray
    columns: dict[Any, np.ndarray]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sizes.sum())

    def group_index(self) -> GroupIndex:
        """Return the rows of each query, numbered in the order in which they come."""
        starts = np.cumsum(self.sizes) - self.sizes
        return GroupIndex(np.arange(len(self.ids)), self.sizes, starts, None, self.n_rows)

    def join(self, other: "Block") -> "Block":
        """Append the rows of the other block; a query divided between the two is joined."""
        check_one_type(self.ids, other.ids)
        ids, sizes = np.append(self.ids, other.ids), np.append(self.sizes, other.sizes)
        if ids[len(self.ids) - 1] == ids[len(self.ids)]:
            ids = np.delete(ids, len(self.ids))
            sizes[len(self.ids) - 1] += sizes[len(self.ids)]
            sizes = np.delete(sizes, len(self.ids))
        columns = {
            name: np.concatenate([values, other.columns[name]])
            for name, values in self.columns.items()
        }
        return Block(ids, sizes, columns)

    def split(self, at: int) -> tuple["Block", "Block"]:
        """Split after the given number of runs."""
        row = int(self.sizes[:at].sum())
        left = {name: values[:row] for name, values in self.columns.items()}
        right = {name: values[row:] for name, values in self.columns.items()}
        return (
            Block(self.ids[:at], self.sizes[:at], left),
            Block(self.ids[at:], self.sizes[at:], right),
        )


def merged(states: Iterable) -> Any:
    """Merge all states of a non-empty sequence into one."""
    return reduce(lambda left, right: left.merge(right), states)


class Pieces(tuple):
    """List of objects that is merged by concatenation."""

    __slots__ = ()

    def merge(self, other: "Pieces") -> "Pieces":
        """Concatenate both lists."""
        return Pieces(self + other)


def check_one_type(left, right) -> None:
    """Raise for query ids that cannot be compared with those of another block."""
    if _kind(left) != _kind(right):
        raise InputError(
            f"query ids are of different types, such as {brief(left[-1])} ({left.dtype}) and "
            f"{brief(right[0])} ({right.dtype}): make them one type in every piece, text or int64."
        )


def _kind(ids):
    """Return the kind of a dtype; ids of one kind can be compared."""
    if ids.dtype == object:
        kinds = {str: "text", Number: "number", np.bool_: "number"}
        found = (name for kind, name in kinds.items() if isinstance(ids[0], kind))
        return next(found, type(ids[0]))
    if ids.dtype.kind in "UT":
        return "text"
    # Dates have units, and numpy converts uint64 with int64 to float64, which is not exact.
    is_exact = ids.dtype.kind in "mM" or ids.dtype == np.uint64
    return ids.dtype.str if is_exact else ids.dtype.kind.replace("u", "i")


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
                raise InputError(
                    f"{again.sum()} queries have rows in both of two parts that are merged: "
                    "measures need whole queries, so bring the rows of each query into one part, "
                    "those of Dask by frame.shuffle(query) or frame.set_index(query)."
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
        "queries. Sort the rows by query first."
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
