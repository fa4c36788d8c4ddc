"""Checks of the arrays and parameters that the measures and estimators share."""

from numbers import Integral

import numpy as np
import pandas as pd

from skfilterrank._groups import GroupIndex
from skfilterrank.exceptions import InputError, brief

QID = "qid"


def query_ids_of_index(data):
    """The index level named "qid" of a pandas object, or None."""
    index = data if isinstance(data, pd.Index) else getattr(data, "index", None)
    if isinstance(index, pd.Index) and QID in index.names:
        return index.get_level_values(QID)
    return None


def find_groups(groups, *carriers):
    """The given query ids, else those an index of the carriers holds, else None."""
    if groups is not None:
        return groups
    for carrier in carriers:
        found = query_ids_of_index(carrier)
        if found is not None:
            return found
    return None


def check_groups(
    groups, *carriers, n_rows: int, name: str = "groups", carrier: str = "y_true as a pandas Series"
) -> GroupIndex:
    """Index the query of each row; a missing query id is an error."""
    found = find_groups(groups, *carriers)
    if found is None:
        text = (
            f"{name} is missing: pass {name}=, the query id of each row, or give {carrier} whose "
            "index has a level named 'qid'."
        )
        if carrier.startswith("y_true"):
            text += (
                " Inside scikit-learn's model selection, such a Series keeps its query ids "
                "through every split; with sklearn.set_config(enable_metadata_routing=True), "
                "groups can be passed instead."
            )
        raise InputError(text)
    index = found if isinstance(found, GroupIndex) else GroupIndex.from_groups(found)
    if index.n_rows != n_rows:
        raise InputError(
            f"{name} has {index.n_rows} entries but there are {n_rows} rows: expected one query "
            "id per row."
        )
    return index


def check_scores(y_score, *, n_rows: int | None = None, name: str = "y_score") -> np.ndarray:
    """One number per row, -inf where filtered, never NaN or +inf."""
    scores = np.asarray(y_score)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores.ravel()
    if scores.ndim != 1:
        raise InputError(
            f"{name} must hold one score per row (1-D), got shape {scores.shape}. Of a "
            "classifier's predict_proba take the column that says how good a document is."
        )
    if scores.dtype.kind not in "fiub":
        try:
            # Other kinds would turn into numbers too: dates into days, digits out of text.
            if scores.dtype != object or any(isinstance(score, str | bytes) for score in scores):
                raise TypeError("not numbers")
            numbers = np.array(scores.tolist())
            # Whole numbers stay what they are; None becomes NaN.
            scores = numbers if numbers.dtype.kind in "fiu" else scores.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{name} must hold numbers, got dtype {scores.dtype}.") from None
    if n_rows is not None and len(scores) != n_rows:
        raise InputError(f"{name} has {len(scores)} entries but y_true has {n_rows}.")
    if scores.dtype.kind == "f" and len(scores):
        highest = scores.max()
        if np.isnan(highest):
            bad = np.isnan(scores)
            raise InputError(
                f"{name} holds {bad.sum()} NaN, the first at row {bad.argmax()}: a score must be "
                "a number, or -inf for a document that is filtered out or not retrieved."
            )
        if highest == np.inf:
            bad = scores == np.inf
            raise InputError(
                f"{name} holds {bad.sum()} +inf, the first at row {bad.argmax()}: a score must "
                "be finite, or -inf for a document that is filtered out or not retrieved."
            )
    return scores


def check_same_index(y_true, y_score) -> None:
    """Two Series that both carry query ids must carry the same ones, in the same order."""
    left, right = query_ids_of_index(y_true), query_ids_of_index(y_score)
    if left is not None and right is not None and not y_true.index.equals(y_score.index):
        raise InputError(
            "y_true and y_score have different indexes: rows are compared by position, so align "
            "them first, e.g. y_score = y_score.reindex(y_true.index)."
        )


def check_k(k) -> int | None:
    """None, or a positive whole number of positions."""
    if k is None:
        return None
    if isinstance(k, bool | np.bool_) or not isinstance(k, Integral) or k < 1:
        raise InputError(f"k must be None (the whole list) or a positive integer, got {brief(k)}.")
    return int(k)


def check_choice(value, name: str, choices) -> None:
    """The value must be one of the choices."""
    if not any(
        value is choice or (type(value) is type(choice) and value == choice) for choice in choices
    ):
        allowed = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} must be one of {allowed}, got {brief(value)}.")
