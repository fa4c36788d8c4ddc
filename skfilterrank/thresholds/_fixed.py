"""A threshold that is a given number."""

import numpy as np

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import is_level
from skfilterrank._lists.gains import Gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._base import BaseThreshold


class FixedThreshold(BaseThreshold):
    """A given threshold on the score, which caps and abstention may accompany.

    Parameters
    ----------
    threshold : float or None, default=None
        Rows with ``score >= threshold`` are shown; None shows all.
    measure : str or None, default=None
        Measure that `score` returns, and that chooses the level of `abstain`: a name such as
        "ndcg_f@10", or a measure function. None means "ndcg_f", and inside RankAndFilter its
        measure.
    max_shown, min_shown : int or None, default=None
        Documents of each query that are shown at most, and at least. Of documents of equal score
        those that come first are shown.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing of a query whose scores are less sure than a level, which is learned.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    threshold_ : float
        The threshold, -inf where it is None.
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
        measure=None,
        max_shown: int | None = None,
        min_shown: int | None = None,
        abstain: str | None = None,
        gains: Gains = None,
    ):
        self.threshold = threshold
        self.measure = measure
        self.max_shown = max_shown
        self.min_shown = min_shown
        self.abstain = abstain
        self.gains = gains

    @property
    def _level(self):
        return check_level(self.threshold)

    @property
    def _is_fixed(self):
        return self.abstain is None

    @all_or_nothing
    def fit(self, scores=None, y=None, groups=None, **parameters) -> "FixedThreshold":
        """Check the parameters, and find the level of `abstain` where it is set.

        Parameters
        ----------
        scores, y, groups, **parameters
            As in :meth:`TunedThreshold.fit`; not needed unless `abstain` is set, which Rows cannot
            teach.

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

    def _keys(self, scores, index, columns):
        return scores

    def _fit_rows(self, rows):
        self._refuse_with_rows("abstain")
        return self.fit()

    def _set_level(self, level):
        super()._set_level(level)
        self._is_none = self.threshold is None

    def _restore(self, state, name):
        self._is_none = self.threshold is None

    def _shows_all(self):
        # Of the fit, whatever `threshold` is set to before the next one.
        return vars(self).get("_is_none", False) and not self._looks_at_lists()

    def _unfiltered(self, judged):
        return super()._unfiltered(judged) & (judged.scores >= self._level)

    def _instead(self, is_alone):
        return "abstain=None to answer every query"


def check_level(threshold, name: str = "threshold") -> float:
    """Check a threshold that is a number; None is -inf, which hides nothing."""
    if threshold is None:
        return -np.inf
    if not is_level(threshold):
        raise InputError(f"{name} must be a number or None, got {brief(threshold)}.")
    return float(threshold)
