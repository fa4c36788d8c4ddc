"""Measures of the positions of the relevant items: equation 1 and its relatives, in one table."""

from collections.abc import Callable
from functools import partial

import numpy as np

from skfilterrank._core.arrays import as_number_array
from skfilterrank._core.exposure import (
    NORMALIZATIONS,
    check_persistence,
    recall_level_values,
    resolve_exposure,
    results_of,
)
from skfilterrank.exceptions import InputError, brief

Values = Callable[[np.ndarray], np.ndarray]


def recall_level_metric(positions, metric="ap", *, exposure="ap", persistence: float = 0.8):
    """Value of a measure from the positions of the relevant items.

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant items, from 1, distinct within a ranking, in any order. Items
        that were not retrieved need a position too: usually the last ones of the corpus.
    metric : {"ap", "ndcg", "rbp", "tse", "rr", "r_precision"}, "recall@k" or callable, \
default="ap"
        "recall@1000" is the share of relevant items in the first 1000 positions, and so on. A
        callable takes positions as float64 array of shape (n_rankings, n_relevant), ascending in
        each row, and returns n_rankings numbers.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, which "tse" is the value of; the other metrics have their own. A
        callable takes an array of positions and returns an array of that shape.
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp" as metric or exposure.

    Returns
    -------
    float or ndarray of shape (n_rankings,), dtype float64
        The values: a float for one ranking. In [0, 1] for the named metrics.

    Raises
    ------
    ValueError
        If `positions` are not distinct whole numbers from 1, if `metric` or `exposure` is
        unknown or returns something else than finite numbers, one per ranking, or if
        `persistence` is out of range.

    See Also
    --------
    worst_case_searcher : The least value over the searchers who want some of the items.

    Notes
    -----
    Equation 1 of [1]_: ``sum over i of e(p_i) * z(i, m)`` for positions ``p_1 < ... < p_m``.

    ============= =========================== ==============================
    metric        exposure e(p)               normalisation z(i, m)
    ============= =========================== ==============================
    "ap"          1 / p                       i / m
    "ndcg"        1 / log2(p + 1)             1 / (sum of e(1), ..., e(m))
    "rbp"         (1 - g) * g ** (p - 1)      1
    "rr"          1 / p                       1 if i = 1, else 0
    "tse"         `exposure`                  1 if i = m, else 0
    "recall@k"    1 if p <= k, else 0         1 / m
    "r_precision" 1 if p <= m, else 0         1 / m
    ============= =========================== ==============================

    The first five are top-heavy recall-level metrics (definition 2.1): their exposure falls
    strictly, one relevant item has normalisation 1, and dropping the highest of the wanted items
    never raises the value. In float64 the exposure of "rbp" is 0 from some position on (3,334 at
    persistence 0.8), where it stops falling.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 2.3 and 3.2.

    Examples
    --------
    >>> from skfilterrank.robustness import recall_level_metric
    >>> recall_level_metric([1, 4], "ap")  # (1/1 + 2/4) / 2
    0.75
    >>> recall_level_metric([1, 4], "tse")  # exposure of the last one, 1/4
    0.25
    >>> recall_level_metric([[1, 4], [2, 3]], "recall@2")
    array([0.5, 0.5])
    """
    checked = check_positions(positions)
    values = resolve_metric(metric, exposure=exposure, persistence=persistence)(checked)
    return as_given(values, positions)


def resolve_metric(metric, *, exposure="ap", persistence=0.8) -> Values:
    """A function from sorted positions (n_rankings, n_relevant) to n_rankings values."""
    check_persistence(persistence)
    if callable(metric):
        return partial(_checked_values, function=metric)
    if isinstance(metric, str):
        name, _, depth = metric.partition("@")
        if metric in NORMALIZATIONS:
            return partial(
                recall_level_values,
                exposure=resolve_exposure(metric, persistence=persistence),
                normalization=NORMALIZATIONS[metric],
            )
        if metric == "tse":
            return partial(_last, exposure=resolve_exposure(exposure, persistence=persistence))
        if metric in _UNWEIGHTED:
            return _UNWEIGHTED[metric]
        if name == "recall" and depth.isdecimal() and int(depth) > 0:
            return partial(_share_above, k=int(depth))
    raise InputError(
        "metric must be one of 'ap', 'ndcg', 'rbp', 'tse', 'rr', 'r_precision', 'recall@k' with "
        f"a whole number k above 0, or a callable from positions to values, got {brief(metric)}."
    )


def _last(positions, exposure):
    """Total search efficiency, equation 3."""
    return exposure(positions[:, -1])


def _share_above(positions, k):
    """Share of the relevant items at positions up to k."""
    return np.mean(positions <= k, axis=1)


_UNWEIGHTED = {
    "rr": lambda positions: 1 / positions[:, 0],
    "r_precision": lambda positions: _share_above(positions, positions.shape[1]),
}


def _checked_values(positions, function):
    """A user's metric, its results checked at every call."""
    values = results_of(function, positions, "metric")
    if values.shape != positions.shape[:1] or values.dtype.kind not in "fiub":
        raise InputError(
            f"metric must return one real number per ranking: {brief(function)} was given "
            f"positions of shape {positions.shape} and returned shape {values.shape}, dtype "
            f"{values.dtype}."
        )
    values = values.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        worst = positions[~np.isfinite(values)][0]
        raise InputError(
            f"metric must be finite, but {brief(function)} returned NaN or infinity for positions "
            f"{worst.astype(np.int64).tolist()}."
        )
    return values


def check_positions(positions) -> np.ndarray:
    """Positions as float64 matrix (n_rankings, n_relevant), ascending in each row."""
    given = as_number_array(positions, "positions")
    if given is None or given.ndim not in (1, 2) or not given.size or given.dtype == bool:
        found = brief(positions) if given is None else f"shape {given.shape}, dtype {given.dtype}"
        raise InputError(
            "positions must hold numbers in shape (n_relevant,) or (n_rankings, n_relevant) with "
            f"n_relevant >= 1, got {found}."
        )
    checked = np.sort(np.atleast_2d(given).astype(np.float64), axis=1)
    # NaN and infinity are no whole numbers either.
    bad = ~((checked >= 1) & (np.floor(checked) == checked) & (checked < np.inf))
    if bad.any():
        raise InputError(
            f"positions must be whole numbers from 1, got {checked[bad][0]}: give an item that "
            "was not retrieved a position at the end of the corpus."
        )
    twice = checked[:, 1:] == checked[:, :-1]
    if twice.any():
        raise InputError(
            "positions of one ranking must be distinct, got "
            f"{int(checked[:, 1:][twice][0])} more than once."
        )
    return checked


def as_given(values, like):
    """A float where one thing was given, else the array."""
    return values if np.ndim(like) == 2 else float(values[0])
