"""Reading of texts, slices and pools from files of several formats."""

import numpy as np
import pandas as pd

from skfilterrank._files import forms
from skfilterrank._files.files import read_bytes
from skfilterrank._files.tables import format_of_name, is_table_name, read_format, text_ids
from skfilterrank._lists.results import counted
from skfilterrank.exceptions import FileFormatError, brief
from skfilterrank.io import read_qrels, read_run

_OTHER_IDS = ("id", "_id")
DOCUMENT_NAMES = (*forms.COLUMN_NAMES["docno"], *_OTHER_IDS)
# In files of topics, a column "query" contains texts, not ids.
TOPIC_NAMES = (
    *(name for name in forms.COLUMN_NAMES["qid"] if name != "query"),
    *(*_OTHER_IDS, "number", "num"),
)
_TEXT_NAMES = ("title", "text", "body", "abstract", "contents", "content", "passage")
_QUERY_NAMES = ("query", "title", "text", "question", "description")


def read_documents(path, *, document=None, text=None, format=None) -> pd.Series:
    """Return the text of each document by id; several columns are joined."""
    return joined(read_document_texts(path, document=document, text=text, format=format))


def read_document_texts(path, *, document=None, text=None, format=None) -> pd.DataFrame:
    """Return text columns by document id: the requested ones, or else those with usual names."""
    names = DOCUMENT_NAMES if document is None else (document,)
    table = _read_by_id(path, "document", names, format)
    if text is None:
        text = [name for name in _TEXT_NAMES if name in table] or _text_columns(table)
    return _texts(table, text, path, " Name columns by --text.")


def read_topics(path) -> pd.DataFrame:
    """Return texts by query id, the query in the first column."""
    table = _read_by_id(path, "query", TOPIC_NAMES)
    columns = _text_columns(table)
    queries = [name for name in _QUERY_NAMES if name in table]
    rest = [name for name in columns if name != "original_id"]
    return _texts(table, [*queries[:1], *rest] or columns, path)


def read_slices(path) -> pd.DataFrame:
    """Return slices by query id, a column for each way to slice."""
    table = _read_by_id(path, "query", TOPIC_NAMES).drop(columns="original_id", errors="ignore")
    if table.columns.empty:
        raise FileFormatError(
            "there is no column but that of the queries. Name the slice of each query in another.",
            path,
        )
    return table


def read_pool(path):
    """Return queries and documents of a table, judgments or a run; and the run, if it is one."""
    content, rows = read_bytes(path), None
    if is_table_name(path) or forms.form_of(content) is not forms.LINES:
        kinds = {"query": TOPIC_NAMES, "document": DOCUMENT_NAMES}
        table, ids, _ = _read(path, kinds)
        if forms.has_labels(table.columns) or {"score", "rank"}.isdisjoint(table.columns):
            index = pd.MultiIndex.from_arrays([*ids.values()], names=["qid", "docno"])
            if (twice := index.duplicated()).any():
                qid, docno = index[twice.argmax()]
                raise FileFormatError(
                    f"document {brief(docno)} occurs twice in query {brief(qid)}. Keep one row.",
                    path,
                )
            return index, None
    elif (columns := forms.n_columns(content)) < 3 or columns == 5:
        raise FileFormatError(
            f"{counted(columns, 'column')} in the first line; judgments have 4, runs 6 (those of "
            "MS MARCO 3), and a table of queries and documents names its columns in the "
            "first line.",
            path,
            1 if columns else None,
        )
    elif columns == 4:
        rows = read_qrels(path, unjudged_label=None, predicted="use")  # labels are not used
        return pd.MultiIndex.from_frame(rows[["qid", "docno"]]), None
    rows = read_run(path)
    rows = rows[rows["score"] > -np.inf]
    return pd.MultiIndex.from_frame(rows[["qid", "docno"]]), rows


def joined(texts: pd.DataFrame) -> pd.Series:
    """Join the texts of each row; a title that the next text repeats occurs once."""
    parts = [texts[name].tolist() for name in texts.columns]
    return pd.Series(
        [" ".join(without_repetition(row)) for row in zip(*parts)], index=texts.index, dtype=object
    )


def without_repetition(texts) -> list[str]:
    """Return non-empty texts, without texts with which the following text begins."""
    given = [text for text in texts if text]
    return [
        text
        for text, following in zip(given, [*given[1:], None])
        if following is None or not following.startswith(text)
    ]


def _read(path, kinds, format=None):
    """Return a table without id columns, the ids as texts by kind, and line numbers.

    For each kind, the column is the first of several names that the table has.
    """
    data, name = read_bytes(path), str(path)
    if not data.strip():
        raise FileFormatError(
            f"the file is empty. A table with {next(iter(kinds))} ids was expected.", path
        )
    ids = [each for names in kinds.values() for each in names]
    if format is None:
        table, line_of = forms.read_texts(data, name, ids)
    else:
        table, line_of = read_format(data, name, ids, format_of_name(format, name))
    rest, found = table, {}
    for kind, names in kinds.items():
        column = next((each for each in names if each in table), None)
        if column is None:
            raise FileFormatError(
                f"no column is called {' or '.join(names[:4])} or the like; the columns are "
                f"{', '.join(map(str, table.columns))}.",
                path,
            )
        found[kind] = pd.Index(text_ids(table[column], name, line_of), dtype=object)
        rest = rest.drop(columns=column)
    return rest, found, line_of


def _read_by_id(path, kind, names, format=None):
    """Return a table indexed by the column of one of these names."""
    table, ids, line_of = _read(path, {kind: names}, format)
    if (twice := ids[kind].duplicated()).any():
        row = int(twice.argmax())
        raise FileFormatError(
            f"the {kind} {brief(ids[kind][row])} occurs twice. Keep one row for each.",
            path,
            line_of(row),
        )
    return table.set_axis(ids[kind], axis=0)


def _text_columns(table):
    """Return the columns that contain text."""
    is_text = table.iloc[:100].map(lambda value: isinstance(value, str)).any()
    return list(table.columns[is_text])


def _texts(table, columns, path, advice=""):
    """Return columns as text, empty where missing."""
    absent = [name for name in columns if name not in table]
    if absent or not columns:
        what = f"no column {brief(absent[0])}" if absent else "no column that holds text"
        shown = ", ".join(map(str, table.columns)) or "none but the id"
        raise FileFormatError(f"there is {what}: the columns are {shown}.{advice}", path)
    texts = table[list(dict.fromkeys(columns))].astype(object)
    return texts.where(texts.notna(), "").map(str).astype(object)
