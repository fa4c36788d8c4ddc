"""Out-of-fold scores: each query is scored by a model that was not fitted on it."""

import itertools
import math
import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice, is_number, is_whole_number
from skfilterrank._base.rounding import mean_tolerance
from skfilterrank._base.sklearn_compat import BaseSearchCV, final_step
from skfilterrank._base.words import in_parallel, progress_bar, warn_user
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.wrapping import check_learner, group_parameter
from skfilterrank._lists.content import distinct_numbers, query_folds
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.ranking._time_series_split import TIME, number_times
from skfilterrank.ranking._training_rows import resolve_target

TARGETS = ("auto", "binary", "gain", "grade", "label")
# Share of the queries that a certified threshold is calibrated on.
CALIBRATION_SHARE = 0.3
DEFAULT_FOLDS = 5
# Number of rows that suffices for a mean and a standard deviation of scores.
SAMPLE_ROWS = 10_000


def is_prefit(cv) -> bool:
    """Tell if the estimator is fitted already."""
    return isinstance(cv, str) and cv == "prefit"


def has_fixed_scale(estimator) -> bool:
    """Tell if scores of the estimator keep their scale when it is fitted on other rows.

    Probabilities and predicted gains have the scale of the target. A ranker's loss depends only on
    the order within queries, so the scale of its scores is arbitrary.
    """
    final = _searched(estimator)
    if isinstance(final, RankerMixin):
        return final.has_fixed_scale
    return is_classifier(final) or group_parameter(final) is None


def scores_are_gains(estimator, target="auto") -> bool:
    """Tell if scores are expected gains, as those of a regressor of the gain are."""
    final = _searched(estimator)
    if resolve_target(final, target) != "gain":
        return False
    return final.scores_are_gains if isinstance(final, RankerMixin) else is_regressor(final)


def _searched(estimator):
    """Return the last step of an estimator, and that of the estimator inside a search."""
    final = final_step(estimator)
    while isinstance(final, BaseSearchCV):
        final = final_step(final.estimator)
    return final


class OutOfFold(NamedTuple):
    """Scores of held-out rows, and the final model.

    Attributes
    ----------
    estimator : estimator
        The final model.
    rows : ndarray of int
        Numbers of the held-out rows.
    scores : ndarray of float64
        Their scores.
    lists : GroupIndex
        Their queries; a query that several splits hold out makes a list in each.
    times : dict of ndarray
        Seconds of each split; empty if the estimator was fitted already.
    is_calibrated : bool
        Whether the scores come from the final model, for queries that it was not fitted on.
    """

    estimator: Any
    rows: np.ndarray
    scores: np.ndarray
    lists: GroupIndex
    times: dict[str, np.ndarray]
    is_calibrated: bool


def out_of_fold(model, estimator, data, score_gains, *, splits=None, calibrates=False) -> OutOfFold:
    """Fit an estimator on each split, score the held-out rows, and fit it on all rows.

    Parameters
    ----------
    model : estimator
        Model with the parameters `refit`, `n_jobs` and `verbose`.
    estimator : estimator
        Estimator that is cloned; if `splits` is None, it must be fitted.
    data : TrainingRows
        The rows.
    score_gains : None, "exp2", dict or callable
        Gains of the classes of a classifier.
    splits : list or None
        Made by :func:`split_rows`.
    calibrates : bool
        Whether the model of a single split is kept, because it is calibrated.
    """
    everything = np.arange(len(data.groups))
    if splits is None:
        scores = data.scores(estimator, score_gains).astype(np.float64, copy=False)
        lists = GroupIndex.from_groups(data.groups)
        return OutOfFold(estimator, everything, scores, lists, {}, is_calibrated=True)
    refit = not (calibrates and len(splits) == 1) if model.refit == "auto" else model.refit
    rescales = refit and not has_fixed_scale(estimator)
    jobs = (
        delayed(_fit_fold)(data, estimator, split, score_gains, keep=rescales or not refit)
        for split in splits
    )
    parts = in_parallel(jobs, model.n_jobs, Parallel)
    # leave=None: an inner bar disappears when it is done.
    bar = {"desc": "folds", "unit": "fold", "verbose": model.verbose, "leave": None}
    fitted, of_folds, *seconds = zip(*progress_bar(parts, total=len(splits), **bar))
    final = data.fit_on(estimator) if refit else fitted[0]
    if rescales:
        scale = _scale(data, final, everything, score_gains)
        of_folds = tuple(
            to_scale(scores, _scale(data, each, train, score_gains), scale)
            for each, scores, (train, _) in zip(fitted, of_folds, splits)
        )
    scores = np.concatenate(of_folds).astype(np.float64, copy=False)
    rows = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    lists = GroupIndex.from_groups(data.groups[rows] + fold * data.n_queries)
    times = dict(zip(("fit_time", "score_time"), map(np.array, seconds)))
    is_calibrated = not refit and not any(
        count_shared(data.groups[train], data.groups[test]) for train, test in splits
    )
    return OutOfFold(final, rows, scores, lists, times, is_calibrated)


