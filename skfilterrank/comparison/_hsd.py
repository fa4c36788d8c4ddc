"""Tukey's honestly significant differences with queries as blocks, by formula and by permutation.

P values are those of the family of all pairs of all systems, also where only the pairs with a
baseline are asked for: there, tests corrected for so many pairs find more. Mid-ranks of
preferences may be given as any linear map of them.

Carterette, "Multiple testing in statistical analysis of systems-based information retrieval
experiments", ACM TOIS 30, 2012; Sakai, "Laboratory Experiments in Information Retrieval", 2018.
"""

import numpy as np
from tqdm.auto import tqdm

from skfilterrank._lists.floats import mean_tolerance
from skfilterrank._lists.system_pairs import (
    PairFigures,
    mean_differences,
    ratio,
    without_spread_p,
)
from skfilterrank.comparison._studentized_range import studentized_range

EFFECT = "difference / sqrt(MSE)"
_BLOCK_NUMBERS = 2**18


def residual_mean_square(values: np.ndarray) -> tuple[float, int]:
    """Variance that neither systems nor queries explain, and its degrees of freedom.

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
    """Differences against the studentized range of the means of all systems."""
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
    """Differences against the range of the means when systems are shuffled in each query."""
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
    """Largest less smallest mean of a system in each resample, shape (n_resamples,)."""
    n_systems, n_queries = values.shape
    # The mean of a query stays with it; without it less is lost to rounding.
    rows = np.ascontiguousarray((values - values.mean(axis=0)).T)
    generator = settings.generator()
    size = max(1, _BLOCK_NUMBERS // rows.size)
    ranges = np.empty(settings.n_resamples)
    with tqdm(total=len(ranges), desc="resamples", disable=not settings.verbose, leave=None) as bar:
        for start in range(0, len(ranges), size):
            n_here = min(size, len(ranges) - start)
            copies = np.broadcast_to(rows, (n_here, n_queries, n_systems))
            totals = generator.permuted(copies, axis=-1).sum(axis=1)
            ranges[start : start + n_here] = np.ptp(totals, axis=1) / n_queries
            bar.update(n_here)
    return ranges


def _quantile_place(confidence, n_ranges):
    """Place of the smallest range that the wanted share of the ranges does not exceed."""
    return min(int(np.ceil(confidence * (n_ranges + 1))), n_ranges) - 1


def _settled(difference, values):
    """Differences of means that are only rounding errors become 0."""
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
