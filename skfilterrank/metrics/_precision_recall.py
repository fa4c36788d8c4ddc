"""Binary measures: precision, recall, R-precision, reciprocal rank and success."""

from functools import partial

import numpy as np

from skfilterrank._base.checks import check_number
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import first_places, ratio, reciprocal
from skfilterrank._lists.ties import mean_none_relevant
from skfilterrank.metrics._unjudged_bounds import OpenList, at_ends, at_turns, of_extremes


def precision_of_set(block: ListBlock, count):
    """Compute the share of shown documents that is relevant."""
    return count(block.gains > 0) / np.maximum(count(), 1)


def precision_sum(facts: Facts) -> Additive | None:
    """Return precision as a sum: each relevant document adds 1 / k; None without a cut-off."""
    if facts.k is None:
        return None
    return Additive(facts.relevant / facts.k, facts.by_place(np.ones_like))


def recall_sum(facts: Facts) -> Additive:
    """Return recall as a sum: each of the m relevant documents in the top k adds 1 / m."""
    worth = facts.by_place(np.ones_like)
    return Additive(facts.over(facts.m), worth, scale="weighted")


# Multiples of R that trec_eval prints.
_MULTIPLES = [tenths / 10 for tenths in range(2, 21, 2)]


def places_of(n_relevant, multiple):
    """Return the cut-off of each query, a multiple of R; 0 without a relevant document."""
    return np.where(n_relevant > 0, np.maximum(np.floor(multiple * n_relevant + 0.9), 1), 0.0)


def r_precision_sum(facts: Facts) -> Additive:
    """Return R-precision as a sum: each relevant document in the top m adds 1 / m."""
    cut = places_of(facts.m, facts.option("multiple"))

    def worth(place, level, query):
        return (place <= cut[query]).astype(np.float64)

    return Additive(facts.over(cut), worth, worth_of="labels", scale="weighted")


def first_relevant_sum(facts: Facts, discount) -> Additive:
    """Return as a sum a measure that depends only on the first relevant document's place."""

    def worth_of_first(place, level, query):
        return np.where(level == 1, discount(place), 0.0)

    worth = facts.in_top(worth_of_first)
    return Additive(facts.relevant, worth, uses_levels=True, worth_of="labels")


def _deciding_of_r_precision(found: OpenList, **options) -> np.ndarray | None:
    """Return how many unjudged documents must be good for the extreme values of R-precision."""
    if not found.has_places:
        return None
    if not found.n_shown or not found.low <= 0 < found.high:
        return at_ends(found)
    relevant, unjudged = found.gains > 0, found.unjudged
    above, inside = found.around_ties(relevant)
    open_above, open_inside = found.around_ties(unjudged)
    values = []
    for place, way in enumerate(found.ways):
        number = np.arange(1, len(way) + 1)
        m = np.count_nonzero(relevant) + number
        row = np.minimum(m, found.n_shown) - 1
        n_above, n_in = open_above[row], open_inside[row]
        if place == 0:
            above_good = np.minimum(number, n_above)
            in_good = np.clip(number - n_above, 0, n_in)
        else:
            below = len(way) - n_above - n_in
            in_good = np.clip(number - below, 0, n_in)
            above_good = np.maximum(number - below - n_in, 0)
        share = (np.minimum(m, found.n_shown) - found.first[row]) / found.length[row]
        good = above[row] + above_good + share * (inside[row] + in_good)
        values.append(good / m)
    return of_extremes(values)


