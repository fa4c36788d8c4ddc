"""Forms of judgments and runs: files by their content, objects in memory, and runs by name.

Objects of ranx, pyarrow, ir_measures and ir_datasets are recognized by their attributes, without
importing these packages.
"""

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice

import pandas as pd

from skfilterrank._base.checks import as_list
from skfilterrank._files.files import (
    check_name,
    decode,
    is_path,
    json_of,
    read_bytes,
    unpacked_name,
)
from skfilterrank._files.kinds import ORDER, ROLES, SEPARATORS, first_line
from skfilterrank._files.tables import (
    SUFFIXES,
    import_pyarrow,
    read_excel,
    read_jsonl,
    read_parquet,
    read_separated,
    table_of_records,
)
from skfilterrank.exceptions import (
    FileFormatError,
    InputError,
    InputTypeError,
    SkfilterrankError,
    brief,
)

OF_SERIES = (
    "Make a data frame of it, with the columns 'qid', 'docno' and 'score' (or 'label'), such as by "
    "reset_index() where queries and documents are in its index."
)
_EXPECTED = (
    "a path, a list of paths, a folder, or a dict {name: path, open file, data frame or other run}"
)


def named_runs(runs, *, least: int = 1, may_be_one: bool = False) -> dict:
    """Return runs by their names, from a path, a folder, a list of paths, or a dict.

    With `may_be_one`, one run in any form is a run of the name that it has, or else "run".
    """
    # Two runs of which a filter left nothing must not become one run of two queries.
    if may_be_one and is_by_query(runs) and not any(runs.values()):
        raise InputError(
            f"runs is {brief(runs)}, and empty dicts may be runs or queries: give each run as a "
            "data frame, or as {query: {}}."
        )
    if isinstance(runs, Mapping) and not is_by_query(runs):
        named = dict(runs)
    elif isinstance(runs, pd.Series):
        raise InputTypeError(f"runs must be {_EXPECTED}, got one Series. {OF_SERIES}")
    elif "label" in getattr(runs, "columns", ()) or (hasattr(runs, "align") and not is_frame(runs)):
        raise InputTypeError(f"runs must be {_EXPECTED}, got judgments. Swap them: {ORDER}")
    elif may_be_one and (is_table(runs) or hasattr(runs, "read") or hasattr(runs, "y_score")):
        named = {_name_of_one(runs): runs}
    elif not isinstance(runs, list | tuple) and (
        is_table(runs) or hasattr(runs, "columns") or hasattr(runs, "read")
    ):
        raise InputTypeError(
            f"runs must be {_EXPECTED}, got one {type(runs).__name__}. Name a run, as in "
            f"{{'name': run}}; {ORDER}"
        )
    else:
        named = {}
        paths = "paths, or a dict {name: run}"
        listed = [runs] if is_path(runs) else as_list(runs, "runs", paths)
        for run in files_of_folders(listed):
            name = name_of_path(run) if is_path(run) else getattr(run, "name", None)
            if not isinstance(name, str) or hasattr(run, "read"):
                raise InputTypeError(
                    f"runs must be {_EXPECTED}, got a list that holds {type(run).__name__}: only "
                    "a path gives a run its name, so pass a dict."
                )
            if name in named:
                both = [str(each if is_path(each) else type(each)) for each in (run, named[name])]
                raise InputError(
                    f"{' and '.join(both)} give two runs of the name {brief(name)}: pass a dict "
                    "{name: path}, or rename a file."
                )
            named[name] = run
    if len(named) < least:
        plural = "s" * (least > 1)
        raise InputError(f"runs must hold at least {least} run{plural}, got {len(named)}.")
    return named


def _name_of_one(run):
    """Return the name of one run in memory or of an open file, or "run"."""
    if "run" in getattr(run, "columns", ()) and isinstance(run, pd.DataFrame):
        names = run["run"].unique()
        name = names[0] if len(names) == 1 else None
    else:
        name = getattr(run, "name", None)
        name = name_of_path(name) if name and hasattr(run, "read") and is_path(name) else name
    return name if isinstance(name, str) and name else "run"


