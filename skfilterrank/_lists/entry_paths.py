"""Sets of rows along a path, of which each shows its own part of every list."""

from collections.abc import Iterable, Iterator

import numpy as np

from skfilterrank._lists.lists import ListBlock, RankedLists


class PathOfSets:
    """First documents of each list for each of several sets of rows.

    Attributes
    ----------
    levels : ndarray of shape (n_sets,), float64
        Level of each set, falling.
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
            The lists. Their order, with their rule for ties, is that of rows of equal scores.
        sets : iterable of ndarray of shape (n_rows,), or PathOfSets
            Scores that order what is shown, -inf where rows are hidden, or masks of what is shown
            in the order of the lists; the safest first.
        levels : ndarray of shape (n_sets,) or None
            Level of each set, falling. None means 0, -1, -2 and so on.
        depth : int or None
            Documents of each list that are shown at most, or that matter.
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
        """Give the column of each place of the lists of a block, its width behind the last.

        Shape (n_sets, n_lists, depth).
        """
        return self._columns[int(block.queries[0])]

    def masks(self) -> Iterator[np.ndarray]:
        """Yield for each set which rows are shown."""
        for number in range(len(self.levels)):
            shown = np.zeros(self._index.n_rows, dtype=bool)
            for block in self._blocks:
                columns = self._columns[int(block.queries[0])][number]
                inside = np.zeros((len(columns), block.width + 1), dtype=bool)
                np.put_along_axis(inside, columns.astype(np.intp), True, axis=1)
                self._index.put(shown, block, inside[:, :-1])
            yield shown


def _first_columns(lists, block, scores, depth):
    """Find the columns of the first documents of each list by one set, its width behind them."""
    is_mask = scores.dtype == bool
    ordered = block.in_order(lists.index.take(scores, block.layout, False if is_mask else -np.inf))
    places = _first_places(ordered, depth) if is_mask else _highest(ordered, depth)
    n_lists, width = ordered.shape
    column = np.full((n_lists, width + 1), width, dtype=np.min_scalar_type(width))
    column[:, :-1] = block.cells - width * np.arange(n_lists)[:, None]
    return np.take_along_axis(column, places, axis=1)


def _first_places(shown, depth):
    """Find the first columns of each row of a mask, its width behind the last."""
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
    """Find row and column where a matrix is true, as numpy's nonzero, which takes longer."""
    cells = np.flatnonzero(mask)
    rows = cells // mask.shape[1]
    return rows, cells - rows * mask.shape[1]


def _highest(scores, depth):
    """Find the columns of finite scores from the highest down, the width behind the last."""
    width = scores.shape[1]
    if depth < width // 2:
        # Only the first places need an order.
        lowest = -np.partition(-scores, depth - 1, axis=1)[:, depth - 1, None]
        scores = np.where(scores >= lowest, scores, -np.inf)
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    columns[np.isneginf(np.take_along_axis(scores, columns, axis=1))] = width
    return columns
