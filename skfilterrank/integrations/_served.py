"""The list of one query as a threshold shows it, and a record of what it hides."""

import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds import load_threshold

_LOG = logging.getLogger("skfilterrank.integrations")


def check_threshold(threshold):
    """Return a fitted threshold or ranker, read from its file where a path is given."""
    if isinstance(threshold, (str, os.PathLike)):
        return load_threshold(threshold)
    if not callable(getattr(threshold, "rank", None)) or isinstance(threshold, type):
        raise InputError(
            "threshold must be a fitted threshold of skfilterrank.thresholds, the path of its "
            f"file, or a fitted RankAndFilter, got {brief(threshold)}."
        )
    check_is_fitted(threshold)
    return threshold


def check_callable(value, name: str):
    """Return a function or None."""
    if value is not None and not callable(value):
        raise InputError(f"{name} must be a function or None, got {brief(value)}.")
    return value


def serve_documents(
    component: Any, query: str, texts: Sequence[str], own: Sequence, where: str, ids: Sequence
):
    """Serve by the scores of a component's scorer, or without one by those of the documents."""
    if not ids:
        return [], np.empty(0), []
    if component.scorer is not None:
        scores = component.scorer(query, texts)
    elif missing := [row for row, score in enumerate(own) if score is None]:
        raise InputError(
            f"{len(missing)} of {len(own)} documents have no score in {where}, the first at "
            f"position {missing[0]}: give scorer, a function (query, texts) -> scores."
        )
    else:
        scores = np.asarray(own, dtype=np.float64)
    return serve(component.threshold, scores, query=query, ids=ids, on_hidden=component.on_hidden)


def serve(
    threshold: Any,
    scores: Any,
    *,
    query: str,
    ids: Sequence,
    on_hidden: Callable | None,
) -> tuple[list[int], np.ndarray, list[dict]]:
    """Return the rows to show, best first, their scores by row, and a record of the hidden ones.

    `scores` are what the threshold reads: one score per row, a table with further columns, or the
    features of a `RankAndFilter`. The record has a dict for each hidden row, in the order of the
    rows, which `on_hidden` is called with, or else the log counts.
    """
    n_rows = len(ids)
    if len(scores) != n_rows:
        raise InputError(f"scorer gave {len(scores)} scores for {n_rows} documents: give one each.")
    groups = np.zeros(n_rows, dtype=np.int64)
    # Asked once: thresholds count the lists that they see, to notice scores on another scale.
    served = threshold.predict(scores, groups=groups)
    is_shown = served > -np.inf
    order = np.argsort(-served, kind="stable")[: np.count_nonzero(is_shown)]
    hidden = np.flatnonzero(~is_shown)
    if not hidden.size:
        return order.tolist(), served, []
    has_features = hasattr(threshold, "filter_")
    known = threshold.decision_function(scores, groups=groups) if has_features else _column(scores)
    record = [
        {
            "id": ids[row],
            "row": row,
            "score": float(known[row]),
            "reason": _reason(threshold, known[row]),
        }
        for row in hidden.tolist()
    ]
    if on_hidden is None:
        _LOG.info("%d of %d documents are hidden", len(record), n_rows)
    else:
        on_hidden(query, record)
    return order.tolist(), served, record


def _column(scores):
    """Return the scores as one column, the first of a table that names none "score"."""
    if isinstance(scores, pd.DataFrame):
        scores = scores["score"] if "score" in scores else scores.iloc[:, 0]
    return np.asarray(scores, dtype=np.float64)


def _reason(threshold, score) -> str:
    """Tell why a document is hidden."""
    level = None if hasattr(threshold, "filter_") else getattr(threshold, "threshold_", None)
    if level is not None and score < level:
        return f"score below the threshold {level:.6g}"
    return f"not among the documents that {type(threshold).__name__} shows"
