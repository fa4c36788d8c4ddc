"""CSV and its kin: rows with the line where each begins, and tables as text.

Spreadsheets take a text that begins with =, +, -, @, a tab or a carriage return for a formula. CSV
is written with an apostrophe before such a text, which readers of names and ids take away again.

A carriage return within a text ends no row: it is written between quotes, and it is read as part of
the text where the rows end in line feeds alone, as pandas writes them.
"""

import csv
import io
import re

import numpy as np
import pandas as pd

from skfilterrank.exceptions import FileFormatError

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MARKED_FORMULA = re.compile(r"'+[=+\-@\t\r]")


def csv_text(frame: pd.DataFrame, *, index=True, header=True) -> str:
    """Write a table as CSV in which no text is a formula; named index levels are columns."""
    if index:
        frame = frame.reset_index()
    texts = {}
    for place, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            texts[place] = frame.iloc[:, place].map(_without_formula)
    columns = [texts.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])]
    table = pd.concat(columns, axis=1)
    # Up to Python 3.12 only what ends a row is put between quotes: both characters, then.
    text = table.to_csv(index=False, header=header, lineterminator="\r\n")
    parts = text.split('"')
    parts[::2] = [part.replace("\r\n", "\n") for part in parts[::2]]
    return '"'.join(parts)


def keeps_returns(text) -> bool:
    """Whether carriage returns outside of quotes are part of texts, as rows end in line feeds."""
    if "\r" not in text:
        return False
    outside = '"'.join(text.split('"')[::2])
    end = re.search(r"[\r\n]", outside)
    return end is not None and end[0] == "\n" and "\r\n" not in outside


def _without_formula(value):
    """Mark a text that looks like a formula; numbers stay as they are."""
    if not isinstance(value, str) or not _FORMULA.match(value):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def restored(value):
    """Take the apostrophe away that `csv_text` wrote before a name."""
    is_marked = isinstance(value, str) and _MARKED_FORMULA.match(value)
    return value[1:] if is_marked else value


def records_of(text, separator, name, strict=False):
    """Yield (line number, fields) of each row of CSV, the header too; blank lines are none."""
    last, mark = "", ""
    if keeps_returns(text):
        # The reader takes every carriage return for the end of a row: another character stands in.
        mark = next(chr(code) for code in range(0xE000, 0xF900) if chr(code) not in text)
        text = text.replace("\r", mark)

    def lines():
        nonlocal last
        for line in io.StringIO(text.removeprefix("\ufeff"), newline=""):
            last = line
            yield line

    reader = csv.reader(lines(), delimiter=separator, strict=strict)
    while True:
        line = reader.line_num + 1
        # For this row alone: the limit is the whole process's, and rows may be left unread.
        limit = csv.field_size_limit(np.iinfo(np.int32).max)
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise FileFormatError(
                f"the row cannot be read ({error}); look for a quote that is not closed, and "
                "write a quote inside quotes twice.",
                name,
                line,
            ) from error
        finally:
            csv.field_size_limit(limit)
        if fields is None:
            return
        # A pair of quotes is a row, as pandas has it; blanks are none.
        if len(fields) > 1 or last.strip(" \t\r\n"):
            yield line, [field.replace(mark, "\r") for field in fields] if mark else fields
