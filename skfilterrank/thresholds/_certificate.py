"""Certificates: bounds of the risks of a threshold on new queries, and their conditions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.results import Result
from skfilterrank._base.words import counted, plural
from skfilterrank._files import states
from skfilterrank._files.files import open_for_writing
from skfilterrank._lists.measure_names import known_measure
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._risk_steps import said_left_out

# Number of digits of a digest.
_N_DIGITS = 12


class Condition(NamedTuple):
    """A fact about a certificate, or a limit of it.

    Attributes
    ----------
    name : str
        Name of the fact, as in :meth:`RiskCertificate.to_frame`.
    value : float, int, str, bool or None
        The fact as a number or a name.
    sentence : str
        The fact in a sentence; empty if another sentence says it.
    """

    name: str
    value: Any
    sentence: str = ""


# Facts that hold unless the maker of the scores or of the labels says otherwise.
USUAL = (Condition("n_machine", 0), Condition("exact", True), Condition("assumes_unseen", False))
UNSEEN = Condition(
    "assumes_unseen", True, "This holds if the model that gave the scores has not seen the queries."
)
APPROXIMATE = Condition(
    "exact", False, "The scores came from other models than the one in use: it is an approximation."
)


def by_machines(n_labels: int) -> Condition:
    """State that machines gave some of the labels."""
    return Condition(
        "n_machine",
        n_labels,
        f"Machines gave {counted(n_labels, 'label')} of these judgments: the certificate holds for "
        "such labels, and not for those of people.",
    )


# Notes of the page that users should give.
_ASKED = {"Dates": "not stated", "Segment": "not stated: all queries together"}
_IN_WORDS = {
    "harm": "Documents with a second score of {opposite:.6g} or less are shown",
    "ratio": "Documents are shown whose expected gain is at least {level:.6g} times their "
    "probability of harm",
}
_LEARN_THEN_TEST = (
    "Learn then Test with fixed-sequence testing, so that every real threshold is tested "
    "(Angelopoulos et al., Annals of Applied Statistics 19(2), 2025, arXiv:2110.01052). "
)
_TESTS = (
    "Exact binomial tests of losses that are 0 or 1, and bets on other losses (Waudby-Smith and "
    "Ramdas, JRSS B 86(1), 2024, arXiv:2010.09686)."
)


@dataclass(frozen=True, eq=False, repr=False)
class RiskBound(Result):
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
    observed : float
        Mean loss at the threshold, over all queries or over the answered ones (see `among`).
    upper_bound : float
        Upper confidence bound of the risk at the threshold. If the threshold was chosen, the bound
        is computed as for a given threshold, and capped at `max_risk`, which is certified. If bets
        rule out even the observed mean before the last losses, the bound is this mean.
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
    observed: float
    upper_bound: float
    lower_bound: float = np.nan
    among: str = "all"
    n_left_out: int = 0

    @classmethod
    def of(cls, risk, losses, answered, **found) -> "RiskBound":
        """Make a result from a risk, its bounds, and the losses of units that are tested.

        `answered` is the share of each unit that is answered; the other part has the level as loss.
        """
        own = losses - risk.max_risk * (1 - answered)
        return cls(
            *(risk.name, risk.max_risk, risk.k),
            n_queries=int(np.count_nonzero(answered)),
            observed=float(own.sum() / max(answered.sum(), 1e-300)),
            among="answered" if risk.answered else "all",
            **found,
        )

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

    def figures(self) -> tuple[str, str]:
        """Return the observed mean and its upper bound, with digits enough to tell them apart."""
        pair = self.observed, self.upper_bound
        for digits in range(4, 9):
            observed, bound = (f"{each:.{digits}f}" for each in pair)
            if observed != bound or np.isclose(*pair, rtol=1e-9, atol=0):
                break
        return observed, bound


@dataclass(frozen=True, eq=False, repr=False)
class RiskCertificate(Result):
    """Bounds of the risks of a threshold on new queries; `str` gives them in words.

    Attributes
    ----------
    risks : dict of str to RiskBound
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
    conditions : tuple of Condition
        Facts and limits, each with its `name`, its `value` and a `sentence`. Names:

        * "n_queries", "n_units", "n_labels": numbers of calibration queries, of independent draws
          (queries or clusters), and of labels.
        * "unit": name of a cluster, such as "user"; each cluster counts once, with the mean loss of
          its queries. None if each query is a draw.
        * "share_answered", "share_answered_lower", "share_answered_upper": share of the queries
          that are shown something (with clusters, the mean share of a cluster), and its confidence
          interval, which holds at all thresholds at once.
        * "share_hidden": share of the documents of the calibration queries that is hidden.
        * "max_shown": largest number of shown documents of a list that the certificate covers; None
          means any.
        * "rule", "n_apart": rule that hides by a second score, whose level `threshold` is, and
          number of other queries from which its curves were learned. None without such a score.
        * "n_left_out": largest number of queries that are left out of a risk, as no document is
          judged that tells their loss.
        * "n_unjudged": number of unjudged documents that could change a risk. They count as neither
          forbidden nor good; see `to_judge`.
        * "n_machine": number of labels by machines. The commands count them in a column
          "judged_by"; arrays do not tell.
        * "assumes_unseen": true if the model behind the scores must not have seen the calibration
          queries. RankAndFilter sees to that itself.
        * "exact": false if the scores come from other models than the one in use.
    """

    risks: dict[str, RiskBound]
    confidence_level: float
    threshold: float
    value: float = np.nan
    is_chosen: bool = True
    conditions: tuple[Condition, ...] = ()
    # Columns of `to_judge` as arrays, which JSON and skops can hold.
    _to_judge: dict[str, np.ndarray] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Values of the conditions by their names."""
        return {each.name: each.value for each in self.conditions}

    def with_conditions(self, *conditions: Condition) -> "RiskCertificate":
        """Return the certificate with more conditions; they replace those of the same name."""
        found = {each.name: each for each in (*self.conditions, *conditions)}
        return replace(self, conditions=tuple(found.values()))

    @property
    def to_judge(self) -> pd.DataFrame:
        """Table of the unjudged documents that could change a risk.

        The columns are "query" and "row", the row number in the given arrays; query by query, the
        highest score first. A saved threshold does not keep them.
        """
        return pd.DataFrame(self._to_judge, columns=["query", "row"])

    def to_html(self, *, path=None, notes=None) -> str | None:
        """Make a printable page: the certificate, its conditions and its limits.

        The page is one file without scripts or external resources. It fits one sheet of A4 unless
        there are many risks or notes.

        Parameters
        ----------
        path : str, path-like or None, default=None
            File to write; an older file is replaced once the new one is whole. None returns the
            page.
        notes : dict of str to str or None, default=None
            More facts about the data by name, such as ``{"Dates": "1 to 31 May"}``. Without
            "Dates" and "Segment", the page says that they are not stated.

        Returns
        -------
        str or None
            The page if `path` is None.

        Raises
        ------
        MissingPackageError
            If jinja2 is not installed.
        ValueError
            If notes are not texts by name.
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
        ['Data and conditions', 'What it does not cover', 'How it was made']
        """
        return _card_of(self, path, notes)

    def __eq__(self, other):
        """Tell whether two certificates say the same, as a saved one and its original do."""
        same = isinstance(other, RiskCertificate)
        return self.digest == other.digest if same else NotImplemented

    def __hash__(self):
        return hash(self.digest)

    @property
    def digest(self) -> str:
        """Twelve digits that are those of the card and of a saved file of the same certificate."""
        return states.checksum_of(states.as_json(certificate_to_json(self)))[:_N_DIGITS]

    @property
    def lower(self) -> float:
        """All risks are kept at thresholds above this and up to `upper`."""
        return max(risk.lower for risk in self.risks.values())

    @property
    def upper(self) -> float:
        """All risks are kept at thresholds up to this and above `lower`."""
        return min(risk.upper for risk in self.risks.values())

    @property
    def among(self) -> str:
        """Queries that risks are averaged over: "all" or "answered".

        "empty_list_rate", which is always of all queries, decides only if it is the only risk.
        """
        is_answered = any(risk.among == "answered" for risk in self.risks.values())
        return "answered" if is_answered else "all"

    def to_frame(self) -> pd.DataFrame:
        """Make a table with a row for each risk, named after it.

        The confidence level and the values of the conditions are equal in all rows.
        """
        common = {"confidence_level": self.confidence_level} | self.facts
        rows = [common | vars(risk) | {"verdict": risk.verdict} for risk in self.risks.values()]
        return pd.DataFrame(rows).set_index("risk")

    def _table(self) -> pd.DataFrame | None:
        if len(self.risks) == 1:
            return None
        return self.to_frame()[["max_risk", "observed", "upper_bound", "n_queries"]]

    def _summary(self):
        facts = self.facts
        levels = ", ".join(
            f"{risk.risk} at most {risk.max_risk:g}{' among answered' * (risk.among == 'answered')}"
            for risk in self.risks.values()
        )
        machines = ", for labels of machines" if facts["n_machine"] else ""
        over = f", over {plural(facts['unit'])}" if facts["unit"] else ""
        return (
            f"{levels} with confidence {self.confidence_level:g}{machines}{over}, {self._where()}, "
            f"{100 * facts['share_answered']:.1f} % answered"
        )

    def _where(self):
        """Name the threshold, or the rule and its level."""
        rule = self.facts["rule"]
        if rule is None:
            return f"at threshold {self.threshold:.4g}"
        return f"at level {self.threshold:.4g} of the rule {rule!r}"

    def _head(self):
        sentences = [each.sentence for each in self.conditions if each.sentence]
        return " ".join([self.statement(), *sentences])

    def statement(self) -> str:
        """Say in sentences which risks are kept at the threshold, or what was found there."""
        given = f"With confidence {self.confidence_level:g}"
        risks = list(self.risks.values())
        if not self.is_chosen:
            return "\n".join(f"{given}, {self._found(risk)}." for risk in risks)
        exactly = "" if self.facts["exact"] else "approximately "
        parts = [f"{each.in_words()} is {exactly}at most {each.max_risk:g}" for each in risks]
        text = f"{given}, {', and '.join(parts)} on new {self.units()}, {self._where()}"
        if len(risks) == 1:
            observed, upper = risks[0].figures()
            text += (
                f": on {risks[0].n_queries} {self.units('calibration ', risk=risks[0])} it is "
                f"{observed}, with an upper bound of {upper}"
            )
        return f"{text}."

    def _found(self, risk):
        """Say the verdict on a risk at a given threshold."""
        verdict = {
            "kept": f"is at most {risk.max_risk:g}",
            "broken": f"is above {risk.max_risk:g}",
            "open": f"may be at most {risk.max_risk:g} or above",
        }[risk.verdict]
        return (
            f"{risk.in_words()} {verdict} at threshold {self.threshold:.4g}: on {risk.n_queries} "
            f"{self.units(risk=risk)} it is {risk.observed:.4f}, between {risk.lower_bound:.4f} "
            f"and {risk.upper_bound:.4f}"
        )

    def units(self, kind: str = "", *, risk: RiskBound | None = None) -> str:
        """Name the independent draws in the plural: "queries", or clusters such as "users"."""
        answered = risk is not None and risk.among == "answered"
        unit = self.facts["unit"]
        if unit is None:
            return f"{'answered ' if answered else ''}{kind}queries"
        return f"{kind}{plural(unit)}{' with an answered query' if answered else ''}"


