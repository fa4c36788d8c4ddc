"""Exact means over equal scores.

Means over the orders of documents with equal scores are exact: McSherry and Najork, "Computing
Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores", ECIR 2008.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev

# Limit on steps times places per distinct probability of a tie. Above it, an integral is faster
# than adding documents one by one.
_LONG = 1 << 22
# Number of places at each end of a tie that are computed one by one; number of nodes and degree of
# the polynomial that interpolates longer stretches of places in between.
_N_SINGLE, _N_NODES, _DEGREE = 64, 22, 19


class Ties(NamedTuple):
    """Ties of the lists of a block that have ties; places count from 0.

    A document with a unique score is a tie of length 1, and so is each hidden or padded place.
    """

    lists: np.ndarray
    """Numbers of the lists of the block that have ties; shape (n_tied,)."""
    first: np.ndarray
    """First place of the tie of each place; shape (n_tied, width)."""
    length: np.ndarray
    """Length of the tie of each place; shape (n_tied, width)."""

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return at each place the sum of `values` (in list order) over its tie."""
        if not values.size:
            return values.copy()
        heads = np.flatnonzero(self.first == np.arange(values.shape[1]))
        totals = np.add.reduceat(values.ravel(), heads)
        return np.repeat(totals, self.length.ravel()[heads]).reshape(values.shape)

    def before(self, values: np.ndarray) -> np.ndarray:
        """Return at each place the sum of `values` (in list order) above its tie."""
        above = np.cumsum(values, axis=1) - values
        return np.take_along_axis(above, self.first, axis=1)


def find_ties(lists, keys) -> Ties:
    """Find the ties of some lists from sort keys in list order; hidden documents have +inf."""
    width = keys.shape[1]
    starts = np.ones(keys.shape, dtype=bool)
    starts[:, 1:] = (keys[:, 1:] != keys[:, :-1]) | (keys[:, 1:] == np.inf)
    heads = np.flatnonzero(starts)
    lengths = np.diff(heads, append=keys.size)
    first = np.repeat(heads % width, lengths).reshape(keys.shape)
    return Ties(lists, first, np.repeat(lengths, lengths).reshape(keys.shape))


