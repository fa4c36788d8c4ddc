"""The loop of coordinate ascent: sweeps, starts, penalties, and when it stops."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import (
    ndcg_f_score,
)
from skfilterrank.ranking import CoordinateAscentRanker

FAST = {"measure": "ndcg_f@3", "max_iter": 3, "random_state": 0}


@pytest.fixture(scope="module")
def judged():
    X, y, groups, _ = make_rank_and_filter(n_queries=80, random_state=0)
    return X, y.astype(float), groups


def history(ranker):
    """The measure of the training queries at the start and after each sweep."""
    (values,) = ranker.evals_result_["train"].values()
    return np.array(values)


def shown(scores):
    return np.where(scores >= 0, scores, -np.inf)


# --- what is learned ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("filtering", [False, True])
def test_history_is_the_measure_and_never_falls(judged, filtering):
    X, y, groups = judged
    ranker = CoordinateAscentRanker(**FAST, filter=filtering, init="uniform").fit(X, y, groups)
    scores = ranker.predict(X)
    scores = shown(scores) if filtering else scores
    assert ranker.best_score_ == pytest.approx(ndcg_f_score(y, scores, groups=groups, k=3))
    assert (np.diff(history(ranker)) >= 0).all()
    assert history(ranker)[-1] > history(ranker)[0]
    assert len(history(ranker)) == ranker.n_iter_ + 1
    assert ranker.best_score_ == history(ranker)[ranker.best_iteration_]


def test_beats_the_regression_it_starts_from(judged):
    X, y, groups = judged
    ranker = CoordinateAscentRanker(**FAST).fit(X, y, groups)
    ridge = ndcg_f_score(y, Ridge().fit(X, y).predict(X), groups=groups, k=3)
    assert ranker.best_score_ > ridge


SAME_FOR_EVERY_ORDER = {"judged", "empty_list_rate", "false_reject_rate", "set_map"}

SAME_FOR_EVERY_ORDER |= {"num_q", "num_ret", "num_rel", "num_rel_ret"}


@pytest.mark.slow
def test_restarts_do_not_depend_on_n_jobs(judged):
    X, y, groups = judged
    settings = FAST | {"n_restarts": 3, "max_iter": 2}
    one = CoordinateAscentRanker(**settings, n_jobs=1).fit(X, y, groups)
    two = CoordinateAscentRanker(**settings, n_jobs=2).fit(X, y, groups)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(history(one), history(two))
    # The first start is among them.
    assert (
        one.best_score_
        >= CoordinateAscentRanker(**FAST | {"max_iter": 2}).fit(X, y, groups).best_score_
    )


@pytest.mark.slow
def test_penalties_keep_to_the_start(judged):
    X, y, groups = judged
    settings = FAST | {"init": "uniform"}
    start = CoordinateAscentRanker(**settings | {"max_iter": 0}).fit(X, y, groups)
    scores = []
    for penalty in (0.0, 0.05, 1000.0):
        ranker = CoordinateAscentRanker(**settings, penalty=penalty).fit(X, y, groups)
        assert (np.diff(history(ranker)) >= 0).all()
        scores.append(ranker.best_score_)
    assert scores[0] > scores[1] > scores[2] >= start.best_score_
    start = CoordinateAscentRanker(**FAST | {"max_iter": 0}).fit(X, y, groups)
    shrunk = CoordinateAscentRanker(**FAST | {"max_iter": 0}, init_alpha=1e6).fit(X, y, groups)
    assert np.abs(shrunk.coef_).sum() < np.abs(start.coef_).sum() / 100


@pytest.mark.slow
def test_the_penalty_is_in_units_of_what_orders_documents(judged):
    X, y, groups = judged
    # Multiples of 1/64, so that shifts by whole numbers round nothing.
    X = (X * 64).round() / 64
    shift = np.random.default_rng(0).integers(-9, 10, (groups.max() + 1, X.shape[1]))[groups]
    settings = FAST | {"penalty": 0.02, "init": "uniform", "max_iter": 1}
    plain, shifted = (
        CoordinateAscentRanker(**settings).fit(features, y, groups)
        for features in (X, X + 100.0 * shift)
    )
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-6)
    free = CoordinateAscentRanker(**settings | {"penalty": 0.0}).fit(X, y, groups)
    assert np.abs(free.coef_ - plain.coef_).max() > 1e-3
    # With a threshold the level of a query counts, and the unit is that of all rows.
    wide = CoordinateAscentRanker(**settings | {"filter": True}).fit(X + shift, y, groups)
    assert wide.scale_ == pytest.approx((X + shift).std(axis=0))


@pytest.mark.slow
def test_random_state(judged):
    X, y, groups = judged
    first, again, other = (
        CoordinateAscentRanker(**FAST | {"random_state": seed}).fit(X, y, groups).coef_
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.slow
def test_early_stopping(judged):
    X, y, groups = judged
    held = groups % 3 == 0
    data = X[~held], y[~held], groups[~held]
    evaluation = {"eval_set": [(X[held], y[held])], "eval_groups": [groups[held]]}
    settings = {"measure": "ndcg_f@3", "random_state": 0, "filter": True, "tol": 0.0}
    ranker = CoordinateAscentRanker(**settings, early_stopping_rounds=1).fit(*data, **evaluation)
    values = ranker.evals_result_["valid_0"]["ndcg_f@3"]
    assert len(values) == ranker.n_iter_ + 1
    assert ranker.best_iteration_ == np.argmax(values)
    reached = ndcg_f_score(y[held], shown(ranker.predict(X[held])), groups=groups[held], k=3)
    assert reached == pytest.approx(max(values))
    assert ranker.best_score_ == history(ranker)[ranker.best_iteration_]
    # Without, the sets are only watched.
    watched = CoordinateAscentRanker(**settings).fit(*data, **evaluation)
    plain = CoordinateAscentRanker(**settings).fit(*data)
    np.testing.assert_array_equal(watched.coef_, plain.coef_)
    assert list(plain.evals_result_) == ["train"]


@pytest.mark.slow
def test_held_out_queries_choose_the_start(judged):
    X, y, groups = judged
    held = groups % 3 == 0
    ranker = CoordinateAscentRanker(**FAST, n_restarts=4)
    ranker.fit(
        X[~held], y[~held], groups[~held], eval_set=(X[held], y[held]), eval_groups=groups[held]
    )
    chosen = ranker.evals_result_["valid_0"]["ndcg_f@3"][-1]
    single = CoordinateAscentRanker(**FAST).fit(X[~held], y[~held], groups[~held])
    alone = ndcg_f_score(y[held], single.predict(X[held]), groups=groups[held], k=3)
    assert chosen >= alone - 1e-12


def test_held_out_queries_overrule_the_training_queries(judged):
    X, y, groups = judged
    settings = FAST | {"n_restarts": 8, "max_iter": 0}
    reversed_set = {"eval_set": (X, -y), "eval_groups": groups}
    by_training = CoordinateAscentRanker(**settings).fit(X, y, groups)
    by_held_out = CoordinateAscentRanker(**settings).fit(X, y, groups, **reversed_set)
    assert by_held_out.best_score_ < by_training.best_score_
    reached, other = (
        ndcg_f_score(-y, ranker.predict(X), groups=groups, k=3)
        for ranker in (by_held_out, by_training)
    )
    assert reached > other
    assert by_held_out.evals_result_["valid_0"]["ndcg_f@3"] == [pytest.approx(reached)]


@pytest.mark.slow
@pytest.mark.parametrize("patience", [1, 2, 3])
def test_stops_after_so_many_sweeps_without_a_gain(judged, patience):
    X, y, groups = judged
    held = groups % 2 == 0
    settings = {"measure": "ndcg_f", "random_state": 0, "tol": 0.0, "init": "uniform"}
    data = X[~held], y[~held], groups[~held]
    evaluation = {"eval_set": (X[held], y[held]), "eval_groups": groups[held]}
    ranker = CoordinateAscentRanker(**settings, early_stopping_rounds=patience)
    ranker.fit(*data, **evaluation)
    assert CoordinateAscentRanker(**settings).fit(*data).n_iter_ > ranker.n_iter_
    assert ranker.n_iter_ == ranker.best_iteration_ + patience


def test_starts_by_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2)) @ np.array([[1, 0.5], [0, 3]])
    y, groups = np.tile([-1, 1, 2], 4), np.repeat([0, 1, 2], 4)
    in_query = [groups == query for query in range(3)]
    Z = X - np.array([X[mine].mean(axis=0) for mine in in_query])[groups]
    gains = y - np.array([y[mine].mean() for mine in in_query])[groups]
    spread = Z.std(axis=0)

    def start(**params):
        return CoordinateAscentRanker(max_iter=0, **params).fit(X, y, groups=groups).coef_

    # Ridge regression of the differences within queries, on features of deviation 1.
    for alpha in (1.0, 20.0):
        ridge = Ridge(alpha=alpha, fit_intercept=False).fit(Z / spread, gains).coef_ / spread
        np.testing.assert_allclose(start(init_alpha=alpha), ridge, rtol=1e-6)
    assert start().tolist() == start(init_alpha=1.0).tolist()
    # Equal weights of such features, which sum to 1.
    np.testing.assert_allclose(start(init="uniform") * spread, [0.5, 0.5])
