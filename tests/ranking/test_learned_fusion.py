"""RankFusion: weights of systems that are learned."""

import pickle
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import (
    average_precision_score,
    evaluate,
    make_ranking_scorer,
    ndcg_score,
)
from skfilterrank.ranking import (
    CalibratedRanker,
    CoordinateAscentRanker,
    RankAndFilter,
    RankFusion,
    fuse_runs,
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
        fusion = RankFusion(learner, random_state=0).fit(X, y, groups=groups)
        good, fair, useless = fusion.weights_
        assert good > fair > abs(useless)

    def test_better_than_equal_weights_on_new_queries(self, data):
        X, y, groups = data
        new, labels, queries = make_systems(seed=1)
        equal = fuse_runs(new, groups=queries, method="combsum")
        for learner in LEARNERS:
            fused = (
                RankFusion(learner, random_state=0)
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
        fusion = RankFusion("logistic").fit(X, y, groups=groups)
        np.testing.assert_allclose(fusion.weights_, model.coef_[0], atol=1e-6)
        np.testing.assert_allclose(
            fusion.predict(X, groups=groups), model.decision_function(features), atol=1e-6
        )

    def test_no_sweep_is_combsum(self, data):
        X, y, groups = data
        learner = CoordinateAscentRanker(init="uniform", max_iter=0)
        fusion = RankFusion(learner, normalize="zscore").fit(X, y, groups=groups)
        # Equal weights of features of equal spread.
        np.testing.assert_allclose(fusion.weights_, fusion.weights_[0])
        np.testing.assert_allclose(
            fusion.predict(X, groups=groups) / fusion.weights_[0],
            fuse_runs(X, groups=groups, method="combsum", normalize="zscore"),
            atol=1e-9,
        )

    def test_threshold_of_coordinate_ascent(self, data):
        X, y, groups = data
        gains = {0: -1, 1: 1, 2: 2}
        learner = CoordinateAscentRanker(measure="ndcg_f@5", filter=True, random_state=0)
        fusion = RankFusion(learner, gains=gains).fit(X, y, groups=groups)
        assert fusion.intercept_ == -fusion.learner_.threshold_ != 0
        assert 0.2 < np.mean(fusion.predict(X, groups=groups) >= 0) < 0.95

    def test_equal_gains(self, data):
        X, _, groups = data
        with pytest.warns(
            FitWarning, match="weights are all 0, so .*no query has documents of diff"
        ):
            fusion = RankFusion("coordinate_ascent").fit(X, np.ones(len(X)), groups=groups)
        np.testing.assert_array_equal(fusion.weights_, [0, 0, 0])
        np.testing.assert_array_equal(fusion.predict(X, groups=groups), np.zeros(len(X)))

    def test_weights_of_0_are_warned_of_once_for_all_folds(self, data):
        X, y, groups = data
        with pytest.warns(FitWarning, match="all 0, so .*, in 5 of 5 fits. .*'combsum'") as warned:
            fuse_runs(X, Lasso(100.0), qrels=y, groups=groups)
        assert len(warned) == 1
        fold = (np.flatnonzero(groups < 20), np.flatnonzero(groups >= 20))
        learned = {"qrels": np.where(groups < 20, 1, y), "cv": [fold, fold[::-1]]}
        with pytest.warns(FitWarning, match="in 1 of 2 fits"):
            fuse_runs(X, "coordinate_ascent", groups=groups, **learned)

    def test_queries_with_one_document(self, data):
        X, y, groups = data
        fusion = RankFusion("coordinate_ascent", random_state=0).fit(
            np.vstack([X, [[1.0, 2.0, 3.0]]]), np.append(y, 1), groups=np.append(groups, 999)
        )
        plain = RankFusion("coordinate_ascent", random_state=0).fit(X, y, groups=groups)
        ratio = fusion.weights_ / plain.weights_
        np.testing.assert_allclose(ratio, ratio[0], rtol=0.2)

    @given(scale=st.sampled_from([0.25, 8.0]), shift=st.sampled_from([-4.0, 16.0]))
    def test_the_scale_of_a_query_does_not_count(self, scale, shift):
        X, y, groups = make_systems(n_queries=8)
        fusion = RankFusion("logistic").fit(X, y, groups=groups)
        factor = np.where(groups % 2, scale, 1.0)[:, None]
        other = RankFusion("logistic").fit(X * factor + shift, y, groups=groups)
        np.testing.assert_allclose(fusion.weights_, other.weights_, atol=1e-6)

    def test_order_of_rows_and_names_of_queries(self, data):
        X, y, groups = data
        rows = np.random.default_rng(0).permutation(len(y))
        names = np.array([f"q{query}" for query in groups])
        for learner in LEARNERS[1:]:
            one = RankFusion(learner).fit(X, y, groups=groups)
            two = RankFusion(learner).fit(X[rows], y[rows], groups=names[rows])
            np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-6)


class TestScore:
    def test_of_coordinate_ascent_it_is_what_was_optimized(self, data):
        X, y, groups = data
        fusion = RankFusion("coordinate_ascent", measure="ap", random_state=0).fit(
            X, y, groups=groups
        )
        found = fusion.score(X, y, groups=groups)
        assert found == pytest.approx(fusion.learner_.best_score_)
        fused = fusion.predict(X, groups=groups)
        assert found == average_precision_score(y, fused, groups=groups)


class TestMissing:
    def test_nan_and_minus_infinity_are_the_same(self, data):
        X, y, groups = data
        gone = np.random.default_rng(0).random(X.shape) < 0.3
        fusions = [
            RankFusion("logistic").fit(np.where(gone, value, X), y, groups=groups)
            for value in (nan, -inf)
        ]
        np.testing.assert_array_equal(fusions[0].weights_, fusions[1].weights_)
        scores = fusions[0].predict(np.where(gone, nan, X), groups=groups)
        np.testing.assert_array_equal(np.isneginf(scores), gone.all(axis=1))

    @pytest.mark.parametrize(
        ("filtered", "n_kept"), [("all", (1, 2, 3)), ("majority", (2, 3)), ("any", (3,))]
    )
    def test_filters(self, data, filtered, n_kept):
        X, y, groups = data
        gone = np.random.default_rng(0).random(X.shape) < 0.5
        fusion = RankFusion("logistic", filtered=filtered)
        fusion.fit(np.where(gone, -inf, X), y, groups=groups)
        kept = np.isfinite(fusion.predict(np.where(gone, -inf, X), groups=groups))
        np.testing.assert_array_equal(kept, np.isin((~gone).sum(axis=1), n_kept))

    def test_a_missing_score_adds_nothing(self, data):
        X, y, groups = data
        fusion = RankFusion("logistic").fit(X, y, groups=groups)
        scores = fusion.predict([[1.0, nan, -inf], [0.0, nan, nan]], groups=[1, 1])
        np.testing.assert_allclose(
            scores, fusion.intercept_ + fusion.weights_[0] * np.array([1, 0])
        )

    def test_unjudged_rows_count_for_the_scale(self, data):
        X, y, groups = data
        y = np.where(np.arange(len(y)) % 3 == 0, nan, y)
        with pytest.warns(UserWarning, match="160 of 480 rows are unjudged"):
            fusion = RankFusion("logistic").fit(X, y, groups=groups)
        assert fusion.n_unjudged_ == 160
        features = np.empty_like(X)
        for query in np.unique(groups):
            rows = groups == query
            features[rows] = (X[rows] - X[rows].min(axis=0)) / np.ptp(X[rows], axis=0)
        judged = ~np.isnan(y)
        model = LogisticRegression(max_iter=1000).fit(features[judged], y[judged] > 0)
        np.testing.assert_allclose(fusion.weights_, model.coef_[0], atol=1e-6)


class TestInsideScikitLearn:
    def test_inside_rank_and_filter(self, data):
        X, y, groups = data
        gains = {0: -2, 1: 1, 2: 2}
        fusion = RankFusion("logistic")
        model = RankAndFilter(fusion, gains=gains, cv=3).fit(X, y, groups=groups)
        ranked = RankAndFilter(fusion, threshold=None, gains=gains).fit(X, y, groups=groups)
        assert model.score(X, y, groups=groups) > ranked.score(X, y, groups=groups)

    def test_filtered_rows_inside_rank_and_filter(self, data):
        X, y, groups = data
        X = X.copy()
        X[::4] = -inf
        model = RankAndFilter(RankFusion("logistic"), gains={0: -2, 1: 1, 2: 2}, cv=3)
        model.fit(X, y, groups=groups)
        assert np.isneginf(model.predict(X, groups=groups)[::4]).all()
        assert np.isfinite(model.threshold_)

    def test_inside_a_calibrated_ranker(self, data):
        X, y, groups = data
        model = CalibratedRanker(RankFusion("logistic"), cv=3).fit(X, y, groups=groups)
        good = model.predict_proba(X, groups=groups)[:, 1]
        assert good.mean() == pytest.approx(np.mean(y > 0), abs=0.05)

    @pytest.mark.slow
    def test_in_a_grid_search(self, data):
        X, y, groups = data
        y = pd.Series(y, index=pd.Index(groups, name="qid"))
        search = GridSearchCV(
            RankFusion("logistic"),
            {"normalize": ["minmax", "zscore", "rank"], "method": ["logistic", Ridge()]},
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
                RankFusion("logistic"),
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
        fusion = RankFusion("logistic").fit(frame, y)
        assert list(fusion.feature_names_in_) == ["good", "fair", "useless"]
        copy = pickle.loads(pickle.dumps(fusion))
        np.testing.assert_array_equal(copy.predict(frame), fusion.predict(frame))
        assert not hasattr(clone(fusion), "coef_")


class TestBadInput:
    @pytest.mark.parametrize(
        ("fusion", "message"),
        [
            (RankFusion("ridge"), "method must be one of 'rrf', .*, 'logistic', got 'ridge'"),
            (RankFusion("logistic", weights=[1, 2, 3]), "weights are learned by method='logistic'"),
            (
                RankFusion(Ridge),
                "method must be a name, .* or a linear estimator",
            ),
            (RankFusion(RandomForestRegressor(2)), "RandomForestRegressor has none"),
            (RankFusion("coordinate_ascent", normalize="most"), "normalize must be one of"),
            (RankFusion("coordinate_ascent", filtered="none"), "filtered must be one of"),
            (RankFusion("coordinate_ascent", measure="recall"), "recall"),
        ],
    )
    def test_parameters(self, data, fusion, message):
        X, y, groups = data
        with pytest.raises(ValueError, match=message):
            fusion.fit(X, y, groups=groups)

    def test_data(self, data):
        X, y, groups = data
        fusion = RankFusion("logistic")
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
            (
                RankFusion("coordinate_ascent"),
                "CoordinateAscentRanker orders the documents of a query",
            ),
            (RankFusion("coordinate_ascent", normalize=None), "CoordinateAscentRanker orders"),
            (RankFusion("logistic"), "normalize='minmax' compares the scores of a query's"),
            (RankFusion(Ridge(), normalize="rank"), "normalize='rank' compares"),
        ):
            with pytest.raises(ValueError, match=rf"groups is missing: {why}"):
                fusion.fit(X, y)
        with pytest.warns(UserWarning, match="RankFusion was given no query ids"):
            single = RankFusion("logistic", normalize=None).fit(X, y)
        alone = LogisticRegression(max_iter=1000).fit(X, y > 0)
        np.testing.assert_array_equal(single.weights_, alone.coef_[0])
        fusion = RankFusion("logistic").fit(X, y, groups=groups)
        with pytest.raises(ValueError, match=r"groups is missing.*X as a DataFrame"):
            fusion.predict(X)
        raw = RankFusion("logistic", normalize=None).fit(X, y, groups=groups)
        np.testing.assert_array_equal(raw.predict(X), raw.predict(X, groups=groups))

    def test_one_call(self, data):
        X, y, groups = data
        logistic = RankFusion("logistic")
        ids = pd.DataFrame(
            {"qid": groups.astype(str), "docno": [f"d{i:04}" for i in range(len(y))]}
        )
        runs, qrels = {"s": ids.assign(score=X[:, 0])}, ids.assign(label=y)
        for labels, systems, options, message in (
            (y, X, {}, "groups is missing"),
            (y[:-1], X, {"groups": groups}, "qrels has 479 labels but runs score 480 rows"),
            (y * nan, X, {"groups": groups}, "no judged row"),
            (y, X, {"groups": groups, "method": "ridge"}, "method must be one of"),
            (y, X, {"groups": groups, "method": 3}, "method must be a name"),
            (y, X, {"groups": groups, "method": "rrf"}, "qrels has no effect on method='rrf'"),
            (None, X, {"groups": groups}, "learns from judgments: pass qrels="),
            (y, X, {"groups": groups, "depth": 3}, "depth is for runs"),
            (y, X, {"groups": groups, "normalize": "sum"}, "normalize of a given RankFusion"),
            (y, X, {"groups": groups, "unjudged": "keep"}, "unjudged must be one of"),
            (y, X, {"groups": groups, "cv": 0.3}, "holds out 336 rows never and 0 several"),
            (y, X, {"groups": groups, "cv": "prefit"}, "cv='prefit' is not for fuse_runs"),
            (qrels, runs, {"groups": groups}, "groups is for scores"),
            (y, runs, {}, "qrels must be judgments for runs"),
            (qrels.drop(columns="label"), runs, {}, "qrels has no column 'label'"),
            (pd.concat([qrels, qrels[:1]]), runs, {}, "document 'd0000' twice in query '0'"),
            (qrels.assign(qid="t"), runs, {}, "no document that a run retrieves is judged"),
        ):
            with pytest.raises(ValueError, match=message):
                fuse_runs(systems, qrels=labels, **{"method": logistic} | options)


pytestmark = pytest.mark.slow


class TestTuned:
    """Methods without learning, chosen by grouped cross-validation."""

    GRID = {  # noqa: RUF012
        "method": ["rrf", "combsum"],
        "weights": [None, [3, 1, 0], [1, 0, 3]],
    }

    @pytest.mark.slow
    @pytest.mark.parametrize("measure", ["ap", "ndcg@5", "search_length"])
    def test_the_choice_is_that_of_brute_force(self, data, measure):
        X, y, groups = data
        scorer, splits = make_ranking_scorer(measure), list(GroupKFold(3).split(X, y, groups))
        labels = pd.Series(y, index=pd.Index(groups, name="qid"))
        search = GridSearchCV(RankFusion(), self.GRID, scoring=scorer, cv=splits)
        search.fit(X, labels)
        sign = -1 if measure == "search_length" else 1
        for params, mean in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        ):
            by_hand = [
                evaluate(
                    y[test],
                    fuse_runs(X[test], groups=groups[test], **params),
                    measure,
                    groups=groups[test],
                )[measure].mean()
                for _, test in splits
            ]
            assert mean == pytest.approx(sign * np.mean(by_hand))
        assert search.best_score_ == max(search.cv_results_["mean_test_score"])

    @pytest.mark.slow
    def test_in_one_call(self, data):
        X, y, groups = data
        search = GridSearchCV(
            RankFusion(), self.GRID, scoring=make_ranking_scorer("ap"), cv=GroupKFold(3)
        )
        fused = fuse_runs(X, search, qrels=y, groups=groups, cv=4)
        # The useless system is left out in every fold.
        expected = fuse_runs(X, groups=groups, method="combsum", weights=[3, 1, 0])
        np.testing.assert_array_equal(fused, expected)
        assert not hasattr(search, "best_params_")


