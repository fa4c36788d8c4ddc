"""Exact tests of a risk by few labels of people and a machine's labels of many queries."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrik, betaincinv, gammaln, xlog1py, xlogy
from scipy.stats import binom, hypergeom, mannwhitneyu

from skfilterrank._lists.checks import check_count, check_flag, check_number, check_share
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.results import counted
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds._control_variates import (
    ControlledBound,
    ControlledLosses,
    planned_powers,
)
from skfilterrank.thresholds._judged_scores import JudgedScores, MachineJudged
from skfilterrank.thresholds._risk_steps import Steps, Units, has_judged, start_at
from skfilterrank.thresholds._risks import allowed_error, least_count

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
# Largest number of people's queries for which powers are compared: more queries only favor the test
# with the machine.
_MOST_PLANNED = 300
# Power by which bets beside a machine must be better, as powers of draws are not exact.
_LEAST_GAIN = 0.05
# Queries for which powers of bets are drawn at most.
_MOST_BETS = 10_000
# A sample this unlikely to be random is refused.
_NOT_RANDOM = 1e-6


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
            is_out = self._of_level(middle)._rules_out(counts)
            low, high = (low, middle) if is_out else (middle, high)
        return high

    def power(self, flagged, flagged_by_machine, rates) -> float:
        """Return the power at given loss rates of flagged and of other queries."""
        n1, n0 = flagged, self.n_people - flagged
        first, last = binom.ppf([1e-5, 1 - 1e-5], n1, rates[0]).astype(int)
        highest, total = n0, 0.0
        for losses in range(first, last + 1):
            # More losses among flagged queries never allow more among others.
            low = -1
            while highest > low:
                middle = (low + highest + 1) // 2
                counts = Counts(n1, losses, middle, flagged_by_machine)
                low, highest = (middle, highest) if self._rules_out(counts) else (low, middle - 1)
            if highest >= 0:
                total += binom.pmf(losses, n1, rates[0]) * binom.cdf(highest, n0, rates[1])
            highest = min(n0, highest + 2) if highest >= 0 else min(n0, 8)
        return float(total)

    def _of_level(self, level):
        return StratifiedBound(self.n_people, self.n_machine, level, self.confidence)

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
        statistic, level = self.estimate(counts), self.level
        if statistic >= level:
            return False
        n1, x1 = int(counts.flagged), int(counts.losses_flagged)
        low, high = self._limits(n1, self._class(counts))
        if high >= 1:
            return False
        least = 0.0
        if x1:
            least = float(betaincinv(x1, n1 - x1 + 1, _OF_RATE * (1 - self.confidence)))
        error = (1 - _OF_SHARE - _OF_RATE) * (1 - self.confidence) - 4 * _TAIL
        for worse, first, last in ((True, max(least, level), 1.0), (False, least, level)):
            if first < last or worse:
                below = _Below(self, statistic, n1, low, high, worse)
                if not below.is_at_most(error, first, last):
                    return False
        return True


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


@lru_cache(maxsize=256)
def planned_power(
    n_people,
    n_machine,
    level,
    confidence,
    rate=None,
    sensitivity=SENSITIVITY,
    specificity=SPECIFICITY,
) -> float:
    """Compute the power of the test with the machine, for the expected counts of flagged queries.

    If `rate` is None, a fixed share of the level is used.
    """
    rate = PLANNED_RATE * level if rate is None else rate
    share = rate * sensitivity + (1 - rate) * (1 - specificity)
    rates = rate * sensitivity / max(share, 1e-300), rate * (1 - sensitivity) / max(1 - share, 1e-9)
    bound = StratifiedBound(n_people, n_machine, level, confidence)
    return bound.power(round(share * n_people), round(share * n_machine), rates)


def power_of_people(n_people, level, confidence, rate=None) -> float:
    """Compute the power of the binomial test that uses only people's labels."""
    rate = PLANNED_RATE * level if rate is None else rate
    losses = np.arange(n_people + 1)
    ruled_out = bdtr(losses, n_people, level) <= (1 - confidence) * (1 + 1e-12)
    return float(binom.pmf(losses[ruled_out], n_people, rate).sum())


