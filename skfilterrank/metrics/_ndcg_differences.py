"""explain_differences: the nDCG of other tools on the same rows, and the rules that differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import as_column, check_k, check_scores, is_missing, label_array
from skfilterrank._lists.queries import check_groups
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.metrics._evaluate import evaluate

# numba, which sorts ranx's runs, keeps the order of ties in lists up to this length.
_STABLE_UP_TO = 15
# Test of each row, for data that some tool refuses, by the reason that is given.
_REFUSED: dict[str, Callable] = {
    "takes whole labels": lambda rows: rows.label % 1 > 0,
    "refuses labels below 0": lambda rows: rows.label < 0,
    "refuses labels above 30": lambda rows: rows.label > 30,
    "refuses labels above 31": lambda rows: rows.label > 31,
    "takes no unjudged documents": lambda rows: rows.label.isna(),
    "refuses the score -inf": lambda rows: rows.score == -np.inf,
    "refuses a query of one document": lambda rows: rows.n == 1,
    "refuses a query with nothing judged or nothing shown": lambda rows: ~rows.counted,
    "counts no query": lambda rows: not rows.counted.any(),
    "leaves out the query's own document: pass docnos=": lambda rows: rows.docno.isna(),
}
_LONG_TIES = f"keeps no order of ties in lists of more than {_STABLE_UP_TO} documents"
_NO_NAMES = "breaks ties by document name: pass docnos="

# Rules that differ from ours, and data that are refused; tests ask the tools themselves.
_TREC_EVAL = {"ties": "docno", "negative_labels": 0, "missing_queries": "left out"}
_PYTREC_EVAL = _TREC_EVAL | {"single_precision": np.float32}
_CATBOOST = {"ties": "worst", "nothing_relevant": 1.0, "hidden_documents": "last"}
_LIGHTGBM = _CATBOOST | {"gain": "exp2", "ties": "stable"}
_RUNS = "takes whole labels", "counts no query"
_BOOSTED = "refuses labels below 0", "takes whole labels"
_TOOLS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "skfilterrank": ({}, ()),
    "trec_eval": (_TREC_EVAL, _RUNS),
    "pytrec_eval": (_PYTREC_EVAL, _RUNS),
    "pytrec_eval, run of k": (_PYTREC_EVAL | {"ideal": "whole"}, _RUNS),
    "scikit-learn": (
        {},
        (
            "refuses labels below 0",
            "takes no unjudged documents",
            "refuses the score -inf",
            "refuses a query of one document",
        ),
    ),
    "LightGBM": (_LIGHTGBM, (*_BOOSTED, "refuses labels above 30")),
    "XGBoost": (
        _LIGHTGBM | {"single_precision": np.float32, "no_cutoff": 32},
        (*_BOOSTED, "refuses labels above 31", "takes no unjudged documents"),
    ),
    "CatBoost": (_CATBOOST, ("takes no unjudged documents",)),
    "ranx": (
        {"gain": np.trunc, "ties": "stable", "negative_labels": 0},
        ("refuses a query with nothing judged or nothing shown",),
    ),
    "BEIR": (
        _PYTREC_EVAL | {"own_document": "left out"},
        (*_RUNS, "leaves out the query's own document: pass docnos="),
    ),
}
_RULES = (
    "gain",
    "ties",
    "nothing_relevant",
    "ideal",
    "negative_labels",
    "own_document",
    "no_cutoff",
    "single_precision",
    "hidden_documents",
    "missing_queries",
)


def explain_differences(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    k: int | None = 10,
    docnos: ArrayLike | None = None,
) -> pd.DataFrame:
    """Compute the mean nDCG@k that other tools report, and what each of their rules changes.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row. NaN means unjudged.
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf means hidden or not retrieved.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    k : int or None, default=10
        Number of places. None takes the whole list.
    docnos : array-like of shape (n_rows,), default=None
        Name of each document, different within a query. trec_eval, pytrec_eval and BEIR break ties
        by names, and BEIR leaves out the document that is named as its query.

    Returns
    -------
    DataFrame
        One row for each tool. "skfilterrank" is :func:`ndcg_score` by its defaults, and
        "pytrec_eval, run of k" is pytrec_eval's ``ndcg`` of a run that ends at document k. Others
        are what the tool calls nDCG or ``ndcg_cut_k``.

        value : float
            The mean over queries. NaN where the tool refuses such data or its value cannot be told.
        difference : float
            `value` minus ours.
        gain, ties, nothing_relevant, ideal, negative_labels, own_document, no_cutoff, \
