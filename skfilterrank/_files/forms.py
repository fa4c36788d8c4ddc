"""Forms of judgments and runs: files by their content, objects in memory, and runs by name.

Objects of ranx, pyarrow, ir_measures and ir_datasets are recognized by their attributes, without
importing these packages.
"""

import html
import io
import os
import re
from collections import Counter
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
from skfilterrank._files.tables import (
    SEPARATORS,
    SUFFIXES,
    find_column,
    format_of_name,
    import_pyarrow,
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
    brief_list,
)

# Hint in errors about judgments in the place of runs, and the reverse.
ORDER = "judgments come first, then runs, as in evaluate_runs(qrels, runs, measures)."
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
    for ending in (*SUFFIXES, ".json", ".txt"):
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
def errors_of(name, path=None, found_at=None):
    """Add the name of a run to errors, with the path as the caller wrote it."""
    try:
        yield
    except (SkfilterrankError, ValueError, OSError) as error:
        for attribute in ("file", "filename"):
            if isinstance(found_at, str) and getattr(error, attribute, None) == found_at:
                setattr(error, attribute, os.fspath(path))
        error.add_note(f"The error concerns the run {brief(name)}.")
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


# Possible names of each column, in any case: first our name, which PyTerrier uses too, then names
# of other tools. The first name that a table has is used, so ambiguous names come last.
COLUMN_NAMES = {
    "qid": (
        *("qid", "query_id", "q_id", "query-id", "queryid", "query_no"),
        *("topic", "topic_id", "topic-id", "topicid", "topic_no", "question_id", "question-id"),
        *("questionid", "query"),
    ),
    "docno": (
        *("docno", "doc_id", "docid", "corpus-id", "document_id", "pid"),
        *("doc-id", "document-id", "documentid", "doc_no", "corpus_id", "did"),
        *("passage_id", "passage-id", "passageid", "document", "doc"),
    ),
    "label": ("label", "relevance", "rel", "rating", "grade"),
    "score": ("score", "prediction"),
    "rank": ("rank",),
    # Columns that are False where a document is hidden.
    "shown": ("shown", "kept"),
    "inclusion_probability": ("inclusion_probability",),
    "judged_by": ("judged_by",),
    "draw": ("draw",),
    "iteration": ("iteration",),
    "run": ("run",),
}
# A file with one of these columns was written by BEIR or ranx; its column "score" holds labels.
NAMES_BESIDE_SCORES = ("corpus-id", "q_id")
# In tables of judgments and runs, users and items of recommenders are queries and documents.
ROW_NAMES = COLUMN_NAMES | {
    "qid": (*COLUMN_NAMES["qid"], "user", "user_id", "userid"),
    "docno": (*COLUMN_NAMES["docno"], "item", "item_id", "itemid"),
}
_IDS = (*COLUMN_NAMES["qid"], *COLUMN_NAMES["docno"])
# Beside a surer name of the same role, these may well be columns of something else, such as a text.
_UNSURE = {
    *("query", "topic", "document", "doc"),
    *("user", "user_id", "userid", "item", "item_id", "itemid"),
}
_HEADER_BYTES = 1 << 16
_BARE_LINE = re.compile(rb"(?=[^\t ]*[0-9])[^\t ]+ *\t[^\t]*")
# Matches the first line that is neither blank nor a comment.
_FIRST_LINE = re.compile(rb"^[^\S\n]*([^\s#][^\n]*)", re.MULTILINE)
_TOPICS = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<topics\b[^>]*>\s*)?<top(?:ic)?\b", re.IGNORECASE)


LINES = "columns between white space"
_FIRST_BYTES = {
    "parquet": re.compile(rb"PAR1[\0-\x1f]"),
    # A bracket alone does not prove JSON: an id may begin with a bracket.
    "json": re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"\s*:'),
}


def names_of_columns(columns) -> dict:
    """Return the possible names of each column, of which the caller may have given some."""
    columns = {} if columns is None else columns
    if not isinstance(columns, Mapping) or not all(isinstance(x, str) for x in columns.values()):
        raise InputError(
            "columns must be a dict of names by our names, such as {'qid': 'question'}, got "
            f"{brief(columns)}."
        )
    if unknown := [name for name in columns if name not in ROW_NAMES]:
        raise InputError(
            f"columns must have keys among {brief_list(ROW_NAMES.keys())}, got {brief(unknown[0])}."
        )
    if twice := [name for name, n in Counter(columns.values()).items() if n > 1]:
        raise InputError(
            f"columns must name each column once, got {brief(columns)}, where {brief(twice[0])} "
            "has two meanings: name another column for one of them."
        )
    return ROW_NAMES | {name: (given,) for name, given in columns.items()}


