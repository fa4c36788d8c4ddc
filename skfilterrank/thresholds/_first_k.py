"""The same number of documents for every query."""

from skfilterrank._lists.prefixes import places
from skfilterrank.thresholds._base import BaseThreshold


class FirstK(BaseThreshold):
    """The same number of documents for every query, the best one for a measure.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the number maximises: a name such as "ndcg_f@10", or a
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
    level_ : float
        Minus the number of documents shown; -inf where all are, and +inf where none is.
    threshold_curve_ : ThresholdCurve
        The measure at every number of documents, negated.
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        As of :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold : One threshold on the score.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import FirstK
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> first = FirstK("ndcg_f").fit(scores, y, groups=groups)
    >>> first.rank([0.9, 0.1, 0.5], groups=["a", "a", "a"])
    array([1, 3, 2])
    """

    def _keys(self, scores, index, columns):
        return -1.0 - places(scores, index)