def _precision(block: ListBlock, k):
    """Share of the top k that is relevant.

    For a user who looks at k documents in any order. Missed documents have no influence, and a
    query with fewer than k relevant documents cannot reach 1.

    See Also
    --------
    recall_at_k_score : Share of the relevant documents that are in the top k.
    r_precision_score : Precision at the number of relevant documents, which every query can reach.
    average_precision_score : Precision at each relevant document, averaged.

    Notes
    -----
    The number of rows of gain above 0 among the first k of the returned list, divided by k. As in
    trec_eval (``P_k``), places that the list leaves empty count as not relevant: showing fewer than
    k documents costs precision. Without `k` the divisor is the length of the returned list
    (``set_P``), 0 for the empty list. A query with nothing relevant scores 0.

    Hidden documents leave no gap: later documents move up, so hiding costs precision only
    where fewer than k documents are left. Unjudged documents count as not relevant, and with
    ``unjudged="drop"`` are removed from the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores", ECIR 2008 (equation for precision with ties).

    Examples
    --------
    >>> from skfilterrank.metrics import precision_at_k_score
    >>> y_true, groups = [1, 0, 2, -1], ["a"] * 4
    >>> precision_at_k_score(y_true, [0.9, 0.8, 0.7, 0.6], groups=groups, k=2)
    0.5

    With the second document hidden, the third moves up:

    >>> precision_at_k_score(y_true, [0.9, float("-inf"), 0.7, 0.6], groups=groups, k=2)
    1.0

    A list of one document does not fill two places:

    >>> only = [0.9] + [float("-inf")] * 3
    >>> precision_at_k_score(y_true, only, groups=groups, k=2)
    0.5
    >>> precision_at_k_score(y_true, only, groups=groups)
    1.0
    """
    found = block.ranked_relevant(k).sum(axis=1)
    return found / (np.maximum(block.n_retained, 1) if k is None else k)


precision_at_k_score = Measure(
    "precision",
    _precision,
    as_limit=" For a precision of at least 0.8 among what is shown, give 'forbidden' at most 0.2 "
    "with {among='answered'}, and gains below 0 to all labels that are not good.",
    intervals_cover=lambda k: k is not None,
    aliases=("P", "P_@", "set_P", "SetP"),
    additive=precision_sum,
    of_set=precision_of_set,
    order_matters="with k",
    deciding=at_ends,
    undefined="never",
    value_range=(0, 1),
)


def _recall(block: ListBlock, k):
    """Share of the relevant documents that are in the top k.

    Use it for a first stage whose list is ranked again, or if no relevant document may be missed.
    Lists with the same number of relevant documents in the top k have equal values.

    See Also
    --------
    precision_at_k_score : Share of the top k that is relevant.
    false_reject_rate : Share of the good documents that are hidden.

    Notes
    -----
    Of the rows of gain above 0 in the query's whole pool, returned or not, the share that is among
    the first k of the returned list (``recall_k`` of trec_eval). Without `k`, the whole returned
    list counts.

    ``"context_recall"`` is another name: the context recall of RAGAS [2]_. Rows are the reference
    passages (its IDBasedContextRecall), or the statements of a reference answer, of which those
    that no passage supports have the score -inf.

    Hidden documents that are relevant are missed; hiding others lets relevant ones move up
    into the top k. Unjudged documents count as not relevant, and with ``unjudged="drop"`` are
    removed from the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores", ECIR 2008 (equation for recall with ties).
    .. [2] Es, James, Espinosa Anke and Schockaert, "RAGAs: Automated Evaluation of Retrieval
       Augmented Generation", EACL 2024, and https://docs.ragas.io.

    Examples
    --------
    >>> from skfilterrank.metrics import recall_at_k_score
    >>> y_true, groups = [1, 0, 2, 1, 1], ["a"] * 5
    >>> recall_at_k_score(y_true, [0.9, 0.8, 0.7, 0.6, 0.5], groups=groups, k=3)
    0.5
    >>> recall_at_k_score(y_true, [0.9, 0.8, 0.7, 0.6, float("-inf")], groups=groups)
    0.75

    Of three tied documents, two of them relevant, one is in the top 3, and relevant two times in
    three:

    >>> value = recall_at_k_score(y_true, [0.9, 0.8, 0.7, 0.7, 0.7], groups=groups, k=3)
    >>> value
    0.5
    """
    return ratio(block.ranked_relevant(k).sum(axis=1), block.n_relevant)


recall_at_k_score = Measure(
    "recall",
    _recall,
    as_in={"catboost": {"gains": None, "ties": "worst", "undefined": 1.0}},
    as_limit=" For a recall of at least 0.8, give 'false_reject_rate' at most 0.2.",
    aliases=("R", "recall_@", "set_recall", "SetR", "context_recall"),
    additive=recall_sum,
    order_matters="with k",
    deciding=at_turns,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
)


