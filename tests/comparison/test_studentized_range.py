"""The distribution of the studentized range."""

import numpy as np
import pytest
import scipy.stats

from skfilterrank.comparison._system_tests import StudentizedRange

pytestmark = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(("n_means", "freedom"), [(3, 2), (10, 9), (40, 1000), (143, 142 * 29)])
def test_scipy(n_means, freedom):
    q = np.array([0.3, 2.2, 5.0, 11.0])
    expected = scipy.stats.studentized_range.sf(q, n_means, freedom)
    np.testing.assert_allclose(
        StudentizedRange(n_means, freedom).sf(q), expected, rtol=0, atol=2e-8
    )


@pytest.mark.parametrize("freedom", [1, 7, 10_000])
def test_two_means_are_a_t_test(freedom):
    q = np.geomspace(0.01, 1e5, 40)
    expected = 2 * scipy.stats.t.sf(q / np.sqrt(2), freedom)
    found = StudentizedRange(2, freedom).sf(q)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-8)


# Printed in many tables of the studentized range, to two decimals.
@pytest.mark.parametrize(
    ("p", "n_means", "freedom", "expected"), [(0.05, 5, 20, 4.23), (0.01, 3, 10, 5.27)]
)
def test_printed_critical_values(p, n_means, freedom, expected):
    assert StudentizedRange(n_means, freedom).isf(p) == pytest.approx(expected, abs=0.005)


def test_ends():
    found = StudentizedRange(4, 6).sf(np.array([0.0, 1e-9, 1e300, np.inf]))
    np.testing.assert_allclose(found, [1, 1, 0, 0], atol=1e-9)
