"""Where lists are cut: by the score, the place, a gap, or how surprising a score is.

A cut gives each row a key that never rises down its list; what is shown are the rows whose key
reaches a level. So the best level of any cut is found as the best threshold on a score is.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold

from skfilterrank._core.queries import GroupIndex
from skfilterrank._core.prefixes import list_order, places

# Folds by query, in which what cuts learn is tried out.
_FOLDS = 5


class Cut:
    """Base of all cuts.

    Attributes
    ----------
    level : float or None
        Rows are shown whose key is at least this; None where it is to be found.
    out_of_fold_keys_ : ndarray of shape (n_rows,), float64
        Keys of the rows that `fit` got, from what was learned without their query.
    """

    level: float | None = None

    def __init__(self, k: int | None = None):
        self.k = k

    def fit(self, gains: np.ndarray, scores: np.ndarray, index: GroupIndex, units=None):
        """Learn from gains, NaN where unjudged; most cuts learn nothing.

        `units` numbers the query of each list, as several may be of one; None where none are.
        """
        self.out_of_fold_keys_ = self.keys(scores, index)
        return self

    def keys(self, scores: np.ndarray, index: GroupIndex) -> np.ndarray:
        """Key of each row of whole lists; whatever that of a row is that scores -inf."""
        raise NotImplementedError

    def state(self) -> dict:
        """What was learned, as JSON holds it."""
        return {}

    def restore(self, state, name: str) -> None:
        """Take over what another cut has learned; an error names the field of the state."""


def folds_of_queries(index, units=None):
    """Yield rows to learn from and rows of queries that none of them is of.

    `units` numbers the query of each list, as several may be of one.
    """
    numbers = np.arange(index.n_queries) if units is None else pd.factorize(units)[0]
    n_splits = min(_FOLDS, int(numbers.max(initial=-1)) + 1)
    numbers = numbers[index.codes()]
    if n_splits > 1:
        folds = GroupKFold(n_splits, shuffle=True, random_state=0)
        yield from folds.split(numbers, groups=numbers)


class ScoreCut(Cut):
    """By the score itself."""

    def keys(self, scores, index):
        return scores


class FirstK(Cut):
    """The same number of documents for all; the key is the place, negated."""

    def keys(self, scores, index):
        return -1.0 - places(scores, index)


class LargestGap(Cut):
    """Before the largest gap between two scores of the list; nothing is tuned.

    Of equal gaps the first; a list without any gap is shown whole.
    """

    level = 0.0

    def keys(self, scores, index):
        order, starts, sizes = list_order(scores, index)
        ranked = scores[order]
        with np.errstate(invalid="ignore"):
            gaps = np.append(ranked[:-1] - ranked[1:], 0.0)
        gaps[starts + sizes - 1] = 0.0
        gaps[~np.isfinite(gaps)] = 0.0
        largest = np.maximum.reduceat(gaps, starts)
        is_cut = (gaps == np.repeat(largest, sizes)) & (gaps > 0)
        positions = np.arange(len(ranked))
        first = np.minimum.reduceat(np.where(is_cut, positions, len(ranked)), starts)
        keys = np.empty(len(scores))
        keys[order] = np.where(positions <= np.repeat(first, sizes), 1.0, -1.0)
        return keys


class Surprise(Cut):
    """How unlikely a score is among the other scores of its list.

    The key is the surprise ``-log P(S >= s)`` of Bahri et al.: P is the share of the list that is
    above its median times the tail of a generalised Pareto distribution of the excesses over the
    median; up to the median it is the share of the list itself. The distribution is fitted by its
    probability-weighted moments, which has a closed form, where the paper searches the threshold
    and the maximum of the likelihood list by list.
    """

    def keys(self, scores, index):
        order, starts, sizes = list_order(scores, index)
        ranked = scores[order]
        sizes = np.add.reduceat(ranked > -np.inf, starts, dtype=np.intp)
        place = np.arange(len(ranked)) - np.repeat(starts, index.sizes)
        query = np.repeat(np.arange(len(starts)), index.sizes)
        is_scored = ranked > -np.inf
        n = sizes[query]
        # The median from below, so that at least half of the list lies above or at it.
        n_tail = np.maximum((sizes - 1) // 2, 0)
        median = ranked[starts + np.minimum(n_tail, np.maximum(sizes - 1, 0))]
        in_tail = is_scored & (place < n_tail[query])
        with np.errstate(invalid="ignore"):
            excess = np.where(in_tail, ranked - median[query], 0.0)
        count = np.maximum(n_tail, 1)
        mean = np.add.reduceat(excess, starts) / count
        # E[Y P(Y' > Y)], by the plotting positions (place + 0.35) / n of the excesses.
        weighted = np.add.reduceat(excess * (place + 0.35), starts) / count**2
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = 2.0 - mean / (mean - 2.0 * weighted)
            scale = 2.0 * mean * weighted / (mean - 2.0 * weighted)
        is_known = np.isfinite(shape) & np.isfinite(scale) & (scale > 0)
        # Without excesses, as in lists of one score, all are alike.
        shape, scale = np.where(is_known, shape, 0.0), np.where(is_known, scale, 1.0)
        surprise = _pareto_surprise(excess, shape[query], scale[query])
        share = np.where(in_tail, (n_tail / np.maximum(sizes, 1))[query], (place + 1.0) / (n + 1.0))
        keys = np.empty(len(scores))
        with np.errstate(divide="ignore"):
            found = surprise - np.log(share)
        found[~is_scored] = -np.inf
        found = _never_rising(found, place)
        # P(S >= s) of equal scores is one number: that of the last of them.
        is_last = np.append(ranked[1:] != ranked[:-1], True)
        is_last[starts + index.sizes - 1] = True
        last = np.flatnonzero(is_last)
        keys[order] = found[np.repeat(last, np.diff(last, prepend=-1))]
        return keys


def _pareto_surprise(excess, shape, scale):
    """-log of the tail of generalised Pareto distributions; +inf beyond their end."""
    z = excess / scale
    is_flat = np.abs(shape) < 1e-9
    inner = 1.0 + np.where(is_flat, 0.0, shape) * z
    with np.errstate(divide="ignore", invalid="ignore"):
        curved = np.log(inner) / np.where(is_flat, 1.0, shape)
    curved = np.where(inner > 0, curved, 1e9 + z)
    return np.where(is_flat, z, curved)


def _never_rising(ranked, place):
    """Ranked keys, each at most those before it in its list; `place` counts from 0."""
    result = ranked.copy()
    # Each round doubles how many of the keys before it a key was compared with.
    stride, here = 1, np.flatnonzero(place >= 1)
    while len(here):
        result[here] = np.minimum(result[here], result[here - stride])
        stride *= 2
        here = here[place[here] >= stride]
    return result
