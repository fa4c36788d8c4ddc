"""How often two sets of queries, or two measures, contradict each other about systems."""

import numpy as np

from skfilterrank.comparison._measures.sampled_means import n_pairs_of, pair_rows
from skfilterrank.comparison._orders.inputs import values_of_both
from skfilterrank.exceptions import InputError


def swap_rate(first, second) -> float:
    """Share of pairs of systems that two sets of values order oppositely.

    With values over different queries it tells how consistent a measure is; with values of
    different measures, how much they disagree.

    Parameters
    ----------
    first, second : SystemScores, Series, dict or list
        Two orders of the same systems, as :func:`kendall_tau` takes them: queries and measures
        may differ, and the order in which systems are listed does not matter.

    Returns
    -------
    float
        In [0, 1]. A pair that is tied in either is not ordered oppositely, so that it counts as
        consistent.

    Raises
    ------
    ValueError
        If the systems are not the same, fewer than two, named twice, or a value is missing or
        infinite.

    See Also
    --------
    kendall_tau : 1 - 2 * swap_rate where nothing is tied.
    stability_curve : Contradictions between many small samples of queries.

    Notes
    -----
    Section 4.4.4 of [1]_, which names the swap rate of Sakai (SIGIR 2006) and counts pairs of
    methods. That one also counts by the size of the difference; this one does not.

    References
    ----------
    .. [1] Karmaker and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022.

    Examples
    --------
    >>> from skfilterrank.comparison import swap_rate
    >>> web = {"lambdamart": 0.45, "ranknet": 0.20, "forest": 0.40}
    >>> letor = {"lambdamart": 0.44, "ranknet": 0.41, "forest": 0.46}
    >>> round(swap_rate(web, letor), 3)
    0.333
    """
    one, other, _ = values_of_both(first, second, ("first", "second"))
    for values, name in ((one, "first"), (other, "second")):
        if not np.isfinite(values).all():
            raise InputError(f"{name} must hold finite values, and some are infinite.")
    opposite = sum(
        np.count_nonzero(np.sign(one[rest] - one[place]) * (other[rest] - other[place]) < 0)
        for place, rest, _ in pair_rows(len(one), 1)
    )
    return float(opposite / n_pairs_of(len(one)))
