"""Means over the orders of tied documents, against every order, and by hand."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._lists.ties import find_ties, mean_none_relevant, mean_products, mean_stops

INF = np.inf
# Sort keys in list order: a tie of two, one alone, a tie of three, and two that are filtered.
KEYS = np.array(
    [[1.0, 1.0, 2.0, 3.0, 3.0, 3.0, INF, INF], [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 5.0]]
)
TIES = find_ties(np.array([0, 1]), KEYS)


def orders(keys):
    """Every order of the places of a list that its ties allow."""
    tied = [np.flatnonzero(keys == key).tolist() for key in dict.fromkeys(keys[keys < INF])]
    tied += [[place] for place in np.flatnonzero(keys == INF).tolist()]
    for parts in product(*(permutations(tie) for tie in tied)):
        yield [place for part in parts for place in part]


def mean_over_orders(value, *columns):
    """Mean of a function of columns in every order, list by list."""
    return np.array(
        [
            np.mean([value(*(row[order] for row in rows)) for order in orders(keys)], axis=0)
            for keys, *rows in zip(KEYS, *columns)
        ]
    )


def test_places_and_lengths():
    assert TIES.first.tolist() == [[0, 0, 2, 3, 3, 3, 6, 7], [0, 1, 2, 3, 4, 4, 4, 4]]
    assert TIES.length.tolist() == [[2, 2, 1, 3, 3, 3, 1, 1], [1, 1, 1, 1, 4, 4, 4, 4]]


def test_sums_of_a_tie_and_above_it():
    values = np.array([[1.0, 2, 4, 8, 16, 32, 64, 128], [1.0, 2, 4, 8, 16, 32, 64, 128]])
    assert TIES.sums(values).tolist() == [
        [3, 3, 4, 56, 56, 56, 64, 128],
        [1, 2, 4, 8, 240, 240, 240, 240],
    ]
    assert TIES.before(values).tolist() == [
        [0, 0, 3, 7, 7, 7, 63, 127],
        [0, 1, 3, 7, 15, 15, 15, 15],
    ]
    empty = find_ties(np.array([0]), np.empty((1, 0)))
    assert empty.sums(np.empty((1, 0))).shape == (1, 0)


numbers = st.lists(st.sampled_from([0.0, 1.0, 0.5, 3.0]), min_size=16, max_size=16)
matrices = numbers.map(lambda values: np.array(values).reshape(2, 8))


@given(matrices, matrices)
def test_products_with_what_stands_above(left, right):
    """Of two different documents of a tie, either is as often above the other."""
    expected = mean_over_orders(lambda a, b: a * (np.cumsum(b) - b), left, right)
    np.testing.assert_allclose(mean_products(TIES, left, right), expected, rtol=1e-12, atol=1e-12)


@given(matrices.map(lambda values: (values > 0.9).astype(float)))
def test_nothing_relevant_so_far(relevant):
    shown = relevant * (KEYS < INF)
    means = TIES.sums(shown) / TIES.length
    expected = mean_over_orders(lambda row: np.cumprod(1 - row), shown)
    for depth in (1, 5, 8):
        found = mean_none_relevant(TIES, means[:, :depth])
        np.testing.assert_allclose(found, expected[:, :depth], rtol=1e-12, atol=1e-15)


@pytest.mark.slow
@given(matrices.map(lambda values: values / 4))
def test_stops(chances):
    chances = chances * (KEYS < INF)
    above = lambda row: np.append(1.0, np.cumprod(1 - row)[:-1])  # noqa: E731
    expected = mean_over_orders(lambda row: row * above(row), chances)
    for depth in (1, 4, 8):
        found = mean_stops(TIES, chances, depth)
        np.testing.assert_allclose(found, expected[:, :depth], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 30])
def test_one_document_of_a_tie_satisfies(n):
    """It is as often in each place: its chance over n; and of two, the second after the first."""
    ties = find_ties(np.array([0]), np.ones((1, n)))
    chances = np.zeros((1, n))
    chances[0, n // 2] = 0.75
    np.testing.assert_allclose(mean_stops(ties, chances, n), np.full((1, n), 0.75 / n), rtol=1e-13)
    chances[0, 0] = 0.75
    # In place j, one of the two in 2 / n of the orders, and the other above in (j - 1) / (n - 1).
    place = np.arange(1, n + 1)
    expected = 2 / n * 0.75 * (1 - (place - 1) / (n - 1) * 0.75)
    np.testing.assert_allclose(mean_stops(ties, chances, n)[0], expected, rtol=1e-12)
