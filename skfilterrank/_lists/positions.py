"""Positions of the relevant documents of each list, and the order of systems by these positions.

Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 2.2, 5.2 and 7.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._base.checks import cached_property, check_choice, check_count
from skfilterrank._lists.lists import TIES, WHOLE_ORDERS, ListBlock, RankedLists
from skfilterrank.exceptions import InputError, brief

_MOST_ITEMS = 2**45
IMPUTATIONS = ("pessimistic", "optimistic")
_CELLS = 1 << 21


@dataclass(frozen=True, eq=False, repr=False)
class RelevantPositions:
    """Positions of the relevant documents of each query; ``len(result)`` is the number of queries.

    Measures of recall as robustness are computed from these positions: the ranking of a query,
    reduced to the ascending positions ``p_1 < ... < p_m`` of its m relevant documents.

    Attributes
    ----------
    query_ids : ndarray of shape (n_queries,)
        The distinct query ids, sorted.
    positions : ndarray of shape (n_relevant.sum(),), dtype int64
        Positions from 1, query by query, ascending within a query.
    n_relevant : ndarray of shape (n_queries,), dtype int64
        Number of relevant documents of each query, retrieved or not.
    n_found : ndarray of shape (n_queries,), dtype int64
        Number of relevant documents that were retrieved; the positions of the others are imputed.
    n_retrieved : ndarray of shape (n_queries,), dtype int64
        Length of each returned list.
    n_items : ndarray of shape (n_queries,), dtype int64
        Number of documents that could have been retrieved.
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
        """Recall level of each position, int64: i for the i-th relevant document of a query."""
        n_before = np.repeat(self.starts, self.n_relevant)
        return np.arange(1, len(self.positions) + 1) - n_before

    @property
    def is_found(self) -> np.ndarray:
        """True where the document at a position was retrieved; bool."""
        return self.levels <= np.repeat(self.n_found, self.n_relevant)

    def __len__(self) -> int:
        return len(self.query_ids)


def ranked_lists(y_true, y_score, *, groups, gains, ties, unjudged) -> RankedLists:
    """Check rows and return their lists, for computations that need one order of the documents."""
    if isinstance(ties, str) and ties in TIES and ties not in WHOLE_ORDERS:
        raise InputError(
            f"{{ties={brief(ties)}}} is not possible for positions, which need one order of the "
            f"documents: choose one of {', '.join(map(repr, WHOLE_ORDERS))} or "
            "{pass document ids}.",
            argument=(f"ties={brief(ties)}", "pass document ids"),
        )
    return RankedLists(y_true, y_score, groups=groups, gains=gains, ties=ties, unjudged=unjudged)


def check_n_items(n_items, name="n_items") -> int | None:
    """Check that `n_items` is None or a whole number from 1 to 2**45."""
    return None if n_items is None else check_count(n_items, name, most=_MOST_ITEMS)


def positions_of(lists: RankedLists, n_items: int | None = None) -> RelevantPositions:
    """Compute the positions of all queries; missing documents get the last positions of `n_items`.

    None means the number of rows of a query plus its number of relevant documents: a missing
    document is then behind every row.
    """
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
        result.positions[:] = impute(result, result.n_items, "pessimistic")
    return result


def impute(result: RelevantPositions, n_items: np.ndarray, imputation: str) -> np.ndarray:
    """Return the positions with imputed values for missing documents."""
    if imputation == "pessimistic":
        before = n_items - result.n_relevant
    else:
        before = result.n_retrieved - result.n_found
    imputed = np.repeat(before, result.n_relevant) + result.levels
    return np.where(result.is_found, result.positions, imputed)


