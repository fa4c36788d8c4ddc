"""rank_filter_report: one table of ranking quality and filter rates of systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_k, check_share, count_rows, is_hashable
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.queries import check_groups
from skfilterrank._lists.scoring import (
    QueryWeight,
    mean_and_error,
    mean_over_queries,
    query_weights,
    t_interval,
    t_test,
)
from skfilterrank._lists.ties import value_tolerance
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.metrics._evaluate import evaluate


def rank_filter_report(
    y_true: ArrayLike,
    y_scores: Mapping,
    *,
    groups: ArrayLike | None = None,
    k: int | None = 3,
    gains: Gains = None,
    ties: str | ArrayLike = "average",
    unjudged: str = "zero",
    ndcg_0_gains: Gains = None,
    baseline: str | None = None,
    own_baselines: Mapping[str, str] | None = None,
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
        Scores of each system, -inf where filtered.
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
    ndcg_0_gains : None, "exp2", dict or callable, default=None
        Gains of the column of nDCG_0; None means those of `gains`. In Table 7 of [1]_ that column
        has the labels 0, 1 and 2, also where nDCG_f does not.
    baseline : str or None, default=None
        System with which the other systems are compared; None leaves the comparison out.
    own_baselines : dict of str to str, default=None
        For some systems, the name of another system to compare with, such as the same ranking
        without its filter; None leaves this comparison out.
    confidence_level : float, default=0.95
        Level of the intervals of the mean nDCG_f over queries (Student's t).
    query_weight : dict, Series or array-like of shape (n_rows,), default=None
        Weight of each query in the means, as in :func:`ndcg_f_score`. Intervals and p values
        treat the queries as a sample with these weights: a query of weight 2 counts as two in the
        mean, but is still one query.

    Returns
    -------
    DataFrame of shape (n_systems, n_columns)
        Index "system". Columns ``ndcg_f@k`` with ``low`` and ``high`` of its interval,
        ``ndcg_0@k``, ``ndcg_min@k``, ``forbidden@k`` (share of the shown top k that is
        forbidden), ``false_reject_rate`` (share of the good documents that are filtered) and
        ``empty_list_rate`` (share of the queries left with nothing), all means over queries;
        queries without good documents do not enter the false rejects, other undefined values
        are 0. With a baseline also ``difference`` in nDCG_f and ``p_value`` of the two-sided
        paired t test over queries (NaN for the baseline itself; 1 where no query differs). With
        `own_baselines` also ``own_difference`` and ``own_p_value`` (NaN for systems without one).

    Raises
    ------
    ValueError
        In the same cases as :func:`ndcg_f_score` (the message names the system); also if
        `baseline`, or one of `own_baselines`, is not one of the systems.

    Notes
    -----
    Table 7 of [1]_. P values are not corrected for the number of systems. The standard error of a
    weighted mean m of n queries of weight above 0 is ``sqrt(n / (n - 1) * sum(w**2 * (x - m)**2)) /
    sum(w)``, the standard error of a ratio [2]_; with equal weights it is the usual one.

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
    ... )
    >>> report[["ndcg_f@3", "forbidden@3", "false_reject_rate", "difference"]].round(3)
              ndcg_f@3  forbidden@3  false_reject_rate  difference
    system
    filter       0.842         0.25                0.0       0.105
    show all     0.737         0.50                0.0         NaN
    """
    k = check_k(k)
    if not isinstance(y_scores, Mapping) or not y_scores:
        raise InputError(
            "y_scores must be a dict {name: scores} of at least one system, got "
            f"{type(y_scores).__name__}."
        )
    compared = _pairs(y_scores, baseline, own_baselines)
    confidence_level = check_share(confidence_level, "confidence_level")
    measuring = _Measuring(_measures(k), gains, ndcg_0_gains, ties, unjudged)
    per_query = measuring.per_query(y_true, y_scores, groups)
    weights = None
    if query_weight is not None:
        index = check_groups(groups, y_true, n_rows=count_rows(y_true, "y_true"), names=("y_true",))
        weights = query_weights(query_weight, index)
    return _report(per_query, confidence_level, weights, compared)


