"""Lexicographic recall and precision as one number per ranking.

Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 5.2 and 7.3.
"""

from functools import partial

import numpy as np

from skfilterrank._base.checks import check_share, one_of
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import WHOLE_ORDERS, ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.positions import check_n_items, collection_sizes
from skfilterrank.exceptions import InputError
from skfilterrank.metrics._placements import SCALES, Placements

# For larger collections, the table of factorials is too long and its differences are too inexact.
_MOST_ITEMS = 10**6


def _per_query(block, values):
    """Compute the values of the queries that have relevant documents; NaN for the others."""
    result = np.full(len(block.sizes), np.nan)
    result[block.n_relevant > 0] = values
    return result


def lexicographic(block: ListBlock, n_items, scale, by):
    """Compute lexirecall or lexiprecision of each query with `by`, a method of `Placements`."""
    if scale == "preference":
        raise InputError(
            "scale='preference' orders several systems and has no value for a single one: use "
            "it in score_systems or the command compare, or pass another scale."
        )
    return _per_query(block, by(Placements.of_block(block, n_items), scale))


def _choices_from_the_end(place, level, n, m):
    """Return a, b and a mask for the coefficients C(a, b) that count better placements."""
    return place - 1, level, place > level


def _choices_from_the_top(place, level, n, m):
    """Return a, b and a mask for the coefficients C(a, b) that count worse placements."""
    return n - place, m - level + 1, n - place >= m - level + 1


def lexicographic_sum(facts: Facts, choices, sign) -> Additive | None:
    """Return lexirecall or lexiprecision as a sum over the found documents.

    Each found document adds a binomial coefficient, which counts worse or better placements. None
    where there is no such sum: for other scales than "share", and for collections of more than a
    million documents.
    """
    n = collection_sizes(facts)
    if facts.option("scale") != "share" or n.max() > _MOST_ITEMS:
        return None
    from scipy.special import gammaln

    sizes, m = n.astype(np.int64), facts.m.astype(np.int64)
    factorial = gammaln(np.arange(1.0, sizes.max() + 3))

    def log_choose(n, m):
        return factorial.take(n) - factorial.take(m) - factorial.take(n - m)

    log_all = log_choose(sizes, m)
    # Logarithm of the number of placements minus 1; 0 where only one placement exists.
    is_open = (m > 0) & (m < sizes)
    log_others = np.where(is_open, log_all + np.log1p(-np.exp(-np.where(is_open, log_all, 1))), 0)

    def worth(place, level, query):
        place, level = np.asarray(place, dtype=np.int64), np.asarray(level, dtype=np.int64)
        above, below, is_counted = choices(place, level, sizes[query], m[query])
        above, below = np.where(is_counted, above, 0), np.where(is_counted, below, 0)
        return np.where(is_counted, np.exp(log_choose(above, below) - log_others[query]), 0.0)

    weights = sign * facts.relevant * facts.spread(is_open)
    offset = ((m > 0) & (~is_open | (sign < 0))).astype(np.float64)
    return Additive(weights, worth, uses_levels=True, worth_of="labels", offset=offset, n_items=n)


def metric_lexirecall_sum(facts: Facts) -> Additive:
    """Return metric lexirecall as a sum of weighted distances from the end."""
    n = collection_sizes(facts)
    ratio = 1 / (1 + n + facts.option("epsilon"))

    def worth(place, level, query):
        weight = ratio[query] ** (facts.m[query] - level)
        weight = weight * np.where(level == 1, 1.0, 1 - ratio[query])
        return weight * ((n[query] - place) / n[query])

    return Additive(facts.relevant, worth, uses_levels=True, worth_of="labels", n_items=n)


_SHARED = {"n_items": check_n_items, "scale": one_of(*SCALES, "preference")}


