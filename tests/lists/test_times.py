"""Times of rows: as text says them, and from the first to the last in words."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from skfilterrank._lists.times import Times
from skfilterrank.exceptions import InputError


def span(times):
    return Times.find(times, n_rows=len(times)).span()


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([399.0, 1.0, 2.0], "1 to 399"),
        (np.array([3, 1, 2], dtype=np.float32), "1 to 3"),
        (pd.Series([2, 10, 9], dtype="Int64"), "2 to 10"),
        ([0.0, -3.0], "-3 to 0"),
        ([1.5, 20.0], "1.5 to 20"),
        ([10.25, 1e20], "10.25 to 1e+20"),
        ([1_767_225_600.0] * 2, "1767225600"),
        (["2026-05-31", "2026-05-01T10:30"], "2026-05-01 10:30:00+00:00 to 2026-05-31"),
        ([date(2026, 5, 2), date(2026, 5, 1)], "2026-05-01 to 2026-05-02"),
        (pd.to_datetime(["2026-05-02", "2026-05-01"]), "2026-05-01 to 2026-05-02"),
        (["20260501", " 2026-04", "2026"], "2026-01-01 to 2026-05-01"),
    ],
)
def test_span(times, expected):
    assert span(times) == expected


@pytest.mark.parametrize(
    "text", ["now", "today", "Today", "", "nat", "12:00", "5/31/2026", "-2026"]
)
def test_other_texts_are_no_dates(text):
    with pytest.raises(InputError, match=f"text '{text}' in row 1, which is no date of the form"):
        Times.find(["2026-01-01", text, "2026-01-02"], n_rows=3)


def test_rows_are_taken():
    times = Times.find([20, 10, 30, 20], n_rows=4)
    assert times.numbers.tolist() == [1, 0, 2, 1]
    assert times.take(np.array([True, False, False, True])).span() == "20"
    assert times.take(np.array([2, 0])).span() == "20 to 30"


@pytest.mark.parametrize("name", ["y", "scores"])
def test_times_of_rows_in_another_order(name):
    """The error names the argument that the index was compared with."""
    given = {"y": [1, 0], "scores": [0.5, 0.4]} | {name: pd.Series([1, 0], index=[4, 7])}
    days = pd.Series(["2026-01-01", "2026-01-02"], index=[7, 4])
    with pytest.raises(InputError, match=f"times and {name} have the same index in another order"):
        Times.find(days, n_rows=2, **given)
