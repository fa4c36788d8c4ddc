"""Randomization (permutation) test and bootstrap test; all pairs share the resamples."""

from dataclasses import replace

import numpy as np
from tqdm.auto import tqdm

from skfilterrank._lists.floats import ROUNDING_OF_MEANS
from skfilterrank._lists.resamples import draw_resamples
from skfilterrank._lists.sklearn_compat import limit_threads
from skfilterrank._lists.system_pairs import (
    PairFigures,
    differences,
    mean_and_deviation,
    pair_blocks,
    ratio,
    rounding_errors,
    sign_patterns,
    smallest_flip_p,
    without_spread_p,
)
from skfilterrank.comparison._t_test import paired_t

# So many pairs at a time that what is compared stays in the processor's cache.
_N_PAIRS = 64


def randomization_test(values, pairs, settings) -> PairFigures:
    """Mean difference against those with the two values swapped for a random half of queries."""
    figures = paired_t(values, pairs, replace(settings, verbose=0))
    n_queries = values.shape[1]
    # What all systems have in common at a query cancels, and costs digits.
    centered = values - np.median(values, axis=0)
    is_exact = n_queries < 63 and 2**n_queries <= settings.n_resamples
    n_resamples = 2**n_queries if is_exact else settings.n_resamples
    blocks = _all_signs(n_queries) if is_exact else _random_signs(n_queries, settings)
    count = np.zeros(len(pairs), dtype=np.int64)
    n_blocks = len(_starts(n_resamples, n_queries))
    bar = tqdm(blocks, desc="resamples", total=n_blocks, disable=not settings.verbose, leave=None)
    for signs in bar:
        count += _count_as_extreme(centered, signs, pairs, settings.alternative)
    if is_exact:
        smallest = smallest_flip_p(n_queries, settings.alternative)
        return replace(figures, p_value=count / n_resamples, smallest_p=smallest)
    # The observed values are one of the resamples, so that no p value is 0.
    smallest = 1 / (n_resamples + 1)
    return replace(figures, p_value=(count + 1) / (n_resamples + 1), smallest_p=smallest)


def _count_as_extreme(values, signs, pairs, alternative):
    """In how many of the resamples the difference of each pair is as far out as observed."""
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
    """First places of blocks of resamples, the same for any number of systems."""
    return range(0, n_resamples, max(1, min(512, 2**22 // n_queries)))


def _all_signs(n_queries):
    """Every pattern of signs, some at a time."""
    starts = _starts(2**n_queries, n_queries)
    for start in starts:
        yield sign_patterns(n_queries, start, min(start + starts.step, 2**n_queries))


def _random_signs(n_queries, settings):
    """Random patterns of signs, some at a time."""
    generator = settings.generator()
    starts = _starts(settings.n_resamples, n_queries)
    for start in starts:
        size = (min(starts.step, settings.n_resamples - start), n_queries)
        yield 2.0 * generator.integers(2, size=size) - 1.0


# Threads that share products this small wait for each other: 15 times the time on a busy machine.
@limit_threads(limits=1, user_api="blas")
def bootstrap_test(values, pairs, settings) -> PairFigures:
    """Studentized mean difference against that of resampled queries, shifted to no difference."""
    n_queries = values.shape[1]
    counts = draw_resamples(n_queries, settings.n_resamples, settings.random_state)
    smallest = 1 / (settings.n_resamples + 1)
    parts = []
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
            resampled[:, some] = _studentized(
                shifted, counts[some].astype(np.float64), rounding[:, None]
            )
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
        at_least = observed - ROUNDING_OF_MEANS * np.where(
            np.isinf(observed), 0, 1 + np.abs(observed)
        )
        p_value = (np.count_nonzero(resampled >= at_least[:, None], axis=1) + 1) * smallest
        by_signs = without_spread_p(mean, n_queries, settings.alternative)
        parts.append(
            PairFigures(
                # The observed values count as a resample: a p value of 0 would stay 0 however many
                # pairs it is corrected for.
                p_value=np.where(deviation > 0, p_value, np.maximum(p_value, by_signs)),
                effect_size=ratio(mean, deviation),
                low=mean - width,
                high=mean + width,
                effect_name="Cohen's d_z",
                smallest_p=smallest,
            )
        )
    return PairFigures.join(parts)


def _studentized(shifted, counts, rounding=0.0):
    """The t of each resample, shape (n_pairs, n_resamples); infinite where it has no spread."""
    n_queries = shifted.shape[1]
    # A query whose difference is the mean is 0 but for rounding.
    largest = np.abs(shifted).max(axis=1, keepdims=True)
    least = np.maximum(ROUNDING_OF_MEANS * largest, rounding)
    shifted = np.where(np.abs(shifted) <= least, 0.0, shifted)
    sums = shifted @ counts.T
    squares = (shifted**2) @ counts.T
    spread = squares - sums**2 / n_queries
    spread[spread <= np.maximum(ROUNDING_OF_MEANS * squares, n_queries * rounding**2)] = 0.0
    return ratio(sums, np.sqrt(spread * (n_queries / (n_queries - 1))))
