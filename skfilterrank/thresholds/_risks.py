"""Risks with their levels, upper confidence bounds of mean losses, and the queries they need."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import bdtr
from scipy.stats import beta, binom

from skfilterrank._base.checks import check_choice, check_flag, check_number, check_share
from skfilterrank._base.words import warn_user
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import MEASURES, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places_of_ties
from skfilterrank._lists.queries import first_rows
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.thresholds._risk_steps import Steps, has_judged, steps_of_measure

# Bets are tuned to these variances, as shares of the largest variance at the level.
_VARIANCE_SHARES = np.array([1.0, 0.5, 0.25])
# Shares of the variance, multiplied by shares of answered queries.
_ANSWERED_SHARES = np.array([1.0, 0.25, 1 / 16, 1 / 64])
# Difference of logarithms that rounding can make.
_ROUNDING = 1e-9
# Most queries that are tried for binomial tests, and for bets, whose power is drawn.
_MOST, _MOST_BETS = 100_000, 10_000
# Number of draws of a power, and of losses that are drawn and tested together.
_N_DRAWS, _CELLS = 400, 1 << 14
AMONG = ("all", "answered")
STILL_UNJUDGED = "documents that a risk depends on are unjudged"
# Number of rows that a warning names.
_N_NAMED = 5


class BinomialBound:
    """The Clopper-Pearson bound of losses that are 0 or 1.

    A loss equal to the level means that the query is not answered. Such queries do not count, and
    the test is conditional on the set of answered queries. A larger loss never helps to pass the
    test: an additional answer with loss 1 cannot make the p value smaller.

    Parameters
    ----------
    n_queries : int
        Number of independent losses.
    level : float
        Mean loss that is tested, between 0 and 1.
    confidence : float
        One minus the probability that a level is ruled out although the mean is at least the level.
    answered : bool
        True if some losses may be equal to the level.
    """

    def __init__(self, n_queries, level, confidence, answered=False):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        self.answered = answered

    def rules_out(self, losses):
        """Tell whether the losses rule out a mean of at least the level; or each of several."""
        n_answered, n_bad = self._count(losses)
        # Without any answer the probability is 1.
        return bdtr(n_bad, n_answered, self.level) <= allowed_error(self.confidence)

    def upper(self, losses, answered=None) -> float:
        """Return the smallest level that the losses rule out."""
        n_answered, n_bad = self._count(losses)
        if n_bad == n_answered:
            return 1.0
        return float(beta.ppf(self.confidence, n_bad + 1, n_answered - n_bad))

    def _count(self, losses):
        """Count the answered queries, and those of them with loss 1."""
        if not self.answered:
            return self.n_queries, np.count_nonzero(losses, axis=-1)
        is_answered, is_bad = losses != self.level, losses == 1.0
        return np.count_nonzero(is_answered, axis=-1), np.count_nonzero(is_bad, axis=-1)


class BettingBound:
    """The bound of Waudby-Smith and Ramdas for losses between 0 and 1.

    A capital of 1 is bet, loss by loss, on a mean below the level. Each loss multiplies the capital
    by ``1 + bet * (level - loss)``. If the mean is not below the level, the expected capital does
    not grow, and the capital ever reaches ``1 / (1 - confidence)`` with a probability of at most
    one minus the confidence. The capital is divided among three bets, for losses of large, medium
    and small variance. The bets depend only on the number of losses.

    Losses must come in a random order, as queries do that `by_content` numbers: losses may be
    correlated with the order of ids. The capital is a decreasing function of each loss: if some
    losses rule the level out, so do smaller losses. A loss equal to the level (a query that is not
    answered) leaves the capital unchanged. If there may be such losses, the bets are chosen for
    several shares of answered queries.

    Parameters
    ----------
    n_queries, level, confidence, answered
        As for :class:`BinomialBound`.
    """

    def __init__(self, n_queries, level, confidence, answered=False):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        self._goal = -np.log(allowed_error(confidence))
        shares = _ANSWERED_SHARES if answered else _VARIANCE_SHARES
        variances = level * (1 - level) * shares
        self._bets = np.sqrt(2 * self._goal / (max(n_queries, 1) * variances))

    def rules_out(self, losses):
        """Tell whether the losses rule out a mean of at least the level; or each of several."""
        # The capital may have been large in between, although the mean is above the level at the
        # end.
        is_below = losses.sum(axis=-1) <= self.level * self.n_queries
        return is_below & reaches(self._log_paths(losses, self.level), self._goal)

    def upper(self, losses, answered=None) -> float:
        """Return the smallest level that the losses rule out, with the bets for this level.

        `answered` is the share of each unit that is answered; None means all.
        """
        answered = np.ones(len(losses)) if answered is None else answered
        # The part of each loss that does not depend on the level.
        own = losses - self.level * (1 - answered)

        def capital(level):
            return self._log_capital(own + level * (1 - answered), level)

        # At level 1 no bet can lose more than its stake, so this capital is the largest possible.
        if capital(1.0) < self._goal:
            return 1.0
        upper = brentq(lambda level: capital(level) - self._goal, 0, 1)
        return max(float(upper), float(own.sum() / answered.sum()))

    def _log_capital(self, losses, level):
        return log_capital(self._log_paths(losses, level))

    def _log_paths(self, losses, level):
        """Return the logarithm of the capital of each bet, loss by loss."""
        # A larger bet could lose more than its stake.
        bets = np.minimum(self._bets, 1 / (1 - level)) if level < 1 else self._bets
        bets = np.expand_dims(bets, tuple(range(1, losses.ndim + 1)))
        with np.errstate(divide="ignore"):
            steps = np.log(np.maximum(1 + bets * (level - losses), 0.0))
        return np.cumsum(steps, axis=-1)


def log_capital(paths):
    """Return the logarithm of the largest mean capital on the way, from those of the bets."""
    capitals = np.logaddexp.reduce(paths, axis=0) - np.log(len(paths))
    return np.max(capitals, axis=-1, initial=0.0)


def reaches(paths, goal):
    """Tell whether the mean capital of the bets ever reaches a goal, for each row of losses."""
    # The mean lies between the largest capital and its share of all bets.
    highest = np.max(paths, axis=(0, -1), initial=0.0)
    found = np.asarray(highest - np.log(len(paths)) >= goal)
    is_open = ~found & (highest >= goal - _ROUNDING)
    if is_open.any():
        found[is_open] = log_capital(paths[:, is_open]) >= goal
    return found


def least_count(suffices, most=None) -> Any:
    """Find the smallest number that suffices, by bisection; None if it is above `most`."""
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


def answers_needed(bound) -> int:
    """Return the number of answers needed to rule the level out if none has a loss."""
    every = np.arange(bound.n_queries)
    return least_count(lambda n: bound.rules_out(np.where(every < n, 0.0, bound.level)))


def allowed_error(confidence):
    """Return one minus the confidence, so that 1 - 0.9 is not rounded below 0.1."""
    return (1.0 - confidence) * (1 + 1e-12)


def queries_needed(
    max_risk: float,
    expected_risk: float,
    *,
    confidence_level: float = 0.95,
    power: float = 0.8,
    is_binary: bool = True,
) -> int:
    """Compute how many queries people must judge to certify a risk, before the first label.

    Parameters
    ----------
    max_risk : float
        Level of the risk, between 0 and 1.
    expected_risk : float
        Expected risk at the threshold, below `max_risk`.
    confidence_level : float, default=0.95
        Confidence level of the certificate.
    power : float, default=0.8
        Probability of getting the certificate if only a threshold with the expected risk is tested.
    is_binary : bool, default=True
        True for a risk whose losses are 0 or 1, such as "any_forbidden@5", which gets binomial
        tests. False for others, such as "forbidden@5", and for risks of clusters, which get bets.
        Their losses are planned as 0 or 1, which have the largest variance there can be, so that
        fewer queries often do.

    Returns
    -------
    int
        Smallest number of queries at which the power is reached. Some larger numbers have a little
        less power, since counts are whole numbers.

    Raises
    ------
    ValueError
        If a share is out of range, the expected risk is not below the level, or more than 100,000
        queries would be needed (10,000 for bets).

    See Also
    --------
    CertifiedThreshold : Makes the certificate.

    Notes
    -----
    The power of the binomial test is exact. Powers of bets are shares of 400 draws of a fixed seed.

    Examples
    --------
    >>> from skfilterrank.thresholds import queries_needed
    >>> queries_needed(0.1, 0.06, confidence_level=0.9)
    210
    >>> queries_needed(0.1, 0.06, confidence_level=0.9, is_binary=False)
    375
    """
    level = check_share(max_risk, "max_risk")
    confidence = check_share(confidence_level, "confidence_level")
    goal = check_share(power, "power")
    if not 0 <= check_number(expected_risk, "expected_risk") < level:
        raise InputError(
            f"expected_risk must be at least 0 and below max_risk={level:g}, got {expected_risk}. "
            "A risk that is as high as its level cannot be certified."
        )
    check_flag(is_binary, "is_binary")
    given = level, confidence, expected_risk
    if is_binary:
        needed, most = None, _MOST
        # Power is no rising function of the number, so that all are tried; few often do.
        for sizes in (np.arange(1, 1001), np.arange(1001, most + 1)):
            is_enough = power_of_binomial_test(sizes, *given) >= goal
            if is_enough.any():
                needed = int(sizes[np.argmax(is_enough)])
                break
    else:
        most = _MOST_BETS
        needed = least_count(lambda n: _power_of_bets(n, *given) >= goal, most)
    if needed is None:
        raise InputError(
            f"more than {most:,} queries are needed for a risk of at most {level:g} that is "
            f"{expected_risk:g}: choose a higher max_risk, or lower confidence_level or power."
        )
    return needed


def power_of_binomial_test(n_queries, level, confidence, rate):
    """Compute the power of the binomial test; `n_queries` may be an array."""
    error = allowed_error(confidence)
    most = binom.ppf(error, n_queries, level)
    most = np.where(bdtr(most, n_queries, level) > error, most - 1, most)
    return np.where(most >= 0, bdtr(np.maximum(most, 0), n_queries, rate), 0.0)


def _power_of_bets(n_queries, level, confidence, rate):
    """Draw the power of bets on losses that are 0 or 1."""
    losses = (np.random.default_rng(0).random((_N_DRAWS, n_queries)) < rate).astype(np.float64)
    bound = BettingBound(n_queries, level, confidence)
    parts = np.array_split(losses, -(-losses.size // _CELLS))
    return float(np.concatenate([bound.rules_out(part) for part in parts]).mean())


class Risk(NamedTuple):
    """A measure that is a risk, its level, and whether only answered queries count."""

    rate: ParsedMeasure
    max_risk: float
    answered: bool = False

    @property
    def name(self) -> str:
        """Name of the risk, with its cut-off."""
        return self.rate.text

    @property
    def k(self) -> int | None:
        """Number of places that the risk depends on; None means all."""
        return self.rate.k

    @property
    def reads(self) -> str:
        """Labels that can change the risk: "none", those "shown", or "all"."""
        return self.rate.measure.reads

    def steps(self, lists: RankedLists, keys=None, *, most=None, counts=None) -> Steps:
        """Compute the loss of each query at every threshold, or at every level of keys.

        `counts` is a mask of the queries that count. None means those with a judged document, or
        all if the risk reads no label.
        """
        if counts is None:
            counts = has_judged(lists) | (self.reads == "none")
        return steps_of_measure(lists, self.rate, keys, most=most, counts=counts)


def read_risks(risks, among="all") -> list[Risk]:
    """Parse risks with their levels, over all queries or over the answered ones."""
    check_choice(among, "among", AMONG)
    if not isinstance(risks, Mapping) or not risks:
        raise InputError(
            "risks must be a dict of risks with their levels, such as "
            f"{{'any_forbidden@5': 0.1}}, got {brief(risks)}."
        )
    found = []
    for rate, level in risks.items():
        risk = Risk(_parse(rate), check_share(level, f"risks[{brief(rate)}]"))
        # A risk that reads no label is of what is shown: it always counts all queries.
        found.append(risk._replace(answered=among == "answered" and risk.reads != "none"))
    names = [risk.name for risk in found]
    if len(set(names)) < len(names):
        raise InputError(
            f"{{risks}} names a risk twice: {', '.join(names)}. Give each with one level.",
            argument="risks",
        )
    return found


def most_shown(risks, max_shown=None) -> int | None:
    """Return the largest list length at which all risks cover every document."""
    limits = [risk.k for risk in risks] + [max_shown]
    return min((limit for limit in limits if limit is not None), default=None)


def find_unjudged(
    lists: RankedLists, risks, *, scores=None, most=None, above=-np.inf, names=None, anywhere=False
) -> pd.DataFrame:
    """Find the unjudged documents that could change a risk, and warn of them.

    Parameters
    ----------
    lists : RankedLists
        The queries. Documents of those without any label are not named.
    risks : list of Risk
        The risks with their levels.
    scores : ndarray or None
        Scores before a cap hid documents; None if there was no cap.
    most : int or None
        Largest number of shown documents of a query.
    above : float
        A score below all thresholds: risks of shown documents do not depend on rows at or below it.
    names : tuple of ndarray or None
        Query id and row number of each row in the caller's data.
    anywhere : bool
        True if rows may enter anywhere in a list, so that places in the order of the scores are not
        places in the list.

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
    for risk in risks:
        if risk.reads == "none":
            continue
        if not risk.rate.measure.takes_k:
            # Such a risk also depends on hidden documents.
            counts[:] = True
            continue
        could_be_shown = scores > (above if risk.reads == "shown" else -np.inf)
        last = most_shown([] if anywhere else [risk], most)
        counts |= could_be_shown if last is None else could_be_shown & (place < last)
    rows = np.flatnonzero(counts & has_judged(lists)[codes])
    ids, numbers = (lists.index.query_ids[codes], np.arange(len(codes))) if names is None else names
    # Queries come in the order of the caller's rows.
    first = first_rows(codes, numbers)
    rows = rows[np.lexsort((numbers[rows], place[rows], first[codes[rows]]))]
    documents = pd.DataFrame({"query": ids[rows], "row": numbers[rows]})
    found = documents[np.isnan(lists.gains[rows])].drop_duplicates(ignore_index=True)
    if len(found):
        n_counted = len(documents.drop_duplicates())
        named = [
            f"query {brief(query)} {{row {row}}}"
            for query, row in found[:_N_NAMED].itertuples(False)
        ]
        more = ", ..." if len(found) > _N_NAMED else ""
        warn_user(
            f"{len(found):,} of the {n_counted:,} {STILL_UNJUDGED} ({', '.join(named)}{more}), so "
            "the certificate need not hold for queries that are judged completely. Judge these "
            "documents, or to be careful give them the worse label: a forbidden one, or for "
            "false_reject_rate a good one.",
            DataWarning,
            argument=[f"row {row}" for row in found["row"][:_N_NAMED]],
        )
    return found


def kind_of_bound(steps: Steps):
    """Return the class of bound for these losses."""
    return BinomialBound if steps.is_binary else BettingBound


def _parse(rate) -> ParsedMeasure:
    """Parse the name of a measure that can be a risk."""
    rates = [name for name, measure in MEASURES.items() if measure.is_rate]
    try:
        parsed = parse_measure(rate)
    except ValueError as error:
        name = str(rate).partition("@")[0].partition("(")[0]
        if isinstance(rate, str) and name in MEASURES and MEASURES[name].is_rate:
            raise InputError(f"{{risks}} names {brief(rate)}: {error}", argument="risks") from error
        parsed = None
    if parsed is None or not parsed.measure.is_rate:
        instead = "" if parsed is None else parsed.measure.as_limit
        names = ", ".join(map(repr, rates))
        raise InputError(
            f"{{risks}} must name {names}, or a measure that {{register_measure}} made with "
            f"value_range=(0, 1) and greater_is_better=False, got {brief(rate)}.{instead}",
            argument=("risks", "register_measure", "among='answered'"),
        )
    return parsed
