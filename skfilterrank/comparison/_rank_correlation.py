"""Correlation and overlap of two orders of systems."""

from collections.abc import Mapping, Set
from numbers import Number

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, rankdata

from skfilterrank._base.checks import as_column, as_numbers, check_flag
from skfilterrank._base.rounding import ROUNDING_OF_MEANS, merge, merge_means
from skfilterrank._base.words import counted
from skfilterrank._lists.measure_names import known_measure
from skfilterrank.comparison._order_systems import SystemOrder
from skfilterrank.comparison._score_tables import choose_measure
from skfilterrank.comparison._system_scores import SystemScores, check_same, has_queries
from skfilterrank.exceptions import InputError, brief


class Order:
    """An order of systems: their names, and a value for each (greater is better).

    Reads any form that :func:`kendall_tau` accepts. Values that differ only by rounding errors
    become equal, that is tied.
    """

    def __init__(self, order, name):
        if has_queries(order):
            scores = SystemScores.of(order, name=name, may_have_draws=True)
            systems, values = scores.systems, merge_means(scores.oriented)
        elif isinstance(order, SystemOrder):
            systems, values = order.systems, -order.rank
        elif isinstance(order, pd.DataFrame):
            column = choose_measure(order.columns, None, name)
            systems, values = order.index, _oriented(order[column])
        elif isinstance(order, pd.Series):
            systems, values = order.index, _oriented(order)
        elif isinstance(order, Mapping):
            systems, values = order.keys(), list(order.values())
        else:
            systems = _listed(order, name)
            values = np.arange(len(systems), 0, -1)
        self.systems = tuple(map(str, systems))
        # The tolerance is relative to each value, because values such as document scores may be
        # tiny.
        self.values = merge(_numbers(values, name), relative=ROUNDING_OF_MEANS)
        if len(set(self.systems)) < len(self.systems):
            repeated = pd.Series(self.systems, dtype=object)
            repeated = repeated[repeated.duplicated(keep=False)].iloc[0]
            raise InputError(
                f"{name} must name each system once, but {brief(repeated)} occurs more than once: "
                "leave out the copies."
            )


def values_of_both(first, second, names=("first", "second")):
    """Read two orders of the same systems and match them by name.

    Returns the values of `first`, the values of `second` for the same systems, and the systems'
    names, all in the order of `first`. Raises if the systems are not the same.
    """
    first, second = Order(first, names[0]), Order(second, names[1])
    check_same("systems", first.systems, second.systems, names)
    if len(first.systems) < 2:
        raise InputError(
            f"{names[0]} and {names[1]} must order at least 2 systems, got {len(first.systems)}."
        )
    places = {system: place for place, system in enumerate(second.systems)}
    matched = second.values[[places[system] for system in first.systems]]
    return first.values, matched, first.systems


def _oriented(values):
    """Negate a Series that has the name of a measure for which lower is better."""
    known = known_measure(values.name)
    return -values if known is not None and not known.greater_is_better else values


def _listed(order, name):
    """Read a list of systems' names, the best first; raise if it is none."""
    is_names = hasattr(order, "__iter__") and not isinstance(order, str | Set)
    # An array of numbers holds values without names. A list of integers may hold names.
    if isinstance(order, np.ndarray) and order.dtype.kind in "biufc":
        raise InputError(
            f"{name} must name the systems, got an array of numbers: pass a Series or dict of "
            "values by system, or a list of names, the best first."
        )
    systems = list(order) if is_names else []
    if not is_names or any(
        (isinstance(each, Number) and not isinstance(each, (int, np.integer))) or np.ndim(each) > 0
        for each in systems
    ):
        raise InputError(
            f"{name} must be SystemScores, a result of order_systems, a Series or dict of values "
            "by system, or a list of the names of systems, the best first; got "
            f"{type(order).__name__}{' of numbers' * is_names}."
        )
    return systems


def _numbers(values, name):
    """Convert values to float64; raise if they are not numbers or if one is missing."""
    numbers = as_numbers(as_column(values, name, "value"), name)
    if numbers is None:
        raise InputError(f"{name} must hold a number for each system, got {brief(values)}.")
    values = numbers.astype(np.float64, copy=False)
    if np.isnan(values).any():
        missing = counted(np.count_nonzero(np.isnan(values)), "is", "are")
        raise InputError(
            f"{name} must hold a value for each system, and {missing} missing (NaN): leave those "
            "systems out of both orders."
        )
    return values


