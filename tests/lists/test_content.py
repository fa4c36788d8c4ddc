"""Queries in an order that their content decides, and folds of them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skfilterrank._lists.content import by_content, hash_rows, hash_scores, query_folds
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


@pytest.mark.parametrize(
    "convert",
    [
        pd.DataFrame,
        sparse.csr_array,
        sparse.csc_matrix,
        np.ndarray.tolist,
        lambda table: table.astype(object),
        lambda table: pd.DataFrame(table).convert_dtypes(),
        lambda table: table.astype(np.float32),
        lambda table: np.asfortranarray(-(0.0 - table)),
        lambda table: table * (1 + 1e-15),
    ],
)
def test_values_count_and_not_what_holds_them(convert):
    np.testing.assert_array_equal(hash_rows(convert(X)), hash_rows(X))


def test_texts_and_columns_count():
    texts = ["b", "a", "b"]
    one, two, three = hash_rows(texts)
    assert one == three != two
    table = pd.DataFrame({"x": pd.Categorical(texts), "n": [1.0, 1.0, np.nan]})
    assert len(set(hash_rows(table))) == 3
    assert len(set(hash_rows([[1, 2], [2, 1], [0, 3], [3, 0], [0, 0]]))) == 5
    assert hash_rows(texts, [1, 2, 3])[0] != hash_rows(texts, [2, 2, 3])[0]


def test_the_scale_of_scores_does_not_count():
    scores = X[:, 0]
    every, some = np.ones(60, dtype=bool), GROUPS > 3
    np.testing.assert_array_equal(hash_scores(every, np.exp(scores)), hash_scores(every, scores))
    assert (hash_scores(every, -scores) != hash_scores(every, scores)).any()
    of_some = hash_scores(some, scores)
    np.testing.assert_array_equal(of_some[some], hash_scores(every[some], scores[some]))
    assert not of_some[~some].any()


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
    assert set(found[levels == 0]) != set(range(min(found[levels == 0]), 5))


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


def test_unpaired_surrogates_are_texts():
    found = hash_rows(pd.Series(["a\ud83d", "a", "a\ud83d"], dtype=object))
    assert found[0] == found[2] != found[1]
