"""Slices of queries, teams of systems, and the pairs of systems that a report compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import is_hashable
from skfilterrank._lists.queries import QID, query_ids_of_index
from skfilterrank.exceptions import InputError, brief, brief_list

# Parameter `slices`: one slice for each query id, or a table with several columns of slices.
Slices = Mapping | pd.Series | pd.DataFrame


_HOW = (
    "give a dict or a Series of slices by query id, or a DataFrame with the query ids in its index "
    "or a column 'qid' and a column for each way to slice"
)


class Slice(NamedTuple):
    """One slice of the queries: name of the column, name of the slice, and mask of its queries."""

    slicing: str
    name: object
    members: np.ndarray


def read_slices(slices: Slices, query_ids) -> list[Slice]:
    """Read all slices of the queries, sorted by name."""
    query_ids = list(query_ids)
    found = []
    for slicing, column in _columns(slices):
        values = _by_query(column, query_ids)
        try:
            values = pd.Categorical(values)
        except TypeError:  # unhashable names
            raise InputError(
                f"slices must have hashable names, such as texts and numbers: {_HOW}."
            ) from (None)
        counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.categories))
        if len(counts) > 1 and (counts == 1).all():
            raise InputError(
                f"slices has a slice of its own for each of {len(counts)} queries in "
                f"{brief(slicing)}: leave it out, or cut numbers into ranges, as by pandas.qcut."
            )
        for code, name in enumerate(values.categories):
            if counts[code]:
                found.append(Slice(str(slicing), name, values.codes == code))
    if not found:
        raise InputError(f"slices puts none of the {len(query_ids)} queries in a slice: {_HOW}.")
    return found


def _columns(slices):
    """Return (name, Series by query id) for each way to slice."""
    if isinstance(slices, Mapping):
        slices = pd.Series(dict(slices), dtype=object, name="slice")
    if isinstance(slices, pd.Series):
        name = "slice" if slices.name is None else slices.name
        return [(name, _indexed(slices))]
    if not isinstance(slices, pd.DataFrame):
        raise InputError(f"slices is {brief(slices)}: {_HOW}.")
    if not slices.columns.is_unique:
        raise InputError(f"slices has several columns of one name: {brief_list(slices.columns)}.")
    if query_ids_of_index(slices) is None and QID in slices.columns:
        slices = slices.set_index(QID)
    return [(name, _indexed(slices[name])) for name in slices.columns]


def _indexed(column):
    """Return one slice for each query id; several rows of a query must agree."""
    ids = query_ids_of_index(column)
    column = column if ids is None else column.set_axis(ids)
    if column.index.is_unique:
        return column
    first = column[~column.index.duplicated()]
    # Compare codes instead of names, so that missing names count as equal.
    codes = pd.Series(pd.factorize(column)[0], index=column.index)
    differs = codes.to_numpy() != codes[~codes.index.duplicated()].reindex(codes.index).to_numpy()
    if differs.any():
        query = column.index.tolist()[int(differs.argmax())]
        raise InputError(f"slices puts query {brief(query)} in several slices at once: {_HOW}.")
    return first


def _by_query(column, query_ids):
    """Return the slice of each query; missing if it is in none."""
    places = column.index.get_indexer(pd.Index(query_ids, tupleize_cols=False))
    if (places < 0).any():
        n_missing = int(np.count_nonzero(places < 0))
        raise InputError(
            f"slices has no entry for {n_missing} of {len(query_ids)} queries, such as "
            f"{brief(query_ids[int((places < 0).argmax())])}: {_HOW}, with None for a query that "
            "is in no slice."
        )
    return column.array.take(places)


def check_teams(names, teams) -> dict:
    """Check that each run has a team, and return the teams."""
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
            "of every run; a run that shares its team with no other run is a team of its own."
        )
    return {name: teams[name] for name in names}


def report_measures(k: int | None) -> list[str]:
    """Return the measures of the report, the main one first."""
    at = "" if k is None else f"@{k}"
    names = [f"{name}{at}" for name in ("ndcg_f", "ndcg_0", "ndcg_min", "forbidden")]
    return [*names, "false_reject_rate", "empty_list_rate"]


def report_pairs(systems, baseline, own_baselines) -> dict[str, Mapping]:
    """Check the baselines, and return {prefix of columns: {system: its baseline}}."""
    own_baselines = {} if own_baselines is None else own_baselines
    if not isinstance(own_baselines, Mapping):
        raise InputError(
            "own_baselines must be a dict {system: its baseline}, got "
            f"{type(own_baselines).__name__}."
        )
    for each in (*own_baselines, *own_baselines.values()):
        _check_system(each, "own_baselines:", systems)
    compared: dict[str, Mapping] = {}
    if baseline is not None:
        _check_system(baseline, "baseline", systems)
        compared[""] = {system: baseline for system in systems if system != baseline}
    if own_baselines:
        compared["own_"] = own_baselines
    return compared


def _check_system(name, what, systems):
    """Raise if `name` is not the name of a system."""
    if not (is_hashable(name) and name in systems):
        raise InputError(f"{what} {brief(name)} is not one of the systems: {brief_list(systems)}.")
