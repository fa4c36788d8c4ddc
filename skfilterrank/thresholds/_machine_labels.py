"""Exact tests of a risk by few labels of people and a machine's labels of many queries."""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.stats import hypergeom, mannwhitneyu

from skfilterrank._lists.checks import check_count, check_flag, check_number, check_share
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.results import counted
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.thresholds._control_variates import (
    ControlledBound,
    ControlledLosses,
    planned_powers,
)
from skfilterrank.thresholds._judged_scores import JudgedScores, MachineJudged
from skfilterrank.thresholds._risk_steps import Steps, Units, has_judged, start_at
from skfilterrank.thresholds._risks import least_count
from skfilterrank.thresholds._stratified_bound import (
    MOST_PLANNED,
    PLANNED_RATE,
    SENSITIVITY,
    SPECIFICITY,
    Counts,
    StratifiedBound,
    choose_bound,
    critical_factor,
    planned_power,
    power_of_people,
)

# Power by which bets beside a machine must be better, as powers of draws are not exact.
_LEAST_GAIN = 0.05
# Queries for which powers of bets are drawn at most.
_MOST_BETS = 10_000
# A sample this unlikely to be random is refused, and there is a warning before that. A refusal
# costs labels, so that honest draws are refused far more seldom than certificates may be broken.
_NOT_RANDOM, _UNLIKELY = 1e-4, 1e-2


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
) -> tuple[StratifiedTest | ControlledTest | None, tuple[float, float]]:
    """Choose the test of people's labels beside a machine's; None is people's alone.

    The other two numbers are the risk by the machine's labels on all units and on those of people,
    where everything is shown; NaN where this tells nothing. Raise where they show that the queries
    of people are no random draw.

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
        return None, (np.nan, np.nan)
    clusters = None if units.clusters is None else machine.clusters
    every = Units.of(machine.lists, clusters=clusters)
    by_machine = promise.steps(machine.lists, machine.labels)
    if is_any_forbidden and clusters is None:
        # Once a forbidden document is among the first places, it remains there.
        answer_at = every.answer_at if promise.answered else None
        first = _first_losses(raw), _first_losses(by_machine)
        pool = LossPool(*first, machine.of_people, answer_at)
        is_judged = np.isin(np.arange(len(pool.machine)), machine.of_people)
        rates = _compare_draw(promise, units, pool.machine > -np.inf, is_judged)
        n, n_all = len(pool.people), len(pool.machine)

        def has_power(n_people):
            return choose_bound(n_people, n_people * n_all // n, level, confidence) is not None

        # Few queries are answered at first, and more and more on the way.
        least = least_count(has_power, n) if promise.answered else n if has_power(n) else None
        if least is None:
            return None, rates
        start = np.inf if start is None else start
        return StratifiedTest(pool, level, confidence, start, least), rates
    (names, _), (all_names, numbers) = units.numbers(), every.numbers()
    of_people = np.unique(numbers[machine.of_people])
    n_people, n_machine = len(names), len(all_names)
    bound = ControlledBound(n_people, level, confidence)
    every_steps = every.of_promise(by_machine, promise)
    rates = np.nan, np.nan
    if not steps.is_upward:
        is_judged = np.isin(every_steps.counted, all_names[of_people])
        rates = _compare_draw(promise, units, every_steps.at(-np.inf), is_judged)
    given = n_people, n_machine, level, confidence, steps.is_binary, promise.answered
    if not pays(*given) or not bound.rules_out(np.zeros(n_people), np.zeros(n_people)):
        return None, rates
    counted_units = np.searchsorted(names, steps.counted)
    people = steps.of_all(n_people, counted_units, level)
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
    return ControlledTest(losses, bound, start, share_answered), rates


def _compare_draw(promise, units, losses, is_judged) -> tuple[float, float]:
    """Return the machine's mean loss of all units and of those of people; check their draw."""
    judged, others = losses[is_judged], losses[~is_judged]
    rates = float(np.mean(losses)), float(np.mean(judged)) if len(judged) else np.nan
    if losses.dtype == bool:
        drawn = hypergeom(len(losses), np.count_nonzero(losses), len(judged))
        n_flagged = np.count_nonzero(judged)
        chance = 2 * min(drawn.cdf(n_flagged), drawn.sf(n_flagged - 1))
    else:
        chance = _chance_of_difference(judged, others)
    _check_draw(
        chance,
        f"by the machine's labels and where everything is shown, {promise.name} is {rates[1]:.3g} "
        f"on the {len(judged):,} {units.plural} that people judged, and {rates[0]:.3g} on all "
        f"{len(losses):,}",
    )
    return rates


def _chance_of_difference(drawn, others) -> float:
    """Compute the probability that a random draw differs as much from the others."""
    if not len(drawn) or not len(others) or np.ptp(np.append(drawn, others)) == 0:
        return 1.0
    return float(mannwhitneyu(drawn, others, method="asymptotic").pvalue)


def _check_draw(chance, finding) -> None:
    """Raise for a draw that is too unlikely, or warn of one that is unlikely."""
    if chance < _NOT_RANDOM:
        raise InputError(
            f"{finding}: this is not a random sample. Draw the queries at random with equal "
            "probabilities, or leave machine_labels out."
        )
    if chance < _UNLIKELY:
        warn_user(
            f"{finding}: only {100 * chance:.2g} % of random draws differ as much. The certificate "
            "holds for a random draw with equal probabilities alone: check how the queries were "
            "drawn.",
            FitWarning,
        )


