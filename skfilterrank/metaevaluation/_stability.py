"""Stability, sensitivity and discriminative power: how well a measure distinguishes systems."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._base.checks import (
    check_choice,
    check_count,
    check_counts,
    check_each,
    check_flag,
    check_number,
)
from skfilterrank._base.results import Result, spread_places
from skfilterrank._base.rounding import ROUNDING_OF_MEANS, mean_tolerance
from skfilterrank._base.system_pairs import (
    Pairs,
    differences,
    draw_resamples,
    pair_blocks,
    seeds_of,
)
from skfilterrank._base.words import counted, progress_bar
from skfilterrank.comparison import PairwiseComparison, SystemScores, compare_systems


@dataclass(frozen=True, eq=False, repr=False)
class StabilityCurve(Result):
    """Error rates by number of queries, from :func:`stability_curve`."""

    n_queries: np.ndarray
    error_rate: np.ndarray
    tie_rate: np.ndarray
    n_resamples: int
    fuzziness: float
    relative: bool
    n_systems: int
    measure: str

    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Return "error_rate" and "tie_rate" as columns, with one row for each "n_queries"."""
        return pd.DataFrame(
            {"error_rate": self.error_rate, "tie_rate": self.tie_rate},
            index=pd.Index(self.n_queries, name="n_queries"),
        )

    def _summary(self):
        n_pairs = self.n_systems * (self.n_systems - 1) // 2
        return (
            f"{self.measure} of {counted(n_pairs, 'pair')} of {self.n_systems} systems for "
            f"{counted(len(self.n_queries), 'size')}"
        )

    def _head(self):
        fuzziness = f"{self.fuzziness:g}" + (" of the greater mean" if self.relative else "")
        return (
            f"Stability of {self._summary()}, {counted(self.n_resamples, 'sample')} of queries, "
            f"ties up to {fuzziness}"
        )


def stability_curve(
    scores,
    *,
    measure: str | None = None,
    sizes=None,
    n_resamples: int = 200,
    fuzziness: float = 0.01,
    relative: bool = False,
    random_state=None,
    verbose: int = 0,
) -> StabilityCurve:
    r"""Compute how often small samples of queries disagree on which of two systems is better.

    Samples of queries are drawn without replacement, and all systems are compared by their means
    over each sample. A measure is stable if even small samples agree with one another about every
    pair of systems.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    sizes : int or array-like of shape (n_sizes,), default=None
        Numbers of queries in a sample, from 1 to the number of all queries. None takes all numbers
        from 2.
    n_resamples : int, default=200
        Number of samples of each size, drawn without replacement.
    fuzziness : float, default=0.01
        Two systems tie on a sample if their means differ by no more than this, in the unit of the
        measure.
    relative : bool, default=False
        If True, `fuzziness` is a share of the mean with the greater absolute value, as by Buckley
        and Voorhees.
    random_state : int, RandomState instance or None, default=None
        Source of the samples. Pass an int for results that can be repeated; samples of one size are
        then the same for any other `sizes`.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    StabilityCurve
        Result with ``to_frame()``, ``plot()`` and the attributes below. Printing it shows a table.

        n_queries : ndarray of shape (n_sizes,), dtype int64
            Number of queries in a sample.
        error_rate : ndarray of shape (n_sizes,), dtype float64
            Share of comparisons that contradict the majority of the samples about the same pair, in
            [0, 0.5].
        tie_rate : ndarray of shape (n_sizes,), dtype float64
            Share of comparisons in which the two systems tie, in [0, 1].
        n_resamples : int
            Number of samples of queries for each size.
        fuzziness : float
            Value of the parameter.
        relative : bool
            Value of the parameter.
        n_systems : int
            Number of systems.
        measure : str
            Name of the measure.

    Raises
    ------
    ValueError
        If there are fewer than two systems or queries, or a parameter is out of range.

    See Also
    --------
    sensitivity_curve : Share of pairs whose order is the same in most resamples of the queries.
    reliability : Number of queries that a reliable order of the systems needs.

    Notes
    -----
    Section 4.3 of [1]_ with equation 1 of [2]_. Let ``A > B`` count the samples in which the mean
    of system A is greater than that of system B by more than the fuzziness. Then

    .. math:: error = \frac{\sum_{A, B} \min(A > B, B > A)}{n_{samples} \, n_{pairs}}

    where the sum is over all pairs of systems. The error is 0 if all queries are drawn, because all
    samples are then the same, and if all means tie. It compares samples with one another, not with
    all queries. If half of the samples contradict the other half about every pair, it is 0.5. The
    error does not depend on whether greater or lower values are better.

    A fuzziness in the unit of the measure favors measures with small values, because their means
    tie more often. So also compare the measures by ``tie_rate``, or use ``relative=True``.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Buckley and Voorhees, "Evaluating Evaluation Measure Stability", SIGIR 2000.

    Examples
    --------
    The new system is slightly better for four queries and much worse for one query. All queries
    together prefer the old system, but a small sample without the last query prefers the new one.

    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.metaevaluation import stability_curve
    >>> scores = SystemScores(
    ...     [[0.5, 0.5, 0.5, 0.5, 0.9], [0.6, 0.6, 0.6, 0.6, 0.1]],
    ...     systems=["old", "new"],
    ...     measure="ap",
    ... )
    >>> stability_curve(scores, sizes=[5], random_state=0).error_rate
    array([0.])
    >>> bool(0.3 < stability_curve(scores, sizes=2, random_state=0).error_rate[0] < 0.5)
    True
    """
    scores = SystemScores.of(scores, measure, least=(2, 2))
    sizes = range(2, scores.n_queries + 1) if sizes is None else sizes
    sizes = check_counts(sizes, "sizes", most=scores.n_queries)
    n_resamples = check_count(n_resamples, "n_resamples")
    fuzziness = check_number(fuzziness, "fuzziness", least=0)
    check_flag(relative, "relative")
    seeds = seeds_of(random_state)
    tolerance = mean_tolerance(scores.values)
    rates = [
        _rates(scores.values, size, n_resamples, fuzziness, relative, tolerance, seeds)
        for size in progress_bar(sizes, unit="size", verbose=verbose, leave=False)
    ]
    error_rate, tie_rate = np.array(rates).T
    return StabilityCurve(
        n_queries=sizes,
        error_rate=error_rate,
        tie_rate=tie_rate,
        n_resamples=n_resamples,
        fuzziness=fuzziness,
        relative=bool(relative),
        n_systems=scores.n_systems,
        measure=scores.measure,
    )


