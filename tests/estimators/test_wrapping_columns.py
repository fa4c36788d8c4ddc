"""Errors name the columns that hold no finite numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skfilterrank._estimators.wrapping import check_finite_columns, refuse_dates
from skfilterrank.exceptions import InputError

X = np.arange(12.0).reshape(4, 3)


def spoiled(*places, value=np.nan):
    changed = X.copy()
    for row, column in places:
        changed[row, column] = value
    return changed


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_where_values_are_missing(form):
    check_finite_columns(form(X), owner="Ridge")
    with pytest.raises(InputError) as error:
        check_finite_columns(form(spoiled((3, 1), (2, 1))), owner="Ridge")
    assert str(error.value) == (
        "X contains NaN in column 1 (2 values, the first at row 2): Ridge needs finite numbers; "
        "fill missing values in, for example with SimpleImputer in a Pipeline, or drop the column."
    )
    with pytest.raises(
        InputError, match=r"NaN in column 2 \('c'\) and others \(2 values, the first at row 1\)"
    ):
        check_finite_columns(form(spoiled((1, 2), (3, 0))), owner="Ridge", names=list("abc"))


def test_infinite_values():
    infinite = spoiled((0, 2), value=-np.inf)
    for allow_nan in (False, True):
        with pytest.raises(InputError, match=r"infinity in column 2 \(1 value, the first at row 0"):
            check_finite_columns(infinite, owner="Ridge", allow_nan=allow_nan)
    check_finite_columns(spoiled((0, 2)), owner="Ridge", allow_nan=True)
    both = np.where(np.isnan(spoiled((1, 1))), np.nan, infinite)
    with pytest.raises(InputError, match="NaN in column 1"):
        check_finite_columns(both, owner="Ridge")
    with pytest.raises(InputError, match=r"infinity in column 2 .* replace it by a finite number"):
        check_finite_columns(both, owner="Ridge", allow_nan=True)


def test_finite_numbers_whose_sum_is_none():
    check_finite_columns(np.array([[1e308], [1e308]]), owner="Ridge")
    check_finite_columns(np.array([[3e38], [3e38]], dtype=np.float32), owner="Ridge")


@pytest.mark.parametrize(
    "values", [X, [[1]], pd.DataFrame({"a": [1], "b": ["text"]}), np.array([["2020-01-01"]]), None]
)
def test_what_holds_no_dates(values):
    assert refuse_dates(values) is None
