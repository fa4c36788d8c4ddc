"""Watch a rate while judged queries come in: an alarm and an interval that hold at any time."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from skfilterrank._core.arrays import label_array
from skfilterrank._core.checks import check_flag, check_k, check_share, is_level, one_of
from skfilterrank._core.gains import Gains, check_gains
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.results import Result, counted
from skfilterrank._files.states import (
    count,
    gains_from_json,
    gains_to_json,
    listed,
    number,
    numbers,
    optional,
    pair,
    read_state,
    record,
    text,
    write_state,
)
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.ranking._filtering.certificate import rate_in_words
from skfilterrank.ranking._filtering.promises import find_unjudged, read_promises
from skfilterrank.ranking._filtering.risk_steps import has_judged

# Shares of the largest bet that cannot go broke; the capital is spread over them evenly.
_BETS = np.geomspace(0.01, 0.98, 24)
_FORMAT = "skfilterrank monitor 1"
_FIELDS = record(
    {
        "k": check_k,
        "gains": gains_from_json,
        "alpha": check_share,
        "rates": listed(
            record(
                {
                    "risk": text,
                    "max_risk": check_share,
                    "alarm_at": optional(count(1)),
                    "most": number(least=0),
                    "log_capital": numbers(len(_BETS), len(_BETS)),
                    "losses": listed(pair(number(0, 1), count(1))),
                }
            ),
            least=1,
        ),
        "allow_repeats": one_of(True, False),
        "queries": listed(text),
    }
)


@dataclass(frozen=True, eq=False, repr=False)
class RiskStatus(Result):
    """What a :class:`RiskMonitor` knows so far.

    Attributes
    ----------
    rates : DataFrame
        One row per rate, named after it, with columns "max_risk"; "n_queries", those that counted;
        "observed", their mean rate; "lower" and "upper", an interval for the rate that holds at
        all times at once; "evidence", by how much a bet against the promise has multiplied its
        capital at best; and "alarm_at", the number of queries at which that was too much, NaN if it
        never was.
    alpha : float
        Chance of a false alarm, ever, and that any interval is ever wrong.
    """

    rates: pd.DataFrame
    alpha: float

    @property
    def alarm(self) -> bool:
        """Whether a promise is broken."""
        return bool(self.rates["alarm_at"].notna().any())

    def to_frame(self) -> pd.DataFrame:
        """The rates."""
        return self.rates

    def _summary(self):
        most = counted(int(self.rates["n_queries"].max()), "query", "queries")
        return f"{'alarm' if self.alarm else 'no alarm'} after {most}"

    def _head(self):
        lines = []
        for name, rate in self.rates.iterrows():
            what = rate_in_words(name, rate["k"])
            seen = (
                f"{rate['observed']:.4f} on {counted(int(rate['n_queries']), 'query', 'queries')}, "
                f"{100 * (1 - self.alpha):.4g} % interval {rate['lower']:.4f} to "
                f"{rate['upper']:.4f}"
            )
            if np.isnan(rate["alarm_at"]):
                lines.append(
                    f"No alarm: {what} is {seen}; at most {rate['max_risk']:g} is promised."
                )
            else:
                lines.append(
                    f"Alarm: {what} is above {rate['max_risk']:g}, as query "
                    f"{int(rate['alarm_at']):,} showed: {seen}."
                )
        return "\n".join(lines)

    def _table(self) -> None:
        return None


class RiskMonitor:
    """Test, query by query, whether promised rates still hold.

    Judged queries may come at any time and be looked at after each: the chance that a monitor ever
    raises an alarm while all promises hold is at most `alpha`, however long it runs. A test for a
    fixed number of queries that is repeated at every look has no such limit.

    Parameters
    ----------
    risk : str, callable or dict
        The rate, or several with their levels, as in :func:`risk_threshold`.
    max_risk : float, default=0.05
        Highest rate, where `risk` is one rate.
    k : int or None, default=None
        Number of places of the returned list that count; None means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    alpha : float, default=0.05
        Chance of a false alarm, between 0 and 1; several rates share it evenly.
    allow_repeats : bool, default=False
        Whether a query id may come again, as that of another draw. Otherwise it is an error, so
        that no batch is counted twice.

    Attributes
    ----------
    status : RiskStatus
        What is known so far.
    levels : dict of str to float
        Highest rate of each kind, by its name.

    See Also
    --------
    risk_certificate : A test of a fixed number of queries.
    write_monitor, read_monitor : Save and resume.

    Notes
    -----
    Somebody bets, query by query, that the rate is above its level: from a capital of 1, each loss
    multiplies it by ``1 + bet * (loss - max_risk)``. If the rate is at most the level, given all
    queries before, the capital can be expected not to grow, and by Ville's inequality ever reaches
    ``1 / alpha`` with a probability of at most `alpha` [1]_. The capital is spread over 24 bets,
    from careful ones to such that stake nearly all, of which the best one dominates in the end.
    The interval holds the levels against which neither of two such bets has won ``2 / alpha``.

    Queries of one update count in the order in which their first rows come. Ids are compared as
    text.

    References
    ----------
    .. [1] Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86(1), 2024, https://arxiv.org/abs/2010.09686.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.ranking import RiskMonitor
    >>> monitor = RiskMonitor("any_forbidden", max_risk=0.1, alpha=0.05)
    >>> good, bad = np.ones(60), np.where(np.arange(60) % 2 == 0, -1, 1)
    >>> print(monitor.update(good, good, groups=np.arange(60)))
    No alarm: the share of queries with a forbidden document in the shown list is 0.0000 on 60 ...
    >>> monitor.update(bad, good, groups=60 + np.arange(60)).alarm
    True
    """

    def __init__(
        self,
        risk,
        *,
        max_risk: float = 0.05,
        k: int | None = None,
        gains: Gains = None,
        alpha: float = 0.05,
        allow_repeats: bool = False,
    ):
        self.k, self.gains = check_k(k), gains
        check_gains(gains)
        self.alpha = check_share(alpha, "alpha")
        check_flag(allow_repeats, "allow_repeats")
        self.allow_repeats = allow_repeats
        self._watched = [_Watched(p) for p in read_promises(risk, max_risk, self.k)]
        self._seen: set[str] = set()

    def update(self, y_true, y_score, *, groups=None, threshold: float | None = None) -> RiskStatus:
        """Take new judged queries.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Label of each (query, document) row, NaN where unjudged. A Series may carry the query
            ids in an index level named "qid".
        y_score : array-like of shape (n_rows,)
            Score of each row, higher is better, -inf where it was not shown.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y_true`.
        threshold : float or None, default=None
            Rows with a lower score were not shown. None where -inf says so.

        Returns
        -------
        RiskStatus
            What is known now.

        Raises
        ------
        ValueError
            If there are no rows, arrays do not go together, or a query was counted already;
            nothing is counted then.
        """
        if threshold is not None and not is_level(threshold):
            raise InputError(f"threshold must be a number or None, got {brief(threshold)}.")
        lists = RankedLists(y_true, y_score, groups=groups, gains=self.gains)
        if threshold is not None:
            lists = lists.with_scores(lists.scores, threshold)
        ids = [] if self.allow_repeats else list(map(str, lists.index.query_ids.tolist()))
        if repeated := sorted(self._seen.intersection(ids)):
            raise InputError(
                f"groups holds queries that were counted already: {brief_list(repeated)}. Give "
                "each query once, or set allow_repeats where an id may be asked again."
            )
        labels = label_array(y_true)
        codes = lists.index.codes()
        first = np.full(lists.index.n_queries, len(codes))
        np.minimum.at(first, codes, np.arange(len(codes)))
        losses = []
        for watched in self._watched:
            steps = watched.promise.steps(lists, labels)
            losses.append(steps.at(-np.inf)[np.argsort(first[steps.counted], kind="stable")])
        goal = np.log(len(self._watched) / self.alpha)
        for watched, own in zip(self._watched, losses):
            watched.take(own, goal)
        # A query without a judged document was not counted, and may come again when it has one.
        find_unjudged(lists, [watched.promise for watched in self._watched])
        self._seen.update(id for id, judged in zip(ids, has_judged(lists)) if judged)
        return self.status

    @property
    def levels(self) -> dict[str, float]:
        """Highest rate of each kind, by its name."""
        return {watched.promise.name: watched.promise.max_risk for watched in self._watched}

    @property
    def status(self) -> RiskStatus:
        """What is known so far."""
        alpha = self.alpha / len(self._watched)
        rows = {watched.promise.name: watched.summary(alpha) for watched in self._watched}
        return RiskStatus(pd.DataFrame.from_dict(rows, orient="index"), self.alpha)

    def __repr__(self) -> str:
        rates = ", ".join(f"{w.promise.name} at most {w.promise.max_risk:g}" for w in self._watched)
        return f"<RiskMonitor: {rates}; {self.status._summary()}>"


class _Watched:
    """A promise, the capital of the bets against it, and how often each loss came."""

    def __init__(self, promise):
        self.promise = promise
        self.log_capital = np.zeros(len(_BETS))
        self.most = 0.0
        self.alarm_at: int | None = None
        self.counts: Counter[float] = Counter()

    def take(self, losses, goal):
        """Bet on some losses, one after the other."""
        level = self.promise.max_risk
        paths = np.log1p(_BETS * (losses[:, None] / level - 1.0)).cumsum(axis=0) + self.log_capital
        n_before = self.counts.total()
        if len(losses):
            self.log_capital = paths[-1]
            capitals = _log_mean(paths)
            self.most = max(self.most, float(capitals.max()))
            if self.alarm_at is None and (capitals >= goal).any():
                self.alarm_at = n_before + int(np.argmax(capitals >= goal)) + 1
        values, counts = np.unique(losses, return_counts=True)
        self.counts.update(dict(zip(values.tolist(), counts.tolist())))

    def state(self) -> dict:
        """What JSON is to hold."""
        return {
            "risk": self.promise.name,
            "max_risk": self.promise.max_risk,
            "alarm_at": self.alarm_at,
            "most": self.most,
            "log_capital": self.log_capital.tolist(),
            "losses": sorted(map(list, self.counts.items())),
        }

    def resume(self, state: dict) -> None:
        """Go on from what JSON held."""
        self.log_capital = state["log_capital"]
        self.most, self.alarm_at = state["most"], state["alarm_at"]
        self.counts = Counter(dict(state["losses"]))

    def summary(self, alpha):
        """One row of a status."""
        n = self.counts.total()
        lower, upper = self._interval(alpha)
        return {
            "max_risk": self.promise.max_risk,
            "k": np.nan if self.promise.k is None else float(self.promise.k),
            "n_queries": n,
            "observed": sum(value * count for value, count in self.counts.items()) / n
            if n
            else np.nan,
            "lower": lower,
            "upper": upper,
            "evidence": float(np.exp(min(self.most, 700.0))),
            "alarm_at": np.nan if self.alarm_at is None else float(self.alarm_at),
        }

    def _interval(self, alpha):
        """Levels that no bet has ruled out so far."""
        values = np.array(list(self.counts))
        counts = np.array(list(self.counts.values()), dtype=np.float64)
        goal = np.log(2.0 / alpha)

        def bound(values):
            # The lowest level that a bet on larger losses has not ruled out.
            def won(level):
                logs = np.log1p(_BETS * (values[:, None] / level - 1.0))
                return float(_log_mean(counts @ logs)) - goal

            tiny = 1e-9
            return 0.0 if not len(values) or won(tiny) < 0 else float(brentq(won, tiny, 1.0))

        return bound(values), 1.0 - bound(1.0 - values)


def _log_mean(logs):
    """Logarithm of the mean of numbers given by their logarithms, along the last axis."""
    return np.logaddexp.reduce(logs, axis=-1) - np.log(logs.shape[-1])


def write_monitor(path, monitor: RiskMonitor) -> None:
    """Save a monitor as JSON that a person can read.

    Parameters
    ----------
    path : str or path-like
        File to write; an older one is replaced once the new one is whole.
    monitor : RiskMonitor
        Rates that are functions, and gains that are, cannot be saved.

    Raises
    ------
    ValueError
        If a rate, or `gains`, is a function, or a label of `gains` is neither text nor a number.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from skfilterrank.ranking import RiskMonitor, read_monitor, write_monitor
    >>> path = os.path.join(tempfile.mkdtemp(), "monitor.json")
    >>> write_monitor(path, RiskMonitor("forbidden@3", max_risk=0.1))
    >>> read_monitor(path)
    <RiskMonitor: forbidden@3 at most 0.1; no alarm after 0 queries>
    """
    if not isinstance(monitor, RiskMonitor):
        raise InputError(f"monitor must be a RiskMonitor, got {brief(monitor)}.")
    if not all(isinstance(watched.promise.rate, ParsedMeasure) for watched in monitor._watched):
        raise InputError("monitor has a function for a rate, which JSON cannot hold: pickle it.")
    state = {
        "k": monitor.k,
        "gains": gains_to_json(monitor.gains, "monitor"),
        "alpha": monitor.alpha,
        "rates": [watched.state() for watched in monitor._watched],
        "allow_repeats": monitor.allow_repeats,
        "queries": sorted(monitor._seen),
    }
    write_state(path, _FORMAT, state, "write_monitor(path, monitor)")


def read_monitor(source) -> RiskMonitor:
    """Resume a monitor that :func:`write_monitor` has saved.

    Parameters
    ----------
    source : str or path-like
        The file.

    Returns
    -------
    RiskMonitor
        The monitor, as it was.

    Raises
    ------
    FileFormatError
        If the file is none that :func:`write_monitor` wrote, or was changed since.
    """
    return read_state(source, _FORMAT, _from_json)


def _from_json(state):
    """The monitor."""
    state = _FIELDS(state)
    levels = {rate["risk"]: rate["max_risk"] for rate in state["rates"]}
    if len(levels) < len(state["rates"]):
        raise InputError("rates names a rate twice.")
    monitor = RiskMonitor(
        levels,
        k=state["k"],
        gains=state["gains"],
        alpha=state["alpha"],
        allow_repeats=state["allow_repeats"],
    )
    monitor._seen = set(state["queries"])
    for watched, rate in zip(monitor._watched, state["rates"], strict=True):
        watched.resume(rate)
    return monitor
