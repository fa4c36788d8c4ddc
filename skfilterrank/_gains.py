"""From labels to gains: what a judged document is worth, or costs."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from skfilterrank.exceptions import InputError, brief

Gains = str | Mapping | Callable | None


def as_gains(y_true, gains: Gains = None, *, name: str = "y_true") -> np.ndarray:
    """Turn labels into gains.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels: numbers, or anything hashable where `gains` is a dict or a callable. NaN and None
        mean unjudged.
    gains : None, "exp2", dict or callable, default=None
        None takes the label as the gain; "exp2" gives ``2**label - 1`` for labels from 0 up and
        the label itself below 0; a dict gives the gain of each label; a callable is called once
        for each distinct label.
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
        if a gain is infinite or not a number.
    """
    check_gains(gains)
    if gains is None or isinstance(gains, str):
        labels = _numeric_labels(y_true, name)
        return labels if gains is None else _exp2(labels)
    codes, labels = pd.factorize(_one_dimensional(y_true, name))
    # The last entry serves code -1, which pandas gives to missing labels.
    table = np.append(_gains_of_labels(list(labels), gains, name), np.nan)
    return table[codes]


def check_gains(gains) -> None:
    """Raise a ValueError for what cannot turn labels into gains."""
    is_known = gains is None or isinstance(gains, Mapping) or callable(gains)
    if not is_known and not (isinstance(gains, str) and gains == "exp2"):
        raise InputError(
            "gains must be None, 'exp2', a dict {label: gain} or a callable from label to gain, "
            f"got {brief(gains)}."
        )


def _one_dimensional(y_true, name):
    """The labels as a one-dimensional array pandas can factorize."""
    if isinstance(y_true, str) or not np.iterable(y_true):
        raise InputError(f"{name} must hold one label per row, got {brief(y_true)}.")
    if isinstance(y_true, pd.api.extensions.ExtensionArray):
        y_true = pd.Series(y_true)
    elif not isinstance(y_true, np.ndarray | pd.Series | pd.Index) and hasattr(y_true, "to_numpy"):
        y_true = y_true.to_numpy()
    if not isinstance(y_true, np.ndarray | pd.Series | pd.Index):
        y_true = pd.Series(y_true).to_numpy()
    if y_true.ndim == 2 and y_true.shape[1] == 1:
        y_true = y_true.ravel()
    if y_true.ndim != 1:
        shape = y_true.shape
        raise InputError(f"{name} must be one-dimensional, one label per row, got shape {shape}.")
    if isinstance(y_true, np.ndarray) and len(y_true) and isinstance(y_true[0], list | np.ndarray):
        raise InputError(f"{name} must be one-dimensional, one label per row, got lists.")
    if y_true.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} must hold real numbers.")
    return y_true


def _numeric_labels(y_true, name):
    """The labels as float64, NaN where missing; float64 arrays pass through."""
    values = _one_dimensional(y_true, name)
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        labels = values
    else:
        try:
            if not _is_numeric(values):
                raise InputError("text")
            if isinstance(values, np.ndarray) and values.dtype != object:
                labels = values.astype(np.float64)
            else:
                labels = pd.Series(values).to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            distinct = [label for label in pd.unique(values)[:5] if not pd.isna(label)]
            raise InputError(
                f"{name} holds labels that are not numbers ({_listing(distinct)}): pass gains, a "
                "dict that gives the gain of each label, such as {'Bad': -1, 'Good': 1}."
            ) from None
    # The sum is finite where all labels are: one pass for the usual case.
    with np.errstate(over="ignore", invalid="ignore"):
        total = labels.sum()
    if not np.isfinite(total) and np.isinf(labels).any():
        raise InputError(f"{name} holds an infinite label: expected finite numbers, or NaN.")
    return labels


def _is_numeric(values):
    """Whether labels are numbers; digits as text are not, whatever array holds them."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _is_numeric(dtype.categories)
    if pd.api.types.is_object_dtype(dtype):
        return not any(isinstance(label, str | bytes) for label in values)
    return pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_any_real_numeric_dtype(dtype)


def _exp2(labels):
    """2^l - 1 from 0 up, the label itself below."""
    result = labels.copy()
    graded = labels >= 0
    with np.errstate(over="ignore"):
        result[graded] = np.exp2(labels[graded]) - 1.0
    if np.isinf(result).any():
        raise InputError(
            f"gains='exp2' gives inf for label {labels[np.isinf(result)][0]:g}: a gain must be "
            "finite."
        )
    return result


def _gains_of_labels(labels, gains, name):
    """The gain of each distinct label."""
    if isinstance(gains, Mapping):
        unknown = [label for label in labels if label not in gains]
        if unknown:
            raise InputError(
                f"{name} holds labels with no entry in gains: {_listing(unknown)}; gains has "
                f"{_listing(list(gains))}. Add the missing labels, or use NaN for unjudged rows."
            )
        values = [gains[label] for label in labels]
    else:
        values = [gains(label) for label in labels]
    try:
        table = np.array(values, dtype=np.float64).reshape(len(labels))
    except (TypeError, ValueError):
        raise InputError(
            f"gains must give one number per label, got {_listing(values)} for {_listing(labels)}."
        ) from None
    bad = ~np.isfinite(table)
    if bad.any():
        wrong = int(bad.argmax())
        raise InputError(
            f"gains gives {table[wrong]} for label {_listing(labels[wrong : wrong + 1])}: a gain "
            "must be finite."
        )
    return table


def _listing(items, limit=8):
    """A few items as text, and how many more there are."""
    shown = ", ".join(
        repr(getattr(item, "item", lambda item=item: item)()) for item in items[:limit]
    )
    return shown + (f" and {len(items) - limit} more" if len(items) > limit else "")
