"""RankAndFilter predicts, ranks and measures the rows of Dask DataFrames."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cluster_rows import FEATURES, columns, fit, partitions, whole
from skfilterrank.exceptions import (
    InputError,
)
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import FirstK

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
xgboost_dask = pytest.importorskip("xgboost.dask")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["predict", "decision_function"])
def test_partitions_are_served_as_rows_in_memory(cluster, table, name):
    model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3")
    model.fit(table[FEATURES], table["label"], groups=table["query"])
    expected = getattr(model, name)(table[FEATURES])
    served = getattr(model, name)(partitions(table, [3, 77, 78])[FEATURES])
    assert isinstance(served, dd.Series)
    found = served.compute()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    pd.testing.assert_index_equal(found.index, table.index)


@pytest.mark.nightly
def test_places_and_list_rules_want_whole_queries(cluster, table):
    model = RankAndFilter(LogisticRegression(), FirstK())
    model.fit(table[FEATURES], table["label"], groups=table["query"])
    frame = whole(table, 4)
    for name in ("rank", "predict"):
        expected = getattr(model, name)(table[FEATURES], groups=table["query"])
        found = getattr(model, name)(frame[FEATURES], groups=frame["query"])
        np.testing.assert_array_equal(found.compute(), expected)
    queries = table["query"].to_numpy()
    inside = int(np.flatnonzero(queries[1:] == queries[:-1])[0]) + 1
    frame = partitions(table, [inside])
    with pytest.raises(
        InputError, match=rf"query {queries[inside]} has rows in partitions 0 and 1"
    ):
        model.rank(frame[FEATURES], groups=frame["query"])
    with pytest.raises(InputError, match="groups is missing"):
        model.rank(frame[FEATURES])


@pytest.mark.nightly
@pytest.mark.parametrize("threshold", ["tune", FirstK()], ids=str)
def test_partitions_are_measured_as_rows_in_memory(cluster, table, threshold, monkeypatch):
    unjudged = table.assign(label=table["label"].where(table.index % 7 > 0))
    model = RankAndFilter(
        LogisticRegression(),
        threshold=threshold,
        measure="ndcg_f@3",
        gains={-1: -2, 0: 0, 1: 1, 2: 3},
    )
    X, y, groups = columns(unjudged)
    expected = fit(model, table).score(X, y, groups=groups)
    mixed = unjudged.sample(frac=1, random_state=0)
    for frame in (whole(unjudged, 3), partitions(mixed, [1, 1, 150])):
        X, y, groups = columns(frame)
        with monkeypatch.context() as on_the_client:
            on_the_client.setattr(dd.Series, "__array__", None)
            found = model.score(X, y, groups=groups)
        assert found == pytest.approx(expected, rel=1e-12)
    for odd in ((X, table["label"], groups), (X, y, table["query"]), (table[FEATURES], y, groups)):
        with pytest.raises(InputError, match=r"must be a Dask Series|are Dask's and X is not"):
            model.score(*odd)
    with pytest.raises(InputError, match="sample_weight is not possible where X is a Dask"):
        model.score(X, y, groups, sample_weight=y)
    with pytest.raises(InputError, match="X has no rows"):
        model.score(*columns(partitions(table.iloc[:0], [0])))


@pytest.mark.nightly
def test_a_model_from_a_cluster_needs_none_to_serve(cluster, table):
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=2), cv=0.3, refit=False)
    fit(model, whole(table, 2))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(table[FEATURES]), model.predict(table[FEATURES]))
    assert list(model.feature_names_in_) == FEATURES
    value = model.score(table[FEATURES], table["label"], groups=table["query"])
    shown = model.predict(table[FEATURES])
    assert value == ndcg_f_score(table["label"], shown, groups=table["query"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[FEATURES[::-1]])
