"""How often two sets of queries, or two measures, contradict each other about systems."""

import numpy as np

from skfilterrank.comparison._order_inputs import values_of_both
from skfilterrank.comparison._rank_correlation import n_greater_before


def swap_rate(first, second) -> float:
    """Share of pairs of systems that two sets of values order oppositely.

    With values over different queries it tells how consistent a measure is; with values of
    different measures, how much they disagree.

    Parameters
    ----------
    first, second : SystemScores, SystemOrder, Series, dict or list
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
        If the systems are not the same, fewer than two, named twice, or a value is missing.

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
    >>> from skfilterrank.metaevaluation import swap_rate
    >>> web = {"lambdamart": 0.45, "ranknet": 0.20, "forest": 0.40}
    >>> letor = {"lambdamart": 0.44, "ranknet": 0.41, "forest": 0.46}
    >>> round(swap_rate(web, letor), 3)
    0.333
    """
    one, other, _ = values_of_both(first, second)
    # From the worst by the first on, of equal ones the worst by the second first: whatever is
    # better by the second and comes before has the opposite order.
    ranks = np.unique(other[np.lexsort((other, one))], return_inverse=True)[1]
    n_systems = len(one)
    return float(n_greater_before(ranks).sum() / (n_systems * (n_systems - 1) / 2))
