"""Teams of runs in a file."""

import csv

from skfilterrank.exceptions import brief
from skfilterrank.io import FileFormatError


def read_teams(path) -> dict[str, str]:
    """Team by run, from lines "run team" or "run,team", or from CSV with these columns."""
    teams = {}
    with open(path, encoding="utf-8-sig", newline="") as lines:
        try:
            for number, run, team in _pairs(lines, path):
                if run in teams:
                    raise FileFormatError(
                        f"the run {brief(run)} has a team already ({brief(teams[run])}); keep one "
                        "of the lines.",
                        path,
                        number,
                    )
                teams[run] = team
        except UnicodeDecodeError:
            raise FileFormatError("the file is not UTF-8 text; convert it first.", path) from None
    if not teams:
        raise FileFormatError("the file names no team; expected lines 'run team'.", path)
    return teams


def _pairs(lines, path):
    """Number of line, run and team."""
    columns = None
    reader = csv.reader(lines)
    for first, cells in enumerate(reader):
        cells = [cell.strip() for cell in cells]
        if not any(cells):
            continue
        if first == 0 and {"run", "team"} <= set(cells):
            columns = cells.index("run"), cells.index("team")
            continue
        if columns is None:
            pair = cells[0].split() if len(cells) == 1 else cells
        else:
            pair = [cells[column] for column in columns if column < len(cells)]
        if len(pair) != 2 or not all(pair):
            raise FileFormatError(
                f"expected a run and its team, as in 'run team', got {brief(' '.join(cells))}.",
                path,
                reader.line_num,
            )
        yield reader.line_num, *pair