def _r_precision(block: ListBlock, *, multiple: float = 1.0):
    """Precision at R, where R is the number of relevant documents.

    At this cut-off, precision and recall are equal and can reach 1. So values of queries with few
    and with many relevant documents can be averaged.

    Parameters
    ----------
    multiple : float, default=1.0
        Multiple of R that is the cut-off, above 0: ``max(1, floor(multiple * R + 0.9))`` places, as
        in trec_eval, whose names such as "Rprec_mult_0.20" are known.

    See Also
    --------
    precision_at_k_score, recall_at_k_score : With one cut-off for all queries.

    Notes
    -----
    Of the R rows of gain above 0 in the query's whole pool, returned or not, the share that is
    among the first R of the returned list (``Rprec`` of trec_eval).

    Hidden documents leave no gap, but relevant ones still count in R, so other documents cannot
    replace them. Unjudged documents count as not relevant, and with ``unjudged="drop"`` are removed
    from the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] Buckley and Voorhees, "Evaluating Evaluation Measure Stability", SIGIR 2000.

    Examples
    --------
    >>> from skfilterrank.metrics import r_precision_score
    >>> y_true, groups = [1, 0, 2, -1], ["a"] * 4
    >>> r_precision_score(y_true, [0.9, 0.8, 0.7, 0.6], groups=groups)
    0.5
    >>> r_precision_score(y_true, [0.9, float("-inf"), 0.7, 0.6], groups=groups)
    1.0
    """
    cut = places_of(block.n_relevant, multiple)
    relevant = block.ranked_relevant(max(1, int(cut.max())))
    in_top = np.arange(relevant.shape[1]) < cut[:, None]
    return ratio(np.einsum("ij,ij->i", relevant, in_top), cut)


r_precision_score = Measure(
    "r_precision",
    _r_precision,
    aliases=("Rprec", *(f"Rprec_mult_{multiple:.2f}" for multiple in _MULTIPLES)),
    presets={f"rprec_mult_{multiple:.2f}": {"multiple": multiple} for multiple in _MULTIPLES},
    additive=r_precision_sum,
    deciding=_deciding_of_r_precision,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
    # With larger multiples there would be more places than an array can have.
    options={"multiple": partial(check_number, above=0, most=1e6)},
)


def _relative_precision(block: ListBlock, k):
    """Precision as a share of the highest precision that any list of this length can have.

    A query with fewer than k relevant documents can reach 1, unlike with precision.

    See Also
    --------
    precision_at_k_score, recall_at_k_score : Its values if all are relevant, or all could be shown.

    Notes
    -----
    The number of rows of gain above 0 among the first k of the returned list, divided by ``min(k,
    R)`` for R relevant documents in the pool, or without `k` by ``min(n, R)`` for a list of n
    (``relative_P_k`` and ``set_relative_P`` of trec_eval).

    Hidden documents leave no gap, but relevant ones still count in R. Unjudged documents count
    as not relevant, and with ``unjudged="drop"`` are removed from the list.

    References
    ----------
    trec_eval, NIST, measures "relative_P" and "set_relative_P".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> get_measure("relative_P_3")([1, 0, 0], [3, 2, 1], groups=["a"] * 3)
    1.0
    """
    found = block.ranked_relevant(k).sum(axis=1)
    size = np.maximum(block.n_retained, 1) if k is None else k
    return ratio(found, np.minimum(size, block.n_relevant))


relative_precision_score = Measure(
    "relative_precision",
    _relative_precision,
    aliases=("relative_P_@", "set_relative_P"),
    order_matters="with k",
    undefined="no document of the query is relevant",
    value_range=(0, 1),
)


