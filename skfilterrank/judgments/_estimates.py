"""Estimates of values, differences and orders, each with intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import bdtrc
from scipy.stats import hypergeom, rankdata, t

from skfilterrank._base.checks import cached_property, check_random_state, check_share
from skfilterrank._base.results import Result, counted, interval_text
from skfilterrank._base.rounding import mean_tolerance
from skfilterrank._base.system_pairs import adjust_p_values, clopper_pearson
from skfilterrank.exceptions import InputError, brief

# Draws for the quantile of the largest of all pairs, and pairs held in memory at a time.
_N_DRAWS = 4000
_BLOCK = 2**22
# Share of the allowed error for the sign: which of two runs has the value 1 where they differ. The
# rest is for the number of queries in which they differ.
_OF_SIGN = 0.8


@dataclass(frozen=True, eq=False)
class ExactRates:
    """Values of 0 and 1 of judged queries, which are a simple random sample.

    Where few queries have the value 1, Student's intervals are far too narrow. Ends here are those
    of equal-tailed tests: hypergeometric for the queries that the sample was drawn from, binomial
    (Clopper and Pearson) for new queries.

    Attributes
    ----------
    by_query : ndarray of shape (n_runs, n_judged), bool
        Values of the judged queries.
    lists : ndarray of shape (n_runs, n_drawn_from)
        A number for each list of the queries that were drawn from, the same for lists of the same
        documents, whose values are equal.
    is_judged : ndarray of shape (n_drawn_from,), bool
        The judged queries.
    part : float
        Share of all queries that were drawn from. The others have the value 0.
    is_for_new : bool
        True for rates of new queries, False for rates of these.
    """

    by_query: np.ndarray
    lists: np.ndarray
    is_judged: np.ndarray
    part: float
    is_for_new: bool

    def of_runs(self, confidence_level: float):
        """Compute both ends of the interval of each run's rate."""
        hits, error = self.by_query.sum(axis=1), (1 - confidence_level) / 2
        rates = self.part * self.by_query.mean(axis=1)
        low, high = self._shares(hits, self.lists.shape[1], self.by_query.shape[1], error)
        return np.minimum(low, rates), np.maximum(high, rates)

    def of_pairs(self, first, second, confidence_level: float):
        """Compute both ends of the interval of each difference, first minus second, and p values.

        A difference is the share of queries in which the runs differ, times 2 s - 1, where s is the
        share of these in which the first has the value 1. Each has an exact interval, and both
        hold together (Bonferroni). The p value is that of the sign test, over the share of the
        error that is spent on s, so that an interval without 0 and a small p value are the same.
        """
        ours, theirs = self.by_query[first], self.by_query[second]
        more, less = (ours & ~theirs).sum(axis=1), (theirs & ~ours).sum(axis=1)
        differ, error = more + less, (1 - confidence_level) / 2
        others = self.lists[first] != self.lists[second]
        n_all = others.sum(axis=1)
        n_judged = others[:, self.is_judged].sum(axis=1)
        if self.is_for_new:
            n_all, n_judged = np.full((2, len(differ)), self.lists.shape[1])
            n_judged = np.full(len(differ), self.by_query.shape[1])
        of_number, of_sign = (1 - _OF_SIGN) * error, _OF_SIGN * error
        fewest, most = self._shares(differ, n_all, n_judged, of_number)
        if self.is_for_new:
            signs = np.stack(clopper_pearson(more, differ, of_sign))
        else:
            n_most = np.rint(most * self.lists.shape[1] / self.part).astype(int)
            signs = np.stack(_among(more, differ, n_most, of_sign)) / np.maximum(n_most, 1)
        low, high = (2 * signs - 1) * np.ones((2, 1))
        p_value = np.minimum(2 * bdtrc(np.maximum(more, less) - 1, differ, 0.5) / _OF_SIGN, 1.0)
        if self.is_judged.all() and not self.is_for_new:
            p_value = np.where(more == less, 1.0, 0.0)
        return (
            np.minimum(low * fewest, low * most) + 0.0,
            np.maximum(high * fewest, high * most) + 0.0,
            np.where(differ == 0, 1.0, p_value),
        )

    def _shares(self, hits, n_all, n_judged, error):
        """Compute ends of a share of all queries, of `n_all` that may have it; by the target."""
        if self.is_for_new:
            # The queries without a list are known to have the value 0: the judged ones say as
            # much as so many queries of all kinds.
            return clopper_pearson(hits, n_judged / self.part, error)
        low, high = _among(hits, n_judged, n_all, error)
        n_queries = self.lists.shape[1]
        return low * self.part / n_queries, high * self.part / n_queries


