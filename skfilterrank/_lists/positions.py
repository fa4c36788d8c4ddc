"""Positions of the relevant items of each list: the projection of section 2.2 of Diaz & Mitra."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import cached_property, check_choice, check_count
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import TIES, WHOLE_ORDERS, ListBlock, RankedLists
from skfilterrank._lists.results import Result, counted
from skfilterrank.exceptions import InputError, brief

_MOST_ITEMS = 2**45
IMPUTATIONS = ("pessimistic", "optimistic")


@dataclass(frozen=True, eq=False, repr=False)
class RelevantPositions(Result):
    """Positions of the relevant items of each query, the result of `relevant_positions`.

    ``len(result)`` is the number of queries, ``result[i]`` the positions of query number i, and
    iterating gives them query by query.

    Attributes
    ----------
    query_ids : ndarray of shape (n_queries,)
        The distinct query ids, sorted.
    positions : ndarray of shape (n_relevant.sum(),), dtype int64
        Positions from 1, query by query, ascending within a query.
    n_relevant : ndarray of shape (n_queries,), dtype int64
        Number of relevant items of each query, retrieved or not.
    n_found : ndarray of shape (n_queries,), dtype int64
        Number of those that were retrieved; the positions of the others are imputed.
    n_retrieved : ndarray of shape (n_queries,), dtype int64
        Length of each returned list.
    n_items : ndarray of shape (n_queries,), dtype int64
        Number of items that could have been retrieved.
    """

    query_ids: np.ndarray
    positions: np.ndarray
    n_relevant: np.ndarray
    n_found: np.ndarray
    n_retrieved: np.ndarray
    n_items: np.ndarray

    @cached_property
    def starts(self) -> np.ndarray:
        """Index of the first of each query's `positions`; shape (n_queries,), dtype int64."""
        return np.cumsum(self.n_relevant) - self.n_relevant

    @property
    def levels(self) -> np.ndarray:
        """Recall level of each of the positions: 1 for a query's first, and so on; int64."""
        n_before = np.repeat(self.starts, self.n_relevant)
        return np.arange(1, len(self.positions) + 1) - n_before

    @property
    def is_found(self) -> np.ndarray:
        """True where the item at a position was retrieved; bool."""
        return self.levels <= np.repeat(self.n_found, self.n_relevant)

    def __len__(self) -> int:
        return len(self.query_ids)

    def __getitem__(self, query: int) -> np.ndarray:
        if not -len(self) <= query < len(self):
            raise IndexError(f"query number {query} of {len(self)} queries; they count from 0.")
        begin = self.starts[query]
        return self.positions[begin : begin + self.n_relevant[query]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(np.split(self.positions, self.starts[1:]))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per relevant item.

        Returns
        -------
        DataFrame of shape (n_relevant.sum(), 4)
            Columns "qid", "level" (1 for the first relevant item), "position" and "found"
            (whether it was retrieved).
        """
        return pd.DataFrame(
            {
                "qid": np.repeat(self.query_ids, self.n_relevant),
                "level": self.levels,
                "position": self.positions,
                "found": self.is_found,
            }
        )

    def _summary(self):
        return (
            f"{counted(len(self.positions), 'relevant item')} of "
            f"{counted(len(self), 'query', 'queries')}, {self.n_found.sum():,} found"
        )


def relevant_positions(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    gains: Gains = None,
    ties: str | ArrayLike = "worst",
    unjudged: str = "zero",
    n_items: int | None = None,
    imputation: str = "pessimistic",
) -> RelevantPositions:
    """Return positions of the relevant items of each query, those of missing ones imputed.

    What measures of recall as robustness are made of: the ranking of a query, reduced to the
    ascending positions ``p_1 < ... < p_m`` of its m relevant items.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
        the query ids in an index level named "qid". A row is relevant if its gain is above 0.
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf means filtered out or not retrieved.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    ties : {"worst", "best", "stable"} or array-like of shape (n_rows,), default="worst"
        Order of rows with equal scores in one query: lowest gain first, highest gain first, the
        order of the rows, or document ids, of which the greatest comes first.
    unjudged : {"zero", "drop"}, default="zero"
        Whether an unjudged row stands in the list as a document that is not relevant, or is
        taken out of it before positions are counted.
    n_items : int or None, default=None
        Number of items that could have been retrieved for each query, the collection's size.
        None means the rows of the query and as many more as are relevant: a missing item is
        then behind every row.
    imputation : {"pessimistic", "optimistic"}, default="pessimistic"
        Where missing relevant items are thought to be: at the last positions of all items, or
        right behind the last one retrieved.

    Returns
    -------
    RelevantPositions
        The positions and their counts, queries in the order of their sorted ids.

    Raises
    ------
    ValueError
        If `n_items` is smaller than what a query's list and its missing relevant documents need,
        or the data or a parameter are not as described.

    See Also
    --------
    lexirecall_score : One number that orders rankings as their positions, from the last one up.
    lexicographic_preference : The order of two rankings, exactly.

    Notes
    -----
    Section 2.2 of [1]_. Optimistic imputation rewards returning few items or none.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023.

    Examples
    --------
    Three of six relevant documents are retrieved, at 2, 3 and 8; the collection has 1000:

    >>> from skfilterrank._lists.positions import relevant_positions
    >>> y_true = [0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1]
    >>> y_score = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1] + [float("-inf")] * 3
    >>> result = relevant_positions(y_true, y_score, groups=["q"] * 13, n_items=1000)
    >>> result[0]
    array([   2,    3,    8,  998,  999, 1000])
    >>> result.n_found
    array([3])
    """
    lists = ranked_lists(y_true, y_score, groups=groups, gains=gains, ties=ties, unjudged=unjudged)
    check_choice(imputation, "imputation", IMPUTATIONS)
    return positions_of(lists, n_items=check_n_items(n_items), imputation=imputation)


def ranked_lists(y_true, y_score, *, groups, gains, ties, unjudged) -> RankedLists:
    """Return checked rows, for what looks at whole orders."""
    if isinstance(ties, str) and ties in TIES and ties not in WHOLE_ORDERS:
        raise InputError(
            f"ties={brief(ties)} is not possible for positions, which are those of one order: "
            f"choose one of {', '.join(map(repr, WHOLE_ORDERS))} or pass document ids."
        )
    return RankedLists(y_true, y_score, groups=groups, gains=gains, ties=ties, unjudged=unjudged)


def check_n_items(n_items, name="n_items") -> int | None:
    """Check None or a number of items, whose positions float64 must keep apart."""
    return None if n_items is None else check_count(n_items, name, most=_MOST_ITEMS)


def positions_of(lists: RankedLists, *, n_items=None, imputation="pessimistic"):
    """Return the positions of all queries."""
    n_queries = lists.index.n_queries
    counts = {name: np.empty(n_queries, dtype=np.int64) for name in ("m", "found", "length", "n")}
    parts = []
    for block in lists.blocks():
        relevant, found, positions = found_positions(block)
        counts["m"][block.queries] = relevant
        counts["found"][block.queries] = found
        counts["length"][block.queries] = block.n_retained
        counts["n"][block.queries] = items_of(block, relevant - found, n_items)
        parts.append((block.queries, found, positions))
    result = RelevantPositions(
        lists.index.query_ids,
        np.empty(counts["m"].sum(), dtype=np.int64),
        n_relevant=counts["m"],
        n_found=counts["found"],
        n_retrieved=counts["length"],
        n_items=counts["n"],
    )
    starts = result.starts
    for queries, found, positions in parts:
        first = np.repeat(starts[queries] - (np.cumsum(found) - found), found)
        result.positions[first + np.arange(len(positions))] = positions
    if (result.n_found < result.n_relevant).any():
        result.positions[:] = impute(result, result.n_items, imputation)
    return result


def impute(result: RelevantPositions, n_items: np.ndarray, imputation: str) -> np.ndarray:
    """Return the positions, those of missing items imputed."""
    if imputation == "pessimistic":
        before = n_items - result.n_relevant
    else:
        before = result.n_retrieved - result.n_found
    imputed = np.repeat(before, result.n_relevant) + result.levels
    return np.where(result.is_found, result.positions, imputed)


def found_positions(block: ListBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count relevant and retrieved relevant items of each query, and return their positions.

    The positions count from 1, list by list, ascending within a list; all int64.
    """
    found = block.relevant_cells
    return np.count_nonzero(block.gains > 0, axis=1), found.n_found, found.places + 1


def collection_sizes(facts) -> np.ndarray:
    """Return the number of items of each query; by default missing ones stand behind every row."""
    n_items = facts.option("n_items")
    return facts.n + facts.m if n_items is None else np.full(len(facts.m), float(n_items))


def items_of(block: ListBlock, n_missing: np.ndarray, n_items: int | None) -> np.ndarray:
    """Return the checked number of items of each query of a block; int64."""
    if n_items is None:
        # Missing items stand behind every row: to filter what is relevant can never pay.
        return block.sizes + block.n_relevant.astype(np.int64)
    needed = block.n_retained + n_missing
    worst = int(needed.argmax())
    if needed[worst] > n_items:
        query = block.query_ids[worst]
        raise InputError(
            f"n_items={n_items} is too small for query {brief(str(query))}, which has "
            f"{block.n_retained[worst]} retrieved documents and {n_missing[worst]:.0f} relevant "
            "ones that are missing: pass the number of documents in the collection, here "
            f"{needed[worst]:.0f} or more, or None."
        )
    return np.full(len(block.sizes), n_items)
