"""Correlation and overlap of two orders of systems."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from numbers import Number

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, rankdata

from skfilterrank._lists.checks import as_column, as_numbers, check_choice, check_flag, check_share
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.ties import ROUNDING_OF_MEANS, merge, merge_means
from skfilterrank.comparison._order_systems import SystemOrder
from skfilterrank.comparison._score_tables import choose_measure
from skfilterrank.comparison._system_scores import SystemScores, check_same, has_queries
from skfilterrank.exceptions import InputError, brief


class Order:
    """Names of systems with values, greater is better; values equal up to rounding tie."""

    def __init__(self, order, name):
        if has_queries(order):
            scores = SystemScores.of(order, name=name)
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
        # Without the values behind them, relative to the means: scores of documents may be tiny.
        self.values = merge(_numbers(values, name), relative=ROUNDING_OF_MEANS)
        if len(set(self.systems)) < len(self.systems):
            repeated = pd.Series(self.systems, dtype=object)
            repeated = repeated[repeated.duplicated(keep=False)].iloc[0]
            raise InputError(
                f"{name} must name each system once, and {brief(repeated)} occurs more than once."
            )


def values_of_both(first, second, names=("first", "second")):
    """Return both values of each system, in the order of the first, and the systems."""
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
    """Return values by system, negated if a Series is named after a measure to minimise."""
    known = known_measure(values.name)
    return -values if known is not None and not known.greater_is_better else values


def _listed(order, name):
    """Return names in a list, best first."""
    is_names = hasattr(order, "__iter__") and not isinstance(order, str | Set)
    # Values of systems without their names, where a list of whole numbers may be names.
    if isinstance(order, np.ndarray) and order.dtype.kind in "biufc":
        raise InputError(
            f"{name} must name the systems, and is an array of numbers: give a Series or dict of "
            "values by system, or a list of names, the best first."
        )
    systems = list(order) if is_names else []
    if not is_names or any(
        (isinstance(each, Number) and not isinstance(each, (int, np.integer))) or np.ndim(each) > 0
        for each in systems
    ):
        raise InputError(
            f"{name} must be SystemScores, what order_systems returns, a Series or dict of values "
            "by system, or a list of the names of systems, the best first; got "
            f"{type(order).__name__}{' of numbers' * is_names}."
        )
    return systems


def _numbers(values, name):
    """Return values as numbers, none of them missing."""
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
    """Compute Kendall's tau-b: pairs in the same order minus pairs in opposite order.

    The usual measure of how well an estimated order of systems matches the true one. All pairs have
    equal weight; :func:`tau_ap` gives the top more weight.

    Parameters
    ----------
    first, second : SystemScores, result of order_systems, Series, dict or list
        Two orders of the same systems. SystemScores, and what :meth:`SystemScores.of` reads, are
        ordered by their means, with regard to whether greater is better; a result of
        :func:`order_systems` by its ranks; of a Series, DataFrame of one column or dict of values
        by system the greatest is the best; a list holds the names of the systems, the best first.
        Names are compared as text.

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


def tau_ap(truth, predicted, *, symmetric: bool = False) -> float:
    r"""Compute AP correlation: Kendall's tau with more weight at the top of the predicted order.

    Use it if errors among the best systems are worse than among the worst. If it is far below
    :func:`kendall_tau`, the top of the prediction is wrong.

    Parameters
    ----------
    truth, predicted : SystemScores, result of order_systems, Series, dict or list
        Two orders of the same systems, as :func:`kendall_tau` takes them.
    symmetric : bool, default=False
        True compares two orders of which neither is the truth, and both of which may have ties.

    Returns
    -------
    float
        In [-1, 1]; 1 if the orders are the same, -1 if one is the other reversed. Systems tied in
        the truth are never in the right order. A symmetric value is NaN if all systems are tied in
        an order.

    Raises
    ------
    ValueError
        As :func:`kendall_tau`; and, unless `symmetric`, if systems are tied in the prediction.

    Notes
    -----
    Let C(i) be how many of the systems above rank i of the prediction are truly better than the
    one at rank i. Then

    .. math:: \tau_{ap} = \frac{2}{n - 1} \sum_{i=2}^{n} \frac{C(i)}{i - 1} - 1

    It is not symmetric: the prediction defines the top [1]_.

    The symmetric value [2]_ compares a system with those in groups of ties above its own only.
    With :math:`p_i` the rank at which the group of system i begins, :math:`t` the size of the first
    group and C(i) how many of the :math:`p_i - 1` systems above the group are above i in the other
    order too (strictly),

    .. math:: \frac{2}{n - t} \sum_{i: p_i > 1} \frac{C(i)}{p_i - 1} - 1

    is averaged over both orders in the role of the prediction. Without ties this is the mean of
    both asymmetric values. Equal orders with ties have 1.

    References
    ----------
    .. [1] Yilmaz, E., Aslam, J. A. and Robertson, S. (2008). A new rank correlation coefficient for
       information retrieval. SIGIR 2008, equation 3.
    .. [2] Urbano, J. and Marrero, M. (2017). The treatment of ties in AP correlation. ICTIR 2017.

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

    Down the first, 1 of 1 above c is above it in the second too, and 1 of 2 above d: 0.5. Down
    the second, only a is above c and d, rightly: 1. The mean is 0.75.

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
            f"predicted must not have ties, and {counted(len(tied), 'pair')} of neighbors "
            f"{'is' if len(tied) == 1 else 'are'} tied, such as {brief(one)} and {brief(other)}: "
            "give symmetric=True, or give a list of names that says how ties are broken."
        )
    return _walk(truth, predicted)


def swap_rate(first, second) -> float:
    """Compute the share of pairs of systems that two sets of values order oppositely.

    With values on different query sets, it measures the consistency of a measure; with different
    measures, their disagreement.

    Parameters
    ----------
    first, second : SystemScores, result of order_systems, Series, dict or list
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
    >>> from skfilterrank.comparison import swap_rate
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


