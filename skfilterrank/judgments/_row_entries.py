"""Entries of some rows of csr matrices, and work cut into blocks."""

import numpy as np


def running_sums(values):
    """Sums of the first 0, 1, 2, ... values."""
    return np.concatenate((np.zeros(1, dtype=values.dtype), np.cumsum(values)))


def blocks_of(running, size):
    """Yield begin and end of stretches with work of about `size`, from running sums of the work."""
    begin = 0
    while begin < len(running) - 1:
        end = np.searchsorted(running, running[begin] + size, side="right") - 1
        end = max(begin + 1, int(end))
        yield begin, end
        begin = end


def entries_of(indptr, rows):
    """Positions of the entries of some rows of a csr matrix, and the place in `rows` of each."""
    lengths = indptr[rows + 1].astype(np.int64) - indptr[rows]
    owners = np.repeat(np.arange(len(rows)), lengths)
    shift = indptr[rows] - (np.cumsum(lengths) - lengths)
    return shift[owners] + np.arange(len(owners)), owners
