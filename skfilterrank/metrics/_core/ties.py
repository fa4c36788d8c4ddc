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
    above = np.ones((len(factors), depth))
    np.cumprod(factors[:, : depth - 1], axis=1, out=above[:, 1:])
    above = np.take_along_axis(above, ties.first[:, :depth], axis=1)
    return above * _products_within(ties, factors, depth)


def _products_within(ties, factors, depth):
    """Mean product of the factors of its own tie down to each of the first places."""
    width, flat = factors.shape[1], factors.ravel()
    heads = np.flatnonzero(ties.first == np.arange(width))
    lengths = ties.length.ravel()[heads]
    matters = (lengths > 1) & (np.minimum.reduceat(flat, heads) < 1) & (heads % width < depth)
    heads, lengths = heads[matters], lengths[matters]
    within = factors[:, :depth].copy()
    # Ties of about the same length make a matrix that wastes little.
    _, size = np.frexp(lengths - 0.5)
    for exponent in np.unique(size):
        n, head = lengths[size == exponent, None], heads[size == exponent, None]
        places = np.arange(n.max())
        cells = np.minimum(head + places, flat.size - 1)
        tied = np.where(places < n, flat[cells], 1.0)
        row, column = np.broadcast_arrays(head // width, head % width + places)
        shown = (places < n) & (column < depth)
        row, column = row[shown], column[shown]
        last = min(int(shown.any(axis=0).sum()), _n_above_rounding(tied, n))
        means = np.zeros(shown.shape)
        means[:, :last] = _mean_of_first(tied, n[:, 0], last)
        within[row, column] = means[shown]
    return within


def _n_above_rounding(factors, n) -> int:
    """How many factors it takes at most until their mean product is too small to matter."""
    # The mean product of j of the factors is at most the j-th power of their mean (Maclaurin).
    largest_mean = 1 - ((1 - factors).sum(axis=1, keepdims=True) / n).min()
    if largest_mean <= 0:
        return 1
    return int(np.ceil(np.log(1e-18) / min(np.log(largest_mean), -1e-9)))


def _mean_of_first(factors, n, last) -> np.ndarray:
    """Mean over all orders of the product of the first 1 to `last` of n factors, padded with 1.

    The elementary symmetric polynomial of degree j over its number of terms, by adding one factor
    after the other to those that are 1.
    """
    n_less = np.count_nonzero(factors < 1, axis=1)
    order = np.argsort(-n_less, kind="stable")
    factors, n_ones, n_less = np.sort(factors[order], axis=1), (n - n_less)[order], n_less[order]
    j = np.arange(last + 1.0)
    means = (j <= n_ones[:, None]).astype(np.float64)
    for added in range(n_less[0]):
        active = slice(np.searchsorted(-n_less, -added))
        # Among the first j of the factors so far is the added one in j / (their number) orders.
        change = factors[active, added, None] * means[active, :-1]
        change -= means[active, 1:]
        change *= j[1:] / (n_ones[active, None] + (added + 1.0))
        means[active, 1:] += change
    result = np.empty((len(n), last))
    result[order] = means[:, 1:]
    return result
