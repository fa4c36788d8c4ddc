"""Greedy facility location against brute force, and against the best sets there are."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from profiles import times
from skfilterrank.judgments import _facility_location as module
from skfilterrank.judgments._facility_location import facility_location


def objective(similarity, weights, chosen):
    """Sum of weights times the similarity to the best of the chosen."""
    best = (max((row[j] for j in chosen), default=0) for row in similarity)
    return sum(weight * value for weight, value in zip(weights, best))


def greedy(similarity, weights, chosen=()):
    """Order and gains by trying every document at every step, in exact arithmetic."""
    similarity = [[Fraction(value) for value in row] for row in similarity]
    weights = [Fraction(weight) for weight in weights]
    order, gains, value = [], [], objective(similarity, weights, chosen)
    while len(order) + len(chosen) < len(weights):
        left = [j for j in range(len(weights)) if j not in order and j not in chosen]
        values = [objective(similarity, weights, [*chosen, *order, j]) for j in left]
        best = max(values)
        order.append(left[values.index(best)])
        gains.append(best - value)
        value = best
    return order, [float(gain) for gain in gains]


@st.composite
def problems(draw, values=tuple(i / 8 for i in range(9)), max_documents=9):
    """Similarities and weights in eighths and whole numbers, whose sums floats hold exactly."""
    n = draw(st.integers(1, max_documents))
    cells = st.one_of(st.just(0.0), st.sampled_from(values))
    rows = draw(st.lists(st.lists(cells, min_size=n, max_size=n), min_size=n, max_size=n))
    similarity = np.array(rows)
    if draw(st.booleans()):
        similarity = np.maximum(similarity, similarity.T)
    np.fill_diagonal(similarity, 1)
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0]), min_size=n, max_size=n))
    return similarity, np.array(weights)


def run(similarity, weights=None, chosen=None):
    similarity = np.asarray(similarity, dtype=float)
    symmetric = bool((similarity == similarity.T).all())
    return facility_location(
        sparse.csr_array(similarity), weights, symmetric=symmetric, chosen=chosen
    )


@pytest.mark.slow
@times(1.5)
@given(problems())
def test_equals_brute_force(problem):
    similarity, weights = problem
    order, gains = run(similarity, weights)
    expected_order, expected_gains = greedy(similarity.tolist(), weights.tolist())
    assert order.tolist() == expected_order
    assert gains.tolist() == expected_gains


@pytest.mark.slow
@times(1.5)
@given(problems(), st.data())
def test_equals_brute_force_from_a_set_that_is_chosen(problem, data):
    similarity, weights = problem
    n = len(weights)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    order, gains = run(similarity, weights, chosen)
    expected, expected_gains = greedy(similarity, weights, np.flatnonzero(chosen).tolist())
    left = ~chosen[order]
    assert order[left].tolist() == expected
    np.testing.assert_array_equal(gains[left], expected_gains)
    np.testing.assert_array_equal(gains[~left], 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("density", "seed"), [(0.05, 0), (0.05, 1), (0.2, 2), (0.2, 3), (1.0, 4), (1.0, 5)]
)
def test_equals_brute_force_in_blocks(density, seed, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 7)
    rng = np.random.default_rng(seed)
    similarity = rng.uniform(size=(18, 18)) * (rng.uniform(size=(18, 18)) < density)
    if seed % 2:
        similarity = np.maximum(similarity, similarity.T)
    np.fill_diagonal(similarity, 1)
    weights = rng.exponential(size=18)
    order, gains = run(similarity, weights)
    expected_order, expected_gains = greedy(similarity.tolist(), weights.tolist())
    assert order.tolist() == expected_order
    np.testing.assert_allclose(gains, expected_gains, rtol=1e-12, atol=1e-15)


def best_value(similarity, weights, n_chosen):
    sets = combinations(range(len(weights)), n_chosen)
    return max(objective(similarity, weights, chosen) for chosen in sets)


@pytest.mark.slow
@given(problems(max_documents=7))
def test_bound_on_the_optimum(problem):
    similarity, weights = problem
    _, gains = run(similarity, weights)
    for n_chosen, value in enumerate(np.cumsum(gains), 1):
        best = best_value(similarity.tolist(), weights.tolist(), n_chosen)
        assert (1 - 1 / np.e) * best <= value + 1e-12
        assert value <= best + 1e-12


def test_greedy_is_not_always_the_optimum():
    # Document 2 represents four others by 5/8 each and itself: 3.5. Documents 0 and 1 represent two
    # of the four in full and themselves: 3 each, 6 together, more than any pair with document 2:
    # 3.5 + 1 + 2 * 3/8 = 5.25.
    similarity = np.eye(7)
    similarity[[3, 4], 0] = similarity[[5, 6], 1] = 1
    similarity[[3, 4, 5, 6], 2] = 5 / 8
    order, gains = run(similarity)
    assert order[0] == 2
    assert gains[:2].tolist() == [3.5, 1.75]
    assert best_value(similarity.tolist(), [1] * 7, 2) == 6


@given(problems())
def test_gains_fall_and_add_up(problem):
    similarity, weights = problem
    order, gains = run(similarity, weights)
    assert sorted(order) == list(range(len(weights)))
    assert (gains >= 0).all()
    assert (np.diff(gains) <= 0).all()
    for m in range(len(order) + 1):
        assert gains[:m].sum() == objective(similarity, weights, order[:m])


def test_by_hand():
    # Documents 0 and 1 are near-duplicates (0.9), 2 stands alone, all with weight 1.
    similarity = [[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]
    order, gains = run(similarity)
    assert order.tolist() == [0, 2, 1]
    np.testing.assert_allclose(gains, [1 + 0.9, 1, 1 - 0.9], rtol=1e-12)
    # Document 1 counts 3: it first, 3 + 0.9; then 2; then 0 adds 0.1.
    order, gains = run(similarity, [1, 3, 1])
    assert order.tolist() == [1, 2, 0]
    np.testing.assert_allclose(gains, [3 + 0.9, 1, 1 - 0.9], rtol=1e-12)


def test_not_symmetric():
    # Document 1 represents 0 well, but not the other way round.
    order, gains = run([[1, 0.5], [0, 1]])
    assert order.tolist() == [1, 0]
    assert gains.tolist() == [1.5, 0.5]


def test_single_document():
    for weight in (2.0, 0.0):
        order, gains = run([[1.0]], np.array([weight]))
        assert (order.tolist(), gains.tolist()) == ([0], [weight])


def test_nothing_left_to_add():
    # One of four copies is enough: gain 4, the others 0 and in the order of rows.
    order, gains = run(np.ones((4, 4)))
    assert order.tolist() == [0, 1, 2, 3]
    assert gains.tolist() == [4, 0, 0, 0]
    order, gains = run(np.ones((4, 4)), np.zeros(4))
    assert order.tolist() == [0, 1, 2, 3]
    assert gains.tolist() == [0, 0, 0, 0]


def test_weight_of_minus_0():
    order, gains = run(np.eye(3), np.array([0.0, -0.0, 1.0]))
    assert order.tolist() == [2, 0, 1]
    order, gains = run(np.eye(3), np.array([-0.0, 0.0, 1.0]))
    assert order.tolist() == [2, 0, 1]
    assert gains.tolist() == [1, 0, 0]


def test_documents_of_weight_0_can_represent():
    order, gains = run([[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]], [1, 0, 1])
    assert order.tolist() == [1, 0, 2]
    assert gains.tolist() == [1.5, 0.25, 0.25]


def test_ties_in_spite_of_rounding():
    # Weights that differ in the 14th digit alone.
    weights = 0.3 * (1 + 1e-14 * np.array([0, 1, 2, -3, 4, 5]))
    order, _ = run(np.eye(6), weights)
    assert order.tolist() == [0, 1, 2, 3, 4, 5]
    # Three pairs of copies: 0.6 for the first of each, then 0.
    order, _ = run(np.kron(np.eye(3), np.ones((2, 2))), weights)
    assert order.tolist() == [0, 2, 4, 1, 3, 5]
    # In the 11th digit they do differ.
    order, _ = run(np.eye(3), 0.3 * (1 + 1e-11 * np.array([0, 1, 2])))
    assert order.tolist() == [2, 1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_row_order(seed):
    # Without ties, the same documents are chosen at the same places.
    rng = np.random.default_rng(seed)
    n = 60
    similarity = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.1)
    similarity = np.maximum(similarity, similarity.T)
    np.fill_diagonal(similarity, 1)
    weights = rng.uniform(1, 2, n)
    shuffled = rng.permutation(n)
    order, gains = run(similarity, weights)
    moved, moved_gains = run(similarity[np.ix_(shuffled, shuffled)], weights[shuffled])
    some = gains > 0
    np.testing.assert_array_equal(shuffled[moved][some], order[some])
    np.testing.assert_allclose(moved_gains, gains, rtol=1e-12)


@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1e-5, 0.3, 7.0, 1e5, 1e300])
def test_scale_of_the_weights_changes_gains_alone(factor):
    rng = np.random.default_rng(2)
    similarity = rng.uniform(size=(20, 20))
    similarity = np.maximum(similarity, similarity.T)
    weights = rng.integers(1, 100, 20).astype(float)
    order, gains = run(similarity, weights)
    scaled, scaled_gains = run(similarity, weights * factor)
    if factor > 1e-310:
        assert scaled.tolist() == order.tolist()
        np.testing.assert_allclose(scaled_gains / factor, gains, rtol=1e-9)
    assert np.isfinite(scaled_gains).all()


@pytest.mark.slow
def test_long_sums_do_not_drift():
    # 1,500 documents around one: as it is chosen, the gain of each of the others comes down from
    # 1 + 0.8125 to 0.1875, and theirs are ties in the order of rows.
    n = 1501
    similarity = sparse.lil_array((n, n))
    similarity.setdiag(1)
    similarity[[0], :] = 0.8125
    similarity[:, [0]] = 0.8125
    similarity[0, 0] = 1
    order, gains = facility_location(similarity.tocsr(), np.full(n, 0.1), symmetric=True)
    assert order.tolist() == list(range(n))
    np.testing.assert_allclose(gains[0], 0.1 * (1 + 1500 * 0.8125), rtol=1e-12)
    np.testing.assert_allclose(gains[1:], 0.1 * 0.1875, rtol=1e-12)


def test_parts_of_very_different_weight():
    # A part of tiny weights is ordered by itself, as finely as one of large weights.
    pair = np.array([[1, 0.5], [0.5, 1]])
    similarity = np.kron(np.eye(2), pair)
    order, gains = run(similarity, [1e20, 1e20, 1e-20, 3e-20])
    assert order.tolist() == [0, 1, 3, 2]
    np.testing.assert_allclose(gains, [1.5e20, 0.5e20, 3.5e-20, 0.5e-20], rtol=1e-12)
