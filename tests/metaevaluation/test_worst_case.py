"""Worst cases against enumeration of all searchers, providers and orders."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from skfilterrank.metaevaluation import (
    optimal_worst_case,
    recall_level_metric,
    worst_case_searcher,
)

NAMED = ["ap", "ndcg", "rbp", "tse", "rr", "r_precision", "recall@3"]

# Of six items there are 63 sets.
position_lists = st.sets(st.integers(1, 300), min_size=1, max_size=6).map(sorted)


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
    assert worst_case_searcher(positions, measure, method="enumerate") == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "exposure"),
    [("ap", "ap"), ("ndcg", "ndcg"), ("rbp", "rbp"), ("rr", "ap"), ("tse", "ap")],
)
@times(1 / 2)
@given(position_lists)
def test_theorem_a1(measure, exposure, positions):
    # The worst case over all searchers is total search efficiency.
    efficiency = recall_level_metric(positions, "tse", exposure=exposure)
    assert worst_case_searcher(positions, measure, method="enumerate") == pytest.approx(
        efficiency, rel=1e-12
    )


def test_worst_searchers_of_the_flat_metrics():
    np.testing.assert_array_equal(
        worst_case_searcher([[1, 3], [1, 4]], "recall@3", method="enumerate"), [1, 0]
    )
    assert worst_case_searcher([1, 2], "r_precision", method="enumerate") == 0
    assert worst_case_searcher([1], "r_precision", method="enumerate") == 1


@pytest.mark.slow
@pytest.mark.parametrize("exposure", [lambda p: 1 / p**2, lambda p: np.cos(p) + 2, np.cos])
@given(position_lists)
def test_providers_by_enumeration(exposure, positions):
    alone = recall_level_metric([[p] for p in positions], "tse", exposure=exposure)
    expected = min(math.fsum(owned) for owned in wanted_sets(alone))
    found = worst_case_searcher(positions, lambda p: exposure(p).sum(axis=1))
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@given(position_lists)
def test_theorem_a2(positions):
    found = worst_case_searcher(positions, lambda p: (1 / p).sum(axis=1))
    assert found == recall_level_metric(positions, "tse", exposure="ap")


def test_a_searcher_of_a_callable_metric_may_want_several_items():
    # Worst for who wants everything: the number of wanted items, negated.
    positions = [[1, 2, 10], [3, 4, 5]]
    np.testing.assert_array_equal(
        worst_case_searcher(positions, lambda p: np.full(len(p), -p.shape[1])), [-3, -3]
    )


def test_total_search_efficiency_of_an_exposure_that_rises():
    positions = [1, 2, 3]
    assert worst_case_searcher(positions, "tse", exposure=np.sqrt) == 1
    assert worst_case_searcher(positions, "tse", exposure=np.sqrt, method="enumerate") == 1


@pytest.mark.slow
def test_many_rankings_and_many_items():
    rng = np.random.default_rng(0)
    positions = np.array([rng.choice(100, size=12, replace=False) + 1 for _ in range(600)])
    np.testing.assert_allclose(
        worst_case_searcher(positions, "ap", method="enumerate"), 1 / positions.max(axis=1)
    )
    many = np.arange(1, 10_001)
    assert worst_case_searcher(many, "ap") == 1 / 10_000


def test_what_cannot_be_enumerated():
    many = np.arange(1, 22)
    with pytest.raises(ValueError, match=r"can be enumerated for this measure, got 21"):
        worst_case_searcher(many, "ap", method="enumerate")
    with pytest.raises(ValueError, match=r"at most 20 relevant items can be enumerated"):
        optimal_worst_case(21, lambda p: 1 / p[:, 0])
    with pytest.raises(ValueError, match=r"^method must be one of 'auto', 'enumerate'"):
        worst_case_searcher([1], method="brute")


def expected_worst_case(n_relevant, measure, exposure="ap"):
    """Least mean value over all orders of the items on top, searcher by searcher."""
    orders = np.array(list(itertools.permutations(range(1, n_relevant + 1))))
    return min(
        np.mean(recall_level_metric(orders[:, list(wanted)], measure, exposure=exposure))
        for wanted in wanted_sets(range(n_relevant))
    )


@pytest.mark.slow
@pytest.mark.parametrize("measure", NAMED)
@pytest.mark.parametrize("n_relevant", [1, 2, 4])
def test_optimal_rankings_by_enumeration(measure, n_relevant):
    top = range(1, n_relevant + 1)
    deterministic = least_of_all_sets(top, measure)
    assert optimal_worst_case(n_relevant, measure) == pytest.approx(deterministic, rel=1e-12)
    stochastic = expected_worst_case(n_relevant, measure)
    value = optimal_worst_case(n_relevant, measure, ranking="stochastic")
    assert value == pytest.approx(stochastic, rel=1e-12)
    # Theorem A.7.
    assert stochastic >= deterministic - 1e-12


def test_optimal_rankings_by_hand():
    expected = {
        "ap": ((1 + 1 / 2 + 1 / 3) / 3, 1 / 3),
        "ndcg": ((1 + 1 / math.log2(3) + 1 / 2) / 3, 1 / 2),
        "rbp": ((1 - 0.8**3) / 3, 0.2 * 0.8**2),
        "rr": ((1 + 1 / 2 + 1 / 3) / 3, 1 / 3),
        "r_precision": (1 / 3, 0),
        "recall@2": (2 / 3, 0),
        "tse": (1 / 3, 1 / 3),
    }
    for measure, (stochastic, deterministic) in expected.items():
        assert optimal_worst_case(3, measure) == pytest.approx(deterministic)
        assert optimal_worst_case(3, measure, ranking="stochastic") == pytest.approx(stochastic)


@pytest.mark.parametrize("measure", ["ap", "ndcg", "rbp", "rr"])
def test_figure_5(measure):
    counts = np.arange(1, 26)
    deterministic = optimal_worst_case(counts, measure)
    stochastic = optimal_worst_case(counts, measure, ranking="stochastic")
    assert stochastic[0] == deterministic[0]
    assert (stochastic[1:] > deterministic[1:]).all()
    assert (np.diff(stochastic) < 0).all()
    assert (np.diff(deterministic) < 0).all()


@pytest.mark.parametrize("ranking", ["deterministic", "stochastic"])
def test_named_metrics_as_callables(ranking):
    # The enumeration for callables agrees with the closed forms.
    def average_precision(positions):
        return (np.arange(1, positions.shape[1] + 1) / positions).mean(axis=1)

    counts = [1, 4, 9, 12]
    np.testing.assert_allclose(
        optimal_worst_case(counts, average_precision, ranking=ranking),
        optimal_worst_case(counts, "ap", ranking=ranking),
    )


def test_total_search_efficiency_of_a_callable_exposure():
    def exposure(positions):
        return np.exp(-positions)

    for ranking in ("deterministic", "stochastic"):
        assert optimal_worst_case(4, "tse", ranking=ranking, exposure=exposure) == pytest.approx(
            math.exp(-4)
        )
    assert expected_worst_case(4, "tse", exposure) == pytest.approx(math.exp(-4))
    with pytest.raises(ValueError, match=r"exposure must not rise.*position 2 than at 1"):
        optimal_worst_case(4, "tse", exposure=np.sqrt)


@pytest.mark.parametrize("n_relevant", [0, -1, 1.5, True, "3", [], [[1, 2]], [2, 0]])
def test_numbers_of_relevant_items_are_checked(n_relevant):
    with pytest.raises(ValueError, match=r"^n_relevant (must be|must hold|is empty|holds)"):
        optimal_worst_case(n_relevant)


def test_kind_of_ranking_is_checked():
    with pytest.raises(ValueError, match=r"^ranking must be one of"):
        optimal_worst_case(3, ranking="random")
