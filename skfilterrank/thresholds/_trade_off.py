"""The price of a forbidden document, and what is shown and hidden at it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import check_level_scores, check_numbers
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places
from skfilterrank._lists.results import Result, counted
from skfilterrank.exceptions import InputError, brief

_PRICES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


@dataclass(frozen=True, eq=False, repr=False)
class TradeOffCurve(Result):
    """The best threshold at each price of a forbidden document, and the lists it leaves.

    Attributes
    ----------
    prices : ndarray of shape (n_prices,), dtype float64
        Cost of a forbidden document: its gain is the price, negated.
    thresholds : ndarray of shape (n_prices,), dtype float64
        Best threshold for the measure at the price.
    values : ndarray of shape (n_prices,), dtype float64
        Mean of the measure there; values at two prices are on two scales.
    shown : ndarray of shape (n_prices,), dtype float64
        Mean number of documents of a query that are shown, up to the cut-off of the measure.
    forbidden_shown : ndarray of shape (n_prices,), dtype float64
        Share of the queries that show a forbidden document, up to the cut-off.
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
        """Make a table with a row for each price and a column for each other attribute."""
        columns = {name: each for name, each in vars(self).items() if name != "prices"}
        return pd.DataFrame(columns, index=pd.Index(self.prices, name="price"))

    def _summary(self):
        return f"shown and hidden documents at {counted(len(self.prices), 'price')}"


def trade_off_curve(
    y_true, y_score, *, groups=None, prices=_PRICES, measure="ndcg_f", gains=None
) -> TradeOffCurve:
    """Compute what is shown and hidden at each price of a forbidden document.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged (neither good nor forbidden). A
        Series may carry the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf where hidden, whatever the threshold. Learned
        scores should come from models that have not seen the row.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    prices : array-like of shape (n_prices,), default=(0.1, 0.2, ..., 20, 50)
        Prices above 0, in the unit of the gains.
    measure : str, default="ndcg_f"
        Measure that the threshold maximises, with its cut-off where there is one: "ndcg_f@10".
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. Where a gain is
        below 0, the price takes its place.

    Returns
    -------
    TradeOffCurve
        The best threshold at each price.

    Raises
    ------
    ValueError
        If no gain is below 0, a price is not above 0, or as the measure itself.

    See Also
    --------
    CertifiedThreshold : Keeps a risk at a level instead of naming a price.
    skfilterrank.plot.TradeOffDisplay : Draws the curve.

    Notes
    -----
    Gains say how many useful documents weigh as much as a harmful one. Few people know that
    beforehand. How many forbidden documents they would let through, and at what cost, they do
    know (the "label scores" of section 6 in [1]_). Documents of equal score are all shown or all
    hidden, and stand in the order of the rows.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022, https://doi.org/10.1145/3477495.3532006.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import trade_off_curve
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> curve = trade_off_curve(
    ...     y, scores, groups=groups, prices=[0.5, 1, 10], measure="ndcg_f@3"
    ... )
    >>> bool((curve.forbidden_shown[:-1] >= curve.forbidden_shown[1:]).all())
    True
    >>> bool((curve.good_hidden[:-1] <= curve.good_hidden[1:]).all())
    True
    """
    parsed = parse_measure(measure).for_threshold()
    prices = check_numbers(prices, "prices", entry="price").astype(np.float64)
    if not len(prices) or not (np.isfinite(prices) & (prices > 0)).all():
        raise InputError(f"prices must be numbers above 0, at least one, got {brief(prices)}.")
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    lists.scores = check_level_scores(y_score)
    gains, index = lists.gains, lists.index
    scores = lists.scores.astype(np.float64, copy=False)
    is_forbidden, is_good = gains < 0, gains > 0
    if not is_forbidden.any():
        raise InputError("y_true has no forbidden document (gain below 0): no price matters.")
    codes, is_ranked = index.codes(), scores > -np.inf
    is_counted = is_ranked
    if parsed.k is not None:
        is_counted = is_ranked & (places(scores, index) < parsed.k)
    n_good = np.count_nonzero(is_good) or 1
    rows = []
    for price in prices:
        priced = RankedLists(np.where(is_forbidden, -price, gains), scores, groups=index)
        entries = EntryValues.of(priced.with_ties(parsed.measure.ties[0]), parsed)
        threshold, value = entries.best()
        shown = scores >= threshold
        top = shown & is_counted
        n_shown = np.bincount(codes, top, index.n_queries)
        n_forbidden = np.bincount(codes, top & is_forbidden, index.n_queries)
        rows.append(
            (
                price,
                threshold,
                value,
                n_shown.mean(),
                np.mean(n_forbidden > 0),
                np.count_nonzero(is_good & ~(shown & is_ranked)) / n_good,
                np.mean(n_shown == 0),
            )
        )
    return TradeOffCurve(*np.array(rows, dtype=np.float64).T)
