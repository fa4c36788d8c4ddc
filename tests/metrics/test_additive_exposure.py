"""Exposures and the normalisations of equation 1, as printed in definition 2.1."""

import math

import numpy as np
import pytest

from skfilterrank._lists.scoring import resolve_exposure
from skfilterrank.metaevaluation import recall_level_metric

POSITIONS = np.array([1.0, 2.0, 3.0, 7.0])

BY_HAND = {
    "ap": [1, 1 / 2, 1 / 3, 1 / 7],
    "ndcg": [1 / math.log2(2), 1 / math.log2(3), 1 / math.log2(4), 1 / math.log2(8)],
    "rbp": [0.2, 0.2 * 0.8, 0.2 * 0.8**2, 0.2 * 0.8**6],
}

names = pytest.mark.parametrize("name", BY_HAND)


@names
def test_by_hand(name):
    np.testing.assert_allclose(resolve_exposure(name)(POSITIONS), BY_HAND[name], rtol=1e-15)


def test_a_callable_is_its_own_exposure():
    exposure = resolve_exposure(lambda position: 1 / position**2)
    np.testing.assert_array_equal(exposure(POSITIONS), [1, 1 / 4, 1 / 9, 1 / 49])
    assert resolve_exposure(lambda position: position < 3)(POSITIONS).dtype == np.float64


@pytest.mark.parametrize("exposure", ["AP", "dcg", "", None, 0.5, ["ap"]])
def test_unknown_exposure(exposure):
    with pytest.raises(ValueError, match=r"^exposure must be 'ap', 'ndcg', 'rbp' or a callable"):
        resolve_exposure(exposure)


@pytest.mark.parametrize("persistence", [0, 1, 0.0, 1.0, -0.1, 2, math.nan, True, None, "0.8"])
def test_persistence_out_of_range(persistence):
    with pytest.raises(ValueError, match="persistence must be a number between 0 and 1"):
        resolve_exposure("rbp", persistence=persistence)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda i: 1.0, r"given shape \(4,\) and returned shape \(\)"),
        (lambda i: 1 / i[:2], r"returned shape \(2,\)"),
        (lambda i: np.where(i == 3, np.nan, 1.0), "nan for position 3"),
        (lambda i: np.where(i == 7, np.inf, 1.0), "inf for position 7"),
        (lambda i: i.astype(str), "real numbers"),
        (lambda i: i + 1j, "real numbers"),
    ],
)
def test_callables_that_return_something_else(function, message):
    with pytest.raises(ValueError, match=f"^exposure must .*{message}"):
        resolve_exposure(function)(POSITIONS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Precision at positions 1, 2, 3 and 7, averaged over four relevant items.
        ("ap", (1 / 1 + 2 / 2 + 3 / 3 + 4 / 7) / 4),
        (
            "ndcg",
            (1 + 1 / math.log2(3) + 1 / 2 + 1 / 3)
            / (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)),
        ),
        ("rbp", 0.2 * (1 + 0.8 + 0.8**2 + 0.8**6)),
    ],
)
def test_equation_1_by_hand(name, expected):
    assert recall_level_metric(POSITIONS, name) == pytest.approx(expected, rel=1e-14)
    both = recall_level_metric(np.stack([POSITIONS, POSITIONS]), name)
    np.testing.assert_allclose(both, [expected, expected], rtol=1e-14)
