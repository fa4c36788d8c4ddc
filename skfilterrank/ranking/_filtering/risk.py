"""A threshold with a guarantee: what the filter does wrong is rare on new queries, too."""

from dataclasses import dataclass, replace

import numpy as np

from skfilterrank._core.checks import check_choice, check_k, check_share
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.results import Result
from skfilterrank._core.same_value import first_of_highest
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.ranking._filtering.risk_bounds import BettingBound, BinomialBound, queries_needed
from skfilterrank.ranking._filtering.risk_steps import STEPS
from skfilterrank.ranking._filtering.threshold import (
    ThresholdCurve,
    measure_and_places,
    midpoint,
    utility_curve,
)


@dataclass(frozen=True, eq=False, repr=False)
class RiskCertificate(Result):
    """What is promised of a threshold, and on what grounds; its `str` is a sentence.

    Attributes
    ----------
    risk : str
        Name of the rate.
    max_risk : float
        Highest rate on new queries.
    confidence : float
        Probability, over the draw of the calibration queries, with which that is so.
    k : int or None
        Number of places of the returned list that count; None means all.
    threshold : float
        Of all certified thresholds the one with the highest `value`.
    value : float
        Mean of the measure over the calibration queries at the threshold.
    limit : float
        Where the certified thresholds end: those above it (forbidden documents) or up to it (false
        rejects). Infinite where all thresholds are certified, or nothing but the trivial one.
    n_queries : int
        Calibration queries that count for the rate.
    n_tried : int
        Distinct thresholds that were tested, from the safest on.
    observed : float
        Mean rate of the calibration queries at the threshold.
    upper_bound : float
        Upper confidence bound of the rate at the threshold, had it been fixed beforehand; never
        above `max_risk`, which is what holds for the chosen threshold.
    exact : bool
        Whether the promise holds exactly. False where the scores of the calibration queries come
        from other models than the one that is used.
    assumes_unseen : bool
        Whether the promise assumes what nothing here can check: that the estimator, which came
        fitted (``cv="prefit"``), has not seen the calibration queries.
    """

    risk: str
    max_risk: float
    confidence: float
    k: int | None
    threshold: float
    value: float
    limit: float
    n_queries: int
    n_tried: int
    observed: float
    upper_bound: float
    exact: bool = True
    assumes_unseen: bool = False

    def _table(self) -> None:
        return None

    def _summary(self):
        return (
            f"{self.risk} at most {self.max_risk:g} with confidence {self.confidence:g}, at "
            f"threshold {self.threshold:.4g}"
        )

    def _head(self):
        top = "list" if self.k is None else f"top {self.k}"
        rate = {
            "any_forbidden": f"the share of queries with a forbidden document in the shown {top}",
            "forbidden": f"the forbidden share of the shown {top}",
            "false_reject_rate": "the share of a query's good documents that is filtered",
        }[self.risk.partition("@")[0]]
        promise = "at most" if self.exact else "approximately at most"
        condition = (
            " This holds if the estimator has not seen these queries."
            if self.assumes_unseen
            else ""
        )
        return (
            f"With confidence {self.confidence:g}, {rate} is {promise} {self.max_risk:g} on new "
            f"queries, at threshold {self.threshold:.4g}: on {self.n_queries} calibration queries "
            f"it is {self.observed:.4f}, with an upper bound of {self.upper_bound:.4f}."
            f"{condition}"
        )