def _fit_fold(data, estimator, split, score_gains, keep):
    """Fit on the training rows of a split, and score its held-out rows.

    Returns the model, None unless it is to be kept, the scores, and the seconds of both.
    """
    begin = time.perf_counter()
    train, test = split
    if not data.judged[train].any():
        raise InputError(
            f"y has no judged row among the {len(train)} rows that a fold of the "
            "cross-validation learns from: lower cv, or give more labels."
        )
    try:
        fitted = data.fit_on(estimator, train)
    except ValueError as error:
        error.add_note(
            f"The error occurred in a fold of the cross-validation, with {len(train)} of "
            f"{len(data.groups)} rows to learn from: if the fold lacks a label, lower cv."
        )
        raise
    middle = time.perf_counter()
    scores = data.scores(fitted, score_gains, test)
    end = time.perf_counter()
    return fitted if keep else None, scores, middle - begin, end - middle


def _scale(data, fitted, rows, score_gains):
    """Compute mean and deviation of a model's scores of rows that it was trained on."""
    # Evenly spaced whole queries suffice for a mean and a standard deviation.
    step = -(-len(rows) // SAMPLE_ROWS)
    if step > 1:
        chosen = np.zeros(data.n_queries, dtype=bool)
        chosen[np.flatnonzero(np.bincount(data.groups[rows]))[::step]] = True
        rows = rows[chosen[data.groups[rows]]]
    scores = data.scores(fitted, score_gains, rows).astype(np.float64, copy=False)
    scores = scores[data.judged[rows] & np.isfinite(scores)]
    if not len(scores):
        return 0.0, 0.0
    mean, deviation = scores.mean(), scores.std()
    # The standard deviation of equal scores need not be exactly 0.
    return mean, deviation if deviation > mean_tolerance(scores) else 0.0


def check_inner(model) -> None:
    """Raise a ValueError if the estimator or the way of fitting it is not supported."""
    check_learner(model._unfitted_inner())
    if is_prefit(model.cv):
        check_is_fitted(model.estimator)
    check_choice(model.target, "target", TARGETS)
    check_cv(model.cv)


def check_cv(cv) -> None:
    """Raise a ValueError if `cv` is invalid."""
    if cv is None or is_prefit(cv):
        return
    if isinstance(cv, bool | str | bytes | type) or not (
        hasattr(cv, "split")
        or (is_whole_number(cv) and cv >= 2)
        or (is_number(cv) and 0 < cv < 1)
        or np.iterable(cv)
    ):
        raise InputError(
            "cv must be None, a number of folds from 2 up, a share between 0 and 1, a splitter, "
            f"an iterable of (train, test) or 'prefit', got {brief(cv)}."
        )


def split_rows(model, data, *, calibrates=False) -> list | None:
    """Split rows by query as `cv` of the model says; None for "prefit".

    Rows are split only once by default where a threshold `calibrates` for a certificate.
    """
    if is_prefit(model.cv):
        return None
    cv = CALIBRATION_SHARE if calibrates and model.cv is None else model.cv
    by_id = data.index.codes() if hasattr(cv, "split") else None
    given = {"by_id": by_id, "single": model.refit is False, "carriers": data.carriers}
    return make_splits(cv, data.labels, data.groups, **given)


def make_splits(
    cv, labels, groups, *, by_id, single: bool, carriers=None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the numbers of training and held-out rows of each fold.

    `groups` numbers the query of each row from 0 in the order of content, for deals made here, and
    `by_id` in the order of ids, for a given splitter; `single` demands exactly one split; the
    index of one of the `carriers` may hold times.
    """
    check_cv(cv)
    cv = DEFAULT_FOLDS if cv is None else cv
    if is_number(cv):
        n_needed = int(cv) if is_whole_number(cv) else 2
        n_queries = int(groups.max()) + 1
        if n_queries < n_needed:
            raise InputError(
                f"cv={cv} needs at least {n_needed} queries but their number is {n_queries} "
                f"(n_samples={len(groups)}): {'lower cv or ' if n_needed > 2 else ''}give more "
                "queries; cv='prefit' with an estimator fitted on other queries needs no folds."
            )
    if is_whole_number(cv):
        if single:
            check_single(int(cv))
        folds = query_folds(groups, int(cv))
        return [_split_of(folds == number) for number in range(int(cv))]
    if is_number(cv):
        numbers = distinct_numbers(groups)
        n_held = min(math.ceil(cv * len(numbers)), len(numbers) - 1)
        return [_split_of(np.isin(groups, numbers[:n_held]))]
    if hasattr(cv, "split"):
        X: Any = np.zeros(len(groups))
        if (times := number_times(None, n_rows=len(X), **carriers or {})) is not None:
            X = pd.Series(X, index=pd.Index(times, name=TIME))
        splits = list(cv.split(X, labels, by_id))
    else:
        splits = _given_splits(cv)
    if not splits:
        raise InputError(
            f"cv makes no split: expected at least one (train, test), got {brief(cv)}."
        )
    if single:
        check_single(len(splits))
    highest = max(int(rows.max(initial=-1)) for split in splits for rows in split)
    if highest >= len(groups):
        raise InputError(
            f"cv names row {highest} but there are {len(groups)} rows: expected row numbers from 0 "
            f"to {len(groups) - 1}."
        )
    for train, test in splits:
        n_shared = count_shared(groups[train], groups[test])
        if n_shared:
            warn_user(
                f"cv splits queries: {n_shared} have rows on both sides of a split, so the "
                "held-out scores are of queries the models have seen. Use GroupKFold.",
                DataWarning,
            )
            break
    return splits


def check_single(n_splits: int) -> None:
    """Raise if there are several splits but refit=False needs one."""
    if n_splits != 1:
        raise InputError(
            f"refit=False keeps the model of the only split, but cv makes {n_splits}: use cv=0.2 "
            "or another single split, or refit=True."
        )


def _split_of(held_out):
    """Return the numbers of the training rows and of the held-out rows."""
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _given_splits(cv):
    """Read the row numbers of a list of (train, test)."""
    try:
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv]
        for rows in itertools.chain.from_iterable(splits):
            if rows.size and (rows.ndim != 1 or rows.dtype.kind not in "iu"):
                raise InputError("no row numbers")
    except Exception as error:
        raise InputError(
            f"cv must hold pairs (train, test) of row numbers, got {brief(cv)}."
        ) from error
    return [(train.astype(np.int64), test.astype(np.int64)) for train, test in splits]


def count_shared(left, right):
    """Count queries that occur on both sides; queries are numbered from 0."""
    n_queries = int(max(left.max(initial=0), right.max(initial=0))) + 1
    seen = np.zeros((2, n_queries), dtype=bool)
    seen[0, left] = True
    seen[1, right] = True
    return np.count_nonzero(seen.all(axis=0))


def to_scale(scores, own, final) -> np.ndarray:
    """Rescale scores of one model to another; a scale is a mean and a standard deviation.

    A model's scale is measured on its own training rows; all models are overconfident there, so the
    scales are comparable. Hidden rows stay at -inf. If a model gives all its training rows the same
    score, its scores are only shifted.
    """
    (own_mean, own_deviation), (mean, deviation) = own, final
    stretch = deviation / own_deviation if deviation > 0 and own_deviation > 0 else 1.0
    return mean + (scores - own_mean) * stretch
