"""Which tests are marked slow: those of a list that is measured, not kept by hand.

`pytest --write-slow` (`make slow-list`) writes the list anew: test functions that take longer than
`LIMIT` with all their parameters.
"""

from collections import defaultdict
from pathlib import Path

import pytest

LIST = Path(__file__).with_suffix(".txt")
# Seconds.
LIMIT = 0.15


def function_of(nodeid):
    """File, class and function of a test, without its parameters."""
    return nodeid.partition("[")[0]


class MarkSlow:
    """Mark the tests of the list."""

    def __init__(self, config):
        self.slow = set(LIST.read_text(encoding="utf-8").split())
        self.is_left_out = config.getoption("markexpr") == "not slow"

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector, name):
        """Make none of the thousands of cases that every worker would make to leave them out."""
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
