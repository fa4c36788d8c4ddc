"""Monitors of risks on a stream of judged queries; their guarantees hold at any time."""

import math
import os
from collections import Counter
from copy import copy
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfilterrank._files import states
from skfilterrank._files.files import check_name, is_path, locked
from skfilterrank._files.states import count, listed, number, numbers, optional, pair, record, text
from skfilterrank._lists.checks import (
    check_choice,
    check_count,
    check_flag,
    check_level_scores,
    check_number,
    check_random_state,
    check_share,
    is_level,
    label_array,
    one_of,
)
from skfilterrank._lists.gains import Gains, check_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.results import Result, counted
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._certificate import rate_in_words
from skfilterrank.thresholds._files import NOT_FITTED, certificate_checksum, threshold_checksum
from skfilterrank.thresholds._risk_steps import has_judged
from skfilterrank.thresholds._risks import AMONG, find_unjudged, read_promises

# Bets as shares of the largest safe bet; the capital is divided equally among them.
BETS = np.geomspace(0.01, 0.98, 24)
# Upper bound of the sum of 1 / (m log(m) ** 2) over all m from 2 on, which is 2.10974...
SUM_OF_STARTS = 2.1098
# Number of queries at which a simulation stops.
_MOST_QUERIES = 100_000


class WatchedRisk:
    """State of the sequential test of one risk: capital of the bets, and losses.

    Before each loss a stake is added to the capital. If the stakes of all queries sum to at most 1,
    the capital reaches ``1 / error`` with a probability of at most `error`. If each stake is 1
    (`restarts`), the capital is the Shiryaev-Roberts statistic.

    Parameters
    ----------
    promise : Promise
        The risk and its level.
    restarts : bool
        True if each query adds a stake of 1.
    window : int
        Number of last losses that are stored.
    """

    def __init__(self, promise, restarts, window):
        self.promise, self.restarts, self.window = promise, restarts, window
        self.log_capital = np.full(len(BETS), -np.inf)
        self.most = 0.0
        self.alarm_at: int | None = None
        self.counts: Counter[float] = Counter()
        self.recent = np.empty(0)

    def anew(self) -> "WatchedRisk":
        """Return the initial state of the same risk."""
        return WatchedRisk(self.promise, self.restarts, self.window)

    def after(self, losses, goal) -> "WatchedRisk":
        """Return the state after some more losses, in their order."""
        new = copy(self)
        new.counts = self.counts.copy()
        if not len(losses):
            return new
        n_before = self.counts.total()
        growth = np.log1p(BETS * (losses[:, None] / self.promise.max_risk - 1.0)).cumsum(axis=0)
        # A later stake is divided by the growth before it, since `growth` starts at the first loss.
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
        """Return the logarithm of the stake that is added after `n_before` queries."""
        if self.restarts:
            return np.zeros(len(n_before))
        place = n_before + 2.0
        return -np.log(place * np.log(place) ** 2 * SUM_OF_STARTS)

    def queries_to_alarm(self, rate, goal, probability, n_repeats, rng) -> float:
        """Simulate the number of queries to an alarm if losses are 1 with probability `rate`.

        The result is the smallest number at which a share `probability` of the repetitions has an
        alarm; infinite if it is above 100,000.
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
        """Return the risk's row of the status."""
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
        """Compute the confidence interval: the levels that no bet has ruled out."""
        values = np.array(list(self.counts))
        counts = np.array(list(self.counts.values()), dtype=np.float64)
        goal = np.log(2.0 / error)

        def bound(values):
            # Lowest level that bets on larger losses have not ruled out.
            def won(level):
                logs = np.log1p(BETS * (values[:, None] / level - 1.0))
                return float(log_mean(counts @ logs)) - goal

            tiny = 1e-9
            return 0.0 if not len(values) or won(tiny) < 0 else float(brentq(won, tiny, 1.0))

        return bound(values), 1.0 - bound(1.0 - values)


def log_mean(logs):
    """Compute the logarithm of the mean of exponentials along the last axis."""
    return np.logaddexp.reduce(logs, axis=-1) - np.log(logs.shape[-1])


