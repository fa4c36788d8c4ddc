"""Agreement of two measures on which system of a pair is better: for queries, and over queries."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_number
from skfilterrank._base.results import Result
from skfilterrank._base.rounding import merge_values, value_tolerance
from skfilterrank._base.system_pairs import Pairs, differences, pair_blocks
from skfilterrank._base.words import counted
from skfilterrank.comparison import PairwiseComparison, SystemScores, compare_systems
from skfilterrank.exceptions import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Agreement of two measures on single queries, from :func:`agreement`."""

    share: float
    first: str
    second: str
    n_comparisons: int
    n_compared: int
    n_agree: int
    n_opposite: int
    n_undecided: int
    by_query: pd.DataFrame

    _digits = 3

    def to_frame(self) -> pd.DataFrame:
        """Return one row per query ("qid") with its share and its numbers of pairs of systems."""
        return self.by_query.copy()

    def _summary(self):
        return f"{self.second} agrees on {self.share:.3f} of what {self.first} prefers"

    def _head(self):
        if not self.n_compared:
            return f"{self.first} prefers no system in any of {self.n_comparisons} comparisons."
        return (
            f"{self.second} where {self.first} prefers one of two systems: {self.n_compared} of "
            f"{self.n_comparisons} comparisons"
        )

    def _table(self):
        if not self.n_compared:
            return None
        rows = {"agrees": self.n_agree, "opposite": self.n_opposite, "undecided": self.n_undecided}
        table = pd.DataFrame({"n": pd.Series(rows)})
        return table.assign(share=table["n"] / self.n_compared)


def agreement(first, second, *, tolerance: float = 0.0) -> Agreement:
    r"""Compute how often two measures prefer the same of two systems for a query.

    Parameters
    ----------
    first : SystemScores, or what :meth:`SystemScores.of` reads
        Values by the reference measure. Pairs of systems that it ties for a query are not compared.
    second : SystemScores, or what :meth:`SystemScores.of` reads
        Values of the same systems and queries by the other measure.
    tolerance : float, default=0.0
        Values that differ by at most this much are tied, in the unit of each measure. With 0,
        values are tied if they differ only by rounding errors.

    Returns
    -------
    Agreement
        Result with ``to_frame()`` and attributes:

        share : float
            ``n_agree / n_compared``; NaN if `n_compared` is 0.
        first, second : str
            Names of the measures.
        n_comparisons : int
            Number of comparisons. Each is a pair of systems for one query.
        n_compared : int
            Number of comparisons in which the first measure prefers one of the systems.
        n_agree, n_opposite, n_undecided : int
            Number of these `n_compared` comparisons in which the second measure prefers the same
            system, prefers the other system, and ties the systems.
        by_query : DataFrame of shape (n_queries, 5)
            Result of :meth:`to_frame`.

    Raises
    ------
    ValueError
        If systems or queries are not the same, if there are fewer than two systems, or if
        `tolerance` is negative or not a number.

    See Also
    --------
    SystemScores.fraction_tied : Share of the comparisons that a measure ties.
    conflicts : Compare the measures by differences that are significant over queries.

    Notes
    -----
    Let :math:`\pi >_1 \pi'` and :math:`\pi >_2 \pi'` mean that the first and the second measure
    prefer system :math:`\pi` to system :math:`\pi'`. With sums over all queries and ordered pairs
    of systems, the share is

    .. math:: \frac{\sum I(\pi >_1 \pi' \wedge \pi >_2 \pi')}{\sum I(\pi >_1 \pi')}

    A tie by the second measure counts as no agreement. ``agreement(a, b)`` and ``agreement(b, a)``
    have the same numerator, but different denominators.

    References
    ----------
    Diaz, F. and Mitra, B. Recall, robustness, and lexicographic evaluation, section 6.2.1.

    Examples
    --------
    Recall prefers a to c and b to c. Average precision also prefers a to c, but it prefers c to b.

    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.metaevaluation import agreement
    >>> recall = SystemScores([[1.0], [1.0], [0.5]], systems=["a", "b", "c"], measure="recall")
    >>> ap = SystemScores([[0.9], [0.3], [0.4]], systems=["a", "b", "c"], measure="ap")
    >>> print(agreement(recall, ap))
    ap where recall prefers one of two systems: 2 of 3 comparisons
               n  share
    agrees     1  0.500
    opposite   1  0.500
    undecided  0  0.000
    """
    first = SystemScores.of(first, least=(2, 1), name="first")
    second = SystemScores.of(second, least=(2, 1), name="second")
    second = second.aligned_to(first)
    tolerance = check_number(tolerance, "tolerance", least=0)
    n_agree, n_opposite, n_first, _, n_decided = count_signs(
        first.oriented, second.oriented, tolerance
    )
    n_pairs = first.n_systems * (first.n_systems - 1) // 2
    table = pd.DataFrame(
        {
            "share": share_of(n_agree, n_first),
            "n_compared": n_first,
            "n_agree": n_agree,
            "n_opposite": n_opposite,
            "n_undecided": n_first - n_decided,
        },
        index=pd.Index(first.queries, name="qid", tupleize_cols=False),
    )
    n_compared = int(n_first.sum())
    return Agreement(
        share=float(share_of(n_agree.sum(), n_first.sum())),
        first=first.measure,
        second=second.measure,
        n_comparisons=n_pairs * first.n_queries,
        n_compared=n_compared,
        n_agree=int(n_agree.sum()),
        n_opposite=int(n_opposite.sum()),
        n_undecided=n_compared - int(n_decided.sum()),
        by_query=table,
    )


