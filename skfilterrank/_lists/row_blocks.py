"""Blocks of rows in memory: query ids as runs of consecutive rows, and columns."""

from collections.abc import Iterable
from functools import reduce
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

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
