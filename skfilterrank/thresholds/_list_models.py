"""Models of the gain of a document given features of its list, and their mixture."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skfilterrank._base.probabilities import (
    chances_of_levels,
    fit_curves,
    levels_above,
    reaching,
)
from skfilterrank._lists.scoring import mean_and_error

_ROUNDS = 60
_TREES = {
    "num_leaves": 15,
    "learning_rate": 0.12,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
}
_MIN_ROWS_OF_LEAF = 200
# Effective number of independent rows of a query in the linear model.
_ROWS_OF_QUERY = 6.0
_LEAST_CHANCE = 1e-6
# Losses that differ by less are equal.
_ROUNDING = 1e-12
_SHARES = np.linspace(0.0, 1.0, 21)
# Number of nodes that are followed at once, chosen to fit the cache.
_CELLS = 1 << 16


class Trees(NamedTuple):
    """Boosted trees, as arrays of the nodes of all trees.

    LightGBM itself never reads saved trees, as a changed file can crash it.

    Attributes
    ----------
    roots : ndarray of shape (n_rounds, n_scores), int
        The first node of each tree. Two classes share one score.
    features : ndarray of shape (n_nodes,), int
        Number of the feature that is compared at each node.
    numbers : ndarray of shape (n_nodes,), float64
        Largest value of the feature that goes left, or the value of a leaf.
    left, right : ndarray of shape (n_nodes,), int
        The next nodes, which have higher numbers; a leaf leads to itself.
    """

    roots: np.ndarray
    features: np.ndarray
    numbers: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, booster) -> "Trees":
        """Read the trees of a booster of LightGBM."""
        first, nodes, n_nodes = [], [], 0
        for tree in booster.model_to_string().split("\nTree=")[1:]:
            first.append(n_nodes)
            nodes.append(_nodes_of(tree, n_nodes))
            n_nodes += len(nodes[-1][0])
        roots = np.reshape(first, (-1, booster.num_model_per_iteration()))
        return cls(roots, *map(np.concatenate, zip(*nodes)))

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        roots, scores = self.roots, np.empty((self.roots.shape[1], len(features)))
        for start in range(0, len(features), step := max(1, _CELLS // roots.size)):
            # Values by feature and row.
            values = features[start : start + step].T
            n_rows = values.shape[1]
            flat, rows = values.ravel(), np.arange(n_rows)
            before, node = None, np.repeat(roots.reshape(-1, 1), n_rows, axis=1)
            while before is None or (before != node).any():
                value = flat.take(self.features.take(node) * n_rows + rows)
                goes_left = value <= self.numbers.take(node)
                before, node = (
                    node,
                    np.where(goes_left, self.left.take(node), self.right.take(node)),
                )
            # Trees are added in their order, as LightGBM does.
            added = np.cumsum(self.numbers.take(node).reshape(*roots.shape, n_rows), axis=0)
            scores[:, start : start + step] = added[-1]
        return _chances(scores)


class Booster(NamedTuple):
    """Booster of LightGBM, which predicts fast; a fitted learner keeps its :class:`Trees`.

    Attributes
    ----------
    booster : lightgbm.Booster
        The booster.
    """

    booster: Any

    @classmethod
    def fitted(cls, features, kinds, n_kinds, seed, n_lists) -> "Booster":
        """Fit boosted trees to rows of several classes."""
        # Imported here, because the import is slow.
        import lightgbm

        least = max(1, min(_MIN_ROWS_OF_LEAF, len(kinds) // 50))
        settings: dict = _TREES | {"min_data_in_leaf": least, "seed": int(seed)}
        if n_kinds == 2:
            settings["objective"] = "binary"
        else:
            settings |= {"objective": "multiclass", "num_class": n_kinds}
        data = lightgbm.Dataset(features, kinds, free_raw_data=True)
        return cls(lightgbm.train(settings, data, _ROUNDS, keep_training_booster=True))

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        scores = self.booster.predict(features, raw_score=True, num_threads=1)
        return _chances(np.atleast_2d(scores.T))


def _chances(scores) -> np.ndarray:
    """Turn scores of classes, or of the second of two, into probabilities."""
    if len(scores) > 1:
        return _softmax(scores)
    chances = 1.0 / (1.0 + np.exp(-scores))
    return np.concatenate([1.0 - chances, chances])


def _nodes_of(tree, first):
    """Read features, numbers and next nodes of a tree of LightGBM whose first node is `first`."""
    fields = dict(line.split("=", 1) for line in tree.splitlines() if "=" in line)
    features, left, right = (
        np.fromstring(fields[name], dtype=np.intp, sep=" ")
        for name in ("split_feature", "left_child", "right_child")
    )
    thresholds, leaves = (
        np.fromstring(fields[name], sep=" ") for name in ("threshold", "leaf_value")
    )
    own = first + len(features) + np.arange(len(leaves))
    # LightGBM numbers leaves from -1 downwards.
    left, right = (
        np.append(first + np.where(next < 0, len(features) - 1 - next, next), own)
        for next in (left, right)
    )
    features = np.append(features, np.zeros(len(leaves), dtype=np.intp))
    return features, np.append(thresholds, leaves), left, right


class Linear(NamedTuple):
    """Multinomial logistic regression on features and their products with the log place.

    Attributes
    ----------
    low, high, mean, scale : ndarray of shape (n_features,) or (2 n_features,)
        Range of each feature in training, to which features are clipped, and mean and standard
        deviation of the terms.
    weights : ndarray of shape (n_kinds, 2 n_features)
        Weights of the standardised terms.
    constants : ndarray of shape (n_kinds,)
        Intercepts of the classes.
    """

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    constants: np.ndarray

    @classmethod
    def fitted(cls, features, kinds, n_kinds, seed, n_lists) -> "Linear":
        """Fit the regression to rows of several classes."""
        low, high = features.min(axis=0), features.max(axis=0)
        terms = _terms(features)
        mean, scale = terms.mean(axis=0), terms.std(axis=0)
        scale = np.where(scale > 1e-9 * np.abs(terms).max(axis=0), scale, 1.0)
        strength = _ROWS_OF_QUERY * n_lists / len(kinds)
        # A few steps of Newton's method: other solvers end early, at other weights.
        model = LogisticRegression(C=strength, solver="newton-cholesky")
        model.fit((terms - mean) / scale, kinds)
        weights, constants = model.coef_, model.intercept_
        if n_kinds == 2:
            weights, constants = np.vstack([0 * weights, weights]), np.append(0.0, constants)
        return cls(low, high, mean, scale, weights, constants)

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        terms = (_terms(np.clip(features, self.low, self.high)) - self.mean) / self.scale
        return _softmax(self.weights @ terms.T + self.constants[:, None])


class Curves(tuple):
    """Isotonic curves of the score, one for each class but the lowest.

    An entry is an array of shape (2, n_nodes): scores, and P(class >= level) there, linear between
    the scores and constant beyond them.
    """

    __slots__ = ()

    @classmethod
    def _make(cls, curves) -> "Curves":
        """Make the curves from arrays; NamedTuple gives the other models this method."""
        return cls(curves)

    @classmethod
    def fitted(cls, features, kinds, n_kinds, seed, n_lists) -> "Curves":
        """Fit isotonic regressions of the score, the first of the features."""
        return cls(map(np.array, fit_curves(features[:, 0], levels_above(kinds)[1])))

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        return chances_of_levels(reaching(self, features[:, 0]))


class Own(NamedTuple):
    """Fitted copy of a classifier of the user.

    Attributes
    ----------
    estimator : estimator
        The classifier.
    """

    estimator: Any

    @classmethod
    def fitted(cls, features, kinds, n_kinds, seed, n_lists, estimator) -> "Own":
        """Fit a clone of the classifier, with the seed if its random state is None."""
        own = clone(estimator)
        if own.get_params().get("random_state", 0) is None:
            own.set_params(random_state=int(seed))
        return cls(own.fit(features, kinds))

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        return self.estimator.predict_proba(features).T


class Shares(NamedTuple):
    """Constant class probabilities, used if there is only one class or no row.

    Attributes
    ----------
    shares : ndarray of shape (n_kinds,)
        Share of the rows of each class.
    """

    shares: np.ndarray

    def predict(self, features) -> np.ndarray:
        """Return the shares for each row; shape (n_kinds, n_rows)."""
        return np.repeat(self.shares[:, None], len(features), axis=1)


def fit_member(make, features, kinds, n_kinds, seed, n_lists):
    """Fit one model; use `Shares` for a single class, and probability 0 for missing classes."""
    seen, codes = np.unique(kinds, return_inverse=True)
    if len(seen) < 2:
        shares = np.bincount(kinds, minlength=n_kinds) / max(len(kinds), 1)
        return Shares(shares if len(kinds) else np.full(n_kinds, 1.0 / n_kinds))
    if len(seen) < n_kinds:
        inner = make(features, codes, len(seen), seed, n_lists)
        return _Wider(inner, seen, n_kinds)
    return make(features, kinds, n_kinds, seed, n_lists)


class _Wider(NamedTuple):
    """Wrapper of a model that has not seen every class: the others get probability 0."""

    inner: NamedTuple
    seen: np.ndarray
    n_kinds: int

    def predict(self, features):
        result = np.zeros((self.n_kinds, len(features)))
        result[self.seen] = self.inner.predict(features)
        return result


def best_share(first, second, kinds, lists, *, simple=False) -> float:
    """Return the share of the first model in the mixture of two with the lowest log loss.

    Parameters
    ----------
    first, second : ndarray of shape (n_kinds, n_rows)
        Probabilities by models that have not seen the list of the row.
    kinds, lists : ndarray of shape (n_rows,), int
        Class and list of each row.
    simple : bool, default=False
        Return the smallest share whose loss is within one standard error (over lists) of the best.
    """
    rows, n_rows = np.arange(len(kinds)), np.maximum(np.bincount(lists), 1)
    losses = np.array(
        [
            np.bincount(lists, -np.log(mixed(first, second, share)[kinds, rows])) / n_rows
            for share in _SHARES
        ]
    )[:, np.bincount(lists) > 0]
    best = int(losses.mean(axis=1).argmin())
    if simple:
        for place, own in enumerate(losses):
            mean, error, _ = mean_and_error(own - losses[best])
            if mean <= max(error, _ROUNDING):
                return float(_SHARES[place])
    return float(_SHARES[best])


def mixed(first, second, share) -> np.ndarray:
    """Mix the probabilities of two models linearly in their logarithms."""
    return mixture((first, second), (share, 1.0 - share))


def mixture(chances, shares) -> np.ndarray:
    """Mix the probabilities of several models linearly in their logarithms."""
    total = 0.0
    for each, share in zip(chances, shares):
        if share:
            total = total + share * np.log(np.maximum(each, _LEAST_CHANCE))
    return _softmax(total)


def _terms(features):
    """Append the products of all features with the log place, the fourth feature."""
    return np.hstack([features, features * features[:, 3:4]])


def _softmax(values):
    powers = np.exp(values - values.max(axis=0))
    return powers / powers.sum(axis=0)
