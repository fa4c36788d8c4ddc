"""One risk of a monitor: bets that it is above its level, its losses, and an interval."""

import math
from collections import Counter
from copy import copy

import numpy as np
from scipy.optimize import brentq

from skfilterrank.exceptions import InputError

# Shares of the largest safe bet, over which the capital is spread evenly.
BETS = np.geomspace(0.01, 0.98, 24)
# At least the sum of 1 / (m log(m) ** 2) over all m from 2 on, which is 2.10974...
SUM_OF_STARTS = 2.1098
# Queries after which a simulation gives up.
_MOST_QUERIES = 100_000


class WatchedRisk:
    """A risk, the capital of the bets against it, and its losses.

    Before each loss a stake is added to the capital. Where the stakes of all queries sum to at most
    1, the capital reaches ``1 / error`` with a probability of at most `error`. Where each stake is
    1 (`restarts`), the capital is the Shiryaev-Roberts statistic.

    Parameters
    ----------
    promise : Promise
        The risk and its level.
    restarts : bool
        True if each query adds a stake of 1.
    window : int
        Number of the last losses to keep.
    """

    def __init__(self, promise, restarts, window):
        self.promise, self.restarts, self.window = promise, restarts, window
        self.log_capital = np.full(len(BETS), -np.inf)
        self.most = 0.0
        self.alarm_at: int | None = None
        self.counts: Counter[float] = Counter()
        self.recent = np.empty(0)

    def anew(self) -> "WatchedRisk":
        """Return the same risk before its first query."""
        return WatchedRisk(self.promise, self.restarts, self.window)

    def after(self, losses, goal) -> "WatchedRisk":
        """Return a new state, after bets on some losses, one after the other."""
        new = copy(self)
        new.counts = self.counts.copy()
        if not len(losses):
            return new
        n_before = self.counts.total()
        growth = np.log1p(BETS * (losses[:, None] / self.promise.max_risk - 1.0)).cumsum(axis=0)
        # A stake that starts later is discounted by the growth before its start.
        starts = self._log_stakes(np.arange(n_before, n_before + len(losses)))
        stakes = starts[:, None] - np.vstack([np.zeros(len(BETS)), growth[:-1]])
        stakes[0] = np.logaddexp(stakes[0], self.log_capital)
        paths = np.logaddexp.accumulate(stakes, axis=0) + growth
        capitals = log_mean(paths)
        new.log_capital = paths[-1]
        new.most = max(self.most, float(capitals.max()))
        if self.alarm_at is None and (capitals >= goal).any():
            new.alarm_at = n_before + int(np.argmax(capitals >= goal)) + 1
        values, counts = np.unique(losses, return_counts=True)
        new.counts.update(dict(zip(values.tolist(), counts.tolist())))
        new.recent = np.concatenate([self.recent, losses])[-self.window :]
        return new

    def _log_stakes(self, n_before):
        """Return the logarithm of the stake that is added after so many queries."""
        if self.restarts:
            return np.zeros(len(n_before))
        place = n_before + 2.0
        return -np.log(place * np.log(place) ** 2 * SUM_OF_STARTS)

    def queries_to_alarm(self, rate, goal, probability, n_repeats, rng) -> float:
        """Simulate the number of queries to an alarm if losses are 1 at a rate from now on.

        It is the least number that suffices in that share of the repetitions, infinite if it is
        above 100,000.
        """
        n_before = self.counts.total()
        good, bad = 1.0 - BETS, 1.0 + BETS * (1.0 / self.promise.max_risk - 1.0)
        capital = np.tile(np.exp(self.log_capital), (n_repeats, 1))
        n_needed, n_alarms = math.ceil(probability * n_repeats), 0
        for n_more in range(_MOST_QUERIES):
            capital += np.exp(self._log_stakes(np.array([n_before + n_more])))
            capital *= np.where(rng.uniform(size=(len(capital), 1)) < rate, bad, good)
            is_alarm = capital.mean(axis=1) >= np.exp(goal)
            if is_alarm.any():
                n_alarms += int(np.count_nonzero(is_alarm))
                capital = capital[~is_alarm]
                if n_alarms >= n_needed:
                    return n_more + 1.0
        return np.inf

    def state(self) -> dict:
        """Convert the state to JSON."""
        return {
            "risk": self.promise.name,
            "max_risk": self.promise.max_risk,
            "alarm_at": self.alarm_at,
            "most": self.most,
            "log_capital": self.log_capital.tolist() if self.counts else [],
            "losses": sorted(map(list, self.counts.items())),
            "recent": self.recent.tolist(),
        }

    def resume(self, state: dict) -> None:
        """Set the state from JSON."""
        n_recent = min(sum(count for _, count in state["losses"]), self.window)
        for name, n_wanted in (("log_capital", len(BETS)), ("recent", n_recent)):
            if state["losses"] and len(state[name]) != n_wanted:
                raise InputError(f"{name} must be a list of {n_wanted}.")
        if state["losses"]:
            self.log_capital, self.recent = state["log_capital"], state["recent"]
        self.most, self.alarm_at = state["most"], state["alarm_at"]
        self.counts = Counter(dict(state["losses"]))

    def summary(self, error):
        """Make a row of a status."""
        n = self.counts.total()
        total = sum(value * count for value, count in self.counts.items())
        lower, upper = self.interval(error)
        return {
            "max_risk": self.promise.max_risk,
            "k": np.nan if self.promise.k is None else float(self.promise.k),
            "n_queries": n,
            "observed": total / n if n else np.nan,
            "lower": lower,
            "upper": upper,
            "n_recent": len(self.recent),
            "recent": float(self.recent.mean()) if n else np.nan,
            "evidence": float(np.exp(min(self.most, 700.0))),
            "alarm_at": np.nan if self.alarm_at is None else float(self.alarm_at),
        }

    def interval(self, error):
        """Find the interval of levels that no bet has ruled out."""
        values = np.array(list(self.counts))
        counts = np.array(list(self.counts.values()), dtype=np.float64)
        goal = np.log(2.0 / error)

        def bound(values):
            # The lowest level that a bet on larger losses has not ruled out.
            def won(level):
                logs = np.log1p(BETS * (values[:, None] / level - 1.0))
                return float(log_mean(counts @ logs)) - goal

            tiny = 1e-9
            return 0.0 if not len(values) or won(tiny) < 0 else float(brentq(won, tiny, 1.0))

        return bound(values), 1.0 - bound(1.0 - values)


def log_mean(logs):
    """Compute the logarithm of a mean from logarithms, along the last axis."""
    return np.logaddexp.reduce(logs, axis=-1) - np.log(logs.shape[-1])
