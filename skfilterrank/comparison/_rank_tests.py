"""Tests of signs and ranks of the differences: sign test and Wilcoxon's signed rank test."""

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri
from scipy.stats import binom, rankdata

from skfilterrank._lists.system_pairs import (
    PairFigures,
    differences,
    merged_differences,
    pair_blocks,
    ratio,
    sign_patterns,
    smallest_flip_p,
)

# As scipy's method="auto": exact up to 50 queries, with ties (by every pattern of signs) up to 13.
_N_EXACT, _N_PATTERNS = 50, 13
# More Walsh averages than these are not written down; the bounds are found by bisection.
_N_WALSH = 50_000


def sign_test(values, pairs, settings) -> PairFigures:
    """Number of queries where first has the greater value, of those where the two differ."""
    n_queries = values.shape[1]
    parts = []
    for block in pair_blocks(pairs, 6 * n_queries, verbose=settings.verbose):
        difference = differences(values, pairs[block])
        greater, less = (difference > 0).sum(axis=1), (difference < 0).sum(axis=1)
        decided = greater + less
        low, high = clopper_pearson(greater, decided, settings.confidence)
        parts.append(
            PairFigures(
                p_value=binomial_p_value(greater, decided, settings.alternative),
                effect_size=ratio((greater - less).astype(float), decided),
                # A share s of the decided queries is an effect of s - (1 - s).
                low=np.where(decided > 0, 2 * low - 1, 0.0),
                high=np.where(decided > 0, 2 * high - 1, 0.0),
                effect_name="net share of queries",
                interval_of="effect",
                smallest_p=smallest_flip_p(n_queries, settings.alternative),
            )
        )
    return PairFigures.join(parts)


def binomial_p_value(greater, decided, alternative):
    """Chance of a count as far out, were both directions as likely; 1 where none is decided."""
    at_least = binom.sf(greater - 1, decided, 0.5)
    at_most = binom.cdf(greater, decided, 0.5)
    if alternative == "two-sided":
        return np.minimum(2 * np.minimum(at_least, at_most), 1.0)
    return at_least if alternative == "greater" else at_most


def clopper_pearson(successes, trials, confidence):
    """Exact interval of a share."""
    tail = (1 - confidence) / 2
    failures = trials - successes
    low = betaincinv(np.maximum(successes, 1), failures + 1, tail)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - tail)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)


def wilcoxon_test(values, pairs, settings) -> PairFigures:
    """Ranks of the sizes of the differences, summed over those above 0."""
    n_queries = values.shape[1]
    numbers = max(10 * n_queries, 2 ** min(n_queries, _N_PATTERNS) // 2)
    if n_queries * (n_queries + 1) // 2 <= _N_WALSH:
        numbers = max(numbers, 2 * n_queries * (n_queries + 1))
    parts = []
    for block in pair_blocks(pairs, numbers, verbose=settings.verbose):
        difference = merged_differences(values, pairs[block])
        ranks = ranks_of_size(difference)
        total = ranks.sum(axis=1)
        above = np.where(difference > 0, ranks, 0.0).sum(axis=1)
        low, high = hodges_lehmann_interval(difference, settings.confidence)
        parts.append(
            PairFigures(
                p_value=_signed_rank_p_value(ranks, above, total, settings.alternative),
                effect_size=ratio(2 * above - total, total),
                low=low,
                high=high,
                effect_name="rank-biserial correlation",
                interval_of="pseudo-median",
                smallest_p=smallest_flip_p(n_queries, settings.alternative),
            )
        )
    return PairFigures.join(parts)


def ranks_of_size(difference):
    """Mid-rank of the size of each difference among those of its pair that are not 0; else 0."""
    size = np.abs(difference)
    n_zero = (size == 0).sum(axis=1, keepdims=True)
    return np.where(size > 0, rankdata(size, axis=1) - n_zero, 0.0)


def _signed_rank_p_value(ranks, above, total, alternative):
    """Exact where scipy's is exact, else from the normal distribution with ties corrected for."""
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
    if alternative == "two-sided":
        p_value = np.minimum(2 * np.minimum(at_least, at_most), 1.0)
    else:
        p_value = at_least if alternative == "greater" else at_most
    return np.where(total > 0, p_value, 1.0)


def signed_rank_distribution(n_queries):
    """Chance of each sum of ranks, from 0 to n (n + 1) / 2, when each counts with chance 1/2."""
    chances = np.ones(1)
    for rank in range(1, n_queries + 1):
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    return chances


def hodges_lehmann_interval(difference, confidence):
    """Shifts that the signed rank test of all differences does not reject.

    Its bounds are the k-th smallest and the k-th greatest of the Walsh averages, the means of
    each two differences of a pair.
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
    """The greatest k for which the chance of a sum of ranks below k is at most the tail."""
    if n_queries <= _N_EXACT:
        share = signed_rank_distribution(n_queries).cumsum()
        return int(np.searchsorted(share, tail * (1 + 1e-12), side="right"))
    mean = n_queries * (n_queries + 1) / 4
    deviation = np.sqrt(mean * (2 * n_queries + 1) / 6)
    return int(mean + ndtri(tail) * deviation) + 1


def _bisect_walsh(difference, k):
    """The k-th smallest Walsh average of each pair, to the last bits of the differences' range."""
    low, high = difference.min(axis=1), difference.max(axis=1)
    places = np.arange(1, difference.shape[1] + 1)
    for _ in range(54):
        middle = low + (high - low) / 2
        shifted = difference - middle[:, None]
        # As many Walsh averages are below the middle as the ranks of sizes below 0 add up to.
        order = np.argsort(np.abs(shifted), axis=1)
        below = np.take_along_axis(shifted <= 0, order, axis=1) @ places
        low, high = np.where(below < k, middle, low), np.where(below < k, high, middle)
    return high
