"""What the benchmarks share: where data are, timing, and reports with the machine they ran on."""

import argparse
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
DEFAULT_DATA = Path.home() / "skfilterrank_data"


def arguments(description, **options):
    """Parse `--data`, and further options given as name=default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("SKFILTERRANK_DATA", DEFAULT_DATA))
    )
    for name, default in options.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()


def best_time(function, repeats=3):
    """Least CPU time of several runs, in seconds, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        result = function()
        best = min(best, time.process_time() - begin)
    return best, result


def machine() -> str:
    """One line about what this runs on."""
    packages = ("numpy", "scipy", "scikit-learn", "lightgbm", "pandas")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"{os.cpu_count()} processors ({platform.machine()}), Python "
        f"{platform.python_version()}, {versions}"
    )


def write_report(name, title, text):
    """Print a report and keep it as results/NAME.md."""
    report = f"# {title}\n\nMachine: {machine()}.\n\n{text.strip()}\n"
    print(report)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(report)
