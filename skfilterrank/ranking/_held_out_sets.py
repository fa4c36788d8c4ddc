"""Held-out sets for early stopping: from eval_set, or from the training queries."""

from typing import NamedTuple

import numpy as np
from sklearn.utils import indexable

from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import is_model
from skfilterrank._estimators.wrapping import WrappingRanker
from skfilterrank._lists.checks import check_container, check_share, count_rows, label_array
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups
from skfilterrank._lists.sklearn_compat import fitted_end, safe_indexing
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, FitWarning, InputError

# Parameters of `fit` with an entry per row of X, each with other libraries' names of the same
# parameter for held-out sets.
ROWS_OF_SETS = {
    "sample_weight": ("eval_sample_weight", "sample_weight_eval_set"),
    "init_score": ("eval_init_score",),
    "base_margin": ("base_margin_eval_set",),
}
_NAMES = {name for names in ROWS_OF_SETS.values() for name in names}
_EXPECTED = "expected (X, y), such as eval_set=(X_valid, y_valid), or a list of such pairs"


class HeldOutSet(NamedTuple):
    """The judged rows of a held-out set.

    `ids` and `queries` hold id and number of each row's query, and `columns` are parameters of
    `fit` with an entry for each row.
    """

    X: object
    labels: np.ndarray
    gains: np.ndarray
    ids: np.ndarray
    queries: np.ndarray
    columns: dict


def read_eval_set(
    eval_set, eval_groups, gains, *, needs_groups: bool, columns: dict | None = None
) -> list[HeldOutSet]:
    """Read the held-out sets of `fit`; rows without a label are left out, with a warning.

    `gains` turns labels into gains. Without query ids each row is a separate query, or with
    `needs_groups` an error. `columns` has one entry per set for each name.
    """
    sets = _sets(eval_set, eval_groups)
    is_pair = len(sets) == 1 and _is_pair(eval_set)
    given = {
        name: _by_set(values, name, len(sets), is_pair) for name, values in (columns or {}).items()
    }
    return [
        _read_set(X, y, ids, gains, needs_groups, {name: given[name][i] for name in given})
        for i, (X, y, ids) in enumerate(sets)
    ]


def split_columns(fit_params) -> tuple[dict, dict]:
    """Separate parameters of `fit` from parameters of held-out sets, which are renamed."""
    of_sets = {
        name.rpartition("__")[2]: value
        for name, value in fit_params.items()
        if name.rpartition("__")[2] in _NAMES
    }
    others = {k: v for k, v in fit_params.items() if k.rpartition("__")[2] not in _NAMES}
    return others, {name: value for name, value in of_sets.items() if value is not None}


def _by_set(values, name, n_sets, is_pair):
    """List the values of a parameter for each held-out set; None where there is none."""
    if isinstance(values, dict):
        values = [values.get(number) for number in range(n_sets)]
    elif is_pair and not (isinstance(values, list | tuple) and len(values) == 1):
        values = [values]
    if not isinstance(values, list | tuple) or len(values) != n_sets:
        raise InputError(
            f"{name} is {_described(values)}, and there are {n_sets} sets in eval_set: expected a "
            "list with an array for each of them."
        )
    return values


def _sets(eval_set, eval_groups):
    """List X, y and the given query ids of each held-out set."""
    if eval_set is None:
        return []
    if _is_pair(eval_set):
        eval_set = [eval_set]
        eval_groups = None if eval_groups is None else [eval_groups]
    if not isinstance(eval_set, list | tuple):
        raise InputError(
            f"eval_set is {_described(eval_set)}, so that its labels are missing: {_EXPECTED}."
        )
    for number, pair in enumerate(eval_set):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InputError(f"eval_set[{number}] is {_described(pair)}: {_EXPECTED}.")
    if eval_groups is None:
        eval_groups = [None] * len(eval_set)
    if len(eval_groups) != len(eval_set):
        raise InputError(
            f"eval_groups has {len(eval_groups)} entries but eval_set has {len(eval_set)}: "
            "expected the query ids of each held-out set."
        )
    return [(X, y, ids) for (X, y), ids in zip(eval_set, eval_groups)]


def _is_pair(eval_set):
    """Tell if an eval_set is one pair of features and labels."""
    return isinstance(eval_set, tuple) and len(eval_set) == 2 and not _is_set(eval_set[0])


def _is_set(item):
    """Tell if the first item of a pair is itself a pair of features and labels."""
    is_pair = isinstance(item, list | tuple) and len(item) == 2
    # A list of two single rows also has length 2, but is not a pair.
    return is_pair and (isinstance(item, tuple) or len(getattr(item[0], "shape", ())) == 2)


def _described(value):
    """Describe type and size of a value that is not a pair."""
    shape = getattr(value, "shape", None)
    if shape is None and hasattr(value, "__len__"):
        return f"a {type(value).__name__} of {len(value)}"
    return f"one {type(value).__name__}" + ("" if shape is None else f" of shape {shape}")


def _read_set(X, y, ids, gains, needs_groups, columns):
    """Read the judged rows of one held-out set."""
    check_container(X, "X of eval_set")
    # Sparse formats without rows (COO, DIA, BSR) become CSR.
    (X,) = indexable(X)
    row_gains = as_gains(y, gains, name="the labels of eval_set")
    n_rows = count_rows(X, "X of eval_set")
    if len(row_gains) != n_rows:
        raise InputError(f"eval_set has {len(row_gains)} labels but its X has {n_rows} rows.")
    columns = {name: values for name, values in columns.items() if values is not None}
    for name, values in columns.items():
        if count_rows(values, name) != n_rows:
            raise InputError(
                f"{name} has {count_rows(values, name)} entries but the X of its set in eval_set "
                f"has {n_rows} rows."
            )
    groups = find_groups(ids, y, X)
    if groups is None and not needs_groups:
        groups = np.arange(n_rows)
    index = check_groups(
        groups, n_rows=n_rows, name="eval_groups", carrier="the y of eval_set as a Series"
    )
    labels, ids, queries = label_array(y), index.row_ids(), index.codes()
    rows = np.flatnonzero(~np.isnan(row_gains))
    if len(rows) < n_rows:
        if not len(rows):
            raise InputError("eval_set holds no judged row: expected labels that are not NaN.")
        warn_user(
            f"{n_rows - len(rows)} of {n_rows} rows of eval_set are unjudged (NaN label): they are "
            "left out.",
            DataWarning,
        )
        X, labels, row_gains = safe_indexing(X, rows), labels[rows], row_gains[rows]
        ids, queries = ids[rows], GroupIndex.from_groups(queries[rows]).codes()
        columns = {name: safe_indexing(values, rows) for name, values in columns.items()}
    return HeldOutSet(X, labels, row_gains, ids, queries, columns)


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