def kendall_tau(first, second) -> float:
    """Compute Kendall's tau-b: share of pairs in the same order minus share in opposite order.

    It is the usual measure of how well an estimated order of systems matches the true order. All
    pairs of systems have equal weight; :func:`tau_ap` gives more weight to the best systems.

    Parameters
    ----------
    first, second : SystemScores, result of order_systems, Series, dict or list
        Two orders of the same systems. SystemScores, and everything else that
        :meth:`SystemScores.of` reads, are ordered by their means, and a result of
        :func:`order_systems` by its ranks. A Series, dict or DataFrame of one column holds a value
        for each system, and the greatest is the best. For SystemScores, Series and DataFrames that
        name a measure, the lowest is the best if lower is better by this measure. A list holds the
        names of the systems, the best first. Names are compared as text.

    Returns
    -------
    float
        Tau-b, in [-1, 1], as :func:`scipy.stats.kendalltau` computes it: (number of pairs in the
        same order - number of pairs in opposite order) / denominator. Pairs that are tied in either
        order are in neither number. The denominator is the geometric mean of the numbers of pairs
        that are not tied in the first and in the second order. NaN if all systems are tied in one
        of the orders.

    Raises
    ------
    ValueError
        If a system is in one order only, if there are fewer than two systems, or if a value is
        missing.

    See Also
    --------
    tau_ap : Gives more weight to the top of the predicted order.

    Notes
    -----
    Values that differ only by rounding errors are tied. The tolerance for means of SystemScores is
    1e-12 times the largest value of the systems; for values of a Series or dict, it is 1e-12 times
    the value itself.

    Examples
    --------
    One of six pairs is in the wrong order: (5 - 1) / 6.

    >>> from skfilterrank.comparison import kendall_tau
    >>> kendall_tau({"a": 0.9, "b": 0.7, "c": 0.6, "d": 0.1}, ["b", "a", "c", "d"])
    0.666...
    """
    first, second, _ = values_of_both(first, second)
    # Ranks are used because values may be infinite.
    return float(kendalltau(rankdata(first), rankdata(second)).statistic)


def tau_ap(truth, predicted, *, symmetric: bool = False) -> float:
    r"""Compute AP correlation: Kendall's tau with more weight at the top of the predicted order.

    Use it if a wrong order of the best systems is worse than a wrong order of the worst systems.
    If it is far below :func:`kendall_tau`, the top of the predicted order is wrong.

    Parameters
    ----------
    truth, predicted : SystemScores, result of order_systems, Series, dict or list
        Two orders of the same systems, as :func:`kendall_tau` takes them.
    symmetric : bool, default=False
        True treats both orders alike, for two orders of which neither is the truth; both may have
        ties.

    Returns
    -------
    float
        AP correlation, in [-1, 1]: 1 for equal orders, -1 for reversed orders. A pair of systems
        that is tied in `truth` never counts as correctly ordered. With ``symmetric=True``, the
        value is NaN if all systems are tied in one of the orders.

    Raises
    ------
    ValueError
        In the same cases as :func:`kendall_tau`. With ``symmetric=False``, also if systems are tied
        in `predicted`.

    Notes
    -----
    Let n be the number of systems, and let C(i) count the systems above rank i of the prediction
    that are better in the truth than the system at rank i. Then [1]_

    .. math:: \tau_{ap} = \frac{2}{n - 1} \sum_{i=2}^{n} \frac{C(i)}{i - 1} - 1

    This value is not symmetric, because the weights depend on the ranks in the prediction only.

    The symmetric value [2]_ is the mean of two terms, one for each order in the role of the
    prediction. In each term, tied systems form a group, and a system is compared only with the
    systems in groups above its own group. Let :math:`p_i` be the first rank of the group of system
    i, so that :math:`p_i - 1` systems are above this group. Let C(i) count those that are also
    strictly above i in the other order, and let t be the size of the top group. The term is

    .. math:: \frac{2}{n - t} \sum_{i: p_i > 1} \frac{C(i)}{p_i - 1} - 1

    Without ties, the symmetric value is the mean of both asymmetric values. It is 1 for equal
    orders, also if they have ties.

    References
    ----------
    .. [1] Yilmaz, E., Aslam, J. A. and Robertson, S. (2008). A new rank correlation coefficient for
       information retrieval. SIGIR 2008, equation 3.
    .. [2] Urbano, J. and Marrero, M. (2017). The treatment of ties in AP correlation. ICTIR 2017.

    Examples
    --------
    A wrong pair costs more at the top of the prediction. The shares C(i) / (i - 1) for the ranks 2,
    3 and 4 are 0, 1 and 1 for the first prediction, and 1, 1 and 2/3 for the second.

    >>> from skfilterrank.comparison import tau_ap
    >>> truth = {"a": 0.9, "b": 0.7, "c": 0.6, "d": 0.1}
    >>> tau_ap(truth, ["b", "a", "c", "d"])
    0.333...
    >>> tau_ap(truth, ["a", "b", "d", "c"])
    0.777...

    With the first order as the prediction, the shares are 1 / 1 for c and 1 / 2 for d, because c
    and d are tied in the second order: the term is 0.5. With the second order as the prediction,
    only a is above c and d, and it is above them in the first order, too: the term is 1.

    >>> tau_ap(["a", "c", "d"], {"a": 0.9, "c": 0.5, "d": 0.5}, symmetric=True)
    0.75
    """
    check_flag(symmetric, "symmetric")
    truth, predicted, systems = values_of_both(truth, predicted, ("truth", "predicted"))
    if symmetric:
        if (truth == truth[0]).all() or (predicted == predicted[0]).all():
            return float("nan")
        return (_walk(truth, predicted) + _walk(predicted, truth)) / 2
    order = np.argsort(-predicted, kind="stable")
    tied = np.flatnonzero(predicted[order][:-1] == predicted[order][1:])
    if len(tied):
        one, other = (systems[order[place]] for place in (tied[0], tied[0] + 1))
        raise InputError(
            f"predicted must not have ties, but {counted(len(tied), 'pair')} of neighbors "
            f"{'is' if len(tied) == 1 else 'are'} tied, such as {brief(one)} and {brief(other)}: "
            "pass symmetric=True, or break the ties by passing a list of names, the best first."
        )
    return _walk(truth, predicted)


