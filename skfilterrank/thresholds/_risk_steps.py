"""Each query's share of a risk, at every threshold."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.entry_steps import values_at_prefixes
from skfilterrank.exceptions import InputError, brief
from skfilterrank._core.prefixes import list_order

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
    def of(cls, scores, codes, losses, counts, *, upward, binary=False):
        """Sorted steps; `codes` number all queries, of which those where `counts` holds do.

        The steps of a query come in order; of several at one score the last holds.
        """
        is_last = (scores[1:] != scores[:-1]) | (codes[1:] != codes[:-1])
        holds = counts[codes] & np.append(is_last, True)[: len(codes)]
        scores, codes, losses = scores[holds], codes[holds], losses[holds]
        order = np.argsort(scores if upward else -scores, kind="stable")
        number = np.cumsum(counts) - 1
        queries = number[codes[order]]
        scores, losses = scores[order], losses[order]
        start = np.zeros(np.count_nonzero(counts))
        n_before = np.count_nonzero(scores == -np.inf)
        start[queries[:n_before]] = losses[:n_before]
        rest = slice(n_before, None)
        taken = np.flatnonzero(counts)
        return cls(start, scores[rest], queries[rest], losses[rest], taken, upward, binary)

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


def _forbidden_steps(lists, k):
    """Steps of the share of the shown top k that is forbidden."""
    scores, codes, losses = [], [], []
    for block in lists.with_ties("worst").blocks():
        bad = block.ranked((block.gains < 0).astype(np.float64), k)
        depth = bad.shape[1]
        shares = np.cumsum(bad, axis=1) / np.arange(1, depth + 1)
        is_shown = np.arange(depth) < block.n_retained[:, None]
        scores.append(-block.in_order(block.sort_key, k)[is_shown])
        codes.append(np.repeat(block.queries, is_shown.sum(axis=1)))
        losses.append(shares[is_shown])
    return Steps.of(
        *(np.concatenate(parts) for parts in (scores, codes, losses)),
        has_judged(lists),
        upward=False,
    )


def _any_forbidden_steps(lists, k):
    """Steps of whether the shown top k holds a forbidden document."""
    scores, codes = [], []
    for block in lists.blocks():
        keys = block.in_order(block.sort_key, k)
        first = np.where(block.gains < 0, block.sort_key, np.inf).min(axis=1)
        is_bad = (first < np.inf) & (first <= keys[:, -1])
        scores.append(-first[is_bad])
        codes.append(block.queries[is_bad])
    scores, codes = np.concatenate(scores), np.concatenate(codes)
    losses = np.ones(len(scores))
    return Steps.of(scores, codes, losses, has_judged(lists), upward=False, binary=True)


def _false_reject_steps(lists, k):
    """Steps of the share of the good documents that is filtered."""
    good = np.flatnonzero(lists.gains > 0)
    codes = lists.index.codes()[good]
    scores = lists.scores[good].astype(np.float64, copy=False)
    order = np.lexsort((scores, codes))
    scores, codes = scores[order], codes[order]
    n_good = np.bincount(codes, minlength=lists.index.n_queries)
    n_filtered = np.arange(1, len(codes) + 1) - (np.cumsum(n_good) - n_good)[codes]
    return Steps.of(scores, codes, n_filtered / n_good[codes], n_good > 0, upward=True)


def has_judged(lists):
    """Which queries have a judged document."""
    if not lists.has_unjudged:
        return np.ones(lists.index.n_queries, dtype=bool)
    judged = ~np.isnan(lists.gains)
    return np.bincount(lists.index.codes(), judged, minlength=lists.index.n_queries) > 0


_FAST = {
    "forbidden": _forbidden_steps,
    "any_forbidden": _any_forbidden_steps,
    "false_reject_rate": _false_reject_steps,
}


def steps_of_measure(lists: RankedLists, parsed: ParsedMeasure, k: int | None) -> Steps:
    """Steps of a measure between 0 and 1, of which lower is better.

    Queries without a judged document do not count, nor those for which the measure is undefined
    at every threshold; where a threshold alone makes it undefined, nothing is lost.
    """
    entry = parsed.measure
    if entry.plain is not None and entry.own_reading is not None and entry.library is None:
        lists, entry = lists.with_reading(entry.own_reading), entry.plain
    fast = _FAST.get(entry.name)
    if fast is not None:
        return fast(lists, k)
    kernel = entry.bind(k if entry.takes_k else None, parsed.options)
    changes = _Changes(lists.index.n_queries)
    ties = "worst" if "worst" in entry.ties else entry.ties[0]
    for block in lists.with_ties(ties).blocks():
        keys, values = values_at_prefixes(block, kernel, None)
        changes.add(-keys, block.queries, values)
    return changes.steps(has_judged(lists))


def steps_of_function(loss: Callable, lists: RankedLists, labels: np.ndarray, k) -> Steps:
    """Steps of a function ``loss(y_true, shown, groups)``, called for each length of the lists."""
    name = getattr(loss, "__name__", type(loss).__name__)
    n_queries = lists.index.n_queries
    codes = lists.index.codes()
    order, _, _ = list_order(lists.scores, lists.index, lists.gains)
    labels, codes, scores = labels[order], codes[order], lists.scores[order]
    sizes = np.bincount(codes, minlength=n_queries)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(codes)) - first
    is_new = np.append(True, (scores[1:] != scores[:-1]) | (codes[1:] != codes[:-1]))
    number = np.cumsum(is_new)
    number = number - number[first] + 1
    number[scores == -np.inf] = len(codes) + 1
    countable = number if k is None else np.where(place < k, number, len(codes) + 1)
    n_steps = int(countable.max(initial=0, where=countable <= len(codes)))
    values = np.empty((n_queries, n_steps + 1))
    kinds = set()
    for step in range(n_steps + 1):
        column = _call(loss, name, labels, countable <= step, codes, n_queries)
        kinds.add(column.dtype.kind)
        values[:, step] = column
    for step in {max(1, n_steps // 2), n_steps}:
        _check_own_query(loss, name, labels, countable <= step, codes, n_queries)
    is_missing = np.isnan(values)
    if (is_missing.any(axis=1) & ~is_missing.all(axis=1)).any():
        raise InputError(
            f"risk {name} is NaN for a query at some thresholds and a number at others: a query "
            "that does not count is NaN at all of them."
        )
    at = np.full((n_queries, n_steps), -np.inf)
    is_step = is_new & (number <= n_steps)
    at[codes[is_step], number[is_step] - 1] = scores[is_step]
    changes = _Changes(n_queries)
    changes.add(at, np.arange(n_queries), values)
    return changes.steps(has_judged(lists), binary=kinds == {"b"})


class _Changes:
    """Losses when the first 0, 1, ... distinct scores of each query are shown, where they change.

    Parameters
    ----------
    n_queries : int
        Number of queries.
    """

    def __init__(self, n_queries):
        self._nothing, self._all = np.full((2, n_queries), np.nan)
        self._parts = []

    def add(self, scores, queries, values) -> None:
        """Queries with the scores shown next, -inf behind the last, and a loss more than scores."""
        counts = ~np.isnan(values).all(axis=1)
        scores, queries = scores[counts], queries[counts]
        values = np.nan_to_num(values[counts])
        self._nothing[queries], self._all[queries] = values[:, 0], values[:, -1]
        row, step = np.nonzero((scores > -np.inf) & (values[:, 1:] != values[:, :-1]))
        self._parts.append(
            (scores[row, step], queries[row], values[row, step], values[row, step + 1])
        )

    def steps(self, counts, *, binary=False) -> Steps:
        """Steps from the end at which less is lost, of the queries that count."""
        counts = counts & ~np.isnan(self._nothing)
        scores, codes, before, after = map(np.concatenate, zip(*self._parts))
        nothing, everything = self._nothing[counts], self._all[counts]
        upward = bool(everything.sum() < nothing.sum())
        losses, start = (before, everything) if upward else (after, nothing)
        steps = Steps.of(scores, codes, losses, counts, upward=upward, binary=binary)
        is_chosen = bool((everything < nothing).any() and (everything > nothing).any())
        return steps._replace(start=start, is_chosen=is_chosen)


def _call(loss, name, labels, shown, codes, n_queries) -> np.ndarray:
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


def _check_own_query(loss, name, labels, shown, codes, n_queries):
    """Raise where a query's loss changes when the other queries are taken away."""
    if n_queries < 2:
        return
    together = _call(loss, name, labels, shown, codes, n_queries)
    # Some queries by themselves, of all losses that there are: among many others alike, neither a
    # mean nor a maximum of them tells.
    by_loss = np.argsort(together, kind="stable")
    some = by_loss[np.linspace(0, n_queries - 1, min(n_queries, _N_ALONE)).astype(np.intp)]
    parts = [(0, n_queries // 2), *((number, number + 1) for number in some.tolist())]
    for begin, end in parts:
        rows = (codes >= begin) & (codes < end)
        alone = _call(loss, name, labels[rows], shown[rows], codes[rows] - begin, end - begin)
        is_same = np.isclose(alone, together[begin:end], rtol=0, atol=1e-9, equal_nan=True)
        if not is_same.all():
            first = int(np.argmin(is_same))
            raise InputError(
                f"risk {name} gives query {begin + first} another loss when other queries are left "
                f"out ({together[begin + first]:g} and {alone[first]:g}): nothing can be promised "
                "of new queries then. Compute each query's loss from its own rows."
            )
