"""Queries that partitions cut are named, rows of a query come together, sums are merged."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank._files.dask_frames import (
    check_whole,
    cut_query,
    each_partition,
    find_query_ids,
    fold_partitions,
    hash_queries,
    in_query_order,
    plain_ids,
)
from skfilterrank.exceptions import InputError

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def series_of(*partitions):
    parts = [pd.Series(part) for part in partitions]
    return dd.from_map(lambda part: part, parts, meta=parts[0][:0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        ([[1, 1, 2], [3, 3], [4]], None),
        ([[1, 2], [3], [2, 4]], (2, 0, 2)),
        ([["a", "b"], ["b"], ["b", "c"]], ("b", 0, 1)),
        ([[5], [6], [7]], None),
    ],
)
def test_a_query_in_two_partitions(partitions, expected):
    found = cut_query(series_of(*partitions))
    assert found == expected
    if expected is None:
        check_whole(series_of(*partitions))
        return
    query, first, second = expected
    with pytest.raises(InputError, match=f"{query!r} has rows in partitions {first} and {second}"):
        check_whole(series_of(*partitions))


def test_ids_have_one_number_with_and_without_categories():
    names = pd.Series(["b", "a", "b", "c"])
    numbers = hash_queries(names)
    assert numbers.dtype == np.uint64
    assert len(set(numbers)) == 3
    assert numbers[0] == numbers[2]
    as_categories = plain_ids(0, names.astype("category"), "category", "groups")
    np.testing.assert_array_equal(hash_queries(as_categories), numbers)


def test_missing_ids_are_counted():
    ids = pd.Series([1.0, np.nan, 2.0, np.nan])
    with pytest.raises(InputError, match=r"query holds 2 null\(s\) in partition 7, the first at"):
        plain_ids(7, ids, ids.dtype, "query")


def test_rows_of_a_query_stand_as_they_came():
    part = pd.DataFrame({"query": [2, 1, 2, 1, 2], "row": [9, 5, 0, 4, 3], "x": list("abcde")})
    assert in_query_order(part, "query", "row")["x"].tolist() == ["d", "b", "c", "e", "a"]
    assert in_query_order(part[:0], "query", "row").empty


def test_where_query_ids_come_from():
    given = series_of([1, 2])
    assert find_query_ids(given) is given
    table = pd.DataFrame({"x": [1, 2, 3]}, index=pd.Index([4, 4, 5], name="qid"))
    frame = dd.from_pandas(table, npartitions=2)
    assert find_query_ids(None, None, frame).compute().tolist() == [4, 4, 5]
    with pytest.raises(InputError, match="groups is missing"):
        find_query_ids(None, frame.reset_index(drop=True))


class Noted(list):
    """Results of partitions, in the order in which they are merged."""

    def merge(self, other):
        return Noted(self + other)


def frame_of(n_partitions):
    parts = [pd.DataFrame({"x": [10 * number]}) for number in range(n_partitions)]
    return dd.from_map(lambda part: part, parts, meta=parts[0][:0])


def noted(part, number, added, without):
    value = int(part["x"].iloc[0]) + added
    return None if number in without else Noted([(number, value)])


# Up to eight are merged at a time, so that 1, 8, 9 and 70 take none, one, two and three rounds.
@pytest.mark.slow
@pytest.mark.parametrize("n_partitions", [1, 8, 9, 70])
def test_all_partitions_are_merged_in_their_order(n_partitions):
    expected = [(number, 10 * number + 1) for number in range(n_partitions)]
    assert fold_partitions(frame_of(n_partitions), noted, 1, ()) == expected
    assert sum(each_partition(frame_of(n_partitions), noted, 1, ()), Noted()) == expected


def test_partitions_without_a_result():
    assert fold_partitions(frame_of(3), noted, 0, (0, 2)) == [(1, 10)]
    assert fold_partitions(frame_of(3), noted, 0, (0, 1, 2)) is None
    assert list(each_partition(frame_of(3), noted, 0, (0, 2))) == [[(1, 10)]]
