"""Student's paired t test."""

import numpy as np
from scipy.special import stdtr, stdtrit

from skfilterrank._lists.system_pairs import (
    PairFigures,
    differences,
    mean_and_deviation,
    pair_blocks,
    ratio,
    rounding_errors,
    without_spread_p,
)


def paired_t(values, pairs, settings) -> PairFigures:
    """Mean difference against what its standard error lets expect."""
    n_queries = values.shape[1]
    parts = []
    for block in pair_blocks(pairs, 6 * n_queries, verbose=settings.verbose):
        rounding = rounding_errors(values, pairs[block])
        mean, deviation = mean_and_deviation(differences(values, pairs[block]), rounding)
        p_value = t_p_value(
            ratio(mean, deviation / np.sqrt(n_queries)), n_queries - 1, settings.alternative
        )
        low, high = t_interval(mean, deviation, n_queries, settings.confidence)
        parts.append(
            PairFigures(
                # An infinite t is no evidence: two queries suffice for it.
                p_value=np.where(
                    deviation > 0,
                    p_value,
                    without_spread_p(mean, n_queries, settings.alternative),
                ),
                effect_size=ratio(mean, deviation),
                low=low,
                high=high,
                effect_name="Cohen's d_z",
            )
        )
    return PairFigures.join(parts)


def t_p_value(t, degrees_of_freedom, alternative):
    """Chance of a t as far out as this."""
    if alternative == "two-sided":
        return np.minimum(2 * stdtr(degrees_of_freedom, -np.abs(t)), 1.0)
    return stdtr(degrees_of_freedom, -t if alternative == "greater" else t)


def t_interval(mean, deviation, n_queries, confidence):
    """Mean difference minus and plus what Student's distribution allows."""
    width = stdtrit(n_queries - 1, (1 + confidence) / 2) * deviation / np.sqrt(n_queries)
    return mean - width, mean + width
