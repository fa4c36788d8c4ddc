"""How alike two lists are that look at the top and need not hold the same: rank-biased overlap."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from skfilterrank._lists.checks import check_choice, check_share
from skfilterrank._lists.results import Result
from skfilterrank.comparison._order_inputs import Order
from skfilterrank.exceptions import InputError, brief

TIES = ("raise", "average")


@dataclass(frozen=True, eq=False, repr=False)
class RankBiasedOverlap(Result):
    """Rank-biased overlap of two lists; ``float()`` of it is the value.

    Attributes
    ----------
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
    """

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
    r"""Rank-biased overlap: how much the heads of two lists have in common, at all depths.

    Use it for lists that need not hold the same names, such as the documents that two systems
    return, or where only the head of an order of systems is of interest.

    Parameters
    ----------
    first, second : SystemScores, SystemOrder, Series, dict or list
        Two orders, as :func:`kendall_tau` takes them, but each of any names and any length.
    persistence : float, default=0.9
        Chance p that a reader who compares the lists goes on to the next rank; the mean depth is
        1 / (1 - p). Between 0 and 1, both excluded.
    ties : {"raise", "average"}, default="raise"
        What becomes of ties in a list: an error, or the exact mean over all orders of those tied
        (in each list independently).

    Returns
    -------
    RankBiasedOverlap

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
    """Names, how many stand before the ties of each, and how many are tied."""

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
        """How many stand before the ties of each name, and how many up to their end."""
        at = np.fromiter((self.places[name] for name in names), dtype=np.intp, count=len(names))
        return self.before[at], self.before[at] + self.n_tied[at]

    def seen(self, n_depths):
        """Share of the ties that each depth ends in which is seen down to it; 1 behind the list."""
        best_first = np.argsort(self.before, kind="stable")
        share = np.ones(n_depths)
        share[: len(self)] = np.arange(1, len(self) + 1) - self.before[best_first]
        share[: len(self)] /= self.n_tied[best_first]
        return share


def _overlap(short, long, common):
    """Expected number of names in common at each depth of the longer list.

    Down to a depth, a list shows names for sure and a share of the ties that the depth ends in. So
    what counts is how many names are sure in both lists, sure in one and in those ties of the
    other, and in such ties of both: whole numbers, which come and go once for each name.
    """
    n_depths = len(long)
    begin_short, end_short = short.spans(common)
    begin_long, end_long = long.spans(common)

    def number(first, behind):
        """How many names have each depth from `first` to before `behind`."""
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
    """Extrapolated value, least, greatest and residual, all of them linear in the overlaps."""
    depth = np.arange(1, l + 1)
    weight = (1 - p) * p ** (depth - 1.0)
    seen = float(weight @ (overlap / depth))
    at_short, at_long = overlap[s - 1], overlap[-1]

    # All the weight behind l, for what is in common so far and nothing more.
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
