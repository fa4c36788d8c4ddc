"""A query's whole pool as a list: the ideal one, or one in which all documents are tied."""

from copy import copy

import numpy as np

from skfilterrank.metrics._core.lists import ListBlock

_SHARED = ("gains", "pool", "n_judged", "judged", "relevant", "n_relevant")


class PoolBlock(ListBlock):
    """The queries of a block, each returning all its judged documents and nothing else.

    Parameters
    ----------
    block : ListBlock
        The queries.
    keys : ndarray of shape (n_queries, width) or float
        Sort key of each row, ascending; only those of judged rows are read.
    ties : str
        How rows of equal keys are ordered.
    """

    def __init__(self, block: ListBlock, keys, ties: str):
        lists = copy(block._lists)
        lists.ties = ties
        lists.has_filtered = lists.has_unjudged
        super().__init__(lists, block.layout)
        # What depends on the judgments alone need not be made again.
        self.__dict__.update({name: getattr(block, name) for name in _SHARED})
        self.sort_key = np.where(self.judged, keys, np.inf)


def ideal_list(block: ListBlock) -> PoolBlock:
    """The pool in descending order of gain."""
    return PoolBlock(block, -block.gains, "stable")


def tied_list(block: ListBlock) -> PoolBlock:
    """The pool with all documents tied: its mean over the tied orders is that of all rankings."""
    return PoolBlock(block, 0.0, "average")
