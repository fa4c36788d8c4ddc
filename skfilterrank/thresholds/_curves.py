"""Curves of a measure over thresholds and over answered queries, and thresholds for Rows."""

from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_level_scores, check_numbers
from skfilterrank._base.results import Result, spread_places
from skfilterrank._base.rounding import last_of_highest, midpoint
from skfilterrank._base.words import counted
from skfilterrank._files.rows import Rows, check_passes, check_rows, states_of, total_of
from skfilterrank._lists.entry_search import (
    FIRST_PASS,
    BestThreshold,
    StepBins,
    Stepping,
    search_threshold,
)
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.gains import Gains, as_gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure, warn_of_unjudged
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.row_blocks import Block
from skfilterrank._lists.scoring import (
    Moments,
    QueryWeight,
    check_undefined,
    query_weights,
    with_undefined,
)
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._judged_scores import values_shown, warn_if_swapped


class Noted(NamedTuple):
    """Steps of a measure, list sizes and label counts of some rows.

    Attributes
    ----------
    steps : StepBins
        Steps of the measure in bins.
    sizes : Counter
        Number of lists of each size; rows with score -inf are not counted.
    n_unjudged : int
        Number of rows without a label.
    n_queries, n_open : int
        Number of queries, and of those without a judged document.
    signs : set of float
        Signs of the gains.
    """

    steps: StepBins
    sizes: Counter
    n_unjudged: int
    signs: set
    n_queries: int
    n_open: int

    def merge(self, other: "Noted") -> "Noted":
        """Merge two parts."""
        return Noted(
            self.steps.merge(other.steps),
            self.sizes + other.sizes,
            self.n_unjudged + other.n_unjudged,
            self.signs | other.signs,
            self.n_queries + other.n_queries,
            self.n_open + other.n_open,
        )

    def every_size(self) -> np.ndarray:
        """Return the size of each list."""
        return np.repeat(list(self.sizes), list(self.sizes.values()))

    def some_gains(self) -> np.ndarray:
        """Return a gain of each sign that occurs."""
        return np.array(sorted(self.signs))


class Noting(NamedTuple):
    """Work of a pass: collect steps, list sizes and gains of each block."""

    stepping: Stepping

    def __call__(self, block: Block) -> Noted:
        """Collect the data of a block of whole queries."""
        steps = self.stepping(block)
        gains = as_gains(block.columns["label"], self.stepping.gains)
        starts = np.cumsum(block.sizes) - block.sizes
        sizes = np.add.reduceat(block.columns["score"] > -np.inf, starts, dtype=np.int64)
        is_unjudged = np.isnan(gains)
        return Noted(
            steps,
            Counter(sizes[sizes > 0].tolist()),
            int(np.count_nonzero(is_unjudged)),
            set(np.unique(np.sign(gains[~is_unjudged])).tolist()),
            len(starts),
            int(np.count_nonzero(np.logical_and.reduceat(is_unjudged, starts))),
        )


def search_rows(
    rows: Rows, parsed: ParsedMeasure, gains: Gains, undefined: float | str = 0.0
) -> tuple[BestThreshold, Noted]:
    """Find the best threshold for Rows; return also sizes and label counts."""
    if parsed.options.keys() & parsed.measure.columns.keys():
        raise InputError(
            f"{{measure={parsed.text!r}}} has options with one entry per row, which thresholds do "
            "not support. Name another measure.",
            argument=f"measure={parsed.text!r}",
        )
    noted: list[Noted] = []
    check_passes(rows, 3)
    with ExitStack() as stack:

        def passing(work: Any, what: str):
            if what == FIRST_PASS:
                noted.append(total_of(rows, Noting(work), what))
                return [noted[0].steps]
            return stack.enter_context(closing(states_of(rows, work, what=what)))

        found = search_threshold(Stepping(parsed, gains, undefined), passing)
    warn_of_unjudged([parsed], noted[0].n_open, noted[0].n_queries, undefined)
    return found, noted[0]