def make_certificate(
    risks: dict[str, RiskBound],
    units,
    lists,
    threshold: float,
    value: float = np.nan,
    *,
    confidence_level: float,
    to_judge: pd.DataFrame,
    max_shown: int | None,
    shown: np.ndarray,
    is_chosen: bool = True,
    rule: str | None = None,
    n_apart: int = 0,
) -> RiskCertificate:
    """Make the certificate of a threshold and of the value that was found there.

    `to_judge` is the table of :func:`find_unjudged`, and `shown` a mask of the rows that are shown.
    """
    share, low, high = units.share_answered(threshold, confidence_level)
    facts = {
        "n_queries": lists.index.n_queries,
        "n_labels": int(np.count_nonzero(~np.isnan(lists.gains))),
        "n_units": units.n_units,
        "unit": units.name,
        "share_answered": share,
        "share_answered_lower": low,
        "share_answered_upper": high,
        "share_hidden": 1.0 - float(shown.mean()),
        "max_shown": max_shown,
        "rule": rule,
        "n_apart": n_apart,
        "n_left_out": max(each.n_left_out for each in risks.values()),
        "n_unjudged": len(to_judge),
    }
    n_queries, n_labels = counted(facts["n_queries"], "query"), counted(facts["n_labels"], "label")
    said = {
        "n_queries": f"The data are {n_queries} with {n_labels}.",
        "share_answered": f"Something is shown for {100 * share:.1f} % of the queries "
        f"({100 * low:.1f} to {100 * high:.1f} %).",
        "share_hidden": f"{100 * facts['share_hidden']:.3g} % of the documents are hidden.",
        "rule": f"{rule_in_words(rule, threshold)}.",
    }
    if not share:
        said["share_answered"] = (
            "Nothing is shown for any of these queries, so that the certificate is empty: raise a "
            "level, or give more queries or a better model."
        )
    if units.name is not None:
        number = counted(units.n_units, units.name)
        said["n_units"] = f"Each {units.name} counts once, with the mean of its queries ({number})."
    if max_shown is not None:
        covered, n_shown = counted(max_shown, "document"), np.bincount(lists.index.codes(), shown)
        said["max_shown"] = f"The certificate covers lists that show at most {covered}."
        if np.isneginf(threshold):
            said["rule"] = f"The threshold hides none of the first {covered}."
        if n_shown.max() > max_shown:
            said["max_shown"] = (
                f"More may be shown, and the certificate covers the first {covered} alone."
            )
    if n_apart:
        others = counted(n_apart, "other query")
        said["n_apart"] = f"The curves of the rule were learned from {others}."
    if facts["n_left_out"]:
        said["n_left_out"] = (
            f"{said_left_out(facts['n_left_out'], facts['n_queries'])}, since no document is "
            "judged that could tell the loss: the others must be like a random draw of all."
        )
    if len(to_judge):
        documents = counted(len(to_judge), "document")
        said["n_unjudged"] = (
            f"Unjudged, and counted as not forbidden: {documents} that could change a risk."
        )
    conditions = (
        *(Condition(name, each, said.get(name, "")) for name, each in facts.items()),
        *USUAL,
    )
    rows = {str(name): column.to_numpy() for name, column in to_judge.items()}
    return RiskCertificate(risks, confidence_level, threshold, value, is_chosen, conditions, rows)


