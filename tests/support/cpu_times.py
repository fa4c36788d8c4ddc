"""The CPU time of each test: a sum in the last lines of a run, and a file of all with an option."""

import json
import resource
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

# CPU time at the end of the phase before, and seconds by phase.
LAST, PHASES = pytest.StashKey(), pytest.StashKey()


def cpu_seconds():
    """CPU time of this process, its threads and the processes that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class CpuTimes:
    """Measure each phase (setup, call, teardown) of each test; `file` gets a line of JSON each."""

    def __init__(self, file):
        self.file = file
        self.times = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Let a worker send one report of a test that passes: six messages take as long as it."""
        config = item.config
        if not hasattr(config, "workerinput") or config.getoption("durations") is not None:
            return None
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        item.stash[LAST], item.stash[PHASES] = cpu_seconds(), {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        # Fixtures that tests share are built in the setup of whichever comes first.
        now = cpu_seconds()
        # pytest-xdist hands attributes of reports on to the process that writes the summary.
        report.cpu_seconds = item.stash.setdefault(PHASES, {})
        report.cpu_seconds[call.when] = round(now - item.stash.get(LAST, now), 5)
        item.stash[LAST] = now
        return report

    def pytest_runtest_logreport(self, report):
        # A worker that died reports nothing of this.
        self.times[report.nodeid] = getattr(report, "cpu_seconds", {})

    def pytest_terminal_summary(self, terminalreporter):
        total = sum(sum(phases.values()) for phases in self.times.values())
        terminalreporter.write_line(f"CPU time of the tests: {total:.0f} s.")
        if self.file:
            lines = (json.dumps({"test": test, **phases}) for test, phases in self.times.items())
            Path(self.file).write_text("\n".join(lines) + "\n", encoding="utf-8")
