"""The measure table, and the one path from arrays to a mean over queries."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from skfilterrank._gains import check_gains
from skfilterrank._validation import check_choice, check_k
from skfilterrank.metrics._lists import TIES, UNJUDGED, ListBlock, RankedLists

MEASURES: dict[str, "Measure"] = {}

Kernel = Callable[[ListBlock, int | None], np.ndarray]

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
        called once per distinct label. A gain below 0 marks a forbidden document.
    ties : {{"average", "stable", "worst", "best"}} or array-like of shape (n_rows,), \
default="average"
        Order of rows with equal scores in one query: the exact mean over all their orders, the
        order of the rows, lowest gain first, highest gain first, or document ids, of which the
        greatest comes first (the rule of trec_eval).
    unjudged : {{"zero", "drop"}}, default="zero"
        Whether an unjudged row stands in the list as a document of gain 0, or is taken out of it
        first. It is never part of the pool from which bounds are computed.
    undefined : float or "skip", default=0.0
        Value of a query for which the measure is undefined ({undefined}); "skip" leaves such
        queries out of the mean and gives NaN in the per-query values.
    average : {{"mean", None}}, default="mean"
        "mean" returns the mean over queries, None one value per query.

    Returns
    -------
    float or ndarray of shape (n_queries,), dtype float64
        The mean over queries (NaN where all are skipped), or the values in the order of the
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


@dataclass(frozen=True)
class Measure:
    """A line of the measure table.

    Attributes
    ----------
    name : str
        Name in the string form, such as "ndcg_f" in "ndcg_f@10".
    function : callable
        The public function.
    kernel : callable
        ``kernel(block, k)``: the values of a block of queries, NaN where undefined.
    takes_k : bool
        Whether the measure has a cut-off.
    greater_is_better : bool
        Whether higher values are better; scorers negate the others.
    summary : str
        First line of the function's documentation.
    bounds : callable or None
        ``bounds(block, k)``: the DCG that scores 0 and the DCG that scores 1, for the measures of
        that form.
    """

    name: str
    function: Callable
    kernel: Kernel
    takes_k: bool
    greater_is_better: bool
    summary: str
    bounds: Callable | None = None


def measure(name, kernel, *, undefined, takes_k=True, greater_is_better=True, bounds=None):
    """Enter a public function into the measure table and complete its documentation.

    The text ``{parameters}`` in the docstring is replaced by what all measures share.
    """

    def enter(function):
        shared = _PARAMETERS.format(k=_K if takes_k else "", undefined=undefined)
        function.__doc__ = function.__doc__.replace("\n    {parameters}\n", shared)
        MEASURES[name] = Measure(
            name=name,
            function=function,
            kernel=kernel,
            takes_k=takes_k,
            greater_is_better=greater_is_better,
            summary=function.__doc__.strip().splitlines()[0],
            bounds=bounds,
        )
        return function

    return enter


def score(kernel, y_true, y_score, *, k=None, undefined, average, **how):
    """Compute a measure from arrays: the whole way of every public function."""
    k = check_k(k)
    check_undefined(undefined)
    check_choice(average, "average", ("mean", None))
    lists = RankedLists(y_true, y_score, **how)
    values = with_undefined(lists.per_query(lambda block: kernel(block, k)), undefined)
    return values if average is None else mean_over_queries(values)


def check_measure_parameters(params) -> None:
    """Raise for parameters that no data could make right."""
    check_undefined(params.get("undefined", 0.0))
    check_choice(params.get("unjudged", "zero"), "unjudged", UNJUDGED)
    check_gains(params.get("gains"))
    ties = params.get("ties", "average")
    if isinstance(ties, str):
        check_choice(ties, "ties", TIES)


def check_undefined(undefined) -> None:
    """A number, or "skip"."""
    is_number = isinstance(undefined, Real) and not isinstance(undefined, bool)
    if (isinstance(undefined, str) and undefined == "skip") or (
        is_number and np.isfinite(undefined)
    ):
        return
    raise ValueError(f"undefined must be a finite number or 'skip', got {undefined!r}.")


def with_undefined(values, undefined) -> np.ndarray:
    """Give undefined queries (NaN) their value."""
    if undefined != "skip":
        values[np.isnan(values)] = undefined
    return values


def mean_over_queries(values) -> float:
    """Mean of the queries that have a value; NaN where none has."""
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else float("nan")


def get_measure_names() -> list[str]:
    """Names of all measures, sorted.

    Returns
    -------
    list of str
        The names that :func:`make_ranking_scorer`, `RankAndFilter(scoring=)` and the command line
        understand; those with a cut-off may be followed by "@k".

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure_names
    >>> "ndcg_f" in get_measure_names()
    True
    """
    return sorted(MEASURES)


def parse_measure(text: str) -> tuple[Measure, int | None]:
    """Read the string form of a measure, such as "ndcg_f@10"."""
    name, at, depth = str(text).partition("@")
    if not isinstance(text, str) or name not in MEASURES:
        raise ValueError(
            f"{text!r} is not a measure: expected one of {', '.join(get_measure_names())}, "
            "with a cut-off such as 'ndcg_f@10' where wanted."
        )
    found = MEASURES[name]
    if not at:
        return found, None
    if not found.takes_k:
        raise ValueError(f"{name!r} has no cut-off, got {text!r}: write {name!r}.")
    if not depth.isdecimal() or int(depth) < 1:
        raise ValueError(
            f"the cut-off in {text!r} must be a positive whole number, such as '{name}@10'."
        )
    return found, int(depth)
