"""The second model of RankAndFilter, which learns what is to be hidden, and its labels."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from skfilterrank._core.checks import check_numbers
from skfilterrank._core.gains import as_gains
from skfilterrank._response import document_scores, has_method
from skfilterrank._sklearn_compat import final_step
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._fitting.wrapping import needs_groups


class TwoLabels(NamedTuple):
    """Labels of rows for two models.

    `relevance` holds gains from 0 up, `harm` is 1 where a document is forbidden and else 0, and
    `gains` holds what the measure sees; all are NaN where unjudged.
    """

    relevance: np.ndarray
    harm: np.ndarray
    gains: np.ndarray


def read_two_labels(y, gains) -> TwoLabels:
    """Read labels of one column, by their gains, or of two columns, relevance and harm."""
    if np.ndim(y) != 2:
        found = as_gains(y, gains, name="y")
        harm = np.where(np.isnan(found), np.nan, found < 0)
        return TwoLabels(np.maximum(found, 0.0), harm, found)
    columns = y.iloc if isinstance(y, pd.DataFrame) else np.asarray(y)
    if y.shape[1] != 2:
        raise InputError(
            f"y must have one column of labels, or two of relevance and harm, got {y.shape[1]}."
        )
    relevance = as_gains(columns[:, 0], gains, name="the relevance in y")
    harm = check_numbers(columns[:, 1], "the harm in y", entry="label").astype(np.float64)
    if (harm < 0).any():
        raise InputError(
            f"y has the harm {np.nanmin(harm):g}: give 0 for a harmless document, and the cost of "
            "showing it for any other."
        )
    known = np.where(harm > 0, -harm, np.where(np.isnan(harm), np.nan, relevance))
    return TwoLabels(np.maximum(relevance, 0.0), np.where(np.isnan(harm), np.nan, harm > 0), known)


def check_filter_estimator(estimator) -> None:
    """Raise a ValueError for a second model that cannot be used."""
    final = final_step(estimator)
    if isinstance(final, type) or not (hasattr(final, "fit") and has_method(final, "predict")):
        raise InputError(
            "filter_estimator must be a classifier or a regressor that learns what is forbidden, "
            f"got {brief(final)}."
        )
    if needs_groups(estimator):
        raise InputError(
            f"filter_estimator must be a classifier or a regressor, got {brief(final)}, which "
            "learns an order within queries. The probability of harm has to mean the same in all."
        )


def harm_scores(estimator, X, groups) -> np.ndarray:
    """Score rows by a fitted second model, higher for what is to be hidden."""
    final = final_step(estimator)
    classes = getattr(estimator, "classes_", None)
    if is_classifier(final) and classes is not None and len(classes) == 1:
        raise InputError(
            f"filter_estimator has seen no label but {brief(classes[0])}, so that it cannot tell "
            "what is forbidden. Give rows of both kinds."
        )
    return document_scores(estimator, X, groups=groups).astype(np.float64, copy=False)
