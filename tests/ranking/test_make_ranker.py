"""Methods that learn documents one by one: logistic regression and forests."""

import itertools
import pickle
import re
from contextlib import nullcontext

import lightgbm
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import (
    LOSSES,
    METHODS,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    RankerMixin,
    make_ranker,
)
from skfilterrank.ranking._make_ranker import SharedFeatures
from thinned import thinned

LEARNERS = ("linear", "trees", "blend")


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=100, bayes=False, random_state=0)[:3]


def with_few_trees(ranker):
    """The same estimator, quick to fit."""
    few = {name: 3 for name in ranker.get_params() if name.endswith("n_estimators")}
    return ranker.set_params(**few)


# LambdaRank has one learner, whatever is asked for.
BY_DAY = {
    ("bce", "linear"),
    ("mse", "trees"),
    ("ordinal", "trees"),
    ("weighted-ordinal", "blend"),
    ("lambdarank", "linear"),
    ("lambdarank+bce", "linear"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "learner"),
    [
        pytest.param(*pair, marks=[] if pair in BY_DAY else [pytest.mark.nightly])
        for pair in itertools.product(LOSSES, LEARNERS)
    ],
)
def test_every_recipe_ranks_and_filters(loss, learner, data):
    X, y, groups = data
    ranker = with_few_trees(make_ranker(loss, learner=learner))
    model = RankAndFilter(ranker, measure="ndcg_f@3", cv=2).fit(X, y, groups=groups)
    scores = model.predict(X, groups=groups)
    shuffled = np.random.RandomState(0).permutation(scores)
    assert ndcg_f_score(y, scores, groups=groups, k=3) > 0.03 + ndcg_f_score(
        y, shuffled, groups=groups, k=3
    )
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X, groups=groups), scores)


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_each_loss_is(learner):
    assert is_classifier(make_ranker("bce", learner=learner).estimator)
    assert is_regressor(make_ranker("mse", learner=learner).estimator)
    for loss, weights in (("ordinal", None), ("weighted-ordinal", "gain")):
        ranker = make_ranker(loss, learner=learner)
        assert isinstance(ranker, OrdinalRanker)
        assert ranker.weights == weights
    for loss in ("lambdarank", "lambdarank+bce"):
        final = make_ranker(loss, learner=learner)
        assert isinstance(final, LambdaRankRanker)
        assert (final.gamma > 0) == (loss == "lambdarank+bce")


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_missing_values_and_empty_columns(learner, data):
    X, y, groups = data
    X = X.copy()
    X[::3, 0] = np.nan
    X[:, 1] = np.nan
    for loss in ("bce", "mse"):
        model = with_few_trees(make_ranker(loss, learner=learner))
        fitted = RankAndFilter(model, measure="ndcg_f@3", cv=2).fit(X, y, groups=groups)
        assert np.isfinite(fitted.decision_function(X, groups=groups)).all()


def test_the_seed_repeats_the_trees(data):
    X, y, _ = data
    good = y > 0

    def fit(seed):
        ranker = with_few_trees(make_ranker("bce", learner="trees", random_state=seed))
        return ranker.fit(X, good).predict(X)

    np.testing.assert_array_equal(fit(1), fit(1))
    assert (fit(1) != fit(2)).any()


def test_features_for_all_and_for_each_kind():
    words, letters = TfidfVectorizer(), TfidfVectorizer(analyzer="char")
    one = make_ranker("bce", learner="blend", features=words)
    members = one.estimator.estimators
    assert {str(member.steps[0][1].transformer) for _, member in members} == {str(words)}
    each = make_ranker("bce", learner="blend", features={"linear": words, "trees": letters})
    found = {name: member.steps[0][1] for name, member in each.estimator.estimators}
    assert found["linear"].transformer is words
    assert found["trees"].transformer is letters
    assert all(isinstance(features, SharedFeatures) for features in found.values())


