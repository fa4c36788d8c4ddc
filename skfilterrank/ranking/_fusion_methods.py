"""The methods of fusion: lists on one scale, and scores or ranks combined over systems."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.checks import cached_property
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.ties import ROUNDING_OF_MEANS
from skfilterrank.exceptions import InputError

FILTERED = ("any", "all", "majority")
_CELLS = 1 << 20


class Lists:
    """The systems' lists for all queries.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_systems), dtype float64
        Scores, -inf where a system does not retrieve the row.
    index : GroupIndex
        The queries of the rows.
    tie_keys : ndarray of shape (n_rows,), default=None
        What orders equal scores, descending; None gives them the mean of their ranks.
    """

    def __init__(self, values, index: GroupIndex, tie_keys=None):
        self.values, self.index, self.tie_keys = values, index, tie_keys
        self.retrieved = values > -np.inf

    @cached_property
    def ranks(self) -> np.ndarray:
        """Rank of each retrieved row in its list, from 1; 1 elsewhere."""
        return list_ranks(self.values, self.index, self.tie_keys)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Length of the list that each row stands in, or would."""
        return self.over_query(np.add, self.retrieved.astype(np.float64))

    def over_query(self, ufunc, values) -> np.ndarray:
        """A ufunc over the rows of each query, given back to every row."""
        order = self.index.row_order()
        starts = np.cumsum(self.index.sizes) - self.index.sizes
        per_query = ufunc.reduceat(values[order], starts, axis=0)
        result = np.empty_like(values)
        result[order] = np.repeat(per_query, self.index.sizes, axis=0)
        return result


class Settings(NamedTuple):
    """What methods depend on."""

    normalize: str | None
    rrf_k: float
    persistence: float


class Method(NamedTuple):
    """A method of fusion.

    Attributes
    ----------
    gives : callable
        From lists and settings to an array of shape (n_rows, n_systems): what each list gives to
        each row, NaN where nothing.
    combine : callable
        From this array, the weights of the systems and the queries to one score per row.
    """

    gives: Callable[[Lists, Settings], np.ndarray]
    combine: Callable[[np.ndarray, np.ndarray, GroupIndex], np.ndarray]


def fuse(matrix, weights, index, *, method, settings, filtered, tie_keys=None):
    """Fused score of each row; `tie_keys` order equal scores, descending, else ranks are means."""
    used = weights > 0
    lists = Lists(matrix[:, used], index, tie_keys)
    gives, combine = METHODS[method]
    fused = combine(gives(lists, settings), weights[used], index)
    fused[is_filtered(lists.retrieved, filtered)] = -np.inf
    return fused


def is_filtered(retrieved, filtered) -> np.ndarray:
    """Which rows the systems filter together."""
    n_systems, n_kept = retrieved.shape[1], np.count_nonzero(retrieved, axis=1)
    if filtered == "any":
        return n_kept < n_systems
    if filtered == "majority":
        return 2 * n_kept < n_systems
    return n_kept == 0


