"""Tests of risks at every threshold, and the certificates that they make."""

import numpy as np

from skfilterrank._base.checks import check_level_scores, check_share, is_level
from skfilterrank._base.rounding import last_of_highest, midpoint
from skfilterrank._base.words import warn_user
from skfilterrank._lists.content import by_content, hash_scores
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import check_one_order
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.thresholds._certificate import RiskBound, RiskCertificate, make_certificate
from skfilterrank.thresholds._curves import ThresholdCurve
from skfilterrank.thresholds._judged_scores import (
    clusters_by_content,
    name_unit,
    number_clusters,
    warn_if_swapped,
)
from skfilterrank.thresholds._risk_steps import (
    CountedQueries,
    Steps,
    Units,
    last_of_start,
    start_at,
    warn_of_copies,
)
from skfilterrank.thresholds._risks import (
    answers_needed,
    find_unjudged,
    kind_of_bound,
    least_count,
    most_shown,
    read_risks,
)

# With among="answered", tests begin at a number of answered queries: the number needed without any
# failure times one of these factors, or this share of the queries if it lies between the two
# numbers. The first factor is for losses that are 0 or 1; betting bounds need more answers.
_STARTS = {True: (2, 1 / 8), False: (4, 1 / 4)}
# Share of the error that is spent on the bounds of the starting point, one half for each bound.
_START_SHARE = 0.1


