"""The exact order of many rankings of a query, by the positions of what is relevant.

Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 5.2 and 7.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_choice, columns_of
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.positions import (
    IMPUTATIONS,
    RelevantPositions,
    check_n_items,
    impute,
    positions_of,
    ranked_lists,
)
from skfilterrank._lists.results import Result, counted
from skfilterrank.exceptions import InputError, brief

KINDS = ("recall", "precision")
_CELLS = 1 << 21


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceMatrix(Result):
    """Order of the systems, query by query: the result of `preference_matrix`.

    ``str`` gives the share of queries in which the system of the row is preferred to that of
    the column.

    Attributes
    ----------
    ranks : DataFrame of shape (n_queries, n_systems)
        Rank of each system for each query: 1 is the best, equal rankings share the mean of their
        ranks. All are equal where nothing is relevant.
    n_relevant : ndarray of shape (n_queries,), dtype int64
        Number of relevant items of each query.
    kind : {"recall", "precision"}
        What was compared.
    """

    ranks: pd.DataFrame
    n_relevant: np.ndarray
    kind: str

    @classmethod
    def from_positions(
        cls,
        positions: Mapping,
        *,
        kind: str = "recall",
        n_items: int | None = None,
        imputation: str = "pessimistic",
    ) -> PreferenceMatrix:
        """Order many systems for each query, from the positions of their relevant items.

        For runs that retrieved different documents, each one read and aligned with the judgments by
        itself.

        Parameters
        ----------
        positions : dict of RelevantPositions
            What :func:`relevant_positions` returns, by name of the system, for the same queries and
            judgments. Positions of items that were not retrieved are imputed anew.
        kind, n_items, imputation
            As in :func:`lexicographic_preference`.

        Returns
        -------
        PreferenceMatrix
            The rank of each system for each query, and the preferences that follow from them.

        Raises
        ------
        ValueError
            If there is no system, if the systems differ in their queries or in the number of
            relevant items of a query, if `n_items` is smaller than what a query needs, or if a
            parameter is not as described.

        See Also
        --------
        preference_matrix : The same from scores.

        Examples
        --------
        The second run finds only one of two relevant documents:

        >>> from skfilterrank._lists.positions import relevant_positions
        >>> from skfilterrank._lists.preferences import PreferenceMatrix
        >>> not_retrieved = float("-inf")
        >>> runs = {
        ...     "long": relevant_positions([0, 0, 1, 1], [4, 3, 2, 1], groups=["q"] * 4),
        ...     "short": relevant_positions([1, 1], [2, not_retrieved], groups=["q"] * 2),
        ... }
        >>> PreferenceMatrix.from_positions(runs).ranks
        system  long  short
        qid
        q        1.0    2.0
        >>> PreferenceMatrix.from_positions(runs, kind="precision").ranks
        system  long  short
        qid
        q        2.0    1.0
        """
        check_choice(kind, "kind", KINDS)
        if not isinstance(positions, Mapping) or not positions:
            raise InputError(
                "positions must be a dict {name: result of relevant_positions} of at least one "
                f"system, got {type(positions).__name__}."
            )
        reference = next(iter(positions))
        for system, result in positions.items():
            if not isinstance(result, RelevantPositions):
                raise InputError(
                    f"positions[{brief(system)}] must be a result of relevant_positions, got "
                    f"{type(result).__name__}."
                )
            _check_same_relevant(system, result, reference, positions[reference])
            _check_enough_items(system, result, check_n_items(n_items))
        return sort_systems(positions, kind, imputation, n_items)

    @property
    def preferences(self) -> np.ndarray:
        """The comparison of each two systems for each query.

        Array of shape (n_queries, n_systems, n_systems), dtype int8: +1 where the first system is
        preferred to the second, -1 the other way round, 0 where they are equal.
        """
        ranks = self.ranks.to_numpy()
        better = ranks[:, :, None] < ranks[:, None, :]
        return better.astype(np.int8) - better.transpose(0, 2, 1)

    @property
    def n_wins(self) -> pd.DataFrame:
        """Number of queries in which the row's system is preferred to the column's.

        DataFrame of shape (n_systems, n_systems), dtype int64.
        """
        ranks = self.ranks.to_numpy()
        counts = [
            np.count_nonzero(ranks[:, [system]] < ranks, axis=0) for system in range(len(ranks.T))
        ]
        return pd.DataFrame(counts, index=self.ranks.columns, columns=self.ranks.columns)

    _digits = 3

    def to_frame(self) -> pd.DataFrame:
        """Return the ranks: a row for each query ("qid"), a column for each system ("system")."""
        return self.ranks.copy()

    def _summary(self):
        n_queries, n_systems = self.ranks.shape
        queries = counted(n_queries, "query", "queries")
        return f"lexi{self.kind} of {counted(n_systems, 'system')} for {queries}"

    def _head(self):
        n_decided = np.count_nonzero(self.n_relevant)
        return (
            f"{self._summary()}: share of the {n_decided} with relevant documents in which the row "
            "is preferred"
        )

    def _table(self):
        n_decided = np.count_nonzero(self.n_relevant)
        return (self.n_wins / max(n_decided, 1)).rename_axis(None, axis=1)


def comparable(systems, imputation, n_items):
    """Impute missing items of all systems alike; None places them behind all lists."""
    check_choice(imputation, "imputation", IMPUTATIONS)
    if n_items is None:
        longest = np.max([system.n_retrieved for system in systems], axis=0)
        n_items = longest + systems[0].n_relevant
    return [impute(system, n_items, imputation) for system in systems]


def sort_systems(positions, kind, imputation, n_items):
    """Sort the systems of each query."""
    some = next(iter(positions.values()))
    values = np.stack(comparable(list(positions.values()), imputation, n_items))
    n_systems = len(values)
    ranks = np.full((len(some), n_systems), (n_systems + 1) / 2)
    dtype = np.dtype(">u4" if values.max(initial=0) <= np.iinfo(np.uint32).max else ">u8")
    for queries in _similar(some.n_relevant, n_systems):
        m = some.n_relevant[queries][:, None]
        place = np.arange(m.max())
        at = some.starts[queries][:, None] + (m - 1 - place if kind == "recall" else place)
        tuples = values[:, np.where(place < m, at, 0)]
        tuples[:, place >= m] = 0
        # Greatest byte first, tuples sort as texts of one length do: by what differs first.
        text = tuples.astype(dtype, order="C").view(f"S{dtype.itemsize * len(place)}")[..., 0]
        ranks[queries] = _mid_ranks(text).T
    index = pd.Index(some.query_ids, name="qid")
    columns = pd.Index(list(positions), name="system", tupleize_cols=False)
    return PreferenceMatrix(pd.DataFrame(ranks, index, columns), some.n_relevant, kind)


def _similar(n_relevant, n_systems):
    """Yield queries of similar numbers of relevant items, as many as memory should hold."""
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
    """Rank of each value in its column, from 1; equal values share the mean of their ranks."""
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
    """Check that queries and numbers of relevant items are those of the first system."""
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
            f"items for {brief(system)} and {expected.n_relevant[query]} for {brief(reference)}: "
            "align all systems with the same judgments, relevant documents that were not "
            "retrieved as rows of score -inf."
        )


def _check_enough_items(system, result, n_items):
    """Check that the items suffice for what was retrieved and what is missing."""
    if n_items is None:
        return
    needed = result.n_retrieved + result.n_relevant - result.n_found
    if len(needed) and needed.max() > n_items:
        query = int(needed.argmax())
        raise InputError(
            f"n_items={n_items} is too small for query {brief(str(result.query_ids[query]))} of "
            f"{brief(system)}, which needs {needed[query]} or more: pass the number of documents "
            "in the collection, or None for more than any list holds."
        )


def preference_matrix(
    y_true: ArrayLike,
    y_scores,
    *,
    groups: ArrayLike | None = None,
    kind: str = "recall",
    gains: Gains = None,
    ties: str | ArrayLike = "worst",
    unjudged: str = "zero",
    n_items: int | None = None,
    imputation: str = "pessimistic",
) -> PreferenceMatrix:
    """Order many systems for each query, by lexicographic recall or precision.

    For systems that rank the same documents. For runs that retrieved different ones, see
    :meth:`PreferenceMatrix.from_positions`.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
        the query ids in an index level named "qid". A row is relevant if its gain is above 0.
    y_scores : dict of array-likes, DataFrame or array-like of shape (n_rows, n_systems)
        Scores of each system, by name, in columns by name, or in columns that are numbered.
    groups, kind, gains, ties, unjudged, n_items, imputation
        As in :func:`lexicographic_preference`.

    Returns
    -------
    PreferenceMatrix
        The rank of each system for each query, and the preferences that follow from them.

    Raises
    ------
    ValueError
        If `y_scores` holds no system, or the data or a parameter are not as described.

    See Also
    --------
    PreferenceMatrix.from_positions : The same for runs with documents of their own.
    lexicographic_preference : Two rankings.

    Notes
    -----
    Lexicographic preferences are an order, so the systems of a query are sorted; no two of
    them are compared alone. Exact for any number of items.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023.

    Examples
    --------
    >>> from skfilterrank._lists.preferences import preference_matrix
    >>> y_true, groups = [1, 1, 0, 0], ["q"] * 4
    >>> systems = {"a": [4, 1, 3, 2], "b": [3, 2, 4, 1], "c": [4, 3, 2, 1]}
    >>> result = preference_matrix(y_true, systems, groups=groups)
    >>> result.ranks
    system    a    b    c
    qid
    q       3.0  2.0  1.0
    >>> result.preferences[0]
    array([[ 0, -1, -1],
           [ 1,  0, -1],
           [ 1,  1,  0]], dtype=int8)
    """
    check_choice(kind, "kind", KINDS)
    positions = positions_of_systems(
        y_true,
        _systems(y_scores),
        groups=groups,
        gains=gains,
        ties=ties,
        unjudged=unjudged,
        n_items=n_items,
    )
    return sort_systems(positions, kind, imputation, next(iter(positions.values())).n_items)


def _systems(y_scores):
    """Return scores by name of the system."""
    y_scores = columns_of(y_scores, "y_scores")
    if not y_scores:
        raise InputError("y_scores is empty: expected the scores of at least one system.")
    return y_scores


def positions_of_systems(y_true, y_scores, *, groups, gains, ties, unjudged, n_items):
    """Return positions by system; an error says whose scores it came up with."""
    n_items, positions = check_n_items(n_items), {}
    for system, y_score in y_scores.items():
        try:
            lists = ranked_lists(
                y_true, y_score, groups=groups, gains=gains, ties=ties, unjudged=unjudged
            )
            positions[system] = positions_of(lists, n_items=n_items)
        except ValueError as error:
            error.add_note(f"This came up with the scores of {brief(system)}.")
            raise
        groups = lists.index
    return positions
