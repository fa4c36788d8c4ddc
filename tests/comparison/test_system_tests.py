"""Paired t test, sign test and Wilcoxon's signed rank test."""

import warnings

import numpy as np
import pytest
import scipy
from scipy import stats

from skfilterrank.comparison import SystemScores, compare_systems

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


# scipy's name of the method since 1.15.
ASYMPTOTIC = "approx" if scipy.__version__.startswith(("1.13.", "1.14.")) else "asymptotic"

# Hamilton depression scale of nine patients at the first and second visit (Hollander and Wolfe,
# Nonparametric Statistical Methods, 1973, table 3.1).
DEPRESSION = [
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
]


def random_values(n_queries, *, tied, n_systems=6):
    values = np.random.default_rng([n_queries, tied]).random((n_systems, n_queries))
    return np.round(values * 4) / 4 if tied else values


def of_all_signs(difference):
    """Wilcoxon's test by every pattern of signs: what scipy.stats.wilcoxon takes a second for."""
    ranks, differs = np.zeros(len(difference)), difference != 0
    ranks[differs] = stats.rankdata(np.abs(difference[differs]))
    return stats.permutation_test(
        (np.sign(difference) * ranks,),
        lambda signed, axis: np.maximum(signed, 0).sum(axis=axis),
        permutation_type="samples",
        n_resamples=2**13,
        vectorized=True,
    )


def hodges_lehmann_interval(difference, confidence):
    """Bounds of the pseudo-median of each row of differences."""
    values = np.vstack([difference, np.zeros(difference.shape[1])])
    found = compare_systems(
        SystemScores(values, systems=[*map(str, range(len(difference))), "zero"]),
        test="wilcoxon",
        baseline="zero",
        alpha=1 - confidence,
    )
    return found.low, found.high


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


class TestWilcoxon:
    def test_published_example(self):
        # V = 40, one-sided p = 0.01953 = 10 / 2^9 in Hollander and Wolfe and in R's wilcox.test.
        found = compare_systems(DEPRESSION, test="wilcoxon")
        assert found.p_value == 2 * 10 / 2**9
        # Ranks above 0 add up to 40 of 45.
        np.testing.assert_allclose(found.effect_size, (40 - 5) / 45)
        assert found.effect_name == "rank-biserial correlation"

    @pytest.mark.slow
    @pytest.mark.parametrize("tied", [False, True])
    @pytest.mark.parametrize("n_queries", [2, 3, 7, 13, 14, 50, 51, 90])
    def test_every_pair_as_scipy_has_it(self, tied, n_queries):
        values = random_values(n_queries, tied=tied, n_systems=2 if n_queries == 13 else 4)
        found = compare_systems(values, test="wilcoxon")
        for pair, (first, second) in enumerate(zip(found.first, found.second)):
            difference = values[first] - values[second]
            if not difference.any():
                continue
            # What scipy's "auto" does has changed between versions for few queries with ties.
            is_plain = len(np.unique(np.abs(difference))) == n_queries and difference.all()
            if n_queries <= 13 and not is_plain:
                theirs = of_all_signs(difference)
            else:
                method = "exact" if n_queries <= 50 and is_plain else ASYMPTOTIC
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    theirs = stats.wilcoxon(difference, method=method)
            np.testing.assert_allclose(found.p_value[pair], theirs.pvalue, rtol=1e-9, atol=1e-15)

    def test_constant_difference(self):
        found = compare_systems([[2.0] * 8, [1.0] * 8], test="wilcoxon")
        assert found.p_value == 2 / 2**8
        assert found.effect_size == found.low == found.high == 1

    def test_sizes_that_differ_by_rounding_errors_tie(self):
        # 0.3 - 0.2 and 0.1 - 0.2 have the same size but for the last bits.
        found = compare_systems([[0.3, 0.1, 0.9], [0.2, 0.2, 0.4]], test="wilcoxon")
        np.testing.assert_allclose(found.effect_size, (1.5 + 3 - 1.5) / 6)


