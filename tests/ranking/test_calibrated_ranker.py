"""CalibratedRanker: curves by hand and by brute force, held-out queries, order of the scores."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from lightgbm import LGBMRanker
from scipy.special import expit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    get_scorer,
    log_loss,
    roc_auc_score,
)
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from given_scores import GivenScores, as_column, prefit
from skfilterrank._base.probabilities import fit_calibrator
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import CalibratedRanker, LambdaRankRanker, OrdinalRanker, RankAndFilter
from thinned import thinned
from versions import SCORERS_WANT_CLASSIFIERS

QUIET = {"n_estimators": 5, "n_jobs": 1, "verbose": -1, "min_child_samples": 5}


class Noted(GivenScores):
    """Remembers what it was fitted on."""

    def fit(self, X, y, groups=None):
        self.y_, self.groups_ = y, groups
        return self


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=150, bayes=False, random_state=0)


class TestOrder:
    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
    @given(
        rows=st.lists(
            st.tuples(st.integers(-20, 20), st.sampled_from([-1, 0, 1])), min_size=1, max_size=20
        )
    )
    @pytest.mark.filterwarnings("ignore:the held-out scores:UserWarning")
    def test_order_of_the_scores_is_kept(self, method, rows):
        scores, labels = np.array(rows, dtype=float).T
        model = prefit(scores, labels, method=method)
        new = np.linspace(-30, 30, 121)
        found = model.predict(as_column(new))
        assert (np.diff(found) > 0).all()
        good = model.predict_proba(as_column(new))[:, 1]
        assert (np.diff(good) >= 0).all()
        assert (found >= good).all()
        assert (found <= good + 1e-6).all()
        assert (found <= 1).all()

    def test_a_threshold_filters_alike_with_ties_and_without(self):
        scores, labels = [1, 2, 3, 4], [-1, 1, -1, 2]
        kept = prefit(scores, labels).predict(as_column(scores)) >= 0.5
        np.testing.assert_array_equal(kept, [False, True, True, True])

    def test_worse_than_chance(self):
        rng = np.random.default_rng(0)
        scores = rng.normal(size=400)
        labels = np.where(scores + rng.normal(size=400) < 0, 1, -1)
        for method in ("isotonic", "sigmoid"):
            with pytest.warns(UserWarning, match=r"worse than chance: of all pairs, [12]\d %"):
                model = prefit(scores, labels, method=method)
            assert model.auc_ == roc_auc_score(labels > 0, scores) < 0.3
        assert isinstance(model.calibrator_, DummyClassifier)
        np.testing.assert_allclose(
            model.predict_proba(as_column(scores))[:, 1], (labels > 0).mean(), atol=0.01
        )

    def test_three_deviations_below_one_half_are_worse_than_chance(self):
        # The area of a score that knows nothing deviates by sqrt((10 + 10 + 1) / (12 * 10 * 10)),
        # 0.1323, so that 0.5 - 3 * 0.1323 = 0.103 is the bar. 10 or 11 of 100 pairs are in order.
        scores, labels = np.arange(20), np.repeat([1, -1], 10)
        scores[9] += 10
        scores[10:] -= 1
        with pytest.warns(UserWarning, match="worse than chance: of all pairs, 10 %"):
            assert prefit(scores, labels).auc_ == pytest.approx(0.10)
        scores[[8, 10]] = scores[[10, 8]]
        assert prefit(scores, labels).auc_ == pytest.approx(0.11)

    @pytest.mark.slow
    def test_chance_alone_is_no_reason_to_warn(self):
        rng = np.random.default_rng(1)
        for _ in range(20):
            scores = rng.normal(size=8)
            prefit(scores, [1, -1] * 4)


@pytest.fixture(scope="module")
def classifier(data):
    """Trees with probabilities, of labels 0 and 1, for tests that leave them as they are."""
    y = pd.Series((data.y > 0).astype(int), index=pd.Index(data.groups, name="qid"))
    return CalibratedRanker(LGBMRanker(**QUIET), cv=3).fit(data.X, y)


class TestDecisionFunction:
    @pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
    def test_is_the_log_odds_of_the_score(self, data, method):
        model = CalibratedRanker(Ridge(), method=method, cv=3)
        model.fit(data.X, data.y, groups=data.groups)
        good, odds = model.predict(data.X), model.decision_function(data.X)
        np.testing.assert_allclose(odds, np.log(good / (1 - good)))
        assert odds.shape == good.shape
        np.testing.assert_array_equal(odds >= 0, good >= 0.5)
        assert (np.diff(odds[np.argsort(good)]) >= 0).all()

    def test_filtered_rows_are_finite_and_last(self, data):
        inner = RankAndFilter(Ridge(), cv=3).fit(data.X, data.y, groups=data.groups)
        model = CalibratedRanker(inner, cv="prefit").fit(data.X, data.y, groups=data.groups)
        odds, is_filtered = model.decision_function(data.X), np.isneginf(model.predict(data.X))
        assert np.isfinite(odds).all()
        assert odds[is_filtered].max() < -700 < -20 < odds[~is_filtered].min()

    def test_the_surest_rows_are_finite(self):
        rng = np.random.default_rng(0)
        scores = np.sort(rng.normal(size=2000))
        model = prefit(scores * 1e9, scores > 0, method="sigmoid")
        assert np.isfinite(model.decision_function(as_column([-1e300, -1e9, 1e9, 1e300]))).all()

    @pytest.mark.slow
    @pytest.mark.skipif(SCORERS_WANT_CLASSIFIERS, reason="scikit-learn before 1.9 refuses rankers")
    @pytest.mark.parametrize(
        ("scoring", "expected"),
        thinned(
            {
                "roc_auc": lambda y, model, X: roc_auc_score(y, model.predict(X)),
                "average_precision": lambda y, it, X: average_precision_score(y, it.predict(X)),
                "neg_log_loss": lambda y, model, X: -log_loss(y, model.predict_proba(X)[:, 1]),
                "neg_brier_score": lambda y, it, X: -brier_score_loss(y, it.predict_proba(X)[:, 1]),
            }.items(),
            parts=2,
        ),
    )
    def test_scorers_of_scikit_learn(self, data, classifier, scoring, expected):
        routing = scoring.startswith("neg")  # the others by the index of y
        y = pd.Series((data.y > 0).astype(int), index=pd.Index(data.groups, name="qid"))
        found = get_scorer(scoring)(classifier, data.X, y)
        assert found == pytest.approx(expected(y, classifier, data.X), rel=1e-9)
        with sklearn.config_context(enable_metadata_routing=routing):
            params = {"params": {"groups": data.groups}} if routing else {"groups": data.groups}
            scores = cross_val_score(
                CalibratedRanker(LGBMRanker(**QUIET), cv=2),
                data.X,
                y,
                cv=GroupKFold(2),
                scoring=scoring,
                error_score="raise",
                **params,
            )
        assert np.isfinite(scores).all()


class TestHeldOut:
    def test_probabilities_come_from_queries_the_models_have_not_seen(self, data):
        splits = list(GroupKFold(3).split(data.X, data.y, data.groups))
        held_out = np.empty(len(data.y))
        for train, test in splits:
            held_out[test] = Ridge().fit(data.X[train], data.y[train]).predict(data.X[test])
        model = CalibratedRanker(Ridge(), cv=splits).fit(data.X, data.y, groups=data.groups)
        rows = np.concatenate([test for _, test in splits])
        curve = fit_calibrator("isotonic", held_out[rows], data.y[rows] > 0)
        expected = curve.predict(Ridge().fit(data.X, data.y).predict(data.X))
        np.testing.assert_allclose(model.predict_proba(data.X)[:, 1], expected, atol=1e-9)
        assert model.auc_ == pytest.approx(roc_auc_score(data.y > 0, held_out))

    def test_the_estimator_learns_its_own_target(self, data):
        model = CalibratedRanker(Noted(), gains={-1: -5, 1: 1, 2: 3})
        model.fit(data.X, data.y, groups=data.groups)
        assert set(model.estimator_.y_) == {-5, 1, 3}
        assert len(set(model.estimator_.groups_)) == 150
        grades = CalibratedRanker(Noted(), target="grade")
        assert set(grades.fit(data.X, data.y, groups=data.groups).estimator_.y_) == {0, 1, 2}

    @pytest.mark.slow
    def test_ranks_are_those_of_the_ranker(self, data):
        ranker = LGBMRanker(**QUIET)
        plain = RankAndFilter(ranker, threshold=None).fit(data.X, data.y, groups=data.groups)
        model = CalibratedRanker(ranker, cv=3).fit(data.X, data.y, groups=data.groups)
        raw = plain.predict(data.X)
        order = np.argsort(raw)
        raw_steps, steps = np.diff(raw[order]), np.diff(model.predict(data.X)[order])
        assert (steps >= 0).all()
        assert (steps[raw_steps > 1e-9] > 0).all()
        assert (raw_steps > 1e-9).sum() > 50

    @pytest.mark.slow
    def test_makes_probabilities_of_a_rankers_scores(self, data):
        both = make_rank_and_filter(n_queries=1200, bayes=False, random_state=1)
        is_new = both.groups >= 600
        old, new = (
            SimpleNamespace(X=both.X[rows], y=both.y[rows], groups=both.groups[rows])
            for rows in (~is_new, is_new)
        )
        model = CalibratedRanker(LambdaRankRanker(n_estimators=10, n_jobs=1), cv=3)
        model.fit(old.X, old.y, groups=old.groups)
        good = model.predict_proba(new.X)[:, 1]
        assert brier_score_loss(new.y > 0, good) < np.mean(new.y > 0) * np.mean(new.y <= 0)
        raw = expit(model.estimator_.predict(new.X))
        assert log_loss(new.y > 0, good) < log_loss(new.y > 0, raw)

    def test_one_split_without_refit(self, data):
        model = CalibratedRanker(Noted(), cv=0.3, refit=False)
        model.fit(data.X, data.y, groups=data.groups)
        assert len(np.unique(model.estimator_.groups_)) == 105
        with pytest.raises(ValueError, match="refit=False keeps the model of the only split"):
            CalibratedRanker(GivenScores(), refit=False).fit(data.X, data.y, groups=data.groups)

    def test_unjudged_rows(self, data):
        y = data.y.astype(float)
        y[::5] = np.nan
        with pytest.warns(UserWarning, match="rows are unjudged"):
            model = CalibratedRanker(Ridge()).fit(data.X, y, groups=data.groups)
        assert model.n_unjudged_ == np.isnan(y).sum()
        good = model.predict_proba(data.X)[:, 1]
        assert good[~np.isnan(y)].mean() == pytest.approx(np.mean(y[~np.isnan(y)] > 0), abs=0.02)

    def test_filtered_rows_stay_filtered(self, data):
        inner = RankAndFilter(Ridge(), cv=3).fit(data.X, data.y, groups=data.groups)
        model = CalibratedRanker(inner, cv="prefit").fit(data.X, data.y, groups=data.groups)
        is_filtered = np.isneginf(inner.predict(data.X))
        np.testing.assert_array_equal(np.isneginf(model.predict(data.X)), is_filtered)
        np.testing.assert_array_equal(
            model.predict_proba(data.X)[is_filtered], [[1, 0]] * sum(is_filtered)
        )
        kept = model.predict_proba(data.X)[~is_filtered, 1]
        assert kept.mean() == pytest.approx(np.mean(data.y[~is_filtered] > 0), abs=1e-3)


class TestInsideScikitLearn:
    @pytest.mark.slow
    def test_inside_rank_and_filter(self, data):
        inner = CalibratedRanker(OrdinalRanker(), cv=3)
        model = RankAndFilter(inner, threshold=0.5, measure="ndcg_f@3").fit(
            data.X, data.y, groups=data.groups
        )
        alone = clone(inner).fit(data.X, data.y, groups=data.groups)
        good = alone.predict(data.X)
        np.testing.assert_array_equal(
            model.predict(data.X, groups=data.groups), np.where(good >= 0.5, good, -np.inf)
        )
        assert list(model.estimator_.estimator_.levels_) == [-1, 1, 2]

    def test_is_a_ranker(self):
        model = CalibratedRanker(LogisticRegression())
        assert not is_classifier(model)
        assert not is_regressor(model)

    def test_metadata_routing(self, data):
        weight = np.where(data.y < 0, 5.0, 1.0)
        plain = CalibratedRanker(Ridge(), cv=3)
        plain.fit(data.X, data.y, groups=data.groups, sample_weight=weight)
        with sklearn.config_context(enable_metadata_routing=True):
            routed = CalibratedRanker(Ridge().set_fit_request(sample_weight=True), cv=3)
            routed.fit(data.X, data.y, groups=data.groups, sample_weight=weight)
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
                clone(plain).fit(data.X, data.y, groups=data.groups, sample_weight=weight)
        np.testing.assert_array_equal(plain.predict(data.X), routed.predict(data.X))

    def test_texts(self):
        texts = ["good answer", "spam", "so so answer", "good good", "spam spam", "so so"] * 3
        labels = [2, -1, 1, 2, -1, 1] * 3
        model = CalibratedRanker(make_pipeline(CountVectorizer(), Ridge()), cv=3)
        model.fit(texts, labels, groups=np.repeat([1, 2, 3], 6))
        good = model.predict_proba(["good answer", "spam"])[:, 1]
        assert good[1] < 0.5 < good[0]

    def test_decision_functions(self, data):
        model = CalibratedRanker(LinearSVC(), cv=3).fit(data.X, data.y, groups=data.groups)
        assert 0 < model.predict_proba(data.X)[:, 1].min() < 0.5


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "platt"}, "method must be one of 'isotonic', 'sigmoid', got 'platt'"),
            ({"refit": "auto"}, "refit must be one of True, False, got 'auto'"),
            ({"target": "sign"}, "target must be one of"),
            ({"cv": "fit"}, "cv must be None"),
            ({"cv": 151}, "cv=151 needs at least 151 queries but their number is 150"),
        ],
    )
    def test_parameters(self, data, options, message):
        with pytest.raises(ValueError, match=message):
            CalibratedRanker(Ridge(), **options).fit(data.X, data.y, groups=data.groups)

    def test_estimator(self, data):
        with pytest.raises(ValueError, match="estimator must be a classifier, a regressor"):
            CalibratedRanker(Ridge).fit(data.X, data.y, groups=data.groups)
        with pytest.raises(sklearn.exceptions.NotFittedError):
            CalibratedRanker(Ridge(), cv="prefit").fit(data.X, data.y, groups=data.groups)
        with pytest.raises(sklearn.exceptions.NotFittedError):
            CalibratedRanker(Ridge()).predict(data.X)

    def test_data(self, data):
        model = CalibratedRanker(Ridge())
        with pytest.raises(ValueError, match="CalibratedRanker requires y"):
            model.fit(data.X, None, groups=data.groups)
        with pytest.raises(ValueError, match="labels but X has"):
            model.fit(data.X, data.y[:-1], groups=data.groups)
        with pytest.raises(ValueError, match="no judged row"):
            model.fit(data.X, np.full(len(data.y), np.nan), groups=data.groups)
        with pytest.raises(ValueError, match="every gain is above 0, so LogisticRegression"):
            CalibratedRanker(LogisticRegression()).fit(
                data.X, np.ones(len(data.y)), groups=data.groups
            )
        with pytest.raises(ValueError, match="X contains NaN"):
            model.fit(np.where(data.X > 2, np.nan, data.X), data.y, groups=data.groups)

    def test_everything_filtered(self, data):
        inner = RankAndFilter(Ridge(), threshold=1e9).fit(data.X, data.y, groups=data.groups)
        with pytest.raises(ValueError, match="RankAndFilter hides every judged held-out row"):
            CalibratedRanker(inner, cv="prefit").fit(data.X, data.y, groups=data.groups)

    def test_queries(self, data):
        with pytest.warns(UserWarning, match="CalibratedRanker was given no query ids"):
            CalibratedRanker(Ridge()).fit(data.X, data.y)
        with pytest.raises(ValueError, match="LGBMRanker needs queries"):
            CalibratedRanker(LGBMRanker(**QUIET)).fit(data.X, data.y)
        with pytest.raises(ValueError, match="groups has 5 entries"):
            CalibratedRanker(Ridge()).fit(data.X, data.y, groups=[1, 1, 2, 2, 3])
