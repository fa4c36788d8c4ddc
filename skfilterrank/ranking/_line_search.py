"""Exact line search: the value of a measure as a function of one weight.

Along one weight t, document i scores ``a_i + t * x_i``. Its place changes only where its score
crosses that of another document of its query, at ``t = (a_i - a_l) / (x_l - x_i)``, so the measure
is a step function of t. The crossings of each document are sorted once. Running sums give its place
and level between two neighbouring crossings, and so the change of the measure at each crossing.
Sorted and added up, the changes of all queries give the measure on every interval of t.
"""

from typing import NamedTuple

import numpy as np

from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._lists.additive import Additive
from skfilterrank._lists.lists import argsort_floats
from skfilterrank._lists.queries import GroupIndex

# Cells of a block of queries, and of a matrix of crossings, that stay in the cache.
_BLOCK_CELLS = 1 << 13
_CROSSING_CELLS = 1 << 17
# The two lowest bits of a crossing encode what crosses, and the direction.
_UP, _SPECIAL = 1, 2
_LARGEST = 1e300
# Length of an interval, relative to t, below which rounding makes its value unreliable.
_SHORTEST = 1e-10
# Largest average number of crossings per row that are all computed.
_MOST_PER_ROW = 1000
# Number of points in each of two rounds.
_N_CANDIDATES = 16
# Number of crossings that suffices to estimate their distribution.
_ENOUGH = 1 << 20


class LineSteps(NamedTuple):
    """A step function of t: it rises by `changes[i]` at `times[i]`, ascending."""

    times: np.ndarray
    changes: np.ndarray


class _Block(NamedTuple):
    """Padded matrices of some queries, lowest gains first, and the documents that count."""

    rows: np.ndarray
    queries: np.ndarray
    owner: np.ndarray
    column: np.ndarray


def count_crossings(terms: Additive, index: GroupIndex) -> int:
    """Count the crossings that are computed for one weight."""
    counts = np.bincount(index.codes(), terms.weights != 0, minlength=index.n_queries)
    return int((counts * index.sizes).sum())


def has_many_crossings(terms: Additive, index: GroupIndex) -> bool:
    """Tell if there are too many crossings to compute all of them."""
    return count_crossings(terms, index) > _MOST_PER_ROW * len(terms.weights)


