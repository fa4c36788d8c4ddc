"""Value of a ranking to the worst-off of all possible searchers."""

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

# 20 items have a million subsets, which take half a second; each further item doubles that.
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
    """Compute the value of a ranking to the worst-off searcher of some of the relevant items.

    Of m relevant items any of the ``2 ** m - 1`` non-empty sets may be what a searcher wants;
    this is the least value of `measure` over all of them. For "ap", "ndcg", "rbp", "tse", "rr",
    "r_precision" and "recall@k" the worst-off searcher wants one item alone, the one ranked last
    (wherever exposure falls with position). Shuffled anew for each request, every item has its turn
    on top, and who wants just one of them can expect more.

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant items, from 1, distinct within a ranking, in any order.
    measure : str or callable, default="ap"
        As in :func:`recall_level_metric`.
    order : {"fixed", "random"}, default="fixed"
        With "fixed" an item stands at one position. With "random" the relevant items are shuffled
        among `positions` for each request, and the value of a searcher is the mean over all orders.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse".
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp".
    method : {"auto", "enumerate"}, default="auto"
        "auto" takes the searchers who want one item for those measures, and enumerates all
        searchers for any other; "enumerate" does so for all. Up to 20 relevant items can
        be enumerated.

    Returns
    -------
    float or ndarray of shape (n_rankings,), dtype float64
        The least value: a float for one ranking.

    Raises
    ------
    ValueError
        As :func:`recall_level_metric`, and if more than 20 relevant items had to be enumerated.

    See Also
    --------
    recall_level_metric : The value to a searcher who wants all relevant items.

    Notes
    -----
    Equation 4 of [1]_. Theorem A.1 there: for a top-heavy recall-level metric it is ``e(p_m)``,
    total search efficiency with the measure's exposure. That covers "ap", "ndcg", "rbp", "rr" and
    "tse" (enumeration agrees). The other two are not top-heavy by definition 2.1, as their
    exposure is flat, but their worst searcher is the same one: 1 if ``p_m <= k`` else 0 for
    "recall@k"; 0 for "r_precision" unless the only relevant item stands first, since who wants
    one item looks at one place. A callable known to be top-heavy needs no enumeration either:
    ``recall_level_metric(positions, "tse", exposure=its_exposure)``.

    To a provider who owns some of the items (equation 6), the ranking is worth the sum of their
    exposures. Where exposure is positive and falls with position, the worst-off provider owns the
    last item alone (theorem A.2) and has the value of "tse", too; for any other exposure give the
    sum as a callable.

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
    >>> recall_level_metric(positions, "ap")  # the first ranking is better on the whole
    array([0.766..., 0.477...])
    >>> worst_case_searcher(positions, "ap")  # but not for who wants its last item
    array([0.1, 0.2])

    Any function of the positions will do, such as the mean number of items before a wanted one:

    >>> worst_case_searcher([1, 2, 10], lambda p: -p.mean(axis=1))
    -10.0

    The best rankings of four relevant items, in a fixed and in a random order, whose value is
    ``(1 + 1/2 + 1/3 + 1/4) / 4``:

    >>> worst_case_searcher([1, 2, 3, 4], "ap")
    0.25
    >>> worst_case_searcher([1, 2, 3, 4], "ap", order="random")
    0.520...

    The worst-off provider, with exposure 1 / position:

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
    """Yield the subsets of each size, as ascending column numbers (n_subsets, size)."""
    if n_relevant > MOST_ENUMERATED:
        raise InputError(
            f"measure has to be enumerated over all 2**{n_relevant} sets of the {n_relevant} "
            f"relevant items, and {MOST_ENUMERATED} items are the most that is possible: use "
            "fewer relevant items, or a measure such as 'ap' with method='auto'."
        )
    masks = np.arange(1, 2**n_relevant, dtype=np.uint32)
    sizes = np.bitwise_count(masks)
    for size in range(1, n_relevant + 1):
        chosen = masks[sizes == size, None] >> np.arange(n_relevant, dtype=np.uint32) & 1
        yield np.nonzero(chosen)[1].reshape(-1, size)
