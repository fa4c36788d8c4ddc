"""How sure a list's scores are of it, and from which confidence on a query is answered."""

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._lists.floats import first_of_highest, midpoint
from skfilterrank._lists.prefixes import list_order
from skfilterrank.exceptions import InputError

# Places of a list that the regression reads, and folds by query of what it says of its own rows.
_DEPTH = 10
_FOLDS = 5


def top_scores(scores, index, depth) -> np.ndarray:
    """The best scores of each query, best first; NaN beyond the end, of shape (n_queries, depth).

    Rows that score -inf are no part of their list.
    """
    order, starts, sizes = list_order(scores, index)
    columns = starts[:, None] + np.minimum(np.arange(depth), sizes[:, None] - 1)
    top = scores[order][columns]
    top[(np.arange(depth) >= sizes[:, None]) | np.isneginf(top)] = np.nan
    return top


def _best_score(scores, index):
    return top_scores(scores, index, 1)[:, 0]


def _score_gap(scores, index):
    top = top_scores(scores, index, 2)
    # One document has no second to be compared with.
    return np.where(np.isnan(top[:, 1]) & ~np.isnan(top[:, 0]), 0.0, top[:, 0] - top[:, 1])


def _score_std(scores, index):
    codes, shown = index.codes(), scores > -np.inf
    finite = np.where(shown, scores, 0.0)
    count = np.maximum(np.bincount(codes, shown, index.n_queries), 1.0)
    mean = np.bincount(codes, finite, index.n_queries) / count
    squares = np.where(shown, (finite - mean[codes]) ** 2, 0.0)
    return np.sqrt(np.bincount(codes, squares, index.n_queries) / count)


# Read from the scores alone; "score_regression" learns.
_STATISTICS = {"best_score": _best_score, "score_gap": _score_gap, "score_std": _score_std}
CONFIDENCES = (*_STATISTICS, "score_regression")


class Confidence:
    """How sure a list's scores are of it.

    Parameters
    ----------
    name : {"best_score", "score_gap", "score_std", "score_regression"}
        The highest score; how far it is above the second, 0 where there is none; the standard
        deviation of all scores; or what a ridge regression on the first ten scores predicts that
        the answer is worth. Lists without any score have -inf.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features + 1,) or None
        Of the regression, the constant last.
    out_of_fold_ : ndarray of shape (n_queries,)
        Confidence in the lists that `fit` got, from what was learned without them.

    References
    ----------
    H. Gisserot-Boukhlef et al. "Towards Trustworthy Reranking: A Simple yet Effective Abstention
    Mechanism". 2024, https://arxiv.org/abs/2402.12997.
    """

    weights_: np.ndarray | None = None

    def __init__(self, name: str):
        self.name = name

    def fit(self, worth, scores, index, units=None) -> "Confidence":
        """Learn from what the answer to each query was worth.

        `units` numbers the query of each list, as several may be of one; None where none are.
        """
        if self.name in _STATISTICS:
            self.out_of_fold_ = self.of(scores, index)
            return self
        features = self._features(scores, index)
        self.weights_ = _ridge_weights(features, worth)
        out_of_fold = _predicted(features, self.weights_)
        queries = np.arange(len(worth)) if units is None else pd.factorize(units)[0]
        n_queries = int(queries.max(initial=-1)) + 1
        if n_queries > 1:
            folds = KFold(min(_FOLDS, n_queries), shuffle=True, random_state=0)
            for _, held_out in folds.split(np.arange(n_queries)):
                test = np.isin(queries, held_out)
                weights = _ridge_weights(features[~test], worth[~test])
                out_of_fold[test] = _predicted(features[test], weights)
        self.out_of_fold_ = _or_least(out_of_fold, scores, index)
        return self

    def restore(self, weights, name) -> None:
        """Take over weights, none where nothing is learned."""
        n_weights = 0 if self.name in _STATISTICS else _DEPTH + 1
        if n_weights != (0 if weights is None else len(weights)):
            raise InputError(f"{name} must hold {n_weights} numbers for {self.name!r}.")
        self.weights_ = weights

    def of(self, scores, index) -> np.ndarray:
        """Confidence in each list, in the order of the query ids."""
        if self.name in _STATISTICS:
            confidence = _STATISTICS[self.name](scores, index)
        else:
            confidence = _predicted(self._features(scores, index), self.weights_)
        return _or_least(confidence, scores, index)

    @staticmethod
    def _features(scores, index):
        """The first scores, short lists filled up with their last one."""
        top = top_scores(scores, index, _DEPTH)
        for place in range(1, _DEPTH):
            top[:, place] = np.where(np.isnan(top[:, place]), top[:, place - 1], top[:, place])
        return np.nan_to_num(top)


def _or_least(confidence, scores, index):
    """-inf where nothing of the list is scored."""
    n_scored = np.bincount(index.codes(), scores > -np.inf, index.n_queries)
    return np.where(n_scored > 0, confidence, -np.inf)


def _ridge_weights(features, worth):
    """Weights of a ridge regression on standardised features, the constant last."""
    model = make_pipeline(StandardScaler(), Ridge(10.0)).fit(features, worth)
    scaler, ridge = model[0], model[1]
    weights = ridge.coef_ / scaler.scale_
    return np.append(weights, ridge.intercept_ - weights @ scaler.mean_)


def _predicted(features, weights):
    return features @ weights[:-1] + weights[-1]


def best_level(confidence, worth, weights=None) -> float:
    """The confidence from which on answers are worth most; -inf where all are, +inf where none."""
    counted = worth if weights is None else worth * weights
    order = np.argsort(confidence, kind="stable")
    levels = confidence[order]
    sums = np.append(np.cumsum(counted[order][::-1])[::-1], 0.0)
    firsts = np.flatnonzero(np.append(True, levels[1:] != levels[:-1]))
    best = first_of_highest(sums[np.append(firsts, len(levels))])
    if not best:
        return -np.inf
    finite = levels[levels > -np.inf]
    below = levels[firsts[best - 1]]
    return midpoint(finite, below) if below > -np.inf else float(finite.min())
