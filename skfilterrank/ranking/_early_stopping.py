"""Early stopping of LightGBM, XGBoost and CatBoost by a measure of held-out queries."""

from typing import Any

import numpy as np

from skfilterrank._estimators.responses import is_model
from skfilterrank._lists.measure import ParsedMeasure

# Parameters of `fit` and of the estimators by which users choose a metric of the library.
_METRICS = ("eval_metric", "metric", "metrics", "metric_types")


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

    def value(self, targets, scores) -> float | None:
        """Compute the measure of a set, with its defaults; None for other rows."""
        for known, gains, groups in self.sets:
            if np.array_equal(known, np.asarray(targets, dtype=np.float32)):
                return measured(self.measure, gains, np.asarray(scores, dtype=np.float64), groups)
        return None


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
