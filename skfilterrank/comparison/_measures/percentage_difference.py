"""By how many percent systems differ from one another."""

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import as_number_array
from skfilterrank._core.checks import check_flag
from skfilterrank._warnings import warn_user
from skfilterrank.comparison._measures.sampled_means import n_pairs_of, pair_rows
from skfilterrank.comparison._orders.inputs import Order
from skfilterrank.comparison._scores.system_scores import SystemScores
from skfilterrank.exceptions import DataWarning, InputError, brief


def percentage_absolute_difference(means, *, average: bool = True) -> float | np.ndarray:
    r"""Difference of two systems in percent of the greater mean, averaged over pairs of systems.

    Meant to tell how far apart a measure puts systems. It is a matter of scale: a measure with the
    same differences and smaller means has more of it, without telling systems apart any better.
    :func:`sensitivity_curve` and :func:`compare_systems` weigh differences against chance.

    Parameters
    ----------
    means : SystemScores, array-like or DataFrame of shape (n_systems, n_columns), Series or dict
        SystemScores are averaged over queries. A table or matrix has a row for each system and is
        averaged over its columns, such as queries or the cutoffs of a measure. A Series or dict
        holds the mean of each system.
    average : bool, default=True
        If False, return the value of each pair.

    Returns
    -------
    float, or ndarray of shape (n_pairs,)
        In percent; pairs as ``np.triu_indices(n_systems, 1)``. Means that are not negative give
        values from 0 to 100, and a pair of two means of 0 gives 0.

    Raises
    ------
    ValueError
        If there are fewer than two systems, a system is named twice, or a value is missing or
        infinite.

    Warns
    -----
    DataWarning
        If a mean is negative. The formula is used as it is: a pair of two negative means then has
        a negative value, a pair of a negative and a positive one more than 100, and one of a
        negative mean and 0 infinity.

    See Also
    --------
    swap_rate : How often two sets of queries contradict each other.

    Notes
    -----
    Equation 8 of [1]_:

    .. math:: PAD(A, B) = \frac{|A - B|}{\max(A, B)} \cdot 100

    References
    ----------
    .. [1] Karmaker and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022.

    Examples
    --------
    >>> from skfilterrank.comparison import percentage_absolute_difference
    >>> means = {"a": 0.5, "b": 0.4, "c": 0.25}
    >>> percentage_absolute_difference(means, average=False)
    array([20. , 50. , 37.5])
    >>> round(percentage_absolute_difference(means), 2)
    35.83
    """
    check_flag(average, "average")
    values = _means_of(means)
    if values.min() < 0:
        warn_user(
            f"{np.count_nonzero(values < 0)} of {len(values)} means are negative, and a "
            "percentage of a mean that may be negative says little: values may be negative or "
            "above 100. Compare measures that may be negative by sensitivity_curve.",
            DataWarning,
        )
    found = np.empty(n_pairs_of(len(values)))
    for first, others, places in pair_rows(len(values), 1):
        size = np.abs(values[others] - values[first])
        greater = np.maximum(values[others], values[first])
        limit = np.where(size > 0, np.inf, 0.0)
        found[places] = 100 * np.divide(size, greater, out=limit, where=greater != 0)
    return float(found.mean()) if average else found


def _means_of(means):
    """One finite number for each of at least two systems."""
    if isinstance(means, SystemScores):
        values = means.values.mean(axis=1)
    else:
        if isinstance(means, np.ndarray | list | tuple | pd.DataFrame):
            numbers = as_number_array(means, "means")
            if numbers is not None and numbers.ndim == 2:
                means = pd.DataFrame(numbers)
            elif isinstance(means, pd.DataFrame):
                raise InputError(f"means must hold numbers, got {brief(means)}.")
        if isinstance(means, pd.DataFrame):
            means = means.mean(axis=1, skipna=False)
        if not isinstance(means, pd.Series | dict):
            raise InputError(
                "means must be SystemScores, a table or matrix of systems x columns, or a Series "
                f"or dict of means by system, got {type(means).__name__}."
            )
        values = Order(means, "means").values
    if len(values) < 2:
        raise InputError(f"means must hold at least 2 systems, got {len(values)}.")
    if not np.isfinite(values).all():
        raise InputError("means must be finite, and some are infinite.")
    return values
