"""The rows of each query, indexed once and shared by everything that works per query."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view
from scipy import sparse

from skfilterrank._core.arrays import as_column, entry_types, is_missing
from skfilterrank.exceptions import InputError, brief

# Padded blocks of this many cells (512 KiB of float64) stay in the second-level cache.
BLOCK_CELLS = 1 << 16
_CHUNK_ROWS = 1 << 18
_NARROW = 16


class Block(NamedTuple):
    """Some queries of about the same size, to be laid out as one padded matrix."""

    queries: np.ndarray
    sizes: np.ndarray
    width: int


class GroupIndex:
    """Where each query's rows are.

    Queries are numbered by their sorted ids. `order` lists the row numbers query by query; it is
    None where every query's rows stand together, and then a query is a slice of the data itself.

    Attributes
    ----------
    query_ids : ndarray of shape (n_queries,)
        The distinct query ids, sorted.
    sizes : ndarray of shape (n_queries,), dtype int64
        Number of rows of each query.
    starts : ndarray of shape (n_queries,), dtype int64
        First position of each query in `order` (or in the data where `order` is None).
    order : ndarray of shape (n_rows,) or None
        Row numbers, grouped by query, ascending within a query.
    n_rows : int
        Number of rows.
    """

    __slots__ = ("_labels", "n_rows", "order", "query_ids", "sizes", "starts")

    def __init__(self, query_ids, sizes, starts, order, n_rows, labels=None):
        self.query_ids = query_ids
        self.sizes = sizes
        self.starts = starts
        self.order = order
        self.n_rows = n_rows
        self._labels = labels

    @classmethod
    def from_groups(cls, groups, name: str = "groups") -> "GroupIndex":
        """Index the query id of each row; ids may be of any type and in any order."""
        values = _group_values(groups, name)
        n_rows = len(values)
        if n_rows == 0:
            raise InputError(f"{name} is empty: expected one query id per row, at least one row.")
        changes = np.asarray(values[1:] != values[:-1], dtype=bool)
        n_runs = 1 + np.count_nonzero(changes)
        if n_runs > n_rows // 2:
            codes, query_ids = _factorize(values, name)
            if codes is None:
                return cls(
                    query_ids, np.ones(n_rows, dtype=np.int64), np.arange(n_rows), None, n_rows
                )
            if n_runs > len(query_ids):
                del changes
                return cls._scattered(codes, query_ids)
            heads = np.concatenate(([0], np.flatnonzero(changes) + 1))
            codes = codes[heads]
        else:
            heads = np.concatenate(([0], np.flatnonzero(changes) + 1))
            codes, query_ids = _factorize(values[heads], name)
        lengths = np.diff(heads, append=n_rows)
        if codes is None:
            return cls(query_ids, lengths, heads, None, n_rows)
        if len(codes) == len(query_ids):
            starts = np.empty(len(codes), dtype=np.int64)
            sizes = np.empty(len(codes), dtype=np.int64)
            starts[codes] = heads
            sizes[codes] = lengths
            return cls(query_ids, sizes, starts, None, n_rows)
        return cls._scattered(np.repeat(codes, lengths), query_ids)

    @classmethod
    def _scattered(cls, codes, query_ids):
        """Index queries whose rows do not stand together."""
        sizes = _count(codes, len(query_ids))
        order = _order_by_code(codes, sizes)
        return cls(query_ids, sizes, _offsets(sizes), order, len(codes))

    @property
    def n_queries(self) -> int:
        """Number of distinct queries."""
        return len(self.query_ids)

    @property
    def labels(self) -> pd.Index:
        """The query ids as the index "qid" of a table; made once, as text takes pandas long."""
        if self._labels is None:
            ids = self.query_ids
            # pandas has no longer floats: an index of them fails when it is used.
            ids = ids.astype(np.float64) if ids.dtype == np.longdouble else ids
            self._labels = pd.Index(ids, name="qid", tupleize_cols=False)
        return self._labels

    def row_order(self) -> np.ndarray:
        """Row numbers query by query, queries in the order of their ids."""
        if self.order is not None:
            return self.order
        first = np.repeat(self.starts - _offsets(self.sizes), self.sizes)
        return first + np.arange(self.n_rows)

    def codes(self) -> np.ndarray:
        """Number of the query of each row."""
        codes = np.empty(self.n_rows, dtype=np.intp)
        codes[self.row_order()] = np.repeat(np.arange(self.n_queries), self.sizes)
        return codes

    def blocks(self, max_cells: int = BLOCK_CELLS) -> Iterator[Block]:
        """Yield all queries, smallest first, in blocks of at most `max_cells` padded cells."""
        # numpy sorts 16-bit integers by radix, several times faster than longer ones.
        small = self.sizes.max() <= np.iinfo(np.int16).max
        by_size = np.argsort(self.sizes.astype(np.int16) if small else self.sizes, kind="stable")
        sizes = self.sizes[by_size]
        begin = 0
        while begin < len(by_size):
            last = min(begin + max(1, max_cells // sizes[begin]), len(by_size)) - 1
            end = min(begin + max(1, max_cells // sizes[last]), len(by_size))
            yield Block(by_size[begin:end], sizes[begin:end], int(sizes[end - 1]))
            begin = end

    def take(self, values: np.ndarray, block: Block, fill) -> np.ndarray:
        """Lay `values` of the block's queries out, one query a row, padded with `fill`."""
        source = values if self.order is None else self.order
        starts = self.starts[block.queries]
        if block.width <= _NARROW:
            # One place of all queries at a time: fewer, longer copies.
            columns = np.empty((block.width, len(starts)), dtype=source.dtype)
            for place in range(block.width):
                source.take(starts + place, out=columns[place], mode="clip")
            taken = np.ascontiguousarray(columns.T)
        elif starts.max() + block.width <= self.n_rows:
            taken = sliding_window_view(source, block.width)[starts]
        else:
            columns = starts[:, None] + np.arange(block.width)
            taken = source[np.minimum(columns, self.n_rows - 1)]
        if self.order is not None:
            taken = values[taken]
        if block.sizes[0] != block.width:
            taken[np.arange(block.width) >= block.sizes[:, None]] = fill
        return taken

    def put(self, target: np.ndarray, block: Block, values: np.ndarray) -> None:
        """Write a padded matrix of the block's queries back to the rows it came from."""
        inside = np.arange(block.width) < block.sizes[:, None]
        positions = (self.starts[block.queries][:, None] + np.arange(block.width))[inside]
        rows = positions if self.order is None else self.order[positions]
        target[rows] = values[inside]


