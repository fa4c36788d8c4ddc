"""Index of the rows of each query, and checks of query ids."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from skfilterrank._base.checks import (
    as_column,
    cached_property,
    entry_types,
    is_missing,
    no_unicode,
)
from skfilterrank._base.words import counted
from skfilterrank.exceptions import InputError, brief, brief_list

QID = "qid"


# Padded blocks of this many cells (512 KiB of float64) stay in the second-level cache.
BLOCK_CELLS = 1 << 16
# Fixed cost of a block, in units of cells.
_BLOCK_OVERHEAD = 1 << 13
# Number of rows whose columns fit the third-level cache while blocks are made.
_PART_ROWS = 1 << 20
_CHUNK_ROWS = 1 << 17
# Integer ids are looked up in a table if it has at most this many entries for each row.
_DENSE = 8


class QueryBlock:
    """Some queries of similar size, which form one padded matrix."""

    __slots__ = ("queries", "rows", "sizes", "width")

    def __init__(self, queries: np.ndarray, sizes: np.ndarray, width: int):
        self.queries = queries
        self.sizes = sizes
        self.width = width
        # Row number of each cell if rows are not sorted by query; cached for all columns.
        self.rows: np.ndarray | None = None


class GroupIndex:
    """Positions of the rows of each query.

    Queries are numbered by their sorted ids. `order` lists the row numbers query by query; it is
    None if the rows of every query are consecutive, and then a query is a slice of the data itself.

    Attributes
    ----------
    query_ids : ndarray of shape (n_queries,)
        The distinct query ids, sorted.
    n_queries : int
        Number of distinct queries.
    sizes : ndarray of shape (n_queries,), dtype int64
        Number of rows of each query.
    starts : ndarray of shape (n_queries,), dtype int64
        First position of each query in `order` (or in the data where `order` is None).
    order : ndarray of shape (n_rows,) or None
        Row numbers, grouped by query, ascending within a query.
    n_rows : int
        Number of rows.
    """

    def __init__(self, query_ids, sizes, starts, order, n_rows, labels=None):
        self.query_ids = query_ids
        self.n_queries = len(query_ids)
        self.sizes = sizes
        self.starts = starts
        self.order = order
        self.n_rows = n_rows
        self._labels = labels

    @classmethod
    def from_groups(cls, groups, name: str = "groups") -> "GroupIndex":
        """Index the query id of each row; ids may be of any type and in any order."""
        values, kinds = _group_values(groups, name)
        index = cls._of_values(values, name, kinds == {str})
        # An empty text is sorted first.
        if isinstance(first := index.query_ids[0], str | bytes) and not first:
            raise _of_no_id(np.asarray(values) == first, name)
        return index

    @classmethod
    def _of_values(cls, values, name, are_texts):
        """Index checked query ids."""
        n_rows = len(values)
        if n_rows == 0:
            raise InputError(f"{name} is empty: expected one query id per row, at least one row.")
        changes = np.asarray(values[1:] != values[:-1], dtype=bool)
        n_runs = 1 + np.count_nonzero(changes)
        if n_runs == 1 and isinstance(values, np.ndarray) and values.dtype != object:
            return cls.of_one(n_rows, values[:1].copy())
        span = _dense_span(values) if n_runs > n_rows // 2 else None
        if span is not None and n_runs > span[1] - span[0] + 1:
            del changes
            return cls._scattered_integers(values, *span)
        heads = np.concatenate(([0], np.flatnonzero(changes) + 1))
        codes, query_ids = _factorize(values[heads], name, are_texts)
        lengths = np.diff(heads, append=n_rows)
        if codes is None:
            return cls(query_ids, lengths, heads, None, n_rows)
        if len(codes) == len(query_ids):
            starts = np.empty(len(codes), dtype=np.int64)
            sizes = np.empty(len(codes), dtype=np.int64)
            starts[codes] = heads
            sizes[codes] = lengths
            index = cls(query_ids, sizes, starts, None, n_rows)
            index._by_start = codes
            return index
        return cls._scattered(np.repeat(codes, lengths), query_ids)

    @classmethod
    def of_one(cls, n_rows: int, query_ids=None) -> "GroupIndex":
        """Index the rows of one query, whose id is 0 if none is given."""
        start = np.zeros(1, dtype=np.int64)
        return cls(start if query_ids is None else query_ids, start + n_rows, start, None, n_rows)

    @classmethod
    def _scattered(cls, codes, query_ids):
        """Index queries whose rows are not consecutive."""
        order, sizes = _order_by_code(codes.__getitem__, len(codes), len(query_ids))
        return cls(query_ids, sizes, _offsets(sizes), order, len(codes))

    @classmethod
    def _scattered_integers(cls, values, first, last):
        """Index integers that fill much of their range, without storing codes."""
        order, sizes = _order_by_code(
            lambda rows: _distance(values[rows], first), len(values), last - first + 1
        )
        present = np.flatnonzero(sizes)
        query_ids = present.astype(values.dtype) + values.dtype.type(first)
        sizes = sizes[present]
        return cls(query_ids, sizes, _offsets(sizes), order, len(values))

    @property
    def labels(self) -> pd.Index:
        """The query ids as a pandas index "qid"; cached, since text ids take pandas long."""
        if self._labels is None:
            ids = self.query_ids
            # pandas does not support longer floats: an index of them fails when it is used.
            ids = ids.astype(np.float64) if ids.dtype == np.longdouble else ids
            try:
                self._labels = pd.Index(ids, name="qid", tupleize_cols=False)
            except UnicodeEncodeError as error:
                raise no_unicode("groups", error) from None
        return self._labels

    def by_first_row(self) -> "GroupIndex":
        """Return the same queries, numbered in the order of their first rows."""
        if self.order is None:
            return self.renumbered(self._by_start)
        return self.renumbered(np.argsort(self.order[self.starts]))

    def renumbered(self, queries: np.ndarray) -> "GroupIndex":
        """Return the same queries in another order, numbered from 0."""
        numbers = np.arange(self.n_queries)
        number = np.empty_like(numbers)
        number[queries] = numbers
        if self.order is not None:
            return GroupIndex.from_groups(number[self.codes()])
        sizes, starts = self.sizes[queries], self.starts[queries]
        index = GroupIndex(numbers, sizes, starts, None, self.n_rows)
        index._by_start = number[self._by_start]
        return index

    @cached_property
    def _by_start(self):
        """Queries in the order of their first rows, if the rows of each are consecutive."""
        if (self.starts[1:] > self.starts[:-1]).all():
            return np.arange(self.n_queries)
        return np.argsort(self.starts)

    def row_order(self) -> np.ndarray:
        """Return the row numbers query by query, queries in the order of their ids."""
        if self.order is not None:
            return self.order
        first = np.repeat(self.starts - _offsets(self.sizes), self.sizes)
        return first + np.arange(self.n_rows)

    def codes(self) -> np.ndarray:
        """Return the number of the query of each row."""
        if self.order is None:
            return np.repeat(self._by_start, self.sizes[self._by_start])
        codes = np.empty(self.n_rows, dtype=np.intp)
        codes[self.order] = np.repeat(np.arange(self.n_queries), self.sizes)
        return codes

    def row_ids(self) -> np.ndarray:
        """Return the query id of each row."""
        return self.query_ids[self.codes()]

    def rows_by_query(self) -> list[np.ndarray]:
        """Return the row numbers of each query."""
        return np.split(self.row_order(), np.cumsum(self.sizes)[:-1])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum integers over the rows of each query; sums keep the type of the values."""
        if self.order is not None:
            return np.add.reduceat(values[self.order], self.starts)
        sums = np.empty(self.n_queries, dtype=values.dtype)
        sums[self._by_start] = np.add.reduceat(values, self.starts[self._by_start])
        return sums

    def blocks(self, max_cells: int = BLOCK_CELLS) -> Iterator[QueryBlock]:
        """Yield all queries in blocks of at most `max_cells` padded cells.

        The data are read in parts, and within each part the smallest queries come first.
        """
        # numpy sorts 16-bit integers by radix, several times faster than longer ones.
        small = self.sizes.max() <= np.iinfo(np.int16).max
        for part in self._parts():
            sizes = self.sizes[part]
            by_size = np.argsort(sizes.astype(np.int16) if small else sizes, kind="stable")
            sizes = sizes[by_size]
            by_size += part.start
            begin = 0
            while begin < len(sizes):
                end = begin + _block_length(sizes[begin:], max_cells)
                yield QueryBlock(by_size[begin:end], sizes[begin:end], int(sizes[end - 1]))
                begin = end

    def _parts(self):
        """Return slices of the queries with about equal numbers of rows."""
        edges = [0, self.n_queries]
        if self.n_rows > _PART_ROWS:
            rows = np.arange(_PART_ROWS, self.n_rows, _PART_ROWS)
            if self.order is None:
                found = np.searchsorted(np.cumsum(self.sizes), rows)
            else:
                found = np.searchsorted(self.starts, rows) - 1
            edges[1:1] = found.tolist()
        for first, last in pairwise(edges):
            if first < last:
                yield slice(first, last)

    def take(self, values: np.ndarray, block: QueryBlock, fill) -> np.ndarray:
        """Return `values` of a block as a matrix, one query a row, padded with `fill`."""
        if self.order is None:
            taken = _stretches(values, self.starts[block.queries], block.width)
        else:
            taken = values.take(self._rows(block))
        if block.sizes[0] != block.width:
            taken[np.arange(block.width) >= block.sizes[:, None]] = fill
        return taken

    def _rows(self, block):
        """Return the row number of each cell of a block; arbitrary for padding."""
        if block.rows is None:
            block.rows = _stretches(self.order, self.starts[block.queries], block.width)
        return block.rows

    def put(self, target: np.ndarray, block: QueryBlock, values: np.ndarray) -> None:
        """Write a padded matrix of the block's queries back to the rows it came from."""
        inside = np.arange(block.width) < block.sizes[:, None]
        rows = self.starts[block.queries][:, None] + np.arange(block.width)
        rows = rows[inside] if self.order is None else self.order[rows[inside]]
        target[rows] = values[inside]


