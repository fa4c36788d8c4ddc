"""Pairwise tests of differences between systems, and tables of results."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import ascii_lowercase

import numpy as np
import pandas as pd
from scipy.stats import t

from skfilterrank._lists.checks import check_choice, check_count, check_share
from skfilterrank._lists.lazy_names import suggests
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.results import (
    PAPER_FORMATS,
    Cell,
    Result,
    counted,
    interval_text,
    p_text,
    paper_note,
    paper_table,
)
from skfilterrank._lists.system_pairs import (
    ALTERNATIVES,
    Pairs,
    Settings,
    adjust_p_values,
    check_correction,
    count_ties,
    mean_differences,
)
from skfilterrank._lists.ties import merge_values
from skfilterrank._lists.words import CORRECTION_NAMES, TEST_TITLES
from skfilterrank.comparison._system_scores import SystemScores, known_places
from skfilterrank.comparison._system_tests import (
    bootstrap_test,
    paired_t,
    randomization_test,
    randomized_tukey,
    sign_test,
    tukey_hsd_blocked,
    wilcoxon_test,
)
from skfilterrank.exceptions import InputError, brief

_OF_MATRIX = ("p_adjusted", "p_value", "difference", "effect_size", "low", "high")
_OF_RUNS = (
    "values of systems: compare_systems(evaluate_runs(qrels, runs, 'ap')) for judgments and runs"
)


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseComparison(Result):
    """Differences between systems, and their significance.

    What :func:`compare_systems` returns. Arrays have an entry for each pair compared: every two
    systems in the order of ``np.triu_indices(n_systems, 1)``, or each other system against the
    baseline.

    Attributes
    ----------
    scores : SystemScores
        The compared values.
    test, title : str
        Key and name of the test.
    correction : str or None
        Correction of the p values; None for a test that corrects by itself.
    is_family_wise : bool
        Whether the test corrects for all systems by itself, as Tukey's does.
    alternative : str
        Value of the parameter.
    alpha : float
        Level of significance; intervals have the confidence 1 - `alpha`.
    baseline : str or None
        The system all others were compared with, or None.
    first, second : ndarray of shape (n_pairs,), dtype int
        Places in ``scores.systems`` of the two systems.
    difference : ndarray of shape (n_pairs,)
        Mean of first minus mean of second, in the measure's unit.
    effect_size : ndarray of shape (n_pairs,)
        Effect size of the test, with the sign of first minus second; infinite for Cohen's d_z of a
        constant difference.
    effect_name : str
        Name of the effect size.
    low, high : ndarray of shape (n_pairs,)
        Interval of each pair; see `interval_of`. Intervals of mean differences are limited by the
        range of the measure, as in `systems`.
    interval_of : {"mean difference", "pseudo-median", "effect"}
        Quantity of the interval: the mean difference; the pseudo-median of the differences, in the
        measure's unit; or the effect size.
    p_value, p_adjusted : ndarray of shape (n_pairs,)
        P value of each pair by itself, and corrected for the number of pairs. Both are equal for a
        test that corrects by itself.
    n_tied : ndarray of shape (n_pairs,), dtype int
        Number of queries at which both systems have the same value. The sign test and Wilcoxon's
        leave them out.
    smallest_p : float
        Smallest possible p value for this number of queries and resamples; 0 if there is no bound.
    """

    scores: SystemScores
    test: str
    correction: str | None
    alternative: str
    alpha: float
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

    _display = "PairwiseComparisonDisplay"

    def significant(self, alpha: float | None = None) -> np.ndarray:
        """Compare the adjusted p value of each pair with alpha, shape (n_pairs,).

        Here and below, None takes the level of the comparison.
        """
        return self.p_adjusted <= (self.alpha if alpha is None else check_share(alpha, "alpha"))

    def better(self, alpha: float | None = None) -> np.ndarray:
        """Find the significantly better system of each pair, shape (n_pairs,), dtype int8.

        1 for the first, -1 for the second, 0 where the difference is not significant; the lower
        value is the better where ``scores.greater_is_better`` is False.
        """
        sign = 1 if self.scores.greater_is_better else -1
        return (sign * np.sign(self.effect_size) * self.significant(alpha)).astype(np.int8)

    def systems(self, alpha: float | None = None) -> pd.DataFrame:
        """Return the mean of each system with an interval, and how many others are better or worse.

        Parameters
        ----------
        alpha : float or None, default=None
            Level at which a difference counts, against adjusted p values.

        Returns
        -------
        DataFrame of shape (n_systems, 5)
            Index "system", the best mean first.

            mean : float
                Mean over queries.
            low, high : float
                Student's t interval of the mean of this system alone, of the confidence of the
                comparison. It is cut where the range of the measure ends, which takes no possible
                mean away; if much is cut, queries are too few for a t interval. Intervals of two
                systems may overlap although they differ: queries that are hard for both make each
                of the means uncertain, and not their difference.
            n_wins, n_losses : int
                Number of systems, of those it was compared with, that are significantly worse,
                and that are significantly better.

        Examples
        --------
        >>> from skfilterrank.comparison import compare_systems
        >>> values = [[0.5, 0.7, 0.6, 0.9], [0.4, 0.6, 0.4, 0.8]]
        >>> compare_systems(values).systems().round(3)
                 mean    low   high  n_wins  n_losses
        system
        0       0.675  0.403  0.947       1         0
        1       0.550  0.245  0.855       0         1
        """
        scores, better = self.scores, self.better(alpha)
        winner = np.where(better > 0, self.first, self.second)[better != 0]
        loser = np.where(better > 0, self.second, self.first)[better != 0]
        means = scores.values.mean(axis=1)
        error = scores.values.std(axis=1, ddof=1) / np.sqrt(scores.n_queries)
        reach = t.ppf(1 - self.alpha / 2, scores.n_queries - 1) * error
        least, greatest = range_of(scores)
        table = pd.DataFrame(
            {
                "mean": means,
                "low": np.maximum(means - reach, least),
                "high": np.minimum(means + reach, greatest),
                "n_wins": np.bincount(winner, minlength=scores.n_systems),
                "n_losses": np.bincount(loser, minlength=scores.n_systems),
            },
            index=pd.Index(scores.systems, name="system"),
        )
        # pandas before 3.1 drops the name of the index here.
        return table.loc[scores.means.index].rename_axis("system")

    def pairs(self, alpha: float | None = None, *, most: int | None = None) -> pd.DataFrame:
        """Return the pairs with the better system first, sorted by the order of systems.

        The better system is given by the sign of ``effect_size``, or by the mean if that is 0.
        Tests of signs and ranks may find the system with the worse mean better, even significantly;
        "difference" then has the opposite sign.

        Parameters
        ----------
        alpha : float or None, default=None
            Level at which a difference counts, against adjusted p values.
        most : int or None, default=None
            Number of pairs to keep, from 1 up; None keeps all. The most informative pairs are kept
            first: for each system the first pair with a significant difference, then other
            significant pairs, then the rest.

        Returns
        -------
        DataFrame of shape (n_pairs, 9)
            Columns "first" and "second", names of systems; "difference", "low", "high",
            "effect_size", "p_value" and "p_adjusted", as in the comparison with the signs of the
            turned pair; "significant", bool: whether the first is significantly better. Sorted by
            the place of the first system in the order of means, then by that of the second.

        Examples
        --------
        >>> from skfilterrank.comparison import compare_systems
        >>> values = [[0.4, 0.6, 0.4, 0.8], [0.5, 0.7, 0.6, 0.9]]
        >>> pairs = compare_systems(values).pairs()
        >>> pairs[["first", "second", "difference", "p_adjusted"]].round(3)
          first second  difference  p_adjusted
        0     1      0       0.125       0.015
        """
        scores = self.scores
        order = pd.Series(range(scores.n_systems), scores.means.index)
        place = order[list(scores.systems)].to_numpy()
        effect = self.effect_size if scores.greater_is_better else -self.effect_size
        behind = place[self.first] > place[self.second]
        turned = np.where(effect == 0, behind, effect < 0)
        table = self.to_frame().drop(columns="n_tied").assign(significant=self.significant(alpha))
        sides, ends = ["first", "second"], ["low", "high"]
        table.loc[turned, sides] = table.loc[turned, sides[::-1]].to_numpy()
        table.loc[turned, ends] = -table.loc[turned, ends[::-1]].to_numpy()
        table.loc[turned, ["difference", "effect_size"]] *= -1.0
        table[["difference", *ends, "effect_size"]] += 0.0
        places = order[table["second"]], order[table["first"]]
        table = table.iloc[np.lexsort(places)].reset_index(drop=True)
        if most is None:
            return table
        differs = table["significant"]
        is_first = differs & ~table["first"].where(differs).duplicated()
        kept = np.argsort(-1 * differs - is_first, kind="stable")[: check_count(most, "most")]
        return table.iloc[np.sort(kept)]

    @property
    def notes(self) -> list[str]:
        """Sentences about values without information for a test, or too few values.

        Values are all equal, differences have no spread, or no p value could be small enough.
        """
        if self._is_all_tied():
            return [
                "The systems have equal values for every query: nothing can be told apart. Check "
                "that they are different systems, or take a measure that tells more."
            ]
        n_constant = int(np.count_nonzero(np.isinf(self.effect_size)))
        if not n_constant or self.test not in ("t", "bootstrap", "tukey"):
            return self._too_few()
        return [
            *self._too_few(),
            f"The systems of {counted(n_constant, 'pair')} differ by the same amount for every "
            "query, of which a test by spread can say nothing: p is that of the signs alone. Check "
            "these values, or take test='sign'.",
        ]

    def matrix(self, what: str = "p_adjusted") -> pd.DataFrame:
        """Return one quantity of all pairs as a table of systems x systems.

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
        check_choice(what, "what", _OF_MATRIX)
        is_p = what.startswith("p_")
        table = np.full((self.scores.n_systems,) * 2, np.nan)
        np.fill_diagonal(table, 1.0 if is_p else 0.0)
        table[self.first, self.second] = getattr(self, what)
        if not (is_p and self.alternative != "two-sided"):
            mirrored = getattr(self, {"low": "high", "high": "low"}.get(what, what))
            table[self.second, self.first] = (mirrored if is_p else -mirrored) + 0.0
        systems = pd.Index(self.scores.systems, name="system")
        return pd.DataFrame(table, index=systems, columns=systems.rename("other"))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair, in the order of the arrays, systems by name."""
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

    @property
    def interval_name(self) -> str:
        """Name of the intervals: confidence, and quantity if it is not the difference."""
        name = interval_text(1 - self.alpha)
        is_of_difference = self.interval_of == "mean difference"
        return name if is_of_difference else f"{name} of the {self.interval_of}"

    def _summary(self):
        return (
            f"{self.test} of {counted(len(self.first), 'pair')} of {self.scores.n_systems} systems "
            f"by {self.scores.measure}"
        )

    def _head(self):
        n_pairs = len(self.first)
        n_significant = np.count_nonzero(self.significant())
        differ = "pair differs" if n_pairs == 1 else "pairs differ"
        lines = [
            f"{self.scores.measure}: {self.title} of {self.scores.n_systems} systems for "
            f"{self.scores.n_queries} queries, {self.correction_text()}",
            f"{n_significant:,} of {n_pairs:,} {differ} significantly at {self.alpha:g}"
            f"{self._against()}",
            *self.notes,
        ]
        return "\n".join(lines)

    def _places(self, n_rows):
        order = np.lexsort((-np.abs(self.effect_size), self.p_value, self.p_adjusted))
        return order[super()._places(n_rows)]

    def _table(self):
        names = np.array(self.scores.systems, dtype=object)
        decimal = f"{{:.{_digits(self.difference)}f}}".format
        table = {
            "first": names[self.first],
            "second": names[self.second],
            "difference": list(map(decimal, self.difference)),
            self.interval_name: [
                f"[{decimal(low)}, {decimal(high)}]" for low, high in zip(self.low, self.high)
            ],
            self.effect_name: list(map("{:.2f}".format, self.effect_size)),
            "p": list(map(p_text, self.p_value)),
        }
        if self.correction is not None and len(self.first) > 1:
            table["adjusted p"] = list(map(p_text, self.p_adjusted))
        return pd.DataFrame(table)

    def test_text(self) -> str:
        """Name of the test, and of the correction of its p values."""
        return f"{self.title}, {self.correction_text()}"

    def correction_text(self) -> str:
        """Describe the correction of the p values."""
        if self.is_family_wise:
            return "which corrects for all of them"
        if self.correction is None or len(self.first) == 1:
            return "p values not corrected"
        return f"{CORRECTION_NAMES[self.correction]} for {len(self.first):,} pairs"

    def contradiction_text(self, alpha: float | None = None) -> str:
        """Describe the pairs that differ significantly against the order of their means."""
        sign = 1 if self.scores.greater_is_better else -1
        n_pairs = int(np.count_nonzero(self.better(alpha) * sign * self.difference < 0))
        which = "pair the system" if n_pairs == 1 else "pairs the systems"
        means = "mean is" if n_pairs == 1 else "means are"
        return (
            f"of {n_pairs:,} {which} with the worse {means} significantly better: the test uses "
            f"the {self.effect_name}, not means"
        ) * bool(n_pairs)

    def _against(self):
        side = "" if self.alternative == "two-sided" else f" (first {self.alternative})"
        return side + (f", against {self.baseline}" if self.baseline is not None else "")

    def _is_all_tied(self):
        return bool((self.n_tied == self.scores.n_queries).all())

    def _too_few(self):
        """Return a sentence if the data are too few for any significance."""
        best = adjust_p_values(np.full(len(self.first), self.smallest_p), self.correction)[0]
        if best <= self.alpha:
            return []
        # Number of sign patterns if all are used, or number of resamples.
        by_queries = self.smallest_p <= 0.5 ** (self.scores.n_queries - 1)
        remedy = "Take more queries" if by_queries else "Raise n_resamples"
        corrected = f" ({best:.3g} corrected)" if best > self.smallest_p else ""
        what = f"{self.scores.n_queries} queries" if by_queries else "these resamples"
        return [
            f"No difference could be significant: the smallest p value of {what} is "
            f"{self.smallest_p:.3g}{corrected}. {remedy}"
            + (", or name a baseline, for fewer pairs." if corrected else ".")
        ]


def _digits(difference):
    """Return the number of decimals that shows the largest difference with three digits."""
    greatest = np.abs(difference).max(initial=0.0)
    return int(np.clip(2 - np.floor(np.log10(greatest)), 0, 9)) if greatest > 0 else 3


def range_of(scores):
    """Return the range of a mean, as far as it is known from the measure's name."""
    known = known_measure(scores.measure)
    if known is None:
        return -np.inf, np.inf
    least, greatest = known.range_for()
    # If values exceed the range, the name belongs to another measure, such as percentages.
    fits = scores.values.min() >= least - 1e-9 and scores.values.max() <= greatest + 1e-9
    return (least, greatest) if fits else (-np.inf, np.inf)


