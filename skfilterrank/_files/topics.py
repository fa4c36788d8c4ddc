"""Topics as TREC writes them, between <top> and </top>, and without names of columns."""

import html
import re

import pandas as pd

from skfilterrank._files.files import decode
from skfilterrank.exceptions import FileFormatError

_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)(</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"""\bnumber\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
# Tags need not be closed; what a field begins with is a label that all topics share.
_FIELD = re.compile(
    r"<([a-z]\w*)\b[^>]*>\s*(?:(?:number|topic|description|narrative)\s*:)?\s*(.*?)\s*(?=<|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NAMES = {"num": "number", "desc": "description", "narr": "narrative"}


def read_trec_topics(data, name):
    """Table of topics between tags: "number" and the texts by the names of their tags."""
    text = decode(data, name)
    rows, lines = [], []
    for match in _TOPIC.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if not match[4] or re.search(rf"<{match[1]}\b", match[3], re.IGNORECASE):
            raise FileFormatError(f"<{match[1]}> is not closed; is the file cut short?", name, line)
        fields = {
            _NAMES.get(tag.lower(), tag.lower()): " ".join(html.unescape(content).split())
            for tag, content in _FIELD.findall(match[3])
            if content
        }
        if (number := _NUMBER.search(match[2])) is not None:
            fields["number"] = number[1]
        if not fields.get("number"):
            raise FileFormatError("the topic has no number, such as '<num> Number: 1'.", name, line)
        rows.append(fields)
        lines.append(line)
    return pd.DataFrame.from_records(rows), lines.__getitem__


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
