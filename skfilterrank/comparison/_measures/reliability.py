"""How much of the differences between systems' means would come again with other queries."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._validation import check_choice
from skfilterrank.comparison._measures.sampled_means import TIE
from skfilterrank.comparison._measures.short_table import short_table
from skfilterrank.comparison._scores.check import check_scores
from skfilterrank.robustness._metrics import check_count, check_counts

_KINDS = ("phi", "e_rho2")


@dataclass(frozen=True, eq=False)
class Reliability:
    """Variance components and what follows from them; see :func:`reliability`.

    Attributes
    ----------
    variance_systems, variance_queries, variance_residual : float
        Variance components, not negative. Systems and queries interact in the residual.
    negative : tuple of str
        Which of "systems" and "queries" had a negative estimate, which was set to 0.
    n_queries : int
        Number of queries that `phi` and `e_rho2` are for.
    n_systems : int
        Number of systems.
    measure : str
        Name of the measure.
    """

    variance_systems: float
    variance_queries: float
    variance_residual: float
    negative: tuple[str, ...]
    n_queries: int
    n_systems: int
    measure: str

    @property
    def phi(self) -> float:
        """Reliability of the means themselves, in [0, 1]."""
        return self.project(self.n_queries)

    @property
    def e_rho2(self) -> float:
        """Reliability of the order of the means, in [0, 1], at least `phi`."""
        return self.project(self.n_queries, kind="e_rho2")

    def project(self, n_queries, *, kind: str = "phi"):
        """Reliability for other numbers of queries."""
        check_choice(kind, "kind", _KINDS)
        numbers = check_counts(n_queries, "n_queries")
        found = _ratio(self.variance_systems, self._noise(kind) / numbers)
        return float(found[0]) if np.ndim(n_queries) == 0 else found

    def n_queries_needed(self, target: float = 0.95, *, kind: str = "phi") -> int | float:
        """Least number of queries with a reliability of at least `target`."""
        check_choice(kind, "kind", _KINDS)
        if not 0 < target < 1:
            raise ValueError(f"target must be a number between 0 and 1, got {target!r}.")
        if self.variance_systems == 0:
            return math.inf
        needed = target / (1 - target) * self._noise(kind) / self.variance_systems
        # 19.000000000000004 by rounding is 19.
        return max(1, math.ceil(needed * (1 - TIE)))

    def _noise(self, kind):
        """Variance that averaging over queries takes away."""
        return self.variance_residual + (self.variance_queries if kind == "phi" else 0.0)

    def to_frame(self) -> pd.DataFrame:
        """Column "value" with a row for each component and coefficient."""
        values = {
            "variance of systems": self.variance_systems,
            "variance of queries": self.variance_queries,
            "variance of residual": self.variance_residual,
            "phi": self.phi,
            "e_rho2": self.e_rho2,
        }
        return pd.DataFrame({"value": pd.Series(values)})

    def __str__(self) -> str:
        return short_table(
            f"Reliability of {self.measure}: {self.n_systems} systems, {self.n_queries} queries",
            self.to_frame(),
        )


def reliability(scores, *, n_queries: int | None = None) -> Reliability:
    """How well means over queries tell systems apart, by variance components.

    Parameters
    ----------
    scores : SystemScores or array-like of shape (n_systems, n_queries)
        Values of at least two systems for at least two queries.
    n_queries : int or None, default=None
        Number of queries that the coefficients are for; None takes as many as `scores` has.

    Returns
    -------
    Reliability
    """
    scores = check_scores(scores, min_queries=2)
    n_queries = scores.n_queries if n_queries is None else check_count(n_queries, "n_queries")
    systems, queries, residual = _components(scores.values)
    return Reliability(
        variance_systems=max(systems, 0.0),
        variance_queries=max(queries, 0.0),
        variance_residual=residual,
        negative=tuple(
            name for name, found in (("systems", systems), ("queries", queries)) if found < 0
        ),
        n_queries=n_queries,
        n_systems=scores.n_systems,
        measure=scores.measure,
    )


def _components(values):
    """Variances of systems, queries and residual, from the mean squares; may be negative."""
    n_systems, n_queries = values.shape
    grand = values.mean()
    of_systems = values.mean(axis=1, keepdims=True) - grand
    of_queries = values.mean(axis=0, keepdims=True) - grand
    rest = values - grand - of_systems - of_queries
    square_systems = n_queries * (of_systems**2).sum() / (n_systems - 1)
    square_queries = n_systems * (of_queries**2).sum() / (n_queries - 1)
    residual = (rest**2).sum() / ((n_systems - 1) * (n_queries - 1))
    systems = (square_systems - residual) / n_queries
    queries = (square_queries - residual) / n_systems
    # Means of equal values differ by rounding, which must not count as a variance.
    rounding = (TIE * np.abs(values).max()) ** 2
    found = np.array([systems, queries, residual])
    return np.where(np.abs(found) <= rounding, 0.0, found).tolist()


def _ratio(signal, noise):
    """signal / (signal + noise), 0 without a signal."""
    return np.zeros_like(noise) if signal == 0 else signal / (signal + noise)
