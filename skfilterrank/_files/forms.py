"""The form of a file of judgments, of a run or of topics, told from its content."""

import re
from typing import NamedTuple

import pandas as pd

from skfilterrank._files.files import decode
from skfilterrank._files.objects import as_table, is_by_topic
from skfilterrank._files.tables import (
    format_of_name,
    is_table_name,
    read_feather,
    read_format,
    read_jsonl,
    read_parquet,
    read_separated,
)
from skfilterrank._files.topics import is_without_names, read_trec_topics, read_without_names
from skfilterrank._json import parse_json
from skfilterrank._pandas_compat import table_of_records
from skfilterrank.exceptions import FileFormatError, InputError, brief_list

# Names of each column: ours first, which is PyTerrier's too, then those of other tools and files.
# The first name that a table has counts, so names that may hold something else stand last.
COLUMN_NAMES = {
    "qid": (
        *("qid", "query_id", "q_id", "query-id", "queryid", "query_no"),
        *("topic", "topic_id", "topic-id", "topicid", "topic_no", "query"),
    ),
    "docno": (
        *("docno", "doc_id", "docid", "corpus-id", "document_id", "pid"),
        *("doc-id", "document-id", "documentid", "doc_no", "corpus_id", "did"),
        *("passage_id", "passage-id", "passageid"),
    ),
    "label": ("label", "relevance", "rel"),
    "score": ("score",),
    "rank": ("rank",),
    # False where a document is hidden.
    "shown": ("shown", "kept"),
    "inclusion_probability": ("inclusion_probability",),
    "judged_by": ("judged_by",),
    "iteration": ("iteration",),
    "run": ("run",),
}
# Where a column has one of these names, BEIR or ranx wrote it, and "score" is that of labels.
NAMES_BESIDE_SCORES = ("corpus-id", "q_id")
_IDS = (*COLUMN_NAMES["qid"], *COLUMN_NAMES["docno"])
_HEADER_BYTES = 1 << 16
# The first line that is neither blank nor a comment.
_FIRST_LINE = re.compile(rb"^[^\S\n]*([^\s#][^\n]*)", re.MULTILINE)


class Form(NamedTuple):
    """The form of a file: a name, what to do where it is none that is wanted, and a reader.

    The reader takes content, name of the file and columns of ids; it gives a data frame, and a
    function from the position of a row to its line.
    """

    name: str
    advice: str = ""
    read: object = None


