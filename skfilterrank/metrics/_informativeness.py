"""Informativeness of queries: how far systems are above a random ranking.

Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import (
    as_column,
    check_number,
    check_numbers,
    is_finite_number,
    is_whole_number,
)
from skfilterrank._base.results import Result
from skfilterrank._base.rounding import mean_tolerance, merge
from skfilterrank._base.words import counted
from skfilterrank._lists.gains import Gains, as_gains
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import check_groups
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics._evaluate import evaluate
from skfilterrank.metrics._random_rankings import check_seed, random_ranking_bound


@dataclass(frozen=True, eq=False, repr=False)
class QueryInformativeness(Result):
    """Distance of systems from a random ranking on each query, and the extreme queries.

    Attributes
    ----------
    query_ids : ndarray of shape (n_queries,)
        The sorted query ids.
    achieved : ndarray of shape (n_queries,), dtype float64
        Value of the measure, averaged over systems and cut-offs.
    expected : ndarray of shape (n_queries,), dtype float64
        Expected value for a random ranking, averaged over cut-offs.
    difference : ndarray of shape (n_queries,), dtype float64
        ``achieved - expected``; NaN where undefined.
    uninformative : ndarray of shape (n_queries,), dtype bool
        True for the queries with the smallest differences.
    ideal : ndarray of shape (n_queries,), dtype bool
        True for the same number of queries with the greatest differences.
    """

    query_ids: np.ndarray
    achieved: np.ndarray
    expected: np.ndarray
    difference: np.ndarray
    uninformative: np.ndarray
    ideal: np.ndarray

    @classmethod
    def from_values(
        cls, achieved, expected, *, query_ids=None, n_queries: int | float = 0.1
    ) -> QueryInformativeness:
        """Find the two sets from values per query.

        For systems whose rows differ, such as runs that returned different documents: average
        their values per query first.

        Parameters
        ----------
        achieved, expected : array-like of shape (n_queries,)
            Mean value of the systems and expected value of a random ranking for each query. NaN
            means undefined; such queries are in neither set.
        query_ids : array-like of shape (n_queries,), default=None
            Ids of the queries; None numbers them from 0.
        n_queries : int or float, default=0.1
            Size of each set, or its share of the defined queries, rounded down, at least 1.

        Returns
        -------
        QueryInformativeness
            Values per query and the two sets. If two queries have equal differences, the earlier
            one counts as less informative.

        Raises
        ------
        ValueError
            If the arrays differ in length, or the two sets would overlap.
        """
        achieved = check_numbers(achieved, "achieved").astype(np.float64, copy=False)
        expected = check_numbers(expected, "expected").astype(np.float64, copy=False)
        ids = np.arange(len(achieved))
        if query_ids is not None:
            ids = np.asarray(as_column(query_ids, "query_ids", "id"))
        if not achieved.shape == expected.shape == ids.shape:
            raise InputError(
                "achieved, expected and query_ids must hold one entry per query, got shapes "
                f"{achieved.shape}, {expected.shape} and {ids.shape}."
            )
        difference = achieved - expected
        order = np.flatnonzero(~np.isnan(difference))
        # Rounding must not order queries whose differences are equal.
        rounding = mean_tolerance(np.append(achieved[order], expected[order]))
        order = order[np.argsort(merge(difference[order], rounding), kind="stable")]
        size = _set_size(n_queries, len(order))
        uninformative, ideal = np.zeros((2, len(ids)), dtype=bool)
        uninformative[order[:size]] = True
        ideal[order[len(order) - size :]] = True
        return cls(ids, achieved, expected, difference, uninformative, ideal)

    def hard(self, *, at_most: float = 0.2) -> np.ndarray:
        """Return uninformative queries on which systems and random rankings have low values.

        Parameters
        ----------
        at_most : float, default=0.2
            Upper limit for the achieved and the expected value of such a query. The paper gives no
            limit.

        Returns
        -------
        ndarray of shape (n_queries,), dtype bool
            A mask, in the order of the query ids.
        """
        most = check_number(at_most, "at_most")
        return self.uninformative & (np.maximum(self.achieved, self.expected) <= most)

    def easy(self, *, at_least: float = 0.8) -> np.ndarray:
        """Return uninformative queries on which systems and random rankings have high values.

        Parameters
        ----------
        at_least : float, default=0.8
            Smallest value, achieved and expected, of such a query. The paper gives no limit.

        Returns
        -------
        ndarray of shape (n_queries,), dtype bool
            A mask, in the order of the query ids.
        """
        least = check_number(at_least, "at_least")
        return self.uninformative & (np.minimum(self.achieved, self.expected) >= least)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per query: index "qid", the attributes as columns."""
        return pd.DataFrame(
            {
                "achieved": self.achieved,
                "expected": self.expected,
                "difference": self.difference,
                "uninformative": self.uninformative,
                "ideal": self.ideal,
            },
            index=pd.Index(self.query_ids, name="qid"),
        )

    def _summary(self):
        return (
            f"{counted(len(self.query_ids), 'query')}, {self.ideal.sum()} ideal and "
            f"{self.uninformative.sum()} uninformative"
        )

    def _table(self):
        sets = {
            "all": ~np.isnan(self.difference),
            "uninformative": self.uninformative,
            "ideal": self.ideal,
        }
        frame = self.to_frame()[["achieved", "expected", "difference"]]
        table = pd.DataFrame({name: frame[mask].mean() for name, mask in sets.items()}).T
        table.insert(0, "queries", [np.count_nonzero(mask) for mask in sets.values()])
        return table


