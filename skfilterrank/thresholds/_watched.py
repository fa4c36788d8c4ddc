"""Objects of a monitor: risks, each with a sequential test, and a certified threshold."""

from collections import Counter
from copy import copy
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.results import Result
from skfilterrank._base.words import counted, plural
from skfilterrank._files.states import array
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.prefixes import places
from skfilterrank.exceptions import InputError, Message, brief
from skfilterrank.thresholds._certificate import RiskCertificate, rate_in_words
from skfilterrank.thresholds._files import NOT_FITTED, threshold_checksum
from skfilterrank.thresholds._threshold import BaseThreshold
from skfilterrank.thresholds._tuned import check_level

# Bets as shares of the largest safe bet; the capital is divided equally among them.
BETS = np.geomspace(0.01, 0.98, 24)


class WatchedRisk:
    """State of the sequential test of one risk: capital of the bets, and losses.

    Before each loss a stake of 1 is added to the capital, which makes it the Shiryaev-Roberts
    statistic.

    Parameters
    ----------
    risk : Risk
        The risk and its level.
    """

    def __init__(self, risk):
        self.risk = risk
        self.log_capital = np.full(len(BETS), -np.inf)
        self.most = 0.0
        self.alarm_at: int | None = None
        # Numbers of units by their loss and their share of queries that count; see `after`.
        self.counts: Counter[tuple[float, float]] = Counter()
        self.n_left_out = 0

    def after(self, losses, goal, shares=None, n_left_out=0) -> "WatchedRisk":
        """Return the state after more losses, in their order, and `n_left_out` unknown ones.

        A cluster may have queries that are not answered and do not count. `shares` has the share of
        its queries that count, and `losses` the mean over all of its queries, of which the others
        lose nothing. None means that all count.
        """
        new = copy(self)
        shares = np.ones(len(losses)) if shares is None else shares
        new.counts = self.counts.copy()
        new.n_left_out += n_left_out
        if not len(losses):
            return new
        n_before = self.counts.total()
        growth = np.log1p(BETS * (losses[:, None] / self.risk.max_risk - shares[:, None])).cumsum(
            axis=0
        )
        # A later stake is divided by the growth before it, since `growth` starts at the first loss.
        stakes = -np.vstack([np.zeros(len(BETS)), growth[:-1]])
        stakes[0] = np.logaddexp(stakes[0], self.log_capital)
        paths = np.logaddexp.accumulate(stakes, axis=0) + growth
        capitals = log_mean(paths)
        new.log_capital = paths[-1]
        new.most = max(self.most, float(capitals.max()))
        if self.alarm_at is None and (capitals >= goal).any():
            new.alarm_at = n_before + int(np.argmax(capitals >= goal)) + 1
        units = np.column_stack([losses, shares])
        values, counts = np.unique(units, axis=0, return_counts=True)
        new.counts.update(dict(zip(map(tuple, values.tolist()), counts.tolist())))
        return new

    def state(self) -> dict:
        """Convert the state to JSON."""
        losses = sorted(self.counts.items())
        return {
            "risk": self.risk.name,
            "max_risk": self.risk.max_risk,
            "alarm_at": self.alarm_at,
            "most": self.most,
            "log_capital": self.log_capital.tolist() if self.counts else [],
            "losses": [[loss, count] for (loss, _), count in losses],
            "shares": [share for (_, share), _ in losses],
            "n_left_out": self.n_left_out,
        }

    def resume(self, state: dict) -> None:
        """Set the state from JSON."""
        if state["losses"]:
            self.log_capital = array(state["log_capital"])
        self.most, self.alarm_at = state["most"], state["alarm_at"]
        self.n_left_out = state["n_left_out"]
        losses = zip(state["losses"], state["shares"], strict=True)
        self.counts = Counter({(loss, share): count for (loss, count), share in losses})

    def summary(self, error):
        """Return the risk's row of the status."""
        n = self.counts.total()
        total, n_full = (
            sum(unit[place] * count for unit, count in self.counts.items()) for place in (0, 1)
        )
        lower, upper = self.interval(error)
        return {
            "max_risk": self.risk.max_risk,
            "k": np.nan if self.risk.k is None else float(self.risk.k),
            "among": "answered" if self.risk.answered else "all",
            "n_queries": n,
            "n_left_out": self.n_left_out,
            "observed": total / n_full if n else np.nan,
            "lower": lower,
            "upper": upper,
            "evidence": float(np.exp(min(self.most, 700.0))),
            "alarm_at": np.nan if self.alarm_at is None else float(self.alarm_at),
        }

    def interval(self, error):
        """Compute the confidence interval: the levels that no bet has ruled out."""
        losses, shares = np.array(list(self.counts)).reshape(-1, 2).T
        counts = np.array(list(self.counts.values()), dtype=np.float64)
        goal = np.log(2.0 / error)

        def bound(losses):
            # Return the lowest level that bets on a larger mean loss have not ruled out.
            def won(level):
                logs = np.log1p(BETS * (losses[:, None] / level - shares[:, None]))
                return float(log_mean(counts @ logs)) - goal

            tiny = 1e-9
            return 0.0 if not len(losses) or won(tiny) < 0 else float(brentq(won, tiny, 1.0))

        return bound(losses), 1.0 - bound(shares - losses)


