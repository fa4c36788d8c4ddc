"""Parameters that LambdaRankRanker hands to LightGBM, and those it refuses."""

import pickle
from math import log2

import joblib
import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score, ndcg_score
from skfilterrank.ranking import LambdaRankRanker
from skfilterrank.ranking._lambdarank import LambdaObjective


def test_first_trees_are_those_of_lightgbm():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(3000, 6)), rng.integers(0, 4, 3000)
    groups = np.repeat(np.arange(60), 50)
    y[X[:, 0] > 1] = 3
    params = {"num_threads": 1, "verbosity": -1, "lambdarank_truncation_level": 20}
    native = lgb.train(
        params | {"objective": "lambdarank"}, lgb.Dataset(X, y, group=np.full(60, 50)), 5
    )
    # Without keys ties stand in the order of the rows, as LightGBM's do.
    loss = LambdaObjective(np.exp2(y) - 1, GroupIndex.from_groups(groups), k=20, gamma=0.0)
    ours = lgb.train(params | {"objective": lambda s, _: loss(s)}, lgb.Dataset(X, y), 5)
    np.testing.assert_allclose(ours.predict(X), native.predict(X), rtol=1e-3, atol=1e-4)


FEW = {"n_estimators": 15, "num_leaves": 7, "min_child_samples": 5, "n_jobs": 1}


@pytest.fixture(scope="module")
def judged():
    X, y, groups, _ = make_rank_and_filter(n_queries=250, random_state=0)
    return X, y.astype(float), groups


def test_learns_negative_gains_where_lightgbm_does_not(separable):
    X, y, groups = separable
    gains = {-1: -10, 1: 1, 2: 2}
    ranked = LambdaRankRanker(gains=gains, **FEW).fit(X, y, groups).predict(X)
    best = ndcg_f_score(y, y, groups=groups, gains=gains)
    assert ndcg_f_score(y, ranked, groups=groups, gains=gains) == pytest.approx(best)
    # Grades 0, 1 and 2 with these gains: the best DCG of each query is negative. LightGBM raises
    # nothing and learns nothing.
    native = lgb.LGBMRanker(**FEW, label_gain=[-10, 1, 2], verbose=-1)
    native.fit(X, np.searchsorted([-1, 1, 2], y), group=np.full(30, 6))
    assert np.ptp(native.predict(X)) == 0


def test_gamma_makes_zero_a_threshold(separable):
    X, y, groups = separable
    scores = LambdaRankRanker(gamma=1.0, **FEW).fit(X, y, groups).predict(X)
    np.testing.assert_array_equal(scores >= 0, y > 0)
    shown = np.where(scores >= 0, scores, -np.inf)
    assert ndcg_f_score(y, shown, groups=groups) == pytest.approx(1.0)
    # Pairs alone leave the scores around 0 whatever the share of good documents.
    scores = LambdaRankRanker(**FEW).fit(X, y, groups).predict(X)
    assert ((scores >= 0) != (y > 0)).any()


def test_gamma_learns_from_single_documents(separable):
    X, y, _ = separable
    with pytest.warns(UserWarning, match="each row is its own query"):
        ranker = LambdaRankRanker(gamma=1.0, **FEW).fit(X, y)
    np.testing.assert_array_equal(ranker.predict(X) >= 0, y > 0)


def test_missing_features_are_learned_from(separable):
    X, y, groups = separable
    X = np.where(X < 0, np.nan, X)
    scores = LambdaRankRanker(**FEW).fit(X, y, groups).predict(X)
    assert ndcg_score(y, scores, groups=groups) == pytest.approx(1.0)


def test_nothing_to_split_on_gives_constant_scores(separable):
    _, y, groups = separable
    X = np.ones((len(y), 2))
    ranker = LambdaRankRanker(**FEW).fit(X, y, groups)
    assert np.ptp(ranker.predict(X)) == 0
    assert ranker.feature_importances_.tolist() == [0, 0]
    copy = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copy.predict(X), ranker.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_early_stopping_keeps_the_best_number_of_trees(halves, gamma):
    (X, y, groups), (X_val, y_val, groups_val) = halves
    settings = {**FEW, "n_estimators": 200, "learning_rate": 0.3, "gamma": gamma, "k": 3}
    ranker = LambdaRankRanker(early_stopping_rounds=5, **settings)
    ranker.fit(X, y, groups, eval_set=(X_val, y_val), eval_groups=groups_val)
    curve = ranker.evals_result_["valid_0"]["ndcg_f@3"]
    assert len(curve) < 200
    assert ranker.best_iteration_ == 1 + int(np.argmax(curve))
    assert len(curve) == ranker.best_iteration_ + 5
    scores = ranker.predict(X_val)
    if gamma > 0:
        scores = np.where(scores >= 0, scores, -np.inf)
    assert ndcg_f_score(y_val, scores, groups=groups_val, k=3) == pytest.approx(max(curve))
    # The trees are those of a ranker that grows exactly so many.
    same = LambdaRankRanker(**{**settings, "n_estimators": ranker.best_iteration_})
    same.fit(X, y, groups)
    np.testing.assert_allclose(same.predict(X_val), ranker.predict(X_val))
    copy = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(copy.predict(X_val), ranker.predict(X_val))


