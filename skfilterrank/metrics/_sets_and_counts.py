"""Counts, F, and interpolated precision: the other measures of trec_eval."""

from functools import partial
from typing import Any

import numpy as np

from skfilterrank._base.checks import check_number, one_of
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import WHOLE_ORDERS, ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import ratio
from skfilterrank.metrics._average_precision import average_precision, deciding_of_ap
from skfilterrank.metrics._unjudged_bounds import at_ends, at_turns

# trec_eval's names of the points that it prints, and how its version 10 rounds their levels.
_AS_TREC_EVAL = {
    f"iprec_at_recall_{level / 10:.2f}": {"recall": level / 10, "rounding": "nearest"}
    for level in range(11)
}
# Added to recall * m, the least number of relevant documents, before it is cut to a whole.
_ADDED = {"nearest": 0.5, "trec_eval9": 0.9}
_check_rounding = one_of("up", *_ADDED)


def n_relevant_retrieved(block: ListBlock):
    """Count the relevant documents of the returned list."""
    return block.shows_relevant.sum(axis=1).astype(np.float64)


def f_of_set(block: ListBlock, count, beta):
    """Compute F of the shown set, (1 + b^2) found / (b^2 m + shown), for m relevant documents."""
    weight, m = beta * beta, block.n_relevant[:, None]
    whole = np.where(m > 0, np.maximum(count(), 1) + weight * m, 0.0)
    return ratio((1 + weight) * count(block.gains > 0), whole)


def f_measure_sum(facts: Facts) -> Additive | None:
    """Return F as a sum: each relevant document in the top k adds (1 + b^2) / (b^2 m + k)."""
    if facts.k is None:
        return None
    weight = facts.option("beta") ** 2
    divisor = np.where(facts.m > 0, (facts.k + weight * facts.m) / (1 + weight), 0.0)
    return Additive(facts.over(divisor), facts.by_place(np.ones_like), scale="weighted")


def set_map_of_set(block: ListBlock, count):
    """Compute precision times recall of the shown set."""
    found = count(block.gains > 0)
    return ratio(found * found, block.n_relevant[:, None] * np.maximum(count(), 1))


def interpolated_precision(block: ListBlock, recall, rounding):
    """Compute the highest precision at a recall level or above."""
    exact = np.atleast_1d(recall)[:, None] * block.n_relevant
    # 0.7 * 10 is above 7 and 0.7 * 3 below 2.1 in floating point.
    rounded = np.ceil(exact.round(9)) if rounding == "up" else np.floor(exact + _ADDED[rounding])
    levels = rounded.astype(np.int64)
    highest = _highest_precisions(block)
    at = np.minimum(np.maximum(levels, 1), highest.shape[1]) - 1
    values = highest[np.arange(len(highest)), at].mean(axis=0)
    return np.where(block.n_relevant > 0, values, np.nan)


def _highest_precisions(block):
    """Compute, for each found relevant document, the highest precision at it or below it."""
    cells = block.relevant_cells
    found = np.zeros((cells.n_lists, int(block.n_relevant.max()) + 1))
    found[cells.lists, cells.levels - 1] = cells.levels / (cells.places + 1.0)
    return np.maximum.accumulate(found[:, ::-1], axis=1)[:, ::-1]


_COUNT: dict[str, Any] = {
    "deciding": at_ends,
    "order_matters": "never",
    "over_queries": "sum",
    "undefined": "never",
    "value_range": (0, np.inf),
}


def _num_q(block: ListBlock):
    """Number of queries.

    See Also
    --------
    precision_at_k_score, recall_at_k_score : Quotients of these numbers.

    Notes
    -----
    1 for each query. Queries are summed: the value is the total of all queries, as
    trec_eval prints it in its line "all". With `query_weight`, the number of each query is
    multiplied by the query's weight.

    Hidden documents are not returned but still count as relevant. Unjudged documents are not
    relevant, and with ``unjudged="drop"`` not returned.

    References
    ----------
    trec_eval, NIST, measure "num_q".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> n_queries = get_measure("num_q")
    >>> y_true, y_score = [1, 0, 1, 1], [3, 2, float("-inf"), 1]
    >>> n_queries(y_true, y_score, groups=list("aaab"))
    2.0
    """
    return np.ones(len(block.sizes))


