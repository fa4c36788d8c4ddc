"""Gains of labels, options of measures that change gains, and checks for sampled labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import (
    as_column,
    as_numbers,
    check_numbers,
    is_finite_number,
    refuse_lazy,
)
from skfilterrank._base.words import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list

Gains = str | Mapping | Callable | None


class LabelsNotNumbers(InputError):
    """Raised if labels are not numbers and `gains` does not map them to numbers."""


class TwoLabels(NamedTuple):
    """Labels of rows for a relevance model and a harm model.

    `relevance` holds gains from 0 up. `harm` is 1 where the label of harm is above 0 (of one label,
    where its gain is below 0), else 0. `gains` are those of the measure. All are NaN if unjudged.
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
        and masked entries mean unjudged.
    gains : None, "exp2", dict or callable, default=None
        None takes the label as the gain; "exp2" gives ``2**label - 1`` for labels from 0 up and
        the label itself below 0; a dict gives the gain of each label; a callable is called once
        for each distinct label. A gain of NaN says that the label means unjudged.
    name : str, default="y_true"
        Name of the labels in messages.

    Returns
    -------
    ndarray of shape (n_rows,), dtype float64
        The gains, NaN where unjudged. The input itself is returned if it is such an array already.

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
    # The last entry is for code -1, which pandas gives to missing labels.
    table = np.append(_gains_of_labels(list(labels), gains, name), np.nan)
    return table[codes]


