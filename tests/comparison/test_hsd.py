"""Tukey's HSD with queries as blocks, the randomized HSD, and the studentized range."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from skfilterrank._base.system_pairs import Settings
from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.comparison._system_tests import residual_mean_square, shuffled_ranges

BOTH = ["tukey", "randomized_tukey"]


def noisy(n_systems, n_queries, *, step=0.3, seed=0):
    """Systems a step apart, on queries that differ much more."""
    rng = np.random.default_rng(seed)
    queries = 3 * rng.normal(size=n_queries)
    return rng.normal(size=(n_systems, n_queries)) + queries + step * np.arange(n_systems)[:, None]


def long_table(values):
    frame = pd.DataFrame(values).stack().reset_index()  # noqa: PD013
    return frame.set_axis(["system", "query", "value"], axis=1)


class TestMeanSquare:
    @pytest.mark.parametrize("shape", [(2, 2), (3, 7), (6, 4)])
    def test_statsmodels(self, shape):
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import anova_lm

        values = noisy(*shape)
        found, freedom = residual_mean_square(values)
        table = long_table(values)
        layout = anova_lm(ols("value ~ C(system) + C(query)", table).fit())
        assert freedom == layout.loc["Residual", "df"]
        assert found == pytest.approx(layout.loc["Residual", "mean_sq"])


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
        tukey, t = (compare_systems(values, test=test, random_state=0) for test in ("tukey", "t"))
        np.testing.assert_allclose(tukey.p_value, t.p_value, atol=1e-8)
        np.testing.assert_allclose([tukey.low, tukey.high], [t.low, t.high], rtol=1e-6)


class TestRandomized:
    def exact(self, values):
        """Share of all (n_systems!)**n_queries shuffles whose range is as wide, in fractions."""
        rows = [[Fraction(str(v)) for v in row] for row in np.transpose(values)]
        ranges = []
        for shuffle in itertools.product(*(itertools.permutations(row) for row in rows)):
            sums = [sum(column) for column in zip(*shuffle)]
            ranges.append(max(sums) - min(sums))
        sums = [sum(column) for column in zip(*rows)]
        sizes = [abs(a - b) for a, b in itertools.combinations(sums, 2)]
        return np.array([np.mean([r >= size for r in ranges]) for size in sizes])

    # The second has sums that tie in decimals and not in binary numbers.
    @pytest.mark.parametrize(
        "values",
        [
            [[1, 5, 2], [2, 9, 4], [4, 7, 9]],
            [[0.1, 0.2, 0.3, 0.7], [0.3, 0.3, 0.1, 0.9], [0.2, 0.7, 0.6, 1.1]],
            [[0.1, 0.7, 0.2, 0.3, 0.6], [0.3, 0.1, 0.4, 0.9, 0.2]],
        ],
    )
    def test_all_shuffles(self, values):
        expected = self.exact(values)
        found = compare_systems(
            values, test="randomized_tukey", n_resamples=40_000, random_state=0
        ).p_value
        error = np.sqrt(expected * (1 - expected) / 40_000)
        assert (np.abs(found - expected) < 4 * error + 1e-4).all()

    def test_every_shuffle_is_counted_once(self):
        # Two systems, one query that decides: the range is 3 or 1, whatever the order.
        ranges = shuffled_ranges(np.array([[0.0, 0.0], [1.0, 2.0]]), Settings(n_resamples=20_000))
        sizes, counts = np.unique(ranges.round(12), return_counts=True)
        np.testing.assert_allclose(sizes, [0.5, 1.5])
        assert abs(counts[0] - 10_000) < 300

    def test_p_is_never_0(self):
        found = compare_systems(
            [[0.0] * 30, [1.0] * 30], test="randomized_tukey", n_resamples=999, random_state=0
        )
        assert found.p_value == [1 / 1000]
        assert found.smallest_p == 1 / 1000

    def test_blocks_do_not_matter(self, monkeypatch):
        values = noisy(4, 6)
        whole = shuffled_ranges(values, Settings(n_resamples=500))
        monkeypatch.setattr("skfilterrank.comparison._system_tests._BLOCK_NUMBERS", 24 * 7)
        np.testing.assert_allclose(shuffled_ranges(values, Settings(n_resamples=500)), whole)


class TestRounding:
    """Residuals and differences count where they are more than the values' rounding."""

    # What each query adds, and to it 1 and -1 by turns: residuals of 1 at system means of 0.
    queries = 2.0 ** np.arange(30, 36)
    turns = np.array([1.0, -1, 1, -1, 1, -1])

    @pytest.mark.parametrize("size", [1.0, 2.0**-4])
    def test_residuals_far_below_the_values_count(self, size):
        # 2^-36 to 2^-40 of the greatest value; sums are exact.
        values = self.queries + size * np.array([self.turns, -self.turns])
        mean_square, freedom = residual_mean_square(values)
        assert freedom == 5
        assert mean_square == 12 * size**2 / 5
        found = compare_systems(values, test="tukey")
        assert found.difference == found.effect_size == 0

    def test_residuals_of_rounding_do_not_count_whatever_the_values(self):
        # Thirds of great values, and a value of 0 among them.
        for scale in (1e6, 1e-6):
            queries = scale * np.array([0.0, 1 / 3, 2 / 3, 1.1, 0.7])
            mean_square, _ = residual_mean_square(np.array([queries, queries + scale / 7]))
            assert mean_square == 0

    def test_differences_far_below_the_values_count(self):
        # The means differ by 2^-36 of the greatest value.
        step = np.array([[0.0], [0.5]])
        values = self.queries + np.array([self.turns, -self.turns]) + step
        found = compare_systems(values, test="tukey")
        assert found.effect_size == -0.5 / np.sqrt(12 / 5)

    def test_more_pairs_than_signs_can_tell_apart(self):
        # Three equal signs have chance 2 / 2^3 in each of six pairs: 6 / 4, which is no chance.
        queries = np.array([0.25, 0.5, 1.0])
        found = compare_systems([queries + i for i in range(4)], test="tukey")
        np.testing.assert_array_equal(found.p_value, 1.0)

    def test_ranges_next_to_the_difference_are_not_ties(self):
        # Of the signs of 1, 1 and h all alike reach 2 + h, two of eight; 2 - h does not.
        values = np.array([[1.0, 1.0, 2.0**-34], [0.0, 0.0, 0.0]])
        found = compare_systems(values, test="randomized_tukey", n_resamples=4000, random_state=0)
        assert abs(found.p_value[0] - 2 / 8) < 0.05

    def test_the_interval_reaches_to_the_place_of_the_confidence(self):
        # 0.95 of 100 ranges and the observed one are 95.95: the 96th smallest.
        values = noisy(3, 6)
        found = compare_systems(values, test="randomized_tukey", n_resamples=100, random_state=0)
        ranges = np.sort(shuffled_ranges(values, Settings(n_resamples=100)))
        np.testing.assert_allclose(found.high - found.difference, ranges[95])


