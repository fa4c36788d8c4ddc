"""Exact means over the orders of documents with equal scores.

McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently in the
Presence of Tied Scores", ECIR 2008.
"""

from typing import NamedTuple

import numpy as np


class Ties(NamedTuple):
    """The ties of those lists of a block that have any; places count from 0.

    A place whose score nobody shares is a tie of length 1, and so is each filtered or padded one.
    """

    lists: np.ndarray
    """Which lists of the block have ties; shape (n_tied,)."""
    first: np.ndarray
    """First place of the tie of each place; shape (n_tied, width)."""
    length: np.ndarray
    """Length of the tie of each place; shape (n_tied, width)."""

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over its tie, at each place; `values` are in list order."""
        if not values.size:
            return values.copy()
        heads = np.flatnonzero(self.first == np.arange(values.shape[1]))
        totals = np.add.reduceat(values.ravel(), heads)
        return np.repeat(totals, self.length.ravel()[heads]).reshape(values.shape)

    def before(self, values: np.ndarray) -> np.ndarray:
        """Sum over all places above its tie, at each place; `values` are in list order."""
        above = np.cumsum(values, axis=1) - values
        return np.take_along_axis(above, self.first, axis=1)


def find_ties(lists, keys) -> Ties:
    """The ties of some lists, whose sort keys come in list order, +inf where filtered."""
    width = keys.shape[1]
    starts = np.ones(keys.shape, dtype=bool)
    starts[:, 1:] = (keys[:, 1:] != keys[:, :-1]) | (keys[:, 1:] == np.inf)
    heads = np.flatnonzero(starts)
    lengths = np.diff(heads, append=keys.size)
    first = np.repeat(heads % width, lengths).reshape(keys.shape)
    return Ties(lists, first, np.repeat(lengths, lengths).reshape(keys.shape))


def mean_products(ties: Ties, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Mean over the tied orders of left[i] * (sum of right above place i), at each place i."""
    n = ties.length
    sum_left, sum_right = ties.sums(left), ties.sums(right)
    # Of two different documents of a tie, every ordered pair of places is equally likely.
    pairs = np.zeros(left.shape)
    np.divide(
        sum_left * sum_right - ties.sums(left * right),
        n * (n - 1),
        out=pairs,
        where=n > 1,
    )
    place = np.arange(left.shape[1]) - ties.first
    return sum_left / n * ties.before(right) + place * pairs
