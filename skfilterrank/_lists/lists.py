"""Each query's ranked, filtered and judged list, a padded block of queries at a time."""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from skfilterrank._base.checks import (
    LARGEST_INTEGER,
    as_column,
    cached_property,
    check_choice,
    check_scores,
    read_only,
)
from skfilterrank._lists.gains import OwnReading, as_gains
from skfilterrank._lists.queries import GroupIndex, QueryBlock, check_groups, check_same_index
from skfilterrank._lists.ties import Ties, find_ties, mean_products
from skfilterrank.exceptions import InputError, brief

TIES = ("average", "stable", "worst", "best")
# Rules for ties of measures that need one order and have no mean over tied orders.
WHOLE_ORDERS = ("worst", "best", "stable")
UNJUDGED = ("zero", "drop")
# Default of `y_score`: not None, because None is an error that a caller may make.
_NO_SCORES = object()
_T = TypeVar("_T")
_LARGEST_GAIN = 1e200


# Attributes that are computed from others.
_DERIVED = {
    "gains": ("has_unjudged", "has_forbidden", "_readings"),
    "scores": ("has_filtered",),
}
# Properties that say which document stands at which place.
_ORDER = ("sort_key", "has_filtered", "cells", "_tied")


class RankedLists:
    """Checked rows of all queries, which measures read in blocks of queries.

    Lists are frozen: :meth:`replace` makes others.

    Parameters
    ----------
    y_true, y_score, groups, gains, ties, unjudged
        As in :func:`skfilterrank.metrics.ndcg_f_score`; without `y_score` only the
        judgments matter.
    name : str, default="y_true"
        Name of the labels in messages.

    Attributes
    ----------
    gains, scores : ndarray of shape (n_rows,)
        Gain of each row, NaN where unjudged, and its score; `scores` may be None.
    index : GroupIndex
        The queries.
    ties, tie_codes : str, ndarray or None
        Rule for ties, and the codes of document ids if these break ties.
    unjudged : {"zero", "drop"}
        Whether unjudged rows are taken out of the lists.
    columns : dict of str to ndarray
        Options of measures that hold one entry per row.
    weights : ndarray of shape (n_queries,) or None
        Weights of the queries in their mean; None if all are equal.
    """

    gains: np.ndarray
    scores: Any
    index: GroupIndex
    ties: str
    tie_codes: np.ndarray | None
    unjudged: str
    columns: dict[str, np.ndarray]
    weights: np.ndarray | None

    def __init__(
        self,
        y_true,
        y_score=_NO_SCORES,
        *,
        groups=None,
        gains=None,
        ties="average",
        unjudged="zero",
        name="y_true",
    ):
        gains = as_gains(y_true, gains, name=name)
        n_rows = len(gains)
        if n_rows == 0:
            raise InputError(f"{name} is empty: expected at least one row.")
        check_choice(unjudged, "unjudged", UNJUDGED)
        _check_sizes(gains, name)
        vars(self).update(gains=gains, unjudged=unjudged, columns={}, weights=None)
        # Lists that are made of these share it.
        vars(self)["_readings"] = {}
        if y_score is _NO_SCORES:
            y_score = None
        else:
            check_same_index(y_true, y_score, groups)
            y_score = self._without_unjudged(_exact(check_scores(y_score, n_rows=n_rows)))
        index = check_groups(groups, y_true, n_rows=n_rows, names=(name,))
        ties, tie_codes = _check_ties(ties, n_rows)
        vars(self).update(scores=y_score, index=index, ties=ties, tie_codes=tie_codes)

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set, as lists are frozen: use replace.")

    def replace(self, **changes) -> "RankedLists":
        """Return lists with other attributes; arrays are not checked."""
        found = copy(self)
        for name in changes:
            for derived in _DERIVED.get(name, ()):
                vars(found).pop(derived, None)
        vars(found).update(changes)
        return found

    @cached_property
    def has_unjudged(self) -> bool:
        """True if some row is unjudged."""
        return bool(np.isnan(self.gains.max()))

    @cached_property
    def has_forbidden(self) -> bool:
        """True if some gain is below 0."""
        return bool(np.fmin.reduce(self.gains) < 0)

    @cached_property
    def has_filtered(self) -> bool:
        """True if some row is not in its list."""
        return self.scores is not None and bool(self.scores.min() == -np.inf)

    @cached_property
    def _readings(self) -> dict[OwnReading, dict]:
        """Gains that measures' own options change, and their facts; filled as they are needed."""
        return {}

    def _without_unjudged(self, scores):
        """Return the scores of rows, -inf where an unjudged row is taken out."""
        if self.unjudged == "drop" and self.has_unjudged:
            return np.where(np.isnan(self.gains), -np.inf, scores)
        return scores

    def count_unjudged_queries(self) -> int:
        """Count the queries without a judged document."""
        if not self.has_unjudged:
            return 0
        return int(np.count_nonzero(self.index.sums(~np.isnan(self.gains)) == 0))

    def with_reading(self, own: OwnReading) -> "RankedLists":
        """Return the rows with judgments changed by a measure's own options."""
        lists = self.judged_by(own)
        return lists.replace(scores=lists._without_unjudged(self.scores))

    def judged_by(self, own: OwnReading) -> "RankedLists":
        """Return rows with judgments changed by a measure's own options and unchanged scores."""
        unjudged = "drop" if own.drops_unjudged else self.unjudged
        if own not in self._readings:
            lists = self.replace(gains=own.of(self.gains))
            _check_sizes(lists.gains)
            names = ("gains", "has_unjudged", "has_forbidden")
            self._readings[own] = {name: getattr(lists, name) for name in names}
        return self.replace(unjudged=unjudged, **self._readings[own])

    def with_scores(self, scores: np.ndarray, threshold: float | None = None) -> "RankedLists":
        """Return the rows with other scores; rows below the threshold are hidden."""
        if threshold is not None:
            scores = np.where(scores >= threshold, scores, -np.inf)
        return self.replace(scores=scores)

    def with_ties(self, ties: str) -> "RankedLists":
        """Return the rows with another rule for ties."""
        return self.replace(ties=ties)

    def blocks(self):
        """Yield the queries as :class:`ListBlock` objects."""
        for block in self.index.blocks():
            yield ListBlock(self, block)

    def per_query(self, kernel) -> np.ndarray:
        """Return one value per query, in the order of the query ids; NaN where undefined."""
        values = np.empty(self.index.n_queries)
        for block in self.blocks():
            values[block.queries] = kernel(block)
        return values


