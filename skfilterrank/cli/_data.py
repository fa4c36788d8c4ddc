"""Judged rows from a file, whatever its format."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from skfilterrank.cli._columns import Columns, check_columns, guess_columns
from skfilterrank.io import load_letor, read_judged_table

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
_DOCUMENT_NAMES = ("docno", "docid", "doc_id", "document_id", "did")


@dataclass
class JudgedRows:
    """Rows with everything the commands need."""

    X: object
    y: pd.Series | None
    groups: pd.Index
    docnos: np.ndarray
    columns: Columns | None

    @property
    def is_text(self) -> bool:
        """Whether a document is a text rather than a vector of features."""
        return self.columns is not None and self.columns.text is not None

    def __str__(self):
        rows, queries = len(self.groups), self.groups.nunique()
        text = f"{rows:,} documents of {queries:,} queries"
        if self.y is not None:
            labels = self.y.value_counts(dropna=False)
            text += "; labels " + ", ".join(f"{label} {count:,}" for label, count in labels.items())
        return text


def is_table(path, format=None) -> bool:
    """Whether a file is a table with named columns rather than LETOR text."""
    if format is not None:
        return format != "letor"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    return bool(suffixes) and suffixes[-1] in _TABLES


def read_rows(path, arguments, *, like: dict | None = None, labelled=True) -> JudgedRows:
    """Read a LETOR file or a table; `like` holds the settings of the file a model was made on."""
    if not is_table(path, arguments.format):
        return _read_letor(path, like)
    settings = like or {}
    query = arguments.query or settings.get("query") or "qid"
    label = (arguments.label or settings.get("label") or "label") if labelled else None
    table = read_judged_table(
        path,
        query=query,
        label=label,
        format=arguments.format,
    )
    document = arguments.document or settings.get("document")
    if document is None:
        document = next((name for name in _DOCUMENT_NAMES if name in table.columns), None)
    elif document not in table.columns:
        raise ValueError(
            f"the table has no column {document!r}; its columns are "
            f"{', '.join(map(repr, table.columns))}."
        )
    if like is not None:
        columns = Columns(**settings["columns"])
        columns.same = [tuple(pair) for pair in columns.same]
    else:
        columns = _chosen_columns(table.drop(columns=[document] if document else []), arguments)
    check_columns(columns, table)
    groups = table.index.get_level_values("qid")
    y = None if label is None else table[label]
    docnos = table[document].astype("str").to_numpy(dtype=object) if document else _numbered(groups)
    X = table.drop(columns=[] if label is None else [label])
    if columns.text is None:
        if not columns.numeric:
            raise ValueError(
                f"{path}: found neither a text nor a numeric column to learn from; name them "
                "with --text or --numeric."
            )
        X = X[columns.numeric].astype(np.float64)
    else:
        texts = [columns.text, *columns.query_text]
        X = X.assign(**{name: X[name].fillna("").astype("str") for name in texts})
        X = X.reset_index()
    return JudgedRows(X, y, groups, docnos, columns)


def _read_letor(path, like):
    """Rows of a LETOR file; a test file gets the width and form of the training file."""
    settings = like or {}
    data = load_letor(
        path, n_features=settings.get("n_features"), sparse=settings.get("sparse", "auto")
    )
    groups = pd.Index(data.groups.astype(str), name="qid")
    docnos = np.asarray(data.docnos, dtype=object)
    unnamed = docnos == ""
    docnos = np.where(unnamed, _numbered(groups), docnos)
    return JudgedRows(data.X, pd.Series(data.y, index=groups), groups, docnos, None)


def _numbered(groups):
    """Document names for rows that have none: query and number."""
    number = groups.to_series().groupby(groups.to_numpy()).cumcount().to_numpy() + 1
    return np.array([f"{qid}-{n}" for qid, n in zip(groups, number)], dtype=object)


def _chosen_columns(table, arguments):
    """The columns the arguments name; what they leave open is guessed."""
    guessed = guess_columns(table, arguments.label or "label")
    if arguments.text is not None:
        guessed.text = arguments.text
    if arguments.query_text is not None:
        guessed.query_text = arguments.query_text
    if arguments.same is not None:
        guessed.same = arguments.same
    if arguments.numeric is not None:
        guessed.numeric = arguments.numeric
    return guessed


def settings_of(rows: JudgedRows, arguments, path) -> dict:
    """What a model file has to remember to read the same kind of file again."""
    if rows.columns is None:
        is_sparse = not isinstance(rows.X, np.ndarray)
        return {"n_features": int(rows.X.shape[1]), "sparse": is_sparse}
    return {
        "query": arguments.query,
        "label": arguments.label,
        "document": arguments.document,
        "columns": rows.columns.as_dict(),
    }
