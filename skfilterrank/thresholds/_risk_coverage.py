"""The measure against the share of queries that are answered."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._core.checks import check_choice, check_numbers
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.results import Result, counted, spread_places
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._abstention import CONFIDENCES, Confidence, best_level
from skfilterrank.thresholds._list_filter import values_shown, worth_of_answers
from skfilterrank.thresholds._threshold_curve import measure_and_places


@dataclass(frozen=True, eq=False, repr=False)
class AnswerCurve(Result):
    """A measure where only the queries are answered of which one is surest.

    Attributes
    ----------
    shares : ndarray of shape (n_levels,), dtype float64
        Share of the queries that is answered, ascending from 0 to 1.
    confidences : ndarray of shape (n_levels,), dtype float64
        Queries whose confidence is at least this are answered; +inf where none is.
    values : ndarray of shape (n_levels,), dtype float64
        Mean over all queries, of which those that are not answered are shown nothing.
    answered_values : ndarray of shape (n_levels,), dtype float64
        Mean over the queries that are answered; NaN where none is.
    best_share, best_confidence, best_value : float
        Where `values` are best, and among equally good ones most is answered.
    area : float
        How well the confidence tells good answers from bad ones: 0 as chance does, 1 as the values
        themselves do, below 0 worse than chance; NaN where all are alike.
    """

    shares: np.ndarray
    confidences: np.ndarray
    values: np.ndarray
    answered_values: np.ndarray
    best_share: float
    best_confidence: float
    best_value: float
    area: float

    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Columns "share", "confidence", "value" and "answered_value"."""
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


def answer_curve(
    y_true,
    y_score,
    *,
    groups=None,
    confidence="best_score",
    k: int | None = None,
    gains=None,
    measure: str = "ndcg_f",
) -> AnswerCurve:
    """Mean nDCG_f, or any measure, against the share of queries that are answered.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged. A Series may carry the query ids
        in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf where filtered, as by
        :meth:`RankAndFilter.predict`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    confidence : str or array-like of shape (n_queries,), default="best_score"
        How sure the scores of a list are of it: "best_score"; "score_gap", how far the best score
        is above the second; "score_std", the standard deviation of the scores; or
        "score_regression", what a ridge regression on the first ten scores predicts that the
        answer is worth, learned from the other queries. Or a number for each query, in the order
        of the sorted query ids. Lists without any score are never answered.
    k : int or None, default=None
        Number of places of the returned list that count; None means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    measure : str, default="ndcg_f"
        Any name of the measure table.

    Returns
    -------
    AnswerCurve
        One level for each distinct confidence, and one for no answer at all.

    Raises
    ------
    ValueError
        If `confidence` is unknown, has another length or holds NaN, or as the measure itself.

    See Also
    --------
    RankAndFilter : With ``abstain=`` it chooses the level along with the threshold.
    skfilterrank.plot.AnswerCurveDisplay : Draws the curve.

    Notes
    -----
    The confidences, and the area, are those of [1]_: the area under `answered_values` as a function
    of the number of answers, less that of an order by chance, over the same of the order by the
    values themselves. There the regression predicts the measure; here it predicts by how much
    the answer is better than none, which is the same where nothing is worth 0. Tied confidences
    share their mean value.

    References
    ----------
    .. [1] Gisserot-Boukhlef, Faysse, Malherbe, Hudelot and Colombo, "Towards Trustworthy
       Reranking: A Simple yet Effective Abstention Mechanism", 2024,
       https://arxiv.org/abs/2402.12997.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import answer_curve
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> curve = answer_curve(y, scores, groups=groups, k=3)
    >>> bool(curve.best_value > curve.values[-1])  # better than to answer all
    True
    >>> 0.5 < curve.best_share < 1 and curve.area > 0
    True
    """
    parsed, _ = measure_and_places(measure, k)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    lists.scores = lists.scores.astype(np.float64, copy=False)
    shown = lists.scores > -np.inf
    values = values_shown(lists, shown, parsed)
    worth = worth_of_answers(lists, shown, parsed)
    sure = _confidences(confidence, worth, lists)
    sign = 1.0 if parsed.measure.greater_is_better else -1.0
    order = np.argsort(-sure, kind="stable")
    ranked, levels = values[order], sure[order]
    is_last = np.append(levels[1:] != levels[:-1], True)
    n_answered = np.append(0, np.flatnonzero(is_last) + 1)
    total = np.append(0.0, np.cumsum(worth[order]))[n_answered]
    answered = np.append(0.0, np.cumsum(ranked))[n_answered]
    all_values = (total + (values - worth).sum()) / len(values)
    with np.errstate(invalid="ignore"):
        answered_values = answered / n_answered
    level = best_level(sure, worth)
    best = np.count_nonzero(sure >= level)
    place = np.searchsorted(n_answered, best)
    return AnswerCurve(
        shares=n_answered / len(values),
        confidences=np.append(np.inf, levels[is_last]),
        values=sign * all_values,
        answered_values=sign * answered_values,
        best_share=float(best / len(values)),
        best_confidence=level,
        best_value=float(sign * all_values[place]),
        area=_area(values, sure),
    )


def _confidences(confidence, worth, lists):
    """A number for each query."""
    if isinstance(confidence, str):
        check_choice(confidence, "confidence", CONFIDENCES)
        return Confidence(confidence).fit(worth, lists.scores, lists.index).out_of_fold_
    sure = check_numbers(confidence, "confidence", entry="number").astype(np.float64)
    if len(sure) != len(worth):
        raise InputError(
            "confidence must have one number for each of "
            f"{counted(len(worth), 'query', 'queries')}, in the order of their sorted ids, got "
            f"{counted(len(sure), 'number')}."
        )
    if np.isnan(sure).any():
        raise InputError(f"confidence must have no NaN, got {brief(sure)}.")
    return sure


def _area(values, sure):
    """Normalised area under the mean value of the queries answered so far."""
    _, code = np.unique(-sure, return_inverse=True)
    shared = (np.bincount(code, values) / np.bincount(code))[np.sort(code)]
    number = np.arange(1, len(values) + 1)
    by_confidence = (np.cumsum(shared) / number).mean()
    by_value = (np.cumsum(np.sort(values)[::-1]) / number).mean()
    room = by_value - values.mean()
    if room <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return np.nan
    return float((by_confidence - values.mean()) / room)
