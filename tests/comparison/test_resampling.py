"""Randomization test and bootstrap test of all pairs."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import stats

from skfilterrank._base.system_pairs import draw_resamples
from skfilterrank.comparison import compare_systems, order_systems
from skfilterrank.comparison._system_tests import _studentized

# Heights of 15 pairs of cross- and self-fertilized maize plants, differences in eighths of an inch
# (Darwin, 1876; Fisher, The Design of Experiments, 1935, section 21).
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])


def as_far_out(resampled, observed):
    """Resampled statistics that are as far out as the observed one, ties included."""
    return np.abs(resampled) >= np.abs(observed) - 1e-9


class TestRandomization:
    def test_fishers_example(self):
        assert DARWIN.sum() == 314
        values = np.array([DARWIN, np.zeros(15)])
        # Fisher counts 863 of 2^15 patterns of signs with a sum of at least 314.
        found = compare_systems(values, test="randomization", n_resamples=2**15)
        assert found.p_value == 2 * 863 / 2**15

    @pytest.mark.slow
    @pytest.mark.parametrize("n_queries", [2, 5, 8])
    @pytest.mark.parametrize("tied", [False, True])
    def test_every_pattern_of_signs(self, n_queries, tied):
        values = np.random.default_rng(n_queries).random((4, n_queries))
        if tied:
            # Tenths, whose sums in another order differ in the last bits.
            values = np.round(values, 1)
        found = compare_systems(values, test="randomization")
        for pair, (first, second) in enumerate(zip(found.first, found.second)):
            difference = values[first] - values[second]
            sums = np.array([np.dot(s, difference) for s in product([1, -1], repeat=n_queries)])
            extreme = as_far_out(sums, difference.sum())
            assert found.p_value[pair] == extreme.mean()

    @pytest.mark.slow
    def test_random_patterns_come_near_all(self):
        values = np.random.default_rng(4).random((4, 16)) + 0.1 * np.arange(4)[:, None]
        exact = compare_systems(values, n_resamples=2**16, test="randomization")
        random = compare_systems(values, n_resamples=20_000, test="randomization", random_state=0)
        assert (exact.p_value * 2**16 % 1 == 0).all()
        # Five standard errors of a share of 20,000.
        error = np.sqrt(exact.p_value * (1 - exact.p_value) / 20_000)
        assert (np.abs(random.p_value - exact.p_value) <= 5 * error + 1e-4).all()
        assert (random.p_value != exact.p_value).any()

    @pytest.mark.parametrize("test", ["randomization", "bootstrap"])
    def test_random_p_value_counts_the_observed_values(self, test):
        values = np.array([np.arange(1, 31), np.zeros(30)])
        found = compare_systems(values, test=test, n_resamples=999, random_state=0)
        assert found.p_value == 1 / 1000 == found.smallest_p

    def test_scale_of_other_systems_does_not_matter(self):
        values = np.random.default_rng(5).random((3, 6))
        alone = compare_systems(values[:2], test="randomization")
        values[2] = 1e7
        assert compare_systems(values, test="randomization").p_value[0] == alone.p_value[0]

    def test_effect_and_interval_are_those_of_the_t_test(self):
        values = np.random.default_rng(7).random((4, 9))
        found = compare_systems(values, test="randomization")
        t = compare_systems(values, test="t")
        for name in ("effect_size", "low", "high", "difference"):
            np.testing.assert_array_equal(getattr(found, name), getattr(t, name))


class TestBootstrap:
    @pytest.mark.slow
    def test_comes_near_every_resample(self):
        values = np.random.default_rng(8).random((3, 5))
        found = compare_systems(values, test="bootstrap", n_resamples=20_000, random_state=0)
        for pair, (first, second) in enumerate(zip(found.first, found.second)):
            difference = values[first] - values[second]
            shifted = difference - difference.mean()
            drawn = shifted[np.array(list(product(range(5), repeat=5)))]
            spread = drawn.std(axis=1, ddof=1)
            mean = drawn.mean(axis=1)
            # The five resamples of one query alone have no spread.
            t = mean * np.sqrt(5) / np.where(spread > 1e-9, spread, 1e-300)
            observed = stats.ttest_1samp(difference, 0).statistic
            share = as_far_out(t, observed).mean()
            error = np.sqrt(share * (1 - share) / 20_000)
            assert abs(found.p_value[pair] - share) <= 5 * error + 1 / 20_001

    def test_each_resample_as_scipys_t(self):
        shifted = np.random.default_rng(9).normal(size=(2, 12))
        shifted -= shifted.mean(axis=1, keepdims=True)
        counts = draw_resamples(12, 700, 0)
        assert (counts.sum(axis=1) == 12).all()
        found = _studentized(shifted, counts.astype(float))
        for pair, row in enumerate(shifted):
            for resample in (0, 511, 512, 699):
                drawn = np.repeat(row, counts[resample])
                theirs = stats.ttest_1samp(drawn, 0).statistic
                np.testing.assert_allclose(found[pair, resample], theirs)

    def test_a_query_at_the_mean_but_for_rounding(self):
        # Drawn alone it has neither mean nor spread; beside the others it is nothing.
        shifted = np.array([[1.0, -1.0, 1e-13]])
        found = _studentized(shifted, np.array([[0.0, 0, 3], [2, 0, 1], [1, 1, 1]]))
        # 1, 1 and 0: mean 2 / 3, variance 1 / 3, over 3 queries.
        np.testing.assert_allclose(found, [[0, (2 / 3) / np.sqrt(1 / 3 / 3), 0]])

    def test_the_interval_reaches_to_the_place_of_the_confidence(self):
        # 0.55 * 100 is a little more than 55 in binary numbers, and means the 55th.
        difference = np.random.default_rng(22).normal(size=12)
        scores = [difference, np.zeros(12)]
        found = compare_systems(
            scores, test="bootstrap", n_resamples=100, alpha=0.45, random_state=0
        )
        counts = draw_resamples(12, 100, 0).astype(float)
        sizes = np.sort(np.abs(_studentized(difference[None, :] - difference.mean(), counts))[0])
        width = sizes[54] * difference.std(ddof=1) / np.sqrt(12)
        np.testing.assert_allclose(found.high - found.difference, width)
        np.testing.assert_allclose(found.difference - found.low, width)

    def test_resamples_that_equal_the_observed_t_count(self):
        # Shifted differences -1, 0, 1 and a t of 2, which 0, 1, 1 has too in its three orders:
        # with 1, 1, 1 and both signs 8 of 27 resamples are as far out.
        difference = np.array([-1.0, 0, 1]) + 2 / np.sqrt(3)
        found = compare_systems([difference, np.zeros(3)], test="bootstrap", random_state=0)
        assert abs(found.p_value[0] - 8 / 27) < 5 * np.sqrt(8 * 19 / 27**2 / 10_000)

    def test_resamples_without_spread(self):
        # Half the resamples of two queries have both of one, and an infinite t; the other half
        # have a mean of exactly 0.
        values = np.array([[0.5, 0.9], [0.4, 0.2]])
        found = compare_systems(values, test="bootstrap", n_resamples=10_000, random_state=0)
        assert abs(found.p_value[0] - 0.5) < 5 * 0.005
        assert found.low == -np.inf
        assert found.high == np.inf

    def test_interval_belongs_to_the_test(self):
        rng = np.random.default_rng(10)
        values = rng.random((30, 15)) + 0.3 * rng.random((30, 1))
        found = compare_systems(
            values, test="bootstrap", correction=None, n_resamples=999, alpha=0.1, random_state=0
        )
        outside = (found.low > 0) | (found.high < 0)
        assert 0 < outside.mean() < 1
        np.testing.assert_array_equal(outside, found.p_value <= 1 - 0.9)

    def test_constant_difference(self):
        values = np.array([[0.3, 0.2, 0.7], [0.2, 0.1, 0.6]])
        found = compare_systems(values, test="bootstrap", random_state=0)
        assert found.p_value == 2 / 2**3
        assert found.effect_size == np.inf
        np.testing.assert_allclose([found.low, found.high], [[0.1], [0.1]])

    @pytest.mark.parametrize("test", ["bootstrap", "t"])
    @pytest.mark.parametrize("constant", [0.1, 1e-6, 1e-10])
    def test_constant_difference_small_beside_the_values(self, constant, test):
        base = 0.1 + 0.8 * np.random.default_rng(15).random(30)
        values = np.array([base + constant, base])
        # In floating point the differences are not all alike.
        assert np.ptp(values[0] - values[1]) > 0
        found = compare_systems(values, test=test, random_state=0)
        assert found.p_value == (1 / 10_001 if test == "bootstrap" else 2 / 2**30)
        assert found.effect_size == np.inf
        np.testing.assert_allclose([found.low, found.high], constant, rtol=1e-4)

    def test_differences_small_beside_the_values(self):
        # A resample of the middle query alone has neither mean nor spread.
        difference = np.array([1.0, 2.0, 3.0])
        values = np.array([difference, np.zeros(3)])
        small = np.array([0.3, 0.4, 0.7]) + 1e-6 * values
        expected = compare_systems(values, test="bootstrap", random_state=0)
        found = compare_systems(small, test="bootstrap", random_state=0)
        assert found.p_value == expected.p_value


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
class TestResamples:
    def test_repeat_with_the_random_state(self, test):
        values = np.random.default_rng(11).random((4, 20))
        params = {"test": test, "n_resamples": 700}
        first = compare_systems(values, random_state=3, **params)
        again = compare_systems(values, random_state=np.random.RandomState(3), **params)
        np.testing.assert_array_equal(first.p_value, again.p_value)
        other = compare_systems(values, random_state=4, **params)
        assert (first.p_value != other.p_value).any()

    @pytest.mark.slow
    def test_do_not_depend_on_the_systems_compared(self, test):
        values = np.random.default_rng(12).random((40, 20))
        everything = compare_systems(values, test=test, n_resamples=700, random_state=0)
        some = compare_systems(values[:2], test=test, n_resamples=700, random_state=0)
        assert everything.p_value[0] == some.p_value[0]
        against = compare_systems(values, test=test, n_resamples=700, baseline="39", random_state=0)
        expected = everything.matrix("p_value")["39"].drop("39")
        np.testing.assert_array_equal(against.p_value, expected)

    def test_do_not_depend_on_the_size_of_blocks(self, test, monkeypatch):
        values = np.random.default_rng(13).random((9, 20))
        whole = compare_systems(values, test=test, n_resamples=700, random_state=0)
        monkeypatch.setattr("skfilterrank._base.system_pairs.BLOCK_BYTES", 1)
        parts = compare_systems(values, test=test, n_resamples=700, random_state=0)
        np.testing.assert_allclose(parts.p_value, whole.p_value, atol=1e-12)
        np.testing.assert_allclose(parts.high, whole.high)


@pytest.mark.parametrize(
    "function",
    [
        *[partial(compare_systems, test=test) for test in ("randomization", "bootstrap", "t")],
        order_systems,
    ],
)
def test_show_progress_when_asked(function, capsys):
    values = np.random.default_rng(14).random((3, 20))
    function(values, n_resamples=200, random_state=0)
    assert capsys.readouterr().err == ""
    function(values, n_resamples=200, verbose=1, random_state=0)
    assert "%" in capsys.readouterr().err