def _measures(k: int | None) -> list[str]:
    """Return the measures of the report, the main one first."""
    at = "" if k is None else f"@{k}"
    names = [f"{name}{at}" for name in ("ndcg_f", "ndcg_0", "ndcg_min", "forbidden")]
    return [*names, "false_reject_rate", "empty_list_rate"]


def _pairs(systems, baseline, own_baselines) -> dict[str, Mapping]:
    """Check the baselines, and return {prefix of columns: {system: its baseline}}."""
    own_baselines = {} if own_baselines is None else own_baselines
    if not isinstance(own_baselines, Mapping):
        raise InputError(
            "own_baselines must be a dict {system: its baseline}, got "
            f"{type(own_baselines).__name__}."
        )
    for each in (*own_baselines, *own_baselines.values()):
        _check_system(each, "own_baselines:", systems)
    compared: dict[str, Mapping] = {}
    if baseline is not None:
        _check_system(baseline, "baseline", systems)
        compared[""] = {system: baseline for system in systems if system != baseline}
    if own_baselines:
        compared["own_"] = own_baselines
    return compared


def _check_system(name, what, systems):
    """Raise if `name` is not the name of a system."""
    if not (is_hashable(name) and name in systems):
        raise InputError(f"{what} {brief(name)} is not one of the systems: {brief_list(systems)}.")


class _Measuring(NamedTuple):
    """Measures for the report; the first is the main measure, the second nDCG_0."""

    names: list[str]
    gains: Gains
    ndcg_0_gains: Gains
    ties: str | ArrayLike
    unjudged: str

    def per_query(self, y_true, y_scores, groups) -> dict:
        """Return ``{system: {measure: values}}``, one value per query; means skip NaN."""
        found = {}
        for system, y_score in y_scores.items():
            try:
                table = self._measure(y_true, y_score, groups, self.names, self.gains)
                if self.ndcg_0_gains is not None:
                    own = self._measure(y_true, y_score, groups, self.names[1:2], self.ndcg_0_gains)
                    table[self.names[1]] = own
            except ValueError as error:
                error.add_note(f"The error concerns the scores of {brief(system)}.")
                raise
            # Queries without good documents have no rate of false rejection.
            filled = table.fillna(dict.fromkeys(set(self.names) - {"false_reject_rate"}, 0.0))
            found[system] = {name: filled[name].to_numpy() for name in self.names}
        return found

    def _measure(self, y_true, y_score, groups, names, gains):
        return evaluate(
            y_true,
            y_score,
            names,
            groups=groups,
            gains=gains,
            ties=self.ties,
            unjudged=self.unjudged,
            undefined="drop",
        ).per_query


def _report(per_query, confidence_level, weights, compared):
    """Make the report from the values of every query."""
    main = next(iter(next(iter(per_query.values()))))

    def p_value(system, other):
        one, two = per_query[system][main], per_query[other][main]
        return _paired_p_value(one - two, weights, value_tolerance(np.append(one, two)))

    lines = {
        system: _row(each, main, confidence_level, weights) for system, each in per_query.items()
    }
    return _table(lines, compared, p_value)


def _table(lines, compared, p_value):
    """Make a table of one line per system, and compare pairs of systems by its first column."""
    report = pd.DataFrame.from_dict(lines, orient="index").rename_axis("system")
    means = report.iloc[:, 0]
    for prefix, pairs in compared.items():
        report[[f"{prefix}difference", f"{prefix}p_value"]] = [
            (means[system] - means[pairs[system]], p_value(system, pairs[system]))
            if system in pairs
            else (np.nan, np.nan)
            for system in lines
        ]
    return report


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


def _paired_p_value(differences, weights, rounding):
    """Compute the paired two-sided p value; 1 without differences, NaN for a single query."""
    counts = slice(None) if weights is None else weights > 0
    if (np.abs(differences[counts]) <= rounding).all():
        return 1.0
    return t_test(*mean_and_error(differences, weights, rounding))
