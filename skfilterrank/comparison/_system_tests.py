"""Significance tests of pairs of systems: t, sign, randomization, bootstrap and Tukey."""

from dataclasses import replace
from functools import lru_cache, wraps

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri, stdtr
from scipy.stats import binom, chi, chi2

from skfilterrank._base.rounding import ROUNDING_OF_MEANS, mean_tolerance
from skfilterrank._base.sklearn_compat import limit_threads
from skfilterrank._base.system_pairs import (
    PairFigures,
    clopper_pearson,
    differences,
    draw_resamples,
    mean_and_deviation,
    mean_differences,
    pair_blocks,
    ratio,
    rounding_errors,
    sign_patterns,
    smallest_flip_p,
    without_spread_p,
)
from skfilterrank._base.words import progress_bar
from skfilterrank._lists.scoring import drawn_means

# Number of pairs in a block, small enough that the block fits into the processor's cache.
_N_PAIRS = 64
# Points of integrals over normal variables, and of splines of their values, for Tukey's test.
_NODES, _KNOTS = 128, 1500
# The range of normal variables exceeds this with a probability too small for float64.
_WIDEST = 40.0
# Number of statistics of Tukey's test that are computed at a time.
_BLOCK = 2**12


def _joined(test):
    """Turn a generator of results for blocks of pairs into a function with one joined result."""

    @wraps(test)
    def joined(values, pairs, settings) -> PairFigures:
        return PairFigures.join(test(values, pairs, settings))

    return joined


@_joined
def paired_t(values, pairs, settings):
    """Run the paired t test for each pair of systems.

    Values of drawn label sets have shape (n_draws, n_systems, n_queries).
    """
    sets, n_queries = values.reshape(-1, *values.shape[-2:]), values.shape[-1]
    for block in pair_blocks(pairs, 6 * n_queries, verbose=settings.verbose):
        some = pairs[block]
        of_sets = [
            mean_and_deviation(differences(each, some), rounding_errors(each, some))
            for each in sets
        ]
        found = drawn_means(*map(np.array, zip(*of_sets)), n_queries)
        t = ratio(found.mean, found.total / np.sqrt(n_queries))
        p_value = _p_of_tails(stdtr(found.degrees, -t), stdtr(found.degrees, t))
        by_signs = without_spread_p(found.mean, n_queries)
        low, high = found.interval(settings.confidence)
        figures = PairFigures(
            # If all differences of a pair are equal, t is infinite even for two queries. The p
            # value then uses only the signs of the differences.
            p_value=np.where(found.total > 0, p_value, by_signs),
            effect_size=ratio(found.mean, found.within),
            low=low,
            high=high,
            effect_name="Cohen's d_z",
        )
        if len(sets) > 1:
            low, high = found.interval_of_these(settings.confidence)
            share = found.share_of_draws
            figures = replace(figures, low_these=low, high_these=high, share_of_draws=share)
        yield figures


def _p_of_tails(at_least, at_most):
    """Compute the two-sided p value from P(at least as great) and P(at most as great)."""
    return np.minimum(2 * np.minimum(at_least, at_most), 1.0)


@_joined
def sign_test(values, pairs, settings):
    """Run the sign test: an exact binomial test on queries for which both systems differ."""
    n_queries = values.shape[1]
    for block in pair_blocks(pairs, 6 * n_queries, verbose=settings.verbose):
        difference = differences(values, pairs[block])
        greater, less = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
        decided = greater + less
        low, high = clopper_pearson(greater, decided, (1 - settings.confidence) / 2)
        chances = binom.sf(greater - 1, decided, 0.5), binom.cdf(greater, decided, 0.5)
        yield PairFigures(
            p_value=_p_of_tails(*chances),
            effect_size=ratio((greater - less).astype(float), decided),
            # The effect is (share of positive) - (share of negative), that is 2 * share - 1.
            low=np.where(decided > 0, 2 * low - 1, 0.0),
            high=np.where(decided > 0, 2 * high - 1, 0.0),
            effect_name="net share of queries",
            interval_of="effect",
            smallest_p=smallest_flip_p(n_queries),
        )


