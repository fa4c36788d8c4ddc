"""RankAndFilter on Dask DataFrames: thresholds, folds, and what only memory has."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from cluster_rows import FEATURES, Recorded, fit, partitions, whole
from skfilterrank.exceptions import (
    FitWarning,
    InputError,
)
from skfilterrank.io import Rows
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FixedThreshold,
    TunedThreshold,
    threshold_curve,
)

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
xgboost_dask = pytest.importorskip("xgboost.dask")

MANY, UNEVEN = list(range(40, 400, 40)), [5, 6, 7, 300]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "cuts"),
    [
        ("ndcg_f@5", [150]),
        pytest.param("ndcg_f@5", UNEVEN, marks=pytest.mark.nightly),
        pytest.param("ap", MANY, marks=pytest.mark.nightly),
        pytest.param("forbidden@5", [], marks=pytest.mark.nightly),
    ],
)
def test_threshold_of_given_scores_is_that_of_memory(cluster, table, cuts, measure):
    scores = table.rename(columns={"f0": "score"})
    scores["score"] = scores["score"].round(1)
    frame = partitions(scores.sample(frac=1, random_state=0), cuts)
    model = TunedThreshold(measure).fit(Rows(frame, query="query"))
    alone = clone(model).fit(scores[["score"]], scores["label"], groups=scores["query"])
    assert model.threshold_ == alone.threshold_
    assert model.best_score_ == pytest.approx(alone.best_score_, abs=1e-12)
    np.testing.assert_allclose(model.list_sizes_, alone.list_sizes_)


@pytest.mark.nightly
def test_nothing_good_is_told(cluster, table):
    frame = whole(table.assign(label=np.where(table["label"] < 0, -1, 0)), 3)
    model = TunedThreshold()
    rows = Rows(frame, query="query", score="f0")
    with pytest.warns(FitWarning, match="no label has a gain above 0"):
        model.fit(rows)
    with warnings.catch_warnings(action="error"):
        model.set_params(gains={0: 1, -1: -1}).fit(rows)


@pytest.mark.nightly
def test_threshold_is_the_best_of_out_of_fold_scores(cluster, table):
    settings = {"n_estimators": 4, "max_depth": 3}
    frame = partitions(table, [100, 200, 301])
    model = RankAndFilter(xgboost_dask.DaskXGBClassifier(**settings), measure="ndcg_f@5", cv=3)
    fit(model, frame)
    # A query's fold is decided by the upper half of pandas' hash of its id.
    hashes = pd.util.hash_pandas_object(table["query"], index=False).to_numpy()
    fold = (hashes >> np.uint64(32)) % np.uint64(3)
    good = (table["label"] > 0).astype(int)
    scores = np.empty(len(table))
    for i in range(3):
        inner = xgboost.XGBClassifier(**settings)
        inner.fit(table.loc[fold != i, FEATURES], good[fold != i])
        scores[fold == i] = inner.predict_proba(table.loc[fold == i, FEATURES])[:, 1]
    curve = threshold_curve(table["label"], scores, groups=table["query"], measure="ndcg_f@5")
    assert model.threshold_ == pytest.approx(curve.best_threshold, abs=1e-6)
    assert model.best_score_ == pytest.approx(curve.best_value, abs=1e-9)
    assert isinstance(model.estimator_, xgboost.XGBClassifier)
    per_query = []
    for i in range(3):
        own, other = fold == i, fold != i
        best = threshold_curve(
            table["label"][other], scores[other], groups=table["query"][other], measure="ndcg_f@5"
        ).best_threshold
        values = {
            level: ndcg_f_score(
                table["label"][own],
                np.where(scores[own] >= level, scores[own], -np.inf),
                groups=table["query"][own],
                k=5,
                average=None,
            )
            for level in (best, model.threshold_)
        }
        per_query.append(values[best])
        assert model.cv_results_["n_queries"][i] == len(values[best])
        mean = values[model.threshold_].mean()
        assert model.cv_results_["test_score"][i] == pytest.approx(mean, abs=1e-9)
    assert model.held_out_score_ == pytest.approx(np.concatenate(per_query).mean(), abs=1e-9)
    shown_all = ndcg_f_score(table["label"], scores, groups=table["query"], k=5)
    assert model.held_out_score_unfiltered_ == pytest.approx(shown_all, abs=1e-9)


@pytest.mark.nightly
def test_one_split_keeps_its_model(cluster, table):
    Recorded.seen.clear()
    fit(RankAndFilter(Recorded(n_estimators=1), cv=0.3, refit=False), whole(table, 3))
    ((parts),) = Recorded.seen
    share = pd.concat(parts)["number"].nunique() / table["query"].nunique()
    assert 0.6 < share < 0.8


UNSUPPORTED = {
    "certified": (
        {"threshold": CertifiedThreshold({"forbidden@3": 0.1})},
        "CertifiedThreshold needs whole lists in memory",
    ),
    "expected": ({"threshold": ExpectedThreshold()}, "ExpectedThreshold needs whole lists"),
    "max_shown": ({"threshold": FixedThreshold(0.3, max_shown=3)}, "max_shown=3 is not possible"),
    "rule": ({"threshold": TunedThreshold(rule="harm")}, "rule='harm' is not possible"),
    "filter_estimator": (
        {"filter_estimator": xgboost.XGBClassifier()},
        "filter_estimator is not possible",
    ),
    "splitter": ({"cv": GroupKFold(2)}, "cv must be None, a number of folds"),
    "labels": ({"target": "label"}, "target='label' is not possible"),
    "refit": ({"refit": False}, "refit=False keeps the model of the only split"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_only_memory_has(cluster, table, name):
    parameters, message = UNSUPPORTED[name]
    with pytest.raises(InputError, match=message):
        fit(RankAndFilter(xgboost_dask.DaskXGBRanker(), **parameters), whole(table, 2))


@pytest.mark.nightly
def test_a_failed_fit_changes_nothing(cluster, table):
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=1), cv=0.3, refit=False)
    fit(model, whole(table, 2))
    before = vars(model).copy()
    with pytest.raises(InputError):
        fit(model, partitions(table.astype({"query": float}).assign(query=np.nan), [9]))
    assert vars(model) == before
