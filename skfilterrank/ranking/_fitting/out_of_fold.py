"""Out-of-fold scores: each query is scored by a model that has not seen it."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from tqdm.auto import tqdm

from skfilterrank._response import document_scores
from skfilterrank._sklearn_compat import safe_indexing
from skfilterrank.ranking._fitting.adapters import cut_rows, fit_with_groups


class FoldScores(NamedTuple):
    """Scores of one fold's held-out rows."""

    rows: np.ndarray
    scores: np.ndarray
    fit_time: float
    score_time: float
    estimator: object | None


class TrainingRows(NamedTuple):
    """Everything with one entry per row that a fit needs."""

    X: object
    target: np.ndarray
    groups: np.ndarray
    judged: np.ndarray
    fit_params: dict
    eval_set: list | None
    eval_groups: list | None

    def fit(self, estimator, rows=None):
        """Fit a clone on some rows (None: all); unjudged rows are left out."""
        estimator = clone(estimator)
        if rows is None and self.judged.all():
            X, target, groups, params = self.X, self.target, self.groups, self.fit_params
        else:
            rows = np.arange(len(self.judged)) if rows is None else rows
            rows = rows[self.judged[rows]]
            X, target, groups, params = cut_rows(
                rows, self.X, self.target, self.groups, self.fit_params
            )
        fit_with_groups(
            estimator,
            X,
            target,
            groups,
            eval_set=self.eval_set,
            eval_groups=self.eval_groups,
            fit_params=params,
        )
        return estimator


def fit_and_score(estimator, data: TrainingRows, gains, train, test, keep) -> FoldScores:
    """Fit on the training rows and score the held-out rows."""
    begin = time.perf_counter()
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
