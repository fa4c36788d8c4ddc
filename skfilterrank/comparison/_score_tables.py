"""Reading of values of systems: tables of three layouts, and files of evaluate and trec_eval.

A table has systems x queries, queries x systems, or one row for each value. The names of its axes,
index levels and columns determine the layout.
"""

import numpy as np
import pandas as pd

from skfilterrank._base.words import warn_user
from skfilterrank._files.files import decode, is_path, read_bytes, source_name
from skfilterrank._files.forms import name_of_path
from skfilterrank._files.kinds import ROLES
from skfilterrank._files.tables import records_of, restored
from skfilterrank._lists.measure_names import known_measure
from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, brief, brief_list

_AXES = dict.fromkeys(ROLES["qid"].names, "query")
_AXES |= dict.fromkeys(("run", "system", "model"), "system")
# Lines of trec_eval that are not measures: numbers of documents and queries, and a text.
_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "relstring")
_WRITTEN_BY = "expected output of `skfilterrank evaluate --per-query` with --format"


def systems_by_queries(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with systems as rows and queries as columns; raise for another table.

    The table is transposed if the names of its axes say that rows are queries.
    """
    if is_long(table):
        raise InputError(
            "values must be a table of systems x queries, got a row for each system and query, as "
            "evaluate_runs returns: read one measure with SystemScores.of(values, measure)."
        )
    if table.index.nlevels > 1 or table.columns.nlevels > 1:
        raise InputError(
            "values must be a table of systems x queries, or have index levels 'run' and 'qid', "
            f"but its axes are named {brief_list([*table.index.names, *table.columns.names])}: "
            "rename the levels of systems and queries, and drop the other levels."
        )
    rows, columns = _meaning(table.index.name), _meaning(table.columns.name)
    if columns is None and len(table.columns) and all(map(known_measure, table.columns)):
        raise InputError(
            "columns of values must be queries, got names of measures, "
            f"{brief_list(table.columns)}: pass the values by one measure for each system and "
            "query, as evaluate_runs or score_predictions returns them."
        )
    if rows is not None and rows == columns:
        raise InputError(
            f"axes of values must be systems and queries, but both have names of {rows} ids, "
            f"{brief(table.index.name)} and {brief(table.columns.name)}: name one of them 'system' "
            "and the other 'qid'."
        )
    if rows is None and columns is None:
        warn_of_shape(table.shape)
    return turned(table)


def turned(table: pd.DataFrame) -> pd.DataFrame:
    """Transpose a table if the names of its axes say that rows are queries."""
    rows, columns = _meaning(table.index.name), _meaning(table.columns.name)
    are_turned = rows != columns and (rows == "query" or columns == "system")
    return table.T if are_turned else table


def warn_of_shape(shape) -> None:
    """Warn if a table without names of axes has more rows (systems) than columns (queries)."""
    n_systems, n_queries = shape
    if n_systems > n_queries:
        warn_user(
            f"values are read as {n_systems} systems x {n_queries} queries. If rows are queries, "
            "transpose the values. Otherwise give systems= or queries= names, or name the axes of "
            "a DataFrame 'system' and 'qid', to avoid this warning.",
            DataWarning,
        )


def is_long(table) -> bool:
    """Return True for a DataFrame or Series with one row for each system and query."""
    is_table = isinstance(table, pd.DataFrame | pd.Series)
    return is_table and set(_columns_of_names(table)) == {"query", "system"}


def one_measure(table: pd.DataFrame | pd.Series, measure, name) -> tuple[pd.DataFrame, str]:
    """Return one column of a long table (a row per system and query) as systems x queries.

    Also returns the name of the measure. `measure` selects the column, and `name` is the name of
    the argument in messages.
    """
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
            f"{name} must have one row for each run and query, got several for {run} "
            f"{brief(first[run])} and {query} {brief(first[query])}: if two runs have the same "
            "name, rename one."
        )
    wide = table.set_index([run, query])[measure].unstack()  # noqa: PD010
    wide = wide.reindex(index=pd.unique(table[run]), columns=pd.unique(table[query]))
    return wide.rename_axis(index="system", columns="qid"), str(measure)


def choose_measure(measures, measure, name):
    """Return `measure`, or the only one of `measures` if it is None; raise if that fails."""
    measures = list(measures)
    if measure is None and len(measures) == 1:
        return measures[0]
    if measure is None:
        if not measures:
            raise InputError(f"{name} must hold values by a measure, got none: add a column.")
        one = brief(measures[0])
        raise InputError(
            f"{name} must hold values of one measure, got several measures, "
            f"{brief_list(measures)}: pass {name}[{one}]"
            + (f" or measure={one}." if name == "scores" else ".")
        )
    if measure not in measures:
        raise InputError(
            f"measure must be one of the measures in {name}, {brief_list(measures)}, got "
            f"{brief(measure)}."
        )
    return measure


def _columns_of_names(table):
    """Return the names of the index levels or columns with query ids and with system ids.

    The result is a dict with the keys "query" and "system", if they are found.
    """
    names = list(table.index.names)
    # If the axis of the columns has a name, the columns themselves are ids of queries or systems.
    if isinstance(table, pd.DataFrame) and table.columns.name is None:
        names += list(table.columns)
    return {_meaning(name): name for name in reversed(names) if _meaning(name) is not None}


def _meaning(name):
    """Return "query" or "system" by the name of an axis, or None for another name."""
    return _AXES.get(name) if isinstance(name, str) else None


def read_values(source, measures) -> pd.DataFrame:
    """Read files of values into a table: a column for each measure, index levels "run" and "qid".

    `measures` selects columns; None keeps all.
    """
    sources = list(source) if isinstance(source, list | tuple) else [source]
    if not sources:
        raise InputError("source must name at least one file, got an empty list: pass a file.")
    rows = _join(sources)
    known = list(dict.fromkeys(measure for values in rows.values() for measure in values))
    wanted = _wanted(measures, known)
    return pd.DataFrame(
        {name: [values.get(name, np.nan) for values in rows.values()] for name in wanted},
        index=pd.MultiIndex.from_tuples(rows, names=["run", "qid"]),
    )


def _read(source):
    """Yield (line, run, query id, values by measure) for each query of one file.

    The first line tells which format the file has.
    """
    name = source_name(source)
    text = decode(read_bytes(source), name).removeprefix("\ufeff")
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise FileFormatError(f"the file is empty; {_WRITTEN_BY} csv or trec.", name)
    if (start := first.replace('"', "")[:4]) in ("run,", "run;", "run\t"):
        return _read_csv(text, name, start[-1])
    return _read_trec(lines, name, name_of_path(name) if is_path(source) else "run")


def _read_csv(text, name, separator):
    """Yield the values of a csv file with the header run,qid,MEASURE,... (see `_read`).

    Spreadsheets may write semicolons, and then decimal commas, or tabs.
    """
    records = records_of(text, separator, name)
    _, header = next(records)
    if header[:2] != ["run", "qid"] or len(header) < 3:
        raise FileFormatError(
            f"the header must be run,qid,MEASURE,..., got {brief(','.join(header))}: write values "
            "of every query with evaluate --per-query --format csv.",
            name,
            1,
        )
    for line, row in records:
        if len(row) != len(header):
            raise FileFormatError(
                f"expected {len(header)} columns as in the header, got {len(row)}.", name, line
            )
        numbers = [each.replace(",", ".") if separator == ";" else each for each in row[2:]]
        values = dict(zip(header[2:], numbers))
        yield line, restored(row[0]), restored(row[1]), _numbers(values, name, line)


def _read_trec(lines, name, nameless):
    """Yield the values of a file of trec_eval, whose lines hold measure, query and value.

    A line "runid all NAME" names a run and ends its queries. `nameless` is the name of a run
    without such a line.
    """
    queries, is_empty, ahead = {}, True, None
    # A line is added so that the end of the file also ends a run.
    for line, text in enumerate([*lines, f"runid all {nameless}"], 1):
        # Only names of runs may contain blanks.
        parts = text.split(None, 2 if text.split()[:1] == ["runid"] else -1)
        if not parts:
            continue
        if len(parts) != 3:
            raise FileFormatError(
                f"expected 3 columns (measure, query, value), got {len(parts)}; "
                f"{_WRITTEN_BY} csv or trec, or trec_eval -q.",
                name,
                line,
            )
        measure, qid, value = parts
        if measure == "runid" and qid == "all":
            if queries and ahead and line > len(lines):
                raise FileFormatError(
                    "expected a line 'runid all NAME' behind the values of each run, got it before "
                    "them: move it behind them, as trec_eval -q writes it.",
                    name,
                    ahead,
                )
            ahead = ahead or (None if queries else line)
            for each, values in queries.items():
                yield line if line <= len(lines) else None, value.strip(), each, values
            is_empty, queries = is_empty and not queries, {}
        elif qid != "all" and not measure.startswith(_COUNTS):
            row = queries.setdefault(qid, {})
            if measure in row:
                raise FileFormatError(
                    f"expected one value of {measure} for query {brief(qid)}, got a second one. If "
                    "the file holds several runs, a line 'runid all NAME' must end each run; "
                    "trec_eval -q writes it with its default measures or -m runid.",
                    name,
                    line,
                )
            row |= _numbers({measure: value}, name, line)
    if is_empty:
        raise FileFormatError(
            "expected values of single queries, got only means: write them with evaluate "
            "--per-query --format trec, or trec_eval -q.",
            name,
        )


def _numbers(row, name, line):
    """Convert the values of one row to numbers, NaN if empty; raise for other texts and inf."""
    numbers = {}
    for measure, value in row.items():
        try:
            numbers[measure] = float(value or "nan")
        except ValueError:
            numbers[measure] = np.inf
        if np.isinf(numbers[measure]):
            raise FileFormatError(
                f"a value of {measure} must be a number, got {brief(value)}.", name, line
            )
    return numbers


def _join(sources):
    """Collect the values of all files in a dict {(run, query id): {measure: value}}.

    Raises if two files hold the same run, or if a run has two values for a query.
    """
    found, holder = {}, {}
    for number, source in enumerate(sources):
        name = source_name(source)
        for line, run, qid, values in _read(source):
            if not run:
                raise FileFormatError("the name of a run must not be empty.", name, line)
            if holder.setdefault(run, number) != number:
                raise FileFormatError(
                    f"run {brief(run)} must be in one file, but is also in "
                    f"{source_name(sources[holder[run]])}: rename one, or leave out a copy.",
                    name,
                )
            if (run, qid) in found:
                raise FileFormatError(
                    f"run {brief(run)} must have each query once, but has {brief(qid)} a second "
                    "time: if two runs have the same name, rename one.",
                    name,
                    line,
                )
            found[run, qid] = values
        if not any(found[key] for key in found if holder[key[0]] == number):
            raise FileFormatError(
                "the file holds no value of any query: write it again with evaluate --per-query.",
                name,
            )
    return found


def _wanted(measures, known):
    """Return the names of the measures to keep; raise if one is not among the `known` names."""
    if measures is None:
        return known
    wanted = dict.fromkeys([measures] if isinstance(measures, str) else measures)
    if unknown := [name for name in wanted if name not in known]:
        raise InputError(
            f"measures must be in the file, got {brief(unknown[0])}: the file holds "
            f"{brief_list(known)}, by the names with which they were written."
        )
    return list(wanted)
