"""The order in which the rows of a run are ranked."""

import numpy as np


def rank_order(codes, scores, docnos):
    """Rows by topic, score descending, and document id descending or, without ids, as they come.

    A slice of all rows where they stand so.
    """
    order = _order_of_stretches(codes, scores)
    if order is None:
        order = np.lexsort((-scores, codes))
    if docnos is None:
        return order
    codes, scores = codes[order], scores[order]
    tied = (scores[1:] == scores[:-1]) & (codes[1:] == codes[:-1])
    second = np.flatnonzero(tied) + 1
    if not second.size:
        return order
    # Only rows that share their score with another are sorted by document.
    members = np.union1d(second, second - 1)
    spans = np.cumsum((members == 0) | ~tied[members - 1])
    rows = members if isinstance(order, slice) else order[members]
    by_document = np.lexsort([*(~key for key in docnos.take(rows).sort_keys()), spans])
    if (by_document == np.arange(len(rows))).all():
        return order
    order = np.arange(len(codes))[order]
    order[members] = rows[by_document]
    return order


def _order_of_stretches(codes, scores):
    """Rows by topic and score, where each topic's rows stand together in order; else None.

    A slice of all rows where the topics stand in order, too.
    """
    new_topic = codes[1:] != codes[:-1]
    if ((scores[1:] > scores[:-1]) & ~new_topic).any():
        return None
    heads = np.concatenate(([0], np.flatnonzero(new_topic) + 1))[: len(codes)]
    if (codes[heads[1:]] > codes[heads[:-1]]).all():
        return slice(None)
    by_topic = np.argsort(codes[heads])
    heads, sizes = heads[by_topic], np.diff(heads, append=len(codes))[by_topic]
    if (np.diff(codes[heads]) == 0).any():
        return None
    return np.repeat(heads - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(codes))
