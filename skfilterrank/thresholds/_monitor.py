"""Watch a rate while judged queries come in: an alarm and an interval that hold at any time."""

import os
from collections import Counter
from copy import copy
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from skfilterrank._core.arrays import label_array
from skfilterrank._core.checks import check_flag, check_k, check_share, is_level, one_of
from skfilterrank._core.gains import Gains, check_gains
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.results import Result, counted
from skfilterrank._files.files import check_name, is_path
from skfilterrank._files.locks import locked
from skfilterrank._files.states import (
    checksum_of,
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
from skfilterrank.ranking._filtering.rank_and_filter import RankAndFilter
from skfilterrank.thresholds._certificate import rate_in_words
from skfilterrank.thresholds._files import filter_checksum
from skfilterrank.thresholds._risk_steps import has_judged
from skfilterrank.thresholds._risks import find_unjudged, read_promises

# Shares of the largest bet that cannot go broke; the capital is spread over them evenly.
_BETS = np.geomspace(0.01, 0.98, 24)
# Not less than the sum of 1 / (m log(m) ** 2) over all m from 2 on, which is 2.10974...
_SUM_OF_STARTS = 2.1098
_FORMAT = "skfilterrank monitor 2"
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
                    "log_capital": numbers(0, len(_BETS)),
                    "losses": listed(pair(number(0, 1), count(1))),
                }
            ),
            least=1,
        ),
        "allow_repeats": one_of(True, False),
        "filter": optional(text),
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
        all times at once; "evidence", by how much the bets against the promise have multiplied
        their capital at best; and "alarm_at", the number of queries at which that was too much,
        NaN if it never was.
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
                    f"Alarm: {what} is, or was for a time, above {rate['max_risk']:g}, as query "
                    f"{int(rate['alarm_at']):,} showed; over all queries it is {seen}."
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
    Each query is a bet that the rate is above its level: a loss multiplies the capital of the bet
    by ``1 + bet * (loss - max_risk)``. If the rate is at most the level, given all queries before,
    the capital is not expected to grow. By Ville's inequality it ever reaches ``1 / alpha`` with a
    probability of at most `alpha`, however long the stream is [1]_.

    If all of the capital were staked from the first query on, a long calm time would lose most of
    it, which later losses would first have to win back. So before query n only the share
    ``1 / ((n + 1) * log(n + 1) ** 2) / 2.1098`` of it is added to the stakes. These shares sum to
    at most 1, which keeps the bound: it is a mixture of bets that start at each query [2]_. Each
    share is spread over 24 bets, from careful ones to such that stake nearly all.

    The interval holds the levels against which neither of two such bets, from the first query on,
    has won ``2 / alpha``. It is one of a rate that does not change. If the rate changes, the
    highest rate so far is at least "lower", and the lowest at most "upper".

    Queries of one update count in the order in which their first rows come. Queries without a
    judged document do not count, except where no rate looks at labels, as "empty_list_rate" alone.
    Ids are compared as text, and numbers or dates that are equal are one id, such as 1 and 1.0. A
    saved state grows by the id of each query; with `allow_repeats` it keeps no ids.

    References
    ----------
    .. [1] Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86(1), 2024, https://arxiv.org/abs/2010.09686.
    .. [2] Shin, Ramdas and Rinaldo, "E-detectors: a nonparametric framework for sequential change
       detection", New England Journal of Statistics in Data Science 2(2), 2024,
       https://arxiv.org/abs/2203.03532.

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
        # The filter that is watched, and the file that held this state, with its checksum.
        self._filter: str | None = None
        self._file: tuple[str, str] | None = None

    @classmethod
    def for_filter(
        cls, model: RankAndFilter, *, alpha: float = 0.05, allow_repeats: bool = False
    ) -> "RiskMonitor":
        """Make a monitor of all that a filter of scores promises.

        Parameters
        ----------
        model : RankAndFilter
            Fitted with ``threshold="risk"`` around "passthrough", or read by :func:`read_filter`.
        alpha, allow_repeats
            As of the class.

        Returns
        -------
        RiskMonitor
            The monitor, which goes with this filter alone; see `watches`.

        Raises
        ------
        ValueError
            If the model promises nothing, or is no filter of scores.

        Examples
        --------
        >>> from skfilterrank.datasets import make_rank_and_filter
        >>> from skfilterrank.ranking import RankAndFilter, RiskMonitor
        >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
        >>> safe = RankAndFilter("passthrough", k=3, threshold="risk", risk="any_forbidden")
        >>> safe.set_params(max_risk=0.2).fit(scores, y, groups=groups)
        RankAndFilter(...)
        >>> monitor = RiskMonitor.for_filter(safe)
        >>> monitor.levels
        {'any_forbidden': 0.2}
        >>> monitor.watches(safe.set_params(max_risk=0.3).fit(scores, y, groups=groups))
        False
        """
        checksum = filter_checksum(model)
        if not hasattr(model, "risk_certificate_"):
            raise InputError(
                "model promises nothing that could be monitored: fit it with threshold='risk'."
            )
        promises = model.risk_certificate_.promises
        monitor = cls(
            {name: promise.max_risk for name, promise in promises.items()},
            k=model._k,
            gains=model.gains,
            alpha=alpha,
            allow_repeats=allow_repeats,
        )
        monitor._filter = checksum
        return monitor

    def watches(self, model: RankAndFilter) -> bool:
        """Tell if this monitor was made for a filter that shows and promises exactly the same.

        Parameters
        ----------
        model : RankAndFilter
            A filter of scores.

        Returns
        -------
        bool
            False also of a monitor that was made without a filter.
        """
        return self._filter == filter_checksum(model)

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
        if not any(watched.promise.looks_at_labels for watched in self._watched):
            lists = RankedLists(np.zeros(len(lists.gains)), lists.scores, groups=lists.index)
        ids = [] if self.allow_repeats else [_id_text(id) for id in lists.index.query_ids]
        if repeated := sorted(self._seen.intersection(ids)):
            raise InputError(
                f"groups holds queries that were counted already: {brief_list(repeated)}. Give "
                "each query once, or pass allow_repeats=True where an id may be asked again."
            )
        labels = label_array(y_true)
        codes = lists.index.codes()
        first = np.full(lists.index.n_queries, len(codes))
        np.minimum.at(first, codes, np.arange(len(codes)))
        goal = np.log(len(self._watched) / self.alpha)
        news = []
        for watched in self._watched:
            steps = watched.promise.steps(lists, labels)
            losses = steps.at(-np.inf)[np.argsort(first[steps.counted], kind="stable")]
            news.append(watched.after(losses, goal))
        find_unjudged(lists, [watched.promise for watched in self._watched])
        # From here on nothing fails, not even by a warning that is an error.
        # A query without a judged document was not counted, and may come again when it has one.
        self._seen.update(id for id, judged in zip(ids, has_judged(lists)) if judged)
        self._watched = news
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
        self.log_capital = np.full(len(_BETS), -np.inf)
        self.most = 0.0
        self.alarm_at: int | None = None
        self.counts: Counter[float] = Counter()

    def after(self, losses, goal) -> "_Watched":
        """A new state, after bets on some losses, one after the other."""
        new = copy(self)
        new.counts = self.counts.copy()
        if not len(losses):
            return new
        n_before = self.counts.total()
        place = np.arange(n_before + 2, n_before + 2 + len(losses), dtype=np.float64)
        starts = -np.log(place * np.log(place) ** 2 * _SUM_OF_STARTS)
        growth = np.log1p(_BETS * (losses[:, None] / self.promise.max_risk - 1.0)).cumsum(axis=0)
        # A start is worth as much as what would have become of it by growing from the first loss.
        stakes = starts[:, None] - np.vstack([np.zeros(len(_BETS)), growth[:-1]])
        stakes[0] = np.logaddexp(stakes[0], self.log_capital)
        paths = np.logaddexp.accumulate(stakes, axis=0) + growth
        capitals = _log_mean(paths)
        new.log_capital = paths[-1]
        new.most = max(self.most, float(capitals.max()))
        if self.alarm_at is None and (capitals >= goal).any():
            new.alarm_at = n_before + int(np.argmax(capitals >= goal)) + 1
        values, counts = np.unique(losses, return_counts=True)
        new.counts.update(dict(zip(values.tolist(), counts.tolist())))
        return new

    def state(self) -> dict:
        """Return the state as JSON holds it."""
        return {
            "risk": self.promise.name,
            "max_risk": self.promise.max_risk,
            "alarm_at": self.alarm_at,
            "most": self.most,
            "log_capital": self.log_capital.tolist() if self.counts else [],
            "losses": sorted(map(list, self.counts.items())),
        }

    def resume(self, state: dict) -> None:
        """Go on from a state that JSON held."""
        if state["losses"]:
            if len(state["log_capital"]) != len(_BETS):
                raise InputError(f"log_capital must be a list of {len(_BETS)}.")
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


