"""Sums over partitions: each partition is asked once, and what is said is merged in order."""

import pandas as pd
import pytest

from skfilterrank._dask.fold import each_partition, fold_partitions

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


class Said(list):
    """What partitions say, in the order in which it is merged."""

    def merge(self, other):
        return Said(self + other)


def frame_of(n_partitions):
    parts = [pd.DataFrame({"x": [10 * number]}) for number in range(n_partitions)]
    return dd.from_map(lambda part: part, parts, meta=parts[0][:0])


def said(part, number, added, without):
    value = int(part["x"].iloc[0]) + added
    return None if number in without else Said([(number, value)])


# Up to eight are merged at a time, so that 1, 8, 9 and 70 take none, one, two and three rounds.
@pytest.mark.slow
@pytest.mark.parametrize("n_partitions", [1, 8, 9, 70])
def test_all_partitions_are_merged_in_their_order(n_partitions):
    expected = [(number, 10 * number + 1) for number in range(n_partitions)]
    assert fold_partitions(frame_of(n_partitions), said, 1, ()) == expected
    assert sum(each_partition(frame_of(n_partitions), said, 1, ()), Said()) == expected


def test_partitions_that_say_nothing():
    assert fold_partitions(frame_of(3), said, 0, (0, 2)) == [(1, 10)]
    assert fold_partitions(frame_of(3), said, 0, (0, 1, 2)) is None
    assert list(each_partition(frame_of(3), said, 0, (0, 2))) == [[(1, 10)]]
