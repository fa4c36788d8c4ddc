"""Rows in memory: the queries they belong to, stretch by stretch, and their columns."""

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from skfilterrank._core.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief


class Block(NamedTuple):
    """Some consecutive rows.

    Attributes
    ----------
    ids : ndarray of shape (n_stretches,)
        Query of each stretch of rows that have the same one.
    sizes : ndarray of shape (n_stretches,)
        Their numbers of rows.
    columns : dict of key to ndarray of shape (n_rows,)
        What the rows hold.
    """

    ids: np.ndarray
    sizes: np.ndarray
    columns: dict[Any, np.ndarray]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sizes.sum())

    def group_index(self) -> GroupIndex:
        """The rows of each query, numbered in the order in which they come."""
        starts = np.cumsum(self.sizes) - self.sizes
        return GroupIndex(np.arange(len(self.ids)), self.sizes, starts, None, self.n_rows)

    def join(self, other: "Block") -> "Block":
        """The rows of this block, then those of the other; a query that is cut becomes whole."""
        ids, sizes = _joined(self.ids, other.ids), np.append(self.sizes, other.sizes)
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
        """The first stretches, and the others."""
        row = int(self.sizes[:at].sum())
        left = {name: values[:row] for name, values in self.columns.items()}
        right = {name: values[row:] for name, values in self.columns.items()}
        return (
            Block(self.ids[:at], self.sizes[:at], left),
            Block(self.ids[at:], self.sizes[at:], right),
        )


def merged(states: Iterable) -> Any:
    """What is known of all queries; there is at least one."""
    return reduce(lambda left, right: left.merge(right), states)


def _joined(left, right):
    """Query ids of two blocks, which must be of one type."""
    if _kind(left) != _kind(right):
        raise InputError(
            f"query ids are of different types, such as {brief(left[-1])} ({left.dtype}) and "
            f"{brief(right[0])} ({right.dtype}): make them one type in every piece, text or int64."
        )
    return np.concatenate([left, right])


def _kind(ids):
    """What decides whether ids can be compared."""
    if ids.dtype == object:
        return "text" if isinstance(ids[0], str) else type(ids[0])
    return "text" if ids.dtype.kind in "UT" else ids.dtype.kind.replace("u", "i")
