"""Simple thresholds: a fixed score, and a fixed list length."""

from typing import Any, Self

import numpy as np

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import is_level
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.prefixes import places
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._judged_scores import JudgedScores


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

    _is_by_score = True
    _takes_weights = True

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
        self._check_parameters(self._parsed())
        self._set_level(check_level(self.threshold))
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
            The fitted threshold.
        """
        self._set_level(check_level(self.threshold))
        self.n_unjudged_ = int(np.count_nonzero(np.isnan(judged.gains)))
        return self

    def _check_parameters(self, parsed):
        check_level(self.threshold)
        super()._check_parameters(parsed)

    def _fit_rows(self, rows):
        return self.fit()

    def _set_level(self, level):
        super()._set_level(level)
        self._is_none = self.threshold is None

    def _restore(self, state, name):
        self._is_none = self.threshold is None

    def _shows_all(self):
        # Parameters set after `fit` must not change a fitted threshold.
        return vars(self).get("_is_none", False) and not self._looks_at_lists()


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
