"""Power of the tests, by which numbers of topics are chosen."""

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.power import FTestAnovaPower, TTestPower

from skfilterrank.comparison import compare_systems, topic_set_size
from skfilterrank.comparison._topic_set_size import anova_power, paired_power, smallest_n


class TestPaired:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("effect", "alpha", "power"),
        [
            (0.05, 0.05, 0.8),
            (0.2, 0.01, 0.95),
            (0.5, 0.05, 0.8),
            (0.8, 0.1, 0.5),
            (1.2, 0.01, 0.95),
        ],
    )
    def test_statsmodels(self, effect, alpha, power):
        oracle = TTestPower()
        exact = oracle.solve_power(effect_size=effect, alpha=alpha, power=power)
        found = topic_set_size(difference=effect, variance=1.0, alpha=alpha, power=power)
        assert found.n_queries == np.ceil(exact)
        assert found.power == pytest.approx(oracle.power(effect, found.n_queries, alpha))
        expected = [oracle.power(effect, n, alpha) for n in found.sizes]
        np.testing.assert_allclose(found.powers, expected, atol=1e-9)

    @pytest.mark.nightly
    def test_power_of_the_library_s_own_test(self):
        # 400 experiments with normal values whose differences have variance 1 + 1.
        size = topic_set_size(difference=0.5, variance=2.0)
        rng = np.random.default_rng(0)
        found = []
        for _ in range(400):
            values = rng.normal(size=(2, size.n_queries))
            values[0] += 0.5
            found.append(compare_systems(values, test="t").significant()[0])
        assert np.mean(found) == pytest.approx(size.power, abs=3 * 0.4 / np.sqrt(400))

    @pytest.mark.parametrize("difference", [20.0, 1e3, 1e6])
    def test_great_difference(self, difference):
        found = topic_set_size(difference=difference, variance=1.0)
        assert found.n_queries == 2
        assert np.isfinite(found.powers).all()


class TestAnova:
    @pytest.mark.parametrize(
        ("n_systems", "effect"), [(2, 0.5), (3, 0.6), (10, 0.3), (100, 0.5), (5, 1.5)]
    )
    def test_statsmodels(self, n_systems, effect):
        # Two means half a range from the middle: f**2 = 2 (effect / 2)**2 / n_systems.
        f = effect / np.sqrt(2 * n_systems)
        exact = FTestAnovaPower().solve_power(
            effect_size=f, alpha=0.05, power=0.8, k_groups=n_systems
        )
        found = topic_set_size(variance=1.0, difference=effect, design="anova", n_systems=n_systems)
        assert found.n_queries == np.ceil(exact / n_systems)
        assert found.n_systems == n_systems

    def test_two_blocked_systems_are_a_paired_t_test(self):
        for n in (2, 5, 30):
            # The variance of a difference is twice the residual variance; F is two-sided.
            expected = paired_power(n, 0.4, 2 * 0.3, 0.05)
            found = anova_power(n, 0.4, 0.3, 0.05, 2, blocked=True)
            assert found == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("blocked", [False, True])
    def test_power_by_drawing(self, blocked):
        rng = np.random.default_rng(1)
        m, n, n_trials = 4, 6, 20_000
        values = rng.normal(size=(n_trials, m, n)) + np.array([0.75, 0, 0, -0.75])[:, None]
        means = values.mean(axis=2, keepdims=True)
        residual = values - means
        freedom = m * (n - 1)
        if blocked:
            residual = residual - residual.mean(axis=1, keepdims=True)
            freedom = (m - 1) * (n - 1)
        f = n * means.var(axis=(1, 2)) * m / (m - 1) / ((residual**2).sum(axis=(1, 2)) / freedom)
        share = np.mean(scipy.stats.f.sf(f, m - 1, freedom) <= 0.05)
        found = anova_power(n, 1.5, 1.0, 0.05, m, blocked=blocked)
        assert found == pytest.approx(share, abs=0.011)


def test_smallest_n():
    for wanted in range(2, 40):
        assert smallest_n(lambda n, wanted=wanted: float(n >= wanted), 0.5, 100) == wanted
    assert smallest_n(lambda n: 0.0, 0.5, 100) is None
