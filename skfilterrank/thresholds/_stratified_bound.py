"""Exact bound of a rate by people's labels in the strata of a machine's, and its power."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrik, betaincinv, gammaln, ndtri, xlog1py, xlogy
from scipy.stats import binom

from skfilterrank.thresholds._risks import allowed_error

# Parts of the error that are spent on confidence limits: of the share of queries that the machine
# flags, and of the rate among the flagged queries.
_OF_SHARE, _OF_RATE = 0.02, 0.03
# The assumptions for which power is planned, fixed before any label is known: the risk as a share
# of its level, and the machine's sensitivity and specificity.
PLANNED_RATE, SENSITIVITY, SPECIFICITY = 0.6, 0.8, 0.95
# Initial grid of shares and rates, largest number of cells, and number of halvings.
_CELLS, _MOST_CELLS, _N_HALVINGS = (3, 6), 300, 6
# Number of classes of the count of flagged unjudged queries, and the tail probability that is added
# to the bound.
_N_CLASSES, _TAIL = 48, 1e-7
# Number of steps to which shares of flagged queries are rounded.
_N_SHARES = 200
# Places of the counts over which power is averaged, and quantiles of the number of flagged queries
# at which the exact test is done for it.
_N_NODES, _AT = 20, (0.25, 0.75)
# Largest number of people's queries for which powers are compared: more queries only favor the test
# with the machine.
MOST_PLANNED = 300
# Share of the misses of people's labels alone that the test beside a machine may have, as means
# over counts are not exact.
_MOST_MISSES = 0.95


class Counts(NamedTuple):
    """Queries of people and of the machine at a threshold.

    Attributes
    ----------
    flagged, losses_flagged, losses_other : int or ndarray of int
        Queries of people that the machine flags, and losses by people among them and the others.
    flagged_by_machine : int or ndarray of int
        All queries that the machine flags.
    """

    flagged: Any
    losses_flagged: Any
    losses_other: Any
    flagged_by_machine: Any


class StratifiedBound:
    """Exact test of a rate by people's labels in two strata, flagged by a machine or not.

    People judged a random part of the queries. Given the number that the machine flags among them,
    three numbers are independent and binomial: losses of people's flagged queries, losses of the
    others, and queries that the machine flags among those that nobody judged. The statistic is
    ``W x1 / n1 + (1 - W) x0 / n0`` with the flagged share W of all queries. Its probability is
    bounded over all shares and rates for which the risk reaches the level. Parts of the error are
    spent on limits of the share and of the rate among flagged queries (Clopper-Pearson), so that
    the bound need not hold for machines that the labels refute (Berger and Boos, Journal of the
    American Statistical Association 89, 1994).

    Parameters
    ----------
    n_people, n_machine : int
        Queries that people judged, drawn at random, among all that the machine judged.
    level : float
        Rate that the test should reject.
    confidence : float
        One minus the highest probability of rejecting a level when the rate is at this level or
        above.
    """

    def __init__(self, n_people, n_machine, level, confidence):
        self.n_people, self.n_machine = n_people, n_machine
        self.level, self.confidence = level, confidence
        self._width = -(-n_machine // _N_SHARES)
        self._known: dict = {}

    def rules_out(self, counts: Counts) -> bool:
        """Return True if the counts reject that the rate is at the level or above."""
        key = tuple(map(int, counts[:3])), self._class(counts)
        if key not in self._known:
            self._known[key] = self._rules_out(counts)
        return self._known[key]

    def estimate(self, counts: Counts) -> float:
        """Return the test statistic: loss rates of the strata, weighted by their shares."""
        if self.n_people == self.n_machine:
            return float((counts.losses_flagged + counts.losses_other) / self.n_people)
        share = self._shares(counts.flagged, self._class(counts))
        n1, n0 = counts.flagged, self.n_people - counts.flagged
        return float(
            share * counts.losses_flagged / max(n1, 1)
            + (1 - share) * counts.losses_other / max(n0, 1)
        )

    def upper(self, counts: Counts) -> float:
        """Return the smallest level that the counts reject, rounded up by at most 1e-4."""
        low, high = self.estimate(counts), 1.0
        while high - low > 1e-4:
            middle = (low + high) / 2
            bound = StratifiedBound(self.n_people, self.n_machine, middle, self.confidence)
            is_out = bound._rules_out(counts)
            low, high = (low, middle) if is_out else (middle, high)
        return high

    def _class(self, counts):
        """Return the class of the number of flagged queries that nobody judged."""
        return int(counts.flagged_by_machine - counts.flagged) // self._width

    def _shares(self, flagged, classes):
        """Return the share of flagged queries at the middle of each class."""
        middle = flagged + classes * self._width + (self._width - 1) / 2
        return np.clip(middle / self.n_machine, 0.0, 1.0)

    def _limits(self, flagged, number):
        """Return limits of the true share of flagged queries."""
        error, n = _OF_SHARE * (1 - self.confidence) / 2, self.n_machine
        low = flagged + number * self._width
        high = min(low + self._width - 1, n - self.n_people + flagged)
        return (
            0.0 if low == 0 else float(betaincinv(low, n - low + 1, error)),
            1.0 if high == n else float(betaincinv(high + 1, n - high, 1 - error)),
        )

    def _rules_out(self, counts):
        if self.n_people == self.n_machine:
            # Nothing is left for the machine.
            losses = counts.losses_flagged + counts.losses_other
            error = allowed_error(self.confidence)
            return bool(bdtr(losses, self.n_people, self.level) <= error)
        return self.rules_out_statistic(self.estimate(counts), counts)

    def rules_out_statistic(self, statistic, counts):
        """Return True if a statistic is low enough, where the counts tell all but it."""
        level, n1 = self.level, int(counts.flagged)
        if statistic >= level:
            return False
        low, high = self._limits(n1, self._class(counts))
        if high >= 1:
            return False
        least = float(self._least_rate(n1, int(counts.losses_flagged)))
        error = (1 - _OF_SHARE - _OF_RATE) * (1 - self.confidence) - 4 * _TAIL
        for worse, first, last in ((True, max(least, level), 1.0), (False, least, level)):
            if first < last or worse:
                below = _Below(self, statistic, n1, low, high, worse)
                if not below.is_at_most(error, first, last):
                    return False
        return True

    def _least_rate(self, flagged, losses):
        """Return the lower limit of the rate among flagged queries."""
        error = _OF_RATE * (1 - self.confidence)
        limit = betaincinv(np.maximum(losses, 1), flagged - losses + 1, error)
        return np.where(losses > 0, limit, 0.0)

    def spread(self, flagged, losses, share):
        """Compute the largest standard error of the statistic where the risk is the level.

        Nothing may be divided by a number of flagged or of other queries that is 0.
        """
        n, level, n1, n0 = self.n_machine, self.level, flagged, self.n_people - flagged
        rest = 1 - share
        # The variance is a concave parabola in the rate of flagged queries.
        linear = share / n1 + (2 * level - rest) / n0 - 2 * level / (rest * n)
        square = share / n1 + share / n0 - 1 / (rest * n)
        highest = np.minimum(1.0, level / share)
        rate = np.clip(linear / (2 * square), self._least_rate(n1, losses), highest)
        other = (level - share * rate) / rest
        return np.sqrt(
            share**2 * rate * (1 - rate) / n1
            + rest**2 * other * (1 - other) / n0
            + share * rest * (rate - other) ** 2 / n
        )


def _quantile(probability, n, share):
    """Return a quantile of a binomial number, between whole numbers."""
    return n * share if share in (0, 1) else np.clip(bdtrik(probability, n, share), 0, n)


def _log_ways(n, counts):
    """Return the logarithm of the number of ways to choose so many of n."""
    return gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)


def _binomial(log_ways, counts, n, rates):
    """Compute the probability of each count of n at each rate."""
    return np.exp(log_ways + xlogy(counts, rates) + xlog1py(n - counts, -rates))


class _Below:
    """Probability that the statistic is at most a number, where one stratum is the worse.

    The statistic is lowered a little, so that it rises with the number of flagged queries where
    these are the worse, and falls with it where they are the better. The probability is then
    monotone in the share of flagged queries and in both rates, and in a cell of shares and rates it
    is at most that of one corner. Cells are halved until this bound is small enough.

    Parameters
    ----------
    bound : StratifiedBound
        The test.
    statistic : float
        The number.
    n1 : int
        Queries of people that the machine flags.
    low, high : float
        Limits of the share of flagged queries.
    worse : bool
        True where flagged queries have the higher rate.
    """

    def __init__(self, bound, statistic, n1, low, high, worse):
        self.level, self.low, self.high, self.worse = bound.level, low, high, worse
        self.n1, self.n0 = n1, bound.n_people - n1
        self.n_unjudged, width = bound.n_machine - bound.n_people, bound._width
        # Classes of the number of flagged queries that nobody judged, but for far tails.
        first, last = (
            int(number) // width
            for number in (
                _quantile(_TAIL, self.n_unjudged, low),
                _quantile(1 - _TAIL, self.n_unjudged, high) + 1,
            )
        )
        edges = np.unique(np.linspace(first, last + 1, _N_CLASSES + 1).astype(int))
        self.edges = np.minimum(edges * width, self.n_unjudged + 1) - 1.0
        lowest, highest = edges[:-1], edges[1:] - 1
        # Losses of other queries up to which the statistic is low, by flagged losses and class.
        most = [
            self._most(statistic, bound._shares(n1, classes))
            for classes in ((lowest, highest[-1:]) if worse else (highest, lowest[:1]))
        ]
        most = np.maximum(*most).T
        # Neighbouring classes of equal limits make one term of the sum.
        is_first = np.append(np.ones((len(most), 1), dtype=bool), most[:, 1:] != most[:, :-1], 1)
        self.counts, self.first = np.nonzero(is_first)
        self.most = most[self.counts, self.first]
        is_same = self.counts[1:] == self.counts[:-1]
        self.last = np.append(np.where(is_same, self.first[1:], most.shape[1]), most.shape[1])
        kept = self.most >= 0
        self.counts, self.first = self.counts[kept], self.first[kept]
        self.last, self.most = self.last[kept], self.most[kept]
        self.distinct, self.number = np.unique(self.counts, return_inverse=True)
        self.distinct = self.distinct[:, np.newaxis].astype(np.float64)
        self.others = np.arange(self.most.max(initial=-1) + 1.0)[:, np.newaxis]
        self.ways = _log_ways(n1, self.distinct), _log_ways(self.n0, self.others)

    def _most(self, statistic, shares):
        shares = shares[:, np.newaxis]
        left = statistic - (shares * np.arange(self.n1 + 1) / self.n1 if self.n1 else 0.0 * shares)
        if self.n0 == 0:
            return np.where(left >= -1e-12, 0, -1)
        most = np.floor(left * self.n0 / np.maximum(1 - shares, 1e-300) + 1e-9)
        return np.clip(most, -1, self.n0).astype(int)

    def probability(self, shares, rates1, rates0):
        """Compute the probability at shares of flagged queries and rates of both kinds."""
        if not len(self.counts):
            return np.zeros(len(rates1))
        some = _binomial(self.ways[0], self.distinct, self.n1, rates1)
        # Sums of few terms are faster than incomplete beta functions.
        others = np.cumsum(_binomial(self.ways[1], self.others, self.n0, rates0), axis=0)
        distinct, number = np.unique(shares, return_inverse=True)
        upto = np.zeros((len(self.edges), len(distinct)))
        is_some = self.edges >= 0
        upto[is_some] = bdtr(self.edges[is_some, np.newaxis], self.n_unjudged, distinct)
        weights = (upto[self.last] - upto[self.first])[:, number]
        return (some[self.number] * weights * others[self.most]).sum(axis=0)

    def is_at_most(self, error, first, last):
        """Return True if the probability is at most the error for all rates of flagged queries."""
        shares = np.linspace(self.low, self.high, _CELLS[0] + 1)
        rates = np.linspace(first, last, _CELLS[1] + 1)
        cells = [
            np.repeat(shares[:-1], _CELLS[1]),
            np.repeat(shares[1:], _CELLS[1]),
            np.tile(rates[:-1], _CELLS[0]),
            np.tile(rates[1:], _CELLS[0]),
        ]
        for turn in range(2 * _N_HALVINGS):
            low, high, left, right = cells
            # If flagged queries have the higher loss rate, a high share of them means a low rate of
            # the other queries.
            share, other = (low, high) if self.worse else (high, low)
            is_open = self.probability(share, left, self._other(other, right)) > error
            if not is_open.any():
                return True
            low, high, left, right = cells = [each[is_open] for each in cells]
            if len(low) > _MOST_CELLS:
                return False
            middle, half = (low + high) / 2, (left + right) / 2
            if (self.probability(middle, half, self._other(middle, half)) > error).any():
                return False
            if turn % 2:
                cells = [
                    *map(np.append, (low, middle), (middle, high)),
                    *(np.tile(x, 2) for x in (left, right)),
                ]
            else:
                cells = [
                    *(np.tile(x, 2) for x in (low, high)),
                    *map(np.append, (left, half), (half, right)),
                ]
        return False

    def _other(self, shares, rates):
        """Return the rate of other queries with which the risk is the level."""
        return np.clip((self.level - shares * rates) / (1 - shares), 0.0, 1.0)


@lru_cache(maxsize=1024)
def planned_power(
    n_people,
    n_machine,
    level,
    confidence,
    rate=None,
    sensitivity=SENSITIVITY,
    specificity=SPECIFICITY,
    factor=None,
) -> float:
    """Compute the power of the test with the machine, over all counts that are likely.

    The test rejects where the statistic lies some standard errors below the level. This factor is
    found by the exact test for some counts that are likely, and hardly depends on them. Power for
    exact counts would jump, as the shares of flagged queries have few values, and so do the rates.

    If `rate` is None, a fixed share of the level is used. `factor` is the factor if it is known.
    """
    rate = PLANNED_RATE * level if rate is None else rate
    share = rate * sensitivity + (1 - rate) * (1 - specificity)
    if not 0 < share < 1:
        return 0.0
    if factor is None:
        factor = critical_factor(
            n_people, n_machine, level, confidence, rate, sensitivity, specificity
        )
    if np.isinf(factor):
        return 0.0
    rate1, rate0 = rate * sensitivity / share, rate * (1 - sensitivity) / (1 - share)
    middles = (np.arange(_N_NODES) + 0.5) / _N_NODES
    n1 = binom.ppf(middles, n_people, share)[:, np.newaxis, np.newaxis]
    x1 = binom.ppf(middles[:, np.newaxis], n1, rate1)
    unjudged = binom.ppf(middles[2::5], n_machine - n_people, share)
    n0, weights = n_people - n1, (n1 + unjudged) / n_machine
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = StratifiedBound(n_people, n_machine, level, confidence)
        highest = level - factor * bound.spread(n1, x1, weights)
        most = np.floor((highest - weights * x1 / n1) * n0 / (1 - weights) + 1e-9)
    # The test never rejects without a flagged query.
    can_reject = (n1 > 0) & (n0 > 0) & (most >= 0)
    powers = bdtr(np.where(can_reject, most, 0.0), n0.astype(int), rate0)
    return float(np.where(can_reject, powers, 0.0).mean())


@lru_cache(maxsize=1024)
def critical_factor(
    n_people, n_machine, level, confidence, rate, sensitivity, specificity
) -> float:
    """Find how many standard errors below the level the statistic must lie, by the exact test."""
    share = rate * sensitivity + (1 - rate) * (1 - specificity)
    if n_people >= n_machine or not 0 < share < 1:
        return np.inf
    bound = StratifiedBound(n_people, n_machine, level, confidence)
    usual, found = -ndtri(allowed_error(confidence)), []
    for flagged in binom.ppf(_AT, n_people, share).astype(int):
        losses = round(flagged * rate * sensitivity / share)
        counts = Counts(flagged, losses, 0, flagged + round((n_machine - n_people) * share))
        if not 0 < flagged < n_people:
            continue
        spread = float(bound.spread(flagged, losses, counts.flagged_by_machine / n_machine))
        if not bound.rules_out_statistic(0.0, counts):
            return np.inf
        low, high = usual, usual + 0.4
        if not bound.rules_out_statistic(level - high * spread, counts):
            low, high = high, level / spread
        for _ in range(4):
            middle = (low + high) / 2
            is_out = bound.rules_out_statistic(level - middle * spread, counts)
            low, high = (low, middle) if is_out else (middle, high)
        found.append((low + high) / 2)
    return float(np.mean(found)) if found else np.inf


def power_of_people(n_people, level, confidence, rate=None):
    """Compute the power of the binomial test that uses only people's labels.

    `n_people` may be an array.
    """
    rate = PLANNED_RATE * level if rate is None else rate
    error = allowed_error(confidence)
    most = binom.ppf(error, n_people, level)
    most = np.where(bdtr(most, n_people, level) > error, most - 1, most)
    return np.where(most >= 0, bdtr(np.maximum(most, 0), n_people, rate), 0.0)


def choose_bound(n_people, n_machine, level, confidence) -> StratifiedBound | None:
    """Choose the test by the numbers of queries; None uses only people's labels."""
    if not 0 < n_people < n_machine:
        return None
    n_planned = min(n_people, MOST_PLANNED)
    power = planned_power(n_planned, n_planned * n_machine // n_people, level, confidence)
    if 1 - power > _MOST_MISSES * (1 - power_of_people(n_planned, level, confidence)):
        return None
    bound = StratifiedBound(n_people, n_machine, level, confidence)
    # The sequence of thresholds begins where nothing is shown, and no query has a loss.
    return bound if bound.rules_out(Counts(0, 0, 0, 0)) else None
