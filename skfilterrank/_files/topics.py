"""Topics as TREC writes them, between <top> and </top>, and without names of columns."""

import html
import re

import pandas as pd

from skfilterrank._files.files import decode
from skfilterrank.exceptions import FileFormatError

_TOPIC = re.compile(r"<(top|topic)\b([^<>]*)>(.*?)(</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"""\bnumber\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
# A "<" of the text, as in "a < b", begins no tag.
_TAG = re.compile(r"""<(/?)([a-z]\w*)(?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?>""", re.I)
# Fields that may begin within a line; others begin a line, or stand behind a tag.
_FIELDS = ("num", "title", "desc", "narr", "query", "question", "narrative", "description")
# Labels that all topics share.
_LABEL = re.compile(r"(?:number|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_NAMES = {"num": "number", "desc": "description", "narr": "narrative"}


def read_trec_topics(data, name):
    """Return a table of topics between tags: "number" and the texts by the names of their tags."""
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


def is_without_names(first, separator):
    """Whether a first line holds an id and a text, as in MS MARCO, rather than names of columns."""
    fields = first.strip("\r\n").split(separator)
    # Ids have digits, and names of columns have none.
    return len(fields) == 2 and bool(re.search(r"\d", fields[0])) and " " not in fields[0].strip()


def read_without_names(data, name, separator):
    """Table of lines that hold an id and a text."""
    rows, lines = [], []
    for number, line in enumerate(decode(data, name).split("\n"), 1):
        if not line.strip():
            continue
        key, mark, text = line.rstrip("\r").partition(separator)
        if not mark:
            raise FileFormatError(
                "an id, a tab and a text were expected, as in the first line.", name, number
            )
        rows.append((key, text))
        lines.append(number)
    return pd.DataFrame(rows, columns=["id", "text"]), lines.__getitem__
