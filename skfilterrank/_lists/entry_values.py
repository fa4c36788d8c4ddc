"""Values of each list as its rows enter in falling order of a key."""

from collections.abc import Iterable

import numpy as np

from skfilterrank._base.checks import cached_property
from skfilterrank._base.rounding import last_of_highest, midpoint
from skfilterrank._lists.entry_steps import Changes, Entries, changes_of_measure
from skfilterrank._lists.lists import RankedLists, argsort_floats
from skfilterrank._lists.measure import ParsedMeasure

# Chunk size that fits the cache.
_SUMMED_AT_ONCE = 1 << 14


class EntryValues:
    """Values of a measure at every level; a level shows the rows with keys at or above it.

    Levels fall from +inf, which shows only rows of key +inf, to -inf, which shows all rows but
    those of key -inf. Higher values are better: those of other measures are negated.

    Attributes
    ----------
    n_queries : int
        Number of queries.
    weights : ndarray of shape (n_queries,) or None
        Weight of each query in means; None for equal weights.
    sum_of_start : tuple of two floats
        Sum of the values before any row has entered, and number of queries that have one; both
        weighted.
    unsorted : tuple of two ndarrays
        Key and change of each step, in any order.
    always_defined : bool
        Whether no query gets or loses its value at a level.
    """

    def __init__(self, parts: Iterable[Changes], entries: Entries, sign: float = 1.0):
        lists, row_keys = entries.lists, entries.row_keys
        self._index, self.weights = lists.index, lists.weights
        self.n_queries = self._index.n_queries
        self._row_keys = lists.scores if row_keys is None else row_keys
        self._start = np.empty(self.n_queries)
        self.always_defined = True
        total, n_defined = 0.0, 0.0
        keys, changes, counts = [], [], []
        self._queries = []
        for part in parts:
            start, weights = sign * part.start, None
            self._start[part.queries] = start
            if self.weights is not None:
                weights = self.weights[part.queries]
            total += float(np.nansum(start if weights is None else start * weights))
            is_defined = ~np.isnan(start)
            n_defined += float(
                is_defined.sum() if weights is None else weights.sum(where=is_defined)
            )
            is_step = part.changes != 0
            if part.counts is not None:
                is_step |= part.counts != 0
                self.always_defined = False
            keys.append(-part.keys[is_step])
            changes.append(sign * part.changes[is_step])
            n_steps = len(changes[-1])
            counts.append(np.zeros(n_steps) if part.counts is None else part.counts[is_step])
            self._queries.append((part.queries, np.count_nonzero(is_step, axis=1)))
        self.sum_of_start = total, n_defined
        every_key = np.concatenate(keys).astype(np.float64, copy=False)
        self.unsorted = entries.keys_of(every_key), np.concatenate(changes)
        self._counts = None if self.always_defined else np.concatenate(counts)

    @classmethod
    def of(
        cls,
        lists: RankedLists,
        parsed: ParsedMeasure,
        keys=None,
        undefined=0.0,
        *,
        most: int | None = None,
    ) -> "EntryValues":
        """Compute a measure of each list as rows enter in falling order of keys.

        Parameters
        ----------
        lists : RankedLists
            The lists, by their own rule for ties and the weights of their queries.
        parsed : ParsedMeasure
            The measure.
        keys : ndarray of shape (n_rows,) or None
            Key of each row; None means the scores. If keys never rise down a list, rows enter at
            its end, and keys order rows of equal scores. Otherwise rows enter at their place in the
            list.
        undefined : float or "drop", default=0.0
            Value of a query for which the measure is undefined.
        most : int or None
            Largest number of shown documents of each list: the first of the rows that have entered.
        """
        entries = Entries.of(lists, keys, of_set=parsed.is_of_set, most=most)
        return cls(changes_of_measure(entries, parsed, undefined), entries, parsed.measure.sign)

    @cached_property
    def _steps(self):
        """Keys of the steps, falling, with their queries, changes and counts."""
        keys, changes = self.unsorted
        order = argsort_floats(-keys)
        queries = np.concatenate([np.repeat(*each) for each in self._queries]).take(order)
        counts = None if self._counts is None else self._counts.take(order)
        return keys.take(order), queries, changes.take(order), counts

    def at(self, level: float) -> np.ndarray:
        """Return the value of each query when rows with keys of at least `level` are shown."""
        keys, queries, changes, counts = self._steps
        entered = slice(np.count_nonzero(keys >= level))
        values = np.nan_to_num(self._start)
        np.add.at(values, queries[entered], changes[entered])
        n_defined = (~np.isnan(self._start)).astype(np.float64)
        if counts is not None:
            np.add.at(n_defined, queries[entered], counts[entered])
        values[n_defined == 0] = np.nan
        return values

    def curve(self, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Average the values at every level.

        Parameters
        ----------
        among : ndarray of shape (n_queries,), bool, or None
            The queries that count; None means all.

        Returns
        -------
        levels : ndarray of shape (n_levels,), float64
            Falling levels: +inf, which shows only rows of key +inf, and the keys of the steps.
        means : ndarray of shape (n_levels,), float64
            Mean over the queries that have a value; NaN where none has.
        """
        return self._whole_curve if among is None else self._curve(among)

    @cached_property
    def _whole_curve(self):
        return self._curve(None)

    def _curve(self, among):
        keys, sums, counts = self._running(among)
        with np.errstate(invalid="ignore"):
            # The mean is NaN where all queries are left out.
            means = np.divide(sums, counts)
        levels = np.append(np.inf, keys)
        is_last = np.append(levels[1:] != levels[:-1], True)
        return levels[is_last], means[is_last]

    def best(self, among: np.ndarray | None = None, curve=None) -> tuple[float, float]:
        """Find the best level and its mean value; of equally good levels, the lowest.

        Parameters
        ----------
        among : ndarray of shape (n_queries,), bool, or None
            The queries that count; None means all.
        curve : tuple of two ndarrays, or None
            Result of `curve` for these queries; None computes it.

        Returns
        -------
        level : float
            The middle between the lowest key to show and the next lower key of the rows of these
            queries; -inf if showing all rows is best, +inf if showing none is.
        value : float
            The highest mean.
        """
        levels, means = self.curve(among) if curve is None else curve
        place = last_of_highest(np.where(np.isnan(means), -np.inf, means))
        value = float(means[place])
        if place == len(levels) - 1:
            return -np.inf, value
        lower = levels[place + 1]
        return midpoint(self._counted_keys(among, lower, levels[place]), lower), value

    def _running(self, among):
        """Compute the keys of steps, and sums of values and of queries at each step."""
        keys, queries, changes, counts = self._steps
        (start, n_queries), weights = self.sum_of_start, self.weights
        if among is not None:
            weights = among.astype(np.float64) if weights is None else weights * among
            start = float(np.nansum(self._start * weights))
            n_queries = float(weights.sum(where=~np.isnan(self._start)))
        if weights is not None and self.weights is None:
            steps = np.flatnonzero(among.astype(bool).take(queries))
            keys, changes = keys.take(steps), changes.take(steps)
            counts = None if counts is None else counts.take(steps)
        elif weights is not None:
            weights = weights.take(queries)
            changes = changes * weights
            is_step = changes != 0
            if counts is not None:
                counts = counts * weights
                is_step |= counts != 0
            if not is_step.all():
                keys, changes = keys[is_step], changes[is_step]
                counts = None if counts is None else counts[is_step]
        sums = _running_sums(changes, start)
        return keys, sums, n_queries if counts is None else _running_sums(counts, n_queries)

    @cached_property
    def _codes(self):
        return self._index.codes()

    def _counted_keys(self, among, lower=-np.inf, upper=np.inf):
        """Return the keys of these queries' rows in an interval that excludes its lower end."""
        keys = self._row_keys
        counted = np.ones(self.n_queries, dtype=bool) if among is None else among.astype(bool)
        if self.weights is not None:
            counted = counted & (self.weights > 0)
        rows = np.flatnonzero((keys > lower) & (keys <= upper))
        if not counted.all():
            rows = rows[counted.take(self._codes[rows])]
        return keys[rows]


def _running_sums(changes, start):
    """Add up changes in longdouble, and round each sum once."""
    sums = np.full(len(changes) + 1, start, dtype=changes.dtype)
    above = np.longdouble(start)
    for begin in range(0, len(changes), _SUMMED_AT_ONCE):
        running = changes[begin : begin + _SUMMED_AT_ONCE].astype(np.longdouble)
        running[0] += above
        np.cumsum(running, out=running)
        sums[begin + 1 : begin + 1 + len(running)] = running
        above = running[-1]
    return sums
