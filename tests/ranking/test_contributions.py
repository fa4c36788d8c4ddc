"""Contributions of features to a score, of each library."""

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier, CatBoostRanker
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from scipy.special import logit
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRanker

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import (
    AdaRankRanker,
    CoordinateAscentRanker,
    LambdaRankRanker,
    QueryRanker,
    QueryScaler,
    RankAndFilter,
    RankBoostRanker,
    score_difference,
)

SMALL = {"n_estimators": 3, "n_jobs": 1}

LIGHT = SMALL | {"verbose": -1}

CAT = {"n_estimators": 3, "thread_count": 1, "verbose": 0, "allow_writing_files": False}

# XGBoost adds up in float32.
MODELS = {
    "Ridge": (Ridge(), 1e-12),
    "RidgeClassifier": (RidgeClassifier(), 1e-12),
    "LogisticRegression": (LogisticRegression(), 1e-12),
    "scaled": (make_pipeline(StandardScaler(), QueryRanker(Ridge())), 1e-12),
    "scaled by query": (make_pipeline(QueryScaler(), Ridge()), 1e-12),
    "search": (GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=GroupKFold(2)), 1e-12),
    "LGBMRanker": (LGBMRanker(**LIGHT), 1e-12),
    "LGBMRegressor": (LGBMRegressor(**LIGHT), 1e-12),
    "LGBMClassifier": (LGBMClassifier(**LIGHT), 1e-12),
    "XGBRanker": (XGBRanker(**SMALL), 1e-5),
    "XGBClassifier": (XGBClassifier(**SMALL), 1e-5),
    "CatBoostRanker": (CatBoostRanker(**CAT), 1e-12),
    "CatBoostClassifier": (CatBoostClassifier(**CAT), 1e-12),
    "LambdaRankRanker": (LambdaRankRanker(**SMALL, gamma=1.0), 1e-12),
    "AdaRankRanker": (AdaRankRanker(n_estimators=6, both_directions=True), 1e-12),
    "RankBoostRanker": (RankBoostRanker(n_estimators=6), 1e-12),
    "CoordinateAscentRanker": (CoordinateAscentRanker(max_iter=2, random_state=0), 1e-12),
}


@pytest.fixture(scope="module")
def data():
    X, y, groups, _ = make_rank_and_filter(
        40, n_features=5, n_informative=3, documents_per_query=6, random_state=0
    )
    X = pd.DataFrame(X, columns=[f"f{number}" for number in range(5)])
    return X.set_index(pd.Index(groups, name="qid")), y.astype(float), groups


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_contributions_sum_to_the_difference(data, name):
    X, y, groups = data
    estimator, tolerance = MODELS[name]
    model = RankAndFilter(estimator, threshold=0.4, measure="ndcg_f@3").fit(X, y, groups=groups)
    margins = model.decision_function(X)
    scores = margins + 0.4
    on_scale = scores
    if hasattr(estimator, "predict_proba"):
        on_scale = logit(scores)
        margins = on_scale - logit(0.4)
    for one, two in ((0, 1), (7, 3), (10, 10)):
        pair = score_difference(model, X, one, two)
        expected = on_scale[one] - on_scale[two]
        assert pair.difference == pytest.approx(expected, abs=tolerance)
        assert pair.contributions.sum() == pair.difference
        assert (pair.baseline, len(pair.features)) == (0.0, 5)
        back = score_difference(model, X, two, one)
        np.testing.assert_allclose(back.contributions, -pair.contributions, atol=1e-12)
        alone = score_difference(model, X, one)
        assert alone.difference == pytest.approx(margins[one], abs=tolerance)
        assert alone.contributions.sum() + alone.baseline == pytest.approx(
            alone.difference, abs=1e-12
        )
        assert (alone.difference >= 0) == np.isfinite(model.predict(X)[one])
        assert alone.scale == pair.scale
        assert alone.scale == ("log-odds" if hasattr(estimator, "predict_proba") else "score")


def test_early_stopped_trees(data):
    X, y, groups = data
    ranker = QueryRanker(XGBRanker(n_estimators=50, early_stopping_rounds=3, n_jobs=1))
    ranker.fit(X, y, eval_set=[(X, y)], eval_groups=[groups])
    assert ranker.estimator_.best_iteration < 49
    scores = ranker.predict(X)
    difference = score_difference(ranker, X, 0, 5).difference
    assert difference == pytest.approx(scores[0] - scores[5], abs=1e-5)
