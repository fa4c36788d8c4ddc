"""Bets on people's losses, with a machine's losses of more queries as a control variate."""

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from skfilterrank.thresholds._risk_steps import Steps
from skfilterrank.thresholds._risks import (
    BettingBound,
    BinomialBound,
    allowed_error,
    log_capital,
    reaches,
)

# Number of prior losses, at the level and with the largest variance, before the first loss.
_PRIOR = 20
# Number of prior differences before the first one, as large as the differences so far.
_PRIOR_DIFFERENCES = 5
# Number of draws from which powers are computed in planning.
_N_PLANNED = 400
_LEAST = 1e-12
# Number of losses that are tested together, of all units at some thresholds.
_CELLS = 1 << 14


class ControlledBound:
    """A bet on the losses by people, less a multiple of a difference whose mean is 0.

    Each unit that people judged has a block of its own of units that they did not, drawn by
    chance. With the machine's loss f of the unit and the mean g over its block, the units are
    independent, and ``loss - weight * (f - g)`` has the mean of the loss: however bad the machine
    is, for new units, and without a mean of f that is known (a control variate; Waudby-Smith and
    Ramdas, 2024, with the estimator of prediction-powered inference). The capital is that of
    :class:`BettingBound`. The weight and the bet on a unit depend on the units before it alone:
    the weight is their regression of the loss on the difference, from 0 to 1, and the bet fits
    their variance.

    Parameters
    ----------
    n_units : int
        Units that people judged.
    level, confidence : float
        As for :class:`BettingBound`.
    """

    def __init__(self, n_units, level, confidence):
        self.n_units, self.level, self.confidence = n_units, level, confidence
        self._goal = -np.log(allowed_error(confidence))

    def rules_out(self, losses, differences):
        """Tell whether losses rule out that the mean is the level or more; or each of several."""
        adjusted, *stakes = self._stakes(losses, differences)
        # Capital may be won on the way although the mean is above the level in the end.
        is_below = adjusted.sum(axis=-1) <= self.level * self.n_units
        return is_below & reaches(self._log_paths(adjusted, *stakes, self.level), self._goal)

    def estimate(self, losses, differences, answered=None) -> float:
        """Return the mean of the adjusted losses, among the answered where there are others."""
        adjusted = self._stakes(losses, differences)[0]
        share = np.ones(self.n_units) if answered is None else answered
        own = adjusted - self.level * (1 - share)
        return float(np.clip(own.sum() / max(share.sum(), _LEAST), 0.0, 1.0))

    def upper(self, losses, differences, answered=None) -> float:
        """Return the smallest level that the losses rule out, with the bets for this one.

        `answered` is the share of each unit that is answered; None means all.
        """
        adjusted, *stakes = self._stakes(losses, differences)
        unanswered = 0.0 if answered is None else 1 - answered

        def missing(level):
            moved = adjusted + (level - self.level) * unanswered
            return self._goal - log_capital(self._log_paths(moved, *stakes, level))

        if missing(1.0) > 0:
            return 1.0
        upper = brentq(missing, 0, 1)
        return max(float(upper), self.estimate(losses, differences, answered))

    def _stakes(self, losses, differences):
        """Compute adjusted losses, weights and bets of units, in the order of the last axis."""
        level, before = self.level, np.arange(self.n_units)
        mean = (_sums_before(losses) + level * _PRIOR) / (before + _PRIOR)
        together = _sums_before((losses - mean) * differences)
        squares = _sums_before(differences**2)
        typical = squares / np.maximum(before, 1)
        weights = together / np.maximum(squares + _PRIOR_DIFFERENCES * typical, _LEAST)
        weights = np.clip(weights, 0.0, 1.0)
        adjusted = losses - weights * differences
        mean = (_sums_before(adjusted) + level * _PRIOR) / (before + _PRIOR)
        squares = _sums_before((adjusted - mean) ** 2)
        variances = (squares + level * (1 - level) * _PRIOR) / (before + _PRIOR)
        # The best bets for the variance so far, and for half of it.
        bets = np.sqrt(2 * self._goal / (self.n_units * np.array([variances, variances / 2])))
        return adjusted, weights, bets

    def _log_paths(self, adjusted, weights, bets, level):
        """Return the logarithm of the capital of each bet, unit by unit."""
        # A loss is at most 1 and one weight: a larger bet could lose more than its stake.
        bets = np.minimum(bets, 1 / np.maximum(1 + weights - level, _LEAST))
        with np.errstate(divide="ignore"):
            steps = np.log(np.maximum(1 + bets * (level - adjusted), 0.0))
        return np.cumsum(steps, axis=-1)


def _sums_before(values):
    """Sum the values before each one."""
    return np.cumsum(values, axis=-1) - values