single_precision, hidden_documents, missing_queries : float
            Change of our value where this rule alone is the tool's: the gain of a label; the order
            of equal scores; the value of a query without a relevant document; an ideal list that is
            not cut at k; labels below 0 that count as 0; the query's own document, left out of the
            list; XGBoost's end at document 32 where `k` is None; scores in single precision; hidden
            documents, which stand last; queries with nothing judged or nothing shown, left out of
            the mean.
        together : float
            `difference` minus these changes: what rules change only together.
        reason : str
            The reason of a NaN, else "".

    Raises
    ------
    ValueError
        If lengths differ, a query id is missing, a score is NaN or +inf, or a document is named
        twice in a query.

    See Also
    --------
    evaluate : ``like=`` gives the value of LightGBM, XGBoost, CatBoost or scikit-learn.

    Notes
    -----
    All tools have the same discount, ``1 / log2(i + 1)``. Rows of a query are in the order that the
    tool gets. Versions: trec_eval 10.0, pytrec_eval-terrier 0.5.11 (trec_eval 9), scikit-learn
    1.9.1, LightGBM 4.7.0, XGBoost 3.2.0, CatBoost 1.2.10, ranx 0.3.21, BEIR 2.2.0, all with their
    defaults. BEIR rounds to five digits.

    Examples
    --------
    The second query has nothing to find, and two documents of the first are tied:

    >>> from skfilterrank.metrics import explain_differences
    >>> found = explain_differences(
    ...     [2, 0, 1, 0, 0], [0.9, 0.5, 0.5, 0.8, 0.1], list("aaabb"), docnos=list("vwxyz")
    ... )
    >>> found[["value", "difference", "gain", "ties", "nothing_relevant"]].round(3)
                           value  difference   gain   ties  nothing_relevant
    tool
    skfilterrank           0.488       0.000  0.000  0.000               0.0
    trec_eval              0.500       0.012  0.000  0.012               0.0
    pytrec_eval            0.500       0.012  0.000  0.012               0.0
    pytrec_eval, run of k  0.500       0.012  0.000  0.012               0.0
    scikit-learn           0.488       0.000  0.000  0.000               0.0
    LightGBM               0.982       0.494  0.003 -0.012               0.5
    XGBoost                0.982       0.494  0.003 -0.012               0.5
    CatBoost               0.975       0.488  0.000 -0.012               0.5
    ranx                   0.475      -0.012  0.000 -0.012               0.0
    BEIR                   0.500       0.012  0.000  0.012               0.0
    """
    k = check_k(k)
    with warnings.catch_warnings():
        # The columns say what these warnings would say.
        warnings.simplefilter("ignore", DataWarning)
        evaluate(y_true, y_score, "ndcg", groups=groups)
        rows = _as_rows(y_true, y_score, groups, docnos)

        @cache  # tools share rules
        def mean(*rules):
            return _mean(rows, k, dict(rules))

        found = {tool: _explained(tool, *each, rows, mean) for tool, each in _TOOLS.items()}
    columns = ["value", "difference", *_RULES, "together", "reason"]
    return pd.DataFrame.from_dict(found, orient="index", columns=columns).rename_axis("tool")


def _as_rows(y_true, y_score, groups, docnos) -> pd.DataFrame:
    """Return checked rows, with the columns that the tests of refused data need."""
    label = label_array(y_true).astype(np.float64)
    index = check_groups(groups, y_true, n_rows=len(label), names=("y_true",))
    score = check_scores(y_score, n_rows=len(label)).astype(np.float64)
    rows = pd.DataFrame({"query": index.codes(), "label": label, "score": score})
    rows["docno"], rows["own"] = None, False
    if docnos is not None:
        names = as_column(docnos, "docnos", "document name")
        if len(names) != len(rows):
            raise InputError(
                f"docnos must hold one document name per row: expected {len(rows)}, got "
                f"{len(names)}."
            )
        if (missing := is_missing(names, "docnos")).any():
            raise InputError(
                f"docnos has a missing name at row {missing.argmax()}: give a name for each row."
            )
        rows["docno"] = [str(each) for each in names]
        rows["own"] = [name == str(each) for name, each in zip(rows.docno, index.row_ids())]
        if (twice := rows.duplicated(["query", "docno"])).any():
            raise InputError(
                f"docnos must be different within a query, but {brief(rows.docno[twice].iloc[0])} "
                "is twice in one: keep one row of each document."
            )
    shown = rows.score > -np.inf
    n_shown = shown.groupby(rows["query"]).transform("sum")
    n_judged = rows.groupby("query").label.transform("count")
    rows["n"] = rows.groupby("query").label.transform("size")
    rows["counted"] = (n_shown > 0) & (n_judged > 0)
    rows["long_tie"] = rows.duplicated(["query", "score"], keep=False) & shown
    rows["long_tie"] &= n_shown > _STABLE_UP_TO
    return rows


def _mean(rows, k, rules) -> float:
    """Compute the mean nDCG@k of the queries by our rules, but for those of `rules`."""
    if "missing_queries" in rules:
        rows = rows[rows.counted]
    label, score, ties = rows.label, rows.score, rules.get("ties", "average")
    if "own_document" in rules:
        score = score.where(~rows.own, -np.inf)
    if "single_precision" in rules:
        score = score.astype(rules["single_precision"])
    if "hidden_documents" in rules:
        # Ranks keep the order, and place hidden documents last.
        score = score.rank(method="dense")
    if "negative_labels" in rules:
        label = label.clip(lower=rules["negative_labels"])
    depth = k or rules.get("no_cutoff")
    at = "" if depth is None else f"@{depth}"
    how: dict[str, Any] = {"groups": rows["query"], "gains": rules.get("gain")}
    ties = rows.docno if ties == "docno" else ties
    undefined = rules.get("nothing_relevant", 0.0)
    if "ideal" not in rules:
        values = evaluate(label, score, f"ndcg{at}", ties=ties, undefined=undefined, **how)
        return float(values.means.iloc[0])
    dcg = evaluate(label, score, f"dcg{at}", ties=ties, **how).per_query.iloc[:, 0]
    ideal = evaluate(label, label.fillna(-np.inf), "dcg", **how).per_query.iloc[:, 0]
    return float((dcg / ideal).where(ideal > 0, undefined).mean())


def _explained(tool, rules, refuses, rows, mean):
    """Return the row of a tool: value, difference, parts of the rules, what is left, reason.

    ``mean(*rules)`` is the value by some pairs of a rule's name and its form.
    """
    reason = next((text for text in refuses if np.any(_REFUSED[text](rows))), "")
    names_wanted = rules.get("ties") == "docno" and rows.docno.isna().any()
    if not reason and (names_wanted or (tool == "ranx" and rows.long_tie.any())):
        worst, best = (mean(*(rules | {"ties": end}).items()) for end in ("worst", "best"))
        # If their order does not matter, any gives the tool's value.
        rules = rules | {"ties": "worst"}
        if best - worst > 1e-12:
            reason = _NO_NAMES if names_wanted else _LONG_TIES
    if reason:
        return [np.nan] * (len(_RULES) + 3) + [reason]
    ours, value = mean(), mean(*rules.items())
    parts = [mean((r, rules[r])) - ours if r in rules else 0.0 for r in _RULES]
    return [value, value - ours, *parts, value - ours - sum(parts), ""]