@pytest.mark.parametrize("features", ["words", StandardScaler, {"linear": ["words"]}])
def test_features_that_are_no_transformer(features):
    with pytest.raises(InputError, match="features must be a transformer, a dict of transformers"):
        make_ranker("bce", learner="linear", features=features)


def test_texts_go_through_the_features():
    texts = pd.Series(["a good answer", "rude words", "good tea", "rude shop"] * 5)
    y = np.array([1, -1, 1, -1] * 5)
    groups = np.repeat(np.arange(10), 2)
    ranker = make_ranker("mse", features=TfidfVectorizer())
    model = RankAndFilter(ranker, measure="ndcg_f@3", cv=2).fit(texts, y, groups=groups)
    kept = np.isfinite(model.predict(pd.Series(["good shop", "rude tea"])))
    assert kept.tolist() == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned([*LOSSES, *METHODS], parts=2))
def test_every_name_makes_a_ranker_that_features_may_stand_before(name, data):
    X, y, groups = data
    ranker = with_few_trees(make_ranker(name))
    assert isinstance(ranker, RankerMixin)
    assert np.isfinite(ranker.fit(X, y, groups=groups).predict(X, groups=groups)).all()
    scaled = make_ranker(name, features=StandardScaler(), gains="exp2")
    assert isinstance(scaled, RankerMixin)
    assert scaled.gains == "exp2"
    scaled = with_few_trees(scaled.set_params(gains=None))
    assert scaled.fit(X, y, groups=groups).score(X, y, groups=groups) > 0.5


def test_params_go_to_the_learner():
    assert make_ranker("bce", "linear", C=0.5).estimator["model"].C == 0.5
    assert make_ranker("ordinal", learner="trees", num_leaves=3).estimator["model"].num_leaves == 3
    assert make_ranker("lambdarank", gamma=2.0).gamma == 2.0
    assert make_ranker("coordinate_ascent", measure="ap").measure == "ap"


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("hinge", {}, "name must be one of 'bce'"),
        ("bce", {"learner": "forest"}, "learner must be one of 'linear'"),
        ("bce", {"learner": LogisticRegression()}, "learner must be one of"),
        ("lambdamart", {"learner": "trees"}, "learner='trees' is for losses"),
        ("bce", {"learner": "blend", "C": 1.0}, "learner='blend' takes no further parameters"),
    ],
)
def test_what_does_not_go_together(name, settings, message):
    with pytest.raises(InputError, match=message):
        make_ranker(name, **settings)


def test_lambdarank_with_cross_entropy_by_hand():
    # Ten times the same query of two good documents, of gains 1 and 2; all scores are 0 before the
    # only tree, so that each sigmoid is 1/2. The pair counts by
    # w = (2 - 1) * (1 - 1 / log2(3)) / (2 + 1 / log2(3)), and as LightGBM's norm is on, S = w and
    # the pull is w / 2 * log2(1 + S) / S, its second derivative half of it.
    second = 1 / np.log2(3)
    w = (1 - second) / (2 + second)
    pull = np.log2(1 + w) / 2
    # Cross-entropy with gamma = 3, over two documents: both are pulled up by 3 / 2 * 1/2, with the
    # second derivative 3 / 2 * 1/4. A leaf is the sum of the pulls over that of the derivatives.
    lower, upper = ((0.75 + sign * pull) / (0.375 + pull / 2) for sign in (-1, 1))
    one_tree = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "min_child_samples": 1,
        "reg_lambda": 0.0,
        "colsample_bytree": 1.0,
        "subsample_freq": 0,
    }
    X, y, groups = np.tile([[1.0], [2.0]], (10, 1)), np.tile([1, 2], 10), np.repeat(range(10), 2)
    ranker = make_ranker("lambdarank+bce", **one_tree).fit(X, y, groups=groups)
    np.testing.assert_allclose(ranker.predict(X[:2]), [lower, upper], rtol=1e-5)
    assert (round(lower, 4), round(upper, 4)) == (1.5516, 2.0)
    # Without cross-entropy, the pair alone: the pulls are twice their second derivatives.
    ranker = make_ranker("lambdarank", **one_tree).fit(X, y, groups=groups)
    np.testing.assert_allclose(ranker.predict(X[:2]), [-2.0, 2.0], rtol=1e-5)


