"""RankAndFilter on a Dask DataFrame: data with a value per row stay on the cluster."""

import time
from functools import reduce

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from tqdm.auto import tqdm

from skfilterrank._estimators.responses import document_scores
from skfilterrank._estimators.wrapping import group_parameter
from skfilterrank._files.dask_frames import (
    find_query_ids,
    fold_partitions,
    hash_queries,
    numbered_partitions,
)
from skfilterrank._files.rows import whole_partitions
from skfilterrank._lists.checks import refuse_query_column
from skfilterrank._lists.row_blocks import ByKey, merged
from skfilterrank._lists.scoring import Moments
from skfilterrank._lists.sklearn_compat import final_step
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._fitting.adapters import check_grades
from skfilterrank.ranking._fitting.cluster_estimators import (
    check_cluster_estimator,
    in_memory,
)
from skfilterrank.ranking._fitting.out_of_fold import SAMPLE_ROWS, needs_rescaling
from skfilterrank.ranking._fitting.partitioned_rows import (
    GAIN,
    QUERY,
    Folds,
    PartitionedRows,
)
from skfilterrank.ranking._fitting.training_rows import (
    check_two_kinds,
    learns_labels,
    resolve_target,
    tell_unjudged,
)
from skfilterrank.thresholds import (
    FixedThreshold,
    TunedThreshold,
    threshold_curve,
    warn_unless_filter_pays,
)

SCORE, FOLD = "skfilterrank score", "skfilterrank fold"
_MOMENTS = ("filtered", "plain", "gained")


def fit_on_partitions(model, threshold, X, y, groups, fit_params) -> None:
    """Fit a RankAndFilter whose parameters are checked, and its unfitted threshold."""
    inner, is_prefit = model.estimator, model._is_prefit
    _check_supported(model, threshold, inner, fit_params)
    if not is_prefit:
        check_cluster_estimator(inner)
    groups = find_query_ids(groups, y, X)
    model.fitted_with_groups_ = True
    model._remember_columns(X._meta)
    refuse_query_column(vars(model).get("feature_names_in_"))
    kind = "gain" if is_prefit else resolve_target(inner, model.target)
    wanted = None if is_prefit else group_parameter(inner)
    rows = PartitionedRows(
        X,
        y,
        groups,
        gains=model.gains,
        kind=kind,
        folds=Folds.of(None if is_prefit else model.cv),
        with_levels=kind == "grade" or wanted is not None,
    )
    n_rows, n_judged = rows.total("n_rows"), rows.total("n_judged")
    model.n_unjudged_ = tell_unjudged(n_rows - n_judged, n_rows)
    if kind == "binary" and not is_prefit:
        check_two_kinds(inner, rows.total("n_good"), n_judged)
    if wanted is not None:
        check_grades(inner, rows.encoder.encode(rows.encoder.levels, None), wanted)
    as_labels = learns_labels(inner, model.target, prefit=is_prefit)
    model._score_gains = model.gains if as_labels else None
    model.filter_ = threshold
    if isinstance(threshold, TunedThreshold):
        _tune(model, threshold, inner, rows, fit_params)
    else:
        threshold.fit()
        model.estimator_ = in_memory(inner) if is_prefit else rows.fit(inner, fit_params)


def _check_supported(model, threshold, inner, fit_params):
    """Raise for what only rows in memory can have."""
    if not isinstance(threshold, TunedThreshold | FixedThreshold):
        raise InputError(
            f"{type(threshold).__name__} needs whole lists in memory. Where X is a Dask DataFrame, "
            "threshold must be 'tune', a number, None, TunedThreshold or FixedThreshold."
        )
    threshold._refuse_with_rows("rule", "abstain", "max_shown", "min_shown")
    refused = {"filter_estimator": model.filter_estimator is not None}
    refused |= {"target='label'": model.target == "label"}
    for name in (name for name, is_given in refused.items() if is_given):
        raise InputError(
            f"{name} is not possible where X is a Dask DataFrame. Leave it out, or fit on rows in "
            "memory."
        )
    if isinstance(inner, Pipeline):
        raise InputError(
            "estimator is a Pipeline, whose steps do not learn from Dask DataFrames: transform X "
            f"first, and give {brief(final_step(inner))} alone."
        )
    for name, value in fit_params.items():
        if np.ndim(value) or hasattr(value, "npartitions"):
            raise InputError(
                f"{name} has entries of its own, which are not brought together with the queries "
                "of a Dask DataFrame: leave it out, or fit on rows in memory."
            )