# Tests of all pairs: function(values, pairs, settings) -> PairFigures.
TESTS = {
    "t": paired_t,
    "wilcoxon": wilcoxon_test,
    "sign": sign_test,
    "randomization": randomization_test,
    "bootstrap": bootstrap_test,
    "tukey": tukey_hsd_blocked,
    "randomized_tukey": randomized_tukey,
}
# Their p values are corrected for all pairs already.
_FAMILY_WISE = ("tukey", "randomized_tukey")


@suggests(
    by_place=f"Pass {_OF_RUNS}.",
    qrels=_OF_RUNS,
    runs=_OF_RUNS,
    metric="measure=",
    metrics="measure=",
    max_p="alpha=",
    stat_test="test=",
)
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
    random_state=None,
    verbose: int = 0,
) -> PairwiseComparison:
    """Test every two systems for a difference over the same queries.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Value of each system for each query; at least two of each.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    test : {"t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", \
            "randomized_tukey"}, default=None
        How differences are tested; see Notes for what each assumes. None takes "t", and "sign"
        for preferences, whose sizes mean nothing.
    correction : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        Correction of the p values for the number of pairs: Holm's [4]_, Bonferroni's, or Benjamini
        and Hochberg's [5]_. Both Tukey tests correct for all systems by themselves and ignore it.
    baseline : str, default=None
        Name of a system: only the pairs of another system (first) and this one (second) are
        compared, and p values corrected for as many; but those of the two Tukey tests stay what
        they are among all pairs of all systems. None compares every two.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis: differences of either sign; those where the first system has
        the greater values; or the lower ones. This is about values, also where lower is better.
    alpha : float, default=0.05
        Level of significance, between 0 and 1. Intervals have the confidence 1 - `alpha`; they
        are two-sided whatever the alternative, and not corrected for the number of pairs (but
        those of the Tukey tests are).
    n_resamples : int, default=10000
        Number of random resamples of the resampling tests, at least 100.
    random_state : int, RandomState instance or None, default=None
        Source of the resamples, which all pairs share. Pass an int for results that can be
        repeated.
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
      means of every two differences, zeros among them; unbounded where the queries are too few for
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
    so are differences in the ranks of "wilcoxon". A pair without any difference has p value 1,
    effect size 0 and interval (0, 0) in every test but the Tukey tests, whose intervals all have
    the same width. A pair whose difference is the same for every query, and not 0, has no spread,
    so that its t and d_z are infinite with the sign of the difference, for two queries as for
    fifty. That is no evidence: "t" and "bootstrap" then use only the signs and give the p value of
    n equal signs, 2 / 2**n (one-sided 1 / 2**n, or 1 on the other side), and "tukey", if no pair
    has any spread, this times the number of pairs of all systems. The printed comparison mentions
    such pairs.

    The time grows with n_pairs times n_queries (for "wilcoxon" its square) times the number of
    resamples. Memory is bounded by blocks of pairs, whatever the number of systems; "bootstrap"
    keeps a byte for each query of each resample.

    References
    ----------
    .. [1] Fisher, R. A. The Design of Experiments, section 21. 1935.
    .. [2] Sakai, T. Evaluating evaluation metrics based on the bootstrap. SIGIR 2006.
    .. [3] Carterette, B. Multiple testing in statistical analysis of systems-based information
       retrieval experiments. ACM Transactions on Information Systems 30(1), 2012.
    .. [4] Holm, S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of
       Statistics 6, 1979.
    .. [5] Benjamini, Y. and Hochberg, Y. Controlling the false discovery rate: a practical and
       powerful approach to multiple testing. Journal of the Royal Statistical Society B 57, 1995.

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
    >>> comparison = compare_systems(sleep, test="randomization", random_state=0)
    >>> comparison.p_value, comparison.better()
    (array([0.00390625]), array([-1], dtype=int8))
    """
    scores = SystemScores.of(scores, measure, least=(2, 2))
    if test is None:
        test = "sign" if scores.is_preference else "t"
    check_choice(test, "test", tuple(TESTS))
    is_family_wise = test in _FAMILY_WISE
    check_correction(correction)
    alpha = check_share(alpha, "alpha")
    # P values of fewer resamples are too coarse.
    n_resamples = check_count(n_resamples, "n_resamples", least=100)
    check_choice(alternative, "alternative", ALTERNATIVES)
    if is_family_wise and alternative != "two-sided":
        raise InputError(
            f"alternative must be 'two-sided' for test={brief(test)}, which compares ranges and "
            f"has no direction, got {brief(alternative)}: use test='t' or 'randomization'."
        )
    if baseline is None:
        pairs = Pairs.all(scores.n_systems)
    else:
        (place,) = known_places([baseline], scores.systems, "baseline")
        baseline = scores.systems[place]
        pairs = Pairs.against(place, scores.n_systems)
    settings = Settings(alternative, 1 - alpha, n_resamples, random_state, verbose)
    values = merge_values(scores.values)
    figures = TESTS[test](values, pairs, settings)
    if figures.interval_of == "mean difference":
        figures = _cut(figures, range_of(scores))
    correction = None if is_family_wise else correction
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
        is_family_wise=is_family_wise,
    )


