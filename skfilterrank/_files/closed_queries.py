"""Queries that have ended, so that one that comes back is noticed."""

from hashlib import blake2b
from numbers import Number

import numpy as np
import pandas as pd

from skfilterrank._lists.arrays import entry_types
from skfilterrank.exceptions import InputError, brief


class QueriesInSeveralParts(InputError):
    """Parts that are merged have queries in common."""


class ClosedQueries:
    """The queries so far, in 8 bytes each.

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
