"""Means over the orders of tied documents that infAP is made of."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from skfilterrank.metrics._sampled_ap import mean_inverse_hypergeometric

pytestmark = pytest.mark.slow

E = 1e-5


class TestMeanInverse:
    """The recursion behind infAP's ties, against sums over scipy's distribution."""

    @given(
        n=st.sampled_from([0, 1, 2, 5, 40, 300]),
        share=st.floats(0, 1),
        above=st.sampled_from([0, 1, 3, 50, 10_000]),
    )
    @example(n=40, share=0.5, above=0)
    @example(n=200, share=0.75, above=50)
    @example(n=200, share=0.5, above=300)
    @example(n=300, share=1 / 150, above=1000)
    @example(n=60, share=1.0, above=7)
    def test_scipy(self, n, share, above):
        marked, c = round(share * n), above + 2 * E
        t = np.arange(n + 1)
        j = np.arange(marked + 1)
        # Nothing can be drawn from nothing, says scipy.
        mass = hypergeom(n, marked, t[:, None]).pmf(j) if n else np.ones((1, 1))
        actual = mean_inverse_hypergeometric(
            np.full(n + 1, n), np.full(n + 1, marked), t, np.full(n + 1, c)
        )
        np.testing.assert_allclose(actual, (mass / (j + c)).sum(axis=1), rtol=1e-10)

    @pytest.mark.parametrize(("n", "above"), [(20_000, 0), (500, 1), (500, 1000)])
    def test_one_marked_among_many(self, n, above):
        c = above + 2 * E
        t = np.arange(n + 1)
        actual = mean_inverse_hypergeometric(
            np.full(n + 1, n), np.full(n + 1, 1), t, np.full(n + 1, c)
        )
        expected = (1 - t / n) / c + t / n / (1 + c)
        np.testing.assert_allclose(actual, expected, rtol=1e-10)

    def test_runs_of_different_lengths(self):
        ns, cs = [3, 0, 7, 1], [2 * E, 1 + 2 * E, 5 + 2 * E, 2 * E]
        marked = [1, 0, 6, 1]
        together = mean_inverse_hypergeometric(
            *(np.concatenate(parts) for parts in zip(*map(run, ns, marked, cs)))
        )
        alone = [mean_inverse_hypergeometric(*run(*each)) for each in zip(ns, marked, cs)]
        np.testing.assert_array_equal(together, np.concatenate(alone))


def run(n, marked, c):
    """The four arguments of one run."""
    return np.full(n + 1, n), np.full(n + 1, marked), np.arange(n + 1), np.full(n + 1, c)
