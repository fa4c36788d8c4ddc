"""rank_filter_report: one table of ranking quality and filter rates of systems."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import check_k, check_scores, check_share, count_rows, is_hashable
from skfilterrank._base.rounding import value_tolerance
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.queries import check_groups
from skfilterrank._lists.scoring import (
    QueryWeight,
    mean_and_error,
    mean_over_queries,
    query_weights,
    t_interval,
    t_test,
)
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.metrics._evaluate import evaluate
from skfilterrank.metrics._filtering import false_rejects_of_first


def rank_filter_report(
    y_true: ArrayLike,
    y_scores: Mapping,
    *,
    groups: ArrayLike | None = None,
    k: int | None = 3,
    gains: Gains = None,
    ties: str | ArrayLike = "average",
    unjudged: str = "zero",
    baseline: str | Mapping[str, str] | None = None,
    rankings: Mapping[str, str] | None = None,
    confidence_level: float = 0.95,
    query_weight: QueryWeight = None,
) -> pd.DataFrame:
    """Compare systems that rank and filter: measures, rates, intervals and significance.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged. A Series may carry the query ids
        in an index level named "qid".
    y_scores : dict of str to array-like of shape (n_rows,)
        Scores of each system, -inf where hidden.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    k : int or None, default=3
        Number of places that count; None means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    ties : {"average", "stable", "worst", "best"} or array-like, default="average"
        As in :func:`ndcg_f_score`.
    unjudged : {"zero", "drop"}, default="zero"
        As in :func:`ndcg_f_score`.
    baseline : str, dict of str to str, or None, default=None
        System with which the other systems are compared, or a dict of some systems and the system
        that each is compared with; None leaves the comparison out.
    rankings : dict of str to str, default=None
        For some systems that filter, the name of the system with their scores before the filter;
        needed for ``false_reject_rate@k``.
    confidence_level : float, default=0.95
        Level of the intervals of the mean nDCG_f over queries and of the differences (Student's t).
    query_weight : dict, Series or array-like of shape (n_rows,), default=None
        Weight of each query in the means, as in :func:`ndcg_f_score`. Intervals and p values
        treat the queries as a sample with these weights: a query of weight 2 counts as two in the
        mean, but is still one query.

    Returns
    -------
    DataFrame of shape (n_systems, n_columns)
        Index "system". Columns ``ndcg_f@k`` with ``low`` and ``high`` of its interval,
        ``ndcg_0@k``, ``ndcg_min@k``, ``forbidden@k`` (share of the shown top k that is
        forbidden), ``false_reject_rate`` (share of the good documents that are hidden) and
        ``empty_list_rate`` (share of the queries left with nothing), all means over queries;
        queries without good documents do not enter the false rejects, other undefined values
        are 0. With a baseline also ``difference`` in nDCG_f, ``difference_low`` and
        ``difference_high`` of its interval, and ``p_value`` of the two-sided t test, all paired by
        query (NaN for systems without a baseline; p is 1 where no query differs). With `rankings`
        also ``false_reject_rate@k``: of the good documents among the first k of the ranking, the
        share that is hidden. It is a mean over the queries with a good document there, and NaN
        for systems without a ranking. With ``k=None``, names of columns have no "@k", but this one
        is ``false_reject_rate@all``.

    Raises
    ------
    ValueError
        In the same cases as :func:`ndcg_f_score` (a note names the system); also if a name in
        `baseline` or `rankings` is not one of the systems.

    Notes
    -----
    Table 7 of [1]_, whose nDCG_0 has the labels 0, 1 and 2 for gains also where nDCG_f has others:
    make that column by a second report. ``false_reject_rate@k`` and the intervals of differences
    are additions. A page of k places never shows the good documents behind the first k of a
    ranking, so that only those before count as lost. A filtered system alone does not tell the
    order of what it hides, which is why the ranking must be given. If a tie crosses place k, the
    mean numbers of good and of hidden documents over the tied orders are divided.

    P values are not corrected for the number of systems. The standard error of a weighted mean m of
    n queries of weight above 0 is ``sqrt(n / (n - 1) * sum(w**2 * (x - m)**2)) / sum(w)``, the
    standard error of a ratio [2]_; with equal weights it is the usual one.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Cochran, "Sampling Techniques", 3rd edition, Wiley 1977, section 2.11.

    Examples
    --------
    >>> from skfilterrank.metrics import rank_filter_report
    >>> y_true, groups = [2, -1, 1, -1], ["a", "a", "b", "b"]
    >>> inf = float("inf")
    >>> report = rank_filter_report(
    ...     y_true,
    ...     {"filter": [0.9, -inf, 0.8, 0.3], "show all": [0.9, 0.2, 0.8, 0.3]},
    ...     groups=groups,
    ...     baseline="show all",
    ...     rankings={"filter": "show all"},
    ... )
    >>> report[["ndcg_f@3", "forbidden@3", "false_reject_rate@3", "difference"]].round(3)
              ndcg_f@3  forbidden@3  false_reject_rate@3  difference
    system
    filter       0.842         0.25                  0.0       0.105
    show all     0.737         0.50                  NaN         NaN
    """
    k = check_k(k)
    if not isinstance(y_scores, Mapping) or not y_scores:
        raise InputError(
            "y_scores must be a dict {name: scores} of at least one system, got "
            f"{type(y_scores).__name__}."
        )
    if baseline is not None and not isinstance(baseline, Mapping):
        _check_system(baseline, "baseline", y_scores)
        baseline = {system: baseline for system in y_scores if system != baseline}
    for name, pairs in (("baseline", baseline), ("rankings", rankings)):
        if pairs is not None and not isinstance(pairs, Mapping):
            raise InputError(
                f"{name} must be a dict {{system: other system}}, got {type(pairs).__name__}."
            )
        for each in (*(pairs or {}), *(pairs or {}).values()):
            _check_system(each, f"{name}:", y_scores)
    confidence_level = check_share(confidence_level, "confidence_level")
    how = {"groups": groups, "gains": gains, "ties": ties, "unjudged": unjudged}
    per_query = _values_per_query(y_true, y_scores, _measures(k), **how)
    if rankings:
        _add_rejects(per_query, rankings, y_true, y_scores, k, **how)
    weights = None
    if query_weight is not None:
        index = check_groups(groups, y_true, n_rows=count_rows(y_true, "y_true"), names=("y_true",))
        weights = query_weights(query_weight, index)
    return _report(per_query, confidence_level, weights, baseline)


def _measures(k: int | None) -> list[str]:
    """Return the measures of the report, the main one first."""
    at = "" if k is None else f"@{k}"
    names = [f"{name}{at}" for name in ("ndcg_f", "ndcg_0", "ndcg_min", "forbidden")]
    return [*names, "false_reject_rate", "empty_list_rate"]


def _check_system(name, what, systems):
    """Raise if `name` is not the name of a system."""
    if not (is_hashable(name) and name in systems):
        raise InputError(
            f"{what} {brief(name)} is not one of the systems: {brief_list(list(systems))}."
        )


def _values_per_query(y_true, y_scores, names, **how) -> dict:
    """Compute arrays of values by system and measure, NaN where no document can be rejected."""
    found = {}
    for system, y_score in y_scores.items():
        try:
            table = evaluate(y_true, y_score, names, undefined="drop", **how).per_query
        except ValueError as error:
            error.add_note(f"The error concerns the scores of {brief(system)}.")
            raise
        values = {name: table[name].to_numpy() for name in names}
        # Queries without good documents have no rate of false rejection.
        found[system] = {
            name: each if name == "false_reject_rate" else np.where(np.isnan(each), 0.0, each)
            for name, each in values.items()
        }
    return found


def _add_rejects(per_query, rankings, y_true, y_scores, k, **how):
    """Add false_reject_rate@k behind false_reject_rate, NaN for systems without a ranking."""
    for system, values in per_query.items():
        rejects = np.full(len(values["false_reject_rate"]), np.nan)
        if system in rankings:
            ranking = RankedLists(y_true, y_scores[rankings[system]], **how)
            rejects = false_rejects_of_first(ranking, check_scores(y_scores[system]), k)
        last = values.pop("empty_list_rate")
        values |= {f"false_reject_rate@{k or 'all'}": rejects, "empty_list_rate": last}


def _report(per_query, confidence_level, weights, baseline):
    """Make the report from the values of every query."""
    main = next(iter(next(iter(per_query.values()))))
    lines = {
        system: _row(each, main, confidence_level, weights) for system, each in per_query.items()
    }
    report = _Report.from_dict(lines, orient="index").rename_axis("system")
    if baseline is not None:
        names = ["difference", "difference_low", "difference_high", "p_value"]
        values = {system: each[main] for system, each in per_query.items()}
        report[names] = [
            _paired(values[system], values[baseline[system]], confidence_level, weights)
            if system in baseline
            else [np.nan] * 4
            for system in lines
        ]
    return report


class _Report(pd.DataFrame):
    """Table whose text has all columns, on narrow screens one block of them below another."""

    @property
    def _constructor(self):
        return _Report

    def __repr__(self) -> str:
        with pd.option_context("display.max_columns", None):
            return super().__repr__()


def _row(values, main, confidence_level, weights):
    """Make one system's line of the report."""
    row = {}
    for name, per_query in values.items():
        row[name] = mean_over_queries(per_query, weights)
        if name == main:
            row["low"], row["high"] = t_interval(
                *mean_and_error(per_query, weights), confidence_level
            )
    return row


def _paired(one, two, confidence_level, weights):
    """Compute the mean difference, its interval, and its p value; 1 without differences."""
    differences, rounding = one - two, value_tolerance(np.append(one, two))
    found = mean_and_error(differences, weights, rounding)
    counts = slice(None) if weights is None else weights > 0
    is_same = (np.abs(differences[counts]) <= rounding).all()
    return found[0], *t_interval(*found, confidence_level), 1.0 if is_same else t_test(*found)
