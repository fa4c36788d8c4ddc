"""Curves of a measure over thresholds, and thresholds for Rows."""

from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_level_scores
from skfilterrank._base.results import Result, spread_places
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
from skfilterrank.exceptions import InputError


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
        """Return the curve of the measure itself, or that with higher values better again."""
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
    warn_of_unjudged([parsed], lists.count_unjudged_queries(), lists.index.n_queries, undefined)
    entries = EntryValues.of(lists, parsed, undefined=undefined)
    return ThresholdCurve.of(entries, parsed)._with_sign(parsed)
