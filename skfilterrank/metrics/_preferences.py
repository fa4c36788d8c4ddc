"""Preferences between two rankings, and compatibility of a ranking with an order of preference.

Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 5.2 and 7.3.1: the
lexicographic and the recall-paired preference. Clarke, Vtyurina and Smucker, "Assessing Top-k
Preferences", ACM TOIS 39(3), 2021: rank-biased overlap with the nearest ideal list.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skfilterrank._base.checks import check_choice, check_number
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import WHOLE_ORDERS, ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.positions import KINDS, comparable, positions_of_systems
from skfilterrank._lists.scoring import ratio


def lexicographic_preference(
    y_true: ArrayLike,
    y_score_a: ArrayLike,
    y_score_b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    kind: str = "recall",
    gains: Gains = None,
    ties: str | ArrayLike = "worst",
    unjudged: str = "zero",
    n_items: int | None = None,
    imputation: str = "pessimistic",
) -> np.ndarray:
    """Compare two rankings of each query by lexicographic recall or precision.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
        the query ids in an index level named "qid". A row is relevant if its gain is above 0.
    y_score_a, y_score_b : array-like of shape (n_rows,)
        Scores of each row, higher is better; -inf means hidden or not retrieved.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    kind : {"recall", "precision"}, default="recall"
        "recall" compares the last relevant documents first, "precision" the first ones.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    ties : {"worst", "best", "stable"} or array-like of shape (n_rows,), default="worst"
        Order of rows with equal scores in one query: lowest gain first, highest gain first, the
        order of the rows, or document ids, of which the greatest comes first.
    unjudged : {"zero", "drop"}, default="zero"
        Whether an unjudged row stands in the list as a document that is not relevant, or is
        taken out of it before positions are counted.
    n_items : int or None, default=None
        Number of documents that could have been retrieved for each query, the collection's size.
        None means the number of rows of the query plus its number of relevant documents, as in
        :func:`lexirecall_score`: a missing document is then behind every row.
    imputation : {"pessimistic", "optimistic"}, default="pessimistic"
        Positions of relevant documents that were not retrieved: "pessimistic" places them at the
        last positions of all documents, "optimistic" right behind the last retrieved document.

    Returns
    -------
    ndarray of shape (n_queries,), dtype int8
        For each query, in the order of the sorted query ids, +1 where a is preferred, -1 where b
        is, and 0 where the relevant documents have the same positions or nothing is relevant.

    Raises
    ------
    ValueError
        If `n_items` is smaller than what a query's list and its missing relevant documents need,
        or the data or a parameter are not as described.

    See Also
    --------
    skfilterrank.comparison.score_predictions : Preferences of many systems at once.
    lexirecall_score : One number per ranking that orders rankings in this way.

    Notes
    -----
    Equation 11 of [1]_: with ``p_1 < ... < p_m`` the positions of the relevant documents of a, and
    q those of b, a is preferred if ``p_i < q_i`` at the last level i at which they differ; for
    ``kind="precision"`` at the first level (section 7.3.1). Exact for any number of documents.

    :func:`lexirecall_score` never contradicts a preference that is found with the same `n_items`.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023.

    Examples
    --------
    The relevant documents stand at 1 and 4 in one ranking, and at 2 and 3 in the other:

    >>> from skfilterrank.metrics import lexicographic_preference
    >>> y_true, a, b, groups = [1, 1, 0, 0], [4, 1, 3, 2], [3, 2, 4, 1], ["q"] * 4
    >>> lexicographic_preference(y_true, a, b, groups=groups)
    array([-1], dtype=int8)
    >>> lexicographic_preference(y_true, a, b, groups=groups, kind="precision")
    array([1], dtype=int8)
    """
    check_choice(kind, "kind", KINDS)
    positions = positions_of_systems(
        y_true,
        {"y_score_a": y_score_a, "y_score_b": y_score_b},
        groups=groups,
        gains=gains,
        ties=ties,
        unjudged=unjudged,
        n_items=n_items,
    )
    a, b = positions.values()
    first, second = comparable([a, b], imputation, a.n_items)
    differ = np.flatnonzero(first != second)
    begins = np.searchsorted(differ, a.starts)
    ends = np.searchsorted(differ, a.starts + a.n_relevant)
    preference = np.zeros(len(a), dtype=np.int8)
    decided = begins < ends
    where = differ[ends[decided] - 1 if kind == "recall" else begins[decided]]
    preference[decided] = np.where(first[where] < second[where], 1, -1)
    return preference


def recall_paired_preference(
    y_true: ArrayLike,
    y_score_a: ArrayLike,
    y_score_b: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    weights: str = "uniform",
    gains: Gains = None,
    ties: str | ArrayLike = "worst",
    unjudged: str = "zero",
) -> np.ndarray:
    """Compare two rankings by the preferences of users who want 1, 2, ... relevant documents.

    This compares the average case; :func:`lexicographic_preference` compares the worst case
    (recall) and the best case (precision).

    Parameters
    ----------
    y_true, y_score_a, y_score_b, groups, gains, ties, unjudged
        As in :func:`lexicographic_preference`.
    weights : {"uniform", "inverse", "dcg"}, default="uniform"
        Weight of the users who want i documents: the same for all, ``1 / i``, or ``1 / log2(i +
        1)``.

    Returns
    -------
    ndarray of shape (n_queries,), dtype float64
        For each query, in the order of the sorted query ids, from -1 (all users prefer b) to 1 (all
        prefer a); 0 where nothing is relevant.

    Raises
    ------
    ValueError
        In the same cases as :func:`lexicographic_preference`.

    See Also
    --------
    lexicographic_preference : Compares the last relevant documents first, or the first ones.

    Notes
    -----
    ``sum over i of w_i sign(q_i - p_i)`` of [1]_, with p_i and q_i the positions of the i-th
    relevant documents of a and b, and weights that add up to 1. If only one ranking lacks a
    document, its document counts as placed behind that of the other; if both lack it, it has no
    influence. Every gain above 0 means relevant: grades make no difference.

    References
    ----------
    .. [1] Diaz and Ferraro, "Offline Retrieval Evaluation Without Evaluation Metrics", SIGIR 2022.

    Examples
    --------
    The relevant documents stand at 1 and 4 in one ranking, and at 2 and 3 in the other:

    >>> from skfilterrank.metrics import recall_paired_preference
    >>> y_true, a, b, groups = [1, 1, 0, 0], [4, 1, 3, 2], [3, 2, 4, 1], ["q"] * 4
    >>> recall_paired_preference(y_true, a, b, groups=groups)
    array([0.])
    >>> recall_paired_preference(y_true, a, b, groups=groups, weights="inverse").round(3)
    array([0.333])
    """
    check_choice(weights, "weights", tuple(_WEIGHTS))
    positions = positions_of_systems(
        y_true,
        {"y_score_a": y_score_a, "y_score_b": y_score_b},
        groups=groups,
        gains=gains,
        ties=ties,
        unjudged=unjudged,
        n_items=None,
    )
    a, b = positions.values()
    first, second = comparable([a, b], "pessimistic", a.n_items)
    weight = _WEIGHTS[weights](a.levels.astype(np.float64))
    query = np.repeat(np.arange(len(a)), a.n_relevant)
    won = np.bincount(query, weight * np.sign(second - first), minlength=len(a))
    total = np.bincount(query, weight, minlength=len(a))
    return np.divide(won, total, out=np.zeros(len(a)), where=total > 0)


_WEIGHTS: dict[str, Callable] = {
    "uniform": np.ones_like,
    "inverse": np.reciprocal,
    "dcg": lambda level: 1 / np.log2(level + 1),
}


def _weights_from(width, k, persistence):
    """Compute the sum of ``p ** (i - 1) / i`` over all i from each place on; 0 behind k."""
    places = np.arange(1.0, width + 1)
    above = np.cumsum(persistence ** (places - 1) / places)
    endless = -np.log1p(-persistence) / persistence
    weights = np.maximum(endless - np.concatenate(([0.0], above[:-1])), 0.0)
    if k is not None:
        weights[k:] = 0.0
    return weights


def compatibility_with(block: ListBlock, k, worth, persistence):
    """Compute the compatibility of each list with the ideal order of documents of worth above 0."""
    wanted = worth > 0
    place = np.empty(worth.size, dtype=np.int64)
    place[block.cells.ravel()] = np.tile(np.arange(block.width), len(worth))
    place = np.where(block.sort_key < np.inf, place.reshape(worth.shape), block.width)
    # The ideal order nearest to the list: documents of equal worth have the list's order, and
    # missing ones come last.
    ideal = np.lexsort((place, -worth), axis=1).argsort(axis=1)
    weights = np.append(_weights_from(block.width, k, persistence), 0.0)
    # A document overlaps from the first depth at which both lists contain it.
    overlap = np.where(wanted, weights[np.maximum(place, ideal)], 0.0).sum(axis=1)
    return ratio(overlap, np.where(wanted, weights[ideal], 0.0).sum(axis=1))


_COMMON: dict[str, Any] = {
    "ties": WHOLE_ORDERS,
    "option_aliases": {"p": "persistence"},
}
_check_persistence = partial(check_number, least=0.01, most=0.9999)


def _compatibility(block: ListBlock, k, *, persistence: float = 0.95, harm: float = 1.0):
    """Compatibility with the helpful order minus compatibility with the harmful order.

    The measure of the TREC health misinformation tracks. Labels are an order of preference; only
    their order matters. Without forbidden documents it is plain compatibility.

    Parameters
    ----------
    persistence : float, default=0.95
        How far down both lists are compared, from 0.01 to 0.9999: the searcher goes on to the next
        place with this probability, and sees 20 places on average with 0.95.
    harm : float, default=1.0
        Weight, from 0 to 1, of the compatibility with the harmful order. 0 is the compatibility
        with the helpful order alone.

    See Also
    --------
    get_measure : "harmful_compatibility" is that with the harmful order alone.
    ndcg_f_score : Depends on the sizes of the gains, not only on their order.

    Notes
    -----
    The compatibility with an order of preference is the rank-biased overlap of the list L with the
    nearest ideal list I, divided by that of I with itself (sections 3.2 and 3.3 of [1]_) ::

        overlap(L, I) = sum over places i of p ** (i - 1) * |L[:i] and I[:i]| / i

    I has the documents of gain above 0, highest first. Documents of equal gain are in the order of
    L, which makes the overlap as great as possible; documents that L lacks come behind them. With a
    cut-off both lists end at place k. The sum has no end (the authors' program stops at place
    1,000, which changes no digit up to a persistence of 0.96). The harmful order has the documents
    of gain below 0, lowest first. A query without helpful documents, or without harmful ones, has
    compatibility 0 with that order here; the track leaves it out of the mean of that order.

    Hidden documents leave no gap, but helpful ones stay in the ideal list. Unjudged documents are
    in no ideal list, and with ``unjudged="drop"`` are removed from the list. Forbidden documents
    are the harmful order.

    References
    ----------
    .. [1] Clarke, Vtyurina and Smucker, "Assessing Top-k Preferences", ACM Transactions on
       Information Systems 39(3), 2021, https://doi.org/10.1145/3451161.

    Examples
    --------
    A list of a very helpful, a harmful and a helpful page:

    >>> from skfilterrank.metrics import compatibility_score
    >>> y_true, groups = [12, -1, 4], ["q"] * 3
    >>> compatibility_score(y_true, [3, 2, 1], groups=groups)
    0.227...
    >>> compatibility_score(y_true, [3, 2, 1], groups=groups, harm=0)
    0.910...

    The harmful page is hidden:

    >>> compatibility_score(y_true, [3, float("-inf"), 1], groups=groups)
    1.0
    """
    helpful = compatibility_with(block, k, block.gains, persistence)
    if not harm:
        return helpful
    harmful = compatibility_with(block, k, -block.gains, persistence)
    difference = np.nan_to_num(helpful) - harm * np.nan_to_num(harmful)
    return np.where(np.isnan(helpful) & np.isnan(harmful), np.nan, difference)


compatibility_score = Measure(
    "compatibility",
    _compatibility,
    aliases=("Compat",),
    undefined="no document of the query has a gain other than 0, or with harm=0 none above 0",
    value_range=(-1, 1),
    options={"persistence": _check_persistence, "harm": partial(check_number, least=0, most=1)},
    **_COMMON,
)


def _harmful_compatibility(block: ListBlock, k, *, persistence: float = 0.95):
    """Compatibility with the harmful order: how well harmful documents are found. Lower is better.

    The TREC health misinformation tracks report it beside the compatibility with the helpful order.

    Parameters
    ----------
    persistence : float, default=0.95
        How far down both lists are compared, as in :func:`compatibility_score`.

    See Also
    --------
    compatibility_score : Helpful minus harmful; with ``harm=0`` only the helpful order.
    any_forbidden_at_k : Share of the queries with a forbidden document in the top k.

    Notes
    -----
    :func:`compatibility_score` of the documents of gain below 0, the lowest most harmful [1]_.

    Hidden documents leave no gap, but harmful ones stay in the harmful order. Unjudged documents
    are not harmful, and with ``unjudged="drop"`` are removed from the list.

    References
    ----------
    .. [1] Clarke, Vtyurina and Smucker, "Assessing Top-k Preferences", ACM Transactions on
       Information Systems 39(3), 2021, https://doi.org/10.1145/3451161.

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> harmful_compatibility = get_measure("harmful_compatibility")
    >>> y_true, groups = [12, -1, 4], ["q"] * 3
    >>> harmful_compatibility(y_true, [3, 2, 1], groups=groups)
    0.682...
    >>> harmful_compatibility(y_true, [3, float("-inf"), 1], groups=groups)
    0.0
    """
    return compatibility_with(block, k, -block.gains, persistence)


harmful_compatibility = Measure(
    "harmful_compatibility",
    _harmful_compatibility,
    about="forbidden",
    undefined="no document of the query has a gain below 0",
    value_range=(0, 1),
    greater_is_better=False,
    options={"persistence": _check_persistence},
    **_COMMON,
)
