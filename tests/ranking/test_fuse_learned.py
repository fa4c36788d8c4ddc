"""Learned fusion in one call: held-out scores, runs, and the method that is best."""

from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.metrics import (
    evaluate,
    make_ranking_scorer,
)
from skfilterrank.ranking import (
    LinearRankFusion,
    RankFusion,
    fuse_learned,
    fuse_runs,
    fuse_scores,
)

pytestmark = pytest.mark.slow


def make_systems(n_queries=40, n_rows=12, seed=0):
    """Scores of a good, a fair and a useless system, labels and queries."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n_queries * n_rows)
    X = y[:, None] + rng.normal(size=(len(y), 3)) * [0.7, 1.5, 30.0]
    return X, y, np.repeat(np.arange(n_queries), n_rows)


@pytest.fixture(scope="module")
def data():
    return make_systems()


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
                    fuse_scores(X[test], groups=groups[test], **params),
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
        fused = fuse_learned(y, X, groups=groups, fusion=search, cv=4)
        # The useless system is left out in every fold.
        expected = fuse_scores(X, groups=groups, method="combsum", weights=[3, 1, 0])
        np.testing.assert_array_equal(fused, expected)
        assert not hasattr(search, "best_params_")


class TestOneCall:
    def test_scores_are_held_out(self, data):
        X, y, groups = data
        fused = fuse_learned(y, X, groups=groups, fusion=LinearRankFusion("logistic"), cv=4)
        expected = np.empty(len(y))
        folds = GroupKFold(4, shuffle=True, random_state=0).split(X, y, groups)
        for train, test in folds:
            model = LinearRankFusion("logistic").fit(X[train], y[train], groups=groups[train])
            expected[test] = model.predict(X[test], groups=groups[test])
        np.testing.assert_allclose(fused, expected, atol=1e-9)

    def test_two_calls_are_the_same(self):
        X, y, groups = make_systems(n_queries=10, n_rows=6)
        first, second, two_jobs, other = (
            fuse_learned(y, X, groups=groups, cv=2, **options)
            for options in ({}, {}, {"n_jobs": 2}, {"random_state": 1})
        )
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, two_jobs)
        assert not np.array_equal(first, other)

    def test_the_seed_of_a_given_fusion_counts(self):
        X, y, groups = make_systems(n_queries=10, n_rows=6)
        seeded, unseeded = (LinearRankFusion(measure="ap", random_state=s) for s in (3, None))
        found, by_argument, other = (
            fuse_learned(y, X, groups=groups, cv=2, fusion=fusion, random_state=seed)
            for fusion, seed in ((seeded, 0), (unseeded, 3), (unseeded, 0))
        )
        np.testing.assert_array_equal(found, by_argument)
        assert not np.array_equal(found, other)
        assert unseeded.random_state is None

    def test_progress(self, data, capsys):
        X, y, groups = data
        fusion = LinearRankFusion("logistic")
        fuse_learned(y, X, groups=groups, fusion=fusion, cv=3)
        assert capsys.readouterr().err == ""
        fuse_learned(y, X, groups=groups, fusion=fusion, cv=3, verbose=1)
        assert "folds" in capsys.readouterr().err

    def test_without_holding_out(self, data):
        X, y, groups = data
        fusion = LinearRankFusion("logistic")
        fused = fuse_learned(y, X, groups=groups, fusion=fusion, cv=None)
        expected = clone(fusion).fit(X, y, groups=groups).predict(X, groups=groups)
        np.testing.assert_array_equal(fused, expected)
        assert not hasattr(fusion, "coef_")

    def test_queries_without_judgments(self, data):
        X, y, groups = data
        is_new = groups >= 30
        labels = np.where(is_new, nan, y)
        fusion = LinearRankFusion("logistic")
        fused = fuse_learned(labels, X, groups=groups, fusion=fusion)
        model = clone(fusion).fit(X[~is_new], y[~is_new], groups=groups[~is_new])
        expected = model.predict(X[is_new], groups=groups[is_new])
        np.testing.assert_allclose(fused[is_new], expected, atol=1e-9)

    def test_unjudged_documents(self, data):
        X, y, groups = data
        labels = np.where((y == 0) & (np.arange(len(y)) % 2 == 0), nan, y)
        options = {"groups": groups, "fusion": LinearRankFusion("logistic"), "cv": None}
        zero = fuse_learned(labels, X, **options)
        np.testing.assert_array_equal(zero, fuse_learned(y, X, **options))
        dropped = fuse_learned(labels, X, unjudged="drop", **options)
        with pytest.warns(UserWarning, match="unjudged"):
            model = LinearRankFusion("logistic").fit(X, labels, groups=groups)
        np.testing.assert_array_equal(dropped, model.predict(X, groups=groups))

    def test_gains(self, data):
        X, y, groups = data
        names = np.array(["bad", "fair", "good"])[y]
        fusion = LinearRankFusion("logistic", gains={"bad": 0, "fair": 1, "good": 2})
        np.testing.assert_array_equal(
            fuse_learned(names, X, groups=groups, fusion=fusion),
            fuse_learned(y, X, groups=groups, fusion=LinearRankFusion("logistic")),
        )

    def test_runs(self, data):
        X, y, groups = data
        ids = pd.DataFrame(
            {"qid": groups.astype(str), "docno": [f"d{i:04}" for i in range(len(y))]}
        )
        runs = {f"s{j}": ids.assign(score=X[:, j]).sample(frac=0.8, random_state=j) for j in (0, 1)}
        qrels = ids.assign(label=y)
        fused = fuse_learned(qrels, runs, fusion=LinearRankFusion("logistic"), cv=None)
        plain = fuse_runs(runs)
        assert list(fused.columns) == ["qid", "docno", "score"]
        pairs = [set(zip(run["qid"], run["docno"])) for run in (fused, plain)]
        assert pairs[0] == pairs[1]
        wide = np.column_stack(
            [ids.merge(run, how="left")["score"].fillna(-inf) for run in runs.values()]
        )
        found = (wide > -inf).any(axis=1)
        expected = LinearRankFusion("logistic").fit(wide[found], y[found], groups=groups[found])
        scores = ids.assign(score=expected.predict(wide, groups=groups))[found]
        merged = scores.merge(fused, on=["qid", "docno"])
        assert len(merged) == found.sum()
        np.testing.assert_allclose(merged["score_x"], merged["score_y"], atol=1e-9)

    @pytest.mark.slow
    def test_frames_of_polars(self, data):
        X, y, groups = data
        ids = pd.DataFrame(
            {"qid": groups.astype(str), "docno": [f"d{i:04}" for i in range(len(y))]}
        )
        runs = {f"s{j}": ids.assign(score=X[:, j]) for j in (0, 1)}
        qrels = ids.assign(label=y)
        fusion = LinearRankFusion("logistic")
        expected = fuse_learned(qrels, runs, fusion=fusion)
        found = fuse_learned(
            pl.from_pandas(qrels),
            {name: pl.from_pandas(run) for name, run in runs.items()},
            fusion=fusion,
        )
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
