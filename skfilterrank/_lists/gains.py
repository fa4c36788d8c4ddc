"""From labels to gains: what a judged document is worth, or costs."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._lists.arrays import as_column, as_numbers, refuse_dask
from skfilterrank._lists.checks import check_numbers
from skfilterrank.exceptions import InputError, brief, brief_list

Gains = str | Mapping | Callable | None


class LabelsNotNumbers(InputError):
    """Labels are no numbers, and `gains` does not say what they are worth."""


class TwoLabels(NamedTuple):
    """Labels of rows for two models.

    `relevance` holds gains from 0 up, `harm` is 1 where a document is forbidden and else 0, and
    `gains` holds what the measure sees; all are NaN where unjudged.
    """

    relevance: np.ndarray
    harm: np.ndarray
    gains: np.ndarray


def as_gains(y_true, gains: Gains = None, *, name: str = "y_true") -> np.ndarray:
    """Turn labels into gains.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels: numbers, or anything hashable where `gains` is a dict or a callable. NaN, None, null
        and what is masked mean unjudged.
    gains : None, "exp2", dict or callable, default=None
        None takes the label as the gain; "exp2" gives ``2**label - 1`` for labels from 0 up and
        the label itself below 0; a dict gives the gain of each label; a callable is called once
        for each distinct label. A gain of NaN says that the label means unjudged.
    name : str, default="y_true"
        How messages call the labels.

    Returns
    -------
    ndarray of shape (n_rows,), dtype float64
        The gains, NaN where unjudged. The input itself where it is such an array already.

    Raises
    ------
    ValueError
        If labels are not numbers and no mapping is given, if a label has no entry in `gains`, or
        if a gain is infinite or no number.
    """
    if gains is not None:
        check_gains(gains)
    column = as_column(y_true, name, "label")
    if gains is None or isinstance(gains, str):
        labels = _numeric_labels(column, name)
        return labels if gains is None else _exp2(labels, name)
    codes, labels = _codes(column, name)
    # The last entry serves code -1, which pandas gives to missing labels.
    table = np.append(_gains_of_labels(list(labels), gains, name), np.nan)
    return table[codes]


def has_two_labels(y) -> bool:
    """Tell if each row has two labels, relevance and harm."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y):
        # A tuple may be one label, so that rows of two labels are lists or arrays.
        return isinstance(y[0], list | np.ndarray) and np.shape(y[0]) == (2,)
    return isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 2


def read_two_labels(y, gains: Gains = None) -> TwoLabels:
    """Read labels of one column, by their gains, or of two columns, relevance and harm.

    Columns go by their names where these are "relevance" and "harm", otherwise by position. The
    gain is -harm where harm is above 0, else that of the relevance, and NaN where harm is NaN.
    """
    if np.ndim(y) != 2:
        found = as_gains(y, gains, name="y")
        harm = np.where(np.isnan(found), np.nan, found < 0)
        return TwoLabels(np.maximum(found, 0.0), harm, found)
    refuse_dask(y, "y")
    n_columns = np.shape(y)[1]
    if n_columns != 2:
        raise InputError(
            f"y must have one column of labels, or two of relevance and harm, got {n_columns}."
        )
    columns = y.iloc if isinstance(y, pd.DataFrame) else np.asanyarray(y)
    first, second = (1, 0) if _column_names(y) == ["harm", "relevance"] else (0, 1)
    relevance = as_gains(columns[:, first], gains, name="the relevance in y")
    harm = check_numbers(columns[:, second], "the harm in y", entry="label").astype(np.float64)
    if (harm < 0).any():
        raise InputError(
            f"y has the harm {np.nanmin(harm):g}: give 0 for a harmless document, and the cost of "
            "showing it for any other."
        )
    known = np.where(harm > 0, -harm, np.where(np.isnan(harm), np.nan, relevance))
    return TwoLabels(np.maximum(relevance, 0.0), np.where(np.isnan(harm), np.nan, harm > 0), known)


