"""Folds of queries of about equal size."""

import numpy as np


def query_folds(units: np.ndarray, n_folds: int, seed: int = 0) -> np.ndarray:
    """Deal queries (or clusters) to folds of about equal numbers; return the fold of each entry.

    Parameters
    ----------
    units : ndarray of int
        Number of the query or cluster of each entry, from 0, in the order of content.
    n_folds : int
        Number of folds; at most the number of units.
    seed : int, default=0
        Other seeds give other deals of the same queries.
    """
    numbers = distinct_numbers(units)
    # Numbers of queries are in a random order already, so that the first deal takes them as they
    # are: then few queries change their fold if another query is added or judged again.
    dealt = np.random.RandomState(seed).permutation(numbers) if seed else numbers
    fold = np.empty(int(units.max(initial=-1)) + 1, dtype=np.intp)
    for number, part in enumerate(np.array_split(dealt, n_folds)):
        fold[part] = number
    return fold[units]


def distinct_numbers(numbers: np.ndarray) -> np.ndarray:
    """Return the distinct numbers, ascending; faster than `np.unique` for numbers from 0 up."""
    return np.flatnonzero(np.bincount(numbers))
