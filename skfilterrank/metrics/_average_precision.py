"""Average precision, sum of precisions, and Q-measure for graded gains."""

from dataclasses import replace
from functools import partial

import numpy as np

from skfilterrank._base.checks import check_number, one_of
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import first_places, ratio, reciprocal
from skfilterrank.exceptions import InputError
from skfilterrank.metrics._unjudged_bounds import OpenList, at_ends, of_extremes


def sum_precision(block: ListBlock, k):
    """Compute the sum of precisions at the relevant documents of the top k (equation 4)."""
    if block.ties(k) is None:
        found = block.relevant_cells
        precision = found.levels / (found.places + 1)
        if k is not None:
            precision[found.places >= k] = 0.0
        return found.total(precision)
    relevant = block.ranked_relevant(k)
    total = _worth_at_relevant(block, k, relevant, relevant)
    return total @ reciprocal(first_places(total.shape[1]))


def _worth_at_relevant(block, k, relevant, worth):
    """Compute, for each place, its relevance times the sum of `worth` down to it.

    Ties get the mean over their orders: `relevant` and `worth` are matrices in list order, in which
    each place of a tie holds the mean of the tie. Documents that are not relevant have worth 0.
    """
    total = np.cumsum(worth, axis=1)
    if (ties := block.ties(k)) is not None:
        tied_relevant, tied_worth = relevant[ties.lists], worth[ties.lists]
        above = total[ties.lists] - tied_worth
    total *= relevant
    if ties is not None:
        n, first = (array[:, : total.shape[1]] for array in (ties.length, ties.first))
        place = np.arange(total.shape[1]) - first
        # If one place of a tie is relevant, the tie's other relevant documents are equally likely
        # at all its other places.
        others = place * (tied_relevant * n - 1) / np.maximum(n - 1, 1)
        above = np.take_along_axis(above, first, axis=1)
        total[ties.lists] = tied_relevant * above + tied_worth * (1 + others)
    return total


def sum_precision_sum(facts: Facts) -> Additive:
    """Return SP as a sum: each relevant document adds the precision at its place."""
    worth = facts.in_top(lambda place, level, query: level / place)
    return Additive(facts.relevant, worth, uses_levels=True, worth_of="level")


def average_precision(block: ListBlock, k, normalize):
    """Divide the sum of precisions by the divisor that `normalize` names."""
    if normalize == "found":
        return _mean_precision_found(block, k)
    return _normalized(sum_precision(block, k), block, k, normalize)


def average_precision_sum(facts: Facts) -> Additive | None:
    """Return AP as a sum: each relevant document adds the precision at its place / divisor.

    None for ``normalize="found"``, because the number of found documents depends on the list.
    """
    if facts.option("normalize") == "found":
        return None
    terms, normalize = sum_precision_sum(facts), facts.option("normalize")
    weights = facts.over(_divisor(facts.m, facts.k, normalize))
    depth = {"R": None, "min": facts.k, "k": 1}[normalize]
    return replace(terms, weights=weights, scale="weighted", scale_depth=depth)


def _mean_precision_found(block, k):
    """Compute the mean precision at the relevant documents of the top k, 0 where it has none."""
    relevant = block.ranked_relevant(k)
    precision = _worth_at_relevant(block, k, relevant, relevant)
    precision *= reciprocal(first_places(precision.shape[1]))
    found = relevant.sum(axis=1)
    values = precision.sum(axis=1) / np.where(found > 0, found, 1.0)
    depth = precision.shape[1]
    if (ties := block.ties(k)) is not None and depth < block.width:
        first, length = ties.first[:, depth - 1], ties.length[:, depth - 1]
        is_cut = first + length > depth
        lists, first, length = ties.lists[is_cut], first[is_cut], length[is_cut]
        if lists.size:
            above = np.arange(depth) < first[:, None]
            values[lists] = _mean_over_cut_ties(
                (precision[lists] * above).sum(axis=1),
                (relevant[lists] * above).sum(axis=1),
                np.rint(relevant[lists, first] * length),
                first,
                length,
                depth,
            )
    return np.where(block.n_relevant > 0, values, np.nan)


