"""Measures for incomplete judgments: bpref, AP of condensed lists, share of judged documents."""

from dataclasses import replace

import numpy as np

from skfilterrank._base.checks import one_of
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import ratio
from skfilterrank._lists.ties import Ties
from skfilterrank.metrics._average_precision import deciding_of_ap, sum_precision_sum
from skfilterrank.metrics._unjudged_bounds import at_ends


def judged(block: ListBlock, k):
    """Compute the share of the shown places that hold a judged document."""
    shown = np.minimum(block.n_retained, block.depth(k))
    if not block.has_unjudged:
        return ratio(shown, shown)
    return ratio(_ranked(block, block.judged, k).sum(axis=1), shown)


def ranked_unjudged(block: ListBlock, k):
    """Return marks of unjudged rows in list order up to place k, 0 behind the list."""
    if not block.has_unjudged:
        return np.zeros((len(block.sizes), block.depth(k)))
    return _ranked(block, ~block.judged, k)


def _ranked(block, marks, k):
    if block.tie_rule not in ("worst", "best"):
        return block.ranked(marks.astype(np.float64), k)
    # Sort by `judged`: in the order by gain, unjudged rows would be equal to rows of gain 0.
    second = block.judged if block.tie_rule == "worst" else ~block.judged
    order = np.lexsort((second, block.sort_key), axis=1)[:, : block.depth(k)]
    return block.only_retained(np.take_along_axis(marks, order, axis=1).astype(np.float64))


def bpref_sum(facts: Facts) -> Additive:
    """Return bpref as a sum over relevant documents, valid for completely judged lists."""
    variant = facts.option("variant")
    n_nonrelevant = facts.n - facts.m
    most = n_nonrelevant if variant == "printed" else facts.m
    whole = np.minimum(n_nonrelevant, most) if variant == "trec_eval" else facts.m
    whole = np.maximum(whole, 1)

    def worth(place, level, query):
        return 1 - np.minimum(place - level, most[query]) / whole[query]

    return Additive(facts.over(facts.m), worth, uses_levels=True, worth_of="labels", scale="all")


def _mean_above(ties: Ties, nonrelevant, most):
    """Compute the mean over tied orders of min(non-relevant documents above, `most`).

    The result holds for every relevant document of the tie at that place.
    """
    above, n = ties.before(nonrelevant), ties.sums(nonrelevant)
    # A relevant document is equally likely to have 0, 1, ..., n of its tie's non-relevant documents
    # above it.
    n_below_most = np.clip(most - above, 0, n + 1)
    total = n_below_most * (above + (n_below_most - 1) / 2) + (n + 1 - n_below_most) * most
    return total / (n + 1)


def induced_ap_sum(facts: Facts) -> Additive:
    """Return induced AP as a sum over relevant documents, valid for completely judged lists."""
    return replace(sum_precision_sum(facts), weights=facts.over(facts.m), scale="weighted")


def _mean_sum_precision(ties: Ties, is_judged, relevant, k):
    """Compute the mean over the tied orders of the sum of precisions of the condensed lists."""
    judged, relevant = is_judged.astype(np.float64), relevant.astype(np.float64)
    n_judged, n_relevant = ties.sums(judged), ties.sums(relevant)
    place = np.cumsum(judged, axis=1)
    # All orders of a tie's judged documents on the condensed list are equally likely.
    above_in_tie = place - 1 - ties.before(judged)
    n_pairs = np.maximum(n_judged * (n_judged - 1), 1)
    found = n_relevant / np.maximum(n_judged, 1) * (1 + ties.before(relevant))
    found += above_in_tie * n_relevant * (n_relevant - 1) / n_pairs
    counted = is_judged if k is None else is_judged & (place <= k)
    return np.divide(found, place, out=np.zeros(place.shape), where=counted).sum(axis=1)


