"""The measure of some scores, which is what is optimized and reported."""

from copy import copy

import numpy as np

from skfilterrank._groups import GroupIndex
from skfilterrank.metrics._core.lists import RankedLists
from skfilterrank.metrics._core.measure import ParsedMeasure
from skfilterrank.ranking._filtering.threshold import threshold_curve


class Objective:
    """Mean of a measure over queries, ties in ascending order of gain, undefined queries 0.

    Parameters
    ----------
    gains : ndarray of shape (n_rows,)
        Gains of the documents, NaN where unjudged.
    index : GroupIndex
        Their queries.
    parsed : ParsedMeasure
        The measure.
    """

    def __init__(self, gains, index: GroupIndex, parsed: ParsedMeasure):
        self.parsed = parsed
        self.gains = gains
        self.index = index
        self._lists = RankedLists(gains, np.zeros(len(gains)), groups=index, ties="worst")
        self._kernel = parsed.measure.bind(parsed.k, parsed.options)
        # Negative where lower values of the measure are better.
        self.sign = 1.0 if parsed.measure.greater_is_better else -1.0

    @property
    def has_pair(self) -> bool:
        """Whether some query has two different gains."""
        codes = self.index.codes()
        highest = np.full(self.index.n_queries, -np.inf)
        np.maximum.at(highest, codes, self.gains)
        return bool((self.gains != highest[codes]).any())

    def measure(self, scores, threshold: float | None = None) -> float:
        """The mean; documents that score below the threshold are filtered."""
        lists = copy(self._lists)
        lists.scores = scores
        if threshold is not None:
            lists.scores = np.where(scores >= threshold, scores, -np.inf)
            lists.has_filtered = True
        return float(np.nan_to_num(lists.per_query(self._kernel), nan=0.0).mean())

    def __call__(self, scores, threshold: float | None = None) -> float:
        """The mean, with its sign turned so that higher is better."""
        return self.sign * self.measure(scores, threshold)

    def best_threshold(self, scores) -> float:
        """The threshold of the highest mean, finite also where all or nothing is best shown."""
        measure, k, _ = self.parsed
        curve = threshold_curve(self.gains, scores, groups=self.index, k=k, measure=measure.name)
        if np.isfinite(curve.best_threshold):
            return curve.best_threshold
        margin = np.ptp(scores) or 1.0
        return scores.max() + margin if curve.best_threshold > 0 else scores.min() - margin
