"""Why a document stands above another or is hidden: contributions that sum up exactly."""

import pickle

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier, CatBoostRanker
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from scipy import sparse
from scipy.special import logit
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRanker

from skfilterrank._lists.prefixes import thresholds_of
from skfilterrank._lists.queries import GroupIndex
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
from skfilterrank.thresholds import PerQueryThreshold
from thinned import thinned

SMALL = {"n_estimators": 6, "n_jobs": 1}

LIGHT = SMALL | {"verbose": -1}


@pytest.fixture(scope="module")
def data():
    X, y, groups, _ = make_rank_and_filter(
        40, n_features=5, n_informative=3, documents_per_query=6, random_state=0
    )
    X = pd.DataFrame(X, columns=[f"f{number}" for number in range(5)])
    return X.set_index(pd.Index(groups, name="qid")), y.astype(float), groups


def test_the_model_alone(data):
    X, y, _ = data
    ridge = Ridge().fit(X, y)
    found = score_difference(ridge, X, 4, 2)
    np.testing.assert_allclose(found.contributions, ridge.coef_ * (X.iloc[4] - X.iloc[2]))
    assert found.features == list(X.columns)
    np.testing.assert_array_equal(found.values, X.iloc[4])
    for other in (X.to_numpy(), X.to_numpy().tolist(), sparse.csr_array(X.to_numpy())):
        plain = Ridge().fit(X.to_numpy(), y)
        again = score_difference(plain, other, 4, 2)
        np.testing.assert_allclose(again.contributions, found.contributions)
        assert again.features == list("01234")
    for around in (FrozenEstimator(ridge), RankAndFilter(FrozenEstimator(ridge), cv="prefit")):
        again = score_difference(around.fit(X, y), X, 4, 2)
        np.testing.assert_array_equal(again.contributions, found.contributions)
    # A classifier whose second class is the bad one.
    names = np.where(y > 0, "good", "spam")
    model = LogisticRegression().fit(X, names)
    filtered = RankAndFilter(model, threshold=0.5, gains={"good": 1, "spam": -1}, cv="prefit")
    filtered.fit(X, names)
    found = score_difference(filtered, X, 4, 2)
    expected = -model.coef_[0] * (X.iloc[4] - X.iloc[2])
    np.testing.assert_allclose(found.contributions, expected)


@pytest.mark.slow
def test_names_after_a_pipeline_and_the_table(data):
    X, y, groups = data
    pipeline = make_pipeline(QueryScaler("rank"), Ridge())
    bad = {-1: -10, 0: 0, 1: 1, 2: 2}
    model = RankAndFilter(pipeline, PerQueryThreshold(), measure="ndcg_f@3", gains=bad, cv=2)
    model.fit(X, y, groups=groups)
    margins = model.decision_function(X)
    # Of a query whose threshold is finite, where margins are not squeezed.
    scores = model.estimator_[-1].predict(model.estimator_[0].transform(X))
    index = GroupIndex.from_groups(groups)
    thresholds = thresholds_of(model.predict(X, groups=groups) > -np.inf, scores, index)
    row = int(np.argmax(np.isfinite(thresholds)))
    found = score_difference(model, X, row)
    assert found.features == list(X.columns)
    assert found.difference == pytest.approx(margins[row])
    table = found.to_frame()
    assert list(table.columns) == ["value", "contribution"]
    assert table.index[-1] == "(baseline)"
    assert table["contribution"].sum() == pytest.approx(found.difference)
    assert table["contribution"][:-1].abs().is_monotonic_decreasing
    assert "the threshold (score)" in str(found)
    assert len(repr(found)) <= 120
    assert repr(found).startswith("<ScoreDifference: ")
    assert "<table" in found._repr_html_()
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(found)).contributions, found.contributions
    )
    pair = score_difference(model, X, row, row + 1)
    assert list(pair.to_frame().columns) == ["value", "other", "contribution"]


def test_what_has_no_answer(data):
    X, y, groups = data
    three = np.arange(len(y)) % 3

    def fitted(estimator, **settings):
        return RankAndFilter(estimator, **settings).fit(X, y, groups=groups)

    for estimator, labels, message in (
        (
            RandomForestRegressor(n_estimators=2),
            y,
            "RandomForestRegressor does not provide contributions",
        ),
        (PoissonRegressor(), y + 1, "the score of PoissonRegressor is not a sum over features"),
        (LogisticRegression(), three, "of several classes"),
        (LGBMClassifier(**LIGHT), three, "of several classes"),
    ):
        with pytest.raises(ValueError, match=message):
            score_difference(estimator.fit(X, labels), X, 0, 1)
    with pytest.raises(ValueError, match="Ridge has no threshold on its score: give other="):
        score_difference(Ridge().fit(X, y), X, 0)
    with pytest.raises(ValueError, match="RankAndFilter has no threshold"):
        score_difference(fitted(Ridge(), threshold=None), X, 0)
    two = fitted(Ridge(), filter_estimator=LogisticRegression())
    with pytest.raises(ValueError, match="RankAndFilter has no threshold on its score"):
        score_difference(two, X, 0, groups=groups)
    assert score_difference(two, X, 0, 1, groups=groups).features
    for estimator, threshold in ((Ridge(), -np.inf), (LogisticRegression(), 0.0)):
        with pytest.raises(ValueError, match="shows or hides every document"):
            score_difference(fitted(estimator, threshold=threshold), X, 0)
    with pytest.raises(ValueError, match="model must be a fitted estimator, got 'ridge'"):
        score_difference("ridge", X, 0, 1)
    model = Ridge().fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="model, Ridge, cannot score X: X has 4 features"):
        score_difference(model, X.to_numpy()[:, 1:], 0, 1)
    for row in (-1, len(y), 1.5, True):
        with pytest.raises(ValueError, match="document must be a whole number from 0 to"):
            score_difference(model, X.to_numpy(), row, 0)
    with pytest.raises(ValueError, match="other must be a whole number from 0 to"):
        score_difference(model, X.to_numpy(), 0, len(y))


FEW_TREES = {"n_estimators": 3, "n_jobs": 1}

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
    "XGBRanker": (XGBRanker(**FEW_TREES), 1e-5),
    "XGBClassifier": (XGBClassifier(**FEW_TREES), 1e-5),
    "CatBoostRanker": (CatBoostRanker(**CAT), 1e-12),
    "CatBoostClassifier": (CatBoostClassifier(**CAT), 1e-12),
    "LambdaRankRanker": (LambdaRankRanker(**FEW_TREES, gamma=1.0), 1e-12),
    "AdaRankRanker": (AdaRankRanker(n_estimators=6, both_directions=True), 1e-12),
    "RankBoostRanker": (RankBoostRanker(n_estimators=6), 1e-12),
    "CoordinateAscentRanker": (CoordinateAscentRanker(max_iter=2, random_state=0), 1e-12),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(MODELS, parts=2))
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
