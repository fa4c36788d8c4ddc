"""The recipes of learning to rank methods, and the eight under one roof."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score

from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import make_ranking_scorer, ndcg_score
from skfilterrank.ranking import METHODS, RankAndFilter, make_ranker
from small_methods import SMALL, make

RECIPES = ("listnet", "random_forest", "ranknet", "logistic", "lambdamart")


def test_the_eight_methods():
    assert set(METHODS) == set(SMALL)
    assert len(METHODS) == 8


@pytest.mark.parametrize("name", SMALL)
class TestEveryMethod:
    @pytest.mark.slow
    def test_learns_to_rank(self, rows, fitted, name):
        ranker = fitted(name)
        scores = ranker.predict(rows.X)
        assert scores.shape == rows.y.shape
        assert scores.dtype == np.float64
        gains = {-1: 0, 1: 1, 2: 2}
        found = ndcg_score(rows.y, scores, groups=rows.groups, k=3, gains=gains)
        chance = ndcg_score(rows.y, np.zeros_like(scores), groups=rows.groups, k=3, gains=gains)
        assert found > chance + 0.05
        assert ranker.n_features_in_ == 5

    @pytest.mark.slow
    def test_inside_rank_and_filter(self, rows, name):
        model = RankAndFilter(make(name), measure="ndcg_f@3", cv=4).fit(
            rows.X, rows.y, groups=rows.groups
        )
        kept = np.isfinite(model.predict(rows.X))
        assert 0.3 < kept.mean() < 1
        assert rows.y[kept].mean() > rows.y[~kept].mean() + 0.3

    @pytest.mark.slow
    def test_in_model_selection_with_metadata_routing(self, rows, series, name):
        chosen = {"cv": GroupKFold(2), "scoring": make_ranking_scorer("ndcg_f@3")}
        with_series = cross_val_score(
            make(name), rows.X, series, groups=rows.groups, error_score="raise", **chosen
        )
        assert (with_series > 0.4).all()
        with sklearn.config_context(enable_metadata_routing=True):
            routed = cross_val_score(
                make(name),
                rows.X,
                rows.y,
                params={"groups": rows.groups},
                error_score="raise",
                **chosen,
            )
        np.testing.assert_array_equal(routed, with_series)

    @pytest.mark.slow
    def test_repeats_with_random_state(self, rows, name):
        first, second, other = (
            make(name, random_state=seed, n_jobs=n_jobs)
            .fit(rows.X, rows.y, groups=rows.groups)
            .predict(rows.X)
            for seed, n_jobs in ((3, 1), (3, 2), (4, 1))
        )
        # Threads of a forest add its trees up in the order in which they are done.
        np.testing.assert_allclose(first, second, rtol=1e-12 if name == "random_forest" else 0)
        if name in ("listnet", "random_forest"):
            assert not np.array_equal(first, other)

    @pytest.mark.slow
    def test_queries_that_tell_nothing_are_harmless(self, rows, fitted, name):
        # One document, and several of one label, in queries of their own.
        X = np.vstack([rows.X, rows.X[:1], rows.X[1:6]])
        y = np.concatenate([rows.y, [2.0], np.ones(5)])
        groups = np.concatenate([rows.groups, [9001], np.full(5, 9002)])
        scores = make(name).fit(X, y, groups=groups).predict(X)
        assert np.isfinite(scores).all()
        found, alone = (
            ndcg_score(rows.y, s, groups=rows.groups, gains={-1: 0, 1: 1, 2: 2}, k=3)
            for s in (scores[: len(rows.y)], fitted(name).predict(rows.X))
        )
        assert found == pytest.approx(alone, abs=0.05)


@pytest.mark.parametrize("name", RECIPES)
class TestRecipes:
    @pytest.mark.slow
    def test_rows_in_any_order_and_ids_of_any_type(self, rows, fitted, shuffled, name):
        _, X, y, groups = shuffled
        in_order = fitted(name).predict(rows.X)
        mixed = make(name).fit(X, y, groups=groups).predict(rows.X)
        if name == "random_forest":
            # Which rows a tree draws goes by their numbers.
            assert np.corrcoef(mixed, in_order)[0, 1] > 0.9
        else:
            np.testing.assert_allclose(mixed, in_order, rtol=1e-6, atol=1e-6)

    def test_what_is_in_the_pair_of_parameters_is_passed_on(self, name):
        ranker = make(name, random_state=11, n_jobs=2, gains="exp2")
        settings = ranker.get_params()
        assert 11 in [value for key, value in settings.items() if key.endswith("random_state")]
        assert ranker.gains == "exp2"
        if name != "logistic":
            assert settings["estimator__n_jobs"] == 2

    @pytest.mark.slow
    def test_missing_values(self, rows, fitted, name):
        X = pd.DataFrame(rows.X.copy(), columns=list("abcde"))
        X.iloc[4, 1] = X.iloc[9, 3] = np.nan
        if name == "logistic":
            with pytest.raises(ValueError, match=r"NaN in column 1 \('b'\) and others .*Logistic"):
                make(name).fit(X, rows.y, groups=rows.groups)
            ranker = fitted(name)
            with pytest.raises(ValueError, match=r"NaN in column 1 and others .*Logistic"):
                ranker.predict(X.to_numpy())
        else:
            scores = make(name).fit(X, rows.y, groups=rows.groups).predict(X)
            assert np.isfinite(scores).all()

    def test_all_gains_equal(self, rows, name):
        y = np.ones_like(rows.y)
        if name == "random_forest":
            with pytest.warns(FitWarning, match="no order to learn"):
                scores = make(name).fit(rows.X, y, groups=rows.groups).predict(rows.X)
            np.testing.assert_array_equal(scores, 1.0)
        else:
            message = "gets only one class" if name == "logistic" else "no order to learn"
            with pytest.raises(ValueError, match=message):
                make(name).fit(rows.X, y, groups=rows.groups)

    def test_importances_or_weights(self, fitted, name):
        ranker = fitted(name)
        values = ranker.coef_ if name == "logistic" else ranker.feature_importances_
        assert values.shape == (5,)
        assert not hasattr(ranker, "feature_importances_" if name == "logistic" else "coef_")


def test_bad_names():
    with pytest.raises(ValueError, match=r"name must be one of 'bce', .*got 'lambda'"):
        make_ranker("lambda")