def log_mean(logs):
    """Compute the logarithm of the mean of exponentials along the last axis."""
    return np.logaddexp.reduce(logs, axis=-1) - np.log(logs.shape[-1])


@dataclass(frozen=True, eq=False, repr=False)
class RiskStatus(Result):
    """The state of a :class:`RiskMonitor`.

    Attributes
    ----------
    rates : DataFrame
        A row for each risk, named after it. Columns: "max_risk", its level; "k", its cut-off;
        "among", the queries that count ("all" or "answered", those that are shown something);
        "n_queries", the number of queries that counted; "n_left_out", that of queries that do not
        count, for lack of labels; "observed", their mean loss; "lower" and
        "upper", a confidence interval that holds at all times at once; "evidence", the highest test
        statistic so far; "alarm_at", the number of queries at the alarm, NaN without alarm. With
        clusters, numbers of queries are numbers of clusters.
    confidence_level : float
        Probability that an interval contains the risk at all times.
    queries_per_false_alarm : int
        Guaranteed mean number of queries (with clusters, of clusters) before a false alarm.
    unit : str or None
        Name of a cluster, such as "user"; each cluster counts once, with the mean loss of its
        queries. None if each query is a unit.
    """

    rates: pd.DataFrame
    confidence_level: float
    queries_per_false_alarm: int
    unit: str | None = None

    @property
    def bound_in_words(self) -> str:
        """Bound on false alarms, in words."""
        return (
            f"While the risks are kept, {self._count(self.queries_per_false_alarm)} or more come "
            "before an alarm on average."
        )

    @property
    def advice(self) -> str:
        """Advice after an alarm, in words; empty without one."""
        if not self.alarm:
            return ""
        anew = "fit a CertifiedThreshold on them, and make a RiskMonitor of it"
        return Message(
            f"Judge the newest queries, {{{anew}}}. If the cause has gone and the threshold stays, "
            "{call reset()}.",
            (anew, "call reset()"),
        )

    @property
    def alarm(self) -> bool:
        """True if a risk was shown to be above its level."""
        return bool(self.rates["alarm_at"].notna().any())

    def to_frame(self) -> pd.DataFrame:
        """Return the table of risks."""
        return self.rates

    def _count(self, number):
        """Return a number of units in words."""
        return counted(int(number), self.unit or "query")

    def _summary(self):
        most = self._count(self.rates["n_queries"].max())
        return f"{'alarm' if self.alarm else 'no alarm'} after {most}"

    def _head(self):
        lines = []
        for name, rate in self.rates.iterrows():
            risk = rate_in_words(name, rate["k"], rate["among"])
            if not rate["n_queries"]:
                lines.append(
                    f"No alarm: no query has been counted yet; {risk} may be at most "
                    f"{rate['max_risk']:g}."
                )
                continue
            estimate = (
                f"{rate['observed']:.4f} on {self._count(rate['n_queries'])}, "
                f"{100 * self.confidence_level:.4g} % interval {rate['lower']:.4f} to "
                f"{rate['upper']:.4f}"
            )
            if np.isnan(rate["alarm_at"]):
                lines.append(f"No alarm: {risk} is {estimate}; its level is {rate['max_risk']:g}.")
            else:
                lines.append(
                    f"Alarm after {self._count(rate['alarm_at'])}: {risk} is, or was for a time, "
                    f"above {rate['max_risk']:g}. Over all {plural(self.unit or 'query')} it is "
                    f"{estimate}."
                )
        text = "\n".join(lines)
        if self.unit is not None:
            text += f" Each {self.unit} counts once, with the mean of its queries."
        if n_left_out := int(self.rates["n_left_out"].max()):
            text += (
                f" Left out without labels: {counted(n_left_out, 'query')}. The others must be "
                "like a random draw of all."
            )
        return f"{text} {self.bound_in_words} {self.advice}".rstrip()

    def _table(self) -> None:
        return None


