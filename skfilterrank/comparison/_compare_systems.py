"""Tests of every two systems for a difference over the same queries."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.checks import check_choice, check_count, check_share
from skfilterrank._lists.floats import merge_values
from skfilterrank._lists.p_values import adjust_p_values, check_correction
from skfilterrank._lists.run_words import TEST_TITLES
from skfilterrank._lists.system_pairs import (
    ALTERNATIVES,
    PairFigures,
    Pairs,
    Settings,
    count_ties,
    mean_differences,
)
from skfilterrank.comparison._hsd import randomized_tukey, tukey_hsd_blocked
from skfilterrank.comparison._pairwise import PairwiseComparison, range_of
from skfilterrank.comparison._rank_tests import sign_test, wilcoxon_test
from skfilterrank.comparison._resampling import bootstrap_test, randomization_test
from skfilterrank.comparison._system_scores import SystemScores, known_places
from skfilterrank.comparison._t_test import paired_t
from skfilterrank.exceptions import InputError, brief


class SystemTest(NamedTuple):
    """A test of all pairs: ``function(values, pairs, settings) -> PairFigures``.

    A family-wise test sees all systems in `values` and corrects for them by itself.
    """

    function: Callable[..., PairFigures]
    is_family_wise: bool = False


TESTS = {
    "t": SystemTest(paired_t),
    "wilcoxon": SystemTest(wilcoxon_test),
    "sign": SystemTest(sign_test),
    "randomization": SystemTest(randomization_test),
    "bootstrap": SystemTest(bootstrap_test),
    "tukey": SystemTest(tukey_hsd_blocked, is_family_wise=True),
    "randomized_tukey": SystemTest(randomized_tukey, is_family_wise=True),
}


def compare_systems(
    scores,
    *,
    measure: str | None = None,
    test: str | None = None,
    correction: str | None = "holm",
    baseline: str | None = None,
    alternative: str = "two-sided",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    random_state=0,
    verbose: int = 0,
) -> PairwiseComparison:
    """Test every two systems for a difference over the same queries.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Value of each system for each query; at least two of each.
    measure : str or None, default=None
        Which measure, where `scores` has several.
    test : {"t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", \
            "randomized_tukey"}, default=None
        How differences are tested; see Notes for what each assumes. None takes "t", and "sign"
        for preferences, whose sizes mean nothing.
    correction : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        Correction of the p values for the number of pairs, see :func:`adjust_p_values`. The two
        Tukey tests correct for all systems by themselves, and take no notice of it.
    baseline : str, default=None
        Name of a system: only the pairs of another system (first) and this one (second) are
        compared, and p values corrected for as many; but those of the two Tukey tests stay what
        they are among all pairs of all systems. None compares every two.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Which differences count against chance: of either sign; those where the first system has
        the greater values; or the lower ones. This is about values, also where lower is better.
    alpha : float, default=0.05
        Level of significance, between 0 and 1. Intervals have the confidence 1 - `alpha`; they
        are two-sided whatever the alternative, and not corrected for the number of pairs (but
        those of the Tukey tests are).
    n_resamples : int, default=10000
        Number of random resamples of the resampling tests, at least 100.
    random_state : int, RandomState instance or None, default=0
        What the resamples come from. All pairs share them.
    verbose : int, default=0
        Whether to show progress.

    Returns
    -------
    PairwiseComparison
        Difference, interval, effect size and p values of each pair; print it for a table.

    Raises
    ------
    ValueError
        If there are fewer than two systems or queries, or a parameter is not as above.

    See Also
    --------
    discriminative_power : How many pairs a measure tells apart.
    conflicts : Where two measures' tests disagree.

    Notes
    -----
    With d the differences of a pair (first minus second) for the n queries:

    - "t": mean(d) against Student's t with n - 1 degrees of freedom. Effect size: Cohen's d_z,
      mean(d) / sd(d). Interval: of the mean difference.
    - "wilcoxon": ranks of abs(d) without zeros, as :func:`scipy.stats.wilcoxon` has them: exact up
      to 50 queries (with ties or zeros up to 13), else the normal distribution, corrected for ties.
      Effect size: rank-biserial correlation, the sum of the ranks of positive d minus that of
      negative d, by their total. Interval: of the pseudo-median (Hodges and Lehmann), from the
      means of each two differences, zeros among them; unbounded where the queries are too few for
      the confidence.
    - "sign": the number of d > 0 among those that are not 0, exact binomial. Effect size: net share
      of queries, (number of d > 0 - number of d < 0) / their sum. Interval: of this effect size,
      from Clopper and Pearson's of the share of d > 0.
    - "randomization": mean(d) against those with signs of d flipped at random [1]_; all 2^n
      patterns of signs where those are no more than `n_resamples`, else p = (b + 1) /
      (n_resamples + 1) with b the number of resamples as far out. Such a p value never falls below
      1 / (n_resamples + 1): Bonferroni's or Holm's correction for m pairs needs about
      20 m resamples for anything to be significant at 0.05. Effect size and interval: as for "t".
    - "bootstrap": Sakai's test [2]_: queries are drawn with replacement from d - mean(d), and p is
      (b + 1) / (n_resamples + 1) with b the number of resamples with a t statistic as far out as
      that of d: as little as for "randomization" falls below 1 / (n_resamples + 1), so that
      corrections for many pairs need many resamples. A resample without spread has an infinite t
      (0 if its mean is 0). Effect size: as for "t". Interval: mean(d) minus and plus the quantile
      of the resampled abs(t) times the standard error; unbounded where too many resamples have no
      spread.
    - "tukey": Tukey's honestly significant differences with queries as blocks [3]_: the difference
      of means against the studentized range of the means of all systems, with MSE, the residual
      variance of the two-way layout, for all pairs alike. Effect size: difference / sqrt(MSE).
      Interval: of the mean difference, all of them at once.
    - "randomized_tukey": as "tukey", against the range of means when the systems of each query are
      shuffled [3]_; no p value is below 1 / (n_resamples + 1), and nothing more is corrected.

    Preferences have shares of systems beaten as values, and "t" and the resampling tests take
    these as numbers.

    Values that differ by no more than rounding (2**-47 of the largest value of all) are equal, and
    so are differences in the ranks of "wilcoxon". A pair without any difference has
    p value 1, effect size 0 and interval (0, 0) in every test but the Tukey tests, whose intervals
    all have the same width. A pair whose difference is the same for every query, and not 0, has no
    spread, so that its t and d_z are infinite with the sign of the difference, for two queries as
    for fifty. That is no evidence: "t" and "bootstrap" then go by the signs and give the p value
    of n equal ones, 2 / 2**n (one-sided 1 / 2**n, or 1 on the other side), and "tukey", where no
    pair has any spread, this times the number of pairs of all systems. Printing the comparison
    tells.

    The time grows with n_pairs times n_queries (for "wilcoxon" its square) times the number of
    resamples. Memory is bounded by blocks of pairs, whatever the number of systems; "bootstrap"
    keeps a byte for each query of each resample.

    References
    ----------
    .. [1] Fisher, R. A. The Design of Experiments, section 21. 1935.
    .. [2] Sakai, T. Evaluating evaluation metrics based on the bootstrap. SIGIR 2006.
    .. [3] Carterette, B. Multiple testing in statistical analysis of systems-based information
       retrieval experiments. ACM Transactions on Information Systems 30(1), 2012.

    Examples
    --------
    Two soporific drugs, extra hours of sleep of ten patients (Student, 1908).

    >>> from skfilterrank.comparison import SystemScores, compare_systems
    >>> sleep = SystemScores(
    ...     [[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    ...      [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]],
    ...     systems=["drug 1", "drug 2"], measure="hours")
    >>> print(compare_systems(sleep))
    hours: paired t test of 2 systems for 10 queries, p values not corrected
    1 of 1 pair differs significantly at 0.05
     first second difference  95 % interval Cohen's d_z      p
    drug 1 drug 2      -1.58 [-2.46, -0.70]       -1.28 0.0028
    >>> comparison = compare_systems(sleep, test="randomization")
    >>> comparison.p_value, comparison.better()
    (array([0.00390625]), array([-1], dtype=int8))
    """
    scores = SystemScores.of(scores, measure, least=(2, 2))
    if test is None:
        test = "sign" if scores.is_preference else "t"
    check_choice(test, "test", tuple(TESTS))
    method = TESTS[test]
    check_correction(correction)
    alpha = check_share(alpha, "alpha")
    # P values of fewer resamples are too coarse.
    n_resamples = check_count(n_resamples, "n_resamples", least=100)
    check_choice(alternative, "alternative", ALTERNATIVES)
    if method.is_family_wise and alternative != "two-sided":
        raise InputError(
            f"alternative must be 'two-sided' for test={brief(test)}, which compares ranges and "
            f"knows no direction, got {brief(alternative)}: take test='t' or 'randomization'."
        )
    if baseline is None:
        pairs = Pairs.all(scores.n_systems)
    else:
        (place,) = known_places([baseline], scores.systems, "baseline")
        baseline = scores.systems[place]
        pairs = Pairs.against(place, scores.n_systems)
    settings = Settings(alternative, 1 - alpha, n_resamples, random_state, verbose)
    values = merge_values(scores.values)
    figures = method.function(values, pairs, settings)
    if figures.interval_of == "mean difference":
        figures = _cut(figures, range_of(scores))
    correction = None if method.is_family_wise else correction
    return PairwiseComparison(
        scores=scores,
        test=test,
        correction=correction,
        alternative=alternative,
        alpha=alpha,
        baseline=baseline,
        **vars(pairs),
        **vars(figures),
        difference=mean_differences(values, pairs),
        p_adjusted=adjust_p_values(figures.p_value, correction),
        n_tied=count_ties(values, pairs),
        title=TEST_TITLES[test],
        is_family_wise=method.is_family_wise,
    )


def _cut(figures, ends):
    """Intervals of differences without what no two values of the measure differ by."""
    most = ends[1] - ends[0]
    # What has no end at all says that the data give none.
    low, high = (
        np.where(np.isinf(end), end, np.clip(end, -most, most))
        for end in (figures.low, figures.high)
    )
    return replace(figures, low=low, high=high)
