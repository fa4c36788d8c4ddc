"""How many placements of a few items are worse, counted."""

from math import comb

import numpy as np

# C(48, 24) is below 2**45: float64 counts to it, and tells the logarithms of neighbours apart.
MOST_COUNTED = 48
_WIDTH = MOST_COUNTED + 1
# C(a, b) at a * _WIDTH + b.
_BINOMIALS = np.array([comb(a, b) for a in range(_WIDTH) for b in range(_WIDTH)], dtype=np.float64)


def n_preceding(position, level, query, n_queries) -> np.ndarray:
    """How many sets precede each one: the sum of C(position - 1, level) over its levels."""
    counts = _BINOMIALS.take((position - 1) * _WIDTH + level)
    return np.bincount(query, counts, minlength=n_queries)


def n_all(n, m) -> np.ndarray:
    """C(n, m)."""
    return _BINOMIALS.take(n * _WIDTH + m)


def as_share(worse, n_sets) -> np.ndarray:
    """worse / (C(n, m) - 1); 0 where there is one set only."""
    return worse / np.maximum(n_sets - 1, 1.0)


def as_log_share(worse, n_sets) -> np.ndarray:
    """log(1 + worse) / log C(n, m); 0 where there is one set only."""
    return np.log(1 + worse) / np.log(np.maximum(n_sets, 2.0))