def _rr(block: ListBlock, k):
    """One over the place of the first relevant document.

    For a user who wants one answer: known items, question answering, navigation. Its mean over
    queries is MRR. Nothing after the first relevant document counts.

    See Also
    --------
    success_at_k_score : Share of queries with a relevant document in the top k.
    err_score : Models a user whom each document satisfies with some probability.

    Notes
    -----
    ``1 / i`` for the first place i of the returned list that holds a row of gain above 0, and 0
    where the first k places hold none (``recip_rank`` of trec_eval, which has no cut-off).

    The first tie that holds a relevant document decides. With ``n`` documents of which ``r`` are
    relevant, its j-th place is the first relevant one with the probability of the negative
    hypergeometric distribution, ``C(n - j, r - 1) / C(n, r)``.

    Hidden documents leave no gap: hiding documents above the first relevant one improves the
    value. Unjudged documents count as not relevant, and with ``unjudged="drop"`` are removed from
    the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] McSherry and Najork, "Computing Information Retrieval Performance Measures Efficiently
       in the Presence of Tied Scores", ECIR 2008 (equation for reciprocal rank with ties).

    Examples
    --------
    >>> from skfilterrank.metrics import reciprocal_rank_score
    >>> y_true, groups = [0, 0, 2, 1], ["a"] * 4
    >>> round(reciprocal_rank_score(y_true, [0.9, 0.8, 0.7, 0.6], groups=groups), 3)
    0.333
    >>> reciprocal_rank_score(y_true, [0.9, 0.8, 0.7, 0.6], groups=groups, k=2)
    0.0
    >>> reciprocal_rank_score(y_true, [0.9, float("-inf"), 0.7, 0.6], groups=groups)
    0.5

    A tie of a relevant and a non-relevant document at the top, as often the one first as the other:

    >>> reciprocal_rank_score([1, 0], [0.9, 0.9], groups=["a", "a"])
    0.75
    """
    relevant = block.ranked_relevant(k)
    first = (relevant > 0).argmax(axis=1)
    found = relevant[np.arange(len(first)), first] > 0
    values = found / (first + 1.0)
    if (ties := block.ties(k)) is not None:
        none_yet = mean_none_relevant(ties, relevant[ties.lists])
        here = -np.diff(none_yet, axis=1, prepend=1.0)
        values[ties.lists] = here @ reciprocal(first_places(here.shape[1]))
    return np.where(block.n_relevant > 0, values, np.nan)


reciprocal_rank_score = Measure(
    "rr",
    _rr,
    as_in={"catboost": {"gains": None, "ties": "worst", "undefined": 0.0}},
    aliases=("MRR", "recip_rank", "reciprocal_rank"),
    additive=partial(first_relevant_sum, discount=reciprocal),
    deciding=at_ends,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
)


def _success(block: ListBlock, k):
    """Share of queries with a relevant document in the top k.

    Its mean is the share of the queries that get an answer at all. For recommended items it is
    called "hit rate".

    See Also
    --------
    reciprocal_rank_score : Also depends on the place of the first relevant document.

    Notes
    -----
    1 where a row of gain above 0 is among the first k of the returned list, else 0 (``success_k``
    of trec_eval); without `k`, anywhere in it. If a tie of n documents, r of which are relevant,
    has m places in the top k, the value is the share of its orders with a relevant document there:
    ``1 - C(n - r, m) / C(n, m)``.

    Hidden documents leave no gap, so hiding can bring a relevant document into the top k;
    hiding all relevant documents gives 0. Unjudged documents count as not relevant, and with
    ``unjudged="drop"`` are removed from the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] Craswell and Hawking, "Overview of the TREC 2004 Web Track", TREC 2004.

    Examples
    --------
    >>> from skfilterrank.metrics import success_at_k_score
    >>> y_true, groups = [0, 1, 0, -1], ["a", "a", "b", "b"]
    >>> success_at_k_score(y_true, [2, 1, 2, 1], groups=groups, k=2, undefined="drop")
    1.0
    >>> success_at_k_score(y_true, [2, 1, 2, 1], groups=groups, k=1, undefined="drop")
    0.0
    """
    relevant = block.ranked_relevant(k)
    values = np.where((relevant > 0).any(axis=1), 1.0, 0.0)
    if (ties := block.ties(k)) is not None:
        values[ties.lists] = 1 - mean_none_relevant(ties, relevant[ties.lists])[:, -1]
    return np.where(block.n_relevant > 0, values, np.nan)


success_at_k_score = Measure(
    "success",
    _success,
    zero_or_one=True,
    aliases=("success_@", "hit_rate"),
    additive=partial(first_relevant_sum, discount=np.ones_like),
    order_matters="with k",
    deciding=at_ends,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
)
