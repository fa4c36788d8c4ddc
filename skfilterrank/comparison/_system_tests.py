"""Tests of every two systems: t, sign, Wilcoxon, randomization, bootstrap and Tukey's."""

from dataclasses import replace
from functools import lru_cache, wraps

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq
from scipy.special import betaincinv, log_ndtr, ndtr, ndtri, stdtr, stdtrit
from scipy.stats import binom, chi, chi2, rankdata

from skfilterrank._lists.sklearn_compat import limit_threads
from skfilterrank._lists.system_pairs import (
    PairFigures,
    differences,
    draw_resamples,
    mean_and_deviation,
    mean_differences,
    merged_differences,
    pair_blocks,
    ratio,
    rounding_errors,
    sign_patterns,
    smallest_flip_p,
    without_spread_p,
)
from skfilterrank._lists.ties import ROUNDING_OF_MEANS, mean_tolerance
from skfilterrank._lists.words import progress_bar


def _joined(test):
    """Decorator: join the results that a test yields for blocks of pairs."""

    @wraps(test)
    def joined(values, pairs, settings) -> PairFigures:
        return PairFigures.join(test(values, pairs, settings))

    return joined


@_joined
def paired_t(values, pairs, settings):
    """Paired t test."""
    n_queries = values.shape[1]
    for block in pair_blocks(pairs, 6 * n_queries, verbose=settings.verbose):
        rounding = rounding_errors(values, pairs[block])
        mean, deviation = mean_and_deviation(differences(values, pairs[block]), rounding)
        t = ratio(mean, deviation / np.sqrt(n_queries))
        p_value = _p_of_tails(stdtr(n_queries - 1, -t), stdtr(n_queries - 1, t), settings)
        by_signs = without_spread_p(mean, n_queries, settings.alternative)
        low, high = t_interval(mean, deviation, n_queries, settings.confidence)
        yield PairFigures(
            # An infinite t is no evidence: two queries suffice for it.
            p_value=np.where(deviation > 0, p_value, by_signs),
            effect_size=ratio(mean, deviation),
            low=low,
            high=high,
            effect_name="Cohen's d_z",
        )


def _p_of_tails(at_least, at_most, settings):
    """Compute the p value from both tail probabilities."""
    if settings.alternative == "two-sided":
        return np.minimum(2 * np.minimum(at_least, at_most), 1.0)
    return at_least if settings.alternative == "greater" else at_most


def t_interval(mean, deviation, n_queries, confidence):
    """Student's t interval of the mean difference."""
    width = stdtrit(n_queries - 1, (1 + confidence) / 2) * deviation / np.sqrt(n_queries)
    return mean - width, mean + width


# scipy does so by method="auto": exact up to 50 queries, with ties (all sign patterns) up to 13.
_N_EXACT, _N_PATTERNS = 50, 13
# More Walsh averages than these are not written down; the bounds are found by bisection.
_N_WALSH = 50_000


@_joined
def sign_test(values, pairs, settings):
    """Sign test: exact binomial test on queries where the two systems differ."""
    n_queries = values.shape[1]
    for block in pair_blocks(pairs, 6 * n_queries, verbose=settings.verbose):
        difference = differences(values, pairs[block])
        greater, less = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
        decided = greater + less
        low, high = clopper_pearson(greater, decided, settings.confidence)
        chances = binom.sf(greater - 1, decided, 0.5), binom.cdf(greater, decided, 0.5)
        yield PairFigures(
            p_value=_p_of_tails(*chances, settings),
            effect_size=ratio((greater - less).astype(float), decided),
            # A share s of the queries without tie is an effect of s - (1 - s).
            low=np.where(decided > 0, 2 * low - 1, 0.0),
            high=np.where(decided > 0, 2 * high - 1, 0.0),
            effect_name="net share of queries",
            interval_of="effect",
            smallest_p=smallest_flip_p(n_queries, settings.alternative),
        )


def clopper_pearson(successes, trials, confidence):
    """Exact confidence interval of a share."""
    tail = (1 - confidence) / 2
    failures = trials - successes
    low = betaincinv(np.maximum(successes, 1), failures + 1, tail)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - tail)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)