def chosen_column(present, names, option=None):
    """Return the column of a role as `find_column` does; raise if another column may be meant.

    The first name, ours, is meant where a column has it. `option` names the column; None is
    ``columns=``.
    """
    found = find_column(present, names)
    lower = {str(column).lower() for column in present}
    sure = [name for name in names if name in lower - _UNSURE]
    if len(sure) > 1 and sure[0] != names[0]:
        option = option or f"columns=, such as {{{names[0]!r}: {brief(found)}}}"
        raise InputError(
            f"the columns {brief_list(find_column(present, [name]) for name in sure)} may each be "
            f"{brief(names[0])}: name one of them by {option}, or rename it to {brief(names[0])}."
        )
    return found


def form_of(content, names=ROW_NAMES):
    """Return the format of a file from its bytes, which have no byte order mark."""
    for form, pattern in _FIRST_BYTES.items():
        if pattern.match(content):
            return form
    first = _FIRST_LINE.search(content)
    line = first[1] if first else b""
    return header_of(line, names["qid"], names["docno"]) or LINES


def check_no_header(content, value, columns, name):
    """Raise for a first line of names of columns, of which those of ids are not known."""
    first = _FIRST_LINE.search(content)
    line = first[1].decode("utf-8", "replace") if first else ""
    fields = [each.strip().strip('"') for each in re.split("[,;\t]", line)]
    is_header = len(fields) > 2 and all(re.fullmatch(r"[^\W\d][\w .-]*", each) for each in fields)
    names = names_of_columns(columns)
    found = {each: find_column(fields, names[each]) for each in ("qid", "docno", value)}
    lacking = [each for each in found if found[each] is None]
    if not (line and lacking and (columns or (is_header and not re.search(r"\d", line)))):
        return
    other = next((each for each in fields if each not in found.values()), "")
    raise FileFormatError(
        f"the first line holds {brief_list(fields)}, and no name that is known for "
        f"{' and '.join(lacking)}: rename them, or name them by columns=, such as "
        f"{{{lacking[0]!r}: {brief(other)}}}.",
        name,
        content.count(b"\n", 0, first.start(1)) + 1,
    )


def read_format(content, name, kinds, format):
    """Read a table in a format: the table, and a function from row position to line number.

    `kinds` are lists of possible names, one for each column of ids, which is read as texts.
    """
    readers = {"json": _read_json, "jsonl": read_jsonl, "parquet": read_parquet}
    return readers.get(format, read_separated)(content, name, kinds, format)


def read_form(form, content, name, kinds):
    """Read a file that is not TREC lines, as `read_format`; comments may precede a header."""
    if form in _FIRST_BYTES:
        return read_format(content, name, kinds, form)
    begin = _FIRST_LINE.search(content).start()
    table, line_of = read_format(content[begin:], name, kinds, form)
    return table, lambda row: line_of(row) + content.count(b"\n", 0, begin)


def has_labels(names):
    """Tell from the column names whether a table holds judgments."""
    return find_column(names, COLUMN_NAMES["label"]) is not None or (
        find_column(names, ["score"]) is not None
        and find_column(names, NAMES_BESIDE_SCORES) is not None
    )


def n_columns(content):
    """Count the columns of the first line that is neither blank nor a comment; 0 without one."""
    first = _FIRST_LINE.search(content)
    return len(first[1].split()) if first else 0


def header_of(line, *kinds):
    """Return the format of a header line of bytes; None if the line is not a header.

    A header names several columns, at least one of each kind; kinds are lists of names.
    """
    text = line.decode("utf-8", "replace").strip("\r\n")
    for format, separators in SEPARATORS.items():
        names = {field.strip().strip('"') for field in re.split(f"[{separators}]", text)}
        if len(names) > 1 and None not in [find_column(names, kind) for kind in kinds]:
            return format
    return None


