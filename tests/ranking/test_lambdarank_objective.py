"""Gradient and hessian of LambdaRank: by hand, and against a double loop."""

from math import log2

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.ranking import LambdaRankRanker
from skfilterrank.ranking import _lambdarank as objective
from skfilterrank.ranking._lambdarank import LambdaObjective, row_keys


def brute_force(gains, scores, groups, *, k, gamma, loss):
    """The Notes of LambdaObjective, pair by pair."""
    gradient, hessian = np.zeros(len(gains)), np.zeros(len(gains))
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        n = len(rows)
        depth = n if k is None else min(k, n)
        place = np.empty(n, dtype=int)
        place[np.argsort(-scores[rows], kind="stable")] = np.arange(1, n + 1)
        ordered = sorted(gains[rows])
        ideal = sum(max(g, 0) / log2(i + 2) for i, g in enumerate(ordered[::-1][:depth]))
        worst = sum(min(g, 0) / log2(i + 2) for i, g in enumerate(ordered[:depth]))
        flat = len(set(scores[rows])) == 1
        g, h, total = np.zeros(n), np.zeros(n), 0.0
        for i in range(n):
            for j in range(n):
                if gains[rows[i]] <= gains[rows[j]] or min(place[i], place[j]) > depth:
                    continue
                lead = scores[rows[i]] - scores[rows[j]]
                w = (gains[rows[i]] - gains[rows[j]]) / (ideal - worst)
                weight = abs(1 / log2(place[i] + 1) - 1 / log2(place[j] + 1))
                if loss == "lambdaloss":
                    apart = abs(place[i] - place[j])
                    weight += 10 * (1 / log2(apart + 1) - 1 / log2(apart + 2))
                elif not flat:
                    weight /= 0.01 + abs(lead)
                w *= weight
                r = expit(-lead)
                push = w * r
                g[i] -= push
                g[j] += push
                h[i] += w * r * (1 - r)
                h[j] += w * r * (1 - r)
                total += 2 * push
        if total > 0:
            g *= log2(1 + total) / total
            h *= log2(1 + total) / total
        p = expit(scores[rows])
        gradient[rows] = g + gamma / n * (p - (gains[rows] > 0))
        hessian[rows] = h + gamma / n * p * (1 - p)
    return gradient, hessian


@pytest.fixture(scope="module")
def ragged():
    """Queries of 1 to about 60 documents, rows mixed, gains of both signs, a query of one gain."""
    rng = np.random.default_rng(0)
    groups = np.concatenate([np.full(60, 3), np.full(9, 50), rng.integers(0, 40, 150)])
    gains = rng.choice([-2.0, -0.5, 0.0, 1.0, 3.0], len(groups))
    gains[groups == 50] = 1.0
    mixed = rng.permutation(len(groups))
    return gains[mixed], groups[mixed]


def make_scores(kind, n):
    rng = np.random.default_rng(1)
    return {
        "equal": np.zeros(n),
        "spread": rng.normal(size=n),
        "tied": rng.integers(0, 3, n).astype(float),
        "far": rng.normal(size=n) * 100,
    }[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["equal", "spread", "tied", "far"])
@pytest.mark.parametrize("k", [1, 3, None])
@pytest.mark.parametrize(
    ("gamma", "loss"), [(0.0, "lambdarank"), (0.7, "lambdarank"), (0.7, "lambdaloss")]
)
def test_gradient_equals_the_double_loop(ragged, kind, k, gamma, loss):
    gains, groups = ragged
    scores = make_scores(kind, len(gains))
    settings = {"k": k, "gamma": gamma, "loss": loss}
    expected = brute_force(gains, scores, groups, **settings)
    index = GroupIndex.from_groups(groups)
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-5)):
        computed = LambdaObjective(gains, index, dtype=dtype, **settings)(scores)
        for ours, loop in zip(computed, expected):
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours, loop, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("loss", "factor"), [("lambdarank", 1 / (0.01 + 0.5)), ("lambdaloss", 1 + 10)]
)
def test_a_pair_by_hand(loss, factor):
    # gains 2 and -1 at places 2 and 1, scores 0.5 apart the wrong way: I = 2, W = -1.
    objective = LambdaObjective(
        np.array([2.0, -1.0]),
        GroupIndex.from_groups([7, 7]),
        k=10,
        gamma=0.0,
        loss=loss,
        dtype=np.float64,
    )
    gradient, hessian = objective(np.array([0.0, 0.5]))
    # The distance of the places 1 and 2 has the discounts of the places themselves.
    w = factor * (2 - -1) * (1 - 1 / log2(3)) / (2 - -1)
    r = 1 / (1 + np.exp(-0.5))
    # The sum of the gradients becomes its logarithm.
    scale = log2(1 + 2 * w * r) / (2 * w * r)
    np.testing.assert_allclose(gradient, [-w * r * scale, w * r * scale])
    np.testing.assert_allclose(hessian, [w * r * (1 - r) * scale] * 2)


def test_wide_queries_are_taken_in_steps(ragged, monkeypatch):
    gains, groups = ragged
    settings = {"k": None, "gamma": 0.0, "dtype": np.float64}
    scores = make_scores("spread", len(gains))
    index = GroupIndex.from_groups(groups)
    whole = LambdaObjective(gains, index, **settings)(scores)
    monkeypatch.setattr(objective, "_BLOCK_DOCUMENTS", 16)
    monkeypatch.setattr(objective, "_PAIRS", 128)
    small = LambdaObjective(gains, index, **settings)(scores)
    np.testing.assert_allclose(small, whole, atol=1e-12)


def test_hessian_is_positive_with_cross_entropy(ragged):
    gains, groups = ragged
    index = GroupIndex.from_groups(groups)
    loss = LambdaObjective(gains, index, k=5, gamma=0.5)
    assert (loss(make_scores("spread", len(gains)))[1] > 0).all()


def test_row_keys_depend_on_the_features_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.5)
    keys = row_keys(X)
    np.testing.assert_array_equal(row_keys(sparse.csr_matrix(X)), keys)
    np.testing.assert_array_equal(row_keys(X[::-1]), keys[::-1])
    np.testing.assert_array_equal(row_keys(-0.0 * X), row_keys(0.0 * X))
    assert len(np.unique(keys)) == len(np.unique(X, axis=0))


FEW = {"n_estimators": 15, "num_leaves": 7, "min_child_samples": 5, "n_jobs": 1}


def test_the_loss_is_not_copied(separable, monkeypatch):
    def refuse(self, memo):
        raise AssertionError("copied")

    monkeypatch.setattr(LambdaObjective, "__deepcopy__", refuse, raising=False)
    X, y, groups = separable
    LambdaRankRanker(**FEW).fit(X, y, groups)
