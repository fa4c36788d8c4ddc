"""Correction of p values for the number of pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._base.system_pairs import adjust_p_values
from skfilterrank.comparison import compare_systems

METHODS = ["holm", "bonferroni", "fdr_bh"]
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_by_hand():
    p_value = [0.01, 0.2, 0.04, 0.02]
    np.testing.assert_allclose(adjust_p_values(p_value, "bonferroni"), [0.04, 0.8, 0.16, 0.08])
    # 0.01 * 4, 0.02 * 3, 0.04 * 2, 0.2 * 1, each at least the one before.
    np.testing.assert_allclose(adjust_p_values(p_value, "holm"), [0.04, 0.2, 0.08, 0.06])
    # From the largest: 0.2 * 4 / 4, 0.04 * 4 / 3, 0.02 * 4 / 2, 0.01 * 4 / 1, at most the last.
    expected = [0.04, 0.2, 0.04 * 4 / 3, 0.04]
    np.testing.assert_allclose(adjust_p_values(p_value, "fdr_bh"), expected)
    np.testing.assert_array_equal(adjust_p_values(p_value, None), p_value)


@pytest.fixture(scope="module")
def multitest():
    return pytest.importorskip("statsmodels.stats.multitest")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@given(p_value=p_values)
def test_as_statsmodels(multitest, method, p_value):
    theirs = multitest.multipletests(p_value, method=method)[1]
    np.testing.assert_allclose(adjust_p_values(p_value, method), theirs, atol=1e-12)


def test_does_not_write_into_what_it_was_given():
    p_value = np.array([0.03, 0.01])
    adjust_p_values(p_value, "holm")[0] = 7
    assert adjust_p_values(p_value, None) is not p_value
    assert p_value.tolist() == [0.03, 0.01]


def test_no_p_values():
    assert adjust_p_values([]).shape == (0,)


@pytest.mark.parametrize("p_value", [[0.5, np.nan], [-0.1], [1.1]])
def test_refuses_what_is_no_p_value(p_value):
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        adjust_p_values(p_value)


def test_unknown_method():
    with pytest.raises(ValueError, match=r"correction must be one of 'holm', .* None, got 'sidak'"):
        adjust_p_values([0.1], "sidak")


@pytest.mark.parametrize("method", [*METHODS, None])
def test_compare_systems_corrects_for_the_pairs_compared(method):
    values = np.random.default_rng(0).random((5, 20))
    for baseline, n_pairs in ((None, 10), ("2", 4)):
        found = compare_systems(values, correction=method, baseline=baseline)
        assert len(found.p_value) == n_pairs
        expected = adjust_p_values(found.p_value, method)
        np.testing.assert_array_equal(found.p_adjusted, expected)
