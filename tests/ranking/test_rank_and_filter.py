"""RankAndFilter end to end: thresholds, folds, what it keeps, and what it predicts."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from dealt import dealt_splits
from given_scores import GivenScores
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import forbidden_at_k, ndcg_f_score, ndcg_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import threshold_curve


@pytest.fixture(scope="module")
def halves():
    """Data with its Bayes-optimal scores, and which rows are for training."""
    data = make_rank_and_filter(n_queries=8000, n_features=8, random_state=3)
    return data, data.groups < 4000


class TestThreshold:
    def test_is_the_optimum_of_scores_by_hand(self, data, ridge):
        scores = cross_val_predict(
            Ridge(), data.X, data.y, cv=dealt_splits(5, data.X, data.y, data.groups)
        )
        curve = threshold_curve(data.y, scores, groups=data.groups, measure="ndcg_f@3")
        assert ridge.threshold_ == pytest.approx(curve.best_threshold, abs=1e-12)
        assert ridge.best_score_ == pytest.approx(curve.best_value)
        np.testing.assert_allclose(ridge.threshold_curve_.values, curve.values)
        np.testing.assert_allclose(ridge.threshold_curve_.thresholds, curve.thresholds)

    def test_a_number_is_used_as_it_is(self, data):
        model = RankAndFilter(Ridge(), threshold=0.25).fit(data.X, data.y, groups=data.groups)
        scores = Ridge().fit(data.X, data.y).predict(data.X)
        assert model.threshold_ == 0.25
        np.testing.assert_allclose(model.predict(data.X), np.where(scores >= 0.25, scores, -np.inf))
        np.testing.assert_allclose(model.decision_function(data.X), scores - 0.25)
        assert not hasattr(model, "threshold_curve_")

    def test_none_ranks_only(self, data):
        model = RankAndFilter(Ridge(), threshold=None).fit(data.X, data.y, groups=data.groups)
        scores = Ridge().fit(data.X, data.y).predict(data.X)
        assert model.threshold_ == -np.inf
        np.testing.assert_allclose(model.predict(data.X), scores)
        np.testing.assert_allclose(model.decision_function(data.X), scores)
        assert (model.rank(data.X, groups=data.groups) > 0).all()

    def test_another_measure(self, data):
        model = RankAndFilter(Ridge(), measure="ndcg@5").fit(data.X, data.y, groups=data.groups)
        expected = ndcg_score(data.y, model.predict(data.X), groups=data.groups, k=5)
        assert model.score(data.X, data.y, groups=data.groups) == pytest.approx(expected)

    def test_a_measure_where_lower_is_better_is_negated_throughout(self, data):
        model = RankAndFilter(Ridge(), threshold=-0.5, measure="forbidden@3")
        model.fit(data.X, data.y, groups=data.groups)
        shown = forbidden_at_k(data.y, model.predict(data.X), groups=data.groups, k=3)
        assert shown > 0
        assert model.score(data.X, data.y, groups=data.groups) == pytest.approx(-shown)
        tuned = RankAndFilter(GivenScores(), measure="forbidden@3")
        tuned.fit(data.X, data.y, groups=data.groups)
        assert (tuned.threshold_curve_.values <= 0).all()
        assert tuned.best_score_ == pytest.approx(tuned.threshold_curve_.best_value)

    def test_fitting_again_forgets_the_curve(self, data):
        model = RankAndFilter(Ridge()).fit(data.X, data.y, groups=data.groups)
        assert hasattr(model, "threshold_curve_")
        model.set_params(threshold=0.0).fit(data.X, data.y, groups=data.groups)
        assert not hasattr(model, "threshold_curve_")
        assert not hasattr(model, "best_score_")


class TestQueries:
    @pytest.mark.slow
    @pytest.mark.parametrize("carrier", ["y", "X"])
    def test_index_level_stands_in_for_groups(self, data, ridge, carrier):
        index = pd.MultiIndex.from_arrays(
            [data.groups, np.arange(len(data.y))], names=["qid", "docno"]
        )
        X = pd.DataFrame(data.X, index=index if carrier == "X" else None).add_prefix("x")
        y = pd.Series(data.y, index=index if carrier == "y" else None)
        model = RankAndFilter(Ridge(), measure="ndcg_f@3").fit(X, y)
        assert model.threshold_ == pytest.approx(ridge.threshold_)
        assert model.score(X, y) == pytest.approx(ridge.score(data.X, data.y, groups=data.groups))
        if carrier == "X":
            np.testing.assert_array_equal(model.rank(X), ridge.rank(data.X, groups=data.groups))

    @pytest.mark.slow
    def test_without_queries_each_row_is_its_own(self, data):
        with pytest.warns(UserWarning, match="fitted without query ids"):
            model = RankAndFilter(Ridge()).fit(data.X, data.y)
        rows = np.arange(len(data.y))
        other = RankAndFilter(Ridge()).fit(data.X, data.y, groups=rows)
        assert model.threshold_ == other.threshold_
        assert model.score(data.X, data.y) == other.score(data.X, data.y, groups=rows)

    def test_queries_of_one_document(self):
        X = np.linspace(-1, 1, 40)[:, None]
        y = np.where(X[:, 0] > 0.2, 1, -1)
        model = RankAndFilter(GivenScores()).fit(X, y, groups=np.arange(40))
        assert model.best_score_ == 1.0
        np.testing.assert_array_equal(np.isfinite(model.predict(X)), y > 0)


@pytest.mark.filterwarnings("ignore:queries without a judged")
class TestUnjudged:
    def test_unjudged_rows_are_scored_but_not_learned_from(self, data):
        y = data.y.astype(float)
        y[::6] = np.nan
        judged = ~np.isnan(y)
        model = RankAndFilter(Ridge(), threshold=0.0)
        with pytest.warns(UserWarning, match=f"{(~judged).sum()} of {len(y)} rows are unjudged"):
            model.fit(data.X, y, groups=data.groups)
        assert model.n_unjudged_ == (~judged).sum()
        expected = Ridge().fit(data.X[judged], y[judged])
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)
        assert len(model.predict(data.X)) == len(y)

    @pytest.mark.slow
    def test_they_stand_in_the_lists_the_threshold_is_tuned_on(self, data):
        y = data.y.astype(float)
        y[::6] = np.nan
        judged = ~np.isnan(y)
        scores = np.empty(len(y))
        for train, test in dealt_splits(5, data.X, y, data.groups):
            rows = train[judged[train]]
            scores[test] = Ridge().fit(data.X[rows], y[rows]).predict(data.X[test])
        with pytest.warns(UserWarning, match="unjudged"):
            model = RankAndFilter(Ridge(), measure="ndcg_f@3").fit(data.X, y, groups=data.groups)
        curve = threshold_curve(y, scores, groups=data.groups, measure="ndcg_f@3")
        assert model.threshold_ == pytest.approx(curve.best_threshold)
        assert model.best_score_ == pytest.approx(curve.best_value)


class TestData:
    @pytest.mark.slow
    def test_sparse(self, data, ridge):
        for X in (sparse.csr_array(data.X), sparse.coo_array(data.X), sparse.csc_matrix(data.X)):
            model = RankAndFilter(Ridge(solver="sparse_cg", tol=1e-10), measure="ndcg_f@3")
            model.fit(X, data.y, groups=data.groups)
            assert model.threshold_ == pytest.approx(ridge.threshold_, abs=1e-6)

    @pytest.mark.slow
    def test_texts(self):
        texts = ["a good answer", "spam spam", "good again", "more spam", "good", "spam"] * 10
        labels = ["Good", "Bad"] * 30
        model = RankAndFilter(
            make_pipeline(TfidfVectorizer(), LogisticRegression()), gains={"Good": 2, "Bad": -1}
        ).fit(texts, labels, groups=np.repeat(np.arange(20), 3))
        places = model.rank(["spam", "good answer", "good"], groups=[1, 1, 1])
        assert places[0] == 0
        assert set(places[1:]) == {1, 2}

    def test_frame_keeps_feature_names(self, data):
        X = pd.DataFrame(data.X).add_prefix("x")
        model = RankAndFilter(Ridge()).fit(X, data.y, groups=data.groups)
        assert list(model.feature_names_in_) == list(X.columns)
        assert model.n_features_in_ == 8


class TestGeneratedData:
    @pytest.mark.slow
    @pytest.mark.parametrize("estimator", [LogisticRegression(), Ridge()], ids=["bce", "mse"])
    def test_no_model_beats_the_bayes_optimum_and_filtering_pays(self, halves, estimator):
        (X, y, groups, bayes), train = halves
        test = ~train
        model = RankAndFilter(estimator, measure="ndcg_f@3").fit(
            X[train], y[train], groups=groups[train]
        )
        rank_only = clone(model).set_params(threshold=None)
        rank_only.fit(X[train], y[train], groups=groups[train])

        def per_query(scores):
            return ndcg_f_score.per_query(y[test], scores, groups=groups[test], k=3)

        best = per_query(np.where(bayes[test] >= 0, bayes[test], -np.inf))
        reached = per_query(model.predict(X[test]))
        unfiltered = per_query(rank_only.predict(X[test]))
        error = np.std(best - reached) / np.sqrt(len(best))
        assert reached.mean() < best.mean() + 3 * error
        assert reached.mean() > best.mean() - 0.02
        gain = reached - unfiltered
        assert gain.mean() > 5 * np.std(gain) / np.sqrt(len(gain))
