"""One number of the values of many queries, by hand."""

from math import exp, log

import numpy as np
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.metrics import get_measure

# Of four queries, AP 1, 1/2 and 1/3, and the last without a relevant document.
Y_TRUE = [1, 0, 0, 1, 0, 0, 1, 0]
Y_SCORE = [2, 1, 2, 1, 3, 2, 1, 1]
GROUPS = ["a", "a", "b", "b", "c", "c", "c", "d"]
ROWS = {"groups": GROUPS}
AP = [1, 1 / 2, 1 / 3]


def number(name, **params):
    return get_measure(name)(Y_TRUE, Y_SCORE, **ROWS, **params)


def test_undefined_queries_have_a_value_or_none():
    assert number("ap") == number("ap", undefined=0.0) == pytest.approx(sum(AP) / 4, rel=1e-15)
    assert number("ap", undefined=0.5) == pytest.approx((sum(AP) + 0.5) / 4, rel=1e-15)
    assert number("ap", undefined="drop") == pytest.approx(sum(AP) / 3, rel=1e-15)
    ap = get_measure("ap")
    values = ap.per_query(Y_TRUE, Y_SCORE, **ROWS, undefined="drop")
    np.testing.assert_allclose(values, [*AP, np.nan], rtol=1e-15)
    values = ap.per_query(Y_TRUE, Y_SCORE, **ROWS, undefined=-1)
    np.testing.assert_allclose(values, [*AP, -1], rtol=1e-15)


@pytest.mark.parametrize("scale", [1, 1000, 1e-300])
def test_weighted_mean(scale):
    """Its weights are of any scale, and those of queries without a value are not counted."""
    weights = {"a": scale, "b": 2 * scale, "c": 0, "d": 5 * scale}
    assert number("ap", query_weight=weights) == pytest.approx((1 + 2 / 2) / 8, rel=1e-14)
    dropped = number("ap", query_weight=weights, undefined="drop")
    assert dropped == pytest.approx((1 + 2 / 2) / 3, rel=1e-14)


def test_equal_weights_are_none_to_the_bit():
    for undefined in (0.0, "drop"):
        plain = number("ap", undefined=undefined)
        same = number("ap", undefined=undefined, query_weight=dict.fromkeys("abcd", 0.3))
        assert same == plain
    # Of those that count, whatever stands beside them.
    rng = np.random.default_rng(0)
    for _ in range(20):
        y_true, y_score = rng.integers(0, 2, 30), rng.random(30)
        groups, counts = np.arange(30) // 3, np.arange(30) < 21
        plain = get_measure("dcg")(y_true[counts], y_score[counts], groups=groups[counts])
        weights = np.where(counts, 0.3, 0.0)
        assert get_measure("dcg")(y_true, y_score, groups=groups, query_weight=weights) == plain


def test_sum_counts_a_query_as_often_as_its_weight_says():
    assert number("num_ret") == 8
    assert number("num_rel_ret") == 3
    weights = {"a": 2, "b": 0.5, "c": 0, "d": 1}
    assert number("num_ret", query_weight=weights) == 2 * 2 + 0.5 * 2 + 1
    assert number("num_rel_ret", query_weight=weights) == 2 + 0.5
    assert number("num_q", query_weight=dict.fromkeys("abcd", 3)) == 12


def test_geometric_mean_of_no_value_below_a_hundred_thousandth():
    logs = [0, log(1 / 2), log(1 / 3)]
    assert number("gm_map", undefined="drop") == pytest.approx(exp(sum(logs) / 3), rel=1e-14)
    assert number("gm_map") == pytest.approx(exp((sum(logs) + log(1e-5)) / 4), rel=1e-14)
    weights = {"a": 1, "b": 3, "c": 0, "d": 0}
    assert number("gm_map", query_weight=weights) == pytest.approx(exp(3 / 4 * logs[1]), rel=1e-14)


def test_no_query_has_a_value():
    for name in ("ap", "gm_map"):
        value = get_measure(name)([0, 0], [2, 1], groups=[1, 2], undefined="drop")
        assert np.isnan(value)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"undefined": "skip"}, "undefined must be a finite number or 'drop', got 'skip'"),
        ({"undefined": np.inf}, "undefined must be a finite number or 'drop', got inf"),
    ],
)
def test_errors(params, message):
    with pytest.raises(InputError, match=message):
        number("ap", **params)
