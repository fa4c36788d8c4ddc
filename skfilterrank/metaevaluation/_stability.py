"""Stability, sensitivity and discriminative power of a measure."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_numbers,
)
from skfilterrank._lists.results import Result, counted, spread_places
from skfilterrank._lists.system_pairs import (
    Pairs,
    differences,
    draw_resamples,
    pair_blocks,
    seeds_of,
)
from skfilterrank._lists.ties import ROUNDING_OF_MEANS, mean_tolerance
from skfilterrank._lists.words import progress_bar
from skfilterrank.comparison import PairwiseComparison, SystemScores, compare_systems
from skfilterrank.exceptions import InputError, brief


@dataclass(frozen=True, eq=False, repr=False)
class StabilityCurve(Result):
    """Error rates by number of queries; see :func:`stability_curve`."""

    n_queries: np.ndarray
    error_rate: np.ndarray
    tie_rate: np.ndarray
    n_resamples: int
    fuzziness: float
    relative: bool
    n_systems: int
    measure: str

    _display = "MeasureCurvesDisplay"
    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Rates as columns "error_rate" and "tie_rate", a row for each "n_queries"."""
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
    r"""Compute how often fewer queries take the worse of two systems for the better one.

    Samples of queries are drawn without replacement, and all systems compared by their means over
    each sample. A measure is stable if samples agree with one another about every pair, already
    when they are small.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    sizes : int or array-like of shape (n_sizes,), default=None
        Numbers of queries to draw, from 1 to all. None takes 2 to all.
    n_resamples : int, default=200
        Number of samples of each size, drawn without replacement.
    fuzziness : float, default=0.01
        Two systems tie on a sample if their means differ by no more than this, in the unit of the
        measure.
    relative : bool, default=False
        If True, `fuzziness` is a share of the mean that is greater in size, as Buckley and
        Voorhees have it.
    random_state : int, RandomState instance or None, default=None
        Source of the samples; those of a size do not depend on the other sizes. Pass an int for
        results that can be repeated.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    StabilityCurve
        With ``n_queries``, ``error_rate``, ``tie_rate``; its ``str`` is a table.

        n_queries : ndarray of shape (n_sizes,), dtype int64
            Numbers of queries that were drawn.
        error_rate : ndarray of shape (n_sizes,), dtype float64
            Share of decisions that go against the more frequent one of their pair, in [0, 0.5].
        tie_rate : ndarray of shape (n_sizes,), dtype float64
            Share of decisions that find the two systems equal, in [0, 1].
        n_resamples : int
            Number of samples of queries for each size.
        fuzziness : float
            Differences of means up to this are ties.
        relative : bool
            Whether `fuzziness` is a share of the greater mean.
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
    sensitivity_curve : For how many pairs resampled queries keep the better system ahead.
    reliability : How many queries the ranking of systems needs.

    Notes
    -----
    Section 4.3 of [1]_ with equation 1 of [2]_. With `A > B` counting the samples in which A is
    ahead by more than the fuzziness,

    .. math:: error = \frac{\sum_{A, B} \min(A > B, B > A)}{n_{samples} \, n_{pairs}}

    The error is 0 when all queries are drawn, since all samples are then the same, and where all
    means tie. It compares samples with one another, not with the whole: two halves that contradict
    each other every time give 0.5. Whether greater values are better makes no difference.

    A fuzziness in the unit of the measure favors measures with small values, whose differences
    are more often ties: compare measures by ``tie_rate`` too, or take ``relative=True``.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Buckley and Voorhees, "Evaluating Evaluation Measure Stability", SIGIR 2000.

    Examples
    --------
    The new system wins by little on four queries and loses by much on one: a small sample without
    that query errs.

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
    sizes = _check_sizes(sizes, scores.n_queries)
    n_resamples = check_count(n_resamples, "n_resamples")
    fuzziness = check_number(fuzziness, "fuzziness", least=0)
    check_flag(relative, "relative")
    seeds = seeds_of(random_state)
    tolerance = mean_tolerance(scores.values)
    rates = [
        _rates(scores.values, size, n_resamples, fuzziness, relative, tolerance, seeds)
        for size in progress_bar(sizes, unit="size", disable=not verbose, leave=False)
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
    """Samples without replacement, shape (n_resamples, n_queries): True where a query is drawn."""
    order = np.random.default_rng([*seeds, size]).random((n_resamples, n_queries)).argsort(axis=1)
    drawn = np.zeros((n_resamples, n_queries), dtype=bool)
    np.put_along_axis(drawn, order[:, :size], True, axis=1)
    return drawn


def _rates(values, size, n_resamples, fuzziness, relative, tolerance, seeds):
    """Return shares of wrong and of tied decisions for one number of queries."""
    drawn = draw_samples(values.shape[1], size, n_resamples, seeds)
    means = values @ drawn.T.astype(np.float64) / size
    margins = np.abs(means) * fuzziness if relative else None
    wrong = decided = 0
    pairs = Pairs.all(len(values))
    for block in pair_blocks(pairs, 3 * n_resamples):
        some = pairs[block]
        difference = differences(means, some)
        margin = np.maximum(margins[some.first], margins[some.second]) if relative else fuzziness
        # A difference of fuzziness itself is a tie, however it was rounded.
        margin = margin + tolerance
        ahead = np.count_nonzero(difference > margin, axis=1)
        behind = np.count_nonzero(difference < -margin, axis=1)
        wrong += int(np.minimum(ahead, behind).sum())
        decided += int(ahead.sum() + behind.sum())
    n_decisions = len(pairs) * n_resamples
    return wrong / n_decisions, 1 - decided / n_decisions


def _check_sizes(sizes, n_queries):
    """Numbers of queries that can be drawn."""
    if sizes is None:
        return np.arange(2, n_queries + 1)
    array = check_numbers([sizes] if np.isscalar(sizes) else sizes, "sizes")
    whole = array.size and array.dtype.kind in "iu"
    if not whole or array.min() < 1 or array.max() > n_queries:
        raise InputError(
            f"sizes must be one or more whole numbers from 1 to {n_queries}, the number of queries "
            f"in scores, got {brief(sizes)}."
        )
    return array.astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityCurve(Result):
    """Success rates by significance level; see :func:`sensitivity_curve`."""

    alpha: np.ndarray
    success_rate: np.ndarray
    asl: np.ndarray
    method: str
    n_resamples: int
    systems: tuple[str, ...]
    measure: str

    _display = "MeasureCurvesDisplay"
    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Success rates as column "success_rate", a row for each "alpha"."""
        index = pd.Index(self.alpha, name="alpha")
        return pd.DataFrame({"success_rate": self.success_rate}, index=index)

    def matrix(self) -> pd.DataFrame:
        """Achieved level of every two systems, shape (n_systems, n_systems), 1 in the diagonal."""
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
    """Compute the share of pairs for which resampled queries keep the better system ahead.

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
        How the achieved significance level of a pair is found: the share of resamples that
        disagree with all queries about the pair; or the two-sided test of :func:`compare_systems`
        with ``test="bootstrap"``.
    random_state : int, RandomState instance or None, default=None
        Source of the resamples. Pass an int for results that can be repeated.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    SensitivityCurve
        With ``alpha``, ``success_rate`` and the ``asl`` of each pair; its ``str`` is a table.

        alpha : ndarray of shape (n_alphas,), dtype float64
            Significance levels.
        success_rate : ndarray of shape (n_alphas,), dtype float64
            Share of pairs whose achieved level is below alpha, in [0, 1].
        asl : ndarray of shape (n_pairs,), dtype float64
            Achieved significance level of each pair, in [0, 1]; pairs as
            ``np.triu_indices(n_systems, 1)``.
        method : {"paper", "sakai"}
            How the levels were found.
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
    compare_systems : Which differences are more than chance, with corrections and intervals.
    stability_curve : How often fewer queries take the worse system for the better one.

    Notes
    -----
    Section 4.4 of [1]_. As many queries as there are are drawn with replacement. The achieved
    significance level of a pair is the share of resamples in which the two means are in another
    order than over all queries, and the pair is a success at alpha if the level is below it. A
    resample in which the means tie does not agree; a pair that ties over all queries has level 1,
    as there is no order to keep. A pair with one difference for all queries has level 0.

    The paper calls this the bootstrap test of [2]_, which it is not: that shifts the differences
    to a mean of 0, divides by their standard errors and looks at both tails. ``method="sakai"``
    does so. Its levels are about twice those of the paper, so that its success rate is lower.
    Levels are not corrected for the number of pairs.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Sakai, "Evaluating Evaluation Metrics Based on the Bootstrap", SIGIR 2006.

    Examples
    --------
    The third system is better than the others for every query; the other two are hard to tell
    apart.

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
    alphas = _check_alphas(alphas)
    n_resamples = check_count(n_resamples, "n_resamples")
    check_choice(method, "method", ("paper", "sakai"))
    resampling = {"n_resamples": n_resamples, "random_state": random_state, "verbose": verbose}
    if method == "paper":
        asl = _disagreement(scores, **resampling)
    else:
        asl = compare_systems(scores, test="bootstrap", correction=None, **resampling).p_value
    # A level that is alpha but for rounding is not below it.
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
    """Return the share of resamples with another order than all queries have, for each pair."""
    values, n_systems = scores.values, scores.n_systems
    counts = draw_resamples(scores.n_queries, n_resamples, random_state)
    means = values @ counts.T.astype(np.float64) / scores.n_queries
    observed = values.mean(axis=1)
    tolerance = mean_tolerance(values)
    pairs = Pairs.all(n_systems)
    asl = np.empty(len(pairs))
    for block in pair_blocks(pairs, 3 * n_resamples, verbose=verbose):
        truth = differences(observed, pairs[block])
        # Turned so that agreeing means a positive difference: a tie does not agree.
        turned = differences(means, pairs[block]) * np.sign(truth)[:, None]
        agreeing = np.count_nonzero(turned > tolerance, axis=1)
        asl[block] = np.where(np.abs(truth) > tolerance, 1 - agreeing / n_resamples, 1.0)
    return asl


def _check_alphas(alphas):
    """Levels above 0, up to 1."""
    if alphas is None:
        return np.arange(1, 21) / 100
    array = check_numbers([alphas] if np.isscalar(alphas) else alphas, "alphas")
    is_number = array.dtype.kind in "iuf" and array.size > 0
    if not is_number or not ((array > 0) & (array <= 1)).all():
        raise InputError(f"alphas must be one or more numbers in (0, 1], got {brief(alphas)}.")
    return array.astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class DiscriminativePower(Result):
    """Result of :func:`discriminative_power`."""

    comparison: PairwiseComparison
    n_pairs: int
    n_significant: int
    share: float
    p_values: np.ndarray
    largest_not_significant: float
    difference_required: float

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair, the smallest p value first.

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
    """Compute the share of pairs of systems that a measure finds significantly different.

    Of two measures on the same systems and queries, the one that tells more pairs apart is the
    more sensitive; whether what it tells is what users care for is another question.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    **params
        `alpha`, `test`, `correction`, `n_resamples` and whatever else :func:`compare_systems`
        takes, with its defaults. A `baseline` leaves only the pairs with that system.

    Returns
    -------
    DiscriminativePower
        Result with ``to_frame()`` and attributes:

        comparison : PairwiseComparison
            The tests of all pairs.
        n_pairs : int
            Number of pairs of systems.
        n_significant : int
            Number of pairs whose adjusted p value is at most the level of the comparison.
        share : float
            ``n_significant / n_pairs``, the discriminative power, from 0 to 1.
        p_values : ndarray of shape (n_pairs,), dtype float64
            Adjusted p values, the smallest first. Plotted against their place they are the ASL
            curve (achieved significance levels): the nearer to the origin, the more a measure can
            tell.
        largest_not_significant : float
            Largest absolute difference of two systems' means that is not significant, in the unit
            of the measure; NaN if all are significant.
        difference_required : float
            Smallest absolute difference of two systems' means that is reliably significant: this
            pair and all that differ by as much or more are significant. NaN if there is none.

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
