"""Tests of the risks of a threshold, which make certificates."""

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import (
    check_level_scores,
    check_share,
    is_level,
    label_array,
)
from skfilterrank._lists.content import by_content, hash_scores
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import check_one_order
from skfilterrank._lists.ties import last_of_highest, midpoint
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._certificate import RiskBound, RiskCertificate
from skfilterrank.thresholds._conditions import (
    USUAL,
    about_bets,
    about_data,
    about_hidden,
    about_labels,
    about_length,
    about_rule,
    about_shown,
)
from skfilterrank.thresholds._counted import CountedQueries, warn_of_copies
from skfilterrank.thresholds._judged_scores import clusters_by_content, name_unit, number_clusters
from skfilterrank.thresholds._risk_steps import Units
from skfilterrank.thresholds._risk_test import RiskTest, make_test
from skfilterrank.thresholds._risks import (
    find_unjudged,
    kind_of_bound,
    most_shown,
    read_risks,
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
    risks = read_risks(risks, among)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    check_one_order(y_true=y_true, clusters=clusters)
    lists = lists.replace(scores=check_level_scores(y_score))
    labels, given = label_array(y_true), lists.index
    names = given.query_ids[given.codes()], np.arange(given.n_rows)
    # Hidden rows do not count, so that they may be left out of the scores.
    shown, judged = (lists.scores >= threshold) & (lists.scores > -np.inf), ~np.isnan(lists.gains)
    content = *(hash_scores(each, lists.scores) for each in (shown & judged, shown)), lists.gains
    index, keys = by_content(given, *content)
    lists = lists.replace(index=index)
    numbers, unit = number_clusters(clusters, given), name_unit(clusters)
    numbers = clusters_by_content(numbers, given, *content)[np.argsort(keys)]
    units = Units.of(index, lists.scores, None if unit is None else numbers, unit)
    found = CountedQueries.at(lists, units.answer_at, threshold)
    results = {}
    for risk in risks:
        raw = risk.steps(lists, labels, counts=found.of(risk))
        if not raw.n_queries:
            raise InputError(
                f"no query counts for the risk {brief(risk.name)}: judge some queries."
            )
        steps = units.of_risk(raw, risk)
        make, level = kind_of_bound(steps), risk.max_risk
        answered = np.ones(steps.n_queries)
        if risk.answered:
            answered = units.answered(raw.counted, threshold)
        counts = answered > 0
        if not counts.any():
            raise InputError(
                f"among='answered', but no query that counts for the risk {brief(risk.name)} "
                f"is shown anything at threshold {threshold:g}. Lower the threshold, or use "
                "among='all'."
            )
        # Given the set of answered units, their losses are independent draws.
        answered, losses = answered[counts], steps.at(threshold)[counts]
        own = losses - level * (1 - answered)
        n_units = len(own)
        others = (answered - own) + (1.0 - level) * (1 - answered)
        above, below = (
            make(n_units, each, confidence_level, answered=risk.answered)
            for each in (level, 1.0 - level)
        )
        results[risk.name] = RiskBound.of(
            risk,
            lower=np.nan,
            upper=np.nan,
            n_queries=n_units,
            observed=float(own.sum() / answered.sum()),
            n_left_out=found.n_left_out(risk),
            upper_bound=above.upper(losses, answered),
            lower_bound=1.0 - below.upper(others, answered),
        )
    found.warn(risks, units.answer_at)
    warn_of_copies(lists, numbers)
    below = np.nextafter(float(threshold), -np.inf)
    to_judge = find_unjudged(lists, risks, above=below, names=names)
    shown = (lists.scores >= threshold) & (lists.scores > -np.inf)
    n_shown = np.bincount(lists.index.codes(), shown, lists.index.n_queries)
    covered = most_shown(risks)
    return make_certificate(
        *(results, units, lists, confidence_level, (float(threshold), np.nan), to_judge),
        max_shown=covered,
        shows_more=covered is not None and bool(n_shown.max() > covered),
        is_chosen=False,
    ).with_conditions(about_hidden(shown))


def make_tests(
    risks, every, units: Units, confidence_level, most=None, counted=None
) -> list[RiskTest]:
    """Make the test of each risk, so that all of them together err as seldom as is allowed.

    Parameters
    ----------
    risks : list of Risk
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
        make_test(risk, steps, units, confidence, sure=sure, most=most, counted=counted)
        for risk, steps in zip(risks, every)
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
    risks: dict[str, RiskBound],
    units: Units,
    lists: RankedLists,
    confidence_level: float,
    found: tuple[float, float],
    to_judge: pd.DataFrame,
    *,
    max_shown: int | None,
    shows_more: bool = False,
    is_chosen: bool = True,
    rule: str | None = None,
    n_apart: int = 0,
) -> RiskCertificate:
    """Make the certificate of a threshold and of the value that was found there.

    `to_judge` is the table of :func:`find_unjudged`.
    """
    threshold, value = found
    conditions = (
        *about_data(lists, units),
        *about_shown(units, threshold, confidence_level),
        about_length(max_shown, shows_more),
        *about_rule(rule, threshold, n_apart),
        about_bets(risks),
        *about_labels(risks, lists, to_judge),
        *USUAL,
    )
    unjudged = {str(name): column.to_numpy() for name, column in to_judge.items()}
    given = (risks, confidence_level, threshold, value, is_chosen)
    return RiskCertificate(*given, conditions, unjudged)


def _best_certified(curve, scores, lower, upper):
    """Find the certified threshold with the highest value; among equal ones, the lowest."""
    # A limit may lie between two scores; only one side of it is certified.
    limits = [limit for limit in (lower, upper) if np.isfinite(limit)]
    falling = np.unique(-np.append(curve.thresholds, limits))
    thresholds = -falling
    values = curve.values[np.searchsorted(-curve.thresholds, falling, side="right") - 1]
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
