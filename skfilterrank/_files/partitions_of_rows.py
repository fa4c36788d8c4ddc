"""Rows in the partitions of Dask collections: each is measured where it is, and states add up."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.closed_queries import ClosedQueries, QueriesInSeveralParts
from skfilterrank._files.dask_frames import (
    cut_query,
    each_partition,
    fold_partitions,
    import_dask,
    in_query_order,
    numbered_partitions,
    plain_ids,
    refuse_cut,
    row_numbers,
)
from skfilterrank._files.frames_of_rows import Wanted, block_of, is_frame
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, InputTypeError, brief, brief_list

_ROW = "skfilterrank row"


class DaskPartitions:
    """A Dask DataFrame, or a bag whose elements are frames."""

    n_rows = None
    is_repeatable = True

    def __init__(self, source):
        self._source = source
        # Whoever made the partitions may know that they hold whole queries.
        self.is_whole = False
        if getattr(source, "ndim", 2) != 2:
            raise InputTypeError(
                "source is a Dask Series, and rows have several columns: pass the frame."
            )

    def whole_queries(self, wanted: Wanted, *, looks: bool) -> "WholeQueries":
        """Take the wanted columns, the rows of each query in one partition.

        `looks`: whether the first pass looks for queries in several partitions, at no cost.
        """
        frame = self._frame(wanted)
        ids = frame[wanted.query]
        if looks:
            return WholeQueries(frame, ids)
        if not self.is_whole and cut_query(ids, wanted.query) is not None:
            numbered = numbered_partitions(
                _with_row_numbers, frame, meta=frame._meta.assign(**{_ROW: np.int64()})
            )
            frame = numbered.shuffle(on=wanted.query, ignore_index=True)
        return WholeQueries(frame, None)

    def _frame(self, wanted):
        """Make a Dask DataFrame of the wanted columns, query ids without categories."""
        source = self._source
        if hasattr(source, "to_dataframe"):
            source = _frame_of_bag(source, wanted)
        if wanted.query not in source.columns and source.index.name == wanted.query:
            source = source.reset_index()
        names = list(source.columns)
        missing = [name for name in wanted.names if names.count(name) != 1]
        if missing:
            found = "several columns" if missing[0] in names else "no column"
            raise InputError(
                f"rows has {found} {brief(missing[0])}: say which hold queries, labels and "
                f"scores by query=, label= and score=. Its columns are {brief_list(names)}."
            )
        frame = source[wanted.names]
        dtype = frame.dtypes[wanted.query]
        ids = plain_ids(0, frame._meta[wanted.query], dtype, wanted.query)
        meta = frame._meta.reset_index(drop=True).assign(**{wanted.query: ids})
        return numbered_partitions(
            _with_plain_ids, frame, meta=meta, query=wanted.query, dtype=dtype
        )


class WholeQueries:
    """Partitions that hold whole queries, as is known or still to be seen."""

    n_rows = None

    def __init__(self, frame, ids_to_check):
        self._frame, self._ids = frame, ids_to_check
        self.looks_for_queries = ids_to_check is not None

    def pieces(self, wanted: Wanted) -> "ClusterPass":
        """Return one pass over them."""
        return ClusterPass(self._frame, self._ids, wanted)


class ClusterPass:
    """One pass over partitions, whose results are made on the workers."""

    def __init__(self, frame, ids_to_check, wanted):
        self._frame, self._ids, self._wanted = frame, ids_to_check, wanted

    def each(self, work):
        """Yield the states of partitions, one after the other; queries are not looked at."""
        for found in each_partition(self._frame, _measure, work, self._wanted, False):
            yield found.state

    def fold(self, work, closed: ClosedQueries | None):
        """Merge the states of all partitions; only this comes to the client."""
        try:
            total = fold_partitions(self._frame, _measure, work, self._wanted, closed is not None)
        except QueriesInSeveralParts:
            refuse_cut(cut_query(self._ids, self._wanted.query))
            raise
        if total is None:
            raise InputError("rows holds no rows: expected at least one.")
        if closed is not None:
            closed.take(total.closed)
        return total.state


class _Measured(NamedTuple):
    """The state of some queries, and their ids."""

    state: Any
    closed: ClosedQueries

    def merge(self, other: "_Measured") -> "_Measured":
        return _Measured(self.state.merge(other.state), self.closed.merge(other.closed))


def _with_plain_ids(number, part, *, query, dtype):
    ids = plain_ids(number, part[query], dtype, f"column {brief(query)}")
    return part.reset_index(drop=True).assign(**{query: ids})


def _with_row_numbers(number, part):
    return part.assign(**{_ROW: row_numbers(number, len(part))})


def _frame_of_bag(bag, wanted):
    """Make a Dask DataFrame of a bag, of the types of the first partition that has rows."""
    import dask

    dd, parts = import_dask("A Dask bag"), bag.to_delayed()
    types_of, read = dask.delayed(_types_of_partition), dask.delayed(_read_partition, pure=True)
    found = (types_of(part, i, wanted).compute() for i, part in enumerate(parts))
    types = next((each for each in found if each is not None), None)
    if types is None:
        raise InputError("rows holds no rows: expected at least one.")
    frames = [read(part, i, wanted, types) for i, part in enumerate(parts)]
    return dd.from_delayed(frames, meta=types, verify_meta=False)


def _types_of_partition(elements, number, wanted):
    """Return the columns of a partition without its rows; None of one that has no rows."""
    frame = _read_partition(elements, number, wanted, None)
    return None if frame is None else frame[:0]


def _read_partition(elements, number, wanted, empty):
    """Join the frames of a partition of a bag; `empty` where they have no rows."""
    parts = []
    for frame in elements:
        where = f"partition {number}"
        if not is_frame(frame):
            raise InputTypeError(
                f"{where} of the bag holds {brief(frame)}: expected tables of pandas, polars or "
                "pyarrow, or dicts of columns."
            )
        block = block_of(frame, wanted, where)
        if not block.n_rows:
            continue
        columns = {wanted.query: np.repeat(block.ids, block.sizes)}
        names = {"label": wanted.label} | dict(wanted.scores) | dict(wanted.others)
        columns |= {names[key]: values for key, values in block.columns.items()}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else empty


def _measure(part, number, work, wanted, notes):
    """Return the state of the queries of a partition, and their ids; None of an empty one."""
    if not len(part):
        return None
    where = f"partition {number}"
    if _ROW in part.columns:
        part = in_query_order(part, wanted.query, _ROW)
        where += ", shuffled by query"
    block = block_of(part, wanted, where)
    if len(np.unique(block.ids)) < len(block.ids):
        order = GroupIndex.from_groups(part[wanted.query].to_numpy()).row_order()
        block = block_of(part.iloc[order], wanted, where)
    closed = ClosedQueries()
    if notes:
        closed.add(block.ids)
    return _Measured(work(block), closed)