class ControlledLosses:
    """Losses of people's units at every threshold, and the differences of a machine's.

    Parameters
    ----------
    people : Steps
        Losses by people, of all units that people judged.
    machine : Steps
        Losses by the machine, of all units, along the path in the same direction.
    of_people : ndarray of shape (n_people,), int
        Number of each unit of people among all.
    """

    def __init__(self, people: Steps, machine: Steps, of_people):
        self.people, self.machine = people, machine
        n, n_all = people.n_queries, machine.n_queries
        rng = np.random.default_rng(0)
        # The order of the ids may be related to the losses.
        self._order = rng.permutation(n)
        others = rng.permutation(np.setdiff1d(np.arange(n_all), of_people))
        # Each of the others belongs to the block of one unit of people.
        self._unit = np.empty(n_all, dtype=np.intp)
        self._unit[of_people], self._unit[others] = np.arange(n), np.arange(len(others)) % n
        sizes = np.bincount(self._unit[others], minlength=n)
        self._share = -1.0 / np.maximum(sizes, 1)[self._unit]
        self._share[of_people] = np.where(sizes > 0, 1.0, 0.0)

    def at(self, threshold) -> tuple[np.ndarray, np.ndarray]:
        """Return losses and differences of the units of people at a threshold, in the order."""
        return self._arranged(self.people.at(threshold), self.machine.at(threshold))

    def _arranged(self, losses, by_machine):
        differences = np.bincount(self._unit, self._share * by_machine, len(losses))
        return losses[self._order], differences[self._order]

    def in_order(self, values):
        """Arrange values of the units of people in the order of the bets."""
        return None if values is None else values[self._order]

    def walk(self, bound: ControlledBound, first) -> tuple[float | None, int]:
        """Test all thresholds from a first one on; return the one that fails, and how many.

        It is None where all pass.
        """
        people, machine = self.people, self.machine
        state = self._arranged(people.start, machine.start)
        if not bound.rules_out(*state):
            return first, 0
        place = np.argsort(self._order)
        scores = np.append(people.scores, machine.scores)
        order = np.argsort(scores if people.is_upward else -scores, kind="stable")
        scores = scores[order]
        units = np.append(people.queries, self._unit[machine.queries])[order]
        changes = np.append(people.changes(), machine.changes() * self._share[machine.queries])
        changes, places = changes[order], place[units]
        of_loss = order < len(people.scores)
        is_new = np.append(True, scores[1:] != scores[:-1])[: len(scores)]
        levels, number = scores[is_new], np.cumsum(is_new) - 1
        height = max(1, _CELLS // len(place))
        for begin in range(0, len(levels), height):
            end = min(begin + height, len(levels))
            part = slice(*np.searchsorted(number, (begin, end)))
            tables = []
            for before, counts in zip(state, (of_loss[part], ~of_loss[part])):
                table = np.zeros((end - begin, len(before)))
                cells = number[part][counts] - begin, places[part][counts]
                np.add.at(table, cells, changes[part][counts])
                table[0] += before
                tables.append(np.cumsum(table, axis=0, out=table))
            passes = bound.rules_out(*tables)
            if not passes.all():
                failed = begin + int(np.argmin(passes))
                return float(levels[failed]), failed + 1
            state = tuple(table[-1] for table in tables)
        return None, len(levels)


@lru_cache(maxsize=256)
def planned_powers(
    n_people, n_machine, level, confidence, rates, is_binary, answered=False
) -> tuple[float, float]:
    """Compute the powers of people's labels alone and beside a machine's, in a planned case.

    Losses are 0 or 1. `rates` are the risk, the share of losses that the machine flags, and the
    share of the others that it does not. `is_binary` tells if people's labels alone get the
    binomial test. Among answered queries half are. Powers are shares of draws of a fixed seed; with
    a machine that labels no more queries than people, the second is 0.
    """
    rate, sensitivity, specificity = rates
    rng = np.random.default_rng(0)
    shape = _N_PLANNED, n_people
    is_answered = np.ones(shape)
    losses = rng.random(shape) < rate
    flagged = rng.random(shape) < np.where(losses, sensitivity, 1 - specificity)
    share = rate * sensitivity + (1 - rate) * (1 - specificity)
    # Others of each unit of people.
    sizes = -(-np.arange(n_machine - n_people, n_machine - 2 * n_people, -1) // n_people)
    sizes = np.maximum(sizes, 0)
    n_answered = sizes
    if answered:
        is_answered = rng.random(shape) < 0.5
        n_answered = rng.binomial(sizes, 0.5, shape)
    others = rng.binomial(n_answered, share, shape) + level * (sizes - n_answered)
    losses, flagged = (each * is_answered + level * (1 - is_answered) for each in (losses, flagged))
    differences = np.where(sizes > 0, flagged - others / np.maximum(sizes, 1), 0.0)
    make = BinomialBound if is_binary else BettingBound
    alone = _share_ruled_out(make(n_people, level, confidence, answered=answered), losses)
    if n_machine <= n_people:
        return alone, 0.0
    bound = ControlledBound(n_people, level, confidence)
    return alone, _share_ruled_out(bound, losses, differences)


def _share_ruled_out(bound, *rows):
    """Return the share of rows of losses that rule a level out."""
    n_parts = -(-rows[0].size // _CELLS)
    parts = zip(*(np.array_split(each, n_parts) for each in rows))
    return float(np.concatenate([bound.rules_out(*part) for part in parts]).mean())
