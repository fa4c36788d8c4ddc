"""Versions that tests ask for."""

import sklearn

_SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))
# Before 1.7 scorers do not ask what the `score` of an estimator wants.
OLD_SKLEARN = _SKLEARN < (1, 7)
# Before 1.9 scorers ask classifiers alone for probabilities.
SCORERS_WANT_CLASSIFIERS = _SKLEARN < (1, 9)
