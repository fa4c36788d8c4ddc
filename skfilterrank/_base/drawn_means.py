"""Means over queries and over drawn label sets, and their errors by Rubin's rules."""

from typing import NamedTuple

import numpy as np


class DrawnMeans(NamedTuple):
    """Means of values over queries and label sets, with two kinds of errors.

    One error is that for these queries: only the drawn labels are uncertain. The other is that for
    queries in general: the queries are a sample, too. Arrays have one entry for each mean. Errors
    are deviations: the square root of the variance times the number of queries.
    """

    mean: np.ndarray
    """Mean over sets of the mean over queries."""
    within: np.ndarray
    """Deviation of the values of queries, from the mean of its squares over sets."""
    between: np.ndarray
    """Deviation by the draws: from (1 + 1 / m) times the variance of the means of m sets."""
    degrees: np.ndarray
    """Degrees of freedom for queries in general."""
    n_queries: np.ndarray | int
    n_draws: int

    @property
    def total(self) -> np.ndarray:
        """Deviation for queries in general."""
        return np.sqrt(self.within**2 + self.between**2)

    @property
    def share_of_draws(self) -> np.ndarray:
        """Share of the variance for queries in general that the draws cause; 0 without variance."""
        total = self.total**2
        # A sum with NaN, of a single query, is compared with 0 as well.
        return np.divide(self.between**2, total, out=np.zeros_like(total), where=total != 0)

    def interval(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of Student's t interval for queries in general."""
        return self._ends(self.total, self.degrees, confidence)

    def interval_of_these(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of Student's t interval for these queries."""
        return self._ends(self.between, max(self.n_draws - 1, 1), confidence)

    def _ends(self, deviation, degrees, confidence):
        # Imported here: metrics need it for drawn label sets alone.
        from scipy.special import stdtrit

        width = stdtrit(degrees, (1 + confidence) / 2) * deviation / np.sqrt(self.n_queries)
        return self.mean - width, self.mean + width


def drawn_means(means: np.ndarray, deviations: np.ndarray, n_queries) -> DrawnMeans:
    """Combine the means of label sets by the rules of Rubin.

    Parameters
    ----------
    means : ndarray of shape (n_sets, ...)
        Mean over queries in each set. A single set has no error by draws.
    deviations : ndarray of shape (n_sets, ...)
        Standard deviation over queries (n - 1) in each set.
    n_queries : int or ndarray of shape (...)
        Number of queries.

    Returns
    -------
    DrawnMeans
        Means with errors. Equal sets have exactly the mean and the errors of one set.

    References
    ----------
    Rubin, D. B. Multiple Imputation for Nonresponse in Surveys, 1987, equations 3.1.2 to 3.1.5.
    Barnard, J. and Rubin, D. B. Small-sample degrees of freedom with multiple imputation.
    Biometrika 86(4), 1999.
    """
    n_sets, squares = len(means), deviations**2
    # Differences from the first set keep equal sets without rounding errors.
    within = np.sqrt(squares[0] + (squares - squares[0]).mean(axis=0))
    between = np.zeros_like(within)
    if n_sets > 1:
        variance = (means - means[0]).var(axis=0, ddof=1)
        between = np.sqrt(n_queries * (1 + 1 / n_sets) * variance)
    found = DrawnMeans(mean_of_sets(means), within, between, within, n_queries, n_sets)
    degrees = np.full(within.shape, n_queries - 1.0)
    share = found.share_of_draws
    with np.errstate(divide="ignore", invalid="ignore"):
        of_queries = degrees * n_queries / (n_queries + 2) * (1 - share)
        combined = 1 / (share**2 / max(n_sets - 1, 1) + 1 / of_queries)
    # Without a spread of the draws the interval is the usual one of a mean over queries.
    # Below one degree of freedom, quantiles say nothing.
    degrees = np.where(between > 0, np.maximum(combined, 1.0), degrees)
    return found._replace(degrees=np.where((within == 0) & (between > 0), n_sets - 1, degrees))


def mean_of_sets(values: np.ndarray) -> np.ndarray:
    """Compute the mean over sets, along the first axis; that of equal values is exact.

    Sets in which a value is NaN do not count; it is NaN if all are.
    """
    least, counts = np.fmin.reduce(values), ~np.isnan(values)
    above = np.where(counts, values - least, 0.0).sum(axis=0)
    return least + above / np.maximum(counts.sum(axis=0), 1)