def mean_of_rows(threshold, rows: Rows, parsed: ParsedMeasure, gains: Gains) -> float:
    """Compute the mean of a measure over Rows under a fitted threshold."""
    total = total_of(rows, Measuring(threshold, parsed, gains))
    warn_of_unjudged([parsed], total.n_open, total.moments.n)
    return total.moments.mean


class Measured(NamedTuple):
    """Moments of a measure, and the number of queries without a judged document."""

    moments: Moments
    n_open: int

    def merge(self, other: "Measured") -> "Measured":
        """Merge two parts."""
        return Measured(self.moments.merge(other.moments), self.n_open + other.n_open)


class Measuring(NamedTuple):
    """Work of a pass: measure the lists of each block under a threshold."""

    threshold: Any
    parsed: ParsedMeasure
    gains: Gains

    def __call__(self, block: Block) -> Measured:
        """Measure a block of whole queries."""
        index, (measure, k, options) = block.group_index(), self.parsed
        shown = self.threshold.predict(block.columns["score"], groups=index.codes())
        lists = measure.ranked_lists(
            block.columns["label"],
            shown,
            groups=index,
            gains=self.gains,
            ties=measure.ties[0],
            unjudged="zero",
            options=options,
        )
        values = with_undefined(lists.per_query(measure.bind(k, options)), 0.0)
        moments = Moments.of(self.parsed.higher_better(values))
        return Measured(moments, lists.count_unjudged_queries())


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(Result):
    """A measure at every threshold, and the best threshold.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,), dtype float64
        Falling thresholds; the first is +inf (everything is hidden), the last shows all documents
        that change the measure.
    values : ndarray of shape (n_thresholds,), dtype float64
        Mean over queries where documents with ``score >= threshold`` are shown.
    best_threshold : float
        The middle between the lowest score to show and the next lower one; -inf if showing
        everything is best, +inf if hiding everything is best.
    best_value : float
        Value at `best_threshold`: the highest of `values`, or the lowest if lower is better.
    measure : str
        Name of the measure with its cut-off.
    """

    thresholds: np.ndarray
    values: np.ndarray
    best_threshold: float
    best_value: float
    measure: str = "measure"

    _places = staticmethod(spread_places)

    @classmethod
    def of(cls, entries: EntryValues, parsed: ParsedMeasure, among=None) -> "ThresholdCurve":
        """Make the curve from entry values, negated if lower is better."""
        levels, values = entries.curve(among)
        best_level, best_value = entries.best(among, (levels, values))
        return cls(levels, values, best_level, best_value, parsed.text)

    def value_at(self, threshold):
        """Return the value at any threshold.

        Parameters
        ----------
        threshold : float or array-like
            Thresholds between or beyond those of the curve, too.

        Returns
        -------
        float64 or ndarray
            Mean where documents with ``score >= threshold`` are shown.
        """
        # Negative thresholds ascend.
        places = np.searchsorted(-self.thresholds, np.negative(threshold), side="right")
        return self.values[places - 1]

    def _with_sign(self, parsed: ParsedMeasure) -> "ThresholdCurve":
        """Return the curve with the sign of the measure; here higher values are better."""
        best_value = parsed.higher_better(self.best_value)
        return replace(self, values=parsed.higher_better(self.values), best_value=best_value)

    def to_frame(self) -> pd.DataFrame:
        """Make a table with columns "threshold" and "value"."""
        return pd.DataFrame({"threshold": self.thresholds, "value": self.values})

    def _summary(self):
        return (
            f"best value {self.best_value:.4f} at threshold {self.best_threshold:.4g}, of "
            f"{counted(len(self.values), 'threshold')}"
        )


