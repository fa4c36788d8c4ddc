"""Scores of rows that the models have not seen, to tune a threshold on."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfilterrank._core.checks import check_choice
from skfilterrank._core.inside import final_step
from skfilterrank._core.queries import GroupIndex
from skfilterrank._response import document_scores, has_method
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._fitting.out_of_fold import out_of_fold_scores
from skfilterrank.ranking._fitting.score_scale import RESCALES, needs_rescaling, to_refitted_scale
from skfilterrank.ranking._fitting.splits import check_cv, count_shared, is_prefit, make_splits
from skfilterrank.ranking._fitting.targets import TARGETS

# Share of the queries that a threshold with a guarantee is calibrated on.
_CALIBRATION_SHARE = 0.3


class TuningScores(NamedTuple):
    """Scores of held-out rows, and the final model.

    `rows` are row numbers of the data and `index` their queries, in which a query that is held out
    twice makes two. `folds` is empty without cross-validation. `is_calibrated` says whether the
    final model gave the scores, and to queries it had not seen.
    """

    estimator: object
    folds: list
    rows: np.ndarray
    scores: np.ndarray
    index: GroupIndex  # type: ignore[assignment]  # a tuple's own method of this name is not used
    is_calibrated: bool


def find_splits(model, labels, groups, *, calibrates=False, advice="") -> list:
    """Split rows by query as `cv` of the model says; one split where a threshold calibrates."""
    cv = _CALIBRATION_SHARE if calibrates and model.cv is None else model.cv
    return make_splits(cv, labels, groups, single=model.refit is False, advice=advice)


def tuning_scores(model, inner, data, score_gains, splits, *, calibrates=False) -> TuningScores:
    """Fit an estimator on each split and score the held-out rows; `splits` None: it is fitted."""
    if splits is None:
        scores = document_scores(inner, data.X, groups=data.groups, gains=score_gains)
        rows, index = np.arange(len(data.groups)), GroupIndex.from_groups(data.groups)
        return TuningScores(inner, [], rows, _as_float(scores), index, True)
    refit = not (calibrates and len(splits) == 1) if model.refit == "auto" else model.refit
    rescale = refit and needs_rescaling(model.rescale, inner)
    folds = out_of_fold_scores(
        inner,
        data,
        score_gains,
        splits,
        keep=rescale or not refit,
        n_jobs=model.n_jobs,
        verbose=model.verbose,
    )
    estimator = data.fit(inner) if refit else folds[0].estimator
    if rescale:
        folds = to_refitted_scale(folds, splits, estimator, data, score_gains)
    rows = np.concatenate([fold.rows for fold in folds])
    scores = np.concatenate([fold.scores for fold in folds])
    n_queries = int(data.groups.max()) + 1
    lists = np.concatenate([data.groups[fold.rows] + i * n_queries for i, fold in enumerate(folds)])
    is_calibrated = not refit and not any(
        count_shared(data.groups[train], data.groups[test]) for train, test in splits
    )
    index = GroupIndex.from_groups(lists)
    return TuningScores(estimator, folds, rows, _as_float(scores), index, is_calibrated)


def _as_float(scores):
    return scores.astype(np.float64, copy=False)


def check_inner(model) -> None:
    """Raise a ValueError for an estimator, or a way of fitting it, that cannot be used."""
    final = final_step(model._unfitted_inner())
    if isinstance(final, type) or not (hasattr(final, "fit") and has_method(final, "predict")):
        raise InputError(
            "estimator must be a classifier, a regressor, a ranker or a Pipeline that ends in one, "
            f"got {brief(final)}."
        )
    if is_prefit(model.cv):
        check_is_fitted(model.estimator)
    check_choice(model.target, "target", TARGETS)
    check_choice(model.rescale, "rescale", RESCALES)
    check_cv(model.cv)
