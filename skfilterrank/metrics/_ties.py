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


def mean_none_relevant(ties: Ties, relevant: np.ndarray) -> np.ndarray:
    """Share of the tied orders with nothing relevant down to each place.

    `relevant` holds the mean of its tie at each place of the first columns of the lists.
    """
    n, first = (array[:, : relevant.shape[1]] for array in (ties.length, ties.first))
    # Nothing relevant so far, the rest of the tie is as likely in any order: r of n - j places.
    hit = relevant * n / (n - (np.arange(relevant.shape[1]) - first))
    return np.cumprod(1 - np.minimum(hit, 1.0), axis=1)


def mean_products_to_here(ties: Ties, factors: np.ndarray, depth: int) -> np.ndarray:
    """Mean over the tied orders of the product of all factors down to each place.

    `factors`, from 0 to 1, are in list order over the whole width; of shape (n_tied, depth).
    """
    above = np.ones_like(factors)
    np.cumprod(factors[:, :-1], axis=1, out=above[:, 1:])
    first = ties.first[:, :depth]
    within = factors.copy()
    _fill_tied_products(within, ties)
    return np.take_along_axis(above, first, axis=1) * within[:, :depth]


def _fill_tied_products(factors, ties):
    """In each tie of several documents, put the mean product of its first 1, 2, ... factors."""
    width, flat = factors.shape[1], factors.ravel()
    heads = np.flatnonzero(ties.first == np.arange(width))
    lengths = ties.length.ravel()[heads]
    matters = (lengths > 1) & (np.minimum.reduceat(flat, heads) < 1)
    heads, lengths = heads[matters], lengths[matters]
    # Ties of about the same length make a matrix that wastes little.
    _, size = np.frexp(lengths - 0.5)
    for exponent in np.unique(size):
        mine = size == exponent
        n = lengths[mine]
        places = np.arange(n.max())
        is_tied = places < n[:, None]
        cells = np.minimum(heads[mine, None] + places, flat.size - 1)
        means = _mean_of_first(np.where(is_tied, flat[cells], 1.0), n)
        flat[cells[is_tied]] = means[is_tied]


def _mean_of_first(factors, n) -> np.ndarray:
    """Mean over all orders of the product of the first 1, 2, ... of n factors, padded with 1.

    The elementary symmetric polynomial of degree j over its number of terms, by adding one factor
    after the other to those that are 1.
    """
    n_less = np.count_nonzero(factors < 1, axis=1)
    order = np.argsort(-n_less, kind="stable")
    factors, n_ones, n_less = np.sort(factors[order], axis=1), (n - n_less)[order], n_less[order]
    j = np.arange(factors.shape[1] + 1)
    means = (j <= n_ones[:, None]).astype(np.float64)
    for added in range(n_less[0]):
        active = slice(np.searchsorted(-n_less, -added))
        total = n_ones[active, None] + added + 1
        with_it = j[1:] * factors[active, added, None] * means[active, :-1]
        means[active, 1:] = ((total - j[1:]) * means[active, 1:] + with_it) / total
    result = np.empty_like(factors)
    result[order] = means[:, 1:]
    return result
