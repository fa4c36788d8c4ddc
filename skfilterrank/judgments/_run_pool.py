"""The pool on which runs are compared without judgments."""

import pandas as pd

from skfilterrank._files.named_runs import named_runs
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import read_runs
from skfilterrank.judgments._pool_teams import first_runs
from skfilterrank.judgments._rank_table import as_rank_table, rank_table


def run_pool(runs, *, depth: int | None, teams) -> tuple[pd.DataFrame, object, dict | None]:
    """Rank table of the runs down to a depth, the runs as they were read, and team by run.

    One run for each team is taken.
    """
    is_table = isinstance(runs, pd.DataFrame)
    runs = runs if is_table else named_runs(runs)
    names = list(runs)
    team_of = first_runs(names, teams)
    chosen = names if team_of is None else list(team_of)
    if len(chosen) < 2:
        counted = f"{len(names)} runs of one team" if len(names) > 1 else f"{len(names)} run(s)"
        raise InputError(
            f"runs must be at least 2{' (of different teams)' if teams is not None else ''}, got "
            f"{counted}: runs are predicted from what they have in common."
        )
    if is_table:
        table = as_rank_table(only_pool_of(runs, chosen), depth=depth).sort_index()
    else:
        runs = read_runs({name: runs[name] for name in chosen})
        table = rank_table(runs, depth=depth)
    _check_topics(table)
    return table, runs, team_of


def only_pool_of(table: pd.DataFrame, names) -> pd.DataFrame:
    """The rank table of some of the runs, without the documents that only others return."""
    return table[list(names)].dropna(how="all")


def _check_topics(table):
    """Every run must have a topic that another run has too."""
    has = table.notna().groupby(level="qid").any().to_numpy()
    is_apart = ~(has & (has.sum(axis=1) > 1)[:, None]).any(axis=0)
    if is_apart.any():
        apart = [str(name) for name in table.columns[is_apart]]
        shown = ", ".join(apart[:3]) + (", ..." if len(apart) > 3 else "")
        topic = table.index.get_level_values("qid")[0]
        raise InputError(
            f"{len(apart)} of {len(has[0])} runs ({shown}) have no topic in common with any other "
            f"run; topics of the runs are such as {brief(topic)}. Leave these runs out, or bring "
            "their topics to one form."
        )