def test_squared_error_by_hand():
    # Standardised features of -1 and 1 and gains of -1 and 1, ten of them: the weight is
    # 10 / (10 + alpha) with alpha = 10.
    X, y = np.tile([[3.0], [5.0]], (5, 1)), np.tile([-1, 1], 5)
    ranker = make_ranker("mse", "linear").fit(X, y)
    np.testing.assert_allclose(ranker.predict([[3.0], [5.0], [4.0]]), [-0.5, 0.5, 0.0], atol=1e-12)


def test_cross_entropy_by_hand():
    # The same with C = 1: of 10 rows of x * y = 1 the weight w solves w = 10 / (1 + exp(w)).
    X, y = np.tile([[3.0], [5.0]], (5, 1)), np.tile([-1, 1], 5)
    (bad, good) = make_ranker("bce", "linear", tol=1e-10).fit(X, y).predict([[3.0], [5.0]])
    w = np.log(good / (1 - good))
    assert w == pytest.approx(10 / (1 + np.exp(w)), abs=1e-6)
    assert bad == pytest.approx(1 - good)


def test_trees_of_losses_are_small_and_learn_slowly():
    settings = {
        "n_estimators": 200,
        "learning_rate": 0.03,
        "num_leaves": 15,
        "colsample_bytree": 0.3,
        "subsample": 0.7,
        "subsample_freq": 1,
        "reg_lambda": 5.0,
        "random_state": 0,
        "n_jobs": 1,
    }
    of_losses = {loss: make_ranker(loss, learner="trees", random_state=0) for loss in LOSSES}
    for loss, ranker in of_losses.items():
        final = ranker if isinstance(ranker, LambdaRankRanker) else ranker.estimator["model"]
        assert final.get_params().items() >= settings.items(), loss
    assert of_losses["bce"].estimator["model"].deterministic
    assert make_ranker("bce", "linear").estimator["model"].max_iter == 1000
    assert [make_ranker(loss).gamma for loss in ("lambdarank", "lambdarank+bce")] == [0.0, 3.0]


@pytest.mark.slow
def test_by_default_a_loss_is_the_mean_of_linear_models_and_trees(data):
    X, y, groups = data
    for loss in ("bce", "mse"):
        blend, linear, trees = (
            with_few_trees(make_ranker(loss, learner=learner)).fit(X, y, groups=groups).predict(X)
            for learner in (None, "linear", "trees")
        )
        np.testing.assert_allclose(blend, (linear + trees) / 2)


def test_logistic_is_scikit_learns(rows):
    ranker = make_ranker("logistic", C=0.3).fit(rows.X, rows.y)
    X = StandardScaler().fit_transform(rows.X)
    expected = LogisticRegression(C=0.3, max_iter=1000).fit(X, rows.y > 0)
    np.testing.assert_allclose(ranker.predict(rows.X), expected.predict_proba(X)[:, 1])
    np.testing.assert_allclose(ranker.coef_, expected.coef_[0])
    assert roc_auc_score(rows.y > 0, ranker.predict(rows.X)) > 0.7


