"""What a comparison of pairs of systems found."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._core.checks import check_share
from skfilterrank.comparison._scores.system_scores import SystemScores
from skfilterrank.comparison._scores.text import counted, interval_text, p_text
from skfilterrank.comparison._significance.corrections import CORRECTION_NAMES, adjust_p_values
from skfilterrank.exceptions import InputError, brief

_N_SHOWN = 20
_SYMMETRIC = ("p_adjusted", "p_value")


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseComparison:
    """Differences between systems, and whether they are more than chance.

    What :func:`compare_systems` returns. Arrays have an entry for each pair compared: every two
    systems in the order of ``np.triu_indices(n_systems, 1)``, or each other system against the
    baseline.

    Attributes
    ----------
    scores : SystemScores
        What was compared.
    test, title : str
        The test, and what it is called.
    correction : str or None
        Correction of the p values; None for a test that corrects by itself.
    is_family_wise : bool
        Whether the test corrects for all systems by itself, as Tukey's does.
    alternative : str
        As given.
    confidence : float
        Confidence of the intervals.
    baseline : str or None
        The system all others were compared with, or None.
    first, second : ndarray of shape (n_pairs,), dtype int
        Places in ``scores.systems`` of the two systems.
    difference : ndarray of shape (n_pairs,)
        Mean of first minus mean of second, in the measure's unit.
    effect_size : ndarray of shape (n_pairs,)
        Size of the effect by which the test goes, with the sign of first minus second; infinite
        for Cohen's d_z of a constant difference.
    effect_name : str
        What the effect size is.
    low, high : ndarray of shape (n_pairs,)
        Interval of each pair; see `interval_of`.
    interval_of : {"mean difference", "pseudo-median", "effect"}
        What the interval is of: the mean difference; the pseudo-median of the differences, in the
        measure's unit; the effect size.
    p_value, p_adjusted : ndarray of shape (n_pairs,)
        P value of each pair by itself, and corrected for the number of pairs. A test that corrects
        by itself gives the same for both.
    n_tied : ndarray of shape (n_pairs,), dtype int
        Number of queries at which both systems have the same value. The sign test and Wilcoxon's
        leave them out.
    smallest_p : float
        No p value of so many queries and resamples could be smaller than this; 0 where the test
        sets no such bound.
    """

    scores: SystemScores
    test: str
    correction: str | None
    alternative: str
    confidence: float
    baseline: str | None
    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    effect_size: np.ndarray
    effect_name: str
    low: np.ndarray
    high: np.ndarray
    interval_of: str
    p_value: np.ndarray
    p_adjusted: np.ndarray
    n_tied: np.ndarray
    smallest_p: float
    title: str
    is_family_wise: bool

    def significant(self, alpha: float = 0.05) -> np.ndarray:
        """Whether the adjusted p value of each pair is at most alpha, shape (n_pairs,)."""
        check_share(alpha, "alpha")
        return self.p_adjusted <= alpha

    def better(self, alpha: float = 0.05) -> np.ndarray:
        """Which system of each pair is significantly better, shape (n_pairs,), dtype int8.

        1 for the first, -1 for the second, 0 where the difference is not significant; the lower
        value is the better where ``scores.greater_is_better`` is False.
        """
        sign = 1 if self.scores.greater_is_better else -1
        return (sign * np.sign(self.effect_size) * self.significant(alpha)).astype(np.int8)

    @property
    def notes(self) -> list[str]:
        """A sentence on values that tell a test nothing: all equal, or differences without spread.

        Empty for other values.
        """
        if self._is_all_tied():
            return [
                "The systems have equal values for every query: nothing can be told apart. Check "
                "that they are different systems, or take a measure that tells more."
            ]
        n_constant = int(np.count_nonzero(np.isinf(self.effect_size)))
        if not n_constant or self.test not in ("t", "bootstrap", "tukey"):
            return []
        return [
            f"The systems of {counted(n_constant, 'pair')} differ by the same amount for every "
            "query, of which a test by spread can say nothing: p is that of the signs alone. Check "
            "these values, or take test='sign'."
        ]

    def matrix(self, what: str = "p_adjusted") -> pd.DataFrame:
        """One figure of all pairs as a table of systems x systems.

        Parameters
        ----------
        what : {"p_adjusted", "p_value", "difference", "effect_size", "low", "high"}, \
                default="p_adjusted"
            Which figure. P values are symmetric (of a one-sided test the other half is NaN) with
            1 on the diagonal; differences and effects are those of the row against the column,
            with 0 on the diagonal; the "low" of a row against a column is minus the "high" of the
            column against the row.

        Returns
        -------
        DataFrame of shape (n_systems, n_systems)
            In the order of ``scores.systems``; NaN for pairs that were not compared.
        """
        mirrored = {
            "p_adjusted": self.p_adjusted,
            "p_value": self.p_value,
            "difference": -self.difference,
            "effect_size": -self.effect_size,
            "low": -self.high,
            "high": -self.low,
        }
        if what not in mirrored:
            known = ", ".join(map(repr, mirrored))
            raise InputError(f"what must be one of {known}, got {brief(what)}.")
        is_p = what in _SYMMETRIC
        table = np.full((self.scores.n_systems,) * 2, np.nan)
        np.fill_diagonal(table, 1.0 if is_p else 0.0)
        table[self.first, self.second] = getattr(self, what)
        if not (is_p and self.alternative != "two-sided"):
            table[self.second, self.first] = mirrored[what] + 0.0
        systems = pd.Index(self.scores.systems, name="system")
        return pd.DataFrame(table, index=systems, columns=systems.rename("other"))

    def to_frame(self) -> pd.DataFrame:
        """A row for each pair, in the order of the arrays, systems by name."""
        names = np.array(self.scores.systems, dtype=object)
        return pd.DataFrame(
            {
                "first": names[self.first],
                "second": names[self.second],
                "difference": self.difference,
                "low": self.low,
                "high": self.high,
                "effect_size": self.effect_size,
                "p_value": self.p_value,
                "p_adjusted": self.p_adjusted,
                "n_tied": self.n_tied,
            }
        )

    def __repr__(self) -> str:
        return (
            f"<PairwiseComparison: {self.test} of {counted(len(self.first), 'pair')} of "
            f"{self.scores.n_systems} systems by {self.scores.measure}>"
        )

    def __str__(self) -> str:
        n_pairs = len(self.first)
        n_significant = np.count_nonzero(self.significant(self._alpha))
        differ = "pair differs" if n_pairs == 1 else "pairs differ"
        lines = [
            f"{self.scores.measure}: {self.title} of {self.scores.n_systems} systems for "
            f"{self.scores.n_queries} queries, {self.correction_text()}",
            f"{n_significant:,} of {n_pairs:,} {differ} significantly at {self._alpha:g}"
            f"{self._against()}",
            *([] if self._is_all_tied() else self._too_few()),
            *self.notes,
        ]
        order = np.lexsort((-np.abs(self.effect_size), self.p_value, self.p_adjusted))[:_N_SHOWN]
        lines.append(self._table(order).to_string(index=False))
        if n_pairs > _N_SHOWN:
            lines.append(f"... and {counted(n_pairs - _N_SHOWN, 'more pair')}, see to_frame()")
        return "\n".join(lines)

    def correction_text(self) -> str:
        """How p values are corrected, in words."""
        if self.is_family_wise:
            return "which corrects for all of them"
        if self.correction is None or len(self.first) == 1:
            return "p values not corrected"
        return f"{CORRECTION_NAMES[self.correction]} for {len(self.first):,} pairs"

    @property
    def _alpha(self):
        """The level that goes with the confidence; 1 - 0.95 is not 0.05 in binary numbers."""
        return round(1 - self.confidence, 12)

    def _against(self):
        side = "" if self.alternative == "two-sided" else f" (first {self.alternative})"
        return side + (f", against {self.baseline}" if self.baseline is not None else "")

    def _is_all_tied(self):
        return bool((self.n_tied == self.scores.n_queries).all())

    def _too_few(self):
        """A sentence where the data are too few for any significance."""
        best = adjust_p_values(np.full(len(self.first), self.smallest_p), self.correction)[0]
        if best <= self._alpha:
            return []
        # As many patterns of signs as queries allow, or as many as there are resamples.
        by_queries = self.smallest_p <= 0.5 ** (self.scores.n_queries - 1)
        remedy = "Take more queries" if by_queries else "Raise n_resamples"
        corrected = f" ({best:.3g} corrected)" if best > self.smallest_p else ""
        what = f"{self.scores.n_queries} queries" if by_queries else "these resamples"
        return [
            f"No difference could be significant: the smallest p value of {what} is "
            f"{self.smallest_p:.3g}{corrected}. {remedy}"
            + (", or compare fewer pairs (baseline=)." if corrected else ".")
        ]

    def _table(self, order):
        """Pairs of this order as text."""
        names = np.array(self.scores.systems, dtype=object)
        interval = interval_text(self.confidence)
        if self.interval_of != "mean difference":
            interval += f" of the {self.interval_of}"
        digits = _digits(self.difference)
        table = {
            "first": names[self.first[order]],
            "second": names[self.second[order]],
            "difference": [f"{value:.{digits}f}" for value in self.difference[order]],
            interval: [
                f"[{low:.{digits}f}, {high:.{digits}f}]"
                for low, high in zip(self.low[order], self.high[order])
            ],
            self.effect_name: [f"{value:.2f}" for value in self.effect_size[order]],
            "p": [p_text(value) for value in self.p_value[order]],
        }
        if self.correction is not None and len(self.first) > 1:
            table["adjusted p"] = [p_text(value) for value in self.p_adjusted[order]]
        return pd.DataFrame(table)


def _digits(difference):
    """Decimals that show the greatest difference to three figures, from 0 to 9."""
    greatest = np.abs(difference).max(initial=0.0)
    return int(np.clip(2 - np.floor(np.log10(greatest)), 0, 9)) if greatest > 0 else 3
