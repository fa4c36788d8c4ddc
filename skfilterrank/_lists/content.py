"""Hashes of rows, and order and folds of queries by what they hold: no id and no order of rows."""

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank._base.checks import count_rows
from skfilterrank._lists.lists import argsort_floats
from skfilterrank._lists.queries import GroupIndex

# Number of cells that are hashed at once, so that they fit the cache.
_CELLS_AT_ONCE = 1 << 15
# Constants of the hash.
_HALF, _ODD = np.uint64(32), np.uint64(0xBF58476D1CE4E5B9)
# Unit of the last bit of a number that is hashed.
_ROUNDED = np.uint64(1 << 29)


def hash_scores(counts: np.ndarray, *scores: np.ndarray) -> np.ndarray:
    """Hash the scores of rows where `counts` is True by their order; their scale does not count."""
    rows = np.flatnonzero(counts)
    hashes = np.zeros(len(counts), dtype=np.uint64)
    if len(rows):
        hashes[rows] = hash_rows(*(_ranks(each[rows]) for each in scores))
    return hashes


def _ranks(values):
    """Number the distinct values, the lowest first; return the number of each value."""
    values = values.astype(np.float64, copy=False)
    order = argsort_floats(values)
    ordered = values[order]
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.cumsum(np.append(False, ordered[1:] != ordered[:-1]))
    return ranks


def hash_rows(table, *others) -> np.ndarray:
    """Hash what each row holds in one or more tables: columns of numbers or texts.

    The hash is that of the values, whatever holds them: an array, a data frame or a sparse matrix.
    """
    hashes = _hashes_of(table)
    for other in others:
        hashes = scrambled(hashes + _hashes_of(other))
    return hashes


def _hashes_of(table):
    """Add up the hashes of the cells of each row; numbers that are 0 do not count."""
    if not count_rows(table):
        return np.empty(0, dtype=np.uint64)
    if sparse.issparse(table):
        return scrambled(_sums_of_sparse(table) + _ODD)
    if isinstance(table, list) and table and isinstance(table[0], str):
        # An array of texts would give all of them the length of the longest.
        table = pd.Series(table, dtype=object)
    if isinstance(table, pd.DataFrame | pd.Series):
        table = pd.DataFrame(table)
        columns = [table.iloc[:, place] for place in range(table.shape[1])]
    else:
        table = np.asarray(table)
        if table.ndim > 1 and table.dtype == np.uint64:
            # Hashes, of which every bit counts, are 1-D.
            table = table.astype(np.float64)
        columns = table.reshape(len(table), -1).T
    sums = np.zeros(len(table), dtype=np.uint64)
    if isinstance(columns, np.ndarray) and columns.dtype.kind in "biuf":
        keys = _keys_of_columns(np.arange(len(columns))[:, np.newaxis])
        step = max(1, _CELLS_AT_ONCE // max(1, len(columns)))
        for begin in range(0, len(sums), step):
            rows = slice(begin, begin + step)
            sums[rows] = _hashes_of_numbers(columns[:, rows], keys).sum(axis=0)
    else:
        for place, column in enumerate(columns):
            sums += _hashes_of_cells(column, place)
    return scrambled(sums + _ODD)


def _hashes_of_cells(column, place):
    """Hash the cells of a column: numbers as float64, everything else as texts."""
    try:
        missing = {"na_value": np.nan} if isinstance(column, pd.Series) else {}
        convert = column.to_numpy if missing else column.astype
        return _hashes_of_numbers(convert(dtype=np.float64, **missing), _keys_of_columns(place))
    except (TypeError, ValueError):
        texts = pd.Series(column).to_numpy(dtype=object)
        try:
            hashes = pd.util.hash_array(texts, categorize=False)
        except UnicodeEncodeError:
            # Unpaired surrogates, as of half an emoji.
            texts = [str(text).encode("utf-8", "surrogatepass").decode("latin-1") for text in texts]
            hashes = pd.util.hash_array(np.array(texts, dtype=object), categorize=False)
        return scrambled(hashes + np.uint64(place))


def _keys_of_columns(places):
    """Return a key for each of some numbers of columns."""
    return scrambled(np.atleast_1d(places).astype(np.uint64) + _ODD)


def _hashes_of_numbers(values, keys):
    """Hash numbers with the keys of their columns."""
    if values.dtype == np.uint64:
        bits = values
    else:
        # Adding 0.0 makes -0.0 and 0.0 equal.
        bits = np.add(values, 0.0, dtype=np.float64, order="C").view(np.uint64)
        # Seven digits count, as in float32, so that the error of a computation seldom does.
        bits += _ROUNDED >> np.uint64(1)
        bits &= ~(_ROUNDED - np.uint64(1))
    hashes = scrambled(bits ^ keys)
    hashes[bits == 0] = 0
    return hashes


def _sums_of_sparse(table):
    table = sparse.csr_array(table)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    data = table.data.astype(np.float64, copy=False)
    cells = _hashes_of_numbers(data, _keys_of_columns(table.indices))
    ends = np.append(np.uint64(0), np.cumsum(cells, dtype=np.uint64))
    return ends[table.indptr[1:]] - ends[table.indptr[:-1]]


def scrambled(keys):
    """Mix the bits of each number, as splitmix64 does, so that similar numbers become unrelated."""
    keys = keys ^ (keys >> _HALF)
    high = np.empty_like(keys)
    for _ in range(2):
        keys *= _ODD
        keys ^= np.right_shift(keys, _HALF, out=high)
    return keys


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
    _, order = _sorted_keys(index, hashes, labels)
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
    return _sorted_keys(index, hashes, labels)[0]


def _sorted_keys(index, hashes, labels):
    """Return the key of each query, and the queries in the order of their keys."""
    sums = scrambled(index.sums(hashes))
    keys = scrambled(sums)
    by_key = np.argsort(keys)
    ordered = keys[by_key]
    if (ordered[1:] != ordered[:-1]).all():
        return keys, by_key
    # Queries of equal keys are numbered, and the numbers put them into random places.
    further = index.sums(hash_rows(hashes, *labels)) if labels else sums
    by_key = np.lexsort((further, sums))
    ordered = sums[by_key]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    copy = np.arange(len(keys)) - np.repeat(first, np.diff(first, append=len(keys)))
    keys[by_key] = scrambled(ordered + copy.astype(np.uint64))
    return keys, np.argsort(keys)


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
