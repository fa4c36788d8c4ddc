"""Measures between the ideal and a random ranking, by enumeration."""

from itertools import permutations
from math import isclose

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


REFERENCE = {"ul_normalized": lambda case: dcg_of(case.shown, case.k)}

# What is done to the mean over tied orders of the above.
OF_THE_MEAN = {"ul_normalized": v2_of_dcg}

# Measures for which a negative gain is an error.
NONNEGATIVE = {"ul_normalized"}