def _lexirecall(block: ListBlock, *, n_items: int | None = None, scale: str = "log_odds"):
    """Lexicographic recall: how a ranking compares with others, from the last relevant document up.

    It shows how robust a ranking is for the searcher who is served worst. Rankings are compared by
    the position of their last relevant document; if that is equal, by that of the last but one, and
    so on. Use it where recall at a depth is equal for rankings that are not equally good.
    :func:`lexicographic_preference` tells which of two rankings is preferred; this measure gives
    each ranking a number that sorts rankings in the same order.

    Parameters
    ----------
    n_items : int or None, default=None
        Number of documents that could have been retrieved, the collection's size; None means the
        number of rows of the query plus its number of relevant documents, so that a missing
        document is behind every row. Compare values of a query only for equal `n_items`.
    scale : {"log_odds", "share", "log", "preference"}, default="log_odds"
        "log_odds" compares the logarithms of the numbers of worse and better placements; "share" is
        the share of worse placements; "log" is the logarithm of their number. "preference" orders
        several systems and gives no value: only comparisons accept it.

    See Also
    --------
    lexicographic_preference : Exact comparison of two rankings.
    lexiprecision_score : Compares rankings from the first relevant document down.
    metric_lexirecall_score : The number that the paper defines: a weighted sum of positions.

    Notes
    -----
    The m relevant documents can stand at ``C(n, m)`` sets of positions among n documents. Of these,
    ``better = sum over i of C(p_i - 1, i)`` are better than ``p_1 < ... < p_m`` (equation 11 of
    [1]_), and all others except p itself are worse. All scales are 1 for the ideal ranking and 0
    for the worst one; where every document is relevant, all rankings are alike and score 1.

    - "log_odds": ``1/2 + (log(1 + worse) - log(1 + better)) / (2 log C(n, m))``, the log odds that
      a random ranking is worse. Above 1/2 there are more worse rankings than better ones, and a
      random ranking of all n documents has 1/2 on average, whatever n and m. In a large collection
      a ranking that misses relevant documents has about half its recall, one that has them all more
      than 1/2.
    - "share": ``worse / (C(n, m) - 1)``, 1/2 on average over random rankings, too. Where some
      relevant documents are missing it is tiny, so that its mean is about the share of queries in
      which everything was found.
    - "log": ``log(1 + worse) / log C(n, m)``. Complete rankings are all close to 1.

    The mean of "log_odds" comes closest to the order by preferences and has the fewest ties, both
    for incomplete rankings (runs) and for complete ones (of a ranker): the benchmark
    ``lexirecall_scales`` compares the scales. The exact order of several systems is that of
    :func:`skfilterrank.comparison.order_systems`.

    Placements of up to 48 documents are counted exactly. For more documents the values are computed
    level by level, so that a preferred ranking never has the lower value. Two rankings have the
    same value if the difference is below the precision of float64, and values of "share" below
    1e-300 are 0.

    Relevant documents that were not retrieved are placed at the last positions of all, where they
    add no worse placements. Hidden documents count as not retrieved. Unjudged documents take
    positions, as documents that are not relevant; with ``unjudged="drop"`` they count as not
    retrieved.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 5.2.

    Examples
    --------
    Two of four documents are relevant, and ``C(4, 2) = 6``. From worst to best the placements are
    3 4, 2 4, 1 4, 2 3, 1 3, 1 2:

    >>> from skfilterrank.metrics import lexirecall_score
    >>> how = {"groups": ["q"] * 4, "n_items": 4}
    >>> lexirecall_score([1, 0, 0, 1], [4, 3, 2, 1], **how)  # 1/2 + log(3 / 4) / (2 log 6)
    0.419...
    >>> float(round(lexirecall_score([1, 0, 0, 1], [4, 3, 2, 1], scale="share", **how), 6))
    0.4
    >>> float(round(lexirecall_score([0, 1, 1, 0], [4, 3, 2, 1], scale="share", **how), 6))
    0.6
    """
    return lexicographic(block, n_items, scale, by=Placements.lexirecall)


lexirecall_score = Measure(
    "lexirecall",
    _lexirecall,
    preference="recall",
    additive=partial(lexicographic_sum, choices=_choices_from_the_end, sign=-1),
    undefined="nothing is relevant",
    value_range=(0, 1),
    options=_SHARED,
    ties=WHOLE_ORDERS,
)


def _lexiprecision(block: ListBlock, *, n_items: int | None = None, scale: str = "log_odds"):
    """Lexicographic precision: how a ranking compares with others, from the first document down.

    Rankings are compared by the position of their first relevant document; if that is equal, by
    that of the second, and so on. So it agrees with reciprocal rank wherever that prefers a
    ranking, and also orders rankings that are equal by reciprocal rank.

    Parameters
    ----------
    n_items : int or None, default=None
        Number of documents that could have been retrieved, the collection's size; None means the
        number of rows of the query plus its number of relevant documents, so that a missing
        document is behind every row. Compare values of a query only for equal `n_items`.
    scale : {"log_odds", "share", "log", "preference"}, default="log_odds"
        "log_odds" compares the logarithms of the numbers of worse and better placements; "share" is
        the share of worse placements; "log" is the logarithm of their number. "preference" orders
        several systems and gives no value: only comparisons accept it.

    See Also
    --------
    lexicographic_preference : Exact comparison of two rankings, with ``kind="precision"``.
    lexirecall_score : Compares rankings from the last relevant document up.

    Notes
    -----
    Section 7.3.1 of [1]_. Of the ``C(n, m)`` sets of positions that m relevant documents of n can
    have, ``worse = sum over i of C(n - p_i, m + 1 - i)`` are worse than ``p_1 < ... < p_m``, and
    all others except p itself are better. "log_odds" is
    ``1/2 + (log(1 + worse) - log(1 + better)) / (2 log C(n, m))``, "share" is
    ``worse / (C(n, m) - 1)`` and "log" is ``log(1 + worse) / log C(n, m)``: all of them 1 for the
    ideal ranking and 0 for the worst, and the first two 1/2 on average over random rankings. Where
    every document is relevant, all rankings have value 1 and are equal. A preferred ranking never
    has the lower value; two rankings have the same value if the difference is below the precision
    of float64.

    Among good rankings of a large collection the share and the logarithm hardly differ from 1: for
    one relevant document the share is ``(n - p) / (n - 1)``. To find only which ranking is better,
    use :func:`lexicographic_preference`.

    Relevant documents that were not retrieved are placed at the last positions of all. Hidden
    documents count as not retrieved. Unjudged documents take positions, as documents that are not
    relevant; with ``unjudged="drop"`` they count as not retrieved.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 7.3.1.

    Examples
    --------
    Two of four documents are relevant, and ``C(4, 2) = 6``. From worst to best the placements are
    3 4, 2 4, 2 3, 1 4, 1 3, 1 2:

    >>> from skfilterrank.metrics import lexiprecision_score
    >>> how = {"groups": ["q"] * 4, "n_items": 4}
    >>> lexiprecision_score([1, 0, 0, 1], [4, 3, 2, 1], **how)  # 1/2 + log(4 / 3) / (2 log 6)
    0.580...
    >>> float(round(lexiprecision_score([1, 0, 0, 1], [4, 3, 2, 1], scale="share", **how), 6))
    0.6
    """
    return lexicographic(block, n_items, scale, by=Placements.lexiprecision)


