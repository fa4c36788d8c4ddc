"""Tests of the risks of a threshold, which make certificates."""

import numpy as np

from skfilterrank._lists.checks import (
    check_level_scores,
    check_share,
    is_level,
    label_array,
)
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import check_one_order
from skfilterrank._lists.ties import first_of_highest, midpoint
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._certificate import RiskCertificate, RiskPromise
from skfilterrank.thresholds._counted import CountedQueries, warn_of_copies
from skfilterrank.thresholds._judged_scores import name_unit, number_clusters
from skfilterrank.thresholds._risk_steps import Units
from skfilterrank.thresholds._risk_test import RiskTest, make_test
from skfilterrank.thresholds._risks import (
    find_unjudged,
    kind_of_bound,
    most_shown,
    read_promises,
)
from skfilterrank.thresholds._threshold_curve import ThresholdCurve


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
    found = CountedQueries.at(lists, units.answer_at, threshold)
    results = {}
    for promise in promises:
        raw = promise.steps(lists, labels, counts=found.of(promise))
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
            n_left_out=found.n_left_out(promise),
            upper_bound=above.upper(losses, answered),
            lower_bound=1.0 - below.upper(others, answered),
        )
    found.warn(promises, units.answer_at)
    warn_of_copies(lists, numbers)
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


def make_tests(
    promises, every, units: Units, confidence_level, most=None, counted=None
) -> list[RiskTest]:
    """Make the test of each risk, so that all of them together err as seldom as is allowed.

    Parameters
    ----------
    promises : list of Promise
        The risks with their levels.
    every : list of Steps
        Losses of queries for each risk, at falling thresholds on the score or along another path.
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
    confidence, sure = confidence_level, f"confidence_level={confidence_level:g}"
    if n_tests > 1:
        confidence = 1.0 - (1.0 - confidence_level) / n_tests
        sure += f" over {n_tests} tests together"
    return [
        make_test(promise, steps, units, confidence, sure=sure, most=most, counted=counted)
        for promise, steps in zip(promises, every)
    ]


def certify(
    tests: list[RiskTest], curve: ThresholdCurve, rows, *, between=None
) -> tuple[float, float]:
    """Find the threshold of highest value inside the limits of all tests; return both.

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


def make_certificate(
    tests: list[RiskTest], units: Units, lists, confidence_level, found, to_judge, **more
) -> RiskCertificate:
    """Make the certificate of the threshold and value that :func:`certify` has found."""
    threshold, value = found
    return RiskCertificate(
        {test.promise.name: test.found(threshold) for test in tests},
        confidence_level,
        threshold,
        value,
        **more,
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


def _raise_contradiction(tests):
    """Raise if no threshold keeps all risks; the error names two incompatible ones."""
    low = max(tests, key=lambda test: test.lower)
    high = min(tests, key=lambda test: test.upper)
    first, second = low.promise, high.promise
    raise InputError(
        f"no threshold keeps all risks: {first.name} at most {first.max_risk:g} needs one above "
        f"{low.lower:.4g}, {second.name} at most {second.max_risk:g} one of at most "
        f"{high.upper:.4g}. Raise the level of one of the two, or give more calibration queries or "
        "a better model."
    )