@pytest.mark.slow
def test_logistic_on_sparse_features(rows):
    # Zeros among features that are far from a mean of 0.
    X = np.where(np.abs(rows.X) < 0.5, 0.0, rows.X + 3.0)
    dense = make_ranker("logistic", tol=1e-8).fit(X, rows.y)
    for as_sparse in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        ranker = make_ranker("logistic", tol=1e-8).fit(as_sparse(X), rows.y)
        # The penalty leaves the intercept alone, so that a shift of the features changes nothing.
        np.testing.assert_allclose(ranker.coef_, dense.coef_, atol=1e-5)
        for model in (ranker, dense):
            for features in (X, sparse.csr_array(X)):
                np.testing.assert_allclose(model.predict(features), dense.predict(X), atol=1e-5)
        assert ranker.n_features_in_ == 5
    zeros = ranker.estimator_["scale"].transform(sparse.csr_array(X))
    assert zeros.nnz == np.count_nonzero(X)
    assert get_tags(ranker).input_tags.sparse == get_tags(LogisticRegression()).input_tags.sparse
    model = RankAndFilter(make_ranker("logistic"), measure="ndcg_f@3", cv=3)
    assert model.fit(sparse.csr_array(X), rows.y, groups=rows.groups).best_score_ > 0.6
    X = sparse.csr_array(np.where(np.isclose(X, X.max()), np.nan, X))
    with pytest.raises(ValueError, match=r"NaN in column .*LogisticRegression"):
        make_ranker("logistic").fit(X, rows.y)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["mse", "ordinal"])
def test_losses_on_sparse_features(rows, loss):
    X = np.where(np.abs(rows.X) < 0.5, 0.0, rows.X)
    X[::7, 0] = np.nan
    tight = {} if loss == "mse" else {"tol": 1e-8}
    # The penalty leaves the intercept alone, so that a shift of the features changes nothing.
    expected = make_ranker(loss, "linear", **tight).fit(X, rows.y).predict(X)
    found = make_ranker(loss, "linear", **tight).fit(sparse.csr_array(X), rows.y)
    np.testing.assert_allclose(found.predict(sparse.csr_array(X)), expected, atol=1e-4)
    blend = with_few_trees(make_ranker(loss)).fit(sparse.csr_array(X), rows.y)
    assert np.isfinite(blend.predict(sparse.csr_array(X))).all()
    assert get_tags(blend).input_tags.sparse


def test_scaled_features_have_names(rows):
    X = pd.DataFrame(rows.X, columns=list("abcde"))
    ranker = make_ranker("logistic").fit(X, rows.y)
    assert list(ranker.feature_names_in_) == list("abcde")
    assert list(ranker.estimator_["scale"].get_feature_names_out()) == list("abcde")


def test_gains_of_the_forest(rows):
    small = {"n_estimators": 5, "random_state": 0}
    gains = {-1: -2, 1: 2, 2: 4}
    doubled = make_ranker("random_forest", gains=gains, **small).fit(rows.X, rows.y)
    plain = make_ranker("random_forest", **small).fit(rows.X, rows.y)
    np.testing.assert_allclose(doubled.predict(rows.X), 2 * plain.predict(rows.X))


def test_a_tree_of_the_forest_by_hand():
    # Ten documents, the last two of gain 2. Leaves hold five at least: the best cut that is left is
    # in the middle.
    X, y = np.arange(10.0)[:, None], np.repeat([0, 2], [8, 2])
    one_tree = {"n_estimators": 1, "bootstrap": False}
    ranker = make_ranker("random_forest", **one_tree).fit(X, y)
    np.testing.assert_allclose(ranker.predict(X), np.repeat([0.0, 0.8], 5))
    ranker = make_ranker("random_forest", **one_tree, min_samples_leaf=1).fit(X, y)
    np.testing.assert_allclose(ranker.predict(X), y)
    forest = make_ranker("random_forest").estimator
    assert (forest.n_estimators, forest.max_features) == (200, 1 / 3)


@pytest.mark.parametrize(
    ("params", "hint"),
    [({"backend": "catboost"}, "here"), ({"num_leavse": 4}, "Did you mean num_leaves or")],
)
def test_parameters_that_lightgbm_does_not_know_are_refused(params, hint):
    name = next(iter(params))
    for arguments in (("listnet",), ("lambdamart",), ("bce", "trees")):
        with pytest.raises(InputError, match=rf"'{name}' is no parameter of .*, nor .*{hint}"):
            make_ranker(*arguments, **params)
    with pytest.raises(InputError, match="'loss' is another name of objective="):
        make_ranker("lambdamart", loss="rank_xendcg")
    known = {"lambdarank_truncation_level": 5, "monotone_constraints": [0], "max_bins": 9}
    known |= {"class_weight": None, "min_child_samples": 2, "metric": "ndcg"}
    assert known.items() <= make_ranker("listnet", **known).estimator.get_params().items()


