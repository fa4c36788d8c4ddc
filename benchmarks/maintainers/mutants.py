"""Break the package on purpose, one small change at a time, and see whether a test notices.

Cosmic Ray's operators say what to change. Its runner starts Python anew for each change, most of
which time goes into imports; here a process that has imported and collected everything is forked,
the changed function is put in place, and the tests that reach the changed line are run, the
quickest first, until one fails. What runs at import (constants, defaults) is imported anew.

    pip install -e '.[all]' --group mutants
    python benchmarks/maintainers/mutants.py --drawn 50 --minutes 120     # every room
    python benchmarks/maintainers/mutants.py thresholds plot              # two of them
    python benchmarks/maintainers/mutants.py thresholds --survivors --enough 60 --everywhere
    python benchmarks/maintainers/mutants.py --only skfilterrank/_lists/entry_values.py --drawn 0
    python benchmarks/maintainers/mutants.py named         # those of mutants_named/*.toml

A room is a folder of the package with the folder of tests of its name (`_mutants_rooms.py`). The
third command tries again what has survived, by more tests, those of other rooms included. Outcomes
are kept in the folder --work. `mutants_spared.toml` says of survivors why no test could notice
them. Tests that are marked `nightly` do not count.

Of the table that is printed, "changes" are all that Cosmic Ray's operators and three more find in a
room, "tried" those that were drawn of them by chance. "Spared" are survivors with a reason; the
others are the effective ones, and the last column is the share of these that a test noticed. A test
that hangs notices, too.
"""

import argparse
import hashlib
import importlib
import json
import os
import random
import subprocess
import sys
import time
import tomllib
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1"}

from _mutants_changes import ROOT, drawn_mutants
from _mutants_named import run_named
from _mutants_rooms import rooms
from _mutants_runner import Changed, Runner, forked, run_pytest

HERE = Path(__file__).parent