_CONFIDENCE = 0.95
_FORMAT = "skfilterrank monitor 5"
_FIELDS = record(
    {
        "gains": states.gains_from_json,
        "confidence_level": check_share,
        "queries_per_false_alarm": optional(count(1)),
        "window": count(1),
        "risks": listed(
            record(
                {
                    "risk": text,
                    "max_risk": check_share,
                    "alarm_at": optional(count(1)),
                    "most": number(least=0),
                    "log_capital": numbers(0, len(BETS)),
                    "losses": listed(pair(number(0, 1), count(1))),
                    "recent": numbers(least=0, most=None),
                }
            ),
            least=1,
        ),
        "among": one_of(*AMONG),
        "allow_repeats": one_of(True, False),
        "threshold": optional(text),
        "certificate": optional(text),
        "queries": listed(text),
    }
)

_PARAMETERS = (
    "gains",
    "confidence_level",
    "queries_per_false_alarm",
    "among",
    "window",
    "allow_repeats",
)


@dataclass(frozen=True, eq=False, repr=False)
class RiskStatus(Result):
    """The state of a :class:`RiskMonitor`.

    Attributes
    ----------
    rates : DataFrame
        A row for each risk, named after it. Columns: "max_risk", its level; "k", its cut-off;
        "n_queries", the number of queries that counted; "observed", their mean loss; "lower" and
        "upper", a confidence interval that holds at all times at once; "n_recent" and "recent",
        number and mean loss of the last queries (at most `window`); "evidence", the highest test
        statistic so far; "alarm_at", the number of queries at the alarm, NaN without alarm.
    confidence_level : float
        Probability that an interval contains the risk at all times. If `queries_per_false_alarm` is
        None, also the probability that there is never a false alarm.
    queries_per_false_alarm : int or None
        Guaranteed mean number of queries before a false alarm.
    among : {"all", "answered"}
        Queries that count: all, or those that are shown something.
    """

    rates: pd.DataFrame
    confidence_level: float
    queries_per_false_alarm: int | None = None
    among: str = "all"

    @property
    def guarantee(self) -> str:
        """Guarantee against false alarms, in words."""
        if self.queries_per_false_alarm is None:
            return (
                f"With probability {self.confidence_level:g} there is never an alarm while the "
                "risks are kept."
            )
        return (
            f"While the risks are kept, {self.queries_per_false_alarm:,} queries or more come "
            "before an alarm on average."
        )

    @property
    def advice(self) -> str:
        """Advice after an alarm, in words; empty without one."""
        if not self.alarm:
            return ""
        return (
            "Judge the newest queries, fit a CertifiedThreshold on them, and make a RiskMonitor of "
            "it. If the cause has gone and the threshold stays, call reset()."
        )

    @property
    def alarm(self) -> bool:
        """True if a risk was shown to be above its level."""
        return bool(self.rates["alarm_at"].notna().any())

    def to_frame(self) -> pd.DataFrame:
        """Return the table of risks."""
        return self.rates

    def _summary(self):
        most = counted(int(self.rates["n_queries"].max()), "query", "queries")
        return f"{'alarm' if self.alarm else 'no alarm'} after {most}"

    def _head(self):
        lines = []
        for name, rate in self.rates.iterrows():
            risk = rate_in_words(name, rate["k"], "all" if _is_of_empty(name) else self.among)
            estimate = (
                f"{rate['observed']:.4f} on {counted(int(rate['n_queries']), 'query', 'queries')}, "
                f"{100 * self.confidence_level:.4g} % interval {rate['lower']:.4f} to "
                f"{rate['upper']:.4f}"
            )
            if rate["n_recent"] < rate["n_queries"]:
                estimate += f", and {rate['recent']:.4f} on the last {int(rate['n_recent']):,}"
            if np.isnan(rate["alarm_at"]):
                lines.append(f"No alarm: {risk} is {estimate}; its level is {rate['max_risk']:g}.")
            else:
                lines.append(
                    f"Alarm after {int(rate['alarm_at']):,} queries: {risk} is, or was for a time, "
                    f"above {rate['max_risk']:g}. Over all queries it is {estimate}."
                )
        text = "\n".join(lines)
        return f"{text} {self.guarantee} {self.advice}".rstrip()

    def _table(self) -> None:
        return None