@pytest.mark.parametrize(
    ("arguments", "owner", "has"),
    [
        (("logistic",), "LogisticRegression", "C, class_weight"),
        (("bce", "linear"), "LogisticRegression", "tol"),
        (("mse", "linear"), "Ridge", "alpha"),
        (("random_forest",), "RandomForestRegressor", "max_features"),
        (("adarank",), "AdaRankRanker", "both_directions"),
        (("ranknet",), "XGBRanker", "lambdarank_normalization"),
    ],
)
def test_parameters_that_an_estimator_does_not_have_are_refused(arguments, owner, has):
    with pytest.raises(InputError, match=rf"'num_leaves' is no .*{owner} has .*{has}"):
        make_ranker(*arguments, num_leaves=3)


def test_xgboost_gets_parameters_that_its_ranker_does_not_list():
    ranker = make_ranker("ranknet", lambdarank_normalization=False, eta=0.2).estimator
    found = {"lambdarank_normalization": False, "learning_rate": 0.2}
    assert ranker.get_params().items() >= found.items()
    with pytest.raises(InputError, match="objective= of this method is 'rank:pairwise'"):
        make_ranker("ranknet", objective="rank:ndcg")
    assert make_ranker("ranknet", disable_default_eval_metric=True).estimator.kwargs
    of_boosters = {"rate_drop": 0.1, "feature_selector": "shuffle"}
    assert (
        make_ranker("ranknet", **of_boosters).estimator.get_params().items() >= of_boosters.items()
    )


# Names of one parameter: that of scikit-learn's classes, and another one of the library.
XGBOOST = {
    "n_jobs": "nthread",
    "random_state": "seed",
    "learning_rate": "eta",
    "reg_lambda": "lambda",
    "reg_alpha": "alpha",
    "gamma": "min_split_loss",
    "updater": "updater_seq",
}
LIGHTGBM = {
    "n_estimators": "num_iterations",
    "learning_rate": "eta",
    "num_leaves": "max_leaves",
    "subsample": "sub_row",
    "random_state": "seed",
    "reg_lambda": "lambda_l2",
}


@pytest.mark.parametrize(("own", "name"), XGBOOST.items())
def test_an_estimator_of_xgboost_has_one_name_of_a_parameter(own, name):
    ranker = make_ranker("ranknet", **{name: 2, own: None} if own != "updater" else {name: 2})
    found = ranker.estimator.get_params()
    assert found[own] == 2
    assert name not in found
    with pytest.raises(InputError, match=rf"'{name}' is XGBoost's name of {own}=: leave"):
        make_ranker("ranknet", **{own: 1, name: 1})


@pytest.mark.parametrize(
    ("method", "own", "name"),
    [
        *(("ranknet", *names) for names in XGBOOST.items() if "updater" not in names),
        *(("lambdamart", *names) for names in LIGHTGBM.items()),
    ],
)
def test_no_second_name_is_ignored(method, own, name, rows):
    many, few = (2, 1) if own not in ("subsample", "learning_rate") else (0.9, 0.8)
    ranker = make_ranker(method, **{"n_estimators": 2, own: many})
    ranker.set_params(**{f"estimator__{name}": few})
    with pytest.raises(InputError, match=rf"has .*\b{name}\b.*: set {own} alone, and {name} to"):
        ranker.fit(rows.X, rows.y, groups=rows.groups)
    ranker.set_params(**{f"estimator__{name}": many}).fit(rows.X, rows.y, groups=rows.groups)


