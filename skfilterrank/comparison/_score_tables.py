"""Tables of values: systems x queries, queries x systems, or a row for each value.

The names of the axes determine the layout.
"""

import pandas as pd

from skfilterrank._files.forms import COLUMN_NAMES
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list

_AXES = dict.fromkeys(COLUMN_NAMES["qid"], "query")
_AXES |= dict.fromkeys(("run", "system", "model"), "system")


def systems_by_queries(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with systems as rows, transposed if the names of its axes say so."""
    if is_long(table):
        raise InputError(
            "values have a row for each system and query, as evaluate_runs makes them: take one "
            "measure of them with SystemScores.of(values, measure)."
        )
    if table.index.nlevels > 1 or table.columns.nlevels > 1:
        raise InputError(
            "values must be a table of systems x queries, or have index levels 'run' and 'qid', "
            f"and its axes are named {brief_list([*table.index.names, *table.columns.names])}: "
            "name what systems and queries are, or drop the other levels."
        )
    rows, columns = _meaning(table.index.name), _meaning(table.columns.name)
    if columns is None and len(table.columns) and all(map(known_measure, table.columns)):
        raise InputError(
            f"columns of values are measures, {brief_list(table.columns)}, where those of a table "
            "of systems x queries are queries: give the values of one measure for each system "
            "and query, such as evaluate_runs or score_predictions makes."
        )
    if rows is not None and rows == columns:
        raise InputError(
            f"both axes of values are named as {rows} ids, {brief(table.index.name)} and "
            f"{brief(table.columns.name)}: name one of them 'system' and the other 'qid'."
        )
    if rows is None and columns is None:
        warn_of_shape(table.shape)
    return turned(table)


def turned(table: pd.DataFrame) -> pd.DataFrame:
    """Return the transposed table if its axes are named the other way round."""
    rows, columns = _meaning(table.index.name), _meaning(table.columns.name)
    return table.T if rows == "query" or columns == "system" else table


def warn_of_shape(shape) -> None:
    """Warn of more systems than queries if the axes have no names."""
    n_systems, n_queries = shape
    if n_systems > n_queries:
        warn_user(
            f"values are read as {n_systems} systems x {n_queries} queries: if it is the other way "
            "round, transpose them; else give systems= or queries= names, or name the axes of a "
            "DataFrame 'system' and 'qid'.",
            DataWarning,
        )


def is_long(table) -> bool:
    """Test for a DataFrame or Series with a row for each system and query."""
    is_table = isinstance(table, pd.DataFrame | pd.Series)
    return is_table and set(_columns_of_names(table)) == {"query", "system"}


def one_measure(table: pd.DataFrame | pd.Series, measure, name) -> tuple[pd.DataFrame, str]:
    """Return one column of a long table as a table of systems x queries, and the measure's name."""
    where = _columns_of_names(table)
    run, query = where["system"], where["query"]
    if isinstance(table, pd.Series):
        table = table.to_frame(table.name or measure or "score")
    levels = [each for each in table.index.names if each is not None]
    table = table.reset_index(level=levels) if levels else table
    measures = [column for column in table.columns if column not in (run, query, *levels)]
    measure = choose_measure(measures, measure, name)
    repeated = table[table.duplicated([run, query])]
    if len(repeated):
        first = repeated[[run, query]].astype(object).iloc[0]
        raise InputError(
            f"{name} has several rows for {run} {brief(first[run])} and {query} "
            f"{brief(first[query])}: expected one value for each run and query; are two runs named "
            "alike?"
        )
    wide = table.set_index([run, query])[measure].unstack()  # noqa: PD010
    wide = wide.reindex(index=pd.unique(table[run]), columns=pd.unique(table[query]))
    return wide.rename_axis(index="system", columns="qid"), str(measure)


def choose_measure(measures, measure, name):
    """Return the requested measure, or the only one."""
    measures = list(measures)
    if measure is None and len(measures) == 1:
        return measures[0]
    if measure is None:
        if not measures:
            raise InputError(f"{name} holds no values of a measure.")
        one = brief(measures[0])
        raise InputError(
            f"{name} holds values of several measures, {brief_list(measures)}: give one measure at "
            f"a time, {name}[{one}]" + (f" or measure={one}." if name == "scores" else ".")
        )
    if measure not in measures:
        raise InputError(
            f"measure={brief(measure)} is none of those that {name} holds: {brief_list(measures)}."
        )
    return measure


def _columns_of_names(table):
    """Return the index levels and columns with query and system ids."""
    names = list(table.index.names)
    # Columns of an axis that has a name are queries or systems, whatever their names are.
    if isinstance(table, pd.DataFrame) and table.columns.name is None:
        names += list(table.columns)
    return {_meaning(name): name for name in reversed(names) if _meaning(name) is not None}


def _meaning(name):
    """Tell from the name of an axis whether it holds queries or systems."""
    return _AXES.get(name) if isinstance(name, str) else None
