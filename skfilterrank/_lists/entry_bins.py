"""Steps of a measure in bins of score keys: sums for each bin, and buckets of single steps."""

import errno
import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

# A bin is the sign, the exponent and six bits of the score: 64 bins for each power of two.
SHIFT = 46
# Most steps in memory at once.
MOST_STEPS = 1 << 19
_FAN_OUT_BITS = 6
_FLIP = np.int64(np.iinfo(np.int64).max)


def keys_of_scores(scores: np.ndarray) -> np.ndarray:
    """Return integer keys that have the order of float64 scores; -0.0 and 0.0 have one key."""
    bits = (scores + 0.0).view(np.int64)
    # With all bits but the sign flipped, the bits of negative floats ascend with their value.
    return bits ^ ((bits >> 63) & _FLIP)


def scores_of_keys(keys: np.ndarray) -> np.ndarray:
    """Return the scores that belong to integer keys."""
    return (keys ^ ((keys >> 63) & _FLIP)).view(np.float64)


def bins_of_keys(keys: np.ndarray) -> np.ndarray:
    """Return the bin of each key."""
    return keys >> SHIFT


class StepBins(NamedTuple):
    """Sums of the steps in each bin, and the sum of the measure when nothing is shown.

    Attributes
    ----------
    bins : ndarray of shape (n_bins,), int64
        The bins that hold a step, ascending.
    rises, falls : ndarray of shape (n_bins,), longdouble
        Sum of the positive steps of each bin, and sum of its negative steps.
    lows, highs : ndarray of shape (n_bins,), int64
        The lowest and the highest key of a step in each bin.
    counts : ndarray of shape (n_bins,), int64
        Number of steps in each bin.
    start : longdouble
        Sum of the measure over queries when nothing is shown.
    n_queries : float
        Number of queries for which the measure is defined.
    """

    bins: np.ndarray
    rises: np.ndarray
    falls: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    counts: np.ndarray
    start: np.longdouble
    n_queries: float

    @classmethod
    def of(cls, keys, changes, start, n_queries) -> "StepBins":
        """Make bins from steps in any order."""
        order = np.argsort(keys)
        keys, changes = keys[order], changes[order].astype(np.longdouble)
        parts = (np.maximum(changes, 0.0), np.minimum(changes, 0.0), keys, keys)
        ones = np.ones(len(keys), dtype=np.int64)
        return cls._grouped(
            bins_of_keys(keys), (*parts, ones), np.longdouble(start), float(n_queries)
        )

    @classmethod
    def _grouped(cls, bins, columns, start, n_queries):
        """Merge the entries of equal bins; bins are ascending."""
        heads = np.flatnonzero(np.append(True, bins[1:] != bins[:-1])[: len(bins)])
        how = (np.add, np.add, np.minimum, np.maximum, np.add)
        merged = [
            each.reduceat(column, heads) if len(heads) else column
            for each, column in zip(how, columns)
        ]
        return cls(bins[heads], *merged, start, n_queries)

    def merge(self, other: "StepBins") -> "StepBins":
        """Add the sums of other bins to these."""
        both = [np.concatenate(pair) for pair in zip(self[:6], other[:6])]
        order = np.argsort(both[0], kind="stable")
        bins, *columns = (column[order] for column in both)
        return self._grouped(
            bins, columns, self.start + other.start, self.n_queries + other.n_queries
        )

    def sums(self) -> np.ndarray:
        """Compute the measure's sum at the lowest step of each bin, and last of empty lists."""
        from_the_top = np.cumsum((self.rises + self.falls)[::-1])[::-1]
        return np.append(from_the_top, np.longdouble(0)) + self.start


class Bucket:
    """Steps whose keys lie in one range, in memory or in a file.

    Parameters
    ----------
    path : str or None
        File for the steps; buckets of narrower ranges append a number to its name. None keeps the
        steps in memory.
    """

    def __init__(self, path: str | None = None):
        self._path = path
        self._held: list[tuple[np.ndarray, np.ndarray]] = []
        self._low, self._high = 0, 0
        self.n_steps, self.total = 0, np.longdouble(0)
        self._parts: list[Bucket] | None = None

    def add(self, keys: np.ndarray, changes: np.ndarray) -> None:
        """Add steps."""
        if not len(keys):
            return
        low, high = int(keys.min()), int(keys.max())
        self._low = min(self._low, low) if self.n_steps else low
        self._high = max(self._high, high) if self.n_steps else high
        self.n_steps += len(keys)
        self.total += changes.sum(dtype=np.longdouble)
        if self._path is None:
            self._held.append((keys, changes))
        else:
            _append(self._path, np.stack([keys, changes.view(np.int64)], axis=1))

    def sums(self, above) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield distinct keys and the measure's sum when keys from there up are shown.

        Arrays come in chunks. `above` is the sum of the measure above this range.
        """
        if not self.n_steps:
            return
        if self._low == self._high:
            yield np.array([self._low]), np.array([above + self.total])
        elif self._path is None:
            keys, changes = (np.concatenate(column) for column in zip(*self._held))
            yield _sums(keys, changes, above)
        elif self.n_steps <= MOST_STEPS:
            pairs = np.fromfile(self._path, dtype=np.int64).reshape(-1, 2)
            yield _sums(pairs[:, 0], pairs[:, 1].copy().view(np.float64), above)
        else:
            totals = np.array([part.total for part in self._split()])
            higher = np.cumsum(totals[::-1])[::-1] - totals
            for part, more in zip(self._split(), higher):
                yield from part.sums(above + more)

    def _split(self):
        """Distribute the steps over files of narrower ranges."""
        if self._parts is not None:
            return self._parts
        # Two keys may be 2**64 apart: Python integers hold that, int64 does not.
        shift = max(0, (self._high - self._low).bit_length() - _FAN_OUT_BITS)
        n_parts = ((self._high - self._low) >> shift) + 1
        self._parts = [Bucket(f"{self._path}.{number}") for number in range(n_parts)]
        first = np.uint64(self._low % 2**64)
        with open(self._path, "rb") as handle:
            while len(numbers := np.fromfile(handle, dtype=np.int64, count=2 * MOST_STEPS)):
                keys, changes = numbers.reshape(-1, 2).T.copy()
                part = ((keys.view(np.uint64) - first) >> np.uint64(shift)).astype(np.uint8)
                order = np.argsort(part, kind="stable")
                ends = np.cumsum(np.bincount(part, minlength=n_parts))
                for number, (begin, end) in enumerate(zip(np.append(0, ends), ends)):
                    rows = order[begin:end]
                    self._parts[number].add(keys[rows], changes.view(np.float64)[rows])
        os.unlink(self._path)
        return self._parts


def _sums(keys, changes, above):
    """Compute one chunk of :meth:`Bucket.sums` from steps in any order."""
    order = np.argsort(keys)
    keys, changes = keys[order], changes[order]
    sums = np.cumsum(changes[::-1], dtype=np.longdouble)[::-1] + above
    is_first = np.append(True, keys[1:] != keys[:-1])
    return keys[is_first], sums[is_first]


def _append(path, pairs):
    """Append pairs of numbers to a file."""
    try:
        with open(path, "ab") as handle:
            handle.write(pairs.tobytes())
    except OSError as error:
        named = OSError(error.errno, error.strerror, path)
        if error.errno == errno.ENOSPC:
            named.add_note(
                "The temporary files of the threshold search are there: pass another "
                "folder, Rows(..., folder=...)."
            )
        raise named from None