def risk_threshold(
    y_true,
    y_score,
    *,
    groups=None,
    risk: str,
    max_risk: float = 0.05,
    confidence: float = 0.9,
    k: int | None = None,
    gains=None,
    measure: str = "ndcg_f",
) -> RiskCertificate:
    """Choose the best threshold at which a rate on new queries is low, with a guarantee.

    Of repeated draws of calibration queries, at least the share `confidence` gives a threshold at
    which the rate, over all queries of the kind, is at most `max_risk`. Nothing is assumed of the
    model or of its scores.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row of the calibration queries, NaN where unjudged. A
        Series may carry the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better, by a model that has not seen these queries. Rows at
        -inf stay filtered at every threshold.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    risk : {"forbidden", "false_reject_rate", "any_forbidden"}
        The rate. "forbidden": the share of the shown top k that is forbidden, 0 where nothing is
        shown. "any_forbidden": the share of queries that show any forbidden document in the top k.
        "false_reject_rate": the share of a query's good documents that is filtered, over the
        queries that have any. "forbidden@3" and "any_forbidden@3" give the rate a cut-off of its
        own, apart from that of `measure`.
    max_risk : float, default=0.05
        Highest rate, between 0 and 1.
    confidence : float, default=0.9
        Probability of the guarantee, between 0 and 1.
    k : int or None, default=None
        Number of places of the returned list that count, for the risk and for the measure; None
        means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents, gains above 0 good ones.
    measure : {"ndcg_f", "ndcg_min", "ndcg", "dcg"}, default="ndcg_f"
        What decides among the certified thresholds; "ndcg_f@10" sets `k` too.

    Returns
    -------
    RiskCertificate
        The threshold, and what is promised of it.

    Raises
    ------
    ValueError
        If there are so few calibration queries that no rate could be certified even if none showed
        a failure (the message says how many are needed); if so much scores -inf that even keeping
        all else rejects too much; if a parameter is out of range.

    Warns
    -----
    FitWarning
        If nothing but the trivial threshold is certified: +inf, which shows no forbidden document
        because it shows none, or -inf, which filters nothing.

    See Also
    --------
    RankAndFilter : Uses it with ``threshold="risk"``.
    threshold_curve : The best threshold without a guarantee.

    Notes
    -----
    Learn then Test [1]_ with fixed-sequence testing, the query being the unit: queries are taken
    for independent draws from one distribution; their documents may depend on each other as they
    like. All real thresholds are tested in an order that is fixed beforehand, from the safest on
    (from +inf downwards for forbidden documents, from -inf upwards for false rejects), and the
    test stops at the first one at which "the rate is above `max_risk`" cannot be rejected. All
    before it are certified at once, so that the data may also choose among them.

    No grid of thresholds is chosen by looking at the data. A query's rate changes at the scores of
    its documents only, so that one test for each distinct calibration score is a test of every
    real number; none is left out. To certify a bad threshold, the test must pass all bad ones
    before it, of which the first, or ones that come as near to the first as one likes, are fixed
    by the distribution and falsely rejected with a probability of at most ``1 - confidence``. That
    needs no rate that falls or rises steadily, which the forbidden share of the shown does not: a
    good document that joins a list lowers it. Where it does not, a dip behind a hump is never
    reached, which is safe.

    The test is exact binomial (Clopper-Pearson) for "any_forbidden", and that of Waudby-Smith and
    Ramdas [2]_ for the others, whose losses lie between 0 and 1, with bets fixed beforehand and in
    a shuffled order of the sorted query ids (other ids may therefore give a slightly other
    threshold; other orders of rows do not). Both hold for any number of queries, not only for
    many.

    Tied documents count as in :func:`skfilterrank.metrics.forbidden_at_k`, with the mean over
    their orders, and in "any_forbidden" as if the forbidden ones came first. Unjudged documents
    are shown and not forbidden, and neither good; queries without any judged document are left
    out. The threshold lies in the middle between the lowest score to keep and the next lower one.

    References
    ----------
    .. [1] Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then Test: Calibrating Predictive
       Algorithms to Achieve Risk Control", Annals of Applied Statistics 19(2), 2025,
       https://arxiv.org/abs/2110.01052.
    .. [2] Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86(1), 2024, https://arxiv.org/abs/2010.09686.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import risk_threshold, threshold_curve
    >>> _, y, groups, scores = make_rank_and_filter(1000, random_state=0)
    >>> threshold_curve(y, scores, groups=groups, k=3).best_threshold < 0.02
    True
    >>> certificate = risk_threshold(
    ...     y, scores, groups=groups, risk="any_forbidden", max_risk=0.1, k=3
    ... )
    >>> 0.2 < certificate.threshold < 0.3
    True
    >>> print(certificate)
    With confidence 0.9, the share of queries with a forbidden document in the shown top 3 is ...
    """
    places = k
    parsed, k = measure_and_places(measure, k)
    check_risk(risk, max_risk, confidence, places)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    curve = utility_curve(lists, parsed)
    certificate = certify(curve, lists, risk=risk, max_risk=max_risk, confidence=confidence, k=k)
    if parsed.measure.greater_is_better:
        return certificate
    return replace(certificate, value=0.0 - certificate.value)


def check_risk(risk, max_risk, confidence, k) -> None:
    """Raise for parameters out of range; a cut-off in `risk` must not contradict `k`."""
    name, own = _split(risk)
    check_choice(name, "risk", tuple(STEPS))
    if own is not None and name == "false_reject_rate":
        raise InputError(f"risk={brief(risk)} has no cut-off: write 'false_reject_rate'.")
    if own is not None and check_k(k) not in (None, own):
        raise InputError(
            f"k={k} contradicts the cut-off of risk={brief(risk)}: give one of the two."
        )
    for name, value in (("max_risk", max_risk), ("confidence", confidence)):
        check_share(value, name)


