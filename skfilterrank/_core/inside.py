"""What stands inside the estimators of scikit-learn that hold others."""

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from skfilterrank._sklearn_compat import BaseSearchCV


def first_step(estimator):
    """What sees X first inside a Pipeline or a search: in the best one, once it is found."""
    while isinstance(estimator, Pipeline | BaseSearchCV | FrozenEstimator):
        if isinstance(estimator, Pipeline):
            steps = (step for _, step in estimator.steps if step not in (None, "passthrough"))
            estimator = next(steps, None)
        else:
            estimator = getattr(estimator, "best_estimator_", estimator.estimator)
    return estimator


def final_step(estimator):
    """The estimator at the end of a Pipeline, thawed, else the estimator itself."""
    while isinstance(estimator, Pipeline | FrozenEstimator):
        is_pipeline = isinstance(estimator, Pipeline)
        estimator = estimator.steps[-1][1] if is_pipeline else estimator.estimator
    return estimator


def fitted_end(estimator):
    """The fitted estimator at the end of a Pipeline or a search, else the estimator itself."""
    while isinstance(estimator := final_step(estimator), BaseSearchCV):
        estimator = estimator.best_estimator_
    return estimator
