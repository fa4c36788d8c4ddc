"""Paired t test and sign test."""

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
@pytest.mark.parametrize("n_queries", [2, 5, 40])
def test_every_pair_as_scipy_has_it(n_queries):
    values = np.random.default_rng(n_queries).random((6, n_queries))
    found = compare_systems(values, test="t", correction=None, alpha=0.1)
    assert len(found.first) == 15
    for pair, (first, second) in enumerate(zip(found.first, found.second)):
        theirs = stats.ttest_rel(values[first], values[second])
        np.testing.assert_allclose(found.p_value[pair], theirs.pvalue, rtol=1e-9)
        both = theirs.confidence_interval(0.9)
        np.testing.assert_allclose([found.low[pair], found.high[pair]], both, rtol=1e-9)


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
    assert compare_systems(values[::-1], test="t").effect_size.tolist() == [-np.inf] * 3


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


def random_values(n_queries, *, tied, n_systems=6):
    values = np.random.default_rng([n_queries, tied]).random((n_systems, n_queries))
    return np.round(values * 4) / 4 if tied else values


class TestSign:
    def test_by_hand(self):
        # First is greater for 5 queries, less for 1, equal for 2.
        values = [[3, 3, 3, 3, 3, 0, 1, 1], [1, 1, 2, 2, 2, 1, 1, 1]]
        found = compare_systems(values, test="sign")
        # Six fair coins with at most one or at least five heads.
        np.testing.assert_allclose(found.p_value, 2 * (1 + 6) / 2**6)
        np.testing.assert_allclose(found.effect_size, (5 - 1) / 6)
        assert found.n_tied.tolist() == [2]
        assert found.interval_of == "effect"

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_queries", "tied"), [(2, True), (7, False), (30, True)])
    def test_every_pair_as_scipy_has_it(self, tied, n_queries):
        values = random_values(n_queries, tied=tied, n_systems=4)
        found = compare_systems(values, test="sign", alpha=0.1)
        for pair, (first, second) in enumerate(zip(found.first, found.second)):
            greater = int((values[first] > values[second]).sum())
            decided = int((values[first] != values[second]).sum())
            if decided == 0:
                continue
            theirs = stats.binomtest(greater, decided)
            np.testing.assert_allclose(found.p_value[pair], theirs.pvalue, rtol=1e-9)
            share = theirs.proportion_ci(0.9)
            expected = 2 * share.low - 1, 2 * share.high - 1
            np.testing.assert_allclose([found.low[pair], found.high[pair]], expected, atol=1e-9)

    def test_direction_is_that_of_the_signs_not_of_the_mean(self):
        values = np.array([[0.51] * 9 + [0.0], [0.5] * 9 + [1.0]])
        found = compare_systems(values, test="sign")
        assert found.difference < 0
        assert found.better().tolist() == [1]


class TestRounding:
    """Values of precision@10 and its like, of which many differences are equal."""

    @pytest.mark.slow
    @pytest.mark.parametrize("steps", [3, 10, 30, 75, 1000])
    @pytest.mark.parametrize("n_queries", [8, 30, 60])
    def test_fractions_are_as_whole_numbers(self, steps, n_queries):
        whole = np.random.default_rng([steps, n_queries]).integers(
            min(steps, 12), size=(9, n_queries)
        )
        found = compare_systems(whole / steps, test="sign")
        expected = compare_systems(whole, test="sign")
        np.testing.assert_array_equal(found.p_value, expected.p_value)
        np.testing.assert_array_equal(found.effect_size, expected.effect_size)
        np.testing.assert_array_equal(found.n_tied, expected.n_tied)

    def test_small_differences_beside_great_values_count(self):
        whole = np.random.default_rng(1).integers(9, size=(2, 12))
        great = whole + 2.0**40
        found, expected = (compare_systems(each, test="sign") for each in (great, whole))
        assert found.p_value == expected.p_value
        small = whole * 1e-12 + 0.5
        assert compare_systems(small, test="sign").n_tied == expected.n_tied
