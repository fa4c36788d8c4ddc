"""Blocks of rows: joined and split between stretches of one query."""

import numpy as np
import pytest

from skfilterrank._lists.row_blocks import Block, check_one_type, merged
from skfilterrank.exceptions import InputError


def block(ids, sizes, first=0):
    sizes = np.array(sizes)
    values = np.arange(first, first + sizes.sum(), dtype=float)
    return Block(np.array(ids), sizes, {"label": values, "score": -values})


def parts(found):
    return found.ids.tolist(), found.sizes.tolist(), found.columns["label"].tolist()


def test_a_query_that_is_cut_becomes_whole():
    joined = block(["a", "b"], [2, 1]).join(block(["b", "c"], [2, 1], first=3))
    assert parts(joined) == (["a", "b", "c"], [2, 3, 1], [0, 1, 2, 3, 4, 5])
    assert joined.n_rows == 6
    assert joined.columns["score"].tolist() == [0, -1, -2, -3, -4, -5]


def test_queries_that_are_not_neighbours_stay_apart():
    joined = block([1, 2], [1, 1]).join(block([1, 3], [1, 1], first=2))
    assert parts(joined) == ([1, 2, 1, 3], [1, 1, 1, 1], [0, 1, 2, 3])


def test_the_rows_of_each_query():
    index = block(["b", "a"], [2, 3]).group_index()
    assert index.n_queries == 2
    assert index.sizes.tolist() == [2, 3]
    assert index.starts.tolist() == [0, 2]
    assert index.codes().tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(("at", "row"), [(0, 0), (1, 2), (3, 6)])
def test_split_and_joined_again(at, row):
    whole = block(["a", "b", "c"], [2, 3, 1])
    left, right = whole.split(at)
    assert (left.n_rows, right.n_rows) == (row, 6 - row)
    assert right.columns["label"].tolist() == list(range(row, 6))
    if 0 < at < 3:
        assert parts(left.join(right)) == parts(whole)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.array(["a"]), np.array(["b"], dtype=object)),
        (np.array(["a"], dtype="U1"), np.array(["bcd"], dtype="U3")),
        (np.array([1], dtype=np.int32), np.array([2], dtype=np.uint8)),
        (np.array([1], dtype=object), np.array([2.5], dtype=object)),
        (np.array(["2020-01-01"], dtype="M8[D]"), np.array(["2021-01-01"], dtype="M8[D]")),
    ],
)
def test_ids_that_can_be_compared(left, right):
    check_one_type(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.array([1]), np.array(["1"])),
        (np.array(["1"], dtype=object), np.array([1], dtype=object)),
        (np.array([1]), np.array([1.0])),
        # As float64 it would be 2**53 too.
        (np.array([2**53 + 1], dtype=np.uint64), np.array([2**53])),
        (np.array(["2020-01-01"], dtype="M8[D]"), np.array(["2020-01-01"], dtype="M8[s]")),
    ],
)
def test_ids_that_cannot(left, right):
    with pytest.raises(InputError, match=r"query ids are of different types, such as .* one type"):
        check_one_type(left, right)


def test_what_is_known_of_all():
    class Names(list):
        def merge(self, other):
            return Names([*self, *other])

    assert merged([Names("a"), Names("bc"), Names("d")]) == list("abcd")
    with pytest.raises(TypeError):
        merged([])
