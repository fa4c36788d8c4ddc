"""A threshold with a guarantee: what the filter does wrong is rare on new queries, too."""

from dataclasses import replace

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from skfilterrank._core.arrays import as_column, label_array
from skfilterrank._core.checks import check_flag, check_k, is_level
from skfilterrank._core.judges import is_of_machine
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.midpoint import midpoint
from skfilterrank._core.results import counted
from skfilterrank._core.same_value import first_of_highest
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.thresholds._certificate import RiskCertificate, RiskPromise
from skfilterrank._core.prefixes import ends_behind, shown_at_most
from skfilterrank.thresholds._risks import (
    check_guarantee,
    find_unjudged,
    kind_of_bound,
    most_shown,
    read_promises,
)
from skfilterrank.thresholds._bounds import queries_needed
from skfilterrank.thresholds._threshold_curve import (
    ThresholdCurve,
    measure_and_places,
    utility_curve,
    warn_without_good,
)


def risk_threshold(
    y_true,
    y_score,
    *,
    groups=None,
    risk,
    max_risk: float = 0.05,
    confidence: float = 0.9,
    guarantee: str = "confidence",
    k: int | None = None,
    gains=None,
    measure: str = "ndcg_f",
    show_beyond_k: bool = False,
    judged_by=None,
) -> RiskCertificate:
    """Choose the best threshold at which rates on new queries are low, with a guarantee.

    Of repeated draws of calibration queries, at least the share `confidence` gives a threshold at
    which every rate, over all queries of the kind, is at most its level. Nothing is assumed of the
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
    risk : str, callable or dict
        The rate: a measure between 0 and 1 of which lower is better. "forbidden": the share of the
        shown top k that is forbidden, 0 where nothing is shown. "any_forbidden": the share of
        queries that show any forbidden document in the top k. "false_reject_rate": the share of a
        query's good documents that is filtered, over the queries that have any. "empty_list_rate":
        the share of queries that are shown nothing. "forbidden@3" and "any_forbidden@3" give the
        rate a cut-off of its own, apart from that of `measure`.

        A function ``loss(y_true, shown, groups)`` is the mean of one loss per query, between 0 and
        1. `y_true` holds labels, `shown` says which rows are shown (in the top k), and `groups`
        numbers their queries from 0 in ascending order; losses come in the order of these numbers,
        NaN (whatever is shown) where a query does not count. A query's loss must depend on its own
        rows alone. Losses of dtype bool get the exact binomial test. Of documents with equal scores
        those of the lowest gain count as shown first: give `gains` that are lowest for what the
        function counts as worst, or the order of rows may break the promise.

        A dict of rates with their levels promises them all at once, such as
        ``{"any_forbidden": 0.1, "false_reject_rate": 0.3}``.
    max_risk : float, default=0.05
        Highest rate, between 0 and 1, where `risk` is one rate.
    confidence : float, default=0.9
        Probability with which all rates are kept, between 0 and 1.
    guarantee : {"confidence", "expectation"}, default="confidence"
        "expectation" keeps the mean of each rate over repeated draws of the calibration queries:
        at most the level, though half of the draws may be above it. That takes fewer queries and
        filters less; `confidence` plays no part.
    k : int or None, default=None
        Number of places of the returned list that count, for the risk and for the measure; None
        means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents, gains above 0 good ones.
    measure : {"ndcg_f", "ndcg_min", "ndcg", "dcg"}, default="ndcg_f"
        What decides among the certified thresholds; "ndcg_f@10" sets `k` too.
    show_beyond_k : bool, default=False
        Whether more documents of a query are shown than the cut-offs of the rates cover. False
        promises the rates of lists that show at most as many documents as the smallest cut-off
        says: what stands behind them is hidden, and counts as filtered.
    judged_by : array-like of shape (n_rows,), default=None
        Who gave each label, as the column "judged_by" of judgments has it: "people", or the name of
        a machine. The certificate states how many labels are of machines.

    Returns
    -------
    RiskCertificate
        The threshold, and what is promised of it.

    Raises
    ------
    ValueError
        If there are so few calibration queries that no rate could be certified even if none showed
        a failure (the message says how many are needed); if a rate is too high even at its safest
        threshold; if no threshold keeps all rates (the message says which bind); if a function
        leaves [0, 1] or looks at other queries; if a parameter is out of range.

    Warns
    -----
    FitWarning
        If nothing but the trivial threshold is certified: +inf, which shows no forbidden document
        because it shows none, or -inf, which filters nothing; or if a rate is 0 on all calibration
        queries whatever is shown, as where no gain is below 0.

    See Also
    --------
    RankAndFilter : Uses it with ``threshold="risk"``.
    threshold_curve : The best threshold without a guarantee.
    risk_certificate : What can be promised of a threshold that is fixed.

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

    Of several rates, those that are safe at the same end are tested together: the first threshold
    that is bad is bad for one of them, whose test alone must err, so that each is tested with the
    whole error. Rates that are safe at opposite ends, as forbidden documents and false rejects
    are, get half of it each. So does each end of a function that is lower for some queries where
    nothing is shown and for others where everything is: the test begins where its mean is lower,
    which the data choose.

    In expectation, each rate is controlled as in [3]_: the threshold lies where the mean loss
    would still be at most the level if one more query lost everything. A loss counts as its
    largest value from the safest threshold on, so that it need not be monotone; the same end must
    be the safest for all queries, else it is an error.

    The test is exact binomial (Clopper-Pearson) for "any_forbidden", and that of Waudby-Smith and
    Ramdas [2]_ for the others, whose losses lie between 0 and 1, with bets fixed beforehand and in
    a shuffled order of the sorted query ids (other ids may therefore give a slightly other
    threshold; other orders of rows do not). Both hold for any number of queries, not only for
    many.

    Of tied documents those of the lowest gain count as shown first, at the cut-off of a rate and
    where a list ends: whatever order rows have, in calibration or later, the promise holds. That is
    true of a function only where documents of the lowest gain lose most.

    Where a rate has a cut-off, documents behind it are not covered. So what is promised is promised
    of lists of at most `max_shown` documents (an attribute of the certificate), the smallest
    cut-off of all rates. Each rate is tested on lists that end there. "false_reject_rate" and
    "empty_list_rate" have no cut-off, but a good document behind the last place that is shown
    counts as filtered. :class:`RankAndFilter` shows no more than that; with ``show_beyond_k=True``
    lists have no end, and the certificate says that the rates cover the first places alone.

    Unjudged documents count as shown, and as neither forbidden nor good. There is a warning, and
    `to_judge` lists them, where a label could change a rate: where they can stand among the first
    places above the lowest certified threshold, or be good and filtered. Queries without any judged
    document are left out. The threshold lies in the middle between the lowest score to keep and
    the next lower one.

    References
    ----------
    .. [1] Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then Test: Calibrating Predictive
       Algorithms to Achieve Risk Control", Annals of Applied Statistics 19(2), 2025,
       https://arxiv.org/abs/2110.01052.
    .. [2] Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86(1), 2024, https://arxiv.org/abs/2010.09686.
    .. [3] Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal Risk Control", ICLR 2024,
       https://arxiv.org/abs/2208.02814.

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

    Two promises at once, one of them a function: at least one good document in most lists.

    >>> import numpy as np
    >>> def nothing_good(y_true, shown, groups):
    ...     return np.bincount(groups, shown & (y_true > 0)) == 0
    >>> both = risk_threshold(
    ...     y, scores, groups=groups, risk={"any_forbidden": 0.15, nothing_good: 0.3}, k=3
    ... )
    >>> list(both.promises)
    ['any_forbidden', 'nothing_good']
    """
    parsed, k = measure_and_places(measure, k)
    promises = read_promises(risk, max_risk, k)
    check_flag(show_beyond_k, "show_beyond_k")
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    n_machine = int(np.count_nonzero(machine_labels(judged_by, lists.gains)))
    warn_without_good(lists.gains)
    scores = lists.scores
    most = None if show_beyond_k else most_shown(promises)
    whole, lists = lists, shown_at_most(lists, most)
    curve = utility_curve(whole if ends_behind(most, parsed) else lists, parsed)
    certificate = certify(
        curve,
        lists,
        risk=risk,
        max_risk=max_risk,
        confidence=confidence,
        guarantee=guarantee,
        k=k,
        labels=label_array(y_true),
        parsed=parsed,
        scores=scores,
        most=most,
    )
    certificate = replace(certificate, n_machine=n_machine)
    if parsed.measure.greater_is_better:
        return certificate
    return replace(certificate, value=0.0 - certificate.value)