n_queries_score = Measure("num_q", _num_q, aliases=("NumQ",), reads="none", **_COUNT)


def _num_ret(block: ListBlock):
    """Number of documents that are returned.

    See Also
    --------
    precision_at_k_score, recall_at_k_score : Quotients of these numbers.

    Notes
    -----
    The length of the returned list: hidden documents do not count, unjudged ones do unless
    ``unjudged="drop"`` takes them out. Queries are summed: the value is the total of
    all queries, as trec_eval prints it in its line "all". With `query_weight`, the number of each
    query is multiplied by the query's weight.

    Hidden documents are not returned but still count as relevant. Unjudged documents are not
    relevant, and with ``unjudged="drop"`` not returned.

    References
    ----------
    trec_eval, NIST, measure "num_ret".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> n_retrieved = get_measure("num_ret")
    >>> y_true, y_score = [1, 0, 1, 1], [3, 2, float("-inf"), 1]
    >>> n_retrieved(y_true, y_score, groups=list("aaab"))
    3.0
    """
    return block.n_retained.astype(np.float64)


n_retrieved_score = Measure("num_ret", _num_ret, reads="none", **_COUNT)


def _num_rel(block: ListBlock):
    """Number of relevant documents, returned or not.

    See Also
    --------
    precision_at_k_score, recall_at_k_score : Quotients of these numbers.

    Notes
    -----
    The rows of the query of gain above 0. Queries are summed: the value is the total of
    all queries, as trec_eval prints it in its line "all". With `query_weight`, the number of each
    query is multiplied by the query's weight.

    Hidden documents are not returned but still count as relevant. Unjudged documents are not
    relevant, and with ``unjudged="drop"`` not returned.

    References
    ----------
    trec_eval, NIST, measure "num_rel".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> n_relevant = get_measure("num_rel")
    >>> y_true, y_score = [1, 0, 1, 1], [3, 2, float("-inf"), 1]
    >>> n_relevant(y_true, y_score, groups=list("aaab"))
    3.0
    """
    return block.n_relevant.copy()


n_relevant_score = Measure("num_rel", _num_rel, aliases=("NumRel",), **_COUNT)


def _num_rel_ret(block: ListBlock):
    """Number of relevant documents that are returned.

    See Also
    --------
    precision_at_k_score, recall_at_k_score : Quotients of these numbers.

    Notes
    -----
    The rows of gain above 0 that are not hidden. Queries are summed: the value is the
    total of all queries, as trec_eval prints it in its line "all". With `query_weight`, the number
    of each query is multiplied by the query's weight.

    Hidden documents are not returned but still count as relevant. Unjudged documents are not
    relevant, and with ``unjudged="drop"`` not returned.

    References
    ----------
    trec_eval, NIST, measure "num_rel_ret".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> n_relevant_retrieved = get_measure("num_rel_ret")
    >>> y_true, y_score = [1, 0, 1, 1], [3, 2, float("-inf"), 1]
    >>> n_relevant_retrieved(y_true, y_score, groups=list("aaab"))
    2.0
    """
    return n_relevant_retrieved(block)


n_relevant_retrieved_score = Measure("num_rel_ret", _num_rel_ret, aliases=("NumRelRet",), **_COUNT)


def _num_nonrel_judged_ret(block: ListBlock):
    """Number of documents that are returned and judged not relevant, forbidden ones included.

    See Also
    --------
    forbidden_at_k : Counts the forbidden documents of the top k alone.

    Notes
    -----
    The number of judged rows of gain 0 or below in the returned list. Queries are summed: the value
    is the total of all queries, as trec_eval prints it in its line "all". With `query_weight`, the
    number of each query is multiplied by the query's weight.

    Hidden documents are not returned. Unjudged documents are not counted.

    References
    ----------
    trec_eval, NIST, measure "num_nonrel_judged_ret".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> count = get_measure("num_nonrel_judged_ret")
    >>> count([1, 0, -1, float("nan")], [4, 3, 2, 1], groups=["a"] * 4)
    2.0
    """
    is_other = block.judged & (block.gains <= 0)
    return block.only_retained(block.in_order(is_other)).sum(axis=1).astype(np.float64)


