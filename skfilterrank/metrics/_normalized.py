"""A measure normalised by random rankings: ul_normalized."""

from dataclasses import replace

import numpy as np

from skfilterrank._base.checks import one_of
from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import Measure, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics._average_precision import sum_precision_score
from skfilterrank.metrics._dcg import dcg_score, ideal_dcg
from skfilterrank.metrics._random_rankings import (
    SimulatedRankings,
    ideal_list,
    mean_dcg,
    mean_sum_precision,
    tied_list,
)

# Number of random rankings of each pool, for measures without an exact mean over ties.
_N_RANKINGS = 1000


def _other_measure(measure, name: str) -> ParsedMeasure:
    """Parse the option `name`, which must name another plain measure."""
    inner = parse_measure(measure)
    entry = inner.measure.plain or inner.measure
    if entry is ul_normalized_score:
        raise InputError(f"{name} must be another measure than {brief(entry.name)} itself.")
    if inner.measure.library is not None:
        raise InputError(
            f"{name} must be a measure of skfilterrank and not of another library, got "
            f"{brief(measure)}: write {entry.name}."
        )
    if inner.measure.own_reading is not None:
        raise InputError(
            f"{name} must have no options that change judgments, got {brief(measure)}: the "
            f"bounds need them too, so write 'ul_normalized({inner.measure.own_text},measure=...)'."
        )
    if not inner.measure.greater_is_better:
        raise InputError(
            f"{name} must be one for which higher is better, got {brief(measure)}: the paper's "
            "formulas have no meaning for it."
        )
    return inner


def _exact_bounds(block, inner, expectation):
    """Compute the value of a random and of the ideal ranking, for measures with an exact mean."""
    if inner.measure is dcg_score:
        return mean_dcg(block, inner.k), ideal_dcg(block, inner.k, filtering=False)
    if inner.measure is sum_precision_score:
        places = np.minimum(block.n_judged, block.depth(inner.k))
        perfect = np.minimum(places, block.n_relevant)
        return mean_sum_precision(block, inner.k, method=expectation), perfect
    kernel = inner.measure.bind(inner.k, inner.options)
    return kernel(tied_list(block)), kernel(ideal_list(block))


def ul_normalized_sum(facts: Facts) -> Additive | None:
    """Return the normalised measure as a sum; None if `measure` is no sum."""
    inner = facts.option("measure").with_cutoff(facts.k)
    form = inner.as_sum(facts.of(inner))
    if form is None or form.finish or "average" not in inner.measure.ties:
        return None
    method = facts.option("expectation")
    lower, upper = facts.per_query(lambda block: _exact_bounds(block, inner, method))
    make = _VARIANTS[facts.option("variant")]

    def finish(values, query):
        bounds = (np.broadcast_to(bound[query], values.shape) for bound in (lower, upper))
        return np.nan_to_num(make(values, *bounds), nan=0.0)

    # No check here: the kernel finds undefined queries and raises for negative gains.
    return replace(form, finish=finish, is_defined=None)


def _v1(achieved, lower, upper):
    """Compute V1 (equation 5): achieved / upper * achieved / (achieved + lower)."""
    values = np.full(achieved.shape, np.nan)
    # If the list and the drawn random rankings both score 0, A / (A + R) is 0 / 0: V1 is 0 there.
    values[_is_defined(lower, upper)] = 0.0
    where = _is_defined(lower, upper) & (achieved > 0)
    np.divide(achieved * achieved, upper * (achieved + lower), out=values, where=where)
    values[np.isnan(achieved)] = np.nan
    return values


def _v2(achieved, lower, upper):
    """Compute V2 (equation 6): distance from `lower`, divided by the greatest possible distance."""
    values = np.full(achieved.shape, np.nan)
    room = np.where(achieved >= lower, upper - lower, lower)
    np.divide(achieved - lower, room, out=values, where=_is_defined(lower, upper))
    return values


def _upper(achieved, lower, upper):
    """Divide by the upper bound alone (section 3 of the paper)."""
    values = np.full(achieved.shape, np.nan)
    np.divide(achieved, upper, out=values, where=upper > 0)
    return values


_VARIANTS = {"v1": _v1, "v2": _v2, "upper": _upper}


def _is_defined(lower, upper):
    """Find the queries whose rankings differ in value."""
    return upper - lower > ROUNDING_OF_MEANS * upper


