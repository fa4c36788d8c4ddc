"""Confidence of ranked lists, and the risk-coverage curve of answering only confident queries."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_level_scores, check_numbers
from skfilterrank._base.results import Result, spread_places
from skfilterrank._base.rounding import last_of_highest, midpoint
from skfilterrank._base.words import counted
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import warn_of_unjudged
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._judged_scores import values_shown


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverageCurve(Result):
    """A measure against the share of queries answered, the most confident first.

    Attributes
    ----------
    shares : ndarray of shape (n_levels,), dtype float64
        Shares of answered queries, ascending from 0 to 1.
    confidences : ndarray of shape (n_levels,), dtype float64
        Lowest confidence of the answered queries; +inf for no answer.
    values : ndarray of shape (n_levels,), dtype float64
        Mean over all queries; a query that is not answered has an empty list.
    answered_values : ndarray of shape (n_levels,), dtype float64
        Mean over the queries that are answered; NaN where none is.
    best_share, best_confidence, best_value : float
        Point with the best value; the one with the largest share among equally good points.
    area : float
        Quality of the confidence: 0 for random confidences, 1 for the order by the values
        themselves, NaN if all values are equal.
    measure : str
        Name of the measure with its cut-off.
    """

    shares: np.ndarray
    confidences: np.ndarray
    values: np.ndarray
    answered_values: np.ndarray
    best_share: float
    best_confidence: float
    best_value: float
    area: float
    measure: str = "measure"

    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Make a table with columns "share", "confidence", "value" and "answered_value"."""
        return pd.DataFrame(
            {
                "share": self.shares,
                "confidence": self.confidences,
                "value": self.values,
                "answered_value": self.answered_values,
            }
        )

    def _summary(self):
        return (
            f"best value {self.best_value:.4f} where {100 * self.best_share:.0f} % are answered, "
            f"area {self.area:.2f}, {counted(len(self.shares), 'level')}"
        )


def risk_coverage_curve(
    y_true, y_score, *, groups=None, confidence=None, measure="ndcg_f", gains=None
) -> RiskCoverageCurve:
    """Compute a measure against the share of queries that are answered.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged. A Series may carry the query ids
        in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf where hidden, as by
        :meth:`TunedThreshold.predict`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    confidence : array-like of shape (n_queries,), default=None
        Confidence in each list, in the order of the sorted query ids, such as the gap between its
        first two scores, or what a model predicts that was fitted on other queries. None is the
        highest score of each list.
    measure : str, default="ndcg_f"
        A name of the measure table, with its cut-off where there is one: "ndcg_f@10".
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Returns
    -------
    RiskCoverageCurve
        A result with an entry for each distinct confidence, and one for no answer at all. Its
        arrays are `shares` (share of answered queries), `confidences` (lowest confidence that is
        answered), `values` (mean over all queries, with empty lists for queries that are not
        answered) and `answered_values` (mean over the answered queries). `best_share`,
        `best_confidence` and `best_value` are the point with the best of `values`; `area` is the
        quality of the confidence, 0 for random confidences and 1 for the order by the values
        themselves. `to_frame()` gives a table.

    Raises
    ------
    ValueError
        If `confidence` has another length or holds NaN, or as the measure itself.

    See Also
    --------
    TunedThreshold : Shows nothing where all scores are below the threshold.

    Notes
    -----
    The highest score and the area follow [1]_. Let A be the area under `answered_values` as a
    function of the number of answers. Let A_0 be its value for a random order, and A_1 for the
    order by the values themselves. Then `area` is ``(A - A_0) / (A_1 - A_0)``. Queries with tied
    confidences share their mean value.

    References
    ----------
    .. [1] Gisserot-Boukhlef, Faysse, Malherbe, Hudelot and Colombo, "Towards Trustworthy
       Reranking: A Simple yet Effective Abstention Mechanism", 2024,
       https://arxiv.org/abs/2402.12997.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import risk_coverage_curve
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> curve = risk_coverage_curve(y, scores, groups=groups, measure="ndcg_f@3")
    >>> print(f"answer {curve.best_share:.0%} for {curve.best_value:.3f}")
    answer 86% for 0.836
    >>> print(f"answer all for {curve.values[-1]:.3f}")
    answer all for 0.780
    """
    parsed = parse_measure(measure).for_threshold()
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    lists = lists.replace(scores=check_level_scores(y_score).astype(np.float64, copy=False))
    warn_of_unjudged([parsed], lists.count_unjudged_queries(), lists.index.n_queries)
    scored = lists.scores > -np.inf
    values, nothing = values_shown(lists, parsed, scored, np.zeros(len(scored), dtype=bool))
    worth = values - nothing
    sure = _confidences(confidence, lists)
    order = np.argsort(-sure, kind="stable")
    levels = sure[order]
    is_last = np.append(levels[1:] != levels[:-1], True)
    n_answered = np.append(0, np.flatnonzero(is_last) + 1)
    sign = 1.0 if parsed.measure.greater_is_better else -1.0
    all_values = (_sums(worth[order])[n_answered] + (values - worth).sum()) / len(values)
    with np.errstate(invalid="ignore"):
        answered_values = _sums(values[order])[n_answered] / n_answered
    best = last_of_highest(_sums(worth[order])[n_answered])
    level = -np.inf
    if best < len(n_answered) - 1:
        # The middle between the last confidence that is answered and the next lower one.
        finite, below = levels[levels > -np.inf], levels[n_answered[best + 1] - 1]
        level = midpoint(finite, below) if below > -np.inf else float(finite.min())
    return RiskCoverageCurve(
        shares=n_answered / len(values),
        confidences=np.append(np.inf, levels[is_last]),
        values=sign * all_values,
        answered_values=sign * answered_values,
        best_share=float(n_answered[best] / len(values)),
        best_confidence=level,
        best_value=float(sign * all_values[best]),
        area=_area(values, sure),
        measure=parsed.text,
    )


def _sums(values):
    """Sum the first 0, 1, 2, ... values."""
    return np.append(0.0, np.cumsum(values))


def _confidences(confidence, lists):
    """Return the confidence in each list: its highest score, or as given."""
    index = lists.index
    if confidence is None:
        highest = np.full(index.n_queries, -np.inf)
        np.maximum.at(highest, index.codes(), lists.scores)
        return highest
    sure = check_numbers(confidence, "confidence", entry="number").astype(np.float64)
    if len(sure) != index.n_queries:
        raise InputError(
            "confidence must have one number for each of "
            f"{counted(index.n_queries, 'query')}, in the order of their sorted ids, "
            f"got {counted(len(sure), 'number')}."
        )
    if np.isnan(sure).any():
        raise InputError(f"confidence must have no NaN, got {brief(sure)}.")
    return sure


def _area(values, sure):
    """Compute the normalised area under the mean value of the answered queries."""
    _, code = np.unique(-sure, return_inverse=True)
    shared = (np.bincount(code, values) / np.bincount(code))[np.sort(code)]
    number = np.arange(1, len(values) + 1)
    by_confidence = (np.cumsum(shared) / number).mean()
    by_value = (np.cumsum(np.sort(values)[::-1]) / number).mean()
    room = by_value - values.mean()
    if room <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return np.nan
    return float((by_confidence - values.mean()) / room)
