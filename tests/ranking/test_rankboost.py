"""The distribution that RankBoost keeps over pairs, against the pairs themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skfilterrank.ranking import RankBoostRanker
from skfilterrank.ranking._rankboost import BinnedFeatures, PairDistribution, find_thresholds


def all_pairs(gains, groups):
    """(better, worse, D_0) of every pair, D_0 summing to 1."""
    pairs = [
        (i, k)
        for query in np.unique(groups)
        for i in np.flatnonzero(groups == query)
        for k in np.flatnonzero(groups == query)
        if gains[i] > gains[k]
    ]
    return [(i, k, 1 / len(pairs)) for i, k in pairs]


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


def test_first_round_by_hand():
    # Pairs (better, worse): 3 of query 0: (a, b), (a, c), (b, c); 1 of query 1: (d, e).
    # "x0 > 1.5" is met by a, b, e: (a, c) and (b, c) right, (d, e) wrong, (a, b) tied.
    # "x1 > 0.5" is met by a, d: (a, b), (a, c) and (d, e) right: r = 3 / 4, the best there is.
    X = np.array([[2.0, 1.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
    ranker = RankBoostRanker(n_estimators=1).fit(X, [2, 1, 0, 1, 0], [0, 0, 0, 1, 1])
    assert (ranker.features_[0], ranker.thresholds_[0]) == (1, 0.5)
    alpha = 0.5 * np.log((1 + 3 / 4) / (1 - 3 / 4))
    assert ranker.alphas_[0] == pytest.approx(alpha)
    np.testing.assert_allclose(ranker.predict(X), alpha * X[:, 1])
    # Three pairs shrink by exp(-alpha), (b, c) stays.
    assert ranker.train_loss_[0] == pytest.approx((3 * np.exp(-alpha) + 1) / 4)
    assert ranker.feature_importances_.tolist() == [0, 1]


def same_model(left, right):
    np.testing.assert_array_equal(left.features_, right.features_)
    np.testing.assert_allclose(left.thresholds_, right.thresholds_)
    np.testing.assert_allclose(left.alphas_, right.alphas_, rtol=1e-9)


def test_whether_a_value_is_there_is_a_weak_ranker():
    X = np.array([[5.0], [5.0], [np.nan], [np.nan]])
    ranker = RankBoostRanker().fit(X, [1, 1, 0, 0], [0, 0, 0, 0])
    assert ranker.thresholds_.tolist() == [-np.inf]
    scores = ranker.predict(X)
    assert scores[0] == scores[1] > scores[2] == scores[3]


def rankboost(X, gains, groups, *, n_rounds):
    """RankBoost by the letter: D over written out pairs, every threshold of every feature."""
    pairs = all_pairs(gains, groups)
    better, worse, D = (np.array(column) for column in zip(*pairs))
    scores, rounds, losses, loss = np.zeros(len(gains)), [], [], 1.0
    for _ in range(n_rounds):
        best = None
        for j in range(X.shape[1]):
            values = np.unique(X[~np.isnan(X[:, j]), j])
            missing = np.isnan(X[:, j])
            cuts = list((values[1:] + values[:-1]) / 2)
            for cut in [-np.inf, *cuts] if missing.any() else cuts:
                for default in (False, True) if missing.any() else (False,):
                    h = np.where(missing, default, X[:, j] > cut).astype(float)
                    r = (D * (h[better] - h[worse])).sum()
                    if best is None or abs(r) > abs(best[0]) + 1e-10:
                        best = r, j, cut, default, h
        r, j, cut, default, h = best
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        scores += alpha * h
        D = D * np.exp(alpha * (h[worse] - h[better]))
        loss *= D.sum()
        D /= D.sum()
        rounds.append((j, cut, default, alpha))
        losses.append(loss)
    return rounds, scores, losses


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
def test_equals_the_algorithm_on_pairs(small, missing):
    X, gains, groups = small
    if missing:
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    # Thresholds lie between values of rows that are in pairs.
    paired = np.isin(groups, [q for q in groups if len(set(gains[groups == q])) > 1])
    rounds, scores, losses = rankboost(X[paired], gains[paired], groups[paired], n_rounds=12)
    ranker = RankBoostRanker(n_estimators=12).fit(X, gains, groups)
    j, cut, default, alpha = zip(*rounds)
    np.testing.assert_array_equal(ranker.features_, j)
    np.testing.assert_allclose(ranker.thresholds_, cut)
    np.testing.assert_array_equal(ranker.missing_above_, default)
    np.testing.assert_allclose(ranker.alphas_, alpha)
    np.testing.assert_allclose(ranker.train_loss_, losses)
    np.testing.assert_allclose(ranker.predict(X[paired]), scores, atol=1e-12)
    if missing:
        assert ranker.missing_above_.any()


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 30.0]))
def test_potential_equals_sums_over_pairs(seed, spread):
    rng = np.random.default_rng(seed)
    groups = np.sort(rng.integers(0, 4, 20))
    gains = rng.choice([-2.0, 0.0, 1.0, 1.5, 7.0], 20)
    for query in np.unique(groups):
        gains[np.flatnonzero(groups == query)[:1]] = 9.0
    several = np.isin(groups, np.flatnonzero(np.bincount(groups) > 1))
    groups, gains = groups[several], gains[several]
    gains[np.append(groups[1:] != groups[:-1], True)] = -9.0
    order = np.lexsort((gains, groups))
    groups, gains = groups[order], gains[order]
    scores = rng.normal(size=len(gains)) * spread
    expected = np.zeros(len(gains))
    pairs = all_pairs(gains, groups)
    loss = sum(d * np.exp(scores[k] - scores[i]) for i, k, d in pairs)
    for i, k, d in pairs:
        expected[i] += d * np.exp(scores[k] - scores[i]) / loss
        expected[k] -= d * np.exp(scores[k] - scores[i]) / loss
    potential, computed = PairDistribution(gains, groups).potential(scores)
    np.testing.assert_allclose(potential, expected, rtol=1e-9, atol=1e-12)
    assert computed == pytest.approx(loss, rel=1e-9)


def test_scores_far_out_do_not_overflow():
    gains, groups = np.array([0.0, 1.0, 2.0]), np.zeros(3, dtype=int)
    pairs = PairDistribution(gains, groups)
    # Only the pair (1, 0) is left: the others are 1000 apart in the right order.
    potential, loss = pairs.potential(np.array([0.0, 0.0, 1000.0]))
    np.testing.assert_allclose(potential, [-1.0, 1.0, 0.0])
    assert loss == pytest.approx(1 / 3)


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
