"""Exact means over the orders of documents with equal scores.

McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently in the
Presence of Tied Scores", ECIR 2008.
"""

from typing import NamedTuple

import numpy as np

from skfilterrank._lists.long_ties import long_tie_stops

# Steps times places of one tie from which on, for each of its distinct chances, an integral is
# faster than adding one document after the other.
_LONG = 1 << 22


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


def mean_stops(ties: Ties, chances: np.ndarray, depth: int) -> np.ndarray:
    """Mean over the tied orders of the probability to stop at each of the first places.

    `chances` to stop at a document that is reached, from 0 up and below 1, are in list order over
    the whole width; of shape (n_tied, depth).
    """
    above = np.ones((len(chances), depth))
    np.cumprod(1 - chances[:, : depth - 1], axis=1, out=above[:, 1:])
    above = np.take_along_axis(above, ties.first[:, :depth], axis=1)
    return above * _stops_within(ties, chances, depth)


def _stops_within(ties, chances, depth):
    """Probability of stopping at each of the first places, for a user who has reached its tie."""
    width, flat = chances.shape[1], chances.ravel()
    heads = np.flatnonzero(ties.first == np.arange(width))
    lengths = ties.length.ravel()[heads]
    matters = (lengths > 1) & (np.maximum.reduceat(flat, heads) > 0) & (heads % width < depth)
    heads, lengths = heads[matters], lengths[matters]
    within = chances[:, :depth].copy()
    is_short = np.ones(len(heads), dtype=bool)
    for i in np.flatnonzero(lengths > np.sqrt(_LONG)):
        tied = flat[heads[i] : heads[i] + lengths[i]]
        row, first = divmod(heads[i], width)
        shown = min(lengths[i], depth - first)
        last = min(shown, _n_above_rounding(tied[None], lengths[i]))
        steps = np.count_nonzero(tied) * last
        if steps > _LONG and steps > _LONG * len(np.unique(tied)):
            is_short[i] = False
            within[row, first : first + last] = long_tie_stops(tied, last)
            within[row, first + last : first + shown] = 0.0
    heads, lengths = heads[is_short], lengths[is_short]
    # Ties of about the same length make a matrix that wastes little.
    _, size = np.frexp(lengths - 0.5)
    for exponent in np.unique(size):
        n, head = lengths[size == exponent, None], heads[size == exponent, None]
        places = np.arange(n.max())
        cells = np.minimum(head + places, flat.size - 1)
        tied = np.where(places < n, flat[cells], 0.0)
        row, column = np.broadcast_arrays(head // width, head % width + places)
        shown = (places < n) & (column < depth)
        row, column = row[shown], column[shown]
        last = min(int(shown.any(axis=0).sum()), _n_above_rounding(tied, n))
        means = np.zeros(shown.shape)
        means[:, :last] = _stops_of_first(tied, n[:, 0], last)
        within[row, column] = means[shown]
    return within


def _n_above_rounding(chances, n) -> int:
    """After how many places at most the probability to go on is too small to matter."""
    # The mean product of j factors is at most the j-th power of their mean (Maclaurin).
    least_mean = (chances.sum(axis=1, keepdims=True) / n).min()
    if least_mean >= 1:
        return 1
    return int(np.ceil(np.log(1e-18) / min(np.log1p(-least_mean), -1e-9)))


def _stops_of_first(chances, n, last) -> np.ndarray:
    """Mean over all orders of the probability to stop at places 1 to `last` of n, padded with 0.

    By adding one document after the other to those of chance 0.
    """
    n_more = np.count_nonzero(chances, axis=1)
    order = np.argsort(-n_more, kind="stable")
    chances, n_none, n_more = -np.sort(-chances[order], axis=1), (n - n_more)[order], n_more[order]
    j = np.arange(1.0, last + 1)
    # Probability to have stopped. The sums of small numbers lose nothing, as 1 less them would.
    stopped = np.zeros((len(n), last + 1))
    for added in range(n_more[0]):
        active = slice(np.searchsorted(-n_more, -added))
        chance = chances[active, added, None]
        # Among the first j of the documents so far is the added one in j / (their number) orders.
        share = j / (n_none[active, None] + (added + 1.0))
        change = (1 - chance) * stopped[active, :-1]
        change += chance
        change -= stopped[active, 1:]
        # Places beyond their number are filled in later, and must not grow till then.
        change *= np.minimum(share, 1.0, out=share)
        stopped[active, 1:] += change
    result = np.empty((len(n), last))
    result[order] = np.diff(stopped, axis=1)
    return result
