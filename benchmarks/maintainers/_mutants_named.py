"""Named changes: known faults, each of which a test has to notice.

A file of `mutants_named` has entries

    [[mutant]]
    file = "skfilterrank/_lists/entry_values.py"
    old = "text that stands in the file once"
    new = "text that replaces it"
    tests = ["tests/lists/test_entry_values.py"]
    why = "The fault that follows."
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
HUNG, NOTHING = "hung", "no test ran"


def read_named(folder):
    """Read the entries of all files of the folder, each with the name of its file as `from`."""
    entries = []
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            if lacking := {"file", "old", "new", "tests", "why"} - set(entry):
                raise ValueError(f"{path.name}: an entry lacks {', '.join(sorted(lacking))}")
            entries.append(entry | {"from": path.name})
    return entries


class Failures:
    """A pytest plugin that writes down the tests that fail."""

    def __init__(self, said, first=None, broken=()):
        self.said, self.first, self.broken = said, first, broken

    def pytest_configure(self, config):
        quick_examples()

    def pytest_collection_modifyitems(self, items):
        # A test that noticed the change before runs first.
        items[:] = [item for item in items if item.nodeid not in self.broken]
        items.sort(key=lambda item: item.nodeid != self.first)

    def pytest_runtest_logreport(self, report):
        if report.outcome == "failed":
            self.write(report.nodeid)

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.write(COLLECTION + report.nodeid)

    def write(self, test):
        with self.said.open("a") as file:
            print(test, file=file)


class Named:
    """A copy of the package in which changes are tried."""

    def __init__(self, folder, work):
        self.copy = folder / "skfilterrank"
        shutil.copytree(ROOT / "skfilterrank", self.copy)
        self.said = folder / "said"
        self.noticed_file = work / "named.json"
        self.noticed = (
            json.loads(self.noticed_file.read_text()) if self.noticed_file.exists() else {}
        )
        # Tests that pass without a change, and that do not.
        self.sound, self.broken = set(), set()

    def try_one(self, entry):
        """Find a test that notices a change, or why there is none; return (kind, text)."""
        path = self.copy.parent / entry["file"]
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if text.count(entry["old"]) != 1:
            return "lost", f"its text is in the file {text.count(entry['old'])} times, not once"
        files = [test.partition("::")[0] for test in entry["tests"]]
        if lost := [file for file in files if not (ROOT / file).exists()]:
            return "lost", f"there is no {', '.join(lost)}"
        key = f"{entry['file']}: {entry['old']} -> {entry['new']}"
        try:
            path.write_text(text.replace(entry["old"], entry["new"]), encoding="utf-8")
            found = self.failing([*entry["tests"], "-x"], self.noticed.get(key))
        finally:
            path.write_text(text, encoding="utf-8")
        if not found:
            return "survived", ""
        if found[0] == NOTHING:
            return "lost", "no test ran"
        self.noticed[key] = found[0]
        self.noticed_file.write_text(json.dumps(self.noticed))
        return "dead", found[0]

    def check(self, tests):
        """Run tests without a change, and remember the ones that fail."""
        new = sorted(set(tests) - self.sound - self.broken - {HUNG})
        words = [test.removeprefix(COLLECTION) for test in new]
        failing = set(self.failing(words) if words else ())
        # A file that cannot be collected hides the outcomes of the others.
        if NOTHING in failing or HUNG in failing:
            failing = {test for test, word in zip(new, words) if self.failing([word])}
        self.broken |= failing
        self.sound |= set(new) - failing

    def failing(self, words, first=None):
        """Run pytest with the words; return the tests that fail."""
        self.said.unlink(missing_ok=True)

        def work():
            # Processes that tests start have the change as well.
            os.environ |= {"PYTHONPATH": str(self.copy.parent), "PYTHONSAFEPATH": "1"}
            sys.path.insert(0, str(self.copy.parent))
            return run_pytest([*words, "--timeout=100"], Failures(self.said, first, self.broken))

        outcome = forked(work)
        if outcome == HUNG:
            return [HUNG]
        if self.said.exists():
            return self.said.read_text().splitlines()
        return [] if outcome == "survived" else [NOTHING]


def run_named(folder, work):
    """Try all changes of the folder; return them with outcomes, and how many are not dead."""
    entries = todo = read_named(folder)
    with tempfile.TemporaryDirectory() as temporary:
        named = Named(Path(temporary), work)
        while todo:
            for entry in todo:
                entry["outcome"] = named.try_one(entry)
                print(
                    f"{entry['from']}: {entry['file']}: {': '.join(entry['outcome'])}", flush=True
                )
            dead = [entry for entry in todo if entry["outcome"][0] == "dead"]
            named.check(entry["outcome"][1] for entry in dead)
            # Changes noticed by a test alone that fails without them, too, are tried without it.
            todo = [entry for entry in dead if entry["outcome"][1] in named.broken]
            for entry in todo:
                if entry["outcome"][1].startswith(COLLECTION):
                    entry["outcome"] = ("lost", f"{entry['outcome'][1]} fails without the change")
            todo = [entry for entry in todo if entry["outcome"][0] == "dead"]
        if named.broken:
            print("fail without a change:", *sorted(named.broken), sep="\n  ")
    failed = [entry for entry in entries if entry["outcome"][0] != "dead"]
    print(f"{len(entries) - len(failed)} of {len(entries)} named changes are dead.")
    for entry in failed:
        print(f"{entry['from']}: {entry['file']}: {entry['why']} {': '.join(entry['outcome'])}")
    return [entry | {"outcome": ": ".join(entry["outcome"])} for entry in entries], len(failed)
