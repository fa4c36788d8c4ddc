"""How alike two orders of the same systems are: Kendall's tau and AP correlation."""

import numpy as np
from scipy.stats import kendalltau, rankdata

from skfilterrank._lists.results import counted
from skfilterrank.comparison._order_inputs import values_of_both
from skfilterrank.exceptions import InputError, brief


def kendall_tau(first, second) -> float:
    """Kendall's tau-b: pairs in the same order minus pairs in opposite order.

    The usual number for how well an estimated order of systems matches the true one. All pairs
    count alike, those at the bottom too; :func:`tau_ap` looks more at the top.

    Parameters
    ----------
    first, second : SystemScores, SystemOrder, Series, dict or list
        Two orders of the same systems. SystemScores, and what :meth:`SystemScores.of` reads, are
        ordered by their means, with regard to whether greater is better; a SystemOrder by its
        ranks; of a Series, DataFrame of one column or dict of values by system the greatest is
        the best; a list holds the names of the systems, the best first. Names are compared as
        text.

    Returns
    -------
    float
        Tau-b, in [-1, 1]. Pairs tied in one order count neither for nor against, and the
        denominator is the geometric mean of the numbers of pairs that each order tells apart
        (scipy.stats.kendalltau). NaN if all systems are tied in an order.

    Raises
    ------
    ValueError
        If a system is in one order only, there are fewer than two, or a value is missing.

    See Also
    --------
    tau_ap : Gives more weight to the top of the predicted order.
    rank_biased_overlap : For lists that need not hold the same systems.

    Notes
    -----
    Values are tied if only rounding keeps them apart: up to 1e-12 of the largest value for means of
    SystemScores, up to 1e-12 of themselves for values of a Series or dict.

    Examples
    --------
    Of six pairs, one is in the wrong order: (5 - 1) / 6.

    >>> from skfilterrank.comparison import kendall_tau
    >>> kendall_tau({"a": 0.9, "b": 0.7, "c": 0.6, "d": 0.1}, ["b", "a", "c", "d"])
    0.666...
    """
    first, second, _ = values_of_both(first, second)
    # Ranks, as values may be infinite.
    return float(kendalltau(rankdata(first), rankdata(second)).statistic)


def tau_ap(truth, predicted) -> float:
    r"""AP correlation: Kendall's tau that looks more at the top of the predicted order.

    Use it where confusing the best systems is worse than confusing the worst: where it is far
    below :func:`kendall_tau`, the top of the prediction is wrong.

    Parameters
    ----------
    truth, predicted : SystemScores, SystemOrder, Series, dict or list
        Two orders of the same systems, as :func:`kendall_tau` takes them.

    Returns
    -------
    float
        In [-1, 1]; 1 if the orders are the same, -1 if one is the other reversed. Systems tied in
        the truth are never in the right order.

    Raises
    ------
    ValueError
        As :func:`kendall_tau`; and if systems are tied in the prediction.

    See Also
    --------
    tau_ap_b : Symmetric, and with ties in both orders.

    Notes
    -----
    Let C(i) be how many of the systems above rank i of the prediction are truly better than the
    one at rank i. Then

    .. math:: \tau_{ap} = \frac{2}{n - 1} \sum_{i=2}^{n} \frac{C(i)}{i - 1} - 1

    It is not symmetric: the prediction says what is the top.

    References
    ----------
    Yilmaz, E., Aslam, J. A. and Robertson, S. (2008). A new rank correlation coefficient for
    information retrieval. SIGIR 2008, equation 3.

    Examples
    --------
    The same mistake costs more at the top of the prediction: of the systems above ranks 2, 3, 4
    the share that belongs there is 0, 1, 1 in the first case, and 1, 1, 2/3 in the second.

    >>> from skfilterrank.comparison import tau_ap
    >>> truth = {"a": 0.9, "b": 0.7, "c": 0.6, "d": 0.1}
    >>> tau_ap(truth, ["b", "a", "c", "d"])
    0.333...
    >>> tau_ap(truth, ["a", "b", "d", "c"])
    0.777...
    """
    truth, predicted, systems = values_of_both(truth, predicted, ("truth", "predicted"))
    order = np.argsort(-predicted, kind="stable")
    tied = np.flatnonzero(predicted[order][:-1] == predicted[order][1:])
    if len(tied):
        one, other = (systems[order[place]] for place in (tied[0], tied[0] + 1))
        raise InputError(
            f"predicted must not have ties, and {counted(len(tied), 'pair')} of neighbors "
            f"{'is' if len(tied) == 1 else 'are'} tied, such as {brief(one)} and {brief(other)}: "
            "use tau_ap_b, or give a list of names that says how ties are broken."
        )
    return _walk(truth, predicted)


