"""How much a measure cares for the first relevant item, and how much for the last."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_choice, check_count, check_counts
from skfilterrank._lists.scoring import Scores
from skfilterrank.metaevaluation._recall_levels import resolve_measure


def metric_orientation(
    measure: str | Callable,
    n_items: int,
    n_relevant: int | ArrayLike,
    *,
    kind: str = "recall",
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
) -> Scores:
    """How much a measure falls when its first, or its last, relevant item moves down.

    Parameters
    ----------
    measure : str or callable
        As in :func:`recall_level_metric`.
    n_items : int
        Number n of items that are ranked.
    n_relevant : int or array-like of shape (n_values,)
        Number m of relevant items, from 1 to `n_items`.
    kind : {"recall", "precision"}, default="recall"
        "recall": all relevant items stand on top, and the last of them moves from position m to
        position n. "precision": one relevant item stands first and the others at the bottom, and
        the first moves from position 1 to position ``n - m + 1``, just above the others.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse".
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp".

    Returns
    -------
    float or ndarray of shape (n_values,), dtype float64
        Value before the move minus value after it; 0 where all items are relevant. At most 1 for
        the named measures.

    Raises
    ------
    ValueError
        If `n_items` or `n_relevant` is out of range, and as :func:`recall_level_metric`.

    Notes
    -----
    Section 3.1 and figures 2 and 3 of [1]_. What the text says of figure 3 (100,000 items, 1 to
    15 relevant) holds, with these exceptions and additions:

    * With one relevant item both kinds are the same move, and RR, AP, recall and R-precision are
      worth about 1, nDCG 0.94: nDCG's precision orientation is above that of AP, recall@1000 and
      R-precision from two relevant items on only.
    * AP, recall@1000 and R-precision agree to 1e-5, not exactly: AP keeps ``1 / (n - m + 1)``.
    * At persistence 0.8 the precision orientation of RBP is above AP's from 5, and above nDCG's
      from 11 relevant items on. Its recall orientation is below nDCG's throughout.
    * TSE with the exposure of AP has exactly the recall orientation of AP, ``1/m - 1/n``, and so
      falls with the number of relevant items as AP's does; with the exposure of nDCG it falls
      least. For two or more relevant items its precision orientation is 0 under any exposure.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 3.1.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import metric_orientation
    >>> metric_orientation("rr", 100, [1, 2, 5], kind="precision").round(3)
    array([0.99, 0.99, 0.99])
    >>> metric_orientation("rr", 100, [1, 2, 5], kind="recall").round(3)
    array([0.99, 0.  , 0.  ])
    >>> metric_orientation("recall@10", 100, [1, 2, 5], kind="recall")
    array([1. , 0.5, 0.2])
    """
    check_choice(kind, "kind", ("recall", "precision"))
    n_items = check_count(n_items, "n_items")
    counts = check_counts(n_relevant, "n_relevant", most=n_items)
    values = resolve_measure(measure, exposure=exposure, persistence=persistence)
    moves = _first_moves if kind == "precision" else _last_moves
    before_and_after = np.array([values(moves(n_items, count)) for count in counts])
    fall = before_and_after[:, 0] - before_and_after[:, 1]
    return fall if np.ndim(n_relevant) else float(fall[0])


def _first_moves(n_items, n_relevant):
    """Positions before and after the first relevant item moves down to the others."""
    after = np.arange(n_items - n_relevant + 1, n_items + 1, dtype=np.float64)
    before = after.copy()
    before[0] = 1
    return np.stack([before, after])


def _last_moves(n_items, n_relevant):
    """Positions before and after the last relevant item moves to the end."""
    before = np.arange(1, n_relevant + 1, dtype=np.float64)
    after = before.copy()
    after[-1] = n_items
    return np.stack([before, after])
