"""Teams of runs in a file."""

from skfilterrank._files.files import decode, read_bytes
from skfilterrank._files.tables import records_of, restored
from skfilterrank.exceptions import FileFormatError, brief


def read_teams(path) -> dict[str, str]:
    """Team by run, from lines "run team" or "run,team", or from CSV with these columns."""
    teams: dict[str, str] = {}
    for line, run, team in _pairs(decode(read_bytes(path), path), path):
        if run in teams:
            raise FileFormatError(
                f"the run {brief(run)} has a team already ({brief(teams[run])}); keep one of the "
                "lines.",
                path,
                line,
            )
        teams[run] = team
    if not teams:
        raise FileFormatError("the file names no team; expected lines 'run team'.", path)
    return teams


def _pairs(text, path):
    """Number of line, run and team."""
    columns = None
    for place, (line, cells) in enumerate(records_of(text, ",", path)):
        cells = [restored(cell.strip()) for cell in cells]
        if not any(cells):
            continue
        if place == 0 and {"run", "team"} <= set(cells):
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
                line,
            )
        yield line, *pair