class Room:
    """Tries changes of one room and keeps the outcomes."""

    def __init__(self, name, options):
        self.name, self.options = name, options
        self.paths, self.tests = rooms()[name]
        if options.everywhere:
            self.tests = ["tests"]
        self.outcomes_file = options.work / f"{name}.jsonl"
        self.count_file = options.work / f"{name}.count"
        where = "everywhere.trace" if options.everywhere else "trace"
        self.trace_file = options.work / f"{name}.{where}"

    def run(self, deadline):
        """Draw changes and try those whose outcome is not known."""
        self.forget_old_trace()
        only = [str(path) for path in self.options.only if str(path) in self.paths]
        mutants, n_changes = drawn_mutants(
            only or self.paths, self.options.drawn or None, self.options.seed
        )
        if not only:
            self.count_file.write_text(str(n_changes))
        known = self.known_outcomes()
        # Files that are named are no fair sample of the room.
        is_sample = {key: entry["is_sample"] for key, entry in known.items()}
        is_sample |= {mutant.key: not only or is_sample.get(mutant.key) for mutant in mutants}
        wanted = self.wanted(mutants, known)
        print(f"{self.name}: {len(wanted)} of {len(mutants)} changes to try", flush=True)
        self.write(entry | {"is_sample": is_sample[key]} for key, entry in known.items())
        if wanted:
            self.try_all(wanted, is_sample, deadline)

    def forget_old_trace(self):
        """Forget which lines tests reach where lines or tests have changed."""
        text = hashlib.sha256()
        tests = (path for each in self.tests for path in (ROOT / each).rglob("*.py"))
        support = (ROOT / "tests" / "support").rglob("*.py")
        for path in sorted({*(ROOT / path for path in self.paths), *tests, *support}):
            text.update(path.read_bytes())
        state = self.trace_file.with_suffix(".state")
        is_old = not state.exists() or state.read_text() != text.hexdigest()
        if is_old or self.options.retrace:
            self.trace_file.unlink(missing_ok=True)
        state.write_text(text.hexdigest())

    def known_outcomes(self):
        """Outcomes of before, without those of lines that are no more."""
        outcomes = read_outcomes(self.outcomes_file)
        return {key: entry for key, entry in outcomes.items() if is_current(key)}

    def write(self, entries):
        """Keep outcomes in place of those of before."""
        self.outcomes_file.write_text("".join(f"{json.dumps(each)}\n" for each in entries))

    def wanted(self, mutants, known):
        """The changes to try."""
        if not self.options.survivors:
            # What no test reached may be reached by now, or run at import.
            return [m for m in mutants if outcome_of(known, m.key) in (None, "unreached")]
        spared = spared_changes()
        alive = {key for key, entry in known.items() if is_alive(entry)} - set(spared)
        # Those of other draws are looked for among all.
        found = {mutant.key: mutant for mutant in mutants}
        lost = {known[key]["path"] for key in alive - set(found)}
        for path in lost if not self.options.only else ():
            found |= {mutant.key: mutant for mutant in drawn_mutants([path], None)[0]}
        return [found[key] for key in sorted(alive & set(found))]

    def try_all(self, mutants, is_sample, deadline):
        """Try changes of functions in forks of one process, others in processes of their own."""
        commit = commit_now()

        def record(mutant, outcome, seconds):
            entry = {"key": mutant.key, "path": mutant.path, "outcome": outcome, "commit": commit}
            entry |= {"seconds": round(seconds, 2), "is_sample": bool(is_sample[mutant.key])}
            with self.outcomes_file.open("a") as file:
                print(json.dumps(entry), file=file)

        common = (self.paths, record, self.trace_file, self.options.enough, deadline)

        def anew(mutant):
            if mutant is None:
                return run_pytest(self.tests, Runner(None, *common))
            sys.meta_path.insert(0, Changed(mutant))
            runner = Runner(None, *common, mutant.path)
            return run_pytest(runner.files(self.tests), runner)

        at_import = [m for m in mutants if m.runs_at_import()]
        in_functions = [m for m in mutants if not m.runs_at_import()]
        pid = os.fork()
        if not pid:
            os._exit(run_pytest(self.tests, Runner(in_functions, *common)))
        os.waitpid(pid, 0)
        if not self.trace_file.exists():
            raise RuntimeError(f"{self.name}: the tests did not run")
        if at_import and forked(lambda: anew(None)) != "survived":
            raise RuntimeError(f"{self.name}: tests fail without a change")
        # Functions that no test reaches may have run at import as well.
        tried = read_outcomes(self.outcomes_file)
        at_import += [m for m in in_functions if outcome_of(tried, m.key) == "unreached"]
        # Of these, some seconds each, a part is a random sample.
        random.Random(0).shuffle(at_import)
        for mutant in at_import:
            if time.monotonic() > deadline:
                break
            begin = time.time()
            record(mutant, forked(lambda m=mutant: anew(m)), time.time() - begin)

    def figures(self):
        """What is known, for the report."""
        outcomes = read_outcomes(self.outcomes_file)
        # What no test reached waits for a run that imports it changed.
        outcomes = {
            key: entry
            for key, entry in outcomes.items()
            if entry["is_sample"] and entry["outcome"] != "unreached"
        }
        if not outcomes or not self.count_file.exists():
            return None
        return {
            "changes": int(self.count_file.read_text()),
            "tried": len(outcomes),
            "alive": sorted(key for key, entry in outcomes.items() if is_alive(entry)),
            "commit": list(outcomes.values())[-1]["commit"],
        }


def commit_now():
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.check_output(command, text=True).strip()


def is_current(key):
    """Tell whether the line of a change is still in its file."""
    path, _, rest = key.partition(": ")
    before = rest.partition(": ")[2].rpartition("  ->  ")[0]
    file = ROOT / path
    return file.exists() and before in {line.strip() for line in file.read_text().splitlines()}


def is_alive(entry):
    return entry["outcome"] not in ("killed", "hung")


def outcome_of(outcomes, key):
    return outcomes[key]["outcome"] if key in outcomes else None


