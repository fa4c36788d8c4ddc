"""Shared code of the components: ranking and hiding of one query's documents by a threshold."""

import inspect
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.words import counted
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds import load_threshold

_LOG = logging.getLogger("skfilterrank.integrations")


def check_threshold(threshold):
    """Return a fitted threshold or ranker, which is loaded if a path is given.

    Raises for another object, or if it is not fitted.
    """
    if isinstance(threshold, (str, os.PathLike)):
        return load_threshold(threshold)
    if not callable(getattr(threshold, "why_hidden", None)) or isinstance(threshold, type):
        raise InputError(
            "threshold must be a fitted threshold of skfilterrank.thresholds, the path of a saved "
            f"threshold, or a fitted RankAndFilter, got {brief(threshold)}."
        )
    check_is_fitted(threshold)
    return threshold


def check_callable(value, name: str):
    """Return a parameter that must be a function or None; raise for another value."""
    if value is not None and not callable(value):
        raise InputError(f"{name} must be a function or None, got {brief(value)}.")
    return value


def serve_documents(
    component: Any,
    query: str,
    texts: Sequence[str],
    own: Sequence,
    where: str,
    ids: Sequence,
    top_k: int | None = None,
):
    """Call `serve` with scores of the component's scorer or, without it, of the documents.

    `own` holds the documents' scores, and `where` says in the message where they are stored.
    """
    if not ids:
        return [], np.empty(0), []
    if component.scorer is not None:
        scores = component.scorer(query, texts)
        if inspect.isawaitable(scores):
            if inspect.iscoroutine(scores):
                scores.close()
            raise InputError(
                "scorer must return scores, got a coroutine: pass a function without async, such "
                "as lambda query, texts: asyncio.run(scorer(query, texts))."
            )
    elif missing := [row for row, score in enumerate(own) if score is None]:
        raise InputError(
            f"all documents must have a score in {where}, but {len(missing)} of {len(own)} have "
            f"none, the first at position {missing[0]}: pass scorer, a function (query, texts) -> "
            "scores."
        )
    else:
        scores = np.asarray(own, dtype=np.float64)
    return serve(component.threshold, scores, query, ids, component.on_hidden, top_k)


def serve(
    threshold: Any,
    scores: Any,
    query: str,
    ids: Sequence,
    on_hidden: Callable | None,
    top_k: int | None = None,
) -> tuple[list[int], np.ndarray, list[dict]]:
    """Rank the documents of one query, and hide some by the threshold.

    `scores` is the input of the threshold: one score per row, a table with further columns, or for
    a `RankAndFilter` one row of features per row. Returns the shown rows, the best first; the
    scores of all rows, -inf for hidden rows; and a list with a dict for each hidden row.
    `on_hidden` gets this list. If it is None, the log gets the number of hidden rows. At most
    `top_k` rows are shown.
    """
    n_rows = len(ids)
    try:
        shape = np.shape(scores)
    except ValueError:
        # Rows of different lengths, which `predict` names.
        shape = (len(scores),)
    if shape[:1] != (n_rows,):
        got = counted(shape[0], "score") if shape else brief(scores)
        raise InputError(
            f"scorer must return one score per document, got {got} for "
            f"{counted(n_rows, 'document')}."
        )
    if len(shape) == 2 and shape[1] == 1 and not hasattr(threshold, "filter_"):
        scores = scores if isinstance(scores, pd.DataFrame) else np.ravel(scores)
    groups = np.zeros(n_rows, dtype=np.int64)
    served = np.array(threshold.predict(scores, groups=groups))
    order = np.argsort(-served, kind="stable")[: np.count_nonzero(served > -np.inf)]
    order, below_top = order[:top_k], order[len(order) if top_k is None else top_k :]
    served[below_top] = -np.inf
    hidden = np.flatnonzero(served == -np.inf)
    if not hidden.size:
        return order.tolist(), served, []
    known, reasons = threshold.why_hidden(scores, groups)
    reasons[below_top] = f"not among the first {top_k}"
    record = [
        {"id": ids[row], "row": row, "score": float(known[row]), "reason": reasons[row]}
        for row in hidden.tolist()
    ]
    if on_hidden is None:
        _LOG.info("%d of %d documents are hidden", len(record), n_rows)
    else:
        on_hidden(query, record)
    return order.tolist(), served, record
