"""The one path from arrays to the mean of a measure over queries."""

import numpy as np

from skfilterrank._core.checks import check_choice, check_k, is_finite_number
from skfilterrank._core.gains import check_gains
from skfilterrank._core.lists import UNJUDGED
from skfilterrank._core.measure import MEASURES, Measure
from skfilterrank.exceptions import InputError, brief

# What a measure returns: the mean over queries, or one value per query with average=None.
Scores = float | np.ndarray


def score(
    name,
    y_true,
    y_score,
    *,
    groups,
    gains,
    ties,
    unjudged,
    undefined,
    average,
    k=None,
    **options,
):
    """Compute a measure from arrays: the whole way of every public function."""
    entry = MEASURES[name]
    kernel = entry.bind(check_k(k), options)
    check_undefined(undefined)
    check_choice(average, "average", ("mean", None))
    lists = entry.ranked_lists(
        y_true,
        y_score,
        groups=groups,
        gains=gains,
        ties=ties,
        unjudged=unjudged,
        options=options,
    )
    values = with_undefined(lists.per_query(kernel), undefined)
    return values if average is None else mean_over_queries(values)


def check_measure_parameters(entry: Measure, params) -> None:
    """Raise for parameters that no data could make right."""
    check_undefined(params.get("undefined", 0.0))
    check_choice(params.get("unjudged", "zero"), "unjudged", UNJUDGED)
    check_gains(params.get("gains"))
    ties = params.get("ties", entry.ties[0])
    if isinstance(ties, str):
        check_choice(ties, "ties", entry.ties)
    entry.bind(None, params)


def check_undefined(undefined) -> None:
    """A number, or "drop"."""
    is_drop = isinstance(undefined, str) and undefined == "drop"
    if not is_drop and not is_finite_number(undefined):
        raise InputError(f"undefined must be a finite number or 'drop', got {brief(undefined)}.")


def with_undefined(values, undefined) -> np.ndarray:
    """Give undefined queries (NaN) their value."""
    if undefined != "drop":
        values[np.isnan(values)] = undefined
    return values


def mean_over_queries(values) -> float:
    """Mean of the queries that have a value; NaN where none has."""
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else float("nan")