def _walk(other, walked):
    """Compute AP correlation from the top of one order, by groups of ties."""
    # Equal ones are sorted by the other order, so that none counts as above an equal one.
    order = np.lexsort((other, -walked))
    ranks = np.unique(other[order], return_inverse=True)[1]
    right, n_above = np.empty(len(order)), np.empty(len(order))
    right[order] = n_greater_before(ranks)
    n_above[order] = np.searchsorted(-walked[order], -walked[order])
    counted = n_above > 0
    return float(2 * np.mean(right[counted] / n_above[counted]) - 1)


def n_greater_before(ranks):
    """Count, for each entry of an array of ranks from 0, the greater entries before it.

    Entries are counted in the merges of a merge sort, in time n log(n)**2.
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


TIES = ("raise", "average")


@dataclass(frozen=True, eq=False, repr=False)
class RankBiasedOverlap(Result):
    """Result of :func:`rank_biased_overlap`."""

    value: float
    low: float
    high: float
    residual: float
    persistence: float
    n_common: int

    def _table(self) -> None:
        return None

    def __float__(self) -> float:
        return self.value

    def _summary(self):
        return f"{self.value:.3f}, {self.n_common} in common, persistence {self.persistence:g}"

    def _head(self):
        return (
            f"rank-biased overlap {self.value:.3f}, between {self.low:.3f} and {self.high:.3f} "
            f"(persistence {self.persistence:g}, {self.n_common} in common)"
        )


def rank_biased_overlap(
    first, second, *, persistence: float = 0.9, ties: str = "raise"
) -> RankBiasedOverlap:
    r"""Compute rank-biased overlap: the share that two lists have in common at all depths.

    Use it for lists that need not hold the same names, such as the documents that two systems
    return, or where only the head of an order of systems is of interest.

    Parameters
    ----------
    first, second : SystemScores, result of order_systems, Series, dict or list
        Two orders, as :func:`kendall_tau` takes them, but each of any names and any length.
    persistence : float, default=0.9
        Probability p that a reader continues to the next rank; the mean depth is 1 / (1 - p).
        Between 0 and 1, both excluded.
    ties : {"raise", "average"}, default="raise"
        Treatment of ties in a list: an error, or the exact mean over all tied orders (of each list
        independently).

    Returns
    -------
    RankBiasedOverlap
        Result with ``to_frame()`` and attributes:

        value : float
            Extrapolated overlap: what follows agrees as much as what was seen; in [0, 1].
        low, high : float
            Least and greatest overlap that the lists could have if they went on; in [0, 1].
        residual : float
            ``high - low``: the weight of what was not seen.
        persistence : float
            Chance of going on to the next rank.
        n_common : int
            Number of names that are in both lists.

    Raises
    ------
    ValueError
        If a list is empty, names something twice, has a missing value, or has ties that are not
        to be averaged; if `persistence` is not between 0 and 1.

    See Also
    --------
    tau_ap : Looks at the top, too, and tells chance (0) from the opposite order (-1).

    Notes
    -----
    With :math:`X_d` the number of names that are among the first d of both lists, the overlap is

    .. math:: (1 - p) \sum_{d=1}^{\infty} p^{d-1} \frac{X_d}{d}

    of which lists of s and l >= s names show a part. The least it could be has nothing more in
    common after both lists; the greatest matches whatever can still be matched,
    :math:`X_d + (d - s)` from depth s on and :math:`X_l + (d - s) + (d - l)` from l on, until
    everything is in common. The extrapolated value assumes that the agreement stays as it was
    seen (equation 32 of Webber et al.).

    With ``ties="average"`` each value is the exact mean over all orders of those tied. Where lists
    are of unequal length and tied, the code that Corsi and Urbano published gives other values,
    which are not that mean.

    References
    ----------
    Webber, W., Moffat, A. and Zobel, J. (2010). A similarity measure for indefinite rankings.
    ACM TOIS 28(4).

    Corsi, M. and Urbano, J. (2024). The treatment of ties in rank-biased overlap. SIGIR 2024
    (mean over orders).

    Examples
    --------
    The depths 1, 2, 3, ... weigh 1/2, 1/4, 1/8, ...; at depth 1 nothing is in common, at depth 2
    everything, and so on, if the agreement stays.

    >>> from skfilterrank.comparison import rank_biased_overlap
    >>> overlap = rank_biased_overlap(["a", "b"], ["b", "a"], persistence=0.5)
    >>> overlap.value
    0.5
    >>> print(overlap)
    rank-biased overlap 0.500, between 0.386 and 0.500 (persistence 0.5, 2 in common)
    """
    persistence = check_share(persistence, "persistence")
    check_choice(ties, "ties", TIES)
    one, other = _List(first, "first", ties), _List(second, "second", ties)
    short, long = sorted((one, other), key=len)
    common = [name for name in short.places if name in long.places]
    overlap = _overlap(short, long, common)
    value, low, high, residual = _value_and_bounds(overlap, len(short), len(long), persistence)
    return RankBiasedOverlap(value, low, high, residual, persistence, len(common))


class _List:
    """Names, with the number before each one's tie, and the number tied."""

    def __init__(self, order, name, ties):
        order = Order(order, name)
        if not order.systems:
            raise InputError(f"{name} must hold at least one name, and is empty.")
        self.places = {system: place for place, system in enumerate(order.systems)}
        # Floats since SciPy 1.18.
        first, last = (rankdata(-order.values, m).astype(np.intp) for m in ("min", "max"))
        self.before = first - 1
        self.n_tied = last - self.before
        if ties == "raise" and (self.n_tied > 1).any():
            tied = np.flatnonzero(self.before == self.before[self.n_tied > 1].min())[:2]
            raise InputError(
                f"{name} must not have ties, and {np.count_nonzero(self.n_tied > 1)} names are "
                f"tied, such as {brief(order.systems[tied[0]])} and "
                f"{brief(order.systems[tied[1]])}: give "
                "ties='average', or a list of names that says how ties are broken."
            )

    def __len__(self):
        return len(self.places)

    def spans(self, names):
        """Count the names before the ties of each name, and up to the end of these ties."""
        at = np.fromiter((self.places[name] for name in names), dtype=np.intp, count=len(names))
        return self.before[at], self.before[at] + self.n_tied[at]

    def seen(self, n_depths):
        """Share of the tie at each depth that is above the depth; 1 after the end of the list."""
        best_first = np.argsort(self.before, kind="stable")
        share = np.ones(n_depths)
        share[: len(self)] = np.arange(1, len(self) + 1) - self.before[best_first]
        share[: len(self)] /= self.n_tied[best_first]
        return share


