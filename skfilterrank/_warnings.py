"""Warnings that point at the line of whoever called the package."""

import os
import sys
import warnings
from types import FrameType

# joblib and tqdm stand between where they call, or ask for the next of, what they were given.
_PACKAGES = (__name__.partition(".")[0], "joblib", "tqdm")


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn the nearest caller outside of the package, however deep this is."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def overheard(parent: int, function, *arguments) -> tuple:
    """Call a function that may run in another process, whose warnings nobody would hear.

    Parameters
    ----------
    parent : int
        Id of the process that asks. In itself, warnings are heard where they come up.
    function : callable
    *arguments
        What is called, and with what.

    Returns
    -------
    result : object
        What the function returned.
    said : list of (str, type)
        Text and category of the warnings of another process, for `say_again`.
    """
    if os.getpid() == parent:
        return function(*arguments), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments)
    return result, [(str(each.message), each.category) for each in caught]


def say_again(said) -> None:
    """Warn the caller of what was overheard."""
    for text, category in dict.fromkeys(said):
        warn_user(text, category)


def _is_ours(module):
    """Whether a module is the package or a part of it."""
    return module.partition(".")[0] in _PACKAGES
