"""Values that are unbiased and noisy, moved towards values that are steady and perhaps biased."""

import numpy as np

from skfilterrank._lists.floats import mean_tolerance


def shrink(values, covariance, steady) -> np.ndarray:
    """Move values towards a line in the steady ones, as far as the sample does not contradict it.

    The share that noise explains in the squared distances from the line is known from the
    covariance (as in James and Stein's estimator). Its square is the step towards the line: a
    judge that says nothing, or favours some runs, leaves the order of the values as it is.

    Parameters
    ----------
    values, steady : ndarray of shape (n_runs,)
        Unbiased values, and those by a machine's labels.
    covariance : ndarray of shape (n_runs, n_runs)
        That of the values.

    Returns
    -------
    ndarray of shape (n_runs,)
    """
    away, own = steady - steady.mean(), values - values.mean()
    if len(values) < 4 or np.abs(away).max() <= mean_tolerance(steady) or away @ own <= 0:
        return values.copy()
    square = away @ away
    line = (away @ own) / square * away
    rest = own - line
    # Distances from the mean, without the part along the line.
    noise = np.trace(covariance) - covariance.mean() * len(values)
    noise -= away @ covariance @ away / square
    share = np.clip(noise / max(rest @ rest, 1e-300), 0.0, 1.0)
    return values.mean() + line + (1 - share**2) * rest
