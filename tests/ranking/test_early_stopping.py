"""LightGBM, XGBoost and CatBoost stop by measures of the table."""

from concurrent.futures import ThreadPoolExecutor

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from catboost import CatBoostRanker
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from xgboost import XGBRanker, XGBRegressor

from held_out_rows import held_out_rows
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import forbidden_at_k, ndcg_f_score, rbp_score
from skfilterrank.ranking import (
    QueryRanker,
    RankAndFilter,
    catboost_metric,
    lightgbm_metric,
    xgboost_early_stopping,
)

# Names, what they stand for, and whether higher is better. XGBoost would minimize "rbp" by its
# name, and maximize "ndcg_f" whatever it is told of "forbidden".
MEASURES = {
    "ndcg_f@3": (lambda y, s, g: ndcg_f_score(y, s, groups=g, k=3), True),
    "rbp(persistence=0.5)": (lambda y, s, g: rbp_score(y, s, groups=g, persistence=0.5), True),
    "forbidden@3": (lambda y, s, g: forbidden_at_k(y, s, groups=g, k=3), False),
}
PATIENCE = 5


class Split:
    """Training and held-out queries of different sizes, rows shuffled, ids out of order."""

    def __init__(self, gains=None):
        X, y, groups, _ = make_rank_and_filter(120, random_state=0, documents_per_query=8)
        rng = np.random.default_rng(0)
        kept = np.flatnonzero(rng.uniform(size=len(y)) < 0.6)
        # One query of one document, which XGBoost's own mean would give the value 1.
        kept = rng.permutation(
            np.append(kept[groups[kept] != 119], np.flatnonzero(groups == 119)[0])
        )
        X, y, groups = X[kept], y[kept].astype(float), groups[kept]
        held = groups % 2 == 1
        names = np.array([f"q{(7 * number) % 120}" for number in range(120)])
        self.learn = X[~held], y[~held], names[groups[~held]]
        self.held = X[held], y[held], names[groups[held]]


@pytest.fixture(scope="module")
def split():
    return Split()


def in_blocks(X, y, groups):
    """Each query's rows together, queries in no order of their ids, and their sizes."""
    order = np.argsort([int(name[1:]) * 31 % 120 for name in groups], kind="stable")
    groups = groups[order]
    sizes = np.diff(np.flatnonzero(np.append(np.append(True, groups[1:] != groups[:-1]), True)))
    return X[order], y[order], groups, sizes


def best_round(values, higher):
    """Number of rounds up to the best, the first of equals, and the round it stops in."""
    values = np.asarray(values) if higher else -np.asarray(values)
    best = int(np.argmax(values)) + 1
    assert len(values) == best + PATIENCE  # so it did stop early
    return best


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_lightgbm_sees_the_value_of_the_function(split, name):
    function, higher = MEASURES[name]
    X, y, _, sizes = in_blocks(*split.learn)
    held_X, held_y, held_groups, held_sizes = in_blocks(*split.held)
    gains = {0: -1, 1: 1, 2: 2}
    to_grade = np.vectorize({-1: 0, 1: 1, 2: 2}.get)
    seen = {}
    train = lgb.Dataset(X, to_grade(y), group=sizes)
    valid = lgb.Dataset(held_X, to_grade(held_y), group=held_sizes, reference=train)
    booster = lgb.train(
        {"objective": "lambdarank", "verbose": -1, "metric": "None", "num_threads": 1},
        train,
        num_boost_round=80,
        valid_sets=[valid],
        feval=lightgbm_metric(name, gains=gains),
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False), lgb.record_evaluation(seen)],
    )
    values = seen["valid_0"][name]
    assert booster.best_iteration == best_round(values, higher)
    for rounds in (1, booster.best_iteration):
        scores = booster.predict(held_X, num_iteration=rounds)
        assert values[rounds - 1] == function(held_y, scores, held_groups)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("wrapper", [QueryRanker, lambda inner: RankAndFilter(inner, threshold=0)])