def _stretches(values, starts, width):
    """Return a matrix whose rows hold `width` values from each start on."""
    if starts.max() + width > len(values) or not values.flags.c_contiguous:
        return values.take(starts[:, None] + np.arange(width), mode="clip")
    # Records of `width` values are copied at once.
    size = values.itemsize
    shape = (len(values) - width + 1,)
    records = np.ndarray(shape, dtype=f"V{width * size}", buffer=values, strides=(size,))
    return records[starts].view(values.dtype).reshape(len(starts), width)


def _block_length(sizes, max_cells):
    """Return how many queries, the smallest first, to put into the next block."""
    same = int(np.searchsorted(sizes, sizes[0], side="right"))
    if 4 * same * sizes[0] >= max_cells:
        # Enough without padding.
        n_blocks = -(-same // max(1, max_cells // sizes[0]))
        return -(-same // n_blocks)
    sizes = sizes[: max_cells // sizes[0]]
    cells = sizes * np.arange(1, len(sizes) + 1)
    sizes = sizes[: np.searchsorted(cells, max_cells, side="right")]
    return 1 + int(np.argmax(np.cumsum(sizes) / (cells[: len(sizes)] + _BLOCK_OVERHEAD)))


def _offsets(sizes):
    """Return the start of each of several consecutive groups of the given sizes."""
    return np.cumsum(sizes) - sizes


def query_runs(groups, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return query id and length of each run of consecutive rows with one id; none without rows."""
    values, _ = _group_values(groups, name)
    heads = np.flatnonzero(np.asarray(values[1:] != values[:-1], dtype=bool)) + 1
    heads = np.append(0, heads)[: len(values)]
    ids = np.asarray(values[heads])
    for kind in (str, bytes):
        if 0 < sum(is_kind := [issubclass(each, kind) for each in entry_types(ids)]) < len(is_kind):
            raise _of_different_types(
                name,
                next(each for each in ids if isinstance(each, kind)),
                next(each for each in ids if not isinstance(each, kind)),
            )
    if len(ids) and isinstance(ids[0], str | bytes) and (ids == ids[0][:0]).any():
        raise _of_no_id(np.asarray(values) == ids[0][:0], name)
    return ids, np.diff(heads, append=len(values))


def _of_no_id(missing, name):
    """Return the error for rows whose id is missing or the empty text, by their mask."""
    return InputError(
        f"{name} has {counted(int(missing.sum()), 'missing id')}, the first at row "
        f"{missing.argmax()}: every row needs the id of its {_owner(name)}. Drop these rows, or "
        "give each its id."
    )


def _owner(name):
    """Return the word for what ids of an argument name: "query" or "cluster"."""
    return "cluster" if name == "clusters" else "query"


def _of_different_types(name, one, other):
    """Return the error for ids of types that cannot be compared."""
    return InputError(
        f"{name} holds {_owner(name)} ids of different types, such as {brief(one)} and "
        f"{brief(other)}: make them all strings or all numbers."
    )


def _group_values(groups, name):
    """Return a one-dimensional array of query ids without missing values, and types of objects."""
    values = as_column(groups, name, "query id")
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = as_column(np.asarray(values), name, "query id")
    if values.dtype == np.float16:
        # pandas has no index of this dtype.
        values = values.astype(np.float32)
    kinds = entry_types(values)
    if not isinstance(values, np.ndarray) or (values.dtype.kind in "fOmM" and kinds != {str}):
        missing = is_missing(values, name)
        if missing.any():
            raise _of_no_id(missing, name)
    for kind in kinds:
        if kind.__hash__ is None:
            raise InputError(
                f"{name} must hold one query id per row, a number or text, got an entry of type "
                f"{kind.__name__}."
            )
    return values, kinds


def _factorize(values, name, are_texts):
    """Return codes (None for 0, 1, 2, ...) and sorted distinct values."""
    if (
        isinstance(values, np.ndarray)
        and values.dtype != object
        and bool((values[1:] > values[:-1]).all())
    ):
        return None, values
    if (span := _dense_span(values)) is not None:
        return _factorize_dense(values, *span)
    if are_texts:
        # Python sorts texts several times faster than numpy.
        codes, distinct = pd.factorize(values)
        order = np.array(sorted(range(len(distinct)), key=distinct.tolist().__getitem__))
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        return number[codes], distinct[order]
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
    # pandas sorts numbers before text, and 1 and "1" would silently be two queries.
    if distinct.dtype == object and isinstance(distinct[-1], str) != isinstance(distinct[0], str):
        raise _of_different_types(name, distinct[0], distinct[-1])
    return codes, distinct


def _dense_span(values):
    """Return minimum and maximum of integers that fill much of their range; else None."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu":
        return None
    first, last = int(values.min()), int(values.max())
    return (first, last) if last - first < _DENSE * len(values) else None


def _distance(values, first):
    """Return the differences of integers to the minimum, as int64."""
    wide = np.uint64 if values.dtype.kind == "u" else np.int64
    return (values.astype(wide) - wide(first)).astype(np.int64)


def _factorize_dense(values, first, last):
    """Factorize integers that fill much of their range; faster and with 4 bytes a row."""
    codes = np.empty(len(values), dtype=np.int32 if last - first < 2**31 else np.int64)
    present = np.zeros(last - first + 1, dtype=bool)
    # In chunks, as numpy copies numbers that it looks up.
    for rows in _chunks(len(codes)):
        codes[rows] = _distance(values[rows], first)
        present[codes[rows]] = True
    query_ids = np.flatnonzero(present).astype(values.dtype) + values.dtype.type(first)
    if len(query_ids) < len(present):
        number = np.cumsum(present, dtype=codes.dtype) - codes.dtype.type(1)
        for rows in _chunks(len(codes)):
            codes[rows] = number[codes[rows]]
    return codes, query_ids


def _chunks(n_rows, n_codes=0):
    """Yield slices of rows: small enough for temporary arrays, with many rows per code."""
    step = max(_CHUNK_ROWS, n_codes // 2)
    for begin in range(0, n_rows, step):
        yield slice(begin, begin + step)


def _order_by_code(codes_of, n_rows, n_codes):
    """Return the row numbers sorted by code, and the number of rows of each code.

    ``codes_of(rows)`` gives the codes of a slice of the rows. Rows are distributed into parts by
    the leading bits of their codes. Each part fits the cache and is then sorted by the other bits;
    up to 16 bits, numpy uses a radix sort. The other bits are held in one byte a row unless that
    makes too many parts.
    """
    n_bits = (n_codes - 1).bit_length()
    n_bytes = 1 if n_bits - 8 <= min(9, (n_rows >> 12).bit_length()) else 2
    n_leading = max(n_bits - 8 * n_bytes, min(8, n_bits, (n_rows >> 16).bit_length()))
    shift, n_parts = n_bits - n_leading, 1 << n_leading
    part_type = np.uint8 if n_leading <= 8 else np.uint16 if n_leading <= 16 else np.int64
    ends = np.zeros(n_parts, dtype=np.int64)
    for rows in _chunks(n_rows):
        ends += np.bincount(codes_of(rows) >> shift, minlength=n_parts)
    np.cumsum(ends, out=ends)
    cursor = [0, *ends[:-1].tolist()]
    order = np.empty(n_rows, dtype=np.int32 if n_rows < np.iinfo(np.int32).max else np.int64)
    rest = np.empty(n_rows, dtype=f"u{n_bytes}")
    for rows in _chunks(n_rows, n_parts):
        codes = codes_of(rows)
        parts = (codes >> shift).astype(part_type)
        by_part = np.argsort(parts, kind="stable")
        counts = np.bincount(parts, minlength=n_parts)
        of_chunk = codes.astype(rest.dtype).take(by_part)
        by_part += rows.start
        begin = 0
        for part in np.flatnonzero(counts).tolist():
            end = begin + int(counts[part])
            target = slice(cursor[part], cursor[part] + end - begin)
            order[target], rest[target] = by_part[begin:end], of_chunk[begin:end]
            cursor[part], begin = target.stop, end
    sizes = np.zeros(n_codes, dtype=np.int64)
    for part, (begin, end) in enumerate(pairwise([0, *ends.tolist()])):
        if begin < end:
            codes = rest[begin:end]
            first = part << shift
            counts = np.bincount(codes & rest.dtype.type((1 << shift) - 1))
            sizes[first : first + len(counts)] = counts
            if len(counts) > 1:
                order[begin:end] = order[begin:end].take(np.argsort(codes, kind="stable"))
    return order, sizes


def query_ids_of_index(data):
    """Return the index level named "qid" of a pandas object, or None."""
    index = data if isinstance(data, pd.Index) else getattr(data, "index", None)
    if isinstance(index, pd.Index) and QID in index.names:
        return index.get_level_values(QID)
    return None


def find_groups(groups, *carriers, names=None):
    """Return the query ids of the rows: `groups`, else the ids in an index, else None.

    Ids that come from several places must agree row by row. Other names for the same queries, such
    as codes, are allowed in `groups`: they must put the same rows together. `names` are the names
    of the carriers, by default those of labels and features, or of features alone.
    """
    names = names or ("y", "X")[-len(carriers) :]
    held = [
        (ids, f"the index level 'qid' of {name}")
        for each, name in zip(carriers, names)
        if (ids := query_ids_of_index(each)) is not None
    ]
    for (left, name), (right, where) in pairwise(held):
        _check_same_rows(left, right, name, where, one_naming=True)
    if groups is not None:
        for ids, where in held[:1]:
            _check_same_rows(groups, ids, "groups", where)
    _check_orders([*zip(names, carriers), ("groups", groups)])
    if groups is None:
        return held[0][0] if held else None
    return groups


def _check_same_rows(left, right, name, where, *, one_naming=False):
    """Raise if two arrays of query ids group the rows differently."""
    try:
        is_index = isinstance(left, GroupIndex)
        values = None if is_index else np.asarray(left)
        # The caller compares lengths with the number of rows.
        if not is_index and (
            values.shape != right.shape or bool((values == np.asarray(right)).all())
        ):
            return
        left = left if is_index else GroupIndex.from_groups(values)
        right = GroupIndex.from_groups(right)
    except (InputError, TypeError, ValueError):
        # The caller refuses arrays that hold no query ids.
        return
    if left.n_rows != right.n_rows:
        return
    left_codes, right_codes = left.codes(), right.codes()
    left_ids, right_ids = left.query_ids, right.query_ids
    if is_one_set := np.array_equal(left_ids, right_ids):
        differs = left_codes != right_codes
    elif one_naming and _kind(left_ids) == _kind(right_ids):
        is_one_set = True
        differs = left_ids[left_codes] != right_ids[right_codes]
    else:
        # One id may be read as 1 or as "1", depending on the file format.
        left_ids, right_ids = _texts(left_ids), _texts(right_ids)
        is_one_set = np.array_equal(np.sort(left_ids), np.sort(right_ids))
        differs = left_ids[left_codes] != right_ids[right_codes] if is_one_set else None
    if is_one_set:
        if differs.any():
            row = int(differs.argmax())
            ids = (
                brief(index.query_ids[codes[row]])
                for index, codes in ((left, left_codes), (right, right_codes))
            )
            raise InputError(
                f"{name} and {where} name different queries in {np.count_nonzero(differs)} of "
                f"{len(differs)} rows, the first {' and '.join(ids)} at row {row}: rows are "
                "matched by position, so bring all arguments into one order first."
            )
        return
    pairs = left_codes * np.int64(right.n_queries) + right_codes
    if not left.n_queries == right.n_queries == len(np.unique(pairs)):
        raise InputError(
            f"{name} and {where} name different queries: give query "
            "ids in one place, such as y.to_numpy() with groups=. Groups for splitting, such as "
            "segments, are for the splitter only; if metadata routing passes them on, "
            ".set_fit_request(groups='qid') of the estimator and "
            ".set_score_request(groups='qid') of the scorer take the query ids from "
            "params={'groups': segments, 'qid': query_ids}."
        )


def _texts(ids):
    """Return query ids as texts; whole numbers have no decimal point."""
    with np.errstate(invalid="ignore"):
        whole = ids.astype(np.int64) if ids.dtype.kind == "f" else ids
    return (whole if np.array_equal(whole, ids) else ids).astype(str)


def _kind(ids):
    """Return the kind of query ids; ids of one kind can be compared."""
    return "number" if ids.dtype.kind in "biuf" else type(ids.tolist()[0])


def check_groups(
    groups,
    *carriers,
    n_rows: int,
    name: str = "groups",
    names: Sequence[str] | None = None,
    carrier: str = "y_true as a pandas Series",
) -> GroupIndex:
    """Index the query of each row; a missing query id is an error.

    `name` is that of `groups` in errors, and `names` are as in `find_groups`.
    """
    query_ids = find_groups(groups, *carriers, names=names)
    if query_ids is None:
        text = (
            f"{name} is missing: pass {name}=, the query id of each row, or give {carrier} whose "
            "index has a level named 'qid'."
        )
        held = [each.index for each in carriers if isinstance(each, pd.Series | pd.DataFrame)]
        if levels := [name for index in held for name in index.names if name is not None]:
            text += f" If its index {brief_list(levels)} holds them, rename it: rename_axis('qid')."
        if carrier.startswith("y"):
            text += (
                " Inside scikit-learn's model selection, such a Series keeps its query ids "
                "through every split, but not in tools that make an array of y, such as RFECV; "
                "with sklearn.set_config(enable_metadata_routing=True), groups can be passed "
                "instead, there too."
            )
        raise InputError(text)
    is_index = isinstance(query_ids, GroupIndex)
    index = query_ids if is_index else GroupIndex.from_groups(query_ids, name)
    if index.n_rows != n_rows:
        remedy = ""
        if index.query_ids.dtype.kind in "iu" and index.query_ids @ index.sizes == n_rows:
            remedy = (
                f" If {name} holds the sizes of consecutive queries, pass "
                "np.repeat(np.arange(len(sizes)), sizes)."
            )
        raise InputError(
            f"{name} has {index.n_rows} entries but there are {n_rows} rows: expected one "
            f"{_owner(name)} id per row.{remedy}"
        )
    return index


def refuse_query_column(names) -> None:
    """Raise if a column of features holds the query ids."""
    if names is not None and QID in names:
        raise InputError(
            "X has a column 'qid', which would be learned from as a feature: pass "
            "groups=X['qid'] and X.drop(columns='qid'), or X.set_index('qid')."
        )


def check_one_order(**columns) -> None:
    """Raise if two of some pandas objects have the same index in different orders.

    Rows are matched by position, so that their values would belong to other rows. A fresh index
    beside one of sorted rows looks the same, so the error names the remedies of both. Indexes with
    other labels, other names or another dtype say nothing.
    """
    _check_orders(list(columns.items()))


def _check_orders(columns):
    seen = []
    for name, index in [(name, each.index) for name, each in columns if _has_index(each)]:
        if any(each.is_(index) for _, each in seen):
            continue
        for first, other in seen:
            if _is_in_another_order(index, other):
                raise _of_another_order(name, index, first, other)
        seen.append((name, index))


def _is_in_another_order(left, right):
    if (left.names, left.dtype, len(left)) != (right.names, right.dtype, len(right)):
        return False
    # Some rows of a large table mostly show that a fresh index has other labels.
    for one, other in ((left, right), (right, left)):
        some = other[:: 1 + len(other) // 100]
        if isinstance(one, pd.RangeIndex) and not all(label in one for label in some):
            return False
    if left.equals(right):
        return False
    is_whole = isinstance(left.dtype, np.dtype) and left.dtype.kind in "iu"
    if is_whole and left.to_numpy().sum() != right.to_numpy().sum():
        return False
    # Sums of hashes are equal for the same labels in any order.
    return _hashes(left).sum() == _hashes(right).sum()


def _hashes(index):
    return pd.util.hash_pandas_object(index, index=False, categorize=False).to_numpy()


def _of_another_order(name, index, first, other):
    aligned, bare = f"{name} = {name}.loc[{first}.index]", f"pass {name}.to_numpy()."
    fresh = [which for which, each in ((name, index), (first, other)) if _is_fresh(each)]
    if fresh:
        # Aligning comes last: it would mix up rows that are in one order.
        what = (
            f"The index of {fresh[0]} is 0, 1, 2, ..., as in a new object: if its rows are in the "
            f"order of the other, {bare} If not, align them first, e.g. {aligned}."
        )
    else:
        what = (
            f"Align them first, e.g. {aligned}. If rows are in one order already and an index is "
            f"meaningless, {bare}"
        )
    row = int((_hashes(index) != _hashes(other)).argmax())
    labels = " and ".join(brief(each[row]) for each in (index, other))
    return InputError(
        f"{name} and {first} have the same index in another order (in row {row}: {labels}), and "
        f"rows are matched by position. {what}"
    )


def first_rows(codes: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the first row of each query, by the numbers `rows`; None numbers rows in order."""
    first = np.full(codes.max() + 1, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)) if rows is None else rows)
    return first


def _is_fresh(index):
    return isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1)


def _has_index(column):
    return isinstance(getattr(column, "index", None), pd.Index)


def check_same_index(y_true, y_score, groups=None) -> None:
    """Check that labels, scores and `groups` are in one order, by the indexes that they have."""
    left, right = query_ids_of_index(y_true), query_ids_of_index(y_score)
    if left is not None and right is not None and not y_true.index.equals(y_score.index):
        raise InputError(
            "y_true and y_score have different indexes: rows are compared by position, so align "
            "them first, e.g. y_score = y_score.reindex(y_true.index)."
        )
    check_one_order(y_true=y_true, y_score=y_score)
    if groups is not None:
        find_groups(groups, y_score, names=("y_score",))
