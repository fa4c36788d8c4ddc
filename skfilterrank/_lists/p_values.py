"""Correction of p values for the number of pairs compared."""

import numpy as np
from scipy.stats import false_discovery_control

from skfilterrank._lists.checks import check_choice, check_numbers
from skfilterrank.exceptions import InputError


def holm(p_value):
    """Holm's method: multiply the k-th smallest of m p values by m - k + 1, keeping the order."""
    order = np.argsort(p_value, kind="stable")
    steps = p_value[order] * np.arange(len(p_value), 0, -1)
    adjusted = np.empty_like(p_value)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def bonferroni(p_value):
    """Multiply p values by their number."""
    return np.minimum(p_value * len(p_value), 1.0)


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "fdr_bh": false_discovery_control}


def adjust_p_values(p_value, method: str | None = "holm") -> np.ndarray:
    """Correct p values for their number.

    Parameters
    ----------
    p_value : array-like of shape (n_pairs,)
        P values, from 0 to 1.
    method : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        Holm's step-down and Bonferroni's correction keep the chance of any false claim below the
        level; "fdr_bh", Benjamini and Hochberg's, keeps the expected share of false claims below
        it. None leaves the p values as they are.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Adjusted p values, at most 1: reject where they are at most the level.

    Raises
    ------
    ValueError
        If a p value is not in [0, 1] or the method is unknown.

    References
    ----------
    Holm, S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 1979. Benjamini, Y. and Hochberg, Y. Controlling the false discovery rate: a
    practical and powerful approach to multiple testing. Journal of the Royal Statistical Society B
    57, 1995.

    Examples
    --------
    >>> from skfilterrank._lists.p_values import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust_p_values([0.01, 0.04, 0.03], "fdr_bh")
    array([0.03, 0.04, 0.04])
    """
    check_correction(method, name="method")
    p_value = check_numbers(p_value, "p_value").astype(np.float64)
    if not ((p_value >= 0) & (p_value <= 1)).all():
        raise InputError("p_value must be a list of numbers from 0 to 1, none of them missing.")
    if method is None or not len(p_value):
        return p_value
    return CORRECTIONS[method](p_value)


def check_correction(method, *, name="correction"):
    """Raise for an unknown correction."""
    check_choice(method, name, (*CORRECTIONS, None))
