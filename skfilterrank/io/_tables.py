"""Reading of tables of judged documents: CSV, TSV, JSON lines, Parquet."""

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
    r"""Read a table with one row per judged document.

    Parameters
    ----------
    source : str, PathLike or file object
        Where to read: CSV, TSV or JSON lines in UTF-8, or Parquet; each may be packed by gzip,
        bzip2, xz or zstd.
    query : str, default="qid"
        Column that holds the query. It becomes the index level "qid". Where there is no column
        "qid", another name counts that `read_qrels` knows, such as "query_id".
    label : str or None, default="label"
        Column that holds the label, numbers or strings; NaN where missing (unjudged). None for a
        table without labels.
    document : str, default=None
        Column that holds the document id. It becomes a second index level, "docno".
    format : {"csv", "tsv", "jsonl", "parquet"}, default=None
        By default told from the end of the file name: .csv, .tsv, .jsonl or .ndjson, .parquet or
        .pq, with or without the ending of a packing, such as .gz, behind it.

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
        # Read again as text, to keep leading zeros of ids.
        table, line_of = read_format(data, name, ids, format)

    wanted = ids if label is None else [*ids, label]
    absent = [column for column in wanted if column not in table.columns]
    if absent:
        raise InputError(
            f"{name} has no column {brief_list(absent)}; its columns are "
            f"{brief_list(table.columns)}. Say which of these holds the query, the label or the "
            "document."
        )
    if table.empty:
        raise FileFormatError("the file holds no rows, only column names.", name)
    keys = [text_ids(table[column], name, line_of) for column in ids]
    index = pd.MultiIndex.from_arrays(keys, names=["qid", "docno"][: len(ids)])
    if document is not None and (twice := index.duplicated()).any():
        row = int(twice.argmax())
        qid, docno = map(brief, index[row])
        raise FileFormatError(
            f"document {docno} occurs a second time in query {qid}; keep one judgment per document "
            "and query.",
            name,
            line_of(row),
        )
    table = table.drop(columns=ids)
    if label is not None:
        table[label] = _as_labels(table[label], name, line_of)
    table.index = pd.Index(keys[0], name="qid") if document is None else index
    return table


def _as_labels(values, name, line_of):
    """Convert labels so that NaN is the only mark of a missing one."""
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
    """Tell whether a label is NaN or a number in the range of float64."""
    try:
        return isinstance(label, numbers.Number) and not np.isinf(float(label))
    except (OverflowError, TypeError):
        return False