def count_signs(first, second, tolerance=0.0) -> np.ndarray:
    """Count, for each query, how two measures order the pairs of systems.

    The rows of the result, shape (5, n_queries), count the pairs with the same order, with opposite
    orders, not tied by the first, not tied by the second, and not tied by both measures.
    """
    pairs, counts = Pairs.all(len(first)), np.zeros((5, first.shape[1]), dtype=np.int64)
    first, second = merge_values(first), merge_values(second)
    for block in pair_blocks(pairs, 4 * first.shape[1]):
        ours, theirs = (_signs(values, pairs[block], tolerance) for values in (first, second))
        product = ours * theirs
        for row, is_counted in enumerate((product > 0, product < 0, ours, theirs, product)):
            counts[row] += np.count_nonzero(is_counted, axis=0)
    return counts


def _signs(values, pairs, tolerance):
    """Return the sign of (first - second) of each pair for each query, or 0 for a tie."""
    # A difference that exceeds the tolerance only by a rounding error is a tie.
    tolerance += value_tolerance(values)
    with np.errstate(over="ignore"):
        difference = differences(values, pairs)
    return (difference > tolerance).view(np.int8) - (difference < -tolerance).view(np.int8)


def share_of(part, whole):
    """Divide numbers `part` by numbers `whole`; NaN where `whole` is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)


OUTCOMES = ("agree", "opposite", "only first", "only second", "neither")


@dataclass(frozen=True, eq=False, repr=False)
class MeasureConflicts(Result):
    """Comparison of the significance tests of two measures, from :func:`conflicts`."""

    first: PairwiseComparison
    second: PairwiseComparison
    alpha: float
    outcome: np.ndarray

    @property
    def n_pairs(self) -> int:
        """Number of pairs of systems."""
        return len(self.outcome)

    @property
    def counts(self) -> dict[str, int]:
        """Number of pairs with each outcome."""
        return {outcome: int(np.count_nonzero(self.outcome == outcome)) for outcome in OUTCOMES}

    @property
    def n_disagreements(self) -> int:
        """Number of pairs for which the two measures lead to different conclusions."""
        return self.n_pairs - self.counts["agree"] - self.counts["neither"]

    @property
    def share(self) -> float:
        """Share of pairs for which the two measures lead to different conclusions."""
        return self.n_disagreements / self.n_pairs

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair, with disagreements first.

        Returns
        -------
        DataFrame of shape (n_pairs, 7)
            Columns "first" and "second" (names of the systems), "outcome", "difference_1" and
            "p_adjusted_1" by the first measure, and "difference_2" and "p_adjusted_2" by the
            second measure. Rows are sorted by outcome: "opposite", "only first", "only second",
            "agree", "neither".
        """
        frame = self.first.to_frame()[["first", "second"]]
        frame["outcome"] = self.outcome
        for number, comparison in enumerate((self.first, self.second), start=1):
            frame[f"difference_{number}"] = comparison.difference
            frame[f"p_adjusted_{number}"] = comparison.p_adjusted
        urgency = {"opposite": 0, "only first": 1, "only second": 2, "agree": 3, "neither": 4}
        order = np.argsort(frame["outcome"].map(urgency), kind="stable")
        return frame.iloc[order].reset_index(drop=True)

    def _summary(self):
        first, second = self.first.scores.measure, self.second.scores.measure
        return (
            f"{first} and {second} disagree on {self.n_disagreements:,} of "
            f"{counted(self.n_pairs, 'pair')} ({100 * self.share:.1f} %)"
        )

    def _head(self):
        return (
            f"{self._summary()} at alpha = {self.alpha:g}, {self.first.correction_text()}\n"
            + "; ".join(f"{outcome}: {count:,}" for outcome, count in self.counts.items())
        )


