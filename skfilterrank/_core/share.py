"""Part of a whole, query by query."""

import numpy as np


def share(part, whole) -> np.ndarray:
    """part / whole; NaN, undefined, where the whole is not above 0."""
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result
