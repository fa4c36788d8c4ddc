"""Steps of a measure: the change by each document that a falling threshold shows.

Under a threshold each query keeps a prefix of its ranking, so a measure is a step function of the
threshold, and its steps can be told query by query. A measure that is a sum over documents rises
by what a document adds where it stands. Any other is computed at each prefix of each list, as many
times as the longest list has places that count.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skfilterrank._core.additive import Additive, BlockFacts
from skfilterrank._core.lists import ListBlock, RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.scoring import with_undefined


class MeasureSteps(NamedTuple):
    """The sum of a measure over queries, as a function of the threshold.

    Attributes
    ----------
    scores : ndarray of shape (n_steps,), float64
        Scores of documents, in any order.
    changes : ndarray of shape (n_steps,), float64
        What each adds to the sum when it is shown.
    start : float
        The sum where nothing is shown.
    n_queries : float or ndarray of shape (n_steps + 1,), float64
        Number of queries that have a value, each counted by its weight, or, where a threshold
        changes that, how it starts and what each step adds.
    """

    scores: np.ndarray
    changes: np.ndarray
    start: float
    n_queries: float | np.ndarray


def measure_steps(lists: RankedLists, parsed: ParsedMeasure, undefined) -> MeasureSteps:
    """The steps of a measure, `undefined` as the public functions take it."""
    kernel = parsed.measure.bind(parsed.k, parsed.options)
    of_set = parsed.measure.bind_of_set(parsed.options) if parsed.k is None else None
    # Sums take every document for judged.
    can_add = not (lists.has_unjudged and parsed.measure.reads_unjudged)
    scores: list[np.ndarray] = []
    changes: list[np.ndarray] = []
    counts: list[tuple[int, np.ndarray]] = []
    start = 0.0
    n_queries: float | np.ndarray = 0.0
    for block in lists.blocks():
        for part, form in _forms(block, parsed, can_add):
            if form is None:
                # Measures that look for judged documents may look for k of them.
                places = None if parsed.measure.reads_unjudged else parsed.k
                if of_set is None:
                    keys, values = values_at_prefixes(part, kernel, places)
                else:
                    keys, values = _values_of_sets(part, of_set)
                values = with_undefined(values, undefined)
                is_counted = ~np.isnan(values)
                count = np.diff(is_counted.astype(np.float64), axis=1)
                change = np.diff(np.where(is_counted, values, 0.0), axis=1)
                first = values[:, 0]
            else:
                keys, first, change = _contributions(part, form, kernel, parsed.k)
                first, count = with_undefined(first, undefined), None
            if lists.weights is not None:
                weights = lists.weights[part.queries]
                change *= weights[:, None]
                count = None if count is None else count * weights[:, None]
                first = first * weights
                start += float(np.nansum(first))
                n_queries += float(weights.sum(where=~np.isnan(first)))
            else:
                start += float(np.nansum(first))
                n_queries += np.count_nonzero(~np.isnan(first))
            is_step = change != 0
            if count is not None and count.any():
                is_step |= count != 0
                counts.append((len(scores), count[is_step]))
            scores.append(-keys[is_step])
            changes.append(change[is_step])
    if counts:
        known = dict(counts)
        parts = [known.get(i, np.zeros(len(part))) for i, part in enumerate(scores)]
        n_queries = np.concatenate([[n_queries], *parts])
    every_score = np.concatenate(scores).astype(np.float64, copy=False)
    return MeasureSteps(every_score, np.concatenate(changes), start, n_queries)


def _forms(block, parsed, can_add) -> Iterator[tuple[ListBlock, Additive | None]]:
    """The block, or its lists without and with ties, and the sum that serves for each."""
    form = parsed.as_sum(BlockFacts(parsed, block)) if can_add else None
    if form is None or form.by_shown:
        yield block, None
        return
    ties = block.ties(parsed.k) if form.uses_levels or form.n_items is not None else None
    if ties is None:
        yield block, form
        return
    yield block.of_lists(ties.lists), None
    untied = np.setdiff1d(np.arange(len(block.queries)), ties.lists)
    if len(untied):
        rest = block.of_lists(untied)
        yield rest, parsed.as_sum(BlockFacts(parsed, rest))


def _contributions(block, form, kernel, k):
    """Sort key of each place of each list, the measure of nothing, and what each place adds."""
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


def _values_of_sets(block, of_set):
    """Sort key of each place of each list, and the measure before and after it."""
    keys = block.in_order(block.sort_key)
    shown = keys < np.inf

    def count(mask=None):
        counts = np.zeros((len(keys), block.width + 1))
        inside = shown if mask is None else shown & block.in_order(mask)
        np.cumsum(inside, axis=1, out=counts[:, 1:])
        return counts

    return keys, np.asarray(of_set(block, count), dtype=np.float64)


def values_at_prefixes(block, kernel, k):
    """Sort key of each distinct score of each list, and the measure before and after each."""
    keys = block.in_order(block.sort_key)
    is_new = np.ones(keys.shape, dtype=bool)
    is_new[:, 1:] = keys[:, 1:] != keys[:, :-1]
    is_shown = keys < np.inf
    number = np.where(is_shown, np.cumsum(is_new, axis=1), block.width + 1)
    # Later ones begin below the cut-off.
    n_steps = int(number[:, : block.depth(k)].max(initial=0, where=is_shown[:, : block.depth(k)]))
    number_of_row = np.empty_like(number)
    number_of_row.put(block.cells, number)
    values = np.empty((len(keys), n_steps + 1))
    for step in range(n_steps + 1):
        shown = np.where(number_of_row <= step, block.sort_key, np.inf)
        values[:, step] = kernel(block.relisted(shown))
    first = np.full((len(keys), n_steps + 1), np.inf)
    list_, place = np.nonzero(is_new & (number <= n_steps))
    first[list_, number[list_, place]] = keys[list_, place]
    return first[:, 1:], values
