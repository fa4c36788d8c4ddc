"""Each query's share of a risk, at every threshold."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skfilterrank._core.entry_paths import PathOfSets
from skfilterrank._core.entry_steps import (
    Changes,
    Entries,
    bind_of_set,
    values_at_entries,
    values_at_prefixes,
    values_of_first_places,
)
from skfilterrank._core.entry_values import EntryValues
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.prefixes import Ranking
from skfilterrank.exceptions import InputError, brief

# Queries that a function is asked about by themselves.
_N_ALONE = 20


class Steps(NamedTuple):
    """Each query's loss as a step function of the threshold, all steps from the safest on.

    `start` is the loss of each query at the safest threshold: at +inf, which shows nothing, or at
    -inf, which shows everything, where `is_upward`. The others have one entry per step: the score
    behind which, the query in which, and the value to which the loss changes. `counted` are the
    numbers of the queries that count, among all. `is_binary` says that losses are 0 or 1, whatever
    the queries; `is_chosen` that these queries chose the safest end, of which others might have
    chosen the other.
    """

    start: np.ndarray
    scores: np.ndarray
    queries: np.ndarray
    losses: np.ndarray
    counted: np.ndarray
    is_upward: bool
    is_binary: bool
    is_chosen: bool = False

    @property
    def n_queries(self):
        """Number of queries that count."""
        return len(self.start)

    @classmethod
    def of(cls, entries: EntryValues, *, upward: bool | None = None, binary=False) -> "Steps":
        """Steps from the end at which less is lost, or from the one that `upward` says."""
        counts = ~np.isnan(entries.start)
        keys, queries, after = entries.keys, entries.queries, entries.values
        nothing = entries.start
        everything = entries.at(-np.inf)
        is_chosen = upward is None
        if is_chosen:
            upward = bool(everything[counts].sum() < nothing[counts].sum())
            is_chosen = bool((everything < nothing).any() and (everything > nothing).any())
        start, losses = nothing, after
        if upward:
            start, losses = everything, _before(nothing, queries, after)
            order = np.argsort(keys, kind="stable")
            keys, queries, losses = keys[order], queries[order], losses[order]
        number = np.cumsum(counts) - 1
        taken = np.flatnonzero(counts)
        return cls(
            *(start[counts], keys, number[queries], losses, taken, bool(upward)),
            is_binary=binary,
            is_chosen=is_chosen,
        )

    def at(self, threshold):
        """Loss of each query at a threshold."""
        taken = self.scores < threshold if self.is_upward else self.scores >= threshold
        losses = self.start.copy()
        # Of a query's several steps, the last one written remains.
        losses[self.queries[taken]] = self.losses[taken]
        return losses

    def never_falling(self):
        """The same, each loss the largest from the safest threshold to this one."""
        order = np.lexsort((np.arange(len(self.queries)), self.queries))
        distinct, start = np.unique(np.append(self.losses, self.start), return_inverse=True)
        start, ranks = start[len(order) :], start[: len(order)][order]
        queries = self.queries[order]
        # Whole numbers, of which those of a later query are all larger: no query meets another.
        base = queries * len(distinct)
        highest = np.maximum.accumulate(base + np.maximum(ranks, start[queries])) - base
        losses = np.empty(len(order))
        losses[order] = distinct[highest]
        return self._replace(losses=losses)


def _before(nothing, queries, after):
    """Loss before each step from the losses after the steps, those of a query in their order."""
    order = np.argsort(queries, kind="stable")
    ordered = queries[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    before = np.empty(len(after))
    before[order] = np.where(is_first, nothing[ordered], np.append(0.0, after[order])[:-1])
    return before


def _forbidden(entries, k):
    """Yield the share of the shown top k that is forbidden."""
    for block in entries.lists.blocks():
        bad, depth = (block.gains < 0).astype(np.float64), entries.depth(block, k)
        if not entries.at_place:
            bad = block.ranked(bad, k)
            keys = block.in_order(block.sort_key, k)
            shares = np.cumsum(bad, axis=1) / np.arange(1, depth + 1)
            shares = np.column_stack([np.zeros(len(bad)), shares])
        else:

            def share(first, n_entered, depth=depth):
                return first.sum(axis=0) / np.clip(n_entered, 1, depth)

            keys, shares = values_of_first_places(block, entries, bad, depth, share)
        is_step = None if entries.at_place else keys < np.inf
        yield Changes.of_losses(block.queries, keys, shares, is_step)


def _any_forbidden(entries, k):
    """Yield whether the shown top k holds a forbidden document."""
    for block in entries.lists.blocks():
        if not entries.at_place:
            keys = block.in_order(block.sort_key, k)
            first = np.where(block.gains < 0, block.sort_key, np.inf).min(axis=1)
            is_bad = (first < np.inf) & (first <= keys[:, -1])
            keys, values = first[:, None], np.column_stack([np.zeros(len(first)), is_bad])
        else:
            keys, values = values_of_first_places(
                block,
                entries,
                (block.gains < 0).astype(np.float64),
                entries.depth(block, k),
                lambda first, n_entered: first.any(axis=0),
            )
        yield Changes.of_losses(block.queries, keys, values)


def _false_reject(entries, k):
    """Yield the share of the good documents that is filtered."""
    for block in entries.lists.blocks():
        is_good, n_good = None, block.n_relevant[:, None]
        if entries.at_place:
            depth = entries.depth(block, None)
            keys, n_found = values_of_first_places(
                block, entries, block.relevant, depth, lambda first, n_entered: first.sum(axis=0)
            )
        else:
            keys = block.in_order(block.sort_key)
            is_good = block.in_order(block.gains > 0) & (keys < np.inf)
            n_found = np.column_stack([np.zeros(len(keys)), np.cumsum(is_good, axis=1)])
        values = np.full(n_found.shape, np.nan)
        np.divide(n_good - n_found, n_good, out=values, where=n_good > 0)
        yield Changes.of_losses(block.queries, keys, values, is_good)


def _of_kernel(entries, kernel):
    """Yield any measure."""
    for block in entries.lists.blocks():
        if entries.at_place:
            keys, values = values_at_entries(block, kernel, entries)
        else:
            keys, values = values_at_prefixes(block, kernel, None)
        yield Changes.of_losses(block.queries, keys, values)


def has_judged(lists):
    """Which queries have a judged document."""
    if not lists.has_unjudged:
        return np.ones(lists.index.n_queries, dtype=bool)
    judged = ~np.isnan(lists.gains)
    return np.bincount(lists.index.codes(), judged, minlength=lists.index.n_queries) > 0


# Each with what it is computed by, the end where nothing is lost, and if losses are 0 or 1.
_FAST = {
    "forbidden": (_forbidden, False, False),
    "any_forbidden": (_any_forbidden, False, True),
    "false_reject_rate": (_false_reject, True, False),
}


def steps_of_measure(
    lists: RankedLists,
    parsed: ParsedMeasure,
    k: int | None,
    keys=None,
    *,
    sets=None,
    levels=None,
    most: int | None = None,
) -> Steps:
    """Steps of a measure between 0 and 1, of which lower is better.

    Queries without a judged document do not count, nor those for which the measure is undefined
    at every threshold; where a threshold alone makes it undefined, nothing is lost. `keys`,
    `most` and `sets` are those of :meth:`EntryValues.of` and :meth:`EntryValues.of_path`.
    """
    entry = parsed.measure
    if entry.plain is not None and entry.own_reading is not None and entry.library is None:
        lists, entry = lists.with_reading(entry.own_reading), entry.plain
    make, upward, binary = _FAST.get(entry.name, (None, None, False))
    ties = "worst" if make or "worst" in entry.ties else entry.ties[0]
    lists = lists.with_ties(ties)
    depth = k if entry.takes_k else None
    kernel = entry.bind(depth, parsed.options)
    if sets is not None:
        entries = Entries(lists, path=PathOfSets.of(lists, sets, levels))
    else:
        is_set = depth is None and (
            make is not None or bind_of_set(ParsedMeasure(entry, None, parsed.options)) is not None
        )
        entries = Entries.of(lists, keys, of_set=is_set, keys_order_ties=False, most=most)
    parts = _of_kernel(entries, kernel) if make is None else make(entries, depth)
    return Steps.of(_counted(parts, entries), upward=upward, binary=binary)


def _counted(parts, entries) -> EntryValues:
    """Values of the queries that have a judged document."""
    counts = has_judged(entries.lists)
    if not counts.all():
        parts = (_left_out(part, ~counts[part.queries]) for part in parts)
    levels = None if entries.path is None else entries.path.levels[::-1]
    return EntryValues(parts, entries, False, levels)


def _left_out(part, lists):
    """Leave out some of the lists."""
    start = np.where(lists, np.nan, part.start)
    changes = np.where(lists[:, None], 0.0, part.changes)
    return part._replace(start=start, changes=changes, is_step=part.is_step & ~lists[:, None])


def steps_of_function(
    loss: Callable,
    lists: RankedLists,
    labels: np.ndarray,
    k,
    keys=None,
    *,
    sets=None,
    levels=None,
    most: int | None = None,
) -> Steps:
    """Steps of a function ``loss(y_true, shown, groups)``, called for each length of the lists.

    `keys`, `most` and `sets` are those of :meth:`EntryValues.of` and :meth:`EntryValues.of_path`.
    """
    k = k if most is None else most
    name = getattr(loss, "__name__", type(loss).__name__)
    n_queries = lists.index.n_queries
    codes = lists.index.codes()
    order = Ranking(lists.scores, lists.index, lists.gains).order
    entries = Entries.of(lists, keys, of_set=True)
    labels, codes = labels[order], codes[order]
    sizes = np.bincount(codes, minlength=n_queries)
    before = np.repeat(np.cumsum(sizes) - sizes, sizes)

    def in_top(shown):
        if k is None:
            return shown
        n_shown = np.append(0, np.cumsum(shown))
        return shown & (n_shown[1:] - n_shown[before] <= k)

    if sets is not None:
        path = PathOfSets.of(lists, sets, levels, k)
        entries = Entries(lists, path=path)
        every = [each[order] for each in path.masks()]
        at = np.broadcast_to(path.levels, (n_queries, len(every)))
    else:
        number, at = _numbers(entries.lists.scores[order], codes, n_queries)
        n_steps = at.shape[1]
        if keys is None and k is not None:
            # Later ones begin below the cut-off.
            place = np.arange(len(codes)) - before
            n_steps = int(number[place < k].max(initial=0, where=number[place < k] <= n_steps))
        every = [in_top(number <= step) for step in range(1, n_steps + 1)]
        at = at[:, :n_steps]
    nothing = np.zeros(len(codes), dtype=bool)
    values = np.empty((n_queries, len(every) + 1))
    kinds = set()
    for step, shown in enumerate([nothing, *every]):
        column = ask_function(loss, name, labels, shown, codes, n_queries)
        kinds.add(column.dtype.kind)
        values[:, step] = column
    for step in {max(1, len(every) // 2), len(every)}:
        shown = every[step - 1] if every else nothing
        check_own_query(loss, name, labels, shown, codes, n_queries)
    is_missing = np.isnan(values)
    if (is_missing.any(axis=1) & ~is_missing.all(axis=1)).any():
        raise InputError(
            f"risk {name} is NaN for a query at some thresholds and a number at others: a query "
            "that does not count is NaN at all of them."
        )
    part = Changes.of_losses(np.arange(n_queries), -at, values)
    return Steps.of(_counted([part], entries), binary=kinds == {"b"})


def _numbers(scores, codes, n_queries):
    """Number each row's score among those of its query from 1 from the top, and tell each.

    Rows at -inf get a number behind all others.
    """
    order = np.lexsort((-scores, codes))
    ordered, queries = scores[order], codes[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]) | (queries[1:] != queries[:-1]))
    sizes = np.bincount(codes, minlength=n_queries)
    found = np.cumsum(is_new)
    found = found - np.repeat(found[np.cumsum(sizes) - sizes], sizes) + 1
    found[ordered == -np.inf] = len(codes) + 1
    n_steps = int(found.max(initial=0, where=found <= len(codes)))
    at = np.full((n_queries, n_steps), -np.inf)
    is_step = is_new & (found <= len(codes))
    at[queries[is_step], found[is_step] - 1] = ordered[is_step]
    number = np.empty_like(found)
    number[order] = found
    return number, at


def ask_function(loss, name, labels, shown, codes, n_queries) -> np.ndarray:
    """What the function says of each query."""
    try:
        values = np.asarray(loss(labels.copy(), shown.copy(), codes.copy()))
    except Exception as error:
        error.add_note(
            f"This came up in risk {name}, called with the labels, which rows are shown, and the "
            "number of each row's query, from 0 in ascending order."
        )
        raise
    if values.shape != (n_queries,) or values.dtype.kind not in "biuf":
        raise InputError(
            f"risk {name} must return one number for each query, in the order of their numbers: "
            f"shape ({n_queries},), got {brief(values)} of shape {values.shape}."
        )
    outside = (values < 0) | (values > 1)
    if outside.any():
        raise InputError(
            f"risk {name} must lie between 0 and 1, got {values[outside][0]:g}: divide by the "
            "largest loss there can be."
        )
    return values


def check_own_query(loss, name, labels, shown, codes, n_queries):
    """Raise where a query's loss changes when the other queries are taken away."""
    if n_queries < 2:
        return
    together = ask_function(loss, name, labels, shown, codes, n_queries)
    # Some queries by themselves, of all losses that there are: among many others alike, neither a
    # mean nor a maximum of them tells.
    by_loss = np.argsort(together, kind="stable")
    some = by_loss[np.linspace(0, n_queries - 1, min(n_queries, _N_ALONE)).astype(np.intp)]
    parts = [(0, n_queries // 2), *((number, number + 1) for number in some.tolist())]
    for begin, end in parts:
        rows = (codes >= begin) & (codes < end)
        alone = ask_function(
            loss, name, labels[rows], shown[rows], codes[rows] - begin, end - begin
        )
        is_same = np.isclose(alone, together[begin:end], rtol=0, atol=1e-9, equal_nan=True)
        if not is_same.all():
            first = int(np.argmin(is_same))
            raise InputError(
                f"risk {name} gives query {begin + first} another loss when other queries are left "
                f"out ({together[begin + first]:g} and {alone[first]:g}): nothing can be promised "
                "of new queries then. Compute each query's loss from its own rows."
            )
