"""Losses of each query at every threshold, for risks that are measures or functions."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.entry_steps import (
    Changes,
    Entries,
    PathOfSets,
    bind_of_set,
    values_at_entries,
    values_at_prefixes,
    values_of_first_places,
)
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.prefixes import Ranking
from skfilterrank.exceptions import InputError, brief

# Number of queries for which a function is also called with only their rows.
_N_ALONE = 20


class Steps(NamedTuple):
    """Loss of each query as a step function, starting at the safest threshold.

    Attributes
    ----------
    start : ndarray of shape (n_queries,)
        Loss at the safest threshold: +inf (nothing is shown), or -inf (everything is shown) if
        `is_upward`.
    scores, queries, losses : ndarray of shape (n_steps,)
        Score at which the loss changes, number of the query, and its loss from there on.
    counted : ndarray of shape (n_queries,)
        Numbers of the queries that count.
    is_upward : bool
        True if the safest threshold is -inf.
    is_binary : bool
        True if losses are always 0 or 1.
    is_chosen : bool
        True if the safest end was chosen by the losses of these queries.
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
        """Make steps from the end with the smaller losses, or from -inf if `upward` is true."""
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
        """Return the loss of each query at a threshold."""
        taken = self.scores < threshold if self.is_upward else self.scores >= threshold
        losses = self.start.copy()
        # If a query has several steps, the last one counts.
        losses[self.queries[taken]] = self.losses[taken]
        return losses

    def changes(self):
        """Return the change of the loss at each step."""
        return self.losses - _before(self.start, self.queries, self.losses)

    def of_all(self, n_units, units, level) -> "Steps":
        """Return the steps of all units, of which the others lose the level at every threshold.

        `units` are the numbers of the counted ones.
        """
        start = np.full(n_units, float(level))
        start[units] = self.start
        return self._replace(start=start, queries=units[self.queries], counted=np.arange(n_units))

    def in_direction(self, upward: bool) -> "Steps":
        """Return the steps from the other end, where they do not begin at this one."""
        if self.is_upward == upward:
            return self
        losses = _before(self.start, self.queries, self.losses)
        start = self.at(np.inf if self.is_upward else -np.inf)
        scores, queries = self.scores[::-1], self.queries[::-1]
        return self._replace(
            start=start, scores=scores, queries=queries, losses=losses[::-1], is_upward=upward
        )

    def never_falling(self):
        """Replace each loss by the largest loss from the safest threshold to this one."""
        order = np.lexsort((np.arange(len(self.queries)), self.queries))
        distinct, start = np.unique(np.append(self.losses, self.start), return_inverse=True)
        start, ranks = start[len(order) :], start[: len(order)][order]
        queries = self.queries[order]
        # An offset that grows with the query number, so that one running maximum serves all
        # queries.
        base = queries * len(distinct)
        highest = np.maximum.accumulate(base + np.maximum(ranks, start[queries])) - base
        losses = np.empty(len(order))
        losses[order] = distinct[highest]
        return self._replace(losses=losses)


