"""Tables of values: systems x queries, queries x systems, or a row for each value; their files.

The names of the axes determine the layout.
"""

import numpy as np
import pandas as pd

from skfilterrank._files.files import decode, is_path, parse_json, read_bytes, source_name
from skfilterrank._files.forms import COLUMN_NAMES
from skfilterrank._files.named_runs import name_of_path
from skfilterrank._files.tables import records_of, restored
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, brief, brief_list

_AXES = dict.fromkeys(COLUMN_NAMES["qid"], "query")
_AXES |= dict.fromkeys(("run", "system", "model"), "system")
# Lines that trec_eval prints beside its measures: counts of documents and queries, and texts.
_COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "relstring")
_WRITTEN_BY = "expected what `skfilterrank evaluate --per-query` writes with --format"


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


def read_values(source, measures) -> pd.DataFrame:
    """Return the values of files: a column for each measure, index levels "run" and "qid"."""
    sources = list(source) if isinstance(source, list | tuple) else [source]
    if not sources:
        raise InputError("source must name at least one file, got an empty list.")
    rows = _join(sources)
    known = list(dict.fromkeys(measure for values in rows.values() for measure in values))
    wanted = _wanted(measures, known)
    return pd.DataFrame(
        {name: [values.get(name, np.nan) for values in rows.values()] for name in wanted},
        index=pd.MultiIndex.from_tuples(rows, names=["run", "qid"]),
    )


def _read(source):
    """Yield (line, run, query id, values by measure) of one file, by its format."""
    name = source_name(source)
    text = decode(read_bytes(source), name).removeprefix("\ufeff")
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise FileFormatError(f"the file is empty; {_WRITTEN_BY} csv, json or trec.", name)
    if first.lstrip().startswith("{"):
        return _read_json(lines, name)
    if first.replace('"', "").startswith("run,"):
        return _read_csv(text, name)
    return _read_trec(lines, name, name_of_path(name) if is_path(source) else "run")


def _read_csv(text, name):
    """Read lines run,qid,MEASURE,..."""
    records = records_of(text, ",", name)
    _, header = next(records)
    if header[:2] != ["run", "qid"] or len(header) < 3:
        raise FileFormatError(
            f"the header is {brief(','.join(header))}, where it should be run,qid,MEASURE,...: "
            "write values of every query with evaluate --per-query --format csv.",
            name,
            1,
        )
    for line, row in records:
        if len(row) != len(header):
            raise FileFormatError(
                f"{len(row)} columns where the header has {len(header)}.", name, line
            )
        values = dict(zip(header[2:], row[2:]))
        yield line, restored(row[0]), restored(row[1]), _numbers(values, name, line)


def _read_json(lines, name):
    """Read an object for each run, each on a line of its own."""
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            record = parse_json(text)
            run, rows = record["run"], [(qid, dict(row)) for qid, row in record["queries"].items()]
        except (InputError, KeyError, TypeError, AttributeError, ValueError) as error:
            why = f"not a JSON object ({error}); " if isinstance(error, InputError) else ""
            raise FileFormatError(
                f'{why}expected {{"run": NAME, "queries": {{qid: {{MEASURE: value}}}}}} on each '
                "line: write values of every query with evaluate --per-query --format json.",
                name,
                line,
            ) from None
        for qid, row in rows:
            yield line, run, qid, _numbers(row, name, line)


def _read_trec(lines, name, nameless):
    """Read lines measure, query, value; the line "runid all NAME" ends the queries of a run."""
    queries, is_empty = {}, True
    # The end of the file ends a run without a name.
    for line, text in enumerate([*lines, f"runid all {nameless}"], 1):
        # Only the name of a run may have blanks in it.
        parts = text.split(None, 2 if text.split()[:1] == ["runid"] else -1)
        if not parts:
            continue
        if len(parts) != 3:
            raise FileFormatError(
                f"{len(parts)} columns where there should be 3 (measure, query, value); "
                f"{_WRITTEN_BY} csv, json or trec, or trec_eval -q.",
                name,
                line,
            )
        measure, qid, value = parts
        if measure == "runid" and qid == "all":
            for each, values in queries.items():
                yield line if line <= len(lines) else None, value.strip(), each, values
            is_empty, queries = is_empty and not queries, {}
        elif qid != "all" and not measure.startswith(_COUNTS):
            row = queries.setdefault(qid, {})
            if measure in row:
                raise FileFormatError(
                    f"a second value of {measure} for query {brief(qid)}: between the queries of "
                    "two runs there should be a line 'runid all NAME', which trec_eval -q writes "
                    "with its default measures or -m runid.",
                    name,
                    line,
                )
            row |= _numbers({measure: value}, name, line)
    if is_empty:
        raise FileFormatError(
            "there is no value of a query, only means: write them with evaluate --per-query "
            "--format trec, or trec_eval -q.",
            name,
        )


def _numbers(row, name, line):
    """Parse a finite number for each measure, NaN if missing."""
    numbers = {}
    for measure, value in row.items():
        try:
            numbers[measure] = np.nan if value is None or value == "" else float(value)
        except (TypeError, ValueError, OverflowError):
            numbers[measure] = np.inf
        if np.isinf(numbers[measure]) or isinstance(value, bool):
            raise FileFormatError(
                f"a value of {measure} must be a number, got {brief(value)}.", name, line
            )
    return numbers


def _join(sources):
    """Collect the values of all files by run and query; files must have different runs."""
    found, holder = {}, {}
    for number, source in enumerate(sources):
        name = source_name(source)
        for line, run, qid, values in _read(source):
            if not isinstance(run, str) or not run:
                raise FileFormatError(
                    f"the name of a run should be a text, got {brief(run)}.", name, line
                )
            if holder.setdefault(run, number) != number:
                raise FileFormatError(
                    f"run {brief(run)} is in {source_name(sources[holder[run]])} too: rename one, "
                    "or leave out a copy.",
                    name,
                )
            if (run, qid) in found:
                raise FileFormatError(
                    f"run {brief(run)} has query {brief(qid)} a second time: are two runs named "
                    "alike? Rename one.",
                    name,
                    line,
                )
            found[run, qid] = values
    return found


def _wanted(measures, known):
    """Return the measures to keep; raise if one is missing."""
    if measures is None:
        return known
    wanted = dict.fromkeys([measures] if isinstance(measures, str) else measures)
    if unknown := [name for name in wanted if name not in known]:
        raise InputError(
            f"there are no values of {brief(unknown[0])}: there are those of {brief_list(known)}, "
            "by the names they were written with."
        )
    return list(wanted)
