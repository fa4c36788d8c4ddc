"""Values of positions, against by-hand sums and the measures of other tools."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measure_table import MEASURES
from profiles import times
from skfilterrank.metaevaluation import recall_level_metric
from skfilterrank.metrics import evaluate, metric_lexirecall_score, ndcg_0_score
from thinned import thinned

position_lists = st.sets(st.integers(1, 40), min_size=1, max_size=10).map(sorted)


def ranking(positions, n_items=40):
    """Labels and scores of a ranking with relevant documents at these positions."""
    labels = np.isin(np.arange(1, n_items + 1), positions).astype(int)
    return labels, -np.arange(n_items, dtype=float)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("ap", (1 / 2 + 2 / 3 + 3 / 8) / 3),
        ("ndcg", (1 / math.log2(3) + 1 / 2 + 1 / math.log2(9)) / (1 + 1 / math.log2(3) + 1 / 2)),
        ("rbp", 0.2 * (0.8 + 0.8**2 + 0.8**7)),
        ("tse", 1 / 8),
        ("rr", 1 / 2),
        ("r_precision", 2 / 3),
        ("recall@2", 1 / 3),
        ("recall@1000", 1.0),
    ],
)
def test_by_hand(measure, expected):
    assert recall_level_metric([2, 3, 8], measure) == pytest.approx(expected, rel=1e-14)
    # Any order, and several rankings at once.
    np.testing.assert_allclose(
        recall_level_metric([[8, 2, 3], [3, 8, 2]], measure), [expected, expected], rtol=1e-14
    )


def test_total_search_efficiency_by_exposures():
    positions = [2, 3, 8]
    assert recall_level_metric(positions, "tse(exposure=ndcg)") == 1 / math.log2(9)
    of_rbp = recall_level_metric(positions, "tse(exposure=rbp,persistence=0.5)")
    assert of_rbp == pytest.approx(0.5 * 0.5**7)


def test_callables_get_sorted_positions():
    seen = []

    def measure(positions):
        seen.append(positions)
        return positions[:, 0]

    np.testing.assert_array_equal(recall_level_metric([[9, 4], [1, 2]], measure), [4.0, 1.0])
    np.testing.assert_array_equal(seen[0], [[4.0, 9.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([], "n_relevant >= 1"),
        (3, "shape"),
        ([[[1]]], "shape"),
        (["a"], "must hold numbers"),
        ([True, False], "dtype"),
        ([0, 1], "whole numbers from 1, got 0"),
        ([1.5], "got 1.5"),
        ([1, math.nan], "got nan"),
        ([1, math.inf], "got inf"),
        ([[1, 2], [4, 4]], "distinct, got 4 more than once"),
    ],
)
def test_positions_are_checked(positions, message):
    with pytest.raises(ValueError, match=f"^positions .*{message}"):
        recall_level_metric(positions)


def test_measures_are_given_by_their_functions_too():
    assert recall_level_metric([1, 4], ndcg_0_score) == recall_level_metric([1, 4], "ndcg")


NO_SUMS = ["err", "f", "precision", "recall_error", "lexirecall", "ndcg_min", "ul_normalized"]


def test_a_measure_that_has_no_value_in_an_endless_collection():
    with pytest.raises(ValueError, match="'metric_lexirecall' is NaN or infinity for positions"):
        recall_level_metric([1, 2], "metric_lexirecall")
    assert recall_level_metric([3, 5], "metric_lexirecall(n_items=5)") == pytest.approx(
        metric_lexirecall_score([0, 0, 1, 0, 1], [5, 4, 3, 2, 1], groups=["q"] * 5, n_items=5)
    )


# All that are declared as sums, as far as 40 items are as good as an endless collection.
SUMS = {name for name, entry in MEASURES.items() if entry.additive and entry.greater_is_better}
SUMS -= {*NO_SUMS, "lexiprecision", "metric_lexirecall"}
SUMS |= {f"{name}(scale=share,n_items=40)" for name in ("lexirecall", "lexiprecision")}
SUMS |= {"metric_lexirecall(n_items=40)"}
SUMS |= {
    "f@7",
    "precision@7",
    "ap(normalize=min)@9",
    "rbp(persistence=0.5)@20",
    "tse(exposure=ndcg)",
}


@pytest.mark.slow
@pytest.mark.parametrize("measure", thinned(sorted(SUMS), parts=2))
@times(1 / 3)
@given(positions=position_lists)
def test_the_measure_table_agrees(measure, positions):
    labels, scores = ranking(positions)
    expected = evaluate(labels, scores, measure, groups=["q"] * len(labels)).per_query.iloc[0, 0]
    assert recall_level_metric(positions, measure) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        *[
            (unknown, r"is not a measure|must be a positive|is not an option")
            for unknown in ("A P", "recall@", "recall@0", None, 3, "ap(persistence=0.9)")
        ],
        *[(name, f"^measure must be a sum over.*got '{name}'") for name in NO_SUMS],
        ("tse(exposure=dcg)", "^exposure must be"),
        ("rbp(persistence=1)", "^persistence"),
        (lambda p: p, r"^measure must .*one real number per ranking.*shape \(1, 2\)"),
        (lambda p: 1.0, r"^measure must .*returned shape \(\)"),
        (lambda p: p[:, 0] * 1j, "^measure must .*complex"),
        (lambda p: p[:, 0] * np.nan, r"^measure must .*NaN or infinity for positions \[1, 2\]"),
    ],
)
def test_measures_that_cannot_be_taken(measure, message):
    with pytest.raises(ValueError, match=message):
        recall_level_metric([1, 2], measure)
