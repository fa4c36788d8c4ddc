"""Texts of documents and topics, and pools, from files of several formats."""

import numpy as np
import pandas as pd

from skfilterrank._files.files import read_bytes
from skfilterrank._files.forms import (
    COLUMN_NAMES,
    LINES,
    form_of,
    has_labels,
    n_columns,
    read_texts,
)
from skfilterrank._files.tables import format_of_name, is_table_name, read_format, text_ids
from skfilterrank.exceptions import FileFormatError, brief
from skfilterrank.io import read_qrels, read_run

_OTHER_IDS = ("id", "_id")
DOCUMENT_NAMES = (*COLUMN_NAMES["docno"], *_OTHER_IDS)
# In a file of topics a column "query" holds texts.
TOPIC_NAMES = (
    *(name for name in COLUMN_NAMES["qid"] if name != "query"),
    *(*_OTHER_IDS, "number", "num"),
)
_TEXT_NAMES = ("title", "text", "body", "abstract", "contents", "content", "passage")
_QUERY_NAMES = ("query", "title", "text", "question", "description")


def read_documents(path, *, document=None, text=None, format=None) -> pd.Series:
    """Text of each document by its id, several columns as one."""
    return joined(read_document_texts(path, document=document, text=text, format=format))


def read_document_texts(path, *, document=None, text=None, format=None) -> pd.DataFrame:
    """Text columns by document id: those asked for, else those that are called like texts."""
    names = DOCUMENT_NAMES if document is None else (document,)
    table = _read_by_id(path, names, "document", format=format)
    if text is None:
        text = [name for name in _TEXT_NAMES if name in table.columns]
        text = text or _text_columns(table)
    return _texts(table, text, path, "--text")


def read_topics(path) -> pd.DataFrame:
    """Texts by topic id, the query in the first column."""
    table = _read_by_id(path, TOPIC_NAMES, "topic")
    query = next((name for name in _QUERY_NAMES if name in table.columns), None)
    columns = _text_columns(table)
    if query is None and columns:
        query = columns[0]
    columns = [name for name in columns if name not in (query, "original_id")]
    return _texts(table, [query, *columns] if query else [], path, None)


def read_slices(path) -> pd.DataFrame:
    """Slices by topic id, a column for each way to slice."""
    table = _read_by_id(path, TOPIC_NAMES, "topic").drop(columns="original_id", errors="ignore")
    if table.columns.empty:
        raise FileFormatError(
            "there is no column but that of the topics: name the slice of each topic in another.",
            path,
        )
    return table


def read_pool(path):
    """Topics and documents of a table, judgments or a run; and the run, where it is one."""
    content = read_bytes(path)
    if is_table_name(path) or form_of(content) is not LINES:
        table = _read_by_id(path, TOPIC_NAMES, "topic", also=DOCUMENT_NAMES)
        if not has_labels(table.columns) and not {"score", "rank"}.isdisjoint(table.columns):
            return _pool_of_run(path)
        index = pd.MultiIndex.from_arrays([table.index, table["docno"]], names=["qid", "docno"])
        return _unique(index, path), None
    columns = n_columns(content)
    if columns < 3 or columns == 5:
        raise FileFormatError(
            f"{columns} columns in the first line; judgments have 4, runs 6 (those of MS MARCO 3), "
            "and a table of topics and documents names its columns in the first line.",
            path,
            1 if columns else None,
        )
    if columns == 4:
        rows = read_qrels(path, unjudged_label=None, predicted="use")  # labels are not used
        return pd.MultiIndex.from_frame(rows[["qid", "docno"]]), None
    return _pool_of_run(path)


def _pool_of_run(path):
    """Topics and documents that a run shows, and the run."""
    rows = read_run(path)
    rows = rows[rows["score"] > -np.inf]
    return pd.MultiIndex.from_frame(rows[["qid", "docno"]]), rows


def joined(texts: pd.DataFrame) -> pd.Series:
    """The texts of each row as one; a title that the next text repeats is there once."""
    parts = [texts[name].tolist() for name in texts.columns]
    return pd.Series(
        [" ".join(without_repetition(row)) for row in zip(*parts)], index=texts.index, dtype=object
    )


def without_repetition(texts) -> list[str]:
    """Texts that hold something, without those that the following one begins with."""
    given = [text for text in texts if text]
    return [
        text
        for place, text in enumerate(given)
        if place + 1 == len(given) or not given[place + 1].startswith(text)
    ]


def _read_by_id(path, names, what, *, also=(), format=None):
    """A table by the column of one of these names; its ids are text."""
    data = read_bytes(path)
    if not data.strip():
        raise FileFormatError(f"the file is empty; a table with {what} ids was expected.", path)
    ids = [*names, *also]
    if format is None:
        table, line_of = read_texts(data, str(path), ids)
    else:
        table, line_of = read_format(data, str(path), ids, format_of_name(format, str(path)))
    columns = [_first_of(known, table, path) for known in (names, also) if known]
    ids = text_ids(table[columns[0]], what, str(path), line_of)
    rest = table.drop(columns=columns)
    if also:
        documents = text_ids(table[columns[1]], "document", str(path), line_of)
        return rest.set_axis(pd.Index(ids, dtype=object), axis=0).assign(docno=documents)
    twice = pd.Series(ids).duplicated().to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise FileFormatError(
            f"the {what} {brief(ids[row])} is there a second time; keep one row for each.",
            path,
            line_of(row),
        )
    return rest.set_axis(pd.Index(ids, dtype=object), axis=0)


def _first_of(names, table, path):
    """The first of some column names that a table has."""
    text_column = next((name for name in names if name in table.columns), None)
    if text_column is None:
        raise FileFormatError(
            f"no column is called {' or '.join(names[:4])} or the like; the columns are "
            f"{', '.join(map(str, table.columns))}.",
            path,
        )
    return text_column


def _text_columns(table):
    """Columns that hold text."""
    return [
        name
        for name in table.columns
        if any(isinstance(value, str) for value in table[name].iloc[:100])
    ]


def _texts(table, columns, path, option):
    """Columns as text, empty where missing."""
    absent = [name for name in columns if name not in table.columns]
    if absent or not columns:
        what = f"no column {brief(absent[0])}" if absent else "no column that holds text"
        advice = f"; name columns by {option}" if option else ""
        shown = ", ".join(map(str, table.columns)) or "none but the id"
        raise FileFormatError(f"there is {what}: the columns are {shown}{advice}.", path)
    texts = {}
    for name in columns:
        values = table[name].astype(object).to_numpy()
        missing = pd.isna(values)
        texts[name] = np.where(
            missing, "", np.array([str(value) for value in values], dtype=object)
        )
    return pd.DataFrame(texts, index=table.index, dtype=object)


def _unique(index, path):
    """The pool, without documents that are there twice in a topic."""
    twice = index.duplicated()
    if twice.any():
        qid, docno = index[twice.argmax()]
        raise FileFormatError(
            f"document {brief(docno)} is there a second time in topic {brief(qid)}; keep one row.",
            path,
        )
    return index