def query_informativeness(
    y_true: ArrayLike,
    y_scores: Mapping,
    *,
    groups: ArrayLike | None = None,
    measure: str = "ndcg",
    k=(5, 10, 15, 20, 30),
    gains: Gains = None,
    ties: str | ArrayLike | None = None,
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    n_queries: int | float = 0.1,
    n_samples: int = 1000,
    random_state=None,
) -> QueryInformativeness:
    """Sort queries by how far several systems are above a random ranking.

    On uninformative queries systems struggle to do better than chance, because the query says
    little or because nearly none or nearly all of its documents are relevant; on ideal queries
    they are the furthest above it. :func:`ul_normalized_score` emphasises differences between
    systems on uninformative queries.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged. A Series may carry the query ids
        in an index level named "qid".
    y_scores : dict of str to array-like of shape (n_rows,)
        Scores of each system, -inf where hidden.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    measure : str, default="ndcg"
        A name of the measure table for which higher is better, with options where wanted.
    k : int, None or sequence of these, default=(5, 10, 15, 20, 30)
        Cut-offs over which values are averaged; None is the whole list. Give None for a measure
        without a cut-off, or whose name holds it.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`. The paper's nDCG has "exp2".
    ties : None, {"average", "stable", "worst", "best"} or array-like of shape (n_rows,), \
default=None
        Order of rows with equal scores, as in :func:`ndcg_f_score`; None takes the measure's
        default.
    unjudged : {"zero", "drop"}, default="zero"
        As in :func:`ndcg_f_score`. The random ranking has judged documents alone.
    undefined : float or "drop", default=0.0
        Achieved and expected value of a query where the measure is undefined, at each cut-off; the
        difference of such a query is 0. "drop" leaves the query out of both sets.
    n_queries : int or float, default=0.1
        Size of each set: a number of queries, or their share, rounded down, at least 1. The paper
        takes 1,000 of 10,000 queries of MSLR-WEB30K and 500 of 1,000 of MQ2007.
    n_samples : int, default=1000
        Number of random rankings drawn per query; only for measures without an exact mean over
        ties.
    random_state : int, RandomState instance or None, default=None
        Source of the random rankings. Pass an int for repeatable results.

    Returns
    -------
    QueryInformativeness
        Values per query and the two sets as masks, in the order of the sorted query ids; its
        ``str`` is a table of the sets' sizes and means.

    Raises
    ------
    ValueError
        In the same cases as :func:`ndcg_f_score` (a note names the system); also if `y_scores` is
        not a dict of at least one system, if lower values of the measure are better, or if the two
        sets would overlap.

    See Also
    --------
    random_ranking_bound : Expected value of a random ranking.
    ul_normalized_score : Measures normalised by it.

    Notes
    -----
    Section 4.4 of [1]_ uses nDCG, section 4.5 average precision; section 3 defines hard and easy
    queries. The difference has a sign: queries on which the systems are worse than chance are the
    least informative. If two queries have equal differences, the one with the smaller id counts as
    less informative.

    References
    ----------
    .. [1] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022.

    Examples
    --------
    Both systems find the one relevant document of "b". In "a" they have nothing to win, as all
    are relevant, and in "c" they are worse than chance.

    >>> from skfilterrank.metrics import query_informativeness
    >>> y_true = [1, 1, 1, 0, 0, 1, 1, 0, 1]
    >>> systems = {"x": [3, 2, 1, 1, 2, 3, 1, 3, 2], "y": [1, 2, 3, 2, 1, 3, 2, 3, 1]}
    >>> result = query_informativeness(
    ...     y_true, systems, groups=list("aaabbbccc"), k=1, n_queries=1
    ... )
    >>> result.query_ids[result.uninformative].tolist(), result.query_ids[result.ideal].tolist()
    (['c'], ['b'])
    >>> result.query_ids[result.hard(at_most=0.7)].tolist()
    ['c']
    >>> print(result)
    3 queries, 1 ideal and 1 uninformative
                   queries  achieved  expected  difference
    all                  3    0.6667    0.6667      0.0000
    uninformative        1    0.0000    0.6667     -0.6667
    ideal                1    1.0000    0.3333      0.6667
    """
    if not isinstance(y_scores, Mapping) or not y_scores:
        raise InputError(
            "y_scores must be a dict {name: scores} of at least one system, got "
            f"{type(y_scores).__name__}."
        )
    is_array = isinstance(k, np.ndarray) and k.ndim > 0
    cutoffs = list(k) if is_array or isinstance(k, list | tuple | range) else [k]
    if not cutoffs:
        raise InputError("k is empty: give at least one cut-off, or None for whole lists.")
    measures = [parse_measure(measure).with_cutoff(cutoff) for cutoff in cutoffs]
    if not measures[0].measure.greater_is_better:
        raise InputError(f"measure must be one for which higher is better, got {brief(measure)}.")
    # Use one seed, so that all cut-offs are computed on the same random rankings.
    seed = check_seed(random_state)
    gained = as_gains(y_true, gains)
    index = check_groups(groups, y_true, n_rows=len(gained), names=("y_true",))
    expected = np.array(
        [
            random_ranking_bound(
                gained,
                measure,
                groups=index,  # type: ignore[arg-type]  # checked already
                k=cutoff,
                n_samples=n_samples,
                random_state=seed,
                undefined=undefined,
                average=None,
            ).value
            for cutoff in cutoffs
        ]
    ).mean(axis=0)
    achieved = []
    for system, y_score in y_scores.items():
        try:
            table = evaluate(  # type: ignore[call-overload]  # groups are checked already
                y_true,
                y_score,
                [each.text for each in measures],
                groups=index,
                gains=gains,
                ties=ties,
                unjudged=unjudged,
                undefined=undefined,
            ).per_query
        except ValueError as error:
            error.add_note(f"The error concerns the scores of {brief(system)}.")
            raise
        achieved.append(table.to_numpy().mean(axis=1))
    return QueryInformativeness.from_values(
        np.mean(achieved, axis=0), expected, query_ids=index.query_ids, n_queries=n_queries
    )


def _set_size(n_queries, n_defined):
    """Return the number of queries in each set."""
    is_whole = is_whole_number(n_queries)
    if is_whole and n_queries >= 1:
        size = int(n_queries)
    elif not is_whole and is_finite_number(n_queries) and 0 < n_queries <= 0.5:
        # In float64, 0.29 * 100 is slightly below 29: add a little before rounding down.
        size = max(1, int(n_queries * n_defined + 1e-9))
    else:
        raise InputError(
            "n_queries must be a whole number from 1 up or a share of the queries, above 0 and "
            f"up to 0.5, got {brief(n_queries)}."
        )
    if 2 * size > n_defined:
        raise InputError(
            f"n_queries={brief(n_queries)} makes sets that overlap: {n_defined} queries have a "
            f"value, so take at most {n_defined // 2}."
        )
    return size