def conflicts(
    first,
    second,
    *,
    correction: str | None = None,
    **params,
) -> MeasureConflicts:
    """Count the pairs of systems for which the significance tests of two measures disagree.

    Parameters
    ----------
    first, second : SystemScores, PairwiseComparison, or what :meth:`SystemScores.of` reads
        Values by two measures of the same systems for the same queries; their order may differ.
        Alternatively, two results of :func:`compare_systems` for the same pairs of systems in the
        same order. Then `alpha` is the only other argument that is allowed.
    correction : {"holm", "bonferroni", "fdr_bh"} or None, default=None
        Correction of the p values for the number of pairs. None, as in the paper, means no
        correction; the default of :func:`compare_systems` and :func:`discriminative_power` is
        "holm".
    **params
        Other parameters of :func:`compare_systems`, such as `alpha`, `test` and `n_resamples`, for
        the tests of both measures. With a `baseline`, only pairs with that system are compared.

    Returns
    -------
    MeasureConflicts
        Result with ``to_frame()`` and attributes:

        first, second : PairwiseComparison
            Tests by the first and by the second measure, with the same pairs in the same order.
        alpha : float
            Level of significance.
        outcome : ndarray of shape (n_pairs,), dtype object
            Outcome of each pair: "agree" (both measures find the same system significantly better),
            "opposite" (one measure finds the first system significantly better, the other measure
            the second), "only first" or "only second" (only the first or second measure finds a
            significant difference), or "neither" (no measure does).
        n_pairs : int
            Number of pairs of systems.
        counts : dict of str to int
            Number of pairs with each outcome.
        n_disagreements : int
            Number of pairs with the outcome "opposite", "only first" or "only second".
        share : float
            ``n_disagreements / n_pairs``.

    Raises
    ------
    ValueError
        If systems or queries are not the same, and in the same cases as :func:`compare_systems`.

    See Also
    --------
    discriminative_power : Share of pairs with a significant difference by one measure.
    agreement : Compare the preferences of two measures on single queries.

    Notes
    -----
    Tables 7 and 17 of Karmaker Santu and Feng count the same disagreements: only one of the
    measures finds a significant difference, or both do, but with different better systems.

    References
    ----------
    Karmaker Santu, S. K. and Feng, D. Joint upper & lower bound normalization for IR evaluation,
    2022, sections 4.4.2 and 4.5.3.

    Examples
    --------
    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.metaevaluation import conflicts
    >>> ap = SystemScores([[0.1, 0.2, 0.3], [0.6, 0.8, 0.7]], systems=["a", "b"], measure="ap")
    >>> rr = SystemScores([[0.5, 1.0, 0.5], [1.0, 0.5, 1.0]], systems=["a", "b"], measure="rr")
    >>> disagreement = conflicts(ap, rr)
    >>> disagreement.n_disagreements
    1
    >>> disagreement.to_frame()["outcome"].tolist()
    ['only first']
    """
    if not (isinstance(first, PairwiseComparison) and isinstance(second, PairwiseComparison)):
        first = SystemScores.of(first, least=(2, 2), name="first")
        second = SystemScores.of(second, name="second").aligned_to(first)
        first, second = (
            compare_systems(scores, correction=correction, **params) for scores in (first, second)
        )
    elif others := [*params.keys() - {"alpha"}, *["correction"] * (correction is not None)]:
        raise InputError(
            f"{', '.join(others)}: two results of compare_systems can only be combined with "
            "alpha=. Pass SystemScores instead to set other parameters of the tests."
        )
    pairs = [
        (each.scores.systems, each.first.tolist(), each.second.tolist()) for each in (first, second)
    ]
    if pairs[0] != pairs[1]:
        raise InputError(
            "first and second must hold the same pairs of systems in the same order: compute both "
            "with compare_systems from scores.select(systems=...) and with the same baseline."
        )
    alpha = params.get("alpha", first.alpha)
    ours, theirs = first.better(alpha), second.better(alpha)
    outcome = np.select(
        [(ours == 0) & (theirs == 0), theirs == 0, ours == 0, ours == theirs],
        ["neither", "only first", "only second", "agree"],
        "opposite",
    ).astype(object)
    return MeasureConflicts(first, second, alpha=alpha, outcome=outcome)
