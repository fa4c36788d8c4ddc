"""Kendall's tau and AP correlation."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from skfilterrank.comparison import SystemScores, kendall_tau, tau_ap

tau_ap_b = partial(tau_ap, symmetric=True)
ALL = (kendall_tau, tau_ap, tau_ap_b)
# Few different values, so that there are ties.
PAIRS_OF_VALUES = st.integers(2, 7).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(0, 4), min_size=size, max_size=size)] * 2)
)


def named(values):
    return {f"s{place}": value for place, value in enumerate(values)}


def loop_tau_ap(truth, predicted):
    """The formula by the letter, for orders given as lists of names."""
    total = 0
    for i in range(1, len(predicted)):
        right = sum(truth.index(above) < truth.index(predicted[i]) for above in predicted[:i])
        total += right / i
    return 2 * total / (len(predicted) - 1) - 1


def loop_tau_ap_b(first, second):
    """Both directions by the letter, for dicts of values."""
    found = []
    for walked, other in ((first, second), (second, first)):
        shares = []
        for name in walked:
            above = [each for each in walked if walked[each] > walked[name]]
            if above:
                right = [each for each in above if other[each] > other[name]]
                shares.append(len(right) / len(above))
        found.append(2 * sum(shares) / len(shares) - 1)
    return sum(found) / 2


@pytest.mark.slow
def test_tau_ap_of_all_orders_of_five():
    truth = list("abcde")
    for predicted in map(list, itertools.permutations(truth)):
        assert tau_ap(truth, predicted) == pytest.approx(loop_tau_ap(truth, predicted), abs=1e-12)
        both = (loop_tau_ap(truth, predicted) + loop_tau_ap(predicted, truth)) / 2
        assert tau_ap_b(truth, predicted) == pytest.approx(both, abs=1e-12)
        pairs = list(itertools.combinations(predicted, 2))
        n_right = sum(one < other for one, other in pairs)
        assert kendall_tau(truth, predicted) == pytest.approx((2 * n_right - 10) / 10, abs=1e-12)


@given(PAIRS_OF_VALUES)
def test_tau_ap_b_with_ties(values):
    first, second = map(named, values)
    found = tau_ap_b(first, second)
    if len(set(values[0])) == 1 or len(set(values[1])) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(loop_tau_ap_b(first, second), abs=1e-12)
        assert -1 - 1e-12 <= found <= 1 + 1e-12
    np.testing.assert_equal(tau_ap_b(second, first), found)


@given(PAIRS_OF_VALUES)
def test_kendall_tau_is_that_of_scipy(values):
    np.testing.assert_allclose(
        kendall_tau(*map(named, values)), kendalltau(*values).statistic, atol=1e-12
    )


def test_a_tie_in_the_truth_is_never_right():
    # a and b are tied in the truth: the pair is never right, so 1/1 is lost at rank 2.
    truth = {"a": 0.5, "b": 0.5, "c": 0.1}
    assert tau_ap(truth, ["a", "b", "c"]) == pytest.approx(2 * (0 / 1 + 2 / 2) / 2 - 1)
    assert tau_ap(["a", "b", "c"], ["a", "b", "c"]) == 1


@pytest.mark.parametrize("correlation", ALL)
def test_forms_of_orders(correlation):
    rng = np.random.default_rng(0)
    values = rng.random((6, 4))
    scores = SystemScores(values, systems=list("abcdef"))
    errors = SystemScores(1 - values, systems=list("abcdef"), greater_is_better=False)
    predicted = pd.Series(rng.random(6), list("fedcba"))
    expected = correlation(scores.means, predicted)
    assert correlation(scores, predicted) == expected
    assert correlation(errors, predicted) == expected
    assert correlation(scores.means.to_dict(), predicted.to_dict()) == expected
    by_name = list(predicted.sort_values(ascending=False).index)
    assert correlation(list(scores.means.index), by_name) == expected
    assert correlation(np.array(scores.means.index), tuple(by_name)) == expected


@pytest.mark.parametrize("correlation", [kendall_tau, tau_ap_b])
@pytest.mark.parametrize("tied", [0, 1])
def test_all_tied(correlation, tied):
    orders = [named([1.0, 2.0, 3.0]), named([1.0, 2.0, 3.0])]
    orders[tied] = named([5.0, 5.0, 5.0])
    assert np.isnan(correlation(*orders))


def test_infinite_values_may_tie():
    order = named([np.inf, np.inf, 1.0, -np.inf])
    assert tau_ap_b(order, order) == kendall_tau(order, order) == 1


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            ["a", "b"],
            ["a", "x"],
            "the same systems, but 2 are in only one of the two, such as 'b' in",
        ),
        (["a"], ["a"], "at least 2 systems, got 1"),
        (["a", "a"], ["a", "a"], "once, but 'a' occurs more than once"),
        ({"a": 1, "b": np.nan}, ["a", "b"], "1 is missing"),
        ({"a": 1, "b": "x"}, ["a", "b"], "must hold a number for each system"),
        ([0.5, 0.3], [0.3, 0.5], "names of systems, the best first; got list of numbers"),
        (np.ones((2, 2)), ["a", "b"], "must name the systems, got an array of numbers"),
        (np.array([3, 1, 2]), np.array([1, 2, 3]), "truth must name the systems, got an array"),
        ("ab", ["a", "b"], "the best first; got str"),
        (3, ["a", "b"], "the best first; got int"),
    ],
)
def test_bad_orders(first, second, message):
    with pytest.raises(ValueError, match=message):
        tau_ap(first, second)


@pytest.mark.parametrize("n_values", [2, 30, 10**6])
@pytest.mark.parametrize("size", [2, 3, 64, 301])
def test_long_orders_as_pair_by_pair(size, n_values):
    rng = np.random.default_rng(size)
    first, second = rng.integers(0, n_values, (2, size))
    # Of two values at least, or there is no order.
    first[:2], second[:2] = (0, 1), (1, 0)
    expected = []
    for walked, other in ((first, second), (second, first)):
        above = walked[None, :] > walked[:, None]
        right = (above & (other[None, :] > other[:, None])).sum(axis=1)
        counted = above.any(axis=1)
        expected.append(2 * np.mean(right[counted] / above.sum(axis=1)[counted]) - 1)
    assert tau_ap_b(named(first), named(second)) == np.mean(expected)