def _column_names(table):
    """Return the names of the columns of a table, none of an array."""
    if isinstance(table, pd.DataFrame):
        return list(table.columns)
    # What a table of pyarrow calls columns are its values.
    return list(getattr(table, "column_names", getattr(table, "columns", ())))


def check_gains(gains) -> None:
    """Raise a ValueError for what cannot turn labels into gains."""
    is_known = gains is None or isinstance(gains, Mapping) or callable(gains)
    if not is_known and not (isinstance(gains, str) and gains == "exp2"):
        raise InputError(
            "gains must be None, 'exp2', a dict {label: gain} or a callable from label to gain, "
            f"got {brief(gains)}."
        )


def _numeric_labels(column, name):
    """The labels as float64, NaN where missing; float64 arrays pass through."""
    numbers = as_numbers(column, name)
    if numbers is None:
        distinct = [label for label in _distinct(column)[:5] if not _is_missing(label)]
        raise LabelsNotNumbers(
            f"{name} holds labels that are not numbers ({brief_list(distinct)}): pass gains, a "
            "dict that gives the gain of each label, such as {'Bad': -1, 'Good': 1}."
        )
    # The sum is finite where all labels are: one pass for the usual case.
    with np.errstate(over="ignore", invalid="ignore"):
        labels = numbers.astype(np.float64, copy=False)
        total = labels.sum()
    if not np.isfinite(total) and np.isinf(labels).any():
        raise InputError(
            f"{name} holds an infinite label, or one beyond float64, the first at row "
            f"{np.isinf(labels).argmax()}: expected finite numbers, or NaN."
        )
    return labels


def _codes(column, name):
    """Number of the label of each row, -1 where missing, and the labels."""
    try:
        return pd.factorize(column)
    except Exception as error:
        raise InputError(
            f"{name} holds labels that gains cannot have an entry for ({brief(str(error))}): "
            "labels must be hashable, such as numbers or text."
        ) from error


def _distinct(column):
    """The distinct labels, or all where they cannot be told apart."""
    try:
        return pd.unique(column)
    except Exception:
        return column


def _is_missing(label):
    """Whether a label stands for an unjudged row."""
    return np.ndim(label) == 0 and bool(pd.isna(label))


def _exp2(labels, name):
    """2^l - 1 from 0 up, the label itself below."""
    result = labels.copy()
    graded = labels >= 0
    with np.errstate(over="ignore"):
        result[graded] = np.exp2(labels[graded]) - 1.0
    if np.isinf(result).any():
        raise InputError(
            f"gains='exp2' gives inf for label {labels[np.isinf(result)][0]:g} of {name}: a gain "
            "must be finite."
        )
    return result


def _gains_of_labels(labels, gains, name):
    """The gain of each distinct label."""
    if isinstance(gains, Mapping):
        unknown = [label for label in labels if label not in gains]
        if unknown:
            raise InputError(
                f"{name} holds labels with no entry in gains: {brief_list(unknown)}; gains has "
                f"{brief_list(list(gains)) or 'none'}. Add the missing labels, or use NaN for "
                "unjudged rows."
            )
        values = [gains[label] for label in labels]
    else:
        try:
            values = [gains(label) for label in labels]
        except Exception as error:
            raise InputError(
                f"gains failed for labels {brief_list(labels)}: {type(error).__name__}: {error}"
            ) from error
    try:
        table = as_numbers(as_column(values, "gains", "gain"), "gains")
        if table is None:
            raise InputError("gains gives something else than numbers.")
    except InputError:
        raise InputError(
            f"gains must give one number per label, got {brief_list(values)} for "
            f"{brief_list(labels)}."
        ) from None
    table = table.astype(np.float64)
    # None is what a mapping's get has for labels that it does not know.
    is_float = np.array([isinstance(value, float | np.floating) for value in values], dtype=bool)
    bad = np.isinf(table) | (np.isnan(table) & ~is_float)
    if bad.any():
        wrong = int(bad.argmax())
        label = brief_list(labels[wrong : wrong + 1])
        raise InputError(
            f"gains gives {brief(values[wrong])} for label {label}: a gain must be a "
            "finite number, or NaN where the label means unjudged."
        )
    return table
