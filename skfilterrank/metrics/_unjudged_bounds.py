"""Bounds of a measure over the labels that unjudged documents can have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import cached_property, check_number
from skfilterrank._base.results import Result
from skfilterrank._base.words import counted
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.scoring import OVER_QUERIES, check_undefined, first_places
from skfilterrank.exceptions import InputError

# Number of rows measured at once, which limits memory.
_CELLS = 2**21


@dataclass(frozen=True, eq=False)
class OpenList:
    """The documents of a query in list order, some of them unjudged.

    Unjudged documents become good one by one: from the first one down, from the last one up, or
    from the last one up among those that can be in the top k.

    Attributes
    ----------
    gains : ndarray of shape (n_rows,)
        Gain of each document, NaN where unjudged; documents that are not shown come last.
    low, high : float
        Gain of an unjudged document that is not good, or good.
    k : int or None
        Cut-off.
    first, length : ndarray of shape (n_shown,), int
        Number of places above the tie of each shown document, and number of documents in this tie.
    has_places : bool
        False if the gains decide the order in a tie, so that places depend on who is good.
    """

    gains: np.ndarray
    low: float
    high: float
    k: int | None
    first: np.ndarray
    length: np.ndarray
    has_places: bool = True

    @classmethod
    def of(cls, gains, scores, low, high, k, ties: str) -> OpenList:
        """Make a list from rows in list order; `ties` is the rule for equal scores."""
        shown = scores[scores > -np.inf]
        is_new = np.ones(len(shown), dtype=bool)
        is_new[1:] = shown[1:] != shown[:-1]
        has_places = ties not in ("worst", "best") or bool(is_new.all())
        if ties != "average":
            is_new[:] = True
        starts = np.flatnonzero(is_new)
        sizes = np.diff(np.append(starts, len(shown)))
        first, length = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        return cls(gains, low, high, k, first, length, has_places)

    @property
    def n_shown(self) -> int:
        """Number of shown documents."""
        return len(self.first)

    @property
    def depth(self) -> int:
        """Number of shown documents in the top k."""
        return self.n_shown if self.k is None else min(self.k, self.n_shown)

    @cached_property
    def unjudged(self) -> np.ndarray:
        """Mask of the unjudged documents."""
        return np.isnan(self.gains)

    @cached_property
    def rows(self) -> np.ndarray:
        """Numbers of the unjudged documents, the first of the list first."""
        return np.flatnonzero(self.unjudged)

    @property
    def judged(self) -> np.ndarray:
        """Gains of the judged documents."""
        return self.gains[~self.unjudged]

    @cached_property
    def in_top(self) -> np.ndarray:
        """Mask of the documents that can be in the top k."""
        mask = np.zeros(len(self.gains), dtype=bool)
        mask[: self.n_shown] = self.first < self.depth
        return mask

    @property
    def ways(self) -> list[np.ndarray]:
        """Return the orders in which unjudged documents become good."""
        return [self.rows, self.rows[::-1], self.rows[self.in_top[self.rows]][::-1]]

    def around_ties(self, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count the documents of a mask above each shown document's tie, and in it."""
        running = np.append(0, np.cumsum(mask[: self.n_shown]))
        above = running[self.first]
        return above, running[self.first + self.length] - above

    def mean_worth(self, worth) -> np.ndarray:
        """Compute the mean of `worth`, of places from 1, over the places of each document's tie.

        It is 0 below the cut-off, and for documents that are not shown.
        """
        running = np.append(0.0, np.cumsum(worth(first_places(self.depth))))
        begin, end = (
            np.minimum(each, self.depth) for each in (self.first, self.first + self.length)
        )
        means = np.zeros(len(self.gains))
        means[: self.n_shown] = (running[end] - running[begin]) / self.length
        return means


def at_ends(found: OpenList, **options) -> np.ndarray:
    """Return no number: the extreme values occur where no unjudged document is good, or all are.

    For measures that never get worse when the gain of one document rises.
    """
    return np.empty(0, dtype=np.intp)


def at_turns(found: OpenList, **options) -> np.ndarray | None:
    """Return numbers for measures of the shares of good documents, among the top k and among all.

    Such a measure rises, or falls, until the good documents reach the next tie or the cut-off.
    """
    if not found.has_places:
        return None
    end = np.append(found.first + found.length, np.full(len(found.gains) - found.n_shown, np.inf))
    n_in, n_above = (
        np.count_nonzero(found.unjudged & mask) for mask in (found.in_top, end <= found.depth)
    )
    u = len(found.rows)
    return np.array([n_above, n_in, u - n_in, u - n_above, n_in - n_above])