def _judged(block: ListBlock, k):
    """Share of the shown top k that is judged.

    It shows how reliable other measures at the same cut-off are: if it is low, most shown documents
    were never judged.

    See Also
    --------
    bpref_score, inferred_ap_score : Measures for incomplete judgments.

    Notes
    -----
    The number of judged rows among the first k of the returned list, divided by the number shown
    there, ``min(k, length of the returned list)``. "Judged@k" of ir_measures [1]_ is the same, but
    takes a label of -1, with which TREC marks unjudged documents of the pool, for a judgment. Here
    ``ties="worst"`` has the unjudged documents of a tie first, and ``ties="best"`` last, whatever
    the gains.

    Hidden documents are not shown and do not count. Unjudged documents that are shown lower the
    share. Forbidden documents are judged.

    References
    ----------
    .. [1] MacAvaney, Macdonald and Ounis, "Streamlining Evaluation with ir-measures", ECIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> y_true, y_score = [1, float("nan"), 0, 1], [0.9, 0.8, 0.7, float("-inf")]
    >>> get_measure("judged@2")(y_true, y_score, groups=["a"] * 4)
    0.5

    Three documents are shown where ten could be, and two of them are judged:

    >>> round(get_measure("judged@10")(y_true, y_score, groups=["a"] * 4), 3)
    0.667
    """
    return judged(block, k)


judged_at_k_score = Measure(
    "judged",
    _judged,
    reads="judged",
    order_matters="never",
    deciding=at_ends,
    undefined="the returned list is empty",
    value_range=(0, 1),
    reads_unjudged=True,
)


def _unjudged(block: ListBlock, k):
    """Share of the top k places that hold a document that is not judged.

    See Also
    --------
    "judged" : Share of what is shown, also of lists that are shorter than k.

    Notes
    -----
    The number of unjudged rows among the first k of the returned list, divided by k (``unj_k`` of
    trec_eval), or without `k` by the length of the list. Here ``ties="worst"`` has the unjudged
    documents of a tie first, and ``ties="best"`` last, whatever the gains.

    Hidden documents are not shown and do not count. Forbidden documents are judged. Unjudged
    documents are counted, also with ``unjudged="drop"``.

    References
    ----------
    trec_eval, NIST, measure "unj".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> y_true, y_score = [1, float("nan"), 0, 1], [0.9, 0.8, 0.7, float("-inf")]
    >>> get_measure("unj_5")(y_true, y_score, groups=["a"] * 4)
    0.2
    """
    found = ranked_unjudged(block, k).sum(axis=1)
    return ratio(found, block.n_retained if k is None else np.full(len(found), k))


unjudged_at_k = Measure(
    "unjudged",
    _unjudged,
    aliases=("unj_@",),
    greater_is_better=False,
    reads="judged",
    order_matters="never",
    undefined="the returned list is empty, and there is no cut-off",
    value_range=(0, 1),
    reads_unjudged=True,
)


def _bpref(block: ListBlock, *, variant: str = "trec_eval"):
    """Binary preference: how rarely judged non-relevant documents stand above relevant ones.

    Use it with incomplete judgments: only the order of judged documents counts, so unjudged
    documents have no influence. Its values are not on the scale of average precision; those of
    "induced_ap" and :func:`inferred_ap_score` are.

    Parameters
    ----------
    variant : {"trec_eval", "buckley2004", "printed"}, default="trec_eval"
        How non-relevant documents above a relevant one are counted, see Notes.

    See Also
    --------
    average_precision_score : With ``unjudged="drop"`` it has the same value.
    inferred_ap_score : An estimate of average precision from a sample of judgments.

    Notes
    -----
    Let the query's pool have R relevant and N judged non-relevant documents, retrieved or not. A
    relevant document that is retrieved, with n judged non-relevant ones above it, counts

    * ``1 - min(n, R) / min(R, N)`` by "trec_eval", the rule of the program of that name;
    * ``1 - min(n, R) / R`` by "buckley2004" [1]_: where N < R, the worst ranking scores above 0;
    * ``1 - n / R`` by "printed" in [2]_, which falls below 0 where n > R;

    and bpref is their sum, divided by R. Where nothing is judged non-relevant, each relevant
    document counts 1.

    Hidden documents count as not retrieved: a relevant one adds nothing, and a non-relevant one
    costs nothing. Unjudged documents have no influence at any place. Forbidden documents are judged
    non-relevant.

    References
    ----------
    .. [1] Buckley and Voorhees, "Retrieval Evaluation with Incomplete Information", SIGIR 2004.
    .. [2] Hui and Berberich, "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation", section 2.

    Examples
    --------
    Two relevant and three non-relevant documents; one relevant document stands above all
    non-relevant ones, the other below one of them: ``(1 + (1 - 1 / 2)) / 2``. The unjudged
    document in the second place changes nothing.

    >>> from skfilterrank.metrics import bpref_score
    >>> y_true = [1, float("nan"), 0, 1, 0, 0]
    >>> bpref_score(y_true, [6, 5, 4, 3, 2, 1], groups=["a"] * 6)
    0.75

    A relevant document below three non-relevant ones, of which no more than R = 2 count:

    >>> y_score = [6, 5, 4, 1, 3, 2]
    >>> [
    ...     bpref_score(y_true, y_score, groups=["a"] * 6, variant=variant)
    ...     for variant in ("trec_eval", "buckley2004", "printed")
    ... ]
    [0.5, 0.5, 0.25]
    """
    n_nonrelevant = block.n_judged - block.n_relevant
    most = n_nonrelevant if variant == "printed" else block.n_relevant
    whole = np.minimum(n_nonrelevant, most) if variant == "trec_eval" else block.n_relevant
    whole = np.maximum(whole, 1)
    nonrelevant = block.in_order(block.judged & (block.gains <= 0))
    relevant, found = block.shows_relevant, block.relevant_cells
    above = np.minimum(found.count(nonrelevant), most[found.lists])
    total = found.total(1 - above / whole[found.lists])
    if (ties := block.ties()) is not None:
        tied = ties.lists
        above = _mean_above(ties, nonrelevant[tied].astype(np.float64), most[tied, None])
        # All documents of a tie have the same mean, so the sum may run over its places instead.
        total[tied] = (relevant[tied] * (1 - above / whole[tied, None])).sum(axis=1)
    return ratio(total, block.n_relevant)


