"""Changes that are written down: known faults, each of which a test has to notice.

A file of `mutants_named` has entries

    [[mutant]]
    file = "skfilterrank/stream/_moments.py"
    old = "text that stands in the file once"
    new = "what stands there instead"
    tests = ["tests/stream/test_moments.py"]
    why = "What goes wrong then."
"""

import json
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from _mutants_changes import ROOT
from _mutants_runner import forked, quick_examples, run_pytest

COLLECTION = "collection of "


def read_named(folder):
    """The entries of all files of the folder, each with the name of its file as `from`."""
    entries = []
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            if lacking := {"file", "old", "new", "tests", "why"} - set(entry):
                raise ValueError(f"{path.name}: an entry lacks {', '.join(sorted(lacking))}")
            entries.append(entry | {"from": path.name})
    return entries


class UntilOneFails:
    """Runs the collected tests until one fails, and writes down which."""

    def __init__(self, said, first, broken):
        self.said, self.first, self.broken = said, first, broken

    def pytest_configure(self, config):
        quick_examples()

    def pytest_collection_modifyitems(self, items):
        # A test that has noticed the change before is asked first.
        items[:] = [item for item in items if item.nodeid not in self.broken]
        items.sort(key=lambda item: item.nodeid != self.first)

    def pytest_runtest_logreport(self, report):
        if report.outcome == "failed":
            self.said.write_text(report.nodeid)

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.said.write_text(COLLECTION + report.nodeid)


class Named:
    """Tries changes in a copy of the package."""

    def __init__(self, folder, work):
        self.copy = folder / "skfilterrank"
        shutil.copytree(ROOT / "skfilterrank", self.copy)
        self.said = folder / "said"
        self.noticed_file = work / "named.json"
        self.noticed = (
            json.loads(self.noticed_file.read_text()) if self.noticed_file.exists() else {}
        )
        self.sound, self.broken = set(), set()

    def outcome(self, entry):
        """Who noticed a change, or that nobody did."""
        path = self.copy.parent / entry["file"]
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text.count(entry["old"]) != 1:
            return f"lost: its text is in the file {text.count(entry['old'])} times, not once"
        if lost := [
            test for test in entry["tests"] if not (ROOT / test.partition("::")[0]).exists()
        ]:
            return f"lost: there is no {', '.join(lost)}"
        key = f"{entry['file']}: {entry['old']} -> {entry['new']}"
        try:
            path.write_text(text.replace(entry["old"], entry["new"]), encoding="utf-8")
            while True:
                test = self.failing(entry["tests"], self.noticed.get(key))
                if test is None:
                    return "survived"
                if test == "no test ran":
                    return f"lost: {test}"
                if self.is_sound(test, path, text):
                    self.noticed[key] = test
                    self.noticed_file.write_text(json.dumps(self.noticed))
                    return f"dead: {test}"
                if test.startswith(COLLECTION):
                    return f"lost: {test} fails without the change"
                self.broken.add(test)
                path.write_text(text.replace(entry["old"], entry["new"]), encoding="utf-8")
        finally:
            path.write_text(text, encoding="utf-8")

    def is_sound(self, test, path, text):
        """Tell whether a test passes without the change."""
        if test == "hung" or test in self.sound:
            return True
        path.write_text(text, encoding="utf-8")
        words = [test]
        if test.startswith(COLLECTION):
            words = [test.removeprefix(COLLECTION), "--collect-only"]
        if self.failing(words, None) is None:
            self.sound.add(test)
        return test in self.sound

    def failing(self, tests, first):
        """The first of the tests that fails, or None."""
        self.said.unlink(missing_ok=True)

        def work():
            # Processes that tests start have the change as well.
            os.environ |= {"PYTHONPATH": str(self.copy.parent), "PYTHONSAFEPATH": "1"}
            sys.path.insert(0, str(self.copy.parent))
            plugin = UntilOneFails(self.said, first, self.broken)
            return run_pytest([*tests, "-x", "--timeout=100"], plugin)

        outcome = forked(work)
        if outcome == "hung":
            return outcome
        if self.said.exists():
            return self.said.read_text()
        return None if outcome == "survived" else "no test ran"


def run_named(folder, work):
    """Try all of the folder; the entries with their outcomes, and how many are not dead."""
    entries = read_named(folder)
    with tempfile.TemporaryDirectory() as temporary:
        named = Named(Path(temporary), work)
        for entry in entries:
            entry["outcome"] = named.outcome(entry)
            print(f"{entry['from']}: {entry['file']}: {entry['outcome']}", flush=True)
        if named.broken:
            print("fail without a change:", *sorted(named.broken), sep="\n  ")
    failed = [entry for entry in entries if not entry["outcome"].startswith("dead")]
    print(f"{len(entries) - len(failed)} of {len(entries)} named changes are dead.")
    for entry in failed:
        print(f"{entry['file']}: {entry['why']} {entry['outcome']}")
    return entries, len(failed)
