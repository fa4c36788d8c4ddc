"""Rows of CSV and its kin, each with the line where it begins."""

import csv
import io

import numpy as np

from skfilterrank.exceptions import FileFormatError


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