def threshold_curve(
    y_true,
    y_score=None,
    *,
    groups=None,
    gains=None,
    measure: str = "ndcg_f",
    undefined: float | str = 0.0,
    query_weight: QueryWeight = None,
) -> ThresholdCurve:
    """Compute a measure at every threshold on the score, and find the best threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), or Rows
        Label of each (query, document) row; NaN means unjudged and counts as gain 0. A Series may
        carry the query ids in an index level named "qid". :class:`skfilterrank.io.Rows` hold scores
        and query ids, too, and are read three times at most; `query_weight` is not possible with
        them.
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better. Rows with score -inf are hidden at every threshold. Not
        with Rows.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    measure : str, default="ndcg_f"
        Name of a measure, with optional options, such as "rbp(persistence=0.95)@10". Ties count by
        the measure's default.
    undefined : float or "drop", default=0.0
        Value of a query for which the measure is undefined.
    query_weight : dict, Series or array-like of shape (n_rows,), default=None
        Weight of each query in the mean, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Returns
    -------
    ThresholdCurve
        A result with the arrays `thresholds` (falling) and `values`, the numbers `best_threshold`
        and `best_value`, a table `to_frame()` and a figure `plot()`. Thresholds are the distinct
        scores at which the value can change; for nDCG_f, scores of documents in the top k with a
        gain other than 0. The first threshold is +inf, which hides everything. Between two
        thresholds the value is that of the upper one. Of equally good ones, the lowest
        counts, and `best_threshold` is the middle between it and the next lower score. With Rows,
        `best_threshold` is the same, but there are at most 64 thresholds for each doubling of the
        score, with exact values.

    Raises
    ------
    ValueError
        For the same reasons as the measure itself, and if float64 would make different integer
        scores equal. With Rows also if ``undefined="drop"`` skips different queries at different
        thresholds, or if scores are integers beyond 2**53.

    See Also
    --------
    TunedThreshold : The threshold as an estimator.
    skfilterrank.plot.ThresholdCurveDisplay : Draws the curve.

    Notes
    -----
    A threshold shows a prefix of each ranking. A shown document therefore stands at its own place
    i and contributes ``gain / log2(i + 1) / (I - W)``. One sort of all scores and a running sum
    give the mean at every threshold. Tied documents of a query are shown or hidden together and
    share the mean gain of their tie. Other sums over documents, such as average precision or
    rank-biased precision, are computed in this way, too. A measure that is no sum, such as ERR,
    QWA or lexirecall, is computed for every prefix of the lists up to k. Without k its cost grows
    with the square of the length of the longest list. Section 5 of [1]_ tunes the threshold on a
    validation set; this is the exact optimum.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.thresholds import threshold_curve
    >>> curve = threshold_curve([2, 1, -1], [0.9, 0.5, 0.1], groups=["a", "a", "a"])
    >>> curve.thresholds
    array([inf, 0.9, 0.5, 0.1])
    >>> curve.values.round(3)
    array([0.275, 0.826, 1.   , 0.862])
    >>> round(curve.best_threshold, 3), round(curve.best_value, 3)
    (0.3, 1.0)
    """
    parsed = parse_measure(measure).for_threshold()
    entry = parsed.measure
    check_undefined(undefined)
    if isinstance(y_true, Rows):
        of_rows = {"y_score": y_score, "groups": groups, "query_weight": query_weight}
        rows = check_rows(y_true, "threshold_curve", **of_rows)
        found, _ = search_rows(rows, parsed, gains, undefined)
        return ThresholdCurve(*found, parsed.text)._with_sign(parsed)
    lists = entry.ranked_lists(
        y_true,
        y_score,
        groups=groups,
        gains=gains,
        ties=entry.ties[0],
        unjudged="zero",
        options=parsed.options,
    )
    weights = query_weights(query_weight, lists.index)
    lists = lists.replace(scores=check_level_scores(y_score), weights=weights)
    warn_if_swapped(lists.gains, lists.scores)
    warn_of_unjudged([parsed], lists.count_unjudged_queries(), lists.index.n_queries, undefined)
    entries = EntryValues.of(lists, parsed, undefined=undefined)
    return ThresholdCurve.of(entries, parsed)._with_sign(parsed)


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
    warn_if_swapped(lists.gains, lists.scores)
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
        level = midpoint(finite, below) if below > -np.inf else float(finite.min(initial=np.inf))
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
