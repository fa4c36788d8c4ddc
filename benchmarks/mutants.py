"""Break the package on purpose, one small change at a time, and see whether a test notices.

Cosmic Ray's operators say what to change. Its runner starts Python anew for each change, most of
which time goes into imports; here a process that has imported and collected everything is forked,
the changed function is put in place, and the tests that reach the changed line are run, the
quickest first, until one fails. What runs at import (constants, defaults) is imported anew.

    pip install -e '.[mutants]'
    python benchmarks/mutants.py             # everything; hours on one processor
    python benchmarks/mutants.py threshold   # one group, see GROUPS
    python benchmarks/mutants.py threshold --survivors --retrace --enough 60

The last command tries again what has survived, by more tests and those that are new. Outcomes are
kept in the folder --work, and the report is made of all that are there. `mutants_spared.toml` says
of survivors why no test could notice them.
"""

import argparse
import importlib
import json
import os
import random
import subprocess
import sys
import time
import tomllib
from datetime import date
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1"}

from _common import write_report
from _mutants_changes import ROOT, mutants_of
from _mutants_runner import Changed, Runner, forked, run_pytest

HERE = Path(__file__).parent
TITLE = "Changes of the code that no test notices"
INTRODUCTION = """
`python benchmarks/mutants.py` makes one small change at a time, such as `<` for `<=`, a constant
off by one, a tolerance gone, and runs the tests that reach the line until one fails. "Changes" are
all that Cosmic Ray's operators and three more find in a file, "tried" those that were: all, 25 of
a file, or, of what runs at import, which takes long, as many as there was time for. "Spared" are
survivors for which `mutants_spared.toml` gives the reason why no test should notice them. A test
that hangs notices, too.

A survivor has survived the quickest tests that reach it, some seconds of them: others may notice it
(`--survivors --enough 60` says which).

"""
RANKING, FILTERING = "skfilterrank/ranking", "skfilterrank/ranking/_filtering"
OF_MEASURES = ("additive", "exposure", "lists", "long_ties", "measure", "measure_docs")
OF_MEASURES += ("measure_names", "relevant_cells", "scoring", "ties")
TESTS_OF_RANKING = "tests/ranking/test_{}.py"
THRESHOLDS = ("threshold", "risk", "risk_bounds", "risk_steps", "per_query")
WITH_MODELS = ("rank_and_filter", "rank_and_filter_input")
MODELS = ("_calibration", "_lambdarank")
# Files to break, the tests that should notice, and how many changes of each file are drawn.
GROUPS = {
    "threshold": (
        [
            "skfilterrank/_core/measure_steps.py",
            *(f"{FILTERING}/{name}.py" for name in THRESHOLDS),
        ],
        [*map(TESTS_OF_RANKING.format, ("threshold", "risk", "per_query", *WITH_MODELS))],
        None,
    ),
    "significance": (["skfilterrank/comparison/_significance"], ["tests/comparison"], None),
    "metrics": (
        ["skfilterrank/metrics", *(f"skfilterrank/_core/{name}.py" for name in OF_MEASURES)],
        ["tests/metrics", "tests/whole_package/test_defaults.py"],
        None,
    ),
    "fitting": (
        [
            f"{FILTERING}/rank_and_filter.py",
            f"{RANKING}/_fitting/score_scale.py",
            "skfilterrank/features",
            *(f"{RANKING}/{name}" for name in MODELS),
        ],
        [
            "tests/features",
            *map(
                TESTS_OF_RANKING.format, ("score_scale", "calibrated", "lambdarank", *WITH_MODELS)
            ),
        ],
        25,
    ),
}


