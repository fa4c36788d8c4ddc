"""Order of queries by their content: neither ids nor row order count."""

import numpy as np

from skfilterrank._base.row_hashes import hash_rows, scrambled
from skfilterrank._lists.queries import GroupIndex


def by_content(
    index: GroupIndex, hashes: np.ndarray, *labels: np.ndarray
) -> tuple[GroupIndex, np.ndarray]:
    """Number queries in a random order that their content alone decides.

    Parameters
    ----------
    index, hashes, *labels
        As in :func:`keys_of_queries`.

    Returns
    -------
    numbered : GroupIndex
        The same queries with their numbers as ids.
    order : ndarray of shape (n_queries,), int
        Numbers of the queries in `index`, in the new order.
    """
    order = np.argsort(keys_of_queries(index, hashes, *labels))
    return index.renumbered(order), order


def keys_of_queries(index: GroupIndex, hashes: np.ndarray, *labels: np.ndarray) -> np.ndarray:
    """Return a random number for each query, which its content alone decides.

    What is learned from some queries must not depend on the labels of others. So labels distinguish
    only queries that are equal otherwise.

    Parameters
    ----------
    index : GroupIndex
        The queries, or clusters of queries.
    hashes : ndarray of shape (n_rows,), dtype uint64
        Hash of each row, from `hash_rows` or `hash_scores`; 0 for rows that do not count.
    *labels : ndarray of shape (n_rows,)
        Labels, and what else is given for rows.
    """
    keys = scrambled(index.sums(hashes))
    ordered = np.sort(keys)
    if (ordered[1:] != ordered[:-1]).all():
        return scrambled(keys)
    # Queries of equal keys are numbered, and the numbers put them into random places.
    further = index.sums(hash_rows(hashes, *labels)) if labels else keys
    by_key = np.lexsort((further, keys))
    ordered = keys[by_key]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    copy = np.arange(len(keys)) - np.repeat(first, np.diff(first, append=len(keys)))
    keys[by_key] = scrambled(ordered + copy.astype(np.uint64))
    return keys
