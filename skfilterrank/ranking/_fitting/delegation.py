"""What a meta-estimator knows of its features is what the estimator inside knows."""


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
