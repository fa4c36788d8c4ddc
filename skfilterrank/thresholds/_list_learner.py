"""Features of whole lists, and models of the gain given these features."""

from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from skfilterrank._files.states import listed, numbers, pair, record, text
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
_MATRIX = listed(numbers(1), 1)
_LINEAR = record(
    {
        "low": numbers(1),
        "high": numbers(1),
        "mean": numbers(1),
        "scale": numbers(1),
        "weights": _MATRIX,
        "constants": numbers(1),
    }
)


class Trees(NamedTuple):
    """Boosted trees with several seeds.

    Attributes
    ----------
    boosters : tuple of lightgbm.Booster
        The models.
    """

    boosters: tuple

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
        boosters = []
        for seed in seeds:
            data = lightgbm.Dataset(features, kinds, free_raw_data=True)
            booster = lightgbm.train(settings | {"seed": int(seed)}, data, _ROUNDS)
            boosters.append(booster.free_dataset())
        return cls(tuple(boosters))

    def predict(self, features) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows)."""
        mean = np.mean([each.predict(features, num_threads=1) for each in self.boosters], axis=0)
        return np.stack([1.0 - mean, mean]) if mean.ndim == 1 else mean.T

    def state(self) -> list:
        """Return the models as text."""
        return [each.model_to_string() for each in self.boosters]

    @classmethod
    def restored(cls, state, name) -> "Trees":
        """Make the models from their texts."""
        import lightgbm

        try:
            return cls(
                tuple(lightgbm.Booster(model_str=each) for each in listed(text, 1)(state, name))
            )
        except lightgbm.basic.LightGBMError as error:
            raise InputError(f"{name} holds a model that LightGBM cannot read: {error}.") from None


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
        return cls(**state | {"weights": np.array(state["weights"])})


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

    def state(self) -> tuple:
        """Return the nodes and values of each curve."""
        return self.curves

    @classmethod
    def restored(cls, state, name) -> "Curves":
        """Make the curves from their numbers."""
        curves = listed(pair(numbers(1), numbers(1)), 1)(state, name)
        if any(len(nodes) != len(values) for nodes, values in curves):
            raise InputError(f"{name} must hold as many values as scores in each curve.")
        return cls(tuple(curves))


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
