"""Versions that tests ask for."""

import importlib.util

import pytest
import sklearn

_SKLEARN = tuple(map(int, sklearn.__version__.split(".")[:2]))
# Before 1.7 scorers do not ask what the `score` of an estimator wants.
OLD_SKLEARN = _SKLEARN < (1, 7)
# Before 1.9 scorers ask classifiers alone for probabilities.
SCORERS_WANT_CLASSIFIERS = _SKLEARN < (1, 9)


def _reads_numbers():
    if importlib.util.find_spec("ir_measures") is None:
        return True  # the tests say so themselves
    import ir_measures

    try:
        return bool(ir_measures.parse_measure("P@5"))
    except AttributeError:
        return False


# For tests that hand ir_measures names as text; its measures themselves work everywhere.
names_as_text = pytest.mark.skipif(
    not _reads_numbers(), reason="ir_measures 0.4.3 reads no number of a name on Python 3.14"
)
