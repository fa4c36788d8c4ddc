"""One run for each team."""

from skfilterrank._lists.teams import check_teams


def first_runs(names, teams) -> dict | None:
    """Team by the first run, by name, of each; None without teams."""
    if teams is None:
        return None
    first: dict = {}
    for name, team in sorted(check_teams(names, teams).items()):
        first.setdefault(team, name)
    return {name: team for team, name in first.items()}
