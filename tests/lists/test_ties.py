"""Means over the orders of tied documents, against every order, and by hand."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skfilterrank._lists.lists import argsort_floats, sort_rows
from skfilterrank._lists.ties import (
    find_ties,
    long_tie_stops,
    mean_none_relevant,
    mean_products,
    mean_stops,
)

INF = np.inf
# Sort keys in list order: a tie of two, one alone, a tie of three, and two that are hidden.
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


@pytest.mark.parametrize("n", [100, 3000])
def test_equal_chances_stop_geometrically(n):
    places = np.arange(n)
    found = long_tie_stops(np.full(n, 0.01), n)
    np.testing.assert_allclose(found, 0.01 * 0.99**places, rtol=1e-9)


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


@given(
    hnp.arrays(
        np.float64,
        st.integers(0, 60),
        elements=st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, -1.0, np.inf, -np.inf]),
    )
)
def test_equals_numpys_stable_sort(values):
    # Adding 0.0 makes -0.0 to 0.0: numpy takes them as equal, their bits are not.
    values = values + 0.0
    np.testing.assert_array_equal(argsort_floats(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e-300, 1e300])
def test_values_that_differ_in_their_last_bits_only(scale):
    rng = np.random.default_rng(0)
    values = (1.0 + rng.integers(0, 50, size=5000) * np.finfo(float).eps) * scale
    values[::3] *= -1
    np.testing.assert_array_equal(argsort_floats(values), np.argsort(values, kind="stable"))


# Neighbours among the floats, and of one leading part only.
CLOSE = [1.0, 1.0 + 2**-52, 1.0 + 2**-51, 1.0 + 2**-40, -1.0, -1.0 - 2**-52, 0.0, -0.0, np.inf]


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 7), st.integers(1, 9)),
        elements=st.floats(allow_nan=False) | st.sampled_from(CLOSE),
    )
)
def test_rows_are_sorted_as_numpy_sorts_them(keys):
    cells, tied = sort_rows(keys)
    order = np.argsort(keys, axis=1, kind="stable")
    np.testing.assert_array_equal(cells, order + keys.shape[1] * np.arange(len(keys))[:, None])
    # No tie goes unseen; +inf is what is not in the list.
    ranked = np.take_along_axis(keys, order, axis=1)
    same = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] < np.inf)
    assert set(np.flatnonzero(same.any(axis=1))) <= set(tied)


def test_rows_far_apart_have_no_ties():
    keys = np.random.default_rng(0).normal(size=(500, 20))
    keys[::3, -2:] = np.inf
    assert sort_rows(keys).tied.size == 0
    keys[7, 3] = keys[7, 11]
    assert sort_rows(keys).tied.tolist() == [7]


def test_keys_are_left_alone():
    keys = np.array([[2.0, 1.0], [-0.0, 0.0]])
    sort_rows(keys)
    assert str(keys.tolist()) == "[[2.0, 1.0], [-0.0, 0.0]]"