@pytest.mark.parametrize("test", BOTH)
class TestBoth:
    def test_baseline_keeps_the_p_values_of_the_family(self, test):
        values = SystemScores(noisy(5, 8), systems=list("abcde"))
        full = compare_systems(values, test=test, random_state=0).matrix()
        found = compare_systems(values, test=test, baseline="c", random_state=0)
        np.testing.assert_allclose(found.p_adjusted, full["c"].drop("c"))

    def test_preferences_are_mid_ranks(self, test):
        values = np.round(noisy(5, 9), 0)
        ranks = scipy.stats.rankdata(values, axis=0)
        shares = SystemScores((ranks - 1) / 4, is_preference=True)
        of_shares, of_ranks = (
            compare_systems(scores, test=test, random_state=0) for scores in (shares, ranks)
        )
        np.testing.assert_allclose(of_shares.p_value, of_ranks.p_value, atol=1e-9)
        np.testing.assert_allclose(of_shares.effect_size, of_ranks.effect_size)
        np.testing.assert_allclose(4 * of_shares.difference, of_ranks.difference)

    def test_all_alike(self, test):
        found = compare_systems(np.full((3, 5), 0.3), test=test, random_state=0)
        np.testing.assert_array_equal(found.p_value, 1.0)
        np.testing.assert_array_equal(found.effect_size, 0.0)
        np.testing.assert_array_equal([found.low, found.high], 0.0)

    def test_constant_differences(self, test):
        # 0.1 + 0.2 is not 0.3: residuals are rounding errors and must count as none.
        queries = np.array([0.1, 0.7, 0.3, 1.1, 0.9, 0.4, 0.2])
        found = compare_systems([queries, queries + 0.2, queries], test=test, random_state=0)
        np.testing.assert_array_equal(found.effect_size, [-np.inf, 0, np.inf])
        assert found.p_value[1] == 1
        if test == "tukey":
            # Seven equal signs, for three pairs.
            np.testing.assert_allclose(found.p_value, [3 * 2 / 2**7, 1, 3 * 2 / 2**7])
            np.testing.assert_array_equal(found.low, found.high)
        else:
            assert found.p_value[0] < 0.05
