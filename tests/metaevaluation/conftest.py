"""What the tests of comparisons share."""

import numpy as np
import pytest


def pytest_itemcollected(item):
    """Small matrices by hand often have more systems than queries, which is warned of."""
    item.add_marker(pytest.mark.filterwarnings("ignore:values are read as"))


@pytest.fixture
def values():
    """Values of 7 systems for 20 queries."""
    rng = np.random.RandomState(3)
    return rng.uniform(size=(7, 20)) + rng.uniform(size=(7, 1)) / 2
