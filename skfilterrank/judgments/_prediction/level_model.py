"""Any binary classifier as a model of ordered labels, and its chances calibrated over topics."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

_N_FOLDS = 5
# Rows of the rarer side that a sigmoid of two parameters needs.
_MIN_ROWS = 5
_NEAR_1 = 1.0 - 2.0**-40


class Calibration(NamedTuple):
    """A margin m stands for the chance ``expit(slope * m + intercept)``."""

    slope: float
    intercept: float


class LevelModel(NamedTuple):
    """For each label but the highest, a classifier that tells labels above it from the rest.

    One label needs no classifier.
    """

    levels: np.ndarray
    classifiers: list

    def hard_levels(self, X) -> np.ndarray:
        """Number of the label of each row: the steps it takes until a classifier says no."""
        above = np.ones((X.shape[0], len(self.classifiers)), dtype=bool)
        for step, classifier in enumerate(self.classifiers):
            above[:, step] = classifier.predict(X) == 1
        return np.logical_and.accumulate(above, axis=1).sum(axis=1)

    def chances(self, X, calibration) -> np.ndarray:
        """Chance of each label, (n_rows, n_levels); the chances to be above never rise."""
        above = np.ones((X.shape[0], len(self.levels) + 1))
        above[:, -1] = 0.0
        for step, classifier in enumerate(self.classifiers):
            margins = margins_of(classifier, X)
            if calibration is not None:
                margins = calibration.slope * margins + calibration.intercept
            above[:, step + 1] = expit(margins)
        return -np.diff(np.minimum.accumulate(above, axis=1), axis=1)


def fit_level_model(estimator, X, labels, seed) -> LevelModel:
    """A clone of the classifier for each step between two labels."""
    levels = np.unique(labels)
    classifiers = [
        _seeded(estimator, seed).fit(X, (labels > level).astype(int)) for level in levels[:-1]
    ]
    if sparse.issparse(X):
        for classifier in classifiers:
            # A topic's documents hold few of a million terms; the other weights are 0.
            if hasattr(classifier, "sparsify"):
                classifier.sparsify()
    return LevelModel(levels, classifiers)


def held_out_margins(estimator, X, labels, seed) -> tuple[np.ndarray, np.ndarray]:
    """Margins that classifiers give to rows they have not seen, and which of these are above."""
    margins, above = [np.empty(0)], [np.empty(0, dtype=bool)]
    for level in np.unique(labels)[:-1]:
        is_above = (labels > level).astype(int)
        n_splits = min(_N_FOLDS, np.bincount(is_above).min())
        if n_splits < 2:
            continue
        for train, test in StratifiedKFold(n_splits).split(X, is_above):
            classifier = _seeded(estimator, seed).fit(X[train], is_above[train])
            margins.append(margins_of(classifier, X[test]))
            above.append(is_above[test] == 1)
    return np.concatenate(margins), np.concatenate(above)


def fit_calibration(margins, above) -> Calibration | None:
    """Platt's sigmoid with his smoothed targets; None where too few rows were held out."""
    n_above = np.count_nonzero(above)
    n_below = len(above) - n_above
    if min(n_above, n_below) < _MIN_ROWS:
        return None
    target = np.where(above, (n_above + 1) / (n_above + 2), 1 / (n_below + 2))
    # A row with target t is one above with weight t and one below with weight 1 - t.
    X = np.concatenate([margins, margins])[:, None]
    model = LogisticRegression(C=np.inf).fit(
        X, np.repeat([1, 0], len(margins)), sample_weight=np.concatenate([target, 1 - target])
    )
    slope = float(model.coef_[0, 0])
    if slope <= 0:
        # Margins that say the opposite of the labels say nothing: the share of rows above is left.
        return Calibration(0.0, float(logit(target.mean())))
    return Calibration(slope, float(model.intercept_[0]))


def margins_of(classifier, X) -> np.ndarray:
    """How far a classifier puts rows above the step: log odds, or its decision function."""
    if hasattr(classifier, "predict_proba"):
        chances = np.asarray(classifier.predict_proba(X), dtype=np.float64)[:, 1]
        return logit(np.clip(chances, 1.0 - _NEAR_1, _NEAR_1))
    return np.asarray(classifier.decision_function(X), dtype=np.float64)


def _seeded(estimator, seed):
    """A clone whose random_state, and that of its parts, is the seed; None keeps its own."""
    estimator = clone(estimator)
    if seed is not None:
        names = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
        estimator.set_params(**dict.fromkeys(names, int(seed)))
    return estimator
