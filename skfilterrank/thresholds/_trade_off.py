"""What the price of a forbidden document does to what is shown and hidden."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._core.checks import check_k, check_numbers
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.prefixes import places
from skfilterrank._core.results import Result, counted
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._threshold_curve import curve_of

_PRICES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


@dataclass(frozen=True, eq=False, repr=False)
class PriceCurve(Result):
    """The best threshold at each price of a forbidden document, and what it shows and hides.

    Attributes
    ----------
    prices : ndarray of shape (n_prices,), dtype float64
        What a forbidden document costs: its gain is the price, negated.
    thresholds : ndarray of shape (n_prices,), dtype float64
        Best threshold for nDCG_f at that price.
    values : ndarray of shape (n_prices,), dtype float64
        Mean nDCG_f there; values at two prices are on two scales.
    shown : ndarray of shape (n_prices,), dtype float64
        Mean number of documents in the shown top k of a query.
    forbidden_shown : ndarray of shape (n_prices,), dtype float64
        Share of the queries whose shown top k holds a forbidden document.
    good_hidden : ndarray of shape (n_prices,), dtype float64
        Share of the good documents, of all queries together, that the threshold hides.
    empty : ndarray of shape (n_prices,), dtype float64
        Share of the queries that are shown nothing.
    """

    prices: np.ndarray
    thresholds: np.ndarray
    values: np.ndarray
    shown: np.ndarray
    forbidden_shown: np.ndarray
    good_hidden: np.ndarray
    empty: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """A row for each price, with a column for each other attribute."""
        columns = {name: each for name, each in vars(self).items() if name != "prices"}
        return pd.DataFrame(columns, index=pd.Index(self.prices, name="price"))

    def _summary(self):
        return f"what thresholds show and hide at {counted(len(self.prices), 'price')}"


def price_curve(
    y_true, y_score, *, groups=None, prices=_PRICES, k: int | None = None, gains=None
) -> PriceCurve:
    """Choose what a forbidden document costs by what would be shown and hidden at that price.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged (neither good nor forbidden). A
        Series may carry the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf where filtered, whatever the threshold. Scores
        that are learned should come from models that have not seen the row.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    prices : array-like of shape (n_prices,), default=(0.1, 0.2, ..., 20, 50)
        Prices above 0, in the unit of the gains.
    k : int or None, default=None
        Number of places of the shown list that count; None means all.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Where it is
        below 0, the price takes its place.

    Returns
    -------
    PriceCurve
        At each price the threshold that makes mean nDCG_f best.

    Raises
    ------
    ValueError
        If no gain is below 0, a price is not above 0, or as
        :func:`skfilterrank.metrics.ndcg_f_score`.

    See Also
    --------
    risk_threshold : Promises a rate instead of naming a price.
    skfilterrank.plot.PriceCurveDisplay : Draws the curve.

    Notes
    -----
    Gains say how many useful documents weigh as much as a harmful one, which few people know
    beforehand; how many forbidden documents they would let through, and at what cost, they do
    (the "label scores" of section 6 in [1]_). Documents of equal score are all shown or all
    hidden, and stand in the order of the rows.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import price_curve
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> curve = price_curve(y, scores, groups=groups, prices=[0.5, 1, 10], k=3)
    >>> bool((curve.forbidden_shown[:-1] >= curve.forbidden_shown[1:]).all())
    True
    >>> bool((curve.good_hidden[:-1] <= curve.good_hidden[1:]).all())
    True
    """
    k = check_k(k)
    prices = check_numbers(prices, "prices", entry="price").astype(np.float64)
    if not len(prices) or not (np.isfinite(prices) & (prices > 0)).all():
        raise InputError(f"prices must be numbers above 0, at least one, got {brief(prices)}.")
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    base, index = lists.gains, lists.index
    scores = lists.scores.astype(np.float64, copy=False)
    is_forbidden, is_good = base < 0, base > 0
    if not is_forbidden.any():
        raise InputError("y_true has no forbidden document (gain below 0): no price matters.")
    parsed = parse_measure("ndcg_f").with_cutoff(k)
    codes, place = index.codes(), places(scores, index)
    is_ranked = scores > -np.inf
    is_counted = is_ranked if k is None else is_ranked & (place < k)
    n_good = np.count_nonzero(is_good) or 1
    rows = []
    for price in prices:
        priced = RankedLists(np.where(is_forbidden, -price, base), scores, groups=index)
        curve = curve_of(priced, parsed)
        shown = is_ranked & (scores >= curve.best_threshold)
        top = shown & is_counted
        n_shown = np.bincount(codes, top, index.n_queries)
        n_forbidden = np.bincount(codes, top & is_forbidden, index.n_queries)
        rows.append(
            (
                price,
                curve.best_threshold,
                curve.best_value,
                n_shown.mean(),
                np.mean(n_forbidden > 0),
                np.count_nonzero(is_good & ~shown) / n_good,
                np.mean(n_shown == 0),
            )
        )
    return PriceCurve(*np.array(rows, dtype=np.float64).T)