def mean_products(ties: Ties, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Compute means over tied orders of left[i] * (sum of right above place i) for each i."""
    n = ties.length
    sum_left, sum_right = ties.sums(left), ties.sums(right)
    # Every ordered pair of places is equally likely for two different documents of a tie.
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
    """Compute the share of tied orders without a relevant document down to each place.

    `relevant` holds, at each of the first places, the share of relevant documents in its tie.
    """
    n, first = (array[:, : relevant.shape[1]] for array in (ties.length, ties.first))
    # Given no relevant document so far, the next one is relevant with probability r / (n - j).
    hit = relevant * n / (n - (np.arange(relevant.shape[1]) - first))
    return np.cumprod(1 - np.minimum(hit, 1.0), axis=1)


def mean_stops(ties: Ties, chances: np.ndarray, depth: int) -> np.ndarray:
    """Compute the probability of stopping at each of the first places, averaged over ties.

    `chances` are the probabilities, below 1, of stopping at a document that is reached, in list
    order over the whole width. The result has shape (n_tied, depth).
    """
    above = np.ones((len(chances), depth))
    np.cumprod(1 - chances[:, : depth - 1], axis=1, out=above[:, 1:])
    above = np.take_along_axis(above, ties.first[:, :depth], axis=1)
    return above * _stops_within(ties, chances, depth)


def _stops_within(ties, chances, depth):
    """Compute the probability of stopping at each of the first places, if its tie is reached."""
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
    # Ties of similar length form a matrix with little padding.
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
    """Bound the number of places after which the probability of continuing is negligible."""
    # The mean product of j factors is at most the j-th power of their mean (Maclaurin).
    least_mean = (chances.sum(axis=1, keepdims=True) / n).min()
    if least_mean >= 1:
        return 1
    return int(np.ceil(np.log(1e-18) / min(np.log1p(-least_mean), -1e-9)))


def _stops_of_first(chances, n, last) -> np.ndarray:
    """Compute the probability of stopping at places 1 to `last`, averaged over all orders.

    Documents are added one by one to the documents of probability 0.
    """
    n_more = np.count_nonzero(chances, axis=1)
    order = np.argsort(-n_more, kind="stable")
    chances, n_none, n_more = -np.sort(-chances[order], axis=1), (n - n_more)[order], n_more[order]
    j = np.arange(1.0, last + 1)
    # Probability of having stopped. Summing small numbers is exact where 1 minus them is not.
    stopped = np.zeros((len(n), last + 1))
    for added in range(n_more[0]):
        active = slice(np.searchsorted(-n_more, -added))
        chance = chances[active, added, None]
        # In a share j / number of all orders, the added document is among the first j.
        share = j / (n_none[active, None] + (added + 1.0))
        change = (1 - chance) * stopped[active, :-1]
        change += chance
        change -= stopped[active, 1:]
        # Places beyond the number of documents so far are filled later, and must stay finite.
        change *= np.minimum(share, 1.0, out=share)
        stopped[active, 1:] += change
    result = np.empty((len(n), last))
    result[order] = np.diff(stopped, axis=1)
    return result


def long_tie_stops(chances: np.ndarray, last: int) -> np.ndarray:
    """Compute the mean of ``chances[j] * prod(1 - chances[:j])`` over all orders.

    `chances` are from 0 up and below 1. The time grows with the number of distinct values, and
    hardly with the number of documents.
    """
    distinct, counts = np.unique(chances, return_counts=True)
    n, logs = len(chances), np.empty(last)
    for begin, end in _stretches(n, last):
        places = np.arange(begin, end)
        if len(places) <= 2 * _N_SINGLE:
            logs[begin:end] = _log_stops_at(places, n, distinct, counts)
            continue
        # The logarithms are smooth in the place, except near the end of the tie, where some go to
        # -inf.
        nodes = np.cos(np.pi * (np.arange(_N_NODES) + 0.5) / _N_NODES)
        nodes = np.round((begin + end - 1 + (end - 1 - begin) * nodes) / 2)
        values = _log_stops_at(nodes, n, distinct, counts)
        logs[begin:end] = Chebyshev.fit(nodes, values, _DEGREE, domain=[begin, end - 1])(places)
    return np.exp(logs)


def _stretches(n, last):
    """Divide the places of a tie of length n, up to `last`, into stretches (begin, end).

    Stretches are short near both ends of the tie and double in length towards its middle.
    """
    from_end = _N_SINGLE * 2 ** np.arange(64.0)
    from_end = from_end[from_end < n / 2]
    edges = np.concatenate(([0, n], from_end, n - from_end))
    edges = np.unique(np.minimum(edges, last)).astype(int)
    return pairwise(edges.tolist())


def _log_stops_at(places, n, chances, counts):
    """Compute the logarithms of the means at some places, counted from 0.

    Let R be the probability of a document, and P_d(t) the product of (1 + (1 - R) t) over all
    documents except d. The mean at place j is the sum over d of R_d [t^j] P_d(t), divided by n C(n
    - 1, j), where [t^j] takes the coefficient of t^j. Both coefficients are integrals on a circle
    through the saddle point, where no terms cancel.
    """
    logs = np.log1p(-chances)
    tilt = _saddle_points(places, n, logs, counts)
    log_size, above = _integrals(places, n, tilt, logs, counts, weights=counts * chances)
    _, below = _integrals(places, n, np.zeros(len(places)), np.zeros(1), [n], weights=[n])
    return log_size + np.log(above / below)


def _mixtures(places, n, tilt, log):
    """Compute 1 - u + u (1 - R) e^tilt for u = place / n, and the shares of its two parts in it."""
    stays, goes = (n - places) / n, places / n * np.exp(tilt + log)
    whole = stays + goes
    return whole, goes / whole, stays / whole


def _saddle_points(places, n, logs, counts):
    """Find the tilt for which the probabilities of being above the place sum to the place."""
    # The sum grows with the tilt; bounds follow from assuming equal documents.
    low, high = np.full(len(places), -logs.max()), np.full(len(places), -logs.min())
    tilt = low
    for _ in range(200):
        excess, slope = -places.astype(float), np.zeros(len(places))
        for log, count in zip(logs, counts):
            _, p, q = _mixtures(places, n, tilt, log)
            excess += count * p
            slope += count * p * q
        low, high = np.where(excess <= 0, tilt, low), np.where(excess >= 0, tilt, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = tilt - excess / slope
        inside = (step >= low) & (step <= high)
        following = np.where(inside, step, (low + high) / 2)
        if np.all(np.abs(following - tilt) <= 1e-9 * (1 + np.abs(tilt))):
            break
        tilt = following
    return tilt


def _integrals(places, n, tilt, logs, counts, weights):
    """Return the log of the integrand at the saddle point, and the integral relative to it."""
    parts = [_mixtures(places, n, tilt, log) for log in logs]
    deviation = np.sqrt(sum(count * p * q for (_, p, q), count in zip(parts, counts)))
    # The trapezoidal rule adds the coefficients that are n_angles places away; beyond `widest` they
    # are below rounding.
    n_angles = np.ceil(10 * deviation + 40)
    widest = np.minimum(np.pi, 14 / np.maximum(deviation, 1e-9))
    numbers = np.arange(int(np.max(np.ceil(n_angles * widest / (2 * np.pi)))) + 1)
    angles = 2 * np.pi * numbers / n_angles[:, None]
    trapezoid = np.where(numbers == 0, 1.0, 2.0) * (angles <= np.pi * (1 + 1e-12))
    trapezoid[angles > np.pi * (1 - 1e-12)] /= 2
    half_sine, sine = np.sin(angles / 2) ** 2, np.sin(angles)
    size, phase, factor = np.zeros(angles.shape), np.zeros(angles.shape), 0.0
    log_size, excess = -places * tilt, -places.astype(float)
    for (whole, p, q), log, count, weight in zip(parts, logs, counts, weights):
        exponent = tilt + log
        near = np.log1p(places / n * np.expm1(np.minimum(exponent, 0.5)))
        log_size += count * np.where(np.abs(exponent) < 0.5, near, np.log(whole))
        excess += count * p
        p, q = p[:, None], q[:, None]
        real, imaginary = 1 - 2 * p * half_sine, p * sine
        with np.errstate(divide="ignore"):
            size += count / 2 * np.log1p(-np.minimum(4 * p * q * half_sine, 1.0))
        # The deviation of the angle from its mean, computed from the smaller share to avoid
        # cancellation.
        small = np.where(p <= 0.5, p, q)
        turn = np.arctan2(small * sine, 1 - 2 * small * half_sine) - small * angles
        phase += count * np.where(p <= 0.5, turn, -turn)
        factor = factor + weight / whole[:, None] / (real + 1j * imaginary)
    phase += excess[:, None] * angles
    terms = trapezoid * np.exp(size + 1j * phase) * factor
    return log_size, terms.real.sum(axis=1) / n_angles