def _tune(model, threshold, inner, rows, fit_params):
    """Find the threshold from out-of-fold scores, and fit the final model."""
    folds, is_prefit = rows.folds, model._is_prefit
    fit_times = []
    if is_prefit:
        models, scales = [in_memory(inner)], None
        model.estimator_ = models[0]
    else:
        refit = model.refit is not False
        if not refit and folds.share is None:
            raise InputError(
                f"refit=False keeps the model of the only split, but cv makes {folds.n}: use "
                "cv=0.2, or refit=True."
            )
        models = []
        for fold in tqdm(range(folds.n), desc="folds", unit="fold", disable=not model.verbose):
            begin = time.perf_counter()
            models.append(rows.fit(inner, fit_params, without=fold))
            fit_times.append(time.perf_counter() - begin)
        model.estimator_ = rows.fit(inner, fit_params) if refit else models[0]
        rescale = refit and needs_rescaling(model.rescale, inner)
        scales = _scales(rows, models, model.estimator_, model._score_gains) if rescale else None
    scored = _scored(rows, models, scales, model._score_gains, whole=is_prefit)
    threshold._fit_rows(_rows_of(scored), gains=None)
    if is_prefit:
        model.cv_results_ = {}
        return
    parsed, numbers = threshold._parsed(), range(folds.n)
    levels = dict.fromkeys(numbers, threshold.threshold_)
    values = fold_partitions(scored, _values_of_folds, parsed, levels)
    model.cv_results_ = {
        "n_queries": np.array([values[fold, "filtered"].n for fold in numbers]),
        "fit_time": np.array(fit_times),
        "test_score": np.array([values[fold, "filtered"].mean for fold in numbers]),
    }
    if folds.n > 1:
        for fold in numbers:
            others = _rows_of(scored[scored[FOLD] != fold])
            levels[fold] = threshold_curve(others, measure=threshold.measure).best_threshold
        values = fold_partitions(scored, _values_of_folds, parsed, levels)
        filtered, plain, gained = (
            merged(values[fold, name] for fold in numbers) for name in _MOMENTS
        )
        threshold.held_out_score_, threshold.held_out_score_unfiltered_ = filtered.mean, plain.mean
        warn_unless_filter_pays(
            filtered.mean,
            plain.mean,
            gained.mean,
            np.sqrt(gained.squares_about_mean / gained.n / max(gained.n - 1, 1)),
            instead="threshold=None to show every document",
        )


def _rows_of(scored):
    """Return scored partitions as thresholds read them."""
    return whole_partitions(scored, query=QUERY, label=GAIN, score=SCORE)


def _values_of_folds(part, number, parsed, levels):
    """Measure the queries of a partition, those of each fold cut at a level of its own.

    Moments with the filter, without it, and of what each query gains by it.
    """
    found = ByKey()
    for fold, own in part.groupby(FOLD):
        scores = own[SCORE].to_numpy()
        filtered, plain = (
            parsed.utility(
                own[GAIN].to_numpy(),
                np.where(scores >= level, scores, -np.inf),
                groups=own[QUERY].to_numpy(),
                average=None,
            )
            for level in (levels[fold], -np.inf)
        )
        for name, values in zip(_MOMENTS, (filtered, plain, filtered - plain)):
            found[fold, name] = Moments.of(values)
    return found


def _scores(fitted, part, features, gains):
    scores = document_scores(fitted, part[features], groups=part[QUERY].to_numpy(), gains=gains)
    return scores.astype(np.float64, copy=False)


def _scored(rows, models, scales, score_gains, *, whole):
    """Score the rows that are held out: gain, score and fold, on the cluster, in query order."""
    import dask

    meta = pd.DataFrame(
        {GAIN: np.empty(0), SCORE: np.empty(0), QUERY: rows.frame._meta[QUERY], FOLD: np.int64()}
    )
    return numbered_partitions(
        _score_partition,
        rows.frame,
        meta=meta,
        models=dask.delayed(models),
        scales=scales,
        features=rows.features,
        folds=None if whole else rows.folds,
        score_gains=score_gains,
    ).persist()


def _score_partition(number, part, *, models, scales, features, folds, score_gains):
    fold = np.zeros(len(part), dtype=np.int64) if folds is None else folds.of_rows(part[QUERY])
    scores = np.empty(len(part))
    for i, fitted in enumerate(models):
        held_out = fold == i
        if held_out.any():
            scores[held_out] = _scores(fitted, part[held_out], features, score_gains)
    if scales is not None:
        to_mean, to_deviation = _mean_and_deviation(scales[-1])
        for i, scale in enumerate(scales[:-1]):
            mean, deviation = _mean_and_deviation(scale)
            both = deviation > 0 and to_deviation > 0
            stretch = to_deviation / deviation if both else 1.0
            held_out = fold == i
            scores[held_out] = to_mean + (scores[held_out] - mean) * stretch
    kept = fold >= 0
    return pd.DataFrame(
        {
            GAIN: part[GAIN].to_numpy()[kept],
            SCORE: scores[kept],
            QUERY: part[QUERY].to_numpy()[kept],
            FOLD: fold[kept],
        }
    )


def _mean_and_deviation(scale):
    """Return both of scores, 0 where there are none; equal scores have exactly no deviation."""
    return (scale.mean, np.sqrt(scale.squares_about_mean / scale.n)) if scale.n else (0.0, 0.0)


def _scales(rows, models, refitted, score_gains) -> list[Moments]:
    """Find the scale of scores that each fold's model, and the refitted one, gives to its rows.

    As :func:`to_refitted_scale`, on queries that a hash chooses.
    """
    share = min(1.0, SAMPLE_ROWS / rows.total("n_rows"))
    states = rows.of_partitions(
        _scales_of_partition, [*models, refitted], rows.features, rows.folds, share, score_gains
    )
    return [reduce(Moments.merge, scales) for scales in zip(*states)]


def _scales_of_partition(part, models, features, folds, share, score_gains):
    low = hash_queries(part[QUERY]) & np.uint64(2**32 - 1)
    part = part[low < share * 2.0**32]
    fold, judged = folds.of_rows(part[QUERY]), ~np.isnan(part[GAIN].to_numpy())
    scales = []
    for i, fitted in enumerate(models):
        chosen = part[judged & (fold != i)]
        scores = _scores(fitted, chosen, features, score_gains) if len(chosen) else np.empty(0)
        scales.append(Moments.of(scores[np.isfinite(scores)]))
    return scales