class RiskTest:
    """The test of a risk at every threshold, for all units that count.

    Parameters
    ----------
    risk : Risk
        The risk and its level.
    raw : Steps
        Losses of queries at every threshold.
    units : Units
        The independent units.
    confidence : float
        Confidence of this test.
    sure : str
        Confidence of all tests together, in words.
    most : int or None
        Largest number of shown documents of a query.
    counted : CountedQueries or None
        The queries that count; None if all of them are judged.

    Attributes
    ----------
    lower, upper : float
        After `walk`: the risk is kept at thresholds above `lower` and up to `upper`.
    """

    # Share of the error that is not used by the tests.
    start_share = 0.0

    def __init__(self, risk, raw: Steps, units: Units, confidence, *, sure, most, counted=None):
        self.risk, self.raw, self.units, self.sure, self.most = risk, raw, units, sure, most
        self.steps = units.of_risk(raw, risk)
        self.error = 1.0 - confidence
        self.bound = self.bound_of(self.steps.n_queries)
        self.lower, self.upper = -np.inf, np.inf
        self.floor, self.n_left_out = -np.inf, 0
        if counted is not None:
            self.n_left_out = counted.n_left_out(risk)
            self.floor = counted.floor if risk.reads == "shown" else -np.inf

    def bound_of(self, n_units):
        """Return the bound for a number of units."""
        confidence = 1.0 - self.error * (1.0 - self.start_share)
        make, level = kind_of_bound(self.steps), self.risk.max_risk
        return make(n_units, level, confidence, answered=self.risk.answered)

    def walk(self) -> None:
        """Test thresholds from the safest one on, until one fails."""
        self._check_number()
        self._walk(self.steps)
        if not (self.raw.start.any() or self.raw.losses.any()):
            warn_user(
                f"The risk {brief(self.risk.name)} is 0 on all calibration queries at every "
                "threshold, so its certificate means little. If labels of forbidden documents are "
                "not below 0, map them by {gains=}.",
                FitWarning,
                argument="gains=",
            )

    def _walk(self, steps):
        """Test the steps from their start on."""
        if not self.bound.rules_out(steps.start):
            self._raise_impossible()
        n_passed = _count_passed(steps, self.bound)
        if n_passed < len(steps.scores):
            limit = float(steps.scores[n_passed])
            if steps.is_upward:
                self.upper = limit
            else:
                self.lower = limit
        # At levels up to the floor, all that lists show more is unjudged.
        self.lower = max(self.lower, self.floor)

    def found(self, threshold) -> RiskBound:
        """Return the estimate and the bound at a threshold."""
        losses = self.steps.at(threshold)
        answered = self.units.answered_of_risk(self.risk, self.raw.counted, threshold)
        return RiskBound.of(
            *(self.risk, losses, answered),
            lower=self.lower,
            upper=self.upper,
            n_left_out=self.n_left_out,
            upper_bound=min(self.bound.upper(losses, answered), self.risk.max_risk),
        )

    def units_needed(self) -> tuple[int, str]:
        """Return the least number of units that can pass, and which ones count."""
        kind = "judged queries"
        if self.risk.reads == "all":
            kind += f", but none where {self.risk.rate.measure.undefined}"
        return least_count(lambda n: self.bound_of(n).rules_out(np.zeros(n))), kind

    def _check_number(self):
        """Raise for too few units; the error names the number that is needed."""
        n_units, risk, units = self.steps.n_queries, self.risk, self.units
        if self.bound.rules_out(np.zeros(n_units)):
            return
        needed, kind = self.units_needed()
        kind = kind if units.name is None else f"{units.plural} with {kind}"
        text = (
            f"the risk {brief(risk.name)} at most {risk.max_risk:g} and {self.sure} needs at "
            f"least {needed} calibration {units.plural} ({kind}), got {n_units}"
        )
        if n_units:
            none = self.bound.upper(np.zeros(n_units))
            text += f": even if none of them shows a failure, the risk may be as high as {none:.3g}"
        raise InputError(
            f"{text}. Give more queries, raise the level or lower {{confidence_level}}.",
            argument=("confidence_level", self.sure.partition("}")[0].removeprefix("{")),
        )

    def _raise_impossible(self):
        """Raise if even the safest threshold does not keep the risk."""
        risk, steps = self.risk, self.steps
        where = "shows nothing"
        if steps.is_upward:
            where = "hides only documents with a score of -inf"
            if self.most is not None:
                where += f", and those after the first {self.most} of a query"
        raise InputError(
            f"the risk {brief(risk.name)} cannot be kept at {risk.max_risk:g}: it is "
            f"{steps.start.mean():.3g} on the calibration queries at the safest threshold, which "
            f"{where}. Raise its level or the cut-off of other risks, or use a better model."
        )

    def warn_if_trivial(self, scores) -> None:
        """Warn if the only certified threshold hides everything, or hides nothing."""
        shown = scores[scores > -np.inf]
        is_upward = self.upper < np.inf
        if np.isinf(self.lower) and np.isinf(self.upper):
            return
        if ((shown < self.upper) if is_upward else (shown > self.lower)).any():
            return
        what, where = ("nothing", "-inf") if is_upward else ("everything", "+inf")
        warn_user(
            f"No threshold but {where} keeps the risk {brief(self.risk.name)} at most "
            f"{self.risk.max_risk:g}: {what} is hidden. Raise its level, or give more "
            "calibration queries or a better model.",
            FitWarning,
        )


