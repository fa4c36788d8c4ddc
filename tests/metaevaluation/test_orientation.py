"""Orientation: figure 2 by hand, and what the text says of figure 3."""

import math

import numpy as np
import pytest

from skfilterrank.metaevaluation import metric_orientation

COUNTS = np.arange(1, 16)


@pytest.fixture(scope="module")
def figure_3():
    """Orientations of 100,000 items with 1 to 15 relevant ones, by kind and measure."""
    names = ["rr", "ndcg", "ap", "recall@1000", "r_precision", "rbp", "tse"]
    return {
        kind: {name: metric_orientation(name, 10**5, COUNTS, kind=kind) for name in names}
        for kind in ("precision", "recall")
    }


@pytest.mark.parametrize(
    ("measure", "precision", "recall"),
    [
        # Ten items, three relevant: 1, 9, 10 -> 8, 9, 10 and 1, 2, 3 -> 1, 2, 10.
        ("ap", (1 - 1 / 8) / 3, (3 / 3 - 3 / 10) / 3),
        ("rr", 1 - 1 / 8, 0),
        ("tse", 0, 1 / 3 - 1 / 10),
        ("rbp", 0.2 * (1 - 0.8**7), 0.2 * (0.8**2 - 0.8**9)),
        ("recall@5", 1 / 3, 1 / 3),
        ("r_precision", 1 / 3, 1 / 3),
        (
            "ndcg",
            (1 - 1 / math.log2(9)) / (1 + 1 / math.log2(3) + 1 / 2),
            (1 / 2 - 1 / math.log2(11)) / (1 + 1 / math.log2(3) + 1 / 2),
        ),
    ],
)
def test_figure_2_by_hand(measure, precision, recall):
    assert metric_orientation(measure, 10, 3, kind="precision") == pytest.approx(precision)
    assert metric_orientation(measure, 10, 3, kind="recall") == pytest.approx(recall)


def test_a_callable_sees_the_two_rankings():
    seen = []

    def measure(positions):
        seen.extend(positions.astype(int).tolist())
        return positions.sum(axis=1)

    assert metric_orientation(measure, 10, 3, kind="precision") == -7
    assert metric_orientation(measure, 10, 3, kind="recall") == -7
    assert seen == [[1, 9, 10], [8, 9, 10], [1, 2, 3], [1, 2, 10]]


def test_everything_relevant_cannot_move():
    for kind in ("precision", "recall"):
        np.testing.assert_array_equal(metric_orientation("ap", 3, [3], kind=kind), [0])


@pytest.mark.slow
def test_reciprocal_rank_leads_in_precision(figure_3):
    precision = figure_3["precision"]
    for name, values in precision.items():
        # Recall and R-precision pass it by 1 / n with one relevant item.
        assert (values[1:] < precision["rr"][1:]).all() or name == "rr"
        assert values[0] <= precision["rr"][0] + 1e-4


def test_ap_recall_and_r_precision_have_one_precision_orientation(figure_3):
    precision = figure_3["precision"]
    np.testing.assert_array_equal(precision["recall@1000"], 1 / COUNTS)
    np.testing.assert_array_equal(precision["r_precision"], 1 / COUNTS)
    np.testing.assert_allclose(precision["ap"], 1 / COUNTS, atol=1.1e-5)
    assert (precision["ap"] < 1 / COUNTS).all()


def test_rr_has_no_recall_orientation(figure_3):
    assert figure_3["recall"]["rr"][0] == pytest.approx(1, abs=1.1e-5)
    np.testing.assert_array_equal(figure_3["recall"]["rr"][1:], 0)


def test_total_search_efficiency(figure_3):
    np.testing.assert_array_equal(figure_3["precision"]["tse"][1:], 0)
    # With AP's exposure it is AP's own recall orientation.
    np.testing.assert_allclose(figure_3["recall"]["tse"], figure_3["recall"]["ap"], rtol=1e-10)
    with_ndcg = metric_orientation("tse(exposure=ndcg)", 10**5, COUNTS)
    assert (with_ndcg[1:] > figure_3["recall"]["recall@1000"][1:]).all()


def test_parameters_are_checked():
    with pytest.raises(ValueError, match=r"^kind must be one of"):
        metric_orientation("ap", 10, 3, kind="fallout")
    with pytest.raises(
        ValueError, match=r"^n_relevant must be a whole number from 1 to 10, got 11"
    ):
        metric_orientation("ap", 10, [3, 11])
    with pytest.raises(ValueError, match=r"^n_items must be a whole number from 1 up"):
        metric_orientation("ap", 0, 1)