def _before(nothing, queries, after):
    """Compute the loss before each step from the losses after the steps."""
    order = np.argsort(queries, kind="stable")
    ordered = queries[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    before = np.empty(len(after))
    before[order] = np.where(is_first, nothing[ordered], np.append(0.0, after[order])[:-1])
    return before


def _share_hidden(block, n_found, n_shown):
    """Compute the share of the good documents that is hidden; NaN without any."""
    n_good = np.broadcast_to(block.n_relevant, n_found.shape)
    hidden = np.full(n_found.shape, np.nan)
    return np.divide(n_good - n_found, n_good, out=hidden, where=n_good > 0)


# For each measure: the documents that are counted, and the loss by their number and the list
# length.
_FAST: dict[str, tuple[Callable, Callable]] = {
    "forbidden": (
        lambda block: block.gains < 0,
        lambda block, n_bad, n_shown: n_bad / np.maximum(n_shown, 1),
    ),
    "any_forbidden": (lambda block: block.gains < 0, lambda block, n_bad, n_shown: n_bad > 0),
    "false_reject_rate": (lambda block: block.gains > 0, _share_hidden),
}


def _of_first_places(entries, k, name):
    """Yield the losses of a measure that depends only on numbers of documents."""
    counts, loss = _FAST[name]
    for block in entries.lists.blocks():
        counted, depth = counts(block).astype(np.float64), entries.depth(block, k)
        is_step = None
        if entries.at_place:

            def value_of(first, n_shown, block=block, depth=depth):
                return loss(block, first.sum(axis=0), np.minimum(n_shown, depth))

            keys, values = values_of_first_places(block, entries, counted, depth, value_of)
        else:
            keys = block.in_order(block.sort_key, k)
            found = np.cumsum(block.ranked(counted, k), axis=1)
            found = np.column_stack([np.zeros(len(found)), found])
            values = loss(block, found.T, np.arange(depth + 1)[:, None]).T
            # This share is tested at each score, even if it does not change.
            is_step = keys < np.inf if name == "forbidden" else None
        yield Changes.of_losses(block.queries, keys, values.astype(np.float64), is_step)


def _of_kernel(entries, kernel):
    """Yield the values of any measure."""
    for block in entries.lists.blocks():
        if entries.at_place:
            keys, values = values_at_entries(block, kernel, entries)
        else:
            keys, values = values_at_prefixes(block, kernel, None)
        yield Changes.of_losses(block.queries, keys, values)


def has_judged(lists):
    """Return a mask of the queries with a judged document."""
    if not lists.has_unjudged:
        return np.ones(lists.index.n_queries, dtype=bool)
    judged = ~np.isnan(lists.gains)
    return np.bincount(lists.index.codes(), judged, minlength=lists.index.n_queries) > 0


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
    """Compute the steps of a measure with values from 0 to 1; lower is better.

    Queries without a judged document do not count, nor queries for which the measure is undefined
    at every threshold. If it is undefined at some thresholds only, the loss there is 0. `keys`,
    `most` and `sets` are those of :meth:`EntryValues.of` and :meth:`EntryValues.of_path`.
    """
    entry = parsed.measure
    if entry.plain is not None and entry.own_reading is not None and entry.library is None:
        lists, entry = lists.with_reading(entry.own_reading), entry.plain
    ties = "worst" if entry.name in _FAST or "worst" in entry.ties else entry.ties[0]
    lists = lists.with_ties(ties)
    depth = k if entry.takes_k else None
    kernel = entry.bind(depth, parsed.options)
    if sets is not None:
        entries = Entries(lists, path=PathOfSets.of(lists, sets, levels))
    else:
        is_set = depth is None and (
            entry.name in _FAST
            or bind_of_set(ParsedMeasure(entry, None, parsed.options)) is not None
        )
        entries = Entries.of(lists, keys, of_set=is_set, keys_order_ties=False, most=most)
    if entry.name not in _FAST:
        return Steps.of(_counted(_of_kernel(entries, kernel), entries))
    parts = _of_first_places(entries, depth, entry.name)
    is_upward, is_binary = entry.name == "false_reject_rate", entry.name == "any_forbidden"
    return Steps.of(_counted(parts, entries), upward=is_upward, binary=is_binary)


def _counted(parts, entries) -> EntryValues:
    """Return the values of the queries that have a judged document."""
    counts = has_judged(entries.lists)
    if not counts.all():
        parts = (_left_out(part, ~counts[part.queries]) for part in parts)
    levels = None if entries.path is None else entries.path.levels[::-1]
    return EntryValues(parts, entries, False, levels)


def _left_out(part, lists):
    """Return the values without some of the lists."""
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
    """Compute the steps of a function ``loss(y_true, shown, groups)``, called at each list length.

    `keys`, `most` and `sets` are those of :meth:`EntryValues.of` and :meth:`EntryValues.of_path`.
    """
    k = k if most is None else most
    name = getattr(loss, "__name__", type(loss).__name__)
    n_queries = lists.index.n_queries
    ranking = Ranking(lists.scores, lists.index, lists.gains)
    order, entries = ranking.order, Entries.of(lists, keys, of_set=True)
    labels, codes = labels[order], lists.index.codes()[order]
    before = np.repeat(ranking.starts, ranking.sizes)

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
        # Rank of each row's score among the distinct scores of its query, from 1; none for -inf.
        entering = Ranking(entries.lists.scores, lists.index)
        number = np.where(entering.scores > -np.inf, entering.tie_number + 1, len(codes) + 1)
        n_steps = int(number.max(initial=0, where=number <= len(codes)))
        at = np.full((n_queries, n_steps), -np.inf)
        ties = entering.ties[entering.scores[entering.ties] > -np.inf]
        codes_of_ties = np.repeat(np.arange(n_queries), entering.sizes)[ties]
        at[codes_of_ties, number[ties] - 1] = entering.scores[ties]
        number = entering.by_row(number)[order]
        if keys is None and k is not None:
            # Later steps begin below the cut-off.
            first = number[ranking.place < k]
            n_steps = int(first.max(initial=0, where=first <= n_steps))
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


def ask_function(loss, name, labels, shown, codes, n_queries) -> np.ndarray:
    """Call the function for some rows, and check the losses it returns."""
    try:
        values = np.asarray(loss(labels.copy(), shown.copy(), codes.copy()))
    except Exception as error:
        error.add_note(
            f"The risk {name} was called with the labels, a mask of the rows shown, and the "
            "number of the query of each row, from 0 in ascending order."
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
    """Raise if a query's loss depends on the other queries."""
    if n_queries < 2:
        return
    together = ask_function(loss, name, labels, shown, codes, n_queries)
    # Single queries are tried, chosen from the whole range of losses. Leaving out half of the
    # queries would hardly change a mean or a maximum over many queries.
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
                f"out ({together[begin + first]:g} and {alone[first]:g}): nothing can be "
                "guaranteed for new queries then. Compute each query's loss from its own rows."
            )
