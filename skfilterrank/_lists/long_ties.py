"""Means over the orders of one long tie whose documents have few distinct chances."""

from itertools import pairwise

import numpy as np
from numpy.polynomial import Chebyshev

# Places that are computed one by one at each end of a tie, and where there are no more of them;
# nodes of each longer stretch between, and the degree of the polynomial through them.
_N_SINGLE, _N_NODES, _DEGREE = 64, 22, 19


def long_tie_stops(chances: np.ndarray, last: int) -> np.ndarray:
    """Mean over all orders of ``chances[j] * prod(1 - chances[:j])`` at the first `last` places.

    `chances` are from 0 up and below 1. The time grows with the number of distinct ones, and
    hardly with their number.
    """
    distinct, counts = np.unique(chances, return_counts=True)
    n, logs = len(chances), np.empty(last)
    for begin, end in _stretches(n, last):
        places = np.arange(begin, end)
        if len(places) <= 2 * _N_SINGLE:
            logs[begin:end] = _log_stops_at(places, n, distinct, counts)
            continue
        # Logarithms are smooth in the place up to the end of the tie, where some go to -inf.
        nodes = np.cos(np.pi * (np.arange(_N_NODES) + 0.5) / _N_NODES)
        nodes = np.round((begin + end - 1 + (end - 1 - begin) * nodes) / 2)
        values = _log_stops_at(nodes, n, distinct, counts)
        logs[begin:end] = Chebyshev.fit(nodes, values, _DEGREE, domain=[begin, end - 1])(places)
    return np.exp(logs)


def _stretches(n, last):
    """Ranges of places, the shorter the nearer to an end of the tie."""
    from_end = _N_SINGLE * 2 ** np.arange(64.0)
    from_end = from_end[from_end < n / 2]
    edges = np.concatenate(([0, n], from_end, n - from_end))
    edges = np.unique(np.minimum(edges, last)).astype(int)
    return pairwise(edges.tolist())


def _log_stops_at(places, n, chances, counts):
    """Logarithms of the means at some places, which count from 0.

    Of P(t) = product of (1 + (1 - R) t) over the documents, let P_d leave out one of chance R_d.
    The mean at place j is the sum of R_d [t^j] P_d(t) over the documents, over n C(n - 1, j). Both
    coefficients are integrals round a circle through the saddle point, where nothing cancels.
    """
    logs = np.log1p(-chances)
    tilt = _saddle_points(places, n, logs, counts)
    log_size, above = _integrals(places, n, tilt, logs, counts, weights=counts * chances)
    _, below = _integrals(places, n, np.zeros(len(places)), np.zeros(1), [n], weights=[n])
    return log_size + np.log(above / below)


def _mixtures(places, n, tilt, log):
    """1 - u + u (1 - R) e^tilt for u = place / n; and its parts, each over the whole."""
    stays, goes = (n - places) / n, places / n * np.exp(tilt + log)
    whole = stays + goes
    return whole, goes / whole, stays / whole


def _saddle_points(places, n, logs, counts):
    """Tilt by which the documents' chances to be above the place add up to it."""
    # They grow with the tilt, and stand between those of one kind of document alone.
    low, high = np.full(len(places), -logs.max()), np.full(len(places), -logs.min())
    tilt = low
    for _ in range(200):
        excess, slope = -places.astype(float), np.zeros(len(places))
        for log, count in zip(logs, counts):
            _, p, q = _mixtures(places, n, tilt, log)
            excess += count * p
            slope += count * p * q
        low, high = np.where(excess <= 0, tilt, low), np.where(excess >= 0, tilt, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = tilt - excess / slope
        inside = (step >= low) & (step <= high)
        following = np.where(inside, step, (low + high) / 2)
        if np.all(np.abs(following - tilt) <= 1e-9 * (1 + np.abs(tilt))):
            break
        tilt = following
    return tilt


def _integrals(places, n, tilt, logs, counts, weights):
    """Logarithm of the integrand's size at the saddle point, and the integral over that size."""
    parts = [_mixtures(places, n, tilt, log) for log in logs]
    deviation = np.sqrt(sum(count * p * q for (_, p, q), count in zip(parts, counts)))
    # The trapezoidal rule errs by coefficients n_angles places away; what lies beyond `widest` is
    # smaller than rounding.
    n_angles = np.ceil(10 * deviation + 40)
    widest = np.minimum(np.pi, 14 / np.maximum(deviation, 1e-9))
    numbers = np.arange(int(np.max(np.ceil(n_angles * widest / (2 * np.pi)))) + 1)
    angles = 2 * np.pi * numbers / n_angles[:, None]
    trapezoid = np.where(numbers == 0, 1.0, 2.0) * (angles <= np.pi * (1 + 1e-12))
    trapezoid[angles > np.pi * (1 - 1e-12)] /= 2
    half_sine, sine = np.sin(angles / 2) ** 2, np.sin(angles)
    size, phase, factor = np.zeros(angles.shape), np.zeros(angles.shape), 0.0
    log_size, excess = -places * tilt, -places.astype(float)
    for (whole, p, q), log, count, weight in zip(parts, logs, counts, weights):
        exponent = tilt + log
        near = np.log1p(places / n * np.expm1(np.minimum(exponent, 0.5)))
        log_size += count * np.where(np.abs(exponent) < 0.5, near, np.log(whole))
        excess += count * p
        p, q = p[:, None], q[:, None]
        real, imaginary = 1 - 2 * p * half_sine, p * sine
        with np.errstate(divide="ignore"):
            size += count / 2 * np.log1p(-np.minimum(4 * p * q * half_sine, 1.0))
        # The angle less its mean: of the lesser part, so that little cancels.
        small = np.where(p <= 0.5, p, q)
        turn = np.arctan2(small * sine, 1 - 2 * small * half_sine) - small * angles
        phase += count * np.where(p <= 0.5, turn, -turn)
        factor = factor + weight / whole[:, None] / (real + 1j * imaginary)
    phase += excess[:, None] * angles
    terms = trapezoid * np.exp(size + 1j * phase) * factor
    return log_size, terms.real.sum(axis=1) / n_angles
