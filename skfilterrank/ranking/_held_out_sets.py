"""Held-out queries, and how estimators of other libraries stop by them."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import indexable

from skfilterrank._base.checks import (
    check_container,
    check_share,
    count_rows,
    label_array,
)
from skfilterrank._base.sklearn_compat import fitted_end, safe_indexing
from skfilterrank._base.words import warn_user
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import column_labels, is_model
from skfilterrank._estimators.wrapping import WrappingRanker
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups
from skfilterrank.exceptions import DataWarning, FitWarning, InputError, brief

# Parameters of `fit` of other libraries with an entry for each row of a held-out set.
OF_ROWS_OF_SETS = {
    "eval_sample_weight",
    "eval_init_score",
    "sample_weight_eval_set",
    "base_margin_eval_set",
}
# Parameters of `fit` and of the estimators by which users choose a metric of the library.
_METRICS = ("eval_metric", "metric", "metrics", "metric_types")
_STARTS = {"init_score", "base_margin"}
_EXPECTED = "expected (X, y), such as eval_set=(X_valid, y_valid), or a list of such pairs"


class EvalSet(NamedTuple):
    """The judged rows of a held-out set, as they are read or in the form that an estimator gets.

    `groups` are query ids, or a `GroupIndex`. `target` is what an estimator learns, such as a
    grade; from `read_eval_set` it is the label. `gains` are what a measure needs.
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


def check_columns_of_sets(X, sets) -> None:
    """Raise if held-out sets have other columns than X, which LightGBM would take for its own."""
    known, n_known = column_labels(X), (*np.shape(X), 1)[1]
    for each in sets:
        given, n_given = column_labels(each.X), (*np.shape(each.X), 1)[1]
        if n_given != n_known:
            raise InputError(
                f"X of eval_set has {n_given} columns but X has {n_known}: give both the same "
                "columns."
            )
        if known is not None and given is not None and list(given) != list(known):
            raise InputError(
                f"X of eval_set must have the columns of X, in their order, which are "
                f"{brief(list(known))}; got {brief(list(given))}."
            )


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


def fit_stopped(estimator, X, y, params, measure: ParsedMeasure, sets) -> None:
    """Fit an estimator that stops by a measure of held-out sets, if its library can.

    Parameters
    ----------
    estimator : estimator
        Fitted in place. Its own parameters are as before afterwards.
    X, y : array-like
        Rows and targets.
    params : dict
        Parameters of `fit`, held-out sets included.
    measure : ParsedMeasure
        Decides unless users chose a metric.
    sets : list of EvalSet
        The held-out sets, in the form that the estimator gets.
    """
    made: dict[str, Any] = {}
    if _has_own_metric(estimator, params):
        pass
    elif is_model(estimator, "lightgbm", "LGBMModel"):
        params = params | {"eval_metric": LightGBMMetric(measure, sets)}
        # Otherwise LightGBM stops by its own metric too.
        made = {"metric": "None"}
    elif is_model(estimator, "xgboost", "XGBModel"):
        made = _xgboost_parameters(measure, estimator, sets)
    elif is_model(estimator, "catboost", "CatBoost"):
        made = {"eval_metric": CatBoostMetric(measure, sets)}
    known = estimator.get_params(deep=False)
    estimator.set_params(**made).fit(X, y, **params)
    if is_model(estimator, "catboost", "CatBoost"):
        # CatBoost refuses set_params after fit.
        estimator._init_params = known
    else:
        estimator.set_params(**{name: known.get(name) for name in made})


def _has_own_metric(estimator, params):
    """Tell if users chose the metric."""
    given = estimator.get_params(deep=False) | params
    return (
        any(given.get(name) is not None for name in _METRICS)
        or given.get("task_type") == "GPU"  # CatBoost has no other metrics there
    )


class _Metric:
    """A measure of held-out sets, each recognised by its targets."""

    def __init__(self, measure, sets):
        self.measure = measure
        self.sets = [
            (np.asarray(each.target, dtype=np.float32), each.gains, each.groups) for each in sets
        ]
        for one, other in combinations(self.sets, 2):
            if np.array_equal(one[0], other[0]) and not _are_measured_alike(one, other):
                raise InputError(
                    "two sets of eval_set have equal targets, and other queries or gains, so that "
                    "they cannot be told apart: give one of them."
                )

    def value(self, targets, scores) -> float | None:
        """Compute the measure of a set, with its defaults; None for other rows."""
        for known, gains, groups in self.sets:
            if np.array_equal(known, np.asarray(targets, dtype=np.float32)):
                return measured(self.measure, gains, np.asarray(scores, dtype=np.float64), groups)
        return None


def _are_measured_alike(one, other):
    """Tell if two held-out sets of a metric have the same gains and put the same rows together."""
    codes = [GroupIndex.from_groups(groups).by_first_row().codes() for *_, groups in (one, other)]
    return np.array_equal(one[1], other[1]) and np.array_equal(*codes)


def measured(measure: ParsedMeasure, gains, scores, groups) -> float:
    """Compute a measure of gains; higher need not be better."""
    value = measure.utility(gains, scores, groups=groups)
    return measure.higher_better(value)


class LightGBMMetric(_Metric):
    """A measure with the signature of LightGBM's metrics."""

    def __call__(self, targets, scores):
        """Return name, value, and whether higher is better."""
        value = self.value(targets, scores)
        return self.measure.text, value, self.measure.measure.greater_is_better


class CatBoostMetric(_Metric):
    """A measure as a CatBoost metric object."""

    # Prevents CatBoost from compiling the methods by numba, and its warning if that fails.
    no_jit = True

    def is_max_optimal(self):
        """Tell CatBoost if higher is better."""
        return self.measure.measure.greater_is_better

    def get_final_error(self, error, weight):
        """Return the value itself."""
        return error

    def evaluate(self, approxes, target, weight):
        """Return the value, and the weight 1; training rows are not measured and have 0."""
        value = self.value(target, approxes[0])
        return 0.0 if value is None else value, 1.0


def _xgboost_parameters(measure, ranker, sets):
    """Return XGBoost's parameters for stopping by a measure, if it is to stop early.

    Its ranker would call a metric for each query, use 1 for queries with one document, and weight
    the mean by query size. A callback avoids this.
    """
    if ranker.early_stopping_rounds is None:
        return {}
    from xgboost import DMatrix
    from xgboost.callback import EarlyStopping

    held_out = sets[-1]
    matrix = DMatrix(
        held_out.X,
        missing=ranker.missing,
        feature_types=ranker.feature_types,
        enable_categorical=True,
    )

    class MeasureStopping(EarlyStopping):
        """Stop training when the measure of the last set does not improve."""

        def after_iteration(self, model, epoch, evals_log):
            """Write the value into the log of the set, and return True to stop."""
            value = measured(measure, held_out.gains, model.predict(matrix), held_out.groups)
            log = evals_log.setdefault(self.data, {})
            log.setdefault(self.metric_name, []).append(value)
            return super().after_iteration(model, epoch, evals_log)

    stopping = MeasureStopping(
        rounds=ranker.early_stopping_rounds,
        metric_name=measure.text,
        data_name=f"validation_{len(sets) - 1}",
        maximize=measure.measure.greater_is_better,
    )
    return {"callbacks": [*(ranker.callbacks or ()), stopping], "early_stopping_rounds": None}
