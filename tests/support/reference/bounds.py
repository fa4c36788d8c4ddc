"""Measures between the ideal and a random ranking, by enumeration."""

from itertools import permutations
from math import fsum, isclose, sqrt
from statistics import pvariance

from .dcg import dcg_of


def random_ranking(value, pool, k):
    """Mean of value(order, k) over every order of the pool."""
    orders = list(permutations(pool))
    return sum(value(order, k) for order in orders) / len(orders)


def random_dcg(pool, k):
    """The same for DCG, by the mean at each place: every document is as likely there."""
    return dcg_of([sum(pool) / len(pool)] * len(pool), k) if pool else 0.0


def sum_precision_of(gains, k):
    """Equation 4."""
    total = 0.0
    for place, gain in enumerate(gains[:k], start=1):
        if gain > 0:
            total += sum(above > 0 for above in gains[:place]) / place
    return total


def v1(achieved, lower, upper):
    """Equation 5; None where all rankings score the same."""
    if isclose(lower, upper, abs_tol=1e-12):
        return None
    return (achieved / upper) * (achieved / (achieved + lower))


def v2(achieved, lower, upper):
    """Equation 6; None where all rankings score the same."""
    if isclose(lower, upper, abs_tol=1e-12):
        return None
    return (achieved - lower) / ((upper - lower) if achieved >= lower else lower)


def v2_of_dcg(achieved, case):
    """Of the mean over tied orders, as it is not linear."""
    ideal = dcg_of(sorted(case.pool, reverse=True), case.k)
    return v2(achieved, random_dcg(case.pool, case.k), ideal)


def standardized(case):
    """DCG in standard deviations of random rankings, from the covariance of each two places."""
    n = len(case.pool)
    if n < 2 or isclose(min(case.pool), max(case.pool)):
        return None
    variance = pvariance(case.pool)
    discounts = [dcg_of([0] * i + [1], case.k) for i in range(n)]
    covariances = [
        left * right * (variance if i == j else -variance / (n - 1))
        for i, left in enumerate(discounts)
        for j, right in enumerate(discounts)
    ]
    total = fsum(covariances)
    if total < 1e-9 * variance:
        return None
    return (dcg_of(case.shown, case.k) - random_dcg(case.pool, case.k)) / sqrt(total)


REFERENCE = {
    "ul_normalized": lambda case: dcg_of(case.shown, case.k),
    "above_chance": standardized,
}

# What is done to the mean over tied orders of the above.
OF_THE_MEAN = {"ul_normalized": v2_of_dcg}

# Measures for which a negative gain is an error.
NONNEGATIVE = {"ul_normalized"}
