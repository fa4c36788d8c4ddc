"""What the tests of comparisons share."""

import pytest


def pytest_itemcollected(item):
    """Small matrices by hand often have more systems than queries, which is warned of."""
    item.add_marker(pytest.mark.filterwarnings("ignore:values are read as"))