def risk_certificate(
    y_true,
    y_score,
    threshold: float,
    *,
    groups=None,
    risk,
    max_risk: float = 0.05,
    confidence: float = 0.9,
    k: int | None = None,
    gains=None,
    judged_by=None,
) -> RiskCertificate:
    """Say of a threshold that is fixed already whether it keeps its promises on new queries.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row of queries by which the threshold was not chosen, NaN
        where unjudged. A Series may carry the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf where filtered, whatever the threshold.
    threshold : float
        Rows with ``score >= threshold`` are shown; -inf for scores that are filtered already, as
        those of :meth:`RankAndFilter.predict`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    risk, max_risk, k, gains, judged_by
        As in :func:`risk_threshold`. Rates with a cut-off cover the first places alone; where
        more documents of a query are shown, the certificate says so.
    confidence : float, default=0.9
        Probability with which each bound holds, between 0 and 1. That all upper bounds are at
        most their level is as sure: no share of the error is needed for that.

    Returns
    -------
    RiskCertificate
        Its promises are "kept" where the upper bound is at most `max_risk`, "broken" where the
        lower bound is above it, else "open": there are too few queries to tell.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no query counts for a rate.

    See Also
    --------
    risk_threshold : Chooses the threshold.
    RiskMonitor : Takes judged queries as they come.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import risk_certificate
    >>> _, y, groups, scores = make_rank_and_filter(1000, random_state=0)
    >>> print(risk_certificate(y, scores, 0.3, groups=groups, risk="any_forbidden", k=3))
    With confidence 0.9, the share of queries with a forbidden document in the shown top 3 is ...
    """
    if not is_level(threshold):
        raise InputError(f"threshold must be a number, got {brief(threshold)}.")
    confidence = check_guarantee("confidence", confidence)
    k = check_k(k)
    promises = read_promises(risk, max_risk, k)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    labels = label_array(y_true)
    results = {}
    for promise in promises:
        steps = promise.steps(lists, labels)
        if not steps.n_queries:
            raise InputError(f"no query counts for risk={brief(promise.name)}: judge some.")
        losses = steps.at(threshold)
        make = kind_of_bound(steps, "confidence")
        results[promise.name] = RiskPromise(
            risk=promise.name,
            max_risk=promise.max_risk,
            k=promise.k,
            lower=np.nan,
            upper=np.nan,
            n_queries=steps.n_queries,
            n_tried=1,
            observed=float(losses.mean()),
            upper_bound=make(steps.n_queries, promise.max_risk, confidence).upper(losses),
            lower_bound=1.0
            - make(steps.n_queries, 1.0 - promise.max_risk, confidence).upper(1.0 - losses),
        )
    shown = (lists.scores >= threshold) & (lists.scores > -np.inf)
    n_shown = np.bincount(lists.index.codes(), shown, lists.index.n_queries)
    covered = most_shown(promises)
    to_judge = find_unjudged(lists, promises, above=np.nextafter(float(threshold), -np.inf))
    return RiskCertificate(
        results,
        confidence,
        float(threshold),
        is_chosen=False,
        n_unjudged=len(to_judge),
        _to_judge={str(name): column.to_numpy() for name, column in to_judge.items()},
        max_shown=covered,
        shows_more=covered is not None and bool(n_shown.max() > covered),
        n_machine=int(np.count_nonzero(machine_labels(judged_by, lists.gains))),
    )


