"""Out-of-fold scores: each query is scored by a model that has not seen it."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from tqdm.auto import tqdm

from skfilterrank._response import document_scores
from skfilterrank._sklearn_compat import safe_indexing
from skfilterrank.exceptions import InputError
from skfilterrank.ranking._fitting.training_data import TrainingRows


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