def _overlap(short, long, common):
    """Compute the expected number of common names at each depth of the longer list.

    Down to a depth, a list contains some names for certain, and some of the tie in which the depth
    ends. So the sum needs three counts: names certain in both lists, certain in one and tied in the
    other, and tied in both.
    """
    n_depths = len(long)
    begin_short, end_short = short.spans(common)
    begin_long, end_long = long.spans(common)

    def number(first, behind):
        """Count for each depth the names whose range [first, behind) contains it."""
        is_any = first < behind
        change = np.bincount(first[is_any], minlength=n_depths + 2)
        change -= np.bincount(behind[is_any], minlength=n_depths + 2)
        return np.cumsum(change)[1 : n_depths + 1]

    both = number(np.maximum(end_short, end_long), np.full(len(common), n_depths + 1))
    in_short = number(np.maximum(begin_short + 1, end_long), end_short)
    in_long = number(np.maximum(begin_long + 1, end_short), end_long)
    in_both = number(np.maximum(begin_short, begin_long) + 1, np.minimum(end_short, end_long))
    seen_short, seen_long = short.seen(n_depths), long.seen(n_depths)
    return both + seen_short * (in_short + seen_long * in_both) + seen_long * in_long


def _value_and_bounds(overlap, s, l, p):  # noqa: E741
    """Compute extrapolated value, bounds and residual, which are linear in the overlaps."""
    depth = np.arange(1, l + 1)
    weight = (1 - p) * p ** (depth - 1.0)
    seen = float(weight @ (overlap / depth))
    at_short, at_long = overlap[s - 1], overlap[-1]

    # Weight of all depths after l, for the names in common so far.
    behind = (1 - p) / p * (-np.log1p(-p) - float((p**depth / depth).sum()))
    low = seen + at_long * max(behind, 0.0)

    unseen = depth[s:]
    value = seen + float(weight[s:] @ (at_short * (unseen - s) / (s * unseen)))
    value += ((at_long - at_short) / l + at_short / s) * p**l

    # Both lists are at their ends, where ties no longer matter: a whole number.
    everything = s + l - round(at_long)
    after = np.arange(l + 1, everything + 1)
    high = seen + float(weight[s:] @ ((unseen - s) / unseen))
    high += float((1 - p) * p ** (after - 1.0) @ ((at_long + 2 * after - s - l) / after))
    high += p**everything
    return tuple(map(float, (value, low, high, high - low)))