n_nonrelevant_retrieved_score = Measure(
    "num_nonrel_judged_ret", _num_nonrel_judged_ret, greater_is_better=False, **_COUNT
)


def _f(block: ListBlock, k, *, beta: float = 1.0):
    """Harmonic mean of precision and recall in the top k.

    It counts both non-relevant documents shown and relevant ones missed; the order in the top k has
    no influence.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of recall relative to precision, above 0.

    See Also
    --------
    precision_at_k_score, recall_at_k_score : The two measures that it combines.

    Notes
    -----
    ``(1 + beta^2) P R / (beta^2 P + R)``, which with f of m relevant documents found in k places is
    ``(1 + beta^2) f / (k + beta^2 m)``; 0 where none is found. Without `k` the whole returned list
    counts (``set_F``). Places that the list leaves empty count as not relevant, as in precision.
    trec_eval's parameter of ``set_F`` is the square of `beta`.

    Hidden documents leave no gap. Unjudged documents count as not relevant, and with
    ``unjudged="drop"`` are removed from the list.

    References
    ----------
    Van Rijsbergen, "Information Retrieval", 1979, chapter 7.

    Examples
    --------
    Precision 1/2 and recall 1:

    >>> from skfilterrank.metrics import f_score
    >>> f_score([1, 0, 0], [3, 2, 1], groups=["a"] * 3, k=2)
    0.666...
    """
    found = block.ranked_relevant(k).sum(axis=1)
    size = np.maximum(block.n_retained, 1) if k is None else k
    weight = beta * beta
    whole = np.where(block.n_relevant > 0, size + weight * block.n_relevant, 0.0)
    return ratio((1 + weight) * found, whole)


f_score = Measure(
    "f",
    _f,
    aliases=("F1", "set_F", "SetF"),
    additive=f_measure_sum,
    of_set=f_of_set,
    order_matters="with k",
    deciding=at_turns,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
    # The square of a larger number overflows.
    options={"beta": partial(check_number, above=0, most=1e100)},
)


def _set_map(block: ListBlock):
    """Precision times recall of the returned set.

    See Also
    --------
    f_score : Their harmonic mean.
    average_precision_score : Depends on the order of the list.

    Notes
    -----
    ``f^2 / (n m)`` with f of m relevant documents in a list of n.

    Hidden documents are not in the list. Unjudged documents are, unless ``unjudged="drop"``.

    References
    ----------
    trec_eval, NIST, measure "set_map".

    Examples
    --------
    Precision 1/2 and recall 1:

    >>> from skfilterrank.metrics import get_measure
    >>> set_map = get_measure("set_map")
    >>> set_map([1, 0], [2, 1], groups=["a"] * 2)
    0.5
    """
    found = n_relevant_retrieved(block)
    return ratio(found * found, block.n_relevant * np.maximum(block.n_retained, 1))


set_map_score = Measure(
    "set_map",
    _set_map,
    aliases=("SetAP",),
    of_set=set_map_of_set,
    order_matters="never",
    deciding=at_turns,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
)


