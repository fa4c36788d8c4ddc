"""Estimators around other estimators: what they know of the one inside, and pass on to it."""

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
)

from skfilterrank._core.check_features import refuse_dates
from skfilterrank._core.checks import check_container
from skfilterrank._core.inside import first_step, fitted_end
from skfilterrank._sklearn_compat import (
    check_feature_names,
    check_n_features,
    feature_names,
)
from skfilterrank.exceptions import InputError, brief


class _Wraps:
    """What the fitted estimator inside knows."""

    def _fitted_inner(self):
        """The fitted estimator inside, or None."""
        return getattr(self, "estimator_", None)

    def _of_inner(self, name, *, last=False):
        """An attribute of the fitted estimator inside, or of what stands at its end."""
        inner = self._fitted_inner()
        if inner is None:
            raise AttributeError(
                f"{type(self).__name__} is not fitted: no fitted estimator has {name}."
            )
        return getattr(fitted_end(inner) if last else inner, name)


class WrapsFitted(_Wraps):
    """Features as the fitted estimator inside knows them."""

    @property
    def n_features_in_(self) -> int:
        """Number of features the estimator was fitted on."""
        return self._of_inner("n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features the estimator was fitted on."""
        return self._of_inner("feature_names_in_")


class WrapsEstimator(_Wraps):
    """The columns of X, what the estimator inside knows, and what is routed to its `fit`."""

    def _remember_columns(self, X):
        """Take note of the number and names of the columns that `fit` is given."""
        vars(self).pop("n_features_in_", None)
        if _takes_one_column(self._unfitted_inner()):
            return
        if not self._chooses_columns():
            refuse_dates(X)
        check_feature_names(self, X, reset=True)
        check_n_features(self, X, reset=True)
        self._unnamed_columns = _unnamed_columns(X)
        if "n_features_in_" not in vars(self):
            _refuse_numbers(X)

    def _chooses_columns(self):
        """Whether a transformer comes first, which may choose columns by name, and looks itself."""
        return hasattr(_first_step(self._unfitted_inner()), "transform")

    def _check_columns(self, X):
        """Raise for other columns than `fit` was given, whatever the estimator makes of them."""
        check_container(X)
        if not self._chooses_columns() and not _takes_one_column(self._unfitted_inner()):
            refuse_dates(X)
            check_feature_names(self, X, reset=False)
            _check_unnamed_columns(getattr(self, "_unnamed_columns", None), _unnamed_columns(X))
            if hasattr(self, "n_features_in_"):
                _refuse_numbers(X)
            check_n_features(self, X, reset=False)

    def _unfitted_inner(self):
        """The estimator that is cloned and fitted."""
        return self.estimator

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the features, where the last step inside has them."""
        importances = self._of_inner("feature_importances_", last=True)
        if not np.ndim(importances):
            # CatBoost's own of a ranking loss want the training rows; these need none.
            measure = self._of_inner("get_feature_importance", last=True)
            importances = measure(type="PredictionValuesChange")
        return importances

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, as the last step inside saw them, where it is linear."""
        return np.ravel(self._of_inner("coef_", last=True))

    def _inside_routing(self):
        """What the estimator inside asks scikit-learn for."""
        return get_routing_for_object(self._unfitted_inner())

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn where `groups` and fit parameters go.

        Returns
        -------
        MetadataRouter
            Routing of this estimator and of the one inside.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=self._inside_routing(),
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )


def _first_step(estimator):
    """What sees X first inside an estimator."""
    while isinstance(first := first_step(estimator), WrapsEstimator):
        estimator = first._unfitted_inner()
    return first


def _takes_one_column(estimator):
    """Whether what sees X first wants one number for each document, and looks for itself."""
    first = _first_step(estimator)
    return hasattr(first, "__sklearn_tags__") and get_tags(first).input_tags.one_d_array


def _unnamed_columns(X):
    """Labels of the columns of a table that are no names, such as numbers."""
    columns = getattr(X, "columns", None)
    return None if columns is None or feature_names(X) is not None else list(columns)


def _check_unnamed_columns(fitted, given):
    """Raise for other labels, or another order, than `fit` was given."""
    if fitted is None or given is None or fitted == given:
        return
    if len(fitted) == len(given):
        raise InputError(
            f"X must have the columns of fit, in their order, which are {brief(fitted)}; got "
            f"{brief(given)}."
        )


def _refuse_numbers(X):
    """Raise for numbers in a row, where documents in a row are texts and the like."""
    values = np.asarray(X) if len(getattr(X, "shape", (0,))) == 1 else None
    if values is not None and values.ndim == 1 and values.dtype.kind in "biufc":
        raise InputError(
            "X must be 2-D, one row for each document and one column for each feature: Expected "
            "2D array, got 1D array instead. Reshape your data either using X.reshape(-1, 1) if "
            "there is one feature or X.reshape(1, -1) if there is one document."
        )
