"""Means over drawn rankings, and their errors."""

from itertools import permutations

import numpy as np
import pytest

from measure_table import MEASURES
from reference import NONNEGATIVE, REFERENCE, Case
from reference.dcg import dcg_of
from skfilterrank.metrics import _random_rankings as simulated_rankings
from skfilterrank.metrics import (
    random_ranking_bound,
)


def figures(bound):
    """Value and standard error."""
    return bound.value, bound.standard_error


def one_query(function, labels, *args, **params):
    return function(labels, *args, groups=["q"] * len(labels), **params)


def bound_of_one(labels, name, **params):
    """Value and standard error, of measures too that are no means over queries."""
    bound = one_query(random_ranking_bound, labels, name, average=None, **params)
    (value,), (error,) = figures(bound)
    return value, error


def enumerated(name, pool, k):
    """Mean of the reference over all orders; None where undefined."""
    values = [
        REFERENCE[name](
            Case(shown=list(order), pool=pool, k=k, labels=list(order), n_rows=len(pool))
        )
        for order in permutations(pool)
    ]
    return None if None in values else sum(values) / len(values)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in sorted(MEASURES) if n not in NONNEGATIVE])
def test_simulation(name):
    pool, k = [2.0, 1.0, 1.0, 0.0, 0.0, -1.0], 3 if MEASURES[name].takes_k else None
    value, error = bound_of_one(pool, name, k=k, method="simulation", n_samples=4000)
    expected = enumerated(name, pool, k)
    assert abs(value - expected) <= 4 * error + 1e-12


def test_all_orders_are_as_likely():
    # Three documents, six orders: the value of each order is drawn about as often.
    value, error = figures(
        one_query(random_ranking_bound, [4, 2, 1], "dcg", method="simulation", n_samples=20_000)
    )
    exact = [dcg_of(order, None) for order in permutations([4, 2, 1])]
    assert error == pytest.approx(np.std(exact) / np.sqrt(20_000), rel=0.05)
    assert abs(value - np.mean(exact)) < 4 * error


def test_repeats_whatever_the_other_queries():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 12, 300)
    y_true = rng.choice([0.0, 1.0, 2.0, np.nan], 300)
    params = {"method": "simulation", "n_samples": 50, "k": 5, "average": None}
    together = random_ranking_bound(y_true, "ndcg", groups=groups, **params, random_state=0)
    order = rng.permutation(300)
    again = random_ranking_bound(
        y_true[order], "ndcg", groups=groups[order], **params, random_state=0
    )
    np.testing.assert_array_equal(together.value, again.value)
    for query in range(12):
        mine = groups == query
        alone = random_ranking_bound(
            y_true[mine], "ndcg", groups=groups[mine], **params, random_state=0
        )
        assert alone.value[0] == together.value[query]
        assert alone.standard_error[0] == together.standard_error[query]
    other = random_ranking_bound(y_true, "ndcg", groups=groups, random_state=1, **params)
    assert (other.value != together.value).all()


def test_two_samples_by_hand():
    # The one relevant document stands first or second: values 1 and 1/2.
    params = {"method": "simulation", "n_samples": 2}
    drawn = [
        one_query(random_ranking_bound, [1, 0], "rr", random_state=seed, **params)
        for seed in range(30)
    ]
    # Two values apart by 1/2 deviate by 1 / sqrt(8), and their mean by half of 1/2.
    errors = {1.0: 0, 0.75: 0.25, 0.5: 0}
    assert {bound.value for bound in drawn} == set(errors)
    for bound in drawn:
        assert bound.standard_error == pytest.approx(errors[bound.value])


def test_gains_however_small_make_another_pool():
    bound = random_ranking_bound(
        [1e-300, 0, 0, 0, -0.0, 0],
        "rr",
        groups=[1, 1, 2, 2, 3, 3],
        method="simulation",
        undefined="drop",
        average=None,
        random_state=0,
    )
    assert bound.value[0] == pytest.approx(0.75, abs=0.1)
    assert np.isnan(bound.value[1:]).all()


def test_how_many_are_drawn_at_once_does_not_matter(monkeypatch):
    params = {"method": "simulation", "n_samples": 10, "random_state": 0}
    whole = one_query(random_ranking_bound, [1, 2, 0], "ap", **params)
    for cells in (2, 3, 7, 28, 30):
        monkeypatch.setattr(simulated_rankings, "BLOCK_CELLS", cells)
        again = one_query(random_ranking_bound, [1, 2, 0], "ap", **params)
        assert (again.value, again.standard_error) == (whole.value, whole.standard_error)


def test_random_state():
    draw = {"method": "simulation", "n_samples": 20}
    one, two = (
        one_query(random_ranking_bound, [1, 2, 0], random_state=state, **draw).value
        for state in (np.random.RandomState(3), np.random.RandomState(3))
    )
    assert one == two
    unseeded = {
        one_query(random_ranking_bound, [1, 2, 0], random_state=None, **draw).value
        for _ in range(5)
    }
    assert len(unseeded) > 1
    with pytest.raises(ValueError, match="random_state must be a whole number from 0 up, got -1"):
        one_query(random_ranking_bound, [1, 2, 0], random_state=-1)


def test_error_of_the_mean():
    # Two queries share their gains and so their rankings; the third has its own.
    y_true, groups = [1, 2, 0, 0, 1, 2, 1, 0, 5], [1, 1, 1, 2, 2, 2, 3, 3, 3]
    params = {"groups": groups, "method": "simulation", "n_samples": 100}
    a, b, c = random_ranking_bound(y_true, average=None, **params, random_state=0).standard_error
    assert a == b != c
    mean = random_ranking_bound(y_true, **params, random_state=0)
    assert mean.standard_error == pytest.approx(np.sqrt((a + b) ** 2 + c**2) / 3)


@pytest.mark.nightly
def test_error_of_the_mean_by_repetition():
    y_true, groups = [1, 2, 0, 0, 1, 2, 1, 0, 5], [1, 1, 1, 2, 2, 2, 3, 3, 3]
    drawn = [
        random_ranking_bound(
            y_true, groups=groups, method="simulation", n_samples=20, random_state=seed
        )
        for seed in range(300)
    ]
    errors = np.array([bound.standard_error for bound in drawn])
    values = np.array([bound.value for bound in drawn])
    assert values.std() == pytest.approx(np.sqrt((errors**2).mean()), rel=0.15)
