"""Rankers of XGBoost and LightGBM that train on a Dask cluster."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from cluster_rows import FEATURES, columns, fit, whole
from skfilterrank.exceptions import (
    InputError,
    MissingPackageError,
)
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import QueryRanker, RankAndFilter

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
xgboost_dask = pytest.importorskip("xgboost.dask")


@pytest.mark.nightly
@pytest.mark.parametrize("n_partitions", [1, 4])
def test_one_worker_learns_what_lightgbm_learns(cluster, table, n_partitions):
    settings = {"n_estimators": 5, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
    settings |= {"deterministic": True, "force_row_wise": True}
    model = RankAndFilter(lightgbm.DaskLGBMRanker(**settings), threshold=None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Parameter n_jobs will be ignored")
        fit(model, whole(table, n_partitions))
    grades = np.unique(table["label"], return_inverse=True)[1]
    sizes = table["query"].value_counts(sort=False)
    alone = lightgbm.LGBMRanker(**settings).fit(table[FEATURES], grades, group=sizes)
    np.testing.assert_array_equal(model.predict(table[FEATURES]), alone.predict(table[FEATURES]))


@pytest.mark.slow
@pytest.mark.parametrize("n_partitions", [pytest.param(1, marks=pytest.mark.nightly), 4])
def test_one_worker_learns_what_one_process_learns(cluster, table, n_partitions):
    # In XGBoost 3.0 the default is another on a cluster.
    settings = {"n_estimators": 5, "max_depth": 3, "objective": "rank:ndcg"}
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(**settings), threshold=None)
    fit(model, whole(table, n_partitions))
    grades = np.unique(table["label"], return_inverse=True)[1]
    alone = xgboost.XGBRanker(**settings).fit(table[FEATURES], grades, qid=table["query"])
    np.testing.assert_array_equal(model.predict(table[FEATURES]), alone.predict(table[FEATURES]))


def test_estimators_and_data_must_both_be_of_a_cluster(cluster, table):
    frame = whole(table, 2)
    for inner in (Ridge(), make_pipeline(Ridge())):
        with pytest.raises(InputError, match="DataFrame"):
            fit(RankAndFilter(inner), frame)
    for outer in (RankAndFilter, QueryRanker):
        with pytest.raises(InputError, match="DaskXGBRanker learns from Dask DataFrames, got rows"):
            fit(outer(xgboost_dask.DaskXGBRanker()), table)
    with pytest.raises(InputError, match="client is set on DaskLGBMRanker"):
        fit(RankAndFilter(lightgbm.DaskLGBMRanker(client=cluster)), frame)
    X, y, groups = columns(frame)
    model = RankAndFilter(xgboost_dask.DaskXGBRanker())
    with pytest.raises(InputError, match="sample_weight has entries of its own"):
        model.fit(X, y, groups=groups, sample_weight=y)
    with pytest.raises(InputError, match="eval_set is not possible"):
        model.fit(X, y, groups=groups, eval_set=(X, y))
    with pytest.raises(InputError, match="query_weight is not possible"):
        model.fit(X, y, groups=groups, query_weight={})


def test_without_a_cluster(table, monkeypatch):
    def no_client():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", no_client)
    frame = whole(table, 2)
    with pytest.raises(InputError, match="DaskXGBRanker needs a cluster"):
        fit(RankAndFilter(xgboost_dask.DaskXGBRanker()), frame)


def test_without_distributed(table, monkeypatch):
    frame = whole(table, 2)
    monkeypatch.setitem(sys.modules, "distributed", None)
    for measured in (
        lambda: fit(RankAndFilter(xgboost_dask.DaskXGBRanker()), frame),
        lambda: evaluate(Rows(frame, query="query", score="f0"), "ap"),
    ):
        with pytest.raises(MissingPackageError, match=r"pip install 'skfilterrank\[dask\]'"):
            measured()
