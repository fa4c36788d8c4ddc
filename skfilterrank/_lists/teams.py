"""The team of each run."""

from collections.abc import Mapping

import pandas as pd

from skfilterrank.exceptions import InputError, brief


def check_teams(names, teams) -> dict:
    """The team of each of the runs."""
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
    return {name: teams[name] for name in names}
