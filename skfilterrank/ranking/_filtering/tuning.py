"""Scores of rows that the models have not seen, to tune a threshold on."""

from typing import NamedTuple

import numpy as np

from skfilterrank._core.queries import GroupIndex
from skfilterrank._core.scoring import mean_over_queries
from skfilterrank._response import document_scores
from skfilterrank.ranking._fitting.out_of_fold import out_of_fold_scores
from skfilterrank.ranking._fitting.score_scale import needs_rescaling, to_refitted_scale
from skfilterrank.ranking._fitting.splits import count_shared, make_splits

# Share of the queries that a threshold with a guarantee is calibrated on.
_CALIBRATION_SHARE = 0.3
# How to do without folds, by the kind of threshold; a CalibratedRanker has none.
_WITHOUT_FOLDS = dict.fromkeys(
    ("tune", "per_query"), "; a RankAndFilter with a fixed threshold needs no folds"
) | {None: "; cv='prefit' with an estimator fitted on other queries needs no folds"}


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


def tuning_scores(model, data, score_gains, labels, *, threshold=None) -> TuningScores:
    """Fit the estimator inside as `cv` and `refit` of the model say, for a kind of threshold."""
    inner = model._unfitted_inner()
    if model._is_prefit():
        scores = document_scores(inner, data.X, groups=data.groups, gains=score_gains)
        rows, index = np.arange(len(data.groups)), GroupIndex.from_groups(data.groups)
        return TuningScores(inner, [], rows, _as_float(scores), index, True)
    wants_one = threshold == "risk"
    cv = _CALIBRATION_SHARE if wants_one and model.cv is None else model.cv
    splits = make_splits(
        cv,
        labels,
        data.groups,
        single=model.refit is False,
        advice=_WITHOUT_FOLDS.get(threshold, ""),
    )
    refit = not (wants_one and len(splits) == 1) if model.refit == "auto" else model.refit
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


def fold_results(folds, gains, groups, per_query, make_curve, weights_of):
    """The threshold curve of each fold, and what `cv_results_` holds.

    `per_query` has the measure of the queries, fold by fold, at the chosen threshold;
    `make_curve(gains, scores, index)` makes a curve, `weights_of(index)` gives weights of queries.
    """
    curves, results = [], []
    for fold in folds:
        index = GroupIndex.from_groups(groups[fold.rows])
        curve = make_curve(gains[fold.rows], fold.scores, index)
        curves.append(curve)
        own, per_query = per_query[: index.n_queries], per_query[index.n_queries :]
        results.append(
            {
                "n_queries": index.n_queries,
                "fit_time": fold.fit_time,
                "score_time": fold.score_time,
                "test_score": mean_over_queries(own, weights_of(index)),
                "best_threshold": curve.best_threshold,
                "best_score": curve.best_value,
            }
        )
    names = results[0] if results else ()
    return curves, {name: np.array([result[name] for result in results]) for name in names}


def _as_float(scores):
    return scores.astype(np.float64, copy=False)
