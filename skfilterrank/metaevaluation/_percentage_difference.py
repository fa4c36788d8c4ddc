"""Differences between systems in percent."""

import numpy as np
import pandas as pd

from skfilterrank._lists.arrays import as_number_array
from skfilterrank._lists.checks import check_choice, check_flag
from skfilterrank._lists.system_pairs import Pairs, differences, pair_blocks
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.comparison._order_inputs import Order
from skfilterrank.comparison._score_tables import turned
from skfilterrank.comparison._system_scores import SystemScores, has_queries
from skfilterrank.exceptions import DataWarning, InputError, brief


def percentage_absolute_difference(
    means, *, measure: str | None = None, divide_by: str = "size", average: bool = True
) -> float | np.ndarray:
    r"""Difference of two systems in percent of the greater mean, averaged over pairs of systems.

    Meant to tell how far apart a measure puts systems. It is a matter of scale: a measure with the
    same differences and smaller means has more of it, without telling systems apart any better.
    :func:`sensitivity_curve` and :func:`compare_systems` weigh differences against chance.

    Parameters
    ----------
    means : SystemScores, array-like or DataFrame of shape (n_systems, n_columns), Series or dict
        SystemScores, and what :meth:`SystemScores.of` reads a measure of, are averaged over
        queries. A table or matrix has a row for each system and is averaged over its columns, such
        as queries or the cutoffs of a measure. A Series or dict holds the mean of each system.
    measure : str or None, default=None
        Which measure, where `means` has several.
    divide_by : {"size", "letter"}, default="size"
        What a difference is divided by: the size of the greater mean, or, as the formula is
        printed, the greater mean itself. They differ where both means are negative.
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
        If a mean is negative: values may then be above 100, and a pair of a negative mean and 0
        has infinity. With ``divide_by="letter"`` a pair of two negative means has a negative value.

    See Also
    --------
    swap_rate : How often two sets of queries contradict each other.

    Notes
    -----
    Equation 8 of [1]_:

    .. math:: PAD(A, B) = \frac{|A - B|}{|\max(A, B)|} \cdot 100

    where the paper prints :math:`\max(A, B)`. Its tables of V2, some of whose means are negative,
    agree with nDCG's and V1's with the size alone.

    References
    ----------
    .. [1] Karmaker and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import percentage_absolute_difference
    >>> means = {"a": 0.5, "b": 0.4, "c": 0.25}
    >>> percentage_absolute_difference(means, average=False)
    array([20. , 50. , 37.5])
    >>> round(percentage_absolute_difference(means), 2)
    35.83
    """
    check_flag(average, "average")
    check_choice(divide_by, "divide_by", ("size", "letter"))
    values = _means_of(means, measure)
    if values.min() < 0:
        warn_user(
            f"{np.count_nonzero(values < 0)} of {len(values)} means are negative, and a "
            "percentage of a mean that may be negative says little: values may be above 100. "
            "Compare measures that may be negative by sensitivity_curve.",
            DataWarning,
        )
    pairs = Pairs.all(len(values))
    percent = np.empty(len(pairs))
    for block in pair_blocks(pairs, 4):
        size = np.abs(differences(values, pairs[block]))
        greater = np.maximum(values[pairs.first[block]], values[pairs.second[block]])
        if divide_by == "size":
            greater = np.abs(greater)
        limit = np.where(size > 0, np.inf, 0.0)
        percent[block] = 100 * np.divide(size, greater, out=limit, where=greater != 0)
    return float(percent.mean()) if average else percent


def _means_of(means, measure):
    """One finite number for each of at least two systems."""
    if has_queries(means):
        values = SystemScores.of(means, measure, name="means").values.mean(axis=1)
    else:
        if not isinstance(means, pd.Series | dict):
            table = turned(means) if isinstance(means, pd.DataFrame) else means
            numbers = as_number_array(table, "means")
            if numbers is None or numbers.ndim != 2:
                raise InputError(
                    "means must be SystemScores, a table or matrix of systems x columns, or a "
                    f"Series or dict of means by system, got {brief(means)}."
                )
            means = dict(enumerate(numbers.mean(axis=1)))
        values = Order(means, "means").values
    if len(values) < 2:
        raise InputError(f"means must hold at least 2 systems, got {len(values)}.")
    if not np.isfinite(values).all():
        raise InputError("means must be finite, and some are infinite.")
    return values
