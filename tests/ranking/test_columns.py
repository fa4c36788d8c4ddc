"""Columns of features in coordinate ascent: their scale, and how they are read."""

import numpy as np
import pytest
from scipy import sparse

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import CoordinateAscentRanker

FAST = {"measure": "ndcg_f@3", "max_iter": 3, "random_state": 0}


@pytest.fixture(scope="module")
def judged():
    X, y, groups, _ = make_rank_and_filter(n_queries=80, random_state=0)
    return X, y.astype(float), groups


@pytest.fixture(scope="module")
def separable():
    """30 queries of 6 documents; the second of three features orders the gains -1, 1, 2."""
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, -1.0, 1.0, 1.0, 2.0, 2.0], 30)
    X = np.column_stack([rng.normal(size=180), y + rng.uniform(-0.2, 0.2, 180), np.ones(180)])
    return X, y, np.repeat(np.arange(30), 6)


SAME_FOR_EVERY_ORDER = {"judged", "empty_list_rate", "false_reject_rate", "set_map"}

SAME_FOR_EVERY_ORDER |= {"num_q", "num_ret", "num_rel", "num_rel_ret"}


@pytest.mark.slow
@pytest.mark.parametrize("filtering", [False, True])
@pytest.mark.parametrize("init", ["least_squares", "uniform"])
def test_scale_of_features_does_not_matter(judged, filtering, init):
    X, y, groups = judged
    settings = FAST | {"filter": filtering, "init": init}
    expected = CoordinateAscentRanker(**settings).fit(X, y, groups)
    # Powers of two change no digit.
    factors = 2.0 ** np.arange(-3, X.shape[1] - 3)
    ranker = CoordinateAscentRanker(**settings).fit(X * factors, y, groups)
    np.testing.assert_allclose(ranker.coef_ * factors, expected.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        ranker.feature_importances_, expected.feature_importances_, rtol=1e-6
    )


@pytest.mark.slow
def test_a_shift_within_queries_does_not_matter(judged):
    X, y, groups = judged
    expected = CoordinateAscentRanker(**FAST).fit(X, y, groups)
    shift = np.random.default_rng(0).integers(-4, 5, (groups.max() + 1, X.shape[1]))
    ranker = CoordinateAscentRanker(**FAST).fit(X + shift[groups], y, groups)
    assert ranker.best_score_ == pytest.approx(expected.best_score_, abs=0.01)


@pytest.mark.slow
def test_sparse_equals_dense(judged):
    X, y, groups = judged
    X = X * (X > 0.3)
    for filtering in (False, True):
        settings = FAST | {"filter": filtering}
        expected = CoordinateAscentRanker(**settings).fit(X, y, groups)
        for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
            ranker = CoordinateAscentRanker(**settings).fit(form(X), y, groups)
            np.testing.assert_allclose(ranker.coef_, expected.coef_, rtol=1e-6)
            np.testing.assert_allclose(ranker.predict(form(X)), expected.predict(X), rtol=1e-6)


def test_equal_rows_get_equal_scores(judged):
    X, y, groups = judged
    ranker = CoordinateAscentRanker(**FAST).fit(X, y, groups)
    for n in (1, 2, 3, 5, 17, 64):
        assert len(np.unique(ranker.predict(np.tile(X[:1], (n, 1))))) == 1
        np.testing.assert_array_equal(ranker.predict(X[:n]), ranker.predict(X)[:n])


@pytest.mark.parametrize("filtering", [False, True])
def test_constant_features(separable, filtering):
    X, y, groups = separable
    ranker = CoordinateAscentRanker(**FAST, filter=filtering).fit(np.ones_like(X), y, groups)
    np.testing.assert_array_equal(ranker.coef_, 0.0)
    assert np.isfinite(ranker.predict(X)).all()
