"""Worst case of a ranking over all searchers who want some of the relevant items."""

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

# 20 items have a million subsets, which take half a second. Each further item doubles the time.
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
    """Compute the smallest value of a ranking over all searchers who want some relevant items.

    Each non-empty set of the m relevant items may be what a searcher wants, so there are ``2 ** m -
    1`` searchers. For "ap", "ndcg", "rbp", "tse", "rr", "r_precision" and "recall@k", the worst-off
    searcher wants only the relevant item that is ranked last, if exposure falls with the position.

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant items, from 1, distinct within a ranking, in any order.
    measure : str or callable, default="ap"
        Measure, as in :func:`recall_level_metric`.
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
    optimal_worst_case : Worst case of the best possible rankings.

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

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 4.1 and 4.2
       and appendix A.1.

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

    The worst case for providers, with exposure 1 / position:

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

    A fixed order always puts the same relevant item last. With a random order for each request,
    every relevant item is sometimes first, so a searcher who wants only one item can expect a
    higher value.

    Parameters
    ----------
    n_relevant : int or array-like of shape (n_values,)
        Number m of relevant items, from 1.
    measure : str or callable, default="ap"
        Measure, as in :func:`recall_level_metric`.
    ranking : {"deterministic", "stochastic"}, default="deterministic"
        Order of the relevant items at positions 1 to m: "deterministic" is a fixed order, and
        "stochastic" is a new, uniformly random order for each request.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse" only. It must not rise with the position.
    persistence : float, default=0.8
        Probability that a user continues to the next position, in (0, 1), for "rbp".

    Returns
    -------
    float or ndarray of shape (n_values,), dtype float64
        Smallest value over all searchers who want some of the relevant items. If `ranking` is
        "stochastic", the value for a searcher is the mean over all orders.

    Raises
    ------
    ValueError
        If `n_relevant` is not a whole number from 1, or is above 20 for a measure that needs
        enumeration; if `exposure` rises with the position; and in the same cases as
        :func:`recall_level_metric`.

    Notes
    -----
    Section 4.1.3 and figure 5 of [1]_. Let e(p) be the exposure of position p. The deterministic
    worst case is ``e(m)``.

    With a random order, the s items that a searcher wants are at a uniformly random set of s of the
    m positions. So the stochastic worst case is a minimum over s. The mean of AP is ``(1 / m) * sum
    over p of (1 + (p - 1)(s - 1) / (m - 1)) / p``, which rises with s. The means of nDCG, RBP and
    RR rise too, and those of recall@k and R-precision do not fall. So the minimum of all these is
    at s = 1: ``(e(1) + ... + e(m)) / m``, or ``1 / m`` for R-precision. TSE falls with s, so its
    minimum is at s = m and equals the deterministic worst case. In this case, theorem A.7 holds
    with equality.

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
        # Closed forms. Exposures of one list of positions serve for all numbers of relevant items.
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
    """Find the smallest value over all sets of the first `n_relevant` positions.

    ``means=True`` takes the mean over the sets of each size instead of single sets.
    """
    top = np.arange(1, n_relevant + 1, dtype=np.float64)
    least = np.inf
    for columns in _subsets(n_relevant):
        of_sets = values(top[columns])
        least = min(least, of_sets.mean() if means else of_sets.min())
    return least


def _least_over_subsets(positions, values):
    """Find the smallest value over all non-empty subsets of the positions of each ranking."""
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


def _check_falling(exposures):
    """Raise if the exposure of a position is larger than that of the position before."""
    rises = np.diff(exposures) > 0
    if rises.any():
        position = int(rises.argmax()) + 1
        raise InputError(
            "exposure must not rise with the position, because rankings with all relevant items on "
            f"top would not be the best: it is larger at position {position + 1} than at "
            f"{position}."
        )