def read_texts(content, name, ids):
    """Read topics or documents in any format: the table, and a function from row to line number.

    `ids` are the possible names of the id column. If the file has no header and each line holds an
    id and a text, the columns are called "id" and "text".
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    if _TOPICS.match(content):
        return _read_topics(content, name)
    form = form_of(content)
    if form in _FIRST_BYTES:
        return read_form(form, content, name, [ids])
    first = content[:_HEADER_BYTES].lstrip().partition(b"\n")[0]
    if (format := header_of(first, ids)) in ("tsv", "csv"):
        return read_separated(content, name, [ids], format)
    # MS MARCO files have no header: their ids contain digits, unlike column names.
    if _BARE_LINE.fullmatch(first):
        return _read_without_names(content, name)
    if (format := format_of_name(name)) is not None:
        return read_format(content, name, [ids], format)
    raise FileFormatError(
        "the format of the file is unknown: it is not JSON, Parquet, TREC topics (<top>) or "
        "lines of id, tab and text, and its first line names no column "
        f"{' or '.join(ids[:4])} or the like.",
        name,
        1,
    )


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
    is_texts = isinstance(value, dict) and all(isinstance(x, str) for x in value.values())
    if is_texts and set(value).isdisjoint(chain(_IDS, *kinds)):
        # The object holds texts by id; it is not the only row of a table.
        table = pd.DataFrame({"id": list(value), "text": list(value.values())})
    elif is_by_query(value):
        # The caller decides if the numbers are labels or scores.
        table = as_table(value, "label").assign(score=lambda table: table["label"])
    else:
        rows = [value] if isinstance(value, dict) else value
        if not rows or not all(isinstance(row, dict) for row in rows):
            raise FileFormatError(
                "the JSON must be an object {query: {document: number}}, or a list of objects with "
                "one name for each column.",
                name,
            )
        table = table_of_records(rows, name)
    return table, lambda row: None


_TOPIC = re.compile(r"<(top|topic)\b([^<>]*)>(.*?)(</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"""\bnumber\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
# A "<" within text, as in "a < b", does not begin a tag.
_TAG = re.compile(r"""<(/?)([a-z]\w*)(?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?>""", re.I)
# Fields that may begin anywhere in a line; other fields must begin a line or follow a tag.
_FIELDS = ("num", "title", "desc", "narr", "query", "question", "narrative", "description")
# Labels such as "Description:" that are removed if all topics have them.
_LABEL = re.compile(r"(?:number|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_NAMES = {"num": "number", "desc": "description", "narr": "narrative"}


def _read_topics(data, name):
    """Read TREC topics: a table with the column "number" and a column for each tag."""
    text = decode(data, name)
    rows, lines = [], []
    line, counted = 1, 0
    for match in _TOPIC.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if not match[4] or re.search(rf"<{match[1]}\b", match[3], re.IGNORECASE):
            raise FileFormatError(f"<{match[1]}> is not closed; is the file cut short?", name, line)
        fields = {
            _NAMES.get(tag, tag): " ".join(html.unescape(content).split())
            for tag, content in _fields_of(match[3])
            if content
        }
        if (number := _NUMBER.search(match[2])) is not None:
            fields["number"] = number[1]
        if not fields.get("number"):
            raise FileFormatError("the topic has no number, such as '<num> Number: 1'.", name, line)
        rows.append(fields)
        lines.append(line)
    return pd.DataFrame.from_records(rows), lines.__getitem__


def _fields_of(topic):
    """Yield the tag and the text of each field; a field ends at its closing tag or the next one."""
    tags = list(_TAG.finditer(topic))
    closed_at = {tag[2].lower(): tag.start() for tag in tags if tag[1]}
    field, begin, behind = None, 0, 0
    for tag in tags:
        name = tag[2].lower()
        if tag[1]:
            is_end = name == field
        else:
            # Text of the field's line between the last tag and this one.
            before = topic[behind : tag.start()].rpartition("\n")[2]
            is_end = closed_at.get(field, -1) < tag.start() and (
                name in _FIELDS or not before.strip()
            )
        behind = tag.end()
        if not is_end:
            continue
        if field is not None:
            yield field, _without_label(topic[begin : tag.start()])
        field, begin = None if tag[1] else name, tag.end()
    if field is not None:
        yield field, _without_label(topic[begin:])


def _without_label(text):
    """Return the text of a field without a label such as "Description:"."""
    text = text.strip()
    label = _LABEL.match(text)
    return text[label.end() :] if label else text


def _read_without_names(data, name):
    """Read lines of id and text: the table, and a function from row to line number."""
    rows, lines = [], []
    for number, line in enumerate(decode(data, name).split("\n"), 1):
        if not line.strip():
            continue
        key, mark, text = line.rstrip("\r").partition("\t")
        if not mark:
            raise FileFormatError(
                "expected an id, a tab and a text, as in the first line.", name, number
            )
        rows.append((key, text))
        lines.append(number)
    return pd.DataFrame(rows, columns=["id", "text"]), lines.__getitem__
