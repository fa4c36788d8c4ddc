"""Docstrings, comments and messages begin plainly; names of classes are unique."""

import ast
import functools
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

from count_docstrings import first_sentence, has_verb, statements, without_verb

pytestmark = pytest.mark.slow

ROOT = Path(importlib.util.find_spec("skfilterrank").origin).parent
# Words that stand for a noun which the sentence does not have.
WORDS = r"(What|Whether|Those|That|Of|The same|Where|How|Who|Which|As)\b"
STANDS_IN = re.compile(WORDS)
LONGEST = 25
FILES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.rglob("*.py"))
}
DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@functools.cache
def trees():
    """The syntax tree of every file: to parse them takes a second."""
    return {name: ast.parse(text) for name, text in FILES.items()}


def is_plain(text):
    sentence = first_sentence(text)
    return not STANDS_IN.match(sentence) and len(sentence.split()) <= LONGEST


def test_riddles_are_found():
    assert not is_plain("What a block costs.")
    assert not is_plain("word " * (LONGEST + 1))
    assert is_plain("Cost of a block.")
    assert is_plain("Asks for labels.")


def test_docstrings():
    wrong = [
        f"{name}:{node.body[0].lineno} {text.splitlines()[0]}"
        for name, tree in trees().items()
        for node in statements(tree)
        if isinstance(node, DEFINITIONS) and (text := ast.get_docstring(node, clean=False))
        if not is_plain(text)
    ]
    assert wrong == []


def test_docstrings_of_functions_begin_with_a_verb():
    """Others may add a verb to the list in tests/support/count_docstrings.py."""
    assert has_verb("Return the number of a list.")
    assert has_verb("Number the lists.")
    assert not has_verb("Number of a list.")
    assert not has_verb("Mean over the lists.")
    assert {name: wrong for name, tree in trees().items() if (wrong := without_verb(tree))} == {}


def matches(pattern):
    """Where a pattern stands in the package."""
    return [
        f"{name}: {found[0]}"
        for name, text in FILES.items()
        for found in re.finditer(pattern, text)
    ]


# A comment of several lines begins in its first one.
COMMENT = rf"(?m)^(?! *#).*\n *#[ #]*{WORDS}.*|^ *[^#\s].* # {WORDS}.*"
MESSAGE = rf'raise [\w.]+\(\s*f?"{WORDS}.*'


def test_comments_and_messages_of_errors():
    assert re.search(COMMENT, "x = 1\n    # What it costs.\n")
    assert re.search(COMMENT, "x = 1  # What it costs.\n")
    assert not re.search(COMMENT, "# It costs\n# What it costs.\n")
    assert re.search(MESSAGE, 'raise InputError(\n    f"Of {x} too few"\n)')
    assert matches(COMMENT) == matches(MESSAGE) == []


def test_no_two_classes_have_one_name():
    counts = Counter(
        name for text in FILES.values() for name in re.findall(r"(?m)^ *class (\w+)", text)
    )
    assert {name: count for name, count in counts.items() if count > 1} == {}