def _mean_over_cut_ties(precision, found, n_relevant, first, length, depth):
    """Compute the mean precision at the found documents if a tie crosses the cut-off.

    Above the tie, `precision` is the sum of precisions and `found` the number of relevant
    documents. The tie starts at place `first`, counted from 0, and holds `length` documents,
    `n_relevant` of which are relevant.
    """
    from scipy.stats import hypergeom

    inside = (depth - first)[:, None]
    harmonic = np.concatenate(([0.0], np.cumsum(reciprocal(first_places(depth)))))
    reciprocals = (harmonic[depth] - harmonic[first])[:, None]
    # Expected number of relevant documents at the tie's places inside the top k.
    hits = np.arange(inside.max() + 1)
    chance = hypergeom.pmf(hits, length[:, None], n_relevant[:, None], inside)
    others = (hits - 1) / np.maximum(inside - 1, 1) * (inside - (first + 1)[:, None] * reciprocals)
    within = hits / inside * ((1 + found[:, None]) * reciprocals + others)
    means = (precision[:, None] + within) / np.maximum(found[:, None] + hits, 1.0)
    return (chance * means).sum(axis=1)


def _ideal_gain(block, depth):
    """Compute the sum of the ideal list's gains down to each place."""
    # Below the last relevant document the sum is constant.
    reach = min(depth, max(1, int(block.n_relevant.max())))
    best = np.maximum(block.best_first(reach), 0.0)
    ideal = np.empty((len(best), depth))
    np.cumsum(best, axis=1, out=ideal[:, :reach])
    ideal[:, reach:] = ideal[:, reach - 1 : reach]
    return ideal


def _normalized(total, block, k, normalize):
    """Divide the sum of precisions by its divisor."""
    return ratio(total, _divisor(block.n_relevant, k, normalize))


def _divisor(n_relevant, k, normalize):
    """Return the divisor: the number R of relevant documents, min(R, k), or k."""
    divisor = n_relevant
    if normalize == "k":
        if k is None:
            raise InputError(
                "normalize='k' divides by the cut-off, and k is None: pass k, or normalize='R' "
                "or 'min'."
            )
        divisor = np.where(divisor > 0, k, 0.0)
    elif normalize == "min" and k is not None:
        divisor = np.minimum(divisor, k)
    return divisor


def deciding_of_ap(found: OpenList, normalize="R", **options) -> np.ndarray | None:
    """Return how many unjudged documents must be good for the extreme values of AP."""
    if not found.has_places or normalize == "found":
        return None
    if not found.low <= 0 < found.high:
        return at_ends(found)
    relevant, unjudged = found.gains > 0, found.unjudged
    end = found.first + found.length
    shown = slice(found.n_shown)
    above, inside = found.around_ties(relevant)
    open_above, open_inside = found.around_ties(unjudged)
    # Mean of 1 / place over a tie's places in the top k, and of the share of the tie above a place.
    worth = found.mean_worth(reciprocal)[shown]
    n_places = np.maximum(np.minimum(end, found.depth) - np.minimum(found.first, found.depth), 0)
    others = n_places / found.length - (found.first + 1) * worth
    others /= np.maximum(found.length - 1, 1)

    def of_tie(n_good, n_above):
        return n_good * ((n_above + 1) * worth + (n_good - 1) * others)

    def below(mask):
        """Sum the worth of the documents of a mask that are below each document's tie."""
        running = np.append(0.0, np.cumsum(np.where(mask[shown], worth, 0.0)))
        return running[-1] - running[end]

    place = np.append(0, np.cumsum(unjudged[shown]))[:-1]
    before, after = place - open_above, open_inside - (place - open_above) - 1
    n_down, n_up = inside + before, inside + after
    # A document that becomes good adds in its own tie, and to relevant documents below.
    down = of_tie(n_down + 1, above + open_above) - of_tie(n_down, above + open_above)
    up = of_tie(n_up + 1, above) - of_tie(n_up, above)
    added = np.zeros((2, len(found.gains)))
    added[:, shown] = down + below(relevant), up + below(relevant | unjudged)
    start = (of_tie(inside, above) / np.maximum(inside, 1))[relevant[shown]].sum()
    values = []
    for way, own in zip(found.ways, (added[0], added[1], added[1])):
        n_relevant = np.count_nonzero(relevant) + np.arange(1.0, len(way) + 1)
        divisor = _divisor(n_relevant, found.k, normalize)
        values.append((start + np.cumsum(own[way])) / divisor)
    return of_extremes(values)


_NORMALIZE = ("R", "min", "k")
_check_normalize = one_of(*_NORMALIZE)


