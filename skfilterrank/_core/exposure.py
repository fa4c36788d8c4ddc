"""How likely a searcher reaches a position: the discounts of DCG, RBP and average precision."""

from collections.abc import Callable
from functools import partial

import numpy as np

from skfilterrank._core.checks import check_share
from skfilterrank.exceptions import InputError, brief

Exposure = Callable[[np.ndarray], np.ndarray]


def reciprocal(places, persistence=None) -> np.ndarray:
    """``1 / place``: average precision, reciprocal rank."""
    return 1 / np.asarray(places, dtype=np.float64)


def log_discount(places, persistence=None) -> np.ndarray:
    """``1 / log2(place + 1)``: DCG."""
    return 1 / np.log2(np.asarray(places, dtype=np.float64) + 1)


def geometric(places, persistence) -> np.ndarray:
    """``(1 - persistence) * persistence ** (place - 1)``: rank-biased precision."""
    return (1 - persistence) * persistence ** (np.asarray(places, dtype=np.float64) - 1)


EXPOSURES = {"ap": reciprocal, "ndcg": log_discount, "rbp": geometric}


def first_places(depth: int) -> np.ndarray:
    """The places 1, ..., depth."""
    return np.arange(1.0, depth + 1)


def resolve_exposure(exposure, *, persistence: float = 0.8) -> Exposure:
    """Exposure of positions by name, or a callable with its results checked.

    Parameters
    ----------
    exposure : {"ap", "ndcg", "rbp"} or callable
        "ap" is ``1 / i``, "ndcg" ``1 / log2(i + 1)``, "rbp" ``(1 - persistence) *
        persistence ** (i - 1)`` (definition 2.1 of Diaz & Mitra). A callable takes an array of
        positions, of any shape, and returns the exposure of each.
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1); only "rbp" reads it.

    Returns
    -------
    callable
        From an array of positions (float64, from 1) to their exposure (float64, same shape).

    Raises
    ------
    ValueError
        If `exposure` is neither a known name nor callable, or `persistence` is out of range; and
        on calling the result, if a callable `exposure` returns another shape, something other
        than real numbers, NaN or infinity.

    Notes
    -----
    The exposure of "rbp" is 0 in float64 from position 3,334 on, at persistence 0.8.
    """
    persistence = check_share(persistence, "persistence")
    if isinstance(exposure, str) and exposure in EXPOSURES:
        return partial(EXPOSURES[exposure], persistence=persistence)
    if callable(exposure):
        return _checked(exposure)
    raise InputError(
        f"exposure must be {', '.join(map(repr, EXPOSURES))} or a callable from positions to "
        f"exposures, got {brief(exposure)}."
    )


def results_of(function, positions, name) -> np.ndarray:
    """What a user's function makes of positions."""
    if isinstance(function, type):
        raise InputError(f"{name} must be a function of positions, got {brief(function)}.")
    return np.asarray(function(positions))


def _checked(function) -> Exposure:
    """A user's function, its results checked at every call."""

    def exposure(positions):
        values = results_of(function, positions, "exposure")
        if values.dtype.kind not in "fiub":
            raise InputError(
                f"exposure must return real numbers, but {brief(function)} returned dtype "
                f"{values.dtype}."
            )
        if values.shape != np.shape(positions):
            raise InputError(
                f"exposure must return one number per position: {brief(function)} was given shape "
                f"{np.shape(positions)} and returned shape {values.shape}. Write it with numpy "
                "functions, or wrap it in np.vectorize."
            )
        values = values.astype(np.float64, copy=False)
        bad = ~np.isfinite(values)
        if bad.any():
            where = np.unravel_index(bad.argmax(), bad.shape)
            raise InputError(
                f"exposure must be finite, but {brief(function)} returned {values[where]} for "
                f"position {np.asarray(positions)[where]:g}."
            )
        return values

    return exposure