class LineSearch:
    """Finds the best value of one weight while the other weights are fixed.

    Parameters
    ----------
    terms : Additive
        The measure.
    gains : ndarray of shape (n_rows,)
        Gains of the documents.
    index : GroupIndex
        Their queries.
    sign : float, default=1.0
        -1 where lower values of the measure are better.
    penalty : float, default=0.0
        Least increase of the measure for each unit by which the weight changes.

    Notes
    -----
    Documents that are equal in score and in the feature never cross: they count in ascending order
    of gain, as ``ties="worst"`` does. If documents are equal only at t = 0, the value next to t = 0
    is used: if the measure is the same on both sides, there is no step, and the search stays at t =
    0, although ``ties="worst"`` would give a lower value there.
    """

    def __init__(
        self, terms: Additive, gains, index: GroupIndex, sign: float = 1.0, penalty: float = 0.0
    ):
        self.terms = terms
        self.n_queries = index.n_queries
        self._sign, self._penalty = sign, penalty
        # Padding cells refer to the entry after the last row.
        self._weights = np.append(terms.weights, 0.0)
        self._relevant = np.append(gains > 0, False)
        order = np.lexsort((gains, index.codes()))
        starts = np.cumsum(index.sizes) - index.sizes
        self._blocks = list(self._lay_out(index, order, starts))

    def _lay_out(self, index, order, starts):
        """Yield blocks of the queries, with the documents that add to the measure."""
        for block in index.blocks(_BLOCK_CELLS):
            places = starts[block.queries][:, None] + np.arange(block.width)
            is_row = np.arange(block.width) < block.sizes[:, None]
            rows = np.where(is_row, order[np.minimum(places, len(order) - 1)], -1)
            owner, column = np.nonzero(self._weights.take(rows, mode="wrap") != 0)
            if len(owner):
                yield _Block(rows, block.queries, owner, column)

    def steps(self, scores, feature, threshold: float | None = None) -> LineSteps:
        """Compute the mean over queries as a function of t, up to a constant; higher is better.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores at t = 0.
        feature : ndarray of shape (n_rows,)
            The feature whose weight is t.
        threshold : float or None
            Documents with lower scores are hidden. Only for terms without levels.
        """
        scores, feature = np.append(scores, 0.0), np.append(feature, np.nan)
        parts = [
            part
            for block in self._blocks
            for part in self._block_changes(block, scores, feature, threshold)
        ]
        if not parts:
            return LineSteps(np.empty(0), np.empty(0))
        times, changes, queries, owners, first = map(np.concatenate, zip(*parts))
        if self.terms.finish is not None:
            values = self.terms.offset + np.bincount(owners, first, minlength=self.n_queries)
            order = np.lexsort((times, queries))
            times, changes, queries = times[order], changes[order], queries[order]
            changes = _finished(changes, queries, values, self.terms.finish)
        order = argsort_floats(times)
        return LineSteps(times[order], changes[order] * (self._sign / self.n_queries))

    def best(self, scores, feature, threshold, unit: float) -> float:
        """Find the best t, or 0 if t = 0 is as good; `unit` is a typical step length."""
        return best_time(self.steps(scores, feature, threshold), unit, self._penalty)

    def _block_changes(self, block, scores, feature, threshold):
        """Yield the results of `_changes` for the documents of a block, part by part."""
        a, x = scores[block.rows], feature[block.rows]
        varies = np.fmax.reduce(x, axis=1) > np.fmin.reduce(x, axis=1)
        if threshold is not None:
            varies |= ((x != 0) & ~np.isnan(x)).any(axis=1)
            # The threshold is an additional document whose score does not depend on t.
            a = np.column_stack([a, np.full(len(a), threshold)])
            x = np.column_stack([x, np.zeros(len(x))])
        marks = self._relevant[block.rows] if self.terms.uses_levels else None
        owner, column = block.owner, block.column
        if not varies.all():
            kept = varies[owner]
            owner, column = owner[kept], column[kept]
        size = max(1, _CROSSING_CELLS // a.shape[1])
        for begin in range(0, len(owner), size):
            part = slice(begin, begin + size)
            whose = owner[part], column[part]
            crossings = _crossings(a, x, *whose, marks, has_threshold=threshold is not None)
            weights = self._weights[block.rows[whose]]
            yield self._changes(crossings, weights, block.queries[owner[part]])

    def _changes(self, crossings, weights, queries):
        """Compute the changes of documents' terms at crossings.

        A term is what a document adds to the measure. Return the times, changes and queries of
        crossings that change a term; then the query and the first term of each document.
        """
        times, moves, is_special, place, level, shown = crossings
        levels = None
        if shown is not None:
            shown = _running(shown, np.where(is_special, -moves, 0))
            moves = np.where(is_special, 0, moves)
        if level is not None:
            levels = _running(level, moves * is_special)
        values = self.terms.worth(_running(place, moves), levels, queries[:, None])
        if shown is not None:
            values *= shown
        values *= weights[:, None]
        changes = np.diff(values, axis=1)
        first = values[:, 0]
        some = np.flatnonzero(changes)
        at = queries[some // changes.shape[1]]
        return times.take(some), changes.take(some), at, queries, first


def _crossings(a, x, owner, column, marks, *, has_threshold):
    """Find the values of t at which other documents cross a document; one row for each document.

    Return the times (ascending, NaN after the last), the change of the document's place at each (1,
    -1 or 0), and whether the crossing one is special (a marked document, or the threshold). Then
    return the document's place, level and whether it is shown, at t = -inf.
    """
    rise = x.take(owner, axis=0)
    rise -= x[owner, column][:, None]
    lead = np.subtract(a[owner, column][:, None], a.take(owner, axis=0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        times = lead / rise
    np.clip(times, -_LARGEST, _LARGEST, out=times)
    never = rise == 0
    np.copyto(times, np.nan, where=never)
    # For t near -inf, the document of the smaller slope ranks first. Equal slopes never cross:
    # the higher intercept ranks first, and of equal documents the lower gain (the lower column).
    above = never & ((lead < 0) | ((lead == 0) & (np.arange(a.shape[1]) < column[:, None])))
    above |= rise < 0
    bits = times.view(np.int64)
    bits &= ~np.int64(_UP | _SPECIAL)
    bits |= rise > 0
    level = shown = None
    if marks is not None:
        marks = marks.take(owner, axis=0)
        bits |= marks.astype(np.int64) << 1
        level = 1 + np.count_nonzero(above & marks, axis=1)
    if has_threshold:
        bits[:, -1] |= _SPECIAL
        shown = ~above[:, -1]
        above = above[:, :-1]
    place = 1 + np.count_nonzero(above, axis=1)
    times.sort(axis=1)
    # Sorting the times has sorted their lowest bits too.
    bits = times.view(np.int64)
    moves = ((bits & _UP) << 1).astype(np.int32)
    moves -= 1
    moves[np.isnan(times)] = 0
    return times, moves, (bits & _SPECIAL) != 0, place, level, shown


def _running(first, moves):
    """Return `first`, and its value after each of the moves."""
    result = np.empty((len(moves), moves.shape[1] + 1), dtype=np.int32)
    result[:, 0] = first
    result[:, 1:] = moves
    return np.cumsum(result, axis=1, out=result)


def _finished(changes, queries, first, finish):
    """Compute changes of ``finish(value)`` from changes of the values, in order of time."""
    if not len(changes):
        return changes
    is_first = np.append(True, queries[1:] != queries[:-1])
    total = np.cumsum(changes)
    # Sum of the changes of all earlier queries.
    before = (total - changes)[is_first][np.cumsum(is_first) - 1]
    after = finish(first[queries] + total - before, queries)
    previous = np.append(0.0, after[:-1])
    previous[is_first] = finish(first[queries[is_first]], queries[is_first])
    return after - previous


def best_time(steps: LineSteps, unit: float, penalty: float = 0.0) -> float:
    """Find the t with the highest value; among several, the one nearest to the current t = 0.

    The value of an interval is reduced by `penalty` for each `unit` of its distance from 0.
    Intervals that are too short for the rounding of scores are left out.
    """
    times = steps.times
    if not len(times):
        return 0.0
    lower, upper = np.append(-np.inf, times), np.append(times, np.inf)
    # Documents with equal scores now cross at t = 0, up to the bits that were set in the times.
    here = _SHORTEST * unit
    is_here = (lower < -here) & (upper > here)
    values = np.append(0.0, np.cumsum(steps.changes))
    if penalty:
        points = between(times, np.arange(len(values)), unit)
        with np.errstate(over="ignore"):
            values -= penalty * (np.abs(np.where(is_here, 0.0, points)) / unit)
    size = np.abs(times)
    short = np.diff(times) <= _SHORTEST * (np.maximum(size[1:], size[:-1]) + unit)
    values[1:-1][short] = -np.inf
    highest = values.max()
    best = np.flatnonzero(values >= highest - ROUNDING_OF_MEANS * max(1.0, abs(highest)))
    nearest = best[np.maximum(lower, -upper)[best].argmin()]
    return 0.0 if is_here[nearest] else float(between(times, nearest, unit))


def between(times, position, unit: float):
    """Find the middle between the steps around each position, or `unit` beyond the outermost."""
    last = len(times) - 1
    left, right = times[np.maximum(position - 1, 0)], times[np.minimum(position, last)]
    # At either end, `left` and `right` are both the outermost step.
    beyond = np.where(position == 0, -unit, np.where(position > last, unit, 0.0))
    return left / 2 + right / 2 + beyond


class CandidateSearch:
    """Tries quantiles of all crossings, then quantiles between the neighbours of the best.

    Parameters
    ----------
    objective : Objective
        The measure.
    penalty : float, default=0.0
        Least increase of the measure for each unit by which the weight changes.
    """

    def __init__(self, objective, penalty: float = 0.0):
        self._objective, self._penalty = objective, penalty
        # A dummy measure: its steps are all crossings of documents whose gain is not 0.
        every = Additive(
            weights=(objective.gains != 0).astype(np.float64),
            worth=lambda place, level, query: place.astype(np.float64),
        )
        if has_many_crossings(every, objective.index):
            # The sample is evenly spaced in the order of queries and gains, so it has each gain in
            # proportion.
            order = np.lexsort((objective.gains, objective.index.codes()))
            counted = order[every.weights[order] != 0]
            some = counted[:: -(-count_crossings(every, objective.index) // _ENOUGH)]
            every.weights[:] = 0.0
            every.weights[some] = 1.0
        self._search = LineSearch(every, objective.gains, objective.index)

    def best(self, scores, feature, threshold, unit: float) -> float:
        """Find the best t of the candidates, or 0 if none is an improvement."""
        times = self._search.steps(scores, feature, threshold).times
        best_t, best_value = 0.0, self._objective(scores, threshold)
        first, last = 0, len(times)
        if not last:
            return best_t
        for _ in range(2):
            tried = np.unique(np.linspace(first, last, _N_CANDIDATES).round().astype(int))
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