def draw_samples(n_queries: int, size: int, n_resamples: int, seeds) -> np.ndarray:
    """Draw samples of `size` queries without replacement.

    Returns a mask of shape (n_resamples, n_queries), True for queries in the sample.
    """
    order = np.random.default_rng([*seeds, size]).random((n_resamples, n_queries)).argsort(axis=1)
    drawn = np.zeros((n_resamples, n_queries), dtype=bool)
    np.put_along_axis(drawn, order[:, :size], True, axis=1)
    return drawn


def _rates(values, size, n_resamples, fuzziness, relative, tolerance, seeds):
    """Compute `error_rate` and `tie_rate` of :func:`stability_curve` for one sample size."""
    drawn = draw_samples(values.shape[1], size, n_resamples, seeds)
    means = values @ drawn.T.astype(np.float64) / size
    margins = np.abs(means) * fuzziness if relative else None
    wrong = decided = 0
    pairs = Pairs.all(len(values))
    for block in pair_blocks(pairs, 3 * n_resamples):
        some = pairs[block]
        difference = differences(means, some)
        margin = np.maximum(margins[some.first], margins[some.second]) if relative else fuzziness
        # A difference that exceeds the fuzziness only by a rounding error is a tie.
        margin = margin + tolerance
        ahead = np.count_nonzero(difference > margin, axis=1)
        behind = np.count_nonzero(difference < -margin, axis=1)
        wrong += int(np.minimum(ahead, behind).sum())
        decided += int(ahead.sum() + behind.sum())
    n_decisions = len(pairs) * n_resamples
    return wrong / n_decisions, 1 - decided / n_decisions


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityCurve(Result):
    """Success rates by significance level, from :func:`sensitivity_curve`."""

    alpha: np.ndarray
    success_rate: np.ndarray
    asl: np.ndarray
    method: str
    n_resamples: int
    systems: tuple[str, ...]
    measure: str

    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Return the column "success_rate", with one row for each "alpha"."""
        index = pd.Index(self.alpha, name="alpha")
        return pd.DataFrame({"success_rate": self.success_rate}, index=index)

    def matrix(self) -> pd.DataFrame:
        """Return the achieved significance levels as a symmetric table of systems x systems.

        The diagonal is 1.
        """
        table = np.ones((len(self.systems), len(self.systems)))
        first, second = np.triu_indices(len(self.systems), 1)
        table[first, second] = table[second, first] = self.asl
        index = pd.Index(self.systems, name="system")
        return pd.DataFrame(table, index=index, columns=pd.Index(self.systems, name="system"))

    def _summary(self):
        return (
            f"{self.measure} of {counted(len(self.asl), 'pair')} of {len(self.systems)} systems, "
            f"{counted(self.n_resamples, 'resample')} of queries, method {self.method!r}"
        )

    def _head(self):
        return f"Sensitivity of {self._summary()}"


def sensitivity_curve(
    scores,
    *,
    measure: str | None = None,
    alphas=None,
    n_resamples: int = 1000,
    method: str = "paper",
    random_state=None,
    verbose: int = 0,
) -> SensitivityCurve:
    """Compute the share of pairs of systems whose order is the same in most resamples of queries.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    alphas : float or array-like of shape (n_alphas,), default=None
        Significance levels in (0, 1]. None takes 0.01 to 0.20 in steps of 0.01.
    n_resamples : int, default=1000
        Number of resamples of the queries, shared by all pairs.
    method : {"paper", "sakai"}, default="paper"
        Achieved significance level of a pair. "paper" is the share of resamples that do not agree
        with all queries on the better system. "sakai" is the p value of the two-sided test of
        :func:`compare_systems` with ``test="bootstrap"``.
    random_state : int, RandomState instance or None, default=None
        Source of the resamples. Pass an int for results that can be repeated.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    SensitivityCurve
        Result with ``to_frame()``, ``matrix()``, ``plot()`` and the attributes below. Printing it
        shows a table.

        alpha : ndarray of shape (n_alphas,), dtype float64
            Significance levels.
        success_rate : ndarray of shape (n_alphas,), dtype float64
            Share of pairs whose achieved significance level is below alpha, in [0, 1].
        asl : ndarray of shape (n_pairs,), dtype float64
            Achieved significance level of each pair, in [0, 1]. Pairs are in the order of
            ``np.triu_indices(n_systems, 1)``.
        method : {"paper", "sakai"}
            Value of the parameter.
        n_resamples : int
            Number of resamples of the queries.
        systems : tuple of str
            Names of the systems.
        measure : str
            Name of the measure.

    Raises
    ------
    ValueError
        If there are fewer than two systems or queries, or a parameter is out of range.

    See Also
    --------
    compare_systems : Significance tests with corrections and intervals.
    stability_curve : Rate of contradictions between samples of fewer queries.

    Notes
    -----
    Section 4.4 of [1]_. Each resample draws queries with replacement, as many as there are in
    `scores`. The achieved significance level of a pair is the share of resamples in which the two
    means do not have the same order as over all queries. The pair is a success at level alpha if
    its achieved level is below alpha. A resample in which the means tie does not have the same
    order. A pair that ties over all queries has level 1. A pair with the same difference for all
    queries has level 0.

    The paper calls this the bootstrap test of [2]_, but that test is different: it shifts the
    differences to a mean of 0, divides by their standard errors and uses both tails.
    ``method="sakai"`` runs that test. Its levels are about twice as large, so its success rate is
    lower. Levels are not corrected for the number of pairs.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Sakai, "Evaluating Evaluation Metrics Based on the Bootstrap", SIGIR 2006.

    Examples
    --------
    The third system is better than both others for every query. The other two systems are hard to
    tell apart.

    >>> from skfilterrank.comparison import SystemScores, compare_systems
    >>> from skfilterrank.metaevaluation import sensitivity_curve
    >>> scores = SystemScores(
    ...     [[0.1, 0.4, 0.3, 0.2], [0.3, 0.2, 0.2, 0.4], [0.6, 0.7, 0.5, 0.6]],
    ...     systems=["a", "b", "c"],
    ...     measure="ap",
    ... )
    >>> print(sensitivity_curve(scores, alphas=[0.01, 0.05], random_state=0))
    Sensitivity of ap of 3 pairs of 3 systems, 1,000 resamples of queries, method 'paper'
           success_rate
    alpha
    0.01         0.6667
    0.05         0.6667
    """
    scores = SystemScores.of(scores, measure, least=(2, 2))
    alphas = np.arange(1, 21) / 100 if alphas is None else alphas
    alphas = check_each(alphas, "alphas", above=0, most=1)
    n_resamples = check_count(n_resamples, "n_resamples")
    check_choice(method, "method", ("paper", "sakai"))
    resampling = {"n_resamples": n_resamples, "random_state": random_state, "verbose": verbose}
    if method == "paper":
        asl = _disagreement(scores, **resampling)
    else:
        asl = compare_systems(scores, test="bootstrap", correction=None, **resampling).p_value
    # A level that is below alpha only by a rounding error does not count as below.
    below = np.sort(asl).searchsorted(alphas * (1 - ROUNDING_OF_MEANS), side="left")
    return SensitivityCurve(
        alpha=alphas,
        success_rate=below / len(asl),
        asl=asl,
        method=method,
        n_resamples=n_resamples,
        systems=scores.systems,
        measure=scores.measure,
    )


def _disagreement(scores, n_resamples, random_state, verbose):
    """Compute, for each pair, the share of resamples without the order of all queries."""
    values, n_systems = scores.values, scores.n_systems
    counts = draw_resamples(scores.n_queries, n_resamples, random_state)
    means = values @ counts.T.astype(np.float64) / scores.n_queries
    observed = values.mean(axis=1)
    tolerance = mean_tolerance(values)
    pairs = Pairs.all(n_systems)
    asl = np.empty(len(pairs))
    for block in pair_blocks(pairs, 3 * n_resamples, verbose=verbose):
        truth = differences(observed, pairs[block])
        # The sign of the difference over all queries makes agreeing differences positive.
        turned = differences(means, pairs[block]) * np.sign(truth)[:, None]
        agreeing = np.count_nonzero(turned > tolerance, axis=1)
        asl[block] = np.where(np.abs(truth) > tolerance, 1 - agreeing / n_resamples, 1.0)
    return asl


@dataclass(frozen=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """Share of significantly different pairs, from :func:`discriminative_power`."""

    comparison: PairwiseComparison
    n_pairs: int
    n_significant: int
    share: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair, with the smallest p value first.

        Returns
        -------
        DataFrame of shape (n_pairs, 5)
            Columns "first" and "second" (names of systems), "difference", "p_adjusted" and
            "significant". Pairs with equal p values are sorted by absolute difference, the greatest
            first.
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
        return (
            f"{comparison.scores.measure} tells {self.n_significant:,} of "
            f"{counted(self.n_pairs, 'pair')} apart ({100 * self.share:.1f} %; "
            f"{comparison.test_text()}, alpha = {comparison.alpha:g})"
        )


def discriminative_power(
    scores,
    *,
    measure: str | None = None,
    **params,
) -> DiscriminativePower:
    """Compute the share of pairs of systems that a measure finds significantly different.

    If two measures are compared on the same systems and queries, the measure with the larger share
    is more sensitive. This does not show that it measures what users care about.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    **params
        Other parameters of :func:`compare_systems`, such as `alpha`, `test`, `correction` and
        `n_resamples`. With a `baseline`, only pairs with that system are compared.

    Returns
    -------
    DiscriminativePower
        Result with ``to_frame()`` and attributes:

        comparison : PairwiseComparison
            The tests of all pairs.
        n_pairs : int
            Number of pairs of systems.
        n_significant : int
            Number of pairs whose adjusted p value is at most `alpha`.
        share : float
            ``n_significant / n_pairs``, the discriminative power, from 0 to 1.

    Raises
    ------
    ValueError
        In the same cases as :func:`compare_systems`.

    See Also
    --------
    compare_systems : Significance tests of the differences between systems.
    conflicts : Pairs for which the tests of two measures disagree.

    Notes
    -----
    Pairs of systems with equal values for every query have p value 1 and are counted like other
    pairs. Sakai's curves of achieved significance levels are the sorted p values without a
    correction, as with ``correction=None``.

    References
    ----------
    Sakai, T. Evaluating evaluation metrics based on the bootstrap. SIGIR 2006.
    Diaz, F. and Mitra, B. Recall, robustness, and lexicographic evaluation, section 6.2.3.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import discriminative_power
    >>> values = [[0.1, 0.2, 0.3, 0.4], [0.6, 0.8, 0.7, 0.9], [0.2, 0.1, 0.3, 0.3]]
    >>> power = discriminative_power(values)
    >>> power.n_significant, power.n_pairs
    (2, 3)
    """
    comparison = compare_systems(scores, measure=measure, **params)
    significant = comparison.significant()
    return DiscriminativePower(
        comparison=comparison,
        n_pairs=len(significant),
        n_significant=int(np.count_nonzero(significant)),
        share=float(np.mean(significant)),
    )