def swap_rate(first, second) -> float:
    """Compute the share of pairs of systems that have opposite orders by two sets of values.

    For values by one measure for two sets of queries, the rate shows how consistent the measure
    is. For values by two measures, it shows how much the measures disagree.

    Parameters
    ----------
    first, second : SystemScores, result of order_systems, Series, dict or list
        Two orders of the same systems, as :func:`kendall_tau` takes them. They may come from
        different queries or measures.

    Returns
    -------
    float
        Swap rate, in [0, 1]. A pair that is tied in one of the orders counts as consistent.

    Raises
    ------
    ValueError
        If the systems are not the same, if there are fewer than two, if one is named twice, or if a
        value is missing.

    See Also
    --------
    kendall_tau : Equals 1 - 2 * swap_rate if nothing is tied.
    stability_curve : Rate of contradictions between many small samples of queries.

    Notes
    -----
    This is the swap rate of section 4.4.4 of [1]_, which refers to Sakai (SIGIR 2006). Sakai's
    swap rate is computed for classes of the size of the difference; this one counts all pairs
    alike.

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
    one, other, _ = values_of_both(first, second)
    # Sort from worst to best by the first order, and ties by the second. A system that comes
    # earlier but is better by the second order then makes an oppositely ordered pair.
    ranks = np.unique(other[np.lexsort((other, one))], return_inverse=True)[1]
    n_systems = len(one)
    return float(n_greater_before(ranks).sum() / (n_systems * (n_systems - 1) / 2))


def _walk(other, walked):
    """Compute AP correlation with `walked` as the prediction and `other` as the truth.

    Ties in `walked` are treated as in the symmetric formula of :func:`tau_ap`.
    """
    # Tied systems are sorted by the other order, so that no system of a tie counts as better than
    # another.
    order = np.lexsort((other, -walked))
    ranks = np.unique(other[order], return_inverse=True)[1]
    right, n_above = np.empty(len(order)), np.empty(len(order))
    right[order] = n_greater_before(ranks)
    n_above[order] = np.searchsorted(-walked[order], -walked[order])
    counted = n_above > 0
    return float(2 * np.mean(right[counted] / n_above[counted]) - 1)


def n_greater_before(ranks):
    """Count, for each entry of an integer array, the greater entries before it.

    `ranks` has values from 0. The counts are made in a merge sort, in time n log(n)**2.
    """
    n = len(ranks)
    size = 1 << max(1, (n - 1).bit_length())
    values = np.full(size, -1)
    values[:n] = ranks
    counts, merged, width = np.zeros(size, dtype=np.int64), values, 1
    while width < size:
        # An offset for each block keeps the sorted halves of different blocks apart, so that one
        # searchsorted serves all blocks.
        apart = np.arange(size // (2 * width))[:, None] * (n + 1)
        left = merged.reshape(-1, 2 * width)[:, :width] + apart
        right = values.reshape(-1, 2 * width)[:, width:] + apart
        n_not_greater = np.searchsorted(left.ravel(), right.ravel(), side="right")
        n_not_greater = n_not_greater.reshape(right.shape) - np.arange(len(apart))[:, None] * width
        counts.reshape(-1, 2 * width)[:, width:] += width - n_not_greater
        merged = np.sort(merged.reshape(-1, 2 * width), axis=1)
        width *= 2
    return counts[:n]
