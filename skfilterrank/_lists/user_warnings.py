"""Warnings that point at the line of whoever called the package."""

import os
import sys
import warnings
from functools import partial
from types import FrameType

from skfilterrank.exceptions import SkfilterrankWarning

# joblib and tqdm stand between where they call, or ask for the next of, what they were given.
_PACKAGES = (__name__.partition(".")[0], "joblib", "tqdm")


def warn_user(text: str, category: type[SkfilterrankWarning]) -> None:
    """Warn the nearest caller outside of the package, however deep this is."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def heard(function):
    """A function that may run in another process, whose warnings nobody would hear.

    Parameters
    ----------
    function : callable
        What another process may call.

    Returns
    -------
    callable
        Called in the same way, it returns what the function returns, and a list of text and
        category of the package's warnings in another process, for `say_again`. In this process,
        where they are heard, the list is empty.
    """
    return partial(_overheard, os.getpid(), function)


def _overheard(parent, function, *arguments):
    if os.getpid() == parent:
        return function(*arguments), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkfilterrankWarning)
        result = function(*arguments)
    said = []
    for each in caught:
        if issubclass(each.category, SkfilterrankWarning):
            said.append((str(each.message), each.category))
        else:
            # Of other packages: as if nobody had listened.
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return result, said


def say_again(said) -> None:
    """Warn the caller of what was overheard."""
    for text, category in dict.fromkeys(said):
        warn_user(text, category)


def _is_ours(module):
    """Whether a module is the package or a part of it."""
    return module.partition(".")[0] in _PACKAGES