class AnsweredTest(RiskTest):
    """The test of a risk among answered queries, which are few at high thresholds.

    It begins where some units are answered, and certifies thresholds from a second place on; a part
    of the error is for the first place.
    """

    start_share = _START_SHARE

    def _walk(self, steps):
        highest = np.sort(self.units.levels(self.raw.counted))[::-1]
        n_first, n_last = self._numbers(self.bound)
        n_answered = int(np.count_nonzero(highest > -np.inf))
        first = float(highest[min(n_first, max(n_answered, 1)) - 1])
        if n_last > n_answered:
            self._raise_at(first, n_answered)
        self.upper = float(highest[n_last - 1])
        steps = start_at(steps, first)
        if not self.bound.rules_out(steps.start):
            self._raise_at(first)
        super()._walk(steps)
        if self.lower >= self.upper:
            self._raise_at(self.lower)

    def _numbers(self, bound) -> tuple[int, int]:
        """Return numbers of answers: at the first tested threshold, and the highest certified."""
        n_units, error = bound.n_queries, self.start_share * self.error
        least, (factor, share) = answers_needed(bound), _STARTS[self.steps.is_binary]
        n_first = max(least, min(factor * least, int(share * n_units)))
        return n_first, last_of_start(n_units, n_first, error)

    def units_needed(self) -> tuple[int, str]:
        """Return the number of units with which tests can begin if all are answered."""

        def suffices(n_units):
            bound = self.bound_of(n_units)
            return bound.rules_out(np.zeros(n_units)) and self._numbers(bound)[1] <= n_units

        return least_count(suffices), "judged queries that can be shown something"

    def warn_if_trivial(self, scores) -> None:
        """Do not warn: an error says that too little is answered."""

    def _raise_at(self, threshold, n_answered=None):
        """Raise if no number of answered queries suffices to certify the risk.

        `n_answered` is their number if there are too few of them for the first test.
        """
        risk, units, counts = self.risk, self.units, self.raw.counted
        answered = units.answered(counts, threshold)
        lost = units.mean(self.raw.at(threshold) * (units.answer_at[counts] >= threshold), counts)
        few = ""
        if n_answered is not None:
            few = f"only {n_answered} of {units.count(len(answered))} can be shown something, and "
        rate = lost.sum() / max(answered.sum(), 1e-300)
        where = units.count(int(np.count_nonzero(answered)))
        raise InputError(
            f"the risk {brief(risk.name)} at most {risk.max_risk:g} among answered queries "
            f"is certified at no threshold: {few}it is {rate:.3g} where the {where} with the "
            f"highest scores are shown something. Give more calibration {units.plural}, raise its "
            "level, or give a better model."
        )


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
    confidence_level = check_share(confidence_level, "confidence_level")
    risks = read_risks(risks, among)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    check_one_order(y_true=y_true, clusters=clusters)
    lists = lists.replace(scores=check_level_scores(y_score))
    warn_if_swapped(lists.gains, lists.scores)
    given = lists.index
    names = given.query_ids[given.codes()], np.arange(given.n_rows)
    # Hidden rows do not count, so that they may be left out of the scores.
    shown, judged = (lists.scores >= threshold) & (lists.scores > -np.inf), ~np.isnan(lists.gains)
    content = *(hash_scores(each, lists.scores) for each in (shown & judged, shown)), lists.gains
    index, order = by_content(given, *content)
    lists = lists.replace(index=index)
    numbers, unit = number_clusters(clusters, given), name_unit(clusters)
    numbers = clusters_by_content(numbers, given, *content)[order]
    units = Units.of(index, lists.scores, numbers, unit)
    found = CountedQueries.at(lists, units.answer_at, threshold)
    results = {}
    for risk in risks:
        raw = risk.steps(lists, counts=found.of(risk))
        if not raw.n_queries:
            raise InputError(
                f"no query counts for the risk {brief(risk.name)}: judge some queries."
            )
        steps = units.of_risk(raw, risk)
        answered = units.answered_of_risk(risk, raw.counted, threshold)
        counts = answered > 0
        if not counts.any():
            raise InputError(
                f"among='answered', but no query that counts for the risk {brief(risk.name)} "
                f"is shown anything at threshold {threshold:g}. Lower the threshold, or use "
                "among='all'."
            )
        # Given the set of answered units, their losses are independent draws.
        answered, losses, level = answered[counts], steps.at(threshold)[counts], risk.max_risk
        above, below = (
            kind_of_bound(steps)(len(losses), each, confidence_level, answered=risk.answered)
            for each in (level, 1.0 - level)
        )
        # The lower bound is one less the upper bound of the rest of each answered loss.
        own = losses - level * (1 - answered)
        others = (answered - own) + (1.0 - level) * (1 - answered)
        results[risk.name] = RiskBound.of(
            *(risk, losses, answered),
            lower=np.nan,
            upper=np.nan,
            n_left_out=found.n_left_out(risk),
            upper_bound=above.upper(losses, answered),
            lower_bound=1.0 - below.upper(others, answered),
        )
    found.warn(risks, units.answer_at)
    warn_of_copies(lists, numbers)
    below = np.nextafter(float(threshold), -np.inf)
    to_judge = find_unjudged(lists, risks, above=below, names=names)
    return make_certificate(
        *(results, units, lists, float(threshold)),
        confidence_level=confidence_level,
        to_judge=to_judge,
        max_shown=most_shown(risks),
        shown=(lists.scores >= threshold) & (lists.scores > -np.inf),
        is_chosen=False,
    )


