"""Exposures and the normalisations of equation 1, as printed in definition 2.1."""

import math

import numpy as np
import pytest

from skfilterrank._lists.scoring import EXPOSURES
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
    np.testing.assert_allclose(EXPOSURES[name](POSITIONS, 0.8), BY_HAND[name], rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Precision at positions 1, 2, 3 and 7, averaged over four relevant documents.
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
