"""Errors and warnings that a check expects."""

import re
import warnings
from contextlib import contextmanager


@contextmanager
def raises(kind, pattern, what, advice=""):
    """Raise an AssertionError unless an error of the kind, with such a message, comes up inside."""
    advice = advice and f": {advice}"
    try:
        yield
    except Exception as error:
        if not isinstance(error, kind) or not re.search(pattern, str(error)):
            raise AssertionError(
                f"{what}: expected {kind.__name__} with a message that says {pattern!r}, got "
                f"{type(error).__name__}: {error}{advice}"
            ) from error
    else:
        raise AssertionError(f"{what} must raise {kind.__name__}, and did not{advice}")


@contextmanager
def warnings_of():
    """The warnings that come up inside."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
