"""The best filtering threshold, exactly: every threshold is tried at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skfilterrank._sorting import argsort_floats
from skfilterrank._validation import check_k
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics import RankingScorer
from skfilterrank.metrics._core.lists import RankedLists
from skfilterrank.metrics._core.measure import (
    Measure,
    ParsedMeasure,
    check_undefined,
    parse_measure,
)
from skfilterrank.metrics._forbidden.dcg_kernels import discounts

# Means over queries that differ by less than this share of the largest are rounding apart, not
# better or worse.
_SAME_VALUE = 1e-12


class ThresholdCurve(NamedTuple):
    """A measure at every threshold, and the best threshold.

    Attributes
    ----------
    thresholds : ndarray of shape (n_thresholds,), dtype float64
        Ascending; the last is +inf (everything is filtered), the first keeps all that counts.
    values : ndarray of shape (n_thresholds,), dtype float64
        Mean over queries when documents with ``score >= threshold`` are kept.
    best_threshold : float
        In the middle between the lowest score to keep and the next lower one; -inf where
        everything is best kept, +inf where everything is best filtered.
    best_value : float
        The value there: the highest of `values`.
    """

    thresholds: np.ndarray
    values: np.ndarray
    best_threshold: float
    best_value: float


def threshold_curve(
    y_true,
    y_score,
    *,
    groups=None,
    k: int | None = None,
    gains=None,
    measure: str = "ndcg_f",
    undefined: float | str = 0.0,
) -> ThresholdCurve:
    """Mean nDCG_f at every threshold on the score, and the threshold that maximises it.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged (counts as 0 where it stands). A
        Series may carry the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better. Rows at -inf stay filtered at every threshold.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    k : int or None, default=None
        Number of places of the returned list that count; None means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    measure : {"ndcg_f", "ndcg_min", "ndcg", "dcg"}, default="ndcg_f"
        What to maximise; "ndcg_f@10" sets `k` too.
    undefined : float or "skip", default=0.0
        Value of a query for which the measure is undefined.

    Returns
    -------
    ThresholdCurve
        Named tuple ``(thresholds, values, best_threshold, best_value)``. The thresholds are the
        distinct scores at which the value can change: those of documents in the top k whose gain
        is not 0. Between two of them the value is that of the upper one. Among equally good
        thresholds the best is the one that keeps most.

    Raises
    ------
    ValueError
        As :func:`skfilterrank.metrics.ndcg_f_score`; also for a measure that is not of this form.

    See Also
    --------
    RankAndFilter : Chooses the threshold from out-of-fold scores.
    skfilterrank.plot.ThresholdCurveDisplay : Draws the curve.

    Notes
    -----
    Under a threshold each query keeps a prefix of its ranking, so a document that is kept always
    stands at its own place i and contributes ``gain / log2(i + 1) / (I - W)``. One sort of all
    scores and a running sum give the mean at every threshold. Tied documents of a query are kept
    or filtered together and share the mean gain of their tie. Section 5 of [1]_ tunes the
    threshold on a validation set; this is the exact maximum.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.ranking import threshold_curve
    >>> curve = threshold_curve([2, 1, -1], [0.9, 0.5, 0.1], groups=["a", "a", "a"])
    >>> curve.thresholds
    array([0.1, 0.5, 0.9, inf])
    >>> curve.values.round(3)
    array([0.862, 1.   , 0.826, 0.275])
    >>> round(curve.best_threshold, 3), round(curve.best_value, 3)
    (0.3, 1.0)
    """
    found, k, _ = parse_with_k(measure, k)
    if not has_exact_threshold(found):
        raise InputError(
            f"measure must be one of 'ndcg_f', 'ndcg_min', 'ndcg', 'dcg', got {brief(measure)}: "
            "only measures that are sums over the shown documents have an exact threshold curve."
        )
    check_undefined(undefined)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    scores, parts, nothing_shown = _contributions(lists, found, k, undefined)
    order = argsort_floats(scores)
    thresholds = np.full(len(scores) + 1, np.inf)
    scores.take(order, out=thresholds[:-1], mode="clip")
    # Keeping from a score up adds the parts of that score and of all higher ones.
    values = np.zeros(len(thresholds))
    np.cumsum(parts.take(order)[::-1], out=values[:-1][::-1])
    values += nothing_shown
    is_first = np.append(True, thresholds[1:] != thresholds[:-1])
    if not is_first.all():
        thresholds, values = thresholds[is_first], values[is_first]
    best = best_position(values)
    return ThresholdCurve(
        thresholds,
        values,
        midpoint(lists.scores, thresholds[best - 1]) if best else -np.inf,
        float(values[best]),
    )


def has_exact_threshold(measure: Measure) -> bool:
    """Whether the measure is a sum over the shown documents."""
    return measure.bounds is not None or measure.name == "dcg"


def parse_with_k(measure: str, k) -> ParsedMeasure:
    """The measure and its cut-off, of which "name@k" and k must not say different things."""
    if isinstance(measure, RankingScorer):
        raise InputError(
            f"{brief(measure)} is a scorer, and a name is wanted: write {brief(measure.name)} "
            "with its options in parentheses, such as 'rbp(persistence=0.95)@10'."
        )
    found, cutoff, options = parse_measure(measure)
    k = check_k(k)
    if cutoff is not None and k is not None and cutoff != k:
        raise InputError(f"k={k} contradicts the cut-off of {brief(measure)}: give one of the two.")
    return ParsedMeasure(found, k if cutoff is None else cutoff, options)


def best_position(values) -> int:
    """First position of the maximum: of ascending thresholds the one that keeps most."""
    extremes = [abs(value) for value in (values.min(), values.max()) if np.isfinite(value)]
    slack = _SAME_VALUE * max(extremes, default=0.0)
    return int(np.argmax(values >= values.max() - slack))


def midpoint(scores, lower) -> float:
    """A threshold between `lower` and the next score above it; +inf where there is none."""
    is_above = scores > lower
    if not is_above.any():
        return np.inf
    upper = scores.min(where=is_above, initial=scores.max())
    # Halves first: the difference of extreme scores overflows. The middle is rounded to the
    # scores' own type, in which it will be compared with them.
    middle = float(lower) / 2 + float(upper) / 2
    if upper.dtype.kind == "f":
        middle = float(upper.dtype.type(middle))
    return middle if middle > lower else float(upper)


def _contributions(lists, measure, k, undefined):
    """Scores of the documents that count, what each adds to the mean, and the mean without any."""
    scores, parts = [], []
    n_counted, nothing_shown = 0, 0.0
    for block in lists.blocks():
        gains = block.ranked(block.gains, k)
        n_queries, depth = gains.shape
        if measure.bounds is None:
            low, scale = np.zeros(n_queries), np.ones(n_queries)
        else:
            low, high = measure.bounds(block, k)
            scale = np.zeros(n_queries)
            np.divide(1.0, high - low, out=scale, where=high > low)
        is_defined = scale > 0
        n_undefined = n_queries - np.count_nonzero(is_defined)
        n_counted += n_queries - (n_undefined if undefined == "skip" else 0)
        nothing_shown += float((-low * scale).sum())
        nothing_shown += 0.0 if undefined == "skip" else n_undefined * undefined
        gains *= discounts(depth) * scale[:, None]
        counts = gains != 0
        cells = block.order[:, :depth] + block.width * np.arange(n_queries)[:, None]
        scores.append(-block.sort_key.take(cells[counts]))
        parts.append(gains[counts])
    if n_counted == 0:
        # All queries are skipped: there is nothing to take a mean of.
        return np.empty(0), np.empty(0), np.nan
    parts = np.concatenate(parts)
    parts /= n_counted
    scores = np.concatenate(scores).astype(np.float64, copy=False)
    return scores, parts, nothing_shown / n_counted


def candidate_curve(scores, evaluate: Callable, *, n_candidates: int = 200) -> ThresholdCurve:
    """Threshold curve of any objective: distinct scores, or their quantiles where many, are tried.

    `evaluate(scores)` gives the objective of scores in which -inf marks what is filtered.
    """
    distinct = np.unique(scores[np.isfinite(scores)])
    if len(distinct) > n_candidates:
        ranks = np.linspace(0, len(distinct) - 1, n_candidates).round().astype(int)
        distinct = distinct[ranks]
    thresholds = np.append(distinct, np.inf)
    values = np.array([evaluate(np.where(scores >= t, scores, -np.inf)) for t in thresholds])
    best = best_position(np.where(np.isnan(values), -np.inf, values))
    # The candidates may skip scores: the middle is taken to the next score, not candidate.
    best_threshold = -np.inf
    if best:
        best_threshold = midpoint(scores, scores[scores < thresholds[best]].max())
    return ThresholdCurve(thresholds, values, best_threshold, float(values[best]))
