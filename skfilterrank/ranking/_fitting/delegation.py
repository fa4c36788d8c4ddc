"""What a meta-estimator knows of its features, and asks for, is what the estimator inside does."""

from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping


class FeaturesOfInner:
    """The features of the fitted estimator inside, where it knows them."""

    def _fitted_inner(self):
        """The fitted estimator that is asked, or None."""
        return getattr(self, "estimator_", None)

    @property
    def n_features_in_(self):
        """Number of features the estimator was fitted on."""
        return self._of_inner("n_features_in_")

    @property
    def feature_names_in_(self):
        """Names of the features the estimator was fitted on."""
        return self._of_inner("feature_names_in_")

    def _of_inner(self, name):
        """An attribute of the fitted estimator inside."""
        inner = self._fitted_inner()
        if inner is None:
            raise AttributeError(f"{type(self).__name__} has no fitted estimator: no {name}.")
        return getattr(inner, name)


class FitsInner(FeaturesOfInner):
    """A meta-estimator that fits the `estimator` it is given, on features that this one takes."""

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
                estimator=self.estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.string = inner.input_tags.string
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.required = True
        tags.non_deterministic = inner.non_deterministic
        return tags
