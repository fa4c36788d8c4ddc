"""LinearRankFusion: weights of systems that are learned."""

import pickle
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.metrics import (
    average_precision_score,
    make_ranking_scorer,
    ndcg_score,
)
from skfilterrank.ranking import (
    CalibratedRanker,
    CoordinateAscentRanker,
    LinearRankFusion,
    RankAndFilter,
    fuse_learned,
    fuse_scores,
)

LEARNERS = ("coordinate_ascent", "logistic", Ridge())


def make_systems(n_queries=40, n_rows=12, seed=0):
    """Scores of a good, a fair and a useless system, labels and queries."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n_queries * n_rows)
    X = y[:, None] + rng.normal(size=(len(y), 3)) * [0.7, 1.5, 30.0]
    return X, y, np.repeat(np.arange(n_queries), n_rows)


@pytest.fixture(scope="module")
def data():
    return make_systems()


class TestWeights:
    @pytest.mark.parametrize("learner", LEARNERS, ids=str)
    def test_a_better_system_gets_more_weight(self, data, learner):
        X, y, groups = data
        fusion = LinearRankFusion(learner, random_state=0).fit(X, y, groups=groups)
        good, fair, useless = fusion.coef_
        assert good > fair > abs(useless)

    def test_better_than_equal_weights_on_new_queries(self, data):
        X, y, groups = data
        new, labels, queries = make_systems(seed=1)
        equal = fuse_scores(new, groups=queries, method="combsum")
        for learner in LEARNERS:
            fused = (
                LinearRankFusion(learner, random_state=0)
                .fit(X, y, groups=groups)
                .predict(new, groups=queries)
            )
            assert ndcg_score(labels, fused, groups=queries, k=10) > 0.02 + ndcg_score(
                labels, equal, groups=queries, k=10
            )

    def test_logistic_regression_by_hand(self, data):
        X, y, groups = data
        features = np.empty_like(X)
        for query in np.unique(groups):
            rows = groups == query
            low, high = X[rows].min(axis=0), X[rows].max(axis=0)
            features[rows] = (X[rows] - low) / (high - low)
        model = LogisticRegression(max_iter=1000).fit(features, y > 0)
        fusion = LinearRankFusion("logistic").fit(X, y, groups=groups)
        np.testing.assert_allclose(fusion.coef_, model.coef_[0], atol=1e-6)
        np.testing.assert_allclose(
            fusion.predict(X, groups=groups), model.decision_function(features), atol=1e-6
        )

    def test_no_sweep_is_combsum(self, data):
        X, y, groups = data
        learner = CoordinateAscentRanker(init="uniform", max_iter=0)
        fusion = LinearRankFusion(learner, normalize="zscore").fit(X, y, groups=groups)
        # Equal weights of features of equal spread.
        np.testing.assert_allclose(fusion.coef_, fusion.coef_[0])
        np.testing.assert_allclose(
            fusion.predict(X, groups=groups) / fusion.coef_[0],
            fuse_scores(X, groups=groups, method="combsum", normalize="zscore"),
            atol=1e-9,
        )

    def test_threshold_of_coordinate_ascent(self, data):
        X, y, groups = data
        gains = {0: -1, 1: 1, 2: 2}
        learner = CoordinateAscentRanker(measure="ndcg_f@5", filter=True, random_state=0)
        fusion = LinearRankFusion(learner, gains=gains).fit(X, y, groups=groups)
        assert fusion.intercept_ == -fusion.learner_.threshold_ != 0
        assert 0.2 < np.mean(fusion.predict(X, groups=groups) >= 0) < 0.95

    def test_equal_gains(self, data):
        X, _, groups = data
        fusion = LinearRankFusion().fit(X, np.ones(len(X)), groups=groups)
        np.testing.assert_array_equal(fusion.coef_, [0, 0, 0])
        np.testing.assert_array_equal(fusion.predict(X, groups=groups), np.zeros(len(X)))

    def test_queries_with_one_document(self, data):
        X, y, groups = data
        fusion = LinearRankFusion(random_state=0).fit(
            np.vstack([X, [[1.0, 2.0, 3.0]]]), np.append(y, 1), groups=np.append(groups, 999)
        )
        plain = LinearRankFusion(random_state=0).fit(X, y, groups=groups)
        ratio = fusion.coef_ / plain.coef_
        np.testing.assert_allclose(ratio, ratio[0], rtol=0.2)

    @given(scale=st.sampled_from([0.25, 8.0]), shift=st.sampled_from([-4.0, 16.0]))
    def test_the_scale_of_a_query_does_not_count(self, scale, shift):
        X, y, groups = make_systems(n_queries=8)
        fusion = LinearRankFusion("logistic").fit(X, y, groups=groups)
        factor = np.where(groups % 2, scale, 1.0)[:, None]
        other = LinearRankFusion("logistic").fit(X * factor + shift, y, groups=groups)
        np.testing.assert_allclose(fusion.coef_, other.coef_, atol=1e-6)

    def test_order_of_rows_and_names_of_queries(self, data):
        X, y, groups = data
        rows = np.random.default_rng(0).permutation(len(y))
        names = np.array([f"q{query}" for query in groups])
        for learner in LEARNERS[1:]:
            one = LinearRankFusion(learner).fit(X, y, groups=groups)
            two = LinearRankFusion(learner).fit(X[rows], y[rows], groups=names[rows])
            np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-6)


class TestScore:
    def test_of_coordinate_ascent_it_is_what_was_optimized(self, data):
        X, y, groups = data
        fusion = LinearRankFusion(measure="ap", random_state=0).fit(X, y, groups=groups)
        found = fusion.score(X, y, groups=groups)
        assert found == pytest.approx(fusion.learner_.best_score_)
        fused = fusion.predict(X, groups=groups)
        assert found == average_precision_score(y, fused, groups=groups)


class TestMissing:
    def test_nan_and_minus_infinity_are_the_same(self, data):
        X, y, groups = data
        gone = np.random.default_rng(0).random(X.shape) < 0.3
        fusions = [
            LinearRankFusion("logistic").fit(np.where(gone, value, X), y, groups=groups)
            for value in (nan, -inf)
        ]
        np.testing.assert_array_equal(fusions[0].coef_, fusions[1].coef_)
        scores = fusions[0].predict(np.where(gone, nan, X), groups=groups)
        np.testing.assert_array_equal(np.isneginf(scores), gone.all(axis=1))

    @pytest.mark.parametrize(
        ("filtered", "n_kept"), [("all", (1, 2, 3)), ("majority", (2, 3)), ("any", (3,))]
    )
    def test_filters(self, data, filtered, n_kept):
        X, y, groups = data
        gone = np.random.default_rng(0).random(X.shape) < 0.5
        fusion = LinearRankFusion("logistic", filtered=filtered)
        fusion.fit(np.where(gone, -inf, X), y, groups=groups)
        kept = np.isfinite(fusion.predict(np.where(gone, -inf, X), groups=groups))
        np.testing.assert_array_equal(kept, np.isin((~gone).sum(axis=1), n_kept))

    def test_a_missing_score_adds_nothing(self, data):
        X, y, groups = data
        fusion = LinearRankFusion("logistic").fit(X, y, groups=groups)
        scores = fusion.predict([[1.0, nan, -inf], [0.0, nan, nan]], groups=[1, 1])
        np.testing.assert_allclose(scores, fusion.intercept_ + fusion.coef_[0] * np.array([1, 0]))

    def test_unjudged_rows_count_for_the_scale(self, data):
        X, y, groups = data
        y = np.where(np.arange(len(y)) % 3 == 0, nan, y)
        with pytest.warns(UserWarning, match="160 of 480 rows are unjudged"):
            fusion = LinearRankFusion("logistic").fit(X, y, groups=groups)
        assert fusion.n_unjudged_ == 160
        features = np.empty_like(X)
        for query in np.unique(groups):
            rows = groups == query
            features[rows] = (X[rows] - X[rows].min(axis=0)) / np.ptp(X[rows], axis=0)
        judged = ~np.isnan(y)
        model = LogisticRegression(max_iter=1000).fit(features[judged], y[judged] > 0)
        np.testing.assert_allclose(fusion.coef_, model.coef_[0], atol=1e-6)


class TestInsideScikitLearn:
    def test_inside_rank_and_filter(self, data):
        X, y, groups = data
        gains = {0: -2, 1: 1, 2: 2}
        fusion = LinearRankFusion("logistic")
        model = RankAndFilter(fusion, gains=gains, cv=3).fit(X, y, groups=groups)
        ranked = RankAndFilter(fusion, threshold=None, gains=gains).fit(X, y, groups=groups)
        assert model.score(X, y, groups=groups) > ranked.score(X, y, groups=groups)

    def test_filtered_rows_inside_rank_and_filter(self, data):
        X, y, groups = data
        X = X.copy()
        X[::4] = -inf
        model = RankAndFilter(LinearRankFusion("logistic"), gains={0: -2, 1: 1, 2: 2}, cv=3)
        model.fit(X, y, groups=groups)
        assert np.isneginf(model.predict(X, groups=groups)[::4]).all()
        assert np.isfinite(model.threshold_)

    def test_inside_a_calibrated_ranker(self, data):
        X, y, groups = data
        model = CalibratedRanker(LinearRankFusion("logistic"), cv=3).fit(X, y, groups=groups)
        good = model.predict_proba(X, groups=groups)[:, 1]
        assert good.mean() == pytest.approx(np.mean(y > 0), abs=0.05)

    @pytest.mark.slow
    def test_in_a_grid_search(self, data):
        X, y, groups = data
        y = pd.Series(y, index=pd.Index(groups, name="qid"))
        search = GridSearchCV(
            LinearRankFusion("logistic"),
            {"normalize": ["minmax", "zscore", "rank"], "learner": ["logistic", Ridge()]},
            scoring=make_ranking_scorer("ndcg@5"),
            cv=GroupKFold(3),
            error_score="raise",
        ).fit(X, y, groups=groups)
        assert search.best_score_ > 0.8

    @pytest.mark.slow
    def test_metadata_routing(self, data):
        X, y, groups = data
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                LinearRankFusion("logistic"),
                {"normalize": ["minmax", "rank"]},
                scoring=make_ranking_scorer("ndcg@5"),
                cv=GroupKFold(3),
                error_score="raise",
            ).fit(X, y, groups=groups)
        assert search.best_score_ > 0.8

    def test_names_clone_and_pickle(self, data):
        X, y, groups = data
        frame = pd.DataFrame(X, columns=["good", "fair", "useless"])
        frame.index = pd.Index(groups, name="qid")
        fusion = LinearRankFusion("logistic").fit(frame, y)
        assert list(fusion.feature_names_in_) == ["good", "fair", "useless"]
        copy = pickle.loads(pickle.dumps(fusion))
        np.testing.assert_array_equal(copy.predict(frame), fusion.predict(frame))
        assert not hasattr(clone(fusion), "coef_")


class TestBadInput:
    @pytest.mark.parametrize(
        ("fusion", "message"),
        [
            (LinearRankFusion("ridge"), "learner must be one of 'coordinate_ascent', 'logistic'"),
            (
                LinearRankFusion(Ridge),
                "learner must be 'coordinate_ascent', 'logistic' or a linear",
            ),
            (LinearRankFusion(RandomForestRegressor(2)), "RandomForestRegressor has not"),
            (LinearRankFusion(normalize="most"), "normalize must be one of"),
            (LinearRankFusion(filtered="none"), "filtered must be one of"),
            (LinearRankFusion(measure="recall"), "recall"),
        ],
    )
    def test_parameters(self, data, fusion, message):
        X, y, groups = data
        with pytest.raises(ValueError, match=message):
            fusion.fit(X, y, groups=groups)

    def test_data(self, data):
        X, y, groups = data
        fusion = LinearRankFusion("logistic")
        frame = pd.DataFrame(X, columns=["good", "fair", "useless"])
        with pytest.raises(ValueError, match=r"infinity in column 1 \('fair'\)"):
            fusion.fit(frame.assign(fair=inf), y, groups=groups)
        with pytest.raises(ValueError, match="labels but X has"):
            fusion.fit(X, y[:-1], groups=groups)
        with pytest.raises(ValueError, match="no judged row"):
            fusion.fit(X, np.full(len(y), nan), groups=groups)
        with pytest.raises(ValueError, match="every gain is above 0"):
            fusion.fit(X, y + 1, groups=groups)
        with pytest.raises(sklearn.exceptions.NotFittedError):
            fusion.predict(X, groups=groups)

    def test_queries(self, data):
        X, y, groups = data
        for fusion, why in (
            (LinearRankFusion(), "CoordinateAscentRanker orders the documents of a query"),
            (LinearRankFusion(normalize=None), "CoordinateAscentRanker orders"),
            (LinearRankFusion("logistic"), "normalize='minmax' compares the scores of a query's"),
            (LinearRankFusion(Ridge(), normalize="rank"), "normalize='rank' compares"),
        ):
            with pytest.raises(ValueError, match=rf"groups is missing: {why}"):
                fusion.fit(X, y)
        with pytest.warns(UserWarning, match="LinearRankFusion was given no query ids"):
            single = LinearRankFusion("logistic", normalize=None).fit(X, y)
        alone = LogisticRegression(max_iter=1000).fit(X, y > 0)
        np.testing.assert_array_equal(single.coef_, alone.coef_[0])
        fusion = LinearRankFusion("logistic").fit(X, y, groups=groups)
        with pytest.raises(ValueError, match=r"groups is missing.*X as a DataFrame"):
            fusion.predict(X)
        raw = LinearRankFusion("logistic", normalize=None).fit(X, y, groups=groups)
        np.testing.assert_array_equal(raw.predict(X), raw.predict(X, groups=groups))

    def test_one_call(self, data):
        X, y, groups = data
        logistic = LinearRankFusion("logistic")
        ids = pd.DataFrame(
            {"qid": groups.astype(str), "docno": [f"d{i:04}" for i in range(len(y))]}
        )
        runs, qrels = {"s": ids.assign(score=X[:, 0])}, ids.assign(label=y)
        for arguments, options, message in (
            ((y, X), {}, "groups is missing"),
            ((y[:-1], X), {"groups": groups}, "y_true has 479 labels but systems score 480 rows"),
            ((y * nan, X), {"groups": groups}, "no judged row"),
            ((y, X), {"groups": groups, "fusion": "ridge"}, "learner must be one of"),
            ((y, X), {"groups": groups, "fusion": 3}, "learner must be 'coordinate_ascent'"),
            ((y, X), {"groups": groups, "unjudged": "keep"}, "unjudged must be one of"),
            ((y, X), {"groups": groups, "cv": 0.3}, "holds out 336 rows never and 0 several"),
            (
                (y, X),
                {"groups": groups, "cv": "prefit"},
                "cv='prefit' is not for fuse_learned",
            ),
            ((qrels, runs), {"groups": groups}, "groups is for scores"),
            ((y, runs), {}, "y_true must be judgments for runs"),
            ((qrels.drop(columns="label"), runs), {}, "y_true has no column 'label'"),
            (
                (pd.concat([qrels, qrels[:1]]), runs),
                {},
                "holds document 'd0000' twice in topic '0'",
            ),
            ((qrels.assign(qid="t"), runs), {}, "no document that a run retrieves is judged"),
        ):
            with pytest.raises(ValueError, match=message):
                fuse_learned(*arguments, **{"fusion": logistic} | options)
