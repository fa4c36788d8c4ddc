"""Methods that learn documents one by one: logistic regression and forests."""

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from skfilterrank._lists.sklearn_compat import tags_tell_sparse
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter, make_logistic, make_random_forest, make_ranker

# Small ones, so that the tests take seconds.
SMALL = {
    "adarank": {},
    "listnet": {"n_estimators": 5, "min_child_samples": 5},
    "rankboost": {"n_estimators": 30},
    "random_forest": {"n_estimators": 8},
    "ranknet": {"n_estimators": 5},
    "coordinate_ascent": {},
    "logistic": {},
    "lambdamart": {"n_estimators": 5, "min_child_samples": 5},
}


def make(name, **params):
    return make_ranker(name, **SMALL[name] | params)


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=150, n_features=5, bayes=False, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    """Each method fitted once."""

    @functools.cache
    def of_name(name):
        return make(name).fit(data.X, data.y, groups=data.groups)

    return of_name


def test_logistic_is_scikit_learns(data):
    ranker = make_logistic(C=0.3).fit(data.X, data.y)
    X = StandardScaler().fit_transform(data.X)
    expected = LogisticRegression(C=0.3, max_iter=1000).fit(X, data.y > 0)
    np.testing.assert_allclose(ranker.predict(data.X), expected.predict_proba(X)[:, 1])
    np.testing.assert_allclose(ranker.coef_, expected.coef_[0])
    assert roc_auc_score(data.y > 0, ranker.predict(data.X)) > 0.7


@pytest.mark.slow
def test_logistic_on_sparse_features(data):
    # Zeros among features that are far from a mean of 0.
    X = np.where(np.abs(data.X) < 0.5, 0.0, data.X + 3.0)
    dense = make_logistic(tol=1e-8).fit(X, data.y)
    for as_sparse in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        ranker = make_logistic(tol=1e-8).fit(as_sparse(X), data.y)
        # The penalty leaves the intercept alone, so that a shift of the features changes nothing.
        np.testing.assert_allclose(ranker.coef_, dense.coef_, atol=1e-5)
        for model in (ranker, dense):
            for rows in (X, sparse.csr_array(X)):
                np.testing.assert_allclose(model.predict(rows), dense.predict(X), atol=1e-5)
        assert ranker.n_features_in_ == 5
    zeros = ranker.estimator_["scale"].transform(sparse.csr_array(X))
    assert zeros.nnz == np.count_nonzero(X)
    assert get_tags(ranker).input_tags.sparse == tags_tell_sparse()
    model = RankAndFilter(make_logistic(), measure="ndcg_f@3", cv=3)
    assert model.fit(sparse.csr_array(X), data.y, groups=data.groups).best_score_ > 0.6
    X = sparse.csr_array(np.where(np.isclose(X, X.max()), np.nan, X))
    with pytest.raises(ValueError, match=r"NaN in column .*LogisticRegression"):
        make_logistic().fit(X, data.y)


def test_scaled_features_have_names(data):
    X = pd.DataFrame(data.X, columns=list("abcde"))
    ranker = make_logistic().fit(X, data.y)
    assert list(ranker.feature_names_in_) == list("abcde")
    assert list(ranker.estimator_["scale"].get_feature_names_out()) == list("abcde")


@pytest.mark.slow
def test_probabilities_and_gains_are_carried_over_as_they_are(data):
    for name, raw in (("logistic", True), ("random_forest", True), ("lambdamart", False)):
        fitted = {
            rescale: RankAndFilter(make(name), measure="ndcg_f@3", cv=2, rescale=rescale)
            .fit(data.X, data.y, groups=data.groups)
            .threshold_
            for rescale in ("auto", False, True)
        }
        assert fitted["auto"] == fitted[not raw]
        assert fitted[False] != fitted[True]


def test_gains_of_the_forest(data):
    doubled = make_random_forest(n_estimators=5, gains={-1: -2, 1: 2, 2: 4}).fit(data.X, data.y)
    plain = make_random_forest(n_estimators=5).fit(data.X, data.y)
    np.testing.assert_allclose(doubled.predict(data.X), 2 * plain.predict(data.X))


def test_a_tree_of_the_forest_by_hand():
    # Ten documents, the last two of gain 2. Leaves hold five at least: the best cut that is left is
    # in the middle.
    X, y = np.arange(10.0)[:, None], np.repeat([0, 2], [8, 2])
    one_tree = {"n_estimators": 1, "bootstrap": False}
    ranker = make_random_forest(**one_tree).fit(X, y)
    np.testing.assert_allclose(ranker.predict(X), np.repeat([0.0, 0.8], 5))
    ranker = make_random_forest(**one_tree, min_samples_leaf=1).fit(X, y)
    np.testing.assert_allclose(ranker.predict(X), y)
    forest = make_random_forest().estimator
    assert (forest.n_estimators, forest.max_features) == (200, 1 / 3)
