"""How likely a searcher reaches a position, and the measures of equation 1 made of it."""

from collections.abc import Callable
from functools import partial
from numbers import Real

import numpy as np

from skfilterrank.exceptions import InputError, brief

Exposure = Callable[[np.ndarray], np.ndarray]


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
    check_persistence(persistence)
    if isinstance(exposure, str) and exposure in _EXPOSURES:
        return partial(_EXPOSURES[exposure], persistence=persistence)
    if callable(exposure):
        return _checked(exposure)
    raise InputError(
        f"exposure must be {', '.join(map(repr, _EXPOSURES))} or a callable from positions to "
        f"exposures, got {brief(exposure)}."
    )


def discounts(depth: int) -> np.ndarray:
    """1 / log2(position + 1) of the first `depth` positions."""
    return 1.0 / np.log2(np.arange(2, depth + 2))


def recall_level_values(positions: np.ndarray, exposure: Exposure, normalization) -> np.ndarray:
    """Sum of ``e(p_i) * z(i, m)`` over the last axis: equation 1 for positions in rank order."""
    n_levels = positions.shape[-1]
    weights = normalization(np.arange(1, n_levels + 1, dtype=np.float64), n_levels)
    # Not a matrix product: equal rows must give equal values to the last bit, wherever they stand.
    return (exposure(positions) * weights).sum(axis=-1)


def check_persistence(persistence) -> None:
    """A number above 0 and below 1."""
    is_number = isinstance(persistence, Real) and not isinstance(persistence, bool)
    if not (is_number and 0 < persistence < 1):
        raise InputError(
            "persistence, the parameter of exposure='rbp', must be a number above 0 and below 1, "
            f"got {brief(persistence)}."
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


def _ap(positions, persistence):
    """``1 / i``."""
    return 1 / np.asarray(positions, dtype=np.float64)


def _ndcg(positions, persistence):
    """``1 / log2(i + 1)``."""
    return 1 / np.log2(np.asarray(positions, dtype=np.float64) + 1)


def _rbp(positions, persistence):
    """``(1 - persistence) * persistence ** (i - 1)``."""
    return (1 - persistence) * persistence ** (np.asarray(positions, dtype=np.float64) - 1)


_EXPOSURES = {"ap": _ap, "ndcg": _ndcg, "rbp": _rbp}


def _ndcg_normalization(level, n_relevant):
    """One over the DCG of all relevant items at the top, at every level."""
    ideal = (1 / np.log2(np.arange(2, n_relevant + 2, dtype=np.float64))).sum()
    return np.full_like(level, 1 / ideal)


# z(j, m) of definition 2.1, for an array of levels j and one m.
NORMALIZATIONS = {
    "ap": lambda level, n_relevant: level / n_relevant,
    "ndcg": _ndcg_normalization,
    "rbp": lambda level, n_relevant: np.ones_like(level),
}
