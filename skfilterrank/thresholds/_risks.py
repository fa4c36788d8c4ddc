"""Risks with their levels, and upper confidence bounds of a mean loss between 0 and 1."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import bdtr
from scipy.stats import beta

from skfilterrank._lists.checks import check_choice, check_share
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import MEASURES, Measure, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places_of_ties
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.thresholds._risk_steps import (
    Steps,
    has_judged,
    steps_of_function,
    steps_of_measure,
)

# Bets are best for losses whose variance is one of these shares of the largest at the level.
_VARIANCE_SHARES = np.array([1.0, 0.5, 0.25])
# Such shares times shares of the queries that are answered.
_ANSWERED_SHARES = np.array([1.0, 0.25, 1 / 16, 1 / 64])


class BinomialBound:
    """The Clopper-Pearson bound of losses that are 0 or 1.

    Losses that are equal to the level stand for queries that are not answered. They do not count,
    and the test is that of the others, given which these are. It never gets easier with a larger
    loss: one answer more, which loses, makes as many losses no less probable.

    Parameters
    ----------
    n_queries : int
        Number of independent losses.
    level : float
        Mean that is to be ruled out, between 0 and 1.
    confidence : float
        One minus the highest probability of ruling out a level that the mean reaches.
    answered : bool
        True if some losses may be equal to the level.
    """

    def __init__(self, n_queries, level, confidence, answered=False):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        self.answered = answered

    def rules_out(self, losses) -> bool:
        """Tell whether the losses rule out that the mean is the level or more."""
        n_answered, n_bad = self._count(losses)
        return bool(n_answered) and bdtr(n_bad, n_answered, self.level) <= allowed_error(
            self.confidence
        )

    def upper(self, losses, answered=None) -> float:
        """Return the smallest level that the losses rule out."""
        n_answered, n_bad = self._count(losses)
        if n_bad == n_answered:
            return 1.0
        return float(beta.ppf(self.confidence, n_bad + 1, n_answered - n_bad))

    def _count(self, losses):
        """Count the answered queries, and the bad ones among them."""
        if not self.answered:
            return self.n_queries, np.count_nonzero(losses)
        return np.count_nonzero(losses != self.level), np.count_nonzero(losses == 1.0)


class BettingBound:
    """The bound of Waudby-Smith and Ramdas for losses between 0 and 1.

    A capital of 1 is bet, loss by loss, on a mean below the level: each loss multiplies it by
    ``1 + bet * (level - loss)``. If the mean is not below, the expected capital does not grow, and
    the capital ever reaches ``1 / (1 - confidence)`` with a probability of at most one minus the
    confidence. It is spread over three bets, for losses of large, of medium and of small variance,
    which depend on the number of losses alone.

    Losses are taken in a shuffled order of a fixed seed, since the order of the ids may go with
    the losses. The capital never grows with a loss: if one vector of losses rules the level out,
    so does every vector of smaller losses. A loss that is equal to the level, as that of a query
    that is not answered, leaves the capital unchanged. Where there may be such losses, the bets
    are those for some shares of them.

    Parameters
    ----------
    n_queries, level, confidence, answered
        As for :class:`BinomialBound`.
    """

    def __init__(self, n_queries, level, confidence, answered=False):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        self._order = np.random.default_rng(0).permutation(n_queries)
        shares = _ANSWERED_SHARES if answered else _VARIANCE_SHARES
        variances = level * (1 - level) * shares
        self._bets = np.sqrt(
            -2 * np.log(allowed_error(confidence)) / (max(n_queries, 1) * variances)
        )

    def rules_out(self, losses) -> bool:
        """Tell whether the losses rule out that the mean is the level or more."""
        goal = -np.log(allowed_error(self.confidence))
        # Capital may be won on the way although the mean is above the level in the end.
        return bool(losses.sum() <= self.level * self.n_queries) and (
            self._log_capital(losses, self.level) >= goal
        )

    def upper(self, losses, answered=None) -> float:
        """Return the smallest level that the losses rule out, with the bets for this level.

        `answered` is the share of each unit that is answered; None means all.
        """
        goal = -np.log(allowed_error(self.confidence))
        answered = np.ones(len(losses)) if answered is None else answered
        # The part of each loss that another level does not change.
        own = losses - self.level * (1 - answered)

        def capital(level):
            return self._log_capital(own + level * (1 - answered), level)

        # At a level of 1 no bet can lose more than its stake.
        if capital(1.0) < goal:
            return 1.0
        upper = brentq(lambda level: capital(level) - goal, 0, 1)
        return max(float(upper), float(own.sum() / answered.sum()))

    def _log_capital(self, losses, level):
        """Return the logarithm of the largest capital on the way."""
        # A larger bet could lose more than its stake.
        bets = np.minimum(self._bets, 1 / (1 - level)) if level < 1 else self._bets
        with np.errstate(divide="ignore"):
            steps = np.log(np.maximum(1 + bets[:, None] * (level - losses[self._order]), 0.0))
        paths = np.cumsum(steps, axis=1)
        capitals = np.logaddexp.reduce(paths, axis=0) - np.log(len(bets))
        return float(np.max(capitals, initial=0.0))


class MeanBound:
    """The bound of conformal risk control: the mean loss if one more query lost everything.

    A rate that never falls from the safest threshold on, cut where this is at most the level, has
    an expectation of at most the level for a new query, over the draw of all of them.

    Parameters
    ----------
    n_queries, level, confidence, answered
        As for :class:`BinomialBound`; the confidence plays no part, and all queries are answered.
    """

    def __init__(self, n_queries, level, confidence=None, answered=False):
        self.n_queries, self.level = n_queries, level

    def rules_out(self, losses) -> bool:
        """Tell whether the level is kept in expectation."""
        return bool(losses.sum() + 1.0 <= self.level * (self.n_queries + 1) * (1 + 1e-12))

    def upper(self, losses, answered=None) -> float:
        """Return the smallest level that is kept."""
        return float(losses.sum() + 1.0) / (self.n_queries + 1)


def least_count(suffices, most=None) -> Any:
    """Find the smallest number that suffices, by doubling and halving; None if it is above most."""
    high = 1
    while not suffices(high):
        if high == most:
            return None
        high = 2 * high if most is None else min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def queries_needed(bound, level, confidence) -> int:
    """Return the smallest number of losses, all of them 0, that rules the level out."""
    return least_count(lambda n: bound(n, level, confidence).rules_out(np.zeros(n)))


def answers_needed(bound) -> int:
    """Return the smallest number of answers, all without a loss, that rules the level out."""
    every = np.arange(bound.n_queries)
    return least_count(lambda n: bound.rules_out(np.where(every < n, 0.0, bound.level)))


def allowed_error(confidence):
    """Return one minus the confidence, so that 1 - 0.9 is not rounded below 0.1."""
    return (1.0 - confidence) * (1 + 1e-12)


GUARANTEES = ("confidence", "expectation")
AMONG = ("all", "answered")
# Risks that depend on shown documents alone, and a risk that does not depend on labels.
_OF_SHOWN, _WITHOUT_LABELS = ("any_forbidden", "forbidden"), "empty_list_rate"
STILL_UNJUDGED = "documents that a risk depends on are unjudged"
# Number of rows that a warning names.
_N_NAMED = 5


class Promise(NamedTuple):
    """A risk, which is a measure or a function, its level, and if answered queries alone count."""

    rate: ParsedMeasure | Callable
    max_risk: float
    k: int | None
    answered: bool = False

    @property
    def name(self) -> str:
        """Name of the risk, with its cut-off."""
        if isinstance(self.rate, ParsedMeasure):
            return self.rate.text
        return getattr(self.rate, "__name__", type(self.rate).__name__)

    @property
    def cutoff(self) -> int | None:
        """Number of places that the risk depends on; None where all count."""
        has_cutoff = not isinstance(self.rate, ParsedMeasure) or self.rate.measure.takes_k
        return self.k if has_cutoff else None

    @property
    def is_of_empty(self) -> bool:
        """True if the risk is the share of empty lists."""
        return isinstance(self.rate, ParsedMeasure) and self.rate.measure.name == _WITHOUT_LABELS

    @property
    def looks_at_labels(self) -> bool:
        """True if a label can change the risk."""
        if not isinstance(self.rate, ParsedMeasure):
            return True
        measure = self.rate.measure
        return measure.name != "empty_list_rate" or measure.own_reading is not None

    def steps(
        self, lists: RankedLists, labels, keys=None, *, sets=None, levels=None, most=None
    ) -> Steps:
        """Compute the loss of each query at every threshold, or level of keys or of sets."""
        given = {"keys": keys, "sets": sets, "levels": levels, "most": most}
        if isinstance(self.rate, ParsedMeasure):
            return steps_of_measure(lists, self.rate, self.k, **given)
        return steps_of_function(self.rate, lists, labels, self.k, **given)


def read_promises(risks, among="all") -> list[Promise]:
    """Read risks with their levels, over all queries or among the answered ones."""
    check_choice(among, "among", AMONG)
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
        level = check_share(level, f"risks[{brief(rate)}]")
        promise = Promise(parsed, level, k)
        # No list of an answered query is empty.
        promises.append(promise._replace(answered=among == "answered" and not promise.is_of_empty))
    names = [promise.name for promise in promises]
    if len(set(names)) < len(names):
        raise InputError(f"risks names a risk twice: {', '.join(names)}.")
    return promises


def most_shown(promises, max_shown=None) -> int | None:
    """Return the length of the longest list of which each promise covers every document."""
    limits = [promise.cutoff for promise in promises] + [max_shown]
    return min((limit for limit in limits if limit is not None), default=None)


def find_unjudged(
    lists: RankedLists, promises, *, scores=None, most=None, above=-np.inf, names=None
) -> pd.DataFrame:
    """Find the unjudged documents that could change a risk, and warn of them.

    Parameters
    ----------
    lists : RankedLists
        The queries. Those without a judged document do not count.
    promises : list of Promise
        The risks with their levels.
    scores : ndarray or None
        Scores before documents behind a last place were hidden; None where none was.
    most : int or None
        Documents of a query that are shown at most.
    above : float
        A score below all thresholds: risks of shown documents do not depend on rows up to it.
    names : tuple of ndarray or None
        Query id and row number of each row, as the caller knows them.

    Returns
    -------
    DataFrame
        Columns "query" and "row".
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
            # A hidden good document counts, too.
            counts[:] = True
            continue
        could_be_shown = scores > (above if measure in _OF_SHOWN else -np.inf)
        last = most_shown([promise], most)
        counts |= could_be_shown if last is None else could_be_shown & (place < last)
    rows = np.flatnonzero(counts & has_judged(lists)[codes])
    rows = rows[np.lexsort((rows, place[rows], codes[rows]))]
    ids, numbers = (lists.index.query_ids[codes], np.arange(len(codes))) if names is None else names
    documents = pd.DataFrame({"query": ids[rows], "row": numbers[rows]})
    found = documents[np.isnan(lists.gains[rows])].drop_duplicates(ignore_index=True)
    if len(found):
        n_counted = len(documents.drop_duplicates())
        named = [
            f"query {brief(query)} row {row}" for query, row in found[:_N_NAMED].itertuples(False)
        ]
        more = ", ..." if len(found) > _N_NAMED else ""
        warn_user(
            f"{len(found):,} of the {n_counted:,} {STILL_UNJUDGED} ({', '.join(named)}{more}), so "
            "that the risks need not be kept for queries that are judged completely. Judge these "
            "documents, or give unjudged documents a forbidden label to be careful.",
            DataWarning,
        )
    return found


def check_guarantee(guarantee, confidence_level) -> float:
    """Return the confidence level as float; raise where there is no such guarantee."""
    check_choice(guarantee, "guarantee", GUARANTEES)
    return check_share(confidence_level, "confidence_level")


def kind_of_bound(steps: Steps, guarantee: str):
    """Choose the class of the bound that holds for such losses."""
    if guarantee == "expectation":
        return MeanBound
    return BinomialBound if steps.is_binary else BettingBound


def _parse(rate) -> ParsedMeasure:
    """Parse the name of a measure that can be a risk."""
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
    """Tell whether a measure lies between 0 and 1, and lower is better."""
    return not measure.greater_is_better and measure.value_range == (0.0, 1.0)
