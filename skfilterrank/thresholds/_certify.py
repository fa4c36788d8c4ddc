"""Tests of the risks of a threshold, which make certificates."""

from functools import partial

import numpy as np

from skfilterrank._lists.checks import (
    check_level_scores,
    check_share,
    is_level,
    label_array,
)
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import check_one_order
from skfilterrank._lists.results import counted
from skfilterrank._lists.ties import first_of_highest, midpoint
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.thresholds._certificate import RiskCertificate, RiskPromise
from skfilterrank.thresholds._judged_scores import name_unit, number_clusters
from skfilterrank.thresholds._risk_steps import (
    START_SHARE,
    Units,
    last_of_start,
    start_at,
)
from skfilterrank.thresholds._risks import (
    answers_needed,
    find_unjudged,
    kind_of_bound,
    least_count,
    most_shown,
    queries_needed,
    read_promises,
)
from skfilterrank.thresholds._threshold_curve import ThresholdCurve

# With among="answered", tests begin at a number of answered queries: the number needed without any
# failure times one of these factors, or this share of the queries if it lies between the two
# numbers. The first factor is for losses that are 0 or 1; betting bounds need more answers.
_STARTS = {True: (2, 1 / 8), False: (4, 1 / 4)}


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
    promises = read_promises(risks, among)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    check_one_order(y_true=y_true, clusters=clusters)
    lists.scores = check_level_scores(y_score)
    labels, given = label_array(y_true), lists.index
    names = given.query_ids[given.codes()], np.arange(given.n_rows)
    lists.index, _ = given.by_number()
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
        make, level = kind_of_bound(steps), promise.max_risk
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
    below = np.nextafter(float(threshold), -np.inf)
    to_judge = find_unjudged(lists, promises, above=below, names=names)
    return RiskCertificate(
        results,
        confidence_level,
        float(threshold),
        is_chosen=False,
        max_shown=covered,
        shows_more=covered is not None and bool(n_shown.max() > covered),
        share_hidden=1.0 - float(shown.mean()),
        **_about(units, lists, threshold, confidence_level, to_judge),
    )


