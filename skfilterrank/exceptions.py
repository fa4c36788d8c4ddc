"""Exceptions and warnings of the package, and the display of values in their messages."""

import re
import reprlib
from collections.abc import Mapping

__all__ = [
    "DataWarning",
    "DownloadError",
    "FileFormatError",
    "FitWarning",
    "InputError",
    "MissingPackageError",
    "SkfilterrankError",
    "SkfilterrankWarning",
    "UnjudgedWarning",
]

_LONGEST = 80
_MOST = 20


class Message(str):
    """A text that names arguments, which the command line writes as options.

    Parameters
    ----------
    text : str
        The text, with what Python writes in braces, such as "{gains=}" or "{k} must be".
    argument : str or tuple of str, default=()
        What stands in braces: names of arguments, with or without a value, and of functions.
    """

    text: str
    argument: tuple[str, ...]

    def __new__(cls, text, argument=()):
        named = (argument,) if isinstance(argument, str) else tuple(argument)
        self = super().__new__(cls, _filled(text, named, str))
        self.text, self.argument = text, named
        return self

    def written(self, write) -> str:
        """Return the text with `write` applied to each argument in braces."""
        return _filled(self.text, self.argument, write)


def _filled(text, named, write):
    """Replace names in braces."""
    for each in named:
        text = text.replace(f"{{{each}}}", write(each))
    return text


class SkfilterrankError(Exception):
    """Base class of all errors that the package raises on purpose.

    The message names the argument, or the file and line, and says what was expected and what was
    passed. The command line prints the message without a traceback. An error of another class is
    a bug, and is printed with its traceback. Each class is also a built-in error: a wrong value is
    a ValueError (:class:`InputError`), and an argument of a wrong type a TypeError.

    Parameters
    ----------
    *args : str or object
        The message, and what else the error holds.
    argument : str or tuple of str, default=()
        Arguments that the message names, as they stand in braces in it.

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

    def __init__(self, *args, argument=()):
        super().__init__(*([Message(args[0], argument), *args[1:]] if argument else args))


class InputError(SkfilterrankError, ValueError):
    """Invalid value of an argument, or in a column or row of the data."""


class InputTypeError(SkfilterrankError, TypeError):
    """Invalid type of an argument."""


class MissingPackageError(SkfilterrankError, ImportError):
    """Missing optional package; the message names the extra that installs it."""


class DownloadError(SkfilterrankError, OSError):
    """Failed download of a public data set that is not on this machine; no file was written."""


class FileFormatError(InputError):
    """Error in the content of a file.

    The text is ``file:line: message``. The message says what was expected, what the line holds and
    what to do.

    Parameters
    ----------
    message : str
        Description of the problem and the remedy.
    file : str, default=None
        Name of the file.
    line : int, default=None
        Number of the line in the file, from 1. None if the error concerns the whole file.

    Attributes
    ----------
    message, file, line
        Values of the parameters.

    Examples
    --------
    >>> from skfilterrank.exceptions import FileFormatError
    >>> print(FileFormatError("no query id", file="train.txt", line=3))
    train.txt:3: no query id
    """

    def __init__(self, message, file=None, line=None, *, argument=()):
        super().__init__(message, file, line, argument=argument)
        self.message, self.file, self.line = self.args[0], file, line

    def __str__(self):
        place = [str(part) for part in (self.file, self.line) if part is not None]
        return ": ".join([":".join(place), self.message] if place else [self.message])


class MissingValuesError(InputError):
    """Error for systems that have no value for some queries.

    Attributes
    ----------
    lacking : dict of str to tuple
        The queries without a value, by the name of the system. Complete systems are not in it.
    """

    def __init__(self, message, lacking):
        super().__init__(message, lacking)
        self.lacking = lacking

    def __str__(self):
        return self.args[0]


class SkfilterrankWarning(UserWarning):
    """Base class of all warnings of the package.

    Examples
    --------
    >>> import warnings
    >>> from skfilterrank.exceptions import SkfilterrankWarning
    >>> with warnings.catch_warnings():
    ...     # Warnings of the package are errors in this block.
    ...     warnings.simplefilter("error", category=SkfilterrankWarning)
    """


class DataWarning(SkfilterrankWarning):
    """Some data were ignored or treated specially; for example, rows were left out."""


class UnjudgedWarning(DataWarning):
    """Rows or queries without a label were left out, or stay without a label."""


class FitWarning(SkfilterrankWarning):
    """An estimator could not learn something from the training data, or only a part of it."""


class _Shown(reprlib.Repr):
    """repr that stops early, so that the repr of a very large value takes no longer than needed."""

    def __init__(self):
        super().__init__()
        self.maxlevel = 4
        self.maxstring = self.maxother = _LONGEST
        for kind in ("tuple", "list", "array", "dict", "set", "frozenset", "deque"):
            setattr(self, f"max{kind}", 20)

    def repr_int(self, value, level):
        """Return the digits, or the size in bits of an integer that Python refuses to print."""
        try:
            # reprlib of Python 3.14 catches the ValueError itself and returns another text.
            repr(value)
            return super().repr_int(value, level)
        except ValueError:
            return f"<a whole number of {value.bit_length():,} bits>"


_SHOWN = _Shown()
_LINE_END = re.compile(r"\s*\n\s*")


def brief(value) -> str:
    """Return the repr of a value for an error message: one line of at most 80 characters.

    A NumPy scalar is shown like the equal Python value.
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    value = value.item() if kind and kind in "biufUS" and not value.ndim else value
    text = _LINE_END.sub(" ", _SHOWN.repr(value))
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 23]}...{text[-20:]}"


def brief_list(values) -> str:
    """Return a list of values for an error message: the first 20, and the number of the rest."""
    is_mapping = isinstance(values, Mapping)
    items = list(values.items() if is_mapping else values)
    shown = ", ".join(
        ": ".join(map(brief, item)) if is_mapping else brief(item) for item in items[:_MOST]
    )
    return shown if len(items) <= _MOST else f"{shown} and {len(items) - _MOST:,} more"


def did_you_mean(name: str, known, most: int = 3) -> str:
    """Return " Did you mean ...?" for the most similar of the known names, or an empty text."""
    from difflib import get_close_matches  # imported here, since few programs make a mistake

    # Dashes would make all options similar.
    plain = {each.lstrip("-"): each for each in known}
    near = [plain[each] for each in get_close_matches(name.lstrip("-"), list(plain), most)]
    return f" Did you mean {' or '.join(near)}?" if near else ""
