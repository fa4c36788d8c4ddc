"""Prefixes of ranked lists, and the thresholds below them."""

import numpy as np

from skfilterrank._base.checks import cached_property
from skfilterrank._base.rounding import mean_tolerance
from skfilterrank._lists.queries import GroupIndex


class Ranking:
    """Rows sorted by query and descending score, with their ties.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), float64
        Scores by which lists are ranked.
    index : GroupIndex
        The queries.
    gains : ndarray of shape (n_rows,), or None
        Gains that order tied rows, the lowest first; None keeps the order of the data.

    Attributes
    ----------
    order : ndarray of shape (n_rows,)
        Row numbers, sorted.
    starts, sizes : ndarray of shape (n_lists,)
        Position of the first row of each list in `order`, and number of its rows.
    scores : ndarray of shape (n_rows,)
        Sorted scores.
    index : GroupIndex
        The queries.
    """

    def __init__(self, scores, index, gains=None):
        keys = (-scores, index.codes())
        self.order = np.lexsort(keys if gains is None else (np.nan_to_num(gains), *keys))
        self.index, self.sizes = index, index.sizes
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.scores = scores[self.order]

    @cached_property
    def place(self) -> np.ndarray:
        """Place of each row in its list, from 0."""
        return np.arange(len(self.order)) - np.repeat(self.starts, self.sizes)

    @cached_property
    def is_first_of_tie(self) -> np.ndarray:
        """Mask of the first row of each tie."""
        is_first = np.ones(len(self.scores), dtype=bool)
        np.not_equal(self.scores[1:], self.scores[:-1], out=is_first[1:])
        is_first[self.starts] = True
        return is_first

    @cached_property
    def ties(self) -> np.ndarray:
        """Position of the first row of each tie."""
        return np.flatnonzero(self.is_first_of_tie)

    @cached_property
    def n_tied(self) -> np.ndarray:
        """Number of rows of each tie."""
        return np.diff(self.ties, append=len(self.order))

    @cached_property
    def tie_number(self) -> np.ndarray:
        """Number of the tie of each row in its list, from 0."""
        number = np.cumsum(self.is_first_of_tie) - 1
        return number - np.repeat(number[self.starts], self.sizes)

    def tie_means(self, values: np.ndarray) -> np.ndarray:
        """Return, for each row, the mean of `values` in its tie."""
        if len(self.ties) == len(values):
            return values
        return np.repeat(np.add.reduceat(values, self.ties) / self.n_tied, self.n_tied)

    def running_sums(self, values: np.ndarray) -> np.ndarray:
        """Sum values from the top of each list down to each row, separately for each list."""
        if len(self.sizes) == 1:
            return np.cumsum(values)
        n_rows = len(self.order)
        index = GroupIndex(np.arange(len(self.sizes)), self.sizes, self.starts, None, n_rows)
        sums = np.empty(n_rows)
        for block in index.blocks():
            index.put(sums, block, np.cumsum(index.take(values, block, 0.0), axis=1))
        return sums

    def by_row(self, values: np.ndarray) -> np.ndarray:
        """Bring values back into the order of the data."""
        result = np.empty(len(values), dtype=values.dtype)
        result[self.order] = values
        return result

    def best_prefix(self, sums: np.ndarray, tolerance: float) -> np.ndarray:
        """Return a mask of the rows in the prefix of each list with the highest sum.

        Ties are not cut, and rows at -inf are never shown. Among prefixes whose sums differ by
        the tolerance at most, the longest is taken; no row is shown where all sums are negative.
        """
        is_end = np.ones(len(sums), dtype=bool)
        is_end[:-1] = self.is_first_of_tie[1:]
        sums = np.where(is_end & (self.scores > -np.inf), sums, -np.inf)
        highest = np.maximum.reduceat(sums, self.starts)
        is_best = sums >= np.repeat(highest, self.sizes) - tolerance
        last = np.maximum.reduceat(np.where(is_best, np.arange(len(sums)), -1), self.starts)
        last = np.where(highest < -tolerance, -1, last)
        return self.by_row(np.arange(len(sums)) <= np.repeat(last, self.sizes))

    def thresholds_below(self, last: np.ndarray) -> np.ndarray:
        """Return for each row the threshold that shows its list down to a given position.

        The threshold is the middle between two scores, -inf if all rows are shown, and +inf if none
        is shown (position -1).
        """
        is_empty = last < 0
        is_whole = ~is_empty & (last + 1 == self.starts + self.sizes)
        upper = self.scores[last]
        lower = self.scores[np.minimum(last + 1, len(self.scores) - 1)]
        # Infinite scores have no middle.
        lower = np.where(is_whole | np.isneginf(lower), upper, lower)
        with np.errstate(invalid="ignore", over="ignore"):
            half = (upper - lower) / 2
            # The difference of extreme scores overflows.
            thresholds = lower + np.where(np.isinf(half), upper / 2 - lower / 2, half)
        thresholds = np.where(thresholds > lower, thresholds, upper)
        thresholds = np.where(is_empty, np.inf, np.where(is_whole, -np.inf, thresholds))
        return self.by_row(np.repeat(thresholds, self.sizes))


def places(scores, index) -> np.ndarray:
    """Return the place of each row in the ranking of its query, from 0; ties in the row order."""
    ranking = Ranking(scores, index)
    return ranking.by_row(ranking.place)


def places_of_ties(scores, index) -> np.ndarray:
    """Count, for each row, the rows of its query with a higher score."""
    ranking = Ranking(scores, index)
    return ranking.by_row(np.repeat(ranking.place[ranking.ties], ranking.n_tied))


def best_prefix(expected, scores, index, k) -> np.ndarray:
    """Return a mask of the rows in the prefix of the highest sum of each list.

    Parameters
    ----------
    expected : ndarray of shape (n_rows,), float64
        Expected gain of each document, which is multiplied by the discount of its place. Tied
        documents get their mean.
    scores : ndarray of shape (n_rows,), float64
        Scores by which documents are ranked.
    index : GroupIndex
        The queries.
    k : int or None
        Number of places that count.

    Returns
    -------
    ndarray of shape (n_rows,), bool
        Mask of these rows, as of :meth:`Ranking.best_prefix`.
    """
    ranking = Ranking(scores, index)
    discount = 1.0 / np.log2(ranking.place + 2.0)
    if k is not None:
        discount[ranking.place >= k] = 0.0
    sums = ranking.running_sums(ranking.tie_means(expected[ranking.order]) * discount)
    return ranking.best_prefix(sums, mean_tolerance(expected))


def thresholds_of(shown, scores, index) -> np.ndarray:
    """Return for each row its query's threshold that shows the given number of documents.

    If the last shown document and the next one have equal scores, that score is the threshold.
    """
    ranking = Ranking(scores, index)
    n_shown = np.add.reduceat(shown[ranking.order], ranking.starts, dtype=np.intp)
    return ranking.thresholds_below(np.where(n_shown > 0, ranking.starts + n_shown - 1, -1))


def ties_worst_first(gains, scores, index) -> np.ndarray:
    """Return row numbers with the tied rows of each query sorted by gain, the lowest first.

    All other rows keep their place. If ties are then broken by the order of rows, the result does
    not depend on the order of the data and errs on the safe side.
    """
    order = np.empty(len(scores), dtype=np.intp)
    order[Ranking(scores, index).order] = Ranking(scores, index, gains).order
    return order
