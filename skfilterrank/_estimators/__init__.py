"""Code that the estimators of all rooms share: the ranker mixin, wrappers, scores of any model."""
