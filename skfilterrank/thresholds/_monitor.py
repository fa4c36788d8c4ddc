"""Monitors of risks on a stream of judged queries, with an alarm that is valid at any time."""

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
from skfilterrank._files.files import check_name, is_path
from skfilterrank._files.locks import locked
from skfilterrank._files.states import count, listed, number, numbers, optional, pair, record, text
from skfilterrank._lists.checks import (
    check_flag,
    check_level_scores,
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
from skfilterrank.thresholds._files import threshold_checksum
from skfilterrank.thresholds._risk_steps import has_judged
from skfilterrank.thresholds._risks import find_unjudged, read_promises

# Shares of the largest safe bet, over which the capital is spread evenly.
_BETS = np.geomspace(0.01, 0.98, 24)
# At least the sum of 1 / (m log(m) ** 2) over all m from 2 on, which is 2.10974...
_SUM_OF_STARTS = 2.1098
_FORMAT = "skfilterrank monitor 3"
_FIELDS = record(
    {
        "gains": states.gains_from_json,
        "alpha": check_share,
        "risks": listed(
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
        "threshold": optional(text),
        "queries": listed(text),
    }
)


@dataclass(frozen=True, eq=False, repr=False)
class RiskStatus(Result):
    """The state of a :class:`RiskMonitor`.

    Attributes
    ----------
    rates : DataFrame
        A row for each risk, named after it. Columns: "max_risk", its level; "k", its cut-off;
        "n_queries", the queries that counted; "observed", their mean; "lower" and "upper", an
        interval that holds at all times at once; "evidence", the highest factor by which bets
        against the risk have multiplied their capital; "alarm_at", the number of queries at the
        alarm, NaN if there was none.
    alpha : float
        Probability that there is ever a false alarm, or that an interval is ever wrong.
    """

    rates: pd.DataFrame
    alpha: float

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
            risk = rate_in_words(name, rate["k"])
            estimate = (
                f"{rate['observed']:.4f} on {counted(int(rate['n_queries']), 'query', 'queries')}, "
                f"{100 * (1 - self.alpha):.4g} % interval {rate['lower']:.4f} to "
                f"{rate['upper']:.4f}"
            )
            if np.isnan(rate["alarm_at"]):
                lines.append(f"No alarm: {risk} is {estimate}; its level is {rate['max_risk']:g}.")
            else:
                lines.append(
                    f"Alarm: {risk} is, or was for a time, above {rate['max_risk']:g}, as query "
                    f"{int(rate['alarm_at']):,} showed; over all queries it is {estimate}."
                )
        return "\n".join(lines)

    def _table(self) -> None:
        return None


class RiskMonitor:
    """A sequential test of risks, query by query.

    Judged queries may come at any time, and the status may be read after each. While all risks are
    kept, the probability that there is ever an alarm is at most `alpha`, however long the monitor
    runs. A test for a fixed number of queries has no such limit if it is repeated.

    Parameters
    ----------
    risks : dict
        Risks with their levels, as in :class:`CertifiedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    alpha : float, default=0.05
        Probability of a false alarm, between 0 and 1; several risks share it evenly.
    allow_repeats : bool, default=False
        Accept a query id that comes again, as another draw. If False it is an error, so that no
        batch is counted twice.

    Attributes
    ----------
    status : RiskStatus
        The state so far: `alarm`, True if a risk was shown to be above its level, and the table
        `rates` with a row for each risk and the columns "max_risk", "k", "n_queries", "observed",
        "lower" and "upper" (an interval that holds at all times at once), "evidence" and
        "alarm_at" (the number of queries at the alarm, or NaN).
    levels : dict of str to float
        Level of each risk, by its name.

    See Also
    --------
    risk_certificate : A test of a fixed number of queries.

    Notes
    -----
    Each query is a bet that the risk is above its level: a loss multiplies the capital of the bet
    by ``1 + bet * (loss - level)``. If the risk is at most the level, given all queries before,
    the expected capital does not grow. By Ville's inequality it ever reaches ``1 / alpha`` with a
    probability of at most `alpha`, however long the stream is [1]_.

    If all capital were staked from the first query on, most of it would be lost while the risk is
    kept, and an alarm would come late. Before query n only the share
    ``1 / ((n + 1) * log(n + 1) ** 2) / 2.1098`` of the capital is therefore added to the stakes.
    These shares sum to at most 1, so that the bound holds: it is a mixture of bets that start at
    each query [2]_. Each share is spread over 24 bets of different size.

    The interval holds the levels against which neither of two such bets, from the first query on,
    has won ``2 / alpha``. It is an interval for a risk that does not change. If the risk changes,
    its highest value so far is at least "lower", and its lowest at most "upper".

    Queries of one update count in the order of their first rows. Queries without a judged document
    do not count, unless no risk depends on labels, as "empty_list_rate". Ids are compared as text,
    and equal numbers or dates are one id, such as 1 and 1.0. A saved state grows by the id of each
    query; with `allow_repeats` it keeps no ids.

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
    >>> monitor = RiskMonitor({"any_forbidden": 0.1}, alpha=0.05)
    >>> good, bad = np.ones(60), np.where(np.arange(60) % 2 == 0, -1, 1)
    >>> print(monitor.update(good, good, groups=np.arange(60)))
    No alarm: the share of queries with a forbidden document in the shown list is 0.0000 on 60 ...
    >>> monitor.update(bad, good, groups=60 + np.arange(60)).alarm
    True
    """

    def __init__(
        self,
        risks,
        *,
        gains: Gains = None,
        alpha: float = 0.05,
        allow_repeats: bool = False,
    ):
        check_gains(gains)
        check_flag(allow_repeats, "allow_repeats")
        self.gains = gains
        self.alpha = check_share(alpha, "alpha")
        self.allow_repeats = allow_repeats
        self._watched = [_Watched(promise) for promise in read_promises(risks)]
        self._seen: set[str] = set()
        # Checksum of the monitored threshold; path and checksum of the file of this state.
        self._threshold: str | None = None
        self._file: tuple[str, str] | None = None

    @classmethod
    def of(cls, threshold, *, alpha: float = 0.05, allow_repeats: bool = False) -> "RiskMonitor":
        """Make a monitor of the risks of a certified threshold.

        Parameters
        ----------
        threshold : CertifiedThreshold or RankAndFilter
            A fitted threshold with a certificate, or a fitted model with one.
        alpha, allow_repeats
            As in the class.

        Returns
        -------
        RiskMonitor
            The monitor of this threshold; see `watches`.

        Raises
        ------
        ValueError
            If the threshold has no certificate, or a risk or the gains are functions.
        NotFittedError
            If the threshold is not fitted.

        Examples
        --------
        >>> from skfilterrank.datasets import make_rank_and_filter
        >>> from skfilterrank.thresholds import CertifiedThreshold, RiskMonitor
        >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
        >>> safe = CertifiedThreshold({"any_forbidden@3": 0.2}).fit(scores, y, groups=groups)
        >>> monitor = RiskMonitor.of(safe)
        >>> monitor.levels
        {'any_forbidden@3': 0.2}
        >>> safe.set_params(risks={"any_forbidden@3": 0.3}).fit(scores, y, groups=groups)
        CertifiedThreshold(risks={'any_forbidden@3': 0.3})
        >>> monitor.watches(safe)
        False
        """
        threshold = _threshold_of(threshold)
        certificate = getattr(threshold, "certificate_", None)
        checksum = threshold_checksum(threshold)
        if certificate is None:
            raise InputError(
                f"threshold must have a certificate, got {type(threshold).__name__}, which has "
                "none. Fit a CertifiedThreshold, or give that of a segment, as thresholds_['en']."
            )
        levels = {name: promise.max_risk for name, promise in certificate.promises.items()}
        monitor = cls(levels, gains=threshold.gains, alpha=alpha, allow_repeats=allow_repeats)
        monitor._threshold = checksum
        return monitor

    def watches(self, threshold) -> bool:
        """Tell if this monitor was made from this fitted threshold and its certificate.

        Parameters
        ----------
        threshold : threshold estimator or RankAndFilter
            A fitted threshold, or a fitted model with one.

        Returns
        -------
        bool
            False also for a monitor that was made without a threshold.
        """
        return self._threshold == threshold_checksum(_threshold_of(threshold))

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
            Rows with a lower score were not shown. None where -inf says so.

        Returns
        -------
        RiskStatus
            The state now.

        Raises
        ------
        ValueError
            If there are no rows, lengths differ, or a query was counted already. No query of the
            update is counted then.
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
        # The state changes last, as the warning above may be an error. A query without a judged
        # document was not counted, and may come again when it has one.
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
        alpha = self.alpha / len(self._watched)
        rows = {watched.promise.name: watched.summary(alpha) for watched in self._watched}
        return RiskStatus(pd.DataFrame.from_dict(rows, orient="index"), self.alpha)

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
            "alpha": self.alpha,
            "risks": [watched.state() for watched in self._watched],
            "allow_repeats": self.allow_repeats,
            "threshold": self._threshold,
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


class _Watched:
    """A risk, the capital of the bets against it, and the count of each loss."""

    def __init__(self, promise):
        self.promise = promise
        self.log_capital = np.full(len(_BETS), -np.inf)
        self.most = 0.0
        self.alarm_at: int | None = None
        self.counts: Counter[float] = Counter()

    def after(self, losses, goal) -> "_Watched":
        """Return a new state, after bets on some losses, one after the other."""
        new = copy(self)
        new.counts = self.counts.copy()
        if not len(losses):
            return new
        n_before = self.counts.total()
        place = np.arange(n_before + 2, n_before + 2 + len(losses), dtype=np.float64)
        starts = -np.log(place * np.log(place) ** 2 * _SUM_OF_STARTS)
        growth = np.log1p(_BETS * (losses[:, None] / self.promise.max_risk - 1.0)).cumsum(axis=0)
        # A stake that starts later is discounted by the growth before its start.
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
        """Convert the state to JSON."""
        return {
            "risk": self.promise.name,
            "max_risk": self.promise.max_risk,
            "alarm_at": self.alarm_at,
            "most": self.most,
            "log_capital": self.log_capital.tolist() if self.counts else [],
            "losses": sorted(map(list, self.counts.items())),
        }

    def resume(self, state: dict) -> None:
        """Set the state from JSON."""
        if state["losses"]:
            if len(state["log_capital"]) != len(_BETS):
                raise InputError(f"log_capital must be a list of {len(_BETS)}.")
            self.log_capital = state["log_capital"]
        self.most, self.alarm_at = state["most"], state["alarm_at"]
        self.counts = Counter(dict(state["losses"]))

    def summary(self, alpha):
        """Make a row of a status."""
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
        """Find the interval of levels that no bet has ruled out."""
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
    """Return a query id as text, which is the same for equal numbers or dates of any type."""
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
    """Compute the logarithm of a mean from logarithms, along the last axis."""
    return np.logaddexp.reduce(logs, axis=-1) - np.log(logs.shape[-1])


def _threshold_of(model) -> BaseThreshold:
    """Return a fitted threshold, or the one inside a fitted model."""
    if isinstance(model, BaseEstimator) and not isinstance(model, BaseThreshold):
        check_is_fitted(model)
        model = getattr(model, "filter_", model)
    if not isinstance(model, BaseThreshold):
        raise InputError(
            "threshold must be a fitted CertifiedThreshold, or a RankAndFilter with one, got "
            f"{brief(model)}."
        )
    return model


def _from_json(content):
    """Return the monitor, and the checksum of its file."""
    state = _FIELDS(content)
    levels = {risk["risk"]: risk["max_risk"] for risk in state["risks"]}
    if len(levels) < len(state["risks"]):
        raise InputError("risks names a risk twice.")
    monitor = RiskMonitor(
        levels,
        gains=state["gains"],
        alpha=state["alpha"],
        allow_repeats=state["allow_repeats"],
    )
    monitor._seen = set(state["queries"])
    for watched, risk in zip(monitor._watched, state["risks"], strict=True):
        watched.resume(risk)
    monitor._threshold = state["threshold"]
    return monitor, states.checksum_of(content)
