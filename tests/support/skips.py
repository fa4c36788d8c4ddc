"""The last lines of a run say how many tests were skipped, and why."""

from collections import Counter

from public_data import HOW_TO_GET_DATA


def reason_of(report):
    """The reason that a skipped test gives, without the paths of this machine."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


class CountSkips:
    """Count skipped tests by reason."""

    def __init__(self):
        self.reasons = Counter()

    def pytest_runtest_logreport(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            self.reasons[reason_of(report)] += 1

    def pytest_collectreport(self, report):
        if report.skipped:
            self.reasons[reason_of(report)] += 1

    def pytest_terminal_summary(self, terminalreporter):
        if not self.reasons:
            return
        terminalreporter.section("skipped")
        for reason, count in self.reasons.most_common():
            terminalreporter.write_line(f"{count} skipped: {reason}")
        if any(reason.startswith("public data") for reason in self.reasons):
            terminalreporter.write_line(HOW_TO_GET_DATA)
