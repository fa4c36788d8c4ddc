"""A threshold for each query, learned from the scores of its documents."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold

from skfilterrank.metrics import _dcg_kernels as kernels
from skfilterrank.metrics._lists import RankedLists


class QueryThreshold:
    """Stop each list where showing more is expected to do harm.

    A document adds ``gain / (I - W)``, weighted by its place, to its query's nDCG_f. A regression
    learns that worth from the document's score and the scores around it; a query's threshold is
    where the expected sum over the prefix is highest.

    Parameters
    ----------
    k : int or None
        Cut-off of nDCG_f.
    n_splits : int, default=5
        Folds by query for the thresholds of the rows it was fitted on.
    """

    def __init__(self, k=None, n_splits=5):
        self.k = k
        self.n_splits = n_splits

    def fit(self, gains, scores, index):
        """Learn from out-of-fold scores."""
        features = list_features(scores, index)
        worth = normalised_gains(gains, index, self.k)
        groups = index.codes()
        self.regressor_ = self._regressor().fit(features, worth)
        expected = np.empty(len(scores))
        n_splits = min(self.n_splits, index.n_queries)
        for train, test in GroupKFold(n_splits).split(features, groups=groups):
            inner = self._regressor().fit(features[train], worth[train])
            expected[test] = inner.predict(features[test])
        self.out_of_fold_thresholds_ = best_prefix(expected, scores, index, self.k)
        return self

    def thresholds(self, scores, index):
        """Threshold of each row's query."""
        expected = self.regressor_.predict(list_features(scores, index))
        return best_prefix(expected, scores, index, self.k)

    def _regressor(self):
        return HistGradientBoostingRegressor(
            max_iter=100, learning_rate=0.05, max_leaf_nodes=8, min_samples_leaf=50
        )


def normalised_gains(gains, index, k):
    """Gain of each row divided by I - W of its query; 0 where undefined or unjudged."""
    lists = RankedLists(gains, groups=index)
    result = np.zeros(index.n_rows)
    for block in lists.blocks():
        low, high = kernels.ndcg_f_bounds(block, k)
        scale = np.zeros(len(low))
        np.divide(1.0, high - low, out=scale, where=high > low)
        index.put(result, block.layout, block.gains * scale[:, None])
    return result


def list_features(scores, index):
    """What a document's own score and the list around it look like; shape (n_rows, 9)."""
    order, starts, sizes = _list_order(scores, index)
    ranked = scores[order]
    place = np.arange(len(ranked)) - np.repeat(starts, sizes)
    mean = np.add.reduceat(ranked, starts) / sizes
    deviation = ranked - np.repeat(mean, sizes)
    spread = np.sqrt(np.add.reduceat(deviation**2, starts) / sizes)
    best, worst = ranked[starts], ranked[starts + sizes - 1]
    above = np.concatenate(([0.0], ranked[:-1] - ranked[1:]))
    above[starts] = 0.0
    below = np.append(above[1:], 0.0)
    per_query = np.column_stack([mean, spread, best, worst, sizes])
    features = np.empty((len(scores), 9))
    features[order] = np.column_stack(
        [ranked, place, above, below, np.repeat(per_query, sizes, axis=0)]
    )
    return features


def best_prefix(expected, scores, index, k):
    """For each row the threshold of its query: the prefix of highest expected sum."""
    order, starts, sizes = _list_order(scores, index)
    ranked = scores[order]
    positions = np.arange(len(ranked))
    place = positions - np.repeat(starts, sizes)
    weight = 1.0 / np.log2(place + 2.0)
    if k is not None:
        weight[place >= k] = 0.0
    sums = np.cumsum(expected[order] * weight)
    before = np.concatenate(([0.0], sums))[starts]
    sums -= np.repeat(before, sizes)
    # A tie is kept or filtered as a whole.
    ends_tie = np.append(ranked[1:] != ranked[:-1], True)
    ends_tie[starts + sizes - 1] = True
    sums[~ends_tie] = -np.inf
    highest = np.maximum.reduceat(sums, starts)
    is_best = sums >= np.repeat(highest, sizes) - 1e-12
    last = np.maximum.reduceat(np.where(is_best, positions, -1), starts)
    last = np.where(highest >= 0, last, starts - 1)
    below_last = last + 1 == starts + sizes
    upper = np.where(last >= starts, ranked[np.maximum(last, 0)], np.inf)
    lower = np.where(below_last, -np.inf, ranked[np.minimum(last + 1, len(ranked) - 1)])
    # Infinite ends, which have no middle, are dealt with below.
    with np.errstate(invalid="ignore"):
        thresholds = lower + (upper - lower) / 2
    thresholds = np.where(thresholds > lower, thresholds, upper)
    thresholds = np.where(np.isinf(upper), np.inf, np.where(below_last, -np.inf, thresholds))
    result = np.empty(len(scores))
    result[order] = np.repeat(thresholds, sizes)
    return result


def _list_order(scores, index):
    """Rows query by query from the best score down, and where each query starts."""
    order = np.lexsort((-scores, index.codes()))
    return order, np.cumsum(index.sizes) - index.sizes, index.sizes
