"""Scores of held-out rows, and the final model."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from dealt import dealt_splits
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import PerQueryThreshold, threshold_curve


class TestFolds:
    def test_results_of_each_fold(self, data, ridge):
        folds = dealt_splits(5, data.X, data.y, data.groups)
        for fold, (train, test) in enumerate(folds):
            scores = Ridge().fit(data.X[train], data.y[train]).predict(data.X[test])
            kept = np.where(scores >= ridge.threshold_, scores, -np.inf)
            truth, queries = data.y[test], data.groups[test]
            results = {name: values[fold] for name, values in ridge.cv_results_.items()}
            assert results["n_queries"] == len(np.unique(queries))
            assert results["test_score"] == pytest.approx(
                ndcg_f_score(truth, kept, groups=queries, k=3)
            )
            assert results["fit_time"] >= 0
            assert results["score_time"] >= 0

    def test_prefit_tunes_on_all_rows(self, data):
        fitted = Ridge().fit(data.X, data.y)
        model = RankAndFilter(fitted, measure="ndcg_f@3", cv="prefit").fit(
            data.X, data.y, groups=data.groups
        )
        assert model.estimator_ is fitted
        curve = threshold_curve(
            data.y, fitted.predict(data.X), groups=data.groups, measure="ndcg_f@3"
        )
        assert model.threshold_ == curve.best_threshold
        assert model.best_score_ == pytest.approx(model.score(data.X, data.y, groups=data.groups))

    @pytest.mark.parametrize("threshold", [0.5, None, PerQueryThreshold()], ids=str)
    def test_prefit_with_other_thresholds(self, data, threshold):
        fitted = Ridge().fit(data.X, data.y)
        model = RankAndFilter(fitted, threshold=threshold, cv="prefit")
        model.fit(data.X, data.y, groups=data.groups)
        assert model.estimator_ is fitted
        assert len(model.predict(data.X, groups=data.groups)) == len(data.y)

    def test_prefit_classifier_of_text_labels(self, data):
        labels = np.where(data.y > 0, "good", "bad")
        fitted = LogisticRegression().fit(data.X, labels)
        model = RankAndFilter(
            fitted, cv="prefit", target="label", gains={"good": 1, "bad": -1}
        ).fit(data.X, labels, groups=data.groups)
        kept = model.predict(data.X)
        assert kept[np.isfinite(kept)].min() >= model.threshold_
        np.testing.assert_array_equal(
            kept[np.isfinite(kept)], fitted.predict_proba(data.X)[np.isfinite(kept), 1]
        )

    def test_refit_false_keeps_the_model_of_the_split(self, data):
        model = RankAndFilter(Ridge(), cv=0.3, refit=False)
        model.fit(data.X, data.y, groups=data.groups)
        ((train, _),) = dealt_splits(0.3, data.X, data.y, data.groups)
        expected = Ridge().fit(data.X[train], data.y[train])
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)

    def test_n_jobs_does_not_change_the_result(self, data, ridge):
        other = RankAndFilter(Ridge(), measure="ndcg_f@3", n_jobs=2)
        other.fit(data.X, data.y, groups=data.groups)
        assert other.threshold_ == ridge.threshold_
        np.testing.assert_array_equal(other.predict(data.X), ridge.predict(data.X))

    def test_verbose_shows_progress(self, data, capsys):
        RankAndFilter(Ridge(), verbose=1).fit(data.X, data.y, groups=data.groups)
        assert "5/5" in capsys.readouterr().err