def of_extremes(values: list[np.ndarray]) -> np.ndarray:
    """Return the numbers with the extreme values of each way, from its values for 1, 2, ...

    NaN means undefined. A measure that is undefined at some number is undefined with none or with
    all documents good, too, and these two are always tried.
    """
    known = [each for each in values if not np.isnan(each).all()]
    return 1 + np.array([find(each) for each in known for find in (np.nanargmin, np.nanargmax)])


@dataclass(frozen=True, eq=False, repr=False)
class UnjudgedBounds(Result):
    """Bounds of a measure over labels of unjudged documents: returned by `unjudged_bounds`.

    Attributes
    ----------
    query_ids : ndarray of shape (n_queries,)
        The sorted query ids.
    least, most : ndarray of shape (n_queries,), dtype float64
        Smallest and largest possible value of the measure for each query.
    n_unjudged : ndarray of shape (n_queries,), dtype int64
        Number of unjudged rows of each query.
    measure : str
        Name of the measure.
    mean_least, mean_most : float
        Smallest and largest possible mean over queries.
    """

    query_ids: np.ndarray
    least: np.ndarray
    most: np.ndarray
    n_unjudged: np.ndarray
    measure: str
    mean_least: float
    mean_most: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per query: index "qid", columns "least", "most" and "n_unjudged"."""
        columns = {name: getattr(self, name) for name in ("least", "most", "n_unjudged")}
        return pd.DataFrame(columns, index=pd.Index(self.query_ids, name="qid"))

    def _summary(self):
        queries = counted(len(self.query_ids), "query")
        return (
            f"{self.measure} between {self.mean_least:.4f} and {self.mean_most:.4f} for {queries}"
        )


def unjudged_bounds(
    y_true: ArrayLike,
    y_score: ArrayLike,
    measure: str,
    *,
    groups: ArrayLike | None = None,
    gains: Gains = None,
    ties: str | ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    undefined: float = 0.0,
) -> UnjudgedBounds:
    """Compute bounds of a measure over all ways to give unjudged documents one of two gains.

    If labels have two values and the bounds of two systems do not overlap, no further judgments can
    reverse their order. Graded labels can bring a measure that compares with an ideal list, such as
    nDCG, outside the bounds of the lowest and the highest gain.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
        the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf means hidden or not retrieved.
    measure : str
        A name of the measure table, with a cut-off and options where wanted, such as "rbp" or
        "ndcg@10".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    ties : None, {"average", "stable", "worst", "best"} or array-like of shape (n_rows,), \
