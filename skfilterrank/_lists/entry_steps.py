"""Changes of a measure as rows enter lists one by one, a block of lists at a time.

Rows that enter at the end of their list give a prefix of it. A measure that is a sum over documents
then changes by the term of the row, and any other is computed at each prefix. Rows that enter at
their place push others down: a sum over the first places is kept up to date row by row, and any
other measure is computed after each row.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.additive import Additive, BlockFacts
from skfilterrank._lists.lists import ListBlock, RankedLists, sort_rows
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.scoring import with_undefined


class Entries(NamedTuple):
    """Lists whose rows enter in falling order of their keys.

    Attributes
    ----------
    lists : RankedLists
        The lists. If rows enter at the end, the scores give their order.
    keys : ndarray of shape (n_rows,), float64, or None
        Keys of rows that enter at their place in the list, -inf for rows that never enter. None if
        rows enter at the end of the list.
    key_of_score : ndarray or None
        Key of each score; scores are then ranks, the indices of this array. None if scores are the
        keys.
    most : int or None
        Largest number of shown documents of each list. If more rows have entered, the first of them
        are shown.
    """

    lists: RankedLists
    keys: np.ndarray | None = None
    key_of_score: np.ndarray | None = None
    most: int | None = None

    @classmethod
    def of(
        cls,
        lists: RankedLists,
        keys=None,
        *,
        of_set: bool = False,
        keys_order_ties: bool = True,
        most: int | None = None,
    ) -> "Entries":
        """Prepare lists and keys; `of_set` means that the order of shown documents is irrelevant.

        With `keys_order_ties`, rows of equal scores are ordered by their keys, so that each enters
        at the end. Otherwise they are tied once both have entered.
        """
        if most is None and (keys is None or np.array_equal(keys, lists.scores)):
            return cls(lists)
        keys = lists.scores if keys is None else keys
        keys = np.where(np.isneginf(lists.scores), -np.inf, keys).astype(np.float64, copy=False)
        if most is not None:
            return cls(lists, keys, most=most)
        if not of_set and not _never_rise(lists, keys, keys_order_ties):
            return cls(lists, keys)
        # Keys never rise down a list, so ranks by key and then score can replace the scores.
        order = np.lexsort((lists.scores, keys))
        ordered, scores = keys[order], lists.scores[order]
        is_new = np.append(True, (ordered[1:] != ordered[:-1]) | (scores[1:] != scores[:-1]))
        rank = np.cumsum(is_new).astype(np.float64)
        ranks = np.empty(len(keys))
        ranks[order] = np.where(ordered > -np.inf, rank, -np.inf)
        return cls(lists.replace(scores=ranks), None, np.append(-np.inf, ordered[is_new]))

    @property
    def row_keys(self) -> np.ndarray | None:
        """Key of each row, -inf where it never enters; None where scores are the keys."""
        if self.key_of_score is None:
            return self.keys
        return self.keys_of(self.lists.scores)

    def keys_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the keys of steps at these scores."""
        if self.key_of_score is None:
            return scores
        # Ranks begin at 1; entry 0 is the key of score -inf.
        return self.key_of_score[np.maximum(scores, 0.0).astype(np.intp)]

    @property
    def at_place(self) -> bool:
        """Tell whether rows enter at their place."""
        return self.keys is not None

    def depth(self, block: ListBlock, k: int | None) -> int:
        """Return the number of places to compute."""
        depth = block.depth(k)
        return depth if self.most is None else min(depth, self.most)

    def entry_keys(self, block: ListBlock) -> np.ndarray:
        """Return minus the keys as a matrix of the block, +inf where rows never enter."""
        return -self.lists.index.take(np.asarray(self.keys), block.layout, -np.inf)


