"""A path: a sequence of sets of rows, each of which shows a part of every list."""

from collections.abc import Iterable, Iterator

import numpy as np

from skfilterrank._lists.lists import ListBlock, RankedLists


class PathOfSets:
    """First documents of each list for each of several sets of rows.

    Attributes
    ----------
    levels : ndarray of shape (n_sets,), float64
        Level of each set, descending.
    """

    def __init__(self, lists: RankedLists, levels: np.ndarray, columns: list[np.ndarray]):
        self.levels = levels
        self._index = lists.index
        self._blocks = list(lists.index.blocks())
        self._columns = {int(block.queries[0]): own for block, own in zip(self._blocks, columns)}

    @classmethod
    def of(
        cls, lists: RankedLists, sets: Iterable, levels=None, depth: int | None = None
    ) -> "PathOfSets":
        """Find the first documents of each list, once for all measures.

        Parameters
        ----------
        lists : RankedLists
            The lists. Rows to which a set gives equal scores keep the order of these lists.
        sets : iterable of ndarray of shape (n_rows,), or PathOfSets
            For each set, scores that order the shown rows, -inf for hidden rows; or a mask of the
            shown rows, which keep the order of the lists. The safest set comes first.
        levels : ndarray of shape (n_sets,) or None
            Level of each set, descending. None means 0, -1, -2 and so on.
        depth : int or None
            Number of first documents of each list that are used; None means all.
        """
        if isinstance(sets, PathOfSets):
            return sets
        blocks = list(lists.blocks())
        found: list[list[np.ndarray]] = [[] for _ in blocks]
        is_there = lists.scores > -np.inf
        for each in sets:
            each = np.asarray(each)
            if each.dtype != bool:
                each = each.astype(np.float64, copy=False)
            elif lists.has_filtered:
                each = each & is_there
            for block, own in zip(blocks, found):
                own.append(_first_columns(lists, block, each, block.depth(depth)))
        n_sets = len(found[0])
        levels = -np.arange(float(n_sets)) if levels is None else np.asarray(levels, dtype=float)
        columns = [
            np.stack(own) if own else np.empty((0, len(block.queries), 0), dtype=np.uint8)
            for block, own in zip(blocks, found)
        ]
        return cls(lists, levels, columns)

    def columns(self, block: ListBlock) -> np.ndarray:
        """Return the column of each place of the lists of a block, padded with the width.

        Shape (n_sets, n_lists, depth).
        """
        return self._columns[int(block.queries[0])]

    def masks(self) -> Iterator[np.ndarray]:
        """Yield a mask of the shown rows for each set."""
        for number in range(len(self.levels)):
            shown = np.zeros(self._index.n_rows, dtype=bool)
            for block in self._blocks:
                columns = self._columns[int(block.queries[0])][number]
                inside = np.zeros((len(columns), block.width + 1), dtype=bool)
                np.put_along_axis(inside, columns.astype(np.intp), True, axis=1)
                self._index.put(shown, block, inside[:, :-1])
            yield shown


def _first_columns(lists, block, scores, depth):
    """Find the columns of each list's first documents in one set, padded with the width."""
    is_mask = scores.dtype == bool
    ordered = block.in_order(lists.index.take(scores, block.layout, False if is_mask else -np.inf))
    places = _first_places(ordered, depth) if is_mask else _highest(ordered, depth)
    n_lists, width = ordered.shape
    column = np.full((n_lists, width + 1), width, dtype=np.min_scalar_type(width))
    column[:, :-1] = block.cells - width * np.arange(n_lists)[:, None]
    return np.take_along_axis(column, places, axis=1)


def _first_places(shown, depth):
    """Find the first True columns of each row of a mask, padded with the width."""
    n_lists, width = shown.shape
    query, column = nonzero_of_rows(shown)
    n_shown = np.bincount(query, minlength=n_lists)
    place = np.arange(len(query)) - np.repeat(np.cumsum(n_shown) - n_shown, n_shown)
    result = np.full((n_lists, depth), width)
    if len(place) and n_shown.max() > depth:
        inside = place < depth
        query, column, place = query[inside], column[inside], place[inside]
    result.put(query * depth + place, column)
    return result


def nonzero_of_rows(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find row and column where a matrix is True; faster than numpy's nonzero."""
    cells = np.flatnonzero(mask)
    rows = cells // mask.shape[1]
    return rows, cells - rows * mask.shape[1]


def _highest(scores, depth):
    """Find the columns of finite scores, the highest score first, padded with the width."""
    width = scores.shape[1]
    if depth < width // 2:
        # Only the first places must be sorted.
        lowest = -np.partition(-scores, depth - 1, axis=1)[:, depth - 1, None]
        scores = np.where(scores >= lowest, scores, -np.inf)
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    columns[np.isneginf(np.take_along_axis(scores, columns, axis=1))] = width
    return columns
