"""Variance components and the reliability that follows from them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import TENTHS, times
from skfilterrank._base.system_pairs import draw_resamples
from skfilterrank.comparison import SystemScores
from skfilterrank.metaevaluation import reliability
from skfilterrank.metaevaluation._reliability import _variances

# Systems a, b and queries 1, 2, 3 with grand mean 0.5.
#            1    2    3   mean
#       a   0.2  0.6  0.4  0.4
#       b   0.4  0.7  0.7  0.6
#    mean   0.3  0.65 0.55 0.5
# MS systems  3 (0.01 + 0.01) / 1                  = 0.06
# MS queries  2 (0.04 + 0.0225 + 0.0025) / 2       = 0.065
# residuals   a: 0, 0.05, -0.05; b: 0, -0.05, 0.05
# MS residual 4 * 0.0025 / (1 * 2)                 = 0.005
BY_HAND = [[0.2, 0.6, 0.4], [0.4, 0.7, 0.7]]


def test_by_hand():
    found = reliability(BY_HAND, random_state=0)
    systems, queries = (0.06 - 0.005) / 3, (0.065 - 0.005) / 2
    assert found.variance_systems == pytest.approx(systems)
    assert found.variance_queries == pytest.approx(queries)
    assert found.variance_residual == pytest.approx(0.005)
    assert found.negative == ()
    assert found.phi == pytest.approx(systems / (systems + (queries + 0.005) / 3))
    assert found.e_rho2 == pytest.approx(systems / (systems + 0.005 / 3))
    # Of two queries: the same with 2 for 3.
    assert found.project(2) == pytest.approx(systems / (systems + (queries + 0.005) / 2))


@pytest.fixture
def values():
    rng = np.random.RandomState(3)
    return rng.uniform(size=(7, 20)) + rng.uniform(size=(7, 1)) + rng.uniform(size=20)


MATRICES = TENTHS.map(lambda rows: np.divide(rows, 10))


@pytest.mark.slow
@times(2)
@given(MATRICES, st.floats(0.05, 0.99), st.sampled_from(["phi", "e_rho2"]))
def test_number_needed_is_the_least_that_is_enough(values, target, kind):
    found = reliability(values, random_state=0)
    needed = found.n_queries_needed(target, kind=kind)
    if found.variance_systems == 0:
        assert needed == math.inf
        assert found.project(10**9, kind=kind) == 0
    else:
        assert isinstance(needed, int)
        assert found.project(needed, kind=kind) >= target - 1e-9
        assert needed == 1 or found.project(needed - 1, kind=kind) < target


def test_number_needed_is_not_one_too_many_by_rounding():
    # Variances 1 and 1 need target / (1 - target) queries: 19.000000000000004 for 0.95.
    values = np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2 + [[1.0], [-1.0]]
    found = reliability(values, random_state=0)
    ratio = found.variance_residual / found.variance_systems
    for wanted in range(1, 200):
        target = wanted / (wanted + ratio)
        assert found.n_queries_needed(target, kind="e_rho2") == wanted


def test_numbers_of_queries_may_be_an_array(values):
    found = reliability(values, random_state=0)
    curve = found.project([1, 20, 100])
    assert curve.shape == (3,)
    assert curve[1] == found.phi
    assert isinstance(found.project(np.int64(20)), float)
    assert reliability(values, n_queries=100, random_state=0).phi == curve[2]


def test_negative_estimates_are_zero_and_said():
    # Both systems have mean 0.5, and both queries: only the interaction varies.
    found = reliability([[0.0, 1.0], [1.0, 0.0]], random_state=0)
    assert found.negative == ("systems", "queries")
    assert (found.variance_systems, found.variance_queries) == (0, 0)
    assert found.variance_residual == 1
    assert found.phi == found.e_rho2 == 0
    assert "negative variance of systems and queries set to 0" in str(found)


@pytest.mark.parametrize("values", [np.zeros((3, 4)), np.full((3, 7), 0.1)])
def test_all_equal(values):
    found = reliability(values, n_resamples=20, random_state=0)
    assert found.variance_systems == found.variance_queries == found.variance_residual == 0
    assert found.negative == ()
    assert found.phi == found.e_rho2 == 0
    assert found.n_queries_needed() == math.inf
    np.testing.assert_array_equal(found.distribution(), 0)


def test_constant_differences():
    # Differences come again with any query, though queries differ.
    values = np.add(np.random.RandomState(0).uniform(size=7), [[0], [0.1], [0.3]])
    found = reliability(values, n_resamples=50, random_state=0)
    assert found.variance_residual == 0
    assert found.e_rho2 == 1
    assert 0 < found.phi < 1
    assert found.n_queries_needed(kind="e_rho2") == 1
    np.testing.assert_array_equal(found.distribution(kind="e_rho2"), 1)
    flat = reliability(np.repeat([[0.1], [0.2], [0.4]], 5, axis=1), random_state=0)
    assert flat.phi == flat.e_rho2 == 1


def test_order_direction_constant_and_unit_do_not_matter(values):
    whole = reliability(values, random_state=0).to_frame()["value"]
    rng = np.random.RandomState(1)
    mixed = values[rng.permutation(7)][:, rng.permutation(20)]
    mixed = reliability(SystemScores(mixed, greater_is_better=False), random_state=0).to_frame()[
        "value"
    ]
    np.testing.assert_allclose(mixed, whole)
    moved = reliability(10 * values + 5, random_state=0).to_frame()["value"]
    np.testing.assert_allclose(moved, whole * [100, 100, 100, 1, 1])


def loop_components(values):
    """Variances of a matrix in which queries may come more than once, by loops."""
    m, n = len(values), len(values[0])
    grand = sum(map(sum, values)) / (m * n)
    rows = [sum(row) / n for row in values]
    columns = [sum(row[q] for row in values) / m for q in range(n)]
    squares = sum(
        (values[s][q] - rows[s] - columns[q] + grand) ** 2 for s in range(m) for q in range(n)
    )
    residual = squares / ((m - 1) * (n - 1))
    systems = sum((row - grand) ** 2 for row in rows) * n / (m - 1)
    queries = sum((column - grand) ** 2 for column in columns) * m / (n - 1)
    return np.array([(systems - residual) / n, (queries - residual) / m, residual])


def test_resamples_equal_the_estimates_of_resampled_queries(values):
    found = reliability(values, n_resamples=30, random_state=8)
    counts = draw_resamples(20, 30, 8)
    for count, (systems, queries, residual) in zip(counts, found.resampled_variances):
        expected = loop_components(np.repeat(values, count, axis=1).tolist())
        # The known bias of drawing queries again is taken out.
        assert residual == pytest.approx(expected[2] * 20 / 19)
        assert queries == pytest.approx(expected[1] * 20 / 19)
        assert systems == pytest.approx(expected[0] - expected[2] / 19)


def test_resamples_come_in_blocks_and_repeat(monkeypatch, values):
    whole = reliability(values, n_resamples=100, random_state=3)
    monkeypatch.setattr("skfilterrank.metaevaluation._reliability._BLOCK", 50)
    again = reliability(values, n_resamples=100, random_state=3)
    np.testing.assert_allclose(again.resampled_variances, whole.resampled_variances)
    assert again.distribution().shape == (100,)
    more = again.distribution(n_queries=100)
    assert (more > again.distribution()).all()


@pytest.mark.parametrize("n_queries", [2, 3])
def test_resamples_of_one_query_have_only_systems(n_queries):
    values = np.random.RandomState(0).uniform(size=(5, n_queries))
    found = reliability(values, n_resamples=200, random_state=0)
    systems, queries, residual = found.resampled_variances.T
    alone = residual == 0
    # All draws are one query with probability 1/2 of two queries, 1/9 of three.
    assert alone.mean() == pytest.approx(n_queries ** (1.0 - n_queries), abs=0.15)
    assert (queries[alone] == 0).all()
    assert (systems[alone] > 0).all()
    assert (found.distribution()[alone] == 1).all()


def test_rounding_of_resamples_is_no_variance():
    # Every resample is one query, seven times.
    values = np.random.RandomState(0).uniform(size=(5, 7))
    systems, queries, residual = _variances(values, 7 * np.eye(7)).T
    assert (queries == 0).all()
    assert (residual == 0).all()
    np.testing.assert_allclose(systems, values.var(axis=0, ddof=1))


def test_result_is_a_table(values):
    found = reliability(SystemScores(values, measure="ap"), random_state=0)
    assert found.to_frame().index.tolist() == [
        "variance_systems",
        "variance_queries",
        "variance_residual",
        "phi",
        "e_rho2",
    ]
    assert "Reliability of ap of 7 systems for 20 queries" in str(found)
    assert "resampled" not in repr(found)
    assert "interval" not in str(found)
    text = str(reliability(SystemScores(values, measure="ap"), n_resamples=1000, random_state=0))
    assert "20 queries; low and high: 95 % interval, 1,000 resamples of queries" in text


def test_bad_parameters(values):
    found = reliability(values, random_state=0)
    with pytest.raises(ValueError, match="n_queries must be a whole number from 1 up"):
        reliability(values, n_queries=0)
    with pytest.raises(ValueError, match="n_resamples must be a whole number from 0 up"):
        reliability(values, n_resamples=-1)
    with pytest.raises(ValueError, match="target must be a number between 0 and 1"):
        found.n_queries_needed(1)
    with pytest.raises(ValueError, match="kind must be one of 'phi', 'e_rho2'"):
        found.project(5, kind="alpha")
    with pytest.raises(ValueError, match="n_queries must be a whole number"):
        found.project([5, 0])
    with pytest.raises(ValueError, match="call reliability with n_resamples=1000"):
        found.distribution()


def test_intervals_are_percentiles_of_the_resamples():
    values = np.random.default_rng(3).random((4, 12))
    found = reliability(values, n_resamples=41, random_state=1)
    frame = found.to_frame()
    # Of 41 sorted values the second and the last but one stand at 1/40 and 39/40 of the way.
    for name, place in (("variance_systems", 0), ("variance_queries", 1), ("variance_residual", 2)):
        ordered = np.sort(found.resampled_variances[:, place])
        assert frame.loc[name, ["low", "high"]].tolist() == pytest.approx([ordered[1], ordered[39]])
    for kind in ("phi", "e_rho2"):
        ordered = np.sort(found.distribution(kind=kind))
        assert frame.loc[kind, ["low", "high"]].tolist() == pytest.approx([ordered[1], ordered[39]])