def choose_bound(n_people, n_machine, level, confidence) -> StratifiedBound | None:
    """Choose the test by the numbers of queries; None uses only people's labels."""
    if not 0 < n_people < n_machine:
        return None
    n_planned = min(n_people, _MOST_PLANNED)
    power = planned_power(n_planned, n_planned * n_machine // n_people, level, confidence)
    if power <= power_of_people(n_planned, level, confidence):
        return None
    bound = StratifiedBound(n_people, n_machine, level, confidence)
    # The sequence of thresholds begins where nothing is shown, and no query has a loss.
    return bound if bound.rules_out(Counts(0, 0, 0, 0)) else None


class LossPool:
    """Levels at which queries first lose, by people for some queries and by a machine for all.

    Losses are 0 or 1, and a query that loses at a threshold does at all lower ones.

    Parameters
    ----------
    people, machine : ndarray of float64
        Highest threshold at which each query of people, and each of all, loses; -inf where it
        never does.
    of_people : ndarray of shape (n_people,), int
        Number of each query that people judged among all.
    answer_at : ndarray of shape (n_machine,), or None
        Highest threshold at which each query is answered, where the others do not count.
    """

    def __init__(self, people, machine, of_people, answer_at=None):
        self.people, self.machine, self.flags = people, machine, machine[of_people]
        self.answers = None if answer_at is None else (answer_at[of_people], answer_at)

    def at(self, thresholds) -> Counts:
        """Count at a threshold, or at each of several."""
        each = self.flags, np.minimum(self.people, self.flags), self.people, self.machine
        flagged, losses_flagged, losses, by_machine = (_lost(own, thresholds) for own in each)
        return Counts(flagged, losses_flagged, losses - losses_flagged, by_machine)

    def sizes(self, thresholds):
        """Count the queries of people, and all, that count at a threshold, or each of several."""
        if self.answers is None:
            ones = np.ones(np.shape(thresholds), dtype=np.int64)
            return len(self.people) * ones, len(self.machine) * ones
        return tuple(_lost(each, thresholds) for each in self.answers)

    def check_random(self) -> None:
        """Raise where the queries of people are no random draw of all."""
        counts, n_people, n_machine = self.at(-np.inf), len(self.people), len(self.machine)
        drawn = hypergeom(n_machine, counts.flagged_by_machine, n_people)
        if 2 * min(drawn.cdf(counts.flagged), drawn.sf(counts.flagged - 1)) < _NOT_RANDOM:
            raise InputError(
                f"people judged {n_people} queries, of which the machine flags {counts.flagged}, "
                f"and {counts.flagged_by_machine} of all {n_machine}: these are no random draw. "
                "Draw the queries at random, each as likely as the others, or leave "
                "machine_labels out."
            )

    def thresholds(self, start):
        """Return the thresholds at which something changes, from a first one downwards."""
        changes = [self.people, self.machine, *(self.answers or ())]
        every = np.unique(np.concatenate(changes))[::-1]
        return np.append(start, every[(every < start) & (every > -np.inf)])


def _lost(first, thresholds):
    """Count the queries that lose at each threshold."""
    return np.count_nonzero(first > -np.inf) - np.searchsorted(
        np.sort(first[first > -np.inf]), thresholds
    )


def _first_losses(steps: Steps) -> np.ndarray:
    """Find the highest threshold at which each query loses; -inf where it never does."""
    first = np.full(steps.n_queries, -np.inf)
    np.maximum.at(first, steps.queries, steps.scores)
    return first


class StratifiedTest:
    """The test of a risk at every threshold by binomial numbers in the strata of a machine.

    Among answered queries it is that of the answered ones, given which these are. Fewer queries of
    people than `least` get the binomial test alone.
    """

    def __init__(self, pool: LossPool, level, confidence, start, least=1):
        self.pool, self.level, self.confidence, self.start = pool, level, confidence, start
        self.least = least
        self._bounds: dict = {}

    def walk(self) -> tuple[float | None, int]:
        """Test all thresholds from the start down; return the first that fails, and how many.

        The first is None where all pass.
        """
        thresholds = self.pool.thresholds(self.start)
        table = np.column_stack([*self.pool.at(thresholds), *self.pool.sizes(thresholds)])
        # Thresholds of equal counts pass or fail together.
        is_new = np.append(True, (table[1:] != table[:-1]).any(axis=1))
        for row in np.flatnonzero(is_new):
            counts, sizes = Counts(*table[row, :4]), table[row, 4:]
            if not self._bound(*sizes).rules_out(counts):
                return float(thresholds[row]), int(row) + 1
        return None, len(thresholds)

    def found(self, threshold) -> tuple[float, float]:
        """Return the estimate and the upper bound at a threshold."""
        counts, bound = self.pool.at(threshold), self._bound(*self.pool.sizes(threshold))
        return bound.estimate(counts), bound.upper(counts)

    def _bound(self, n_people, n_machine):
        """Return the test for so many queries."""
        key = int(n_people), int(n_people if n_people < self.least else n_machine)
        if key not in self._bounds:
            self._bounds[key] = StratifiedBound(*key, self.level, self.confidence)
        return self._bounds[key]


class ControlledTest:
    """The test of a risk at every threshold by bets on losses less a multiple of a machine's."""

    def __init__(self, losses: ControlledLosses, bound: ControlledBound, start, share_answered):
        self.losses, self.bound, self.start = losses, bound, start
        self.share_answered = share_answered

    def walk(self) -> tuple[float | None, int]:
        """Test all thresholds from the safest on; return the first that fails, and how many."""
        return self.losses.walk(self.bound, self.start)

    def found(self, threshold) -> tuple[float, float]:
        """Return the estimate and the upper bound at a threshold."""
        answered = self.losses.in_order(self.share_answered(threshold))
        given = *self.losses.at(threshold), answered
        return self.bound.estimate(*given), self.bound.upper(*given)


def choose_test(
    promise, steps: Steps, raw: Steps, units: Units, confidence, machine: MachineJudged, start
) -> StratifiedTest | ControlledTest | None:
    """Choose the test of people's labels beside a machine's; None is people's alone.

    Numbers of queries and the name of the risk decide, and no label: a choice by labels of people
    would not be a fixed one.

    Parameters
    ----------
    promise : Promise
        The risk with its level.
    steps, raw : Steps
        Losses by people of the units that count, and of their queries.
    units : Units
        The units that people judged.
    confidence : float
        Confidence of the test.
    machine : MachineJudged
        All queries.
    start : float or None
        Threshold to begin at; None is the safest one.
    """
    level, rate = promise.max_risk, promise.rate
    is_any_forbidden = isinstance(rate, ParsedMeasure) and rate.measure.name == "any_forbidden"
    if machine.labels is None and not isinstance(rate, ParsedMeasure):
        return None
    clusters = None if units.clusters is None else machine.clusters
    every = Units.of(machine.lists, clusters=clusters)
    by_machine = promise.steps(machine.lists, machine.labels)
    if is_any_forbidden and clusters is None:
        # Once a forbidden document is among the first places, it remains there.
        answer_at = every.answer_at if promise.answered else None
        first = _first_losses(raw), _first_losses(by_machine)
        pool = LossPool(*first, machine.of_people, answer_at)
        pool.check_random()
        n, n_all = len(pool.people), len(pool.machine)

        def has_power(n_people):
            return choose_bound(n_people, n_people * n_all // n, level, confidence) is not None

        # Few queries are answered at first, and more and more on the way.
        least = least_count(has_power, n) if promise.answered else n if has_power(n) else None
        if least is None:
            return None
        return StratifiedTest(pool, level, confidence, np.inf if start is None else start, least)
    (names, _), (all_names, numbers) = units.numbers(), every.numbers()
    of_people = np.unique(numbers[machine.of_people])
    n_people, n_machine = len(names), len(all_names)
    bound = ControlledBound(n_people, level, confidence)
    given = n_people, n_machine, level, confidence, steps.is_binary, promise.answered
    if not pays(*given):
        return None
    if not bound.rules_out(np.zeros(n_people), np.zeros(n_people)):
        return None
    counted_units = np.searchsorted(names, steps.counted)
    people = steps.of_all(n_people, counted_units, level)
    every_steps = every.of_promise(by_machine, promise)
    counted_all = np.searchsorted(all_names, every_steps.counted)
    every_steps = every_steps.of_all(n_machine, counted_all, level).in_direction(steps.is_upward)
    if start is None:
        start = -np.inf if steps.is_upward else np.inf
    else:
        people, every_steps = start_at(people, start), start_at(every_steps, start)

    def share_answered(threshold):
        share = np.zeros(n_people)
        share[counted_units] = units.answered(raw.counted, threshold) if promise.answered else 1.0
        return share

    losses = ControlledLosses(people, every_steps, of_people)
    return ControlledTest(losses, bound, start, share_answered)


def pays(n_people, n_machine, level, confidence, is_binary, answered=False) -> bool:
    """Tell if bets beside a machine are planned to have more power than people's labels alone."""
    if not 0 < n_people < n_machine:
        return False
    n_planned = min(n_people, _MOST_PLANNED)
    rates = PLANNED_RATE * level, SENSITIVITY, SPECIFICITY
    sizes = n_planned, n_planned * n_machine // n_people
    alone, beside = planned_powers(*sizes, level, confidence, rates, is_binary, answered)
    return beside >= alone + _LEAST_GAIN


def with_machine(judged: JudgedScores, gains, labels=None) -> JudgedScores:
    """Return the queries that people judged, together with all queries with the machine's gains."""
    if len(gains) != len(judged.gains):
        raise InputError(
            f"machine_labels has {len(gains)} entries but there are {len(judged.gains)} rows: give "
            "one for each row, also for rows that people judged."
        )
    if np.isnan(gains).all():
        raise InputError(
            "machine_labels holds no label: all are NaN. Give a label of the machine for each row, "
            "or leave machine_labels out."
        )
    if judged.machines is not None and judged.machines.any():
        raise InputError(
            f"y holds {counted(int(judged.machines.sum()), 'label')} of machines (judged_by), and "
            "with machine_labels, y must hold only labels of people. Set the others to NaN."
        )
    is_judged = has_judged(judged.lists)
    if not is_judged.any():
        raise InputError("y holds no label by people: all are NaN. Judge a sample of the queries.")
    if judged.unit is not None:
        _check_whole_clusters(judged, is_judged)
    _check_drawn_by_chance(judged, is_judged)
    lists = RankedLists(np.nan_to_num(gains, nan=0.0), judged.scores, groups=judged.index)
    people = judged.take(np.flatnonzero(is_judged[judged.codes]))
    of_people = np.flatnonzero(is_judged)
    return replace(people, by_machine=MachineJudged(lists, labels, of_people, judged.clusters))


def _check_whole_clusters(judged, is_judged) -> None:
    """Raise where people judged some queries of a cluster and others not."""
    units = np.unique(judged.clusters, return_inverse=True)[1]
    n_judged, sizes = np.bincount(units, is_judged), np.bincount(units)
    if n_partly := int(np.count_nonzero((n_judged > 0) & (n_judged < sizes))):
        raise InputError(
            f"people judged some queries of {counted(n_partly, judged.unit)} and not the others. "
            f"Beside machine_labels a {judged.unit} is drawn as a whole, since a draw of queries "
            f"prefers large ones: judge all queries of each {judged.unit} that is drawn, or leave "
            "one of machine_labels and clusters out."
        )


def _check_drawn_by_chance(judged, is_judged) -> None:
    """Raise an error if the best scores of people's queries are unlike those of the others."""
    units = np.unique(judged.clusters, return_inverse=True)[1]
    if judged.unit is None:
        units = np.arange(len(is_judged))
    best, is_drawn = np.full(units.max() + 1, -np.inf), np.zeros(units.max() + 1, dtype=bool)
    np.maximum.at(best, units[judged.codes], judged.scores)
    is_drawn[units] = is_judged
    drawn, others = best[is_drawn], best[~is_drawn]
    if not others.size or mannwhitneyu(drawn, others, method="asymptotic").pvalue >= _NOT_RANDOM:
        return
    raise InputError(
        f"people judged {counted(len(drawn), judged.unit or 'query')}, whose best scores (median "
        f"{np.median(drawn):.4g}) are unlike those of the other {len(others)} "
        f"({np.median(others):.4g}): this is not a random sample. Draw the queries at random "
        "with equal probabilities, or leave machine_labels out."
    )


def queries_needed(
    max_risk: float,
    expected_risk: float,
    *,
    confidence_level: float = 0.95,
    power: float = 0.8,
    sensitivity: float | None = None,
    specificity: float | None = None,
    n_machine_queries: int | None = None,
    is_binary: bool = True,
) -> int:
    """Compute how many queries people must judge to certify a risk, before the first label.

    Parameters
    ----------
    max_risk : float
        Level of the risk, between 0 and 1.
    expected_risk : float
        Expected risk at the threshold, below `max_risk`.
    confidence_level : float, default=0.95
        Confidence level of the certificate.
    power : float, default=0.8
        Probability of getting the certificate if only a threshold with the expected risk is tested.
    sensitivity, specificity : float or None, default=None
        Share of the queries with a loss that a machine flags, and share of the queries without a
        loss that it does not flag. If both are None, only people's labels are used; give both or
        none.
    n_machine_queries : int or None, default=None
        Queries that the machine labels. None is 20 times as many as people judge.
    is_binary : bool, default=True
        True for a risk whose losses are 0 or 1, such as "any_forbidden@5", which gets binomial
        tests. False for others, such as "forbidden@5", and for risks of clusters, which get bets.
        Their losses are planned as 0 or 1, which have the largest variance there can be, so that
        fewer queries often do.

    Returns
    -------
    int
        Number of queries at which the power is reached, found by doubling and bisection. Since
        counts are whole numbers, power is not monotone, and a smaller number may also reach it. If
        the machine does not help, this is the number for people's labels only.

    Raises
    ------
    ValueError
        If a share is out of range, the expected risk is not below the level, or more than
        `n_machine_queries` or 100,000 queries would be needed.

    See Also
    --------
    CertifiedThreshold : Its `fit` takes such labels.

    Notes
    -----
    Powers of binomial tests are exact, for the flagged queries that are expected among people's and
    all queries. Powers of bets are shares of 400 draws of a fixed seed.

    Examples
    --------
    >>> from skfilterrank.thresholds import queries_needed
    >>> queries_needed(0.1, 0.06, confidence_level=0.9)
    222
    >>> machine = {"sensitivity": 0.9, "specificity": 0.97}
    >>> queries_needed(0.1, 0.06, confidence_level=0.9, **machine)
    186
    >>> queries_needed(0.1, 0.06, confidence_level=0.9, is_binary=False)
    372
    >>> queries_needed(0.1, 0.06, confidence_level=0.9, is_binary=False, **machine)
    187
    """
    level = check_share(max_risk, "max_risk")
    confidence = check_share(confidence_level, "confidence_level")
    goal = check_share(power, "power")
    if not 0 <= check_number(expected_risk, "expected_risk") < level:
        raise InputError(
            f"expected_risk must be at least 0 and below max_risk={level:g}, got {expected_risk}. "
            "A risk that is as high as its level cannot be certified."
        )
    if (sensitivity is None) != (specificity is None):
        raise InputError("sensitivity and specificity describe a machine: give both or none.")
    check_flag(is_binary, "is_binary")
    most = 100_000 if is_binary else _MOST_BETS
    if n_machine_queries is not None:
        if sensitivity is None:
            raise InputError(
                "n_machine_queries is of a machine: give its sensitivity and specificity, or leave "
                "it out."
            )
        most = check_count(n_machine_queries, "n_machine_queries")
    if sensitivity is not None:
        for name, value in (("sensitivity", sensitivity), ("specificity", specificity)):
            check_number(value, name, least=0.0, most=1.0)

    def suffices(n):
        if not is_binary:
            n_machine = 20 * n if n_machine_queries is None else n_machine_queries
            rates = expected_risk, sensitivity, specificity
            if sensitivity is None:
                n_machine, rates = n, (expected_risk, 0.0, 1.0)
            return max(planned_powers(n, n_machine, level, confidence, rates, False)) >= goal
        if power_of_people(n, level, confidence, expected_risk) >= goal:
            return True
        if sensitivity is None:
            return False
        n_machine = 20 * n if n_machine_queries is None else n_machine_queries
        given = level, confidence, expected_risk, sensitivity, specificity
        return planned_power(n, n_machine, *given) >= goal

    needed = least_count(suffices, most)
    if needed is None:
        raise InputError(
            f"more than {most:,} queries are needed for a risk of at most {level:g} that is "
            f"{expected_risk:g}: choose a higher max_risk, or lower "
            "confidence_level or power."
        )
    return needed