def test_a_default_that_another_name_replaces(rows):
    def sums(**params):
        ranker = QueryRanker(lightgbm.LGBMRanker(verbose=-1, n_jobs=1, **params))
        return ranker.fit(rows.X, rows.y, groups=rows.groups).predict(rows.X).sum()

    # LightGBM prefers its main names to the defaults of subsample and subsample_freq.
    assert sums(bagging_fraction=0.5, bagging_freq=1) == sums(subsample=0.5, subsample_freq=1)
    # Every other name of n_estimators wins over it.
    assert sums(num_boost_round=2) == sums(n_estimators=2)
    # It prefers learning_rate, whose default would win without a word.
    with pytest.raises(InputError, match="learning_rate and eta"):
        sums(eta=0.5)


class OfUser(lightgbm.LGBMRanker):
    """A ranker of a user, which needs an argument."""

    def __init__(self, source, **params):
        super().__init__(**params)
        self.source = source


def test_a_booster_that_cannot_be_made_without_arguments(rows):
    ranker = QueryRanker(OfUser("clicks", n_estimators=2, verbose=-1, eta=0.5))
    with pytest.raises(InputError, match="OfUser has learning_rate and eta"):
        ranker.fit(rows.X, rows.y, groups=rows.groups)
    ranker.set_params(estimator__eta=None).fit(rows.X, rows.y, groups=rows.groups)


class WithoutSeed(lightgbm.LGBMRanker):
    """A ranker of a user with a single parameter."""

    def __init__(self, n_estimators=2):
        super().__init__(n_estimators=n_estimators)

    def get_params(self, deep=True):
        return {"n_estimators": self.n_estimators}


def test_an_error_of_a_booster_without_usual_parameters(rows):
    with pytest.raises(TypeError, match="no_parameter"):
        QueryRanker(WithoutSeed()).fit(rows.X, rows.y, groups=rows.groups, no_parameter=1)


def test_of_several_faults_the_same_one_is_named():
    twice = {name: 1 for names in XGBOOST.items() for name in names if name != "n_jobs"}
    with pytest.raises(InputError, match="'alpha' is XGBoost's name of reg_alpha"):
        make_ranker("ranknet", **twice)


def test_nothing_is_trained_to_make_a_ranker(monkeypatch):
    def train(*args, **params):
        raise AssertionError

    monkeypatch.setattr("xgboost.train", train)
    assert make_ranker("ranknet", max_depth=2).estimator.max_depth == 2


def test_a_search_over_the_seed_after_another_name_of_it(rows):
    def total(ranker):
        return ranker.fit(rows.X, rows.y, groups=rows.groups).predict(rows.X).sum()

    params = {"n_estimators": 5, "subsample": 0.5}
    third, fourth = (total(make_ranker("ranknet", seed=seed, **params)) for seed in (3, 4))
    ranker = make_ranker("ranknet", seed=3, **params).set_params(estimator__random_state=4)
    assert total(ranker) == fourth != third


@pytest.mark.parametrize("names", [("seed", "nthread"), ("random_state", "n_jobs")])
def test_seeds_and_threads_that_xgboost_cannot_use(names, rows):
    seed, threads = names
    for params, message in (
        ({seed: "x"}, "random_state must be None, a whole number .* got 'x'"),
        ({seed: 2.5}, "random_state must be None, a whole number .* got 2.5"),
        ({threads: "x"}, "n_jobs must be None or a whole number .* got 'x'"),
    ):
        with pytest.raises(InputError, match=message):
            make_ranker("ranknet", n_estimators=1, **params).fit(rows.X, rows.y, groups=rows.groups)
    same = [
        make_ranker("ranknet", n_estimators=2, subsample=0.5, **{seed: np.random.RandomState(3)})
        .fit(rows.X, rows.y, groups=rows.groups)
        .predict(rows.X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*same)


@pytest.mark.parametrize("name", ["lambdamart", "ranknet"])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": "x"}, "n_estimators must be None or a whole number from 1 up, got 'x'"),
        ({"early_stopping_rounds": 3}, "stops early by held-out queries, and fit got none: pass"),
    ],
)
def test_numbers_of_rounds_that_boosting_cannot_use(name, params, message, rows):
    with pytest.raises(InputError, match=message):
        make_ranker(name, **params).fit(rows.X, rows.y, groups=rows.groups)


