"""Student's paired t test of all pairs."""

import numpy as np
import pytest
from scipy import stats

from skfilterrank.comparison import compare_systems

# Extra hours of sleep of ten patients with two drugs (Student, The probable error of a mean, 1908).
SLEEP = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
]


def test_students_sleep_data():
    found = compare_systems(SLEEP, test="t")
    # t = -4.0621 with 9 degrees of freedom, as every textbook has it; d_z = t / sqrt(n).
    np.testing.assert_allclose(found.effect_size * np.sqrt(10), [-4.0621], atol=5e-5)
    np.testing.assert_allclose(found.p_value, [0.002833], atol=5e-7)
    np.testing.assert_allclose(found.difference, [-1.58])
    np.testing.assert_allclose([found.low, found.high], [[-2.4598858], [-0.7001142]], atol=5e-8)
    assert found.effect_name == "Cohen's d_z"
    assert found.interval_of == "mean difference"
    assert found.n_tied.tolist() == [1]


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n_queries", [2, 5, 40])
def test_every_pair_as_scipy_has_it(alternative, n_queries):
    values = np.random.default_rng(n_queries).random((6, n_queries))
    found = compare_systems(values, test="t", alternative=alternative, correction=None, alpha=0.1)
    assert len(found.first) == 15
    for pair, (first, second) in enumerate(zip(found.first, found.second)):
        theirs = stats.ttest_rel(values[first], values[second], alternative=alternative)
        np.testing.assert_allclose(found.p_value[pair], theirs.pvalue, rtol=1e-9)
        both = stats.ttest_rel(values[first], values[second]).confidence_interval(0.9)
        np.testing.assert_allclose([found.low[pair], found.high[pair]], both, rtol=1e-9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_no_difference_at_all(alternative):
    values = np.tile([0.1, 0.4, 0.7], (2, 1))
    found = compare_systems(values, test="t", alternative=alternative)
    assert found.p_value == 1
    assert found.effect_size == found.low == found.high == found.difference == 0


def test_constant_difference():
    # 0.3 - 0.2 and 0.2 - 0.1 differ in the last bit, and mean the same.
    values = np.array([[0.3, 0.2, 0.7], [0.2, 0.1, 0.6], [0.1, 0.0, 0.5]])
    found = compare_systems(values, test="t", correction=None)
    # No spread, so that t is infinite; what is left are three equal signs.
    assert found.p_value.tolist() == [2 / 2**3] * 3
    assert found.effect_size.tolist() == [np.inf] * 3
    np.testing.assert_allclose(found.low, [0.1, 0.2, 0.1])
    np.testing.assert_array_equal(found.low, found.high)
    assert found.better(0.3).tolist() == [1, 1, 1]
    greater = compare_systems(values, test="t", alternative="greater")
    assert greater.p_value.tolist() == [1 / 2**3] * 3
    less = compare_systems(values[::-1], test="t", alternative="greater")
    assert less.p_value.tolist() == [1, 1, 1]
    assert less.effect_size.tolist() == [-np.inf] * 3


def test_rounding_errors_are_no_difference():
    found = compare_systems([[0.1 + 0.2, 0.5], [0.3, 0.5]], test="t")
    assert found.p_value == 1
    assert found.n_tied.tolist() == [2]


def test_values_of_one_query_may_be_large():
    values = np.array([[1e9, 0.1, 0.5, 0.3], [1e9, 0.2, 0.4, 0.5]])
    found = compare_systems(values, test="t")
    np.testing.assert_allclose(found.p_value, stats.ttest_rel(*values).pvalue, rtol=1e-9)


def test_differences_that_are_nearly_alike_have_a_spread():
    # 1 plus and minus 2^-34, exactly: a spread of 2^-34 * sqrt(4 / 3) over four queries.
    turns = 2.0**-34 * np.array([1, -1, 1, -1])
    found = compare_systems([1 + turns, np.zeros(4)])
    np.testing.assert_allclose(found.effect_size, 2.0**34 / np.sqrt(4 / 3), rtol=1e-12)
    # 2^-41 is less than a million millionth.
    found = compare_systems([1 + turns / 2**7, np.zeros(4)])
    assert found.effect_size == np.inf


def test_rounding_is_that_of_the_greater_of_two_systems():
    # 1000000.1 - 1000000 is not 0.1.
    values = [[1e6 + 0.1, -1e6, 0.0], [0.0, 0.0, 0.1]]
    assert np.subtract(*values).sum() != 0
    for scores in (values, values[::-1]):
        found = compare_systems(scores)
        assert found.difference == found.effect_size == 0
        assert found.p_value == 1