def test_lightgbm_inside_sees_the_gains_and_not_the_grades(split, name, wrapper):
    function, higher = MEASURES[name]
    model = wrapper(LGBMRanker(n_estimators=80, metric="None", verbose=-1, n_jobs=1)).fit(
        *split.learn,
        eval_set=[split.held[:2]],
        eval_groups=[split.held[2]],
        eval_metric=lightgbm_metric(name),
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    ranker = model.estimator_
    values = ranker.evals_result_["valid_0"][name]
    assert ranker.best_iteration_ == best_round(values, higher)
    scores = ranker.predict(split.held[0])
    assert values[ranker.best_iteration_ - 1] == function(split.held[1], scores, split.held[2])


def test_lightgbm_takes_query_ids_for_a_regressor(split):
    X, y, groups = split.held
    metric = lightgbm_metric("ndcg_f@3", groups=groups)
    model = LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)
    held_out = held_out_rows(model, X, y)
    model.fit(*split.learn[:2], **held_out, eval_metric=metric)
    value = model.evals_result_["valid_0"]["ndcg_f@3"][-1]
    assert value == ndcg_f_score(y, model.predict(X), groups=groups, k=3)
    for bad, message in ((None, "groups is missing: LightGBM's"), (groups[:3], "groups has 3 ent")):
        metric = lightgbm_metric("ndcg_f@3", groups=bad)
        with pytest.raises(ValueError, match=message):
            clone(model).fit(*split.learn[:2], **held_out, eval_metric=metric)


def test_lightgbm_classifiers_inside_need_gains(split):
    X, y, groups = split.learn

    def fit(metric, y=y):
        model = QueryRanker(LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1))
        return model.fit(
            X, y, groups=groups, eval_set=[(X, y)], eval_groups=[groups], eval_metric=metric
        )

    metric = lightgbm_metric("ndcg_f@3", groups=groups)
    with pytest.raises(ValueError, match=r"pass gains=, such as gains=\{0: -1, 1: 1\}"):
        fit(metric)
    fit(metric, y=(y > 0).astype(int))
    fitted = fit(lightgbm_metric("ndcg_f@3", groups=groups, gains={0: -1, 1: 1}))
    value = fitted.estimator_.evals_result_["valid_0"]["ndcg_f@3"][-1]
    assert value == ndcg_f_score(np.where(y > 0, 1, -1), fitted.predict(X), groups=groups, k=3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "inside"), [*((name, False) for name in MEASURES), (next(iter(MEASURES)), True)]
)
def test_xgboost_stops_by_the_value_of_the_function(split, name, inside):
    function, higher = MEASURES[name]
    X, y, groups = split.held
    stopping = xgboost_early_stopping(name, X, y, groups=groups, early_stopping_rounds=PATIENCE)
    ranker = XGBRanker(n_estimators=80, n_jobs=1, callbacks=[stopping])
    if inside:
        fitted = QueryRanker(ranker).fit(*split.learn).estimator_
    else:
        X_, y_, groups_, _ = in_blocks(*split.learn)
        codes = pd.factorize(groups_)[0]
        fitted = ranker.fit(X_, np.maximum(y_, 0), qid=codes)
    values = fitted.evals_result()["held_out"][name]
    best = best_round(values, higher)
    assert fitted.best_iteration == best - 1
    assert fitted.get_booster().num_boosted_rounds() == best
    assert values[best - 1] == function(y, fitted.predict(X), groups)
    first = fitted.predict(X, iteration_range=(0, 1))
    assert values[0] == function(y, first, groups)


@pytest.mark.slow
def test_xgboost_callbacks_are_forgetful_and_take_what_xgboost_takes(split):
    X, y, groups = split.held
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    stopping = xgboost_early_stopping(
        "ndcg_f@3", xgb.DMatrix(X), labels, early_stopping_rounds=PATIENCE
    )
    model = XGBRegressor(n_estimators=60, n_jobs=1, callbacks=[stopping])
    first = model.fit(*split.learn[:2]).evals_result()
    again = model.fit(*split.learn[:2]).evals_result()
    assert first == again
    assert len(again["held_out"]["ndcg_f@3"]) < 60