def _sp(block: ListBlock, k):
    """Sum of the precisions at the relevant documents of the top k.

    Average precision without a divisor. Use it with :func:`ul_normalized_score`, which normalises
    by the sums of a perfect and of a random ranking.

    See Also
    --------
    average_precision_score : Divided by the number of relevant documents.
    random_ranking_bound : Mean of a measure over all rankings.
    ul_normalized_score : Position of a measure between the two bounds.

    Notes
    -----
    ``SP@k = sum of P(i) * rel(i) for i = 1 ... k``, where ``P(i)`` is the precision of the first i
    documents of the returned list and ``rel(i)`` is 1 where the i-th has a gain above 0: equation 4
    of [1]_. It reaches ``min(k, R)`` where all ``R`` relevant documents come first, and is 0, not
    undefined, where none exists.

    Hidden documents leave no gap: relevant ones add nothing, and hiding others improves the
    precision below them. Unjudged documents count as not relevant, and with ``unjudged="drop"``
    are removed from the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022, equation 4.

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> sum_precision_score = get_measure("sp")
    >>> y_true, groups = [1, 0, 1, 1], ["a"] * 4

    The precisions at the first and the third place, ``1/1 + 2/3``:

    >>> round(sum_precision_score(y_true, [4, 3, 2, 1], groups=groups, k=3), 3)
    1.667
    >>> sum_precision_score(y_true, [4, 1, 3, 2], groups=groups, k=3)
    3.0
    """
    return sum_precision(block, k)


sum_precision_score = Measure(
    "sp",
    _sp,
    additive=sum_precision_sum,
    deciding=at_ends,
    undefined="never",
    value_range=(0, np.inf),
)


def _ap(block: ListBlock, k, *, normalize: str = "R"):
    """Precision at each relevant document, averaged over the relevant documents.

    The standard measure of a whole ranking for binary relevance; its mean over queries is MAP. It
    rewards relevant documents at the top, and missed relevant documents lower it.

    Parameters
    ----------
    normalize : {"R", "min", "k", "found"}, default="R"
        Divisor of the sum of precisions. "R" is the number of relevant documents; "min" is
        ``min(R, k)``, the most that a top k can hold; "k" is the cut-off, which must then be given;
        "found" is the number of relevant documents in the top k. Without `k`, "R" and "min" are
        equal.

    See Also
    --------
    udcg_score : For passages that a language model reads in any order.
    get_measure : "sp" is the sum of precisions without a divisor, and "q_measure" is for graded
        gains.
    inferred_ap_score, stat_ap_score : For incomplete judgments.

    Notes
    -----
    ``AP@k = (sum of P(i) * rel(i) for i = 1 ... k) / R``, where ``P(i)`` is the precision of the
    first i documents of the returned list, ``rel(i)`` is 1 where the i-th has a gain above 0, and
    ``R`` counts such rows in the query's whole pool, returned or not: ``map`` and ``map_cut_k`` of
    trec_eval. Other tools and papers divide by ``min(R, k)``, or by ``k`` (equation 3 of [2]_):
    values with a cut-off can only be compared where `normalize` is the same.

    ``"context_precision"`` is ``"ap(normalize=found)"``, the context precision of RAGAS [3]_ from
    labels: it does not see what was missed, and is 0 where nothing relevant is shown. RAGAS adds
    1e-10 to the divisor, and gives 0 to a query without anything relevant, which is undefined here.

    A place i inside a tie of n documents, r of which are relevant, is relevant with probability
    ``r / n``. Its mean precision is then ``(1 + a + j * (r - 1) / (n - 1)) / i``, with ``a``
    relevant documents above the tie and j places of the tie above place i: the equation of [1]_ for
    AP.

    Hidden documents leave no gap: relevant ones still count in ``R`` but add nothing, and
    hiding others improves the precision below them. Unjudged documents count as not relevant,
    and with ``unjudged="drop"`` are removed from the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores", ECIR 2008.
    .. [2] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022.
    .. [3] Es, James, Espinosa Anke and Schockaert, "RAGAs: Automated Evaluation of Retrieval
       Augmented Generation", EACL 2024, and https://docs.ragas.io.

    Examples
    --------
    >>> from skfilterrank.metrics import average_precision_score
    >>> y_true, groups = [1, 0, 1, 0], ["a"] * 4

    The precisions at the first and the third place, averaged: ``(1/1 + 2/3) / 2``.

    >>> round(average_precision_score(y_true, [4, 3, 2, 1], groups=groups), 3)
    0.833

    A filter can remove what stands above a relevant document, or that document itself:

    >>> out = float("-inf")
    >>> average_precision_score(y_true, [4, out, 2, 1], groups=groups)
    1.0
    >>> average_precision_score(y_true, [4, 3, out, 1], groups=groups)
    0.5

    Of two relevant documents, one fits into a list of one:

    >>> average_precision_score(y_true, [4, 3, 2, 1], groups=groups, k=1)
    0.5
    >>> average_precision_score(y_true, [4, 3, 2, 1], groups=groups, k=1, normalize="min")
    1.0

    The context precision of RAGAS divides by the relevant documents that are shown:

    >>> average_precision_score(y_true, [4, 3, out, 1], groups=groups, normalize="found")
    1.0
    """
    return average_precision(block, k, normalize)


