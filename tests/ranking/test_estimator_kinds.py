"""What RankAndFilter hands to each kind of estimator, and what comes out."""

import functools

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRanker
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor, early_stopping
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from xgboost import XGBRanker

from held_out_rows import held_out_rows
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import LambdaRankRanker, OrdinalRanker, RankAndFilter
from thinned import thinned

pytestmark = pytest.mark.slow

LIGHTGBM = {
    "n_estimators": 5,
    "min_child_samples": 5,
    "n_jobs": 1,
    "verbose": -1,
    "deterministic": True,
    "force_row_wise": True,
}

RANKERS = {
    "LGBMRanker": LGBMRanker(**LIGHTGBM),
    "XGBRanker": XGBRanker(n_estimators=5, n_jobs=1),
    "CatBoostRanker": CatBoostRanker(
        iterations=5, verbose=0, thread_count=1, allow_writing_files=False, random_seed=0
    ),
    "LambdaRankRanker": LambdaRankRanker(n_estimators=5, min_child_samples=5, n_jobs=1),
}

OTHERS = {
    "LogisticRegression": LogisticRegression(),
    "Ridge": Ridge(),
    # To the last digit, so that the order of the rows does not show.
    "SVC": SVC(tol=1e-10),
    "LGBMClassifier": LGBMClassifier(**LIGHTGBM),
    "LGBMRegressor": LGBMRegressor(**LIGHTGBM),
    "OrdinalRanker": OrdinalRanker(),
    "GridSearchCV": GridSearchCV(
        Ridge(),
        {"alpha": [0.1, 10.0]},
        scoring=make_ranking_scorer("ndcg@3", gains={-1: 0, 1: 1, 2: 2}),
        cv=GroupKFold(3),
        error_score="raise",
    ),
}

KINDS = RANKERS | OTHERS


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=120, n_features=6, bayes=False, random_state=0)


@pytest.fixture(scope="module")
def held_out():
    return make_rank_and_filter(n_queries=100, n_features=6, bayes=False, random_state=1)


def kind(name, *others):
    """A case; those of no library's first estimator are looked at at night."""
    is_first = name in ("LGBMRanker", "LogisticRegression")
    marks = [pytest.mark.nightly] if others and not is_first else []
    return pytest.param(name, *others, id="-".join((name, *others)), marks=marks)


@pytest.fixture(scope="module")
def fitted(data):
    """RankAndFilter around an estimator of a kind, fitted once."""

    @functools.cache
    def of_kind(name):
        return RankAndFilter(KINDS[name], measure="ndcg_f@3", cv=3).fit(
            data.X, data.y, groups=data.groups
        )

    return of_kind


@pytest.mark.parametrize("name", thinned(map(kind, KINDS)))
def test_every_kind_learns_ranks_and_filters(data, fitted, name):
    assert_learns_ranks_and_filters(data, fitted(name))


@pytest.mark.parametrize(("name", "step"), [kind(name, "pipeline") for name in KINDS])
def test_every_kind_learns_at_the_end_of_a_pipeline(data, name, step):
    model = RankAndFilter(make_pipeline(StandardScaler(), KINDS[name]), measure="ndcg_f@3", cv=3)
    assert_learns_ranks_and_filters(data, model.fit(data.X, data.y, groups=data.groups))


def assert_learns_ranks_and_filters(data, model):
    scores = model.predict(data.X)
    kept = np.isfinite(scores)
    assert 0.5 < kept.mean() < 1
    assert len(np.unique(scores[kept])) > 100
    assert data.y[kept].mean() > data.y[~kept].mean() + 0.5
    assert np.isfinite(model.decision_function(data.X)).all()
    assert model.best_score_ > 0.76  # chance: 0.715
    places = model.rank(data.X, groups=data.groups)
    np.testing.assert_array_equal(places > 0, kept)


@pytest.mark.parametrize("name", thinned(map(kind, KINDS), turn=1))
def test_interleaved_queries_give_what_sorted_rows_give(data, fitted, name):
    # Rows of a query, and first rows, keep their order, which a ranker's trees depend on.
    place = pd.Series(data.groups).groupby(data.groups).cumcount().to_numpy()
    drawn = np.random.default_rng(0).permutation(len(place))
    order = np.lexsort((np.where(place, drawn, data.groups), place))
    names = np.array([f"q{number:03d}" for number in range(200)])
    mixed = RankAndFilter(KINDS[name], measure="ndcg_f@3", cv=3)
    mixed.fit(data.X[order], data.y[order], groups=names[data.groups[order]])
    # The rankers get the very same rows; sums over rows in another order differ by rounding.
    np.testing.assert_allclose(
        mixed.decision_function(data.X), fitted(name).decision_function(data.X), atol=1e-8
    )


