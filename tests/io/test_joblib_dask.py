"""joblib's Dask backend, workers that die, and searches on a cluster."""

import os
import signal
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold

from rows_of_queries import cut, make_rows
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import QueryRanker, RankAndFilter

dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
lightgbm = pytest.importorskip("lightgbm")

pytestmark = pytest.mark.nightly
MEASURES = ["ndcg_f@5", "ap"]


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def test_passes_spread_over_workers(client):
    parts = cut(make_rows(), 100, 101, 300)
    here = evaluate(Rows(parts), MEASURES)
    with joblib.parallel_backend("dask"):
        there = evaluate(Rows(parts, n_jobs=-1), MEASURES)
    np.testing.assert_allclose(there.means, here.means, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "ranker",
    [
        QueryRanker(lightgbm.LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1)),
        RankAndFilter(lightgbm.LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1), cv=2),
    ],
)
def test_searches_on_a_cluster(client, ranker):
    X, y, groups, _ = make_rank_and_filter(n_queries=40, n_features=6, random_state=0)
    y = pd.Series(y, index=pd.Index(groups, name="qid"))
    grid = {"estimator__num_leaves": [3, 7]}
    here, there = (GridSearchCV(ranker, grid, cv=GroupKFold(2)) for _ in range(2))
    here.fit(X, y, groups=groups)
    with joblib.parallel_backend("dask"):
        there.fit(X, y, groups=groups)
    for name in ("mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(here.cv_results_[name], there.cv_results_[name])
    np.testing.assert_array_equal(here.predict(X), there.predict(X))


def test_folds_on_a_cluster(client):
    X, y, groups, _ = make_rank_and_filter(n_queries=60, n_features=6, random_state=0)
    inner = ExtraTreesRegressor(n_estimators=3, random_state=0)
    here = RankAndFilter(inner).fit(X, y, groups=groups)
    with joblib.parallel_backend("dask"):
        there = RankAndFilter(inner, n_jobs=-1).fit(X, y, groups=groups)
    assert here.threshold_ == there.threshold_
    np.testing.assert_array_equal(here.threshold_curve_.values, there.threshold_curve_.values)


def _slowly(part, folder):
    """The rows; tells that a worker is at it, and gives time to kill it."""
    with open(os.path.join(folder, str(os.getpid())), "w"):
        time.sleep(0.1)
    return part


def test_a_worker_that_dies_changes_nothing(client, tmp_path):
    table = pd.DataFrame(make_rows())
    expected = evaluate(Rows(table), MEASURES)
    frame = dd.from_pandas(table, npartitions=8, sort=False)
    frame = frame.map_partitions(_slowly, str(tmp_path), meta=table.iloc[:0])
    pids = client.run(os.getpid)
    with joblib.parallel_backend("threading", n_jobs=2):
        found, _ = joblib.Parallel()(
            [
                joblib.delayed(evaluate)(Rows(frame), MEASURES),
                joblib.delayed(_kill_one)(tmp_path, list(pids.values())),
            ]
        )
    np.testing.assert_allclose(found.means, expected.means, rtol=0, atol=1e-14)
    assert set(client.run(os.getpid).values()) != set(pids.values())


def _kill_one(folder, pids):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        at_work = [pid for pid in pids if (folder / str(pid)).exists()]
        if at_work:
            time.sleep(0.3)
            return os.kill(at_work[0], signal.SIGKILL)
        time.sleep(0.02)
    raise TimeoutError("no worker began")
