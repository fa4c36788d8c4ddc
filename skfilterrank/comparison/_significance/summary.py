"""What a comparison found, told system by system and pair by pair, the best systems first."""

import numpy as np
import pandas as pd
from scipy.stats import t

from skfilterrank._core.measure import MEASURES
from skfilterrank.comparison._significance.pairwise import PairwiseComparison
from skfilterrank.exceptions import InputError, brief


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
            confidence. It is cut where the range of the measure ends, which takes no possible
            mean away; if much is cut, queries are too few for a t interval. Intervals of two
            systems may overlap although they differ: queries that are hard for both make each of
            the means uncertain, and not their difference.
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
    scores = _scores_of(comparison)
    better = comparison.better(alpha)
    beaten = _count(comparison.first[better > 0], comparison.second[better < 0], scores.n_systems)
    losing = _count(comparison.first[better < 0], comparison.second[better > 0], scores.n_systems)
    means = scores.values.mean(axis=1)
    error = scores.values.std(axis=1, ddof=1) / np.sqrt(scores.n_queries)
    reach = t.ppf((1 + comparison.confidence) / 2, scores.n_queries - 1) * error
    least, greatest = _range_of(scores)
    table = pd.DataFrame(
        {
            "mean": means,
            "low": np.maximum(means - reach, least),
            "high": np.minimum(means + reach, greatest),
            "n_beaten": beaten,
            "n_beaten_by": losing,
        },
        index=pd.Index(scores.systems, name="system"),
    )
    # pandas before 3.1 drops the name of the index here.
    return table.loc[scores.means.index].rename_axis("system")


def summarize_pairs(comparison, *, alpha: float = 0.05) -> pd.DataFrame:
    """Pairs turned so that the better system comes first, the best systems on top.

    Which system is better is what the test goes by: the sign of ``effect_size``, and where that is
    0 the mean. Tests of signs and ranks may find the system with the worse mean better, even
    significantly; its "difference" then speaks for the second system.

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
        turned pair; "significant", bool: whether the first is significantly better. Sorted by the
        place of the first system in the order of means, then by that of the second.

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
    scores = _scores_of(comparison)
    place = pd.Series(range(scores.n_systems), scores.means.index)[list(scores.systems)].to_numpy()
    effect = comparison.effect_size if scores.greater_is_better else -comparison.effect_size
    behind = place[comparison.first] > place[comparison.second]
    turned = np.where(effect == 0, behind, effect < 0)
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


def _range_of(scores):
    """The values that a mean may have, as far as that is known of the measure's name."""
    known = MEASURES.get(str(scores.measure).partition("(")[0].partition("@")[0])
    if known is None or known.range_holds_for != "any gains":
        return -np.inf, np.inf
    least, greatest = known.value_range
    # What is beyond is another measure that goes by this name, such as percentages.
    fits = scores.values.min() >= least - 1e-9 and scores.values.max() <= greatest + 1e-9
    return (least, greatest) if fits else (-np.inf, np.inf)


def _count(first, second, n_systems):
    """How often each system occurs."""
    return np.bincount(first, minlength=n_systems) + np.bincount(second, minlength=n_systems)


def _scores_of(comparison):
    """The scores that were compared."""
    if not isinstance(comparison, PairwiseComparison):
        raise InputError(
            f"comparison must be a result of compare_systems, got {brief(comparison)}."
        )
    return comparison.scores