FAST, STOPS = {"n_estimators": 200, "learning_rate": 0.5}, {"early_stopping_rounds": 3}
CALLBACKS = [early_stopping(3, verbose=False)]


class TestEarlyStopping:
    """A learning rate this high overfits at once, so training stops before its last tree.

    The scaler moves the rows: trees grown on scaled rows cannot use raw held-out ones.
    """

    def stopped_at(self, data, held_out, estimator, **fit_params):
        pipeline = make_pipeline(StandardScaler(), estimator)
        model = RankAndFilter(pipeline, measure="ndcg_f@3", cv=2).fit(
            data.X,
            data.y,
            groups=data.groups,
            eval_set=[(held_out.X, held_out.y)],
            eval_groups=[held_out.groups],
            **fit_params,
        )
        assert model.best_score_ > 0.7
        return model.estimator_[-1]

    @pytest.mark.parametrize(
        ("estimator", "fit_params", "rounds"),
        [
            *[
                (kind(**LIGHTGBM | FAST), {"callbacks": CALLBACKS}, "best_iteration_")
                for kind in (LGBMRanker, LGBMRegressor, LGBMClassifier)
            ],
            (XGBRanker(**FAST, **STOPS, n_jobs=1), {"verbose": False}, "best_iteration"),
            (
                CatBoostRanker(
                    **FAST, **STOPS, verbose=0, thread_count=1, allow_writing_files=False,
                    random_seed=0,
                ),
                {},
                "tree_count_",
            ),
            (LambdaRankRanker(**FAST, **STOPS, n_jobs=1), {}, "best_iteration_"),
        ],
        ids=lambda value: type(value).__name__,
    )  # fmt: skip
    def test_stops_before_the_last_tree(self, data, held_out, estimator, fit_params, rounds):
        fitted = self.stopped_at(data, held_out, estimator, **fit_params)
        assert 0 < getattr(fitted, rounds) < 100

    def test_held_out_rows_are_transformed_by_the_earlier_steps(self, data, held_out):
        fit_params = {"callbacks": CALLBACKS}
        estimator = LGBMRegressor(**LIGHTGBM | {"n_estimators": 100})
        scaler = StandardScaler().fit(data.X)
        by_hand = LGBMRegressor(**LIGHTGBM | {"n_estimators": 100}).fit(
            scaler.transform(data.X),
            data.y,
            **held_out_rows(estimator, scaler.transform(held_out.X), held_out.y),
            **fit_params,
        )
        fitted = self.stopped_at(data, held_out, estimator, **fit_params)
        assert fitted.best_iteration_ == by_hand.best_iteration_
        assert fitted.best_score_ == by_hand.best_score_


class TestSearchInside:
    def test_search_finds_the_queries_and_learns_the_gains(self, data):
        model = RankAndFilter(KINDS["GridSearchCV"], measure="ndcg_f@3")
        model.fit(data.X, data.y, groups=data.groups)
        search = model.estimator_
        index = pd.Index(data.groups, name="qid")
        by_hand = GridSearchCV(
            Ridge(),
            {"alpha": [0.1, 10.0]},
            scoring=make_ranking_scorer("ndcg@3", gains={-1: 0, 1: 1, 2: 2}),
            cv=GroupKFold(3),
        ).fit(data.X, pd.Series(data.y, index=index), groups=data.groups)
        assert search.best_score_ == pytest.approx(by_hand.best_score_)
        assert search.best_params_ == by_hand.best_params_

    def test_search_over_a_ranker_belongs_outside(self, data):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), LGBMRanker(**LIGHTGBM)),
            {"lgbmranker__num_leaves": [3, 5]},
            scoring=make_ranking_scorer("ndcg_f@3"),
            cv=GroupKFold(3),
        )
        with pytest.raises(ValueError, match=r"put the search around RankAndFilter\(LGBMRanker"):
            RankAndFilter(search).fit(data.X, data.y, groups=data.groups)

    @pytest.mark.parametrize(
        ("name", "kind"), [kind(n, "ranker") for n in thinned(("LGBMRanker", "XGBRanker"), parts=2)]
    )
    def test_search_around_a_ranker(self, data, name, kind):
        y = pd.Series(data.y, index=pd.Index(data.groups, name="qid"))
        search = GridSearchCV(
            RankAndFilter(KINDS[name], measure="ndcg_f@3", cv=2),
            {"estimator__n_estimators": [2, 4]},
            cv=GroupKFold(2),
            error_score="raise",
        ).fit(data.X, y, groups=data.groups)
        # All rows in random order have 0.715.
        assert search.best_score_ > 0.73
