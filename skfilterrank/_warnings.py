"""Warnings that point at the line of whoever called the package."""

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn the nearest caller outside of the package, however deep this is."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def overheard(function, *arguments, **keywords) -> tuple:
    """Call a function and keep its warnings, which another process would tell to nobody.

    Returns
    -------
    result : object
        What the function returned.
    said : list of (str, type)
        Text and category of its warnings, for `say_again`.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **keywords)
    return result, [(str(each.message), each.category) for each in caught]


def say_again(said) -> None:
    """Warn the caller of what was overheard."""
    for text, category in dict.fromkeys(said):
        warn_user(text, category)


def _is_ours(module):
    """Whether a module is the package or a part of it."""
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")
