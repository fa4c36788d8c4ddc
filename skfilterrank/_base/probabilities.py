"""From scores to probabilities: rising curves, and the chances of ordered labels.

Ordered labels are divided as Frank and Hall do, "A Simple Approach to Ordinal Classification", ECML
2001: one question for each label but the highest, whether a label is above it.
"""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._base.rounding import mean_tolerance

# Smallest distance of probabilities from 0 and 1.
LEAST_PROBABILITY = 1e-6


def fit_calibrator(method: str, scores: np.ndarray, good: np.ndarray):
    """Fit a non-decreasing curve from finite scores to P(good); `good` is boolean."""
    return CALIBRATORS[method](scores, good)


def probabilities(calibrator, scores: np.ndarray) -> np.ndarray:
    """Compute P(good) of finite scores."""
    if not hasattr(calibrator, "predict_proba"):  # isotonic regression
        return calibrator.predict(scores)
    good = calibrator.predict_proba(scores[:, None])[:, 1]
    return np.clip(good, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)


def _fit_isotonic(scores, good):
    """Fit isotonic regression; the distance from 0 and 1 shrinks with the number of rows."""
    least = max(1.0 / (len(scores) + 2), LEAST_PROBABILITY)
    curve = IsotonicRegression(y_min=least, y_max=1.0 - least, out_of_bounds="clip")
    return curve.fit(scores, good.astype(np.float64))


def _fit_sigmoid(scores, good):
    """Fit Platt scaling: a logistic curve, with targets slightly inside of 0 and 1."""
    n_good, n_bad = np.count_nonzero(good), np.count_nonzero(~good)
    target = np.where(good, (n_good + 1) / (n_good + 2), 1 / (n_bad + 2))
    # A row of target t becomes a good row of weight t and a bad row of weight 1 - t.
    X = np.concatenate([scores, scores])[:, None]
    y = np.repeat([1, 0], len(scores))
    weight = np.concatenate([target, 1.0 - target])
    if np.ptp(scores) > mean_tolerance(scores):
        logistic = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky")
        curve = make_pipeline(StandardScaler(), logistic)
        curve.fit(X, y, logisticregression__sample_weight=weight)
        if curve[-1].coef_[0, 0] > 0:
            return curve
    # The best non-decreasing curve is then constant: the share of good rows.
    return DummyClassifier(strategy="prior").fit(X, y, sample_weight=weight)


CALIBRATORS = {"isotonic": _fit_isotonic, "sigmoid": _fit_sigmoid}


def fit_curves(scores: np.ndarray, reached) -> list[tuple[np.ndarray, np.ndarray]]:
    """Fit isotonic curves from finite scores to P(label reaches a level), one for each level.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores of the rows.
    reached : list of ndarray of shape (n_rows,), dtype bool
        For each level but the lowest, whether each row reaches it.

    Returns
    -------
    list of (nodes, values)
        The curve of each level: linear between its nodes, and constant beyond them.
    """
    fits = (fit_calibrator("isotonic", scores, each) for each in reached)
    return [(each.X_thresholds_, each.y_thresholds_) for each in fits]


def reaching(curves, scores: np.ndarray) -> np.ndarray:
    """Compute P(label reaches a level), (n_curves, n_rows); it never rises with the level."""
    chances = np.empty((len(curves), len(scores)))
    for row, curve in zip(chances, curves):
        row[:] = np.interp(scores, *curve)
    return np.minimum.accumulate(chances, axis=0, out=chances)


def levels_above(labels: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the distinct labels, and for each but the highest whether each label is above it."""
    levels = np.unique(labels[~np.isnan(labels)])
    return levels, [labels > level for level in levels[:-1]]


def chances_of_levels(above: np.ndarray) -> np.ndarray:
    """Compute the chance of each level, (n_levels, n_rows), from P(label > level).

    `above` has a row for each level but the highest. Where it rises from one level to the next, it
    is lowered to the value before.
    """
    none = np.zeros((1, above.shape[1]))
    falling = np.minimum.accumulate(np.concatenate([none + 1.0, above, none]), axis=0)
    return falling[:-1] - falling[1:]
