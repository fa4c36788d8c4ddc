"""Certificates: guarantees that the risks of a threshold stay below their levels on new queries."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from skfilterrank._files import states
from skfilterrank._files.files import open_for_writing
from skfilterrank._lists.results import Result, counted, plural
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.thresholds._hide_rules import rule_in_words

_RATES = {
    "any_forbidden": "the share of {queries} with a forbidden document in the shown {top}",
    "forbidden": "the forbidden share of the shown {top}",
    "false_reject_rate": "the share of a query's good documents that is hidden",
    "empty_list_rate": "the share of queries that are shown nothing",
}
_COMMON = (
    "share_answered",
    "share_answered_lower",
    "share_answered_upper",
    "max_shown",
    "shows_more",
    "n_unjudged",
    "n_machine",
    "confidence_level",
    "unit",
    "rule",
    "n_apart",
)
# A file does not tell which queries a model has seen, and holds no table of documents.
_NOT_SAVED = "assumes_unseen", "_to_judge"
_N_DIGITS = 12
_LEARN_THEN_TEST = (
    "Learn then Test with fixed-sequence testing, so that every real threshold is tested "
    "(Angelopoulos et al., Annals of Applied Statistics 19(2), 2025, arXiv:2110.01052). "
)
_TESTS = (
    "Exact binomial tests of losses that are 0 or 1, and bets on other losses (Waudby-Smith and "
    "Ramdas, JRSS B 86(1), 2024, arXiv:2010.09686)."
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
        is computed as for a given threshold, and capped at `max_risk`, which is guaranteed. Bets
        that win before the last losses may rule out even the mean; the bound is then the mean.
    lower_bound : float
        Lower confidence bound of the risk at a given threshold, else NaN.
    among : {"all", "answered"}
        Queries over which the risk is averaged: all, or those with a non-empty list.
    n_left_out : int
        Number of queries that do not count, since nothing is judged of them that tells their loss.
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
    n_left_out: int = 0

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

    @property
    def is_own_bound(self) -> bool:
        """True if the bound is the observed mean, which the bets rule out."""
        is_same = np.isclose(self.observed, self.upper_bound, rtol=1e-9, atol=0)
        return bool(is_same and 0 < self.observed < 1)

    def figures(self) -> tuple[str, str]:
        """Return the observed mean and its upper bound, with digits enough to tell them apart."""
        pair = self.observed, self.upper_bound
        for digits in range(4, 9):
            observed, bound = (f"{each:.{digits}f}" for each in pair)
            if observed != bound or self.is_own_bound or self.observed == self.upper_bound:
                break
        return observed, bound


@dataclass(frozen=True, eq=False, repr=False)
class RiskCertificate(Result):
    """A guarantee for the risks of a threshold on new queries; `str` gives it in words.

    Attributes
    ----------
    promises : dict of str to RiskPromise
        For each risk by its name: `max_risk`, its level; `k`, its cut-off; `n_queries` that count;
        `observed`, the mean over them; `lower_bound` and `upper_bound`; `verdict`, which is "kept",
        "broken" or "open"; and `lower` and `upper`, between which thresholds keep it.
    confidence_level : float
        Probability, over draws of the calibration queries, that all risks are kept at once.
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
        True if a threshold that was given shows more than `max_shown` documents of a query, so that
        the guarantee covers only the first places.
    n_machine : int
        Number of labels by machines in the judgments. If there are any, the guarantee holds for
        such labels. The commands count them in a column "judged_by"; arrays do not tell.
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
        Confidence interval of `share_answered`. It holds at all thresholds at once, and so at a
        chosen one.
    share_hidden : float
        Share of the documents of the calibration queries that is hidden.
    rule : {"ratio", "harm"} or None
        Rule that hides by a second score; `threshold` is then its level. None without such a score.
    n_apart : int
        Number of other queries, from which the curves of `rule` were learned.
    """

    promises: dict[str, RiskPromise]
    confidence_level: float
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
    rule: str | None = None
    n_apart: int = 0
    # Columns of `to_judge` as arrays, which JSON and skops can hold.
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
            Monitor of the same risks, whose state the page shows. If it was made from a threshold,
            this must be the threshold of the certificate.
        notes : dict of str to str or None, default=None
            More facts about the data by name, such as ``{"Dates": "1 to 31 May"}``. If no name
            begins with "Dates" or "Segment", the page says "not stated".

        Returns
        -------
        str or None
            The page if `path` is None.

        Raises
        ------
        MissingPackageError
            If jinja2 is not installed.
        ValueError
            If the monitor watches other risks, levels or thresholds, or notes are not texts by
            name.
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
        return _card_of(self, path, monitor, notes)

    @property
    def digest(self) -> str:
        """Twelve digits that are those of the card and of a saved file of the same certificate."""
        return certificate_checksum(self)[:_N_DIGITS]

    @property
    def lower(self) -> float:
        """All risks are kept at thresholds above this and up to `upper`."""
        return max(promise.lower for promise in self.promises.values())

    @property
    def upper(self) -> float:
        """All risks are kept at thresholds up to this and above `lower`."""
        return min(promise.upper for promise in self.promises.values())

    @property
    def n_left_out(self) -> int:
        """Largest number of queries that are left out of a risk, as nothing tells their loss."""
        return max(promise.n_left_out for promise in self.promises.values())

    @property
    def among(self) -> str:
        """Queries that risks are averaged over: "all" or "answered".

        The share of empty lists, which is always of all queries, decides only if it is alone.
        """
        is_answered = any(promise.among == "answered" for promise in self.promises.values())
        return "answered" if is_answered else "all"

    def to_frame(self) -> pd.DataFrame:
        """Make a table with a row for each risk, named after it.

        Columns about the whole certificate, from "share_answered" to "dates", are equal in all
        rows.
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
        levels = ", ".join(
            f"{p.risk} at most {p.max_risk:g}{' among answered' * (p.among == 'answered')}"
            for p in self.promises.values()
        )
        machines = ", for labels of machines" if self.n_machine else ""
        over = "" if self.unit is None else f", over {plural(self.unit)}"
        answered = ""
        if not np.isnan(self.share_answered):
            answered = f", {100 * self.share_answered:.1f} % answered"
        return f"{levels} {self._grounds()}{machines}{over}, {self._where()}{answered}"

    def _grounds(self):
        return f"with confidence {self.confidence_level:g}"

    def _where(self):
        """Name the threshold, or the rule and its level."""
        if self.rule is None:
            return f"at threshold {self.threshold:.4g}"
        return f"at level {self.threshold:.4g} of the rule {self.rule!r}"

    def shows(self) -> str:
        """Say in a sentence without its full stop which documents are shown."""
        return rule_in_words(self.rule, self.threshold)

    def learned(self) -> str:
        """Say in a sentence what was learned from other queries; empty if nothing was."""
        if not self.n_apart:
            return ""
        others = counted(self.n_apart, "other query")
        return f"The curves of the rule were learned from {others}."

    def own_bounds(self) -> str:
        """Say in a sentence which observed means are their own upper bounds; empty for none."""
        names = [name for name, each in self.promises.items() if each.is_own_bound]
        if not names:
            return ""
        return (
            f"Of {', '.join(names)} the bets ruled out the observed mean itself before all queries "
            "were counted, so that it is stated as the upper bound, too."
        )

    def on_new(self) -> str:
        """Name the units that the guarantee is about."""
        units = "queries" if self.unit is None else plural(self.unit)
        return f"new {units}"

    def _head(self):
        told = [self.learned(), self.own_bounds()]
        if self.rule is not None:
            told.insert(0, f"{self.shows()}.")
        told = "".join(f" {each}" for each in told if each)
        covers, holes = self._covers() + told + self._answers(), ""
        if self.n_left_out:
            holes += (
                f" {self.n_left_out:,} of {self.n_queries:,} queries are left out, since no "
                "document is judged that could tell the loss: the others must be like a random "
                "draw of all."
            )
        if self.n_unjudged:
            holes += (
                f" {self.n_unjudged} documents of these queries are unjudged, and count as not "
                "forbidden."
            )
        if self.n_machine:
            labels = counted(self.n_machine, "label")
            holes += (
                f" Machines gave {labels} of these judgments: the guarantee holds for such labels, "
                "and not for those of people."
            )
        if not self.is_chosen:
            return "\n".join(map(self._verdict, self.promises.values())) + covers + holes
        grounds = self._grounds()
        parts = [
            f"{promise.in_words()} is {'' if self.exact else 'approximately '}at most "
            f"{promise.max_risk:g}"
            for promise in self.promises.values()
        ]
        text = (
            f"{grounds[0].upper()}{grounds[1:]}, {', and '.join(parts)} on {self.on_new()}, "
            f"{self._where()}"
        )
        if len(parts) == 1:
            (promise,) = self.promises.values()
            observed, upper = promise.figures()
            text += (
                f": on {promise.n_queries} {self._units('calibration ', promise)} it is "
                f"{observed}, with an upper bound of {upper}"
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
        return f"{of}{plural(self.unit)}{' with an answered query' if answered else ''}"

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


def certificate_to_json(certificate: RiskCertificate) -> dict:
    """Convert a certificate to JSON, without what only its fit knows."""
    found = {
        each.name: getattr(certificate, each.name)
        for each in fields(certificate)
        if each.name not in _NOT_SAVED
    }
    return found | {"promises": [vars(promise) for promise in certificate.promises.values()]}


def certificate_checksum(certificate: RiskCertificate) -> str:
    """Compute a checksum of a certificate, which is the same once it is saved and loaded."""
    return states.checksum_of(states.as_json(certificate_to_json(certificate)))


def rate_in_words(risk: str, k, among: str = "all") -> str:
    """Describe a risk in words."""
    top = "list" if k is None or np.isnan(k) else f"top {k:g}"
    name = risk.partition("@")[0]
    queries = "queries" if among == "all" else "answered queries"
    words = _RATES.get(name, risk).format(top=top, queries=queries)
    has_said = among == "all" or name == "any_forbidden"
    return words if has_said else f"among answered queries, {words}"


def _card_of(certificate, path, monitor, notes) -> str | None:
    """Make the page of a certificate; write it to a path, if any, or return it."""
    import skfilterrank
    from skfilterrank._files.pages import render_page

    page = render_page(
        "skfilterrank.thresholds",
        "card.html",
        {
            "it": certificate,
            "promises": list(certificate.promises.values()),
            "notes": _with_what_is_asked(notes),
            "monitor": None if monitor is None else _status_of(monitor, certificate),
            "is_of_threshold": monitor is not None and monitor._threshold.certificate is not None,
            "method": _method_of(certificate),
            "version": skfilterrank.__version__,
            "today": datetime.now(UTC).date().isoformat(),
        },
    )
    if path is None:
        return page
    with open_for_writing(path) as write:
        write(page)
    return None


def _with_what_is_asked(notes) -> dict[str, str]:
    """Return the notes; dates and segment are "not stated" unless the notes name them."""
    notes = {} if notes is None else notes
    if not isinstance(notes, Mapping) or not all(
        isinstance(each, str) for pair in notes.items() for each in pair
    ):
        raise InputError(
            "notes must be a dict of texts by their names, such as {'Dates': 'May 2026'}, got "
            f"{brief(notes)}."
        )
    given = [name.casefold() for name in notes]
    asked = {
        name: text
        for name, text in {
            "Dates": "not stated",
            "Segment": "not stated: all queries together",
        }.items()
        if not any(each.startswith(name[:4].casefold()) for each in given)
    }
    return {**notes, **asked}


def _status_of(monitor, certificate):
    """Return the status of a monitor; raise if it watches other risks than the certificate."""
    levels = {name: promise.max_risk for name, promise in certificate.promises.items()}
    if monitor.levels != levels:
        raise InputError(
            f"monitor watches {brief_list(list(monitor.levels.items()))}, but the certificate is "
            f"about {brief_list(list(levels.items()))}. Pass a monitor of the same risks."
        )
    if monitor.among != certificate.among:
        raise InputError(
            f"monitor counts {monitor.among} queries, and the certificate {certificate.among} "
            f"ones. Give RiskMonitor(risks, among={certificate.among!r})."
        )
    if not monitor._threshold.may_have(certificate):
        raise InputError(
            "monitor watches another threshold than that of the certificate, though of the same "
            "risks. Give the monitor that RiskMonitor(threshold) made of this threshold."
        )
    return monitor.status


def _method_of(certificate) -> str:
    """Name the method with its papers."""
    return f"{_LEARN_THEN_TEST if certificate.is_chosen else ''}{_TESTS}"
