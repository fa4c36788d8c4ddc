"""Binomial coefficients as logarithms, to the last digits."""

from decimal import Decimal, localcontext
from math import comb, factorial, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.metrics._placements import _stirling_rest, log_choose, log_choose_ratio


def log_ratio_by_decimals(x, a, i):
    """log(C(x, i) / C(a, i)) to 60 digits."""
    with localcontext(prec=60):
        return Decimal(comb(x, i)).ln() - Decimal(comb(a, i)).ln()


class TestLogarithms:
    """Binomial coefficients beyond float64, to the last digits."""

    @given(
        st.integers(1, 400),
        st.integers(0, 10**7) | st.integers(0, 50),
        st.integers(0, 10**7) | st.integers(0, 50),
    )
    def test_ratio(self, i, rest, gap):
        x, a = i + rest, i + rest + gap
        actual = log_choose_ratio(*np.array([[x], [a], [i]], dtype=float))[0]
        expected = log_ratio_by_decimals(x, a, i)
        assert abs(Decimal(float(actual)) - expected) <= 8 * Decimal(2) ** -53 * abs(expected)

    def test_ratio_by_hand(self):
        # C(4, 2) / C(6, 2) = 6 / 15, and C(2, 2) / C(6, 2) = 1 / 15
        ratio = log_choose_ratio(np.array([4.0, 2.0]), np.array([6.0, 6.0]), np.array([2.0, 2.0]))
        np.testing.assert_allclose(np.exp(ratio), [6 / 15, 1 / 15], rtol=1e-15)

    def test_choose(self):
        n, m = np.array([6.0, 6, 6, 1, 5, 1e7]), np.array([0.0, 2, 6, 1, 1, 10_000])
        expected = [0, log(15), 0, 0, log(5), log(comb(10**7, 10_000))]
        np.testing.assert_allclose(log_choose(n, m), expected, rtol=1e-14)

    def test_rests_of_stirlings_formula(self):
        z = np.array([1.0, 2, 10, 100, 254, 255, 256, 257, 300])
        with localcontext(prec=60):
            two_pi = Decimal("6.283185307179586476925286766559005768394338798750211641949889")
            exact = [
                Decimal(factorial(int(k))).ln()
                - (Decimal(int(k)) + Decimal("0.5")) * Decimal(int(k)).ln()
                + Decimal(int(k))
                - two_pi.ln() / 2
                for k in z
            ]
        np.testing.assert_allclose(_stirling_rest(z), [float(e) for e in exact], rtol=1e-14)
        for each, expected in zip(z, exact, strict=True):
            assert _stirling_rest(np.array([each]))[0] == pytest.approx(float(expected), rel=1e-14)
        assert _stirling_rest(np.array([0.0]))[0] == 0
