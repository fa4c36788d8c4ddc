"""The second model of RankAndFilter, which learns what is to be hidden, and its labels."""

import numpy as np
from sklearn.base import is_classifier

from skfilterrank._estimators.responses import document_scores, has_method
from skfilterrank._estimators.wrapping import needs_groups
from skfilterrank._lists.sklearn_compat import final_step
from skfilterrank.exceptions import InputError, brief


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
