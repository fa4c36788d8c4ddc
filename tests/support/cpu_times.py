"""The CPU time of each test: a sum in the last lines of a run, and a file of all with an option."""

import json
import resource
from pathlib import Path

import pytest

TIMES = pytest.StashKey()


def cpu_seconds():
    """CPU time of this process, its threads and the processes that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class CpuTimes:
    """Measure each phase (setup, call, teardown) of each test; `file` gets a line of JSON each."""

    def __init__(self, file):
        self.file = file
        self.times = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        # Fixtures that tests share are built in the setup of whichever comes first.
        now = cpu_seconds()
        # pytest-xdist hands attributes of reports on to the process that writes the summary.
        report.cpu_seconds = now - item.stash.get(TIMES, now)
        item.stash[TIMES] = now
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        item.stash[TIMES] = cpu_seconds()

    def pytest_runtest_logreport(self, report):
        # A worker that died reports nothing of this.
        seconds = getattr(report, "cpu_seconds", 0.0)
        self.times.setdefault(report.nodeid, {})[report.when] = round(seconds, 5)

    def pytest_terminal_summary(self, terminalreporter):
        total = sum(sum(phases.values()) for phases in self.times.values())
        terminalreporter.write_line(f"CPU time of the tests: {total:.0f} s.")
        if self.file:
            lines = (json.dumps({"test": test, **phases}) for test, phases in self.times.items())
            Path(self.file).write_text("\n".join(lines) + "\n", encoding="utf-8")