def _never_rise(lists, keys, keys_order_ties) -> bool:
    """Tell whether keys never rise down each list; rows of equal scores may have any order."""
    for block in lists.blocks():
        negative = -lists.index.take(keys, block.layout, -np.inf)
        ordered, scores = block.in_order(negative), block.in_order(block.sort_key)
        is_tied = (scores[:, 1:] == scores[:, :-1]) & (scores[:, 1:] < np.inf)
        if not keys_order_ties and (is_tied & (ordered[:, 1:] != ordered[:, :-1])).any():
            return False
        if (ordered[:, 1:] >= ordered[:, :-1]).all():
            continue
        # Rows that never enter are ignored.
        entering = np.where(ordered < np.inf, ordered, -np.inf)
        latest = np.maximum.accumulate(entering, axis=1)
        is_new = np.ones(scores.shape, dtype=bool)
        is_new[:, 1:] = scores[:, 1:] != scores[:, :-1]
        first = np.maximum.accumulate(np.where(is_new, np.arange(block.width), 0), axis=1)
        above = np.take_along_axis(latest, np.maximum(first - 1, 0), axis=1)
        above[first == 0] = -np.inf
        if (ordered < above).any():
            return False
    return True


class Changes(NamedTuple):
    """Changes of a measure at each step; matrices have one row for each list.

    Attributes
    ----------
    queries : ndarray of shape (n_lists,)
        Numbers of the queries.
    keys : ndarray of shape (n_lists, n_steps)
        Minus the key of each step, ascending; +inf after the last.
    start : ndarray of shape (n_lists,)
        The measure before the first step, NaN where undefined.
    changes : ndarray of shape (n_lists, n_steps)
        Change of the measure at each step; an undefined value counts as 0.
    counts : ndarray of shape (n_lists, n_steps) or None
        1 where the measure becomes defined, -1 where it becomes undefined; None if neither occurs.
    """

    queries: np.ndarray
    keys: np.ndarray
    start: np.ndarray
    changes: np.ndarray
    counts: np.ndarray | None = None


def changes_of_measure(entries: Entries, parsed: ParsedMeasure, undefined) -> Iterator[Changes]:
    """Yield the changes of a measure block by block; undefined values become `undefined`."""
    lists = entries.lists
    kernel = parsed.measure.bind(parsed.k, parsed.options)
    # Sums over documents treat every document as judged.
    can_add = not (lists.has_unjudged and parsed.measure.reads_unjudged)
    for block in lists.blocks():
        for part, form in _forms(block, parsed, can_add, entries):
            if form is not None:
                add = _insertions if entries.at_place else _contributions
                keys, start, changes = add(part, form, kernel, parsed.k, entries)
                start = with_undefined(start, undefined)
                yield Changes(part.queries, keys, start, changes)
                continue
            keys, values = values_of_measure(part, parsed, entries)
            values = with_undefined(values, undefined)
            is_counted = ~np.isnan(values)
            counts = None
            if not is_counted.all():
                counts = np.diff(is_counted.astype(np.float64), axis=1)
                counts = counts if counts.any() else None
            changes = np.diff(np.where(is_counted, values, 0.0), axis=1)
            yield Changes(part.queries, keys, values[:, 0], changes, counts)


def values_of_measure(block, parsed: ParsedMeasure, entries: Entries):
    """Compute the sort key of each step, and the measure before the first step and after each."""
    measure, k = parsed.measure, parsed.k
    of_set = measure.bind_of_set(parsed.options)
    # The mean over tied orders is no value of a set.
    is_first = measure.set_of_first and block.tie_rule != "average"
    if of_set is not None and (k is None or is_first):
        return _values_of_sets(block, of_set, k, entries)
    kernel = measure.bind(k, parsed.options)
    if entries.at_place:
        return values_at_entries(block, kernel, entries)
    # Measures of judged documents may need k judged ones, which can lie below place k.
    return values_at_prefixes(block, kernel, None if measure.reads_unjudged else k)


def _forms(block, parsed, can_add, entries) -> Iterator[tuple[ListBlock, Additive | None]]:
    """Split a block by ties if needed; yield each part with its sum over documents, or None."""
    form = parsed.as_sum(BlockFacts(parsed, block)) if can_add else None
    by_level = form is not None and (form.uses_levels or form.n_items is not None)
    if form is None or form.by_shown or (entries.at_place and by_level):
        yield block, None
        return
    ties = None
    if entries.keys is not None:
        # A tie below the cut-off moves up when rows above it are not shown.
        ties = block.ties()
    elif by_level:
        ties = block.ties(parsed.k)
    if ties is None:
        yield block, form
        return
    yield block.of_lists(ties.lists), None
    untied = np.setdiff1d(np.arange(len(block.queries)), ties.lists)
    if len(untied):
        rest = block.of_lists(untied)
        yield rest, parsed.as_sum(BlockFacts(parsed, rest))


