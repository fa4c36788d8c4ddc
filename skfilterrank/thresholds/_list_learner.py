"""Features of whole lists, and models of the gain given these features."""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skfilterrank._files.states import POSITIVE, count, curve, listed, numbers, record
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import mean_and_error
from skfilterrank._lists.sklearn_compat import fit_calibrator
from skfilterrank.exceptions import InputError

# Distances in places for the features that are differences of scores.
GAPS = (1, 5, 20, 60)
_OF_DOCUMENT = ("score", "z", "min_max", "log_place", "ratio_to_first", "below_first")
_OF_LIST = ("first", "tenth", "hundredth", "last", "mean", "std", "log_size")
FEATURES = (*_OF_DOCUMENT, "running_mean", *(f"gap_{gap}" for gap in GAPS), *_OF_LIST)


def feature_matrix(scores: np.ndarray, index: GroupIndex) -> np.ndarray:
    """Compute the features of checked scores; NaN where a row scores -inf."""
    result = np.full((len(scores), len(FEATURES)), np.nan)
    for block in index.blocks():
        padded = index.take(scores, block, -np.inf)
        for column, values in enumerate(_of_block(padded)):
            # Columns of the matrix are filled one by one.
            index.put(result[:, column], block, values)
    return result


def _of_block(scores):
    """Yield each feature of some lists, shape (n_lists, width); NaN where the score is -inf.

    Sums are computed within each list, so that they do not depend on other lists.
    """
    n_lists, width = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    places = np.arange(width)
    listed = ranked > -np.inf
    size = listed.sum(axis=1, keepdims=True)
    last = np.maximum(size - 1, 0)
    # The statistics of an empty list are NaN.
    ranked = np.where(listed, ranked, np.where(size > 0, np.take_along_axis(ranked, last, 1), 0.0))
    is_new = np.ones((n_lists, width), dtype=bool)
    is_new[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]) | (places[1:] == size)
    above = np.maximum.accumulate(np.where(is_new, places, 0), axis=1)
    ends = np.append(is_new[:, 1:], np.ones((n_lists, 1), dtype=bool), axis=1)
    end = np.minimum.accumulate(np.where(ends, places, width)[:, ::-1], axis=1)[:, ::-1]

    def at(place):
        return np.take_along_axis(ranked, np.minimum(place, last), axis=1)

    def divided(values, by):
        return np.divide(values, by, out=np.zeros_like(ranked), where=by != 0)

    first = ranked[:, :1]
    # Sums of differences to the first score are exact if all scores are equal.
    with np.errstate(over="ignore", invalid="ignore"):
        below = ranked - first
        sums = np.cumsum(np.where(listed, below, 0.0), axis=1)
        n = np.maximum(size, 1)
        mean = sums[:, -1:] / n
        deviation = np.where(listed, below - mean, 0.0)
        std = np.sqrt(np.cumsum(deviation**2, axis=1)[:, -1:] / n)
        lowest = -below[np.arange(n_lists)[:, None], last]
        in_order = [
            ranked,
            divided(deviation, std),
            divided(below + lowest, lowest),
            np.log1p(above),
            divided(ranked, first),
            below,
            first + np.take_along_axis(sums, end, axis=1) / (end + 1.0),
            *(ranked - at(end + gap) for gap in GAPS),
            *(at(np.full((n_lists, 1), place)) for place in (0, 9, 99, width)),
            first + mean,
            std,
            np.log(n),
        ]
    for values in in_order:
        values = np.where(listed, values, np.nan)
        result = np.empty_like(values)
        np.put_along_axis(result, order, values, axis=1)
        yield result


