"""Features in bins, and sums over the bins."""

import numpy as np
import pytest
from scipy import sparse

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankBoostRanker
from skfilterrank.ranking._boosting.binning import BinnedFeatures, find_thresholds


@pytest.fixture(scope="module")
def small():
    """Queries of 1 to 9 documents, rows mixed, gains of both signs, two queries of one gain."""
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.repeat(np.arange(12), rng.integers(1, 10, 12)))
    gains = rng.choice([-3.0, -1.0, 0.0, 0.5, 2.0], len(groups))
    gains[groups == 4] = 1.0
    X = rng.normal(size=(len(groups), 3)) + 0.3 * gains[:, None] * [1, -1, 0]
    X[:, 2] = X[:, 2].round()
    return X, gains, groups


def test_thresholds_by_hand():
    # 10 rows, 3 bins: a third of the rows is reached at the value 1, two thirds at 3.
    distinct, counts = np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([1, 4, 1, 3, 1])
    np.testing.assert_array_equal(find_thresholds(distinct, counts, 3), [1.5, 3.5])
    np.testing.assert_array_equal(find_thresholds(distinct, counts, 5), [0.5, 1.5, 2.5, 3.5])
    assert find_thresholds(distinct[:1], counts[:1], 3).size == 0
    # Halfway between these two rounds to the upper one.
    neighbours = np.nextafter(1.0, 2.0) * np.ones(2)
    neighbours[1] = np.nextafter(neighbours[1], 2.0)
    assert (neighbours > find_thresholds(neighbours, np.array([1, 1]), 255)).tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize("max_bins", [2, 4, 300])
def test_sums_above_thresholds(max_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).round(1) * (rng.random((400, 5)) < 0.4)
    X[:, 1], X[:, 2] = 7.0, np.nan
    X[rng.random(400) < 0.2, 3] = np.nan
    values = rng.normal(size=400)
    forms = [X, sparse.csc_array(X)]
    for bins in (BinnedFeatures(form, max_bins=max_bins) for form in forms):
        above, missing = bins.sums_above(values)
        for b, (j, threshold) in enumerate(zip(bins.features, bins.thresholds)):
            assert above[b] == pytest.approx(values[X[:, j] > threshold].sum(), abs=1e-12)
            assert missing[b] == pytest.approx(values[np.isnan(X[:, j])].sum(), abs=1e-12)
        n_values = bins.thresholds.size - 2 * X.shape[1] + X.shape[1]
        assert n_values <= max_bins * X.shape[1]


def test_sums_of_sparse_features_of_which_no_stored_cell_is_in_the_last_bin():
    # The zeros of the last feature are above its threshold of -1/2, and are not stored.
    X = sparse.csc_array([[5.0, 1.0, -1.0], [5.0, 2.0, -1.0], [5.0, 3.0, 0.0]])
    assert X.nnz == 8
    values = np.array([1.0, 10.0, 100.0])
    sums = BinnedFeatures(X, max_bins=3).sums(values)
    np.testing.assert_array_equal(sums, [0, 111, 0, 1, 10, 100, 0, 11, 100])


# --- what is learned ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged():
    X, y, groups, _ = make_rank_and_filter(n_queries=150, random_state=0)
    return X, y.astype(float), groups


def same_model(left, right):
    np.testing.assert_array_equal(left.features_, right.features_)
    np.testing.assert_allclose(left.thresholds_, right.thresholds_)
    np.testing.assert_allclose(left.alphas_, right.alphas_, rtol=1e-9)


def test_cells_stored_in_parts_count_as_their_sum(small):
    X, y, groups = small
    halves = sparse.coo_matrix(X)
    halves = sparse.csc_matrix(
        (
            np.repeat(X.T.ravel() / 2, 2),
            np.repeat(np.tile(np.arange(len(y)), 3), 2),
            np.arange(4) * 2 * len(y),
        ),
        shape=X.shape,
    )
    assert halves.nnz == 2 * X.size
    ranker = RankBoostRanker(n_estimators=5).fit(halves, y, groups)
    same_model(ranker, RankBoostRanker(n_estimators=5).fit(X, y, groups))
    assert halves.nnz == 2 * X.size


@pytest.fixture(scope="module")
def halves(judged):
    X, y, groups = judged
    first = groups < np.median(groups)
    return (X[first], y[first], groups[first]), (X[~first], y[~first], groups[~first])
