"""Dask DataFrames: told apart from arrays, and joined partition by partition."""

import sys

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import is_dask
from skfilterrank.exceptions import InputError, MissingPackageError, brief

# Row numbers in one partition, below the number of the partition itself.
_ROW_BITS = 40


def is_bag(data) -> bool:
    """Whether data is a Dask bag; Dask is not imported for that."""
    module = sys.modules.get("dask.bag")
    return module is not None and isinstance(data, module.Bag)


def import_dask(needed_by: str):
    """Import dask.dataframe, or say which extra installs it."""
    try:
        import dask.dataframe as dd
        import distributed  # noqa: F401  # the workers
    except ImportError as error:
        raise MissingPackageError(
            f"{needed_by} needs dask and distributed, which are not installed: "
            "pip install 'skfilterrank[dask]'."
        ) from error
    return dd


def check_series(values, name: str, X) -> None:
    """Raise for what is no Dask Series with as many partitions as X."""
    if not is_dask(values) or values.ndim != 1:
        raise InputError(
            f"{name} must be a Dask Series where X is a Dask DataFrame, got "
            f"{type(values).__module__.partition('.')[0]}'s {type(values).__name__}: take a column "
            "of the frame that X comes from."
        )
    if values.npartitions != X.npartitions:
        raise InputError(
            f"{name} has {values.npartitions} partitions but X has {X.npartitions}: rows are "
            "matched by position, partition by partition, so take both from one frame."
        )


def numbered_partitions(function, frame, *others, meta, **options):
    """Call a function of (number of the partition, its frames) for each partition.

    Frames are matched by position, whatever their divisions say.
    """
    dd = import_dask("A Dask DataFrame")
    numbers = dd.from_map(_number, range(frame.npartitions), meta=pd.Series([0]))
    return dd.map_partitions(
        _with_number,
        numbers,
        frame,
        *others,
        function=function,
        meta=meta,
        align_dataframes=False,
        enforce_metadata=False,
        **options,
    )


def _number(number):
    return pd.Series([number])


def _with_number(number, *frames, function, **options):
    return function(int(number.iloc[0]), *frames, **options)


def row_numbers(number, n_rows) -> np.ndarray:
    """Where each row of a partition stands in the whole."""
    return (np.int64(number) << _ROW_BITS) + np.arange(n_rows, dtype=np.int64)


def check_rows(number, values, n_rows, name) -> None:
    """Raise for a partition that has not a value for each row of X."""
    if len(values) != n_rows:
        raise InputError(
            f"{name} has {len(values)} rows in partition {number} but X has {n_rows}: take both "
            "from one frame."
        )


def check_types(number, part, meta, name) -> None:
    """Raise for a partition that has other columns or types than Dask knows."""
    if list(part.columns) != list(meta.columns):
        raise InputError(
            f"partition {number} of {name} has the columns {brief(list(part.columns))}, expected "
            f"{brief(list(meta.columns))}."
        )
    for column, dtype in part.dtypes.items():
        check_type(number, dtype, meta.dtypes[column], f"column {column!r} of {name}")


def check_type(number, dtype, expected, name, *, are_numbers=True) -> None:
    """Raise for a partition whose values have another type than Dask knows.

    Types of numbers go for one another, but where they are hashed.
    """
    is_number = pd.api.types.is_numeric_dtype
    if dtype == expected or (_is_text(dtype) and _is_text(expected)):
        return
    if are_numbers and is_number(dtype) and is_number(expected):
        return
    raise InputError(
        f"{name} has dtype {dtype} in partition {number}, expected {expected} as in the others: "
        "bring the partitions to one type with astype, categories with .cat.as_known()."
    )


def _is_text(dtype):
    return dtype == np.dtype(object) or isinstance(dtype, pd.StringDtype)