@pytest.mark.parametrize(("k", "name"), [(30, "ndcg_f@30"), (1, "ndcg_f@1"), (None, "ndcg_f")])
def test_a_score_of_zero_is_kept_in_held_out_lists(k, name):
    # Nothing to split on: all scores are 0, even odds, and both documents are shown.
    X, y, groups = np.ones((2, 1)), [2, -1], ["q", "q"]
    ranker = LambdaRankRanker(gamma=1.0, k=k, n_estimators=1, n_jobs=1)
    ranker.fit(X, y, groups, eval_set=(X, y), eval_groups=groups)
    assert ranker.predict(X).tolist() == [0, 0]
    # Either order is as likely: DCG_f of (2 - 1) / 2 at each place, from the worst, -1, to 2.
    shown = 0.5 if k == 1 else 0.5 * (1 + 1 / log2(3))
    expected = (shown - -1) / (2 - -1)
    assert ranker.evals_result_["valid_0"] == {name: [pytest.approx(expected)]}


@pytest.mark.filterwarnings("ignore:LambdaRankRanker was given no query ids:UserWarning")
def test_silent(separable, capfd):
    X, y, groups = separable
    LambdaRankRanker(**FEW).fit(X, y, groups)
    LambdaRankRanker(**FEW).fit(np.ones_like(X), y, groups)
    LambdaRankRanker(**FEW, early_stopping_rounds=2).fit(
        X, y, groups, eval_set=(X, y), eval_groups=groups
    )
    found = capfd.readouterr()
    # LightGBM 4.3 says so whatever it is told.
    said = found.out.replace("[LightGBM] [Info] Using self-defined objective function\n", "")
    assert (said, found.err) == ("", "")
    LambdaRankRanker(**FEW, verbose=5).fit(X, y, groups)
    assert "Trained a tree" in capfd.readouterr().out


def test_parameters_of_lightgbm_are_parameters(separable):
    ranker = clone(LambdaRankRanker(n_estimators=2, max_leaves=2, reg_lambda=1.0))
    assert {"max_leaves": 2, "reg_lambda": 1.0}.items() <= ranker.get_params().items()
    assert "max_leaves=2" in repr(ranker)
    assert ranker.fit(*separable).booster_.trees_to_dataframe()["node_depth"].max() == 2
    assert (
        ranker.set_params(max_leaves=3).get_params().keys()
        == ranker.fit(*separable).get_params().keys()
    )
    assert ranker.booster_.trees_to_dataframe()["node_depth"].max() == 3


def test_no_queries_is_an_error_without_gamma(separable):
    X, y, _ = separable
    with pytest.raises(ValueError, match=r"no pair .*Pass groups=, the query id.*gamma > 0"):
        LambdaRankRanker().fit(X, y)


@pytest.mark.parametrize("case", ["one gain", "one document"])
def test_no_pair_is_an_error_without_gamma(separable, case):
    X, y, groups = separable
    y = np.ones_like(y) if case == "one gain" else y
    groups = np.arange(len(y)) if case == "one document" else groups
    with pytest.raises(ValueError, match=r"no pair to learn from.*gamma > 0"):
        LambdaRankRanker().fit(X, y, groups)
    LambdaRankRanker(gamma=1.0, n_estimators=2, n_jobs=1).fit(X, y, groups)


@pytest.mark.slow
def test_seeds_and_further_parameters_reach_lightgbm(judged):
    X, y, groups = judged
    drawn = {**FEW, "subsample": 0.5, "subsample_freq": 1}

    def scores(**settings):
        return LambdaRankRanker(**drawn, **settings).fit(X, y, groups).predict(X)

    np.testing.assert_array_equal(scores(random_state=3), scores(random_state=3))
    assert (scores(random_state=3) != scores(random_state=4)).any()
    generator = np.random.RandomState
    np.testing.assert_array_equal(
        scores(random_state=generator(3)), scores(random_state=generator(3))
    )
    assert len(np.unique(scores(max_bin=2, linear_tree=False))) < len(np.unique(scores()))


def test_threads_and_speech_of_lightgbm(separable):
    def params(**settings):
        ranker = LambdaRankRanker(**(FEW | {"n_estimators": 1} | settings)).fit(*separable)
        return ranker.booster_.params

    # Of LightGBM's numbers of threads 0 leaves it to choose.
    assert [params(n_jobs=n)["num_threads"] for n in (None, 1, 2)] == [0, 1, 2]
    assert params(n_jobs=-1)["num_threads"] == joblib.cpu_count()
    assert params()["verbosity"] == -1
    assert params(random_state=7)["seed"] == 7
    assert "seed" not in params()
