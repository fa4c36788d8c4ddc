"""Value of a ranking to the worst-off of all possible searchers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_choice, check_counts
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
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
    method: str = "auto",
) -> Scores:
    """Compute the value of a ranking to the worst-off searcher of some of the relevant items.

    Of m relevant items any of the ``2 ** m - 1`` non-empty sets may be what a searcher wants;
    this is the least value of `measure` over all of them. For "ap", "ndcg", "rbp", "tse", "rr",
    "r_precision" and "recall@k" the worst-off searcher wants one item alone, the one ranked last
    (wherever exposure falls with position).

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant items, from 1, distinct within a ranking, in any order.
    measure : str or callable, default="ap"
        As in :func:`recall_level_metric`.
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
    optimal_worst_case : Worst case of the best rankings.

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

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 4.1 and 4.2
       and appendix A.1.

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

    The worst-off provider, with exposure 1 / position:

    >>> worst_case_searcher([1, 2, 10], lambda p: (1 / p).sum(axis=1))
    0.1
    """
    check_choice(method, "method", ("auto", "enumerate"))
    checked = check_positions(positions)
    values = resolve_measure(measure, exposure=exposure, persistence=persistence)
    if method == "auto" and name_of_top_heavy(measure):
        worst = values(checked.reshape(-1, 1)).reshape(checked.shape).min(axis=1)
    else:
        worst = _least_over_subsets(checked, values)
    return as_given(worst, positions)


def optimal_worst_case(
    n_relevant: int | ArrayLike,
    measure: str | Callable = "ap",
    *,
    ranking: str = "deterministic",
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
) -> Scores:
    """Compute the worst case of rankings with all relevant items on top, in fixed or random order.

    A fixed order always puts the same item last. Shuffled anew for each request, every item has
    its turn on top, and who wants just one of them can expect more.

    Parameters
    ----------
    n_relevant : int or array-like of shape (n_values,)
        Number m of relevant items, from 1.
    measure : str or callable, default="ap"
        As in :func:`recall_level_metric`.
    ranking : {"deterministic", "stochastic"}, default="deterministic"
        Whether the relevant items stand at positions 1 to m in a fixed order, or in an order
        drawn uniformly for each request.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse". It must not rise with position.
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp".

    Returns
    -------
    float or ndarray of shape (n_values,), dtype float64
        Least value over the searchers who want some of the items; of the mean value over all
        orders where `ranking` is "stochastic".

    Raises
    ------
    ValueError
        If `n_relevant` is no whole number from 1, or above 20 for a measure that needs
        enumeration; if `exposure` rises; and as :func:`recall_level_metric`.

    Notes
    -----
    Section 4.1.3 and figure 5 of [1]_. The deterministic value is ``e(m)``. A searcher who wants
    s of the m items finds them, under a random order, at a uniformly drawn set of s positions, so
    the stochastic value is a minimum over s, not over searchers. The mean of AP is ``(1 / m) *
    sum over p of (1 + (p - 1)(s - 1) / (m - 1)) / p``, which rises with s; so do those of nDCG,
    RBP and RR, and those of recall@k and R-precision do not fall. All are least at s = 1:
    ``(e(1) + ... + e(m)) / m``, with ``1 / m`` for R-precision. TSE falls with s, is least at
    s = m and gains nothing: the inequality of theorem A.7 holds there as an equality.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 4.1.3 and
       appendix A.3.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import optimal_worst_case
    >>> optimal_worst_case([1, 2, 4], "ap")
    array([1.  , 0.5 , 0.25])
    >>> optimal_worst_case([1, 2, 4], "ap", ranking="stochastic")  # (1 + 1/2 + 1/3 + 1/4) / 4
    array([1. , 0.75 , 0.520...])
    """
    check_choice(ranking, "ranking", ("deterministic", "stochastic"))
    counts = check_counts(n_relevant, "n_relevant")
    values = resolve_measure(measure, exposure=exposure, persistence=persistence)
    if name := name_of_top_heavy(measure):
        # The closed forms, for all numbers of relevant items from one list of positions.
        alone = values(np.arange(1, counts.max() + 1, dtype=np.float64)[:, None])
        _check_falling(alone)
        is_fixed = ranking == "deterministic" or name == "tse"
        worst = alone[counts - 1] if is_fixed else np.cumsum(alone)[counts - 1] / counts
    else:
        means = ranking == "stochastic"
        worst = [_optimal_by_enumeration(count, values, means) for count in counts]
    worst = np.asarray(worst, dtype=np.float64)
    return worst if np.ndim(n_relevant) else float(worst[0])


def _optimal_by_enumeration(n_relevant, values, means):
    """Least value over the searchers of the top m positions, or least mean by set size."""
    top = np.arange(1, n_relevant + 1, dtype=np.float64)
    least = np.inf
    for columns in _subsets(n_relevant):
        of_sets = values(top[columns])
        least = min(least, of_sets.mean() if means else of_sets.min())
    return least


def _least_over_subsets(positions, values):
    """Least value over all non-empty subsets of each row."""
    worst = np.full(len(positions), np.inf)
    for columns in _subsets(positions.shape[1]):
        step = max(1, _CELLS // columns.size)
        for start in range(0, len(positions), step):
            rows = slice(start, start + step)
            chosen = positions[rows][:, columns]
            of_sets = values(chosen.reshape(-1, columns.shape[1]))
            least = of_sets.reshape(chosen.shape[:2]).min(axis=1)
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


def _check_falling(exposures):
    """Raise where a larger position has a larger exposure."""
    rises = np.diff(exposures) > 0
    if rises.any():
        position = int(rises.argmax()) + 1
        raise InputError(
            "exposure must not rise with position, or the ranking with all relevant items on top "
            f"is not the best one: it is larger at position {position + 1} than at {position}."
        )
