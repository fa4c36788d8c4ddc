"""One score per document from any fitted estimator."""

import inspect
import sys

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from skfilterrank._core.checks import check_scores, refuse_mask
from skfilterrank._core.gains import as_gains
from skfilterrank._sklearn_compat import BaseSearchCV, feature_names
from skfilterrank.exceptions import InputError, brief


def document_scores(estimator, X, *, groups=None, gains=None) -> np.ndarray:
    """Score the rows of X: higher is better, -inf where filtered.

    A classifier scores by its probability that the gain is above 0 (else by its decision
    function), anything else by what it predicts. Query ids go to the estimators whose `predict`
    asks for them.
    """
    check_columns(estimator, X)
    if groups is not None:
        estimator, X = last_step(estimator, X, groups)
    if is_classifier(estimator):
        return check_scores(_classifier_scores(estimator, X, gains), name="the classifier's scores")
    predicted = estimator.predict(X, **_queries_for(estimator.predict, groups))
    return check_scores(predicted, name=f"what {type(estimator).__name__} predicts")


def check_columns(estimator, X) -> None:
    """Stop LightGBM from scoring other columns than it was fitted on, or in another order.

    scikit-learn and XGBoost look for themselves; LightGBM takes any table of as many columns.
    """
    refuse_mask(X)
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[0][1]
    lightgbm = sys.modules.get("lightgbm")
    if lightgbm is None or not isinstance(estimator, lightgbm.LGBMModel):
        return
    fitted = getattr(estimator, "feature_names_in_", None)
    names = feature_names(X)
    if fitted is None or names is None:
        return
    # LightGBM writes a space in a name as an underscore.
    if [name.replace(" ", "_") for name in names] != list(fitted):
        raise InputError(
            f"X must have the columns that {type(estimator).__name__} was fitted on, in their "
            f"order, which are {brief(list(map(str, fitted)))}; got {brief(names.tolist())}."
        )


def last_step(estimator, X, groups=None):
    """The fitted estimator at the end of a Pipeline or a search, and X as it sees it."""
    while isinstance(estimator, Pipeline | BaseSearchCV):
        if isinstance(estimator, BaseSearchCV):
            estimator = estimator.best_estimator_
        else:
            X = before_last(estimator, X, groups)
            estimator = estimator.steps[-1][1]
    return estimator, X


def before_last(pipeline, X, groups=None):
    """X as the last step sees it; query ids go to the steps whose `transform` asks for them."""
    for _, step in pipeline.steps[:-1]:
        if step not in (None, "passthrough"):
            X = step.transform(X, **_queries_for(step.transform, groups))
    return X


def _queries_for(method, groups):
    """Query ids, for a method that asks for them."""
    if groups is None or "groups" not in inspect.signature(method).parameters:
        return {}
    return {"groups": groups}


def final_step(estimator):
    """The estimator at the end of a Pipeline, else the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def _classifier_scores(estimator, X, gains):
    """P(gain > 0), or the decision function of two classes."""
    classes = estimator.classes_
    is_good = as_gains(classes, gains, name="the classifier's classes") > 0
    if hasattr(estimator, "predict_proba"):
        probabilities = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        # LightGBM gives two columns to the only class.
        return probabilities[:, : len(classes)][:, is_good].sum(axis=1)
    if len(classes) == 2 and is_good.sum() == 1 and hasattr(estimator, "decision_function"):
        margins = np.asarray(estimator.decision_function(X), dtype=np.float64)
        # decision_function is positive for classes_[1]: with "good" and "spam" that is "spam".
        return margins if is_good[1] else -margins
    raise InputError(
        f"{type(final_step(estimator)).__name__} gives neither predict_proba nor a decision "
        "function of two classes, so it cannot rank documents: switch its probabilities "
        "on, or wrap it in CalibratedClassifierCV."
    )