def pays(n_people, n_machine, level, confidence, is_binary, answered=False) -> bool:
    """Tell if bets beside a machine are planned to have more power than people's labels alone."""
    if not 0 < n_people < n_machine:
        return False
    n_planned = min(n_people, MOST_PLANNED)
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
    if np.isnan(gains[judged.scores > -np.inf]).all():
        raise InputError(
            "machine_labels holds no label: all are NaN where there is a score. Give the machine's "
            "labels of the scored documents, by the same ids, or leave machine_labels out."
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
    """Check that the best scores of people's queries are like those of the others."""
    units = np.unique(judged.clusters, return_inverse=True)[1]
    if judged.unit is None:
        units = np.arange(len(is_judged))
    best, is_drawn = np.full(units.max() + 1, -np.inf), np.zeros(units.max() + 1, dtype=bool)
    np.maximum.at(best, units[judged.codes], judged.scores)
    is_drawn[units] = is_judged
    drawn, others = best[is_drawn], best[~is_drawn]
    _check_draw(
        _chance_of_difference(drawn, others),
        f"people judged {counted(len(drawn), judged.unit or 'query')}, whose best scores (median "
        f"{np.median(drawn):.4g}) are unlike those of the other {len(others):,}"
        + (f" ({np.median(others):.4g})" if len(others) else ""),
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
        Smallest number of queries at which the power is reached. For people's labels only, some
        larger numbers have a little less power, since counts are whole numbers. If the machine does
        not help, this is the number for people's labels only, or a larger one where `fit` would
        test beside the machine all the same.

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
    The power of the binomial test of people's labels is exact. Beside a machine it is a mean over
    the counts that are likely. The exact test tells for some of them how many standard errors below
    the level the estimate must lie, and this factor is used for all. Powers of bets are shares of
    400 draws of a fixed seed.

    `fit` decides by numbers of queries alone, and not by your rates, if it tests beside the machine
    (see :class:`CertifiedThreshold`). The number is one for which it does so.

    Examples
    --------
    >>> from skfilterrank.thresholds import queries_needed
    >>> queries_needed(0.1, 0.06, confidence_level=0.9)
    210
    >>> machine = {"sensitivity": 0.9, "specificity": 0.97}
    >>> queries_needed(0.1, 0.06, confidence_level=0.9, **machine)
    173
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

    rates = expected_risk, *((0.0, 1.0) if sensitivity is None else (sensitivity, specificity))

    def by_bets(n):
        n_machine = 20 * n if n_machine_queries is None else n_machine_queries
        n_machine = n if sensitivity is None else n_machine
        # `fit` decides which of the two tests it is.
        is_beside = pays(n, n_machine, level, confidence, False)
        return planned_powers(n, n_machine, level, confidence, rates, False)[is_beside] >= goal

    if is_binary:
        for highest in (min(most, 1000), most):
            sizes = np.arange(1, highest + 1)
            is_enough = power_of_people(sizes, level, confidence, rates[0]) >= goal
            needed = int(sizes[np.argmax(is_enough)]) if is_enough.any() else None
            if needed:
                break
        if sensitivity is not None:
            given = level, confidence, *rates
            needed = _needed(goal, needed, most, n_machine_queries, given)
    else:
        needed = least_count(by_bets, most)
    if needed is None:
        raise InputError(
            f"more than {most:,} queries are needed for a risk of at most {level:g} that is "
            f"{expected_risk:g}: choose a higher max_risk, or lower "
            "confidence_level or power."
        )
    return needed


def _needed(goal, alone, most, n_machine, given) -> int | None:
    """Find how many queries suffice for the binomial test that `fit` chooses.

    `alone` is the number for people's labels alone, None if it is above `most`.
    """
    beside = _needed_beside(goal, alone or most, n_machine, given)
    if beside or not alone:
        return beside
    n_all = _beside(alone, n_machine)
    if choose_bound(alone, n_all, *given[:2]) is None:
        return alone
    if planned_power(alone, n_all, *given) >= goal:
        return alone
    # `fit` tests beside the machine all the same, which costs power.
    return _needed_beside(goal, min(2 * alone, most), n_machine, given) or alone


def _beside(n, n_machine):
    """Return the number of queries that the machine labels."""
    return 20 * n if n_machine is None else n_machine


def _needed_beside(goal, most, n_machine, given) -> int | None:
    """Find how many queries people must judge for the binomial test beside a machine.

    `given` are level, confidence and rates. None if fewer than `most` do not suffice.
    """
    beside = partial(_beside, n_machine=n_machine)

    def least(*sizes):
        # Factors hardly depend on the number of queries, and the mean of some does not jump.
        factor = np.mean([critical_factor(n, beside(n), *given) for n in sizes])
        return least_count(lambda n: planned_power(n, beside(n), *given, factor) >= goal, most)

    def is_used(n):
        return choose_bound(n, beside(n), *given[:2]) is not None

    n = least(most)
    n = n and least(*np.maximum(n * np.array([17, 19, 20, 21, 23]) // 20, 1).tolist())
    while n and n < most and not is_used(n):
        n += max(n // 20, 1)
    return n if n and n < most else None
