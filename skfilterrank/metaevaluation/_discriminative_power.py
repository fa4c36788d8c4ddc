"""Share of the pairs of systems that a measure tells apart."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._lists.floats import mean_tolerance
from skfilterrank._lists.results import Result, counted
from skfilterrank.comparison import PairwiseComparison, compare_systems


@dataclass(frozen=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """How many pairs of systems differ significantly, and by how much they have to.

    Attributes
    ----------
    comparison : PairwiseComparison
        The tests of all pairs.
    n_pairs : int
        Number of pairs of systems.
    n_significant : int
        Number of pairs whose adjusted p value is at most the level of the comparison.
    share : float
        ``n_significant / n_pairs``, the discriminative power, from 0 to 1.
    p_values : ndarray of shape (n_pairs,), dtype float64
        Adjusted p values, the smallest first. Plotted against their place they are the ASL curve
        (achieved significance levels): the nearer to the origin, the more a measure can tell.
    largest_not_significant : float
        Largest absolute difference of two systems' means that is not significant, in the unit of
        the measure; NaN if all are significant.
    difference_required : float
        Smallest absolute difference of two systems' means that is reliably significant: this pair
        and all that differ by as much or more are significant. NaN if there is none.
    """

    comparison: PairwiseComparison
    n_pairs: int
    n_significant: int
    share: float
    p_values: np.ndarray
    largest_not_significant: float
    difference_required: float

    def to_frame(self) -> pd.DataFrame:
        """A row for each pair, the smallest p value first.

        Returns
        -------
        DataFrame of shape (n_pairs, 5)
            Columns "first" and "second" (names of systems), "difference", "p_adjusted" and
            "significant". Of equal p values the greater difference comes first.
        """
        frame = self.comparison.to_frame()[["first", "second", "difference", "p_adjusted"]]
        frame["significant"] = self.comparison.significant()
        order = np.lexsort([-frame["difference"].abs(), frame["p_adjusted"]])
        return frame.iloc[order].reset_index(drop=True)

    def _summary(self):
        scores = self.comparison.scores
        return (
            f"{self.share:.3f} for {counted(self.n_pairs, 'pair')} of {scores.n_systems} systems "
            f"by {scores.measure}"
        )

    def _head(self):
        comparison = self.comparison
        if np.isnan(self.difference_required):
            required = "No difference is reliably significant."
        else:
            required = f"Differences of {self.difference_required:.4f} and more are significant."
        return (
            f"{comparison.scores.measure} tells {self.n_significant:,} of "
            f"{counted(self.n_pairs, 'pair')} apart ({100 * self.share:.1f} %; "
            f"{comparison.test_text()}, alpha = {comparison.alpha:g}).\n{required}"
        )


def discriminative_power(
    scores,
    *,
    measure: str | None = None,
    **params,
) -> DiscriminativePower:
    """Share of the pairs of systems that a measure finds significantly different.

    Of two measures on the same systems and queries, the one that tells more pairs apart is the
    more sensitive; whether what it tells is what users care for is another question.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Which measure, where `scores` has several.
    **params
        `alpha`, `test`, `correction`, `n_resamples` and whatever else :func:`compare_systems`
        takes, with its defaults. A `baseline` leaves only the pairs with that system.

    Returns
    -------
    DiscriminativePower

    Raises
    ------
    ValueError
        As :func:`compare_systems`.

    See Also
    --------
    compare_systems : The tests behind it.
    conflicts : Pairs on which two measures do not agree.

    Notes
    -----
    Systems that are the same for every query have p = 1 and count among the pairs. `p_values` are
    corrected; with ``correction=None`` they are the achieved significance levels of Sakai's
    curves. Sakai's "estimated difference required" is read off the bootstrap distributions of all
    pairs; `difference_required` is read off the observed differences and their significance, for
    any test.

    References
    ----------
    Sakai, T. Evaluating evaluation metrics based on the bootstrap. SIGIR 2006.
    Diaz, F. and Mitra, B. Recall as a measure of ranking robustness, section 6.2.3.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import discriminative_power
    >>> values = [[0.1, 0.2, 0.3, 0.4], [0.6, 0.8, 0.7, 0.9], [0.2, 0.1, 0.3, 0.3]]
    >>> power = discriminative_power(values)
    >>> power.n_significant, power.n_pairs
    (2, 3)
    >>> power.largest_not_significant < power.difference_required
    True
    """
    comparison = compare_systems(scores, measure=measure, **params)
    significant = comparison.significant()
    size = np.abs(comparison.difference)
    missed = size[~significant].max(initial=0.0)
    # Differences that equal the largest one missed but for rounding are not reliable either.
    reliable = size[significant & (size > missed + mean_tolerance(size))]
    return DiscriminativePower(
        comparison=comparison,
        n_pairs=len(size),
        n_significant=int(np.count_nonzero(significant)),
        share=float(np.mean(significant)),
        p_values=np.sort(comparison.p_adjusted),
        largest_not_significant=float("nan") if significant.all() else float(missed),
        difference_required=float(reliable.min()) if len(reliable) else float("nan"),
    )