bpref_score = Measure(
    "bpref",
    _bpref,
    additive=bpref_sum,
    undefined="the query has no relevant document",
    value_range=(0, 1),
    range_holds_for="any gains, but not for variant='printed'",
    options={"variant": one_of("trec_eval", "buckley2004", "printed")},
    reads_unjudged=True,
)


def _induced_ap(block: ListBlock, k):
    """Average precision of the list without its unjudged documents.

    The simplest form of average precision for incomplete judgments: unjudged documents are removed
    from the list first. It is too high if unjudged documents are less often relevant than judged
    ones.

    See Also
    --------
    bpref_score : Counts the judged non-relevant documents above each relevant one.
    inferred_ap_score : Estimates the relevance of unjudged documents.

    Notes
    -----
    ``indAP = sum of precision(i) over the places i of relevant documents / R`` [1]_, where i counts
    the judged documents of the list, ``precision(i) = relevant documents down to i / i``, and R is
    the number of relevant documents in the query's pool, retrieved or not. It is average
    precision with ``unjudged="drop"``, of a condensed list [2]_; `k` counts its places.

    Hidden documents count as not retrieved: a relevant one adds nothing but still counts in R.
    Unjudged documents are removed from the list, and documents below them move up. Forbidden
    documents are judged non-relevant.

    References
    ----------
    .. [1] Yilmaz and Aslam, "Estimating Average Precision with Incomplete and Imperfect
       Judgments", CIKM 2006.
    .. [2] Sakai, "Alternatives to Bpref", SIGIR 2007.

    Examples
    --------
    Without the unjudged document the relevant ones are at places 1 and 3:
    ``(1 / 1 + 2 / 3) / 2``.

    >>> from skfilterrank.metrics import get_measure
    >>> y_true = [1, float("nan"), 0, 1]
    >>> round(get_measure("induced_ap")(y_true, [4, 3, 2, 1], groups=["a"] * 4), 3)
    0.833
    """
    is_judged = block.in_order(block.judged)
    relevant, found = block.shows_relevant, block.relevant_cells
    place = found.count(is_judged)
    precision = found.levels / place
    if k is not None:
        precision[place > k] = 0.0
    total = found.total(precision)
    if (ties := block.ties()) is not None:
        is_judged = block.only_retained(is_judged)[ties.lists]
        total[ties.lists] = _mean_sum_precision(ties, is_judged, relevant[ties.lists], k)
    return ratio(total, block.n_relevant)


induced_ap_score = Measure(
    "induced_ap",
    _induced_ap,
    additive=induced_ap_sum,
    deciding=deciding_of_ap,
    undefined="the query has no relevant document",
    value_range=(0, 1),
    reads_unjudged=True,
)
