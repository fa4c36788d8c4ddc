"""The command `evaluate` on a thousand runs of a million lines: time, and memory by their number.

    python benchmarks/many_long_runs.py [--runs 1000] [--distinct 10] [--jobs 2]

Writes results/many_long_runs.md. Only some runs are different: the others are further names of the
same files, since a billion lines of text would fill a disk; each is read as a file of its own.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _common import arguments, write_report
from runs_on_disk import FEW, generated

# Runs a command, and prints its clock, the CPU of all its processes, and the most memory of one.
MEASURED = """
import resource, subprocess, sys, time
begin = time.perf_counter()
subprocess.run([sys.executable, "-m", "skfilterrank", "evaluate", *sys.argv[1:]], check=True,
               stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def measured(qrels, runs, jobs):
    """Clock and CPU seconds, and MB of the largest process."""
    words = [str(qrels), *map(str, runs), "-m", ",".join(FEW), "--jobs", str(jobs)]
    found = subprocess.run(
        [sys.executable, "-c", MEASURED, *words], check=True, capture_output=True, text=True
    )
    return tuple(map(float, found.stdout.split()))


def main():
    options = arguments(__doc__, runs=1000, distinct=10, jobs=2)
    load = os.getloadavg()[0]
    lines = ["| runs | lines | clock, s | CPU, s | largest process, MB |", "| --- " * 5 + "|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = time.perf_counter()
        paths, qrels = generated(folder, options.distinct)
        print(f"{options.distinct} runs made in {time.perf_counter() - begin:.0f} s", flush=True)
        for number in range(options.runs):
            os.link(paths[number % len(paths)], folder / f"named{number:04}.txt.gz")
        named = sorted(folder.glob("named*"))
        for n_runs in sorted({max(1, options.runs // share) for share in (100, 10, 1)}):
            clock, cpu, peak = measured(qrels, named[:n_runs], options.jobs)
            lines.append(
                f"| {n_runs:,} | {n_runs * 1_000_000:,} | {clock:.0f} | {cpu:.0f} | {peak:.0f} |"
            )
            print(lines[-1], flush=True)
    text = f"""
`skfilterrank evaluate qrels.csv runs/*.gz -m {",".join(FEW)} --jobs {options.jobs}`, runs of
1,000,000 lines (1,000 topics) as gzip text, {options.distinct} different ones under
{options.runs:,} names; a load of {load:.1f} before.

{chr(10).join(lines)}
"""
    write_report("many_long_runs", "A thousand runs of a million lines", text)


if __name__ == "__main__":
    main()
