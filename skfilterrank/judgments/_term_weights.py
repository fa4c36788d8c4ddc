"""Texts as vectors of tf * log(n / df)."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from skfilterrank._lists.checks import check_count
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments._selector import check_texts, shown_rows


def check_max_terms(max_terms) -> int:
    """Return a number of terms, at least 1."""
    return check_count(max_terms, "max_terms")


def term_weights(texts, max_terms) -> tuple[sparse.csr_array, np.ndarray]:
    """Weights of the terms of each distinct text, and the number of the vector of each row.

    A text that comes out without weights gets a vector of its own in every row.
    """
    values = check_texts(texts)
    numbers, distinct = pd.factorize(np.array(values, dtype=object))
    try:
        counts = CountVectorizer(max_features=max_terms).fit_transform(distinct)
    except ValueError as error:
        raise InputError(
            f"X holds {len(values)} texts without a term among them ({error}): give texts with "
            "words, or vectors."
        ) from error
    counts = sparse.csr_array(counts, dtype=np.float64)
    _warn_of_empty(texts, values, np.diff(counts.indptr)[numbers] == 0)
    n_documents = _n_documents(texts, numbers)
    owners = np.repeat(np.arange(len(distinct)), np.diff(counts.indptr))
    df = np.bincount(counts.indices, n_documents[owners], minlength=counts.shape[1])
    counts.data *= np.log(n_documents.sum() / df)[counts.indices]
    counts.eliminate_zeros()
    return _separate_empty(counts, numbers)


def _warn_of_empty(texts, values, is_empty):
    """Warn of the texts that are there, but hold no term."""
    # Missing ones have had their warning, and are equal to no text now.
    is_text = np.array([isinstance(text, str) for text in texts], dtype=bool)
    rows = np.flatnonzero(is_empty & is_text)
    if len(rows):
        warn_user(
            f"{len(rows)} of {len(values)} texts hold no term and represent themselves alone: "
            f"{shown_rows(texts, rows)}.",
            DataWarning,
        )


def _n_documents(texts, numbers):
    """Number of documents that have each distinct text: one, where documents have no ids."""
    if "docno" not in getattr(getattr(texts, "index", None), "names", ()):
        return np.ones(numbers.max() + 1)
    docnos = texts.index.get_level_values("docno")
    documents = pd.DataFrame({"docno": docnos, "text": numbers}).drop_duplicates()
    return np.bincount(documents["text"]).astype(np.float64)


def _separate_empty(vectors, numbers):
    """Vectors of zeros of their own for all rows whose vector has no entries."""
    rows = np.flatnonzero(np.diff(vectors.indptr)[numbers] == 0)
    n_vectors, n_terms = vectors.shape
    numbers[rows] = n_vectors + np.arange(len(rows))
    indptr = np.append(vectors.indptr, np.full(len(rows), vectors.indptr[-1]))
    shape = (n_vectors + len(rows), n_terms)
    return sparse.csr_array((vectors.data, vectors.indices, indptr), shape=shape), numbers
