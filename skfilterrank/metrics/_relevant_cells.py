"""Where the relevant documents stand, for measures that look at nothing else."""

from typing import NamedTuple

import numpy as np

from skfilterrank.metrics._lists import ListBlock


class RelevantCells(NamedTuple):
    """The relevant documents of the returned lists of a block, list by list from the top."""

    cells: np.ndarray
    """Flat position of each in a matrix of the block in list order; shape (n_found,)."""
    lists: np.ndarray
    """The list of each; shape (n_found,)."""
    places: np.ndarray
    """The place of each in its list, from 0; shape (n_found,)."""
    n_lists: int
    """Number of lists of the block."""

    def count(self, marks: np.ndarray) -> np.ndarray:
        """How many marks there are from the top of its list down to each, itself included.

        `marks` is a bool matrix in list order.
        """
        # Of the types of numpy, 32-bit integers add up fastest by far.
        counts = np.cumsum(marks.astype(np.int32), axis=1, dtype=np.int32)
        return counts.take(self.cells)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum of each list's values; shape (n_lists,)."""
        return np.bincount(self.lists, values, minlength=self.n_lists)


def find_relevant(block: ListBlock) -> tuple[np.ndarray, RelevantCells]:
    """Whether the documents of the returned lists are relevant, in list order, and where they are.

    Ties stand in one of their orders.
    """
    relevant = block.only_retained(block.in_order(block.gains > 0))
    cells = np.flatnonzero(relevant)
    lists = cells // block.width
    return relevant, RelevantCells(cells, lists, cells - lists * block.width, len(relevant))