LINES = Form("columns between white space")
TOPICS = Form("TREC topics (<top>)", "it holds texts of topics, and no documents.")
_BY_FIRST_BYTES = (
    (
        re.compile(rb"PAR1[\0-\x1f]"),
        Form("Parquet", read=lambda data, name, ids: read_parquet(data, name, ids, "parquet")),
    ),
    (re.compile(rb"ARROW1\0\0"), Form("Arrow", read=lambda *of: read_feather(*of))),
    (re.compile(rb"PK\x03\x04"), Form("a zip archive", "unpack it first.")),
    (re.compile(rb"(?s).{257}ustar"), Form("a tar archive", "unpack it first.")),
    (re.compile(rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07"), Form("an archive", "unpack it first.")),
    (
        re.compile(rb"\x1f\x8b\x08|BZh\d1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd"),
        Form("a packed file inside of a packed one", "unpack it once."),
    ),
    (
        re.compile(rb"%PDF-|\x89PNG|\xff\xd8\xff|\xd0\xcf\x11\xe0|SQLite format 3\0"),
        Form("a document, picture or database", "export it as text."),
    ),
    (re.compile(rb"\x80[\x02-\x05]|\x93NUMPY"), Form("objects of Python", "write them as text.")),
    (
        re.compile(rb"version https://git-lfs\.github\.com/"),
        Form("a pointer of Git LFS", "fetch the file itself by git lfs pull."),
    ),
    (
        re.compile(rb"\xff\xfe|\xfe\xff"),
        Form("UTF-16 text", "convert it to UTF-8 first (for example with iconv)."),
    ),
    # An id may begin with a bracket, too.
    (
        re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"\s*:'),
        Form("JSON", read=lambda *of: _read_json(*of)),
    ),
    (
        re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<topics\b[^>]*>\s*)?<top(?:ic)?\b", re.IGNORECASE),
        TOPICS,
    ),
    (
        re.compile(rb"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE),
        Form("a web page or XML", "download the file itself."),
    ),
    (
        re.compile(rb"\s*[-+.\d]+[ \t]+qid:\S+[ \t]+\d+:"),
        Form("LETOR text (label qid:ID index:value)", "read_letor reads it."),
    ),
)
_SEPARATORS = {"tsv": "\t", "csv": ",", "columns": " "}


def form_of(content):
    """The form of the bytes of a file, without a byte order mark."""
    for pattern, form in _BY_FIRST_BYTES:
        if pattern.match(content):
            return form
    first = _FIRST_LINE.search(content)
    format = header_of(first[1]) if first else None
    if format is None:
        return LINES
    skipped = content.count(b"\n", 0, first.start())

    def read(content, name, ids):
        # What stands above the header is a comment or blank.
        table, line_of = read_separated(content[first.start() :], name, ids, format)
        return table, lambda row: line_of(row) + skipped

    return Form(f"a table of {format}", read=read)


def has_labels(names):
    """Whether a table with columns of these names is one of judgments."""
    known = COLUMN_NAMES["label"]
    return not set(known).isdisjoint(names) or (
        "score" in names and not set(NAMES_BESIDE_SCORES).isdisjoint(names)
    )


def is_empty(content):
    """Tell whether the bytes of a file hold nothing but blank lines and comments."""
    return _FIRST_LINE.search(content) is None


def n_columns(content):
    """Number of columns of the first line that is neither blank nor a comment; 0 without one."""
    first = _FIRST_LINE.search(content)
    return len(first[1].split()) if first else 0


def header_of(line):
    """How a line of bytes separates names of columns; None where it is no header.

    A header names a column of queries and one of documents, whatever else.
    """
    text = line.decode("utf-8", "replace").strip("\r\n")
    for format, separator in _SEPARATORS.items():
        names = {field.strip().strip('"') for field in text.split(separator)}
        if all(names.intersection(COLUMN_NAMES[column]) for column in ("qid", "docno")):
            return format
    return None


def unknown_header(content) -> str | None:
    """Say what is wrong with a first line that names columns, but none that are known."""
    first = _FIRST_LINE.search(content)
    line = first[1].decode("utf-8", "replace").strip() if first else ""
    for separator in "\t,;|":
        names = [field.strip().strip('"') for field in line.split(separator)]
        if len(names) < 3 or not all(re.match(r"[^\W\d][\w\s-]*\Z", name) for name in names):
            continue
        if separator in ";|":
            return (
                f"the line looks like names of columns separated by {separator!r}; separate the "
                "columns by commas or tabs."
            )
        lacking = [
            f"{what} ({brief_list(COLUMN_NAMES[column][:4])})"
            for column, what in (("qid", "queries"), ("docno", "documents"))
            if set(names).isdisjoint(COLUMN_NAMES[column])
        ]
        return (
            f"the line looks like names of columns, of which none is known to hold "
            f"{' or '.join(lacking)}; rename the columns."
        )
    return None


def read_table(content, form, name, expected, ids=_IDS):
    """Data frame of a file that is none of lines, and a function from row to line."""
    if form.read is None:
        raise FileFormatError(
            f"this looks like {form.name}, where {expected} was expected: {form.advice}", name, 1
        )
    return form.read(content, name, ids)


def read_texts(content, name, ids):
    """Table of topics or documents, told from the content, and a function from row to line.

    `ids` are names that the column of ids may have; where there are none, and each line holds an
    id and a text, the columns are called "id" and "text".
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    for pattern, form in _BY_FIRST_BYTES:
        if pattern.match(content):
            if form is TOPICS:
                return read_trec_topics(content, name)
            return read_table(content, form, name, "a table", ids)
    first = content[:_HEADER_BYTES].lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    for format in ("tsv", "csv"):
        separator = _SEPARATORS[format]
        names = [field.strip().strip('"') for field in first.split(separator)]
        if len(names) > 1 and not set(ids).isdisjoint(names):
            return read_separated(content, name, ids, format)
        if is_without_names(first, separator) and format == "tsv":
            return read_without_names(content, name, separator)
    if is_table_name(name):
        return read_format(content, name, ids, format_of_name(None, name))
    raise FileFormatError(
        f"the form of the file cannot be told: it is none of JSON, Parquet, TREC topics (<top>), "
        f"lines of id, tab and text, and its first line names no column {' or '.join(ids)}.",
        name,
        1,
    )


def _read_json(content, name, ids):
    """Table of JSON: lines of objects, a list of them, or one object {topic: {document: x}}."""
    text = decode(content, name)
    first, _, rest = text.lstrip().partition("\n")
    if rest.strip():
        try:
            is_lines = isinstance(parse_json(first), dict)
        except InputError:
            is_lines = False
        if is_lines:
            return read_jsonl(content, name, ids, "jsonl")
    try:
        value = parse_json(text, unique=True)
    except InputError as error:
        raise FileFormatError(
            f"the file is not JSON ({error}).", name, getattr(error.__cause__, "lineno", None)
        ) from error
    is_texts = isinstance(value, dict) and all(isinstance(x, str) for x in value.values())
    if is_texts and set(value).isdisjoint((*ids, *_IDS)):
        # Texts by their ids, and not the only row of a table.
        return pd.DataFrame({"id": list(value), "text": list(value.values())}), lambda row: None
    if is_by_topic(value):
        # Whichever it is called: a label or a score.
        table = as_table(value, "label").assign(score=lambda table: table["label"])
    else:
        rows = [value] if isinstance(value, dict) else value
        if not rows or not all(isinstance(row, dict) for row in rows):
            raise FileFormatError(
                "the JSON must be an object {topic: {document: number}}, or a list of objects with "
                "one name for each column.",
                name,
            )
        table = table_of_records(rows)
    return table, lambda row: None
