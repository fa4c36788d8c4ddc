"""What is promised of a threshold, and on what grounds, in a sentence and as a table."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._lists.results import Result, counted

_RATES = {
    "any_forbidden": "the share of queries with a forbidden document in the shown {top}",
    "forbidden": "the forbidden share of the shown {top}",
    "false_reject_rate": "the share of a query's good documents that is filtered",
    "empty_list_rate": "the share of queries that are shown nothing",
}

_COMMON = ("max_shown", "shows_more", "n_unjudged", "n_machine")


@dataclass(frozen=True, eq=False, repr=False)
class RiskPromise(Result):
    """One rate, the level that it is to stay below, and what the calibration queries say of it.

    Attributes
    ----------
    risk : str
        Name of the rate.
    max_risk : float
        Highest rate on new queries.
    k : int or None
        Number of places of the returned list that count; None means all.
    lower, upper : float
        Thresholds above `lower` and up to `upper` keep the promise: one of the two is infinite,
        and both are where all do. NaN where the threshold was fixed beforehand.
    n_queries : int
        Queries that count for the rate.
    n_tried : int
        Distinct thresholds that were tested, from the safest on.
    observed : float
        Mean rate of the queries at the threshold.
    upper_bound : float
        Upper confidence bound of the rate at the threshold; where that was chosen, as if it had
        been fixed beforehand, but never above `max_risk`, which is what holds then.
    lower_bound : float
        Lower confidence bound of the rate at a threshold fixed beforehand, else NaN.
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

    @property
    def verdict(self) -> str:
        """Whether the rate is at most `max_risk`: "kept", "broken", or "open" if unsure."""
        if self.upper_bound <= self.max_risk:
            return "kept"
        return "broken" if self.lower_bound > self.max_risk else "open"

    def _summary(self):
        return (
            f"{self.risk} at most {self.max_risk:g}, {self.verdict}, observed {self.observed:.4f}"
        )

    def rate(self) -> str:
        """The rate in words."""
        return rate_in_words(self.risk, self.k)


@dataclass(frozen=True, eq=False, repr=False)
class RiskCertificate(Result):
    """What is promised of a threshold, and on what grounds; its `str` is a sentence.

    Attributes
    ----------
    promises : dict of str to RiskPromise
        What is promised, by the name of each rate.
    confidence_level : float or None
        Probability, over the draw of the calibration queries, with which all promises hold at
        once. None where the rates are kept in expectation.
    threshold : float
        Of all certified thresholds the one with the highest `value`, or the one that was given.
    value : float
        Mean of the measure over the calibration queries at the threshold; NaN where the threshold
        was given.
    is_chosen : bool
        Whether the threshold was chosen to keep the promises. False where it was given.
    exact : bool
        Whether the promises hold exactly. False where the scores of the calibration queries come
        from other models than the one that is used.
    n_unjudged : int
        Unjudged documents of the calibration queries that could change a rate, which counts them as
        neither forbidden nor good. Where there are some, nothing is promised for queries that are
        judged completely.
    max_shown : int or None
        The promises cover lists that show at most this number of documents; None means all lists.
    shows_more : bool
        Whether more documents than that may be shown, so that the promises cover the first places
        alone.
    n_machine : int
        Labels that machines gave: where there are some, the promises hold for such labels.
    assumes_unseen : bool
        Whether the promises assume what nothing here can check: that the model that gave the scores
        has not seen the calibration queries. False where RankAndFilter has fitted it on others.
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
    # Columns of `to_judge` as arrays: a table cannot be saved with a model.
    _to_judge: dict[str, np.ndarray] | None = None

    @property
    def to_judge(self) -> pd.DataFrame:
        """The unjudged documents that could change a rate, a row for each.

        "query" holds the query, and "row" the row number in what was given: query by query, the
        highest score first. A filter file does not keep them.
        """
        return pd.DataFrame(self._to_judge, columns=["query", "row"])

    @property
    def lower(self) -> float:
        """Thresholds above this one, and up to `upper`, keep all promises."""
        return max(promise.lower for promise in self.promises.values())

    @property
    def upper(self) -> float:
        """Thresholds up to this one, and above `lower`, keep all promises."""
        return min(promise.upper for promise in self.promises.values())

    def to_frame(self) -> pd.DataFrame:
        """One row per promise, named after the rate.

        The columns "max_shown", "shows_more", "n_unjudged" and "n_machine" are those of all.
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
        return f"{levels} {self._grounds()}{machines}, at threshold {self.threshold:.4g}"

    def _grounds(self):
        if self.confidence_level is None:
            return "in expectation"
        return f"with confidence {self.confidence_level:g}"

    def _head(self):
        covers, holes = self._covers(), ""
        if self.n_unjudged:
            holes += (
                f" {self.n_unjudged} documents of these queries are unjudged, and count as not "
                "forbidden."
            )
        if self.n_machine:
            labels = counted(self.n_machine, "label")
            holes += (
                f" Machines gave {labels} of these queries: this holds for such labels, and not "
                "for those of people."
            )
        if not self.is_chosen:
            return "\n".join(map(self._verdict, self.promises.values())) + covers + holes
        grounds = self._grounds()
        parts = [
            f"{promise.rate()} is {'' if self.exact else 'approximately '}at most "
            f"{promise.max_risk:g}"
            for promise in self.promises.values()
        ]
        text = (
            f"{grounds[0].upper()}{grounds[1:]}, {', and '.join(parts)} on new queries, at "
            f"threshold {self.threshold:.4g}"
        )
        if len(parts) == 1:
            (promise,) = self.promises.values()
            text += (
                f": on {promise.n_queries} calibration queries it is {promise.observed:.4f}, with "
                f"an upper bound of {promise.upper_bound:.4f}"
            )
        condition = (
            " This holds if the model that gave the scores has not seen these queries."
            if self.assumes_unseen
            else ""
        )
        return f"{text}.{covers}{condition}{holes}"

    def _covers(self):
        """A sentence about the documents that the promises cover."""
        if self.max_shown is None:
            return ""
        covered = counted(self.max_shown, "document")
        if self.shows_more:
            return f" More may be shown, and it covers the first {covered} alone."
        return f" It covers lists that show at most {covered}."

    def _verdict(self, promise):
        said = {
            "kept": f"is at most {promise.max_risk:g}",
            "broken": f"is above {promise.max_risk:g}",
            "open": f"may be at most {promise.max_risk:g} or above",
        }[promise.verdict]
        grounds = self._grounds()
        return (
            f"{grounds[0].upper()}{grounds[1:]}, {promise.rate()} {said} at threshold "
            f"{self.threshold:.4g}: on {promise.n_queries} queries it is {promise.observed:.4f}, "
            f"between {promise.lower_bound:.4f} and {promise.upper_bound:.4f}."
        )


def rate_in_words(risk: str, k) -> str:
    """A rate as a sentence names it."""
    top = "list" if k is None or np.isnan(k) else f"top {k:g}"
    return _RATES.get(risk.partition("@")[0], risk).format(top=top)
