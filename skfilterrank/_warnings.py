"""Warnings that point at the line of whoever called the package."""

import sys
import warnings
from types import FrameType

from skfilterrank.exceptions import SkfilterrankWarning

_PACKAGE = __name__.partition(".")[0]


def warn_user(text: str, category: type[SkfilterrankWarning]) -> None:
    """Warn the nearest caller outside of the package, however deep this is."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _is_ours(module):
    """Whether a module is the package or a part of it."""
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")
