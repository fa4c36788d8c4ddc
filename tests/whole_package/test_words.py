"""Docstrings, comments and messages begin plainly; names of classes are unique."""

import ast
import functools
import importlib.util
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(importlib.util.find_spec("skfilterrank").origin).parent
# Words that stand for a noun which the sentence does not have.
STANDS_IN = re.compile(r"(What|Whether|Those|That|Of|The same|Where|How|Who|Which|As)\b")
LONGEST = 25
FILES = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.py"))}
DEFINITIONS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def first_sentence(text):
    return re.split(r"(?<=[.:;])\s", " ".join(text.split()), maxsplit=1)[0]


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
        for name, path in FILES.items()
        for node in ast.walk(tree(path))
        if isinstance(node, DEFINITIONS) and (text := ast.get_docstring(node))
        if not is_plain(text)
    ]
    assert wrong == []


def test_comments():
    wrong = []
    for name, path in FILES.items():
        above = None
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
            if token.type != tokenize.COMMENT:
                continue
            # A comment of several lines begins in its first one.
            is_next = above == token.start[0] - 1
            above = token.start[0]
            if not is_next and STANDS_IN.match(token.string.lstrip("# ")):
                wrong.append(f"{name}:{above} {token.string}")
    assert wrong == []


def beginning(node):
    """The constant text that a string, or an f-string, begins with."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else ""


def test_messages_of_errors():
    wrong = [
        f"{name}:{node.lineno} {beginning(node.exc.args[0])}"
        for name, path in FILES.items()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
        if STANDS_IN.match(beginning(node.exc.args[0]))
    ]
    assert wrong == []


def test_no_two_classes_have_one_name():
    counts = Counter(
        node.name
        for path in FILES.values()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: count for name, count in counts.items() if count > 1} == {}
