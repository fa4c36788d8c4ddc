"""Early stopping of XGBoost by a measure of this package."""

from xgboost import DMatrix
from xgboost.callback import EarlyStopping

# Name of the held-out rows in the results of evaluation.
LOG_NAME = "held_out"


class MeasureStopping(EarlyStopping):
    """A callback that stops training when the measure of held-out rows does not improve.

    Parameters
    ----------
    held_out : object
        Labels and queries of the rows, and their measure.
    X : array-like, sparse matrix, DataFrame or DMatrix
        Features of the held-out rows.
    rounds : int
        Number of rounds without improvement after which training stops.
    """

    def __init__(self, held_out, X, rounds):
        super().__init__(
            rounds=rounds,
            data_name=LOG_NAME,
            metric_name=held_out.parsed.text,
            maximize=held_out.greater_is_better,
            save_best=True,
        )
        self.held_out, self.X = held_out, X
        self._matrix = None

    def before_training(self, model):
        """Reset the state, and make the data matrix, which cannot be copied."""
        self.stopping_history, self.best_scores, self.current_rounds = {}, {}, 0
        is_matrix = isinstance(self.X, DMatrix)
        self._matrix = self.X if is_matrix else DMatrix(self.X, enable_categorical=True)
        return super().before_training(model)

    def after_iteration(self, model, epoch, evals_log):
        """Measure, write the value into the log, and return True to stop."""
        held_out = self.held_out
        value = held_out.value(held_out.y, model.predict(self._matrix), held_out.index)
        log = evals_log.setdefault(LOG_NAME, {}).setdefault(self.metric_name, [])
        log.append(value)
        return super().after_iteration(model, epoch, evals_log)

    def after_training(self, model):
        """Keep the trees up to the best round."""
        self._matrix = None
        return super().after_training(model)
