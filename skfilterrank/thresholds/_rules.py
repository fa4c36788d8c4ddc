"""Simple thresholds: fixed score, fixed list length, largest gap, and surprise of a score."""

from typing import Any, Self

import numpy as np

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import is_level
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.prefixes import Ranking, places
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._base import BaseThreshold


class FixedThreshold(BaseThreshold):
    """A given threshold on the score; caps and abstention can be added.

    Parameters
    ----------
    threshold : float or None, default=None
        Rows with ``score >= threshold`` are shown; None shows all. With None, and without caps
        and `abstain`, `decision_function` returns the scores themselves.
    measure : str or None, default=None
        Measure that `score` returns, and for which the level of `abstain` is chosen: a name such as
        "ndcg_f@10", or a measure function. None means "ndcg_f", and inside RankAndFilter its
        measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query. Of documents of equal score, the
        first in the input are shown.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing for a query whose confidence is below a learned level. The confidence is
        computed from the scores, as in :func:`risk_coverage_curve`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    threshold_ : float
        The threshold; -inf if `threshold` is None.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold : The best threshold for a measure.

    Examples
    --------
    >>> from skfilterrank.thresholds import FixedThreshold
    >>> cut = FixedThreshold(0.3, max_shown=2).fit()
    >>> cut.rank([0.9, 0.2, 0.5, 0.4], groups=["a", "a", "a", "a"])
    array([1, 0, 2, 0])
    """

    _is_by_score = True
    _takes_weights = True

    def __init__(
        self,
        threshold: float | None = None,
        *,
        measure: Any = None,
        max_shown: int | None = None,
        min_shown: int | None = None,
        abstain: str | None = None,
        gains: Gains = None,
    ) -> None:
        super().__init__(
            measure, max_shown=max_shown, min_shown=min_shown, abstain=abstain, gains=gains
        )
        self.threshold = threshold

    @property
    def _level(self):
        return check_level(self.threshold)

    @property
    def _is_fixed(self):
        return self.abstain is None

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self, scores=None, y=None, groups=None, **parameters
    ) -> Self:
        """Check the parameters, and learn the level of `abstain` if it is set.

        Parameters
        ----------
        scores, y, groups, **parameters
            As in :meth:`TunedThreshold.fit`; needed only if `abstain` is set. Rows are not accepted
            then.

        Returns
        -------
        self : FixedThreshold
            The fitted threshold.
        """
        if scores is not None and y is not None:
            return super().fit(scores, y, groups, **parameters)
        parsed = self._parsed()
        self._check_parameters(parsed)
        if self.abstain is not None:
            return super().fit(scores, y, groups, **parameters)
        self._set_level(self._level)
        return self

    def _check_parameters(self, parsed):
        check_level(self.threshold)
        super()._check_parameters(parsed)

    def _fit_rows(self, rows):
        self._refuse_with_rows("abstain")
        return self.fit()

    def _set_level(self, level):
        super()._set_level(level)
        self._is_none = self.threshold is None

    def _restore(self, state, name):
        self._is_none = self.threshold is None

    def _shows_all(self):
        # Parameters set after `fit` must not change a fitted threshold.
        return vars(self).get("_is_none", False) and not self._looks_at_lists()

    def _unfiltered(self, judged):
        return super()._unfiltered(judged) & (judged.scores >= self._level)

    def _instead(self, is_alone):
        return "abstain=None to answer every query"


def check_level(threshold, name: str = "threshold") -> float:
    """Check a threshold and return it as float; None becomes -inf, which hides nothing."""
    if threshold is None:
        return -np.inf
    if not is_level(threshold):
        raise InputError(f"{name} must be a number or None, got {brief(threshold)}.")
    return float(threshold)