def _contributions(block, form, kernel, k, entries):
    """Compute sort keys, the measure of empty lists, and its change at each place."""
    is_defined = ~np.isnan(kernel(block)) if form.is_defined is None else form.is_defined
    n_queries, depth = len(block.queries), block.depth(k)
    query, place = np.arange(n_queries)[:, None], np.arange(1, depth + 1)
    start = np.zeros(n_queries) + form.offset
    if form.uses_levels or form.n_items is not None:
        changes = block.only_retained(block.in_order(form.weights, k))
        level = np.cumsum(block.in_order(block.relevant, k), axis=1)
        worth = form.worth(place, level, query)
        if form.n_items is not None:
            size, m = form.n_items[:, None], block.n_relevant[:, None]
            worth = worth - form.worth(size - m + level, level, query)
            every = np.arange(1, max(1, int(m.max())) + 1)
            levels = np.minimum(every, np.maximum(m, 1))
            at_end = np.where(every <= m, form.worth(size - m + levels, levels, query), 0.0)
            weight = form.weights.sum(axis=1) / np.maximum(block.n_relevant, 1)
            start += weight * at_end.sum(axis=1)
    else:
        changes = block.ranked(form.weights, k)
        worth = form.worth(place, None, query)
    changes *= worth
    if form.finish is not None:
        values = np.concatenate([start[:, None], changes], axis=1).cumsum(axis=1)
        values = form.finish(values, query)
        start, changes = values[:, 0], np.diff(values, axis=1)
    if not is_defined.all():
        start[~is_defined] = np.nan
        changes[~is_defined] = 0.0
    return block.in_order(block.sort_key, k), start, changes


def _insertions(block, form, kernel, k, entries):
    """Compute the results of `_contributions` for rows that enter at their place."""
    is_defined = ~np.isnan(kernel(block)) if form.is_defined is None else form.is_defined
    n_queries, depth = len(block.queries), entries.depth(block, k)
    query, place = np.arange(n_queries)[:, None], np.arange(1, depth + 1)
    worth = np.broadcast_to(form.worth(place, None, query), (n_queries, depth))
    worth = np.ascontiguousarray(worth.T)
    keys, sums = values_of_first_places(
        block,
        entries,
        form.weights,
        depth,
        lambda first: np.einsum("ij,ij->j", first, worth),
    )
    if form.finish is not None:
        sums = form.finish(sums + (np.zeros(n_queries) + form.offset)[:, None], query)
        start = sums[:, 0].copy()
    else:
        start = np.zeros(n_queries) + form.offset
    changes = np.diff(sums, axis=1)
    if not is_defined.all():
        start[~is_defined] = np.nan
        changes[~is_defined] = 0.0
    return keys, start, changes


