"""CSV and its kin: rows with the line where each begins, and tables as text.

Spreadsheets take a text that begins with =, +, -, @, a tab or a carriage return for a formula. CSV
is written with an apostrophe before such a text, which readers of names and ids take away again.
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
    return pd.concat(columns, axis=1).to_csv(index=False, header=header, lineterminator="\n")


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
    last = ""

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
            yield line, fields
