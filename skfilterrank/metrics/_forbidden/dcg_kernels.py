"""The arithmetic of nDCG_f and its family, on blocks of queries.

Carmel, Cohen, Ingber and Kravi, "IR Evaluation and Learning in the Presence of Forbidden
Documents", SIGIR 2022, https://doi.org/10.1145/3477495.3532006.
"""

import numpy as np

from skfilterrank._lists.additive import Additive, Facts, first_places, log_discount
from skfilterrank._lists.floats import ROUNDING_OF_VALUES
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.scoring import ratio


def _discounted(gains):
    """Discounted sum of each row of a matrix of gains in list order."""
    return gains @ log_discount(first_places(gains.shape[1]))


def ideal_dcg(block: ListBlock, k, *, filtering: bool) -> np.ndarray:
    """I_k of the pool; with filtering, forbidden documents are left out."""
    if filtering or not block.has_forbidden:
        return _discounted(block.best_relevant(k))
    return _discounted(block.best_first(k))


def worst_dcg(block: ListBlock, k, *, filtering: bool) -> np.ndarray:
    """W_k of the pool; with filtering, documents of positive gain are left out."""
    if filtering and not block.has_forbidden:
        return np.zeros(len(block.sizes))
    worst = block.worst_first(k)
    return _discounted(np.minimum(worst, 0.0) if filtering else worst)


def dcg(block: ListBlock, k, lowest=-np.inf):
    """DCG@k of the returned list, with gains of at least `lowest`."""
    return _discounted(block.ranked(_at_least(lowest, block.gains), k))


def dcg_sum(facts: Facts, bounds=None, lowest=-np.inf) -> Additive:
    """DCG, or where it lies between two bounds: gain / (high - low) / log2(place + 1)."""
    worth, gains = facts.by_place(log_discount), _at_least(lowest, facts.gains)
    if bounds is None:
        return Additive(gains, worth)
    low, high = facts.per_query(lambda block: bounds(block, facts.k))
    is_defined = high > low
    offset = np.zeros(len(low))
    np.divide(-low, high - low, out=offset, where=is_defined)
    return Additive(facts.over(high - low, gains), worth, offset=offset, is_defined=is_defined)


def _at_least(lowest, gains):
    """The gains, those below the lowest raised to it."""
    return np.maximum(gains, lowest) if np.isfinite(lowest) else gains


# The measures between two bounds.


def ndcg_bounds(block: ListBlock, k):
    """0 and the ideal: equation 1."""
    return np.zeros(len(block.sizes)), ideal_dcg(block, k, filtering=False)


def ndcg_0_bounds(block: ListBlock, k):
    """0 and the ideal without forbidden documents: equation 1 with forbidden ones worth 0."""
    return np.zeros(len(block.sizes)), ideal_dcg(block, k, filtering=True)


def ndcg_min_bounds(block: ListBlock, k):
    """The worst and the best order of all documents: equation 2."""
    low, high = worst_dcg(block, k, filtering=False), ideal_dcg(block, k, filtering=False)
    # Summed up in another order, equal gains may leave a rest that would be divided by.
    best, worst = block.best_first(1)[:, 0], block.worst_first(1)[:, 0]
    all_equal = best - worst <= ROUNDING_OF_VALUES * np.maximum(np.abs(best), np.abs(worst))
    return np.where(all_equal, high, low), high


def ndcg_f_bounds(block: ListBlock, k):
    """The worst and the best list that filtering can return: equation 3."""
    return worst_dcg(block, k, filtering=True), ideal_dcg(block, k, filtering=True)


def between(block: ListBlock, k, bounds, lowest=-np.inf):
    """Where the DCG of the returned list lies between its bounds."""
    return _between(block.once(bounds, k), dcg(block, k, lowest))


def _between(bounds, achieved):
    low, high = bounds
    return ratio(achieved - low, high - low)


def empty_list(block: ListBlock, k):
    """Equation 3 of the empty list."""
    return _between(ndcg_f_bounds(block, k), np.zeros(len(block.sizes)))
