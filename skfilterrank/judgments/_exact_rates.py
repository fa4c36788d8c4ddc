"""Exact intervals of rates, and of differences between rates, from some judged queries.

A rate is the mean of values that are 0 or 1 in each query, such as the risk "any_forbidden". Where
it is small, most samples hold few queries of value 1 or none, and Student's intervals are far too
narrow. Here ends are those of equal-tailed tests: hypergeometric for the queries that the sample
was drawn from, binomial (Clopper and Pearson) for new queries.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, betaincinv
from scipy.stats import hypergeom

# Share of the allowed error that is spent on the sign: on which of two runs has the value 1 where
# they differ. The rest is spent on how many queries they differ in.
_OF_SIGN = 0.8


@dataclass(frozen=True, eq=False)
class ExactRates:
    """Values of 0 and 1 of judged queries, which are a simple random sample.

    Attributes
    ----------
    by_query : ndarray of shape (n_runs, n_judged), bool
        Values of the judged queries.
    lists : ndarray of shape (n_runs, n_drawn_from)
        A number for each list of the queries that were drawn from, the same for lists of the same
        documents, whose values are equal.
    is_judged : ndarray of shape (n_drawn_from,), bool
        The judged queries.
    part : float
        Share of all queries that were drawn from. The others have the value 0.
    is_for_new : bool
        True for rates of new queries, False for rates of these.
    """

    by_query: np.ndarray
    lists: np.ndarray
    is_judged: np.ndarray
    part: float
    is_for_new: bool

    def of_runs(self, confidence_level: float):
        """Compute both ends of the interval of each run's rate."""
        hits, error = self.by_query.sum(axis=1), (1 - confidence_level) / 2
        rates = self.part * self.by_query.mean(axis=1)
        low, high = self._shares(hits, self.lists.shape[1], self.by_query.shape[1], error)
        return np.minimum(low, rates), np.maximum(high, rates)

    def of_pairs(self, first, second, confidence_level: float):
        """Compute both ends of the interval of each difference, first minus second, and p values.

        A difference is the share of queries in which the runs differ, times 2 s - 1, where s is the
        share of these in which the first has the value 1. Each has an exact interval, and both
        hold together (Bonferroni). The p value is that of the sign test, over the share of the
        error that is spent on s, so that an interval without 0 and a small p value are the same.
        """
        ours, theirs = self.by_query[first], self.by_query[second]
        more, less = (ours & ~theirs).sum(axis=1), (theirs & ~ours).sum(axis=1)
        differ, error = more + less, (1 - confidence_level) / 2
        others = self.lists[first] != self.lists[second]
        n_all = others.sum(axis=1)
        n_judged = others[:, self.is_judged].sum(axis=1)
        if self.is_for_new:
            n_all, n_judged = np.full((2, len(differ)), self.lists.shape[1])
            n_judged = np.full(len(differ), self.by_query.shape[1])
        of_number, of_sign = (1 - _OF_SIGN) * error, _OF_SIGN * error
        fewest, most = self._shares(differ, n_all, n_judged, of_number)
        if self.is_for_new:
            signs = _clopper_pearson(more, differ, of_sign)
        else:
            n_most = np.rint(most * self.lists.shape[1] / self.part).astype(int)
            signs = [each / np.maximum(n_most, 1) for each in _among(more, differ, n_most, of_sign)]
        low, high = (2 * np.asarray(signs) - 1) * np.ones((2, 1))
        p_value = np.minimum(2 * bdtrc(np.maximum(more, less) - 1, differ, 0.5) / _OF_SIGN, 1.0)
        if self.is_judged.all() and not self.is_for_new:
            p_value = np.where(more == less, 1.0, 0.0)
        return (
            np.minimum(low * fewest, low * most) + 0.0,
            np.maximum(high * fewest, high * most) + 0.0,
            np.where(differ == 0, 1.0, p_value),
        )

    def _shares(self, hits, n_all, n_judged, error):
        """Compute ends of a share of all queries, of `n_all` that may have it; by the target."""
        if self.is_for_new:
            # The queries without a list are known to have the value 0: the judged ones say as
            # much as so many queries of all kinds.
            return _clopper_pearson(hits, n_judged / self.part, error)
        low, high = _among(hits, n_judged, n_all, error)
        n_queries = self.lists.shape[1]
        return low * self.part / n_queries, high * self.part / n_queries


def _clopper_pearson(hits, n, error):
    """Compute ends of a rate, each exceeded with at most this probability."""
    hits, n = np.asarray(hits, dtype=float), np.asarray(n, dtype=float)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, error), 0.0)
    rest = np.maximum(n - hits, 1e-300)
    high = np.where(hits < n, betaincinv(hits + 1, rest, 1 - error), 1.0)
    return low, high


def _among(hits, n_drawn, n_all, error):
    """Compute the least and the largest number of hits among all, by those among the drawn."""
    given = np.stack(np.broadcast_arrays(hits, n_drawn, n_all))
    # Many runs and pairs have the same counts.
    (hits, n_drawn, n_all), number = np.unique(given, axis=1, return_inverse=True)
    fewest = n_all - _most_among(n_drawn - hits, n_drawn, n_all, error)
    return fewest[number], _most_among(hits, n_drawn, n_all, error)[number]


def _most_among(hits, n_drawn, n_all, error):
    """Find the largest number of hits among all that still gives so few among the drawn."""
    low, high = hits.copy(), n_all - n_drawn + hits
    while (low < high).any():
        middle = (low + high + 1) // 2
        is_possible = hypergeom.cdf(hits, n_all, middle, n_drawn) > error
        low, high = np.where(is_possible, middle, low), np.where(is_possible, high, middle - 1)
    return low