def _cut(figures, ends):
    """Limit intervals of differences to possible differences of the measure."""
    most = ends[1] - ends[0]
    # An unbounded interval stays unbounded.
    low, high = (
        np.where(np.isinf(end), end, np.clip(end, -most, most))
        for end in (figures.low, figures.high)
    )
    return replace(figures, low=low, high=high)


def comparison_table(
    comparisons: PairwiseComparison | Mapping[str, PairwiseComparison],
    *,
    format: str = "latex",
    digits: int = 3,
    name: str = "system",
) -> str:
    r"""Write means of systems by one or several measures, with marks of significance.

    Parameters
    ----------
    comparisons : PairwiseComparison or dict of str to PairwiseComparison
        What :func:`compare_systems` returned, several by the names of their measures, all of the
        same systems and against the same baseline, if any.
    format : {"latex", "markdown"}, default="latex"
        A `tabular` with the rules of the package booktabs, or a table as GitHub shows it.
    digits : int, default=3
        Digits after the point, from 1 up.
    name : str, default="system"
        Word for what is compared, in the head of the table and in the last line, such as "run".

    Returns
    -------
    str
        A row for each system in the order of the comparison, a column for each measure, and a line
        on the marks and tests. The best means of a measure are bold. Against a baseline, "+" marks
        a system that is significantly better and "-" one that is worse. Without, systems have
        letters (numbers where there are more than 26), and a mean has those of the systems than
        which it is significantly better.

    Raises
    ------
    ValueError
        For no comparison, comparisons of different systems or baselines, or an unknown format.

    See Also
    --------
    compare_systems : The comparison; its levels and corrections are those of the marks.

    Examples
    --------
    >>> from skfilterrank.comparison import SystemScores, compare_systems, comparison_table
    >>> values = [[0.4, 0.6, 0.4, 0.8], [0.5, 0.7, 0.6, 0.9]]
    >>> scores = SystemScores(values, systems=["old", "new"], measure="ap")
    >>> print(comparison_table(compare_systems(scores), format="markdown"))
    | system | ap |
    | --- | ---: |
    | a old | 0.550 |
    | b new | **0.675**<sup>a</sup> |
    <BLANKLINE>
    Bold: the best. Letters: significantly better than these systems (p \<= 0.05; ap: ...).
    <BLANKLINE>
    """
    check_choice(format, "format", PAPER_FORMATS)
    digits = check_count(digits, "digits")
    if isinstance(comparisons, PairwiseComparison):
        comparisons = {comparisons.scores.measure or "mean": comparisons}
    if (
        not isinstance(comparisons, Mapping)
        or not comparisons
        or not all(isinstance(each, PairwiseComparison) for each in comparisons.values())
    ):
        raise InputError(
            "comparisons must be what compare_systems returned, or a dict of such by measure, got "
            f"{brief(comparisons)}."
        )
    first, *others = comparisons.values()
    systems = list(first.scores.systems)
    for each in others:
        if list(each.scores.systems) != systems or each.baseline != first.baseline:
            raise InputError(
                "comparisons must have the same systems in the same order, and the same baseline."
            )
    letters = _letters(len(systems))
    names = [f"{letter} {system}" for system, letter in zip(systems, letters)]
    if first.baseline is not None:
        names = [f"{each}{' (baseline)' * (each == first.baseline)}" for each in systems]
    columns = [_cells(each, letters, digits) for each in comparisons.values()]
    table = paper_table([name, *comparisons], list(zip(names, *columns)), format)
    return table + paper_note(_note(comparisons, name), format)