def randomization_test(values, pairs, settings) -> PairFigures:
    """Run the randomization test, which swaps the values of two systems at random in each query.

    Effect sizes and intervals are those of the paired t test.
    """
    figures = paired_t(values, pairs, replace(settings, verbose=0))
    n_queries = values.shape[1]
    # Subtracting the median of a query changes no difference, and sums of smaller numbers are more
    # exact.
    centered = values - np.median(values, axis=0)
    is_exact = n_queries < 63 and 2**n_queries <= settings.n_resamples
    n_resamples = 2**n_queries if is_exact else settings.n_resamples
    starts = _starts(n_resamples, n_queries)
    generator = settings.generator()
    count = np.zeros(len(pairs), dtype=np.int64)
    for start in progress_bar(starts, desc="resamples", verbose=settings.verbose, leave=None):
        stop = min(start + starts.step, n_resamples)
        if is_exact:
            signs = sign_patterns(n_queries, start, stop)
        else:
            signs = 2.0 * generator.integers(2, size=(stop - start, n_queries)) - 1.0
        count += _count_as_extreme(centered, signs, pairs)
    if is_exact:
        smallest = smallest_flip_p(n_queries)
        return replace(figures, p_value=count / n_resamples, smallest_p=smallest)
    # The observed values count as one resample, so no p value is 0.
    smallest = 1 / (n_resamples + 1)
    return replace(figures, p_value=(count + 1) / (n_resamples + 1), smallest_p=smallest)


def _count_as_extreme(values, signs, pairs):
    """Count, for each pair, the resamples whose difference is at least as extreme as observed.

    `signs`, of shape (n_resamples, n_queries), has 1 and -1; -1 swaps the values of the systems.
    """
    # Computing signed sums per system first is cheaper: a pair needs only their difference.
    sums = values @ signs.T
    observed = values.sum(axis=1)
    scale = np.abs(values).sum(axis=1)
    count = np.empty(len(pairs), dtype=np.int64)
    for start in range(0, len(pairs), _N_PAIRS):
        some = slice(start, start + _N_PAIRS)
        first, second = pairs.first[some], pairs.second[some]
        at_least = np.abs(observed[first] - observed[second])
        resampled = sums[first]
        resampled -= sums[second]
        np.abs(resampled, out=resampled)
        at_least -= ROUNDING_OF_MEANS * (scale[first] + scale[second])
        count[some] = np.count_nonzero(resampled >= at_least[:, None], axis=1)
    return count