average_precision_score = Measure(
    "ap",
    _ap,
    as_in={
        "lightgbm": {"gains": "exp2", "ties": "stable", "undefined": 1.0, "normalize": "min"},
        "xgboost": {"gains": "exp2", "ties": "stable", "undefined": 1.0, "normalize": "min"},
        "catboost": {"gains": None, "ties": "worst", "undefined": 0.0, "normalize": "min"},
    },
    aliases=("MAP", "map_cut_@", "average_precision", "context_precision"),
    presets={"context_precision": {"normalize": "found"}},
    additive=average_precision_sum,
    deciding=deciding_of_ap,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
    options={"normalize": one_of(*_NORMALIZE, "found")},
)


def _q_measure(block: ListBlock, k, *, beta: float = 1.0, normalize: str = "min"):
    """Average precision for graded gains.

    nDCG discounts a gain by its place alone. The Q-measure compares, at each relevant document, the
    sum of gains so far with that of the ideal list. It is the official measure of several NTCIR
    tasks.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of the gains, from 0 up. 0 gives average precision. A larger value increases the
        weight of high gains and reduces the influence of places.
    normalize : {"R", "min", "k"}, default="min"
        Divisor of the sum. "R" is the number of relevant documents; "min" is ``min(R, k)``, as in
        NTCIREVAL; "k" is the cut-off, which must then be given. Without `k`, "R" and "min" are
        equal.

    See Also
    --------
    average_precision_score : For binary relevance; `normalize` has another default.
    ndcg_score : Discounts gains by place.

    Notes
    -----
    With ``C(i)`` the number of relevant documents (gain above 0) and ``cg(i)`` the sum of the gains
    among the first i of the returned list, and ``cg*(i)`` that sum for the pool in ideal order ::

        Q = (1 / R) * sum of rel(i) * (C(i) + beta * cg(i)) / (i + beta * cg*(i))

    over the places i up to k. Gains are taken as given ([1]_ uses 3, 2 and 1); negative ones count
    as 0. The denominator depends on the place alone, so the mean over tied orders has an exact
    closed form.

    Hidden documents leave no gap, and the ideal list is still that of the whole pool: relevant
    ones add nothing, and hiding others improves the ratios below them. Unjudged documents have
    gain 0, and with ``unjudged="drop"`` are removed from the list. Forbidden documents count as
    gain 0.

    References
    ----------
    .. [1] Sakai and Lin, "Ranking Retrieval Systems without Relevance Assessments: Revisited",
       EVIA 2010.
    .. [2] Sakai and Song, "Evaluating Diversified Search Results Using Per-intent Graded
       Relevance", SIGIR 2011 (with a cut-off).

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> q_measure_score = get_measure("q_measure")
    >>> y_true, groups = [1, 0, 3], ["a"] * 3

    At the first place ``(1 + 1) / (1 + 3)``, at the third ``(2 + 4) / (3 + 4)``:

    >>> round(q_measure_score(y_true, [3, 2, 1], groups=groups), 3)
    0.679
    >>> q_measure_score(y_true, [2, 1, 3], groups=groups)
    1.0

    Without weight on the gains, average precision, ``(1/1 + 2/3) / 2``:

    >>> round(q_measure_score(y_true, [3, 2, 1], groups=groups, beta=0), 3)
    0.833
    """
    if not beta:
        return average_precision(block, k, normalize)
    relevant = block.ranked_relevant(k)
    worth = block.ranked(np.maximum(block.gains, 0.0), k)
    worth *= beta
    worth += relevant
    blended = _worth_at_relevant(block, k, relevant, worth)
    blended /= 1.0 + np.arange(blended.shape[1]) + beta * _ideal_gain(block, blended.shape[1])
    return _normalized(blended.sum(axis=1), block, k, normalize)


q_measure_score = Measure(
    "q_measure",
    _q_measure,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
    options={"beta": partial(check_number, least=0), "normalize": _check_normalize},
)
