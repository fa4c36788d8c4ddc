"""Rows that several files of these tests fit thresholds on."""

import pytest

from skfilterrank.datasets import make_rank_and_filter


@pytest.fixture(scope="package")
def few():
    return make_rank_and_filter(80, random_state=0)


@pytest.fixture(scope="package")
def data():
    return make_rank_and_filter(300, random_state=0)
