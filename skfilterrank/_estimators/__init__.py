"""Shared code of estimators: the ranker mixin, wrappers of other estimators, and scores."""
