"""Queries in an order that their content decides, and folds of them."""

import numpy as np
import pytest

from skfilterrank._lists.content import by_content, hash_rows, query_folds
from skfilterrank._lists.queries import GroupIndex

X = np.random.default_rng(0).normal(size=(60, 3)).round(2)
X[X < 0] = 0
GROUPS = np.repeat(np.arange(20), 3)


def numbers(rows, groups, *labels):
    return by_content(GroupIndex.from_groups(groups), rows, *labels)[0].codes()


def test_the_order_is_that_of_the_content():
    expected = numbers(hash_rows(X), GROUPS)
    assert sorted(set(expected)) == list(range(20))
    assert (expected != GROUPS).any()
    np.testing.assert_array_equal(numbers(hash_rows(X), GROUPS[::-1].copy()), expected)
    order = np.random.default_rng(1).permutation(60)
    np.testing.assert_array_equal(numbers(hash_rows(X[order]), GROUPS[order]), expected[order])


def test_labels_order_only_queries_that_are_equal_otherwise():
    labels = np.zeros(60)
    changed = np.where(GROUPS == 4, 1.0, 0.0)
    hashes = hash_rows(X)
    before = numbers(hashes, GROUPS, labels)
    np.testing.assert_array_equal(numbers(hashes, GROUPS, changed), before)
    # Copies of a query: the labels tell them apart, whatever they are called.
    same = np.zeros(60, dtype=np.uint64)
    levels = np.repeat([0, 1, 2, 3], 15).astype(float)
    found = numbers(same, GROUPS, levels)
    renamed = numbers(same, 19 - GROUPS, levels)
    for level in range(4):
        own = levels == level
        assert set(found[own]) == set(renamed[own])
    # They are not side by side.
    assert np.ptp(found[levels == 0]) > 4


def test_few_queries_move_if_another_comes():
    rows = np.random.default_rng(2).normal(size=(404, 2))
    groups = np.repeat(np.arange(101), 4)
    whole = query_folds(numbers(hash_rows(rows), groups), 5)
    fewer = query_folds(numbers(hash_rows(rows[:400]), groups[:400]), 5)
    assert np.count_nonzero(whole[:400] != fewer) <= 5 * 4


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_folds_are_even(seed):
    folds = query_folds(GROUPS, 3, seed)
    assert sorted(np.bincount(folds[::3])) == [6, 7, 7]
    assert (folds[::3] == folds[1::3]).all()
    assert seed == 0 or (folds != query_folds(GROUPS, 3)).any()
