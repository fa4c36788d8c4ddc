"""Number of queries that are needed to detect a difference between systems."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from skfilterrank._lists.checks import check_number, check_share
from skfilterrank._lists.results import Result, spread_places
from skfilterrank.comparison._system_scores import SystemScores
from skfilterrank.comparison._system_tests import residual_mean_square
from skfilterrank.exceptions import InputError, brief

_MOST = 10**7
_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class TopicSetSize(Result):
    """Result of :func:`topic_set_size`."""

    n_queries: int
    power: float
    target_power: float
    difference: float
    variance: float
    alpha: float
    sizes: np.ndarray
    powers: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return the power curve: columns "n_queries" and "power"."""
        return pd.DataFrame({"n_queries": self.sizes, "power": self.powers})

    def _summary(self):
        return (
            f"{self.n_queries} queries for a difference of {self.difference:g} with power "
            f"{self.target_power:g}"
        )

    def _head(self):
        return (
            f"{self.n_queries} queries detect a difference of {self.difference:g} with power "
            f"{self.power:.3f} (wanted: {self.target_power:g}).\n"
            f"paired t test, alpha = {self.alpha:g}, variance {self.variance:.4g}"
        )

    def _table(self):
        return self.to_frame().set_index("n_queries")

    def _places(self, n_rows):
        return np.union1d(
            spread_places(n_rows, _SHOWN), np.searchsorted(self.sizes, self.n_queries)
        )


def topic_set_size(
    scores=None,
    *,
    measure: str | None = None,
    difference: float,
    variance: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> TopicSetSize:
    """Compute how many topics a test collection needs to detect a difference between systems.

    Take the smallest difference worth knowing of, not the one seen in the pilot.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads, default=None
        Pilot values of at least two systems for at least two queries, from which the variance is
        estimated.
    measure : str or None, default=None
        Which measure, where `scores` has several.
    difference : float
        Difference of two systems' means that is to be detected, greater than 0, in the unit of the
        measure.
    variance : float, default=None
        Instead of `scores`: variance of the differences of two systems over queries.
    power : float, default=0.8
        Wanted chance of a significant result, between `alpha` and 1.
    alpha : float, default=0.05
        Level of significance, between 0 and 1. Where many pairs are to be compared, give the level
        of one of them, such as 0.05 divided by their number.

    Returns
    -------
    TopicSetSize
        Result with ``to_frame()`` and attributes:

        n_queries : int
            Smallest number of queries that will do, at least 2.
        power : float
            Power with so many queries.
        target_power : float
            Power that was wanted.
        difference : float
            Difference to be found, in the unit of the measure.
        variance : float
            Variance of the differences that was reckoned with.
        alpha : float
            Level of significance.
        sizes : ndarray of int
            Numbers of queries of the power curve, ascending; `n_queries` is among them.
        powers : ndarray of float64, of the shape of `sizes`
            Power for each of them.

    Raises
    ------
    ValueError
        If a number is out of its range; neither or both of `scores` and `variance` are given; the
        pilot has one query or its differences do not vary; or more than 10,000,000 queries would
        be needed.

    See Also
    --------
    reliability : Number of queries for which the order of the systems is dependable.
    discriminative_power : What the queries at hand can tell.

    Notes
    -----
    The test is the two-sided paired t test of two systems on the same topics, of values that are
    taken as normal: with n queries t has n - 1 degrees of freedom and noncentrality
    ``difference * sqrt(n / variance)``; both tails count. The variance is pooled over all pairs of
    the pilot: twice the residual mean square of the two-way layout of systems and queries. Select
    two of them, ``scores.select(systems=[...])``, for the variance of one pair.

    A variance estimated from few pilot queries is itself uncertain: that of one pair on 10 queries
    is less than half the true one once in eight times (normal differences), and so is the answer.
    Preferences are taken as mid-rank shares.

    References
    ----------
    Sakai, T. Topic set size design. Information Retrieval Journal 19, 2016.

    Examples
    --------
    >>> from skfilterrank.comparison import topic_set_size
    >>> topic_set_size(variance=0.04, difference=0.1).n_queries
    34
    >>> pilot = [[0.1, 0.5, 0.3, 0.7, 0.2], [0.2, 0.4, 0.6, 0.6, 0.1], [0.3, 0.6, 0.3, 0.9, 0.4]]
    >>> size = topic_set_size(pilot, difference=0.1)
    >>> size.n_queries, round(size.power, 3)
    (29, 0.805)
    """
    difference = check_number(difference, "difference", above=0)
    alpha, power = check_share(alpha, "alpha"), check_share(power, "power")
    if power <= alpha:
        raise InputError(f"power must be greater than alpha = {alpha:g}, got {brief(power)}.")
    if (scores is None) == (variance is None):
        raise InputError(
            "give either scores of a pilot or variance=, got "
            f"{'neither' if scores is None else 'both'}."
        )
    if scores is None:
        variance = check_number(variance, "variance", above=0)
    else:
        variance = _pilot_variance(SystemScores.of(scores, measure, least=(2, 2)))

    def power_at(n):
        return paired_power(n, difference, variance, alpha)

    # Doubling keeps away from needless numbers of queries, of which scipy knows no power.
    most = 2
    while power_at(most) < power:
        if most == _MOST:
            raise InputError(
                f"more than {_MOST:,} queries would be needed to detect a difference of "
                f"{difference:g}: give a greater difference."
            )
        most = min(2 * most, _MOST)
    n_queries = 2 + bisect_left(range(2, most), power, key=power_at)
    sizes = np.union1d(np.linspace(2, 2 * n_queries, 60).round().astype(int), n_queries)
    powers = power_at(sizes)
    return TopicSetSize(
        n_queries=n_queries,
        power=float(powers[np.searchsorted(sizes, n_queries)]),
        target_power=power,
        difference=difference,
        variance=variance,
        alpha=alpha,
        sizes=sizes,
        powers=powers,
    )


# scipy before 1.14 divides by zero on its way to some tails.
@np.errstate(divide="ignore")
def paired_power(n_queries, difference, variance, alpha):
    """Power of the two-sided paired t test, `variance` being that of the paired differences."""
    n = np.asarray(n_queries, dtype=np.float64)
    shift = np.sqrt(n * difference**2 / variance)
    critical = stats.t.isf(alpha / 2, n - 1)
    near = stats.nct.sf(critical, n - 1, shift)
    far = stats.nct.cdf(-critical, n - 1, np.minimum(shift, 4))
    # The far tail adds nothing but where power is near alpha, and loses digits elsewhere.
    power = near + np.where(shift < 4, far, 0.0)
    # scipy returns NaN for a very large shift.
    return np.where(np.isnan(power) & (shift > 10), 1.0, np.clip(power, 0.0, 1.0))


def _pilot_variance(scores):
    """Variance of the differences of two systems, pooled over all pairs; it must not be 0."""
    variance = 2 * residual_mean_square(scores.values)[0]
    if variance == 0:
        raise InputError(
            "scores vary by nothing but constants between systems, and any number of queries from "
            "2 would do: a pilot of more queries is needed, or give variance= a number."
        )
    return variance
