"""Values of each list as its rows enter in falling order of a key."""

from collections.abc import Iterable

import numpy as np

from skfilterrank._lists.checks import cached_property
from skfilterrank._lists.entry_steps import (
    Changes,
    Entries,
    bind_of_set,
    changes_of_measure,
)
from skfilterrank._lists.lists import RankedLists, argsort_floats
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.ties import first_of_highest, midpoint

# Chunk size that fits the cache.
_SUMMED_AT_ONCE = 1 << 14


class EntryValues:
    """Values of a measure at every level; a level shows the rows with keys at or above it.

    Rows enter in descending order of their keys. Rows of key -inf never enter; rows of key +inf are
    shown at every level.

    Attributes
    ----------
    n_queries : int
        Number of queries.
    weights : ndarray of shape (n_queries,) or None
        Weight of each query in means; None for equal weights.
    greater_is_better : bool
        Whether higher values are better.
    """

    def __init__(
        self,
        parts: Iterable[Changes],
        entries: Entries,
        greater_is_better: bool,
    ):
        lists = entries.lists
        self.n_queries, self.weights = lists.index.n_queries, lists.weights
        self.greater_is_better = greater_is_better
        self._index, self._scores = lists.index, lists.scores
        self._row_keys = entries.row_keys
        self._whole_curve: tuple[np.ndarray, np.ndarray] | None = None
        self._nothing = np.empty(self.n_queries)
        self._sum, self._count = 0.0, 0
        numbers, changes, values = [], [], []
        scores: list[np.ndarray] = []
        counts: dict[int, np.ndarray] = {}
        for part in parts:
            self._nothing[part.queries] = part.start
            self._add_to_start(part)
            is_step = part.changes != 0 if part.is_step is None else part.is_step
            if part.counts is not None:
                is_step |= part.counts != 0
                counts[len(scores)] = part.counts[is_step]
            numbers.append((part.queries, np.count_nonzero(is_step, axis=1)))
            scores.append(-part.keys[is_step])
            changes.append(part.changes[is_step])
            if part.values is not None:
                values.append(part.values[is_step])
        self._counts = None
        if counts:
            zeros = [counts.get(i, np.zeros(len(part))) for i, part in enumerate(scores)]
            self._counts = np.concatenate(zeros)
        every_score = np.concatenate(scores).astype(np.float64, copy=False)
        self._changes = np.concatenate(changes)
        self._numbers, self._values = numbers, None
        if values:
            self._values = np.concatenate(values)
            every_score = self._joined(entries.keys_of(every_score))
        self._entries, self._every_score = entries, every_score

    def _add_to_start(self, part):
        """Sum values and numbers of queries before any row has entered."""
        start, weights = part.start, self.weights
        if weights is None:
            self._count += np.count_nonzero(~np.isnan(start))
        else:
            weights = weights[part.queries]
            self._count += float(weights.sum(where=~np.isnan(start)))
            start = start * weights
        self._sum += float(np.nansum(start))

    def _joined(self, keys):
        """Merge a query's steps at equal keys: keep the last, with the sum of the changes."""
        queries = np.concatenate([np.repeat(*part) for part in self._numbers])
        is_last = (keys[1:] != keys[:-1]) | (queries[1:] != queries[:-1])
        is_last = np.append(is_last, True)[: len(keys)]
        if is_last.all():
            return keys
        number = np.append(0, np.cumsum(is_last)[:-1])
        self._changes = np.bincount(number, self._changes)
        self._values = self._values[is_last]
        self._numbers = [(queries[is_last], np.ones(np.count_nonzero(is_last), dtype=np.intp))]
        return keys[is_last]

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
        entries = Entries.of(lists, keys, of_set=bind_of_set(parsed) is not None, most=most)
        parts = changes_of_measure(entries, parsed, undefined)
        return cls(parts, entries, parsed.measure.greater_is_better)

    @cached_property
    def _order(self):
        if self._values is None:
            return argsort_floats(self._every_score)[::-1]
        # Steps of a query at one key are merged, so their order does not matter.
        return argsort_floats(-self._every_score)

    @cached_property
    def _keys(self):
        keys = self._every_score.take(self._order, mode="clip")
        return keys if self._values is not None else self._entries.keys_of(keys)

    @cached_property
    def _n_always(self):
        if self._row_keys is None:
            return 0
        return int(np.searchsorted(-self._keys, -np.inf, side="right"))

    @cached_property
    def start(self) -> np.ndarray:
        """Value of each query before any row has entered; NaN for queries that are left out."""
        if not self._n_always:
            return self._nothing.copy()
        return self._after(self._n_always)

    @property
    def sum_of_start(self) -> tuple[float, float]:
        """Sum of `start`, and number of defined queries; both weighted."""
        return self._sum, self._count

    @property
    def unsorted(self) -> tuple[np.ndarray, np.ndarray]:
        """Key and change of each step in any order; only if the keys are the scores."""
        return self._every_score, self._changes

    @property
    def keys(self) -> np.ndarray:
        """Key of each step, descending; float64."""
        return self._keys[self._n_always :]

    @property
    def queries(self) -> np.ndarray:
        """Number of the query of each step."""
        return self._step_queries[self._n_always :]

    @property
    def changes(self) -> np.ndarray:
        """Change of the query's value by each step; an undefined value counts as 0."""
        return self._step_changes[self._n_always :]

    @property
    def counts(self) -> np.ndarray | None:
        """1 where a query becomes defined, -1 where undefined; None if neither occurs."""
        return None if self._counts is None else self._step_counts[self._n_always :]

    @property
    def values(self) -> np.ndarray:
        """Value of the step's query after the step; NaN for queries that are left out."""
        return self._step_values[self._n_always :]

    @cached_property
    def _step_queries(self):
        numbers, times = zip(*self._numbers)
        return np.repeat(np.concatenate(numbers), np.concatenate(times)).take(self._order)

    @cached_property
    def _step_changes(self):
        return self._changes.take(self._order)

    @cached_property
    def _step_counts(self):
        return self._counts.take(self._order)

    @cached_property
    def _step_values(self):
        if self._values is not None:
            return self._values.take(self._order)
        queries = self._step_queries
        order, place = _numbered(queries, self.n_queries)
        running = np.nan_to_num(self._nothing)
        counted = (~np.isnan(self._nothing)).astype(np.float64)
        values = np.empty(len(queries))
        ends = np.cumsum(np.bincount(place)) if len(place) else []
        begin = 0
        # Running sums of each query separately: the loop is over the step number within queries.
        for end in ends:
            steps = order[begin:end]
            these = queries[steps]
            running[these] += self._step_changes[steps]
            values[steps] = running[these]
            if self._counts is not None:
                counted[these] += self._step_counts[steps]
                values[steps[counted[these] == 0]] = np.nan
            begin = end
        return values

    def _after(self, n_steps):
        """Compute the value of each query after the first steps."""
        values = self._nothing.copy()
        # If a query occurs several times, its last value is kept.
        values[self._step_queries[:n_steps]] = self._step_values[:n_steps]
        return values

    def at(self, level: float) -> np.ndarray:
        """Return the value of each query when rows with keys of at least `level` are shown."""
        n_steps = int(np.searchsorted(-self._keys, -level, side="right"))
        return self._after(max(n_steps, self._n_always))

    def curve(self, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Average the values at every level.

        Parameters
        ----------
        among : ndarray of shape (n_queries,), bool, or None
            The queries that count; None means all.

        Returns
        -------
        levels : ndarray of shape (n_levels,), float64
            Ascending levels: keys of the steps, or all finite keys of the rows of these queries.
            The last is +inf, which shows only rows of key +inf.
        means : ndarray of shape (n_levels,), float64
            Mean over the queries that have a value; NaN where none has.
        """
        if among is None and self._whole_curve is not None:
            return self._whole_curve
        keys, sums, counts = self._running(among)
        with np.errstate(invalid="ignore"):
            # The mean is NaN where all queries are left out.
            means = np.divide(sums, counts)
        if self._row_keys is None:
            levels = np.append(np.inf, keys)[::-1]
            means = means[::-1]
            is_first = np.append(True, levels[1:] != levels[:-1])
            if not is_first.all():
                levels, means = levels[is_first], means[is_first]
        else:
            levels = np.unique(self._counted_keys(among))
            levels = np.append(levels[np.isfinite(levels)], np.inf)
            means = means[np.searchsorted(-keys, -levels, side="right")]
        if among is None:
            self._whole_curve = levels, means
        return levels, means

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
            The highest mean, or the lowest where lower is better.
        """
        levels, means = self.curve(among) if curve is None else curve
        signed = means if self.greater_is_better else -means
        if np.isnan(signed.max()):
            signed = np.where(np.isnan(signed), -np.inf, signed)
        place = first_of_highest(signed)
        level, value = -np.inf, float(means[place])
        if place:
            lower = levels[place - 1]
            level = midpoint(self._counted_keys(among, lower, levels[place]), lower)
        return level, value

    def _running(self, among):
        """Compute the keys of steps, and sums of values and of queries at each step."""
        keys, changes, counts = self._keys, self._step_changes, None
        start, n_queries, weights = self._sum, self._count, self.weights
        if self._counts is not None:
            counts = self._step_counts
        if among is not None:
            weights = among.astype(np.float64) if weights is None else weights * among
            start = float(np.nansum(self._nothing * weights))
            n_queries = float(weights.sum(where=~np.isnan(self._nothing)))
        if weights is not None and self.weights is None:
            steps = np.flatnonzero(among.astype(bool).take(self._step_queries))
            keys, changes = keys.take(steps), changes.take(steps)
            counts = None if counts is None else counts.take(steps)
        elif weights is not None:
            weights = weights.take(self._step_queries)
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
        keys = self._scores if self._row_keys is None else self._row_keys
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


def _numbered(queries, n_queries):
    """Number steps within their query; return the order by number, and the sorted numbers."""
    by_query = np.argsort(queries, kind="stable")
    n_steps = np.bincount(queries, minlength=n_queries)
    place = np.empty(len(queries), dtype=np.intp)
    place[by_query] = np.arange(len(queries)) - np.repeat(np.cumsum(n_steps) - n_steps, n_steps)
    return np.argsort(place, kind="stable"), place
