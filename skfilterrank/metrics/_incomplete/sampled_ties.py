"""Exact mean of the inferred precision over the orders of tied documents."""

import numpy as np

from skfilterrank._lists.ties import Ties


def mean_inferred_precision(ties: Ties, relevant, judged, pooled, epsilon) -> np.ndarray:
    """Mean over the tied orders of the precision of infAP where relevant, at each place.

    Arrays are in list order. With t documents of its own tie above it, j of them judged, a
    relevant document has ``p + j + (t - j) w`` pooled documents above it and ``s + j q`` relevant
    ones, on average over what is left to chance; p and s stand above the tie, w is the share of
    pooled documents among the tie's unjudged ones and q that of relevant documents among the
    tie's other judged ones. What remains is the mean over the hypergeometric j of a polynomial
    and of a multiple of ``1 / (j + c)``.
    """
    n = ties.length
    n_relevant, n_judged = ties.sums(relevant), ties.sums(judged)
    w = _ratio(ties.sums(pooled) - n_judged, n - n_judged)
    q = _ratio(n_relevant - 1, n_judged - 1)
    t = np.arange(relevant.shape[1]) - ties.first
    c = ties.before(judged) + 2 * epsilon
    mean_judged = _ratio(t * (n_judged - 1), n - 1)
    with_relevant = n_relevant > 0
    mean_inverse = np.zeros(relevant.shape)
    mean_inverse[with_relevant] = mean_inverse_hypergeometric(
        n[with_relevant] - 1, (n_judged - 1)[with_relevant], t[with_relevant], c[with_relevant]
    )
    # (p + t w + j (1 - w)) (s + epsilon + j q) / (j + c), as a polynomial in j + c over j + c.
    first = ties.before(pooled) + t * w - (1 - w) * c
    second = ties.before(relevant) + epsilon - q * c
    expected = (
        (1 - w) * q * (mean_judged + c)
        + first * q
        + (1 - w) * second
        + first * second * mean_inverse
    )
    return n_relevant / n * (1 + expected) / (ties.first + t + 1)


def _ratio(part, whole):
    """part / whole, 0 where the whole is not above 0."""
    result = np.zeros(np.shape(whole))
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def mean_inverse_hypergeometric(n, n_marked, t, c) -> np.ndarray:
    """Mean of ``1 / (j + c)``, j being the marked among t drawn from n of which some are marked.

    The entries come in runs of ``t = 0, 1, ..., n`` in which all else is the same; c > 0. The mean
    H follows the recursion

    ``(t + c) (n + 1 - t) H(t) = n + 1 + t (n - n_marked - t + 1 - c) H(t - 1)``

    which forgets its rounding errors upwards while H(t - 1) has the smaller factor, and downwards
    from ``H(n) = 1 / (n_marked + c)`` beyond.
    """
    heads = np.flatnonzero(t == 0)
    n, n_marked, c = n[heads], n_marked[heads], c[heads]
    result = np.empty(len(t))
    result[heads] = 1 / c
    # Where both factors are equal but for the sign.
    half = n + 1 - c - n_marked / 2
    turn = np.minimum((half + np.sqrt(half**2 + 2 * c * (n + 1))) / 2, n).astype(np.intp)
    order = np.argsort(-turn, kind="stable")
    for step, runs in _runs_of_each_step(turn[order], order):
        at = heads[runs] + step
        factor = n[runs] - n_marked[runs] - step + 1 - c[runs]
        result[at] = (n[runs] + 1 + step * factor * result[at - 1]) / (
            (step + c[runs]) * (n[runs] + 1 - step)
        )
    left = n - turn
    result[heads + n] = np.where(left > 0, 1 / (n_marked + c), result[heads + n])
    order = np.argsort(-left, kind="stable")
    # The last step down would land on the last place that was reached from above.
    for step, runs in _runs_of_each_step(left[order] - 1, order):
        drawn = n[runs] - step + 1
        at = heads[runs] + drawn
        factor = drawn + c[runs] + n_marked[runs] - n[runs] - 1
        result[at - 1] = (n[runs] + 1 - (drawn + c[runs]) * step * result[at]) / (drawn * factor)
    return result


def _runs_of_each_step(n_steps, order):
    """(step, runs that are not done before it) for step = 1, 2, ...; n_steps is descending."""
    most = int(n_steps[0]) if len(n_steps) else 0
    counts = np.searchsorted(-n_steps, -np.arange(1, most + 1), side="right")
    for step, count in enumerate(counts, start=1):
        yield step, order[:count]