def _starts(n_resamples, n_queries):
    """Return the starts of blocks of resamples as a range, whose step is the block size.

    They do not depend on the number of systems, so a pair gets the same random numbers in any
    comparison.
    """
    return range(0, n_resamples, max(1, min(512, 2**22 // n_queries)))


# One thread only: for such small matrix products, threads wait for each other, which took 15 times
# as long on a busy machine.
@limit_threads(limits=1, user_api="blas")
@_joined
def bootstrap_test(values, pairs, settings):
    """Run Sakai's studentized bootstrap test, which draws from differences shifted to mean 0."""
    n_queries = values.shape[1]
    counts = draw_resamples(n_queries, settings.n_resamples, settings.random_state)
    smallest = 1 / (settings.n_resamples + 1)
    starts = _starts(settings.n_resamples, n_queries)
    numbers = 3 * settings.n_resamples + 6 * n_queries
    for block in pair_blocks(pairs, numbers, verbose=settings.verbose):
        difference = differences(values, pairs[block])
        rounding = rounding_errors(values, pairs[block])
        mean, deviation = mean_and_deviation(difference, rounding)
        observed = np.abs(ratio(mean, deviation / np.sqrt(n_queries)))
        shifted = np.where(deviation[:, None] > 0, difference - mean[:, None], 0.0)
        resampled = np.empty((len(mean), settings.n_resamples))
        for start in starts:
            some = slice(start, start + starts.step)
            drawn = counts[some].astype(np.float64)
            resampled[:, some] = _studentized(shifted, drawn, rounding[:, None])
        np.abs(resampled, out=resampled)
        # With this quantile, the interval excludes 0 exactly if the test rejects.
        place = int(np.ceil(settings.confidence * settings.n_resamples * (1 - 1e-12))) - 1
        quantile = np.partition(resampled, place, axis=1)[:, place]
        error = deviation / np.sqrt(n_queries)
        width = np.multiply(quantile, error, out=np.zeros_like(mean), where=deviation > 0)
        at_least = observed - ROUNDING_OF_MEANS * np.where(np.isinf(observed), 0, 1 + observed)
        p_value = (np.count_nonzero(resampled >= at_least[:, None], axis=1) + 1) * smallest
        by_signs = without_spread_p(mean, n_queries)
        yield PairFigures(
            # The observed values count as one resample. Otherwise p could be 0, which stays 0 after
            # any correction for the number of pairs.
            p_value=np.where(deviation > 0, p_value, np.maximum(p_value, by_signs)),
            effect_size=ratio(mean, deviation),
            low=mean - width,
            high=mean + width,
            effect_name="Cohen's d_z",
            smallest_p=smallest,
        )


def _studentized(shifted, counts, rounding=0.0):
    """Compute the t statistic of each resample, shape (n_pairs, n_resamples).

    `counts`, of shape (n_resamples, n_queries), tells how often a resample contains each query. t
    is infinite for a resample without variance.
    """
    n_queries = shifted.shape[1]
    # If the difference of a query equals the mean, the shifted value is only a rounding error.
    largest = np.abs(shifted).max(axis=1, keepdims=True)
    least = np.maximum(ROUNDING_OF_MEANS * largest, rounding)
    shifted = np.where(np.abs(shifted) <= least, 0.0, shifted)
    sums = shifted @ counts.T
    squares = (shifted**2) @ counts.T
    spread = squares - sums**2 / n_queries
    spread[spread <= np.maximum(ROUNDING_OF_MEANS * squares, n_queries * rounding**2)] = 0.0
    return ratio(sums, np.sqrt(spread * (n_queries / (n_queries - 1))))


class StudentizedRange:
    """Studentized range: range of normal means divided by an independent standard deviation.

    Tail probabilities have an absolute error below 1e-7. In comparisons for up to 1,000 means, the
    error was below 1e-8.
    """

    def __init__(self, n_means: int, degrees_of_freedom: float):
        self._log_tail = _log_tail_of_range(n_means)
        # The ratio s of estimated and true standard deviation is a chi variable divided by the
        # square root of the degrees of freedom. The integral is over log s, because the integrand
        # is smooth there even for one degree of freedom.
        ends = [np.log(f(1e-15, degrees_of_freedom)) for f in (chi2.ppf, chi2.isf)]
        log_s, weight = _gauss_legendre(*np.subtract(ends, np.log(degrees_of_freedom)) / 2)
        root = np.sqrt(degrees_of_freedom)
        self._s = np.exp(log_s)
        self._weight = weight * self._s * root * chi.pdf(self._s * root, degrees_of_freedom)

    def sf(self, q) -> np.ndarray:
        """Compute the probability of a range of at least q, for q of shape (n_values,)."""
        tail = np.empty(len(q))
        for start in range(0, len(q), _BLOCK):
            wide = np.minimum(q[start : start + _BLOCK], 1e100)[:, np.newaxis] * self._s
            logs = self._log_tail(np.minimum(wide, _WIDEST))
            tail[start : start + _BLOCK] = np.where(wide < _WIDEST, np.exp(logs), 0) @ self._weight
        return np.clip(tail, 0.0, 1.0)

    def isf(self, p: float) -> float:
        """Return the q for which a range is at least q with probability p."""
        high = 4.0
        while self.sf(np.array([high]))[0] > p:
            high *= 2
        return brentq(lambda q: self.sf(np.array([q]))[0] - p, 0.0, high, xtol=1e-10)


# Instances are cached, because comparisons often have the same number of systems and queries.
studentized_range = lru_cache(maxsize=32)(StudentizedRange)


def _log_tail_of_range(n_means):
    """Return a spline of log P(range of `n_means` standard normal variables exceeds w).

    If the smallest variable is z, all others are at most z + w with probability ``(1 - Q(z + w) /
    Q(z)) ** (n_means - 1)``, where Q is the upper tail of the normal distribution.
    """
    lowest, highest = -_WIDEST / 2 - 9, -ndtri(1e-17 ** (1 / n_means))
    z, weight = _gauss_legendre(lowest, highest)
    log_q = log_ndtr(-z)
    # Probability density of the smallest variable at z.
    weight *= n_means * np.exp(-z * z / 2 + (n_means - 1) * log_q) / np.sqrt(2 * np.pi)
    w = np.linspace(0, _WIDEST, _KNOTS)
    with np.errstate(divide="ignore"):
        within = np.log1p(-np.exp(log_ndtr(-(z + w[1:, np.newaxis])) - log_q))
    tail = -np.expm1((n_means - 1) * within) @ weight
    return CubicSpline(w, np.concatenate([[0.0], np.log(tail)]))


def _gauss_legendre(low, high):
    """Return nodes and weights of Gauss-Legendre quadrature from low to high."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return low + (high - low) * (nodes + 1) / 2, weights * (high - low) / 2


def residual_mean_square(values: np.ndarray) -> tuple[float, int]:
    """Compute the residual mean square of systems x queries, and its degrees of freedom.

    This is the error variance of a two-way layout without replication: effects of systems and of
    queries are subtracted from the values.
    """
    # Query means are subtracted first, because that removes most of each value and so keeps
    # rounding errors small.
    residual = values - values.mean(axis=0)
    residual = residual - residual.mean(axis=1, keepdims=True)
    degrees_of_freedom = (values.shape[0] - 1) * (values.shape[1] - 1)
    mean_square = float(np.einsum("ij,ij->", residual, residual)) / degrees_of_freedom
    # If systems differ only by constants, the residuals are rounding errors.
    if np.sqrt(mean_square) <= mean_tolerance(values):
        mean_square = 0.0
    return mean_square, degrees_of_freedom


def tukey_hsd_blocked(values, pairs, settings) -> PairFigures:
    """Run Tukey's honestly significant difference test with queries as blocks."""
    n_systems, n_queries = values.shape
    mean_square, degrees_of_freedom = residual_mean_square(values)
    difference = mean_differences(values, pairs)
    # Differences of means that are only rounding errors become 0.
    difference = np.where(np.abs(difference) <= mean_tolerance(values), 0.0, difference)
    error = np.sqrt(mean_square / n_queries)
    distribution = studentized_range(n_systems, degrees_of_freedom)
    q, back = np.unique(np.abs(ratio(difference, error)), return_inverse=True)
    # A greater q must not have a greater p value, which rounding errors of sf could cause.
    p_value = np.minimum.accumulate(distribution.sf(q))[back]
    if mean_square == 0:
        # Without residual variance, q is infinite for any number of queries. Only the signs are
        # evidence then; Bonferroni's correction covers all pairs.
        n_pairs = n_systems * (n_systems - 1) / 2
        p_value = np.minimum(n_pairs * without_spread_p(difference, n_queries), 1.0)
    width = distribution.isf(1 - settings.confidence) * error
    return PairFigures(
        # Equal means give p value 1, also if the variance is 0.
        p_value=np.where(difference == 0, 1.0, p_value),
        effect_size=ratio(difference, np.sqrt(mean_square)),
        low=difference - width,
        high=difference + width,
        effect_name="difference / sqrt(MSE)",
        critical_difference=float(width),
    )
