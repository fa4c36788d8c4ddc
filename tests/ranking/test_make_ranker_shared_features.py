import gc
import pickle
import weakref

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter
from skfilterrank.ranking._make_ranker import SharedFeatures, share_features

RNG = np.random.RandomState(0)
X_A, X_B = RNG.normal(size=(2, 8, 3))


class Counting(TransformerMixin, BaseEstimator):
    """Adds the mean it learned; counts what it is asked."""

    fits = 0
    transforms = 0

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y=None):
        type(self).fits += 1
        self.mean_ = np.mean(X) * self.factor
        return self

    def transform(self, X):
        type(self).transforms += 1
        return np.asarray(X) + self.mean_  # an ndarray, which takes weak references


class Noise(Counting):
    """Learns another number each time."""

    def fit(self, X, y=None):
        self.mean_ = np.random.uniform()
        return self


@pytest.fixture(autouse=True)
def _start_counting():
    Counting.fits = Counting.transforms = 0


def test_outside_the_context_it_is_the_transformer_and_no_more():
    shared = SharedFeatures(Counting())
    np.testing.assert_array_equal(shared.fit_transform(X_A), X_A + X_A.mean())
    np.testing.assert_array_equal(shared.transform(X_B), X_B + X_A.mean())
    shared.fit(X_A)
    assert Counting.fits == 2


def test_one_fit_serves_equal_transformers_on_equal_rows():
    with share_features():
        outputs = [SharedFeatures(Counting()).fit_transform(X_A.copy()) for _ in range(3)]
        assert Counting.fits == 1
    for output in outputs:
        np.testing.assert_array_equal(output, X_A + X_A.mean())


def test_other_rows_and_other_transformers_are_not_mixed_up():
    with share_features():
        for X in (X_A, X_B, X_A[::-1], X_A[:5], X_A):
            for factor in (1.0, 2.0):
                shared = SharedFeatures(Counting(factor)).fit(X)
                for other in (X_A, X_B, X_A[:5]):
                    expected = other + X.mean() * factor
                    np.testing.assert_array_equal(shared.transform(other), expected)


def test_texts_that_differ_in_one_word():
    texts = ["a good answer", "a bad answer"]
    with share_features():
        first = SharedFeatures(TfidfVectorizer()).fit(texts)
        second = SharedFeatures(TfidfVectorizer()).fit([*texts[:1], "a rude answer"])
    assert list(first.get_feature_names_out()) == ["answer", "bad", "good"]
    assert list(second.get_feature_names_out()) == ["answer", "good", "rude"]


def test_a_random_transformer_fitted_twice_gives_each_fit_its_own_output():
    before = [SharedFeatures(Noise()).fit(X_A) for _ in range(2)]
    with share_features():
        for shared in before:
            expected = X_A + shared.transformer_.mean_
            np.testing.assert_array_equal(shared.transform(X_A), expected)


def test_fitted_outside_and_used_inside():
    shared = SharedFeatures(Counting()).fit(X_A)
    with share_features():
        for _ in range(2):
            np.testing.assert_array_equal(shared.transform(X_B), X_B + X_A.mean())
    np.testing.assert_array_equal(shared.transform(X_A), X_A + X_A.mean())


def test_a_fitted_transformer_that_is_gone_never_lends_its_place():
    # A new object may get the id of one that was freed.
    with share_features():
        for number in range(50):
            shared = SharedFeatures(Counting()).fit(X_A + number)
            shared.transformer_ = clone(shared.transformer_).fit(X_A + number)
            expected = X_B + (X_A + number).mean()
            np.testing.assert_array_equal(shared.transform(X_B), expected)


@pytest.mark.slow
def test_the_memory_is_freed_after_the_context():
    with share_features():
        kept = weakref.ref(SharedFeatures(Counting()).fit_transform(X_A))
        gc.collect()
        assert kept() is not None
    gc.collect()
    assert kept() is None


def test_it_is_freed_after_an_error_too():
    def fail():
        with share_features():
            SharedFeatures(Counting()).fit(X_A)
            raise KeyError("stop")

    with pytest.raises(KeyError):
        fail()
    SharedFeatures(Counting()).fit(X_A)
    assert Counting.fits == 2


def test_an_inner_context_starts_empty_and_gives_back_the_outer():
    with share_features():
        SharedFeatures(Counting()).fit(X_A)
        with share_features():
            SharedFeatures(Counting()).fit(X_A)
        SharedFeatures(Counting()).fit(X_A)
    assert Counting.fits == 2


def test_what_has_no_hash_is_computed_each_time():
    double = FunctionTransformer(lambda X: 2 * X)
    with share_features():
        for X in (X_A, X_B):
            np.testing.assert_array_equal(SharedFeatures(double).fit_transform(X), 2 * X)


def test_sparse_output_and_unfitted_use():
    with share_features():
        output = SharedFeatures(TfidfVectorizer()).fit_transform(["one text", "another text"])
    assert sparse.issparse(output)
    with pytest.raises(NotFittedError):
        SharedFeatures(Counting()).transform(X_A)


@pytest.mark.slow
def test_models_that_share_equal_models_that_do_not():
    X, y, groups, _ = make_rank_and_filter(n_queries=60, random_state=0)

    def fit():
        return [
            RankAndFilter(
                make_pipeline(SharedFeatures(StandardScaler()), LogisticRegression(C=C)),
                measure="ndcg_f@3",
            )
            .fit(X, y, groups=groups)
            .predict(X, groups=groups)
            for C in (0.1, 10.0)
        ]

    alone = fit()
    with share_features():
        together = fit()
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("inside", [False, True])
def test_pickles(inside):
    with share_features():
        shared = SharedFeatures(StandardScaler()).fit(X_A)
        if inside:
            shared = pickle.loads(pickle.dumps(shared))
            np.testing.assert_array_equal(
                shared.transform(X_B), StandardScaler().fit(X_A).transform(X_B)
            )
    shared = pickle.loads(pickle.dumps(shared))
    np.testing.assert_array_equal(shared.transform(X_B), StandardScaler().fit(X_A).transform(X_B))
