"""What a comparison of pairs of systems found."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from skfilterrank.comparison._scores.system_scores import SystemScores

_N_SHOWN = 20
_SYMMETRIC = ("p_adjusted", "p_value")


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseComparison:
    """Differences of pairs of systems."""

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
    smallest_p: float = 0.0
    title: str = field(default="")

    def significant(self, alpha: float = 0.05) -> np.ndarray:
        """Whether the adjusted p value of each pair is at most alpha, shape (n_pairs,)."""
        if not 0 < alpha < 1:
            raise ValueError(f"alpha must be a number between 0 and 1, got {alpha!r}.")
        return self.p_adjusted <= alpha

    def better(self, alpha: float = 0.05) -> np.ndarray:
        """Which system of each pair is significantly better, shape (n_pairs,), dtype int8.

        1 for the first, -1 for the second, 0 where the difference is not significant; the lower
        value is the better where ``scores.greater_is_better`` is False.
        """
        sign = 1 if self.scores.greater_is_better else -1
        return (sign * np.sign(self.effect_size) * self.significant(alpha)).astype(np.int8)

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
            raise ValueError(f"what must be one of {known}, got {what!r}.")
        is_p = what in _SYMMETRIC
        table = np.full((self.scores.n_systems,) * 2, np.nan)
        np.fill_diagonal(table, 1.0 if is_p else 0.0)
        table[self.first, self.second] = getattr(self, what)
        if not (is_p and self.alternative != "two-sided"):
            table[self.second, self.first] = mirrored[what] + 0.0
        systems = pd.Index(self.scores.systems, name="system")
        return pd.DataFrame(table, index=systems, columns=systems.rename("other"))

    def to_frame(self) -> pd.DataFrame:
        """A row for each pair, in the order of the arrays."""
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
            }
        )

    def __repr__(self) -> str:
        return (
            f"<PairwiseComparison: {self.test} of {len(self.first)} pairs of "
            f"{self.scores.n_systems} systems by {self.scores.measure}>"
        )

    def __str__(self) -> str:
        return self.to_frame().head(_N_SHOWN).to_string()
