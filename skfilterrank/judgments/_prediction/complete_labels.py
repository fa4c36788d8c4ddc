"""Completing the labels y of documents X: what the meta-estimator and the scorer share."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from skfilterrank._core.arrays import as_column, as_number_array, is_missing
from skfilterrank._core.checks import check_groups
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.judgments._prediction.document_vectors import (
    DocumentVectors,
    Vectors,
    selectable_documents,
)
from skfilterrank.judgments._prediction.label_predictor import LabelPredictor
from skfilterrank.judgments._prediction.label_table import (
    check_labels,
    is_polars,
    names_of,
    warn_of_minus_one,
)
from skfilterrank.judgments._prediction.next_labels import asked_labels
from skfilterrank.judgments._prediction.predictor_parameters import check_parameters


def check_predictor(predictor) -> None:
    """Raise a ValueError for anything but a LabelPredictor or None."""
    if predictor is not None and not isinstance(predictor, LabelPredictor):
        raise InputError(f"predictor must be a LabelPredictor or None, got {brief(predictor)}.")


def complete_labels(predictor, X, y, groups):
    """Labels completed from these rows alone, and the fitted predictor; None where all are there.

    A Series stays one, with its index.
    """
    check_predictor(predictor)
    predictor = LabelPredictor() if predictor is None else clone(predictor)
    values = as_number_array(y, "y")
    missing = is_missing(as_column(y, "y", "label") if values is None else values, "y").any()
    if not missing and predictor.n_per_query is None:
        warn_of_minus_one(y, "y")
        return y, None
    labels = check_labels(y, "y")
    index = check_groups(groups, n_rows=len(labels), carrier="y as a pandas Series")
    check_parameters(predictor)
    if predictor.selector is not None and predictor.n_per_query is None:
        warn_user(
            f"selector={brief(predictor.selector)} changes nothing: with n_per_query=None all "
            "labels are learned from. Give the predictor's n_per_query, or no selector.",
            FitWarning,
        )
    vectors, documents = _vectors_of(predictor, X)
    if predictor.n_per_query is not None:
        labels = asked_labels(predictor.selector, documents, index, labels, predictor.n_per_query)
    predicted = predictor.fit_vectors(vectors, index, labels)
    labels = np.where(np.isnan(predicted), labels, predicted)
    if isinstance(y, pd.Series):
        return pd.Series(labels, index=y.index, name=y.name), predictor
    return labels, predictor


def reads_texts_alone(predictor, X) -> bool:
    """Tell whether labels of these rows are predicted from texts and nothing else."""
    if isinstance(X, pd.DataFrame) or is_polars(X):
        return predictor.features is None and predictor.text in names_of(X)
    return not sparse.issparse(X) and np.ndim(X) == 1


def _vectors_of(predictor, X):
    """Document vectors of whatever X is, and what selection strategies look at."""
    settings = {"vectorizer": predictor.vectorizer, "n_terms": predictor.n_terms}
    if isinstance(X, pd.DataFrame) or is_polars(X):
        text = predictor.text if predictor.text in names_of(X) else None
        if text is not None or predictor.features is not None:
            columns = {"text": text, "features": predictor.features}
            vectors = DocumentVectors(**columns, **settings).fit_transform(X)
            return vectors, selectable_documents(X, **columns)
    elif not sparse.issparse(X) and np.ndim(X) == 1:
        texts = pd.DataFrame({"X": np.asarray(X, dtype=object)})
        vectors = DocumentVectors(text="X", features=None, **settings).fit_transform(texts)
        return vectors, selectable_documents(texts, "X", None)
    if sparse.issparse(X):
        vectors = Vectors(MaxAbsScaler().fit_transform(X.tocsr()))
        return vectors, vectors.matrix
    try:
        numbers = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"labels cannot be predicted from X ({error}): expected numbers, texts, or a DataFrame "
            f"with the predictor's text column {brief(predictor.text)} or features."
        ) from error
    vectors = Vectors(StandardScaler().fit_transform(numbers))
    return vectors, vectors.matrix
