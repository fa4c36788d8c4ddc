"""The CPU time of each test, and the budget that `make test` holds its tests to.

A test may take `CASE` seconds of CPU; one that needs more is marked `nightly`, or made smaller. A
test function whose cases together take more than `FUNCTION` seconds is marked `slow`, so that
`make check` leaves it out.

`pytest --enforce-budget` fails where a test takes more than twice its budget and the time of an
import; the speed of the machine is measured beside the tests. A test that takes longer runs again
by itself, twice in one process, and the second time counts: the first user of a package, and
whoever shares the machine, cannot fail it. `pytest --cpu-times=FILE` writes the CPU time of every
test to a file, a line of JSON each.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest

# Seconds of CPU on the machine where the loop below takes `REFERENCE` seconds.
CASE = 0.5
FUNCTION = 0.06
REFERENCE = 0.050
# Times on shared machines vary by so much; `--enforce-budget` allows for it.
TOLERANCE = 2.0
# Whichever test comes first pays for the import of a package.
IMPORTS = 0.5


def cpu_seconds():
    """CPU time of this process, its threads and the processes that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def reference_seconds():
    """CPU time of a fixed loop, which tells how fast this machine is just now."""
    start = time.process_time()
    total = 0
    for number in range(500_000):
        total += number * number
    return time.process_time() - start


def seconds_alone(functions):
    """CPU seconds of the cases of these test functions, by themselves and in a warm process."""
    twice = "import sys, pytest; pytest.main(sys.argv[1:]); pytest.main(sys.argv[1:])"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "times.jsonl")
        options = ["-q", "--cpu-times", str(file), *functions]
        subprocess.run([sys.executable, "-c", twice, *options], capture_output=True, check=False)
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    lines = map(json.loads, text.splitlines())
    return {line["test"]: line["call"] for line in lines if "call" in line}


class Clock:
    """Add the CPU time of each phase (setup, call, teardown) to its report."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        return (yield from self.timed(item, "setup"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        return (yield from self.timed(item, "call"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        return (yield from self.timed(item, "teardown"))

    def timed(self, item, phase):
        """Run a phase of a test and keep what it took."""
        start = cpu_seconds()
        try:
            return (yield)
        finally:
            item.stash.setdefault(TIMES, {})[phase] = cpu_seconds() - start

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        # pytest-xdist hands attributes of reports on to the process that writes the summary.
        report.cpu_seconds = item.stash.get(TIMES, {}).get(call.when, 0.0)
        report.is_slow = item.get_closest_marker("slow") is not None
        report.is_nightly = item.get_closest_marker("nightly") is not None
        return report


TIMES = pytest.StashKey()


class Budget:
    """Collect the CPU times, write them, and name the tests that are over budget."""

    def __init__(self, config):
        self.is_enforced = config.getoption("enforce_budget")
        self.file = config.getoption("cpu_times")
        self.times = {}
        self.marks = {}
        self.references = []

    def pytest_runtest_logreport(self, report):
        # A worker that died reports nothing of this.
        if not hasattr(report, "cpu_seconds"):
            return
        phases = self.times.setdefault(report.nodeid, {})
        phases[report.when] = phases.get(report.when, 0.0) + report.cpu_seconds
        self.marks[report.nodeid] = (report.is_slow, report.is_nightly)
        # What the tests share with other programs slows this loop down as well.
        if len(self.times) % 500 == 0 and report.when == "call":
            self.references.append(reference_seconds())

    def over_budget(self):
        """The test functions that take more than they may, each with a sentence."""
        slowness = max(1.0, statistics.median(self.references or [REFERENCE]) / REFERENCE)
        functions = Counter()
        for nodeid, phases in self.times.items():
            is_slow, is_nightly = self.marks[nodeid]
            # Fixtures that tests share are built in the setup of whichever comes first.
            seconds = phases.get("call", 0.0)
            if not is_nightly and seconds > (CASE * TOLERANCE + IMPORTS) * slowness:
                yield (
                    nodeid.partition("[")[0],
                    f"{nodeid} took {seconds / slowness:.2f} s of CPU, and a test may take {CASE}: "
                    "make it smaller, or mark it nightly.",
                )
            if not (is_slow or is_nightly):
                functions[nodeid.partition("[")[0]] += seconds
        for name, seconds in functions.items():
            if seconds > (FUNCTION * TOLERANCE + IMPORTS) * slowness:
                yield (
                    name,
                    f"{name} took {seconds / slowness:.2f} s of CPU, and one that `make check` "
                    f"runs may take {FUNCTION}: mark it slow, or make it smaller.",
                )

    def over_budget_alone(self):
        """Sentences about the tests that are over budget by themselves, too."""
        functions = sorted({function for function, _ in self.over_budget()})
        for nodeid, seconds in (seconds_alone(functions) if functions else {}).items():
            if nodeid in self.times:
                phases = self.times[nodeid]
                phases["call"] = min(phases.get("call", seconds), seconds)
        return [sentence for _, sentence in self.over_budget()]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if self.file:
            lines = (
                json.dumps({"test": nodeid, **{k: round(v, 5) for k, v in phases.items()}})
                for nodeid, phases in self.times.items()
            )
            Path(self.file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.found = self.over_budget_alone() if self.is_enforced else []
        if self.found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        total = sum(sum(phases.values()) for phases in self.times.values())
        terminalreporter.write_line(f"CPU time of the tests: {total:.0f} s.")
        if self.found:
            terminalreporter.section("over budget", red=True)
            for sentence in self.found:
                terminalreporter.write_line(sentence)