@pytest.mark.slow
def test_xgboost_in_a_search(split):
    X, y, groups = split.learn
    stopping = xgboost_early_stopping(
        "ndcg_f@3", *split.held[:2], groups=split.held[2], early_stopping_rounds=PATIENCE
    )
    ranker = QueryRanker(XGBRanker(n_estimators=60, n_jobs=1, callbacks=[stopping]))
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    search = GridSearchCV(ranker, {"estimator__max_depth": [1, 2]}, cv=GroupKFold(2), n_jobs=2)
    search.fit(X, labels, groups=groups)
    assert np.isfinite(search.best_score_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "inside"), [*((name, False) for name in MEASURES), (next(iter(MEASURES)), True)]
)
def test_catboost_stops_by_the_value_of_the_function(split, name, inside):
    function, higher = MEASURES[name]
    X, y, groups, _ = in_blocks(*split.held)
    if inside:
        X, y, groups = split.held
    ranker = CatBoostRanker(
        n_estimators=200,
        early_stopping_rounds=PATIENCE,
        eval_metric=catboost_metric(name, y, groups=groups),
        verbose=0,
        allow_writing_files=False,
        thread_count=1,
        random_seed=0,
    )
    if inside:
        fitted = QueryRanker(ranker).fit(*split.learn, eval_set=[(X, y)], eval_groups=[groups])
        fitted = fitted.estimator_
    else:
        from catboost import Pool

        X_, y_, groups_, _ = in_blocks(*split.learn)
        fitted = ranker.fit(
            X_,
            y_,
            group_id=pd.factorize(groups_)[0],
            eval_set=Pool(X, y, group_id=pd.factorize(groups)[0]),
        )
    values = fitted.get_evals_result()["validation"]["CatBoostMetric"]
    best = best_round(values, higher)
    assert fitted.tree_count_ == best
    assert values[best - 1] == pytest.approx(function(y, fitted.predict(X), groups), abs=1e-12)


def test_catboost_says_that_it_met_other_rows(split):
    X, y, groups = split.held
    metric = catboost_metric("ndcg_f@3", y[::-1], groups=groups[::-1])
    ranker = CatBoostRanker(
        n_estimators=20, eval_metric=metric, verbose=0, allow_writing_files=False, thread_count=1
    )
    # CatBoost leaves what a metric raises behind in its thread, as the context of later errors.
    with ThreadPoolExecutor(1) as thread:
        fit = thread.submit(
            QueryRanker(ranker).fit, *split.learn, eval_set=[(X, y)], eval_groups=[groups]
        )
        with pytest.raises(Exception, match="eval_set is not the set that catboost_metric was"):
            fit.result()


@pytest.mark.parametrize(
    "make",
    [
        lambda measure, X, y, **more: lightgbm_metric(measure, **more),
        lambda measure, X, y, **more: catboost_metric(measure, y, **more),
        lambda *args, **more: xgboost_early_stopping(*args, early_stopping_rounds=3, **more),
    ],
)
def test_wrong_arguments(split, make):
    X, y, groups = split.held
    with pytest.raises(ValueError, match="'nosuch' is not a measure"):
        make("nosuch", X, y, groups=groups)
    with pytest.raises(ValueError, match="gains must be None"):
        make("ap", X, y, groups=groups, gains=3)


def test_wrong_arguments_of_held_out_rows(split):
    X, y, groups = split.held
    with pytest.raises(ValueError, match="groups is missing"):
        catboost_metric("ap", y)
    with pytest.raises(ValueError, match="groups has 2 entries"):
        xgboost_early_stopping("ap", X, y, groups=groups[:2], early_stopping_rounds=3)
    with pytest.raises(ValueError, match="early_stopping_rounds must be a whole number"):
        xgboost_early_stopping("ap", X, y, groups=groups, early_stopping_rounds=0)
    for short in (X[1:], xgb.DMatrix(X[1:])):
        with pytest.raises(ValueError, match=f"y has {len(y)} labels but X has {len(y) - 1} rows"):
            xgboost_early_stopping("ap", short, y, groups=groups, early_stopping_rounds=3)


def test_metrics_of_a_list_know_the_gains_too(split):
    held_X, held_y, held_groups = split.held
    metrics = [lightgbm_metric("ndcg_f@3"), lightgbm_metric("forbidden@3"), "map"]
    ranker = LGBMRanker(n_estimators=4, metric="None", verbose=-1, n_jobs=1)
    X, y, groups = split.learn
    gains = {-1: -1, 1: 1, 2: 5}
    ranker = QueryRanker(ranker, gains=gains).fit(
        X, y, groups=groups, eval_set=[(held_X, held_y)], eval_groups=[held_groups],
        eval_metric=metrics,
    )  # fmt: skip
    (rounds,) = ranker.estimator_.evals_result_.values()
    scores = ranker.predict(held_X)
    for name, function in (("ndcg_f@3", ndcg_f_score), ("forbidden@3", forbidden_at_k)):
        expected = function(held_y, scores, groups=held_groups, k=3, gains=gains)
        assert rounds[name][-1] == pytest.approx(expected, abs=1e-12)
    assert "map@3" in rounds
