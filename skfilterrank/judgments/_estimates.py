"""Estimates of values and of differences, with intervals."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from skfilterrank._base.results import Result, counted, interval_text
from skfilterrank._base.system_pairs import Pairs, adjust_p_values, ratio
from skfilterrank.exceptions import InputError, brief


@dataclass(frozen=True, eq=False)
class MeasureEstimate:
    """Estimates of one measure for all runs.

    Attributes
    ----------
    values : ndarray of shape (n_runs,)
        Unbiased estimates of the mean over queries.
    deviations : ndarray of shape (n_units, n_runs)
        Contribution of each drawn document to the error; ``deviations.T @ deviations`` is the
        covariance.
    value_range : tuple of two floats
        Lowest and highest possible value of the measure for these gains; infinite if unknown.
    shown_to_cover : bool
        True if a table of the project shows how often intervals of such a measure hold.
    allowance : ndarray of shape (n_runs,)
        Width that is added to intervals: a part of the estimated bias of a ratio.
    """

    values: np.ndarray
    deviations: np.ndarray
    value_range: tuple
    shown_to_cover: bool
    allowance: np.ndarray

    def allowed(self, first=slice(None), second=None) -> np.ndarray:
        """Return the allowance for bias in values of runs, or in differences of two runs."""
        others = 0.0 if second is None else self.allowance[second]
        away = np.abs(self.allowance[first] - others)
        # Values of equal lists differ only by rounding.
        return np.where(away < 1e-12 * np.abs(self.allowance).max(), 0.0, away)


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Result):
    """Estimated measures of runs, with intervals; returned by :func:`estimate`.

    Attributes
    ----------
    runs : tuple of str
        Names of the runs.
    results : dict of str to MeasureEstimate
        Estimates of each measure.
    confidence_level : float
        Confidence level of each single interval.
    n_judged, n_possible : int
        Judged documents whose labels can change a value, and all documents whose labels can.
    n_other : int
        Other documents that people judged, such as documents of a sample drawn for more runs. Their
        labels are used only to fit the predictions from the machine's labels.
    queries : tuple of str
        The queries.
    """

    runs: tuple
    results: dict
    confidence_level: float
    n_judged: int
    n_possible: int
    n_other: int
    queries: tuple

    @property
    def made_from(self) -> str:
        """Line that names the intervals' target, the number of labels, and what is not shown."""
        others = f" (and {self.n_other:,} on which they do not depend)" if self.n_other else ""
        unknown = [name for name, each in self.results.items() if not each.shown_to_cover]
        caveat = f". Intervals of {', '.join(unknown)} are not shown to cover" if unknown else ""
        return (
            f"{interval_text(self.confidence_level)}s for these queries: {self.n_judged:,} of "
            f"{counted(self.n_possible, 'document')} judged by people{others}, "
            f"{counted(len(self.queries), 'query')}{caveat}"
        )

    @property
    def measures(self) -> tuple:
        """Names of the measures."""
        return tuple(self.results)

    def covariance(self, measure: str | None = None) -> pd.DataFrame:
        """Compute the covariance of the estimates of all runs, shape (n_runs, n_runs).

        Parameters
        ----------
        measure : str or None, default=None
            Name of the measure; it may be None if there is only one.
        """
        deviations = self._of(measure)[1].deviations
        names = pd.Index(self.runs, name="run")
        return pd.DataFrame(deviations.T @ deviations, names, names)

    def to_frame(self) -> pd.DataFrame:
        """Return value, interval and standard error, a row for each measure and run.

        Intervals are clipped to the range of the measure; an unbiased estimate may be outside it.
        "shown_to_cover" is True where a table of the project shows how often such intervals hold:
        for DCG and precision with a cut-off, and RBP. It is False for other sums, and for ratios
        such as nDCG and AP, whose estimates are biased. Their intervals may hold less often than
        the confidence level says.
        """
        tables = {}
        for name, result in self.results.items():
            error = np.sqrt((result.deviations**2).sum(axis=0))
            width = self._quantile(degrees_of_freedom(result.deviations)) * error
            width = width + result.allowed()
            tables[name] = pd.DataFrame(
                {
                    "value": result.values,
                    "low": np.clip(result.values - width, *result.value_range),
                    "high": np.clip(result.values + width, *result.value_range),
                    "standard_error": error,
                    "shown_to_cover": result.shown_to_cover,
                },
                index=pd.Index(self.runs, name="run"),
            )
        return pd.concat(tables, names=["measure"])

    def compare(
        self, measure: str | None = None, *, baseline: str | None = None, correction="holm"
    ) -> "EstimatedDifferences":
        """Estimate differences between runs.

        Runs share one sample, so that the interval of a difference is narrower than two separate
        intervals suggest.

        Parameters
        ----------
        measure : str or None, default=None
            Name of the measure; it may be None if there is only one.
        baseline : str or None, default=None
            Run that all others are compared with; None compares all pairs.
        correction : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
            Correction of the p values for the number of pairs, as in
            :func:`skfilterrank.comparison.compare_systems`. The intervals are not corrected.

        Returns
        -------
        EstimatedDifferences

        Raises
        ------
        InputError
            If there is only one run, or if the measure or the baseline is not among the estimates.
        """
        name, result = self._of(measure)
        if len(self.runs) < 2:
            raise InputError(
                f"compare needs estimates of at least two runs, got one, {brief(self.runs[0])}."
            )
        if baseline is not None and baseline not in self.runs:
            raise InputError(
                f"baseline must be the name of a run, such as {brief(self.runs[0])}, got "
                f"{brief(baseline)}."
            )
        pairs = Pairs.all(len(self.runs))
        if baseline is not None:
            pairs = Pairs.against(self.runs.index(baseline), len(self.runs))
        first, second = pairs.first, pairs.second
        difference = result.values[first] - result.values[second]
        error, freedom = self._pairs(result, first, second)
        # Values of equal lists differ only by rounding.
        difference[np.abs(difference) < 1e-12 * np.abs(result.values).max()] = 0.0
        allowed = result.allowed(first, second)
        width = self._quantile(freedom) * error + allowed
        beyond = np.maximum(np.abs(difference) - allowed, 0.0)
        p_value = 2 * t.sf(ratio(beyond, error), freedom)
        most = result.value_range[1] - result.value_range[0]
        return EstimatedDifferences(
            measure=name,
            runs=self.runs,
            first=first,
            second=second,
            difference=difference,
            low=np.clip(difference - width, -most, most),
            high=np.clip(difference + width, -most, most),
            p_value=p_value,
            p_adjusted=adjust_p_values(p_value, correction),
            confidence_level=self.confidence_level,
            shown_to_cover=result.shown_to_cover,
        )

    def _of(self, measure):
        """Return name and result of a measure."""
        if measure is None and len(self.results) == 1:
            (measure,) = self.results
        if measure not in self.results:
            raise InputError(
                f"measure must be one of {', '.join(map(repr, self.results))}, got "
                f"{brief(measure)}."
            )
        return measure, self.results[measure]

    def _pairs(self, result, first, second):
        """Return standard errors of differences, and their degrees of freedom."""
        covariance = result.deviations.T @ result.deviations
        own = np.diag(covariance)
        square = own[first] + own[second] - 2 * covariance[first, second]
        square[square < 1e-12 * (own[first] + own[second])] = 0.0
        return np.sqrt(square), degrees_of_pairs(result.deviations)[first, second]

    def _quantile(self, freedom):
        """Return the factor of the standard error in an interval."""
        return t.ppf((1 + self.confidence_level) / 2, freedom)

    def _summary(self):
        names = ", ".join(self.measures[:3]) + (", ..." if len(self.measures) > 3 else "")
        what = f"{self.n_judged:,} of {counted(self.n_possible, 'document')} judged"
        return f"{names} of {counted(len(self.runs), 'run')}, {what}"

    def _head(self):
        return self.made_from

    def _table(self):
        # The head above the table names the measures that are not shown to cover.
        return self.to_frame().drop(columns="shown_to_cover")


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDifferences(Result):
    """Differences between runs, with intervals; what :meth:`Estimates.compare` returns.

    Attributes
    ----------
    measure : str
        Name of the measure.
    runs : tuple of str
        Names of the runs.
    first, second : ndarray of shape (n_pairs,), int
        Places in `runs` of the two runs.
    difference, low, high : ndarray of shape (n_pairs,)
        First minus second, and the ends of its interval.
    p_value, p_adjusted : ndarray of shape (n_pairs,)
        P value of no difference, before and after the correction for the number of pairs.
    confidence_level : float
        Confidence level of each single interval.
    shown_to_cover : bool
        True if a table of the project shows that such intervals hold, as in
        :meth:`Estimates.to_frame`.
    """

    measure: str
    runs: tuple
    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray
    confidence_level: float
    shown_to_cover: bool

    def significant(self) -> np.ndarray:
        """Compare adjusted p values with 1 - `confidence_level`, bool of shape (n_pairs,)."""
        # 1 - 0.95 is not 0.05 in binary numbers.
        return self.p_adjusted <= round(1 - self.confidence_level, 12)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair, with the names of the runs."""
        names = np.array(self.runs, dtype=object)
        return pd.DataFrame(
            {
                "first": names[self.first],
                "second": names[self.second],
                "difference": self.difference,
                "low": self.low,
                "high": self.high,
                "p_value": self.p_value,
                "p_adjusted": self.p_adjusted,
                "shown_to_cover": self.shown_to_cover,
            }
        )

    def _summary(self):
        pairs = counted(len(self.first), "pair")
        return f"{self.measure} of {pairs} of {counted(len(self.runs), 'run')}"

    def _head(self):
        n_sure = int(np.count_nonzero(self.significant()))
        head = (
            f"{self.measure}: {n_sure:,} of "
            f"{counted(len(self.first), 'difference is', 'differences are')} significant for "
            "these queries"
        )
        return head + ("" if self.shown_to_cover else ". These intervals are not shown to cover")

    def _table(self):
        order = np.argsort(self.p_value, kind="stable")
        table = self.to_frame().drop(columns="shown_to_cover")
        return table.iloc[order].reset_index(drop=True)


def deviations_of_total(changes: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return each document's contribution to the error of ``sum of changes / probability``.

    Deville's form of Hajek's approximation for samples of fixed size and high entropy: with c =
    (1 - pi) n / (n - 1) over the n documents that are not certain and z = changes / pi, the
    covariance is the sum of ``c (z - mean) (z - mean)'``, with the mean weighted by c.

    Parameters
    ----------
    changes : ndarray of shape (n_judged, n_runs)
        What each label adds.
    probability : ndarray of shape (n_judged,)
        Inclusion probabilities.

    Returns
    -------
    ndarray of shape (n_drawn, n_runs)
        ``sqrt(c) (z - mean)`` of the documents that are not certain: the variance of any linear
        combination is the sum of its squares.
    """
    drawn = probability < 1
    n = int(np.count_nonzero(drawn))
    if n < 2:
        return np.zeros((0, changes.shape[1]))
    probability = probability[drawn]
    weighted = changes[drawn] / probability[:, None]
    share = (1 - probability) * n / (n - 1)
    weighted -= share @ weighted / share.sum()
    weighted *= np.sqrt(share)[:, None]
    return weighted