def rule_in_words(rule: str | None, level: float) -> str:
    """Say which documents are shown at a level of a rule, or of the score if there is no rule."""
    if np.isposinf(level):
        return "No document is shown"
    if np.isneginf(level):
        return "Every document with a score is shown"
    text = "Documents with a score of {level:.6g} or more are shown"
    return _IN_WORDS.get(rule or "", text).format(level=level, opposite=0.0 - level)


def certificate_to_json(certificate: RiskCertificate) -> dict:
    """Convert a certificate to JSON; a file does not tell which queries a model has seen."""
    return {
        "risks": [vars(risk) for risk in certificate.risks.values()],
        "confidence_level": certificate.confidence_level,
        "threshold": certificate.threshold,
        "value": certificate.value,
        "is_chosen": certificate.is_chosen,
        "conditions": [each._asdict() for each in certificate.with_conditions(UNSEEN).conditions],
    }


def rate_in_words(risk: str, k, among: str = "all") -> str:
    """Describe a risk in words."""
    top = "list" if k is None or np.isnan(k) else f"top {k:g}"
    queries = "queries" if among == "all" else "answered queries"
    measure = known_measure(risk)
    words = (measure and measure.as_risk) or risk
    if among != "all" and "{queries}" not in words:
        words = f"among {queries}, {words}"
    return words.format(top=top, queries=queries)


def _card_of(certificate, path, notes) -> str | None:
    """Make the page of a certificate; write it to a path, if any, or return it."""
    from skfilterrank._base import VERSION
    from skfilterrank._files.pages import render_page

    notes = {} if notes is None else notes
    if not isinstance(notes, Mapping) or not all(
        isinstance(each, str) for pair in notes.items() for each in pair
    ):
        raise InputError(
            "notes must be a dict of texts by their names, such as {'Dates': 'May 2026'}, got "
            f"{brief(notes)}."
        )
    page = render_page(
        "skfilterrank.thresholds",
        "card.html",
        {
            "it": certificate,
            "notes": {**_ASKED, **notes},
            "method": f"{_LEARN_THEN_TEST if certificate.is_chosen else ''}{_TESTS}",
            "version": VERSION,
            "today": datetime.now(UTC).date().isoformat(),
        },
    )
    if path is None:
        return page
    with open_for_writing(path) as write:
        write(page)
    return None
