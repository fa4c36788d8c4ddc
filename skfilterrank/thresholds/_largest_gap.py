"""Lists cut at their largest gap between two scores."""

import numpy as np

from skfilterrank._lists.prefixes import list_order
from skfilterrank.thresholds._base import BaseThreshold


class LargestGap(BaseThreshold):
    """A cut of each list before its largest gap between two scores; nothing is tuned.

    Of equal gaps the first counts. A list without any gap is shown whole.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that `score` returns: a name such as "ndcg_f@10", or a
        measure function. None means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Documents of each query that are shown at most, and at least, where there are as many.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing of a query whose scores are less sure than a level, which is the best for the
        measure once the lists are cut.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        As of :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold : One threshold on the score.

    Examples
    --------
    >>> from skfilterrank.thresholds import LargestGap
    >>> cut = LargestGap().fit([0.9, 0.8, 0.1], [1, 1, 0], groups=["a", "a", "a"])
    >>> cut.rank([3.0, 2.5, 1.0, 0.9], groups=["b", "b", "b", "b"])
    array([1, 2, 0, 0])
    """

    _level = 0.0

    def _keys(self, scores, index, columns):
        order, starts, sizes = list_order(scores, index)
        ranked = scores[order]
        with np.errstate(invalid="ignore"):
            gaps = np.append(ranked[:-1] - ranked[1:], 0.0)
        gaps[starts + sizes - 1] = 0.0
        gaps[~np.isfinite(gaps)] = 0.0
        largest = np.maximum.reduceat(gaps, starts)
        is_cut = (gaps == np.repeat(largest, sizes)) & (gaps > 0)
        positions = np.arange(len(ranked))
        first = np.minimum.reduceat(np.where(is_cut, positions, len(ranked)), starts)
        keys = np.empty(len(scores))
        keys[order] = np.where(positions <= np.repeat(first, sizes), 1.0, -1.0)
        return keys
