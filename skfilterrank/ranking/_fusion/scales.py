"""How the lists of several systems for a query are brought to one scale: by scores or by ranks."""

import numpy as np

from skfilterrank._lists.arrays import cached_property
from skfilterrank._lists.floats import ROUNDING_OF_MEANS
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError


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
