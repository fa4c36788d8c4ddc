"""Recall as robustness: effort to find everything, and lexicographic recall and precision.

Placements are counted with whole numbers of any length.
"""

from fractions import Fraction
from math import comb, log


def positions(case):
    """Projection of section 2.2, relevant items that are missing at the end of all items."""
    found = [place for place, gain in enumerate(case.shown, start=1) if gain > 0]
    n_missing = sum(gain > 0 for gain in case.pool) - len(found)
    return found + [n_items(case) - n_missing + t for t in range(1, n_missing + 1)]


def n_items(case):
    """The rows, and behind them room for all that is relevant."""
    return case.n_rows + sum(gain > 0 for gain in case.pool)


def n_worse_recall(p, n):
    """Placements that are worse from the last position up."""
    n_better = sum(comb(position - 1, level) for level, position in enumerate(p, start=1))
    return comb(n, len(p)) - 1 - n_better


def n_worse_precision(p, n):
    """Placements that are worse from the first position down."""
    m = len(p)
    return sum(comb(n - position, m + 1 - level) for level, position in enumerate(p, start=1))


def log_odds(n_worse, p, n):
    """Worse placements set against better ones, by logarithms; 1 where there is no other."""
    n_all = comb(n, len(p))
    if n_all == 1:
        return 1.0
    return 1 / 2 + (log(1 + n_worse) - log(n_all - n_worse)) / (2 * log(n_all))


def metric_lexirecall(p, n, epsilon=Fraction(1, 2)):
    """Equation 12, its weights as printed."""
    m, delta = len(p), 1 / (n + epsilon)
    weights = [
        delta ** (m - 1) / (1 + delta) ** (m - 1)
        if i == 1
        else delta ** (m - i) / (1 + delta) ** (m + 1 - i)
        for i in range(1, m + 1)
    ]
    assert sum(weights) == 1
    return float(sum(w * Fraction(n - position, n) for w, position in zip(weights, p)))


def of_positions(function):
    """A measure of positions and the number of items; None where nothing is relevant."""

    def value(case):
        p = positions(case)
        return function(p, n_items(case)) if p else None

    return value


REFERENCE = {
    "tse": of_positions(lambda p, n: 1 / p[-1]),
    "search_length": of_positions(lambda p, n: p[-1] - len(p)),
    "recall_error": of_positions(lambda p, n: sum(p) / len(p) - (len(p) + 1) / 2),
    "lexirecall": of_positions(lambda p, n: log_odds(n_worse_recall(p, n), p, n)),
    "lexiprecision": of_positions(lambda p, n: log_odds(n_worse_precision(p, n), p, n)),
    "metric_lexirecall": of_positions(metric_lexirecall),
}
