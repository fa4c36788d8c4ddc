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
    ids = pd.Series(ids)
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


def fold_partitions(frame, function, *shared):
    """Merge the results of a function on each partition; only the total comes to the client.

    Parameters
    ----------
    frame : dask DataFrame
    function : callable
        Called with a partition, its number and `shared`; returns an object with ``merge(other)``,
        or None for no result.
    *shared
        Arguments that are the same for all partitions.

    Returns
    -------
    object
        The merged result; None if no partition has a result.
    """
    import dask

    parts, merge = _calls(frame, function, shared), dask.delayed(_merged)
    while len(parts) > 1:
        parts = [merge(parts[begin : begin + _FAN_IN]) for begin in range(0, len(parts), _FAN_IN)]
    return dask.compute(*parts)[0]


def _calls(frame, function, shared):
    import dask

    call = dask.delayed(function)
    shared = [dask.delayed(each, traverse=False) for each in shared]
    return [call(part, number, *shared) for number, part in enumerate(frame.to_delayed())]


def _merged(parts):
    parts = [each for each in parts if each is not None]
    return merged(parts) if parts else None


class DaskPartitions:
    """A Dask DataFrame whose partitions hold whole queries; results are computed on the workers."""

    def __init__(self, source):
        self._source = source
        if source.ndim != 2:
            raise InputTypeError(
                "source is a Dask Series, but rows need several columns: pass the frame."
            )

    def fold(self, work, wanted: Wanted, closed: ClosedQueries | None):
        """Merge the states of all partitions; the client gets only the merged state."""
        frame = self._frame(wanted)
        shared = work, wanted, _ids_type(frame, wanted), closed is not None
        total = fold_partitions(frame, _measure, *shared)
        if total is None:
            raise InputError("rows holds no rows: expected at least one.")
        if closed is not None:
            closed.take(total.closed)
        return total.state

    def _frame(self, wanted):
        """Return a Dask DataFrame of the wanted columns."""
        source = self._source
        if wanted.query not in source.columns and source.index.name == wanted.query:
            source = source.reset_index()
        check_columns(source.columns, wanted.names, "rows")
        return source[wanted.names]


def _ids_type(frame, wanted):
    return frame.dtypes[wanted.query]


class _Measured(NamedTuple):
    """State that was computed from some queries, with the ids of these queries."""

    state: Any
    closed: ClosedQueries

    def merge(self, other: "_Measured") -> "_Measured":
        return _Measured(self.state.merge(other.state), self.closed.merge(other.closed))


def _measure(part, number, work, wanted, dtype, notes):
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
    if notes:
        closed.add(block.ids)
    return _Measured(work(block), closed)
