"""Bring the folds' scores to the scale of the refitted model, so that its threshold fits."""

import numpy as np

from skfilterrank._core.same_value import mean_tolerance
from skfilterrank._response import document_scores
from skfilterrank._sklearn_compat import safe_indexing
from skfilterrank.ranking._fitting.wrapping import has_fixed_scale

RESCALES = ("auto", True, False)
# Enough for a mean and a standard deviation; scoring all training rows again would take time.
SAMPLE_ROWS = 10_000


def needs_rescaling(rescale, estimator) -> bool:
    """Whether to put the folds' scores on one scale; "auto" asks whether there is none already."""
    return not has_fixed_scale(estimator) if rescale == "auto" else rescale


def to_refitted_scale(folds, splits, refitted, data, gains) -> list:
    """Folds with their held-out scores on the scale of the refitted model.

    A model's scale is the mean and the standard deviation of its scores of rows that it was
    trained on. All models are too sure of such rows, so that their scales compare.

    Parameters
    ----------
    folds : list of FoldScores
        With their estimators.
    splits : list of (train, test)
        Row numbers, in the order of `folds`.
    refitted : estimator
        Fitted on all judged rows.
    data : TrainingRows
        All rows.
    gains : None, "exp2", dict or callable
        As for :func:`document_scores`.

    Returns
    -------
    list of FoldScores
        Filtered rows stay at -inf. Where a model gives all its training rows one score, its
        scores are shifted but not stretched.
    """
    mean, deviation = _training_scale(refitted, np.arange(len(data.groups)), data, gains)
    rescaled = []
    for fold, (train, _) in zip(folds, splits):
        own_mean, own_deviation = _training_scale(fold.estimator, train, data, gains)
        stretch = deviation / own_deviation if deviation > 0 and own_deviation > 0 else 1.0
        rescaled.append(fold._replace(scores=mean + (fold.scores - own_mean) * stretch))
    return rescaled


def _training_scale(model, rows, data, gains):
    """Mean and standard deviation of a model's scores of judged rows it was trained on."""
    rows = _whole_queries(rows, data.groups)
    scores = document_scores(
        model, safe_indexing(data.X, rows), groups=data.groups[rows], gains=gains
    ).astype(np.float64, copy=False)
    scores = scores[data.judged[rows] & np.isfinite(scores)]
    if not len(scores):
        return 0.0, 0.0
    mean, deviation = scores.mean(), scores.std()
    # The standard deviation of equal scores need not be exactly 0.
    return mean, deviation if deviation > mean_tolerance(scores) else 0.0


def _whole_queries(rows, groups):
    """Rows of evenly spaced queries, about `SAMPLE_ROWS` of them; all where there are fewer."""
    step = -(-len(rows) // SAMPLE_ROWS)
    if step == 1:
        return rows
    chosen = np.zeros(int(groups.max()) + 1, dtype=bool)
    chosen[np.flatnonzero(np.bincount(groups[rows]))[::step]] = True
    return rows[chosen[groups[rows]]]
