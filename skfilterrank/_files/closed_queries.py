"""Detection of queries whose rows are not consecutive."""

from hashlib import blake2b
from numbers import Number

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import entry_types
from skfilterrank.exceptions import InputError, brief


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
