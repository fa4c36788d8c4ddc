"""Form of a file of judgments, of a run or of topics, by its content."""

import html
import re

import pandas as pd

from skfilterrank._files.files import decode, json_of, parse_json
from skfilterrank._files.named_runs import as_table, is_by_query
from skfilterrank._files.tables import (
    format_of_name,
    is_table_name,
    read_by_pyarrow,
    read_format,
    read_jsonl,
    read_separated,
    table_of_records,
)
from skfilterrank.exceptions import FileFormatError, InputError

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
        *("passage_id", "passage-id", "passageid", "document", "doc"),
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
# BEIR or ranx wrote a file with one of these columns, and "score" then holds labels.
NAMES_BESIDE_SCORES = ("corpus-id", "q_id")
_IDS = (*COLUMN_NAMES["qid"], *COLUMN_NAMES["docno"])
_HEADER_BYTES = 1 << 16
_SEPARATORS = {"tsv": "\t", "csv": ",", "columns": " "}
# The first line that is neither blank nor a comment.
_FIRST_LINE = re.compile(rb"^[^\S\n]*([^\s#][^\n]*)", re.MULTILINE)
_TOPICS = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<topics\b[^>]*>\s*)?<top(?:ic)?\b", re.IGNORECASE)


LINES = "columns between white space"
_FIRST_BYTES = {
    "parquet": re.compile(rb"PAR1[\0-\x1f]"),
    "arrow": re.compile(rb"ARROW1\0\0"),
    # An id may begin with a bracket, too.
    "json": re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"\s*:'),
}


def form_of(content):
    """Find the form of a file from its bytes, without a byte order mark."""
    for form, pattern in _FIRST_BYTES.items():
        if pattern.match(content):
            return form
    first = _FIRST_LINE.search(content)
    return (header_of(first[1]) if first else None) or LINES


def read_form(form, content, name, ids=_IDS):
    """Read a file of a form but lines: the table, and a function from row position to line."""
    if form == "json":
        return _read_json(content, name, ids)
    if form in _FIRST_BYTES:
        return read_by_pyarrow(content, name, ids, form)
    # Above the header there are comments and blank lines only.
    begin = _FIRST_LINE.search(content).start()
    table, line_of = read_separated(content[begin:], name, ids, form)
    return table, lambda row: line_of(row) + content.count(b"\n", 0, begin)


def has_labels(names):
    """Tell whether a table with columns of these names is one of judgments."""
    known = COLUMN_NAMES["label"]
    return not set(known).isdisjoint(names) or (
        "score" in names and not set(NAMES_BESIDE_SCORES).isdisjoint(names)
    )


def n_columns(content):
    """Count the columns of the first line that is neither blank nor a comment; 0 without one."""
    first = _FIRST_LINE.search(content)
    return len(first[1].split()) if first else 0


def header_of(line):
    """Find how a line of bytes separates names of columns; None where it is no header.

    A header names a column of queries and one of documents, whatever else.
    """
    text = line.decode("utf-8", "replace").strip("\r\n")
    for format, separator in _SEPARATORS.items():
        names = _fields(text, separator)
        if all(names.intersection(COLUMN_NAMES[column]) for column in ("qid", "docno")):
            return format
    return None


def _fields(line, separator):
    """Return the names of columns in a line."""
    return {field.strip().strip('"') for field in line.split(separator)}


def read_texts(content, name, ids):
    """Read topics or documents in any form: the table, and a function from row to line.

    `ids` are names that the column of ids may have; where there are none, and each line holds an
    id and a text, the columns are called "id" and "text".
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    if _TOPICS.match(content):
        return _read_topics(content, name)
    form = form_of(content)
    if form in _FIRST_BYTES:
        return read_form(form, content, name, ids)
    first = content[:_HEADER_BYTES].lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    for format in ("tsv", "csv"):
        names = _fields(first, _SEPARATORS[format])
        if len(names) > 1 and not names.isdisjoint(ids):
            return read_separated(content, name, ids, format)
    key, *texts = first.strip("\r\n").split("\t")
    # MS MARCO has no header: ids have digits, and names of columns have none.
    if len(texts) == 1 and re.search(r"\d", key) and " " not in key.strip():
        return _read_without_names(content, name)
    if is_table_name(name):
        return read_format(content, name, ids, format_of_name(None, name))
    raise FileFormatError(
        f"the form of the file cannot be told: it is none of JSON, Parquet, TREC topics (<top>), "
        f"lines of id, tab and text, and its first line names no column {' or '.join(ids)}.",
        name,
        1,
    )


def _read_json(content, name, ids=_IDS):
    """Read JSON: lines of objects, a list of them, or one object {query: {document: x}}."""
    text = decode(content, name)
    first, _, rest = text.lstrip().partition("\n")
    if rest.strip():
        try:
            is_lines = isinstance(parse_json(first), dict)
        except InputError:
            is_lines = False
        if is_lines:
            return read_jsonl(content, name, ids, "jsonl")
    value = json_of(text, name, unique=True)
    is_texts = isinstance(value, dict) and all(isinstance(x, str) for x in value.values())
    if is_texts and set(value).isdisjoint((*ids, *_IDS)):
        # Texts by their ids, and not the only row of a table.
        return pd.DataFrame({"id": list(value), "text": list(value.values())}), lambda row: None
    if is_by_query(value):
        # The numbers are labels or scores, by the reader's wish.
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
# A "<" of the text, as in "a < b", begins no tag.
_TAG = re.compile(r"""<(/?)([a-z]\w*)(?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?>""", re.I)
# Fields that may begin within a line; others begin a line, or stand behind a tag.
_FIELDS = ("num", "title", "desc", "narr", "query", "question", "narrative", "description")
# Labels that all topics share.
_LABEL = re.compile(r"(?:number|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_NAMES = {"num": "number", "desc": "description", "narr": "narrative"}


def _read_topics(data, name):
    """Read topics between tags: a table of "number" and of texts by the names of their tags."""
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
            # Its line before it, since the last tag.
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
    """Read lines that hold an id and a text: the table, and a function from row to line."""
    rows, lines = [], []
    for number, line in enumerate(decode(data, name).split("\n"), 1):
        if not line.strip():
            continue
        key, mark, text = line.rstrip("\r").partition("\t")
        if not mark:
            raise FileFormatError(
                "an id, a tab and a text were expected, as in the first line.", name, number
            )
        rows.append((key, text))
        lines.append(number)
    return pd.DataFrame(rows, columns=["id", "text"]), lines.__getitem__
