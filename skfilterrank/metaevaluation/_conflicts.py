"""Pairs of systems on which two measures draw different conclusions."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from skfilterrank._lists.results import Result, counted
from skfilterrank.comparison import PairwiseComparison, SystemScores, compare_systems
from skfilterrank.comparison._same_systems import check_same_systems
from skfilterrank.exceptions import InputError, brief

OUTCOMES = ("agree", "opposite", "only first", "only second", "neither")


@dataclass(frozen=True, eq=False, repr=False)
class MeasureConflicts(Result):
    """Significant differences by two measures on the same pairs of systems.

    Attributes
    ----------
    first, second : PairwiseComparison
        The tests by either measure; the same pairs in the same order.
    alpha : float
        Level of significance.
    outcome : ndarray of shape (n_pairs,), dtype object
        Of each pair: "agree" (both measures find the same system significantly better),
        "opposite" (both find a significant difference, and another system better), "only first",
        "only second" (one measure finds a significant difference) or "neither".
    n_pairs : int
        Number of pairs of systems.
    counts : dict of str to int
        How many pairs have each outcome.
    n_disagreements : int
        Number of pairs of which the two measures draw different conclusions.
    share : float
        ``n_disagreements / n_pairs``.
    """

    first: PairwiseComparison
    second: PairwiseComparison
    alpha: float
    outcome: np.ndarray

    @classmethod
    def from_comparisons(
        cls,
        first: PairwiseComparison,
        second: PairwiseComparison,
        *,
        alpha: float | None = None,
    ) -> Self:
        """Count the conflicts of tests that are made already.

        Parameters
        ----------
        first, second : PairwiseComparison
            The tests by either measure, of the same pairs of systems in the same order.
        alpha : float or None, default=None
            Level of significance, between 0 and 1; None takes that of `first`.

        Returns
        -------
        MeasureConflicts

        Raises
        ------
        ValueError
            If the pairs are not the same.
        """
        pairs = [
            (each.scores.systems, each.first.tolist(), each.second.tolist())
            for each in (first, second)
        ]
        if pairs[0] != pairs[1]:
            raise InputError(
                "first and second must hold the same pairs of systems in the same order: make "
                "both with compare_systems from scores.select(systems=...) and the same baseline."
            )
        alpha = first.alpha if alpha is None else alpha
        by_first, by_second = first.better(alpha), second.better(alpha)
        outcome = np.select(
            [
                (by_first == 0) & (by_second == 0),
                by_second == 0,
                by_first == 0,
                by_first == by_second,
            ],
            ["neither", "only first", "only second", "agree"],
            "opposite",
        ).astype(object)
        return cls(first, second, alpha=alpha, outcome=outcome)

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
        """Pairs of which the two measures draw different conclusions."""
        return self.n_pairs - self.counts["agree"] - self.counts["neither"]

    @property
    def share(self) -> float:
        """Share of the pairs of which the two measures draw different conclusions."""
        return self.n_disagreements / self.n_pairs

    def pairs(self, *outcomes: str) -> list[tuple[str, str]]:
        """Names of the systems of each pair with one of these outcomes.

        Parameters
        ----------
        *outcomes : {"agree", "opposite", "only first", "only second", "neither"}
            One or more; none means all disagreements.

        Returns
        -------
        list of (str, str)

        Raises
        ------
        ValueError
            If an outcome is unknown.
        """
        for outcome in outcomes:
            if outcome not in OUTCOMES:
                known = ", ".join(map(repr, OUTCOMES))
                raise InputError(f"outcomes must be among {known}, got {brief(outcome)}.")
        wanted = outcomes or ("opposite", "only first", "only second")
        names = self.first.scores.systems
        places = np.flatnonzero(np.isin(self.outcome.astype(str), wanted))
        return [(names[self.first.first[p]], names[self.first.second[p]]) for p in places]

    def to_frame(self) -> pd.DataFrame:
        """A row for each pair, disagreements first (opposite ones before all).

        Returns
        -------
        DataFrame of shape (n_pairs, 7)
            Columns "first" and "second" (names of systems), "outcome", "difference_1" and
            "p_adjusted_1" by the first measure, "difference_2" and "p_adjusted_2" by the second.
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
    """Count the pairs of systems on which two measures' tests of significance disagree.

    Parameters
    ----------
    first, second : SystemScores, or what :meth:`SystemScores.of` reads
        Values of the same systems for the same queries by two measures. Systems and queries may
        be in another order. A measure of which a lower value is better counts as such.
    correction : {"holm", "bonferroni", "fdr_bh"} or None, default=None
        Correction of the p values for the number of pairs; None, as in the paper, takes each pair
        by itself, where :func:`compare_systems` and :func:`discriminative_power` correct.
    **params
        `alpha`, `test`, `n_resamples` and whatever else :func:`compare_systems` takes; for both
        measures. A `baseline` leaves only the pairs with that system.

    Returns
    -------
    MeasureConflicts

    Raises
    ------
    ValueError
        If systems or queries are not the same, or for the reasons of :func:`compare_systems`.

    See Also
    --------
    discriminative_power : How many pairs one measure tells apart.
    agreement : Queries on which two measures prefer the same system, significant or not.

    Notes
    -----
    A disagreement is a pair that one measure finds significantly different and the other does not,
    or that both find significantly different with another system as the better: the count of
    Karmaker Santu and Feng's tables 7 and 17.

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
    >>> disagreement.n_disagreements, disagreement.pairs("only first")
    (1, [('a', 'b')])
    """
    first = SystemScores.of(first, least=(2, 2), name="first")
    second = check_same_systems(first, SystemScores.of(second, name="second"))
    comparisons = [
        compare_systems(scores, correction=correction, **params) for scores in (first, second)
    ]
    return MeasureConflicts.from_comparisons(*comparisons)
