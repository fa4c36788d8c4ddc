import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import LambdaRankRanker, OrdinalRanker, RankAndFilter
from skfilterrank.ranking._fitting.out_of_fold import FoldScores
from skfilterrank.ranking._fitting.score_scale import needs_rescaling, to_refitted_scale
from skfilterrank.ranking._fitting.training_data import TrainingRows


class UnscaledRanker(BaseEstimator):
    """Learns a good order, on a scale that depends on which rows it has seen."""

    def __init__(self, scale=True):
        self.scale = scale

    def fit(self, X, y, groups):
        self.model_ = LinearRegression().fit(X, y)
        seed = np.random.default_rng(int(np.sum(groups)))
        self.factor_, self.shift_ = (seed.uniform(0.2, 5), seed.normal()) if self.scale else (1, 0)
        return self

    def predict(self, X):
        return self.model_.predict(X) * self.factor_ + self.shift_


class Scores(BaseEstimator):
    """Scores a row by what stands in its only column, times a factor, plus a shift."""

    def __init__(self, factor=1.0, shift=0.0):
        self.factor = factor
        self.shift = shift

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0] * self.factor + self.shift


def rows(X, judged=None):
    n = len(X)
    judged = np.ones(n, dtype=bool) if judged is None else judged
    return TrainingRows(X, np.zeros(n), np.zeros(n), np.arange(n) // 2, judged, {}, [])


def rescaled(models, refitted, X, judged=None):
    half = len(X) // 2
    everything = np.arange(len(X))
    splits = [(everything[half:], everything[:half]), (everything[:half], everything[half:])]
    folds = [
        FoldScores(test, model.predict(X[test]), 0.0, 0.0, model)
        for model, (_, test) in zip(models, splits)
    ]
    return to_refitted_scale(folds, splits, refitted, rows(X, judged), None)


def test_scores_come_to_the_scale_of_the_refitted_model():
    X = np.tile([[1.0], [2.0], [3.0], [6.0]], (2, 1))
    folds = rescaled([Scores(10, 3), Scores(0.1, -7)], Scores(2, 1), X)
    # Both halves hold the same rows, so that the scale is recovered exactly.
    for fold in folds:
        np.testing.assert_allclose(fold.scores, [3, 5, 7, 13])


def test_the_scale_is_that_of_training_scores():
    X = np.array([[0.0], [2.0], [10.0], [14.0]])
    first, second = rescaled([Scores(), Scores()], Scores(), X)
    # Trained on 10 and 14 (mean 12, deviation 2), refitted on all (mean 6.5, deviation sqrt(32.75))
    np.testing.assert_allclose(first.scores, 6.5 + (np.array([0, 2]) - 12) / 2 * 32.75**0.5)
    # Trained on 0 and 2 (mean 1, deviation 1)
    np.testing.assert_allclose(second.scores, 6.5 + (np.array([10, 14]) - 1) * 32.75**0.5)


def test_filtered_rows_stay_filtered_and_do_not_count():
    X = np.tile([[1.0], [-np.inf], [3.0], [5.0]], (2, 1))
    for fold in rescaled([Scores(4, 1), Scores(3)], Scores(), X):
        np.testing.assert_allclose(fold.scores, [1, -np.inf, 3, 5])


def test_unjudged_rows_do_not_count():
    X = np.tile([[1.0], [1e9], [3.0], [5.0]], (2, 1))
    judged = np.tile([True, False, True, True], 2)
    for fold in rescaled([Scores(4, 1), Scores(3)], Scores(), X, judged):
        np.testing.assert_allclose(fold.scores, [1, 1e9, 3, 5])


@pytest.mark.parametrize("value", [0.0, 0.1, -1e6])
def test_constant_scores_are_shifted(value):
    X = np.full((8, 1), value)
    for fold in rescaled([Scores(3, 1), Scores(2)], Scores(1, 5), X):
        np.testing.assert_allclose(fold.scores, value + 5)


@pytest.mark.parametrize("distance", [1.0, 2.0**-10, 2.0**-16])
def test_a_spread_that_is_small_beside_the_scores_is_a_scale(distance):
    # A millionth to a hundred thousand millionth of the scores, far more than rounding.
    X = 2.0**20 + distance * np.tile([[0.0], [1.0]], (4, 1))
    for fold in rescaled([Scores(1), Scores(1)], Scores(4, -(2.0**22)), X):
        np.testing.assert_array_equal(fold.scores, 4 * distance * np.tile([0.0, 1.0], 2))


def test_ten_thousand_rows_give_the_scale():
    asked = []

    class Watched(Scores):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    # All of 10,000 rows are scored again; of two rows more, every other query.
    for n_rows, n_scored in ((10_000, 10_000), (10_002, 5_002)):
        asked.clear()
        rescaled([Scores(), Scores()], Watched(), np.arange(float(n_rows))[:, None])
        assert asked == [n_scored]


def test_no_finite_score_gives_no_nan():
    X = np.full((8, 1), -np.inf)
    for fold in rescaled([Scores(), Scores()], Scores(), X):
        assert np.isneginf(fold.scores).all()


def test_long_data_is_sampled_by_whole_queries(monkeypatch):
    monkeypatch.setattr("skfilterrank.ranking._fitting.score_scale.SAMPLE_ROWS", 100)
    asked = []

    class Watched(Scores):
        def predict(self, X):
            asked.append(X[:, 0])
            return super().predict(X)

    X = np.arange(2000.0)[:, None]
    rescaled([Scores(), Scores()], Watched(), X)
    assert 90 <= len(asked[0]) <= 110
    queries, counts = np.unique(asked[0] // 2, return_counts=True)
    assert (counts == 2).all()
    assert queries.max() - queries.min() > 900


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (LogisticRegression(), False),
        (LinearSVC(), False),
        (Ridge(), False),
        (OrdinalRanker(), False),
        (make_pipeline(StandardScaler(), Ridge()), False),
        (GridSearchCV(Ridge(), {"alpha": [1]}), False),
        (LambdaRankRanker(), True),
        (make_pipeline(StandardScaler(), LambdaRankRanker()), True),
        (GridSearchCV(UnscaledRanker(), {}), True),
        (UnscaledRanker(), True),
    ],
)
def test_auto_standardises_rankers(estimator, expected):
    assert needs_rescaling("auto", estimator) is expected
    assert needs_rescaling(True, estimator)
    assert not needs_rescaling(False, estimator)