def scaled(lists: Lists, normalize) -> np.ndarray:
    """Scores on one scale, NaN where a system says nothing of a row."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = NORMALIZATIONS[normalize](lists)
    if normalize == "borda":  # which has points for whatever some other system retrieves
        return values
    return np.where(lists.retrieved, values, np.nan)


def normalized(values, index: GroupIndex, normalize) -> np.ndarray:
    """Scores on one scale, 0 where a system says nothing of a row."""
    found = scaled(Lists(values, index), normalize)
    return np.where(np.isnan(found), 0.0, found)


def borda_points(lists: Lists) -> np.ndarray:
    """Candidates less those ranked above; candidates that a system leaves out share the rest."""
    n_candidates = _n_candidates(lists)
    points = n_candidates + 1.0 - lists.ranks
    points = np.where(lists.retrieved, points, (n_candidates - lists.lengths + 1.0) / 2)
    return np.where(lists.retrieved.any(axis=1, keepdims=True), points, np.nan)


def list_ranks(values, index: GroupIndex, tie_keys=None) -> np.ndarray:
    """Rank of each retrieved row in its system's list for its query, from 1; 1 elsewhere.

    Rows of equal score share the mean of their ranks, unless `tie_keys` order them, descending.
    """
    codes = index.codes()
    ranks = np.ones(values.shape)
    for column, scores in enumerate(values.T):
        rows = np.flatnonzero(scores > -np.inf)
        keys: tuple = (-scores[rows], codes[rows])
        if tie_keys is not None:
            keys = (-tie_keys[rows], *keys)
        rows = rows[np.lexsort(keys)]
        query, ordered = codes[rows], scores[rows]
        new_query = np.append(True, query[1:] != query[:-1])[: len(rows)]
        heads = np.flatnonzero(new_query)
        places = np.arange(1.0, len(rows) + 1) - np.repeat(heads, np.diff(heads, append=len(rows)))
        if tie_keys is None and len(rows):
            ties = np.flatnonzero(new_query | np.append(True, ordered[1:] != ordered[:-1]))
            sizes = np.diff(ties, append=len(rows))
            places = np.repeat(places[ties] + (sizes - 1) / 2, sizes)
        ranks[rows, column] = places
    return ranks


def _n_candidates(lists):
    """Number of rows of the query that some system retrieves."""
    is_candidate = lists.retrieved.any(axis=1, keepdims=True).astype(np.float64)
    return lists.over_query(np.add, is_candidate)


def _as_they_are(lists):
    return lists.values


def _by_rank(lists):
    return 1.0 - (lists.ranks - 1.0) / lists.lengths


def _by_points(lists):
    return borda_points(lists) / _n_candidates(lists)


def _minmax(lists):
    # Halves, because the difference of two large scores may leave the range of float64.
    low = lists.over_query(np.minimum, np.where(lists.retrieved, lists.values, np.inf)) / 2
    high = lists.over_query(np.maximum, lists.values) / 2
    spread = high - low
    return np.divide(lists.values / 2 - low, spread, where=high > low, out=np.ones_like(low))


def _shares(lists):
    # What is over the lowest score, so that a list sums to 1.
    over = np.where(lists.retrieved, _minmax(lists), 0.0)
    return over / lists.over_query(np.add, over)


def _over_max(lists):
    high = lists.over_query(np.maximum, lists.values)
    wrong = lists.retrieved & (high <= 0) & ((high < 0) | (lists.values < 0))
    if wrong.any():
        raise InputError(
            "normalize='max' divides by the highest score of a list, and a list of query "
            f"{lists.index.query_ids[lists.index.codes()[wrong.any(axis=1)][0]]} has none above "
            "0: take 'minmax', 'sum' or 'zscore'."
        )
    return np.divide(lists.values, high, where=high > 0, out=np.zeros_like(high))


def _zscore(lists):
    finite = np.where(lists.retrieved, lists.values, 0.0)
    lengths = np.maximum(lists.lengths, 1.0)
    mean = lists.over_query(np.add, finite / lengths)
    distance = np.where(lists.retrieved, lists.values - mean, 0.0)
    deviation = np.sqrt(lists.over_query(np.add, distance**2 / lengths))
    largest = lists.over_query(np.maximum, np.abs(finite))
    # The standard deviation of equal scores need not be exactly 0.
    varies = deviation > ROUNDING_OF_MEANS * largest
    return np.divide(distance, deviation, where=varies, out=np.zeros_like(distance))


NORMALIZATIONS = {
    "minmax": _minmax,
    "zscore": _zscore,
    "max": _over_max,
    "sum": _shares,
    "rank": _by_rank,
    "borda": _by_points,
    None: _as_they_are,
}


def _scores(lists, settings):
    return scaled(lists, settings.normalize)


def _ranks(lists, settings):
    return np.where(lists.retrieved, lists.ranks, np.nan)


def _reciprocal(lists, settings):
    return 1.0 / (settings.rrf_k + _ranks(lists, settings))


def _inverse_square(lists, settings):
    return 1.0 / _ranks(lists, settings) ** 2


def _rank_biased(lists, settings):
    persistence = settings.persistence
    return (1.0 - persistence) * persistence ** (_ranks(lists, settings) - 1.0)


def _points(lists, settings):
    return borda_points(lists)


def _sum(given, weights, index):
    # Sorted, so that the systems' order does not change a bit.
    return np.sort(_with(0.0, given * weights), axis=1).sum(axis=1)


def _sum_times_lists(given, weights, index):
    return _sum(given, weights, index) * _n_lists(given)


def _sum_times_log_lists(given, weights, index):
    return _sum(given, weights, index) * np.log(np.maximum(_n_lists(given), 1))


def _mean(given, weights, index):
    return _sum(given, weights, index) / np.maximum(_n_lists(given), 1)


def _highest(given, weights, index):
    return _with(-np.inf, given * weights).max(axis=1)


def _lowest(given, weights, index):
    return _with(np.inf, given * weights).min(axis=1)


def _median(given, weights, index):
    ordered = np.sort(given * weights, axis=1)  # NaN last
    n_lists = np.maximum(_n_lists(given), 1)
    middle = np.column_stack([(n_lists - 1) // 2, n_lists // 2])
    # Halves, because the sum of two large scores may leave the range of float64.
    return (np.take_along_axis(ordered, middle, axis=1) / 2).sum(axis=1)


def _majorities(ranks, weights, index):
    """1, and 1 more for each row behind by the majority of votes, 1/2 for each on a par."""
    result, behind_all = np.ones(len(ranks)), len(ranks) + 1.0
    for rows in np.split(index.row_order(), np.cumsum(index.sizes)[:-1]):
        rows = rows[~np.isnan(ranks[rows]).all(axis=1)]
        places = _with(behind_all, ranks[rows])
        for begin in range(0, len(rows), size := max(1, _CELLS // max(1, len(rows)))):
            block = places[begin : begin + size]
            margins = np.zeros((len(block), len(rows)))
            # Systems of one weight are counted, so that their order does not change a bit.
            for weight in np.unique(weights):
                columns = np.flatnonzero(weights == weight)
                votes = np.zeros(margins.shape, dtype=np.int32)
                for column in columns:
                    votes += places[:, column] > block[:, column, None]
                    votes -= places[:, column] < block[:, column, None]
                margins += weight * votes
            margins[np.abs(margins) <= ROUNDING_OF_MEANS * weights.sum()] = 0
            behind = np.count_nonzero(margins > 0, axis=1)
            on_par = np.count_nonzero(margins == 0, axis=1) - 1  # itself
            result[rows[begin : begin + size]] = 1 + behind + on_par / 2
    return result


def _with(filler, given):
    return np.where(np.isnan(given), filler, given)


def _n_lists(given):
    return np.count_nonzero(~np.isnan(given), axis=1)


METHODS = {
    "rrf": Method(_reciprocal, _sum),
    "isr": Method(_inverse_square, _sum_times_lists),
    "log_isr": Method(_inverse_square, _sum_times_log_lists),
    "rbc": Method(_rank_biased, _sum),
    "borda": Method(_points, _sum),
    "condorcet": Method(_ranks, _majorities),
    "combsum": Method(_scores, _sum),
    "combmnz": Method(_scores, _sum_times_lists),
    "combanz": Method(_scores, _mean),
    "combmed": Method(_scores, _median),
    "combmax": Method(_scores, _highest),
    "combmin": Method(_scores, _lowest),
}