# Number of seeds whose probabilities are averaged.
N_SEEDS = 3
_ROUNDS = 150
_TREES = {
    "num_leaves": 15,
    "learning_rate": 0.05,
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
_SHARES = np.linspace(0.0, 1.0, 21)
# Number of nodes that are followed at once, chosen to fit the cache.
_CELLS = 1 << 16
_MATRIX = listed(numbers(1), 1)
_NODES = record(
    {
        "roots": listed(listed(listed(count(), 1), 1), 1),
        "features": listed(count(), 1),
        "numbers": numbers(1),
        "left": listed(count(), 1),
        "right": listed(count(), 1),
    }
)
_LINEAR = record(
    {
        "low": numbers(1),
        "high": numbers(1),
        "mean": numbers(1),
        "scale": numbers(1, least=POSITIVE),
        "weights": _MATRIX,
        "constants": numbers(1),
    }
)


class Trees(NamedTuple):
    """Boosted trees with several seeds, as arrays of the nodes of all trees.

    Files of LightGBM are never read: it does not survive a changed one.

    Attributes
    ----------
    roots : list of ndarray of shape (n_rounds, n_scores), int
        The first node of each tree, for each seed. Two classes share one score.
    features : ndarray of shape (n_nodes,), int
        Number of the feature that is compared at each node.
    numbers : ndarray of shape (n_nodes,), float64
        Largest value of the feature that goes left, or the value of a leaf.
    left, right : ndarray of shape (n_nodes,), int
        The next nodes, which have higher numbers; a leaf leads to itself.
    """

    roots: list
    features: np.ndarray
    numbers: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def fitted(cls, features, kinds, n_kinds, seeds, n_lists) -> "Trees":
        """Fit boosted trees to rows of several classes."""
        # Imported here, because the import is slow.
        import lightgbm

        least = max(1, min(_MIN_ROWS_OF_LEAF, len(kinds) // 50))
        settings: dict = _TREES | {"min_data_in_leaf": least}
        if n_kinds == 2:
            settings["objective"] = "binary"
        else:
            settings |= {"objective": "multiclass", "num_class": n_kinds}
        roots, nodes, n_nodes = [], [], 0
        for seed in seeds:
            data = lightgbm.Dataset(features, kinds, free_raw_data=True)
            booster = lightgbm.train(
                settings | {"seed": int(seed)}, data, _ROUNDS, keep_training_booster=True
            )
            of_seed = []
            for tree in booster.model_to_string().split("\nTree=")[1:]:
                of_seed.append(n_nodes)
                nodes.append(_nodes_of(tree, n_nodes))
                n_nodes += len(nodes[-1][0])
            roots.append(np.reshape(of_seed, (-1, 1 if n_kinds == 2 else n_kinds)))
        return cls(roots, *map(np.concatenate, zip(*nodes)))

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        mean = np.mean([self._chances(roots, features) for roots in self.roots], axis=0)
        return np.concatenate([1.0 - mean, mean]) if len(mean) == 1 else mean

    def _chances(self, roots, features):
        """Predict the probabilities by the trees of one seed."""
        scores = np.empty((roots.shape[1], len(features)))
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
        return 1.0 / (1.0 + np.exp(-scores)) if len(scores) == 1 else _softmax(scores)

    def fits(self, n_features, n_kinds) -> bool:
        """Tell whether the trees are of so many features and classes."""
        n_scores = 1 if n_kinds == 2 else n_kinds
        return self.features.max() < n_features and all(
            roots.shape[1] == n_scores for roots in self.roots
        )

    def state(self) -> dict:
        """Return the numbers of the nodes by name."""
        return self._asdict()

    @classmethod
    def restored(cls, state, name) -> "Trees":
        """Make the models from their numbers."""
        state = _NODES(state, name)
        n_nodes = len(state["numbers"])
        features, left, right = (
            np.array(state[each], dtype=np.intp) for each in ("features", "left", "right")
        )
        if not len(features) == len(left) == len(right) == n_nodes:
            raise InputError(f"{name} must hold as many numbers for each node.")
        own = np.arange(n_nodes)
        leads_on = (left > own) & (right > own) & (np.maximum(left, right) < n_nodes)
        if not (leads_on | (left == own) & (right == own)).all():
            raise InputError(f"{name}.left and right must name later nodes, or the node itself.")
        for roots in state["roots"]:
            if len({len(each) for each in roots}) > 1 or max(map(max, roots)) >= n_nodes:
                raise InputError(f"{name}.roots must hold as many nodes for each round.")
        return cls(list(map(np.array, state["roots"])), features, state["numbers"], left, right)


def _nodes_of(tree, first):
    """Read features, numbers and next nodes of a tree of LightGBM whose first node is `first`."""
    fields = dict(line.split("=", 1) for line in tree.splitlines() if "=" in line)
    features, left, right = (
        np.array(fields[name].split(), dtype=np.intp)
        for name in ("split_feature", "left_child", "right_child")
    )
    thresholds, leaves = (
        np.array(fields[name].split(), dtype=np.float64) for name in ("threshold", "leaf_value")
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
    def fitted(cls, features, kinds, n_kinds, seeds, n_lists) -> "Linear":
        """Fit the regression to rows of several classes."""
        low, high = features.min(axis=0), features.max(axis=0)
        terms = _terms(features)
        mean, scale = terms.mean(axis=0), terms.std(axis=0)
        scale = np.where(scale > 1e-9 * np.abs(terms).max(axis=0), scale, 1.0)
        strength = _ROWS_OF_QUERY * n_lists / len(kinds)
        model = LogisticRegression(C=strength, max_iter=1000).fit((terms - mean) / scale, kinds)
        weights, constants = model.coef_, model.intercept_
        if n_kinds == 2:
            weights, constants = np.vstack([0 * weights, weights]), np.append(0.0, constants)
        return cls(low, high, mean, scale, weights, constants)

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        terms = (_terms(np.clip(features, self.low, self.high)) - self.mean) / self.scale
        return _softmax(self.weights @ terms.T + self.constants[:, None])

    def fits(self, n_features, n_kinds) -> bool:
        """Tell whether the regression is of so many features and classes."""
        return len(self.low) == n_features and len(self.constants) == n_kinds

    def state(self) -> dict:
        """Return the numbers of the regression by name."""
        return self._asdict()

    @classmethod
    def restored(cls, state, name) -> "Linear":
        """Make the regression from its numbers."""
        state = _LINEAR(state, name)
        shapes = {len(state[each]) for each in ("mean", "scale")}
        shapes |= {len(row) for row in state["weights"]}
        shapes |= {2 * len(state[each]) for each in ("low", "high")}
        if len(shapes) > 1 or len(state["weights"]) != len(state["constants"]):
            raise InputError(f"{name} must hold as many numbers for each term and kind of gain.")
        return cls(*(np.array(state[each]) for each in cls._fields))


class Curves(NamedTuple):
    """Isotonic curves of the score, one for each class but the lowest.

    Attributes
    ----------
    curves : tuple of (scores, probabilities)
        P(class >= level), linear between the scores and constant beyond them.
    """

    curves: tuple

    @classmethod
    def fitted(cls, features, kinds, n_kinds, seeds, n_lists) -> "Curves":
        """Fit isotonic regressions of the score, the first of the features."""
        fits = [
            fit_calibrator("isotonic", features[:, 0], kinds >= kind) for kind in range(1, n_kinds)
        ]
        return cls(tuple((each.X_thresholds_, each.y_thresholds_) for each in fits))

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        above = [np.interp(features[:, 0], *curve) for curve in self.curves]
        falling = np.minimum.accumulate([np.ones(len(features)), *above], axis=0)
        return falling - np.append(falling[1:], np.zeros((1, len(features))), axis=0)

    def fits(self, n_features, n_kinds) -> bool:
        """Tell whether the curves are of so many classes."""
        return len(self.curves) == n_kinds - 1

    def state(self) -> tuple:
        """Return the nodes and values of each curve."""
        return self.curves

    @classmethod
    def restored(cls, state, name) -> "Curves":
        """Make the curves from their numbers."""
        return cls(tuple(listed(curve, 1)(state, name)))


class Own(NamedTuple):
    """Fitted copies of a classifier of the user.

    Attributes
    ----------
    estimators : tuple of estimators
        The classifiers.
    n_kinds : int
        Number of classes; a classifier may have seen only some of them.
    """

    estimators: tuple
    n_kinds: int

    @classmethod
    def fitted(cls, features, kinds, n_kinds, seeds, n_lists, estimator) -> "Own":
        """Fit clones of the classifier, one for each seed if it has a random state."""
        is_random = estimator.get_params().get("random_state", 0) is None
        fitted = []
        for seed in seeds if is_random else seeds[:1]:
            own = clone(estimator)
            if is_random:
                own.set_params(random_state=int(seed))
            fitted.append(own.fit(features, kinds))
        return cls(tuple(fitted), n_kinds)

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        result = np.zeros((self.n_kinds, len(features)))
        for each in self.estimators:
            result[np.asarray(each.classes_, dtype=np.intp)] += each.predict_proba(features).T
        return result / len(self.estimators)


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

    def fits(self, n_features, n_kinds) -> bool:
        """Tell whether the shares are of so many classes."""
        return len(self.shares) == n_kinds

    def state(self) -> np.ndarray:
        """Return the shares."""
        return self.shares

    @classmethod
    def restored(cls, state, name) -> "Shares":
        """Make the shares from their numbers."""
        return cls(numbers(1)(state, name))


def fit_member(make, features, kinds, n_kinds, seeds, n_lists):
    """Fit one model; use `Shares` for a single class, and probability 0 for missing classes."""
    seen, codes = np.unique(kinds, return_inverse=True)
    if len(seen) < 2:
        shares = np.bincount(kinds, minlength=n_kinds) / max(len(kinds), 1)
        return Shares(shares if len(kinds) else np.full(n_kinds, 1.0 / n_kinds))
    if len(seen) < n_kinds:
        inner = make(features, codes, len(seen), seeds, n_lists)
        return _Wider(inner, seen, n_kinds)
    return make(features, kinds, n_kinds, seeds, n_lists)


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
            if mean <= error:
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
