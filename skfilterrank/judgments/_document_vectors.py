"""Vectors of the documents in a judgment table: tf-idf of the text, and columns of numbers."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._label_table import column_of


class Vectors:
    """A matrix and, for each row of the table, its row in the matrix.

    A document that is in many topics has one vector. What is made of texts alone means something
    else in every topic.
    """

    def __init__(self, matrix, numbers=None, is_empty=None, *, of_texts=False):
        self.matrix = matrix
        self.of_texts = of_texts
        self.numbers = np.arange(matrix.shape[0]) if numbers is None else numbers
        self.is_empty = np.zeros(len(self.numbers), dtype=bool) if is_empty is None else is_empty

    def take(self, rows):
        """Vectors of some rows of the table."""
        return self.matrix[self.numbers[rows]]


class DocumentVectors:
    """Makes vectors of the text column, the feature columns, or both."""

    def __init__(self, *, text, features, vectorizer, n_terms):
        self.text = text
        self.features = features
        self.vectorizer = vectorizer
        self.n_terms = n_terms
        self.scaler = None

    def fit_transform(self, X) -> Vectors:
        """Learn terms and scales from all rows of a table, judged or not."""
        if self.text is None:
            vectors = None
        else:
            texts = texts_of(X, self.text)
            numbers, distinct = pd.factorize(texts)
            if self.vectorizer is None:
                self.vectorizer = TfidfVectorizer(max_features=self.n_terms)
            else:
                self.vectorizer = clone(self.vectorizer)
            try:
                matrix = self.vectorizer.fit_transform(distinct)
            except ValueError as error:
                raise InputError(
                    f"the texts in column {brief(self.text)} of X give no terms to learn from "
                    f"({error}): {len(distinct)} distinct texts, all empty or stop words."
                ) from error
            vectors = _with_empty(matrix, numbers, distinct)
        if self.features is not None:
            numbers = feature_matrix(X, self.features)
            self.scaler = StandardScaler().fit(numbers)
        return self._add_features(vectors, X)

    def transform(self, X) -> Vectors:
        """Vectors of the rows of another table."""
        vectors = None
        if self.text is not None:
            numbers, distinct = pd.factorize(texts_of(X, self.text))
            vectors = _with_empty(self.vectorizer.transform(distinct), numbers, distinct)
        return self._add_features(vectors, X)

    def _add_features(self, vectors, X):
        """The vectors with the scaled feature columns behind them."""
        if self.features is None:
            return vectors
        scaled = self.scaler.transform(feature_matrix(X, self.features))
        if vectors is None:
            return Vectors(scaled)
        matrix = vectors.take(slice(None))
        stack = sparse.hstack if sparse.issparse(matrix) else np.hstack
        matrix = stack([matrix, scaled])
        return Vectors(
            matrix.tocsr() if sparse.issparse(matrix) else matrix, None, vectors.is_empty
        )


def selectable_documents(X, text, features):
    """What selection strategies look at: the texts, else the scaled feature columns."""
    if text is not None:
        return texts_of(X, text).tolist()
    return StandardScaler().fit_transform(feature_matrix(X, features))


def texts_of(X, name) -> np.ndarray:
    """The text column as str, empty where missing."""
    column = column_of(X, name, "text").astype(object)
    texts = column.where(column.notna(), "").to_numpy()
    wrong = [not isinstance(text, str) for text in texts]
    if any(wrong):
        shown = texts[int(np.argmax(wrong))]
        raise InputError(
            f"column {brief(name)} of X must hold texts, got {brief(shown)}: name the text column "
            "by text=, or pass text=None and features=, the columns of numbers."
        )
    return texts


def feature_matrix(X, names) -> np.ndarray:
    """The feature columns as float64, NaN where missing."""
    columns = [column_of(X, name, "features") for name in names]
    try:
        return np.column_stack(
            [column.to_numpy(dtype=np.float64, na_value=np.nan) for column in columns]
        )
    except (TypeError, ValueError) as error:
        raise InputError(
            f"features must name columns of numbers, got {list(names)} ({error})."
        ) from error


def _with_empty(matrix, numbers, distinct):
    """Vectors, and which rows have no term."""
    if sparse.issparse(matrix):
        matrix = matrix.tocsr()
        is_empty = np.diff(matrix.indptr) == 0
    else:
        matrix = np.asarray(matrix)
        is_empty = np.array([not text.strip() for text in distinct])
    return Vectors(matrix, numbers, is_empty[numbers], of_texts=True)
