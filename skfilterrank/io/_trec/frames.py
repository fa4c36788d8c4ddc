"""Rows of judgments and runs from data frames."""

from numbers import Real

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import as_column, as_numbers
from skfilterrank._core.checks import check_scores
from skfilterrank._files.files import is_path
from skfilterrank._files.text_columns import id_tokens
from skfilterrank.exceptions import InputError, InputTypeError, brief, brief_list
from skfilterrank.io._trec.pairs import Rows, find_repeated, pair_keys

# Our name of a column (PyTerrier's too), then that of ir_measures.
_NAMES = {
    "qid": ("qid", "query_id"),
    "docno": ("docno", "doc_id"),
    "label": ("label", "relevance"),
    "score": ("score",),
    "inclusion_probability": ("inclusion_probability",),
    "run": ("run",),
}


def is_frame(data):
    """Whether data is a data frame of pandas or polars."""
    return isinstance(data, pd.DataFrame) or hasattr(data, "get_column")


def checked_source(data, argument):
    """A path or handle, or an error that says what else may be passed."""
    if is_path(data) or hasattr(data, "read"):
        return data
    raise InputTypeError(
        f"{argument} must be a data frame, a path or an open file, got {type(data).__name__}."
    )


def qrels_frame_rows(frame, argument="qrels") -> Rows:
    """Rows of a data frame of judgments; labels may be NaN: pooled, but not judged."""
    columns = columns_of(
        frame, ("qid", "docno", "label"), argument, optional=("inclusion_probability",)
    )
    labels = _numbers(columns["label"], argument)
    if np.isinf(labels).any():
        raise InputError(
            f"{argument} holds the label {labels[np.isinf(labels)][0]} in row "
            f"{int(np.isinf(labels).argmax())}; labels must be finite, or NaN where unjudged."
        )
    rows = _checked_rows(columns, labels, argument)
    if "inclusion_probability" not in columns:
        return rows
    probabilities = _numbers(columns["inclusion_probability"], argument)
    outside = ~np.isnan(labels) & ~((probabilities > 0) & (probabilities <= 1))
    if outside.any():
        row = int(outside.argmax())
        raise InputError(
            f"{argument} holds the inclusion probability {probabilities[row]} in row {row}, which "
            "has a label; it must be above 0 and at most 1."
        )
    return rows._replace(probabilities=probabilities)


def run_frame_rows(frame, argument="run") -> Rows:
    """Rows of a data frame of a run; the name is that of the column "run" where it holds one."""
    columns = columns_of(frame, ("qid", "docno", "score"), argument, optional=("run",))
    rows = _checked_rows(columns, run_scores(columns["score"], argument), argument)
    names = columns["run"].unique() if "run" in columns else []
    return rows._replace(name=str(names[0]) if len(names) == 1 else None)


def run_scores(column, argument) -> np.ndarray:
    """Scores of a run as float64: finite, or -inf where filtered."""
    return check_scores(
        _numbers(column, argument), name=f"column {brief(column.name)} of {argument}"
    )


def columns_of(frame, names, argument, optional=()):
    """Columns (or index levels) of a frame by our names, whichever of the known ones it uses."""
    if isinstance(frame, pd.DataFrame):
        if any(level is not None for level in frame.index.names):
            levels = [level for level in frame.index.names if level not in (None, *frame.columns)]
            frame = frame.reset_index(level=levels)
        present = [str(column) for column in frame.columns]
    else:
        present = list(frame.columns)
    columns = {}
    for name in (*names, *optional):
        known = [alias for alias in _NAMES[name] if alias in present]
        if known:
            columns[name] = _series(frame[known[0]], known[0], argument)
        elif name not in optional:
            raise InputError(
                f"{argument} has no column {' or '.join(map(repr, _NAMES[name]))}; its columns "
                f"are {brief_list(present) or 'none'}. Rename one of these."
            )
    if not len(columns[names[0]]):
        raise InputError(f"{argument} has no rows; at least one was expected.")
    return columns


def _series(column, name, argument):
    """A column as a pandas Series."""
    if isinstance(column, pd.DataFrame):
        raise InputError(f"{argument} has several columns {brief(name)}; keep one of them.")
    return column if isinstance(column, pd.Series) else pd.Series(column.to_list(), name=name)


def _numbers(column, argument):
    """Values of a column of numbers as float64, missing ones as NaN."""
    name = f"column {brief(column.name)} of {argument}"
    numbers = as_numbers(as_column(column, name), name)
    if numbers is None:
        shown = next((value for value in column if not isinstance(value, Real)), column.dtype)
        raise InputError(
            f"{name} must hold numbers, got {brief(shown)}; convert it first, e.g. by "
            "pandas.to_numeric."
        )
    return numbers.astype(np.float64, copy=False)


def _checked_rows(columns, values, argument):
    """Rows of the columns; a document that is twice in a topic is an error."""
    try:
        codes, topics = id_tokens(columns["qid"], columns["qid"].name).factorize()
        docnos = id_tokens(columns["docno"], columns["docno"].name)
    except ValueError as error:
        raise InputError(f"{argument}: {error}") from None
    repeated = find_repeated(codes, docnos, pair_keys(codes, docnos))
    if repeated is not None:
        row, before = repeated
        raise InputError(
            f"{argument} holds document {brief(docnos.take([row]).tolist()[0])} twice in topic "
            f"{brief(topics[codes[row]])} (rows {before} and {row}); keep one of the two rows."
        )
    return Rows(topics, codes, docnos, values)
