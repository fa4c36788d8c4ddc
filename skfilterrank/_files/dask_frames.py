"""Rows in Dask partitions: checks, whole queries, and results merged on the workers."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.frames_of_rows import Wanted, block_of, check_columns
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.row_blocks import ClosedQueries, merged
from skfilterrank.exceptions import InputError, InputTypeError, brief

# Number of results that are merged at a time.
_FAN_IN = 8


def plain_ids(number: int, ids, dtype, name: str) -> pd.Series:
    """Return query ids without categories, since partitions may have different categories."""
    if isinstance(ids.dtype, pd.CategoricalDtype):
        ids = ids.astype(ids.cat.categories.dtype)
    elif not (isinstance(dtype, pd.CategoricalDtype) or _are_alike(ids.dtype, dtype)):
        raise InputError(
            f"{name} has dtype {ids.dtype} in partition {number}, expected {dtype} as in the other "
            "partitions: bring the partitions to one type with astype, categories with "
            ".cat.as_known()."
        )
    missing = ids.isna().to_numpy()
    if missing.any():
        raise InputError(
            f"{name} holds {np.count_nonzero(missing)} null(s) in partition {number}, the first at "
            f"its row {missing.argmax()}: every row needs a query id."
        )
    return ids.reset_index(drop=True)


def _are_alike(dtype, expected):
    is_text = (
        each == np.dtype(object) or isinstance(each, pd.StringDtype) for each in (dtype, expected)
    )
    return dtype == expected or all(is_text)


class DaskPartitions:
    """A Dask DataFrame whose partitions hold whole queries; results are computed on the workers."""

    def __init__(self, source):
        self._source = source
        if source.ndim != 2:
            raise InputTypeError(
                "source is a Dask Series, but rows need several columns: pass the frame."
            )

    def fold(self, work, wanted: Wanted, closed: ClosedQueries):
        """Merge the states of all partitions; the client gets only the merged state."""
        import dask

        frame = self._frame(wanted)
        measure, merge = dask.delayed(_measure), dask.delayed(_merged)
        given = work, wanted, frame.dtypes[wanted.query]
        shared = [dask.delayed(each, traverse=False) for each in given]
        parts = [measure(part, number, *shared) for number, part in enumerate(frame.to_delayed())]
        while len(parts) > 1:
            parts = [
                merge(parts[first : first + _FAN_IN]) for first in range(0, len(parts), _FAN_IN)
            ]
        (total,) = dask.compute(*parts)
        if total is None:
            raise InputError("rows holds no rows: expected at least one.")
        closed.take(total.closed)
        return total.state

    def _frame(self, wanted):
        """Return a Dask DataFrame of the wanted columns."""
        source = self._source
        if wanted.query not in source.columns and source.index.name == wanted.query:
            source = source.reset_index()
        check_columns(source.columns, wanted.names, "rows")
        return source[wanted.names]


class _Measured(NamedTuple):
    """State that was computed from some queries, with the ids of these queries."""

    state: Any
    closed: ClosedQueries

    def merge(self, other: "_Measured") -> "_Measured":
        return _Measured(self.state.merge(other.state), self.closed.merge(other.closed))


def _measure(part, number, work, wanted, dtype):
    """Return the state and the ids of a partition's queries; None for an empty partition."""
    if not len(part):
        return None
    where = f"partition {number}"
    ids = plain_ids(number, part[wanted.query], dtype, f"column {brief(wanted.query)}")
    part = part.reset_index(drop=True).assign(**{wanted.query: ids})
    block = block_of(part, wanted, where)
    if len(np.unique(block.ids)) < len(block.ids):
        order = GroupIndex.from_groups(ids.to_numpy()).row_order()
        block = block_of(part.iloc[order], wanted, where)
    closed = ClosedQueries()
    closed.add(block.ids)
    return _Measured(work(block), closed)


def _merged(parts):
    parts = [each for each in parts if each is not None]
    return merged(parts) if parts else None