def _ul_normalized(
    block: ListBlock,
    k,
    *,
    measure="dcg",
    variant: str = "v2",
    expectation: str = "exact",
):
    """Any measure, normalised by the values of a perfect and of a random ranking.

    On a query with many relevant documents every ranking scores high. Here a list with the mean
    value of random rankings scores 0, and a perfect one scores 1 (`variant` "v2"). It makes queries
    with different shares of relevant documents comparable, and tells systems apart on queries where
    all of them do little better than chance.

    Parameters
    ----------
    measure : str, default="dcg"
        The measure that is normalised: "dcg", "sp" (sum of precisions), or any other name of the
        measure table for which higher is better, with a cut-off and options where wanted, such as
        "ap", "err@10" or "ndcg".
    variant : {"v1", "v2", "upper"}, default="v2"
        "v1" is equation 5 and "v2" equation 6 of the paper. "upper" divides by the upper bound
        alone ([A]^U in the paper) and does not use random rankings.
    expectation : {"exact", "paper"}, default="exact"
        How the random ranking's sum of precisions is computed, see
        :func:`random_ranking_bound`. The two are the same for "dcg", and only "exact" is known
        for other measures.

    See Also
    --------
    random_ranking_bound : The lower bound alone.
    query_informativeness : Finds the queries on which systems hardly exceed random rankings.
    ndcg_f_score : Normalised between the worst and the best list, also with negative gains.

    Notes
    -----
    With A the measure, U its value for the ideal ranking (gains descending) and R its expected
    value for a random ranking, all of the query's judged documents and at the same cut-off::

        V1 = A / U * A / (A + R)                                (equation 5 of [1]_)
        V2 = (A - R) / (U - R) where A >= R, else (A - R) / R   (equation 6)
        upper = A / U                                           (section 3)

    V1 lies in [0, 1], where a perfect ranking scores ``U / (U + R)``, below 1, and a random one
    ``R / (2 U)``; V2 lies in [-1, 1]. Sums end at ``min(k, n)`` for n judged documents. The paper
    normalises DCG with ``gains="exp2"`` and the sum of precisions, "sp". R is exact where the
    measure has a mean over ties; where it has not, it is the mean of 1,000 random rankings, the
    same in every call (:func:`random_ranking_bound`).

    For the sum of precisions U is ``min(k, Np)`` with Np relevant documents. Section 3.2 there
    says k, but the values in its Table 15, on MQ2007, change with k as this bound does. Its Table 5
    has values of DCG that are higher than equation 7 gives for lists of the same nDCG.

    A negative gain is an error: R may then be 0 or negative, and both equations divide by it.
    So is a measure that is negative for some list. V1 and V2 are not linear in A. Ties are averaged
    in A, so a system that gives all documents one score has V2 = 0. The mean of V2 over random
    rankings is another number, often below 0: differences below R are divided by R, and those above
    R by U - R. On MQ2007 it is -0.17 for DCG@10 and -0.23 for SP@10. Section 3 of [1]_ says
    instead that V2 = 0 "means a randomized ranking". :func:`random_ranking_bound` computes that
    mean from random rankings. For a measure without an average over tied orders, its own rule for
    ties replaces "average".

    For DCG, "upper" is nDCG. V1 and V2 are undefined where no document is relevant or all are
    equally good, because U = R then; "upper" is undefined where U is 0.

    Hidden documents lower A alone, as the two bounds rank all judged documents: hiding
    documents is not rewarded, and an empty list scores -1 in V2, 0 in V1. Unjudged documents take
    places in A's list and are not part of the bounds.

    References
    ----------
    .. [1] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022.

    Examples
    --------
    Three of four documents are relevant. Any two of them on top are perfect, and a random
    ranking comes close to it, so one mistake is far worse than nDCG says:

    >>> from skfilterrank.metrics import ndcg_score, ul_normalized_score
    >>> y_true, groups = [1, 1, 1, 0], ["a"] * 4
    >>> ul_normalized_score(y_true, [4, 3, 2, 1], groups=groups, k=2)
    1.0
    >>> ndcg_score(y_true, [4, 1, 2, 3], groups=groups, k=2)
    0.613...
    >>> ul_normalized_score(y_true, [4, 1, 2, 3], groups=groups, k=2)
    -0.182...

    All documents tied are worth what random rankings are on average:

    >>> ul_normalized_score(y_true, [0, 0, 0, 0], groups=groups, k=2)
    0.0

    By name, here for average precision:

    >>> from skfilterrank.metrics import evaluate
    >>> by_ap = "ul_normalized(measure=ap,variant=v1)"
    >>> evaluate(y_true, [4, 1, 2, 3], by_ap, groups=groups).means
    ul_normalized(measure=ap,variant=v1)    0.394...
    Name: mean, dtype: float64
    """
    inner = measure.with_cutoff(k)
    name = brief(inner.measure.name)
    if inner.measure not in (sum_precision_score, dcg_score) and expectation == "paper":
        raise InputError(
            f"expectation='paper' is a formula for measure='sp' and 'dcg' alone, got {name}."
        )
    if block.has_forbidden:
        raise InputError(
            "ul_normalized needs gains from 0 up, and some gain is negative: a random ranking "
            "may then score 0 or less, where its formulas divide by it. Use {ndcg_f_score}, or "
            "give forbidden documents gain 0 with {gains=}.",
            argument=("ndcg_f_score", "gains="),
        )
    if block.tie_rule == "average" and "average" not in inner.measure.ties:
        block = block.with_ties(inner.measure.ties[0])
    kernel = inner.measure.bind(inner.k, inner.options)
    achieved = kernel(block)
    if "average" in inner.measure.ties:
        lower, upper = _exact_bounds(block, inner, expectation)
    elif variant == "upper":
        lower, upper = np.zeros(len(achieved)), kernel(ideal_list(block))
    else:
        upper = kernel(ideal_list(block))
        rankings = SimulatedRankings(kernel, _N_RANKINGS, seed=0)
        numbers = rankings.pool_numbers(block)
        lower = rankings.results[numbers, 0]
    for values in (achieved, lower):
        if (values < 0).any():
            raise InputError(
                f"ul_normalized needs a measure that is never negative, but {brief(inner.text)} is "
                f"{np.nanmin(values):g} for some query."
            )
    return _VARIANTS[variant](achieved, lower, upper)


ul_normalized_score = Measure(
    "ul_normalized",
    _ul_normalized,
    additive=ul_normalized_sum,
    undefined="all rankings of its pool have one value; with variant='upper', the perfect "
    "ranking has value 0",
    value_range=(-1, 1),
    range_holds_for="nonnegative gains",
    ties_are_means=False,
    options={
        "measure": _other_measure,
        "variant": one_of(*_VARIANTS),
        "expectation": one_of("exact", "paper"),
    },
)
