"""Each query's share of a risk, at every threshold."""

from typing import NamedTuple

import numpy as np


class Steps(NamedTuple):
    """Each query's loss as a step function of the threshold, all steps from the safest on.

    `start` is the loss of each query at the safest threshold; the others have one entry per step:
    the score behind which, the query in which, and the value to which the loss changes.
    """

    start: np.ndarray
    scores: np.ndarray
    queries: np.ndarray
    losses: np.ndarray

    @property
    def n_queries(self):
        """Number of queries that count."""
        return len(self.start)

    @classmethod
    def of(cls, scores, codes, losses, counts, *, upward):
        """Sorted steps; `codes` number all queries, of which those where `counts` holds do.

        The steps of a query come in order; of several at one score the last holds.
        """
        is_last = (scores[1:] != scores[:-1]) | (codes[1:] != codes[:-1])
        holds = counts[codes] & np.append(is_last, True)[: len(codes)]
        scores, codes, losses = scores[holds], codes[holds], losses[holds]
        order = np.argsort(scores if upward else -scores, kind="stable")
        number = np.cumsum(counts) - 1
        queries = number[codes[order]]
        scores, losses = scores[order], losses[order]
        start = np.zeros(np.count_nonzero(counts))
        n_before = np.count_nonzero(scores == -np.inf)
        start[queries[:n_before]] = losses[:n_before]
        return cls(start, scores[n_before:], queries[n_before:], losses[n_before:])

    def at(self, threshold, is_upward):
        """Loss of each query at a threshold."""
        taken = self.scores < threshold if is_upward else self.scores >= threshold
        losses = self.start.copy()
        # Of a query's several steps, the last one written remains.
        losses[self.queries[taken]] = self.losses[taken]
        return losses


def _forbidden_steps(lists, k):
    """Steps of the share of the shown top k that is forbidden."""
    scores, codes, losses = [], [], []
    for block in lists.blocks():
        bad = block.ranked((block.gains < 0).astype(np.float64), k)
        depth = bad.shape[1]
        shares = np.cumsum(bad, axis=1) / np.arange(1, depth + 1)
        is_shown = np.arange(depth) < block.n_retained[:, None]
        scores.append(-block.in_order(block.sort_key, k)[is_shown])
        codes.append(np.repeat(block.queries, is_shown.sum(axis=1)))
        losses.append(shares[is_shown])
    return Steps.of(
        *(np.concatenate(parts) for parts in (scores, codes, losses)),
        _has_judged(lists),
        upward=False,
    )


def _any_forbidden_steps(lists, k):
    """Steps of whether the shown top k holds a forbidden document."""
    scores, codes = [], []
    for block in lists.blocks():
        keys = block.in_order(block.sort_key, k)
        first = np.where(block.gains < 0, block.sort_key, np.inf).min(axis=1)
        is_bad = (first < np.inf) & (first <= keys[:, -1])
        scores.append(-first[is_bad])
        codes.append(block.queries[is_bad])
    scores, codes = np.concatenate(scores), np.concatenate(codes)
    return Steps.of(scores, codes, np.ones(len(scores)), _has_judged(lists), upward=False)


def _false_reject_steps(lists, k):
    """Steps of the share of the good documents that is filtered."""
    good = np.flatnonzero(lists.gains > 0)
    codes = lists.index.codes()[good]
    scores = lists.scores[good].astype(np.float64, copy=False)
    order = np.lexsort((scores, codes))
    scores, codes = scores[order], codes[order]
    n_good = np.bincount(codes, minlength=lists.index.n_queries)
    n_filtered = np.arange(1, len(codes) + 1) - (np.cumsum(n_good) - n_good)[codes]
    return Steps.of(scores, codes, n_filtered / n_good[codes], n_good > 0, upward=True)


def _has_judged(lists):
    """Which queries have a judged document."""
    if not lists.has_unjudged:
        return np.ones(lists.index.n_queries, dtype=bool)
    judged = ~np.isnan(lists.gains)
    return np.bincount(lists.index.codes(), judged, minlength=lists.index.n_queries) > 0


STEPS = {
    "forbidden": _forbidden_steps,
    "any_forbidden": _any_forbidden_steps,
    "false_reject_rate": _false_reject_steps,
}
