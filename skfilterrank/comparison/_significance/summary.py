"""What a comparison found, told system by system and pair by pair, the best systems first."""

import numpy as np
import pandas as pd
from scipy.stats import t


def summarize_systems(comparison, *, alpha: float = 0.05) -> pd.DataFrame:
    """Mean of each system with an interval, and how many others are better or worse.

    Parameters
    ----------
    comparison : PairwiseComparison
        What :func:`compare_systems` returned.
    alpha : float, default=0.05
        Level at which a difference counts, against adjusted p values.

    Returns
    -------
    DataFrame of shape (n_systems, 5)
        Index "system", the best mean first.

        mean : float
            Mean over queries.
        low, high : float
            Student's t interval of the mean of this system alone, at the comparison's
            confidence. Intervals of two systems may overlap although they differ: queries that
            are hard for both make each of the means uncertain, and not their difference.
        n_beaten, n_beaten_by : int
            Number of systems, of those it was compared with, that are significantly worse, and
            that are significantly better.

    See Also
    --------
    summarize_pairs : The pairs.

    Examples
    --------
    >>> from skfilterrank.comparison import compare_systems, summarize_systems
    >>> values = [[0.5, 0.7, 0.6, 0.9], [0.4, 0.6, 0.4, 0.8]]
    >>> summarize_systems(compare_systems(values)).round(3)
             mean    low   high  n_beaten  n_beaten_by
    system
    0       0.675  0.403  0.947         1            0
    1       0.550  0.245  0.855         0            1
    """
    scores = comparison.scores
    better = comparison.better(alpha)
    beaten = _count(comparison.first[better > 0], comparison.second[better < 0], scores.n_systems)
    losing = _count(comparison.first[better < 0], comparison.second[better > 0], scores.n_systems)
    means = scores.values.mean(axis=1)
    error = scores.values.std(axis=1, ddof=1) / np.sqrt(scores.n_queries)
    reach = t.ppf((1 + comparison.confidence) / 2, scores.n_queries - 1) * error
    table = pd.DataFrame(
        {
            "mean": means,
            "low": means - reach,
            "high": means + reach,
            "n_beaten": beaten,
            "n_beaten_by": losing,
        },
        index=pd.Index(scores.systems, name="system"),
    )
    return table.loc[scores.means.index]


def summarize_pairs(comparison, *, alpha: float = 0.05) -> pd.DataFrame:
    """Pairs turned so that the system with the better mean comes first, the best systems on top.

    Parameters
    ----------
    comparison : PairwiseComparison
        What :func:`compare_systems` returned.
    alpha : float, default=0.05
        Level at which a difference counts, against adjusted p values.

    Returns
    -------
    DataFrame of shape (n_pairs, 9)
        Columns "first" and "second", names of systems; "difference", "low", "high",
        "effect_size", "p_value" and "p_adjusted", as in the comparison with the signs of the
        turned pair; "significant", bool. Sorted by the place of the first system in the order of
        means, then by that of the second.

    See Also
    --------
    summarize_systems : The systems.

    Examples
    --------
    >>> from skfilterrank.comparison import compare_systems, summarize_pairs
    >>> values = [[0.4, 0.6, 0.4, 0.8], [0.5, 0.7, 0.6, 0.9]]
    >>> pairs = summarize_pairs(compare_systems(values))
    >>> pairs[["first", "second", "difference", "p_adjusted"]].round(3)
      first second  difference  p_adjusted
    0     1      0       0.125       0.015
    """
    scores = comparison.scores
    place = pd.Series(range(scores.n_systems), scores.means.index)[list(scores.systems)].to_numpy()
    turned = place[comparison.first] > place[comparison.second]
    first = np.where(turned, comparison.second, comparison.first)
    second = np.where(turned, comparison.first, comparison.second)
    sign = np.where(turned, -1.0, 1.0)
    names = np.array(scores.systems, dtype=object)
    table = pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "difference": sign * comparison.difference + 0.0,
            "low": np.where(turned, -comparison.high, comparison.low) + 0.0,
            "high": np.where(turned, -comparison.low, comparison.high) + 0.0,
            "effect_size": sign * comparison.effect_size + 0.0,
            "p_value": comparison.p_value,
            "p_adjusted": comparison.p_adjusted,
            "significant": comparison.significant(alpha),
        }
    )
    return table.iloc[np.lexsort((place[second], place[first]))].reset_index(drop=True)


def _count(first, second, n_systems):
    """How often each system occurs."""
    return np.bincount(first, minlength=n_systems) + np.bincount(second, minlength=n_systems)