class RiskMonitor:
    """A sequential test of risks, query by query.

    Judged queries can be added at any time, and the status can be read after each. A false alarm is
    an alarm while all risks are at most their levels. There are two guarantees against it. "never":
    with probability `confidence_level` there is no false alarm, however long the monitor runs.
    "average": the mean number of queries before a false alarm is at least
    `queries_per_false_alarm`. With "average", the monitor detects a rise much earlier, and as early
    after many good queries as at the start.

    Parameters
    ----------
    risks : dict, CertifiedThreshold or RankAndFilter
        Risks with their levels, as in :class:`CertifiedThreshold`. Or a fitted threshold with a
        certificate, or a fitted model with such a threshold; its risks, levels, gains and `among`
        are used.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. With a threshold,
        None means its gains.
    confidence_level : float or None, default=None
        Probability that an interval contains the risk at all times; with the guarantee "never" also
        the probability that there is never a false alarm. None means the level of the certificate,
        or 0.95 without certificate. Several risks share the error probability equally.
    queries_per_false_alarm : int or None, default=None
        Guaranteed mean number of queries before a false alarm, such as 10,000 (the guarantee
        "average"). None means the guarantee "never".
    among : {"all", "answered"} or None, default=None
        Queries that count, as in :class:`CertifiedThreshold`: all, or those that are shown
        something. None means `among` of the threshold, or "all" without threshold.
    window : int, default=200
        Number of last queries whose mean loss the status reports, too.
    allow_repeats : bool, default=False
        Count a repeated query id as another draw. If False, it is an error, so that no batch is
        counted twice.

    Attributes
    ----------
    status : RiskStatus
        The state so far: `alarm`, True if a risk was shown to be above its level; `advice`, a text
        about what to do after an alarm; and the table `rates` with a row for each risk and the
        columns "max_risk", "k", "n_queries", "observed", "lower" and "upper" (an interval that
        holds at all times at once), "n_recent" and "recent" (the last queries and their mean),
        "evidence" and "alarm_at" (the number of queries at the alarm, or NaN).
    levels : dict of str to float
        Level of each risk, by its name.
    guarantee : {"never", "average"}
        The guarantee against false alarms.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if a threshold has no certificate, has other gains than
        those given, or has a risk or gains that are functions.
    NotFittedError
        If a threshold is not fitted.

    See Also
    --------
    risk_certificate : A test of a fixed number of queries.

    Notes
    -----
    Each query is a bet that the risk is above its level: a loss multiplies the capital of the bet
    by ``1 + bet * (loss - level)``. If the risk is at most the level, given all queries before,
    the expected capital does not grow. Before each query a stake is added to the capital.

    **"never"**: the stakes of all queries sum to at most 1. By Ville's inequality the capital ever
    reaches ``1 / (1 - confidence_level)`` with a probability of at most ``1 - confidence_level``
    [1]_. If the whole stake were placed before the first query, most of it would be lost while the
    risk is kept, and an alarm would come late. So query n adds ``1 / ((n + 1) * log(n + 1) ** 2) /
    2.1098``: a mixture of bets that start at each query.

    **"average"**: each query adds a stake of 1. The capital is then the Shiryaev-Roberts statistic,
    an e-detector [2]_. While the risk is kept, the capital minus the number of queries does not
    grow in expectation. So the mean number of queries until it reaches `queries_per_false_alarm` is
    at least this number. With several risks, the limit for each is multiplied by the number of
    risks. The guarantee is about the mean: single alarms may come earlier. After :meth:`reset` the
    count starts again.

    Each stake is divided among 24 bets of different size. The interval contains the levels that are
    not rejected. A level is rejected if bets on a larger risk, or bets on a smaller risk, have
    reached ``2 / (1 - confidence_level)`` since the first query. The interval is for a constant
    risk. If the risk changes, its highest value so far is at least "lower", and its lowest at most
    "upper".

    Queries of one update count in the order of their first rows, so the division into batches does
    not matter. Queries without a judged document do not count, unless no risk depends on labels
    (such as "empty_list_rate"). Ids are compared as text; equal numbers or dates are the same id,
    such as 1 and 1.0. The state stores the id of each query, unless `allow_repeats` is true.

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
    >>> from skfilterrank.thresholds import RiskMonitor
    >>> monitor = RiskMonitor({"any_forbidden": 0.1}, queries_per_false_alarm=10_000)
    >>> good, bad = np.ones(60), np.where(np.arange(60) % 2 == 0, -1, 1)
    >>> print(monitor.update(good, good, groups=np.arange(60)))
    No alarm: the share of queries with a forbidden document in the shown list is 0.0000 on 60 ...
    >>> rates = monitor.update(bad, good, groups=60 + np.arange(60)).rates
    >>> int(rates.loc["any_forbidden", "alarm_at"])
    77

    From a certified threshold, with its risks, its gains and its confidence level:

    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import CertifiedThreshold
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> safe = CertifiedThreshold({"any_forbidden@3": 0.2}).fit(scores, y, groups=groups)
    >>> RiskMonitor(safe)
    <RiskMonitor: any_forbidden@3 at most 0.2; no alarm after 0 queries>
    """

    def __init__(
        self,
        risks,
        *,
        gains: Gains = None,
        confidence_level: float | None = None,
        queries_per_false_alarm: int | None = None,
        among: str | None = None,
        window: int = 200,
        allow_repeats: bool = False,
    ):
        check_gains(gains)
        check_flag(allow_repeats, "allow_repeats")
        # Checksums of the monitored threshold and of its certificate; path and checksum of the file
        # of this state.
        self._threshold: str | None = None
        self._certificate: str | None = None
        self._file: tuple[str, str] | None = None
        if isinstance(risks, BaseEstimator):
            threshold = _threshold_of(risks)
            certificate = _certificate_of(threshold)
            risks = {name: promise.max_risk for name, promise in certificate.promises.items()}
            if gains not in (None, threshold.gains):
                raise InputError(
                    f"gains must be those of the threshold, {brief(threshold.gains)}, got "
                    f"{brief(gains)}. Leave gains out."
                )
            gains = threshold.gains
            if confidence_level is None:
                confidence_level = certificate.confidence_level
            if among not in (None, threshold.among):
                raise InputError(
                    f"among must be that of the threshold, {threshold.among!r}, got "
                    f"{brief(among)}. Leave among out."
                )
            among = threshold.among
            if certificate.unit is not None:
                raise InputError(
                    "a monitor treats queries as independent, but the certificate counts each "
                    f"{certificate.unit} once. Pass the dict of the risks to RiskMonitor, and "
                    f"update it with one query of each {certificate.unit}."
                )
            self._threshold = threshold_checksum(threshold)
            self._certificate = certificate_checksum(certificate)
        if confidence_level is None:
            confidence_level = _CONFIDENCE
        self.gains = gains
        self.confidence_level = check_share(confidence_level, "confidence_level")
        self.queries_per_false_alarm = check_count(
            queries_per_false_alarm, "queries_per_false_alarm", or_none=True
        )
        self.among = check_choice("all" if among is None else among, "among", AMONG)
        self.window = check_count(window, "window")
        self.allow_repeats = allow_repeats
        restarts = self.guarantee == "average"
        self._watched = [
            WatchedRisk(promise, restarts, self.window)
            for promise in read_promises(risks, self.among)
        ]
        self._seen: set[str] = set()

    @property
    def guarantee(self) -> str:
        """Guarantee against false alarms: "never" or "average"."""
        return "never" if self.queries_per_false_alarm is None else "average"

    @property
    def _error(self) -> float:
        """Error probability of each risk; rounded up, so that 1 - 0.9 is not below 0.1."""
        return float(f"{1.0 - self.confidence_level:.12g}") / len(self._watched)

    @property
    def _goal(self) -> float:
        """Logarithm of the capital that raises an alarm, for each of the risks."""
        if self.queries_per_false_alarm is None:
            return float(np.log(1.0 / self._error))
        return float(np.log(len(self._watched) * self.queries_per_false_alarm))

    def watches(self, threshold) -> bool:
        """Tell if this monitor was made from a given fitted threshold and its certificate.

        Parameters
        ----------
        threshold : threshold estimator or RankAndFilter
            A fitted threshold, or a fitted model with one.

        Returns
        -------
        bool
            True if it was; False for a monitor that was made without a threshold.
        """
        return self._threshold == threshold_checksum(_threshold_of(threshold))

    def _may_watch(self, certificate) -> bool:
        """Tell if this monitor was made from the threshold of a certificate, or from none."""
        return self._certificate in (None, certificate_checksum(certificate))

    def update(self, y_true, y_score, *, groups=None, threshold: float | None = None) -> RiskStatus:
        """Count new judged queries.

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
            Rows with a lower score were not shown. None means that hidden rows have score -inf.

        Returns
        -------
        RiskStatus
            The state now.

        Raises
        ------
        ValueError
            If there are no rows, lengths differ, or a query was counted already. After an error, no
            query of the update is counted.
        """
        if threshold is not None and not is_level(threshold):
            raise InputError(f"threshold must be a number or None, got {brief(threshold)}.")
        lists = RankedLists(y_true, y_score, groups=groups, gains=self.gains)
        lists.scores = check_level_scores(y_score)
        if threshold is not None:
            lists = lists.with_scores(lists.scores, threshold)
        if not any(watched.promise.looks_at_labels for watched in self._watched):
            lists = RankedLists(np.zeros(len(lists.gains)), lists.scores, groups=lists.index)
        ids = [] if self.allow_repeats else [_id_text(id) for id in lists.index.query_ids]
        if repeated := sorted(self._seen.intersection(ids)):
            raise InputError(
                f"groups holds queries that were counted already: {brief_list(repeated)}. Pass "
                "each query once, or set allow_repeats=True if an id can occur again."
            )
        labels = label_array(y_true)
        codes = lists.index.codes()
        first = np.full(lists.index.n_queries, len(codes))
        np.minimum.at(first, codes, np.arange(len(codes)))
        is_answered = np.bincount(codes, lists.scores > -np.inf, len(first)) > 0
        news = []
        for watched in self._watched:
            steps = watched.promise.steps(lists, labels)
            order = np.argsort(first[steps.counted], kind="stable")
            if watched.promise.answered:
                order = order[is_answered[steps.counted][order]]
            news.append(watched.after(steps.at(-np.inf)[order], self._goal))
        find_unjudged(lists, [watched.promise for watched in self._watched])
        # The state is changed last, because warnings can be turned into errors. A query without a
        # judged document was not counted, so its id may occur again later.
        self._seen.update(id for id, judged in zip(ids, has_judged(lists)) if judged)
        self._watched = news
        return self.status

    @property
    def levels(self) -> dict[str, float]:
        """Level of each risk, by its name."""
        return {watched.promise.name: watched.promise.max_risk for watched in self._watched}

    @property
    def status(self) -> RiskStatus:
        """The state so far."""
        rows = {watched.promise.name: watched.summary(self._error) for watched in self._watched}
        rates = pd.DataFrame.from_dict(rows, orient="index")
        return RiskStatus(rates, self.confidence_level, self.queries_per_false_alarm, self.among)

    def queries_to_notice(
        self,
        rate: float,
        *,
        risk: str | None = None,
        probability: float = 0.5,
        n_repeats: int = 1000,
        random_state=None,
    ) -> float:
        """Simulate how many more queries are needed to detect a rise of a risk to a given rate.

        The simulation starts from the current state. Losses are drawn as 0 or 1; a rise of other
        losses, such as those of "forbidden", is usually detected earlier.

        Parameters
        ----------
        rate : float
            The risk from the next query on, above its level and at most 1.
        risk : str or None, default=None
            Name of the risk; None if there is only one.
        probability : float, default=0.5
            Quantile of the number of queries, between 0 and 1; 0.5 gives the median.
        n_repeats : int, default=1000
            Number of simulated streams.
        random_state : int, RandomState or None, default=None
            Seed of the losses.

        Returns
        -------
        float
            Number of queries that count for the risk; infinite if it is above 100,000.

        Raises
        ------
        ValueError
            If a parameter is out of range, there is no such risk, or there was an alarm already.

        Examples
        --------
        >>> from skfilterrank.thresholds import RiskMonitor
        >>> monitor = RiskMonitor({"any_forbidden": 0.1}, queries_per_false_alarm=10_000)
        >>> monitor.queries_to_notice(0.5, random_state=0)
        17.0
        """
        levels = self.levels
        if risk is None and len(levels) == 1:
            (risk,) = levels
        check_choice(risk, "risk", tuple(levels))
        (watched,) = (each for each in self._watched if each.promise.name == risk)
        level = watched.promise.max_risk
        check_number(rate, "rate", above=level, most=1.0)
        check_share(probability, "probability")
        check_count(n_repeats, "n_repeats")
        if watched.alarm_at is not None:
            raise InputError(
                f"{risk} has raised an alarm already, at query {watched.alarm_at}. Call reset() "
                "to continue."
            )
        rng = check_random_state(random_state)
        return watched.queries_to_alarm(rate, self._goal, probability, n_repeats, rng)

    def reset(self) -> None:
        """Restart the monitor, for example after the cause of an alarm was removed.

        Losses and alarms are cleared, and the guarantee starts again. The ids of counted queries
        are kept, so that no query is counted twice.

        Examples
        --------
        >>> import numpy as np
        >>> from skfilterrank.thresholds import RiskMonitor
        >>> monitor = RiskMonitor({"any_forbidden": 0.1})
        >>> monitor.update(-np.ones(20), np.ones(20), groups=np.arange(20))
        <RiskStatus: alarm after 20 queries>
        >>> monitor.reset()
        >>> monitor.status
        <RiskStatus: no alarm after 0 queries>
        """
        self._watched = [watched.anew() for watched in self._watched]

    def save(self, path) -> None:
        """Save the monitor as readable JSON.

        Parameters
        ----------
        path : str, path-like or open file
            Target; an older file is replaced once the new one is whole.

        Raises
        ------
        ValueError
            If a risk or the gains are a function, or a label of the gains is neither text nor a
            number. If another process has written the file since this monitor was loaded from it.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> from skfilterrank.thresholds import RiskMonitor
        >>> path = os.path.join(tempfile.mkdtemp(), "monitor.json")
        >>> RiskMonitor({"forbidden@3": 0.1}).save(path)
        >>> RiskMonitor.load(path)
        <RiskMonitor: forbidden@3 at most 0.1; no alarm after 0 queries>
        """
        for watched in self._watched:
            if not isinstance(watched.promise.rate, ParsedMeasure):
                raise InputError(
                    f"risks has the function {watched.promise.name}, which JSON cannot hold. Use a "
                    "measure by its name, or pickle the monitor."
                )
        state = {
            "gains": states.gains_to_json(self.gains, "monitor"),
            "confidence_level": self.confidence_level,
            "queries_per_false_alarm": self.queries_per_false_alarm,
            "among": self.among,
            "window": self.window,
            "risks": [watched.state() for watched in self._watched],
            "allow_repeats": self.allow_repeats,
            "threshold": self._threshold,
            "certificate": self._certificate,
            "queries": sorted(self._seen),
        }
        call = "monitor.save(path)"
        if not is_path(path):
            states.write_state(path, _FORMAT, state, call)
            return
        check_name(path)
        file = os.path.realpath(path)
        with locked(path):
            before, checksum = self._file or (None, None)
            is_own = before == file and os.path.exists(path)
            if is_own and states.read_state(path, _FORMAT, states.checksum_of) != checksum:
                raise InputError(
                    f"{os.fspath(path)} has changed since this monitor was loaded from it. Load it "
                    "again, and update that monitor."
                )
            self._file = file, states.write_state(path, _FORMAT, state, call)

    @classmethod
    def load(cls, source) -> "RiskMonitor":
        """Load a monitor that `save` wrote.

        Parameters
        ----------
        source : str, path-like or open file
            The file.

        Returns
        -------
        RiskMonitor
            The monitor in its saved state.

        Raises
        ------
        FileFormatError
            If the file holds no monitor, is of another version, or was changed by hand.
        """
        monitor, checksum = states.read_state(source, _FORMAT, _from_json)
        monitor._file = (os.path.realpath(source), checksum) if is_path(source) else None
        return monitor

    def __repr__(self) -> str:
        rates = ", ".join(f"{w.promise.name} at most {w.promise.max_risk:g}" for w in self._watched)
        return f"<RiskMonitor: {rates}; {self.status._summary()}>"


