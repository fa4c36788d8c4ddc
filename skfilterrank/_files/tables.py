"""Tables in CSV, TSV, JSON lines, Parquet or Excel, with the line of each row.

Spreadsheets treat a text that begins with =, +, -, @, a tab or a carriage return as a formula. In
CSV, an apostrophe is written before such a text and removed again when names and ids are read. A
carriage return within a text is quoted; outside of quotes it ends a row.

In many languages spreadsheets separate the fields of CSV by semicolons, and write decimal commas.
Both are read.
"""

import csv
import io
import itertools
import os
import re
import zipfile
from collections import Counter

import numpy as np
import pandas as pd

from skfilterrank._base.lazy_names import import_optional
from skfilterrank._files.files import check_unpacked, decode, json_of, reason_of, unpacked_name
from skfilterrank._files.kinds import SEPARATORS, find_column, is_number
from skfilterrank._files.tokens import id_tokens
from skfilterrank.exceptions import FileFormatError, brief, brief_list

# pandas 3.1 always reads numbers exactly, and warns if the argument is passed.
_PANDAS = tuple(map(int, pd.__version__.split(".")[:2]))
_EXACT_NUMBERS: dict = {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MARKED_FORMULA = re.compile(r"'+[=+\-@\t\r]")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
# Formats by the ends of file names.
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
}


def is_table_name(path) -> bool:
    """Tell from a file's name whether it is a table with named columns."""
    return format_of_name(path) is not None


def format_of_name(path) -> str | None:
    """Return the format of a table from its file name; None if it is not a table."""
    return SUFFIXES.get(os.path.splitext("x" + unpacked_name(str(path)).lower())[1])


def read_separated(data, name, kinds, format):
    """Read CSV or TSV: the table, and a function from row position to line number."""
    text = decode(data, name)
    separator, header = _separator_of(text, format, name)
    if twice := [each for each, n in Counter(header).items() if n > 1 and each.strip()]:
        advice = "rename all but one of them"
        if is_number(twice[0]):
            advice = "if it holds values, put names of the columns into a first line"
        raise FileFormatError(
            f"the header names several columns {brief(twice[0])}; {advice}.", name
        )
    ids = {find_column(header, names) for names in kinds}
    try:
        table = pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            dtype=dict.fromkeys(ids - {None}, str),
            keep_default_na=False,
            na_values=[""],
            **_EXACT_NUMBERS,
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        _check_widths(records_of(text, separator, name, strict=True), name)
        raise FileFormatError(f"the table cannot be read ({reason_of(error)}).", name) from error
    # pandas takes a surplus first field for row names, and fills short rows with NaN.
    if not isinstance(table.index, pd.RangeIndex) or table.iloc[:, -1:].isna().any(axis=None):
        _check_widths(records_of(text, separator, name), name)
    # Spreadsheets write rows of empty fields behind the last one.
    filled = np.flatnonzero(table.notna().any(axis=1))
    table = table.iloc[filled].reset_index(drop=True)

    for place, column in enumerate(table.columns):
        values = table.iloc[:, place]
        if column not in ids:
            values = _numbers(values, has_commas=separator == ";")
        if "'" in text and (column in ids or column == "run"):
            values = values.map(restored)
        table.isetitem(place, values)

    def line_of(row):
        row = int(filled[row]) + 1
        return next(itertools.islice(records_of(text, separator, name), row, None))[0]

    return table, line_of


def _separator_of(text, format, name):
    """Return separator and names of a header; raise if the separator is not that of the format.

    The header of CSV decides between comma, semicolon and vertical bar.
    """
    own = SEPARATORS[format][0]
    line, names = next(records_of(text, own, name), (1, []))
    others = [each for each in ";\t,|" if len(names) == 1 and each in names[0]]
    if len(others) == 1 and others[0] in SEPARATORS[format]:
        return others[0], next(records_of(text, others[0], name))[1]
    if others:
        raise FileFormatError(
            f"the column names are separated by {brief(others[0])}, but {format.upper()} uses "
            f"{brief(own)}: convert the table, for example by pandas.read_csv(path, "
            f"sep={brief(others[0])}).to_csv(path, sep={brief(own)}, index=False).",
            name,
            line,
        )
    return own, names


def _check_widths(records, name):
    """Raise for the first row whose number of fields differs from the header's."""
    _, header = next(records, (1, []))
    for line, fields in records:
        if len(fields) != len(header):
            raise FileFormatError(
                f"{len(header)} fields were expected, as in the first row, got {len(fields)}; "
                "put fields that hold the separator, quotes or line ends between quotes.",
                name,
                line,
            )


def _numbers(values, has_commas):
    """Convert a text column to numbers if all entries are numbers, such as 0,25, or "nan"."""
    if values.dtype.kind != "O":
        return values
    is_nan = values.isin(["nan", "NaN"])
    texts = values.mask(is_nan)
    if has_commas and texts.notna().any() and texts.dropna().map(_has_decimal_comma).all():
        return pd.to_numeric(texts.str.replace(",", "."))
    try:
        return pd.to_numeric(texts) if is_nan.any() else values
    except (ValueError, TypeError):
        return values


def _has_decimal_comma(text):
    return isinstance(text, str) and _DECIMAL_COMMA.fullmatch(text) is not None


def read_jsonl(data, name, kinds, format):
    """Read JSON lines: the table, and a function from row position to line number."""
    records, lines = [], []
    text = decode(data, name).removeprefix("\ufeff")
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        record = json_of(content, name, line)
        if not isinstance(record, dict):
            raise FileFormatError(
                f"a JSON object was expected, got {type(record).__name__}; "
                'write each row as {"column": value, ...}.',
                name,
                line,
            )
        records.append(record)
        lines.append(line)
    n_columns = len(set().union(*records))
    check_unpacked(8 * n_columns * len(records), len(data), "JSON", name)
    return table_of_records(records, name, lines), lines.__getitem__