class TestHodgesLehmannInterval:
    @pytest.mark.slow
    @pytest.mark.parametrize("n_queries", [6, 12, 30])
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_holds_the_shifts_that_are_not_rejected(self, n_queries, confidence):
        difference = np.random.default_rng(n_queries).normal(size=(3, n_queries))
        lows, highs = hodges_lehmann_interval(difference, confidence)
        for row, low, high in zip(difference, lows, highs):
            for bound, inside in ((low, 1), (high, -1)):
                kept = stats.wilcoxon(row - bound - 1e-9 * inside, method="exact").pvalue
                rejected = stats.wilcoxon(row - bound + 1e-9 * inside, method="exact").pvalue
                assert rejected <= 1 - confidence < kept

    @pytest.mark.slow
    @pytest.mark.parametrize("n_queries", [10, 60, 101])
    @pytest.mark.parametrize("tied", [False, True])
    def test_bisection_finds_the_walsh_averages(self, monkeypatch, n_queries, tied):
        difference = np.random.default_rng(n_queries).normal(size=(5, n_queries))
        if tied:
            difference = np.round(difference * 2)
        written = hodges_lehmann_interval(difference, 0.95)
        monkeypatch.setattr("skfilterrank.comparison._system_tests._N_WALSH", 0)
        found = hodges_lehmann_interval(difference, 0.95)
        np.testing.assert_allclose(found, written, atol=1e-12)

    def test_place_in_published_tables(self):
        # Of 20 queries, tables of the signed rank test give 52 as critical value of two-sided
        # 0.05: the bounds are the 53rd smallest and greatest mean of two differences.
        difference = np.sqrt(np.arange(20.0))
        walsh = sorted((a + b) / 2 for i, a in enumerate(difference) for b in difference[i:])
        low, high = hodges_lehmann_interval(difference[None, :], 0.95)
        assert walsh[51] < walsh[52] < walsh[53]
        assert low == walsh[52]
        assert high == walsh[-53]

    def test_of_fifty_queries_by_the_exact_distribution(self):
        # Tables give 373 for two-sided 0.01; the normal distribution would give 370. Neighbours
        # among the means of two powers differ.
        difference = np.arange(50.0) ** 2.5
        walsh = sorted((a + b) / 2 for i, a in enumerate(difference) for b in difference[i:])
        low, high = hodges_lehmann_interval(difference[None, :], 0.99)
        assert walsh[370] < walsh[371] < walsh[372] < walsh[373] < walsh[374]
        assert (low, high) == (walsh[373], walsh[-374])

    def test_of_more_by_the_normal_distribution(self):
        # 80 * 81 / 4 = 1620, less 1.96 * sqrt(80 * 81 * 161 / 24) = 1.96 * 208.5: 1211.4.
        difference = np.arange(80.0) ** 2
        walsh = sorted((a + b) / 2 for i, a in enumerate(difference) for b in difference[i:])
        low, high = hodges_lehmann_interval(difference[None, :], 0.95)
        assert (low, high) == (walsh[1211], walsh[-1212])

    def test_as_few_queries_as_the_level_allows(self):
        # Five equal signs have chance 2 / 2^5, which is the level: no mean of two is left out.
        low, high = hodges_lehmann_interval(np.arange(5.0)[None, :], 1 - 2 / 2**5)
        assert (low, high) == (0, 4)

    def test_unbounded_where_queries_are_too_few(self):
        # Of 5 queries even the most extreme signs have chance 2 / 2^5 > 0.05.
        low, high = hodges_lehmann_interval(np.arange(5.0)[None, :], 0.95)
        assert low == -np.inf
        assert high == np.inf


class TestRounding:
    """Values of precision@10 and its like, of which many differences are equal."""

    def test_equal_differences_of_values_of_any_size_tie(self):
        # All are 0.1, some with another last bit.
        values = np.array([[0.2, 0.3, 0.6, 0.7, 0.9, 1.0], [0.1, 0.2, 0.5, 0.6, 0.8, 0.9]])
        assert len(set(values[0] - values[1])) > 1
        # Of six queries the interval reaches from the least to the greatest difference.
        found = compare_systems(values, test="wilcoxon")
        assert found.low == found.high == pytest.approx(0.1)

    @pytest.mark.slow
    @pytest.mark.parametrize("steps", [3, 10, 30, 75, 1000])
    @pytest.mark.parametrize("n_queries", [8, 30, 60])
    @pytest.mark.parametrize("test", ["wilcoxon", "sign"])
    def test_fractions_are_as_whole_numbers(self, steps, n_queries, test):
        whole = np.random.default_rng([steps, n_queries]).integers(
            min(steps, 12), size=(9, n_queries)
        )
        found = compare_systems(whole / steps, test=test, random_state=0)
        expected = compare_systems(whole, test=test, random_state=0)
        np.testing.assert_array_equal(found.p_value, expected.p_value)
        np.testing.assert_array_equal(found.effect_size, expected.effect_size)
        np.testing.assert_array_equal(found.n_tied, expected.n_tied)

    def test_small_differences_beside_great_values_count(self):
        whole = np.random.default_rng(1).integers(9, size=(2, 12))
        great = whole + 2.0**40
        found, expected = (compare_systems(each, test="wilcoxon") for each in (great, whole))
        assert found.p_value == expected.p_value
        small = whole * 1e-12 + 0.5
        assert compare_systems(small, test="sign").n_tied == expected.n_tied