class FirstK(BaseThreshold):
    """A cut of all lists after the same number of documents, the best one for a measure.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the number maximises: a name such as "ndcg_f@10", or a
        measure function. None means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; shorter lists are shown whole.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing for a query whose confidence is below a level. The confidence is computed from
        the scores, as in :func:`risk_coverage_curve`. The level is chosen together with
        the cut, as in :class:`TunedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    level_ : float
        Minus the number of shown documents; -inf if all are shown, +inf if none is.
    threshold_curve_ : ThresholdCurve
        The measure at every level, which is minus a number of documents.
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        See :class:`TunedThreshold`.
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

    def _why_below_level(self, level):
        return f"beyond the first {max(-level, 0):g}"


class LargestGap(BaseThreshold):
    """A cut of each list before its largest gap between two scores; nothing is tuned.

    The first of equal gaps counts. A list without any gap is shown whole.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that `score` returns: a name such as "ndcg_f@10", or a
        measure function. None means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; shorter lists are shown whole.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing for a query whose confidence is below a level. The confidence is computed from
        the scores, as in :func:`risk_coverage_curve`. The level is the best one for the measure
        after the lists are cut.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        See :class:`TunedThreshold`.
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
        ranking = Ranking(scores, index)
        ranked, starts, sizes = ranking.scores, ranking.starts, ranking.sizes
        with np.errstate(invalid="ignore"):
            gaps = np.append(ranked[:-1] - ranked[1:], 0.0)
        gaps[starts + sizes - 1] = 0.0
        gaps[~np.isfinite(gaps)] = 0.0
        largest = np.repeat(np.maximum.reduceat(gaps, starts), sizes)
        place = np.where((gaps == largest) & (gaps > 0), ranking.place, len(ranked))
        first = np.repeat(np.minimum.reduceat(place, starts), sizes)
        return ranking.by_row(np.where(ranking.place <= first, 1.0, -1.0))


class Surprise(BaseThreshold):
    """A threshold on the surprise of a score: how unlikely it is in its list.

    The surprise of a score s is ``-log P(S >= s)`` [1]_. P is the share of the list above its
    median, times the tail of a generalised Pareto distribution of the excesses over the median. Up
    to the median, P is the empirical share of the list.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the level maximises: a name such as "ndcg_f@10", or a
        measure function. None means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; shorter lists are shown whole.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing for a query whose confidence is below a level. The confidence is computed from
        the scores, as in :func:`risk_coverage_curve`. The level is chosen together with
        the cut, as in :class:`TunedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    level_ : float
        Rows whose surprise is at least this are shown.
    threshold_curve_ : ThresholdCurve
        The measure at every level of the surprise.
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        See :class:`TunedThreshold`.
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
        ranking = Ranking(scores, index)
        ranked, starts, place = ranking.scores, ranking.starts, ranking.place
        query = np.repeat(np.arange(len(starts)), index.sizes)
        is_scored = ranked > -np.inf
        sizes = np.add.reduceat(is_scored, starts, dtype=np.intp)
        n = sizes[query]
        # The lower median: at least half of the list is at or above it.
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
        # Without excesses over the median, as in lists with one distinct score.
        shape, scale = np.where(is_known, shape, 0.0), np.where(is_known, scale, 1.0)
        surprise = _pareto_surprise(excess, shape[query], scale[query])
        share = np.where(in_tail, (n_tail / np.maximum(sizes, 1))[query], (place + 1.0) / (n + 1.0))
        with np.errstate(divide="ignore"):
            found = surprise - np.log(share)
        found[~is_scored] = -np.inf
        found = _never_rising(found, place)
        # Equal scores share P(S >= s), computed for the last of them.
        last = found[ranking.ties + ranking.n_tied - 1]
        return ranking.by_row(np.repeat(last, ranking.n_tied))


def _pareto_surprise(excess, shape, scale):
    """Compute -log of the tail of generalised Pareto distributions; it grows beyond their end."""
    z = excess / scale
    is_flat = np.abs(shape) < 1e-9
    inner = 1.0 + np.where(is_flat, 0.0, shape) * z
    with np.errstate(divide="ignore", invalid="ignore"):
        curved = np.log(inner) / np.where(is_flat, 1.0, shape)
    curved = np.where(inner > 0, curved, 1e9 + z)
    return np.where(is_flat, z, curved)


def _never_rising(ranked, place):
    """Replace each key by the lowest key down to its place in the list; `place` counts from 0."""
    result = ranked.copy()
    # A running minimum by doubling: each round covers twice as many preceding keys.
    stride, here = 1, np.flatnonzero(place >= 1)
    while len(here):
        result[here] = np.minimum(result[here], result[here - stride])
        stride *= 2
        here = here[place[here] >= stride]
    return result
