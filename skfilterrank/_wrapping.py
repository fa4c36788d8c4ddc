"""Estimators around other estimators: what they know of the one inside, and pass on to it."""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from skfilterrank._sklearn_compat import BaseSearchCV


class WrapsFitted:
    """Features as the fitted estimator inside knows them."""

    def _fitted_inner(self):
        """The fitted estimator inside, or None."""
        return getattr(self, "estimator_", None)

    @property
    def n_features_in_(self) -> int:
        """Number of features the estimator was fitted on."""
        return self._of_inner("n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features the estimator was fitted on."""
        return self._of_inner("feature_names_in_")

    def _of_inner(self, name, *, last=False):
        """An attribute of the fitted estimator inside, or of what stands at its end."""
        inner = self._fitted_inner()
        if inner is None:
            raise AttributeError(
                f"{type(self).__name__} is not fitted: no fitted estimator has {name}."
            )
        while last and isinstance(inner, Pipeline | BaseSearchCV):
            is_search = isinstance(inner, BaseSearchCV)
            inner = inner.best_estimator_ if is_search else inner.steps[-1][1]
        return getattr(inner, name)


class WrapsEstimator(WrapsFitted):
    """What else the estimator inside knows, and what scikit-learn routes to its `fit`."""

    def _unfitted_inner(self):
        """The estimator that is cloned and fitted."""
        return self.estimator

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the features, where the last step inside has them."""
        return self._of_inner("feature_importances_", last=True)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, as the last step inside saw them, where it is linear."""
        return np.ravel(self._of_inner("coef_", last=True))

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
                estimator=self._unfitted_inner(),
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )
