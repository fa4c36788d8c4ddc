"""Tables of judged documents: CSV, TSV, JSON lines, Parquet."""

import csv
import importlib.util
import io
import itertools
import numbers
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from skfilterrank._json import parse_json
from skfilterrank.exceptions import InputError, MissingPackageError, brief, brief_list
from skfilterrank.io._files import FileFormatError, decode, read_bytes, reason_of, source_name

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_SEPARATORS = {"csv": ",", "tsv": "\t"}
# Beyond both of them lines of JSON are refused: cells, and cells for each value.
_MOST_CELLS, _MOST_TIMES = 1 << 25, 100
# A field that holds nan, as far as can be told without reading the fields: quotes may be inside.
_NAN = re.compile(r"""[",\t\r\n](?:n"*a"*n|N"*a"*N)(?:[",\t\r\n]|\Z)""")
# From pandas 3.1 on numbers are always read exactly, and the argument warns.
_PANDAS_VERSION = tuple(map(int, pd.__version__.split(".")[:2]))
_EXACT_NUMBERS = {} if _PANDAS_VERSION >= (3, 1) else {"float_precision": "round_trip"}


def read_judged_table(
    path,
    *,
    query: str = "qid",
    label: str | None = "label",
    document: str | None = None,
    columns: Sequence[str] | None = None,
    format: str | None = None,
) -> pd.DataFrame:
    r"""Read a table with one row per judged document.

    Parameters
    ----------
    path : str, PathLike or file object
        Where to read: CSV, TSV or JSON lines in UTF-8, or Parquet; each may be zipped with gzip.
    query : str, default="qid"
        Column that holds the query. It becomes the index level "qid".
    label : str or None, default="label"
        Column that holds the label, numbers or strings; NaN where missing (unjudged). None for a
        table without labels.
    document : str, default=None
        Column that holds the document id. It becomes a second index level, "docno".
    columns : list of str, default=None
        Columns to keep besides these, in this order. By default all, in the order of the file.
    format : {"csv", "tsv", "jsonl", "parquet"}, default=None
        By default told from the end of the file name: .csv, .tsv, .jsonl or .ndjson, .parquet or
        .pq, with or without .gz behind it.

    Returns
    -------
    table : DataFrame
        The rows in the order of the file, indexed by "qid" or ("qid", "docno"). The query and
        document columns are in the index only.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line (in Parquet, the row): a broken line,
        an empty query or document id, a document that occurs twice in a query, bytes that are not
        UTF-8, a file without rows.
    ValueError
        A column that is not there, an unknown format.
    ImportError
        Parquet without pyarrow.

    Notes
    -----
    Query and document ids are always strings, even where all are integers: "001" and "1" stay two
    queries, and a file with one odd id has the same index type as one without. In CSV and TSV only
    an empty field is a missing value, and "nan" or "NaN" in a column that holds numbers otherwise;
    words such as "None", "NA" or "null" are text.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_judged_table
    >>> file = io.StringIO("qid,docno,label,text\n001,a,Good,some words\n001,b,,more words\n")
    >>> read_judged_table(file, document="docno", format="csv")
              label        text
    qid docno
    001 a      Good  some words
        b       NaN  more words
    """
    if isinstance(columns, str):
        columns = [columns]
    name = source_name(path)
    format = _resolve_format(format, name)
    ids = [query] if document is None else [query, document]
    if query == document or label in ids:
        raise InputError(
            f"query={brief(query)}, label={brief(label)} and document={brief(document)} must be "
            "different columns."
        )

    data = read_bytes(path)
    if not data.strip():
        raise FileFormatError("the file is empty; a table of judged documents was expected.", name)
    read = {"jsonl": _read_jsonl, "parquet": _read_parquet}.get(format, _read_separated)
    table, line_of = read(data, name, ids, format)

    wanted = [*ids, *([] if label is None else [label]), *(columns or [])]
    absent = [column for column in wanted if column not in table.columns]
    if absent:
        raise InputError(
            f"{name} has no column {brief_list(absent)}; its columns are "
            f"{brief_list(table.columns)}. Name one of these by query=, label=, "
            "document= or columns=."
        )
    if table.empty:
        raise FileFormatError("the file holds no rows, only column names.", name)
    if columns is not None:
        table = table[list(dict.fromkeys(wanted))]

    levels = {}
    for level, column in zip(("qid", "docno"), ids, strict=False):
        what = {"qid": "query", "docno": "document"}[level]
        levels[level] = _as_ids(table[column], what, name, line_of)
    if document is not None:
        _check_unique(levels["qid"], levels["docno"], name, line_of)
    table = table.drop(columns=ids)
    if label is not None:
        table[label] = _as_labels(table[label], name, line_of)
    table.index = (
        pd.Index(levels["qid"], name="qid")
        if document is None
        else pd.MultiIndex.from_arrays(list(levels.values()), names=list(levels))
    )
    return table


