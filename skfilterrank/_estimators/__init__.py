"""Code that several estimators share: the ranker mixin, wrappers of estimators, and scores."""
