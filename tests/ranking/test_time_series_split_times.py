"""Times of rows, of any form, are numbered from the oldest."""

from datetime import date

import pandas as pd
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.ranking._time_series_split import number_times


@pytest.mark.parametrize(
    ("times", "numbers"),
    [
        ([399.0, 1.0, 2.0], [2, 0, 1]),
        ([20, 10, 30, 20], [1, 0, 2, 1]),
        (pd.Series([2, 10, 9], dtype="Int64"), [0, 2, 1]),
        (["2026-05-31", "2026-05-01T10:30"], [1, 0]),
        ([date(2026, 5, 2), date(2026, 5, 1)], [1, 0]),
        (pd.to_datetime(["2026-05-02", "2026-05-01"]), [1, 0]),
        (["20260501", " 2026-04", "2026"], [2, 1, 0]),
    ],
)
def test_the_oldest_has_number_0(times, numbers):
    assert number_times(times, n_rows=len(times)).tolist() == numbers


@pytest.mark.parametrize(
    "text", ["now", "today", "Today", "", "nat", "12:00", "5/31/2026", "-2026"]
)
def test_other_texts_are_no_dates(text):
    with pytest.raises(InputError, match=f"text '{text}' in row 1, which is no date of the form"):
        number_times(["2026-01-01", text, "2026-01-02"], n_rows=3)


@pytest.mark.parametrize("name", ["y", "scores"])
def test_times_of_rows_in_another_order(name):
    """The error names the argument that the index was compared with."""
    given = {"y": [1, 0], "scores": [0.5, 0.4]} | {name: pd.Series([1, 0], index=[4, 7])}
    days = pd.Series(["2026-01-01", "2026-01-02"], index=[7, 4])
    with pytest.raises(InputError, match=f"times and {name} have the same index in another order"):
        number_times(days, n_rows=2, **given)
