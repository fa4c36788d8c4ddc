"""What is taken from scikit-learn's private modules does what the package takes it for."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.linear_model import Ridge

from skfilterrank._base.sklearn_compat import (
    feature_names,
    metadata_routing_enabled,
    safe_indexing,
    without_groups,
)
from skfilterrank.ranking import QueryRanker


@pytest.mark.parametrize(
    "rows", [[2, 0], np.array([2, 0]), np.array([True, False, True])], ids=["list", "array", "mask"]
)
def test_rows_of_each_container(rows):
    expected = np.array([1, 2, 3])[rows].tolist()
    for make in (
        np.array,
        list,
        pd.Series,
        pl.Series,
        pd.Index,
        pa.array,
        lambda values: pd.array(values, dtype="Int64"),
        lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    ):
        assert [int(str(each)) for each in safe_indexing(make([1, 2, 3]), rows)] == expected
    table = safe_indexing(pa.table({"a": [1, 2, 3]}), rows)
    assert table["a"].to_pylist() == expected


def test_names_of_columns():
    X = np.arange(8.0)[:, None]
    assert feature_names(X) is None
    assert feature_names(pd.DataFrame(X)) is None
    assert feature_names(pd.DataFrame(X, columns=["a"])).tolist() == ["a"]
    assert feature_names(pl.DataFrame({"a": [1]})).tolist() == ["a"]


def test_the_switch_of_routing():
    assert not metadata_routing_enabled()
    with sklearn.config_context(enable_metadata_routing=True):
        assert metadata_routing_enabled()


def test_nobody_inside_asks_for_groups():
    with sklearn.config_context(enable_metadata_routing=True):
        inner = QueryRanker(QueryRanker(Ridge()))
        assert "groups" in inner.get_metadata_routing().consumes("fit", ["groups"])
        changed = without_groups(inner.get_metadata_routing())
        inside = [each.router for _, each in changed]
        assert inside
        assert all(not router.consumes("fit", ["groups"]) for router in inside)
