"""Variance of totals estimated from a sample of fixed size."""

import numpy as np


def covariance_of_total(changes: np.ndarray, probability: np.ndarray):
    """Covariance of ``sum over the sample of changes / probability``, and degrees of freedom.

    Deville's form of Hajek's approximation for samples of fixed size and high entropy: with c =
    (1 - pi) n / (n - 1) over the n documents that are not certain and z = changes / pi, the sum of
    ``c (z - mean) (z - mean)'``, the mean weighted by c.

    Parameters
    ----------
    changes : ndarray of shape (n_judged, n_runs)
        What each label adds.
    probability : ndarray of shape (n_judged,)
        Inclusion probabilities.

    Returns
    -------
    covariance : ndarray of shape (n_runs, n_runs)
    deviations : ndarray of shape (n_drawn, n_runs)
        ``sqrt(c) (z - mean)`` of the documents that are not certain: the covariance of any linear
        combination is the sum of its squares.
    """
    drawn = probability < 1
    n = int(np.count_nonzero(drawn))
    if n < 2:
        return np.zeros((changes.shape[1],) * 2), np.zeros((0, changes.shape[1]))
    probability = probability[drawn]
    weighted = changes[drawn] / probability[:, None]
    share = (1 - probability) * n / (n - 1)
    weighted -= share @ weighted / share.sum()
    weighted *= np.sqrt(share)[:, None]
    return weighted.T @ weighted, weighted


def degrees_of_freedom(deviations: np.ndarray) -> np.ndarray:
    """How many independent normal parts the variance of each column is worth, less one.

    The variance of a sum of squares v is about ``sum v^2 - (sum v)^2 / n``; as many degrees of
    freedom have a chi-square of the same relative variance. Few heavy documents give few, and t
    quantiles of so few keep the intervals honest.
    """
    parts = deviations**2
    return _freedom(parts.sum(axis=0), (parts**2).sum(axis=0), len(deviations))


def degrees_of_pairs(deviations: np.ndarray) -> np.ndarray:
    """The same for the differences of every two columns; shape (n_runs, n_runs)."""
    square, cube, fourth = deviations**2, deviations**3, deviations**4
    mixed = square.T @ square
    third = cube.T @ deviations
    sums = fourth.sum(axis=0)
    total = square.sum(axis=0)
    variance = total[:, None] + total - 2 * deviations.T @ deviations
    parts = sums[:, None] + sums - 4 * (third + third.T) + 6 * mixed
    return _freedom(variance, parts, len(deviations))


def _freedom(variance, parts, n):
    """Degrees of freedom of a sum of squares whose parts have these sums of squares."""
    share = np.divide(parts, variance**2, out=np.zeros_like(variance), where=variance > 0)
    spread = share - 1 / max(n, 1)
    freedom = np.divide(2.0, spread, out=np.full_like(variance, np.inf), where=spread > 1e-9)
    return np.clip(freedom - 1, 1.0, max(n - 1.0, 1.0))
