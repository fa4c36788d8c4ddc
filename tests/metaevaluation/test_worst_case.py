"""Worst cases against enumeration of all searchers, providers and orders."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from skfilterrank.metaevaluation import recall_level_metric, worst_case_searcher

NAMED = ["ap", "ndcg", "rbp", "tse", "rr", "r_precision", "recall@3"]

# Of six items there are 63 sets.
position_lists = st.sets(st.integers(1, 300), min_size=1, max_size=6).map(sorted)


def all_of(measure):
    """Return a measure as a function, for which all searchers are tried."""
    return lambda positions: recall_level_metric(positions, measure)


def wanted_sets(items):
    """All non-empty subsets, without the library's own enumeration."""
    return itertools.chain.from_iterable(
        itertools.combinations(items, size) for size in range(1, len(items) + 1)
    )


def least_of_all_sets(items, measure):
    """The least value of any non-empty subset; those of one size are handed over together."""
    return min(
        recall_level_metric(list(sets), measure).min()
        for _, sets in itertools.groupby(wanted_sets(items), key=len)
    )


@pytest.mark.slow
@pytest.mark.parametrize("measure", NAMED)
@times(1 / 2)
@given(position_lists)
def test_searchers_by_enumeration(measure, positions):
    expected = least_of_all_sets(positions, measure)
    assert worst_case_searcher(positions, measure) == pytest.approx(expected, rel=1e-12)
    assert worst_case_searcher(positions, all_of(measure)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("exposure", [lambda p: 1 / p**2, lambda p: np.cos(p) + 2, np.cos])
@given(position_lists)
def test_providers_by_enumeration(exposure, positions):
    alone = exposure(np.array(positions, dtype=float))
    expected = min(math.fsum(owned) for owned in wanted_sets(alone))
    found = worst_case_searcher(positions, lambda p: exposure(p).sum(axis=1))
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_searcher_of_a_callable_metric_may_want_several_items():
    # Worst for who wants everything: the number of wanted items, negated.
    positions = [[1, 2, 10], [3, 4, 5]]
    np.testing.assert_array_equal(
        worst_case_searcher(positions, lambda p: np.full(len(p), -p.shape[1])), [-3, -3]
    )


def test_many_rankings_and_many_items(monkeypatch):
    # The six sets of one item have six cells, so that three of the seven rankings go at a time.
    monkeypatch.setattr("skfilterrank.metaevaluation._recall_levels._MOST_CELLS", 20)
    rng = np.random.default_rng(0)
    positions = np.array([rng.choice(100, size=6, replace=False) + 1 for _ in range(7)])
    np.testing.assert_allclose(
        worst_case_searcher(positions, all_of("ap")), 1 / positions.max(axis=1)
    )
    many = np.arange(1, 10_001)
    assert worst_case_searcher(many, "ap") == 1 / 10_000


def test_what_cannot_be_enumerated():
    many = np.arange(1, 22)
    with pytest.raises(ValueError, match=r"can be enumerated for this measure, got 21"):
        worst_case_searcher(many, all_of("ap"))
    with pytest.raises(ValueError, match=r"at most 20 relevant documents can be enumerated"):
        worst_case_searcher(many, lambda p: 1 / p[:, 0], order="random")


def worst_of_random_orders(positions, measure):
    """Least mean value over all orders of the items, searcher by searcher."""
    orders = np.array(list(itertools.permutations(positions)))
    return min(
        np.mean(recall_level_metric(orders[:, list(wanted)], measure))
        for wanted in wanted_sets(range(len(positions)))
    )


@pytest.mark.slow
@pytest.mark.parametrize("measure", NAMED)
@pytest.mark.parametrize("positions", [[1], [1, 2, 3, 4], [2, 3, 9, 40]])
def test_random_orders_by_enumeration(measure, positions):
    random = worst_of_random_orders(positions, measure)
    for each in (measure, all_of(measure)):
        value = worst_case_searcher(positions, each, order="random")
        assert value == pytest.approx(random, rel=1e-12)
    # Theorem A.7.
    assert random >= worst_case_searcher(positions, measure) - 1e-12


def test_best_rankings_by_hand():
    expected = {
        "ap": ((1 + 1 / 2 + 1 / 3) / 3, 1 / 3),
        "ndcg": ((1 + 1 / math.log2(3) + 1 / 2) / 3, 1 / 2),
        "rbp": ((1 - 0.8**3) / 3, 0.2 * 0.8**2),
        "rr": ((1 + 1 / 2 + 1 / 3) / 3, 1 / 3),
        "r_precision": (1 / 3, 0),
        "recall@2": (2 / 3, 0),
        "tse": (1 / 3, 1 / 3),
    }
    for measure, (random, fixed) in expected.items():
        assert worst_case_searcher([1, 2, 3], measure) == pytest.approx(fixed)
        assert worst_case_searcher([1, 2, 3], measure, order="random") == pytest.approx(random)


def test_order_is_checked():
    with pytest.raises(ValueError, match=r"^order must be one of 'fixed', 'random'"):
        worst_case_searcher([1, 2, 3], order="stochastic")
