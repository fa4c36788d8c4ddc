"""First documents of each list for each of several sets of rows."""

import numpy as np

from skfilterrank._lists.entry_steps import PathOfSets, nonzero_of_rows
from skfilterrank._lists.lists import RankedLists

NO = -np.inf


def lists_of(scores, groups, ties="average"):
    return RankedLists(np.zeros(len(scores)), scores, groups=groups, ties=ties)


def columns_of(path, lists):
    return [path.columns(block).tolist() for block in lists.blocks()]


def test_masks_are_in_the_order_of_the_lists():
    # The second document of the list is hidden in all sets.
    lists = lists_of([1.0, NO, 3.0, 2.0], [1, 1, 1, 1])
    path = PathOfSets.of(lists, [np.array([1, 1, 0, 1], bool), np.ones(4, bool)], depth=2)
    # Column 4 is behind the end.
    assert columns_of(path, lists) == [[[[3, 0]], [[2, 3]]]]
    assert path.levels.tolist() == [0, -1]


def test_scores_order_what_they_show():
    lists = lists_of([4.0, 3.0, 2.0, 1.0, 5.0], [1, 1, 1, 1, 1])
    path = PathOfSets.of(lists, [[NO, 1, 2, NO, NO], [1, 2, 3, 4, 5]], [0.5, 0.25], depth=2)
    assert columns_of(path, lists) == [[[[2, 1]], [[4, 3]]]]
    assert path.levels.tolist() == [0.5, 0.25]
    assert [mask.tolist() for mask in path.masks()] == [
        [False, True, True, False, False],
        [False, False, False, True, True],
    ]


def test_equal_scores_stand_as_in_the_lists():
    lists = lists_of([1.0, 2.0], [1, 1])
    assert columns_of(PathOfSets.of(lists, [[7.0, 7.0]]), lists) == [[[[1, 0]]]]


def test_a_path_is_made_once():
    lists = lists_of([1.0, 2.0, 1.0], [1, 1, 2])
    path = PathOfSets.of(lists, iter([lists.scores]))
    assert PathOfSets.of(lists, path) is path
    assert PathOfSets.of(lists, []).levels.tolist() == []


def test_nonzero_of_rows():
    mask = np.random.default_rng(0).random((7, 5)) < 0.4
    for found, expected in zip(nonzero_of_rows(mask), np.nonzero(mask)):
        np.testing.assert_array_equal(found, expected)
