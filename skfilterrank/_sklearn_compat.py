"""The one place where names from scikit-learn's private modules enter."""

import sys
from types import FrameType

import joblib
import numpy as np
import sklearn
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.parallel import _threadpool_controller_decorator as limit_threads
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_n_features as check_n_features
from sklearn.utils.validation import _get_feature_names
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "BaseSearchCV",
    "calling_cross_validation",
    "check_feature_names",
    "check_method_params",
    "check_n_features",
    "feature_names",
    "fitted_end",
    "limit_threads",
    "metadata_routing_enabled",
    "num_samples",
    "safe_indexing",
    "without_groups",
]

# Where scikit-learn fits on one side of a split and scores the other.
_CROSS_VALIDATION = ("sklearn.model_selection._validation", "sklearn.feature_selection._rfe")


def feature_names(X) -> np.ndarray | None:
    """Names of the columns of a table, None where it has none."""
    # Which scikit-learn finds out by asking for every library of tables there is.
    return None if isinstance(X, np.ndarray) else _get_feature_names(X)


def metadata_routing_enabled() -> bool:
    """Whether scikit-learn's metadata routing is switched on."""
    return sklearn.get_config()["enable_metadata_routing"]


def fitted_end(estimator):
    """The fitted estimator at the end of a Pipeline or a search, else the estimator itself."""
    while isinstance(estimator, Pipeline | BaseSearchCV):
        is_search = isinstance(estimator, BaseSearchCV)
        estimator = estimator.best_estimator_ if is_search else estimator.steps[-1][1]
    return estimator


def calling_cross_validation():
    """What stands for the cross-validation of scikit-learn that calls, as long as it runs.

    None where none calls: fit and score then need not be two sides of a split.
    """
    called, whole = False, None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") in _CROSS_VALIDATION:
            called = True
        if frame.f_code is joblib.Parallel.__call__.__code__:
            whole = frame.f_locals["self"]
        frame = frame.f_back
    # In a process of joblib's the call itself is out of sight.
    return (whole or joblib.Parallel) if called else None


def without_groups(routing):
    """Let what is inside an estimator ask nobody for `groups`, which the estimator hands it."""
    if isinstance(routing, MetadataRouter):
        for _, inside in routing:
            without_groups(inside.router)
    else:
        for method in (routing.fit, routing.transform):
            method.add_request(param="groups", alias=False)
    return routing