def _letters(n):
    """Return the marks of the systems: letters or numbers."""
    if n <= len(ascii_lowercase):
        return list(ascii_lowercase[:n])
    return [str(i + 1) for i in range(n)]


def _cells(comparison, letters, digits):
    """Return the mean of each system with its marks."""
    scores, baseline = comparison.scores, comparison.baseline
    means = scores.means[list(scores.systems)].to_numpy()
    best = means.max() if scores.greater_is_better else means.min()
    beaten: list[list[int]] = [[] for _ in means]
    for first, second, better in zip(comparison.first, comparison.second, comparison.better()):
        if better:
            winner, loser = (first, second) if better > 0 else (second, first)
            beaten[winner].append(loser)
    if baseline is None:
        comma = "," if len(letters) > len(ascii_lowercase) else ""
        marks = [comma.join(letters[loser] for loser in sorted(losers)) for losers in beaten]
    else:
        own = list(scores.systems).index(baseline)
        marks = ["-" if i in beaten[own] else "+" * len(beaten[i]) for i in range(len(means))]
        marks[own] = ""
    return [
        Cell(f"{mean:.{digits}f}", mark, bool(mean == best)) for mean, mark in zip(means, marks)
    ]


def _note(comparisons, name):
    """Explain the marks."""
    first = next(iter(comparisons.values()))
    what = f"Letters: significantly better than these {name}s"
    if first.baseline is not None:
        what = f"+ and -: significantly better and worse than {first.baseline}"
    elif first.scores.n_systems > len(ascii_lowercase):
        what = f"Numbers: significantly better than these {name}s"
    measures: dict[str, list[str]] = {}
    for name, each in comparisons.items():
        test = f"{each.test_text()}, {counted(each.scores.n_queries, 'query', 'queries')}"
        measures.setdefault(test, []).append(str(name))
    tests = "; ".join(f"{', '.join(names)}: {test}" for test, names in measures.items())
    return f"Bold: the best. {what} (p <= {first.alpha:g}; {tests})."
