"""Tables in CSV, TSV, JSON lines or Parquet, with the line of each row."""

import importlib.util
import io
import itertools
import re
from functools import partial

import numpy as np
import pandas as pd

from skfilterrank._files.files import decode, reason_of
from skfilterrank._files.packings import ENDINGS, most_bytes, unpacked_name
from skfilterrank._files.separated import keeps_returns, records_of, restored
from skfilterrank._json import parse_json
from skfilterrank._pandas_compat import EXACT_NUMBERS, table_of_records
from skfilterrank.exceptions import (
    FileFormatError,
    InputError,
    MissingPackageError,
    brief,
)

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_SEPARATORS = {"csv": ",", "tsv": "\t", "columns": " "}
# Beyond both of them lines of JSON are refused: cells, and cells for each value.
_MOST_CELLS, _MOST_TIMES = 1 << 25, 100
# A field that holds nan, as far as can be told without reading the fields: quotes may be inside.
_NAN = re.compile(r"""[",\t\r\n](?:n"*a"*n|N"*a"*N)(?:[",\t\r\n]|\Z)""")


def is_table_name(path) -> bool:
    """Whether a file is a table with named columns, by its name."""
    return unpacked_name(str(path)).lower().endswith(tuple(_SUFFIXES))


def table_stem(name, *endings) -> str:
    """Name of a file without the endings of a packing and of a table, or another one."""
    name = unpacked_name(name)
    for ending in (*_SUFFIXES, ".json", *endings):
        if len(name) > len(ending) and name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def format_of_name(format, name):
    """Format from the argument, else from the end of the file name."""
    known = sorted(set(_SUFFIXES.values()))
    if format is not None:
        if format not in known:
            raise InputError(f"format must be one of {', '.join(known)}, got {brief(format)}.")
        return format
    stem = unpacked_name(name).lower()
    for suffix, format in _SUFFIXES.items():
        if stem.endswith(suffix):
            return format
    raise InputError(
        f"the format of {name} cannot be told from its name: it ends in none of "
        f"{', '.join(_SUFFIXES)} (with or without {', '.join(ENDINGS)}). Pass format= one of "
        f"{', '.join(known)}."
    )


def read_format(data, name, ids, format):
    """Table of bytes in a format, and a function from row position to line number."""
    read = {"jsonl": read_jsonl, "parquet": read_parquet}.get(format, read_separated)
    return read(data, name, ids, format)


def read_separated(data, name, ids, format):
    """Table of CSV or TSV bytes, and a function from row position to line number."""
    separator = _SEPARATORS[format]

    text = decode(data, name)
    _check_separator(text, separator, format, name)
    try:
        table = pd.read_csv(
            io.BytesIO(data),
            sep=separator,
            dtype=dict.fromkeys(ids, str),
            keep_default_na=False,
            na_values=[""],
            **EXACT_NUMBERS,
            low_memory=False,
            lineterminator="\n" if keeps_returns(text) else None,
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
            if (numbers := _numbers_with_nan(values)) is not values:
                read_again[column] = numbers
    if read_again:
        # All at once: pandas puts in one column at a time by moving the others.
        rest = table.columns.difference(list(read_again), sort=False)
        table = pd.concat([table[rest], pd.DataFrame(read_again)], axis=1)[table.columns]

    if "'" in text:
        for place, column in enumerate(table.columns):
            if column in ids or column == "run":
                table.isetitem(place, table.iloc[:, place].map(restored))

    def line_of(row):
        return next(itertools.islice(records_of(text, separator, name), row + 1, None))[0]

    return table, line_of


def _check_separator(text, separator, format, name):
    """Raise where the names of several columns stand together in one, by other separators."""
    line, names = next(records_of(text, separator, name), (1, []))
    others = [each for each in ";\t,|" if len(names) == 1 and each in names[0]]
    if others:
        raise FileFormatError(
            f"the names of columns are separated by {brief(others[0])}, where {format.upper()} has "
            f"{brief(separator)}: write the table so, such as by pandas.read_csv(path, "
            f"sep={brief(others[0])}).to_csv(path, sep={brief(separator)}, index=False), with "
            "decimal=',' in read_csv where numbers have commas.",
            name,
            line,
        )


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


def read_jsonl(data, name, ids, format):
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
    return table_of_records(records), lines.__getitem__


def read_parquet(data, name, ids, format):
    """Table of Parquet bytes with named index levels as columns; rows stand for lines."""
    return _read_by_pyarrow(
        data, name, "a Parquet", partial(pd.read_parquet, engine="pyarrow"), _check_parquet
    )


def read_feather(data, name, ids):
    """Table of the bytes of an Arrow (Feather) file; rows stand for lines."""
    return _read_by_pyarrow(data, name, "an Arrow", pd.read_feather, _check_arrow)


def _read_by_pyarrow(data, name, kind, read, check):
    """Table of bytes that pyarrow knows to read, and that `check` finds fit to be read."""
    check_pyarrow(name)
    try:
        check(data, name)
        table = read(io.BytesIO(data))
        if any(level is not None for level in table.index.names):
            table = table.reset_index()
        # Bytes that are not UTF-8 are an error only when the texts are taken out.
        for _, column in table.items():
            if isinstance(column.dtype, pd.StringDtype):
                column.map(len, na_action="ignore")
    except FileFormatError:
        raise
    except Exception as error:  # damage can make pyarrow and pandas raise anything
        raise FileFormatError(
            f"the file is not {kind} file, or is damaged ({reason_of(error)}).", name
        ) from error
    return table, lambda row: row + 1


def _check_parquet(data, name):
    """Raise where a file of few bytes says that it holds rows that could fill the memory."""
    from pyarrow import parquet

    meta = parquet.read_metadata(io.BytesIO(data))
    n_bytes = 8 * meta.num_rows * meta.num_columns
    if n_bytes > most_bytes(len(data)):
        raise FileFormatError(
            f"the file holds {meta.num_rows:,} rows of {meta.num_columns} columns, at least "
            f"{n_bytes:,} bytes unpacked in {len(data):,}, so that it could fill the memory; if "
            "you know where it comes from, pass a data frame of the columns you need.",
            name,
        )


def _check_arrow(data, name):
    """Raise for bytes that do not fit each other, with which pyarrow can crash."""
    import pyarrow as pa

    # Reading from a buffer, it allocates nothing for sizes that the file only claims.
    pa.ipc.open_file(pa.BufferReader(data)).read_all().validate(full=True)


def check_pyarrow(name, doing="reading"):
    """Raise where pyarrow is not there to read or write a file."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingPackageError(
            f"{doing} {name} needs pyarrow, which is not installed; "
            'pip install "skfilterrank[parquet]", or write the table as CSV or JSON lines.'
        )


def text_ids(values, what, name, line_of):
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
