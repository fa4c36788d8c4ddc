"""FilterOnly: the rows that it shows, their random order, and the queries it passes on."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import make_ranking_scorer, ndcg_f_score
from skfilterrank.ranking import FilterOnly, RankAndFilter
from skfilterrank.thresholds import PerQueryThreshold


class KeepPositive(RegressorMixin, BaseEstimator):
    """Scores by the first column and filters what is not above 0."""

    def fit(self, X, y, groups=None):
        self.groups_ = groups
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, X[:, 0], -np.inf)


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=300, bayes=False, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return RankAndFilter(LogisticRegression(), measure="ndcg_f@3").fit(
        data.X, data.y, groups=data.groups
    )


class TestFilterOnly:
    @pytest.mark.slow
    def test_keeps_what_the_model_keeps(self, data, model):
        shuffled = FilterOnly(model, random_state=0).fit(data.X, data.y, groups=data.groups)
        scores, expected = shuffled.predict(data.X), model.predict(data.X)
        np.testing.assert_array_equal(np.isneginf(scores), np.isneginf(expected))
        kept = scores[np.isfinite(expected)]
        assert 0 < len(kept) < len(scores)
        assert ((kept >= 0) & (kept < 1)).all()
        assert len(np.unique(kept)) == len(kept)

    def test_order_is_random(self):
        X = np.repeat([[1.0], [-1.0]], [2000, 10], axis=0)
        X[:2000, 0] += np.arange(2000)
        scores = FilterOnly(KeepPositive(), random_state=0).fit(X, X[:, 0]).predict(X)
        assert abs(np.corrcoef(scores[:2000], X[:2000, 0])[0, 1]) < 0.06
        assert scores[:2000].mean() == pytest.approx(0.5, abs=0.02)

    def test_document_by_document_score_does_not_depend_on_what_else_is_kept(self):
        X = np.array([[1.0], [1.0], [1.0]])
        shuffled = FilterOnly(KeepPositive(), random_state=3).fit(X, [1, 1, 1])
        everything = shuffled.predict(X)
        X[1] = -1
        np.testing.assert_array_equal(shuffled.predict(X), [everything[0], -np.inf, everything[2]])

    @pytest.mark.parametrize("seed", [0, None])
    def test_repeats_itself(self, data, seed):
        shuffled = FilterOnly(KeepPositive(), random_state=seed).fit(data.X, data.y)
        first = shuffled.predict(data.X)
        np.testing.assert_array_equal(shuffled.predict(data.X), first)
        copy = pickle.loads(pickle.dumps(shuffled))
        np.testing.assert_array_equal(copy.predict(data.X), first)

    def test_an_integer_seed_repeats_the_fit_and_another_does_not(self, data):
        first, again, other = (
            FilterOnly(KeepPositive(), random_state=seed).fit(data.X, data.y).predict(data.X)
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()

    def test_a_random_state_instance_moves_on(self, data):
        shuffled = FilterOnly(KeepPositive(), random_state=np.random.RandomState(0))
        first = shuffled.fit(data.X, data.y).predict(data.X)
        assert (first != shuffled.fit(data.X, data.y).predict(data.X)).any()

    @pytest.mark.slow
    def test_mean_over_shuffles_is_one_score_for_all_that_is_kept(self, data, model):
        kept = np.where(np.isfinite(model.predict(data.X)), 0.0, -np.inf)
        expected = ndcg_f_score(data.y, kept, groups=data.groups, k=3)
        frozen = FrozenEstimator(model)
        values = []
        for seed in range(100):
            shuffled = FilterOnly(frozen, random_state=seed).fit(data.X, data.y)
            values.append(ndcg_f_score(data.y, shuffled.predict(data.X), groups=data.groups, k=3))
        error = np.std(values) / np.sqrt(len(values))
        assert np.mean(values) == pytest.approx(expected, abs=4 * error)
        assert expected < model.score(data.X, data.y, groups=data.groups)

    def test_frozen_model_is_not_fitted_again(self, data, model):
        shuffled = FilterOnly(FrozenEstimator(model)).fit(data.X[:5], data.y[:5])
        assert shuffled.estimator_.estimator is model

    def test_given_estimator_stays_unfitted(self, data):
        inner = RankAndFilter(Ridge())
        shuffled = FilterOnly(inner).fit(data.X, data.y, groups=data.groups)
        assert not hasattr(inner, "estimator_")
        assert shuffled.n_features_in_ == 20
        assert not hasattr(clone(shuffled), "estimator_")

    def test_queries_reach_the_estimator_whichever_way_they_come(self, data):
        y = pd.Series(data.y, index=pd.Index(data.groups, name="qid"))
        by_argument = FilterOnly(KeepPositive()).fit(data.X, data.y, groups=data.groups)
        by_index = FilterOnly(KeepPositive()).fit(data.X, y)
        np.testing.assert_array_equal(by_argument.estimator_.groups_, data.groups)
        np.testing.assert_array_equal(by_index.estimator_.groups_, data.groups)

    def test_weights_in_another_order(self, data):
        y, weights = pd.Series(data.y), pd.Series(1.0 + data.groups)
        with pytest.raises(InputError, match="sample_weight and y have the same index in another"):
            FilterOnly(Ridge()).fit(data.X, y, data.groups, sample_weight=weights[::-1])

    def test_around_a_pipeline(self, data):
        pipeline = make_pipeline(StandardScaler(), RankAndFilter(Ridge(), measure="ndcg_f@3"))
        shuffled = FilterOnly(pipeline, random_state=0).fit(data.X, data.y, groups=data.groups)
        alone = RankAndFilter(Ridge(), measure="ndcg_f@3")
        alone.fit(StandardScaler().fit_transform(data.X), data.y, groups=data.groups)
        assert shuffled.estimator_[-1].threshold_ == pytest.approx(alone.threshold_)

    @pytest.mark.slow
    def test_a_threshold_per_query(self, data):
        inner = RankAndFilter(Ridge(), PerQueryThreshold(), measure="ndcg_f@3")
        shuffled = FilterOnly(inner, random_state=0).fit(data.X, data.y, groups=data.groups)
        expected = shuffled.estimator_.predict(data.X, groups=data.groups)
        scores = shuffled.predict(data.X, groups=data.groups)
        np.testing.assert_array_equal(np.isfinite(scores), np.isfinite(expected))
        page = data.X[data.groups == data.groups[0]]
        np.testing.assert_array_equal(
            shuffled.predict(page), shuffled.predict(page, groups=np.zeros(len(page)))
        )

    @pytest.mark.slow
    def test_metadata_routing_brings_the_queries(self, data):
        with sklearn.config_context(enable_metadata_routing=True):
            results = cross_validate(
                FilterOnly(RankAndFilter(LogisticRegression(), measure="ndcg_f@3"), random_state=0),
                data.X,
                data.y,
                params={"groups": data.groups},
                scoring=make_ranking_scorer("ndcg_f@3"),
                cv=GroupKFold(3),
                error_score="raise",
            )
        empty = [
            ndcg_f_score(data.y[test], np.full(len(test), -np.inf), groups=data.groups[test], k=3)
            for _, test in GroupKFold(3).split(data.X, groups=data.groups)
        ]
        assert (results["test_score"] > empty).all()
