"""Monitors of risks on a stream of judged queries; their bound holds at any time."""

import os
from datetime import date, timedelta

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skfilterrank._base.checks import (
    check_choice,
    check_count,
    check_level_scores,
    check_share,
)
from skfilterrank._base.words import plural
from skfilterrank._files import states
from skfilterrank._files.files import check_name, is_path, locked
from skfilterrank._lists.gains import Gains, check_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import check_groups, check_one_order, first_rows
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.thresholds._files import threshold_checksum
from skfilterrank.thresholds._judged_scores import name_unit, number_clusters, warn_if_swapped
from skfilterrank.thresholds._risk_steps import DrawnSoFar, Units, has_judged
from skfilterrank.thresholds._risks import AMONG, find_unjudged, read_risks
from skfilterrank.thresholds._watched import (
    RiskStatus,
    WatchedRisk,
    WatchedThreshold,
    certificate_of,
    threshold_of,
)

_CONFIDENCE = 0.95
_FORMAT = "skfilterrank monitor 7"
_PARAMETERS = ("confidence_level", "queries_per_false_alarm", "among")


class RiskMonitor:
    """A sequential test of risks, query by query.

    Judged queries can be added at any time, and the status can be read after each. A false alarm is
    an alarm while all risks are at most their levels. The mean number of queries before a false
    alarm is at least `queries_per_false_alarm`. A rise is detected as early after many good queries
    as at the start.

    Parameters
    ----------
    risks : dict, CertifiedThreshold or RankAndFilter
        Risks with their levels, as in :class:`CertifiedThreshold`. Or a fitted threshold with a
        certificate, or a fitted model with such a threshold; its risks, levels, gains and `among`
        are used. If its certificate counts clusters, so does the monitor.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. With a threshold,
        None means its gains.
    confidence_level : float or None, default=None
        Probability that an interval contains the risk at all times. None means the level of the
        certificate, or 0.95 without certificate. Several risks share the error probability equally.
    queries_per_false_alarm : int, default=10_000
        Guaranteed mean number of queries before a false alarm; with clusters, of clusters.
    among : {"all", "answered"} or None, default=None
        Queries that count, as in :class:`CertifiedThreshold`: all, or those that are shown
        something. None means `among` of the threshold, or "all" without threshold.

    Attributes
    ----------
    status : RiskStatus
        The state so far: `alarm`, True if a risk was shown to be above its level; `advice`, a text
        about what to do after an alarm; and the table `rates` with a row for each risk and the
        columns "max_risk", "k", "among", "n_queries", "n_left_out" (queries whose loss is unknown),
        "observed", "lower" and "upper" (an interval that holds at all times at once), "evidence"
        and "alarm_at" (the number of queries at the alarm, or NaN).
    levels : dict of str to float
        Level of each risk, by its name.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if a threshold has no certificate, has other gains than
        those given, or has gains that are functions.
    NotFittedError
        If a threshold is not fitted.

    See Also
    --------
    risk_certificate : A test of a fixed number of queries.

    Notes
    -----
    Each query is a bet that the risk is above its level: a loss multiplies the capital of the bet
    by ``1 + bet * (loss - level)``. If the risk is at most the level, given all queries before,
    the expected capital does not grow.

    Before each query a stake of 1 is added to the capital, which is then the Shiryaev-Roberts
    statistic, an e-detector [1]_. While the risk is kept, the capital minus the number of queries
    does not grow in expectation. So the mean number of queries until it reaches
    `queries_per_false_alarm` is at least this number. With several risks, the limit for each is
    multiplied by the number of risks. This number is a mean: single alarms may come
    earlier. After :meth:`reset` the count starts again.

    Each stake is divided among 24 bets of different size. The interval contains the levels that are
    not rejected [2]_. A level is rejected if bets on a larger risk, or bets on a smaller risk, have
    reached ``2 / (1 - confidence_level)`` since the first query. The interval is for a constant
    risk. If the risk changes, its highest value so far is at least "lower", and its lowest at most
    "upper".

    Queries of one update count in the order of their first rows, so the division into batches does
    not matter. Ids are compared as text; equal numbers or dates are the same id, such as 1 and 1.0.
    The state stores the ids of queries and clusters, so that none is counted twice.

    A query counts where its loss is known: if it has a judged document, if it shows nothing (which
    is no harm), or if the risk needs no label (such as "empty_list_rate"). Others are left out;
    "n_left_out" is their number, and they may come again, with labels. Of the queries without
    labels that show nothing, the same share is left out as of those that show something. So the
    rates are about all queries if those with labels are like a random draw of what is shown.

    This needs a risk that is at most its level given all queries before. Near-copies of
    one query, or the queries of one user, break this: a loss of one announces the losses of the
    next, and a false alarm is then far more frequent than stated. ``update(..., clusters=)`` makes
    the cluster the unit. Its loss is the mean of its queries' losses, as in the certificate; among
    answered queries, of the answered ones, weighted by their share of the cluster.

    References
    ----------
    .. [1] Shin, Ramdas and Rinaldo, "E-detectors: a nonparametric framework for sequential change
       detection", New England Journal of Statistics in Data Science 2(2), 2024,
       https://arxiv.org/abs/2203.03532.
    .. [2] Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86(1), 2024, https://arxiv.org/abs/2010.09686.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.thresholds import RiskMonitor
    >>> monitor = RiskMonitor({"any_forbidden": 0.1})
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
        queries_per_false_alarm: int = 10_000,
        among: str | None = None,
    ):
        check_gains(gains)
        self._threshold = WatchedThreshold()
        # Path and checksum of the file of this state.
        self._file: tuple[str, str] | None = None
        # Name of a cluster, None where queries are units.
        self._unit: str | None = None
        if isinstance(risks, BaseEstimator):
            threshold = threshold_of(risks)
            certificate = certificate_of(threshold)
            risks = {name: risk.max_risk for name, risk in certificate.risks.items()}
            of_fit = threshold.gains_of_fit()
            for name, given, own in (
                ("gains", gains, of_fit),
                ("among", among, certificate.among),
            ):
                if given not in (None, own):
                    raise InputError(
                        f"{name} must be that of the threshold, {brief(own)}, got {brief(given)}. "
                        f"Leave {name} out."
                    )
            gains, among = of_fit, certificate.among
            if confidence_level is None:
                confidence_level = certificate.confidence_level
            self._unit = certificate.facts["unit"]
            self._threshold = WatchedThreshold.of(threshold)
        if confidence_level is None:
            confidence_level = _CONFIDENCE
        self.gains = gains
        self.confidence_level = check_share(confidence_level, "confidence_level")
        self.queries_per_false_alarm = check_count(
            queries_per_false_alarm, "queries_per_false_alarm"
        )
        self.among = check_choice("all" if among is None else among, "among", AMONG)
        self._watched = [WatchedRisk(risk) for risk in read_risks(risks, self.among)]
        self._seen: set[str] = set()
        self._seen_clusters: set[str] = set()
        self._drawn = DrawnSoFar()

    @property
    def _error(self) -> float:
        """Error probability of each risk; rounded up, so that 1 - 0.9 is not below 0.1."""
        return float(f"{1.0 - self.confidence_level:.12g}") / len(self._watched)

    @property
    def _goal(self) -> float:
        """Logarithm of the capital that raises an alarm, for each of the risks."""
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
        return self._threshold.checksum == threshold_checksum(threshold_of(threshold))

    def update(
        self,
        y_true,
        y_score,
        *,
        groups=None,
        threshold: float | None = None,
        clusters=None,
    ) -> RiskStatus:
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
            Rows with a lower score were not shown; -inf if hidden rows have score -inf already.
            With a monitor of a threshold, None applies it: documents below it, and after the
            largest number of shown ones, count as hidden. So `y_score` may be scores or what
            `predict` returns. Scores must be of all documents of each query, judged or not (label
            NaN), with ties in the order of `predict`. A threshold of two scores cannot be applied
            to one score: give what `predict` returns, and -inf here. Without a threshold, None is
            -inf.
        clusters : array-like of shape (n_rows,), default=None
            Cluster of each row, such as the user of the query, as in
            :meth:`CertifiedThreshold.fit`. Each cluster counts once, with the mean loss of its
            queries. All of its queries must come in one update. Needed if the certificate of the
            threshold, or an earlier update, counts clusters.

        Returns
        -------
        RiskStatus
            The state now.

        Raises
        ------
        ValueError
            If there are no rows, lengths differ, or a query or cluster was counted already. If
            clusters are missing, or come after queries that were counted without. If documents
            come as shown that the threshold of the monitor hides. After an error, no query of the
            update is counted.

        Examples
        --------
        Three sessions of two queries each:

        >>> from skfilterrank.thresholds import RiskMonitor
        >>> monitor = RiskMonitor({"any_forbidden": 0.1})
        >>> given = {"groups": range(6), "clusters": [1, 1, 2, 2, 3, 3]}
        >>> monitor.update([1, 1, 1, -1, 1, 1], [0.9] * 6, **given)
        <RiskStatus: no alarm after 3 clusters>
        """
        lists = RankedLists(y_true, y_score, groups=groups, gains=self.gains)
        check_one_order(y_true=y_true, clusters=clusters)
        lists = lists.replace(scores=check_level_scores(y_score))
        warn_if_swapped(lists.gains, lists.scores)
        lists = self._threshold.hidden(lists, threshold)
        ids = [_id_text(id) for id in lists.index.query_ids]
        if repeated := sorted(self._seen.intersection(ids)):
            raise InputError(
                f"{{groups}} holds queries that were counted already: {brief_list(repeated)}. Pass "
                "each query once, and give another draw of the same query an id of its own.",
                argument="groups",
            )
        codes = lists.index.codes()
        is_answered = np.bincount(codes, lists.scores > -np.inf, lists.index.n_queries) > 0
        order = np.argsort(first_rows(codes))
        drawn, counted = self._drawn.after(has_judged(lists), is_answered, order)
        risks = [watched.risk for watched in self._watched]
        # A query that shows nothing may be left out for good.
        is_seen = ~is_answered & any(risk.reads == "shown" for risk in risks)
        is_seen |= np.any([counted.of(risk) for risk in risks], axis=0)
        units, names = self._units_of(clusters, lists, is_seen)
        _, unit_of = np.unique(units.clusters, return_inverse=True)
        first, news = first_rows(unit_of[codes]), []
        for watched in self._watched:
            steps = watched.risk.steps(lists, counts=counted.of(watched.risk))
            counts = is_answered[steps.counted] if watched.risk.answered else True
            shares = units.mean(np.ones(steps.n_queries) * counts, steps.counted)
            losses = units.mean(steps.at(-np.inf) * counts, steps.counted)
            order = np.argsort(first[np.unique(unit_of[steps.counted])], kind="stable")
            order = order[shares[order] > 0]
            n_left_out = counted.n_left_out(watched.risk)
            news.append(watched.after(losses[order], self._goal, shares[order], n_left_out))
        counted.warn(risks)
        find_unjudged(lists, risks)
        # The state is changed last, because warnings can be turned into errors. A query that no
        # risk has counted may occur again later, with labels.
        self._drawn = drawn
        self._seen.update(id for id, has_counted in zip(ids, is_seen) if has_counted)
        self._seen_clusters.update(names)
        self._watched, self._unit = news, units.name if names else self._unit
        return self.status

    def _units_of(self, clusters, lists, is_seen):
        """Return the units of new queries, and the ids of the clusters that count."""
        name = name_unit(clusters)
        if name is None:
            if self._unit is not None:
                raise InputError(
                    f"clusters is missing: this monitor counts each {self._unit} once. Pass the "
                    f"{self._unit} of each query by clusters=."
                )
            return Units.of(lists.index, lists.scores), []
        if self._unit is None and any(watched.counts for watched in self._watched):
            raise InputError(
                "clusters is given, but this monitor has counted queries one by one before. Begin "
                "a new one, and give clusters from the first update on."
            )
        if self._unit is not None:
            if name not in (self._unit, "cluster") and self._unit != "cluster":
                raise InputError(
                    f"clusters must be the {self._unit} of each query, as before, got a column "
                    f"{brief(name)}. Rename it if it holds the same."
                )
            name = self._unit
        numbers = number_clusters(clusters, lists.index)
        given = check_groups(clusters, n_rows=lists.index.n_rows, name="clusters")
        names = [_id_text(id) for id in given.query_ids[np.unique(numbers[is_seen])]]
        if repeated := sorted(self._seen_clusters.intersection(names)):
            raise InputError(
                f"clusters has {plural(name)} that were counted already: {brief_list(repeated)}. "
                f"Each {name} counts once. Give all of its queries in one update, and leave out "
                "queries that come later."
            )
        return Units.of(lists.index, lists.scores, numbers, name), names

    @property
    def levels(self) -> dict[str, float]:
        """Level of each risk, by its name."""
        return {watched.risk.name: watched.risk.max_risk for watched in self._watched}

    @property
    def status(self) -> RiskStatus:
        """The state so far."""
        rows = {watched.risk.name: watched.summary(self._error) for watched in self._watched}
        rates = pd.DataFrame.from_dict(rows, orient="index")
        return RiskStatus(rates, self.confidence_level, self.queries_per_false_alarm, self._unit)

    def reset(self) -> None:
        """Restart the monitor, for example after the cause of an alarm was removed.

        Losses and alarms are cleared, and the test starts again. The ids of counted queries
        and clusters are kept, so that none is counted twice.

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
        self._watched = [WatchedRisk(each.risk) for each in self._watched]
        self._drawn = DrawnSoFar()

    def save(self, path) -> None:
        """Save the monitor as readable JSON.

        Parameters
        ----------
        path : str, path-like or open file
            Target; an older file is replaced once the new one is whole.

        Raises
        ------
        ValueError
            If the gains are a function, or a label of the gains is neither text nor a
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
        state = {
            "gains": states.gains_to_json(self.gains, "monitor"),
            "confidence_level": self.confidence_level,
            "queries_per_false_alarm": self.queries_per_false_alarm,
            "among": self.among,
            "risks": [watched.state() for watched in self._watched],
            "threshold": self._threshold.checksum,
            "queries": sorted(self._seen),
            "unit": self._unit,
            "clusters": sorted(self._seen_clusters),
            "hides": self._threshold.hides,
            "drawn": self._drawn._asdict(),
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
        rates = ", ".join(f"{w.risk.name} at most {w.risk.max_risk:g}" for w in self._watched)
        return f"<RiskMonitor: {rates}; {self.status._summary()}>"


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


def _from_json(content):
    """Return the monitor, and the checksum of its file."""
    gains = states.gains_from_json(content["gains"])
    levels = {risk["risk"]: risk["max_risk"] for risk in content["risks"]}
    monitor = RiskMonitor(levels, gains=gains, **{name: content[name] for name in _PARAMETERS})
    monitor._seen = set(content["queries"])
    for watched, risk in zip(monitor._watched, content["risks"], strict=True):
        watched.resume(risk)
    hides = content["hides"]
    if hides is not None:
        hides = hides | {"level": float(hides["level"])}
    monitor._threshold = WatchedThreshold(content["threshold"], hides)
    monitor._unit = content["unit"]
    monitor._seen_clusters = set(content["clusters"])
    monitor._drawn = DrawnSoFar(**content["drawn"])
    return monitor, states.checksum_of(content)