@_joined
def wilcoxon_test(values, pairs, settings):
    """Wilcoxon's signed rank test."""
    n_queries = values.shape[1]
    numbers = max(10 * n_queries, 2 ** min(n_queries, _N_PATTERNS) // 2)
    if n_queries * (n_queries + 1) // 2 <= _N_WALSH:
        numbers = max(numbers, 2 * n_queries * (n_queries + 1))
    for block in pair_blocks(pairs, numbers, verbose=settings.verbose):
        difference = merged_differences(values, pairs[block])
        # Mid-ranks of the sizes among those that are not 0; else 0.
        size = np.abs(difference)
        n_zero = (size == 0).sum(axis=1, keepdims=True)
        ranks = np.where(size > 0, rankdata(size, axis=1) - n_zero, 0.0)
        total = ranks.sum(axis=1)
        above = np.where(difference > 0, ranks, 0.0).sum(axis=1)
        low, high = hodges_lehmann_interval(difference, settings.confidence)
        yield PairFigures(
            p_value=_signed_rank_p_value(ranks, above, total, settings),
            effect_size=ratio(2 * above - total, total),
            low=low,
            high=high,
            effect_name="rank-biserial correlation",
            interval_of="pseudo-median",
            smallest_p=smallest_flip_p(n_queries, settings.alternative),
        )


def _signed_rank_p_value(ranks, above, total, settings):
    """Compute the exact p value where scipy does, else by the normal approximation."""
    n_queries = ranks.shape[1]
    # The sum of the squares of the ranks holds the correction for ties and zeros.
    deviation = np.sqrt((ranks**2).sum(axis=1)) / 2
    z = ratio(above - total / 2, deviation)
    at_least, at_most = ndtr(-z), ndtr(z)
    if n_queries <= _N_EXACT:
        untied = (np.sort(ranks, axis=1) == np.arange(1, n_queries + 1)).all(axis=1)
        share = signed_rank_distribution(n_queries).cumsum()
        place = above[untied].astype(int)
        at_most[untied] = share[place]
        at_least[untied] = share[total[untied].astype(int) - place]
        if n_queries <= _N_PATTERNS and not untied.all():
            # Ranks are halves, so that sums over patterns of signs are exact and tie exactly.
            sums = ranks[~untied] @ (sign_patterns(n_queries).T > 0).astype(float)
            at_most[~untied] = (sums <= above[~untied, None]).mean(axis=1)
            at_least[~untied] = (sums >= above[~untied, None]).mean(axis=1)
    return np.where(total > 0, _p_of_tails(at_least, at_most, settings), 1.0)


def signed_rank_distribution(n_queries):
    """Probability of each signed rank sum from 0 to n (n + 1) / 2 under the null hypothesis."""
    chances = np.ones(1)
    for rank in range(1, n_queries + 1):
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return chances


def hodges_lehmann_interval(difference, confidence):
    """Hodges and Lehmann's interval: shifts that the signed rank test does not reject.

    Its bounds are the k-th smallest and the k-th greatest of the Walsh averages, the means of
    every two differences of a pair.
    """
    n_queries = difference.shape[1]
    k = _walsh_place(n_queries, (1 - confidence) / 2)
    if k == 0:
        low, high = np.full((2, len(difference)), [[-np.inf], [np.inf]])
    elif n_queries * (n_queries + 1) // 2 <= _N_WALSH:
        left, right = np.triu_indices(n_queries)
        walsh = (difference[:, left] + difference[:, right]) / 2
        walsh.partition((k - 1, walsh.shape[1] - k), axis=1)
        low, high = walsh[:, k - 1], walsh[:, -k]
    else:
        low, high = _bisect_walsh(difference, k), -_bisect_walsh(-difference, k)
    alike = difference.min(axis=1) == difference.max(axis=1)
    return np.where(alike, difference[:, 0], low), np.where(alike, difference[:, 0], high)


def _walsh_place(n_queries, tail):
    """Return the largest k with P(rank sum < k) at most the tail probability."""
    if n_queries <= _N_EXACT:
        share = signed_rank_distribution(n_queries).cumsum()
        return int(np.searchsorted(share, tail * (1 + 1e-12), side="right"))
    mean = n_queries * (n_queries + 1) / 4
    deviation = np.sqrt(mean * (2 * n_queries + 1) / 6)
    return int(mean + ndtri(tail) * deviation) + 1


def _bisect_walsh(difference, k):
    """Find the k-th smallest Walsh average of each pair by bisection."""
    low, high = difference.min(axis=1), difference.max(axis=1)
    places = np.arange(1, difference.shape[1] + 1)
    for _ in range(54):
        middle = low + (high - low) / 2
        shifted = difference - middle[:, None]
        # The number of Walsh averages below the middle is the sum of ranks of sizes below 0.
        order = np.argsort(np.abs(shifted), axis=1)
        below = np.take_along_axis(shifted <= 0, order, axis=1) @ places
        low, high = np.where(below < k, middle, low), np.where(below < k, high, middle)
    return high


# So many pairs at a time that what is compared stays in the processor's cache.
_N_PAIRS = 64


def randomization_test(values, pairs, settings) -> PairFigures:
    """Randomization test: values of the two systems are swapped at random in each query."""
    figures = paired_t(values, pairs, replace(settings, verbose=0))
    n_queries = values.shape[1]
    # A common offset of all systems at a query is subtracted: it cancels, but would cost precision.
    centered = values - np.median(values, axis=0)
    is_exact = n_queries < 63 and 2**n_queries <= settings.n_resamples
    n_resamples = 2**n_queries if is_exact else settings.n_resamples
    starts = _starts(n_resamples, n_queries)
    generator = settings.generator()
    count = np.zeros(len(pairs), dtype=np.int64)
    for start in progress_bar(starts, desc="resamples", disable=not settings.verbose, leave=None):
        stop = min(start + starts.step, n_resamples)
        if is_exact:
            signs = sign_patterns(n_queries, start, stop)
        else:
            signs = 2.0 * generator.integers(2, size=(stop - start, n_queries)) - 1.0
        count += _count_as_extreme(centered, signs, pairs, settings.alternative)
    if is_exact:
        smallest = smallest_flip_p(n_queries, settings.alternative)
        return replace(figures, p_value=count / n_resamples, smallest_p=smallest)
    # The observed values count as a resample, so that no p value is 0.
    smallest = 1 / (n_resamples + 1)
    return replace(figures, p_value=(count + 1) / (n_resamples + 1), smallest_p=smallest)


def _count_as_extreme(values, signs, pairs, alternative):
    """Count the resamples whose difference is at least as extreme as observed."""
    # The sum of signed differences of a pair is the difference of the systems' signed sums.
    sums = values @ signs.T
    observed = values.sum(axis=1)
    scale = np.abs(values).sum(axis=1)
    if alternative == "less":
        sums, observed = -sums, -observed
    count = np.empty(len(pairs), dtype=np.int64)
    for start in range(0, len(pairs), _N_PAIRS):
        some = slice(start, start + _N_PAIRS)
        first, second = pairs.first[some], pairs.second[some]
        at_least = observed[first] - observed[second]
        resampled = sums[first]
        resampled -= sums[second]
        if alternative == "two-sided":
            at_least = np.abs(at_least)
            np.abs(resampled, out=resampled)
        at_least -= ROUNDING_OF_MEANS * (scale[first] + scale[second])
        count[some] = np.count_nonzero(resampled >= at_least[:, None], axis=1)
    return count


def _starts(n_resamples, n_queries):
    """Return the starts of blocks of resamples, independent of the number of systems."""
    return range(0, n_resamples, max(1, min(512, 2**22 // n_queries)))


# Threads that share products this small wait for each other: 15 times the time on a busy machine.
@limit_threads(limits=1, user_api="blas")
@_joined
def bootstrap_test(values, pairs, settings):
    """Studentized bootstrap test, with differences shifted to mean 0."""
    n_queries = values.shape[1]
    counts = draw_resamples(n_queries, settings.n_resamples, settings.random_state)
    smallest = 1 / (settings.n_resamples + 1)
    starts = _starts(settings.n_resamples, n_queries)
    numbers = 3 * settings.n_resamples + 6 * n_queries
    for block in pair_blocks(pairs, numbers, verbose=settings.verbose):
        difference = differences(values, pairs[block])
        rounding = rounding_errors(values, pairs[block])
        mean, deviation = mean_and_deviation(difference, rounding)
        observed = ratio(mean, deviation / np.sqrt(n_queries))
        shifted = np.where(deviation[:, None] > 0, difference - mean[:, None], 0.0)
        resampled = np.empty((len(mean), settings.n_resamples))
        for start in starts:
            some = slice(start, start + starts.step)
            drawn = counts[some].astype(np.float64)
            resampled[:, some] = _studentized(shifted, drawn, rounding[:, None])
        sizes = np.abs(resampled)
        # The interval that belongs to the two-sided test: it leaves out 0 where that rejects.
        place = int(np.ceil(settings.confidence * settings.n_resamples * (1 - 1e-12))) - 1
        quantile = np.partition(sizes, place, axis=1)[:, place]
        error = deviation / np.sqrt(n_queries)
        width = np.multiply(quantile, error, out=np.zeros_like(mean), where=deviation > 0)
        if settings.alternative == "two-sided":
            resampled, observed = sizes, np.abs(observed)
        elif settings.alternative == "less":
            resampled, observed = -resampled, -observed
        sizes = np.where(np.isinf(observed), 0, 1 + np.abs(observed))
        at_least = observed - ROUNDING_OF_MEANS * sizes
        p_value = (np.count_nonzero(resampled >= at_least[:, None], axis=1) + 1) * smallest
        by_signs = without_spread_p(mean, n_queries, settings.alternative)
        yield PairFigures(
            # The observed values count as a resample: a p value of 0 would stay 0 however many
            # pairs it is corrected for.
            p_value=np.where(deviation > 0, p_value, np.maximum(p_value, by_signs)),
            effect_size=ratio(mean, deviation),
            low=mean - width,
            high=mean + width,
            effect_name="Cohen's d_z",
            smallest_p=smallest,
        )


def _studentized(shifted, counts, rounding=0.0):
    """Compute t of each resample, (n_pairs, n_resamples); infinite without variance."""
    n_queries = shifted.shape[1]
    # If a query's difference equals the mean, the centred value is only rounding.
    largest = np.abs(shifted).max(axis=1, keepdims=True)
    least = np.maximum(ROUNDING_OF_MEANS * largest, rounding)
    shifted = np.where(np.abs(shifted) <= least, 0.0, shifted)
    sums = shifted @ counts.T
    squares = (shifted**2) @ counts.T
    spread = squares - sums**2 / n_queries
    spread[spread <= np.maximum(ROUNDING_OF_MEANS * squares, n_queries * rounding**2)] = 0.0
    return ratio(sums, np.sqrt(spread * (n_queries / (n_queries - 1))))


_NODES = 128
_KNOTS = 1500
# Beyond this a range of normal variables has no chance that a float64 p value could show.
_WIDEST = 40.0
_BLOCK = 2**12


class StudentizedRange:
    """Studentized range distribution: range of means divided by an independent deviation.

    Absolute error of the tail below 1e-7, as far as known below 1e-8 for up to 1,000 means.
    """

    def __init__(self, n_means: int, degrees_of_freedom: float):
        self._log_tail = _log_tail_of_range(n_means)
        # The estimated deviation s, in units of the true one, is chi over the root of the degrees
        # of freedom; integrated over log s, where also one degree of freedom is smooth.
        ends = [np.log(f(1e-15, degrees_of_freedom)) for f in (chi2.ppf, chi2.isf)]
        log_s, weight = _gauss_legendre(*np.subtract(ends, np.log(degrees_of_freedom)) / 2)
        root = np.sqrt(degrees_of_freedom)
        self._s = np.exp(log_s)
        self._weight = weight * self._s * root * chi.pdf(self._s * root, degrees_of_freedom)

    def sf(self, q) -> np.ndarray:
        """Probability of a range of at least q, for q of shape (n_values,)."""
        tail = np.empty(len(q))
        for start in range(0, len(q), _BLOCK):
            wide = np.minimum(q[start : start + _BLOCK], 1e100)[:, np.newaxis] * self._s
            logs = self._log_tail(np.minimum(wide, _WIDEST))
            tail[start : start + _BLOCK] = np.where(wide < _WIDEST, np.exp(logs), 0) @ self._weight
        return np.clip(tail, 0.0, 1.0)

    def isf(self, p: float) -> float:
        """Return the q that a range reaches with probability p."""
        high = 4.0
        while self.sf(np.array([high]))[0] > p:
            high *= 2
        return brentq(lambda q: self.sf(np.array([q]))[0] - p, 0.0, high, xtol=1e-10)


# Instances are cached, because one number of systems is often used repeatedly.
studentized_range = lru_cache(maxsize=32)(StudentizedRange)


def _log_tail_of_range(n_means):
    """Log of the probability that the range of normal variables exceeds w, as a spline.

    If the smallest is z, the others lie within w above it with probability ``(1 - Q(z + w) / Q(z))
    ** (n_means - 1)``, Q being the upper tail.
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
    """Nodes and weights of an integral from low to high."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return low + (high - low) * (nodes + 1) / 2, weights * (high - low) / 2


EFFECT = "difference / sqrt(MSE)"
_BLOCK_NUMBERS = 2**18


def residual_mean_square(values: np.ndarray) -> tuple[float, int]:
    """Residual mean square of the two-way layout, and its degrees of freedom.

    Two-way layout without replication: the residual of a value is what is left without the mean
    of its system and that of its query.
    """
    # Queries first: their means hold the bulk of the values, and of the rounding errors.
    residual = values - values.mean(axis=0)
    residual = residual - residual.mean(axis=1, keepdims=True)
    degrees_of_freedom = (values.shape[0] - 1) * (values.shape[1] - 1)
    mean_square = float(np.einsum("ij,ij->", residual, residual)) / degrees_of_freedom
    # Systems that differ by constants keep residuals of rounding errors.
    if np.sqrt(mean_square) <= mean_tolerance(values):
        mean_square = 0.0
    return mean_square, degrees_of_freedom


def tukey_hsd_blocked(values, pairs, settings) -> PairFigures:
    """Tukey's test with queries as blocks."""
    n_systems, n_queries = values.shape
    mean_square, degrees_of_freedom = residual_mean_square(values)
    difference = _settled(mean_differences(values, pairs), values)
    error = np.sqrt(mean_square / n_queries)
    distribution = studentized_range(n_systems, degrees_of_freedom)
    q, back = np.unique(np.abs(ratio(difference, error)), return_inverse=True)
    # Rounding errors of the quadrature must not turn the order of two p values around.
    p_value = np.minimum.accumulate(distribution.sf(q))[back]
    if mean_square == 0:
        # An infinite q is no evidence: the signs are, for all pairs of the family.
        n_pairs = n_systems * (n_systems - 1) / 2
        p_value = np.minimum(n_pairs * without_spread_p(difference, n_queries, "two-sided"), 1.0)
    width = distribution.isf(1 - settings.confidence) * error
    return _figures(p_value, difference, mean_square, width)


def randomized_tukey(values, pairs, settings) -> PairFigures:
    """Tukey's test by randomization: systems are shuffled within each query."""
    mean_square, _ = residual_mean_square(values)
    difference = _settled(mean_differences(values, pairs), values)
    ranges = np.sort(shuffled_ranges(values, settings))
    # Ranges of the same values summed in another order tie with the difference they equal.
    lowest = np.abs(difference) - mean_tolerance(values)
    n_reached = len(ranges) - np.searchsorted(ranges, lowest, side="left")
    width = ranges[_quantile_place(settings.confidence, len(ranges))]
    smallest_p = 1 / (len(ranges) + 1)
    return _figures((n_reached + 1) * smallest_p, difference, mean_square, width, smallest_p)


def shuffled_ranges(values, settings) -> np.ndarray:
    """Compute the range of the systems' means in each resample, shape (n_resamples,)."""
    n_systems, n_queries = values.shape
    # The mean of a query stays with it; without it less is lost to rounding.
    rows = np.ascontiguousarray((values - values.mean(axis=0)).T)
    generator = settings.generator()
    size = max(1, _BLOCK_NUMBERS // rows.size)
    ranges = np.empty(settings.n_resamples)
    with progress_bar(
        total=len(ranges), desc="resamples", disable=not settings.verbose, leave=None
    ) as bar:
        for start in range(0, len(ranges), size):
            n_here = min(size, len(ranges) - start)
            copies = np.broadcast_to(rows, (n_here, n_queries, n_systems))
            totals = generator.permuted(copies, axis=-1).sum(axis=1)
            ranges[start : start + n_here] = np.ptp(totals, axis=1) / n_queries
            bar.update(n_here)
    return ranges


def _quantile_place(confidence, n_ranges):
    """Return the index of the quantile among sorted ranges."""
    return min(int(np.ceil(confidence * (n_ranges + 1))), n_ranges) - 1


def _settled(difference, values):
    """Set differences of means to 0 if they are only rounding errors."""
    return np.where(np.abs(difference) <= mean_tolerance(values), 0.0, difference)


def _figures(p_value, difference, mean_square, width, smallest_p=0.0):
    # Equal means are no evidence even where nothing varies by chance.
    return PairFigures(
        p_value=np.where(difference == 0, 1.0, p_value),
        effect_size=ratio(difference, np.sqrt(mean_square)),
        low=difference - width,
        high=difference + width,
        effect_name=EFFECT,
        smallest_p=smallest_p,
    )
