"""Samples of fixed size with unequal, exact probabilities, one inside the next.

Tillé's elimination procedure (Biometrika 83, 1996): begin with all documents, and take out one
after the other, so that what is left at each size n is a sample of n documents with inclusion
probabilities proportional to their sizes (1 where that would be more). Read from its end, the order
in which they go is an order to judge in: the first n of it are such a sample for *every* n, so
that judging may stop, or go on, whenever one likes. Joint probabilities have a closed form, and
satisfy pi_ij <= pi_i pi_j, which keeps the usual variance estimates from being negative.
"""

import numpy as np


def inclusion_probabilities(sizes: np.ndarray, n: int) -> np.ndarray:
    """Probabilities of a sample of n documents: n times the share of the sizes, at most 1.

    Those of size 0 have 0; n must not be above the number of the others.
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    order = np.argsort(-sizes, kind="stable")
    ordered = sizes[order]
    rest = np.cumsum(ordered[::-1])[::-1]
    places = np.arange(len(sizes))
    # The first that would have less than 1, were all before it certain.
    below = (ordered * (n - places) < rest) | (places >= n)
    n_certain = int(below.argmax()) if below.any() else len(sizes)
    ordered_probability = np.ones(len(sizes))
    tail = rest[n_certain] if n_certain < len(sizes) else 0.0
    if tail > 0:
        ordered_probability[n_certain:] = (n - n_certain) * ordered[n_certain:] / tail
    else:
        ordered_probability[n_certain:] = 0.0
    # Of sums that are rounded nothing certain may be left at a little less.
    ordered_probability[ordered_probability > 1 - 1e-9] = 1.0
    probability = np.empty(len(sizes))
    probability[order] = ordered_probability
    return probability


def elimination_order(sizes: np.ndarray, random_state) -> np.ndarray:
    """Rows of sizes above 0 in the order to judge them."""
    rows = np.flatnonzero(sizes > 0)
    rows = rows[np.argsort(sizes[rows], kind="stable")]
    ordered = sizes[rows].tolist()
    n_rows = len(rows)
    sums = np.concatenate(([0.0], np.cumsum(ordered))).tolist()
    lots, places = random_state.uniform(size=(2, n_rows)).tolist()
    # Ascending, the first n_free rows are those that are not certain of their places any more, and
    # `free` are those of them that are left.
    free: list[int] = []
    n_free, gone = 0, []
    for n in range(n_rows - 1, -1, -1):
        begin = n_free
        while n_free < n_rows and ordered[n_free] * (n - n_rows + n_free + 1) < sums[n_free + 1]:
            n_free += 1
        lot, out = lots[n], None
        for row in range(begin, n_free):
            # Certain until now, it stays with its new probability.
            lot -= 1 - (n - n_rows + n_free) * ordered[row] / sums[n_free]
            if lot < 0:
                out = row
                break
        if out is None and free:
            # All others are as likely as each other.
            place = int(places[n] * len(free))
            out, free[place] = free[place], free[-1]
            free.pop()
        elif out is None:
            out = n_free - 1
        gone.append(out)
        free.extend(row for row in range(begin, n_free) if row != out)
    return rows[gone[::-1]]