def _resolve_format(format, name):
    """Format from the argument, else from the end of the file name."""
    known = sorted(set(_SUFFIXES.values()))
    if format is not None:
        if format not in known:
            raise InputError(f"format must be one of {', '.join(known)}, got {brief(format)}.")
        return format
    stem = name.lower().removesuffix(".gz")
    for suffix, format in _SUFFIXES.items():
        if stem.endswith(suffix):
            return format
    raise InputError(
        f"the format of {name} cannot be told from its name: it ends in none of "
        f"{', '.join(_SUFFIXES)} (with or without .gz). Pass format= one of {', '.join(known)}."
    )


def _read_separated(data, name, ids, format):
    """Table of CSV or TSV bytes, and a function from row position to line number."""
    separator = _SEPARATORS[format]

    text = decode(data, name)
    try:
        table = pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            dtype=dict.fromkeys(ids, str),
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

    read_again = {}
    for place, (column, dtype) in enumerate(table.dtypes.items() if _NAN.search(text) else ()):
        if column not in ids and dtype.kind == "O":
            values = table.iloc[:, place]
            if (found := _numbers_with_nan(values)) is not values:
                read_again[column] = found
    if read_again:
        # All at once: pandas puts in one column at a time by moving the others.
        rest = table.columns.difference(list(read_again), sort=False)
        table = pd.concat([table[rest], pd.DataFrame(read_again)], axis=1)[table.columns]

    def line_of(row):
        return next(itertools.islice(records_of(text, separator, name), row + 1, None))[0]

    return table, line_of


def records_of(text, separator, name, strict=False):
    """Yield (line number, fields) of each row of CSV, the header too; blank lines are none."""
    last = ""

    def lines():
        nonlocal last
        for line in io.StringIO(text.removeprefix("\ufeff"), newline=""):
            last = line
            yield line

    reader = csv.reader(lines(), delimiter=separator, strict=strict)
    default_limit = csv.field_size_limit(np.iinfo(np.int32).max)
    try:
        while True:
            line = reader.line_num + 1
            try:
                fields = next(reader, None)
            except csv.Error as error:
                raise FileFormatError(
                    f"the row cannot be read ({error}); look for a quote that is not closed, and "
                    "write a quote inside quotes twice.",
                    name,
                    line,
                ) from error
            if fields is None:
                return
            # A pair of quotes is a row, as pandas has it; blanks are none.
            if len(fields) > 1 or last.strip(" \t\r\n"):
                yield line, fields
    finally:
        csv.field_size_limit(default_limit)


def _check_widths(records, name):
    """Raise on the first row that has not as many fields as the header."""
    _, header = next(records, (1, []))
    for line, fields in records:
        if len(fields) != len(header):
            raise FileFormatError(
                f"{len(header)} fields were expected, as in the first row, got {len(fields)}; "
                "put fields that hold the separator, quotes or line ends between quotes.",
                name,
                line,
            )


def _numbers_with_nan(values):
    """A column of text whose words are all numbers or nan as numbers, else as it was."""
    is_nan = values.isin(["nan", "NaN"])
    if not is_nan.any():
        return values
    try:
        return pd.to_numeric(values.mask(is_nan))
    except (ValueError, TypeError):
        return values


