"""Weights and importances of features, through the estimators around them."""

import numpy as np
import pytest
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import CalibratedRanker, QueryRanker, RankAndFilter
from thinned import thinned

pytestmark = pytest.mark.slow

LIGHT = LGBMRanker(n_estimators=4, verbose=-1, n_jobs=1)
RIDGE = make_pipeline(StandardScaler(), Ridge())


@pytest.fixture(scope="module")
def data():
    X, y, groups, _ = make_rank_and_filter(50, n_features=4, n_informative=2, random_state=0)
    return X, y, {"groups": groups}


def wrapped(inner):
    search = GridSearchCV(inner, {}, cv=GroupKFold(2))
    return [
        QueryRanker(inner),
        CalibratedRanker(inner, cv=2),
        RankAndFilter(inner, cv=2),
        RankAndFilter(QueryRanker(inner), cv=2),
        RankAndFilter(make_pipeline("passthrough", CalibratedRanker(inner, cv=2)), cv=2),
        *([] if inner is LIGHT else [QueryRanker(search), RankAndFilter(search, cv=2)]),
    ]


@pytest.mark.parametrize("model", thinned(wrapped(LIGHT), parts=2))
def test_importances(data, model):
    X, y, groups = data
    assert not hasattr(model, "feature_importances_")
    alone = QueryRanker(LIGHT).fit(X, y, **groups).estimator_.feature_importances_
    model.fit(X, y, **groups)
    np.testing.assert_array_equal(model.feature_importances_, alone)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("loss", ["YetiRank", "QueryRMSE"])
def test_importances_of_catboost(data, loss):
    X, y, groups = data
    inner = CatBoostRanker(
        iterations=4, loss_function=loss, thread_count=1, verbose=0, allow_writing_files=False
    )
    model = RankAndFilter(QueryRanker(inner), cv=2).fit(X, y, **groups)
    found = model.feature_importances_
    assert found.shape == (4,)
    # Percentages of what predictions change by.
    assert found.sum() == pytest.approx(100)
    assert SelectFromModel(model, max_features=2, threshold=-np.inf).fit(X, y, **groups)


@pytest.mark.parametrize("model", wrapped(RIDGE))
def test_weights(data, model):
    X, y, groups = data
    alone = Ridge().fit(StandardScaler().fit_transform(X), y).coef_
    assert not hasattr(model, "coef_")
    np.testing.assert_allclose(model.fit(X, y, **groups).coef_, alone)
    assert not hasattr(model, "feature_importances_")


def test_weights_of_a_classifier_have_one_dimension(data):
    X, y, groups = data
    model = RankAndFilter(LogisticRegression()).fit(X, y, **groups)
    assert model.coef_.shape == (4,)
    chosen = SelectFromModel(model, max_features=2, threshold=-np.inf).fit(X, y, **groups)
    assert set(np.flatnonzero(chosen.get_support())) == set(np.argsort(-np.abs(model.coef_))[:2])
