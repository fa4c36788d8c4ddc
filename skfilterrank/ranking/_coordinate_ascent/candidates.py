"""A line search for measures that are no sums: a number of points between crossings is tried."""

import numpy as np

from skfilterrank._lists.additive import Additive
from skfilterrank.ranking._coordinate_ascent.line_search import (
    LineSearch,
    between,
    count_crossings,
)

# Crossings that are enough to tell where they lie.
_ENOUGH = 1 << 20


class CandidateSearch:
    """Tries quantiles of all crossings, then quantiles between the neighbours of the best.

    Parameters
    ----------
    objective : Objective
        The measure.
    n_candidates : int
        How many points are tried each time.
    penalty : float, default=0.0
        What a step must gain for each unit of its length.
    max_crossings : int or None, default=None
        Where there are more crossings for each row, on average, some documents stand for all.
    """

    def __init__(
        self, objective, n_candidates: int, penalty: float = 0.0, max_crossings: int | None = None
    ):
        self._objective = objective
        self._n_candidates, self._penalty = n_candidates, penalty
        # A dummy measure: its steps are all crossings of documents whose gain is not 0.
        every = Additive(
            weights=(objective.gains != 0).astype(np.float64),
            worth=lambda place, level, query: place.astype(np.float64),
        )
        n_crossings = count_crossings(every, objective.index)
        if max_crossings is not None and n_crossings > max_crossings * len(objective.gains):
            # Every so-maniest in the order of queries and gains: a share of each gain of each.
            order = np.lexsort((objective.gains, objective.index.codes()))
            counted = order[every.weights[order] != 0]
            some = counted[:: -(-n_crossings // _ENOUGH)]
            every.weights[:] = 0.0
            every.weights[some] = 1.0
        self._search = LineSearch(every, objective.gains, objective.index)

    def best(self, scores, feature, threshold, unit: float) -> float:
        """The t that is best of those tried; 0 where none is better than now."""
        times = self._search.steps(scores, feature, threshold).times
        best_t, best_value = 0.0, self._objective(scores, threshold)
        first, last = 0, len(times)
        if not last:
            return best_t
        for _ in range(2):
            tried = np.unique(np.linspace(first, last, self._n_candidates).round().astype(int))
            values = np.empty(len(tried))
            for i, position in enumerate(tried):
                t = between(times, position, unit)
                values[i] = self._objective(scores + t * feature, threshold)
                values[i] -= self._penalty * abs(t) / unit
                if values[i] > best_value:
                    best_t, best_value = t, values[i]
            best = int(values.argmax())
            first, last = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
        return best_t
