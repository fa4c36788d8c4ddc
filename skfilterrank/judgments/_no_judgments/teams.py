"""One run for each team."""

from collections.abc import Mapping

import pandas as pd

from skfilterrank.exceptions import InputError, brief


def first_runs(names, teams) -> dict | None:
    """Team by the first run, by name, of each; None without teams."""
    if teams is None:
        return None
    if not isinstance(teams, Mapping | pd.Series):
        raise InputError(
            f"teams must be a dict or Series {{run: team}}, or None, got {type(teams).__name__}."
        )
    teams = dict(teams)
    absent = [name for name in names if name not in teams or pd.isna(teams[name])]
    if absent:
        shown = ", ".join(map(brief, absent[:3])) + (", ..." if len(absent) > 3 else "")
        raise InputError(
            f"teams has no team for {len(absent)} of {len(names)} runs ({shown}): name the team "
            "of every run; a run of nobody else's is a team of its own."
        )
    first: dict = {}
    for name in sorted(names):
        first.setdefault(teams[name], name)
    return {name: team for team, name in first.items()}