def _is_of_empty(risk) -> bool:
    """Tell whether a risk is the share of empty lists, for which all queries count."""
    return risk.startswith("empty_list_rate")


def _id_text(query_id) -> str:
    """Return a query id as text; equal numbers or dates of any type give the same text."""
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


def _threshold_of(model) -> BaseThreshold:
    """Return a fitted threshold, or the threshold of a fitted model."""
    if isinstance(model, BaseEstimator) and not isinstance(model, BaseThreshold):
        check_is_fitted(model)
        model = getattr(model, "filter_", model)
    if not isinstance(model, BaseThreshold):
        raise InputError(
            "threshold must be a fitted CertifiedThreshold, or a RankAndFilter with one, got "
            f"{brief(model)}."
        )
    return model


def _certificate_of(threshold):
    """Return the certificate of a fitted threshold."""
    check_is_fitted(threshold, msg=NOT_FITTED)
    certificate = getattr(threshold, "certificate_", None)
    if certificate is None:
        raise InputError(
            f"threshold must have a certificate, got {type(threshold).__name__}, which has none. "
            "Fit a CertifiedThreshold, or give that of a segment, as thresholds_['en']."
        )
    return certificate


def _from_json(content):
    """Return the monitor, and the checksum of its file."""
    state = _FIELDS(content)
    levels = {risk["risk"]: risk["max_risk"] for risk in state["risks"]}
    if len(levels) < len(state["risks"]):
        raise InputError("risks names a risk twice.")
    monitor = RiskMonitor(
        levels,
        **{name: state[name] for name in _PARAMETERS},
    )
    monitor._seen = set(state["queries"])
    for watched, risk in zip(monitor._watched, state["risks"], strict=True):
        watched.resume(risk)
    monitor._threshold, monitor._certificate = state["threshold"], state["certificate"]
    return monitor, states.checksum_of(content)