def _check_sizes(gains, name="y_true") -> None:
    """Raise for gains whose sums overflow."""
    highest = max(np.fmax.reduce(gains), -np.fmin.reduce(gains))
    if highest > _LARGEST_GAIN:
        raise InputError(
            f"{name} gives gains up to {highest:g}, whose sums leave the range of float64: use "
            f"gains up to {_LARGEST_GAIN:g}."
        )


def _kept_in(part: str) -> "Callable[[Callable[..., _T]], cached_property[_T]]":
    """Return a decorator of properties that the dict `part` of a block keeps, arrays read-only."""

    def keep(make):
        @wraps(make)
        def kept(block):
            values = getattr(block, part)
            if make.__name__ not in values:
                found = make(block)
                values[make.__name__] = read_only(found) if isinstance(found, np.ndarray) else found
            return values[make.__name__]

        return property(kept)

    return keep  # for type checkers, a property that is computed once


_judgment_property, _order_property = _kept_in("_judgments"), _kept_in("_order")


@dataclass(frozen=True, eq=False)
class RelevantCells:
    """Relevant documents in the returned lists of a block, list by list from the top.

    Attributes
    ----------
    cells : ndarray of shape (n_found,)
        Flat index of each document in a matrix of the block in list order.
    lists : ndarray of shape (n_found,)
        Number of each document's list.
    places : ndarray of shape (n_found,)
        Place of each document in its list, from 0.
    n_lists : int
        Number of lists of the block.
    """

    cells: np.ndarray
    lists: np.ndarray
    places: np.ndarray
    n_lists: int

    @classmethod
    def of(cls, relevant: np.ndarray) -> "RelevantCells":
        """Make the cells from a bool matrix in list order."""
        cells = np.flatnonzero(relevant)
        lists = cells // relevant.shape[1]
        return cls(cells, lists, cells - lists * relevant.shape[1], len(relevant))

    @cached_property
    def n_found(self) -> np.ndarray:
        """Number of relevant documents of each list; shape (n_lists,)."""
        return np.bincount(self.lists, minlength=self.n_lists)

    @cached_property
    def levels(self) -> np.ndarray:
        """Number of relevant documents from the top of the list down to each one, inclusive."""
        n_before = np.cumsum(self.n_found) - self.n_found
        return np.arange(1, len(self.cells) + 1) - n_before[self.lists]

    def count(self, marks: np.ndarray) -> np.ndarray:
        """Count the marked documents from the top of the list down to each one, inclusive.

        `marks` is a bool matrix in list order.
        """
        # Sums of 32-bit integers are by far the fastest.
        counts = np.cumsum(marks.astype(np.int32), axis=1, dtype=np.int32)
        return counts.take(self.cells)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum the values of each list; shape (n_lists,)."""
        return np.bincount(self.lists, values, minlength=self.n_lists)


class ListBlock:
    """Lists of some queries of similar size, as padded matrices.

    A block is a pair: judgments (gains, the pool, bounds), and an order (sort keys, ties, what is
    shown). Blocks with the same judgments or the same order share what was computed of them.
    """

    def __init__(self, lists: RankedLists, block: QueryBlock):
        self._lists = lists
        self.layout = block
        self.queries = read_only(block.queries)
        self.sizes = read_only(block.sizes)
        self.width = block.width
        # True if some query has fewer rows than the block has columns.
        self.is_padded = bool(block.sizes[0] != block.width)
        # Order of rows with equal scores; "ids" for document ids.
        self.tie_rule: str = lists.ties
        # Results that depend on the judgments alone, and on the order or on both.
        self._judgments: dict[Any, Any] = {}
        self._order: dict[Any, Any] = {}

    @property
    def has_forbidden(self) -> bool:
        """True if some gain of all data, and not only of this block, is below 0."""
        return self._lists.has_forbidden

    @property
    def has_unjudged(self) -> bool:
        """True if some row of all data, and not only of this block, is unjudged."""
        return self._lists.has_unjudged

    def _keep(self, make: Callable, key):
        """Return ``make(key)``, which is kept with the order; `make` is a method of the block."""
        name = make.__name__, key
        if name not in self._order:
            self._order[name] = make(key)
        return self._order[name]

    def once(self, make: Callable, k: int | None):
        """Return ``make(block, k)``, which is kept: it must depend on judgments only."""
        if (make, k) not in self._judgments:
            self._judgments[make, k] = make(self, k)
        return self._judgments[make, k]

    @property
    def query_ids(self) -> np.ndarray:
        """Ids of the queries of the block; shape (n_queries,)."""
        return self._lists.index.query_ids[self.queries]

    @property
    def drops_unjudged(self) -> bool:
        """Tell whether unjudged rows are taken out of the lists."""
        return self._lists.unjudged == "drop"

    def with_ties(self, ties: str) -> "ListBlock":
        """Return the lists with another rule for ties."""
        return self.relisted(self.sort_key, ties)

    def with_reading(self, own: OwnReading) -> "ListBlock":
        """Return the lists with judgments changed by a measure's own options."""
        return self._keep(self._read_by, own)

    def _read_by(self, own):
        block = copy(self)
        block._lists, block._judgments = self._lists.judged_by(own), {}
        block._order = {"has_filtered": self.has_filtered}
        if "sort_key" not in self._order and self._lists.scores is None:
            return block  # judgments without lists
        if block.drops_unjudged and block.has_unjudged:
            key = np.where(block.judged, self.sort_key, np.inf)
            block._order = {"sort_key": key, "has_filtered": True}
        elif self.tie_rule in ("worst", "best"):
            block._order["sort_key"] = self.sort_key
        else:
            block._order = self._shared_order()
        return block

    def _shared_order(self):
        return {name: getattr(self, name) for name in _ORDER}

    def of_lists(self, lists: np.ndarray) -> "ListBlock":
        """Return a block of some of the lists, by their numbers in this block."""
        layout = QueryBlock(self.queries[lists], self.sizes[lists], self.width)
        block = ListBlock(self._lists, layout)
        block.tie_rule, block._order["has_filtered"] = self.tie_rule, self.has_filtered
        return block

    def relisted(self, sort_key: np.ndarray, ties: str | None = None) -> "ListBlock":
        """Return lists with these judgments and other sort keys, +inf for hidden documents.

        If `ties` is None, the shown documents keep their order.
        """
        block = copy(self)
        block.tie_rule = ties or self.tie_rule
        block._order = {} if ties else self._shared_order()
        block._order |= {"sort_key": sort_key, "has_filtered": True}
        return block

    @_order_property
    def has_filtered(self) -> bool:
        """True if some row of the data is not in its list."""
        return self._lists.has_filtered

    @_judgment_property
    def gains(self) -> np.ndarray:
        """Gain of each row, 0 where unjudged or padding; shape (n_queries, width)."""
        if self.has_unjudged:
            return np.where(self.judged, self._labels, 0.0)
        return self._lists.index.take(self._lists.gains, self.layout, 0.0)

    @_judgment_property
    def _labels(self):
        """Gain of each row, NaN where unjudged or padding."""
        return self._lists.index.take(self._lists.gains, self.layout, np.nan)

    @_judgment_property
    def _is_row(self):
        """Mask of the rows of the data, False where padding."""
        return np.arange(self.width) < self.sizes[:, None]

    @_judgment_property
    def pool(self) -> np.ndarray:
        """Gains of the judged rows, ascending, NaN after the last; shape (n_queries, width)."""
        if self.has_unjudged:
            pool = self._labels.copy()
        elif self.is_padded:
            pool = np.where(self._is_row, self.gains, np.nan)
        else:
            pool = self.gains.copy()
        pool.sort(axis=1)
        return pool

    @_judgment_property
    def n_judged(self) -> np.ndarray:
        """Number of judged rows of each query."""
        if self.has_unjudged:
            return np.count_nonzero(self.judged, axis=1)
        return self.sizes

    @_order_property
    def sort_key(self) -> np.ndarray:
        """Ascending sort key: minus the score, +inf where hidden or padding."""
        scores = self._lists.scores
        padding = -np.inf if scores.dtype.kind == "f" else 0
        scores = self._lists.index.take(scores, self.layout, padding)
        if scores.dtype.kind != "f":
            # Pad after the conversion to float, since integers have no -inf.
            scores = scores.astype(np.float64)
            scores[~self._is_row] = -np.inf
        return np.negative(scores, out=scores)

    @_order_property
    def n_retained(self) -> np.ndarray:
        """Length of each returned list: the rows that are not hidden."""
        if not self.has_filtered:
            return self.sizes
        return np.count_nonzero(self.sort_key < np.inf, axis=1)

    @_order_property
    def cells(self) -> np.ndarray:
        """Flat positions, in a matrix of the block, of each list from the best score down.

        Filtered rows and padding come last; shape (n_queries, width), int64.
        """
        if self._is_sorted:
            return np.arange(self.sort_key.size).reshape(self.sort_key.shape)
        cells, tied = self._sorted
        if tied.size and self.tie_rule not in ("average", "stable"):
            # Sorting by two keys is several times slower, so only lists with ties are sorted so.
            order = np.lexsort((self._second_key(tied), self.sort_key[tied]), axis=1)
            cells[tied] = order + self.width * tied[:, None]
        return cells

    @_order_property
    def _sorted(self):
        return sort_rows(self.sort_key)

    @_order_property
    def _tied(self):
        """Numbers of the lists in which documents may have equal scores."""
        if not self._is_sorted:
            return self._sorted.tied
        key = self.sort_key
        same = key[:, 1:] == key[:, :-1]
        if self.has_filtered or self.is_padded:
            same &= key[:, 1:] < np.inf
        return np.flatnonzero(same.any(axis=1))

    def _second_key(self, rows):
        """Return the keys that order documents of equal scores, ascending."""
        lists = self._lists
        if self.tie_rule == "ids":
            return -lists.index.take(lists.tie_codes, self.layout, -1)[rows]
        return self.gains[rows] if self.tie_rule == "worst" else -self.gains[rows]

    @_order_property
    def _is_sorted(self):
        """True if all rows are in list order already, as in most retrieval runs."""
        if self.tie_rule not in ("average", "stable"):
            return False
        key = self.sort_key
        # Test the first list alone before all lists: most unsorted blocks fail there.
        is_first_sorted = (key[:1, 1:] >= key[:1, :-1]).all()
        return bool(is_first_sorted and (key[:, 1:] >= key[:, :-1]).all())

    def column(self, name: str, fill) -> np.ndarray | None:
        """Return an option with one entry per row as a padded matrix; None if not given."""
        values = self._lists.columns.get(name)
        if values is None:
            return None
        return self._lists.index.take(values, self.layout, fill)

    @_judgment_property
    def judged(self) -> np.ndarray:
        """Mask of the judged rows, False where padding; shape (n_queries, width), bool."""
        if not self.has_unjudged:
            return self._is_row
        return ~np.isnan(self._labels)

    @_judgment_property
    def relevant(self) -> np.ndarray:
        """1 where the gain is above 0, else 0; shape (n_queries, width), float64."""
        return (self.gains > 0).astype(np.float64)

    @_judgment_property
    def n_relevant(self) -> np.ndarray:
        """Number of relevant rows of each query's pool, retrieved or not; float64."""
        return self.relevant.sum(axis=1)

    def depth(self, k: int | None) -> int:
        """Return the number of places down to the cut-off."""
        return self.width if k is None else min(k, self.width)

    def in_order(self, values: np.ndarray, k: int | None = None) -> np.ndarray:
        """Bring `values` (n_queries, width) into list order, without averaging ties."""
        depth = self.depth(k)
        if self._is_sorted:
            return values[:, :depth].copy()
        return values.take(self._keep(self._first_cells, depth))

    def _first_cells(self, depth):
        """Return the flat indices of the first places of each list."""
        return np.ascontiguousarray(self.cells[:, :depth])

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield gains and scores of each query's shown rows from the top down, and its pool.

        Ties come in one order. Unjudged rows have gain 0, or are left out with ``unjudged="drop"``;
        the pool has the gains of the judged documents, highest first.
        """
        is_shown = self.sort_key < np.inf
        if self.drops_unjudged:
            is_shown &= self.judged
        columns = (values.take(self.cells) for values in (self.gains, self.sort_key, is_shown))
        for gains, key, own, pool, m in zip(*columns, self.best_first(None), self.n_judged):
            yield gains[own], -key[own].astype(np.float64), pool[:m].copy()

    def ties(self, k: int | None = None) -> Ties | None:
        """Find ties that reach into the first k places; None if ties are not averaged.

        Arrays have one row for each list with such ties, and the full width.
        """
        if self.tie_rule != "average" or self.width == 1:
            return None
        return self._keep(self._ties_of_first, self.depth(k))

    def _ties_of_first(self, depth):
        # One place more than k, to see whether a tie crosses the cut-off.
        keys = self.sort_key.take(self.cells[self._tied, : depth + 1])
        tied = (keys[:, 1:] == keys[:, :-1]) & (keys[:, 1:] < np.inf)
        lists = self._tied[tied.any(axis=1)]
        return find_ties(lists, self.sort_key.take(self.cells[lists])) if lists.size else None

    def ranked(self, values: np.ndarray, k: int | None) -> np.ndarray:
        """Bring `values` (n_queries, width) into list order, up to position k.

        With averaged ties every place of a tie holds the tie's mean, so that any sum weighted by
        position is the exact mean over the tied orders. Places after the end of the returned list
        hold 0.
        """
        top = self.in_order(values, k)
        if (ties := self.ties(k)) is not None:
            tied = values.take(self.cells[ties.lists])
            top[ties.lists] = (ties.sums(tied) / ties.length)[:, : top.shape[1]]
        return self.only_retained(top)

    def ranked_products(self, left: np.ndarray, right: np.ndarray, k: int | None) -> np.ndarray:
        """Compute ``left[i] * (sum of right above place i)`` at each place i up to k.

        Values are exact means over the tied orders, and 0 after the end of the returned list.
        Average precision and similar measures are sums of such products.
        """
        top_left, top_right = self.in_order(left, k), self.in_order(right, k)
        products = top_left * (np.cumsum(top_right, axis=1) - top_right)
        if (ties := self.ties(k)) is not None:
            cells = self.cells[ties.lists]
            means = mean_products(ties, left.take(cells), right.take(cells))
            products[ties.lists] = means[:, : products.shape[1]]
        return self.only_retained(products)

    def only_retained(self, top: np.ndarray) -> np.ndarray:
        """Set the places after the end of each returned list to 0, in place."""
        depth = top.shape[1]
        if self.n_retained.min() < depth:
            top[self._keep(self._behind, depth)] = 0.0
        return top

    def _behind(self, depth):
        return np.arange(depth) >= self.n_retained[:, None]

    def ranked_relevant(self, k: int | None) -> np.ndarray:
        """Return `relevant` in list order up to place k; read only, shared by several measures."""
        return self._keep(self._ranked_relevant, self.depth(k))

    def _ranked_relevant(self, depth):
        return read_only(self.ranked(self.relevant, depth))

    @_order_property
    def shows_relevant(self) -> np.ndarray:
        """Mask of the relevant documents of the returned lists; bool, ties in one order."""
        return self.only_retained(self.in_order(self.gains > 0))

    @_order_property
    def relevant_cells(self) -> RelevantCells:
        """Positions of the relevant documents in the returned lists."""
        return RelevantCells.of(self.shows_relevant)

    def best_relevant(self, k: int | None) -> np.ndarray:
        """Return the highest gains of the pool that are above 0, descending, 0 after the last.

        The result has at most k columns, and no more than the most relevant documents of a query.
        """
        if self.has_forbidden or not self.has_unjudged:
            # Sort the whole pool and not only its best: the lower bound needs it too, or it is
            # hardly longer.
            return np.maximum(self.best_first(k), 0.0)
        cells = RelevantCells.of(self.gains > 0)
        gains = np.zeros((cells.n_lists, max(1, int(cells.n_found.max()))))
        gains[cells.lists, cells.levels - 1] = self.gains.take(cells.cells)
        gains.sort(axis=1)
        return gains[:, ::-1][:, : self.depth(k)]

    def best_first(self, k: int | None) -> np.ndarray:
        """Return the k highest gains of the pool, descending, 0 after its end."""
        depth = self.depth(k)
        if self.has_unjudged or self.is_padded:
            columns = self.n_judged[:, None] - 1 - np.arange(depth)
            best = np.take_along_axis(self.pool, np.maximum(columns, 0), axis=1)
            best[columns < 0] = 0.0
            return best
        return self.pool[:, ::-1][:, :depth]

    def worst_first(self, k: int | None) -> np.ndarray:
        """Return the k lowest gains of the pool, ascending, 0 after its end."""
        depth = self.depth(k)
        worst = self.pool[:, :depth]
        if self.has_unjudged or self.is_padded:
            return np.nan_to_num(worst, nan=0.0)
        return worst


def _exact(scores):
    """Return scores, or ranks if float64 would make different scores equal.

    Examples of such large integers are times in nanoseconds and 64-bit keys.
    """
    if scores.dtype.kind not in "iu" or len(scores) == 0:
        return scores
    if scores.max() <= LARGEST_INTEGER and scores.min() >= -LARGEST_INTEGER:
        return scores
    codes, _ = pd.factorize(scores, sort=True)
    return codes.astype(np.float64)


def _check_ties(ties, n_rows):
    """Return the rule for ties, and the codes of document ids if these break ties."""
    if isinstance(ties, str) or ties is None:
        if ties not in TIES:
            advice = ": pass the document ids themselves" if ties == "docno" else ""
            raise InputError(
                "ties must be 'average', 'stable', 'worst', 'best' or an array of document ids "
                f"(one per row, descending order breaks ties), got {brief(ties)}{advice}."
            )
        return ties, None
    ids = as_column(ties, "ties", "document id")
    if isinstance(ids, pd.Categorical):
        # Sort by the values themselves, not by the order of the categories.
        ids = np.asarray(ids)
    if len(ids) != n_rows:
        raise InputError(
            f"ties as document ids needs one id per row: expected {n_rows}, got {len(ids)}."
        )
    try:
        codes, _ = pd.factorize(ids, sort=True)
    except Exception as error:
        raise InputError(
            f"ties holds document ids that cannot be ordered together ({brief(str(error))}): make "
            "them all strings or all numbers."
        ) from error
    if codes.min() < 0:
        raise InputError(
            f"ties has a missing document id at row {int(codes.argmin())}: give an id for each row."
        )
    return "ids", codes


_ALL_BUT_SIGN = np.int64(np.iinfo(np.int64).max)
_INF_BITS = np.float64(np.inf).view(np.int64)


class SortedRows(NamedTuple):
    """The sorted order of each row of a matrix, and the rows that may have equal values."""

    cells: np.ndarray
    """Flat positions in the matrix, row by row in ascending order of the values; int64."""
    tied: np.ndarray
    """Rows in which values other than +inf may be equal; int64."""


def sort_rows(keys: np.ndarray) -> SortedRows:
    """Sort each row of a matrix of floats without NaN, ascending, equal values by column.

    This is about twice as fast as numpy's argsort along rows. It sorts 64-bit integers that hold
    the leading bits of a value and the number of its cell. Values that differ only in the other
    bits are sorted again afterwards.
    """
    n_bits = max(keys.size - 1, 0).bit_length()
    mask = np.int64((1 << n_bits) - 1)
    # Adding 0.0 turns -0.0 into 0.0, and makes a copy.
    packed = np.add(keys, 0.0, dtype=np.float64, order="C").view(np.int64)
    # With all bits but the sign flipped, the bits of negative floats ascend with their value.
    packed ^= (packed >> 63) & _ALL_BUT_SIGN
    packed &= ~mask
    packed.reshape(-1)[:] |= np.arange(keys.size)
    packed.sort(axis=1)
    cells = packed & mask
    packed >>= n_bits
    values = packed.reshape(-1)
    if not (values[1:] == values[:-1]).any():
        return SortedRows(cells, np.empty(0, dtype=np.intp))
    same = (packed[:, 1:] == packed[:, :-1]) & (packed[:, 1:] < _INF_BITS >> n_bits)
    tied = np.flatnonzero(same.any(axis=1))
    if len(tied):
        _mend(keys, cells, tied, same[tied])
    return SortedRows(cells, tied)


def _mend(keys, cells, rows, same):
    """Sort again, in place, values that have equal leading bits."""
    ranked = keys.take(cells[rows])
    is_confused = (same & (ranked[:, 1:] < ranked[:, :-1])).any(axis=1)
    rows, same = rows[is_confused], same[is_confused]
    if not len(rows):
        return
    # Sort runs of equal leading bits by the whole value; `run` numbers the runs.
    edge = np.zeros((len(rows), 1), dtype=bool)
    confused = np.flatnonzero(np.hstack((same, edge)) | np.hstack((edge, same)))
    run = np.cumsum(~np.hstack((edge, same)).ravel())[confused]
    mended = cells[rows].ravel()
    found = mended[confused]
    mended[confused] = found[np.lexsort((found, keys.take(found), run))]
    cells[rows] = mended.reshape(len(rows), -1)


def argsort_floats(values: np.ndarray) -> np.ndarray:
    """Return row numbers that sort floats (no NaN) ascending; equal floats keep their order."""
    return sort_rows(values[None]).cells[0]
