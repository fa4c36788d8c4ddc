"""Reading of tables of judged documents from CSV, TSV, JSON lines and Parquet."""

import numbers

import numpy as np
import pandas as pd

from skfilterrank._files.files import read_bytes, source_name
from skfilterrank._files.forms import COLUMN_NAMES
from skfilterrank._files.tables import format_of_name, read_format, text_ids
from skfilterrank.exceptions import FileFormatError, InputError, brief, brief_list


def read_judged_table(
    source,
    *,
    query: str = "qid",
    label: str | None = "label",
    document: str | None = None,
    format: str | None = None,
) -> pd.DataFrame:
    r"""Read a file that holds a table with one row per judged document.

    Parameters
    ----------
    source : str, PathLike or file object
        File to read: CSV, TSV or JSON lines in UTF-8, or Parquet. It may be compressed with gzip,
        bzip2, xz or zstd.
    query : str, default="qid"
        Column that holds the query id. It becomes the index level "qid". If there is no column
        "qid", other names that `read_qrels` knows, such as "query_id", are tried.
    label : str or None, default="label"
        Column that holds the labels, as numbers or strings. Missing labels become NaN (unjudged).
        None is for a table without labels.
    document : str, default=None
        Column that holds the document id. It becomes the second index level, "docno".
    format : {"csv", "tsv", "jsonl", "parquet"}, default=None
        Format of the file. None takes it from the end of the file name: .csv, .tsv, .jsonl or
        .ndjson, .parquet or .pq, with or without an ending for the compression, such as .gz.

    Returns
    -------
    table : DataFrame
        Rows in the order of the file, indexed by "qid" or ("qid", "docno"). Query and document ids
        are in the index only.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line (for Parquet, the row): if a line is
        broken, an id of a query or document is empty, a query holds a document twice, bytes are not
        UTF-8, or the file has no rows.
    ValueError
        If a column is missing or the format is unknown.
    ImportError
        If pyarrow is not installed and the file is Parquet.

    Notes
    -----
    Ids of queries and documents are always strings, even if all are integers. So "001" and "1" stay
    two queries, and the index has the same type for every file. In CSV and TSV, an empty field is a
    missing value, and so is "nan" or "NaN" in a column of numbers. Other words, such as "None",
    "NA" or "null", are text.

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
    name = source_name(source)
    format = format_of_name(format, name)
    ids = [query] if document is None else [query, document]
    if query == document or label in ids:
        raise InputError(
            f"query={brief(query)}, label={brief(label)} and document={brief(document)} must be "
            "different columns."
        )

    data = read_bytes(source)
    if not data.strip():
        raise FileFormatError("the file is empty; a table of judged documents was expected.", name)
    table, line_of = read_format(data, name, ids, format)
    if query == "qid" and query not in table.columns:
        known = (other for other in COLUMN_NAMES["qid"] if other in table.columns)
        query = next((other for other in known if other not in (label, document)), query)
        ids[0] = query
        # The table is read again with this column as text, to keep leading zeros of ids.
        table, line_of = read_format(data, name, ids, format)

    wanted = ids if label is None else [*ids, label]
    absent = [column for column in wanted if column not in table.columns]
    if absent:
        raise InputError(
            f"{name} has no column {brief_list(absent)}; its columns are "
            f"{brief_list(table.columns)}. Pass the names of the columns as query=, label= and "
            "document=."
        )
    if table.empty:
        raise FileFormatError("the file holds no rows, only column names.", name)
    keys = [text_ids(table[column], name, line_of) for column in ids]
    index = pd.MultiIndex.from_arrays(keys, names=["qid", "docno"][: len(ids)])
    if document is not None and (twice := index.duplicated()).any():
        row = int(twice.argmax())
        qid, docno = map(brief, index[row])
        raise FileFormatError(
            f"document {docno} occurs a second time in query {qid}; keep one judgment for each "
            "pair of query and document.",
            name,
            line_of(row),
        )
    table = table.drop(columns=ids)
    if label is not None:
        table[label] = _as_labels(table[label], name, line_of)
    table.index = pd.Index(keys[0], name="qid") if document is None else index
    return table


def _as_labels(values, name, line_of):
    """Return labels with NaN for missing ones; raise for a label that is no text or number."""
    if values.dtype == object:
        labels = values.to_numpy(copy=True)
        labels[pd.isna(labels)] = np.nan
        for row, label in enumerate(labels):
            if not isinstance(label, str | bool | np.bool_) and not _is_float(label):
                raise FileFormatError(
                    f"the label {brief(label)} in column {brief(values.name)} must be a text or a "
                    "number in the range of float64; correct it.",
                    name,
                    line_of(row),
                )
        return pd.Series(labels, index=values.index, dtype=object).infer_objects()
    is_numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if is_numeric and pd.api.types.is_extension_array_dtype(values.dtype):
        return values.astype(np.float64)
    return values


def _is_float(label):
    """Return True if a label is NaN or a number in the range of float64."""
    try:
        return isinstance(label, numbers.Number) and not np.isinf(float(label))
    except (OverflowError, TypeError):
        return False
