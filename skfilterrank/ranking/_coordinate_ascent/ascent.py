"""One weight after the other, again and again: the loop, from one start."""

from dataclasses import dataclass, field

import numpy as np

from skfilterrank.ranking._coordinate_ascent.candidates import CandidateSearch
from skfilterrank.ranking._coordinate_ascent.columns import Columns, spread
from skfilterrank.ranking._coordinate_ascent.line_search import LineSearch
from skfilterrank.ranking._coordinate_ascent.objective import Objective

# The place of the threshold among the coordinates.
_THRESHOLD = -1


@dataclass
class Ascent:
    """Result of one start.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Weights.
    threshold : float or None
        Documents that score less are filtered.
    history : list of float
        The objective on the training data, at the start and after each sweep.
    held_out : list of list of float
        The same on each held-out set.
    n_kept : int
        The sweep whose weights these are; 0 is the start.
    """

    coef: np.ndarray
    threshold: float | None
    history: list = field(default_factory=list)
    held_out: list = field(default_factory=list)
    n_kept: int = 0

    @property
    def value(self) -> float:
        """Value that starts are compared by: of the held-out sets, else of the training data."""
        if self.held_out:
            return float(np.mean([values[self.n_kept] for values in self.held_out]))
        return self.history[self.n_kept]


@dataclass(frozen=True)
class Problem:
    """Data and settings that all starts share.

    Attributes
    ----------
    columns : Columns
        Features of the training rows.
    spreads : ndarray of shape (n_features,)
        Spread of each; 0 where it cannot change anything.
    queries : tuple
        Codes and sizes of the queries, where scores vary within queries; else empty.
    objective : Objective
        The measure on the training rows.
    search : LineSearch or CandidateSearch
        Finds the best value of one weight.
    held_out : list of (Columns, Objective)
        Held-out sets.
    max_iter, tol, patience
        Most sweeps, least gain of a sweep, and sweeps without a gain on held-out sets (or None).
    """

    columns: Columns
    spreads: np.ndarray
    queries: tuple
    objective: Objective
    search: LineSearch | CandidateSearch
    held_out: list
    max_iter: int
    tol: float
    patience: int | None

    def ascend(self, coef, threshold, rng, after_sweep) -> Ascent:
        """Optimize the weights and, where it is not None, the threshold."""
        ascent = Ascent(coef, threshold, held_out=[[] for _ in self.held_out])
        scores, value = self._record(ascent, coef, threshold)
        coordinates = np.flatnonzero(self.spreads)
        if threshold is not None:
            coordinates = np.append(coordinates, _THRESHOLD)
        coef = coef.copy()
        for sweep in range(1, self.max_iter + 1):
            for j in rng.permutation(coordinates):
                if j == _THRESHOLD:
                    candidate = self.objective.best_threshold(scores)
                    reached = self.objective(scores, candidate)
                    if reached > value:
                        threshold, value = candidate, reached
                    continue
                feature = self.columns[j]
                unit = (spread(scores, *self.queries) or 1.0) / self.spreads[j]
                t = self.search.best(scores, feature, threshold, unit)
                if t == 0:
                    continue
                moved = scores + t * feature
                reached = self.objective(moved, threshold)
                # The steps are exact but for the rounding of scores that nearly cross.
                if reached > value:
                    coef[j] += t
                    scores, value = moved, reached
            coef, threshold = self._rescaled(coef, threshold)
            scores, value = self._record(ascent, coef, threshold)
            after_sweep(self.objective.sign * value)
            if self._is_best(ascent):
                ascent.coef, ascent.threshold, ascent.n_kept = coef.copy(), threshold, sweep
            elif self.patience is not None and sweep - ascent.n_kept >= self.patience:
                break
            if ascent.history[-1] - ascent.history[-2] <= self.tol:
                break
        return ascent

    def _record(self, ascent, coef, threshold):
        """Compute scores anew, and note what they reach."""
        scores = self.columns.scores(coef)
        value = self.objective(scores, threshold)
        ascent.history.append(value)
        for values, (columns, objective) in zip(ascent.held_out, self.held_out):
            values.append(objective(columns.scores(coef), threshold))
        return scores, value

    def _is_best(self, ascent):
        """Whether the latest weights are to be kept; with early stopping, the best held out are."""
        if self.patience is None:
            return True
        means = np.mean(ascent.held_out, axis=0)
        return means[-1] > means[ascent.n_kept]

    def _rescaled(self, coef, threshold):
        """Bring the weights to a total from 1 to 2, by a power of 2, which changes no order."""
        total = np.abs(coef) @ self.spreads
        if total == 0 or not np.isfinite(total):
            return coef, threshold
        factor = 2.0 ** -np.floor(np.log2(total))
        return coef * factor, None if threshold is None else threshold * factor
