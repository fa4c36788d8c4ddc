"""Rankers around other estimators: what they forward to the estimator inside, and ask of it."""

import numpy as np
from sklearn.base import MetaEstimatorMixin, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from skfilterrank._ranker import RankerMixin
from skfilterrank._response import final_step
from skfilterrank._sklearn_compat import BaseSearchCV, metadata_routing_enabled
from skfilterrank.ranking._fitting.adapters import group_parameter, needs_own_form


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
            raise AttributeError(f"{type(self).__name__} has no fitted estimator: no {name}.")
        while last and isinstance(inner, Pipeline | BaseSearchCV):
            is_search = isinstance(inner, BaseSearchCV)
            inner = inner.best_estimator_ if is_search else inner.steps[-1][1]
        return getattr(inner, name)


class WrappingRanker(WrapsFitted, RankerMixin, MetaEstimatorMixin):
    """A ranker that fits the estimator it is given, on features that the estimator takes."""

    takes_unjudged = True

    @property
    def needs_groups(self) -> bool:  # type: ignore[override]  # what the estimator says
        """Whether the estimator learns nothing without query ids."""
        return needs_groups(self._unfitted_inner())

    def _unfitted_inner(self):
        """The estimator that is cloned and fitted."""
        return self.estimator

    def _inside_parameters(self, fit_params):
        """Parameters of `fit` that go to the estimator."""
        if metadata_routing_enabled():
            return process_routing(self, "fit", **fit_params).estimator.fit
        return fit_params

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._unfitted_inner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.string = inner.input_tags.string
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.non_deterministic = inner.non_deterministic
        return tags


def estimators_inside(estimator) -> list:
    """The estimator and those it wraps, from the outermost to the one that learns."""
    inside = [final_step(estimator)]
    while isinstance(inside[-1], BaseSearchCV | WrappingRanker):
        inner = inside[-1].estimator
        if not hasattr(inner, "fit"):
            break
        inside.append(final_step(inner))
    return inside


def needs_groups(estimator) -> bool:
    """Whether the estimator learns nothing without query ids."""
    learner = estimators_inside(estimator)[-1]
    return learner.needs_groups if isinstance(learner, RankerMixin) else needs_own_form(learner)


def takes_unjudged(estimator) -> bool:
    """Whether the `fit` of the estimator, or of what a search around it fits, takes NaN labels."""
    inside = estimators_inside(estimator)
    fitted = next((each for each in inside if not isinstance(each, BaseSearchCV)), inside[-1])
    return isinstance(fitted, RankerMixin) and fitted.takes_unjudged


def has_fixed_scale(estimator) -> bool:
    """Whether scores of the estimator fitted on other rows mean the same.

    Probabilities and predicted gains have the scale of what is learned. A ranker learns from the
    order of a query's documents, and no loss says how large its scores should be.
    """
    final = final_step(estimator)
    while isinstance(final, BaseSearchCV):
        final = final_step(final.estimator)
    if isinstance(final, RankerMixin):
        return final.has_fixed_scale
    return is_classifier(final) or group_parameter(final) is None
