"""Steps of a measure over the threshold, added up in bins of scores."""

from typing import NamedTuple

import numpy as np

# Sign, exponent and six digits of the score: 64 bins for each doubling, whatever the range is.
SHIFT = 46
_FLIP = np.int64(np.iinfo(np.int64).max)


def keys_of_scores(scores: np.ndarray) -> np.ndarray:
    """Whole numbers in the order of float64 scores; equal for -0.0 and 0.0."""
    bits = (scores + 0.0).view(np.int64)
    # Flipping all but the sign of negative floats makes their bits ascend with their value.
    return bits ^ ((bits >> 63) & _FLIP)


def scores_of_keys(keys: np.ndarray) -> np.ndarray:
    """The scores of such numbers."""
    return (keys ^ ((keys >> 63) & _FLIP)).view(np.float64)


def bins_of_keys(keys: np.ndarray) -> np.ndarray:
    """The bin of each number."""
    return keys >> SHIFT


class StepBins(NamedTuple):
    """Sums of steps by bin, and the sum of the measure where nothing is shown.

    Attributes
    ----------
    bins : ndarray of shape (n_bins,), int64
        The bins that hold a step, ascending.
    rises, falls : ndarray of shape (n_bins,), longdouble
        Sums of what is added by the steps of each bin that add, and of those that take away.
    lows, highs : ndarray of shape (n_bins,), int64
        The lowest and the highest key of a step in each bin.
    counts : ndarray of shape (n_bins,), int64
        Number of steps.
    start : longdouble
        The sum where nothing is shown.
    n_queries : float
        Number of queries that have a value.
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
        """Those of some steps in any order."""
        order = np.argsort(keys)
        keys, changes = keys[order], changes[order].astype(np.longdouble)
        parts = (np.maximum(changes, 0.0), np.minimum(changes, 0.0), keys, keys)
        ones = np.ones(len(keys), dtype=np.int64)
        return cls._grouped(
            bins_of_keys(keys), (*parts, ones), np.longdouble(start), float(n_queries)
        )

    @classmethod
    def _grouped(cls, bins, columns, start, n_queries):
        """One entry for each bin of ascending ones."""
        heads = np.flatnonzero(np.append(True, bins[1:] != bins[:-1])[: len(bins)])
        how = (np.add, np.add, np.minimum, np.maximum, np.add)
        merged = [
            each.reduceat(column, heads) if len(heads) else column
            for each, column in zip(how, columns)
        ]
        return cls(bins[heads], *merged, start, n_queries)

    def merge(self, other: "StepBins") -> "StepBins":
        """The steps of both."""
        both = [np.concatenate(pair) for pair in zip(self[:6], other[:6])]
        order = np.argsort(both[0], kind="stable")
        bins, *columns = (column[order] for column in both)
        return self._grouped(
            bins, columns, self.start + other.start, self.n_queries + other.n_queries
        )

    def sums(self) -> np.ndarray:
        """Of the measure at the lowest step of each bin, and last where nothing is shown."""
        from_the_top = np.cumsum((self.rises + self.falls)[::-1])[::-1]
        return np.append(from_the_top, np.longdouble(0)) + self.start