def test_a_seed_below_0_is_no_fault_of_xgboost(rows):
    xgboost = pytest.importorskip("xgboost")
    ranker = QueryRanker(xgboost.XGBRanker(random_state=-1, early_stopping_rounds=3))
    with pytest.raises(InputError, match="stops early by held-out queries"):
        ranker.fit(rows.X, rows.y, groups=rows.groups)


# Values other than the default of parameters that are no numbers; None where none works here.
OTHERS = {
    "auc_mu_weights": None,
    "boosting": "dart",
    "cegb_penalty_feature_coupled": [1, 2],
    "cegb_penalty_feature_lazy": [1, 2],
    "data_sample_strategy": "goss",
    "device_type": None,
    "early_stopping_round": None,
    "eval_at": [3],
    "feature_contri": [0.5, 1],
    "feature_fraction_seed": 9,
    "force_col_wise": None,
    "forcedbins_filename": None,
    "forcedsplits_filename": None,
    "gpu_device_id_list": None,
    "interaction_constraints": [[0], [1]],
    "label_gain": [0, 1, 5],
    "max_bin_by_feature": [9, 9],
    "metric": "map",
    "monotone_constraints": [1, 0],
    "monotone_constraints_method": "advanced",
    "num_class": None,
    "num_iterations": 2,
    "objective": "rank_xendcg",
    "skip_drop": 0.25,
    "tree_learner": None,
    "tweedie_variance_power": 1.25,
}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:Found '")
def test_every_name_of_lightgbm_reaches_the_trees_or_is_refused():
    X, y, groups = np.random.RandomState(0).rand(60, 2), np.arange(60) % 3, np.arange(60) // 20
    arguments = {*lightgbm.LGBMRanker().get_params(), "verbose", "deterministic", "force_row_wise"}

    def written(**params):
        ranker = make_ranker("lambdamart", **{"n_estimators": 1} | params).fit(X, y, groups=groups)
        text = ranker.estimator_.booster_.model_to_string()
        return dict(re.findall(r"\[(\w+): (.*)\]", text))

    default, refused, unused = written(), {}, []
    for known, names in lightgbm.basic._ConfigAliases._get_all_param_aliases().items():
        values = [default.get(known) == "0", 2, 0.5, "x"]
        for name in names if OTHERS.get(known, "x") else ():
            for value in [OTHERS[known]] if known in OTHERS else values:
                try:
                    found = written(**{name: value})[known]
                except InputError as error:
                    if re.search(
                        "cannot learn from this|must be None, a|must be None or", str(error)
                    ):
                        continue
                    own = arguments.intersection(names)
                    refused[name] = str(error), [f"set {each}=." for each in own]
                    break
                if found != default[known]:
                    break
            else:
                unused.append(name)
    assert unused == []
    assert {"task", "data", "group", "eta", "max_leaves"} <= refused.keys() - arguments
    # A method has its own loss.
    assert refused.keys() & arguments == {"objective"}
    del refused["objective"]
    assert all(hint in text for text, hints in refused.values() for hint in hints)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "learner"),
    [
        *((loss, "linear") for loss in LOSSES),
        *((method, None) for method in METHODS),
        ("mse", "blend"),
        ("ordinal", "blend"),
    ],
)
def test_tags_tell_who_takes_missing_values(rows, name, learner):
    X = rows.X.copy()
    X[::7, 0] = np.nan
    ranker = with_few_trees(make_ranker(name, learner))
    takes = get_tags(ranker).input_tags.allow_nan
    assert takes is (name not in {"adarank", "coordinate_ascent", "logistic"})
    with nullcontext() if takes else pytest.raises(ValueError, match="NaN in column"):
        ranker.fit(X, rows.y, groups=rows.groups)
