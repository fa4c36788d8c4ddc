"""Tukey's HSD with queries as blocks."""

import numpy as np
import pytest
import scipy.stats

from skfilterrank.comparison import SystemScores, compare_systems


def noisy(n_systems, n_queries, *, step=0.3, seed=0):
    """Systems a step apart, on queries that differ much more."""
    rng = np.random.default_rng(seed)
    queries = 3 * rng.normal(size=n_queries)
    return rng.normal(size=(n_systems, n_queries)) + queries + step * np.arange(n_systems)[:, None]


class TestTukey:
    @pytest.mark.slow
    def test_by_hand(self):
        # Means of systems 2, 3, 5; of queries 2, 4, 4; of all 10 / 3. Without them, there is left
        # 0 -1 1 / 0 0 0 / 0 1 -1, whose squares are 4, with (3 - 1)(3 - 1) = 4 degrees of freedom.
        values = np.array([[0.0, 1, 3], [1, 3, 3], [3, 6, 4]]) + 2 / 3
        found = compare_systems(values, test="tukey")
        np.testing.assert_allclose(found.difference, [-1, -3, -2])
        np.testing.assert_allclose(found.effect_size, found.difference / np.sqrt(4 / 4))
        error = np.sqrt(4 / 4 / 3)
        expected = scipy.stats.studentized_range.sf(np.array([1, 3, 2]) / error, 3, 4)
        np.testing.assert_allclose(found.p_value, expected, atol=1e-7)
        width = scipy.stats.studentized_range.ppf(0.95, 3, 4) * error
        np.testing.assert_allclose(found.low, found.difference - width, rtol=1e-6)
        np.testing.assert_allclose(found.high, found.difference + width, rtol=1e-6)
        # Of any values p values may be as small as one likes.
        assert found.smallest_p == 0
        assert "No difference could be significant" not in str(found)

    def test_two_systems_are_a_paired_t_test(self):
        values = noisy(2, 12)
        tukey, t = (compare_systems(values, test=test) for test in ("tukey", "t"))
        np.testing.assert_allclose(tukey.p_value, t.p_value, atol=1e-8)
        np.testing.assert_allclose([tukey.low, tukey.high], [t.low, t.high], rtol=1e-6)


class TestFamily:
    def test_baseline_keeps_the_p_values_of_the_family(self):
        values = SystemScores(noisy(5, 8), systems=list("abcde"))
        full = compare_systems(values, test="tukey").matrix()
        found = compare_systems(values, test="tukey", baseline="c")
        np.testing.assert_allclose(found.p_adjusted, full["c"].drop("c"))

    def test_preferences_are_mid_ranks(self):
        values = np.round(noisy(5, 9), 0)
        ranks = scipy.stats.rankdata(values, axis=0)
        shares = SystemScores((ranks - 1) / 4, is_preference=True)
        of_shares, of_ranks = (compare_systems(scores, test="tukey") for scores in (shares, ranks))
        np.testing.assert_allclose(of_shares.p_value, of_ranks.p_value, atol=1e-9)
        np.testing.assert_allclose(of_shares.effect_size, of_ranks.effect_size)
        np.testing.assert_allclose(4 * of_shares.difference, of_ranks.difference)

    def test_all_alike(self):
        found = compare_systems(np.full((3, 5), 0.3), test="tukey")
        np.testing.assert_array_equal(found.p_value, 1.0)
        np.testing.assert_array_equal(found.effect_size, 0.0)
        np.testing.assert_array_equal([found.low, found.high], 0.0)

    def test_constant_differences(self):
        # 0.1 + 0.2 is not 0.3: residuals are rounding errors and must count as none.
        queries = np.array([0.1, 0.7, 0.3, 1.1, 0.9, 0.4, 0.2])
        found = compare_systems([queries, queries + 0.2, queries], test="tukey")
        np.testing.assert_array_equal(found.effect_size, [-np.inf, 0, np.inf])
        assert found.p_value[1] == 1
        # Seven equal signs, for three pairs.
        np.testing.assert_allclose(found.p_value, [3 * 2 / 2**7, 1, 3 * 2 / 2**7])
        np.testing.assert_array_equal(found.low, found.high)
