"""Completing the labels y of documents X: what the meta-estimator and the scorer share."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from skfilterrank._core.arrays import as_column, as_number_array, is_missing
from skfilterrank._core.checks import check_groups
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._prediction.document_vectors import DocumentVectors, Vectors
from skfilterrank.judgments._prediction.label_predictor import LabelPredictor
from skfilterrank.judgments._prediction.label_table import (
    check_labels,
    is_polars,
    names_of,
    warn_of_minus_one,
)
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
    values = as_number_array(y, "y")
    if not is_missing(as_column(y, "y", "label") if values is None else values, "y").any():
        warn_of_minus_one(y, "y")
        return y, None
    predictor = LabelPredictor() if predictor is None else clone(predictor)
    labels = check_labels(y, "y")
    index = check_groups(groups, n_rows=len(labels), carrier="y as a pandas Series")
    check_parameters(predictor)
    predicted = predictor.fit_vectors(_vectors_of(predictor, X), index, labels)
    labels = np.where(np.isnan(predicted), labels, predicted)
    if isinstance(y, pd.Series):
        return pd.Series(labels, index=y.index, name=y.name), predictor
    return labels, predictor


def _vectors_of(predictor, X):
    """Document vectors of whatever X is."""
    settings = {"vectorizer": predictor.vectorizer, "n_terms": predictor.n_terms}
    if isinstance(X, pd.DataFrame) or is_polars(X):
        text = predictor.text if predictor.text in names_of(X) else None
        if text is not None or predictor.features is not None:
            return DocumentVectors(
                text=text, features=predictor.features, **settings
            ).fit_transform(X)
    elif not sparse.issparse(X) and np.ndim(X) == 1:
        texts = pd.DataFrame({"X": np.asarray(X, dtype=object)})
        return DocumentVectors(text="X", features=None, **settings).fit_transform(texts)
    if sparse.issparse(X):
        return Vectors(MaxAbsScaler().fit_transform(X.tocsr()))
    try:
        numbers = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"labels cannot be predicted from X ({error}): expected numbers, texts, or a DataFrame "
            f"with the predictor's text column {brief(predictor.text)} or features."
        ) from error
    return Vectors(StandardScaler().fit_transform(numbers))