def _split(risk):
    """Name of a risk such as "forbidden@3", and its cut-off, None where it gives none."""
    name, at, places = risk.partition("@") if isinstance(risk, str) else (risk, "", "")
    if not at:
        return name, None
    if not (places.isdecimal() and int(places) > 0):
        raise InputError(
            f"the cut-off in risk={brief(risk)} must be a positive whole number, such as "
            f"'{name}@10'."
        )
    return name, check_k(int(places))


def certify(
    curve: ThresholdCurve, lists: RankedLists, *, risk, max_risk, confidence, k
) -> RiskCertificate:
    """The best threshold of a curve, higher values being better, among the certified ones.

    Parameters
    ----------
    curve : ThresholdCurve
        Of the same rows.
    lists : RankedLists
        The calibration queries.
    risk, max_risk, confidence, k
        As in :func:`risk_threshold`.
    """
    max_risk, confidence = float(max_risk), float(confidence)
    name, own = _split(risk)
    k = k if own is None else own
    steps = STEPS[name](lists, k)
    make_bound = BinomialBound if name == "any_forbidden" else BettingBound
    bound = make_bound(steps.n_queries, max_risk, confidence)
    if not bound.rules_out(np.zeros(steps.n_queries)):
        _raise_too_few(make_bound, steps.n_queries, risk, max_risk, confidence)
    if not bound.rules_out(steps.start):
        raise InputError(
            f"risk={brief(risk)} cannot be kept at {max_risk:g}: scores of -inf filter "
            f"{steps.start.mean():.3g} of the good documents before any threshold does. Score "
            "these documents, or raise max_risk."
        )
    n_passed = _count_passed(steps, bound)
    is_upward = name == "false_reject_rate"
    if n_passed < len(steps.scores):
        limit = float(steps.scores[n_passed])
    else:
        limit = np.inf if is_upward else -np.inf
    threshold, value = _best_certified(curve, lists.scores, limit, is_upward)
    _warn_if_trivial(lists.scores, limit, is_upward, risk, max_risk, confidence)
    losses = steps.at(threshold, is_upward)
    return RiskCertificate(
        risk=risk,
        max_risk=max_risk,
        confidence=confidence,
        k=k,
        threshold=threshold,
        value=value,
        limit=limit,
        n_queries=steps.n_queries,
        n_tried=len(np.unique(steps.scores[: n_passed + 1])),
        observed=float(losses.mean()),
        upper_bound=min(bound.upper(losses), max_risk),
    )


def _count_passed(steps, bound):
    """Number of steps before the first that fails; steps at one score pass or fail together.

    As if each distinct score were tested: what passes for the largest loss that each query takes
    in a stretch of scores passes at every score of the stretch.
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


def _best_certified(curve, scores, limit, is_upward):
    """The certified threshold of the highest value; of equal ones, that which keeps most."""
    # The limit cuts the stretch it lies in, of which one side is certified.
    thresholds = np.union1d(curve.thresholds, limit)
    places = np.minimum(np.searchsorted(curve.thresholds, thresholds), len(curve.values) - 1)
    values = curve.values[places]
    certified = np.flatnonzero(thresholds <= limit if is_upward else thresholds > limit)
    value = values[certified]
    best = certified[first_of_highest(np.where(np.isnan(value), -np.inf, value))]
    lower = thresholds[:best].max(initial=-np.inf)
    threshold = midpoint(scores, lower) if lower > -np.inf else -np.inf
    return threshold, float(values[best])


def _raise_too_few(make_bound, n_queries, risk, max_risk, confidence):
    """Say how many queries the guarantee needs."""
    kind = "queries with a good document" if risk == "false_reject_rate" else "judged queries"
    text = (
        f"risk={brief(risk)} with max_risk={max_risk:g} and confidence={confidence:g} needs at "
        f"least {queries_needed(make_bound, max_risk, confidence)} calibration queries "
        f"({kind}), got {n_queries}"
    )
    if n_queries:
        none = make_bound(n_queries, max_risk, confidence).upper(np.zeros(n_queries))
        text += f": even if none of them shows a failure, the rate may be as high as {none:.3g}"
    raise InputError(f"{text}. Give more queries, raise max_risk or lower confidence.")


def _warn_if_trivial(scores, limit, is_upward, risk, max_risk, confidence):
    """Say that nothing but filtering all, or nothing, is certified."""
    shown = scores[scores > -np.inf]
    if np.isinf(limit) or (shown < limit if is_upward else shown > limit).any():
        return
    what, where = ("nothing", "-inf") if is_upward else ("everything", "+inf")
    warn_user(
        f"No threshold but {where} keeps risk={brief(risk)} at max_risk={max_risk:g} with "
        f"confidence={confidence:g}: {what} is filtered. Raise max_risk, or give more calibration "
        "queries or a better model.",
        FitWarning,
    )
