"""RankAndFilter under metadata routing, in Pipelines and searches, and with bad input."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm import LGBMClassifier, LGBMRanker
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_scores import Constant
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer, ndcg_f_score
from skfilterrank.ranking import (
    CalibratedRanker,
    CoordinateAscentRanker,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    RankBoostRanker,
)
from skfilterrank.thresholds import PerQueryThreshold

SCORER = make_ranking_scorer("ndcg_f@3")


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=200, n_features=5, bayes=False, random_state=0)


@pytest.fixture(scope="module")
def y_with_queries(data):
    return pd.Series(data.y, index=pd.Index(data.groups, name="qid"))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def mean_by_hand(data):
    values = []
    for train, test in GroupKFold(3).split(data.X, groups=data.groups):
        model = RankAndFilter(Ridge(alpha=0.1), measure="ndcg_f@3")
        model.fit(data.X[train], data.y[train], groups=data.groups[train])
        scores = model.predict(data.X[test])
        values.append(ndcg_f_score(data.y[test], scores, groups=data.groups[test], k=3))
    return np.mean(values)


class TestModelSelection:
    def search(self, scoring):
        return GridSearchCV(
            RankAndFilter(Ridge(), measure="ndcg_f@3"),
            {"estimator__alpha": [0.1]},
            refit=False,
            scoring=scoring,
            cv=GroupKFold(3),
            error_score="raise",
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("scoring", [None, SCORER])
    def test_index_carries_queries_through_a_search(
        self, data, y_with_queries, scoring, mean_by_hand
    ):
        search = self.search(scoring).fit(data.X, y_with_queries, groups=data.groups)
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(mean_by_hand)

    @pytest.mark.slow
    @pytest.mark.parametrize("scoring", [None, SCORER])
    def test_routing_carries_queries_through_a_search(self, data, routing, scoring, mean_by_hand):
        search = self.search(scoring).fit(data.X, data.y, groups=data.groups)
        assert search.cv_results_["mean_test_score"][0] == pytest.approx(mean_by_hand)

    def test_search_without_queries_is_an_error_for_a_ranker(self, data):
        search = GridSearchCV(
            RankAndFilter(LGBMRanker(n_estimators=2, verbose=-1)), {}, cv=3, error_score="raise"
        )
        with pytest.raises(ValueError, match="LGBMRanker needs queries"):
            search.fit(data.X, data.y)

    def test_scores_of_a_search_without_queries_are_an_error(self, data):
        with pytest.raises(ValueError, match="groups is missing"):
            cross_val_score(Ridge(), data.X, data.y, scoring=SCORER, cv=3, error_score="raise")


class TestInsideAPipeline:
    @pytest.mark.slow
    @pytest.mark.parametrize("threshold", ["tune", PerQueryThreshold()], ids=str)
    def test_fit_predict_and_score(self, data, y_with_queries, threshold):
        model = RankAndFilter(Ridge(), threshold=threshold, measure="ndcg_f@3")
        X = StandardScaler().fit_transform(data.X)
        expected = model.fit(X, data.y, groups=data.groups).predict(X, groups=data.groups)
        by_index = make_pipeline(StandardScaler(), model).fit(data.X, y_with_queries)
        np.testing.assert_array_equal(by_index.predict(data.X, groups=data.groups), expected)
        by_name = make_pipeline(StandardScaler(), model)
        by_name.fit(data.X, data.y, rankandfilter__groups=data.groups)
        np.testing.assert_array_equal(by_name.predict(data.X, groups=data.groups), expected)
        assert by_index.score(data.X, y_with_queries) == pytest.approx(
            ndcg_f_score(data.y, expected, groups=data.groups, k=3)
        )

    @pytest.mark.slow
    def test_with_routing(self, data, routing):
        model = RankAndFilter(Ridge(), PerQueryThreshold(), measure="ndcg_f@3")
        pipeline = make_pipeline(StandardScaler(), model)
        pipeline.fit(data.X, data.y, groups=data.groups)
        scores = pipeline.predict(data.X, groups=data.groups)
        assert 0 < np.isneginf(scores).mean() < 0.5
        assert SCORER(pipeline, data.X, data.y, groups=data.groups) == pytest.approx(
            ndcg_f_score(data.y, scores, groups=data.groups, k=3)
        )


@pytest.mark.usefixtures("routing")
class TestRoutingOfFitParameters:
    def test_groups_need_no_request(self, data):
        request = RankAndFilter(Ridge()).get_metadata_routing()
        for method in ("fit", "predict", "score"):
            assert request.consumes(method, ["groups"]) == {"groups"}

    def test_the_estimator_must_ask(self, data):
        weight = np.where(data.y < 0, 5.0, 1.0)
        model = RankAndFilter(Ridge(), threshold=None)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            model.fit(data.X, data.y, groups=data.groups, sample_weight=weight)
        model.set_params(estimator=Ridge().set_fit_request(sample_weight=True))
        model.fit(data.X, data.y, groups=data.groups, sample_weight=weight)
        expected = Ridge().fit(data.X, data.y, sample_weight=weight)
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)

    def test_an_alias_reaches_the_estimator_through_a_search(self, data):
        weight = np.where(data.y < 0, 5.0, 1.0)
        search = GridSearchCV(
            RankAndFilter(Ridge().set_fit_request(sample_weight="trust"), threshold=None),
            {},
            scoring=SCORER,
            cv=GroupKFold(3),
            error_score="raise",
        ).fit(data.X, data.y, groups=data.groups, trust=weight)
        expected = Ridge().fit(data.X, data.y, sample_weight=weight)
        np.testing.assert_allclose(search.best_estimator_.estimator_.coef_, expected.coef_)

    def test_each_step_of_a_pipeline_gets_what_it_asks_for(self, data):
        weight = np.where(data.y < 0, 5.0, 1.0)
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        ridge = Ridge().set_fit_request(sample_weight=False)
        model = RankAndFilter(make_pipeline(scaler, ridge), threshold=None)
        model.fit(data.X, data.y, groups=data.groups, sample_weight=weight)
        expected = StandardScaler().fit(data.X, sample_weight=weight)
        np.testing.assert_allclose(model.estimator_[0].mean_, expected.mean_)
        plain = Ridge().fit(expected.transform(data.X), data.y)
        np.testing.assert_allclose(model.estimator_[1].coef_, plain.coef_)

    @pytest.mark.slow
    @pytest.mark.parametrize("cv", [GroupKFold(3), KFold(3)])
    def test_a_search_inside_gets_queries_only_where_it_wants_them(self, data, cv):
        model = RankAndFilter(GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=cv), measure="ndcg_f@3")
        assert model.fit(data.X, data.y, groups=data.groups).best_score_ > 0.7


class TestDegenerateData:
    def test_constant_scores_keep_all_where_showing_all_is_better(self, data):
        model = RankAndFilter(Constant()).fit(data.X, data.y, groups=data.groups)
        assert model.threshold_ == -np.inf
        np.testing.assert_array_equal(model.predict(data.X), 0.0)
        assert (model.decision_function(data.X) >= 0).all()
        assert (model.rank(data.X, groups=data.groups) > 0).all()

    def test_constant_scores_filter_all_where_showing_nothing_is_better(self, data):
        model = RankAndFilter(Constant()).fit(data.X, -data.y, groups=data.groups)
        assert model.threshold_ == np.inf
        assert np.isneginf(model.predict(data.X)).all()
        margins = model.decision_function(data.X)
        assert np.isfinite(margins).all()
        assert (margins < 0).all()
        assert (model.rank(data.X, groups=data.groups) == 0).all()
        expected = ndcg_f_score(-data.y, np.full(len(data.y), -np.inf), groups=data.groups)
        assert model.best_score_ == pytest.approx(expected)

    @pytest.mark.slow
    def test_constant_scores_with_a_threshold_per_query(self, data):
        model = RankAndFilter(Constant(), PerQueryThreshold())
        model.fit(data.X, data.y, groups=data.groups)
        assert not np.isneginf(model.predict(data.X, groups=data.groups)).all()

    @pytest.mark.slow
    @pytest.mark.filterwarnings(
        "ignore:no label has a gain above 0", "ignore:all 404 judged rows have the gain"
    )
    @pytest.mark.parametrize(
        ("label", "threshold", "value"), [(1, -np.inf, 1.0), (0, -np.inf, 0.0), (-1, np.inf, 1.0)]
    )
    @pytest.mark.filterwarnings("ignore:no label has a gain below 0")
    def test_all_labels_equal(self, data, label, threshold, value):
        y = np.full(len(data.y), label)
        model = RankAndFilter(Ridge()).fit(data.X, y, groups=data.groups)
        assert model.threshold_ == threshold
        assert model.best_score_ == value

    def test_all_labels_equal_for_a_ranker(self, data):
        ranker = LGBMRanker(n_estimators=2, verbose=-1, n_jobs=1)
        with pytest.raises(ValueError, match=r"have the gain 1: LGBMRanker has no order to learn"):
            RankAndFilter(ranker).fit(data.X, data.y * 0 + 1, groups=data.groups)

    @pytest.mark.parametrize(("sign", "which"), [(1, "every gain is"), (-1, "no gain is")])
    def test_all_gains_on_one_side_for_a_classifier(self, data, sign, which):
        message = f"{which} above 0, so LogisticRegression gets only one class"
        for estimator in (LogisticRegression(), make_pipeline(LogisticRegression())):
            with pytest.raises(ValueError, match=message):
                RankAndFilter(estimator).fit(data.X, sign * abs(data.y), groups=data.groups)

    @pytest.mark.slow
    def test_a_fold_that_trains_on_one_class(self, data):
        y = np.where(data.groups == 0, 1, -1)
        model = RankAndFilter(LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1))
        model.fit(data.X, y, groups=data.groups)
        assert model.best_score_ > 0.9


GAINS = {-1: -1, 1: 1, 2: 3}

WITH_GAINS = {
    "RankBoostRanker": lambda gains: RankBoostRanker(gains=gains, n_estimators=2),
    "CoordinateAscentRanker": lambda gains: CoordinateAscentRanker(
        gains=gains, max_iter=1, random_state=0
    ),
    "LambdaRankRanker": lambda gains: LambdaRankRanker(gains=gains, n_estimators=2, n_jobs=1),
    "OrdinalRanker": lambda gains: OrdinalRanker(gains=gains),
    "QueryRanker": lambda gains: QueryRanker(Ridge(), gains=gains),
    "CalibratedRanker": lambda gains: CalibratedRanker(Ridge(), gains=gains),
}

WRAPS = {
    "bare": lambda inner: inner,
    "pipeline": lambda inner: make_pipeline(StandardScaler(), inner),
    "calibrated": CalibratedRanker,
    "search": lambda inner: GridSearchCV(
        inner, {"gains": [inner.gains]}, scoring=SCORER, cv=GroupKFold(2)
    ),
}


class TestGainsInsideAndOutside:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", WITH_GAINS)
    def test_are_not_applied_twice(self, data, name):
        message = f"gains is set twice, and {name} inside is given the gains .* out of {name}"
        for wrap, gains in product(WRAPS.values(), ["exp2", GAINS, lambda label: 2.0 * label]):
            inner = wrap(WITH_GAINS[name](gains))
            for around in (RankAndFilter, CalibratedRanker, QueryRanker):
                with pytest.raises(ValueError, match=message):
                    around(inner, gains=gains).fit(data.X, data.y, groups=data.groups)

    @pytest.mark.slow
    @pytest.mark.parametrize("wrap", WRAPS)
    @pytest.mark.parametrize("name", WITH_GAINS)
    def test_of_text_labels_belong_outside(self, data, wrap, name):
        y = np.where(data.y > 0, "good", "bad")
        gains = {"good": 1, "bad": -1}
        inner = WRAPS[wrap](WITH_GAINS[name](gains))
        message = f"labels that are not numbers .* gains is set on {name} alone, but .* around it"
        with pytest.raises(ValueError, match=message):
            RankAndFilter(inner).fit(data.X, y, groups=data.groups)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", WITH_GAINS)
    def test_outside_alone_is_as_gains_for_labels(self, data, name):
        inner = WITH_GAINS[name](None)
        params = {"threshold": None}
        one = RankAndFilter(inner, gains=GAINS, **params).fit(data.X, data.y, groups=data.groups)
        mapped = np.array([GAINS[label] for label in data.y])
        two = RankAndFilter(inner, **params).fit(data.X, mapped, groups=data.groups)
        found = one.predict(data.X, groups=data.groups)
        np.testing.assert_array_equal(found, two.predict(data.X, groups=data.groups))

    def test_other_mistakes_keep_their_words(self, data):
        y = data.y.astype(float)
        y[0] = np.inf
        with pytest.raises(ValueError, match=r"expected finite numbers, or NaN\.$"):
            RankAndFilter(OrdinalRanker(gains=GAINS)).fit(data.X, y, groups=data.groups)

    def test_both_where_the_estimator_is_given_labels(self, data):
        inner = OrdinalRanker(gains=GAINS)
        fitted = clone(inner).fit(data.X, data.y)
        expected = fitted.predict(data.X)
        for model in (
            RankAndFilter(inner, threshold=None, gains=GAINS, target="label"),
            RankAndFilter(fitted, threshold=None, gains=GAINS, cv="prefit"),
        ):
            model.fit(data.X, data.y, groups=data.groups)
            np.testing.assert_array_equal(model.predict(data.X), expected)

    def test_inside_alone_is_what_is_learned(self, data):
        model = RankAndFilter(OrdinalRanker(gains=GAINS), threshold=None)
        model.fit(data.X, data.y, groups=data.groups)
        expected = OrdinalRanker(gains=GAINS).fit(data.X, data.y).predict(data.X)
        np.testing.assert_array_equal(model.predict(data.X), expected)
