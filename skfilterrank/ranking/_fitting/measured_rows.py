"""A measure of rows that stay, while their scores change."""

import numpy as np

from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex


class MeasuredRows:
    """Rows, and what they are measured by.

    Parameters
    ----------
    parsed : ParsedMeasure
        The measure.
    gains : ndarray of shape (n_rows,)
        Gains of the documents, NaN where unjudged.
    index : GroupIndex
        Their queries.
    ties : str or None, default=None
        How rows of equal scores are ordered; None takes the measure's own default.
    """

    def __init__(self, parsed: ParsedMeasure, gains, index: GroupIndex, ties: str | None = None):
        self.parsed, self.gains, self.index = parsed, gains, index
        # Negative where lower values of the measure are better.
        self.sign = 1.0 if parsed.measure.greater_is_better else -1.0
        self._kernel = parsed.measure.bind(parsed.k, parsed.options)
        ties = ties or parsed.measure.ties[0]
        self._lists = RankedLists(gains, np.zeros(len(gains)), groups=index, ties=ties)

    def per_query(self, scores, threshold: float | None = None) -> np.ndarray:
        """One value per query, NaN where undefined; what scores below the threshold is filtered."""
        return self._lists.with_scores(scores, threshold).per_query(self._kernel)

    def mean(self, scores, threshold: float | None = None) -> float:
        """Mean over queries; those for which the measure is undefined count 0."""
        return float(np.nan_to_num(self.per_query(scores, threshold), nan=0.0).mean())

    def __call__(self, scores, threshold: float | None = None) -> float:
        """The mean, with its sign turned so that higher is better."""
        return self.sign * self.mean(scores, threshold)
