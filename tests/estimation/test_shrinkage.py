"""Values that are moved towards a line in those by a machine."""

import numpy as np

from skfilterrank.estimation._shrinkage import shrink


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
