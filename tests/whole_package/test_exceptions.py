"""What errors are, and how they show values."""

import ast
import builtins
import contextlib
import functools
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skfilterrank
from skfilterrank import exceptions
from skfilterrank.exceptions import (
    InputError,
    InputTypeError,
    MissingPackageError,
    SkfilterrankError,
    brief,
    brief_list,
)

PACKAGE = Path(skfilterrank.__file__).parent
# What Python itself asks for by these names.
OF_PYTHON = {"AttributeError", "IndexError", "NotImplementedError", "EOFError", "AssertionError"}
OF_PYTHON |= {"FileNotFoundError", "IsADirectoryError", "PermissionError", "OSError"}
OF_PYTHON |= {"KeyboardInterrupt", "SystemExit"}
# What scikit-learn raises in its own requests while metadata routing is off.
OF_PYTHON |= {"RuntimeError"}


@pytest.mark.parametrize("value", ["a" * 1000, list(range(1000)), np.arange(5000.0), {1: "b" * 90}])
def test_long_values_are_cut(value):
    text = brief(value)
    assert len(text) <= 80
    assert text[:10] == repr(value)[:10]
    assert "..." in text


@pytest.mark.parametrize("value", ["id", 3, -0.5, None, ["a", "b"], {"k": 1}, (1,)])
def test_short_values_are_shown_whole(value):
    assert brief(value) == repr(value)


@pytest.mark.parametrize("value", [np.int64(3), np.float64(0.5), np.str_("a"), np.bool_(True)])
def test_scalars_of_numpy_are_shown_like_those_of_python(value):
    assert brief(value) == repr(value.item())


def test_a_value_is_one_line():
    assert "\n" not in brief(pd.DataFrame({"a": [1, 2]}))


def test_numbers_of_more_digits_than_python_writes():
    assert brief(10**5000) == "<a whole number of 16,610 bits>"


def test_a_repr_that_raises_is_no_second_error():
    class Odd:
        def __repr__(self):
            raise RuntimeError

    assert "Odd" in brief(Odd())


@pytest.mark.parametrize(
    ("ours", "builtin"),
    [(InputError, ValueError), (InputTypeError, TypeError), (MissingPackageError, ImportError)],
)
def test_errors_are_what_python_programs_expect(ours, builtin):
    error = pickle.loads(pickle.dumps(ours("k must be positive")))
    assert isinstance(error, builtin)
    assert isinstance(error, SkfilterrankError)
    assert str(error) == "k must be positive"


@functools.cache
def texts():
    """The text of every file of the package."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def raised_names():
    """Every name of a class of Python that the package raises, with its place."""
    for path, text in texts().items():
        # A statement begins a line, as ruff keeps them; to parse all files takes a second.
        for found in re.finditer(r"^ *raise (\w+)\(", text, re.MULTILINE):
            if hasattr(builtins, found[1]):
                line = text.count("\n", 0, found.start()) + 1
                yield found[1], f"{path.relative_to(PACKAGE)}:{line}"


def test_what_is_worded_for_users_is_raised_as_our_own():
    # An import of a name or a module that is not there is Python's own error, said better.
    raised = list(raised_names())
    strays = [
        place
        for name, place in raised
        if name not in OF_PYTHON
        and not (name.endswith(("ImportError", "ModuleNotFoundError")) and "_names" in place)
    ]
    assert strays == []
    assert "AttributeError" in {name for name, _ in raised}


def test_lists_are_cut():
    assert brief_list(["a", 3]) == "'a', 3"
    assert brief_list([]) == ""
    assert brief_list(range(20)).endswith(", 19")
    assert brief_list(f"c{i}" for i in range(2021)).endswith(", 'c19' and 2,001 more")
    assert brief_list({"a": np.int64(1), 2: np.str_("b")}) == "'a': 1, 2: 'b'"
    assert len(brief_list(["x" * 10**6] * 10**3)) < 2000


@pytest.mark.slow
def test_warnings_have_a_kind_of_our_own():
    kinds = {name for name in exceptions.__all__ if name.endswith("Warning")}
    said = []
    for path, text in texts().items():
        if path.name == "words.py":
            continue
        assert "warnings.warn(" not in text, path
        for found in re.finditer(r"\bwarn_user\(", text):
            # The call alone: to parse all files takes a second.
            said.append(second_argument(text[found.start() :]))
            assert said[-1] in kinds, path
    assert len(said) > 10


def second_argument(text):
    """The second argument of the call that a text begins with."""
    end = -1
    while (end := text.find(")", end + 1)) >= 0:
        with contextlib.suppress(SyntaxError):
            return ast.unparse(ast.parse(text[: end + 1]).body[0].value.args[1])
    raise ValueError(text[:80])
