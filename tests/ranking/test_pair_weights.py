"""The distribution that RankBoost keeps over pairs, against the pairs themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.ranking import RankBoostRanker
from skfilterrank.ranking._boosting.pair_weights import PairDistribution

WEIGHTS = ("equal", "query", "gain")

# --- pair by pair ------------------------------------------------------------------------------


def all_pairs(gains, groups, weights):
    """(better, worse, D_0) of every pair, D_0 summing to 1."""
    pairs = []
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        own = [(i, k) for i in rows for k in rows if gains[i] > gains[k]]
        for i, k in own:
            weight = {"equal": 1, "query": 1 / len(own), "gain": gains[i] - gains[k]}[weights]
            pairs.append((i, k, weight))
    total = sum(weight for *_, weight in pairs)
    return [(i, k, weight / total) for i, k, weight in pairs]


def rankboost(X, gains, groups, *, weights, n_rounds):
    """RankBoost by the letter: D over written out pairs, every threshold of every feature."""
    pairs = all_pairs(gains, groups, weights)
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


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("missing", [False, True])
def test_equals_the_algorithm_on_pairs(small, weights, missing):
    X, gains, groups = small
    if missing:
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    # Thresholds lie between values of rows that are in pairs.
    paired = np.isin(groups, [q for q in groups if len(set(gains[groups == q])) > 1])
    rounds, scores, losses = rankboost(
        X[paired], gains[paired], groups[paired], weights=weights, n_rounds=12
    )
    ranker = RankBoostRanker(n_estimators=12, pair_weights=weights).fit(X, gains, groups)
    j, cut, default, alpha = zip(*rounds)
    np.testing.assert_array_equal(ranker.features_, j)
    np.testing.assert_allclose(ranker.thresholds_, cut)
    np.testing.assert_array_equal(ranker.missing_above_, default)
    np.testing.assert_allclose(ranker.alphas_, alpha)
    np.testing.assert_allclose(ranker.train_loss_, losses)
    np.testing.assert_allclose(ranker.predict(X[paired]), scores, atol=1e-12)
    if missing:
        assert ranker.missing_above_.any()


@given(st.integers(0, 10**6), st.sampled_from(WEIGHTS), st.sampled_from([0.0, 1.0, 30.0]))
def test_potential_equals_sums_over_pairs(seed, weights, spread):
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
    pairs = all_pairs(gains, groups, weights)
    loss = sum(d * np.exp(scores[k] - scores[i]) for i, k, d in pairs)
    for i, k, d in pairs:
        expected[i] += d * np.exp(scores[k] - scores[i]) / loss
        expected[k] -= d * np.exp(scores[k] - scores[i]) / loss
    potential, computed = PairDistribution(gains, groups, weights).potential(scores)
    np.testing.assert_allclose(potential, expected, rtol=1e-9, atol=1e-12)
    assert computed == pytest.approx(loss, rel=1e-9)


def test_scores_far_out_do_not_overflow():
    gains, groups = np.array([0.0, 1.0, 2.0]), np.zeros(3, dtype=int)
    pairs = PairDistribution(gains, groups, "equal")
    # Only the pair (1, 0) is left: the others are 1000 apart in the right order.
    potential, loss = pairs.potential(np.array([0.0, 0.0, 1000.0]))
    np.testing.assert_allclose(potential, [-1.0, 1.0, 0.0])
    assert loss == pytest.approx(1 / 3)


# --- bins --------------------------------------------------------------------------------------
