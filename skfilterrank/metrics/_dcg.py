"""DCG and nDCG_f with variants, which measure ranking and filtering together.

Carmel, Cohen, Ingber and Kravi, "IR Evaluation and Learning in the Presence of Forbidden
Documents", SIGIR 2022, https://doi.org/10.1145/3477495.3532006.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import check_k
from skfilterrank._base.rounding import ROUNDING_OF_VALUES
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import ListBlock, RankedLists
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import (
    check_undefined,
    first_places,
    log_discount,
    ratio,
    with_undefined,
)
from skfilterrank.metrics._unjudged_bounds import OpenList, at_ends, of_extremes


def _discounted(gains):
    """Compute the discounted sum of each row of a matrix of gains in list order."""
    return gains @ log_discount(first_places(gains.shape[1]))


def ideal_dcg(block: ListBlock, k, *, filtering: bool) -> np.ndarray:
    """Compute the best DCG@k of the judged documents; `filtering` leaves out forbidden ones."""
    if filtering or not block.has_forbidden:
        return _discounted(block.best_relevant(k))
    return _discounted(block.best_first(k))


def worst_dcg(block: ListBlock, k, *, filtering: bool) -> np.ndarray:
    """Compute the worst DCG@k of the judged documents; `filtering` leaves out positive gains."""
    if filtering and not block.has_forbidden:
        return np.zeros(len(block.sizes))
    worst = block.worst_first(k)
    return _discounted(np.minimum(worst, 0.0) if filtering else worst)


def dcg(block: ListBlock, k, lowest=-np.inf):
    """Compute DCG@k of the returned list; gains below `lowest` are raised to it."""
    return _discounted(block.ranked(_at_least(lowest, block.gains), k))


def dcg_sum(facts: Facts, bounds=None, lowest=-np.inf, scale="weighted") -> Additive:
    """Return DCG, or its position between two bounds, as a sum over documents."""
    worth, gains = facts.by_place(log_discount), _at_least(lowest, facts.gains)
    if bounds is None:
        return Additive(gains, worth)
    low, high = facts.per_query(lambda block: bounds(block, facts.k))
    is_defined = high > low
    offset = np.zeros(len(low))
    np.divide(-low, high - low, out=offset, where=is_defined)
    return Additive(
        facts.over(high - low, gains),
        worth,
        scale=scale,
        scale_depth=facts.k,
        offset=offset,
        is_defined=is_defined,
    )


def ndcg_sum(facts: Facts) -> Additive:
    """Return nDCG as a sum; its ideal may hold forbidden documents, if few others exist."""
    shows_others = facts.k != 1 and (facts.gains < 0).any()
    return dcg_sum(facts, ndcg_bounds, scale="all" if shows_others else "weighted")


def _at_least(lowest, gains):
    """Replace gains below `lowest` by `lowest`."""
    return np.maximum(gains, lowest) if np.isfinite(lowest) else gains


# Bounds of the measures that are positions of the DCG between a lower and an upper bound.


def ndcg_bounds(block: ListBlock, k):
    """Return the bounds of nDCG (equation 1): 0 and the best DCG."""
    return np.zeros(len(block.sizes)), ideal_dcg(block, k, filtering=False)


def ndcg_0_bounds(block: ListBlock, k):
    """Return the bounds of nDCG_0: 0 and the best DCG without forbidden documents."""
    return np.zeros(len(block.sizes)), ideal_dcg(block, k, filtering=True)


def ndcg_min_bounds(block: ListBlock, k):
    """Compute the bounds of nDCG_min (equation 2): the worst and best DCG of all documents."""
    low, high = worst_dcg(block, k, filtering=False), ideal_dcg(block, k, filtering=False)
    # If all gains are equal, the two sums may still differ by rounding, which must not be a
    # divisor.
    best, worst = block.best_first(1)[:, 0], block.worst_first(1)[:, 0]
    all_equal = best - worst <= ROUNDING_OF_VALUES * np.maximum(np.abs(best), np.abs(worst))
    return np.where(all_equal, high, low), high


def ndcg_f_bounds(block: ListBlock, k):
    """Compute the bounds of nDCG_f (equation 3): the worst and best DCG that filtering allows."""
    return worst_dcg(block, k, filtering=True), ideal_dcg(block, k, filtering=True)


def between(block: ListBlock, k, bounds, lowest=-np.inf):
    """Compute the position of the DCG between its bounds, from 0 to 1."""
    return _between(block.once(bounds, k), dcg(block, k, lowest))


def _between(bounds, achieved):
    low, high = bounds
    return ratio(achieved - low, high - low)


def empty_list(block: ListBlock, k):
    """Compute nDCG_f (equation 3) of the empty list, whose DCG is 0."""
    return _between(ndcg_f_bounds(block, k), np.zeros(len(block.sizes)))


def deciding_between(
    found: OpenList, *, filtering: bool, uses_worst: bool, **options
) -> np.ndarray | None:
    """Return how many unjudged documents must be good for the extreme positions of the DCG."""
    if not found.has_places:
        return None
    lowest = 0.0 if filtering and not uses_worst else -np.inf
    low, high = np.maximum([found.low, found.high], lowest)
    worth = found.mean_worth(log_discount)
    number = np.arange(len(found.rows) + 1.0)
    others = {high: number, low: number[::-1]} if low < high else {low: number[-1] + 0 * number}
    judged = np.maximum(found.judged, lowest)
    best = _best_sums(judged, others, found.k, filtering)
    worst = np.zeros(len(number))
    if uses_worst:
        negated = {-gain: n for gain, n in others.items()}
        worst -= _best_sums(-judged, negated, found.k, filtering)
    width = best - worst
    # Bounds that differ by rounding alone are equal.
    width[width <= ROUNDING_OF_VALUES * np.maximum(np.abs(best), np.abs(worst))] = np.nan
    start = worth @ np.where(found.unjudged, low, np.maximum(found.gains, lowest))
    values = []
    for way in found.ways:
        achieved = start + np.cumsum(worth[way]) * (high - low)
        until = slice(1, len(way) + 1)
        values.append(ratio(achieved - worst[until], width[until]))
    return of_extremes(values)


def _best_sums(judged, others, k, filtering):
    """Compute the best DCG@k of judged gains and of varying numbers of other gains.

    `others` maps a gain to an array with its number in each case.
    """
    gains, counts = np.unique(judged, return_counts=True)
    levels = {gain: (n, 0.0) for gain, n in zip(gains, counts)}
    for gain, number in others.items():
        levels[gain] = levels.get(gain, (0, 0.0))[0], number
    n_all = len(judged) + int(sum(number[0] for number in others.values()))
    depth = n_all if k is None else min(k, n_all)
    running = np.append(0.0, np.cumsum(log_discount(first_places(depth))))
    total, above = 0.0, 0.0
    for gain in sorted(levels, reverse=True):
        if filtering and gain <= 0:
            break
        end = above + sum(levels[gain])
        first, last = (np.minimum(each, depth).astype(np.intp) for each in (above, end))
        total, above = total + gain * (running[last] - running[first]), end
    return total + 0.0 * next(iter(others.values()))


def _dcg(block: ListBlock, k):
    """Discounted cumulative gain of the returned list.

    The gain of the document at place i counts with weight ``1 / log2(i + 1)``. Forbidden
    documents subtract. The empty list scores 0.

    See Also
    --------
    ndcg_f_score : DCG between the worst and the best list a filter could return.

    Notes
    -----
    ``DCG@k = sum over i <= min(k, length) of gain_i / log2(i + 1)``, of [2]_; section 2 of [1]_.

    Hidden documents add nothing, and those below them move up. Unjudged documents add nothing
    where they stand.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques", ACM
       Transactions on Information Systems 20(4), 2002.

    Examples
    --------
    >>> from skfilterrank.metrics import dcg_score
    >>> dcg_score([2, -1], [0.9, 0.1], groups=["a", "a"])  # 2 / log2(2) - 1 / log2(3)
    1.369...
    >>> dcg_score([2, -1], [0.9, float("-inf")], groups=["a", "a"])
    2.0
    """
    return dcg(block, k)


dcg_score = Measure(
    "dcg",
    _dcg,
    as_in={"scikit-learn": {"gains": None, "ties": "average", "undefined": 0.0}},
    intervals_cover=lambda k: k is not None,
    additive=dcg_sum,
    deciding=at_ends,
    undefined="never",
    value_range=(-np.inf, np.inf),
)


def _ndcg(block: ListBlock, k):
    """Normalised discounted cumulative gain, for labels without forbidden documents.

    DCG divided by the DCG of all judged documents of the query in their best order. With negative
    gains it may lie outside of [0, 1], and a DataWarning is given. Use :func:`ndcg_f_score` then,
    or :func:`ndcg_0_score`, which trec_eval computes.

    See Also
    --------
    ndcg_f_score : Bounded if documents are forbidden or hidden.

    Notes
    -----
    ``nDCG@k = DCG@k / I_k``, equation 1 of [1]_. The ideal ``I_k`` is taken over all judged rows
    of the query, retrieved or not; where it is negative or 0 the measure is undefined. The name
    "ndcg_0" in the measure table is this measure with negative gains raised to 0, the official
    measure of the TREC web tracks.

    Hidden documents add nothing but stay in the ideal, and those below them move up. Unjudged
    documents add nothing where they stand and are not in the ideal.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import ndcg_score
    >>> ndcg_score([0, 1, 2], [0.1, 0.2, 0.3], groups=["a", "a", "a"])
    1.0
    >>> ndcg_score([0, 1, 2], [0.3, 0.2, 0.1], groups=["a", "a", "a"], k=2)  # (1/log2(3)) / I_2
    0.239...
    """
    return between(block, k, bounds=ndcg_bounds)


ndcg_score = Measure(
    "ndcg",
    _ndcg,
    as_in={
        "lightgbm": {"gains": "exp2", "ties": "stable", "undefined": 1.0},
        "xgboost": {"gains": "exp2", "ties": "stable", "undefined": 1.0},
        "catboost": {"gains": None, "ties": "worst", "undefined": 1.0},
        "scikit-learn": {"gains": None, "ties": "average", "undefined": 0.0},
    },
    additive=ndcg_sum,
    deciding=partial(deciding_between, filtering=False, uses_worst=False),
    undefined="the best DCG of the pool is not above 0",
    value_range=(0, 1),
    range_holds_for="nonnegative gains",
    with_forbidden="ndcg_f{at}, where forbidden documents cost, or ndcg_0{at}, where they count "
    "0 as in trec_eval's ndcg{cut}",
)


def _ndcg_0(block: ListBlock, k):
    """nDCG with forbidden documents worth 0: the quality of the ranking alone.

    Negative gains count as 0: a forbidden document costs no more than a useless one, and hiding
    it only moves the documents below it up.

    Notes
    -----
    :func:`ndcg_score` with gains ``max(0, gain)``; section 4.1.3 of [1]_.

    Hidden documents add nothing but stay in the ideal: hiding a forbidden document helps only
    because those below it move up. Unjudged documents add nothing where they stand and are not in
    the ideal.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import ndcg_0_score
    >>> ndcg_0_score([2, -1], [0.9, 0.1], groups=["a", "a"])
    1.0
    """
    return between(block, k, bounds=ndcg_0_bounds, lowest=0.0)


ndcg_0_score = Measure(
    "ndcg_0",
    _ndcg_0,
    # trec_eval treats negative labels as 0.
    aliases=("ndcg_cut_@",),
    additive=partial(dcg_sum, bounds=ndcg_0_bounds, lowest=0.0),
    deciding=partial(deciding_between, filtering=True, uses_worst=False),
    undefined="no judged document has a positive gain",
    value_range=(0, 1),
)


def _ndcg_min(block: ListBlock, k):
    """DCG between the worst and the best *unfiltered* list.

    Bounded by 0 and 1 for rankings of all documents, also with negative gains, but not for
    lists with hidden documents: use :func:`ndcg_f_score` for those.

    See Also
    --------
    ndcg_f_score : Bounded for lists with hidden documents, too.

    Notes
    -----
    ``nDCG_min@k = (DCG@k - W_k) / (I_k - W_k)``, equation 2 of [1]_, with the worst and the ideal
    order of all judged rows of the query.

    Hidden documents add nothing but stay in both bounds, which therefore do not hold for the
    list that is left. Unjudged documents add nothing where they stand and are in neither bound.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    The pair of proposition 3.1 in [1]_, and how hiding leaves the bounds:

    >>> from skfilterrank.metrics import ndcg_min_score
    >>> ndcg_min_score([-1, 2], [0.1, 0.9], groups=["a", "a"])
    1.0
    >>> ndcg_min_score([-1, 2], [float("-inf"), 0.9], groups=["a", "a"])
    1.569...

    The share of queries that leave the bounds, above and below (section 4.2 and Table 5 of [1]_);
    values may miss 1 and 0 by rounding:

    >>> y_true, y_score = [-1, 2, -1, 2], [float("-inf"), 1, 0, 1]
    >>> values = ndcg_min_score.per_query(y_true, y_score, groups=["a", "a", "b", "b"])
    >>> float((values > 1 + 1e-9).mean()), float((values < -1e-9).mean())
    (0.5, 0.0)
    """
    return between(block, k, bounds=ndcg_min_bounds)


ndcg_min_score = Measure(
    "ndcg_min",
    _ndcg_min,
    about="both",
    additive=partial(dcg_sum, bounds=ndcg_min_bounds, scale="all"),
    deciding=partial(deciding_between, filtering=False, uses_worst=True),
    undefined="the best and the worst DCG are equal",
    value_range=(-np.inf, np.inf),
)


def _ndcg_f(block: ListBlock, k):
    """DCG between the worst and the best list that ranking *and* filtering can return.

    1 for the list of all documents of positive gain in their best order, 0 for the list of only the
    forbidden documents, worst first. A list has a higher value than the empty list exactly if its
    DCG is above 0 (:func:`filtering_difficulty`).

    See Also
    --------
    filtering_difficulty : nDCG_f of the empty list.
    skfilterrank.thresholds.threshold_curve : The score at every possible threshold.

    Notes
    -----
    ``nDCG_f@k = (DCG@k - W) / (I - W)``, equation 3 of [1]_: the ideal I sums the positive gains
    of the pool, highest first, the worst W the negative gains, lowest first, both to place k. The
    pool is all judged rows of the query, retrieved or not. Without forbidden documents it is
    nDCG (proposition 3.2); it lies in [0, 1] for any list (3.3); with one document it is the
    accuracy of the filter (3.4).

    Hidden documents add nothing: for a forbidden document that is the best result, but a good
    document loses its gain. Unjudged documents add nothing where they stand and are in neither
    bound, so a list of unjudged documents alone has the value of the empty list.

    The gain of a forbidden document is a choice, and it decides the order of systems. An example
    is TREC 2021 Health Misinformation at k = 10, with harmful documents forbidden, helpful ones
    worth 1 and unjudged ones worth 0 (``benchmarks/results/price_of_forbidden.md``):

    | list | top 10 unjudged | harmful = -1 | -3 | -10 |
    | --- | ---: | ---: | ---: | ---: |
    | Correct-Stance (a published run) | 36 % | 0.735 | 0.821 | 0.885 |
    | Trust-Pipeline (a published run) | 41 % | 0.673 | 0.769 | 0.844 |
    | BM25-Baseline (a published run) | 28 % | 0.533 | 0.608 | 0.665 |
    | random order of 3,000 documents | 95 % | 0.431 | 0.668 | 0.853 |
    | nothing is shown | | 0.416 | 0.663 | 0.858 |

    The empty list and the random order are above one published run at -3, and above two at -10.
    Report the value of the empty list and ``judged@k`` beside nDCG_f, and report nDCG_f for more
    than one gain of forbidden documents. ``unjudged="drop"`` does not help: it gives the random
    order 0.690, and BM25-Baseline 0.619.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022, https://doi.org/10.1145/3477495.3532006.

    Examples
    --------
    A good, a useful and a bad answer. Showing all three in the best order is not enough:

    >>> from skfilterrank.metrics import ndcg_f_score
    >>> y_true, groups = [2, 1, -1], ["a", "a", "a"]
    >>> ndcg_f_score(y_true, [0.9, 0.5, 0.1], groups=groups)
    0.862...

    Hiding the bad one is:

    >>> ndcg_f_score(y_true, [0.9, 0.5, float("-inf")], groups=groups)
    1.0

    An empty page is better than the bad answer alone:

    >>> ndcg_f_score(y_true, [float("-inf")] * 3, groups=groups)
    0.275...
    >>> ndcg_f_score(y_true, [float("-inf"), float("-inf"), 0.1], groups=groups)
    0.0
    """
    return between(block, k, bounds=ndcg_f_bounds)


ndcg_f_score = Measure(
    "ndcg_f",
    _ndcg_f,
    about="both",
    additive=partial(dcg_sum, bounds=ndcg_f_bounds),
    deciding=partial(deciding_between, filtering=True, uses_worst=True),
    undefined="every judged gain is 0, or nothing is judged",
    value_range=(0, 1),
)


def filtering_difficulty(
    y_true: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    k: int | None = None,
    gains: Gains = None,
    undefined: float | str = 0.0,
) -> np.ndarray:
    """Compute nDCG_f of the empty list, which a system must exceed to be useful.

    It is 0 if nothing is forbidden, 1 if nothing is good, and grows with the possible harm.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged. A Series may carry the query ids
        in an index level named "qid".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    k : int or None, default=None
        Number of places that count; None means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    undefined : float or "drop", default=0.0
        Value of a query whose gains are all 0 or unjudged; "drop" gives NaN.

    Returns
    -------
    ndarray of shape (n_queries,), dtype float64
        Between 0 and 1 for each query, in the order of the sorted query ids.

    Raises
    ------
    ValueError
        In the same cases as :func:`ndcg_f_score`.

    Notes
    -----
    ``-W / (I - W)`` with the bounds of equation 3 in [1]_. Section 3.2 there prints the worst
    *unfiltered* list in the numerator, which can make the value negative; this is the value that
    equation 3 gives to the empty list.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import filtering_difficulty
    >>> filtering_difficulty([1, -1, -1], groups=["easy", "hard", "hard"])
    array([0., 1.])
    """
    k = check_k(k)
    check_undefined(undefined)
    lists = RankedLists(y_true, groups=groups, gains=gains)
    values = lists.per_query(lambda block: empty_list(block, k))
    return with_undefined(values, undefined)


def dcg_bounds(y_true, *, groups=None, k: int | None = None, gains=None) -> pd.DataFrame:
    """Compute the best and worst DCG of each query, with and without filtering.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged (left out). A Series may carry
        the query ids in an index level named "qid".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    k : int or None, default=None
        Number of places that count; None means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.

    Returns
    -------
    DataFrame of shape (n_queries, 4)
        Index "qid", sorted; columns ``ideal`` and ``worst`` over all orders of all judged
        documents, ``ideal_filtered`` and ``worst_filtered`` over all sublists too. All are 0 for
        a query without judged documents.

    Raises
    ------
    ValueError
        In the same cases as :func:`ndcg_f_score`.

    Notes
    -----
    ``I_k``, ``W_k``, ``I_{k,f}`` and ``W_{k,f}`` of sections 2 and 3.1 of [1]_.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import dcg_bounds
    >>> dcg_bounds([-1, 2], groups=["a", "a"]).round(3)
         ideal  worst  ideal_filtered  worst_filtered
    qid
    a    1.369  0.262             2.0            -1.0
    """
    k = check_k(k)
    lists = RankedLists(y_true, groups=groups, gains=gains)
    bounds = np.empty((lists.index.n_queries, 4))
    for block in lists.blocks():
        bounds[block.queries] = np.column_stack(
            [
                ideal_dcg(block, k, filtering=False),
                worst_dcg(block, k, filtering=False),
                ideal_dcg(block, k, filtering=True),
                worst_dcg(block, k, filtering=True),
            ]
        )
    return pd.DataFrame(
        bounds,
        index=pd.Index(lists.index.query_ids, name="qid"),
        columns=["ideal", "worst", "ideal_filtered", "worst_filtered"],
    )
