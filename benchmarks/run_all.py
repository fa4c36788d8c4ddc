"""Run all benchmarks, two at a time; or list the results that are older than their code.

    python benchmarks/run_all.py [--only NAME ...] [--quick] [--at-most MINUTES] [--jobs 2]
                                 [--data DIR]
    python benchmarks/run_all.py --stale [--only NAME ...]

A NAME is that of a script, a part or a result. Prints a line for each: name, seconds, those of
processor time, exit code; what a script says goes into a folder that the last line names. `--quick`
takes the smallest options, leaves out what has none, and writes no results; `--at-most` leaves out
what takes longer. Ends with 1 if one failed or is stale.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from _common import DEFAULT_DATA
from _entries import COMMIT, ENTRIES, HERE, ROOT, changed_since

# Scripts and parts that measure time, and run one by one when the others are done.
TIMED = {"speed", "large_data", "evaluation", "reading"}


def run(entry, options, folder, environment):
    """Run one entry and print its line; True if it failed."""
    begin = time.monotonic()
    data = ["--data", str(options.data.resolve())] if options.data else []
    command = [sys.executable, *entry.command(options.quick), *data]
    how = {"cwd": ROOT, "env": environment, "stderr": subprocess.STDOUT}
    with open(folder / f"{entry.name.replace(' ', '_')}.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, **how)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = rc = os.waitstatus_to_exitcode(status)
    seconds, cpu = time.monotonic() - begin, used.ru_utime + used.ru_stime
    print(f"{entry.name:38} {seconds:6.0f} s  CPU {cpu:6.0f} s  rc {rc}", flush=True)
    if rc:
        *_, last = Path(log.name).read_text(encoding="utf-8").splitlines() or ["it said nothing"]
        print(f"    {last}", flush=True)
    return rc != 0


def run_all(entries, options):
    """Run entries, the longest first; the number that failed."""
    folder = Path(tempfile.mkdtemp(prefix="benchmarks_"))
    # One thread each, as they run side by side.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    if options.quick:
        environment["SKFILTERRANK_RESULTS"] = str(folder / "results")
        shutil.copytree(HERE / "results", folder / "results")
    for entry in (left_out := [each for each in entries if is_left_out(each, options)]):
        why = "no small option" if options.quick else "too long"
        print(f"{entry.name:38} left out: {why}, {entry.minutes:g} minutes")
    entries = [entry for entry in entries if entry not in left_out]
    one = partial(run, options=options, folder=folder, environment=environment)
    longest_first = sorted(entries, key=lambda entry: -entry.minutes)
    timed = [each for each in longest_first if TIMED & {each.script, each.part}]
    with ThreadPoolExecutor(options.jobs) as pool:
        failed = sum(pool.map(one, [each for each in longest_first if each not in timed]))
    failed += sum(map(one, timed))
    print(f"{failed} of {len(entries)} failed; what they said is in {folder}")
    return failed


def is_left_out(entry, options):
    """Tell whether an entry has no short run where one is asked for, or takes too long."""
    return entry.quick is None if options.quick else entry.minutes > options.at_most


def stale(entries):
    """Print results whose code has changed since the commit that they name; their number."""
    n_stale, in_rooms = 0, []
    for entry in entries:
        for name in entry.results.split():
            if not name.endswith(".md"):
                continue
            commit = COMMIT.search((HERE / "results" / name).read_text(encoding="utf-8"))[1]
            changes = changed_since(commit, entry)
            if changes.script or changes.measured:
                n_stale += 1
                print(f"{name} ({commit}, {entry.name})")
                print_names("script", {each.rpartition(": ")[2] for each in changes.script})
                print_names("measured", changes.measured)
                print_names("rooms", changes.rooms)
            elif changes.rooms:
                in_rooms.append(name)
    print(f"{n_stale} results are older than what they measure.")
    if in_rooms:
        print(f"Only other files of their rooms are younger: {', '.join(in_rooms)}")
    return n_stale


def print_names(kind, names):
    """Print a line with the first of some names."""
    names = sorted(name.removeprefix("skfilterrank/") for name in names)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    if names:
        print(f"    {kind}: {', '.join(names[:5])}{more}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--at-most", type=float, default=math.inf, metavar="MINUTES")
    parser.add_argument("--stale", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, help="folder of data, else SKFILTERRANK_DATA")
    options = parser.parse_args()
    names = {
        entry: {entry.name, entry.script, entry.part, *entry.results.split()} for entry in ENTRIES
    }
    wanted = {name.removesuffix(".py") for name in options.only}
    if lost := wanted - set().union(*names.values()):
        parser.error(f"no benchmark {', '.join(sorted(lost))}: see benchmarks/README.md")
    entries = [entry for entry in ENTRIES if not wanted or names[entry] & wanted]
    data = options.data or Path(os.environ.get("SKFILTERRANK_DATA", DEFAULT_DATA))
    if not (options.stale or data.is_dir()):
        parser.error(
            f"no folder {data}: set SKFILTERRANK_DATA or pass --data (docs/public_data.md)"
        )
    return bool(stale(entries) if options.stale else run_all(entries, options))


if __name__ == "__main__":
    sys.exit(main())
