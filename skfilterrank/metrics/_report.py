"""One table: how well each system ranks, what it lets through and what it hides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._core.checks import check_groups, check_k, check_share, count_rows
from skfilterrank._core.gains import Gains
from skfilterrank._core.query_weights import QueryWeight, query_weights
from skfilterrank._core.report_pairs import report_measures, report_pairs
from skfilterrank._core.same_value import value_tolerance
from skfilterrank._core.scoring import mean_over_queries
from skfilterrank._core.slices import Slice, Slices, read_slices
from skfilterrank._core.student_t import mean_and_error, t_interval, t_test
from skfilterrank.exceptions import InputError, brief
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
    confidence: float = 0.95,
    query_weight: QueryWeight = None,
    slices: Slices | None = None,
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
        The system the others are compared with; None leaves the comparison out.
    own_baselines : dict of str to str, default=None
        Another system for each of some systems to be compared with, such as its own ranking without
        its filter; None leaves this comparison out.
    confidence : float, default=0.95
        Level of the intervals of the mean nDCG_f over queries (Student's t).
    query_weight : dict, Series or array-like of shape (n_rows,), default=None
        What each query counts in the means, as in :func:`ndcg_f_score`. Intervals and p values
        take the queries for a sample with these weights: a query of weight 2 counts as two in the
        mean, but is still one query.
    slices : dict, Series, DataFrame or None, default=None
        Slices of the queries by their ids, such as languages, to report on each, as in
        :func:`skfilterrank.comparison.compare_slices`, which tests how they differ.

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
        With `slices` also ``n_queries``, and index levels "slicing", "slice" and "system", with
        "all" for all queries on top.

    Raises
    ------
    ValueError
        As :func:`ndcg_f_score` (the message names the system); also if `baseline`, or one of
        `own_baselines`, is not one of the systems.

    Notes
    -----
    Table 7 of [1]_. P values are not corrected for the number of systems. The standard error of a
    weighted mean m of n queries of weight above 0 is ``sqrt(n / (n - 1) * sum(w**2 * (x - m)**2)) /
    sum(w)``, that of a ratio [2]_; with equal weights it is the plain one.

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
    compared = report_pairs(y_scores, baseline, own_baselines)
    confidence = check_share(confidence, "confidence")
    main, *others = names = report_measures(k)

    def measured(y_score, names, gains):
        return evaluate(
            y_true,
            y_score,
            names,
            groups=groups,
            gains=gains,
            ties=ties,
            unjudged=unjudged,
            undefined="drop",
        )

    per_query = {}
    for system, y_score in y_scores.items():
        try:
            table = measured(y_score, names, gains)
            if ndcg_0_gains is not None:
                table[others[0]] = measured(y_score, others[:1], ndcg_0_gains)
        except ValueError as error:
            error.add_note(f"This came up with the scores of {brief(system)}.")
            raise
        defined = table.fillna(dict.fromkeys(set(names) - {"false_reject_rate"}, 0.0))
        per_query[system] = {name: defined[name].to_numpy() for name in names}
    weights = None
    if query_weight is not None:
        index = check_groups(groups, y_true, n_rows=count_rows(y_true, "y_true"))
        weights = query_weights(query_weight, index)
    if slices is None:
        return _report(per_query, main, confidence, weights, compared)
    everything = Slice("all", "all", np.ones(len(table), dtype=bool))
    parts = {}
    for slicing, name, members in (everything, *read_slices(slices, table.index)):
        own = {
            system: {name: values[members] for name, values in columns.items()}
            for system, columns in per_query.items()
        }
        own_weights = None if weights is None else weights[members]
        report = _report(own, main, confidence, own_weights, compared)
        report.insert(0, "n_queries", np.count_nonzero(members))
        parts[slicing, name] = report
    return pd.concat(parts, names=["slicing", "slice"])


def _report(per_query, main, confidence, weights, compared):
    """A line for each system, from the values of some queries."""
    rows = {system: _row(values, main, confidence, weights) for system, values in per_query.items()}
    report = pd.DataFrame.from_dict(rows, orient="index").rename_axis("system")
    for prefix, pairs in compared.items():
        found = [
            _against(report[main], per_query, system, pairs.get(system), main, weights)
            for system in per_query
        ]
        report[[f"{prefix}difference", f"{prefix}p_value"]] = found
    return report


def _against(means, per_query, system, other, main, weights):
    """Difference of two systems and its p value; NaN for a system that is compared with none."""
    if other is None:
        return np.nan, np.nan
    differences = per_query[system][main] - per_query[other][main]
    rounding = value_tolerance(np.append(per_query[system][main], per_query[other][main]))
    return means[system] - means[other], _paired_p_value(differences, weights, rounding)


def _row(values, main, confidence, weights):
    """One system's line of the report."""
    row = {}
    for name, per_query in values.items():
        row[name] = mean_over_queries(per_query, weights)
        if name == main:
            row["low"], row["high"] = t_interval(*mean_and_error(per_query, weights), confidence)
    return row


def _paired_p_value(differences, weights, rounding):
    """Two-sided paired t test; 1 where nothing but rounding differs, NaN for a single query."""
    counts = slice(None) if weights is None else weights > 0
    if (np.abs(differences[counts]) <= rounding).all():
        return 1.0
    return t_test(*mean_and_error(differences, weights, rounding))
