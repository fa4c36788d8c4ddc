"""The distribution RankBoost keeps over pairs of documents, without the pairs.

Freund, Iyer, Schapire, Singer, "An Efficient Boosting Algorithm for Combining Preferences", JMLR
2003, sections 3.2 and 3.3.
"""

import numpy as np
from scipy.special import logsumexp

PAIR_WEIGHTS = ("equal", "query", "gain")


class PairDistribution:
    """Weights ``D(i, k) ~ D_0(i, k) * exp(s_k - s_i)`` of pairs in which i has the higher gain.

    The weight of a pair is a factor of i times a factor of k, so that sums over all worse (better)
    documents of a query are running sums over its gains: the work is linear in the documents. Sums
    are kept as logarithms, which no score is too far out for.

    Parameters
    ----------
    gains, queries : ndarray of shape (n_rows,)
        Sorted by query and then gain; every query has two different gains.
    weights : {"equal", "query", "gain"}
        D_0: all pairs alike; each query's pairs alike and all queries alike; or by the difference
        of the gains.
    """

    def __init__(self, gains, queries, weights):
        new_query = np.append(True, queries[1:] != queries[:-1])
        new_cell = new_query | np.append(True, gains[1:] != gains[:-1])
        # A cell holds a query's documents of one gain.
        self._starts = np.flatnonzero(new_cell)
        self._cell = np.cumsum(new_cell) - 1
        query = np.cumsum(new_query)[self._starts] - 1
        first = np.flatnonzero(new_query[self._starts])
        n_cells = len(self._starts)
        self._level = np.arange(n_cells) - first[query]
        n_levels = np.diff(first, append=n_cells)
        # The same counted from the highest gain down.
        self._level_down = (n_levels[query] - 1 - self._level)[::-1]
        self._step = None
        if weights == "gain":
            cell_gains = gains[self._starts]
            with np.errstate(divide="ignore"):
                step = np.log(np.diff(cell_gains, prepend=cell_gains[0]).clip(min=0.0))
            self._step = np.where(self._level > 0, step, -np.inf)
        # Logarithm of the number of pairs of each document with worse ones, weights included.
        worse, _ = self._log_sums(np.zeros(len(gains)))
        self._log_scale = np.zeros(n_cells)
        if weights == "query":
            per_row = worse[self._cell]
            starts = np.flatnonzero(new_query)
            n_pairs = np.add.reduceat(np.exp(per_row), starts)
            self._log_scale = -np.log(n_pairs)[query]
        self._log_total = logsumexp((worse + self._log_scale)[self._cell])

    def potential(self, scores) -> tuple[np.ndarray, float]:
        """Each document's weight as the better of pairs less that as the worse, and the loss.

        The loss is the mean of ``exp(s_k - s_i)`` under D_0, of which D is the share of each pair.
        """
        worse, better = self._log_sums(scores)
        as_better = (worse + self._log_scale)[self._cell] - scores
        as_worse = (better + self._log_scale)[self._cell] + scores
        highest = as_better.max()
        as_better = np.exp(as_better - highest)
        total = as_better.sum()
        as_worse = np.exp(as_worse - highest)
        return (as_better - as_worse) / total, float(
            np.exp(highest + np.log(total) - self._log_total)
        )

    def _log_sums(self, scores):
        """Of each cell, log of the sums of exp(s) below and of exp(-s) above, as pairs weigh."""
        below = self._sums_below(self._of_cells(scores), self._level, self._step)
        step = None
        if self._step is not None:
            # Downwards the step to a cell is the one from it upwards.
            step = np.append(-np.inf, self._step[::-1][:-1])
            step = np.where(self._level_down > 0, step, -np.inf)
        above = self._sums_below(self._of_cells(-scores)[::-1], self._level_down, step)
        return below, above[::-1]

    def _of_cells(self, scores):
        """Log of the sum of exp(scores) of each cell."""
        highest = np.maximum.reduceat(scores, self._starts)
        return highest + np.log(np.add.reduceat(np.exp(scores - highest[self._cell]), self._starts))

    def _sums_below(self, values, level, step):
        """Log sums over the cells of lower level, weighted by the difference of the gains if so."""
        running = _running_log_sums(values, level)
        below = np.append(-np.inf, running[:-1])
        below[level == 0] = -np.inf
        if step is None:
            return below
        # sum (g - g_k) e_k over lower k = the steps from gain to gain, each times all e below it.
        return _running_log_sums(below + step, level)


def _running_log_sums(values, level):
    """Log of running sums of exp(values) over the levels of each query, in log2(levels) passes."""
    total = values.copy()
    reach = 1
    while reach <= level.max():
        inside = np.flatnonzero(level >= reach)
        total[inside] = np.logaddexp(total[inside], total[inside - reach])
        reach *= 2
    return total
