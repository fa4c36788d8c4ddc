"""Held-out sets for early stopping: from eval_set, or from the training queries."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import indexable

from skfilterrank._base.checks import check_container, check_share, count_rows, label_array
from skfilterrank._base.sklearn_compat import fitted_end, safe_indexing
from skfilterrank._base.words import warn_user
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import is_model
from skfilterrank._estimators.wrapping import WrappingRanker
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.queries import check_groups, find_groups
from skfilterrank.exceptions import DataWarning, FitWarning, InputError

# Parameters of `fit` of other libraries with an entry for each row of a held-out set.
OF_ROWS_OF_SETS = {
    "eval_sample_weight",
    "eval_init_score",
    "sample_weight_eval_set",
    "base_margin_eval_set",
}
_STARTS = {"init_score", "base_margin"}
_EXPECTED = "expected (X, y), such as eval_set=(X_valid, y_valid), or a list of such pairs"


class EvalSet(NamedTuple):
    """The judged rows of a held-out set, as they are read or in the form that an estimator gets.

    `groups` are query ids, or a `GroupIndex`. The target may be binary or a grade, where `gains`
    are what a measure needs; `read_eval_set` returns the labels as the target.
    """

    X: Any
    target: np.ndarray
    groups: Any
    gains: np.ndarray


def read_eval_set(eval_set, eval_groups, gains, *, needs_groups: bool) -> list[EvalSet]:
    """Read the held-out sets of `fit`; rows without a label are left out, with a warning.

    `gains` turns labels into gains. Without query ids each row is a separate query, or with
    `needs_groups` an error.
    """
    return [_read_set(X, y, ids, gains, needs_groups) for X, y, ids in _sets(eval_set, eval_groups)]


def refuse_own_scores(fit_params) -> None:
    """Raise for parameters of `fit` that would need an entry for each row of held-out sets."""
    for name, values in fit_params.items():
        if name.rpartition("__")[2] in _STARTS and values is not None:
            raise InputError(
                f"{name} gives training rows scores to start from, and held-out rows would have "
                "none: leave it out, or leave eval_set and validation_fraction out."
            )


def _sets(eval_set, eval_groups):
    """List X, y and the given query ids of each held-out set."""
    if eval_set is None:
        return []
    if isinstance(eval_set, tuple):
        eval_set, eval_groups = [eval_set], None if eval_groups is None else [eval_groups]
    if not isinstance(eval_set, list):
        raise InputError(
            f"eval_set is {_described(eval_set)}, so that its labels are missing: {_EXPECTED}."
        )
    for number, pair in enumerate(eval_set):
        is_pair = isinstance(pair, list | tuple) and len(pair) == 2
        if not is_pair or isinstance(pair[0], tuple):
            raise InputError(f"eval_set[{number}] is {_described(pair)}: {_EXPECTED}.")
    if eval_groups is None:
        eval_groups = [None] * len(eval_set)
    if len(eval_groups) != len(eval_set):
        raise InputError(
            f"eval_groups has {len(eval_groups)} entries but eval_set has {len(eval_set)}: "
            "expected the query ids of each held-out set."
        )
    return [(X, y, ids) for (X, y), ids in zip(eval_set, eval_groups)]


def _described(value):
    """Describe type and size of a value that is not a pair."""
    shape = getattr(value, "shape", None)
    if shape is None and hasattr(value, "__len__"):
        return f"a {type(value).__name__} of {len(value)}"
    return f"one {type(value).__name__}" + ("" if shape is None else f" of shape {shape}")


def _read_set(X, y, ids, gains, needs_groups):
    """Read the judged rows of one held-out set."""
    check_container(X, "X of eval_set")
    # Sparse formats without rows (COO, DIA, BSR) become CSR.
    (X,) = indexable(X)
    row_gains = as_gains(y, gains, name="the labels of eval_set")
    n_rows = count_rows(X, "X of eval_set")
    if len(row_gains) != n_rows:
        raise InputError(f"eval_set has {len(row_gains)} labels but its X has {n_rows} rows.")
    groups = find_groups(ids, y, X)
    if groups is None and not needs_groups:
        groups = np.arange(n_rows)
    index = check_groups(
        groups, n_rows=n_rows, name="eval_groups", carrier="the y of eval_set as a Series"
    )
    labels, ids = label_array(y), index.row_ids()
    rows = np.flatnonzero(~np.isnan(row_gains))
    if len(rows) < n_rows:
        if not len(rows):
            raise InputError("eval_set holds no judged row: expected labels that are not NaN.")
        warn_user(
            f"{n_rows - len(rows)} of {n_rows} rows of eval_set are unjudged (NaN label): they are "
            "left out.",
            DataWarning,
        )
        X, labels = safe_indexing(X, rows), labels[rows]
        ids, row_gains = ids[rows], row_gains[rows]
    return EvalSet(X, labels, ids, row_gains)


def check_no_sets(eval_set) -> None:
    """Raise if there are held-out sets already."""
    if eval_set is not None:
        raise InputError(
            "validation_fraction holds out training queries, but eval_set was given, too: use "
            "one of the two."
        )


def held_out_rows(fraction, codes, judged=True) -> np.ndarray:
    """Return a mask of the held-out judged rows, with a deterministic choice of queries.

    `codes` numbers the query of each row in the order of content. Unjudged rows stay in the
    training part, where they are counted.
    """
    check_share(fraction, "validation_fraction")
    judged = np.broadcast_to(judged, codes.shape)
    # Only judged queries can be measured.
    queries = np.unique(codes[judged])
    n_held = max(1, round(fraction * len(queries)))
    if n_held >= len(queries):
        raise InputError(
            f"validation_fraction={fraction:g} holds out {n_held} of {len(queries)} judged queries "
            "and leaves none to learn from: lower it, or give more queries."
        )
    return judged & np.isin(codes, queries[:n_held])


def warn_unless_stopped_by(fraction, estimator) -> None:
    """Warn if a fitted estimator did not stop by the held-out queries."""
    final = fitted_end(estimator)
    while isinstance(final, WrappingRanker):
        final = fitted_end(final._fitted_inner())
    if not _stops_early(final):
        warn_user(
            f"validation_fraction={fraction:g} holds out queries, but {type(final).__name__} did "
            f"not use them to stop: set early_stopping_rounds (of {type(final).__name__}), or "
            "leave validation_fraction out to train on all queries.",
            FitWarning,
        )


def _stops_early(fitted):
    """Tell if a held-out set decides the number of rounds; True if unknown."""
    if isinstance(fitted, RankerMixin):
        return getattr(fitted, "early_stopping_rounds", 1) is not None
    if is_model(fitted, "lightgbm", "LGBMModel"):
        return fitted.best_iteration_ > 0
    if is_model(fitted, "xgboost", "XGBModel"):
        return hasattr(fitted, "best_iteration")
    if is_model(fitted, "catboost", "CatBoost"):
        settings = fitted.get_all_params()
        return settings.get("use_best_model", False) or "od_type" in settings
    return True
