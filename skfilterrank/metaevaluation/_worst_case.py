"""Worst case of a ranking over all searchers who want some of the relevant items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_choice
from skfilterrank._lists.scoring import Scores
from skfilterrank.exceptions import InputError
from skfilterrank.metaevaluation._recall_levels import (
    as_given,
    check_positions,
    name_of_top_heavy,
    resolve_measure,
)

# 20 items have a million subsets, which take half a second. Each further item doubles the time.
MOST_ENUMERATED = 20
_CELLS = 2**22


def worst_case_searcher(
    positions: ArrayLike,
    measure: str | Callable = "ap",
    *,
    order: str = "fixed",
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
    method: str = "auto",
) -> Scores:
    """Compute the smallest value of a ranking over all searchers who want some relevant items.

    Each non-empty set of the m relevant items may be what a searcher wants, so there are ``2 ** m -
    1`` searchers. For "ap", "ndcg", "rbp", "tse", "rr", "r_precision" and "recall@k", the worst-off
    searcher wants only the relevant item that is ranked last, if exposure falls with the position.
    If the relevant items are shuffled for each request, every item is sometimes first, so a
    searcher who wants only one item can expect a higher value.

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant items, from 1, distinct within a ranking, in any order.
    measure : str or callable, default="ap"
        Measure, as in :func:`recall_level_metric`.
    order : {"fixed", "random"}, default="fixed"
        With "fixed", an item stands at one position. With "random", the relevant items are shuffled
        among `positions` for each request, and the value of a searcher is the mean over all orders.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse" only, as in :func:`recall_level_metric`.
    persistence : float, default=0.8
        Probability that a user continues to the next position, in (0, 1), for "rbp".
    method : {"auto", "enumerate"}, default="auto"
        "auto" considers only searchers who want one item for the measures named above, and all
        searchers for other measures. "enumerate" always considers all searchers. At most 20
        relevant items can be enumerated.

    Returns
    -------
    float or ndarray of shape (n_rankings,), dtype float64
        Smallest value of each ranking; a float for one ranking.

    Raises
    ------
    ValueError
        In the same cases as :func:`recall_level_metric`, and if there are more than 20 relevant
        items to enumerate.

    See Also
    --------
    recall_level_metric : The value to a searcher who wants all relevant items.

    Notes
    -----
    This is equation 4 of [1]_. For a top-heavy recall-level metric, the worst case is the exposure
    ``e(p_m)`` of the last relevant item (theorem A.1). This is total search efficiency ("tse") with
    the exposure of the measure, and covers "ap", "ndcg", "rbp", "rr" and "tse".

    "recall@k" and "r_precision" are not top-heavy by definition 2.1, because their exposure is
    flat, but the same searcher is worst off. The worst case of "recall@k" is 1 if ``p_m <= k``,
    else 0. The worst case of "r_precision" is 0, because a searcher who wants one item looks at one
    position only; it is 1 if the only relevant item is first. For a callable that is top-heavy,
    avoid the enumeration with ``recall_level_metric(positions, "tse", exposure=its_exposure)``.

    The paper also considers providers who own some of the items (equation 6). The value of a
    ranking for a provider is the sum of the exposures of these items. If exposure is positive and
    falls with the position, the worst-off provider owns only the last item (theorem A.2), so the
    worst case is again the value of "tse". For other exposures, pass the sum as a callable.

    A searcher who wants s of the m items finds them, under a random order, at a uniformly drawn
    set of s of the positions, so the value is a minimum over s, not over searchers. The means of
    AP, nDCG, RBP and RR rise with s, and those of recall@k and R-precision do not fall. All are
    least at s = 1, where they are the mean of the values to who wants one item. TSE falls with s,
    is least at s = m and gains nothing: the inequality of theorem A.7 holds there as an equality.
    Section 4.1.3 and figure 5 are of the best rankings, with positions 1 to m: ``e(m)`` for a fixed
    order, and ``(e(1) + ... + e(m)) / m`` for a random one.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 4.1 and 4.2
       and appendices A.1 and A.3.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import recall_level_metric, worst_case_searcher
    >>> positions = [[1, 2, 10], [3, 4, 5]]
    >>> recall_level_metric(positions, "ap")  # the first ranking is better overall
    array([0.766..., 0.477...])
    >>> worst_case_searcher(positions, "ap")  # the second is better in the worst case
    array([0.1, 0.2])

    The measure may be any function of positions, such as the negative mean position:

    >>> worst_case_searcher([1, 2, 10], lambda p: -p.mean(axis=1))
    -10.0

    The best rankings of four relevant items, in a fixed and in a random order. The second value is
    ``(1 + 1/2 + 1/3 + 1/4) / 4``:

    >>> worst_case_searcher([1, 2, 3, 4], "ap")
    0.25
    >>> worst_case_searcher([1, 2, 3, 4], "ap", order="random")
    0.520...

    The worst case for providers, with exposure 1 / position:

    >>> worst_case_searcher([1, 2, 10], lambda p: (1 / p).sum(axis=1))
    0.1
    """
    check_choice(order, "order", ("fixed", "random"))
    check_choice(method, "method", ("auto", "enumerate"))
    checked = check_positions(positions)
    values = resolve_measure(measure, exposure=exposure, persistence=persistence)
    worst = _closed_form(checked, values, order, measure) if method == "auto" else None
    if worst is None:
        worst = _least_over_subsets(checked, values, means=order == "random")
    return as_given(worst, positions)


def _closed_form(positions, values, order, measure):
    """Compute the least value from those to who wants one item; None where they do not give it."""
    name = name_of_top_heavy(measure)
    if name is None:
        return None
    alone = values(positions.reshape(-1, 1)).reshape(positions.shape)
    if order == "random" and name != "tse":
        return alone.mean(axis=1)
    # Under a random order an exposure that rises makes a searcher of some items the worst-off.
    is_falling = order == "fixed" or (np.diff(alone, axis=1) <= 0).all()
    return alone.min(axis=1) if is_falling else None


def _least_over_subsets(positions, values, means):
    """Find the least value over all non-empty subsets of each row, or least mean by their size."""
    worst = np.full(len(positions), np.inf)
    for columns in _subsets(positions.shape[1]):
        step = max(1, _CELLS // columns.size)
        for start in range(0, len(positions), step):
            rows = slice(start, start + step)
            chosen = positions[rows][:, columns]
            of_sets = values(chosen.reshape(-1, columns.shape[1])).reshape(chosen.shape[:2])
            least = of_sets.mean(axis=1) if means else of_sets.min(axis=1)
            worst[rows] = np.minimum(worst[rows], least)
    return worst


def _subsets(n_relevant):
    """Yield, for each size, all subsets of 0 to n_relevant - 1 as an array (n_subsets, size)."""
    if n_relevant > MOST_ENUMERATED:
        raise InputError(
            f"at most {MOST_ENUMERATED} relevant items can be enumerated for this measure, got "
            f"{n_relevant}: use fewer relevant items, or a measure such as 'ap' with "
            "method='auto'."
        )
    masks = np.arange(1, 2**n_relevant, dtype=np.uint32)
    sizes = np.bitwise_count(masks)
    for size in range(1, n_relevant + 1):
        chosen = masks[sizes == size, None] >> np.arange(n_relevant, dtype=np.uint32) & 1
        yield np.nonzero(chosen)[1].reshape(-1, size)