def values_of_first_places(block, entries, weights, depth, value_of):
    """Compute `value_of` for the first places of each list, after each entry of a row.

    Parameters
    ----------
    block : ListBlock
        The lists.
    entries : Entries
        Keys of rows that enter at their place.
    weights : ndarray of shape (n_lists, width)
        Number of each row that is passed to `value_of` when the row is in the first places.
    depth : int
        Number of places.
    value_of : callable
        ``value_of(first)`` gives a value of each list. `first` holds the weights of its first
        places, 0 after its end, shape (depth, n_lists).

    Returns
    -------
    keys : ndarray of shape (n_lists, n_entries)
        Negated keys of the entries, ascending.
    values : ndarray of shape (n_lists, n_entries + 1)
        Values before the first entry and after each entry.
    """
    entry_keys = entries.entry_keys(block)
    n_lists, width = entry_keys.shape
    cells = sort_rows(entry_keys).cells
    ordered = entry_keys.take(cells)
    n_steps = int(np.count_nonzero(ordered < np.inf, axis=1).max(initial=0))
    place_of_cell = np.empty(entry_keys.size, dtype=np.int32)
    place_of_cell[block.cells] = np.arange(width, dtype=np.int32)
    cells, ordered = cells[:, :n_steps], ordered[:, :n_steps]
    # The loop is over entries; each step handles all lists.
    is_entry = np.ascontiguousarray((ordered < np.inf).T)
    cells = np.ascontiguousarray(cells.T)
    place = np.where(is_entry, place_of_cell.take(cells), np.int32(width))
    weight = weights.astype(np.float64, copy=False).take(cells)
    first = np.zeros((depth, n_lists))
    places = np.full((depth, n_lists), width, dtype=np.int32)
    values = np.empty((n_steps + 1, n_lists))
    values[0] = value_of(first)
    for step in range(n_steps):
        moves = places > place[step]
        if moves.any():
            _insert(first, moves, weight[step])
            _insert(places, moves, place[step])
        values[step + 1] = value_of(first)
    return ordered, np.ascontiguousarray(values.T)


def _insert(columns, moves, new):
    """Insert one number into each column, in place; lower entries move down by one."""
    at_first = moves[1:] & ~moves[:-1]
    moved = np.where(moves[:-1], columns[:-1], columns[1:])
    np.copyto(moved, new, where=at_first)
    columns[1:] = moved
    np.copyto(columns[0], new, where=moves[0])


def _values_of_sets(block, of_set, k, entries):
    """Compute the sort key of each step, and a measure of the set of shown documents."""
    depth = entries.depth(block, k)
    keys = block.in_order(block.sort_key, k)
    shown = keys < np.inf

    def count(mask=None):
        counts = np.zeros((len(shown), depth + 1))
        np.cumsum(
            shown if mask is None else shown & block.in_order(mask, k), axis=1, out=counts[:, 1:]
        )
        return counts

    def count_at_place(mask=None):
        nonlocal keys
        marks = np.ones(block.sort_key.shape) if mask is None else mask
        keys, counts = values_of_first_places(
            block, entries, marks, depth, lambda first: first.sum(axis=0)
        )
        return counts

    values = of_set(block, count_at_place if entries.at_place else count)
    return keys, np.asarray(values, dtype=np.float64)


def values_at_prefixes(block, kernel, k):
    """Compute each list's distinct sort keys, and the measure of empty lists and after each key."""
    return _values_at(block, kernel, block.cells, block.in_order(block.sort_key), block.depth(k))


def values_at_entries(block, kernel, entries):
    """Compute the negated distinct keys, and the measure of empty lists and after each key."""
    entry_keys = entries.entry_keys(block)
    cells = sort_rows(entry_keys).cells
    # The rule for ties is applied again, since rows move up when rows above them are not shown.
    return _values_at(
        block,
        kernel,
        cells,
        entry_keys.take(cells),
        block.width,
        ties=block.tie_rule,
        most=entries.most,
    )


def _values_at(block, kernel, cells, keys, depth, ties=None, most=None):
    """Compute the measure as rows enter in the order of `cells`; equal keys enter together."""
    is_new = np.ones(keys.shape, dtype=bool)
    is_new[:, 1:] = keys[:, 1:] != keys[:, :-1]
    enters = keys < np.inf
    number = np.where(enters, np.cumsum(is_new, axis=1), block.width + 1)
    # Later steps begin below the cut-off.
    n_steps = int(number[:, :depth].max(initial=0, where=enters[:, :depth]))
    number_of_row = np.empty_like(number)
    number_of_row.put(cells, number)
    values = np.empty((len(keys), n_steps + 1))
    for step in range(n_steps + 1):
        shown = np.where(number_of_row <= step, block.sort_key, np.inf)
        if most is not None:
            shown.put(block.relisted(shown.copy(), ties).cells[:, most:], np.inf)
        values[:, step] = kernel(block.relisted(shown, ties))
    first = np.full((len(keys), n_steps + 1), np.inf)
    list_, place = np.nonzero(is_new & (number <= n_steps))
    first[list_, number[list_, place]] = keys[list_, place]
    return first[:, 1:], values
