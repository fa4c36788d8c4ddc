"""Where the relevant documents stand, for measures that look at nothing else."""

from dataclasses import dataclass

import numpy as np

from skfilterrank._lists.arrays import cached_property


@dataclass(frozen=True, eq=False)
class RelevantCells:
    """The relevant documents of the returned lists of a block, list by list from the top.

    Attributes
    ----------
    cells : ndarray of shape (n_found,)
        Flat position of each in a matrix of the block in list order.
    lists : ndarray of shape (n_found,)
        The list of each.
    places : ndarray of shape (n_found,)
        The place of each in its list, from 0.
    n_lists : int
        Number of lists of the block.
    """

    cells: np.ndarray
    lists: np.ndarray
    places: np.ndarray
    n_lists: int

    @classmethod
    def of(cls, relevant: np.ndarray) -> "RelevantCells":
        """Those that a bool matrix in list order marks."""
        cells = np.flatnonzero(relevant)
        lists = cells // relevant.shape[1]
        return cls(cells, lists, cells - lists * relevant.shape[1], len(relevant))

    @cached_property
    def n_found(self) -> np.ndarray:
        """How many each list has; shape (n_lists,)."""
        return np.bincount(self.lists, minlength=self.n_lists)

    @cached_property
    def levels(self) -> np.ndarray:
        """How many there are from the top of its list down to each, itself included."""
        n_before = np.cumsum(self.n_found) - self.n_found
        return np.arange(1, len(self.cells) + 1) - n_before[self.lists]

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