def certify(
    curve: ThresholdCurve,
    lists: RankedLists,
    promises,
    every,
    *,
    confidence_level,
    between=None,
    scores=None,
    most=None,
    names=None,
    keys=None,
    clusters=None,
    unit=None,
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
    confidence_level
        As in :class:`CertifiedThreshold`.
    between : ndarray of shape (n_rows,) or None
        Scores between which a threshold may lie; None means the scores of the lists.
    scores, most, names
        As in :func:`find_unjudged`.
    keys : ndarray of shape (n_rows,) or None
        Level of another path below which a row may be shown; None for the path of the scores.
    clusters, unit
        As in :class:`Units`.
    """
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
    tested = []
    for promise, own, raw in zip(promises, every, every_query):
        steps, make = own, kind_of_bound(own)
        has_start = promise.answered and not steps.is_upward
        # A part of the error is used for the place where the tests begin.
        tests_at = 1.0 - (1.0 - each_confidence) * (1.0 - START_SHARE * has_start)
        bound = make(steps.n_queries, promise.max_risk, tests_at, answered=promise.answered)
        start = None
        if has_start:
            start = _Start(make, promise, each_confidence, steps.is_binary)
        if not bound.rules_out(np.zeros(steps.n_queries)):
            make = partial(make, answered=promise.answered)
            sure = f" and confidence_level={confidence_level:g}"
            sure += f" over {n_tests} tests together" * (n_tests > 1)
            _raise_too_few(make, steps, promise, tests_at, sure, units, start)
        lower, upper, first = -np.inf, np.inf, None
        if start is not None:
            highest = np.sort(units.levels(raw.counted))[::-1]
            n_first, n_last = start.numbers(bound)
            n_answered = int(np.count_nonzero(highest > -np.inf))
            first = float(highest[min(n_first, max(n_answered, 1)) - 1])
            if n_last > n_answered:
                _raise_not_among_answered(promise, units, raw, first, n_answered)
            upper = float(highest[n_last - 1])
            steps = start_at(steps, first)
        if not bound.rules_out(steps.start):
            if has_start:
                _raise_not_among_answered(promise, units, raw, first)
            _raise_impossible(steps, promise, most)
        n_passed = _count_passed(steps, bound)
        if n_passed < len(steps.scores):
            limit = float(steps.scores[n_passed])
            lower, upper = (-np.inf, limit) if steps.is_upward else (limit, upper)
        if has_start and lower >= upper:
            _raise_not_among_answered(promise, units, raw, lower)
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
    threshold, value = _best_certified(curve, between, lower, upper)
    results = {}
    for (promise, own, steps, bound, n_passed, lower, upper), raw in zip(tested, every_query):
        answered, losses, n_queries = None, own.at(threshold), own.n_queries
        observed = float(losses.mean())
        if promise.answered:
            answered = units.answered(raw.counted, threshold)
            n_queries = int(np.count_nonzero(answered))
            own_losses = losses - promise.max_risk * (1 - answered)
            observed = float(own_losses.sum() / max(answered.sum(), 1e-300))
        upper_bound = bound.upper(steps.at(threshold), answered)
        results[promise.name] = RiskPromise.of(
            promise,
            lower=lower,
            upper=upper,
            n_queries=n_queries,
            n_tried=len(np.unique(steps.scores[: n_passed + 1])),
            observed=observed,
            upper_bound=min(upper_bound, promise.max_risk),
        )
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
        confidence_level,
        threshold,
        value,
        max_shown=covered,
        **_about(units, lists, threshold, confidence_level, to_judge),
    )


def _about(units, lists, threshold, confidence, to_judge) -> dict:
    """Describe the calibration queries, and the share of answered queries."""
    every = np.arange(lists.index.n_queries)
    names = ("share_answered", "share_answered_lower", "share_answered_upper")
    shares = units.share_answered(threshold, confidence)
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


def _best_certified(curve, scores, lower, upper):
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
    kind = kind if units.name is None else f"{units.plural} with {kind}"
    text = (
        f"the risk {brief(promise.name)} at most {promise.max_risk:g}{sure} needs at "
        f"least {needed} calibration {units.plural} ({kind}), got {steps.n_queries}"
    )
    if steps.n_queries:
        none = make(steps.n_queries, promise.max_risk, confidence).upper(np.zeros(steps.n_queries))
        text += f": even if none of them shows a failure, the risk may be as high as {none:.3g}"
    raise InputError(f"{text}. Give more queries, raise the level or lower confidence_level.")


def _raise_impossible(steps, promise, most):
    """Raise if even the safest threshold does not keep the risk."""
    what = f"the risk {brief(promise.name)} cannot be kept at {promise.max_risk:g}"
    mean = f"{steps.start.mean():.3g}"
    if promise.name == "false_reject_rate" and most is not None:
        raise InputError(
            f"{what}: showing at most {counted(most, 'document')} of each query hides {mean} of "
            "the good documents at every threshold. Raise its level or the cut-off of the other "
            "risks."
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


def _raise_not_among_answered(promise, units, raw, threshold, n_answered=None):
    """Raise if no number of answered queries suffices to certify the risk.

    `n_answered` is their number if there are too few of them for the first test. `raw` are the
    losses of queries.
    """
    what = f"the risk {brief(promise.name)} at most {promise.max_risk:g} among answered queries is "
    what += "certified at no threshold"
    answered = units.answered(raw.counted, threshold)
    lost = units.mean(raw.at(threshold) * (units.answer_at[raw.counted] >= threshold), raw.counted)
    few = ""
    if n_answered is not None:
        few = f"only {n_answered} of {units.count(len(answered))} can be shown something, and "
    rate = lost.sum() / max(answered.sum(), 1e-300)
    where = units.count(int(np.count_nonzero(answered)))
    raise InputError(
        f"{what}: {few}it is {rate:.3g} where the {where} with the highest scores are shown "
        f"something. Give more calibration {units.plural}, raise its level, or give a better model."
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
