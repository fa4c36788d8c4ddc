"""A query's whole pool as a list: the ideal one, or one in which all documents are tied."""

import numpy as np

from skfilterrank._lists.lists import ListBlock


def ideal_list(block: ListBlock) -> ListBlock:
    """The pool in descending order of gain."""
    return block.relisted(np.where(block.judged, -block.gains, np.inf), "stable")


def tied_list(block: ListBlock) -> ListBlock:
    """The pool with all documents tied: its mean over the tied orders is that of all rankings."""
    return block.relisted(np.where(block.judged, 0.0, np.inf), "average")
