"""What the benchmarks share: where data are, timing, and reports with the machine they ran on."""

import argparse
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
# Short runs write elsewhere.
RESULTS = Path(os.environ.get("SKFILTERRANK_RESULTS", HERE / "results"))
DEFAULT_DATA = Path.home() / "skfilterrank_data"
# Columns of SemEval's forum answers, as make_text_features takes them.
FORUM_COLUMNS = {
    "document": "comment",
    "query_text": ["question_subject", "question_body"],
    "same": [("user", "question_user")],
    "numeric": ["position"],
    "query": "qid",
    "order": "position",
}


def arguments(description, parts=(), /, **options):
    """Parse `--data`, names of parts, and further options given as name=default."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if parts:
        # argparse holds an empty list against the choices.
        parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("SKFILTERRANK_DATA", DEFAULT_DATA))
    )
    for name, default in options.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(flag, type=type(default), default=default)
    parsed = parser.parse_args()
    if parts and (unknown := set(parsed.parts) - set(parts)):
        parser.error(f"no parts: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    return parsed


def run_parts(description, parts, **options):
    """Run the parts that the command names, each a function of the options, or all of them."""
    parsed = arguments(description, tuple(parts), **options)
    for part in parsed.parts or parts:
        parts[part](parsed)


def best_time(function, repeats=3):
    """Least CPU time of several runs, in seconds, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        result = function()
        best = min(best, time.process_time() - begin)
    return best, result


def machine(*more) -> str:
    """One line about what this runs on, with the versions of more packages."""
    packages = ("numpy", "scipy", "scikit-learn", "lightgbm", "pandas", *more)
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{os.cpu_count()} processors ({platform.machine()}), Python "
        f"{platform.python_version()}, {versions}"
    )


def provenance(*more) -> str:
    """One line about what made a figure: command, commit, date and machine."""
    git = ["git", "-C", str(HERE.parent)]
    # What a benchmark writes is no change of what it measures.
    changed = [*git, "status", "--porcelain", "--untracked-files=no", ".", ":!benchmarks/results"]
    try:
        commit, changes = (
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            for command in ([*git, "rev-parse", "--short", "HEAD"], changed)
        )
        commit += "-dirty" if changes else ""
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    # Folders of data are of one machine; what they hold, the report says.
    script = Path(sys.argv[0]).resolve()
    name = script.relative_to(HERE) if script.is_relative_to(HERE) else script.name
    command = " ".join(["python", f"benchmarks/{name}", *_without_data(sys.argv)])
    today = datetime.now(UTC).date()
    return f"Command: `{command}`. Commit: {commit}. Date: {today}. Machine: {machine(*more)}."


def _without_data(argv):
    """Arguments but the folders of `--data`, `--cache` and `--work`."""
    rest = iter(argv[1:])
    for word in rest:
        if word in ("--data", "--cache", "--work"):
            next(rest, None)
        elif not word.startswith(("--data=", "--cache=", "--work=")):
            yield word


def markdown_table(head, rows):
    """A table of texts and numbers as Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def write_report(name, title, text):
    """Print a report and keep it as results/NAME.md."""
    report = f"# {title}\n\n{provenance()}\n\n{text.strip()}\n"
    print(report)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(report)
