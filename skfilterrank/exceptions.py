"""Errors that the package raises on purpose, worded for its callers, and its warnings."""

import re
import reprlib
from collections.abc import Mapping

__all__ = [
    "DataWarning",
    "DownloadError",
    "FileFormatError",
    "FitWarning",
    "InputError",
    "JudgmentLogError",
    "MissingPackageError",
    "SkfilterrankError",
    "SkfilterrankWarning",
    "UnjudgedWarning",
]

_LONGEST = 80
_MOST = 20


class SkfilterrankError(Exception):
    """Base of every error that the package raises on purpose.

    Its text names the argument, or the file and line, says what was expected and what came. The
    command line prints it in one line; an error of any other kind is a bug and keeps its
    traceback. Each is also one of Python's own errors: a wrong value is a ValueError
    (:class:`InputError`), and an argument of a wrong type a TypeError.

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


class DownloadError(SkfilterrankError, OSError):
    """A public data set is not on this machine and could not be fetched; nothing was written."""


class FileFormatError(InputError):
    """A file does not hold what its format promises.

    Its text reads ``file:line: message``, where the message says what was expected, what came
    and what to do.

    Parameters
    ----------
    message : str
        Description of the problem and the remedy.
    file : str, default=None
        Name of the file.
    line : int, default=None
        Number of the line in the file, from 1. None where the file as a whole is wrong.

    Attributes
    ----------
    message, file, line
        The parameters.

    Examples
    --------
    >>> from skfilterrank.exceptions import FileFormatError
    >>> print(FileFormatError("no query id", file="train.txt", line=3))
    train.txt:3: no query id
    """

    def __init__(self, message, file=None, line=None):
        super().__init__(message, file, line)
        self.message, self.file, self.line = message, file, line

    def __str__(self):
        place = [str(part) for part in (self.file, self.line) if part is not None]
        return ": ".join([":".join(place), self.message] if place else [self.message])


class JudgmentLogError(FileFormatError):
    """A judgment log that is damaged, belongs to another pool, or is in use.

    Its text reads ``file:line: message``.

    Parameters
    ----------
    message : str
        Description of the problem and the remedy.
    file : str
        Name of the file.
    line : int, default=None
        Number of the line, from 1. None where the file as a whole is wrong.
    judgments : DataFrame, default=None
        What the lines before it hold, columns as :func:`skfilterrank.judgments.judge` returns.

    Attributes
    ----------
    message, file, line, judgments
        The parameters.
    """

    def __init__(self, message, file, line=None, judgments=None):
        super().__init__(message, file, line)
        self.args = (message, file, line, judgments)
        self.judgments = judgments


class MissingValuesError(InputError):
    """Systems have no value for some queries.

    Attributes
    ----------
    lacking : dict of str to list
        The queries without a value of each system that lacks some.
    """

    def __init__(self, message, lacking):
        super().__init__(message, lacking)
        self.lacking = lacking

    def __str__(self):
        return self.args[0]


class SkfilterrankWarning(UserWarning):
    """Base of every warning that the package gives.

    Examples
    --------
    >>> import warnings
    >>> from skfilterrank.exceptions import SkfilterrankWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", category=SkfilterrankWarning)  # now they are errors
    """


class DataWarning(SkfilterrankWarning):
    """Some data were ignored or treated specially: rows are left out, queries are cut."""


class UnjudgedWarning(DataWarning):
    """Rows or queries without a label are left out, or stay without one."""


class FitWarning(SkfilterrankWarning):
    """A model learned less than was asked for, or nothing."""


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
            # Python 3.14 would say so in its own words.
            repr(value)
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
    is_mapping = isinstance(values, Mapping)
    items = list(values.items() if is_mapping else values)
    shown = ", ".join(
        ": ".join(map(_brief_scalar, item)) if is_mapping else _brief_scalar(item)
        for item in items[:_MOST]
    )
    return shown if len(items) <= _MOST else f"{shown} and {len(items) - _MOST:,} more"


def _brief_scalar(value):
    """A number or text of numpy's as Python writes it."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return brief(value.item() if kind and kind in "biufUS" and not value.ndim else value)
