"""Power of the tests, by which numbers of topics are chosen."""

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from skfilterrank.comparison import compare_systems, topic_set_size


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