@dataclass(frozen=True)
class WatchedThreshold:
    """A threshold as a monitor remembers it.

    Attributes
    ----------
    checksum : str or None
        Checksum of the threshold; None without one.
    hides : dict or None
        "level" of the score, and "max_shown"; None without a threshold of one score.
    """

    checksum: str | None = None
    hides: dict | None = None

    @classmethod
    def of(cls, threshold: BaseThreshold) -> "WatchedThreshold":
        """Describe a fitted threshold."""
        hides = None
        if threshold.threshold_ is not None:
            most = threshold.caps_.most
            hides = {"level": float(threshold.threshold_), "max_shown": most}
        return cls(threshold_checksum(threshold), hides)

    def hidden(self, lists: RankedLists, threshold: float | None) -> RankedLists:
        """Return the lists with score -inf in all rows that were not shown."""
        check_level(threshold)
        if self.hides is None:
            if threshold is None and self.checksum is not None:
                raise InputError(
                    "threshold is missing: this monitor cannot apply its own, which has "
                    "two scores. Give y_score as predict returns it, with -inf where "
                    "hidden, and say threshold=-np.inf."
                )
            return lists if threshold is None else lists.with_scores(lists.scores, threshold)
        level, most = self.hides["level"], self.hides["max_shown"]
        if threshold not in (None, -np.inf, level):
            raise InputError(
                f"threshold must be that of the monitored threshold, {level!r}, got "
                f"{brief(threshold)}. Leave threshold out."
            )
        shown = lists.scores >= level
        if most is not None:
            shown &= places(lists.scores, lists.index) < most
        wrong = ~shown & (lists.scores > -np.inf)
        if threshold == -np.inf and wrong.any():
            row = int(np.argmax(wrong))
            cap = "" if most is None else f", or come after {most} of the same query"
            raise InputError(
                f"y_score has {counted(int(wrong.sum()), 'document')} as shown that the monitored "
                f"threshold hides, such as row {row}: they are below {level:.6g}{cap}. Leave "
                "threshold out, so that the monitor hides them. If they were shown, something else "
                "than the threshold is in use."
            )
        return lists.with_scores(np.where(shown, lists.scores, -np.inf))


def threshold_of(model) -> BaseThreshold:
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


def certificate_of(threshold: BaseThreshold) -> RiskCertificate:
    """Return the certificate of a fitted threshold."""
    check_is_fitted(threshold, msg=NOT_FITTED)
    certificate = getattr(threshold, "certificate_", None)
    if certificate is None:
        raise InputError(
            f"threshold must have a certificate, got {type(threshold).__name__}, which has none. "
            "Fit a CertifiedThreshold."
        )
    return certificate
