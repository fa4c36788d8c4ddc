"""The best filtering threshold, exactly: every threshold is tried at once."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._files.rows import Rows, check_rows
from skfilterrank._lists.checks import check_level_scores
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.query_weights import QueryWeight, query_weights
from skfilterrank._lists.results import Result, counted, spread_places
from skfilterrank._lists.scoring import check_undefined
from skfilterrank.thresholds._of_rows import search_rows


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(Result):
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
        The value there: the highest of `values`, or the lowest where lower is better.
    """

    thresholds: np.ndarray
    values: np.ndarray
    best_threshold: float
    best_value: float

    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Columns "threshold" and "value"."""
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
    """Mean nDCG_f, or any measure, at every threshold on the score, and the best threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), or Rows
        Label of each (query, document) row, NaN where unjudged (counts as 0 where it stands). A
        Series may carry the query ids in an index level named "qid".
        :class:`skfilterrank.io.Rows` hold scores and query ids, too, and are read three times at
        most; `query_weight` is not possible with them.
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better. Rows at -inf stay filtered at every threshold. Not of
        Rows.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    measure : str, default="ndcg_f"
        What to make best: any name of the measure table, with options where wanted, such as
        "rbp(persistence=0.95)@10". Ties count as is the measure's default.
    undefined : float or "drop", default=0.0
        Value of a query for which the measure is undefined.
    query_weight : dict, Series or array-like of shape (n_rows,), default=None
        What each query counts in the mean, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Returns
    -------
    ThresholdCurve
        The thresholds are the distinct scores at which the value can change, for nDCG_f those of
        documents in the top k whose gain is not 0. Between two of them the value is that of the
        upper one. Among equally good thresholds the best is the one that keeps most. Of Rows
        `best_threshold` is the same, and there are at most 64 thresholds for each doubling of the
        score, with exact values; between two of them values may be others.

    Raises
    ------
    ValueError
        As the measure itself, and if scores are whole numbers that float64 does not tell apart. Of
        Rows also if ``undefined="drop"`` leaves out other queries at other thresholds, or if scores
        are whole numbers beyond 2**53.

    See Also
    --------
    TunedThreshold : The threshold as an estimator.
    skfilterrank.plot.ThresholdCurveDisplay : Draws the curve.

    Notes
    -----
    Under a threshold each query keeps a prefix of its ranking, so a document that is kept always
    stands at its own place i and contributes ``gain / log2(i + 1) / (I - W)``. One sort of all
    scores and a running sum give the mean at every threshold. Tied documents of a query are kept
    or filtered together and share the mean gain of their tie. Other sums over documents, such as
    average precision or rank-biased precision, are taken apart in the same way; a measure that is
    no sum, such as ERR, QWA or lexirecall, is computed for every prefix of the lists up to k, which
    takes as many passes as the longest list has places that count, and without k grows as the
    square of its length. Section 5 of [1]_ tunes the threshold on a validation set; this is the
    exact optimum.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.thresholds import threshold_curve
    >>> curve = threshold_curve([2, 1, -1], [0.9, 0.5, 0.1], groups=["a", "a", "a"])
    >>> curve.thresholds
    array([0.1, 0.5, 0.9, inf])
    >>> curve.values.round(3)
    array([0.862, 1.   , 0.826, 0.275])
    >>> round(curve.best_threshold, 3), round(curve.best_value, 3)
    (0.3, 1.0)
    """
    parsed = parse_measure(measure).for_threshold()
    entry = parsed.measure
    check_undefined(undefined)
    if isinstance(y_true, Rows):
        of_rows = {"y_score": y_score, "groups": groups, "query_weight": query_weight}
        rows = check_rows(y_true, "threshold_curve", **of_rows)
        return ThresholdCurve(*search_rows(rows, parsed, gains, undefined)[0])
    lists = entry.ranked_lists(
        y_true,
        y_score,
        groups=groups,
        gains=gains,
        ties=entry.ties[0],
        unjudged="zero",
        options=parsed.options,
    )
    lists.scores = check_level_scores(y_score)
    lists.weights = query_weights(query_weight, lists.index)
    entries = EntryValues.of(lists, parsed, undefined=undefined)
    return ThresholdCurve(*entries.curve(), *entries.best())
