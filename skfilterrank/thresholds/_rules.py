"""Simple thresholds: a fixed score, and a fixed list length."""

from typing import Any, Self

import numpy as np

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import is_level
from skfilterrank._lists.gains import Gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._cuts import ByPlace, ByScore, Everything
from skfilterrank.thresholds._judged_scores import JudgedScores
from skfilterrank.thresholds._threshold import BaseThreshold


class FixedThreshold(BaseThreshold):
    """A given threshold on the score; caps can be added.

    Parameters
    ----------
    threshold : float or None, default=None
        Rows with ``score >= threshold`` are shown; None shows all. With None and without caps,
        `decision_function` returns the scores themselves.
    measure : str or None, default=None
        Measure that `score` returns: a name such as "ndcg_f@10", or a measure function. None means
        "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query. Of documents of equal score, the
        first in the input are shown.
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

    def __init__(
        self,
        threshold: float | None = None,
        *,
        measure: Any = None,
        max_shown: int | None = None,
        min_shown: int | None = None,
        gains: Gains = None,
    ) -> None:
        super().__init__(measure, max_shown=max_shown, min_shown=min_shown, gains=gains)
        self.threshold = threshold

    def _cut_of(self, n_more):
        return ByScore()

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self, scores=None, y=None, groups=None, **parameters
    ) -> Self:
        """Check the parameters; rows are checked where they are given, and not needed.

        Parameters
        ----------
        scores, y, groups, **parameters
            As in :meth:`TunedThreshold.fit`.

        Returns
        -------
        self : FixedThreshold
            The fitted threshold.
        """
        if scores is not None and y is not None:
            return super().fit(scores, y, groups, **parameters)
        self.check_parameters()
        self._set_given()
        return self

    def fit_judged(self, judged: JudgedScores) -> Self:
        """Set the threshold, and count rows without a label.

        Parameters
        ----------
        judged : JudgedScores
            The rows.

        Returns
        -------
        self : FixedThreshold
        """
        self._set_given()
        self.n_unjudged_ = int(np.count_nonzero(np.isnan(judged.gains)))
        return self

    def check_parameters(self) -> None:
        """Raise a ValueError for parameters that are out of range or exclude each other."""
        check_level(self.threshold)
        super().check_parameters()

    def _fit_rows(self, rows):
        return self.fit()

    def _set_given(self):
        """Set the level that the parameter gives."""
        level = check_level(self.threshold)
        self._set_level(Everything() if self.threshold is None else ByScore(), level)


def check_level(threshold) -> float:
    """Check a threshold and return it as float; None becomes -inf, which hides nothing."""
    if threshold is None:
        return -np.inf
    if not is_level(threshold):
        raise InputError(f"threshold must be a number or None, got {brief(threshold)}.")
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
    keep_if : "better" or None, default=None
        As in :class:`TunedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    level_ : float
        Minus the number of shown documents; -inf if all are shown, +inf if none is.
    threshold_curve_ : ThresholdCurve
        The measure at every level, which is minus a number of documents.
    best_score_, held_out_
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

    def _cut_of(self, n_more):
        return ByPlace()
