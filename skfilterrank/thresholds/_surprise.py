"""Lists cut by how unlikely a score is among the scores of its list."""

import numpy as np

from skfilterrank._lists.prefixes import list_order
from skfilterrank.thresholds._base import BaseThreshold


class Surprise(BaseThreshold):
    """A level of how unlikely a score is among the other scores of its list.

    The surprise of a score s is ``-log P(S >= s)`` [1]_. P is the share of the list above its
    median, times the tail of a generalised Pareto distribution of the excesses over the median. Up
    to the median it is the share of the list itself.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the level maximises: a name such as "ndcg_f@10", or a
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
        Rows whose surprise is at least this are shown.
    threshold_curve_ : ThresholdCurve
        The measure at every level of the surprise.
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        As of :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold : One threshold on the score.

    Notes
    -----
    The distribution is fitted by its probability-weighted moments, in closed form. The paper
    searches the threshold and the maximum of the likelihood list by list.

    References
    ----------
    .. [1] Bahri et al., "Surprise: Result List Truncation via Extreme Value Theory", SIGIR 2023,
       https://doi.org/10.1145/3539618.3592066.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import Surprise
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> cut = Surprise("ndcg_f@3").fit(scores, y, groups=groups)
    >>> cut.rank(scores, groups=groups)[:4]
    array([...])
    """

    def _keys(self, scores, index, columns):
        order, starts, sizes = list_order(scores, index)
        ranked = scores[order]
        sizes = np.add.reduceat(ranked > -np.inf, starts, dtype=np.intp)
        place = np.arange(len(ranked)) - np.repeat(starts, index.sizes)
        query = np.repeat(np.arange(len(starts)), index.sizes)
        is_scored = ranked > -np.inf
        n = sizes[query]
        # The median from below, so that at least half of the list lies above or at it.
        n_tail = np.maximum((sizes - 1) // 2, 0)
        median = ranked[starts + np.minimum(n_tail, np.maximum(sizes - 1, 0))]
        in_tail = is_scored & (place < n_tail[query])
        with np.errstate(invalid="ignore"):
            excess = np.where(in_tail, ranked - median[query], 0.0)
        count = np.maximum(n_tail, 1)
        mean = np.add.reduceat(excess, starts) / count
        # E[Y P(Y' > Y)], by the plotting positions (place + 0.35) / n of the excesses.
        weighted = np.add.reduceat(excess * (place + 0.35), starts) / count**2
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = 2.0 - mean / (mean - 2.0 * weighted)
            scale = 2.0 * mean * weighted / (mean - 2.0 * weighted)
        is_known = np.isfinite(shape) & np.isfinite(scale) & (scale > 0)
        # Without excesses, as in lists of one score, all are alike.
        shape, scale = np.where(is_known, shape, 0.0), np.where(is_known, scale, 1.0)
        surprise = _pareto_surprise(excess, shape[query], scale[query])
        share = np.where(in_tail, (n_tail / np.maximum(sizes, 1))[query], (place + 1.0) / (n + 1.0))
        keys = np.empty(len(scores))
        with np.errstate(divide="ignore"):
            found = surprise - np.log(share)
        found[~is_scored] = -np.inf
        found = _never_rising(found, place)
        # P(S >= s) of equal scores is one number: that of the last of them.
        is_last = np.append(ranked[1:] != ranked[:-1], True)
        is_last[starts + index.sizes - 1] = True
        last = np.flatnonzero(is_last)
        keys[order] = found[np.repeat(last, np.diff(last, prepend=-1))]
        return keys


def _pareto_surprise(excess, shape, scale):
    """-log of the tail of generalised Pareto distributions; +inf beyond their end."""
    z = excess / scale
    is_flat = np.abs(shape) < 1e-9
    inner = 1.0 + np.where(is_flat, 0.0, shape) * z
    with np.errstate(divide="ignore", invalid="ignore"):
        curved = np.log(inner) / np.where(is_flat, 1.0, shape)
    curved = np.where(inner > 0, curved, 1e9 + z)
    return np.where(is_flat, z, curved)


def _never_rising(ranked, place):
    """Ranked keys, each at most those before it in its list; `place` counts from 0."""
    result = ranked.copy()
    # Each round doubles how many of the keys before it a key was compared with.
    stride, here = 1, np.flatnonzero(place >= 1)
    while len(here):
        result[here] = np.minimum(result[here], result[here - stride])
        stride *= 2
        here = here[place[here] >= stride]
    return result