def make_tests(
    risks, every, units: Units, confidence_level, most=None, counted=None
) -> list[RiskTest]:
    """Make the test of each risk, so that all of them together err as seldom as is allowed.

    Parameters
    ----------
    risks : list of Risk
        The risks with their levels.
    every : list of Steps
        Losses of queries for each risk, at all thresholds on the score or levels of other keys.
    units : Units
        The independent units.
    confidence_level : float
        As in :class:`CertifiedThreshold`.
    most : int or None
        Largest number of shown documents of a query.
    counted : CountedQueries or None
        The queries that count; None if all of them are judged.
    """
    # In one direction, an error needs a false test at the first threshold where some risk is too
    # high, and so a false test of that one risk. Hence the error is divided among the directions,
    # not among the risks. A risk whose safe end was chosen by its losses counts for both
    # directions.
    chosen = [steps.is_chosen for steps in every]
    n_tests = len({steps.is_upward for steps in every if not steps.is_chosen}) + 2 * sum(chosen)
    confidence, sure = confidence_level, f"{{confidence_level={confidence_level:g}}}"
    if n_tests > 1:
        confidence = 1.0 - (1.0 - confidence_level) / n_tests
        sure += f" over {n_tests} tests together"
    given = {"sure": sure, "most": most, "counted": counted}
    # A risk among answered queries begins at the first answers, unless everything is shown there.
    kinds = (
        AnsweredTest if risk.answered and not steps.is_upward else RiskTest
        for risk, steps in zip(risks, every)
    )
    return [
        kind(risk, steps, units, confidence, **given)
        for kind, risk, steps in zip(kinds, risks, every)
    ]


def certify(
    tests: list[RiskTest], curve: ThresholdCurve, rows, *, between=None
) -> tuple[float, float]:
    """Find the threshold of highest value inside the limits of all tests; return its value, too.

    Parameters
    ----------
    tests : list of RiskTest
        The tests of the risks.
    curve : ThresholdCurve
        Values of the same rows, higher is better.
    rows : ndarray of shape (n_rows,)
        Threshold up to which each row may be shown; -inf for none.
    between : ndarray of shape (n_rows,) or None
        Scores between which a threshold may lie; None means `rows`.
    """
    for test in tests:
        test.walk()
        test.warn_if_trivial(rows)
    lower, upper = max(test.lower for test in tests), min(test.upper for test in tests)
    if lower >= upper:
        _raise_contradiction(tests)
    return _best_certified(curve, rows if between is None else between, lower, upper)


def _best_certified(curve, scores, lower, upper):
    """Find the certified threshold with the highest value; among equal ones, the lowest."""
    # A limit may lie between two scores; only one side of it is certified.
    limits = [limit for limit in (lower, upper) if np.isfinite(limit)]
    thresholds = np.unique(np.append(curve.thresholds, limits))[::-1]
    values = curve.value_at(thresholds)
    certified = np.flatnonzero((thresholds > lower) & (thresholds <= upper))
    value = values[certified]
    best = certified[last_of_highest(np.where(np.isnan(value), -np.inf, value))]
    below = thresholds[best + 1 :].max(initial=-np.inf)
    threshold = midpoint(scores, below) if below > -np.inf else -np.inf
    return threshold, float(values[best])


def _raise_contradiction(tests):
    """Raise if no threshold keeps all risks; the error names two incompatible ones."""
    low = max(tests, key=lambda test: test.lower)
    high = min(tests, key=lambda test: test.upper)
    first, second = low.risk, high.risk
    raise InputError(
        f"no threshold keeps all risks: {first.name} at most {first.max_risk:g} needs one above "
        f"{low.lower:.4g}, {second.name} at most {second.max_risk:g} one of at most "
        f"{high.upper:.4g}. Raise the level of one of the two, or give more calibration queries or "
        "a better model."
    )