def machine_labels(judged_by, gains) -> np.ndarray:
    """Rows with a label that a machine gave."""
    if judged_by is None:
        return np.zeros(len(gains), dtype=bool)
    judges = pd.Series(as_column(judged_by, "judged_by", "name")).astype(object)
    if len(judges) != len(gains):
        raise InputError(f"judged_by has {len(judges)} entries but there are {len(gains)} rows.")
    if (kind := infer_dtype(judges)) not in ("string", "empty"):
        raise InputError(
            f"judged_by must hold texts, 'people' or the name of a machine; got {kind}."
        )
    return is_of_machine(judges).to_numpy(dtype=bool) & ~np.isnan(gains)


def certify(
    curve: ThresholdCurve,
    lists: RankedLists,
    *,
    risk,
    max_risk,
    confidence,
    k,
    guarantee="confidence",
    labels=None,
    parsed: ParsedMeasure | None = None,
    scores=None,
    most=None,
    names=None,
) -> RiskCertificate:
    """The best threshold of a curve, higher values being better, among the certified ones.

    Parameters
    ----------
    curve : ThresholdCurve
        Of the same rows.
    lists : RankedLists
        The calibration queries.
    risk, max_risk, confidence, k, guarantee
        As in :func:`risk_threshold`.
    labels : ndarray of shape (n_rows,) or None
        The labels, for rates that are functions.
    parsed : ParsedMeasure or None
        The measure of the curve, where there are `scores`.
    scores, most, names
        As in :func:`find_unjudged`.
    """
    confidence = check_guarantee(guarantee, confidence)
    promises = [each.with_places(k) for each in read_promises(risk, max_risk, None)]
    every = [promise.steps(lists, labels) for promise in promises]
    # Along one direction a first bad threshold is bad for one rate, whose test alone has to fail:
    # the error is shared by the directions, not by the rates.
    # A rate whose end was chosen by looking at its losses might err from either.
    chosen = [steps.is_chosen for steps in every]
    n_tests = len({steps.is_upward for steps in every if not steps.is_chosen}) + 2 * sum(chosen)
    each_confidence = confidence
    if n_tests > 1:
        each_confidence = 1.0 - (1.0 - confidence) / n_tests
    tested = []
    for promise, own in zip(promises, every):
        if guarantee == "expectation" and own.is_chosen:
            _raise_no_safe_end(promise)
        steps = own.never_falling() if guarantee == "expectation" else own
        make = kind_of_bound(steps, guarantee)
        bound = make(steps.n_queries, promise.max_risk, each_confidence)
        if not bound.rules_out(np.zeros(steps.n_queries)):
            _raise_too_few(make, steps, promise, each_confidence, guarantee)
        if not bound.rules_out(steps.start):
            _raise_impossible(steps, promise, most)
        n_passed = _count_passed(steps, bound)
        lower, upper = -np.inf, np.inf
        if n_passed < len(steps.scores):
            limit = float(steps.scores[n_passed])
            lower, upper = (-np.inf, limit) if steps.is_upward else (limit, np.inf)
        tested.append((promise, own, steps, bound, n_passed, lower, upper))
        _warn_if_trivial(lists.scores, lower, upper, promise)
        if not (steps.start.any() or steps.losses.any()):
            warn_user(
                f"risk={brief(promise.name)} is 0 on all calibration queries whatever is shown, so "
                "that the promise says little. Where gains below 0 are to mark what is forbidden, "
                "give gains.",
                FitWarning,
            )
    lower, upper = max(each[-2] for each in tested), min(each[-1] for each in tested)
    if lower >= upper:
        _raise_contradiction(tested)
    # Where the curve is that of whole lists, so are the scores that a threshold lies between.
    is_whole = parsed is not None and ends_behind(most, parsed)
    between = scores if is_whole and scores is not None else lists.scores
    threshold, value = _best_certified(curve, between, lower, upper)
    results = {}
    for promise, own, steps, bound, n_passed, lower, upper in tested:
        results[promise.name] = RiskPromise(
            risk=promise.name,
            max_risk=promise.max_risk,
            k=promise.k,
            lower=lower,
            upper=upper,
            n_queries=steps.n_queries,
            n_tried=len(np.unique(steps.scores[: n_passed + 1])),
            observed=float(own.at(threshold).mean()),
            upper_bound=min(bound.upper(steps.at(threshold)), promise.max_risk),
        )
    grounds = confidence if guarantee == "confidence" else None
    covered = most_shown(promises, most)
    lower = max(promise.lower for promise in results.values())
    to_judge = find_unjudged(lists, promises, scores=scores, most=most, above=lower, names=names)
    return RiskCertificate(
        results,
        grounds,
        threshold,
        value,
        n_unjudged=len(to_judge),
        _to_judge={str(name): column.to_numpy() for name, column in to_judge.items()},
        max_shown=covered,
        shows_more=covered is not None and covered != most,
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


def _best_certified(curve, scores, lower, upper):
    """The certified threshold of the highest value; of equal ones, that which keeps most."""
    # A limit cuts the stretch it lies in, of which one side is certified.
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


def _raise_too_few(make, steps, promise, confidence, guarantee):
    """Say how many queries the guarantee needs."""
    kind = "queries with a good document" if steps.is_upward else "judged queries"
    sure = f" and confidence={confidence:g}" if guarantee == "confidence" else " in expectation"
    text = (
        f"risk={brief(promise.name)} with max_risk={promise.max_risk:g}{sure} needs at "
        f"least {queries_needed(make, promise.max_risk, confidence)} calibration queries "
        f"({kind}), got {steps.n_queries}"
    )
    if steps.n_queries:
        none = make(steps.n_queries, promise.max_risk, confidence).upper(np.zeros(steps.n_queries))
        text += f": even if none of them shows a failure, the rate may be as high as {none:.3g}"
    lower = " or lower confidence" if guarantee == "confidence" else ""
    raise InputError(f"{text}. Give more queries, raise max_risk{lower}.")


def _raise_no_safe_end(promise):
    """Say that a mean cannot be kept by starting from whichever end looks better."""
    raise InputError(
        f"risk={brief(promise.name)} is lower for some queries where nothing is shown, and for "
        "others where everything is: no end is the safe one, from which guarantee='expectation' "
        "has to start. Use guarantee='confidence', or promise the two sides of it one by one."
    )


def _raise_impossible(steps, promise, most):
    """Say that the safest threshold fails already."""
    what = f"risk={brief(promise.name)} cannot be kept at {promise.max_risk:g}"
    mean = f"{steps.start.mean():.3g}"
    if promise.name == "false_reject_rate" and most is not None:
        raise InputError(
            f"{what}: showing at most {counted(most, 'document')} of each query hides {mean} of "
            "the good documents before any threshold does. Raise max_risk or the cut-off of the "
            "other rates, or promise nothing of what is shown behind it (show_beyond_k)."
        )
    if promise.name == "false_reject_rate":
        raise InputError(
            f"{what}: scores of -inf filter {mean} of the good documents before any threshold "
            "does. Score these documents, or raise max_risk."
        )
    where = "everything" if steps.is_upward else "nothing"
    raise InputError(
        f"{what}: it is {mean} on the calibration queries where {where} is shown, which loses "
        "least. Raise max_risk, or give a better model."
    )


def _raise_contradiction(tested):
    """Say which promises bind."""
    low = max(tested, key=lambda each: each[-2])
    high = min(tested, key=lambda each: each[-1])
    (first, *_, lower, _), (second, *_, upper) = low, high
    raise InputError(
        f"no threshold keeps all promises: {first.name} at most {first.max_risk:g} needs one above "
        f"{lower:.4g}, {second.name} at most {second.max_risk:g} one of at most {upper:.4g}. Raise "
        "the level of one of the two, or give more calibration queries or a better model."
    )


def _warn_if_trivial(scores, lower, upper, promise):
    """Say that nothing but filtering all, or nothing, is certified."""
    shown = scores[scores > -np.inf]
    is_upward = upper < np.inf
    if np.isinf(lower) and np.isinf(upper):
        return
    if ((shown < upper) if is_upward else (shown > lower)).any():
        return
    what, where = ("nothing", "-inf") if is_upward else ("everything", "+inf")
    warn_user(
        f"No threshold but {where} keeps risk={brief(promise.name)} at most {promise.max_risk:g}: "
        f"{what} is filtered. Raise max_risk, or give more calibration queries or a better model.",
        FitWarning,
    )