def read_outcomes(file):
    """The last outcome of each change."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def spared_changes():
    """The changes that no test need notice, and why."""
    spared = tomllib.loads((HERE / "mutants_spared.toml").read_text())["spared"]
    return {key: each["reason"] for each in spared for key in each["mutants"]}


def report(figures):
    """Shares of each room, the named changes, and the survivors without a reason why they may."""
    reasons = spared_changes()
    table = ["| room | changes | tried | dead | spared | alive | dead of the effective | commit |"]
    table += ["| --- " * 8 + "|"]
    survivors, total = [], [0] * 5
    for room, each in figures["rooms"].items():
        alive = [key for key in each["alive"] if key not in reasons]
        survivors += alive
        n_dead = each["tried"] - len(each["alive"])
        n_spared = len(each["alive"]) - len(alive)
        row = [each["changes"], each["tried"], n_dead, n_spared, len(alive)]
        total = [sum(pair) for pair in zip(total, row)]
        table.append(line_of(room, row, each["commit"]))
    table.append(line_of("**all**", total, ""))
    lines = [*table, "", "## Survivors that are not spared", ""]
    lines += [f"* `{key.removeprefix('skfilterrank/')}`" for key in survivors]
    if "named" not in figures:
        return "\n".join(lines)
    lines += ["", "## Named changes", ""]
    lines += ["Faults that a test once did not notice, in `mutants_named`, tried as they stand."]
    named = figures["named"]
    lines += [f"Commit: {named['commit']}.", "", "| file | what it does | outcome |"]
    lines += ["| --- " * 3 + "|"]
    for each in named["changes"]:
        file = each["file"].removeprefix("skfilterrank/")
        cells = (text.replace("|", "\\|") for text in (file, each["why"], each["outcome"]))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def line_of(name, row, commit):
    """A row of the table."""
    n_dead, n_alive = row[2], row[4]
    share = f"{n_dead / (n_dead + n_alive):.1%}" if n_dead + n_alive else ""
    return f"| {' | '.join(map(str, [name, *row, share, commit]))} |"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "rooms", nargs="*", metavar="ROOM", help="default: all; `named`: mutants_named/*.toml"
    )
    parser.add_argument("--drawn", type=int, default=50, help="changes of each room; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    parser.add_argument("--only", type=Path, action="append", default=[], help="a file to break")
    parser.add_argument("--survivors", action="store_true", help="only what survived before")
    parser.add_argument("--everywhere", action="store_true", help="by the tests of all rooms")
    parser.add_argument("--enough", type=float, default=5, help="seconds of tests to survive")
    parser.add_argument("--retrace", action="store_true", help="see anew which lines tests reach")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop in this time")
    parser.add_argument("--work", type=Path, default=Path("/tmp/skfilterrank-mutants"))
    options = parser.parse_args()
    known = rooms()
    names = [name for name in options.rooms if name != "named"]
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no rooms: {', '.join(unknown)}; there are {', '.join(known)}")
    owners = {path: room for room, (paths, _) in known.items() for path in paths}
    if lost := [str(path) for path in options.only if str(path) not in owners]:
        parser.error(f"no files of the package: {', '.join(lost)}")
    if options.only:
        names = sorted({owners[str(path)] for path in options.only})
    options.names = names if names or "named" in options.rooms else list(known)
    options.with_named = "named" in options.rooms
    return options


def main():
    options = parse()
    options.work.mkdir(exist_ok=True, parents=True)
    begin, figures = time.monotonic(), {"rooms": {}}
    os.chdir(ROOT)
    # What the package imports, so that a fork has it.
    for package in ("lightgbm", "pandas", "scipy.stats", "sklearn.ensemble"):
        importlib.import_module(package)
    n_failed = 0
    if options.with_named:
        named, n_failed = run_named(HERE / "mutants_named", options.work)
        figures["named"] = {"changes": named, "commit": commit_now()}
    sys.path.insert(0, str(ROOT))
    for place, name in enumerate(options.names):
        room = Room(name, options)
        left = 60 * options.minutes - (time.monotonic() - begin)
        # What a room leaves of its share is that of the others.
        room.run(time.monotonic() + left / (len(options.names) - place))
        if found := room.figures():
            figures["rooms"][name] = found
    if not figures["rooms"] and "named" not in figures:
        print("nothing has been tried")
    else:
        print(report(figures))
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
