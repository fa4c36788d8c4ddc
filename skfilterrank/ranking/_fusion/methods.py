"""The methods of fusion, in one table: what a list gives to a row, and how gifts are combined."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.floats import ROUNDING_OF_MEANS
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.ranking._fusion.scales import Lists, borda_points, scaled

_CELLS = 1 << 20


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
