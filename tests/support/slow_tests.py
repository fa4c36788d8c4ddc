"""Which tests are marked slow: those of a list that is measured, not kept by hand.

`pytest --write-slow` (`make slow-list`) writes the list anew: test functions that take longer than
`LIMIT` with all their parameters. Among those that are left, some first do what slow ones did for
them before, such as to start processes: with `-m 'not slow'` these are added.
"""

import re
from collections import defaultdict
from pathlib import Path

import pytest

LIST = Path(__file__).with_suffix(".txt")
# Seconds.
LIMIT = 0.1


def function_of(nodeid):
    """File, class and function of a test, without its parameters."""
    return nodeid.partition("[")[0]


def functions_in(path):
    """Class and function of the tests that stand in a file."""
    owner = ""
    text = path.read_text(encoding="utf-8")
    for indent, kind, name in re.findall(r"^( *)(class|def) (\w+)", text, re.MULTILINE):
        if not indent:
            owner = f"{name}::" if kind == "class" else ""
        if name.startswith("test_"):
            yield owner + name


class MarkSlow:
    """Mark the tests of the list.

    Where they would all be left out, no worker makes their thousands of cases, or imports files
    that have no others.
    """

    def __init__(self, config):
        self.slow = set(LIST.read_text(encoding="utf-8").split())
        self.files = {name.partition("::")[0] for name in self.slow}
        self.is_left_out = config.getoption("markexpr") == "not slow"

    def pytest_ignore_collect(self, collection_path, config):
        if not (self.is_left_out and collection_path.is_relative_to(config.rootpath)):
            return None
        file = collection_path.relative_to(config.rootpath).as_posix()
        if file not in self.files:
            return None
        # None where others may still decide, as pytest wants it.
        return {f"{file}::{name}" for name in functions_in(collection_path)} <= self.slow or None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector, name):
        if self.is_left_out and f"{collector.nodeid}::{name}" in self.slow:
            return []
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_itemcollected(self, item):
        if function_of(item.nodeid) in self.slow:
            item.add_marker("slow")


class WriteSlow:
    """Add up what each test function takes, and write the list; others keep their place in it."""

    def __init__(self):
        self.seconds = defaultdict(float)

    def pytest_runtest_logreport(self, report):
        self.seconds[function_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self, session):
        known = set(LIST.read_text(encoding="utf-8").split()) - self.seconds.keys()
        slow = known | {name for name, seconds in self.seconds.items() if seconds >= LIMIT}
        LIST.write_text("".join(f"{name}\n" for name in sorted(slow)), encoding="utf-8")
