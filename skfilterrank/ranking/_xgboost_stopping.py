"""Early stopping of XGBoost by a measure of this package."""

from xgboost import DMatrix
from xgboost.callback import EarlyStopping


class MeasureStopping(EarlyStopping):
    """A callback that stops training when the measure of held-out rows does not improve.

    Parameters
    ----------
    measure : ParsedMeasure
        What is measured.
    sets : list of EvalSet
        XGBoost's evaluation sets; the last one is measured.
    ranker : XGBModel
        The estimator that is fitted.
    measured : callable
        ``measured(measure, gains, scores, groups)`` computes the measure.
    """

    def __init__(self, measure, sets, ranker, measured):
        held_out = sets[-1]
        super().__init__(
            rounds=ranker.early_stopping_rounds,
            metric_name=measure.text,
            data_name=f"validation_{len(sets) - 1}",
            maximize=measure.measure.greater_is_better,
        )
        self.measure, self.held_out, self.measured = measure, held_out, measured
        self._matrix = DMatrix(
            held_out.X,
            base_margin=held_out.columns.get("base_margin_eval_set"),
            missing=ranker.missing,
            feature_types=ranker.feature_types,
            enable_categorical=True,
        )

    def after_iteration(self, model, epoch, evals_log):
        """Measure, write the value into the log of the last set, and return True to stop."""
        scores = model.predict(self._matrix)
        value = self.measured(self.measure, self.held_out.gains, scores, self.held_out.groups)
        log = evals_log.setdefault(self.data, {})
        log.setdefault(self.metric_name, []).append(value)
        return super().after_iteration(model, epoch, evals_log)
