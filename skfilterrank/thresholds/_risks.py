"""Risks with their levels, and confidence bounds of a mean loss."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import beta, binom

from skfilterrank._core.checks import check_choice, check_share
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import MEASURES, ParsedMeasure
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.prefixes import places_of_ties
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.thresholds._risk_steps import (
    Steps,
    has_judged,
    steps_of_function,
    steps_of_measure,
)

# The bets of a betting bound are made for losses whose variance is this share of the largest that
# the level allows.
_VARIANCE_SHARES = np.array([1.0, 0.5, 0.25])


class BinomialBound:
    """Clopper-Pearson bound, for losses that are 0 or 1.

    Parameters
    ----------
    n_queries : int
        Number of independent losses.
    level : float
        The mean that is to be ruled out, between 0 and 1.
    confidence : float
        Probability with which a larger mean is ruled out falsely at most is one minus this.
    """

    def __init__(self, n_queries, level, confidence):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        counts = np.arange(n_queries + 1)
        self._n_allowed = np.count_nonzero(
            binom.cdf(counts, n_queries, level) <= _error(confidence)
        )

    def rules_out(self, losses) -> bool:
        """Whether the mean of these losses is below the level, with the confidence."""
        return np.count_nonzero(losses) < self._n_allowed

    def upper(self, losses) -> float:
        """The smallest level that these losses rule out."""
        n_bad = np.count_nonzero(losses)
        if n_bad == self.n_queries:
            return 1.0
        return float(beta.ppf(self.confidence, n_bad + 1, self.n_queries - n_bad))


class BettingBound:
    """Bound of Waudby-Smith and Ramdas, for losses between 0 and 1.

    Somebody bets, loss by loss, that the mean is below the level: from a capital of 1, each loss
    multiplies it by ``1 + bet * (level - loss)``. If the mean is not below, the capital can be
    expected not to grow, and reaches ``1 / (1 - confidence)`` at any time with a probability of at
    most one minus the confidence. The capital is spread over three bets, which are best for losses
    of large, of medium and of small variance; they depend on nothing but the number of losses.

    The losses are taken in a shuffled order of a fixed seed, so that ids which say something about
    their queries make no difference. Larger losses never make more capital: what rules the level
    out for the larger of two vectors of losses does so for the smaller.

    Parameters
    ----------
    n_queries, level, confidence
        As for :class:`BinomialBound`.
    """

    def __init__(self, n_queries, level, confidence):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        self._order = np.random.default_rng(0).permutation(n_queries)
        variances = level * (1 - level) * _VARIANCE_SHARES
        self._bets = np.sqrt(-2 * np.log(_error(confidence)) / (max(n_queries, 1) * variances))

    def rules_out(self, losses) -> bool:
        """Whether the mean of these losses is below the level, with the confidence."""
        goal = -np.log(_error(self.confidence))
        # Capital won on the way may be lost at the end: then the losses do not speak for less.
        return bool(losses.sum() <= self.level * self.n_queries) and (
            self._log_capital(losses, self.level) >= goal
        )

    def upper(self, losses) -> float:
        """The smallest level that these losses rule out, with the bets made for this one."""
        goal = -np.log(_error(self.confidence))
        # At a level of 1 no bet can lose more than it is worth.
        if self._log_capital(losses, 1.0) < goal:
            return 1.0
        upper = brentq(lambda level: self._log_capital(losses, level) - goal, 0, 1)
        return max(float(upper), float(losses.mean()))

    def _log_capital(self, losses, level):
        """Logarithm of the largest capital on the way."""
        # A bet beyond this one could lose more than there is.
        bets = np.minimum(self._bets, 1 / (1 - level)) if level < 1 else self._bets
        with np.errstate(divide="ignore"):
            steps = np.log(np.maximum(1 + bets[:, None] * (level - losses[self._order]), 0.0))
        paths = np.cumsum(steps, axis=1)
        capitals = np.logaddexp.reduce(paths, axis=0) - np.log(len(bets))
        return float(np.max(capitals, initial=0.0))


class MeanBound:
    """Bound of conformal risk control: the mean if one more query lost all there is to lose.

    A rate that never falls from the safest threshold on, cut where this is at most the level, has
    an expectation of at most the level for a new query, over the draw of all of them.

    Parameters
    ----------
    n_queries, level, confidence
        As for :class:`BinomialBound`; the confidence plays no part.
    """

    def __init__(self, n_queries, level, confidence=None):
        self.n_queries, self.level = n_queries, level

    def rules_out(self, losses) -> bool:
        """Whether the level is kept in expectation."""
        return bool(losses.sum() + 1.0 <= self.level * (self.n_queries + 1) * (1 + 1e-12))

    def upper(self, losses) -> float:
        """The smallest level that is kept."""
        return float(losses.sum() + 1.0) / (self.n_queries + 1)


def queries_needed(bound, level, confidence) -> int:
    """The fewest losses, all of them 0, that rule the level out."""

    def suffices(n):
        return bound(n, level, confidence).rules_out(np.zeros(n))

    high = 1
    while not suffices(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _error(confidence):
    """One minus the confidence, without the rounding of 0.1 to a little less."""
    return (1.0 - confidence) * (1 + 1e-12)


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
        is_function = callable(rate) and not isinstance(rate, type) and not hasattr(rate, "measure")
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
