"""Times of rows: read from arrays or from an index level, and numbered."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import as_column
from skfilterrank._lists.queries import check_one_order
from skfilterrank.exceptions import InputError, brief

# Name of the index level that holds times.
TIME = "time"
# pandas also reads other texts as dates, such as "now".
_YEAR_FIRST = r"\s*\d{4}"


@dataclass(frozen=True, eq=False)
class Times:
    """Time of each row.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows,), dtype intp
        Number of each row's time among the distinct ones, 0 for the oldest.
    known : Index
        Distinct times, the oldest first.
    """

    numbers: np.ndarray
    known: Any

    @classmethod
    def find(cls, times, *, n_rows, **carriers) -> "Times | None":
        """Read the given times, or else an index level "time" of a carrier; None without any.

        Carriers are given by the names that the user knows them by.
        """
        if times is None:
            for each in carriers.values():
                index = getattr(each, "index", None)
                if isinstance(index, pd.Index) and TIME in index.names:
                    times = index.get_level_values(TIME)
                    break
            else:
                return None
        else:
            check_one_order(**carriers, times=times)
        column = pd.Series(as_column(times, "times", "time"))
        if len(column) != n_rows:
            raise InputError(f"times has {len(column)} entries but there are {n_rows} rows.")
        if (missing := column.isna().to_numpy()).any():
            raise InputError(
                f"times is missing in row {int(np.argmax(missing))}: give the time of each row."
            )
        if isinstance(column.dtype, pd.CategoricalDtype) and not column.cat.ordered:
            column = column.astype(column.cat.categories.dtype)
        if pd.api.types.infer_dtype(column) == "string":
            column = _parse_dates(column)
        try:
            numbers, known = pd.factorize(column, sort=True)
        except TypeError as error:
            raise InputError(
                "times must be all numbers, all dates or all texts, so that they can be sorted."
            ) from error
        return cls(numbers.astype(np.intp), known)


def _parse_dates(column: pd.Series) -> pd.Series:
    """Return the times that texts say; other texts than ISO dates would sort in another order."""
    dates = pd.to_datetime(column, format="ISO8601", utc=True, errors="coerce")
    unread = dates.isna().to_numpy() | ~column.str.match(_YEAR_FIRST).to_numpy(dtype=bool)
    if unread.any():
        row = int(np.argmax(unread))
        raise InputError(
            f"times has the text {brief(column.iloc[row])} in row {row}, which is no date of the "
            "form 2024-05-31 or 2024-05-31T10:00. Texts in other forms do not sort by time: pass "
            "numbers, or dates made by pandas.to_datetime(times, format=...)."
        )
    return dates