def tau_ap_b(first, second) -> float:
    r"""AP correlation of two orders that may have ties, neither of which is the truth.

    Parameters
    ----------
    first, second : SystemScores, SystemOrder, Series, dict or list
        Two orders of the same systems, as :func:`kendall_tau` takes them.

    Returns
    -------
    float
        In [-1, 1], the same when the orders change places. NaN if all systems are tied in an
        order.

    Raises
    ------
    ValueError
        As :func:`kendall_tau`.

    See Also
    --------
    tau_ap : One order is the truth, the other a prediction without ties.

    Notes
    -----
    A system is compared with those in groups of ties above its own only. With :math:`p_i` the
    rank at which the group of system i begins, :math:`t` the size of the first group and C(i) how
    many of the :math:`p_i - 1` systems above the group are above i in the other order too
    (strictly),

    .. math:: \frac{2}{n - t} \sum_{i: p_i > 1} \frac{C(i)}{p_i - 1} - 1

    is averaged over both orders in the role of the one that is walked. Without ties this is the
    mean of :func:`tau_ap` of the two ways round. Equal orders with ties have 1.

    References
    ----------
    Urbano, J. and Marrero, M. (2017). The treatment of ties in AP correlation. ICTIR 2017.

    Examples
    --------
    Down the first, 1 of 1 above c is above it in the second too, and 1 of 2 above d: 0.5. Down
    the second, only a is above c and d, rightly: 1. The mean is 0.75.

    >>> from skfilterrank.comparison import tau_ap_b
    >>> tau_ap_b(["a", "c", "d"], {"a": 0.9, "c": 0.5, "d": 0.5})
    0.75
    """
    first, second, _ = values_of_both(first, second)
    if (first == first[0]).all() or (second == second[0]).all():
        return float("nan")
    return (_walk(first, second) + _walk(second, first)) / 2


def _walk(other, walked):
    """AP correlation of an order with another, down the one that is walked, by groups of ties."""
    # Of equal ones the lower in the other order first, so that none counts as above an equal one.
    order = np.lexsort((other, -walked))
    ranks = np.unique(other[order], return_inverse=True)[1]
    right, n_above = np.empty(len(order)), np.empty(len(order))
    right[order] = n_greater_before(ranks)
    n_above[order] = np.searchsorted(-walked[order], -walked[order])
    counted = n_above > 0
    return float(2 * np.mean(right[counted] / n_above[counted]) - 1)


def n_greater_before(ranks):
    """For each entry of an array of ranks from 0, the number of those before it that are greater.

    Counted where the halves of a merge sort meet, all of one width at once: n log(n)**2.
    """
    n = len(ranks)
    size = 1 << max(1, (n - 1).bit_length())
    values = np.full(size, -1)
    values[:n] = ranks
    counts, merged, width = np.zeros(size, dtype=np.int64), values, 1
    while width < size:
        # Halves of one block lie apart from those of the next.
        apart = np.arange(size // (2 * width))[:, None] * (n + 1)
        left = merged.reshape(-1, 2 * width)[:, :width] + apart
        right = values.reshape(-1, 2 * width)[:, width:] + apart
        n_not_greater = np.searchsorted(left.ravel(), right.ravel(), side="right")
        n_not_greater = n_not_greater.reshape(right.shape) - np.arange(len(apart))[:, None] * width
        counts.reshape(-1, 2 * width)[:, width:] += width - n_not_greater
        merged = np.sort(merged.reshape(-1, 2 * width), axis=1)
        width *= 2
    return counts[:n]