def files_of_folders(sources) -> list:
    """Return runs with each folder replaced by its files, in the order of their names."""
    found = []
    for each in sources:
        if is_path(each) and os.path.isdir(each):
            paths = [os.path.join(each, name) for name in sorted(os.listdir(each))]
            visible = [path for path in paths if not os.path.basename(path).startswith(".")]
            found += [path for path in visible if os.path.isfile(path)]
        else:
            found.append(each)
    return found


def are_several_runs(source) -> bool:
    """Tell whether these are runs by name or a list of runs."""
    return isinstance(source, Mapping | list | tuple) and not is_table(source) and are_runs(source)


def are_runs(systems) -> bool:
    """Tell whether the argument holds runs in some form, rather than scores."""
    if is_path(systems) or is_by_query(systems):
        return True
    runs = systems.values() if isinstance(systems, Mapping) else systems
    return isinstance(systems, Mapping | list | tuple) and any(
        is_path(run) or is_table(run) or hasattr(run, "read") or hasattr(run, "columns")
        for run in runs
    )


def name_of_path(path) -> str:
    """Name a run after its file, without the ends that tell its compression and its format."""
    name = unpacked_name(text_of_path(os.path.basename(path)))
    for ending in (*SUFFIXES, ".txt"):
        if len(name) > len(ending) and name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def text_of_path(path) -> str:
    """Return a path as text, with codes for bytes that are not UTF-8, which pandas refuses."""
    check_name(path)
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def for_any_process(run) -> tuple:
    """Return the given path for messages, and a source that another process can read."""
    if is_path(run):
        return run, os.path.abspath(run)
    if hasattr(run, "read"):
        return None, io.BytesIO(read_bytes(run))
    # For example an iterator, which cannot be passed to another process.
    table = as_table(run, "score")
    return None, run if table is None else table


@contextmanager
def errors_of(name, path=None, found_at=None, kind="run"):
    """Add the name of a run to errors, and replace the file `found_at` by the caller's `path`."""
    try:
        yield
    except (SkfilterrankError, ValueError, OSError) as error:
        for attribute in ("file", "filename"):
            if isinstance(found_at, str) and getattr(error, attribute, None) == found_at:
                setattr(error, attribute, os.fspath(path))
        error.add_note(f"The error concerns the {kind} {brief(name)}.")
        raise


def is_frame(data):
    """Tell whether data is a data frame of pandas or polars."""
    return isinstance(data, pd.DataFrame) or hasattr(data, "get_column")


def is_by_query(data):
    """Tell whether data is a dict {query: {document: label or score}}."""
    return (
        isinstance(data, Mapping)
        and len(data) > 0
        and all(isinstance(documents, Mapping) for documents in data.values())
        and not any(
            isinstance(value, Mapping) or hasattr(value, "columns")
            for documents in data.values()
            for value in islice(documents.values(), 1)
        )
    )


def _is_row(row):
    return hasattr(row, "_fields") or (isinstance(row, Mapping) and not is_by_query(row))


def _of_polars(data):
    return pd.DataFrame({name: data[name].to_list() for name in data.columns})


def _of_topics(data, value):
    qids, docnos, values = [], [], []
    for qid, documents in data.items():
        qids += [qid] * len(documents)
        docnos += documents
        values += documents.values()
    return pd.DataFrame({"qid": qids, "docno": docnos, value: values})


def _of_rows(data, value):
    rows = list(data)
    kinds = {type(row) for row in rows}
    if rows and (len(kinds) > 1 or not _is_row(rows[0])):
        shown = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"rows of {'qrels' if value == 'label' else 'a run'} must be named tuples of one kind, "
            f"such as those of ir_measures and ir_datasets, or dicts, got {shown}."
        )
    return pd.DataFrame.from_records(rows, columns=getattr(next(iter(rows), None), "_fields", None))


def is_table(data):
    """Tell whether an object holds judgments or a run, without reading it."""
    return _reader(data, "score") is not None


def as_table(data, value):
    """Return an object's rows with "label" or "score"; None if its type is not supported."""
    read = _reader(data, value)
    return None if read is None else read()