def has_two_labels(y) -> bool:
    """Tell if each row has two labels, relevance and harm."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y):
        # A tuple may be a single label, so a row of two labels must be a list or an array.
        return isinstance(y[0], list | np.ndarray) and np.shape(y[0]) == (2,)
    return isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 2


def read_two_labels(y, gains: Gains = None) -> TwoLabels:
    """Read labels of one column, by their gains, or of two columns, relevance and harm.

    Columns are found by the names "relevance" and "harm", in any case, if the table has these, else
    by position. The gain is -harm where harm is above 0, NaN where harm is NaN, and else the gain
    of the relevance label.
    """
    if np.ndim(y) != 2:
        found = as_gains(y, gains, name="y")
        harm = np.where(np.isnan(found), np.nan, found < 0)
        return TwoLabels(np.maximum(found, 0.0), harm, found)
    refuse_lazy(y, "y")
    n_columns = np.shape(y)[1]
    if n_columns != 2:
        raise InputError(
            f"y must have one column of labels, or two of relevance and harm, got {n_columns}."
        )
    columns = y.iloc if isinstance(y, pd.DataFrame) else np.asanyarray(y)
    names = _column_names(y)
    names = [str(name).lower() for name in names]
    is_turned = names[:1] == ["harm"] or names[1:] == ["relevance"]
    first, second = (1, 0) if is_turned else (0, 1)
    relevance = as_gains(columns[:, first], gains, name="the relevance in y")
    harm = check_numbers(columns[:, second], "the harm in y", entry="label").astype(np.float64)
    if (harm < 0).any():
        raise InputError(
            f"y has the harm {np.nanmin(harm):g}: give 0 for a harmless document, and "
            "the cost of showing it for a harmful one."
        )
    known = np.where(harm > 0, -harm, np.where(np.isnan(harm), np.nan, relevance))
    return TwoLabels(np.maximum(relevance, 0.0), np.where(np.isnan(harm), np.nan, harm > 0), known)


def labels_in_one_column(y, gains: Gains) -> tuple[Any, Gains]:
    """Return labels in one column, and the `gains` for them: none if `y` has two columns."""
    return (read_two_labels(y, gains).gains, None) if has_two_labels(y) else (y, gains)


def _column_names(table):
    """Return the column names of a table; an empty list for an array."""
    if isinstance(table, pd.DataFrame):
        return list(table.columns)
    # The attribute `columns` of a pyarrow table holds values, not names.
    return list(getattr(table, "column_names", getattr(table, "columns", ())))


def check_gains(gains) -> None:
    """Raise a ValueError if `gains` is of a wrong type."""
    is_known = gains is None or isinstance(gains, Mapping) or callable(gains)
    if not is_known and not (isinstance(gains, str) and gains == "exp2"):
        raise InputError(
            "gains must be None, 'exp2', a dict {label: gain} or a callable from label to gain, "
            f"got {brief(gains)}."
        )


def _numeric_labels(column, name):
    """Return the labels as float64, NaN where missing; float64 arrays pass through."""
    numbers = as_numbers(column, name)
    if numbers is None:
        # pandas cannot compare a signaling NaN of decimal.
        distinct = [
            label
            for label in _distinct(column)[:5]
            if np.ndim(label) or isinstance(label, Decimal) or not pd.isna(label)
        ]
        raise LabelsNotNumbers(
            f"{name} holds labels that are not numbers ({brief_list(distinct)}): pass gains, a "
            "dict that gives the gain of each label, such as {'Bad': -1, 'Good': 1}."
        )
    # If the sum is finite, all labels are finite: one pass suffices in the usual case.
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
    """Return a code for the label of each row, -1 where missing, and the distinct labels."""
    try:
        return pd.factorize(column)
    except Exception as error:
        raise InputError(
            f"{name} holds labels that gains cannot have an entry for ({brief(str(error))}): "
            "labels must be hashable, such as numbers or text."
        ) from error


def _distinct(column):
    """Return the distinct labels, or all labels if they are not hashable."""
    try:
        return pd.unique(column)
    except Exception:
        return column


def _exp2(labels, name):
    """Compute ``2**label - 1`` for labels from 0 up, and the label itself for labels below 0."""
    result = labels.copy()
    graded = labels >= 0
    with np.errstate(over="ignore"):
        result[graded] = np.exp2(labels[graded]) - 1.0
    if np.isinf(result).any():
        raise InputError(
            f"{{gains='exp2'}} gives inf for label {labels[np.isinf(result)][0]:g} of {name}: a "
            "gain must be finite.",
            argument="gains='exp2'",
        )
    return result


def _gains_of_labels(labels, gains, name):
    """Return the gain of each distinct label."""
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
    except InputError:
        table = None
    if table is None:
        raise InputError(
            f"gains must give one number per label, got {brief_list(values)} for "
            f"{brief_list(labels)}."
        )
    table = table.astype(np.float64)
    # dict.get returns None for labels that it does not have.
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


# Names of the two formulas of DCG in ir_measures.
_DCG = {"log2": (), "exp-log2": "exp2"}


# Options that every measure has.
SHOWN_OF_ALL = ("rel", "gains", "unjudged", "like")


# All of these, and other names that ir_measures has for some of them.
OF_ALL = (*SHOWN_OF_ALL, "dcg", "judged_only")


_OF_UNJUDGED = ("unjudged", "judged_only")


# Libraries whose values variants of measures have, and the settings of measures that declare none
# for the library; None if the library has no other measures.
LIBRARIES: dict[str, dict | None] = {
    "lightgbm": None,
    "xgboost": None,
    "catboost": None,
    "scikit-learn": None,
    # Few measures differ from version 10, whose values trec_eval's own names give.
    "trec_eval9": {},
}


@dataclass(frozen=True)
class OwnReading:
    """Options in a measure's name that change its judgments; they override arguments of a call.

    Attributes
    ----------
    rel : float or None
        Least gain of a relevant document. Documents at or above it get gain 1, others gain 0;
        forbidden documents keep their gain.
    gains : str or tuple of pairs
        "exp2", or pairs that replace gains by other gains. Not used with `rel`. Empty leaves gains
        as they are.
    drops_unjudged : bool
        Whether unjudged documents are taken out of the lists, whatever `unjudged=` of the call
        says.
    library : str or None
        The library whose values the measure reproduces. It also sets `ties`, `undefined` and
        `options`.
    ties : str or None
        Rule for ties.
    undefined : float or None
        Value of undefined queries.
    options : tuple of pairs
        Options of the measure and their values.
    """

    rel: float | None = None
    gains: str | tuple = ()
    drops_unjudged: bool = False
    library: str | None = None
    ties: str | None = None
    undefined: float | None = None
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def like(cls, library: str, settings: Mapping) -> OwnReading:
        """Return the `OwnReading` that reproduces a library's version of a measure."""
        settings = dict(settings)
        gains, ties, undefined = (
            settings.pop(each, None) for each in ("gains", "ties", "undefined")
        )
        return cls(
            gains=gains or (),
            library=library,
            ties=ties,
            undefined=undefined,
            options=tuple(settings.items()),
        )

    @property
    def text(self) -> str:
        """The options as they are written in a measure's name."""
        if self.library is not None:
            return f"like={self.library}"
        parts = []
        if self.rel is not None:
            parts.append(f"rel={_written(self.rel)}")
        elif isinstance(self.gains, str):
            parts.append(f"gains={self.gains}")
        elif self.gains:
            pairs = (f"{_written(label)}:{_written(gain)}" for label, gain in self.gains)
            parts.append(f"gains={{{','.join(pairs)}}}")
        return ",".join([*parts, *["unjudged=drop"] * self.drops_unjudged])

    def of_block(self, block):
        """Apply these options to a `ListBlock`."""
        if self.rel is not None or self.gains or self.drops_unjudged:
            # Blocks are cached by these three options, so that measures which differ in others
            # share one.
            block = block.with_reading(OwnReading(self.rel, self.gains, self.drops_unjudged))
        if self.ties not in (None, block.tie_rule):
            block = block.with_ties(self.ties)
        return block

    def of(self, gains: np.ndarray) -> np.ndarray:
        """Apply these options to the gains of rows; NaN where unjudged."""
        if self.rel is not None:
            return np.where(gains >= self.rel, 1.0, np.minimum(gains, 0.0))
        if not self.gains:
            return gains
        return as_gains(gains, self.gains if isinstance(self.gains, str) else dict(self.gains))


