"""Errors that the package raises on purpose, worded for whoever called it."""

import re
import reprlib

__all__ = ["InputError", "InputTypeError", "MissingPackageError", "SkfilterrankError"]

_LONGEST = 80
_MOST = 20


class SkfilterrankError(Exception):
    """Base of every error that the package raises on purpose.

    Its text names the argument, or the file and line, says what was expected and what came. The
    command line prints it in one line; an error of any other kind is a bug and keeps its
    traceback.

    Examples
    --------
    >>> from skfilterrank.exceptions import SkfilterrankError
    >>> from skfilterrank.metrics import ndcg_f_score
    >>> try:
    ...     ndcg_f_score([1, 0], [0.5, 0.1], groups=["q", "q"], k=0)
    ... except SkfilterrankError as error:
    ...     print(error)
    k must be None (the whole list) or a positive integer, got 0.
    """


class InputError(SkfilterrankError, ValueError):
    """An argument, a column or a row holds a value that cannot be used."""


class InputTypeError(SkfilterrankError, TypeError):
    """An argument is of a type that cannot be used."""


class MissingPackageError(SkfilterrankError, ImportError):
    """A package that only some of the library needs is not installed; the text names the extra."""


class _Shown(reprlib.Repr):
    """repr that stops early, so that a long value costs no more than what is shown of it."""

    def __init__(self):
        super().__init__()
        self.maxlevel = 4
        self.maxstring = self.maxother = _LONGEST
        for kind in ("tuple", "list", "array", "dict", "set", "frozenset", "deque"):
            setattr(self, f"max{kind}", 20)

    def repr_int(self, value, level):
        """Digits, or how many of them there are where Python refuses to write them."""
        try:
            return super().repr_int(value, level)
        except ValueError:
            return f"<a whole number of {value.bit_length():,} bits>"


_SHOWN = _Shown()
_LINE_END = re.compile(r"\s*\n\s*")


def brief(value) -> str:
    """A value as error messages show it: its repr on one line, at most 80 characters of it."""
    text = _LINE_END.sub(" ", _SHOWN.repr(value))
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 23]}...{text[-20:]}"


def brief_list(values) -> str:
    """Values as error messages list them: the first of them, and how many more there are."""
    values = list(values)
    shown = ", ".join(map(brief, values[:_MOST]))
    return shown if len(values) <= _MOST else f"{shown} and {len(values) - _MOST:,} more"
