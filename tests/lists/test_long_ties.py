"""Means over the orders of a long tie, against all orders of a short one and a closed form."""

import math
from itertools import permutations

import numpy as np
import pytest

from skfilterrank._lists.long_ties import long_tie_stops


def by_orders(chances):
    """Mean chance to stop at each place, over every order of the documents."""
    stops = np.zeros(len(chances))
    for order in permutations(chances):
        stays = 1.0
        for place, chance in enumerate(order):
            stops[place] += stays * chance
            stays *= 1 - chance
    return stops / math.factorial(len(chances))


@pytest.mark.parametrize(
    "chances", [[0.5], [0.0, 0.5], [0.9, 0.1, 0.0], [0.5, 0.5, 0.25, 0.0, 0.0], [0.99, 0.3] * 3]
)
def test_short_ties_by_all_orders(chances):
    expected = by_orders(chances)
    found = long_tie_stops(np.array(chances), len(chances))
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    np.testing.assert_allclose(long_tie_stops(np.array(chances), 1), expected[:1], rtol=1e-11)


def test_two_documents_by_hand():
    # First 0.5 or 0.25, each in half of the orders; then what is left of the other.
    found = long_tie_stops(np.array([0.5, 0.25]), 2)
    np.testing.assert_allclose(found, [0.375, (0.5 * 0.25 + 0.75 * 0.5) / 2], rtol=1e-12)


@pytest.mark.parametrize("n", [100, 3000])
def test_equal_chances_stop_geometrically(n):
    places = np.arange(n)
    found = long_tie_stops(np.full(n, 0.01), n)
    np.testing.assert_allclose(found, 0.01 * 0.99**places, rtol=1e-9)


def test_one_relevant_document_stands_anywhere():
    n = 2000
    chances = np.zeros(n)
    chances[7] = 0.5
    np.testing.assert_allclose(long_tie_stops(chances, n), np.full(n, 0.5 / n), rtol=1e-9)


def test_two_relevant_documents_among_many():
    # At place j: one of the two, while the other stands behind, or before and is passed by.
    n, high, low = 1500, 0.5, 0.2
    chances = np.zeros(n)
    chances[:2] = high, low
    places = np.arange(n)
    before = places / (n - 1)
    expected = (high * (1 - low * before) + low * (1 - high * before)) / n
    np.testing.assert_allclose(long_tie_stops(chances, n), expected, rtol=1e-9)


def exactly(tenths):
    """Means for chances in tenths, in whole numbers: coefficients of products (1 + (1 - R) t)."""
    n, sums = len(tenths), [0] * len(tenths)
    for tenth in set(tenths):
        others = list(tenths)
        others.remove(tenth)
        product = [1]
        for other in others:
            shifted = zip([*product, 0], [0, *product])
            product = [10 * stays + (10 - other) * goes for stays, goes in shifted]
        for place, coefficient in enumerate(product):
            sums[place] += tenths.count(tenth) * tenth * coefficient
    orders = [n * math.comb(n - 1, place) * 10**n for place in range(n)]
    return [total / count for total, count in zip(sums, orders)]


@pytest.mark.parametrize("counts", [{9: 60, 3: 60, 0: 30}, {9: 149, 1: 1}, {5: 2, 8: 148}])
def test_large_chances_leave_little_for_the_end(counts):
    tenths = [tenth for tenth, count in counts.items() for _ in range(count)]
    expected = exactly(tenths)
    assert expected[-1] < 1e-40
    found = long_tie_stops(np.array(tenths) / 10, len(tenths))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
