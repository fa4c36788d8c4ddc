"""Achieved significance levels, and for how many pairs they are small."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import TENTHS
from skfilterrank._base.system_pairs import draw_resamples
from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.metaevaluation import sensitivity_curve


@pytest.mark.slow
@given(TENTHS, st.integers(0, 99))
def test_equals_loops_over_pairs_and_resamples(tenths, seed):
    curve = sensitivity_curve(np.divide(tenths, 10), n_resamples=20, random_state=seed)
    counts = draw_resamples(len(tenths[0]), 20, seed).tolist()
    expected = []
    for one, other in itertools.combinations(tenths, 2):
        observed = np.sign(sum(one) - sum(other))
        drawn = [
            np.sign(sum(n * (a - b) for n, a, b in zip(count, one, other))) for count in counts
        ]
        # All queries say that the systems are equal: there is no order to keep.
        expected.append(np.mean([each != observed for each in drawn]) if observed else 1)
    np.testing.assert_allclose(curve.asl, expected, atol=1e-12)
    for alpha, rate in zip(curve.alpha, curve.success_rate):
        assert rate == np.mean([level < alpha - 1e-9 for level in expected])


def test_by_hand():
    # Of two queries the first system wins one by 0.4 and loses one by 0.2. The three resamples are
    # both (1/2; ahead), the first twice (1/4; ahead), the second twice (1/4; behind).
    curve = sensitivity_curve(
        [[0.5, 0.3], [0.1, 0.5]], alphas=[0.2, 0.3, 1], n_resamples=40_000, random_state=1
    )
    assert curve.asl == pytest.approx([0.25], abs=0.01)
    assert curve.success_rate.tolist() == [0, 1, 1]


def test_a_level_of_alpha_is_not_below_it():
    # 0.1 * 3 is 0.30000000000000004, and 3 of 10 is 0.3.
    scores = [[0.5, 0.3], [0.1, 0.5]]
    levels = {
        seed: sensitivity_curve(scores, n_resamples=10, alphas=0.1 * 3, random_state=seed)
        for seed in range(30)
    }
    found = [curve for curve in levels.values() if round(10 * curve.asl[0]) == 3]
    assert found
    assert all(curve.success_rate.tolist() == [0] for curve in found)


def test_resamples_have_as_many_queries_and_repeat():
    counts = draw_resamples(12, 300, 0)
    assert set(counts.sum(axis=1)) == {12}
    assert counts.mean(axis=0) == pytest.approx(1, abs=0.25)
    np.testing.assert_array_equal(counts, draw_resamples(12, 300, np.random.RandomState(0)))


@pytest.mark.parametrize("method", ["paper", "sakai"])
def test_order_direction_constant_and_unit_do_not_matter(values, method):
    whole = sensitivity_curve(values, method=method, n_resamples=200, random_state=0)
    pairs = whole.matrix().to_numpy()
    turned = SystemScores(values[::-1], systems=list("gfedcba"), greater_is_better=False)
    turned = sensitivity_curve(turned, method=method, n_resamples=200, random_state=0)
    np.testing.assert_allclose(turned.matrix().to_numpy()[::-1, ::-1], pairs, atol=1e-12)
    moved = 100 * values + np.linspace(0, 5, 20)
    moved = sensitivity_curve(moved, method=method, n_resamples=200, random_state=0)
    np.testing.assert_allclose(moved.asl, whole.asl, atol=1e-12)


def test_sakai_is_the_bootstrap_test(values):
    curve = sensitivity_curve(values, method="sakai", n_resamples=500, random_state=2)
    tested = compare_systems(values, test="bootstrap", n_resamples=500, random_state=2)
    np.testing.assert_array_equal(curve.asl, tested.p_value)


@pytest.mark.parametrize("method", ["paper", "sakai"])
def test_all_ties_have_no_success(method):
    scores = np.tile(np.random.RandomState(0).uniform(size=9) / 3, (4, 1))
    for each in (scores, np.zeros((3, 4))):
        curve = sensitivity_curve(
            each, method=method, alphas=[0.05, 1], n_resamples=100, random_state=0
        )
        np.testing.assert_array_equal(curve.asl, 1)
        np.testing.assert_array_equal(curve.success_rate, 0)


@pytest.mark.parametrize("method", ["paper", "sakai"])
def test_constant_differences_always_succeed(method):
    scores = np.add(np.random.RandomState(0).uniform(size=9), [[0], [0.001], [0.5]])
    curve = sensitivity_curve(scores, method=method, alphas=0.01, n_resamples=100, random_state=0)
    # The bootstrap test counts the observed values as a resample.
    np.testing.assert_allclose(curve.asl, 0 if method == "paper" else 1 / 101)
    np.testing.assert_array_equal(curve.success_rate, 1)


def test_many_resamples_come_in_blocks(monkeypatch, values):
    whole = sensitivity_curve(values, random_state=0).asl
    monkeypatch.setattr("skfilterrank._base.system_pairs.BLOCK_BYTES", 48_000)
    np.testing.assert_array_equal(sensitivity_curve(values, random_state=0).asl, whole)


def test_result_is_a_table(values):
    scores = SystemScores(values, measure="ap", systems=list("abcdefg"))
    curve = sensitivity_curve(scores, alphas=[0.05, 0.01], random_state=0)
    frame = curve.to_frame()
    assert frame.index.tolist() == [0.05, 0.01]
    assert frame.index.name == "alpha"
    matrix = curve.matrix()
    assert matrix.loc["c", "a"] == matrix.loc["a", "c"] == curve.asl[1]
    assert (np.diag(matrix) == 1).all()
    assert "Sensitivity of ap of 21 pairs of 7 systems, 1,000 resamples" in str(curve)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alphas": []}, "alphas is empty"),
        ({"alphas": [0, 0.1]}, "alphas must be"),
        ({"alphas": [1.1]}, "alphas must be"),
        ({"alphas": [np.nan]}, "alphas must be"),
        ({"alphas": "5%"}, "alphas must"),
        ({"n_resamples": 0}, "n_resamples must be a whole number from 1 up"),
        ({"method": "sign"}, "method must be one of 'paper', 'sakai'"),
    ],
)
def test_bad_parameters(values, params, message):
    with pytest.raises(ValueError, match=message):
        sensitivity_curve(values, **params, random_state=0)
