"""Which rules of tests/conformance each tool follows.

``python benchmarks/conformance.py --tool LightGBM`` asks one tool, with an interpreter that has it;
the numbers of the others stay. Without ``--tool`` the page is written again from the numbers.
"""

import csv
import sys

from _common import RESULTS, arguments
from _conformance.ask import FIELDS, TOOLS, rows_of_tool

TABLE = RESULTS / "conformance.csv"


def known():
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def keep(lines):
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def main():
    tool = arguments(__doc__, tool="").tool
    if tool and tool not in TOOLS:
        sys.exit(f"--tool is one of {', '.join(TOOLS)}; got {tool!r}")
    if tool:
        lines = [line for line in known() if line["tool"] != tool] + rows_of_tool(tool)
        keep(sorted(lines, key=lambda line: [*TOOLS].index(line["tool"])))
        return
    from _conformance.page import write_page

    write_page(known())


if __name__ == "__main__":
    main()
