"""The one place for what pandas before 3.1 does otherwise."""

import numpy as np
import pandas as pd

__all__ = ["EXACT_NUMBERS", "column_of_list", "table_of_records"]

_VERSION = tuple(map(int, pd.__version__.split(".")[:2]))
# From 3.1 on numbers are always read exactly, and the argument warns.
EXACT_NUMBERS = {} if _VERSION >= (3, 1) else {"float_precision": "round_trip"}


def table_of_records(records) -> pd.DataFrame:
    """Table of dicts; a column that holds a number beyond floats is one of objects."""
    try:
        return pd.DataFrame.from_records(records)
    except OverflowError:
        names = dict.fromkeys(name for record in records for name in record)
        return pd.DataFrame(
            {
                name: column_of_list([record.get(name, np.nan) for record in records])
                for name in names
            }
        )


def column_of_list(values) -> pd.Series:
    """Column of a list, of objects where it holds a number that floats do not hold exactly."""
    try:
        column = pd.Series(values)
    except OverflowError:
        return pd.Series(values, dtype=object)
    if column.dtype == np.float64:
        # Beside a fraction, pandas rounds them.
        large = np.flatnonzero(column.abs() >= 2**53).tolist()
        if any(isinstance(values[row], int | np.integer) for row in large):
            return pd.Series(values, dtype=object)
    return column
