"""The bounds of DCG, and nDCG_f of the empty list between them.

Carmel, Cohen, Ingber and Kravi, "IR Evaluation and Learning in the Presence of Forbidden
Documents", SIGIR 2022, https://doi.org/10.1145/3477495.3532006.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_k
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.scoring import (
    QueryWeight,
    Scores,
    check_average,
    check_undefined,
    mean_of,
    with_undefined,
)
from skfilterrank.metrics._dcg import empty_list, ideal_dcg, worst_dcg


def filtering_difficulty(
    y_true: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    k: int | None = None,
    gains: Gains = None,
    undefined: float | str = 0.0,
    average: str | None = "mean",
    query_weight: QueryWeight = None,
) -> Scores:
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
        Value of a query whose gains are all 0 or unjudged.
    average : {"mean", None}, default="mean"
        "mean" returns the mean over queries, None one value per query.
    query_weight : dict, Series or array-like of shape (n_rows,), default=None
        Weight of each query in the mean, as in :func:`ndcg_f_score`.

    Returns
    -------
    float or ndarray of shape (n_queries,), dtype float64
        Between 0 and 1; per query in the order of the sorted query ids.

    Raises
    ------
    ValueError
        As :func:`ndcg_f_score`.

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
    >>> filtering_difficulty([1, -1, -1], groups=["easy", "hard", "hard"], average=None)
    array([0., 1.])
    """
    k = check_k(k)
    check_undefined(undefined)
    check_average(average, query_weight)
    lists = RankedLists(y_true, groups=groups, gains=gains)
    values = lists.per_query(lambda block: empty_list(block, k))
    values = with_undefined(values, undefined)
    return mean_of(values, average, query_weight, lists.index)


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
        As :func:`ndcg_f_score`.

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