def table_of_records(records, name, lines=()) -> pd.DataFrame:
    """Make a table of the objects in a file of JSON.

    A list of one label is the label, as labelling tools write it; an empty one is none.
    """
    for row, record in enumerate(records):
        label = record.get("label")
        if isinstance(label, list):
            if len(label) > 1:
                what = f"object {row + 1} has {len(label)} labels, {brief(label)}; keep one."
                raise FileFormatError(what, name, lines[row] if lines else None)
            record["label"] = label[0] if label else None
    try:
        return pd.DataFrame.from_records(records)
    except OverflowError as error:  # of pandas 2
        raise FileFormatError("a number is beyond float64; write it as text.", name) from error


def read_parquet(data, name, kinds, format):
    """Read Parquet; index levels become columns, and rows count as lines."""
    import_pyarrow(f"reading {name}")
    try:
        from pyarrow import parquet

        meta = parquet.read_metadata(io.BytesIO(data))
        check_unpacked(8 * meta.num_rows * meta.num_columns, len(data), "Parquet", name)
        table = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
        if any(level is not None for level in table.index.names):
            table = table.reset_index()
        # Bytes that are not UTF-8 raise only when the texts are taken out.
        for _, column in table.items():
            if isinstance(column.dtype, pd.StringDtype):
                column.map(len, na_action="ignore")
    except FileFormatError:
        raise
    except Exception as error:  # pyarrow can raise anything for damaged bytes
        raise FileFormatError(
            f"the file is not a Parquet file, or is damaged ({reason_of(error)}).", name
        ) from error
    return table, lambda row: row + 1


def read_excel(data, name, kinds, format):
    """Read the one sheet of an Excel file that has rows; blank rows are left out."""
    extra = "'skfilterrank[excel]', or save the sheet as CSV"
    import_optional("openpyxl", f"reading {name}", extra)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            n_bytes = sum(part.file_size for part in packed.infolist())
        check_unpacked(n_bytes, len(data), "Excel", name)
        # Cells with words such as "NA" or digits such as "01" are texts.
        how: dict = {"dtype": object, "keep_default_na": False, "na_values": [""]}
        sheets = pd.read_excel(io.BytesIO(data), sheet_name=None, engine="openpyxl", **how)
    except FileFormatError:
        raise
    except Exception as error:  # openpyxl can raise anything for damaged bytes
        raise FileFormatError(
            f"the file is not an Excel file, or is damaged ({reason_of(error)}).", name
        ) from error
    filled = {sheet: table for sheet, table in sheets.items() if len(table.columns)}
    if len(filled) != 1:
        shown = brief_list(list(filled)) or "none"
        raise FileFormatError(
            f"one sheet with rows was expected, got {shown}: save the right one as CSV.", name
        )
    (table,) = filled.values()
    rows = np.flatnonzero(table.notna().any(axis=1))
    table = table.iloc[rows].reset_index(drop=True).infer_objects()
    return table, lambda row: int(rows[row]) + 2


def import_pyarrow(what: str):
    """Import pyarrow, which `what` needs."""
    extra = '"skfilterrank[parquet]", or pass NumPy arrays or pandas frames'
    return import_optional("pyarrow", what, extra)


def text_ids(values, name, line_of):
    """Return ids as an object array of str; an empty id or one of another type is an error."""

    def fail(row, got, rest):
        raise FileFormatError(f"the line holds {got}{rest}", name, line_of(row))

    tokens = id_tokens(values, values.name, fail, may_be_blank=False)
    return np.array([*tokens.tolist(), None], dtype=object)[:-1]


def csv_text(frame: pd.DataFrame, *, index=True, header=True) -> str:
    """Return CSV text in which no text is a formula; named index levels become columns."""
    if index:
        frame = frame.reset_index()
    is_number = pd.api.types.is_numeric_dtype
    columns = [
        column if is_number(column.dtype) else column.map(_without_formula)
        for _, column in frame.items()
    ]
    table = pd.concat(columns, axis=1)
    # Up to Python 3.12, csv quotes only the line ends in `lineterminator`: it is set to both.
    text = table.to_csv(index=False, header=header, lineterminator="\r\n")
    parts = text.split('"')
    parts[::2] = [part.replace("\r\n", "\n") for part in parts[::2]]
    return '"'.join(parts)


def _without_formula(value):
    """Put an apostrophe before texts that look like a formula; numbers are unchanged."""
    if not isinstance(value, str) or not _FORMULA.match(value):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def restored(value):
    """Remove the apostrophe that `csv_text` put before a name."""
    is_marked = isinstance(value, str) and _MARKED_FORMULA.match(value)
    return value[1:] if is_marked else value


def records_of(text, separator, name, strict=False):
    """Yield (line number, fields) of each row of CSV, including the header but not blank lines."""
    last = ""

    def lines():
        nonlocal last
        for line in io.StringIO(text.removeprefix("\ufeff"), newline=""):
            last = line
            yield line

    reader = csv.reader(lines(), delimiter=separator, strict=strict)
    while True:
        line = reader.line_num + 1
        # The limit is set for each row, because it is global and a caller may stop reading.
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
        # Like in pandas, a line with an empty pair of quotes is a row, and a blank line is not.
        if len(fields) > 1 or last.strip(" \t\r\n"):
            yield line, fields
