"""Prefixes of ranked lists, and the thresholds below them."""

import numpy as np

from skfilterrank._lists.floats import mean_tolerance


def places(scores, index, gains=None):
    """Place of each row in its query's ranking, from 0.

    Tied rows stand in the order in which they came, or, where gains are given, the worst first.
    """
    order, starts, sizes = list_order(scores, index, gains)
    result = np.empty(len(scores), dtype=np.intp)
    result[order] = np.arange(len(scores)) - np.repeat(starts, sizes)
    return result


def best_prefix(expected, scores, index, k):
    """For each row the threshold of its query: below the prefix of the highest expected sum.

    Parameters
    ----------
    expected : ndarray of shape (n_rows,), float64
        Expected worth of each document.
    scores : ndarray of shape (n_rows,), float64
        What the documents are ranked by; tied ones share their mean worth and are kept or
        filtered together, -inf is always filtered.
    index : GroupIndex
        The queries.
    k : int or None
        Places that count.

    Returns
    -------
    ndarray of shape (n_rows,), float64
        In the middle between the last score to keep and the next; -inf where all rows are kept,
        +inf where none is. Among equally good prefixes, the longest.
    """
    order, starts, sizes = list_order(scores, index)
    ranked = scores[order]
    positions = np.arange(len(ranked))
    place = positions - np.repeat(starts, sizes)
    starts_tie = np.append(True, ranked[1:] != ranked[:-1])
    starts_tie[starts] = True
    ends_tie = np.append(starts_tie[1:], True)
    tie = np.flatnonzero(starts_tie)
    worth = np.add.reduceat(expected[order], tie) / np.diff(tie, append=len(ranked))
    weight = 1.0 / np.log2(place + 2.0)
    if k is not None:
        weight[place >= k] = 0.0
    sums = np.cumsum(worth[np.cumsum(starts_tie) - 1] * weight)
    before = np.concatenate(([0.0], sums))[starts]
    sums -= np.repeat(before, sizes)
    sums[~ends_tie | np.isneginf(ranked)] = -np.inf
    highest = np.maximum.reduceat(sums, starts)
    is_best = sums >= np.repeat(highest, sizes) - mean_tolerance(expected)
    last = np.maximum.reduceat(np.where(is_best, positions, -1), starts)
    return thresholds_below(np.where(highest < 0, -1, last), ranked, order, starts, sizes)


def thresholds_of(shown, scores, index):
    """For each row the threshold of its query, of which the first documents are shown.

    Where the last one that is shown and the next have one score, that score is the threshold.
    """
    order, starts, sizes = list_order(scores, index)
    n_shown = np.add.reduceat(shown[order], starts, dtype=np.intp)
    last = np.where(n_shown > 0, starts + n_shown - 1, -1)
    return thresholds_below(last, scores[order], order, starts, sizes)


def thresholds_below(last, ranked, order, starts, sizes):
    """Thresholds in the middle below a place of each list, -1 where nothing is shown."""
    is_empty = last < 0
    is_whole = ~is_empty & (last + 1 == starts + sizes)
    upper = ranked[last]
    lower = ranked[np.minimum(last + 1, len(ranked) - 1)]
    # Infinite scores have no middle.
    lower = np.where(is_whole | np.isneginf(lower), upper, lower)
    with np.errstate(invalid="ignore"):
        thresholds = lower + (upper - lower) / 2
    thresholds = np.where(thresholds > lower, thresholds, upper)
    thresholds = np.where(is_empty, np.inf, np.where(is_whole, -np.inf, thresholds))
    result = np.empty(len(order))
    result[order] = np.repeat(thresholds, sizes)
    return result


def places_of_ties(scores, index):
    """Number of rows of higher score in the query of each row."""
    order, starts, sizes = list_order(scores, index)
    ranked = scores[order]
    starts_tie = np.append(True, ranked[1:] != ranked[:-1])
    starts_tie[starts] = True
    positions = np.arange(len(ranked))
    result = np.empty(len(scores), dtype=np.intp)
    result[order] = positions[starts_tie][np.cumsum(starts_tie) - 1] - np.repeat(starts, sizes)
    return result


def list_order(scores, index, gains=None):
    """Rows query by query from the best score down, and where each query starts."""
    keys = (-scores, index.codes())
    order = np.lexsort(keys if gains is None else (np.nan_to_num(gains), *keys))
    return order, np.cumsum(index.sizes) - index.sizes, index.sizes


def ties_worst_first(gains, scores, index):
    """Row numbers that put tied rows of a query in the order of their gains.

    All other rows keep their place. What breaks ties by the order of rows then does not depend on
    the order in which rows came, and errs on the safe side.
    """
    order = np.empty(len(scores), dtype=np.intp)
    order[list_order(scores, index)[0]] = list_order(scores, index, gains)[0]
    return order


def ends_behind(most, parsed) -> bool:
    """Tell whether lists of at most so many documents have all places that a measure looks at."""
    return most is None or (parsed.k is not None and parsed.k <= most)


def shown_at_most(lists, most):
    """The lists without the documents behind the first places; of tied ones the worst are shown."""
    if most is None:
        return lists
    hidden = places(lists.scores, lists.index, lists.gains) >= most
    lists = lists.with_scores(np.where(hidden, -np.inf, lists.scores))
    lists.has_filtered = True
    return lists
