"""Versions that tests ask for."""

import sklearn

# Before 1.7 scorers do not ask what the `score` of an estimator wants.
OLD_SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)
