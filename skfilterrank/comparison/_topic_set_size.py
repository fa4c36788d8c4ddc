"""Number of queries that are needed to detect a difference between systems."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from skfilterrank._lists.checks import (
    as_list,
    check_choice,
    check_count,
    is_finite_number,
    is_whole_number,
)
from skfilterrank._lists.results import Result, spread_places
from skfilterrank._lists.system_pairs import Pairs, mean_and_deviation, seeds_of
from skfilterrank._lists.ties import mean_tolerance
from skfilterrank.comparison._system_scores import SystemScores, known_places
from skfilterrank.comparison._system_tests import residual_mean_square
from skfilterrank.exceptions import InputError, brief

_BLOCK_NUMBERS = 2**20
# SciPy before 1.14 warns of a division by zero in some tail probabilities.
_of_tails = np.errstate(divide="ignore")


@_of_tails
def paired_power(n_queries, difference, variance, alpha):
    """Compute the power of the two-sided paired t test; `variance` is that of the differences."""
    n = np.asarray(n_queries, dtype=np.float64)
    shift = np.sqrt(n * difference**2 / variance)
    critical = stats.t.isf(alpha / 2, n - 1)
    near = stats.nct.sf(critical, n - 1, shift)
    far = stats.nct.cdf(-critical, n - 1, np.minimum(shift, 4))
    # The tail on the opposite side matters only for a small shift, and is inexact for a large one.
    return _settled(near + np.where(shift < 4, far, 0.0), shift**2)


@_of_tails
def anova_power(n_queries, difference, variance, alpha, n_systems, *, blocked):
    """Compute the power of the F test if the best and the worst system differ by `difference`.

    All other systems are assumed to be half way between these two, which gives the least power.
    `variance` is the variance of a system's values, or with ``blocked=True`` the residual variance.
    """
    n = np.asarray(n_queries, dtype=np.float64)
    numerator = n_systems - 1
    denominator = numerator * (n - 1) if blocked else n_systems * (n - 1)
    noncentrality = n * difference**2 / (2 * variance)
    critical = stats.f.isf(alpha, numerator, denominator)
    power = stats.ncf.sf(critical, numerator, denominator, noncentrality)
    return _settled(power, noncentrality)


def smallest_n(power_at, power, most):
    """Find the smallest number of queries with at least `power`, or None if it exceeds `most`.

    `power_at` is a function from numbers of queries to power, which must not decrease.
    """
    low, high = 1, 2
    while power_at(high) < power:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if power_at(middle) < power:
            low = middle
        else:
            high = middle
    return high


def simulated_power(residuals, difference, alpha, n_max, n_trials, generator):
    """Simulate the power of the paired t test for 2 to n_max queries.

    Each trial draws a pair of systems, then queries with replacement, and adds `difference` to
    their `residuals`, of shape (n_pairs, n_queries): the pilot's differences without their mean.
    Power is the share of trials with a significant t. A trial for n + 1 queries adds one query to
    the trial for n queries, so the curve is smooth.
    """
    n_pairs, n_pilot = residuals.shape
    n = np.arange(2, n_max + 1)
    critical = stats.t.isf(alpha / 2, n - 1)
    scale = np.abs(residuals).max() + difference
    n_significant = np.zeros(len(n), dtype=np.int64)
    size = max(1, _BLOCK_NUMBERS // n_max)
    for start in range(0, n_trials, size):
        n_here = min(size, n_trials - start)
        pair = generator.integers(n_pairs, size=n_here)
        # A random sign lets both systems of a pair be the better one equally often.
        sign = generator.choice([-1.0, 1.0], size=n_here)
        drawn = generator.integers(n_pilot, size=(n_here, n_max))
        x = residuals[pair[:, np.newaxis], drawn] * sign[:, np.newaxis]
        total, squares = np.cumsum(x, axis=1)[:, 1:], np.cumsum(x * x, axis=1)[:, 1:]
        mean = total / n
        deviation = np.sqrt(np.maximum(squares - n * mean**2, 0.0) / (n - 1))
        # A trial without variance, such as one query drawn n times, is not significant.
        varied = deviation > 1e-7 * scale
        t = np.abs(mean + difference) * np.sqrt(n)
        n_significant += np.count_nonzero(varied & (t >= critical * deviation), axis=0)
    return n_significant / n_trials


def _settled(power, noncentrality):
    """Clip power to [0, 1]; NaN of SciPy for a very large noncentrality becomes 1."""
    return np.where(np.isnan(power) & (noncentrality > 100), 1.0, np.clip(power, 0.0, 1.0))


DESIGNS = ("paired", "anova", "blocked_anova")
METHODS = ("formula", "simulation")
_MOST = 10**7
_MOST_SIMULATED = 10**4
_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class TopicSetSize(Result):
    """Number of queries that a design needs, and its power curve, from :func:`topic_set_size`."""

    n_queries: int
    power: float
    target_power: float
    difference: float
    variance: float
    alpha: float
    design: str
    method: str
    n_systems: int
    sizes: np.ndarray
    powers: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return the power curve as a DataFrame with the columns "n_queries" and "power"."""
        return pd.DataFrame({"n_queries": self.sizes, "power": self.powers})

    def _summary(self):
        return (
            f"{self.n_queries} queries for a difference of {self.difference:g} with power "
            f"{self.target_power:g}"
        )

    def _head(self):
        what = {
            "paired": "paired t test",
            "anova": f"one-way ANOVA of {self.n_systems} systems",
            "blocked_anova": f"ANOVA of {self.n_systems} systems with queries as blocks",
        }[self.design]
        return (
            f"{self.n_queries} queries detect a difference of {self.difference:g} with power "
            f"{self.power:.3f} (wanted: {self.target_power:g}).\n"
            f"{what}, alpha = {self.alpha:g}, variance {self.variance:.4g}, by {self.method}"
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
    pair: tuple[str, str] | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    method: str = "formula",
    design: str = "paired",
    n_systems: int | None = None,
    n_resamples: int = 10_000,
    random_state=None,
) -> TopicSetSize:
    """Compute the number of topics that is needed to detect a difference between systems.

    Choose the smallest difference that matters to you, not the difference observed in the pilot.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads, default=None
        Pilot values of at least two systems for at least two queries, from which the variance is
        estimated.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    difference : float
        Smallest difference of two means to detect, greater than 0, in the unit of the measure. For
        the two ANOVA designs, it is the difference between the best and the worst system.
    variance : float, default=None
        Variance to use instead of an estimate from `scores`. For "paired", it is the variance over
        queries of the difference of two systems. For "anova", it is the variance over queries of
        the values of one system. For "blocked_anova", it is the residual variance after the means
        of systems and queries are subtracted.
    pair : (str, str), default=None
        Names of two systems of `scores`. The variance is then that of their differences; None
        pools all pairs. Only for ``design="paired"``.
    power : float, default=0.8
        Wanted probability of a significant result, between `alpha` and 1.
    alpha : float, default=0.05
        Level of significance of one test, between 0 and 1. For comparisons of many pairs, divide
        the level by the number of pairs (Bonferroni).
    method : {"formula", "simulation"}, default="formula"
        "formula" assumes normal values and uses the noncentral t or F distribution. "simulation"
        draws queries of the pilot with replacement and runs the paired t test on them, so it uses
        the observed distribution of the differences. It needs `scores` and ``design="paired"``.
    design : {"paired", "anova", "blocked_anova"}, default="paired"
        "paired": paired two-sided t test of two systems on the same topics. "anova": Sakai's
        design, a one-way analysis of variance of `n_systems` systems, which ignores that all
        systems have the same topics. "blocked_anova": analysis of variance with topics as blocks.
    n_systems : int, default=None
        Number of systems in the ANOVA designs, at least 2. None takes the number in `scores`.
    n_resamples : int, default=10000
        Number of simulated experiments, at least 100. The standard error of a power of 0.8 is
        0.004 with 10,000.
    random_state : int, RandomState or None, default=None
        Random numbers of the simulation. Pass an int for results that can be repeated.

    Returns
    -------
    TopicSetSize
        Result with ``to_frame()`` and attributes:

        n_queries : int
            Smallest number of queries with the wanted power, at least 2.
        power : float
            Power for `n_queries` queries.
        target_power : float
            Wanted power, the parameter `power`.
        difference : float
            Value of the parameter.
        variance : float
            Given or estimated variance; its meaning depends on `design`.
        alpha : float
            Level of significance.
        design, method : str
            Value of the parameter.
        n_systems : int
            Number of systems of the design; 2 if it is "paired".
        sizes : ndarray of int
            Numbers of queries of the power curve, ascending; `n_queries` is one of them.
        powers : ndarray of float64, of the shape of `sizes`
            Power for each number of queries in `sizes`.

    Raises
    ------
    ValueError
        If a number is out of its range; if both or neither of `scores` and `variance` are given; if
        the pilot has only one query or its differences do not vary; if `pair` names an unknown
        system; if an option cannot be used with the design; or if more than 10,000,000 queries
        would be needed (10,000 for simulations).

    See Also
    --------
    reliability : Number of queries that give a reliable order of the systems.
    discriminative_power : Share of pairs that the present queries can tell apart.

    Notes
    -----
    Let n be the number of queries and m the number of systems.

    Paired: t has n - 1 degrees of freedom and noncentrality ``difference * sqrt(n / variance)``;
    the power counts both tails. The variance pooled over all pairs is twice the residual mean
    square of the two-way layout of systems and queries.

    ANOVA (Sakai 2016): if the best and the worst mean differ by `difference`, power is least if
    all other means are half way between them. F then has noncentrality ``n * difference**2 / (2 *
    variance)``. Its degrees of freedom are m - 1 and m (n - 1), or (m - 1)(n - 1) with blocks. The
    variance is that of the values of a system, pooled over systems; with blocks, it is the residual
    mean square. A significant F says that the systems differ, but not which of them.

    Simulation: the pilot's differences of each pair are centered, and multiplied by
    ``sqrt(n_pilot / (n_pilot - 1))`` so that their variance is unbiased for n_pilot pilot queries.
    Then `difference` is added. Each trial takes a random pair in a random direction, and draws one
    query after the other, so powers for neighboring numbers of queries use the same draws. The
    result is the smallest number of queries such that no simulated power for more queries is below
    the wanted power. A trial without variance counts as not significant.

    A variance from few pilot queries is uncertain. With normal differences of one pair for 10
    queries, the estimate is below half of the true variance in one of eight pilots, and the number
    of queries is then too small in the same way. Values of preferences are shares of beaten
    systems.

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
    check_choice(method, "method", METHODS)
    check_choice(design, "design", DESIGNS)
    _check_range("difference", difference, 0, np.inf)
    difference = float(difference)
    _check_range("alpha", alpha, 0, 1)
    _check_range("power", power, alpha, 1, low_name="alpha")
    alpha, power = float(alpha), float(power)
    if (scores is None) == (variance is None):
        raise InputError(
            "give either scores of a pilot or variance=, got "
            f"{'neither of them' if scores is None else 'both'}."
        )
    if scores is not None:
        scores = SystemScores.of(scores, measure, least=(2, 2))
    n_systems = _check_n_systems(n_systems, scores, design)
    if pair is not None and (scores is None or design != "paired"):
        raise InputError(
            "pair can only be used with scores and design='paired', got "
            f"{'no scores' if scores is None else f'design={brief(design)}'}: leave pair out."
        )
    if method == "simulation" and (scores is None or design != "paired"):
        raise InputError(
            "method='simulation' draws from the queries of a pilot and runs paired t tests: give "
            "scores and design='paired', or take method='formula'."
        )
    if scores is None:
        variance = _check_range("variance", variance, 0, np.inf)
    else:
        variance = _pilot_variance(scores, design, pair)

    def power_at(n):
        if design == "paired":
            return paired_power(n, difference, variance, alpha)
        blocked = design == "blocked_anova"
        return anova_power(n, difference, variance, alpha, n_systems, blocked=blocked)

    n_queries = smallest_n(power_at, power, _MOST)
    if method == "simulation":
        n_resamples = check_count(n_resamples, "n_resamples", least=100)
        residuals = _residuals(scores, pair)
        n_queries, sizes, powers = _simulate(
            residuals, difference, alpha, power, n_queries, n_resamples, random_state
        )
    elif n_queries is None:
        raise _too_many(difference, _MOST)
    else:
        sizes = np.union1d(np.linspace(2, 2 * n_queries, 60).round().astype(int), n_queries)
        powers = power_at(sizes)
    return TopicSetSize(
        n_queries=n_queries,
        power=float(powers[np.searchsorted(sizes, n_queries)]),
        target_power=float(power),
        difference=float(difference),
        variance=float(variance),
        alpha=float(alpha),
        design=design,
        method=method,
        n_systems=n_systems,
        sizes=sizes,
        powers=powers,
    )


def _simulate(residuals, difference, alpha, power, n_guess, n_trials, random_state):
    """Simulate power curves until one shows the needed number of queries.

    Returns this number, the numbers of queries of the curve, and their powers. `n_guess` is the
    number by the formula, which sets the length of the first curve.
    """
    seed = seeds_of(random_state)
    n_max = _MOST_SIMULATED + 1 if n_guess is None else max(2 * n_guess, 20)
    while n_max <= _MOST_SIMULATED:
        generator = np.random.default_rng(seed)
        powers = simulated_power(residuals, difference, alpha, n_max, n_trials, generator)
        short = np.flatnonzero(powers < power)
        first = short[-1] + 1 if len(short) else 0
        # The rest of the curve, at least a quarter, shows that the power stays sufficient.
        if first <= 0.75 * len(powers):
            return int(first) + 2, np.arange(2, n_max + 1), powers
        n_max *= 2
    raise _too_many(difference, _MOST_SIMULATED)


def _pilot_variance(scores, design, pair):
    """Estimate the variance that the design needs from the pilot; raise if it is 0."""
    if design == "anova":
        _, deviation = mean_and_deviation(scores.values)
        variance = float(np.mean(deviation**2))
    elif pair is not None:
        variance = float(np.mean(_residuals(scores, pair) ** 2))
    else:
        variance, _ = residual_mean_square(scores.values)
        variance *= 2 if design == "paired" else 1
    if variance == 0:
        raise InputError(
            "scores must vary over queries, but the systems differ by the same amount for every "
            "query, so the variance is 0: take a pilot with more queries, or pass variance=."
        )
    return variance


def _residuals(scores, pair):
    """Return the centered differences of pairs, scaled so that their variance is unbiased.

    `pair` names one pair; None takes all pairs. The result has shape (n_pairs, n_queries).
    """
    if pair is None:
        pairs = Pairs.all(scores.n_systems)
    else:
        pairs = Pairs(*np.array(_places(scores, pair))[:, np.newaxis])
    residual = scores.values - scores.values.mean(axis=1, keepdims=True)
    residual = residual[pairs.first] - residual[pairs.second]
    residual[np.abs(residual) <= mean_tolerance(scores.values)] = 0.0
    return residual * np.sqrt(scores.n_queries / (scores.n_queries - 1))


def _places(scores, pair):
    """Return the positions of the two systems that `pair` names; raise if it names no two."""
    names = list(map(str, as_list(pair, "pair", "two names")))
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f"pair must name two different systems of scores, got {brief(pair)}.")
    return known_places(names, scores.systems, "pair")


def _check_n_systems(n_systems, scores, design):
    """Return the number of systems of the design; raise if `n_systems` does not fit it."""
    if design == "paired":
        if n_systems is not None and not (is_whole_number(n_systems) and n_systems == 2):
            raise InputError(
                f"n_systems must be 2 or None for design='paired', got {brief(n_systems)}: take "
                "design='anova', or divide alpha by the number of pairs."
            )
        return 2
    if n_systems is None:
        if scores is None:
            raise InputError(
                f"n_systems must be a number for design={brief(design)} without scores, got None: "
                "pass the number of systems."
            )
        return scores.n_systems
    return check_count(n_systems, "n_systems", least=2)


def _check_range(name, value, low, high, *, low_name=None) -> float:
    """Return `value`; raise if it is not a finite number with low < value < high."""
    if not is_finite_number(value) or not low < value < high:
        least = f"{low_name} = {low:g}" if low_name else f"{low:g}"
        between = f"greater than {least}" + (f" and below {high:g}" if np.isfinite(high) else "")
        raise InputError(f"{name} must be a finite number {between}, got {brief(value)}.")
    return value


def _too_many(difference, most):
    return InputError(
        f"more than {most:,} queries would be needed to detect a difference of {difference:g}: "
        "give a greater difference"
        + (", or take method='formula'." if most == _MOST_SIMULATED else ".")
    )
