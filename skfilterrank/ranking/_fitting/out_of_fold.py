"""Out-of-fold scores: each query is scored by a model that has not seen it."""

import itertools
import time
from typing import NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, GroupShuffleSplit
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted
from tqdm.auto import tqdm

from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import document_scores, has_method
from skfilterrank._estimators.wrapping import group_parameter
from skfilterrank._lists.checks import check_choice, is_number, is_whole_number
from skfilterrank._lists.floats import mean_tolerance
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.sklearn_compat import BaseSearchCV, final_step, safe_indexing
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.ranking._fitting.training_rows import TARGETS, TrainingRows


def is_prefit(cv) -> bool:
    """Whether `cv` says that the estimator is fitted already."""
    return isinstance(cv, str) and cv == "prefit"


def has_fixed_scale(estimator) -> bool:
    """Whether scores of the estimator fitted on other rows mean the same.

    Probabilities and predicted gains have the scale of what is learned. A ranker learns from the
    order of a query's documents, and no loss says how large its scores should be.
    """
    final = final_step(estimator)
    while isinstance(final, BaseSearchCV):
        final = final_step(final.estimator)
    if isinstance(final, RankerMixin):
        return final.has_fixed_scale
    return is_classifier(final) or group_parameter(final) is None


class FoldScores(NamedTuple):
    """Scores of one fold's held-out rows."""

    rows: np.ndarray
    scores: np.ndarray
    fit_time: float
    score_time: float
    estimator: object | None


def fit_and_score(estimator, data: TrainingRows, gains, train, test, keep) -> FoldScores:
    """Fit on the training rows and score the held-out rows."""
    begin = time.perf_counter()
    if not data.judged[train].any():
        raise InputError(
            f"y has no judged row among the {len(train)} rows that a fold of the cross-validation "
            "learns from: lower cv, or give more labels."
        )
    try:
        fitted = data.fit(estimator, train)
    except ValueError as error:
        error.add_note(
            f"This came up in a fold of the cross-validation, with {len(train)} of "
            f"{len(data.groups)} rows to learn from: if the fold lacks a label, lower cv."
        )
        raise
    middle = time.perf_counter()
    scores = document_scores(
        fitted, safe_indexing(data.X, test), groups=data.groups[test], gains=gains
    )
    return FoldScores(
        test, scores, middle - begin, time.perf_counter() - middle, fitted if keep else None
    )


def out_of_fold_scores(estimator, data, gains, splits, *, keep=False, n_jobs=None, verbose=0):
    """Fit and score every fold; the same result whatever `n_jobs` is."""
    folds = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(fit_and_score)(estimator, data, gains, train, test, keep) for train, test in splits
    )
    # leave=None: a bar under another bar goes when it is done.
    bar = tqdm(folds, total=len(splits), desc="folds", unit="fold", disable=not verbose, leave=None)
    return list(bar)


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
        return TuningScores(inner, [], rows, scores.astype(np.float64, copy=False), index, True)
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
    of_folds = tuple(zip(*folds))
    rows, scores = np.concatenate(of_folds[0]), np.concatenate(of_folds[1])
    # A query that is held out by several folds makes a list in each.
    fold = np.repeat(np.arange(len(folds)), tuple(map(len, of_folds[0])))
    lists = data.groups[rows] + fold * (int(data.groups.max()) + 1)
    is_calibrated = not refit and not any(
        count_shared(data.groups[train], data.groups[test]) for train, test in splits
    )
    index = GroupIndex.from_groups(lists)
    scores = scores.astype(np.float64, copy=False)
    return TuningScores(estimator, folds, rows, scores, index, is_calibrated)


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


DEFAULT_FOLDS = 5


def check_cv(cv) -> None:
    """Raise a ValueError for a `cv` that cannot be used."""
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


def make_splits(
    cv, labels, groups, *, single: bool, advice: str = ""
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers of the training and the held-out rows of each fold.

    `groups` numbers the query of each row from 0; `single` demands exactly one split; `advice`
    ends the message where there are too few queries for folds.
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
                f"queries{advice}."
            )
    if is_whole_number(cv) and not single:
        return _dealt_folds(groups, int(cv))
    if is_whole_number(cv):
        cv = GroupKFold(int(cv), shuffle=True, random_state=0)
    elif is_number(cv):
        cv = GroupShuffleSplit(1, test_size=float(cv), random_state=0)
    if hasattr(cv, "split"):
        splits = list(cv.split(np.zeros(len(groups)), labels, groups))
    else:
        splits = _given_splits(cv)
    if not splits:
        raise InputError(
            f"cv makes no split: expected at least one (train, test), got {brief(cv)}."
        )
    if single and len(splits) != 1:
        raise InputError(
            f"refit=False keeps the model of the only split, but cv makes {len(splits)}: use "
            "cv=0.2 or another single split, or refit=True."
        )
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


def _dealt_folds(groups, n_folds):
    """Deal shuffled queries to folds, as GroupKFold does, which sorts the rows for each fold."""
    fold = np.empty(int(groups.max()) + 1, dtype=np.int16 if n_folds < 1 << 15 else np.intp)
    shuffled = np.random.RandomState(0).permutation(len(fold))
    for number, part in enumerate(np.array_split(shuffled, n_folds)):
        fold[part] = number
    of_row = fold[groups]
    splits = []
    for number in range(n_folds):
        held_out = of_row == number
        splits.append((np.flatnonzero(~held_out), np.flatnonzero(held_out)))
    return splits


def _given_splits(cv):
    """Row numbers of the folds that a list of (train, test) holds."""
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


def check_each_held_out_once(cv, splits, n_rows) -> None:
    """Raise where some row is held out by no split, or by several."""
    times = np.bincount(np.concatenate([test for _, test in splits]), minlength=n_rows)
    if (times != 1).any():
        raise InputError(
            f"cv={brief(cv)} must hold out each row once, but holds out "
            f"{np.count_nonzero(times == 0)} rows never and {np.count_nonzero(times > 1)} several "
            "times: use a number of folds, or GroupKFold."
        )


def count_shared(left, right):
    """Number of queries that occur on both sides; queries are numbered from 0."""
    n_queries = int(max(left.max(initial=0), right.max(initial=0))) + 1
    seen = np.zeros((2, n_queries), dtype=bool)
    seen[0, left] = True
    seen[1, right] = True
    return np.count_nonzero(seen.all(axis=0))


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