default=None
        Order of rows with equal scores, as in :func:`ndcg_f_score`; None takes the measure's
        default.
    low, high : float or None, default=None
        The two gains that an unjudged document can have. None takes the lowest gain of the data,
        at most 0, and the highest one, 1 where none is above 0.
    undefined : float, default=0.0
        Value of a query where the measure is undefined, for some gains of the unjudged documents or
        for all of them.

    Returns
    -------
    UnjudgedBounds
        Bounds for each query, and for the mean over queries.

    Raises
    ------
    ValueError
        As the measure; and if `low` is not below `high`.

    See Also
    --------
    get_measure : "judged" is the share of the shown documents that is judged.
    skfilterrank.judgments.estimate : Intervals from a sample of judgments.

    Notes
    -----
    Each unjudged row of a query has gain `low` or `high`, and no gain in between. For every number
    j, the measure is computed three times. In turn, `high` is the gain of the first j unjudged rows
    of the list, the last j, and the last j of those that can be in the top k. The bounds are exact
    for measures that always prefer the better of two documents at the higher place. All measures of
    the table do, except those that depend on labels in between. Only given rows are considered, so
    they must reach as deep as the lists. For RBP, the difference of both is the residual of [1]_.

    A query with u unjudged rows needs 3 (u + 1) values of the measure, so the time grows with the
    square of its rows. A few values suffice, and the time is linear, for precision, recall, F, AP,
    R-precision, RR, RBP, ERR, the kinds of nDCG, and counts; but not for ties="worst" or "best".

    References
    ----------
    .. [1] Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
       ACM TOIS 2008.

    Examples
    --------
    The second of three documents is unjudged:

    >>> from skfilterrank.metrics import unjudged_bounds
    >>> y_true, y_score = [1, float("nan"), 1], [3, 2, 1]
    >>> unjudged_bounds(y_true, y_score, "ap", groups=["q"] * 3)  # (1 + 2/3) / 2, or all relevant
    <UnjudgedBounds: ap between 0.8333 and 1.0000 for 1 query>
    """
    parsed = parse_measure(measure)
    check_undefined(undefined)
    if undefined == "drop":
        raise InputError(
            "undefined must be a number here, got 'drop': bounds need a value for every query."
        )
    entry = parsed.measure
    rule = entry.ties[0] if ties is None else ties
    entry.check_ties(rule)
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains, ties=rule)
    index = lists.index
    low, high = _two_gains(lists.gains, low, high)
    scores = np.asarray(lists.scores, dtype=np.float64)
    codes = index.codes()
    ids = np.zeros(len(codes)) if lists.tie_codes is None else lists.tie_codes
    # Sort by query and descending score; rows with equal scores by id, or in input order.
    order = np.lexsort((-ids, -scores, codes))
    given = {"undefined": undefined, **parsed.options}
    if entry.takes_k:
        given["k"] = parsed.k
    least, most = np.empty((2, index.n_queries))
    n_unjudged = np.empty(index.n_queries, dtype=np.int64)
    for query, rows in enumerate(np.split(order, np.cumsum(index.sizes)[:-1])):
        values = _possible_values(
            lists.gains[rows],
            scores[rows],
            (low, high),
            _deciding_numbers(parsed, lists.gains[rows], scores[rows], (low, high), lists.ties),
            _in_top(scores[rows], parsed.k),
            lambda labels, y_score, groups, rows=rows: entry.per_query(
                labels,
                y_score,
                groups=groups,
                # Rows are sorted, so the order of rows replaces the ids.
                ties="stable" if lists.tie_codes is not None else rule,
                **given,
            ),
        )
        least[query], most[query] = values.min(), values.max()
        n_unjudged[query] = np.count_nonzero(np.isnan(lists.gains[rows]))
    over_queries = OVER_QUERIES[entry.over_queries]
    return UnjudgedBounds(
        index.query_ids,
        least,
        most,
        n_unjudged,
        parsed.text,
        mean_least=over_queries(least),
        mean_most=over_queries(most),
    )


def _two_gains(gains, low, high):
    """Return the lowest and the highest gain of an unjudged document."""
    known = gains[~np.isnan(gains)]
    low = min(0.0, known.min(initial=0.0)) if low is None else check_number(low, "low")
    highest = known.max(initial=0.0)
    high = (highest if highest > 0 else 1.0) if high is None else check_number(high, "high")
    if not low < high:
        raise InputError(f"low must be below high, got low={low:g} and high={high:g}.")
    return low, high


def _deciding_numbers(parsed, gains, scores, two_gains, ties):
    """Return how many unjudged documents must be good for the extreme values to occur."""
    measure, options = parsed.measure, parsed.options
    u, numbers = np.count_nonzero(np.isnan(gains)), None
    own = measure.own_reading
    if own is not None:
        measure, gains, two_gains = measure.plain, own.of(gains), own.of(np.array(two_gains))
    is_known = own is None or (own.ties is None and not own.options)
    if measure.deciding is not None and is_known and two_gains[0] <= two_gains[1]:
        found = OpenList.of(gains, scores, *two_gains, parsed.k, ties)
        numbers = measure.deciding(found, **{**measure.defaults, **options})
    return np.arange(u + 1) if numbers is None else np.unique([0, min(1, u), u, *numbers])


def _in_top(scores, k):
    """Tell which documents can be in the top k: shown, and in no tie that lies below it."""
    shown = scores > -np.inf
    return shown if k is None or k >= len(scores) else shown & (scores >= scores[k - 1])


def _possible_values(gains, scores, two_gains, numbers, in_top, measure):
    """Compute the value of a list if its first, or its last, unjudged documents are good.

    The last of all are good, or the last of those that can be in the top.
    """
    low, high = two_gains
    unjudged = np.flatnonzero(np.isnan(gains))
    u, n = len(unjudged), len(gains)
    place, number = np.arange(u), numbers[:, None]
    u_top = np.count_nonzero(in_top[unjudged])
    last_of_top = (place < u_top) & (place >= u_top - number[numbers <= u_top])
    is_good = np.concatenate([place < number, place >= u - number, last_of_top])
    values, step = [], max(1, _CELLS // n)
    for start in range(0, len(is_good), step):
        some = is_good[start : start + step]
        labels = np.tile(gains, (len(some), 1))
        labels[:, unjudged] = np.where(some, high, low)
        groups = np.repeat(np.arange(len(some)), n)
        values.append(measure(labels.ravel(), np.tile(scores, len(some)), groups))
    return np.concatenate(values)
