"""The start of commands beside `import pandas`, and how much help and how many options there are.

python benchmarks/command_line.py
"""

import compileall
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from _common import arguments, write_report

import skfilterrank
from skfilterrank.cli import COMMANDS, command_parser


def cpu_of_process(*words, repeats=7):
    """Return the least CPU seconds of several processes."""
    best = float("inf")
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main():
    """Measure, and write the report."""
    arguments(__doc__)
    # As after an installation; a process that may write no bytecode compiles all anew.
    compileall.compile_dir(Path(skfilterrank.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "q.txt"), Path(folder, "r.txt")
        qrels.write_text("1 0 a 1\n1 0 b 0\n")
        run.write_text("1 Q0 a 1 0.5 x\n1 Q0 b 2 0.25 x\n")
        evaluate = cpu_of_process("-m", "skfilterrank", "evaluate", str(qrels), str(run))
    pandas = cpu_of_process("-c", "import pandas")
    rows, distinct = [], set()
    for name in COMMANDS:
        parser = command_parser(name)
        options = [text for text, _ in parser.options().values() if text.startswith("--")]
        distinct.update(options)
        lines = parser.format_help().count("\n")
        seconds = cpu_of_process("-m", "skfilterrank", name, "--help", repeats=3)
        rows.append(f"| {name} | {len(options)} | {lines} | {seconds:.3f} |")
    table = "\n".join(rows)
    write_report(
        "command_line",
        "The command line",
        f"""\
CPU seconds, least of several processes.

`evaluate` of two lines: {evaluate:.3f}, {evaluate / pandas:.2f} times `import pandas` \
({pandas:.3f}).

| command | options | lines of `--help` at 100 columns | CPU seconds of `--help` |
| --- | --- | --- | --- |
{table}

Distinct options of all commands: {len(distinct)}.
""",
    )


if __name__ == "__main__":
    main()
