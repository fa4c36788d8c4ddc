"""Methods of fusion: normalisation of lists, and combination over systems."""

import numpy as np

from skfilterrank._lists.checks import cached_property
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.ties import ROUNDING_OF_MEANS

FILTERED = ("any", "all", "majority")
_CELLS = 1 << 20


def fuse(scores, weights, index, *, method, filtered, tie_keys=None, **settings) -> np.ndarray:
    """Compute the fused score of each row, -inf where filtered.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_systems), dtype float64
        -inf where a system does not retrieve the row.
    weights : ndarray of shape (n_systems,)
        Weight of each system; 0 leaves it out.
    index : GroupIndex
        Queries of the rows.
    method, filtered : str
        As in :func:`fuse_runs`.
    tie_keys : ndarray of shape (n_rows,), default=None
        Order of rows of equal score, descending. None gives them the mean of their ranks.
    **settings
        `normalize` and `rrf_k`.
    """
    used = weights > 0
    lists = Lists(scores[:, used], index, tie_keys)
    contribution, combine = METHODS[method]
    fused = combine(contribution(lists, settings), weights[used], index)
    fused[_is_filtered(lists.retrieved, filtered)] = -np.inf
    return fused


def _is_filtered(retrieved, filtered):
    """Return a mask of the rows that are filtered in the result."""
    n_systems, n_kept = retrieved.shape[1], np.count_nonzero(retrieved, axis=1)
    if filtered == "any":
        return n_kept < n_systems
    if filtered == "majority":
        return 2 * n_kept < n_systems
    return n_kept == 0


class Lists:
    """The systems' lists for all queries; parameters as in :func:`fuse`."""

    def __init__(self, values, index: GroupIndex, tie_keys=None):
        self.values, self.index, self.tie_keys = values, index, tie_keys
        self.retrieved = values > -np.inf

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of each retrieved row in its list, from 1; 1 elsewhere."""
        codes, ranks = self.index.codes(), np.ones(self.values.shape)
        for column, scores in enumerate(self.values.T):
            rows = np.flatnonzero(scores > -np.inf)
            keys: tuple = (-scores[rows], codes[rows])
            if self.tie_keys is not None:
                keys = (-self.tie_keys[rows], *keys)
            rows = rows[np.lexsort(keys)]
            query, ordered = codes[rows], scores[rows]
            new_query = np.append(True, query[1:] != query[:-1])[: len(rows)]
            heads = np.flatnonzero(new_query)
            places = np.arange(1.0, len(rows) + 1)
            places -= np.repeat(heads, np.diff(heads, append=len(rows)))
            if self.tie_keys is None and len(rows):
                ties = np.flatnonzero(new_query | np.append(True, ordered[1:] != ordered[:-1]))
                sizes = np.diff(ties, append=len(rows))
                places = np.repeat(places[ties] + (sizes - 1) / 2, sizes)
            ranks[rows, column] = places
        return ranks

    @cached_property
    def lengths(self) -> np.ndarray:
        """Length of each system's list for the query of each row."""
        return self.over_query(np.add, self.retrieved.astype(np.float64))

    @cached_property
    def n_candidates(self) -> np.ndarray:
        """Number of rows of the query that some system retrieves, of shape (n_rows, 1)."""
        is_candidate = self.retrieved.any(axis=1, keepdims=True).astype(np.float64)
        return self.over_query(np.add, is_candidate)

    def over_query(self, ufunc, values) -> np.ndarray:
        """Reduce the rows of each query by a ufunc; return the result for every row."""
        order = self.index.row_order()
        starts = np.cumsum(self.index.sizes) - self.index.sizes
        per_query = ufunc.reduceat(values[order], starts, axis=0)
        result = np.empty_like(values)
        result[order] = np.repeat(per_query, self.index.sizes, axis=0)
        return result


def borda_points(lists: Lists) -> np.ndarray:
    """Compute Borda points; candidates that a system does not retrieve share the rest."""
    points = lists.n_candidates + 1.0 - lists.ranks
    points = np.where(lists.retrieved, points, (lists.n_candidates - lists.lengths + 1.0) / 2)
    return np.where(lists.retrieved.any(axis=1, keepdims=True), points, np.nan)


