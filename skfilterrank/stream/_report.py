"""How well systems rank and filter, on rows that need not fit into memory."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.checks import check_k, check_share
from skfilterrank._core.gains import Gains
from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.moments import Moments
from skfilterrank._core.report_pairs import report_measures, report_pairs
from skfilterrank._core.row_blocks import Block
from skfilterrank._core.student_t import t_interval, t_test
from skfilterrank.stream._evaluate import Measuring
from skfilterrank.stream._rows import Rows, check_rows, read_once
from skfilterrank.stream._systems import columns_of_systems, score_key


def rank_filter_report(
    rows: Rows,
    y_scores: Mapping[str, str],
    *,
    k: int | None = 3,
    gains: Gains = None,
    ties: str = "average",
    unjudged: str = "zero",
    ndcg_0_gains: Gains = None,
    baseline: str | None = None,
    own_baselines: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> pd.DataFrame:
    """Compare systems that rank and filter, reading rows once.

    Parameters
    ----------
    rows : Rows
        The rows; their `score` plays no part.
    y_scores : dict of str to str
        The column of scores of each system, -inf where filtered.
    k, gains, ties, unjudged, ndcg_0_gains, baseline, own_baselines, confidence
        As in :func:`skfilterrank.metrics.rank_filter_report`, `ties` by the name of a rule.
    n_jobs, verbose
        As in :func:`evaluate`.

    Returns
    -------
    DataFrame of shape (n_systems, n_columns)
        That of :func:`skfilterrank.metrics.rank_filter_report`, but for rounding.

    Raises
    ------
    ValueError
        As :func:`skfilterrank.metrics.rank_filter_report` and :func:`evaluate`.

    Notes
    -----
    Intervals and p values need the number, sum and sum of squares of values and of differences
    only, which are added up without rounding; no value of a single query is kept.

    Examples
    --------
    >>> from skfilterrank.stream import Rows, rank_filter_report
    >>> rows = Rows(
    ...     {
    ...         "qid": ["a", "a", "b", "b"],
    ...         "label": [2, -1, 1, -1],
    ...         "kept": [0.9, float("-inf"), 0.8, 0.3],
    ...         "all": [0.9, 0.2, 0.8, 0.3],
    ...     }
    ... )
    >>> report = rank_filter_report(
    ...     rows, {"filter": "kept", "show all": "all"}, baseline="show all"
    ... )
    >>> report[["ndcg_f@3", "forbidden@3", "difference"]].round(3)
              ndcg_f@3  forbidden@3  difference
    system
    filter       0.842         0.25       0.105
    show all     0.737         0.50         NaN
    """
    check_rows(rows)
    k, confidence = check_k(k), check_share(confidence, "confidence")
    columns = columns_of_systems(rows, y_scores)
    compared = report_pairs(y_scores, baseline, own_baselines)
    names = report_measures(k)
    pairs = {pair for each in compared.values() for pair in each.items()}
    measuring = Measuring(parse_measures(names), gains, ties, unjudged, "drop", {}, {})
    of_ndcg_0 = None
    if ndcg_0_gains is not None:
        of_ndcg_0 = measuring._replace(wanted=parse_measures(names[1]), gains=ndcg_0_gains)
    work = _Reporting(tuple(y_scores), measuring, of_ndcg_0, tuple(pairs))
    total = read_once(rows, columns, work, n_jobs=n_jobs, verbose=verbose)
    lines = {}
    for system in y_scores:
        found = dict(zip(names, total.values[system]))
        main = found.pop(names[0])
        low, high = t_interval(main.mean, main.error, main.n, confidence)
        lines[system] = {names[0]: main.mean, "low": low, "high": high}
        lines[system] |= {name: each.mean for name, each in found.items()}
    report = pd.DataFrame.from_dict(lines, orient="index")
    report.index.name = "system"
    for prefix, of_system in compared.items():
        against = [_against(report[names[0]], total, system, of_system) for system in y_scores]
        report[[f"{prefix}difference", f"{prefix}p_value"]] = against
    return report


class _Sums(NamedTuple):
    """Moments of each system's measures, and of the differences of pairs of systems."""

    values: dict
    differences: dict

    def merge(self, other: "_Sums") -> "_Sums":
        """Of both."""
        return _Sums(
            {
                name: tuple(mine.merge(theirs) for mine, theirs in zip(every, other.values[name]))
                for name, every in self.values.items()
            },
            {pair: each.merge(other.differences[pair]) for pair, each in self.differences.items()},
        )


class _Reporting(NamedTuple):
    """Measures all systems of a block."""

    systems: tuple
    measuring: Measuring
    of_ndcg_0: Measuring | None
    pairs: tuple

    def __call__(self, block: Block) -> _Sums:
        """What is kept of a block."""
        tables = {}
        for system in self.systems:
            try:
                values = self.measuring._replace(score=score_key(system)).values(block)
                if self.of_ndcg_0 is not None:
                    own = self.of_ndcg_0._replace(score=score_key(system))
                    values[:, 1] = own.values(block)[:, 0]
            except ValueError as error:
                error.add_note(f"This came up with the scores of {system!r}.")
                raise
            # Of queries without good documents nothing is falsely rejected or not.
            others = [0, 1, 2, 3, 5]
            values[:, others] = np.nan_to_num(values[:, others])
            tables[system] = values
        return _Sums(
            {system: tuple(map(Moments.of, values.T)) for system, values in tables.items()},
            {
                (one, two): Moments.of(tables[one][:, 0] - tables[two][:, 0])
                for one, two in self.pairs
            },
        )


def _against(means, total, system, of_system):
    """Difference of two systems and its p value; NaN for a system that is compared with none."""
    if system not in of_system:
        return math.nan, math.nan
    other = of_system[system]
    return means[system] - means[other], _p_value(total.differences[system, other])


def _p_value(moments):
    """Two-sided paired t test; 1 where nothing differs, NaN for a single query."""
    return t_test(moments.mean, moments.error, moments.n) if moments.total_of_squares else 1.0