def test_auto_knows_rankers_of_other_libraries():
    lightgbm = pytest.importorskip("lightgbm")
    xgboost = pytest.importorskip("xgboost")
    catboost = pytest.importorskip("catboost")
    for ranker in (lightgbm.LGBMRanker(), xgboost.XGBRanker(), catboost.CatBoostRanker()):
        assert needs_rescaling("auto", ranker)
    for other in (lightgbm.LGBMClassifier(), lightgbm.LGBMRegressor(), xgboost.XGBRegressor()):
        assert not needs_rescaling("auto", other)


@pytest.fixture(scope="module")
def data():
    X, y, groups, _ = make_rank_and_filter(1500, random_state=0)
    return X, y, groups, groups < 500


def fitted(data, ranker, **parameters):
    X, y, groups, train = data
    return RankAndFilter(ranker, k=3, **parameters).fit(X[train], y[train], groups=groups[train])


def test_standardised_threshold_fits_the_refitted_model(data):
    X, y, groups, train = data
    held = X[~train], y[~train], groups[~train]
    plain = fitted(data, UnscaledRanker(scale=False)).score(*held)
    raw = fitted(data, UnscaledRanker(), rescale=False).score(*held)
    carried = fitted(data, UnscaledRanker()).score(*held)
    assert abs(carried - plain) < 0.005
    assert carried > raw + 0.02


def test_out_of_fold_results_do_not_depend_on_the_folds_scales(data):
    plain, unscaled = (fitted(data, UnscaledRanker(scale), rescale=True) for scale in (False, True))
    assert unscaled.best_score_ == pytest.approx(plain.best_score_)
    np.testing.assert_allclose(
        unscaled.cv_results_["test_score"], plain.cv_results_["test_score"], rtol=1e-9
    )
    model = unscaled.estimator_
    assert unscaled.threshold_ == pytest.approx(plain.threshold_ * model.factor_ + model.shift_)


def test_per_query_thresholds_are_carried_over_too(data):
    X, y, groups, train = data
    held = X[~train], y[~train], groups[~train]
    plain, unscaled = (
        fitted(data, UnscaledRanker(scale), threshold="per_query", rescale=True)
        for scale in (False, True)
    )
    assert unscaled.score(*held) == pytest.approx(plain.score(*held), abs=1e-3)


def test_no_refit_needs_no_rescaling(data):
    first = fitted(data, UnscaledRanker(), cv=0.3, refit=False)
    second = fitted(data, UnscaledRanker(), cv=0.3, refit=False, rescale=False)
    assert first.threshold_ == second.threshold_


def test_unknown_rescale(data):
    with pytest.raises(ValueError, match="rescale must be one of 'auto', True, False"):
        fitted(data, Ridge(), rescale="zscore")