def _minmax(lists):
    # Scores are halved, because the difference of two large scores may overflow.
    low = lists.over_query(np.minimum, np.where(lists.retrieved, lists.values, np.inf)) / 2
    high = lists.over_query(np.maximum, lists.values) / 2
    spread = high - low
    return np.divide(lists.values / 2 - low, spread, where=high > low, out=np.ones_like(low))


def _sum_to_one(lists):
    above_lowest = np.where(lists.retrieved, _minmax(lists), 0.0)
    return above_lowest / lists.over_query(np.add, above_lowest)


def _zscore(lists):
    finite = np.where(lists.retrieved, lists.values, 0.0)
    lengths = np.maximum(lists.lengths, 1.0)
    mean = lists.over_query(np.add, finite / lengths)
    distance = np.where(lists.retrieved, lists.values - mean, 0.0)
    deviation = np.sqrt(lists.over_query(np.add, distance**2 / lengths))
    largest = lists.over_query(np.maximum, np.abs(finite))
    # Rounding can make the standard deviation of equal scores nonzero.
    varies = deviation > ROUNDING_OF_MEANS * largest
    return np.divide(distance, deviation, where=varies, out=np.zeros_like(distance))


NORMALIZATIONS = {
    "minmax": _minmax,
    "zscore": _zscore,
    "sum": _sum_to_one,
    "rank": lambda lists: 1.0 - (lists.ranks - 1.0) / lists.lengths,
    None: lambda lists: lists.values,
}


# Functions of lists and settings that return each system's contributions: an array of shape
# (n_rows, n_systems), NaN where a system contributes nothing.


def _scores(lists, settings):
    with np.errstate(invalid="ignore", divide="ignore"):
        values = NORMALIZATIONS[settings["normalize"]](lists)
    return np.where(lists.retrieved, values, np.nan)


def _ranks(lists, settings):
    return np.where(lists.retrieved, lists.ranks, np.nan)


# Functions that combine contributions, with the weights of the systems, into one score a row.


def _sum(given, weights, index):
    # Terms are sorted, so that results are bit-equal for any order of systems.
    return np.sort(_filled(0.0, given * weights), axis=1).sum(axis=1)


def _majorities(ranks, weights, index):
    """Return 1, plus 1 for each row that a majority ranks lower, plus 1/2 for each even vote."""
    result, behind_all = np.ones(len(ranks)), len(ranks) + 1.0
    for rows in np.split(index.row_order(), np.cumsum(index.sizes)[:-1]):
        rows = rows[~np.isnan(ranks[rows]).all(axis=1)]
        places = _filled(behind_all, ranks[rows])
        for begin in range(0, len(rows), size := max(1, _CELLS // max(1, len(rows)))):
            block = places[begin : begin + size]
            margins = np.zeros((len(block), len(rows)))
            # Systems of equal weight are counted, so that results are bit-equal for any order.
            for weight in np.unique(weights):
                votes = np.zeros(margins.shape, dtype=np.int32)
                for column in np.flatnonzero(weights == weight):
                    votes += places[:, column] > block[:, column, None]
                    votes -= places[:, column] < block[:, column, None]
                margins += weight * votes
            margins[np.abs(margins) <= ROUNDING_OF_MEANS * weights.sum()] = 0
            behind = np.count_nonzero(margins > 0, axis=1)
            on_par = np.count_nonzero(margins == 0, axis=1) - 1  # itself
            result[rows[begin : begin + size]] = 1 + behind + on_par / 2
    return result


def _filled(filler, given):
    return np.where(np.isnan(given), filler, given)


def _n_lists(given):
    return np.count_nonzero(~np.isnan(given), axis=1)


# Two functions for each method: the first computes contributions, the second combines them.
METHODS = {
    "rrf": (lambda lists, how: 1.0 / (how["rrf_k"] + _ranks(lists, how)), _sum),
    "borda": (lambda lists, how: borda_points(lists), _sum),
    "condorcet": (_ranks, _majorities),
    "combsum": (_scores, _sum),
    "combmnz": (_scores, lambda given, *how: _sum(given, *how) * _n_lists(given)),
}