def _read_jsonl(data, name, ids, format):
    """Table of JSON lines, and a function from row position to line number."""
    records, lines = [], []
    text = decode(data, name).removeprefix("\ufeff")
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            record = parse_json(content)
        except InputError as error:
            raise FileFormatError(
                f"the line is not JSON ({error}); each line must hold one whole object.",
                name,
                line,
            ) from error
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
    n_cells, n_values = n_columns * len(records), sum(map(len, records))
    if n_cells > max(_MOST_CELLS, _MOST_TIMES * n_values):
        raise FileFormatError(
            f"{len(records):,} lines hold {n_values:,} values under {n_columns:,} different names, "
            "of which a table would be nearly all empty; put what differs from line to line into "
            "one list or object.",
            name,
        )
    return pd.DataFrame.from_records(records), lines.__getitem__


def _read_parquet(data, name, ids, format):
    """Table of Parquet bytes with named index levels as columns; rows stand for lines."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingPackageError(
            f"reading {name} needs pyarrow, which is not installed; "
            'pip install "skfilterrank[parquet]", or write the table as CSV or JSON lines.'
        )
    try:
        table = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
        if any(level is not None for level in table.index.names):
            table = table.reset_index()
        # Bytes that are not UTF-8 are an error only when the texts are taken out.
        table.select_dtypes("str").map(len, na_action="ignore")
    except Exception as error:  # damage can make pyarrow and pandas raise anything
        raise FileFormatError(
            f"the file is not a Parquet file, or is damaged ({reason_of(error)}).", name
        ) from error
    return table, lambda row: row + 1


def _as_ids(values, what, name, line_of):
    """Object array of str ids; an empty one, or one that is no string or integer, is an error."""

    def fail(bad, message):
        raise FileFormatError(message, name, line_of(int(np.flatnonzero(bad)[0])))

    column = values.name
    values = values.astype(object).to_numpy()
    missing = pd.isna(values)
    if missing.any():
        fail(missing, f"the {what} id in column {brief(column)} is empty; every row needs one.")
    if set(map(type, values)) != {str}:
        # Parquet and pandas turn integer columns with gaps into floats, which are whole.
        texts = [_id_text(value) for value in values]
        if None in texts:
            bad = np.array([text is None for text in texts])
            fail(
                bad,
                f"the {what} id {brief(values[bad][0])} in column {brief(column)} is neither a "
                "string nor an integer; write it as a string.",
            )
        values = np.array(texts, dtype=object)
    blank = np.array([not value.strip() for value in values])
    if blank.any():
        fail(blank, f"the {what} id in column {brief(column)} is empty; every row needs one.")
    return values


def _id_text(value):
    """Text of a string or whole number; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer):
        return None
    return str(int(value)) if value == value // 1 else None


def _as_labels(values, name, line_of):
    """Labels with NaN as the one mark of a missing one."""
    if values.dtype == object:
        labels = values.to_numpy(copy=True)
        labels[pd.isna(labels)] = np.nan
        for row, label in enumerate(labels):
            if not isinstance(label, str | bool | np.bool_) and not _is_float(label):
                raise FileFormatError(
                    f"the label {brief(label)} in column {brief(values.name)} is neither a text "
                    "nor a number that float64 holds; correct it.",
                    name,
                    line_of(row),
                )
        return pd.Series(labels, index=values.index, dtype=object).infer_objects()
    is_numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if is_numeric and pd.api.types.is_extension_array_dtype(values.dtype):
        return values.astype(np.float64)
    return values


def _is_float(label):
    """Whether float64 has a number for it; NaN is one."""
    try:
        return isinstance(label, numbers.Number) and not np.isinf(float(label))
    except (OverflowError, TypeError):
        return False


def _check_unique(qids, docnos, name, line_of):
    """Raise on the first document that occurs a second time in its query."""
    twice = pd.DataFrame({"qid": qids, "docno": docnos}).duplicated().to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise FileFormatError(
            f"document {brief(docnos[row])} occurs a second time in query {brief(qids[row])}; "
            "keep one judgment per document and query.",
            name,
            line_of(row),
        )