def found_positions(block: ListBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count relevant and retrieved relevant documents of each query, and return their positions.

    The positions count from 1, list by list, ascending within a list; all int64.
    """
    found = block.relevant_cells
    return np.count_nonzero(block.gains > 0, axis=1), found.n_found, found.places + 1


def collection_sizes(facts) -> np.ndarray:
    """Return the number of documents of each query; by default rows plus relevant documents."""
    n_items = facts.option("n_items")
    return facts.n + facts.m if n_items is None else np.full(len(facts.m), float(n_items))


def items_of(block: ListBlock, n_missing: np.ndarray, n_items: int | None) -> np.ndarray:
    """Return the checked number of documents of each query of a block; int64."""
    if n_items is None:
        # Missing documents are placed after every row, so filtering a relevant document never
        # improves a list.
        return block.sizes + block.n_relevant.astype(np.int64)
    needed = block.n_retained + n_missing
    worst = int(needed.argmax())
    if needed[worst] > n_items:
        query = block.query_ids[worst]
        raise InputError(
            f"{{n_items={n_items}}} is too small for query {brief(str(query))}, which has "
            f"{block.n_retained[worst]} retrieved documents and {n_missing[worst]:.0f} missing "
            "relevant documents: pass the number of documents in the collection, here "
            f"{needed[worst]:.0f} or more{{, or None}}.",
            argument=(f"n_items={n_items}", ", or None"),
        )
    return np.full(len(block.sizes), n_items)


KINDS = ("recall", "precision")


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceMatrix:
    """Order of the systems, query by query, by lexicographic recall or precision.

    Preferences are an order, so the systems of a query are sorted instead of compared pair by pair.
    The result is exact for any number of documents: Diaz and Mitra, "Recall as a Measure of Ranking
    Robustness", 2023.

    Attributes
    ----------
    ranks : DataFrame of shape (n_queries, n_systems)
        Rank of each system for each query: 1 is the best, equal rankings share the mean of their
        ranks. All are equal where nothing is relevant.
    n_relevant : ndarray of shape (n_queries,), dtype int64
        Number of relevant documents of each query.
    kind : {"recall", "precision"}
        "recall" if the last relevant documents are compared first, "precision" if the first ones
        are.
    """

    ranks: pd.DataFrame
    n_relevant: np.ndarray
    kind: str

    @classmethod
    def from_positions(cls, positions: Mapping, *, kind: str = "recall") -> PreferenceMatrix:
        """Order many systems for each query, from the positions of their relevant documents.

        Use it for runs that retrieved different documents, each aligned with the judgments
        separately.

        Parameters
        ----------
        positions : dict of RelevantPositions
            Results of :func:`positions_of` by name of the system, all for the same queries
            and judgments. Documents that were not retrieved come after all lists.
        kind
            As in :func:`lexicographic_preference`.

        Returns
        -------
        PreferenceMatrix
            The rank of each system for each query.

        Raises
        ------
        ValueError
            If the systems differ in their queries or in the number of relevant documents of a
            query, or if `kind` is not as described.

        Examples
        --------
        The second run finds only one of two relevant documents:

        >>> from skfilterrank._lists.positions import PreferenceMatrix, positions_of_systems
        >>> runs = {"long": [4, 3, 2, 1], "short": [1, 2, 3, float("-inf")]}
        >>> how = {"groups": ["q"] * 4, "gains": None, "ties": "worst", "unjudged": "zero"}
        >>> positions = positions_of_systems([0, 0, 1, 1], runs, **how)
        >>> PreferenceMatrix.from_positions(positions).ranks
        system  long  short
        qid
        q        1.0    2.0
        >>> PreferenceMatrix.from_positions(positions, kind="precision").ranks
        system  long  short
        qid
        q        2.0    1.0
        """
        check_choice(kind, "kind", KINDS)
        reference, some = next(iter(positions.items()))
        for system, result in positions.items():
            _check_same_relevant(system, result, reference, some)
        values = np.stack(comparable(list(positions.values())))
        n_systems = len(values)
        ranks = np.full((len(some), n_systems), (n_systems + 1) / 2)
        for queries in _similar(some.n_relevant, n_systems):
            m = some.n_relevant[queries][:, None]
            place = np.arange(m.max())
            at = some.starts[queries][:, None] + (m - 1 - place if kind == "recall" else place)
            tuples = values[:, np.where(place < m, at, 0)]
            tuples[:, place >= m] = 0
            # In big-endian bytes, tuples sort like texts of one length: by their first difference.
            text = tuples.astype(">u4", order="C").view(f"S{4 * len(place)}")[..., 0]
            ranks[queries] = _mid_ranks(text).T
        index = pd.Index(some.query_ids, name="qid")
        columns = pd.Index(list(positions), name="system", tupleize_cols=False)
        return cls(pd.DataFrame(ranks, index, columns), some.n_relevant, kind)


def comparable(systems, imputation="pessimistic", n_items=None):
    """Impute the missing documents of all systems in the same way; by default after all lists."""
    check_choice(imputation, "imputation", IMPUTATIONS)
    if n_items is None:
        longest = np.max([system.n_retrieved for system in systems], axis=0)
        n_items = longest + systems[0].n_relevant
    return [impute(system, n_items, imputation) for system in systems]


def _similar(n_relevant, n_systems):
    """Yield groups of queries with similar numbers of relevant documents, limited by memory."""
    queries = np.argsort(n_relevant, kind="stable")
    queries = queries[n_relevant[queries] > 0]
    while len(queries):
        sizes = n_relevant[queries]
        cells = np.arange(1, len(queries) + 1) * sizes * n_systems
        is_similar = sizes <= 2 * sizes[0]
        n_taken = max(1, int(np.searchsorted(cells, _CELLS, side="right")))
        n_taken = min(n_taken, int(np.count_nonzero(is_similar)))
        yield queries[:n_taken]
        queries = queries[n_taken:]


def _mid_ranks(values):
    """Rank each value in its column, from 1; equal values share the mean of their ranks."""
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    place = np.arange(1, len(values) + 1)[:, None]
    is_new = np.ones(values.shape, dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    first = np.maximum.accumulate(np.where(is_new, place, 0), axis=0)
    is_end = np.ones(values.shape, dtype=bool)
    is_end[:-1] = is_new[1:]
    last = np.minimum.accumulate(np.where(is_end, place, len(values))[::-1], axis=0)[::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=0)
    return ranks


def _check_same_relevant(system, result, reference, expected):
    """Check that a system has the queries and numbers of relevant documents of the first system."""
    if not np.array_equal(result.query_ids, expected.query_ids):
        theirs, ours = set(result.query_ids.tolist()), set(expected.query_ids.tolist())
        odd = sorted(theirs ^ ours, key=str)[0]
        raise InputError(
            f"{brief(system)} and {brief(reference)} have different queries: {brief(odd)} is in "
            "only one of them. Give every system all judged queries, those without a list as "
            "rows of score -inf."
        )
    differ = result.n_relevant != expected.n_relevant
    if differ.any():
        query = int(differ.argmax())
        raise InputError(
            f"query {brief(str(result.query_ids[query]))} has {result.n_relevant[query]} relevant "
            f"documents for {brief(system)} and {expected.n_relevant[query]} for "
            f"{brief(reference)}: align all systems with the same judgments, relevant documents "
            "that were not retrieved as rows of score -inf."
        )


def positions_of_systems(y_true, y_scores, *, groups, gains, ties, unjudged, n_items=None):
    """Return positions by system; errors name the system."""
    n_items, positions = check_n_items(n_items), {}
    for system, y_score in y_scores.items():
        try:
            lists = ranked_lists(
                y_true, y_score, groups=groups, gains=gains, ties=ties, unjudged=unjudged
            )
            positions[system] = positions_of(lists, n_items)
        except ValueError as error:
            error.add_note(f"The error concerns the scores of {brief(system)}.")
            raise
        groups = lists.index
    return positions