def _iprec(block: ListBlock, *, recall: float = 0.5, rounding: str = "up"):
    """Highest precision at any place whose recall reaches a given level.

    A point of the interpolated precision-recall curve, which never rises with recall.

    Parameters
    ----------
    recall : float, default=0.5
        Level of recall, from 0 to 1.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        Turns ``recall * m`` into the number of relevant documents that reach the level, for m
        relevant documents in the pool: the least number that does ("up"), the nearest one, halves
        up, as trec_eval 10 ("nearest"), or ``floor(recall * m + 0.9)``, as trec_eval 9.

    See Also
    --------
    average_precision_score : Needs no levels.

    Notes
    -----
    Let p_i be the place of the i-th relevant document in the list, and m their number in the pool.
    The value is the highest ``i / p_i`` over ``i >= max(1, ceil(recall * m))``, and 0 if fewer
    relevant documents are found. The mean of a maximum over tied orders has no simple form, so ties
    are put in one order.

    trec_eval's names, such as "iprec_at_recall_0.70", give the values of its version 10, which
    rounds ``recall * m`` to the nearest number: with 4 relevant documents, recall 0.6 is reached
    by 2 of them. With ``like="trec_eval9"`` the names give those of version 9, which are the
    values by definition but for a few levels that floating point numbers miss: of 3 relevant
    documents it asks for 2 at recall 0.7.

    Hidden documents leave no gap. Unjudged documents count as not relevant, and with
    ``unjudged="drop"`` are removed from the list.

    References
    ----------
    trec_eval, NIST, measure "iprec_at_recall".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> y_true, y_score = [0, 1, 1, 0, 1], [5, 4, 3, 2, 1]
    >>> get_measure("iprec")(y_true, y_score, groups=["a"] * 5)  # 2/3 at place 3
    0.666...
    >>> get_measure("iprec(recall=1)")(y_true, y_score, groups=["a"] * 5)
    0.6
    """
    return interpolated_precision(block, recall, rounding)


interpolated_precision_score = Measure(
    "iprec",
    _iprec,
    as_in={"trec_eval9": {"rounding": "trec_eval9"}},
    aliases=tuple(_AS_TREC_EVAL),
    cut_option="recall",
    presets=_AS_TREC_EVAL,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
    ties=WHOLE_ORDERS,
    options={"recall": partial(check_number, least=0, most=1), "rounding": _check_rounding},
)


def _eleven_points(block: ListBlock, *, rounding: str = "up"):
    """Mean of the interpolated precisions at recall 0, 0.1, ..., 1.

    Parameters
    ----------
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        As of "iprec". trec_eval's name "11pt_avg" takes "nearest", as its version 10 does.

    See Also
    --------
    "iprec" : One of them.
    average_precision_score : Needs no levels.

    Notes
    -----
    Levels and ties are treated as in "iprec".

    Hidden documents leave no gap. Unjudged documents count as not relevant, and with
    ``unjudged="drop"`` are removed from the list.

    References
    ----------
    trec_eval, NIST, measure "11pt_avg".

    Examples
    --------
    The highest precision is 1 up to recall 1/2 and 2/3 beyond:

    >>> from skfilterrank.metrics import get_measure
    >>> eleven_point_precision = get_measure("eleven_points")
    >>> eleven_point_precision([1, 0, 1], [3, 2, 1], groups=["a"] * 3)  # (6 + 5 * 2/3) / 11
    0.848...
    """
    return interpolated_precision(block, np.arange(11) / 10, rounding)


eleven_point_precision_score = Measure(
    "eleven_points",
    _eleven_points,
    as_in={"trec_eval9": {"rounding": "trec_eval9"}},
    aliases=("11pt_avg",),
    presets={"11pt_avg": {"rounding": "nearest"}},
    undefined="no document of the query is relevant",
    value_range=(0, 1),
    ties=WHOLE_ORDERS,
    options={"rounding": _check_rounding},
)


def _gm_map(block: ListBlock):
    """Geometric mean over queries of average precision.

    It emphasises the worst queries: an improvement from 0.01 to 0.02 counts as much as from 0.4 to
    0.8.

    See Also
    --------
    average_precision_score : Has the same values per query.

    Notes
    -----
    ``exp(mean of log(max(AP, 0.00001)))``. Only the number over all queries is this mean: values
    per query are average precision.

    Hidden documents leave no gap. Unjudged documents count as not relevant, and with
    ``unjudged="drop"`` are removed from the list.

    References
    ----------
    Robertson, "On GMAP: and other transformations", CIKM 2006; trec_eval's "gm_map".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> geometric_map = get_measure("gm_map")
    >>> y_true, y_score = [1, 0, 0, 1], [2, 1, 2, 1]
    >>> geometric_map(y_true, y_score, groups=list("aabb"))  # sqrt(1 * 1/2)
    0.707...
    """
    return average_precision(block, None, normalize="R")


geometric_map_score = Measure(
    "gm_map",
    _gm_map,
    over_queries="geometric mean",
    deciding=deciding_of_ap,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
)