def _id_text(query_id) -> str:
    """Text of a query id, the same for equal numbers and for equal dates of any type."""
    if isinstance(query_id, np.datetime64 | date):
        time = pd.Timestamp(query_id)
        time = time if time.tz is None else time.tz_convert("UTC")
        return str(time).removesuffix(" 00:00:00")
    if isinstance(query_id, np.timedelta64 | timedelta):
        return str(pd.Timedelta(query_id))
    if isinstance(query_id, np.generic):
        query_id = query_id.item()
    if isinstance(query_id, float) and query_id.is_integer():
        query_id = int(query_id)
    return str(query_id)


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
        If another process has written the file since this monitor was read from it.
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
        "filter": monitor._filter,
        "queries": sorted(monitor._seen),
    }
    call = "write_monitor(path, monitor)"
    if not is_path(path):
        write_state(path, _FORMAT, state, call)
        return
    check_name(path)
    file = os.path.realpath(path)
    with locked(path):
        before, checksum = monitor._file or (None, None)
        is_own = before == file and os.path.exists(path)
        if is_own and read_state(path, _FORMAT, checksum_of) != checksum:
            raise InputError(
                f"{os.fspath(path)} has changed since monitor was read from it: read it again and "
                "update what it holds now."
            )
        monitor._file = file, write_state(path, _FORMAT, state, call)


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
    monitor, checksum = read_state(source, _FORMAT, _from_json)
    monitor._file = (os.path.realpath(source), checksum) if is_path(source) else None
    return monitor


def _from_json(content):
    """Return the monitor, and the checksum of its file."""
    state = _FIELDS(content)
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
    monitor._filter = state["filter"]
    return monitor, checksum_of(content)
