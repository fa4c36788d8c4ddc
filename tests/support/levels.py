"""Leave out marked tests before their cases are made, which takes longer than to deselect them."""

import re

import pytest


def left_out(expression):
    """Marks that an expression such as "not slow and not nightly" leaves out."""
    parts = [re.fullmatch(r"not (\w+)", part) for part in expression.split(" and ")]
    return {part[1] for part in parts} if all(parts) else set()


class LeaveOut:
    """Collect no functions and classes with marks that `-m` leaves out.

    A test that is named on the command line is collected, so that pytest says that it is deselected
    and not that there is none.
    """

    def __init__(self, config):
        is_named = any("::" in argument for argument in config.args)
        self.marks = set() if is_named else left_out(config.getoption("markexpr"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector, name, obj):
        if not name.startswith(("test", "Test")):
            return None
        marks = [*getattr(obj, "pytestmark", ()), *collector.iter_markers()]
        return [] if any(mark.name in self.marks for mark in marks) else None
