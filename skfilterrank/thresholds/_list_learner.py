"""Features of whole lists, and a learner of the gain of a document given these features."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.base import clone

from skfilterrank._base.words import in_parallel
from skfilterrank._files.states import array, label
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._expected import levels_of
from skfilterrank.thresholds._judged_scores import unit_of
from skfilterrank.thresholds._list_models import (
    Booster,
    Curves,
    Linear,
    Own,
    Shares,
    Trees,
    best_share,
    fit_member,
    mixed,
    mixture,
)

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


# Names of the models in the default mixture, and the maker of each.
_MIXTURE: dict[str, Any] = {"trees": Booster, "linear": Linear, "score": Curves}
# Models that JSON can hold, by name.
_SAVED: dict[str, Any] = {kind.__name__: kind for kind in (Trees, Linear, Curves, Shares)}


@dataclass(frozen=True)
class ListLearner:
    """Models of the gain of a document, given the features of its list.

    Attributes
    ----------
    gains : ndarray of shape (n_kinds,)
        Gain of each class, ascending.
    columns : list of str or int
        Additional features of a document.
    unit : float
        Factor on scores.
    members : list
        The fitted models.
    shares : dict of str to float
        Share of each model in the mixture.
    """

    gains: np.ndarray
    columns: list[str | int]
    unit: float
    members: list
    shares: dict[str, float]

    @classmethod
    def fitted(
        cls, scores, gains, index, folds, *, columns, estimator, rng, n_jobs, verbose
    ) -> tuple["ListLearner", np.ndarray]:
        """Fit the models; return the learner, and chances of rows by models of other folds.

        Parameters
        ----------
        scores, gains : ndarray of shape (n_rows,)
            Scores, -inf where hidden, and gains, NaN where unjudged.
        index : GroupIndex
            The queries.
        folds : sequence of (train, test)
            Rows of each fold; without folds the chances are those of the learner itself.
        columns : dict of str to ndarray
            Additional features.
        estimator : classifier or None
            Classifier to use in place of the mixture.
        rng : RandomState
            Source of seeds.
        n_jobs, verbose : int or None
            As in :class:`LearnedThreshold`.

        Returns
        -------
        learner : ListLearner
            The learner of all rows.
        chances : ndarray of shape (n_kinds, n_rows)
            Probability of each class; 0 in hidden rows.
        """
        codes, unit, every = index.codes(), unit_of(scores), np.arange(len(scores))
        features = _features(scores * unit, index, columns)
        listed_rows = scores > -np.inf
        learned = listed_rows & ~np.isnan(gains)
        lows, levels = levels_of(gains[learned])
        kinds, n_kinds = np.searchsorted(lows, gains, side="right") - 1, len(lows)
        seeds = rng.randint(2**31 - 1, size=1 + len(folds))
        own = None if estimator is None else partial(Own.fitted, estimator=clone(estimator))
        makers = [each.fitted for each in _MIXTURE.values()] if own is None else [own]

        def members_of(rows, seed):
            rows = rows[learned[rows]]
            n_lists = len(np.unique(codes[rows]))
            return [
                fit_member(make, features[rows], kinds[rows], n_kinds, seed, n_lists)
                for make in makers
            ]

        def of_fold(place, train, test):
            if verbose:
                print(f"LearnedThreshold: fold {place + 1}", flush=True)
            test = test[listed_rows[test]]
            members = members_of(train, seeds[place + 1]) if len(test) else []
            return test, [model.predict(features[test]) for model in members]

        jobs = (delayed(of_fold)(place, *fold) for place, fold in enumerate(folds))
        found = list(in_parallel(jobs, n_jobs, prefer="threads"))
        fitted = members_of(every, seeds[0])
        members = [Trees.of(*each) if isinstance(each, Booster) else each for each in fitted]
        if not found:
            # With one query, nothing can be held out.
            rows = every[listed_rows]
            found = [(rows, [model.predict(features[rows]) for model in members if len(rows)])]
        chances = np.zeros((len(makers), n_kinds, len(gains)))
        for test, predicted in found:
            for of_member, values in zip(chances, predicted):
                of_member[:, test] = values
        shares = {each: 1.0 / len(makers) for each in list(_MIXTURE)[: len(makers)]}
        if own is None and learned.any():
            shares = _best_shares(chances[:, :, learned], kinds[learned], codes[learned])
        learner = cls(levels, list(columns), unit, members, shares)
        return learner, learner._mixed(list(chances))

    def predict(self, scores, index, columns) -> np.ndarray:
        """Predict the probability of each class; shape (n_kinds, n_rows), 0 in hidden rows."""
        rows = np.flatnonzero(scores > -np.inf)
        features = _features(scores * self.unit, index, columns)[rows]
        chances = np.zeros((len(self.gains), len(scores)))
        if len(rows):
            chances[:, rows] = self._mixed([model.predict(features) for model in self.members])
        return chances

    def _mixed(self, chances):
        """Mix the class probabilities of all models."""
        return chances[0] if len(chances) == 1 else mixture(chances, self.shares.values())

    def state(self) -> dict:
        """Return the numbers of the models."""
        for member in self.members:
            if type(member).__name__ not in _SAVED:
                raise InputError(
                    "LearnedThreshold has learned with an estimator of its own, which JSON cannot "
                    "hold: save it with joblib.dump."
                )
        members = [[type(member).__name__, *member] for member in self.members]
        columns = [label(each, "scores has the column") for each in self.columns]
        return vars(self) | {"members": members, "columns": columns}

    @classmethod
    def restored(cls, state) -> "ListLearner":
        """Make the learner from its numbers."""
        members = [
            _SAVED[name]._make(_whole_or_float(np.array(each)) for each in numbers)
            for name, *numbers in state["members"]
        ]
        return cls(**state | {"members": members, "gains": array(state["gains"])})


def _whole_or_float(found):
    """Return numbers of nodes as they are, and other numbers as float64."""
    return found if found.dtype.kind == "i" else found.astype(np.float64)


def _features(scores, index, columns):
    """Compute the features of each row, additional columns last."""
    own = [np.asarray(values, dtype=np.float64) for values in columns.values()]
    for name, values in zip(columns, own):
        if not np.isfinite(values).all():
            raise InputError(
                f"column {brief(name)} holds a number that is not finite: fill it first."
            )
    return np.column_stack([feature_matrix(scores, index), *own])


def _best_shares(chances, kinds, lists):
    """Choose the shares of the models by their log loss."""
    trees, linear, score = chances
    of_trees = best_share(trees, linear, kinds, lists)
    learner = mixed(trees, linear, of_trees)
    # Prefer the curve of the score, unless list features are better by more than a standard error.
    rest = best_share(learner, score, kinds, lists, simple=True)
    return {"trees": rest * of_trees, "linear": rest * (1 - of_trees), "score": 1 - rest}