def _among(hits, n_drawn, n_all, error):
    """Compute the least and the largest number of hits among all, by those among the drawn."""
    given = np.stack(np.broadcast_arrays(hits, n_drawn, n_all))
    # Many runs and pairs have the same counts.
    (hits, n_drawn, n_all), number = np.unique(given, axis=1, return_inverse=True)
    fewest = n_all - _most_among(n_drawn - hits, n_drawn, n_all, error)
    return fewest[number], _most_among(hits, n_drawn, n_all, error)[number]


def _most_among(hits, n_drawn, n_all, error):
    """Find the largest number of hits among all that still gives so few among the drawn."""
    low, high = hits.copy(), n_all - n_drawn + hits
    while (low < high).any():
        middle = (low + high + 1) // 2
        is_possible = hypergeom.cdf(hits, n_all, middle, n_drawn) > error
        low, high = np.where(is_possible, middle, low), np.where(is_possible, high, middle - 1)
    return low


@dataclass(frozen=True, eq=False)
class MeasureEstimate:
    """Estimates of one measure for all runs.

    Attributes
    ----------
    values : ndarray of shape (n_runs,)
        Unbiased estimates of the mean over queries.
    deviations : ndarray of shape (n_units, n_runs)
        Contribution of each drawn document (or query) to the error; ``deviations.T @ deviations``
        is the covariance.
    greater_is_better : bool
        True if higher values of the measure are better.
    value_range : tuple of two floats
        Lowest and highest possible value of the measure for these gains; infinite if unknown.
    by_query : ndarray of shape (n_runs, n_queries)
        Estimates of each query. A single query has few labels, and its error is large.
    shown_to_cover : bool
        True if a table of the project shows how often intervals of such a measure hold.
    rates : ExactRates or None
        Values of 0 and 1 by query, whose intervals are exact; None for all others.
    allowance : ndarray of shape (n_runs,) or 0.0
        Part of the estimated bias of a ratio's values by which intervals are wider.
    find_order : callable or None
        Makes `order_values`; None takes the values.
    """

    values: np.ndarray
    deviations: np.ndarray
    greater_is_better: bool
    value_range: tuple
    by_query: np.ndarray
    shown_to_cover: bool = False
    rates: ExactRates | None = None
    allowance: np.ndarray | float = 0.0
    find_order: Callable | None = None

    @cached_property
    def order_values(self) -> np.ndarray:
        """Values by which runs are ordered, (n_runs,); they need a regression of their own."""
        return self.values if self.find_order is None else self.find_order()

    def __getstate__(self):
        # Without the pool, which finding the order needs.
        return vars(self) | {"order_values": self.order_values, "find_order": None}

    def allowed(self, first=slice(None), second=None) -> np.ndarray:
        """Return the allowance for bias in values of runs, or in differences of two runs."""
        allowance = np.broadcast_to(self.allowance, self.values.shape)
        away = np.abs(allowance[first] - (0.0 if second is None else allowance[second]))
        # Values of equal lists differ only by rounding.
        return np.where(away < 1e-12 * np.abs(allowance).max(), 0.0, away)


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Result):
    """Estimated measures of runs, with intervals; returned by :func:`estimate`.

    Attributes
    ----------
    runs : tuple of str
        Names of the runs.
    results : dict of str to MeasureEstimate
        Estimates of each measure.
    target : {"these queries", "new queries"}
        Target of the intervals.
    unit : {"document", "query"}
        Unit of the sample.
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
    target: str
    unit: str
    confidence_level: float
    n_judged: int
    n_possible: int
    n_other: int
    queries: tuple

    @property
    def made_from(self) -> str:
        """Description, in a line, of the intervals' target and the number of labels."""
        others = f" (and {self.n_other:,} on which they do not depend)" if self.n_other else ""
        return (
            f"{interval_text(self.confidence_level)}s for {self.target}: {self.n_judged:,} of "
            f"{counted(self.n_possible, 'document')} judged by people{others}, "
            f"{counted(len(self.queries), 'query', 'queries')}{self._caveats}"
        )

    @property
    def _caveats(self):
        """Notes on exact intervals, and on those that no table shows to cover; else empty."""
        exact = [name for name, each in self.results.items() if each.rates is not None]
        unknown = [name for name, each in self.results.items() if not each.shown_to_cover]
        return (
            f". Intervals of {', '.join(exact)} are exact, by people's labels alone"
            if exact
            else ""
        ) + (f". Intervals of {', '.join(unknown)} are not shown to cover" if unknown else "")

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
        for DCG and precision with a cut-off and RBP, from samples of documents and for these
        queries, and for rates of 0 or 1 by query (any_forbidden, success), whose intervals are
        exact. It is False for all others: ratios such as nDCG and AP, whose estimates are biased,
        other sums, and means of other values by query. Their intervals may hold less often than
        the confidence level says. An exact interval is not made from the standard error, and has a
        width where that is 0.
        """
        tables = {}
        for name, result in self.results.items():
            error = np.sqrt((result.deviations**2).sum(axis=0))
            width = self._quantile(degrees_of_freedom(result.deviations)) * error
            width = width + result.allowed()
            low, high = result.values - width, result.values + width
            if result.rates is not None:
                low, high = result.rates.of_runs(self.confidence_level)
            tables[name] = pd.DataFrame(
                {
                    "value": result.values,
                    "low": np.clip(low, *result.value_range),
                    "high": np.clip(high, *result.value_range),
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
        first, second = np.triu_indices(len(self.runs), 1)
        if baseline is not None:
            place = self._place(baseline)
            first = np.delete(np.arange(len(self.runs)), place)
            second = np.full(len(first), place)
        difference = result.values[first] - result.values[second]
        error, freedom = self._pairs(result, first, second)
        # Values of equal lists differ only by rounding.
        difference[np.abs(difference) < 1e-12 * np.abs(result.values).max()] = 0.0
        allowed = result.allowed(first, second)
        width = self._quantile(freedom) * error + allowed
        beyond = np.maximum(np.abs(difference) - allowed, 0.0)
        ratio = np.divide(beyond, error, out=np.where(beyond == 0, 0.0, np.inf), where=error > 0)
        p_value = 2 * t.sf(ratio, freedom)
        low, high = difference - width, difference + width
        if result.rates is not None:
            low, high, p_value = result.rates.of_pairs(first, second, self.confidence_level)
        most = result.value_range[1] - result.value_range[0]
        return EstimatedDifferences(
            measure=name,
            runs=self.runs,
            first=first,
            second=second,
            difference=difference,
            low=np.clip(low, -most, most),
            high=np.clip(high, -most, most),
            p_value=p_value,
            p_adjusted=adjust_p_values(p_value, correction),
            correction=correction,
            confidence_level=self.confidence_level,
            target=self.target,
            shown_to_cover=result.shown_to_cover,
            greater_is_better=result.greater_is_better,
        )

    def order(self, measure: str | None = None, *, random_state=None) -> pd.DataFrame:
        """Order the runs from the best to the worst, with intervals of their ranks.

        Parameters
        ----------
        measure : str or None, default=None
            Name of the measure; it may be None if there is only one.
        random_state : int, RandomState instance or None, default=None
            Source of the normal draws that give the quantile of the largest of all differences.
            Pass an int for results that can be repeated.

        Returns
        -------
        DataFrame of shape (n_runs, 4)
            Index "run"; columns "rank" (1 for the best, means of ties), "low" and "high", its
            interval, and "value", the unbiased estimate. With the confidence of the estimates all
            runs have their ranks within these intervals together. A run may have a better rank than
            another and a worse value: ranks go by values moved towards the predicted ones.

        Notes
        -----
        Unbiased values are noisy. They are moved towards a line in the values by judged and
        predicted labels, by the square of the share that noise explains in their distances from
        it. Predictions follow the machine, where there is one, and the documents of each run, as
        far as the sample says how much the machine favours them: what few labels say of one run
        helps with all that return these documents. benchmarks/results/order_by_judges.md shows how
        this goes with good and bad judges. An interval counts the runs that are surely better and
        surely worse, by differences whose intervals hold for all pairs at once.
        """
        _, result = self._of(measure)
        sign = 1 if result.greater_is_better else -1
        n_runs = len(self.runs)
        first, second = np.triu_indices(n_runs, 1)
        error, _ = self._pairs(result, first, second)
        surely = np.zeros((n_runs, n_runs), dtype=np.int64)
        if len(first) and result.rates is not None:
            # Each pair gets an equal part of the error (Bonferroni).
            together = 1 - (1 - self.confidence_level) / len(first)
            low, high, _ = result.rates.of_pairs(first, second, together)
            better, worse = (low > 0, high < 0)[::sign]
            surely[first, second], surely[second, first] = better, worse
        elif len(first):
            limit = self._largest(result, first, second, error, random_state) * error
            limit += result.allowed(first, second)
            difference = sign * (result.values[first] - result.values[second])
            surely[first, second] = difference > limit
            surely[second, first] = difference < -limit
        table = pd.DataFrame(
            {
                "rank": rankdata(-sign * result.order_values),
                "low": 1 + surely.sum(axis=0),
                "high": n_runs - surely.sum(axis=1),
                "value": result.values,
            },
            index=pd.Index(self.runs, name="run"),
        )
        return table.sort_values("rank", kind="stable")

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

    def _place(self, run):
        if run not in self.runs:
            raise InputError(
                f"baseline must be the name of a run, such as {brief(self.runs[0])}, got "
                f"{brief(run)}."
            )
        return self.runs.index(run)

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

    def _largest(self, result, first, second, error, random_state):
        """Return the quantile of the largest standardised difference."""
        draws = check_random_state(random_state).normal(size=(_N_DRAWS, len(result.deviations)))
        draws = draws @ result.deviations
        largest = np.zeros(_N_DRAWS)
        kept = error > 0
        first, second, error = first[kept], second[kept], error[kept]
        step = max(1, _BLOCK // _N_DRAWS)
        for begin in range(0, len(first), step):
            pairs = slice(begin, begin + step)
            away = np.abs(draws[:, first[pairs]] - draws[:, second[pairs]]) / error[pairs]
            np.maximum(largest, away.max(axis=1), out=largest)
        return np.quantile(largest, self.confidence_level)

    def _summary(self):
        names = ", ".join(self.measures[:3]) + (", ..." if len(self.measures) > 3 else "")
        what = f"{self.n_judged:,} of {counted(self.n_possible, 'document')} judged"
        return f"{names} of {counted(len(self.runs), 'run')}, {what}"

    def _head(self):
        return self.made_from

    def _table(self):
        # The line above the table says it.
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
        Of no difference, by itself and corrected for the number of pairs.
    correction : str or None
        Correction of the p values.
    confidence_level : float
        Confidence level of each single interval.
    target : {"these queries", "new queries"}
        Target of the intervals.
    shown_to_cover : bool
        True if a table of the project shows that such intervals hold, as in
        :meth:`Estimates.to_frame`.
    greater_is_better : bool
        True if higher values of the measure are better.
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
    correction: str | None
    confidence_level: float
    target: str
    shown_to_cover: bool = True
    greater_is_better: bool = True

    def significant(self, alpha: float | None = None) -> np.ndarray:
        """Compare the adjusted p value of each pair with alpha, shape (n_pairs,).

        None takes what the confidence of the intervals leaves.
        """
        # 1 - 0.95 is not 0.05 in binary numbers.
        own = round(1 - self.confidence_level, 12)
        return self.p_adjusted <= (own if alpha is None else check_share(alpha, "alpha"))

    def pairs(self, alpha: float | None = None) -> pd.DataFrame:
        """Return pairs with the better run first, the surest pair on top.

        The columns are those of `to_frame` and "significant", at a level as of `significant`.
        """
        table = self.to_frame().assign(significant=self.significant(alpha))
        turned = (1 if self.greater_is_better else -1) * table["difference"] < 0
        swapped = {"first": "second", "second": "first", "low": "high", "high": "low"}
        other = table.rename(columns=swapped)[table.columns]
        other[["difference", "low", "high"]] *= -1
        return table.where(~turned, other).sort_values("p_value", kind="stable").infer_objects()

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
            f"{self.target}"
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

    The variance of a sum of squares v is about ``sum v^2 - (sum v)^2 / n``; as many degrees of
    freedom have a chi-square of the same relative variance. Few heavy documents give few, and t
    quantiles of so few keep the intervals honest.
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


def shrink(values, covariance, steady) -> np.ndarray:
    """Move values towards a line in the steady ones, as far as noise explains their distance.

    The share that noise explains in the squared distances from the line is known from the
    covariance (as in James and Stein's estimator). Its square is the step towards the line: a
    judge that says nothing, or favours some runs, leaves the order of the values as it is.

    Parameters
    ----------
    values, steady : ndarray of shape (n_runs,)
        Unbiased values, and those by predicted labels.
    covariance : ndarray of shape (n_runs, n_runs)
        That of the values.

    Returns
    -------
    ndarray of shape (n_runs,)
    """
    away, own = steady - steady.mean(), values - values.mean()
    if len(values) < 4 or np.abs(away).max() <= mean_tolerance(steady) or away @ own <= 0:
        return values.copy()
    square = away @ away
    line = (away @ own) / square * away
    rest = own - line
    # Distances from the mean, without the part along the line.
    noise = np.trace(covariance) - covariance.mean() * len(values)
    noise -= away @ covariance @ away / square
    share = np.clip(noise / max(rest @ rest, 1e-300), 0.0, 1.0)
    return values.mean() + line + (1 - share**2) * rest
