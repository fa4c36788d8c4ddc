"""Texts of queries and documents by their ids: TREC topics, tables, and lines of id and text."""

import html
import re

import pandas as pd

from skfilterrank._base.words import warn_user
from skfilterrank._files.files import decode
from skfilterrank._files.forms import read_form, read_format
from skfilterrank._files.kinds import LINES, SEPARATORS, Role, form_of, header_of, seems
from skfilterrank._files.tables import format_of_name, read_separated
from skfilterrank.exceptions import DataWarning, FileFormatError

_HEADER_BYTES = 1 << 16
# A declaration, a DOCTYPE and comments may precede the tags of XML.
_PROLOG = r"""(?>\s+|<\?(?s:.*?)\?>|<!--(?s:.*?)-->|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>)*+"""
# Topics are elements of these names, alone or within a root of any name.
_TOPICS = re.compile(
    rf"{_PROLOG}(?:<(?!top\b|topic\b)[a-z][\w.-]*\b[^<>]*>{_PROLOG})?<(top|topic|query)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# A line without names of columns: an id, a tab and a text, as MS MARCO writes it, or with a colon,
# as the Million Query tracks do. Ids contain digits, unlike names of columns.
_BARE_LINE = re.compile(r"(?=[^\t ]*[0-9])[^\t ]+ *\t[^\t]*|(?:wt09-)?[0-9]+:.*")


def read_texts(content, name, ids):
    """Read topics or documents in any format: the table, and a function from row to line number.

    `ids` are the possible names of the id column. If the file has no header and each line holds an
    id and a text, the columns are called "id" and "text".
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    first = content[:_HEADER_BYTES].lstrip().partition(b"\n")[0]
    if first.startswith(b"<") and (root := _TOPICS.match(text := decode(content, name))):
        return _read_topics(text, root[1], name)
    form = form_of(content)
    if form not in (LINES, *SEPARATORS):
        return read_form(form, content, name, [ids])
    if (format := header_of(first, [Role(tuple(ids))])) in ("tsv", "csv"):
        return read_separated(content, name, [ids], format)
    line = first.decode("utf-8", "replace").rstrip("\r")
    if _BARE_LINE.fullmatch(line):
        return _read_without_names(content, name, "\t" if "\t" in line else ":")
    if (format := format_of_name(name)) is not None:
        return read_format(content, name, [ids], format)
    raise FileFormatError(
        "the format of the file is unknown: it is not JSON, Parquet, TREC topics (<top>) or "
        "lines of id, tab and text, and its first line names no column "
        f"{' or '.join(ids[:4])} or the like{seems(content)}.",
        name,
        1,
    )


_ATTRIBUTE = re.compile(r"""\b(number|qid|id)\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
# A "<" within text, as in "a < b", does not begin a tag.
_TAG = re.compile(r"""<(/?)([a-z]\w*)(?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?>""", re.I)
# Fields that may begin anywhere in a line; other fields must begin a line or follow a tag.
_FIELDS = ("num", "title", "desc", "narr", "query", "question", "narrative", "description")
# Labels such as "Description:" that are removed if all topics have them.
_LABEL = re.compile(r"(?:number|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_NAMES = {"num": "number", "desc": "description", "narr": "narrative"}


def _read_topics(text, tag, name):
    """Read topics in elements of one tag: a table with "number" and a column for each field."""
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    rows, lines = [], []
    line, counted = 1, 0
    for topic in re.finditer(rf"<{tag}\b([^<>]*)>(.*?)(</{tag}\s*>|\Z)", text, re.I | re.S):
        line += text.count("\n", counted, topic.start())
        counted = topic.start()
        if re.search(rf"<{tag}\b", topic[2], re.IGNORECASE):
            raise FileFormatError(f"<{tag}> is not closed; is the file cut short?", name, line)
        given = {key.lower(): value for key, value in _ATTRIBUTE.findall(topic[1])}
        fields = {
            _NAMES.get(field, field): " ".join(html.unescape(content).split())
            for field, content in _fields_of(topic[2])
            if content
        } or {"text": " ".join(html.unescape(topic[2]).split())}
        if "number" in given or not fields.get("number"):
            ids = [given.get("number"), given.get("qid"), given.get("id")]
            ids += [fields.pop(key, None) for key in ("qid", "id", "identifier")]
            fields["number"] = next(filter(None, ids), "")
        if not fields["number"]:
            raise FileFormatError("the topic has no number, such as '<num> Number: 1'.", name, line)
        if not topic[3]:
            warn_user(
                f"{name}:{line}: the last <{tag}> is not closed. It is read as it is; if the file "
                "is cut short, fetch it again.",
                DataWarning,
            )
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


def _read_without_names(data, name, separator):
    """Read lines of id and text: the table, and a function from row to line number."""
    rows, lines = [], []
    for number, line in enumerate(decode(data, name).split("\n"), 1):
        if not line.strip():
            continue
        key, mark, text = line.rstrip("\r").partition(separator)
        if not mark:
            what = "a tab" if separator == "\t" else "a colon"
            raise FileFormatError(
                f"expected an id, {what} and a text, as in the first line.", name, number
            )
        rows.append((key, text))
        lines.append(number)
    table = pd.DataFrame(rows, columns=["id", "text"])
    if separator == ":":
        # Ids of the web track of 2009, and priorities of the Million Query track of that year.
        table["id"] = [key.removeprefix("wt09-") for key in table["id"]]
        if all(re.match("[0-9]:", text) for text in table["text"]):
            table["text"] = [text[2:] for text in table["text"]]
    return table, lines.__getitem__
