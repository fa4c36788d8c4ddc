"""Certificates: guarantees that the risks of a threshold stay below their levels on new queries."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from skfilterrank._lists.checks import as_column, check_level_scores, is_level, label_array
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.ties import first_of_highest, midpoint
from skfilterrank._lists.words import is_of_machine, warn_user
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.thresholds._judged_scores import name_unit, number_clusters
from skfilterrank.thresholds._machine_labels import choose_test
from skfilterrank.thresholds._risk_steps import Steps
from skfilterrank.thresholds._risks import (
    answers_needed,
    check_guarantee,
    find_unjudged,
    kind_of_bound,
    least_count,
    most_shown,
    queries_needed,
    read_promises,
)
from skfilterrank.thresholds._threshold_curve import ThresholdCurve
from skfilterrank.thresholds._units import START_SHARE, Units, last_of_start, start_at

_RATES = {
    "any_forbidden": "the share of {queries} with a forbidden document in the shown {top}",
    "forbidden": "the forbidden share of the shown {top}",
    "false_reject_rate": "the share of a query's good documents that is hidden",
    "empty_list_rate": "the share of queries that are shown nothing",
}
# Confidence of the interval of `share_answered` if the guarantee is in expectation.
_USUAL = 0.95
# With among="answered", tests begin at a number of answered queries: the number needed without any
# failure times one of these factors, or this share of the queries if it lies between the two
# numbers. The first factor is for losses that are 0 or 1; betting bounds need more answers.
_STARTS = {True: (2, 1 / 8), False: (4, 1 / 4)}
# Estimates of the number of queries that would suffice: share of the draws that must pass, number
# of draws, number of thresholds that are simulated, and most queries that are added.
_POWER, _N_DRAWS, _N_STOPS, _MOST_NEEDED = 0.8, 100, 5, 5_000
_COMMON = (
    "share_answered",
    "share_answered_lower",
    "share_answered_upper",
    "max_shown",
    "shows_more",
    "n_unjudged",
    "n_machine",
    "n_machine_queries",
    "n_weighted",
)


@dataclass(frozen=True, eq=False, repr=False)
class RiskPromise(Result):
    """A risk, its level, and its estimate on the calibration queries.

    Attributes
    ----------
    risk : str
        Name of the risk.
    max_risk : float
        Level of the risk.
    k : int or None
        Number of places of the shown list that count; None means all.
    lower, upper : float
        The risk is at most its level at thresholds above `lower` and up to `upper`. One of the two
        is infinite; both are if the risk is kept at all thresholds. With ``among="answered"`` both
        may be finite. NaN if the threshold was given.
    n_queries : int
        Number of queries that count for the risk; with clusters, number of such clusters.
    n_tried : int
        Number of distinct thresholds that were tested, starting from the safest.
    observed : float
        Mean loss at the threshold, over all queries or over the answered ones (see `among`).
    upper_bound : float
        Upper confidence bound of the risk at the threshold. If the threshold was chosen, the bound
        is computed as for a given threshold, and capped at `max_risk`, which is guaranteed.
    lower_bound : float
        Lower confidence bound of the risk at a given threshold, else NaN.
    among : {"all", "answered"}
        Queries over which the risk is averaged: all, or those with a non-empty list.
    uses_machine : bool
        True if the test of people's labels also used a machine's labels of more queries.
    """

    risk: str
    max_risk: float
    k: int | None
    lower: float
    upper: float
    n_queries: int
    n_tried: int
    observed: float
    upper_bound: float
    lower_bound: float = np.nan
    among: str = "all"
    uses_machine: bool = False

    @classmethod
    def of(cls, promise, **found) -> "RiskPromise":
        """Make a result from a promise and its test results."""
        among = "answered" if promise.answered else "all"
        return cls(promise.name, promise.max_risk, promise.k, among=among, **found)

    @property
    def verdict(self) -> str:
        """Verdict on the risk: "kept", "broken", or "open" (too few queries to tell)."""
        if self.upper_bound <= self.max_risk:
            return "kept"
        return "broken" if self.lower_bound > self.max_risk else "open"

    def _summary(self):
        return (
            f"{self.risk} at most {self.max_risk:g}, {self.verdict}, observed {self.observed:.4f}"
        )

    def in_words(self) -> str:
        """Describe the risk in words."""
        return rate_in_words(self.risk, self.k, self.among)


@dataclass(frozen=True, eq=False, repr=False)
class RiskCertificate(Result):
    """A guarantee for the risks of a threshold on new queries; `str` gives it in words.

    Attributes
    ----------
    promises : dict of str to RiskPromise
        For each risk by its name: `max_risk`, its level; `k`, its cut-off; `n_queries` that count;
        `observed`, the mean over them; `lower_bound` and `upper_bound`; `verdict`, which is "kept",
        "broken" or "open"; and `lower` and `upper`, between which thresholds keep it.
    confidence_level : float or None
        Probability, over draws of the calibration queries, that all risks are kept at once. None if
        they are kept in expectation.
    threshold : float
        The certified threshold with the highest `value`, or the threshold that was given.
    value : float
        Mean of the measure over the calibration queries at the threshold; NaN if the threshold was
        given.
    is_chosen : bool
        True if the threshold was chosen to keep the risks, False if it was given.
    exact : bool
        False if the guarantee is approximate, because the scores of the calibration queries come
        from other models than the one in use.
    n_unjudged : int
        Number of unjudged documents of the calibration queries that could change a risk. They count
        as neither forbidden nor good. If there are any, nothing is guaranteed for completely judged
        queries.
    max_shown : int or None
        Largest number of shown documents of a list that the guarantee covers; None means any.
    shows_more : bool
        True if more than `max_shown` documents may be shown, so that the guarantee covers only the
        first places.
    n_machine : int
        Number of labels by machines. If there are any, the guarantee holds for such labels.
    assumes_unseen : bool
        True if the guarantee assumes that the model behind the scores has not seen the calibration
        queries. False if RankAndFilter has fitted the model on other queries.
    n_queries : int
        Number of calibration queries.
    n_units : int
        Number of independent draws: queries, or clusters.
    unit : str or None
        Name of a cluster, such as "user"; each cluster counts once, with the mean loss of its
        queries. None if each query is a unit.
    n_labels : int
        Number of judged documents of the calibration queries.
    share_answered : float
        Share of the queries that are shown something at the threshold; with clusters, the mean
        share of a cluster.
    share_answered_lower, share_answered_upper : float
        Confidence interval of `share_answered` (95 % if the guarantee is in expectation). It holds
        at all thresholds at once, and so at a chosen one.
    share_hidden : float
        Share of the documents of the calibration queries that is hidden.
    n_machine_queries : int
        Number of queries with `machine_labels`; people judged a random sample of `n_queries` of
        them. 0 without machine labels. The guarantee is about people's labels.
    n_machine_units : int
        Number of independent units among them: the queries, or their clusters.
    n_weighted : int
        Number of queries from which the calibration queries were drawn with probabilities
        `query_weight`; 0 without weights. The guarantee holds for queries in these proportions.
    """

    promises: dict[str, RiskPromise]
    confidence_level: float | None
    threshold: float
    value: float = np.nan
    is_chosen: bool = True
    exact: bool = True
    n_unjudged: int = 0
    assumes_unseen: bool = False
    max_shown: int | None = None
    shows_more: bool = False
    n_machine: int = 0
    n_queries: int = 0
    n_units: int = 0
    unit: str | None = None
    n_labels: int = 0
    share_answered: float = np.nan
    share_answered_lower: float = np.nan
    share_answered_upper: float = np.nan
    share_hidden: float = np.nan
    n_machine_queries: int = 0
    n_machine_units: int = 0
    n_weighted: int = 0
    # Columns of `to_judge` as arrays, because skops cannot save a table.
    _to_judge: dict[str, np.ndarray] | None = None

    @property
    def to_judge(self) -> pd.DataFrame:
        """Table of the unjudged documents that could change a risk.

        The columns are "query" and "row", the row number in the given arrays; query by query, the
        highest score first. A saved threshold does not keep them.
        """
        return pd.DataFrame(self._to_judge, columns=["query", "row"])

    def to_html(self, *, path=None, monitor=None, notes=None) -> str | None:
        """Make a printable page: the guarantee, its data, its limits and its state.

        The page is one file without scripts or external resources. It fits one sheet of A4 unless
        there are many risks or notes.

        Parameters
        ----------
        path : str, path-like or None, default=None
            File to write; an older file is replaced once the new one is whole. None returns the
            page.
        monitor : RiskMonitor or None, default=None
            Monitor of the same risks, whose state the page shows.
        notes : dict of str to str or None, default=None
            More facts about the data by name, such as ``{"Dates": "1 to 31 May"}``. If no name
            begins with "Dates" or "Segment", the page says "not stated" for it.

        Returns
        -------
        str or None
            The page if `path` is None.

        Raises
        ------
        MissingPackageError
            If jinja2 is not installed.
        ValueError
            If the monitor watches other risks or levels, or notes are not texts by name.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import re
        >>> from skfilterrank.datasets import make_rank_and_filter
        >>> from skfilterrank.thresholds import CertifiedThreshold
        >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
        >>> safe = CertifiedThreshold({"any_forbidden@3": 0.2}).fit(scores, y, groups=groups)
        >>> page = safe.certificate_.to_html(notes={"Dates": "May 2026", "Segment": "German"})
        >>> re.findall("<h2>(.*)</h2>", page)[:3]
        ['What is shown', 'On which data and labels', 'What it does not cover']
        """
        from skfilterrank.thresholds._card import card_of

        return card_of(self, path, monitor, notes)

    @property
    def lower(self) -> float:
        """All risks are kept at thresholds above this and up to `upper`."""
        return max(promise.lower for promise in self.promises.values())

    @property
    def upper(self) -> float:
        """All risks are kept at thresholds up to this and above `lower`."""
        return min(promise.upper for promise in self.promises.values())

    def to_frame(self) -> pd.DataFrame:
        """Make a table with a row for each risk, named after it.

        The columns "share_answered", "share_answered_lower", "share_answered_upper", "max_shown",
        "shows_more", "n_unjudged", "n_machine", "n_machine_queries" and "n_weighted" are equal in
        all rows.
        """
        common = {name: getattr(self, name) for name in _COMMON}
        rows = [
            vars(promise) | {"verdict": promise.verdict} | common
            for promise in self.promises.values()
        ]
        return pd.DataFrame(rows).set_index("risk")

    def _table(self) -> pd.DataFrame | None:
        if len(self.promises) == 1:
            return None
        return self.to_frame()[["max_risk", "observed", "upper_bound", "n_queries"]]

    def _summary(self):
        levels = ", ".join(f"{p.risk} at most {p.max_risk:g}" for p in self.promises.values())
        machines = ", for labels of machines" if self.n_machine else ""
        weighted = ", weighted" if self.n_weighted else ""
        answered = ""
        if not np.isnan(self.share_answered):
            answered = f", {100 * self.share_answered:.1f} % of queries answered"
        where = f"at threshold {self.threshold:.4g}{answered}"
        return f"{levels} {self._grounds()}{machines}{weighted}, {where}"

    def _grounds(self):
        if self.confidence_level is None:
            return "in expectation"
        return f"with confidence {self.confidence_level:g}"

    def _head(self):
        covers, holes = self._covers() + self._answers(), ""
        if self.n_weighted:
            holes += (
                f" These queries were drawn from {self.n_weighted:,} by query_weight: the "
                "guarantee holds for queries in the proportions of the weights, and for later ones "
                "only as far as they are like these."
            )
        if self.n_unjudged:
            holes += (
                f" {self.n_unjudged} documents of these queries are unjudged, and count as not "
                "forbidden."
            )
        if self.n_machine:
            labels = counted(self.n_machine, "label")
            holes += (
                f" Machines gave {labels} of these queries: the guarantee holds for such labels, "
                "and not for those of people."
            )
        holes += self._by_machine()
        if not self.is_chosen:
            return "\n".join(map(self._verdict, self.promises.values())) + covers + holes
        grounds = self._grounds()
        parts = [
            f"{promise.in_words()} is {'' if self.exact else 'approximately '}at most "
            f"{promise.max_risk:g}"
            for promise in self.promises.values()
        ]
        text = (
            f"{grounds[0].upper()}{grounds[1:]}, {', and '.join(parts)} on new "
            f"{self._units()}, at threshold {self.threshold:.4g}"
        )
        if len(parts) == 1:
            (promise,) = self.promises.values()
            found = "estimated with the machine at" if promise.uses_machine else ""
            bound = f"with an upper bound of {promise.upper_bound:.4f}"
            if self.confidence_level is None:
                bound = f"and {promise.upper_bound:.4f} if one more lost everything"
            text += (
                f": on {promise.n_queries} {self._units('calibration ', promise)} it is "
                f"{f'{found} '.lstrip()}{promise.observed:.4f}, {bound}"
            )
        if self.assumes_unseen:
            holes = (
                f" This holds if the model that gave the scores has not seen these queries.{holes}"
            )
        return f"{text}.{covers}{holes}"

    def _units(self, of="", promise=None):
        """Return the unit in the plural, or the units that count for a risk, such as "users"."""
        answered = promise is not None and promise.among == "answered"
        if self.unit is None:
            return f"{'answered ' if answered else ''}{of}queries"
        return f"{of}{self.unit}s{' with an answered query' if answered else ''}"

    def _by_machine(self):
        """Describe in sentences how machine labels of more queries were used."""
        if not self.n_machine_queries:
            return ""
        using = [name for name, each in self.promises.items() if each.uses_machine]
        whole, of_people = f"{self.n_machine_queries:,} queries", f"{self.n_queries:,} of them"
        if self.unit is not None:
            whole += f" of {counted(self.n_machine_units, self.unit)}"
            of_people = f"{self.n_queries:,} of {counted(self.n_units, self.unit)}"
        text = (
            f" A machine judged {whole}, and people {of_people}, which are taken for a random "
            "draw. The guarantee is about people's labels"
        )
        if not using:
            return f"{text}, which were tested alone."
        of = "" if len(using) == len(self.promises) else f" of {', '.join(using)}"
        return f"{text}. The test{of} uses the machine's labels, whose errors cannot break it."

    def _answers(self):
        """Describe in sentences the share of answered queries and the clusters."""
        text = ""
        if self.unit is not None:
            text += (
                f" Each {self.unit} counts once, with the mean of its queries "
                f"({self.n_queries:,} queries of {counted(self.n_units, self.unit)})."
            )
        if np.isnan(self.share_answered):
            return text
        if not self.share_answered:
            return (
                f"{text} Nothing is shown for any of these queries, so that the promise is empty: "
                "raise a level, or give more queries or a better model."
            )
        low, high = self.share_answered_lower, self.share_answered_upper
        return (
            f"{text} Something is shown for {100 * self.share_answered:.1f} % of the queries "
            f"({100 * low:.1f} to {100 * high:.1f} %)."
        )

    def _covers(self):
        """Describe in a sentence which documents the guarantee covers."""
        if self.max_shown is None:
            return ""
        covered = counted(self.max_shown, "document")
        if self.shows_more:
            return f" More may be shown, and the guarantee covers the first {covered} alone."
        return f" The guarantee covers lists that show at most {covered}."

    def _verdict(self, promise):
        verdict = {
            "kept": f"is at most {promise.max_risk:g}",
            "broken": f"is above {promise.max_risk:g}",
            "open": f"may be at most {promise.max_risk:g} or above",
        }[promise.verdict]
        grounds = self._grounds()
        return (
            f"{grounds[0].upper()}{grounds[1:]}, {promise.in_words()} {verdict} at threshold "
            f"{self.threshold:.4g}: on {promise.n_queries} {self._units('', promise)} it is "
            f"{promise.observed:.4f}, between {promise.lower_bound:.4f} and "
            f"{promise.upper_bound:.4f}."
        )


def rate_in_words(risk: str, k, among: str = "all") -> str:
    """Describe a risk in words."""
    top = "list" if k is None or np.isnan(k) else f"top {k:g}"
    name = risk.partition("@")[0]
    queries = "queries" if among == "all" else "answered queries"
    words = _RATES.get(name, risk).format(top=top, queries=queries)
    has_said = among == "all" or name == "any_forbidden"
    return words if has_said else f"among answered queries, {words}"


def risk_certificate(
    y_true,
    y_score,
    threshold: float,
    *,
    groups=None,
    risks,
    among: str = "all",
    clusters=None,
    confidence_level: float = 0.95,
    gains=None,
    judged_by=None,
) -> RiskCertificate:
    """Test which risks are kept on new queries at a given threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged. The threshold must not have been
        chosen on these queries. A Series may carry the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf where hidden at every threshold.
    threshold : float
        Rows with ``score >= threshold`` are shown. Pass -inf if hidden rows have score -inf, as
        from :meth:`TunedThreshold.predict`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    risks : dict
        Risks with their levels, as in :class:`CertifiedThreshold`. Risks with a cut-off cover only
        the first places; if more documents are shown, the certificate states this.
    among : {"all", "answered"}, default="all"
        Queries over which risks are averaged, as in :class:`CertifiedThreshold`.
    clusters : array-like of shape (n_rows,), default=None
        Cluster of each row, such as the user of the query, as in :meth:`CertifiedThreshold.fit`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    judged_by : array-like of shape (n_rows,), default=None
        Source of each label: "people", or the name of a machine.
    confidence_level : float, default=0.95
        Probability with which each bound holds, between 0 and 1. All verdicts "kept" together hold
        with the same probability.

    Returns
    -------
    RiskCertificate
        The verdict on a risk is "kept" if its upper bound is at most its level, "broken" if its
        lower bound is above the level, and "open" otherwise (too few queries).

    Raises
    ------
    ValueError
        If a parameter is out of range, or no query counts for a risk.

    See Also
    --------
    CertifiedThreshold : Chooses the threshold.
    RiskMonitor : Takes judged queries as they come.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import risk_certificate
    >>> _, y, groups, scores = make_rank_and_filter(1000, random_state=0)
    >>> print(risk_certificate(y, scores, 0.3, groups=groups, risks={"any_forbidden@3": 0.05}))
    With confidence 0.95, the share of queries with a forbidden document in the shown top 3 is ...
    """
    if not is_level(threshold):
        raise InputError(f"threshold must be a number, got {brief(threshold)}.")
    confidence_level = check_guarantee("confidence", confidence_level)
    promises = read_promises(risks, among)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    lists.scores = check_level_scores(y_score)
    labels = label_array(y_true)
    numbers, unit = number_clusters(clusters, lists.index), name_unit(clusters)
    units = Units.of(lists, clusters=None if unit is None else numbers, name=unit)
    results = {}
    for promise in promises:
        raw = promise.steps(lists, labels)
        if not raw.n_queries:
            raise InputError(
                f"no query counts for the risk {brief(promise.name)}: judge some queries."
            )
        steps = units.of_promise(raw, promise)
        make, level = kind_of_bound(steps, "confidence"), promise.max_risk
        answered = np.ones(steps.n_queries)
        if promise.answered:
            answered = units.answered(raw.counted, threshold)
        counts = answered > 0
        if not counts.any():
            raise InputError(
                f"among='answered', but no query that counts for the risk {brief(promise.name)} "
                f"is shown anything at threshold {threshold:g}. Lower the threshold, or use "
                "among='all'."
            )
        # Given the set of answered units, their losses are independent draws.
        answered, losses = answered[counts], steps.at(threshold)[counts]
        own = losses - level * (1 - answered)
        n_units = len(own)
        others = (answered - own) + (1.0 - level) * (1 - answered)
        above, below = (
            make(n_units, each, confidence_level, answered=promise.answered)
            for each in (level, 1.0 - level)
        )
        results[promise.name] = RiskPromise.of(
            promise,
            lower=np.nan,
            upper=np.nan,
            n_queries=n_units,
            n_tried=1,
            observed=float(own.sum() / answered.sum()),
            upper_bound=above.upper(losses, answered),
            lower_bound=1.0 - below.upper(others, answered),
        )
    shown = (lists.scores >= threshold) & (lists.scores > -np.inf)
    n_shown = np.bincount(lists.index.codes(), shown, lists.index.n_queries)
    covered = most_shown(promises)
    to_judge = find_unjudged(lists, promises, above=np.nextafter(float(threshold), -np.inf))
    return RiskCertificate(
        results,
        confidence_level,
        float(threshold),
        is_chosen=False,
        max_shown=covered,
        shows_more=covered is not None and bool(n_shown.max() > covered),
        n_machine=int(np.count_nonzero(machine_labels(judged_by, lists.gains))),
        share_hidden=1.0 - float(shown.mean()),
        **_about(units, lists, threshold, confidence_level, to_judge),
    )


def machine_labels(judged_by, gains) -> np.ndarray:
    """Return a mask of the rows labelled by a machine."""
    if judged_by is None:
        return np.zeros(len(gains), dtype=bool)
    judges = pd.Series(as_column(judged_by, "judged_by", "name")).astype(object)
    if len(judges) != len(gains):
        raise InputError(f"judged_by has {len(judges)} entries but there are {len(gains)} rows.")
    if (kind := infer_dtype(judges)) not in ("string", "empty"):
        raise InputError(
            f"judged_by must hold texts, 'people' or the name of a machine; got {kind}."
        )
    return is_of_machine(judges).to_numpy(dtype=bool) & ~np.isnan(gains)


def certify(
    curve: ThresholdCurve,
    lists: RankedLists,
    promises,
    every,
    *,
    confidence_level,
    guarantee="confidence",
    between=None,
    scores=None,
    most=None,
    names=None,
    levels=None,
    keys=None,
    clusters=None,
    unit=None,
    machine=None,
) -> RiskCertificate:
    """Find the certified threshold with the highest value of a curve.

    Parameters
    ----------
    curve : ThresholdCurve
        Values of the same rows, higher is better.
    lists : RankedLists
        The calibration queries.
    promises : list of Promise
        The risks with their levels.
    every : list of Steps
        Losses of each risk at falling thresholds on the score, or along another path.
    confidence_level, guarantee
        As in :class:`CertifiedThreshold`.
    between : ndarray of shape (n_rows,) or None
        Scores between which a threshold may lie; None means the scores of the lists.
    scores, most, names
        As in :func:`find_unjudged`.
    levels : ndarray or None
        All possible levels of the path; None if any number is a level.
    keys : ndarray of shape (n_rows,) or None
        Level of another path below which a row may be shown; None for the path of the scores.
    clusters, unit
        As in :class:`Units`.
    machine : MachineJudged or None
        More queries with a machine's labels; None without machine labels.
    """
    confidence_level = check_guarantee(guarantee, confidence_level)
    units, every_query = Units.of(lists, keys, clusters, unit), every
    # In one direction, an error needs a false test at the first threshold where some risk is too
    # high, and so a false test of that one risk. Hence the error is divided among the directions,
    # not among the risks. A risk whose safe end was chosen by its losses counts for both
    # directions.
    chosen = [steps.is_chosen for steps in every]
    n_tests = len({steps.is_upward for steps in every if not steps.is_chosen}) + 2 * sum(chosen)
    each_confidence = confidence_level
    if n_tests > 1:
        each_confidence = 1.0 - (1.0 - confidence_level) / n_tests
    every = [units.of_promise(*each) for each in zip(every, promises)]
    tested, with_machine = [], {}
    for promise, own, raw in zip(promises, every, every_query):
        if guarantee == "expectation" and own.is_chosen:
            raise InputError(
                f"the risk {brief(promise.name)} is lowest for some queries when nothing is "
                "shown and for others when everything is shown, so guarantee='expectation' has "
                "no safest threshold. Use guarantee='confidence', or two risks, one for each "
                "direction."
            )
        steps = own.never_falling() if guarantee == "expectation" else own
        make = kind_of_bound(steps, guarantee)
        has_start = promise.answered and not steps.is_upward
        # A part of the error is used for the place where the tests begin.
        tests_at = 1.0 - (1.0 - each_confidence) * (1.0 - START_SHARE * has_start)
        bound = make(steps.n_queries, promise.max_risk, tests_at, answered=promise.answered)
        start = _Start(make, promise, each_confidence, steps.is_binary) if has_start else None
        if not bound.rules_out(np.zeros(steps.n_queries)):
            make = partial(make, answered=promise.answered)
            sure = f" and confidence_level={confidence_level:g}"
            sure += f" over {n_tests} tests together" * (n_tests > 1)
            sure = " in expectation" if guarantee == "expectation" else sure
            _raise_too_few(make, steps, promise, tests_at, sure, units, start)
        lower, upper, first = -np.inf, np.inf, None
        if start is not None:
            highest = np.sort(units.levels(raw.counted))[::-1]
            n_first, n_last = start.numbers(bound)
            n_answered = int(np.count_nonzero(highest > -np.inf))
            first = float(highest[min(n_first, max(n_answered, 1)) - 1])
            if n_last > n_answered:
                _raise_not_among_answered(promise, units, raw, own, first, start, n_answered)
            upper = float(highest[n_last - 1])
            steps = start_at(steps, first)
        beside = None
        if machine is not None:
            beside = choose_test(promise, own, raw, units, tests_at, machine, first)
        if beside is not None:
            limit, n_passed = beside.walk()
            with_machine[promise.name] = beside
            can_begin = limit is None or first is not None or np.isfinite(limit)
        else:
            can_begin, n_passed = bound.rules_out(steps.start), 0
            if can_begin:
                n_passed = _count_passed(steps, bound)
            is_all = n_passed == len(steps.scores)
            limit = None if is_all else float(steps.scores[n_passed])
        if not can_begin:
            if has_start:
                _raise_not_among_answered(promise, units, raw, own, first, start)
            _raise_impossible(steps, promise, most)
        if limit is not None:
            lower, upper = (-np.inf, limit) if steps.is_upward else (limit, upper)
        if has_start and lower >= upper:
            _raise_not_among_answered(promise, units, raw, own, lower, start)
        tested.append((promise, own, steps, bound, n_passed, lower, upper))
        if not has_start:
            _warn_if_trivial(lists.scores if keys is None else keys, lower, upper, promise)
        if not (raw.start.any() or raw.losses.any()):
            warn_user(
                f"The risk {brief(promise.name)} is 0 on all calibration queries at every "
                "threshold, so its certificate means little. If forbidden documents should have "
                "gains below 0, pass gains.",
                FitWarning,
            )
    lower, upper = max(each[-2] for each in tested), min(each[-1] for each in tested)
    if lower >= upper:
        _raise_contradiction(tested)
    between = lists.scores if between is None else between
    threshold, value = _best_certified(curve, between, lower, upper, levels)
    results = {}
    for (promise, own, steps, bound, n_passed, lower, upper), raw in zip(tested, every_query):
        answered, losses, n_queries = None, own.at(threshold), own.n_queries
        observed = float(losses.mean())
        if promise.answered:
            answered = units.answered(raw.counted, threshold)
            n_queries = int(np.count_nonzero(answered))
            own_losses = losses - promise.max_risk * (1 - answered)
            observed = float(own_losses.sum() / max(answered.sum(), 1e-300))
        n_tried = len(np.unique(steps.scores[: n_passed + 1]))
        if promise.name in with_machine:
            n_tried = n_passed
            observed, upper_bound = with_machine[promise.name].found(threshold)
        else:
            upper_bound = bound.upper(steps.at(threshold), answered)
        results[promise.name] = RiskPromise.of(
            promise,
            lower=lower,
            upper=upper,
            n_queries=n_queries,
            n_tried=n_tried,
            observed=observed,
            upper_bound=min(upper_bound, promise.max_risk),
            uses_machine=promise.name in with_machine,
        )
    grounds = confidence_level if guarantee == "confidence" else None
    covered = most_shown(promises, most)
    shown = {"scores": scores, "most": most, "above": max(each.lower for each in results.values())}
    looked_at = promises
    if keys is not None:
        # Rows may enter anywhere in a list, so places in the order of keys are not places in the
        # list.
        looked_at = [each._replace(k=None) for each in promises]
        shown |= {"scores": keys, "most": None}
    to_judge = find_unjudged(lists, looked_at, names=names, **shown)
    return RiskCertificate(
        results,
        grounds,
        threshold,
        value,
        max_shown=covered,
        shows_more=covered is not None and covered != most,
        **_about(units, lists, threshold, grounds, to_judge),
    )


def _about(units, lists, threshold, confidence, to_judge) -> dict:
    """Describe the calibration queries, and the share of answered queries."""
    every = np.arange(lists.index.n_queries)
    names = ("share_answered", "share_answered_lower", "share_answered_upper")
    shares = units.share_answered(threshold, _USUAL if confidence is None else confidence)
    return {
        "n_queries": len(every),
        "n_units": len(units.answered(every, threshold)),
        "unit": units.name,
        "n_labels": int(np.count_nonzero(~np.isnan(lists.gains))),
        "n_unjudged": len(to_judge),
        "_to_judge": {str(name): column.to_numpy() for name, column in to_judge.items()},
        **dict(zip(names, shares)),
    }


class _Start:
    """The place where tests among answered queries begin, and the number of queries they need.

    Parameters
    ----------
    make : callable
        Bound for a number of units, a level and a confidence level.
    promise : Promise
        The risk and its level.
    confidence : float
        Confidence level of the risk; a part of its error is for the place of the start.
    is_binary : bool
        True if losses are 0 or 1.
    """

    def __init__(self, make, promise, confidence, is_binary):
        self.make, self.level = partial(make, answered=True), promise.max_risk
        self.confidence, self.is_binary = confidence, is_binary
        self.tests_at = 1.0 - (1.0 - confidence) * (1.0 - START_SHARE)

    def numbers(self, bound) -> tuple[int, int]:
        """Return the answers at the first threshold to test, and at the highest to certify."""
        n_units, error = bound.n_queries, START_SHARE * (1.0 - self.confidence)
        least, (factor, share) = answers_needed(bound), _STARTS[self.is_binary]
        n_first = max(least, min(factor * least, int(share * n_units)))
        return n_first, last_of_start(n_units, n_first, error)

    def least_units(self) -> int:
        """Return the number of units with which tests can begin if all are answered."""

        def suffices(n_units):
            bound = self.make(n_units, self.level, self.tests_at)
            return bound.rules_out(np.zeros(n_units)) and self.numbers(bound)[1] <= n_units

        return least_count(suffices)

    def units_needed(self, own: Steps, levels) -> int | None:
        """Estimate the number of units that suffices, by draws from those at hand.

        It suffices if the tests around the start pass in 80 % of the draws. None if 5,000 more are
        too few.

        Parameters
        ----------
        own : Steps
            Losses of the units among answered queries.
        levels : ndarray of shape (n_units,)
            Highest threshold at which each is answered.
        """
        n_units = len(levels)
        thresholds = np.unique(levels[levels > -np.inf])
        if not len(thresholds):
            return None
        losses_at = np.array([own.at(threshold) for threshold in thresholds])

        def suffices(n_more):
            bound = self.make(n_units + n_more, self.level, self.tests_at)
            if not bound.rules_out(np.zeros(bound.n_queries)):
                return False
            n_first, n_last = self.numbers(bound)
            if n_last > bound.n_queries:
                return False
            drawn = np.random.default_rng(0).integers(0, n_units, (_N_DRAWS, bound.n_queries))
            highest = np.sort(levels[drawn], axis=1)[:, ::-1]
            passes = highest[:, n_last - 1] > -np.inf
            for number in np.unique(np.linspace(n_first, n_last, _N_STOPS).astype(int)):
                place = np.searchsorted(thresholds, highest[:, number - 1])
                passes[passes] = bound.rules_out(losses_at[place[passes, None], drawn[passes]])
            return passes.mean() >= _POWER

        n_more = least_count(suffices, _MOST_NEEDED)
        return None if n_more is None else n_units + n_more


def _count_passed(steps, bound):
    """Count the steps before the first failed test; steps at equal scores are tested together.

    The result equals that of a test at each distinct score. It is faster, because all scores of an
    interval pass if each query's largest loss in the interval passes.
    """
    ends = np.flatnonzero(np.append(steps.scores[1:] != steps.scores[:-1], True)) + 1
    ends = ends[: len(steps.scores)]
    losses = steps.start.copy()
    n_scores, n_steps, stride = 0, 0, 1
    while n_scores < len(ends):
        stop = min(n_scores + stride, len(ends))
        stretch = slice(n_steps, ends[stop - 1])
        highest = losses.copy()
        np.maximum.at(highest, steps.queries[stretch], steps.losses[stretch])
        if stop == n_scores + 1:
            highest[steps.queries[stretch]] = steps.losses[stretch]
        if bound.rules_out(highest):
            losses[steps.queries[stretch]] = steps.losses[stretch]
            n_scores, n_steps, stride = stop, int(ends[stop - 1]), 2 * stride
        elif stop == n_scores + 1:
            break
        else:
            stride = max(1, (stop - n_scores) // 4)
    return n_steps


def _best_certified(curve, scores, lower, upper, levels=None):
    """Find the certified threshold with the highest value; among equal ones, the lowest."""
    # A limit may lie between two scores; only one side of it is certified.
    limits = [limit for limit in (lower, upper) if np.isfinite(limit)]
    thresholds = np.union1d(curve.thresholds, limits)
    places = np.minimum(np.searchsorted(curve.thresholds, thresholds), len(curve.values) - 1)
    values = curve.values[places]
    certified = np.flatnonzero((thresholds > lower) & (thresholds <= upper))
    value = values[certified]
    best = certified[first_of_highest(np.where(np.isnan(value), -np.inf, value))]
    below = thresholds[:best].max(initial=-np.inf)
    if levels is not None:
        threshold = float(thresholds[best])
    else:
        threshold = midpoint(scores, below) if below > -np.inf else -np.inf
    return threshold, float(values[best])


def _raise_too_few(make, steps, promise, confidence, sure, units, start):
    """Raise for too few queries; the error names the number that the guarantee needs.

    `confidence` is the confidence level of this risk's test, `sure` the guarantee in words, and
    `start` the place where tests among answered queries begin.
    """
    kind = "queries with a good document" if steps.is_upward else "judged queries"
    needed = queries_needed(make, promise.max_risk, confidence)
    if start is not None:
        kind, needed = "judged queries that can be shown something", start.least_units()
    kind = kind if units.name is None else f"{units.name}s with {kind}"
    text = (
        f"the risk {brief(promise.name)} at most {promise.max_risk:g}{sure} needs at "
        f"least {needed} calibration {units.plural} ({kind}), got {steps.n_queries}"
    )
    if steps.n_queries:
        none = make(steps.n_queries, promise.max_risk, confidence).upper(np.zeros(steps.n_queries))
        text += f": even if none of them shows a failure, the risk may be as high as {none:.3g}"
    ways = ", raise the level or lower confidence_level" if "confidence" in sure else " or raise it"
    raise InputError(f"{text}. Give more queries{ways}.")


def _raise_impossible(steps, promise, most):
    """Raise if even the safest threshold does not keep the risk."""
    what = f"the risk {brief(promise.name)} cannot be kept at {promise.max_risk:g}"
    mean = f"{steps.start.mean():.3g}"
    if promise.name == "false_reject_rate" and most is not None:
        raise InputError(
            f"{what}: showing at most {counted(most, 'document')} of each query hides {mean} of "
            "the good documents at every threshold. Raise its level or the cut-off of the other "
            "risks, or set show_beyond_k=True."
        )
    if promise.name == "false_reject_rate":
        raise InputError(
            f"{what}: scores of -inf hide {mean} of the good documents at every threshold. Score "
            "these documents, or raise its level."
        )
    where = "everything" if steps.is_upward else "nothing"
    raise InputError(
        f"{what}: it is {mean} on the calibration queries at the safest threshold, where {where} "
        "is shown. Raise its level, or use a better model."
    )


def _raise_not_among_answered(promise, units, raw, own, threshold, start, n_answered=None):
    """Raise if no number of answered queries suffices to certify the risk.

    `n_answered` is their number if there are too few of them for the first test. `raw` and `own`
    are the losses of queries, and of units among answered queries.
    """
    answered = units.answered(raw.counted, threshold)
    lost = units.mean(raw.at(threshold) * (units.answer_at[raw.counted] >= threshold), raw.counted)
    few = ""
    if n_answered is not None:
        few = f"only {n_answered} of {units.count(len(answered))} can be shown something, and "
    needed = start.units_needed(own, units.levels(raw.counted))
    if needed is None:
        ways = (
            f"Queries like these are not enough, even {len(answered) + _MOST_NEEDED:,} of them (an "
            "estimate): raise its level, or give a better model"
        )
    else:
        ways = (
            f"Give {needed:,} calibration {units.plural}, which suffice in {100 * _POWER:.0f} % of "
            "draws if they are like these (an estimate), or raise its level, or give a better model"
        )
    raise InputError(
        f"the risk {brief(promise.name)} at most {promise.max_risk:g} among answered queries is "
        f"certified at no threshold: {few}it is {lost.sum() / max(answered.sum(), 1e-300):.3g} "
        f"where the {units.count(int(np.count_nonzero(answered)))} with the highest scores are "
        f"shown something. {ways}."
    )


def _raise_contradiction(tested):
    """Raise if no threshold keeps all risks; the error names two incompatible ones."""
    low = max(tested, key=lambda each: each[-2])
    high = min(tested, key=lambda each: each[-1])
    (first, *_, lower, _), (second, *_, upper) = low, high
    raise InputError(
        f"no threshold keeps all risks: {first.name} at most {first.max_risk:g} needs one above "
        f"{lower:.4g}, {second.name} at most {second.max_risk:g} one of at most {upper:.4g}. Raise "
        "the level of one of the two, or give more calibration queries or a better model."
    )


def _warn_if_trivial(scores, lower, upper, promise):
    """Warn if the only certified threshold hides everything, or hides nothing."""
    shown = scores[scores > -np.inf]
    is_upward = upper < np.inf
    if np.isinf(lower) and np.isinf(upper):
        return
    if ((shown < upper) if is_upward else (shown > lower)).any():
        return
    what, where = ("nothing", "-inf") if is_upward else ("everything", "+inf")
    warn_user(
        f"No threshold but {where} keeps the risk {brief(promise.name)} at most "
        f"{promise.max_risk:g}: {what} is hidden. Raise its level, or give more calibration "
        "queries or a better model.",
        FitWarning,
    )
