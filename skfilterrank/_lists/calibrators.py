"""Rising curves from a score to a probability, by scikit-learn's estimators."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._lists.floats import mean_tolerance

# Probabilities keep this far from 0 and 1.
LEAST_PROBABILITY = 1e-6


def fit_calibrator(method: str, scores: np.ndarray, good: np.ndarray):
    """Fit a curve that never falls; scores are finite, `good` is boolean."""
    return CALIBRATORS[method](scores, good)


def probabilities(calibrator, scores: np.ndarray) -> np.ndarray:
    """P(good) of finite scores."""
    if isinstance(calibrator, IsotonicRegression):
        return calibrator.predict(scores)
    good = calibrator.predict_proba(scores[:, None])[:, 1]
    return np.clip(good, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)


def _fit_isotonic(scores, good):
    """Isotonic regression, away from 0 and 1 by what the number of rows allows to say."""
    least = max(1.0 / (len(scores) + 2), LEAST_PROBABILITY)
    curve = IsotonicRegression(y_min=least, y_max=1.0 - least, out_of_bounds="clip")
    return curve.fit(scores, good.astype(np.float64))


def _fit_sigmoid(scores, good):
    """Platt scaling: a logistic curve fitted to targets a little off 0 and 1."""
    n_good, n_bad = np.count_nonzero(good), np.count_nonzero(~good)
    target = np.where(good, (n_good + 1) / (n_good + 2), 1 / (n_bad + 2))
    # A row of target t is a good row of weight t and a bad one of weight 1 - t.
    X = np.concatenate([scores, scores])[:, None]
    y = np.repeat([1, 0], len(scores))
    weight = np.concatenate([target, 1.0 - target])
    if np.ptp(scores) <= mean_tolerance(scores):
        return _share(X, y, weight)
    curve = make_pipeline(
        StandardScaler(), LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky")
    )
    curve.fit(X, y, logisticregression__sample_weight=weight)
    if curve[-1].coef_[0, 0] > 0:
        return curve
    # Of the curves that do not fall, the flat one is then the best.
    return _share(X, y, weight)


def _share(X, y, weight):
    """The share of good rows, whatever the score."""
    return DummyClassifier(strategy="prior").fit(X, y, sample_weight=weight)


CALIBRATORS = {"isotonic": _fit_isotonic, "sigmoid": _fit_sigmoid}
