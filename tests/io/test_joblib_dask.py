"""joblib's Dask backend: passes over rows and searches on a cluster."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold

from rows_of_queries import cut, make_rows
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import RankAndFilter

lightgbm = pytest.importorskip("lightgbm")

pytestmark = pytest.mark.nightly
MEASURES = ["ndcg_f@5", "ap"]


def test_passes_spread_over_workers(client):
    parts = cut(make_rows(), 100, 101, 300)
    here = evaluate(Rows(parts), MEASURES)
    with joblib.parallel_backend("dask"):
        there = evaluate(Rows(parts, n_jobs=-1), MEASURES)
    np.testing.assert_allclose(there.means, here.means, rtol=0, atol=1e-14)


def test_searches_on_a_cluster(client):
    ranker = RankAndFilter(lightgbm.LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1), cv=2)
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