def _reader(data, value):
    """Return a function that makes a table of an object; None if its type is not supported."""
    if hasattr(data, "read") or isinstance(data, str | bytes | pd.Series):
        return None
    if isinstance(data, pd.DataFrame):
        return lambda: data
    if value == "label" and isinstance(getattr(data, "qrels", None), pd.DataFrame):
        # Results that hold judgments, such as completed ones.
        return lambda: data.qrels
    if is_frame(data):
        return partial(_of_polars, data)
    if hasattr(data, "collect_schema"):
        return lambda: _of_polars(data.collect())
    # A single column, which has a length but no columns, becomes a Series.
    if hasattr(data, "to_pandas") and (hasattr(data, "columns") or not hasattr(data, "__len__")):
        return data.to_pandas
    # A column of numbers has no schema.
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema"):
        return lambda: import_pyarrow("reading an Arrow table").table(data).to_pandas()
    if is_by_query(data):
        return partial(_of_topics, data, value)
    # Runs of ranx.
    if hasattr(data, "to_dict") and hasattr(data, "get_doc_ids_and_scores"):
        return lambda: _of_topics(data.to_dict(), value)
    # Datasets of ir_datasets.
    if hasattr(data, "qrels_iter") or hasattr(data, "scoreddocs_iter"):
        return lambda: _of_rows(
            data.qrels_iter() if value == "label" else data.scoreddocs_iter(), value
        )
    is_rows = isinstance(data, list | tuple) and bool(data) and _is_row(data[0])
    return partial(_of_rows, data, value) if is_rows or isinstance(data, Iterator) else None


def read_format(content, name, kinds, format):
    """Read a table in a format: the table, and a function from row position to line number.

    `kinds` are lists of possible names, one for each column of ids, which is read as texts.
    """
    readers = {"json": _read_json, "jsonl": read_jsonl, "parquet": read_parquet}
    readers["excel"] = read_excel
    return readers.get(format, read_separated)(content, name, kinds, format)


def read_form(form, content, name, kinds):
    """Read a file that is not TREC lines, as `read_format`; comments may precede a header."""
    begin = first_line(content).start() if form in SEPARATORS else 0
    table, line_of = read_format(content[begin:], name, kinds, form)
    if not begin:
        return table, line_of
    return table, lambda row: line_of(row) + content.count(b"\n", 0, begin)


def _read_json(content, name, kinds, format):
    """Read JSON: lines of objects, a list of objects, or one object {query: {document: x}}."""
    text = decode(content, name)
    first, _, rest = text.lstrip().partition("\n")
    is_lines = False
    if rest.strip():
        with suppress(FileFormatError):
            is_lines = isinstance(json_of(first, name), dict)
    if is_lines:
        return read_jsonl(content, name, kinds, "jsonl")
    value = json_of(text, name, unique=True)
    is_filled = bool(value) and isinstance(value, dict)
    is_texts = is_filled and all(isinstance(x, str) for x in value.values())
    if is_texts and set(value).isdisjoint(chain(ROLES["qid"].names, ROLES["docno"].names, *kinds)):
        # The object holds texts by id; it is not the only row of a table.
        table = pd.DataFrame({"id": list(value), "text": list(value.values())})
    elif value and is_by_query(value):
        # The caller decides if the numbers are labels or scores.
        table = as_table(value, "label").assign(score=lambda table: table["label"])
    elif is_filled and all(isinstance(x, list) for x in value.values()):
        raise FileFormatError(
            "the JSON maps ids to lists, but each query must map its documents to numbers, as in "
            '{"q1": {"d1": 1}}, or each row must be an object with names of columns.',
            name,
        )
    else:
        rows = [value] if is_filled else value
        if not rows or not all(isinstance(row, dict) for row in rows):
            raise FileFormatError(
                "the JSON must be an object {query: {document: number}}, or a list of objects with "
                f"one name for each column, got {brief(value)}.",
                name,
            )
        table = table_of_records(rows, name)
    return table, lambda row: None
