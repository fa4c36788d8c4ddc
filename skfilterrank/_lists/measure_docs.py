"""Documentation that all measures share."""

import inspect
import re
from typing import Any

_PARAMETERS = """
Parameters
----------
y_true : array-like of shape (n_rows,)
    Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
    the query ids in an index level named "qid".
y_score : array-like of shape (n_rows,)
    Score of each row, higher is better; -inf means filtered out or not retrieved.
groups : array-like of shape (n_rows,), default=None
    Query id of each row, of any type. None looks for an index level "qid" on `y_true`.{k}
gains : None, "exp2", dict or callable, default=None
    How a label becomes a gain: None takes the label itself; "exp2" gives ``2**label - 1``
    from 0 up and the label itself below; a dict gives the gain of each label; a callable is
    called once per distinct label. A gain below 0 marks a forbidden document, NaN an unjudged
    one.
ties : {ties}
unjudged : {{"zero", "drop"}}, default="zero"
    {unjudged}
undefined : float or "drop", default=0.0
    Value of a query for which the measure is undefined ({undefined}); "drop" leaves such
    queries out of the mean and gives NaN in the per-query values.
average : {{"mean", None}}, default="mean"
    "mean" returns the mean over queries, None one value per query.
query_weight : dict, Series or array-like of shape (n_rows,), default=None
    What each query counts in the mean, numbers from 0 up: a dict or a Series by query id, or
    one weight per row, the same for all rows of a query. A query of weight 0 is left out, one
    of weight 2 counts as two. None lets each query count the same.
"""

_RETURNS = """
Returns
-------
float or ndarray of shape (n_queries,), dtype float64
    The mean over queries (NaN where all are dropped), or the values in the order of the
    sorted query ids.

Raises
------
ValueError
    If query ids are missing or of another length, if `y_score` holds NaN or +inf, if a
    label is not a number and has no entry in `gains`, or if a parameter is out of range.
"""

_K = """
k : int or None, default=None
    Number of places of the returned list that count; None means all. Places close up when
    documents are filtered."""

_TIES = {
    "average": """{"average", "stable", "worst", "best"} or array-like of shape (n_rows,), \
default="average"
    Order of rows with equal scores in one query: the exact mean over all their orders, the
    order of the rows, lowest gain first, highest gain first, or document ids, of which the
    greatest comes first (the rule of trec_eval).""",
    "worst": """{"worst", "best", "stable"} or array-like of shape (n_rows,), default="worst"
    Order of rows with equal scores in one query: lowest gain first, highest gain first, the
    order of the rows, or document ids, of which the greatest comes first (the rule of
    trec_eval).""",
}

_UNJUDGED = """Whether an unjudged row stands in the list as a document of gain 0, or is taken out
    of it first. It is never part of the pool from which bounds are computed."""

_READS_UNJUDGED = """Changes nothing here: the measure is defined by what is unjudged. It is taken
    so that all measures can be called alike."""


# A docstring: its text, its own parameters, and the sections after these.
_PARTS = re.compile(
    r"(?P<text>.*?)(?:\n\nParameters\n-+\n(?P<own>.*?))?(?P<rest>\n\n[A-Z][\w ]*\n-{3,}\n.*)?",
    re.DOTALL,
)


def complete_documentation(measure) -> str:
    """Add the parameters that all measures share to those of a measure's own docstring."""
    doc = inspect.cleandoc(measure.declared.__doc__ or "").rstrip()
    parts: Any = _PARTS.fullmatch(doc or f"{measure.name}, by {measure.__module__}.")
    shared = _PARAMETERS.format(
        k=_K if measure.takes_k else "",
        ties=_TIES[measure.ties[0]],
        unjudged=_READS_UNJUDGED if measure.reads_unjudged else _UNJUDGED,
        undefined=measure.undefined,
    )
    parameters = "\n".join(filter(None, [shared.strip(), parts["own"]]))
    rest = (parts["rest"] or "").strip()
    returns = "" if rest.startswith("Returns\n---") else _RETURNS.strip()
    return "\n\n".join(filter(None, [parts["text"], parameters, returns, rest])) + "\n"
