"""Thresholds between two scores."""

import numpy as np


def midpoint(scores, lower) -> float:
    """A threshold between `lower` and the next score above it; +inf where there is none."""
    is_above = scores > lower
    if not is_above.any():
        return np.inf
    return middle(lower, scores.min(where=is_above, initial=scores.max()))


def middle(lower, upper) -> float:
    """A threshold above one score and up to another, which is a number of the scores' own type."""
    # Halves first: the difference of extreme scores overflows. The middle is rounded to the
    # scores' own type, in which it will be compared with them.
    between = float(lower) / 2 + float(upper) / 2
    if upper.dtype.kind == "f":
        between = float(upper.dtype.type(between))
    return between if between > lower else float(upper)
