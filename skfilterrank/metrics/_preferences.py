"""Preferences between two rankings of a query: lexicographic and recall-paired.

Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 5.2 and 7.3.1.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_choice
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.positions import KINDS, comparable, positions_of_systems


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
        Scores of each row, higher is better; -inf means filtered out or not retrieved.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    kind : {"recall", "precision"}, default="recall"
        Whether the last relevant items decide first, or the first ones.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    ties : {"worst", "best", "stable"} or array-like of shape (n_rows,), default="worst"
        Order of rows with equal scores in one query: lowest gain first, highest gain first, the
        order of the rows, or document ids, of which the greatest comes first.
    unjudged : {"zero", "drop"}, default="zero"
        Whether an unjudged row stands in the list as a document that is not relevant, or is
        taken out of it before positions are counted.
    n_items : int or None, default=None
        Number of items that could have been retrieved for each query, the collection's size.
        None means the rows of the query and as many more as are relevant, as in the scores: a
        missing item is then behind every row.
    imputation : {"pessimistic", "optimistic"}, default="pessimistic"
        Where missing relevant items are thought to be: at the last positions of all items, or
        right behind the last one retrieved.

    Returns
    -------
    ndarray of shape (n_queries,), dtype int8
        For each query, in the order of the sorted query ids, +1 where a is preferred, -1 where b
        is, and 0 where the relevant items have the same positions or nothing is relevant.

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
    Equation 11 of [1]_: with ``p_1 < ... < p_m`` the positions of the relevant items of a, and q
    those of b, a is preferred if ``p_i < q_i`` at the last level i at which they differ; for
    ``kind="precision"`` at the first level (section 7.3.1). Exact for any number of items.

    The scores never contradict a preference found with the same `n_items`.

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
    """Compare two rankings by the users who want 1, 2, ... relevant items and prefer either.

    This compares the average case; :func:`lexicographic_preference` compares the worst case
    (recall) and the best case (precision).

    Parameters
    ----------
    y_true, y_score_a, y_score_b, groups, gains, ties, unjudged
        As in :func:`lexicographic_preference`.
    weights : {"uniform", "inverse", "dcg"}, default="uniform"
        Weight of the users who want i items: the same for all, ``1 / i``, or ``1 / log2(i + 1)``.

    Returns
    -------
    ndarray of shape (n_queries,), dtype float64
        For each query, in the order of the sorted query ids, from -1 (all users prefer b) to 1 (all
        prefer a); 0 where nothing is relevant.

    Raises
    ------
    ValueError
        As :func:`lexicographic_preference`.

    See Also
    --------
    lexicographic_preference : By the last relevant items, or the first ones.

    Notes
    -----
    ``sum over i of w_i sign(q_i - p_i)`` of [1]_, with p_i and q_i the positions of the i-th
    relevant items of a and b, and weights that add up to 1. An item that one of the two lacks is
    behind those of the other, one that both lack decides nothing. Relevant is a gain above 0:
    grades make no difference.

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
