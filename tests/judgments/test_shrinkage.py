"""Values that are moved towards a line in those by a machine."""

import numpy as np
import pytest

from skfilterrank.judgments._shrinkage import shrink

STEADY = np.array([0.0, 1.0, 2.0, 3.0])
# About their mean, at a right angle to the line and to the mean.
REST = np.array([1.0, -1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    "covariance",
    # What all values share, and what moves them along the line, is no distance from it.
    [
        np.eye(4) * 4,
        np.eye(4) * 4 + 7,
        np.eye(4) * 4 + np.outer(STEADY - 1.5, STEADY - 1.5),
    ],
)
def test_by_hand(covariance):
    values = 10 + 2 * STEADY + 3 * REST
    # Of four variances of 4, the mean takes one and the line another: noise is 4 + 4 of a square
    # of 4 * 3 ** 2 = 36. The square of that share is the step.
    step = (8 / 36) ** 2
    expected = 10 + 2 * STEADY + 3 * (1 - step) * REST
    np.testing.assert_allclose(shrink(values, covariance, STEADY), expected, rtol=1e-12)


def test_all_that_noise_explains_goes():
    values = 10 + 2 * STEADY + REST
    np.testing.assert_allclose(shrink(values, np.eye(4) * 4, STEADY), 10 + 2 * STEADY)


def test_few_values_stay_as_they_are():
    values, steady = np.array([3.0, 1.0, 7.0]), np.array([3.0, 1.1, 7.0])
    assert shrink(values, np.eye(3) * 100, steady).tolist() == [3, 1, 7]


def test_shrinkage_believes_what_is_not_contradicted():
    covariance = np.eye(6)
    steady = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    chance = np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1])
    # On a line with the others, but for less than chance.
    near = shrink(5 + 2 * steady + chance, covariance, steady)
    assert np.ptp(np.diff(near)) < 0.05
    # Against them, and on no line.
    values = np.array([40.0, 3.0, -20.0, 10.0, 60.0, -5.0])
    far = shrink(values, covariance, steady)
    assert np.argsort(far).tolist() == np.argsort(values).tolist()
    # Alike for all runs, or upside down.
    for useless in (np.ones(6), -values):
        assert (shrink(values, covariance, useless) == values).all()
    # One run is praised that the sample says is bad.
    praised = values / 100 + np.array([0, 0, 50.0, 0, 0, 0])
    order = np.argsort(shrink(values, covariance, praised))
    assert order.tolist() == np.argsort(values).tolist()
