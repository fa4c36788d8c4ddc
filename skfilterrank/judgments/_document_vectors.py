"""Vectors of documents: of texts, of the rows of a table, or the numbers that X holds."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from skfilterrank._base.checks import count_rows
from skfilterrank._files.forms import as_table, is_frame
from skfilterrank.exceptions import InputError, InputTypeError, brief, brief_list
from skfilterrank.judgments._selector import is_texts

# Number of terms, the most frequent ones, as in the paper of MAXREP and "predict-map".
N_TERMS = 1_000_000
# Beginning of the names of columns of numbers.
VECTOR = "vector "


class Vectors(NamedTuple):
    """Document vectors: a matrix, and the row of the matrix for each document."""

    matrix: Any
    numbers: np.ndarray

    def take(self, rows):
        """Return the vectors of some documents."""
        return self.matrix[self.numbers[rows]]

    def at(self, rows) -> "Vectors":
        """Return some documents as Vectors."""
        return Vectors(self.matrix, self.numbers[rows])

    def without_terms(self) -> np.ndarray:
        """Return the documents whose sparse vector is empty."""
        if not sparse.issparse(self.matrix):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero((np.diff(self.matrix.indptr) == 0)[self.numbers])


def refuse_ids(X) -> None:
    """Raise if a table has a column of ids, which would be learned from."""
    columns = list(getattr(X, "columns", ()))
    if ids := [name for name in ("qid", "docno") if name in columns]:
        raise InputError(
            f"X has a column {ids[0]!r}, which would be learned from: move ids into the index, as "
            f"by X.set_index({ids!r})."
        )


def check_features(X, estimator):
    """Return features as an array or a CSR matrix of float64."""
    refuse_ids(X)
    how = {"dtype": np.float64, "estimator": estimator, "input_name": "X"}
    try:
        return check_array(X, accept_sparse="csr", **how)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise InputError(
            "X must hold texts, one for each row, or numbers, got a table with texts: pass texts "
            "as a list or one column, such as X['text']."
        ) from error


def read_documents(X):
    """Return texts as an array of str, a table as a pandas frame of texts and numbers, or X.

    Missing texts become empty. A table with nothing but one column of texts is an array of them.
    """
    if is_texts(X):
        return _texts(X, "X")
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        return X
    texts = {name: _texts(X[name], f"column {brief(name)} of X") for name in _text_columns(X)}
    if len(texts) == X.shape[1] == 1:
        return next(iter(texts.values()))
    X = X.copy() if texts else X
    for name, column in texts.items():
        X[name] = column
    return X


def _text_columns(X):
    return [name for name in X if not is_numeric_dtype(X[name])]


def _texts(column, name):
    """Return texts as an array of str, empty where missing."""
    column = pd.Series(list(column), dtype=object)
    texts = column.where(column.notna(), "").to_numpy()
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"{name} must hold texts, got {brief(text)} at row {row}: for other columns, pass "
                "a ColumnTransformer as vectorizer=."
            )
    return texts


def usual_vectorizer(X):
    """Return the vectorizer of texts and of tables with texts, None for numbers."""
    tfidf = TfidfVectorizer(max_features=N_TERMS)
    if is_texts(X):
        return tfidf
    names = _text_columns(X) if isinstance(X, pd.DataFrame) else []
    if not names:
        return None
    # Vectors of tf-idf have length 1, whatever the scale of numbers beside them.
    parts = [(str(name), tfidf, name) for name in names]
    return ColumnTransformer(parts, remainder=StandardScaler())


def make_vectors(vectorizer, X, *, fits: bool = False) -> Vectors:
    """Return vectors by a vectorizer, None for numbers; `fits` fits the vectorizer before."""
    numbers = np.arange(count_rows(X))
    if is_texts(X):
        # A text counts once, however many queries it is in.
        numbers, X = pd.factorize(X)
    if vectorizer is None:
        X = check_array(X, accept_sparse="csr", ensure_all_finite=False, dtype=np.float64)
    else:
        X = vectorizer.fit_transform(X) if fits else vectorizer.transform(X)
    return Vectors(X.tocsr() if sparse.issparse(X) else np.asarray(X), numbers)


def as_text(table) -> pd.DataFrame:
    """Return a table of texts as objects, empty where missing; lone surrogates are kept."""
    cells = table.astype(object).where(table.notna(), "").to_numpy(object)
    texts = np.array([[str(cell) for cell in row] for row in cells], dtype=object)
    return pd.DataFrame(texts.reshape(table.shape), table.index, table.columns, dtype=object)


def columns_by_id(table, ids, name: str, key: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return columns of texts or numbers of some ids, and a mask of ids without any.

    Parameters
    ----------
    table : dict or Series {id: text}, or DataFrame with a column or index level `key`
        Texts, or for documents numbers in all other columns.
    ids : Index of str
        The ids.
    name : str
        Name of the argument, for messages.
    key : {"docno", "qid"}
        Name of the ids.
    """
    columns = _columns_of(table, name, key)
    found = columns.reindex(ids).reset_index(drop=True)
    lacks = (found.isna() | (found == "")).any(axis=1).to_numpy()
    if lacks.all():
        raise InputError(
            f"{{{name}}} has nothing for {key} of the runs and judgments: its ids are such as "
            f"{brief(columns.index[0])}, theirs such as {brief(ids[0])}.",
            argument=name,
        )
    return found, lacks


def _by_id(table, name, key) -> pd.DataFrame:
    """Return the columns of a table by distinct ids, which are texts."""
    if isinstance(table, Mapping | pd.Series):
        columns = pd.Series(table, dtype=object).to_frame("text")
    elif is_frame(table):
        columns = as_table(table, "label")
        if key in columns:
            columns = columns.set_index(key)
        elif key not in columns.index.names:
            raise InputError(
                f"{name} has no column {key!r}, but {brief_list(list(columns))}: give the column "
                "of ids that name."
            )
        columns = columns.set_axis(columns.index.get_level_values(key), axis=0)
    else:
        raise InputTypeError(
            f"{name} must be a dict or Series of texts by {key}, or a data frame with the column "
            f"{key!r}, got {type(table).__name__}."
        )
    columns.index = columns.index.astype(str)
    if columns.empty:
        raise InputError(f"{name} is empty: expected texts by {key}.")
    if columns.index.has_duplicates:
        again = columns.index[columns.index.duplicated()][0]
        raise InputError(f"{name} holds {brief(again)} twice: keep one row of each {key}.")
    return columns


def _columns_of(table, name, key) -> pd.DataFrame:
    """Return a column of texts, or for documents columns of numbers, by id as text."""
    columns = _by_id(table, name, key)
    kinds = ("query", "text") if key == "qid" else ("text",)
    if texts := [column for column in kinds if column in columns]:
        found = columns[texts[:1]].astype(object)
        if others := [cell for cell in found.iloc[:, 0] if not pd.api.types.is_scalar(cell)]:
            raise InputTypeError(
                f"{name} must hold texts, got {brief(others[0])}: give vectors as a "
                "DataFrame with a column 'docno' and a column for each number."
            )
        return as_text(found).set_axis(kinds[:1], axis=1)
    try:
        numbers = columns.astype(np.float64)
    except (TypeError, ValueError):
        numbers = None
    if key == "qid" or numbers is None:
        also = "" if key == "qid" else ", or numbers in all columns but 'docno'"
        raise InputError(
            f"{name} must have a column {kinds[0]!r}{also}, got {brief_list(list(columns))}."
        )
    return numbers.set_axis([f"{VECTOR}{place}" for place in range(numbers.shape[1])], axis=1)