def degrees_of_freedom(deviations: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom of the variance of each column.

    The variance of a sum of squares v is about ``sum v^2 - (sum v)^2 / n``. A chi-square variable
    with the returned degrees of freedom has the same relative variance. If few documents have most
    of the weight, there are few degrees of freedom, and intervals are wide.
    """
    parts = deviations**2
    return _freedom(parts.sum(axis=0), (parts**2).sum(axis=0), len(deviations))


def degrees_of_pairs(deviations: np.ndarray) -> np.ndarray:
    """Return degrees of freedom of the difference of every two columns, (n_runs, n_runs)."""
    square, cube, fourth = deviations**2, deviations**3, deviations**4
    mixed = square.T @ square
    third = cube.T @ deviations
    sums = fourth.sum(axis=0)
    total = square.sum(axis=0)
    variance = total[:, None] + total - 2 * deviations.T @ deviations
    parts = sums[:, None] + sums - 4 * (third + third.T) + 6 * mixed
    return _freedom(variance, parts, len(deviations))


def _freedom(variance, parts, n):
    """Return degrees of freedom of a sum of squares from the sum of its parts' squares."""
    share = np.divide(parts, variance**2, out=np.zeros_like(variance), where=variance > 0)
    spread = share - 1 / max(n, 1)
    freedom = np.divide(2.0, spread, out=np.full_like(variance, np.inf), where=spread > 1e-9)
    return np.clip(freedom - 1, 1.0, max(n - 1.0, 1.0))