def own_reading(given: dict, text) -> OwnReading | None:
    """Make an `OwnReading` from options in a measure's name; None if there are none."""
    of_gains = {name: value for name, value in given.items() if name not in _OF_UNJUDGED}
    of_unjudged = {name: value for name, value in given.items() if name in _OF_UNJUDGED}
    for some in (of_gains, of_unjudged):
        if len(some) > 1:
            raise InputError(f"{brief(text)} gives {' and '.join(some)}: give one of them.")
    own = _own_gains(of_gains.popitem(), text) if of_gains else OwnReading()
    if of_unjudged:
        ((name, value),) = of_unjudged.items()
        wanted = "drop" if name == "unjudged" else "true"
        if str(value).lower() != wanted:
            raise InputError(
                f"{name} in {brief(text)} must be {wanted}, which removes unjudged documents "
                f"from the lists, got {brief(value)}. Leave it out to use {{unjudged=}} of the "
                "call.",
                argument="unjudged=",
            )
        own = replace(own, drops_unjudged=True)
    return None if own == OwnReading() else own


def _own_gains(option, text):
    """Parse the option `rel`, `gains` or `dcg`."""
    name, value = option
    if name == "rel":
        if not is_finite_number(value) or not value > 0:
            raise InputError(
                f"rel in {brief(text)} must be a number above 0, the least gain of a relevant "
                f"document, got {brief(value)}."
            )
        return OwnReading(rel=float(value))
    if name == "dcg":
        if value not in _DCG:
            raise InputError(f"dcg in {brief(text)} must be log2 or exp-log2, got {brief(value)}.")
        return OwnReading(gains=_DCG[value])
    if isinstance(value, dict):
        values = [*value, *value.values()]
        if not value or not all(isinstance(each, int | float) for each in values):
            raise InputError(
                f"gains in {brief(text)} must give a number for each label, as in "
                "'ndcg(gains={0:0,1:1,2:5})'."
            )
        pairs = [(float(label), float(gain)) for label, gain in value.items()]
        return OwnReading(gains=tuple(sorted(pairs)))
    if value != "exp2":
        raise InputError(
            f"gains in {brief(text)} must be exp2 or a gain for each label, as in "
            f"'ndcg(gains={{0:0,1:1,2:5}})', got {brief(value)}."
        )
    return OwnReading(gains=value)


def _written(number):
    """Write a number in its shortest form, such as 2 and 0.1."""
    return repr(int(number)) if number.is_integer() else repr(number)


PROBABILITY = "inclusion_probability"


# Values of `Measure.reads` for measures that read no labels, or only if a document is judged.
_WITHOUT_LABELS = ("judged", "none")


def is_sample(labels, probabilities) -> bool:
    """Tell whether some label has an inclusion probability below 1."""
    if probabilities is None:
        return False
    return bool((~pd.isna(labels) & (np.asarray(probabilities, dtype=float) < 1)).any())


def measures_of_all_labels(wanted) -> list[str]:
    """List the measures that cannot be computed from a sample of labels."""
    return [
        text
        for text, parsed in wanted.items()
        if PROBABILITY not in parsed.measure.columns and parsed.measure.reads not in _WITHOUT_LABELS
    ]


def check_sample(wanted, labels, probabilities) -> None:
    """Check measures of labels that are a sample.

    Raise for those that would treat the sample as complete; warn of documents without a label that
    may have been drawn.
    """
    if not is_sample(labels, probabilities):
        return
    if wrong := measures_of_all_labels(wanted):
        raise InputError(
            "{qrels} is a sample with inclusion probabilities below 1, which these measures would "
            f"ignore: {brief_list(wrong)}. Estimate the values by "
            f"{{skfilterrank.judgments.estimate}}, or drop the column {PROBABILITY!r} if people "
            "judged all documents.",
            argument=("qrels", "skfilterrank.judgments.estimate"),
        )
    if n_open := int(np.count_nonzero(np.isnan(labels) & ~np.isnan(probabilities))):
        warn_user(
            f"{{qrels}} has {n_open:,} documents with an inclusion probability and without a "
            "label. If they were drawn, values are wrong until they are judged: judge them, or "
            "take out the rows of their queries.",
            DataWarning,
            argument="qrels",
        )


def with_own_labels(wanted) -> dict:
    """Return the measures that need no label, or only whether people judged a document."""
    return {text: each for text, each in wanted.items() if each.measure.reads in _WITHOUT_LABELS}


def refuse_sample() -> None:
    """Raise where judgments of all documents were expected."""
    raise InputError(
        "{qrels} is a sample with inclusion probabilities below 1, where judgments of all "
        f"documents were expected. Drop the column {PROBABILITY!r} if they are complete.",
        argument="qrels",
    )