lexiprecision_score = Measure(
    "lexiprecision",
    _lexiprecision,
    preference="precision",
    additive=partial(lexicographic_sum, choices=_choices_from_the_top, sign=1),
    undefined="nothing is relevant",
    value_range=(0, 1),
    options=_SHARED,
    ties=WHOLE_ORDERS,
)


def _metric_lexirecall(block: ListBlock, *, n_items: int | None = None, epsilon: float = 0.5):
    """Metric lexirecall: a weighted mean of positions in which the last outweigh all others.

    The paper defines this number for lexicographic recall; use it to reproduce the paper. To
    compare rankings use :func:`lexirecall_score` or :func:`lexicographic_preference`.

    Parameters
    ----------
    n_items : int or None, default=None
        Number of documents that could have been retrieved, the collection's size; None means the
        number of rows of the query plus its number of relevant documents, so that a missing
        document is behind every row. Compare values of a query only for equal `n_items`.
    epsilon : float, default=0.5
        Free parameter of the weights, in (0, 1).

    See Also
    --------
    lexirecall_score : One number per ranking that keeps their order in float64.

    Notes
    -----
    Equation 12 of [1]_: the sum over i of ``w_i * (n - p_i) / n``, where, with
    ``delta = 1 / (n + epsilon)``, the weight of the first relevant document is
    ``(delta / (1 + delta)) ** (m - 1)`` and of the others
    ``delta ** (m - i) / (1 + delta) ** (m + 1 - i)``. The weights add up to 1. The value of the
    ideal ranking depends on n and m and is below 1.

    Every level weighs about n times less than the next: in float64 the value can tell positions
    apart only at the last ``log(2 ** 53) / log(n)`` levels, 5 for 1000 documents and 2 for ten
    million. Rankings that agree there have equal values, or values that differ only by rounding.

    Relevant documents that were not retrieved are placed at the last positions of all. Hidden
    documents count as not retrieved. Unjudged documents take positions, as documents that are not
    relevant; with ``unjudged="drop"`` they count as not retrieved.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 7.3.2.

    Examples
    --------
    One relevant document at position 3 of 4, and so ``(4 - 3) / 4``:

    >>> from skfilterrank.metrics import metric_lexirecall_score
    >>> metric_lexirecall_score([0, 0, 1, 0], [4, 3, 2, 1], groups=["q"] * 4, n_items=4)
    0.25
    """
    placed = Placements.of_block(block, n_items)
    n, m = placed.n, placed.m
    # Only the last 32 relevant documents count: with more of them n > 32, and the others have
    # weights below 1e-48.
    up = np.arange(min(m.max(initial=0), 32.0))[:, None]
    at = placed.first + np.maximum(m - 1 - up, 0).astype(np.int64)
    ratio = 1 / (1 + n + epsilon)  # delta / (1 + delta)
    weight = ratio**up * np.where(up == m - 1, 1.0, 1 - ratio)
    weight[up >= m] = 0.0
    # Add the smallest terms first, to reduce rounding errors.
    value = (weight * ((n - placed.positions[at]) / n))[::-1].sum(axis=0)
    return _per_query(block, value)


metric_lexirecall_score = Measure(
    "metric_lexirecall",
    _metric_lexirecall,
    additive=metric_lexirecall_sum,
    undefined="nothing is relevant",
    value_range=(0, 1),
    options={"n_items": check_n_items, "epsilon": check_share},
    ties=WHOLE_ORDERS,
)