def run_group(name, options):
    """Try the changes of a group and keep the outcomes."""
    files, tests, n_drawn = GROUPS[name]
    paths = []
    for file in files:
        found = [ROOT / file] if file.endswith(".py") else sorted((ROOT / file).rglob("*.py"))
        paths += [str(path.relative_to(ROOT)) for path in found]
    outcomes_file, trace_file = options.work / f"{name}.jsonl", options.work / f"{name}.trace"
    if options.retrace:
        trace_file.unlink(missing_ok=True)
    mutants, counts = [], {}
    for path in paths:
        drawn, counts[path] = mutants_of(path, n_drawn)
        mutants += drawn
    (options.work / f"{name}.counts.json").write_text(json.dumps(counts))
    # What has changed in the meantime is forgotten.
    keys = {mutant.key for mutant in mutants}
    known = {key: e for key, e in read_outcomes(outcomes_file).items() if key in keys}
    outcomes_file.write_text("".join(f"{json.dumps(entry)}\n" for entry in known.values()))
    # What no test reached may be reached by now, or run at import.
    wanted = ("survived" if options.survivors else None, "unreached")
    spared = spared_changes() if options.survivors else ()
    mutants = [
        m for m in mutants if known.get(m.key, {}).get("outcome") in wanted and m.key not in spared
    ]
    print(f"{name}: {len(mutants)} changes to try", flush=True)

    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()

    def record(mutant, outcome, seconds):
        entry = {"key": mutant.key, "path": mutant.path, "outcome": outcome, "commit": commit}
        with outcomes_file.open("a") as file:
            print(json.dumps(entry | {"seconds": round(seconds, 2)}), file=file)

    def anew(mutant):
        if mutant is None:
            return run_pytest(tests, Runner(None, record, trace_file, options.enough))
        sys.meta_path.insert(0, Changed(mutant))
        runner = Runner(None, record, trace_file, options.enough, mutant.path)
        return run_pytest(runner.files(tests), runner)

    at_import = [m for m in mutants if m.runs_at_import()]
    in_functions = [m for m in mutants if not m.runs_at_import()]
    if not mutants:
        return
    pid = os.fork()
    if not pid:
        os._exit(run_pytest(tests, Runner(in_functions, record, trace_file, options.enough)))
    os.waitpid(pid, 0)
    # What the package imports, so that a fork has it.
    for package in ("lightgbm", "pandas", "scipy.stats", "sklearn.ensemble"):
        importlib.import_module(package)
    if at_import and forked(lambda: anew(None)) != "survived":
        raise RuntimeError("tests fail without a change")
    # Functions that no test reaches may have run at import as well.
    tried = read_outcomes(outcomes_file)
    at_import += [m for m in in_functions if tried[m.key]["outcome"] == "unreached"]
    # Of these, some seconds each, a part is a random sample.
    random.Random(0).shuffle(at_import)
    for mutant in at_import:
        begin = time.time()
        record(mutant, forked(lambda m=mutant: anew(m)), time.time() - begin)


def read_outcomes(file):
    """The last outcome of each change."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {entry["key"]: entry for entry in map(json.loads, lines)}


def spared_changes():
    """The changes that no test need notice, and why."""
    spared = tomllib.loads((HERE / "mutants_spared.toml").read_text())["spared"]
    return {key: each["reason"] for each in spared for key in each["mutants"]}


def report(work):
    """Shares of each group and file, and the survivors without a reason why they may."""
    reasons = spared_changes()
    table = [f"Date: {date.today()}.", ""]
    table += ["| | changes | tried | killed | spared | survived | killed of those not spared |"]
    table += ["| --- " * 7 + "|"]
    survivors = []
    for name in GROUPS:
        counts_file = work / f"{name}.counts.json"
        if not counts_file.exists():
            continue
        counts = json.loads(counts_file.read_text())
        outcomes = read_outcomes(work / f"{name}.jsonl")
        rows = []
        for path, n_changes in counts.items():
            mine = {k: e["outcome"] for k, e in outcomes.items() if e["path"] == path}
            alive = [
                key for key, outcome in mine.items() if outcome != "killed" and outcome != "hung"
            ]
            survivors += [key for key in alive if key not in reasons]
            n_spared = sum(key in reasons for key in alive)
            row = [n_changes, len(mine), len(mine) - len(alive), n_spared, len(alive) - n_spared]
            rows += [[path.removeprefix("skfilterrank/"), *row]] if mine else []
        total = [sum(row[i] for row in rows) for i in range(1, 6)]
        commits = ", ".join(sorted({entry["commit"] for entry in outcomes.values()}))
        for row in [[f"**{name}**, commit {commits}", *total], *rows]:
            killed, survived = row[3], row[5]
            share = f"{killed / (killed + survived):.1%}" if killed + survived else ""
            table.append(f"| {' | '.join(map(str, [*row, share]))} |")
    lines = [INTRODUCTION, *table, "", "## Survivors that are not spared", ""]
    lines += [f"* `{key.removeprefix('skfilterrank/')}`" for key in survivors]
    write_report("mutants", TITLE, "\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="default: all")
    parser.add_argument("--report", action="store_true", help="only write the report again")
    parser.add_argument("--work", type=Path, default=Path("/tmp/skfilterrank-mutants"))
    parser.add_argument("--survivors", action="store_true", help="only what survived before")
    parser.add_argument("--enough", type=float, default=5, help="seconds of tests to survive")
    parser.add_argument("--retrace", action="store_true", help="the tests have changed")
    options = parser.parse_args()
    options.work.mkdir(exist_ok=True)
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    for name in [] if options.report else options.groups or GROUPS:
        run_group(name, options)
    report(options.work)


if __name__ == "__main__":
    main()