def _offsets(sizes):
    """First position of each of the consecutive stretches of the given sizes."""
    return np.cumsum(sizes) - sizes


def query_runs(groups, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Query id and length of each stretch of rows that have the same one; there may be no rows."""
    values = _group_values(groups, name)
    heads = np.flatnonzero(np.asarray(values[1:] != values[:-1], dtype=bool)) + 1
    heads = np.append(0, heads)[: len(values)]
    return np.asarray(values[heads]), np.diff(heads, append=len(values))


def _group_values(groups, name):
    """A one-dimensional array of query ids without missing values."""
    if isinstance(groups, pd.MultiIndex):
        raise InputError(
            f"{name} has several levels: expected one query id per row; pass one level, e.g. "
            f"{name}=index.get_level_values('qid')."
        )
    values = as_column(groups, name, "query id")
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = as_column(np.asarray(values), name, "query id")
    if values.dtype == np.float16:
        # Which pandas has no index of.
        values = values.astype(np.float32)
    if not isinstance(values, np.ndarray) or values.dtype.kind in "fOmM":
        missing = is_missing(values, name)
        if missing.any():
            raise InputError(
                f"{name} has {missing.sum()} missing value(s), the first at row "
                f"{missing.argmax()}: every row needs the id of its query."
            )
    for kind in entry_types(values):
        if kind.__hash__ is None:
            raise InputError(
                f"{name} must hold one query id per row, a number or text, got an entry of type "
                f"{kind.__name__}."
            )
    return values


def _factorize(values, name):
    """Codes (None for 0, 1, 2, ...) and sorted distinct values."""
    if (
        isinstance(values, np.ndarray)
        and values.dtype != object
        and bool((values[1:] > values[:-1]).all())
    ):
        return None, values
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        first, last = int(values.min()), int(values.max())
        if last - first < 2 * len(values):
            return _factorize_dense(values, first, last)
    try:
        codes, distinct = pd.factorize(values, sort=True)
    except Exception as error:
        raise InputError(
            f"{name} holds query ids of types that cannot be ordered together "
            f"({brief(str(error))}): make them all strings or all numbers."
        ) from error
    if isinstance(values, np.ndarray) and values.dtype.kind in "US":
        distinct = np.asarray(distinct, dtype=values.dtype)
    distinct = np.asarray(distinct)
    # pandas sorts numbers before text, where 1 and "1" would quietly be two queries.
    if distinct.dtype == object and isinstance(distinct[-1], str) != isinstance(distinct[0], str):
        raise InputError(
            f"{name} holds query ids of different types, such as {brief(distinct[0])} and "
            f"{brief(distinct[-1])}: make them all strings or all numbers."
        )
    return codes, distinct


def _factorize_dense(values, first, last):
    """The same for integers that fill much of their range: faster, and 4 bytes a row."""
    codes = np.empty(len(values), dtype=np.int32 if last - first < 2**31 else np.int64)
    np.subtract(values, values.dtype.type(first), out=codes, casting="unsafe")
    present = _count(codes, last - first + 1) > 0
    query_ids = np.flatnonzero(present).astype(values.dtype) + values.dtype.type(first)
    if len(query_ids) < len(present):
        number = (np.cumsum(present) - 1).astype(codes.dtype)
        for rows in _chunks(len(codes)):
            codes[rows] = number[codes[rows]]
    return codes, query_ids


def _chunks(n_rows, n_codes=0):
    """Slices of the rows: temporary arrays stay small, work per code is not done too often."""
    step = max(_CHUNK_ROWS, n_codes // 2)
    return (slice(begin, begin + step) for begin in range(0, n_rows, step))


def _count(codes, n_codes):
    """Number of rows of each code; numpy's bincount would copy the whole column."""
    counts = np.zeros(n_codes, dtype=np.int64)
    for rows in _chunks(len(codes), n_codes):
        counts += np.bincount(codes[rows], minlength=n_codes)
    return counts


def _order_by_code(codes, sizes):
    """Row numbers sorted by code, ascending within a code: a counting sort in chunks."""
    n_rows, n_codes = len(codes), len(sizes)
    index_type = np.int32 if n_rows < np.iinfo(np.int32).max else np.int64
    order = np.empty(n_rows, dtype=index_type)
    cursor = _offsets(sizes)
    for rows in _chunks(n_rows, n_codes):
        chunk = codes[rows].astype(index_type)
        # One entry per row: turning the matrix column-wise is scipy's counting sort.
        marks = sparse.csr_array(
            (
                np.ones(len(chunk), dtype=np.int8),
                chunk,
                np.arange(len(chunk) + 1, dtype=index_type),
            ),
            shape=(len(chunk), n_codes),
        ).tocsc()
        counts = np.diff(marks.indptr)
        target = np.repeat(cursor - marks.indptr[:-1], counts) + np.arange(len(chunk))
        order[target] = marks.indices + rows.start
        cursor += counts
    return order
