import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.io import load_model, save_model
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import (
    LambdaRankRanker,
    OrdinalRanker,
    RankAndFilter,
    RankerMixin,
    get_ranker_names,
    make_ranker,
)
from skfilterrank.ranking._methods.shared_features import SharedFeatures

LOSSES = get_ranker_names("loss")
LEARNERS = ("linear", "trees", "blend")


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=100, bayes=False, random_state=0)[:3]


def with_few_trees(ranker):
    """The same estimator, quick to fit."""
    few = {name: 3 for name in ranker.get_params() if name.endswith("n_estimators")}
    return ranker.set_params(**few)


@pytest.fixture(scope="session")
def model_files():
    """What writes and reads models, with all that it imports."""
    import skops.io

    return skops.io


# LambdaRank has one learner, whatever is asked for.
BY_DAY = {
    ("bce", "linear"),
    ("mse", "trees"),
    ("ordinal", "trees"),
    ("weighted-ordinal", "blend"),
    ("lambdarank", "linear"),
    ("lambdarank+bce", "linear"),
}


@pytest.mark.parametrize(
    ("loss", "learner"),
    [
        pytest.param(*pair, marks=[] if pair in BY_DAY else [pytest.mark.nightly])
        for pair in itertools.product(LOSSES, LEARNERS)
    ],
)
def test_every_recipe_ranks_and_filters(loss, learner, data, tmp_path, model_files):
    X, y, groups = data
    ranker = with_few_trees(make_ranker(loss, learner=learner))
    model = RankAndFilter(ranker, k=3, cv=2).fit(X, y, groups=groups)
    scores = model.predict(X, groups=groups)
    shuffled = np.random.RandomState(0).permutation(scores)
    assert ndcg_f_score(y, scores, groups=groups, k=3) > 0.03 + ndcg_f_score(
        y, shuffled, groups=groups, k=3
    )
    save_model(model, tmp_path / "model.skops")  # a warning here would be an error
    loaded = load_model(tmp_path / "model.skops")
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


@pytest.mark.parametrize("learner", LEARNERS)
def test_missing_values_and_empty_columns(learner, data):
    X, y, groups = data
    X = X.copy()
    X[::3, 0] = np.nan
    X[:, 1] = np.nan
    for loss in ("bce", "mse"):
        model = with_few_trees(make_ranker(loss, learner=learner))
        fitted = RankAndFilter(model, k=3, cv=2).fit(X, y, groups=groups)
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


def test_texts_go_through_the_features():
    texts = pd.Series(["a good answer", "rude words", "good tea", "rude shop"] * 5)
    y = np.array([1, -1, 1, -1] * 5)
    groups = np.repeat(np.arange(10), 2)
    ranker = make_ranker("mse", features=TfidfVectorizer())
    model = RankAndFilter(ranker, k=3, cv=2).fit(texts, y, groups=groups)
    kept = np.isfinite(model.predict(pd.Series(["good shop", "rude tea"])))
    assert kept.tolist() == [True, False]


def test_recipes_are_clonable():
    for loss in LOSSES:
        ranker = make_ranker(loss, learner="blend")
        assert str(clone(ranker).get_params()) == str(ranker.get_params())


@pytest.mark.parametrize("name", get_ranker_names())
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
    assert make_ranker("bce", C=0.5).estimator["model"].C == 0.5
    assert make_ranker("ordinal", learner="trees", num_leaves=3).estimator["model"].num_leaves == 3
    assert make_ranker("lambdarank", gamma=2.0).gamma == 2.0
    assert make_ranker("coordinate_ascent", measure="ap").measure == "ap"


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("hinge", {}, "name must be one of 'bce'"),
        ("bce", {"learner": "forest"}, "learner must be one of 'linear'"),
        ("lambdamart", {"learner": "trees"}, "learner='trees' is for losses"),
        ("bce", {"learner": "blend", "C": 1.0}, "learner='blend' takes no further parameters"),
    ],
)
def test_what_does_not_go_together(name, settings, message):
    with pytest.raises(InputError, match=message):
        make_ranker(name, **settings)
