"""What a threshold is to promise: which rates, up to which level, and how surely."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import check_choice, check_share
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import MEASURES, Measure, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places_of_ties
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.thresholds._bounds import BettingBound, BinomialBound, MeanBound
from skfilterrank.thresholds._risk_steps import (
    Steps,
    has_judged,
    steps_of_function,
    steps_of_measure,
)

GUARANTEES = ("confidence", "expectation")
# Rates of shown documents, to which a document under the threshold makes no difference, and a rate
# to which labels make none.
_OF_SHOWN, _WITHOUT_LABELS = ("any_forbidden", "forbidden"), "empty_list_rate"
STILL_UNJUDGED = "documents are unjudged although a rate depends on them"
# Rows that a warning names.
_N_NAMED = 5


class Promise(NamedTuple):
    """A rate, a measure or a function, and the level it is to stay below."""

    rate: ParsedMeasure | Callable
    max_risk: float
    k: int | None

    @property
    def name(self) -> str:
        """The rate by its name, with a cut-off of its own."""
        if isinstance(self.rate, ParsedMeasure):
            return self.rate.text
        return getattr(self.rate, "__name__", type(self.rate).__name__)

    @property
    def cutoff(self) -> int | None:
        """Number of places that the rate looks at; None where it looks at all."""
        has_cutoff = not isinstance(self.rate, ParsedMeasure) or self.rate.measure.takes_k
        return self.k if has_cutoff else None

    @property
    def looks_at_labels(self) -> bool:
        """Tell whether a label can change the rate."""
        if not isinstance(self.rate, ParsedMeasure):
            return True
        measure = self.rate.measure
        return measure.name != "empty_list_rate" or measure.own_reading is not None

    def steps(
        self, lists: RankedLists, labels, keys=None, *, sets=None, levels=None, most=None
    ) -> Steps:
        """The loss of each query at every threshold, or level of keys or of a path of sets."""
        given = {"keys": keys, "sets": sets, "levels": levels, "most": most}
        if isinstance(self.rate, ParsedMeasure):
            return steps_of_measure(lists, self.rate, self.k, **given)
        return steps_of_function(self.rate, lists, labels, self.k, **given)


def read_promises(risks) -> list[Promise]:
    """Read risks with their levels."""
    if not isinstance(risks, Mapping) or not risks:
        raise InputError(
            "risks must be a dict of risks with their levels, such as "
            f"{{'any_forbidden@5': 0.1}}, got {brief(risks)}."
        )
    promises = []
    for rate, level in risks.items():
        is_function = callable(rate) and not isinstance(rate, type | Measure | ParsedMeasure)
        parsed = rate if is_function else _parse(rate)
        k = None if is_function else parsed.k
        promises.append(Promise(parsed, check_share(level, f"risks[{brief(rate)}]"), k))
    names = [promise.name for promise in promises]
    if len(set(names)) < len(names):
        raise InputError(f"risks names a risk twice: {', '.join(names)}.")
    return promises


def most_shown(promises, max_shown=None) -> int | None:
    """Length of the longest list of which every document is covered by each promise."""
    limits = [promise.cutoff for promise in promises] + [max_shown]
    return min((limit for limit in limits if limit is not None), default=None)


def find_unjudged(
    lists: RankedLists, promises, *, scores=None, most=None, above=-np.inf, names=None
) -> pd.DataFrame:
    """Unjudged documents that could change a rate, by query and row number; warns of them.

    Parameters
    ----------
    lists : RankedLists
        The queries. Those without a judged document do not count.
    promises : list of Promise
        The rates.
    scores : ndarray or None
        Scores before anything was hidden behind a last place; None where nothing was.
    most : int or None
        Documents of a query that are shown at most.
    above : float
        No threshold is lower: rates of shown documents do not depend on documents at this score.
    names : tuple of ndarray or None
        Query id and row number of each row, as the user knows them.
    """
    if not lists.has_unjudged:
        return pd.DataFrame({"query": [], "row": np.empty(0, dtype=np.intp)})
    codes = lists.index.codes()
    scores = lists.scores if scores is None else scores
    place = places_of_ties(scores, lists.index)
    counts = np.zeros(len(codes), dtype=bool)
    for promise in promises:
        measure = promise.rate.measure.name if isinstance(promise.rate, ParsedMeasure) else None
        has_places = measure is None or promise.rate.measure.takes_k
        if measure == _WITHOUT_LABELS:
            continue
        if not has_places:
            # A hidden document is rejected, if it is good.
            counts[:] = True
            continue
        could_be_shown = scores > (above if measure in _OF_SHOWN else -np.inf)
        last = most_shown([promise], most)
        counts |= could_be_shown if last is None else could_be_shown & (place < last)
    counts &= np.isnan(lists.gains) & has_judged(lists)[codes]
    rows = np.flatnonzero(counts)
    rows = rows[np.lexsort((rows, place[rows], codes[rows]))]
    ids, numbers = (lists.index.query_ids[codes], np.arange(len(codes))) if names is None else names
    found = pd.DataFrame({"query": ids[rows], "row": numbers[rows]}).drop_duplicates(
        ignore_index=True
    )
    if len(found):
        named = [
            f"query {brief(query)} row {row}" for query, row in found[:_N_NAMED].itertuples(False)
        ]
        more = ", ..." if len(found) > _N_NAMED else ""
        warn_user(
            f"{len(found)} of {len(codes)} {STILL_UNJUDGED} ({', '.join(named)}{more}), so "
            "that the rates need not hold for queries that are judged completely. Judge these "
            "documents, or give unjudged documents a forbidden label to be careful.",
            DataWarning,
        )
    return found


def check_guarantee(guarantee, confidence_level) -> float:
    """Return the confidence level as float; raise where there is no such guarantee."""
    check_choice(guarantee, "guarantee", GUARANTEES)
    return check_share(confidence_level, "confidence_level")


def kind_of_bound(steps: Steps, guarantee: str):
    """The bound that holds for such losses."""
    if guarantee == "expectation":
        return MeanBound
    return BinomialBound if steps.is_binary else BettingBound


def _parse(rate) -> ParsedMeasure:
    """A measure that can be a rate."""
    rates = [name for name, measure in MEASURES.items() if _is_rate(measure)]
    try:
        parsed = parse_measure(rate)
    except ValueError as error:
        name = str(rate).partition("@")[0].partition("(")[0]
        if isinstance(rate, str) and name in MEASURES and _is_rate(MEASURES[name]):
            raise InputError(f"risks names {brief(rate)}: {error}") from error
        parsed = None
    if parsed is None or not _is_rate(parsed.measure):
        raise InputError(
            f"risks must name {', '.join(map(repr, rates))} or functions, got {brief(rate)}."
        )
    return parsed


def _is_rate(measure) -> bool:
    """Whether a measure lies between 0 and 1, and lower is better."""
    return not measure.greater_is_better and measure.value_range == (0.0, 1.0)
