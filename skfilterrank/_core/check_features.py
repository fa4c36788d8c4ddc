"""Features that are not numbers: which column they stand in."""

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank._core.results import counted
from skfilterrank.exceptions import InputError, brief

_NAMED = 5


def refuse_dates(X) -> None:
    """Raise an error that names the columns of X that hold dates or durations."""
    columns = X.dtypes.items() if isinstance(X, pd.DataFrame) else ()
    found = [
        (name, dtype)
        for name, dtype in columns
        if dtype.kind in "mM" or isinstance(dtype, pd.PeriodDtype)
    ]
    if found:
        name, dtype = found[0]
        what = f"{counted(len(found), 'column')} of dates or durations, such as {brief(name)}"
    elif getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
        what, dtype = "dates or durations", X.dtype
    else:
        return
    raise InputError(
        f"X has {what} of dtype {dtype}, and features are numbers: make numbers of them, such as "
        "days since some date, or leave them out."
    )


def check_finite_columns(X, *, owner: str, names=None, allow_nan: bool = False) -> None:
    """Raise a ValueError that names the columns of X with NaN or infinite values.

    `X` is a checked float matrix, dense or sparse, for the estimator called `owner`; `names` are
    those of its columns, if any. With `allow_nan` only infinite values are refused.
    """
    values = X.data if sparse.issparse(X) else X
    # The sum is finite where all values are, but for sums out of range: one pass for most.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    for kind, is_bad in (("NaN", np.isnan), ("infinity", np.isinf)):
        if kind == "NaN" and allow_nan:
            continue
        rows, columns = _places(X, is_bad)
        if len(rows):
            raise InputError(_message(kind, rows, columns, owner, names))


def _places(X, is_bad):
    """Row and column of each bad value."""
    if not sparse.issparse(X):
        return np.nonzero(is_bad(X))
    coordinates = X.tocoo()
    bad = is_bad(coordinates.data)
    return coordinates.row[bad], coordinates.col[bad]


def _message(kind, rows, columns, owner, names):
    """Text that says which values are wrong, where, and what to do."""
    distinct = np.unique(columns)
    named = ", ".join(
        str(column) if names is None else f"{column} ({brief(names[column])})"
        for column in distinct[:_NAMED]
    )
    if len(distinct) > _NAMED:
        named += f" and {len(distinct) - _NAMED} more"
    remedy = (
        "fill missing values in, for example with SimpleImputer in a Pipeline, or drop the column"
        if kind == "NaN"
        else "replace it by a finite number"
    )
    return (
        f"X contains {kind} in column{'s' if len(distinct) > 1 else ''} {named} ({len(rows)} "
        f"value{'s' if len(rows) > 1 else ''}, the first at row {rows.min()}): "
        f"{owner} needs finite numbers; {remedy}."
    )