class TestOneCall:
    def test_scores_are_held_out(self, data):
        X, y, groups = data
        fused = fuse_runs(X, RankFusion("logistic"), qrels=y, groups=groups, cv=4)
        expected = np.empty(len(y))
        folds = GroupKFold(4, shuffle=True, random_state=0).split(X, y, groups)
        for train, test in folds:
            model = RankFusion("logistic").fit(X[train], y[train], groups=groups[train])
            expected[test] = model.predict(X[test], groups=groups[test])
        np.testing.assert_allclose(fused, expected, atol=1e-9)

    def test_two_calls_are_the_same(self):
        X, y, groups = make_systems(n_queries=10, n_rows=6)
        first, second, two_jobs, other = (
            fuse_runs(X, "coordinate_ascent", qrels=y, groups=groups, cv=2, **options)
            for options in (
                {"random_state": 0},
                {"random_state": 0},
                {"random_state": 0, "n_jobs": 2},
                {"random_state": 1},
            )
        )
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, two_jobs)
        assert not np.array_equal(first, other)

    def test_the_seed_of_a_given_fusion_counts(self):
        X, y, groups = make_systems(n_queries=10, n_rows=6)
        seeded, unseeded = (
            RankFusion("coordinate_ascent", measure="ap", random_state=s) for s in (3, None)
        )
        found, by_argument, other = (
            fuse_runs(X, fusion, qrels=y, groups=groups, cv=2, random_state=seed)
            for fusion, seed in ((seeded, 0), (unseeded, 3), (unseeded, 0))
        )
        np.testing.assert_array_equal(found, by_argument)
        assert not np.array_equal(found, other)
        assert unseeded.random_state is None

    def test_progress(self, data, capsys):
        X, y, groups = data
        fusion = RankFusion("logistic")
        fuse_runs(X, fusion, qrels=y, groups=groups, cv=3)
        assert capsys.readouterr().err == ""
        fuse_runs(X, fusion, qrels=y, groups=groups, cv=3, verbose=1)
        assert "folds" in capsys.readouterr().err

    def test_without_holding_out(self, data):
        X, y, groups = data
        fusion = RankFusion("logistic")
        fused = fuse_runs(X, fusion, qrels=y, groups=groups, cv=None)
        expected = clone(fusion).fit(X, y, groups=groups).predict(X, groups=groups)
        np.testing.assert_array_equal(fused, expected)
        assert not hasattr(fusion, "coef_")

    def test_queries_without_judgments(self, data):
        X, y, groups = data
        is_new = groups >= 30
        labels = np.where(is_new, nan, y)
        fusion = RankFusion("logistic")
        fused = fuse_runs(X, fusion, qrels=labels, groups=groups)
        model = clone(fusion).fit(X[~is_new], y[~is_new], groups=groups[~is_new])
        expected = model.predict(X[is_new], groups=groups[is_new])
        np.testing.assert_allclose(fused[is_new], expected, atol=1e-9)

    def test_unjudged_documents(self, data):
        X, y, groups = data
        labels = np.where((y == 0) & (np.arange(len(y)) % 2 == 0), nan, y)
        options = {"groups": groups, "method": RankFusion("logistic"), "cv": None}
        zero = fuse_runs(X, qrels=labels, **options)
        np.testing.assert_array_equal(zero, fuse_runs(X, qrels=y, **options))
        dropped = fuse_runs(X, qrels=labels, unjudged="drop", **options)
        with pytest.warns(UserWarning, match="unjudged"):
            model = RankFusion("logistic").fit(X, labels, groups=groups)
        np.testing.assert_array_equal(dropped, model.predict(X, groups=groups))

    def test_gains(self, data):
        X, y, groups = data
        names = np.array(["bad", "fair", "good"])[y]
        fusion = RankFusion("logistic", gains={"bad": 0, "fair": 1, "good": 2})
        np.testing.assert_array_equal(
            fuse_runs(X, fusion, qrels=names, groups=groups),
            fuse_runs(X, RankFusion("logistic"), qrels=y, groups=groups),
        )

    def test_runs(self, data):
        X, y, groups = data
        ids = pd.DataFrame(
            {"qid": groups.astype(str), "docno": [f"d{i:04}" for i in range(len(y))]}
        )
        runs = {f"s{j}": ids.assign(score=X[:, j]).sample(frac=0.8, random_state=j) for j in (0, 1)}
        qrels = ids.assign(label=y)
        fused = fuse_runs(runs, RankFusion("logistic"), qrels=qrels, cv=None)
        plain = fuse_runs(runs)
        assert list(fused.columns) == ["qid", "docno", "score"]
        assert "learned" not in plain.attrs
        pairs = [set(zip(run["qid"], run["docno"])) for run in (fused, plain)]
        assert pairs[0] == pairs[1]
        wide = np.column_stack(
            [ids.merge(run, how="left")["score"].fillna(-inf) for run in runs.values()]
        )
        found = (wide > -inf).any(axis=1)
        expected = RankFusion("logistic").fit(wide[found], y[found], groups=groups[found])
        (learned,) = fused.attrs["learned"]
        assert learned["weights"] == pytest.approx(dict(zip(runs, expected.weights_)))
        assert (learned["n_queries"], learned["params"]) == (40, {})
        scores = ids.assign(score=expected.predict(wide, groups=groups))[found]
        merged = scores.merge(fused, on=["qid", "docno"])
        assert len(merged) == found.sum()
        np.testing.assert_allclose(merged["score_x"], merged["score_y"], atol=1e-9)

    def test_weights_of_each_fold(self, data):
        X, y, groups = data
        ids = pd.DataFrame(
            {"qid": groups.astype(str), "docno": [f"d{i:04}" for i in range(len(y))]}
        )
        runs = {f"s{j}": ids.assign(score=X[:, j]) for j in (0, 1)}
        # Ten queries have no judgments, and are fused by a model of all others.
        qrels = ids.assign(label=y)[groups < 30]
        folds = GroupKFold(3)
        how = {"qrels": qrels, "cv": folds, "depth": 5}
        learned = fuse_runs(runs, "logistic", **how).attrs["learned"]
        assert [model["n_queries"] for model in learned] == [10, 10, 10, 10]
        judged = pd.concat({name: run["score"] for name, run in runs.items()}, axis=1)[groups < 30]
        codes = pd.factorize(qrels["qid"], sort=True)[0]
        splits = [*(train for train, _ in folds.split(judged, groups=codes)), slice(None)]
        for model, train in zip(learned, splits, strict=True):
            X_train, y_train = judged.to_numpy()[train], qrels["label"].to_numpy()[train]
            own = RankFusion("logistic").fit(X_train, y_train, groups=codes[train])
            np.testing.assert_allclose(list(model["weights"].values()), own.weights_, atol=1e-6)
        scorer = make_ranking_scorer("ap")
        search = GridSearchCV(
            RankFusion(), {"method": ["isr", "rrf"]}, scoring=scorer, cv=GroupKFold(2)
        )
        for model in fuse_runs(runs, search, **how).attrs["learned"]:
            assert model["weights"] == {"s0": 1.0, "s1": 1.0}
            assert model["params"]["method"] in ("isr", "rrf")

    @pytest.mark.slow
    def test_frames_of_polars(self, data):
        X, y, groups = data
        ids = pd.DataFrame(
            {"qid": groups.astype(str), "docno": [f"d{i:04}" for i in range(len(y))]}
        )
        runs = {f"s{j}": ids.assign(score=X[:, j]) for j in (0, 1)}
        qrels = ids.assign(label=y)
        fusion = RankFusion("logistic")
        expected = fuse_runs(runs, fusion, qrels=qrels)
        found = fuse_runs(
            {name: pl.from_pandas(run) for name, run in runs.items()},
            fusion,
            qrels=pl.from_pandas(qrels),
        )
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
