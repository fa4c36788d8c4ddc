"""Pairwise tests of differences between systems, and tables of results."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import ascii_lowercase

import numpy as np
import pandas as pd
from scipy.stats import t

from skfilterrank._base.checks import check_choice, check_count, check_share
from skfilterrank._base.results import PAPER_FORMATS, Cell, Result, paper_note, paper_table
from skfilterrank._base.rounding import merge_values
from skfilterrank._base.system_pairs import (
    Pairs,
    Settings,
    adjust_p_values,
    check_correction,
    count_ties,
    mean_differences,
)
from skfilterrank._base.words import CORRECTION_NAMES, TEST_TITLES, counted, interval_text, p_text
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.scoring import drawn_means
from skfilterrank.comparison._system_scores import SystemScores, known_places
from skfilterrank.comparison._system_tests import (
    bootstrap_test,
    paired_t,
    randomization_test,
    sign_test,
    tukey_hsd_blocked,
)
from skfilterrank.exceptions import InputError, Message, brief

_OF_MATRIX = ("p_adjusted", "p_value", "difference", "effect_size", "low", "high")
# The other end of an interval, which takes its place where the systems of a pair are exchanged.
_MIRRORED = {"low": "high", "high": "low", "low_these": "high_these", "high_these": "low_these"}


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseComparison(Result):
    """Differences between systems, and their significance, from :func:`compare_systems`.

    Arrays have one entry for each compared pair. Without a baseline, these are all pairs of systems
    in the order of ``np.triu_indices(n_systems, 1)``. With a baseline, each pair consists of
    another system and the baseline.

    Attributes
    ----------
    scores : SystemScores
        The compared values.
    test, title : str
        Value of the parameter `test`, and the name of the test in tables.
    correction : str or None
        Correction of the p values for the number of pairs; None for no correction, and for "tukey",
        which corrects by itself.
    is_family_wise : bool
        True for "tukey", whose p values are corrected for all pairs of systems.
    alpha : float
        Level of significance; intervals have the confidence 1 - `alpha`.
    baseline : str or None
        Name of the system that all others were compared with, or None.
    first, second : ndarray of shape (n_pairs,), dtype int
        The two systems of each pair, as positions in ``scores.systems``.
    difference : ndarray of shape (n_pairs,)
        Mean of first minus mean of second, in the measure's unit.
    effect_size : ndarray of shape (n_pairs,)
        Effect size of the test; positive if the first system has the greater values. Cohen's d_z
        is infinite if the difference is the same for every query.
    effect_name : str
        Name of the effect size.
    low, high : ndarray of shape (n_pairs,)
        Ends of the confidence interval of the quantity that `interval_of` names. Intervals of mean
        differences are limited to differences that are possible in the range of the measure.
    interval_of : {"mean difference", "effect"}
        Quantity of the intervals: the mean difference, or the effect size.
    p_value, p_adjusted : ndarray of shape (n_pairs,)
        P value of each pair before and after the correction for the number of pairs. Both are
        equal for "tukey".
    n_tied : ndarray of shape (n_pairs,), dtype int
        Number of queries for which both systems have the same value. The sign test ignores these
        queries.
    smallest_p : float
        Smallest possible p value for this number of queries and resamples; 0 if there is no bound.
    low_these, high_these : ndarray of shape (n_pairs,), or None
        For values by drawn label sets, the interval of the mean difference for these queries, whose
        labels alone are uncertain; `low` and `high` are the one for queries in general. None for
        other values.
    share_of_draws : ndarray of shape (n_pairs,), or None
        Share of the variance for queries in general that the drawn labels cause.
    critical_difference : float or None
        By "tukey", the smallest significant difference of two means at `alpha`; else None.
    """

    scores: SystemScores
    test: str
    correction: str | None
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
    low_these: np.ndarray | None = None
    high_these: np.ndarray | None = None
    share_of_draws: np.ndarray | None = None
    critical_difference: float | None = None

    def significant(self, alpha: float | None = None) -> np.ndarray:
        """Return, for each pair, if its adjusted p value is at most `alpha`.

        None takes the `alpha` of the comparison. The result has shape (n_pairs,) and dtype bool.
        """
        return self.p_adjusted <= (self.alpha if alpha is None else check_share(alpha, "alpha"))

    def better(self, alpha: float | None = None) -> np.ndarray:
        """Return 1 or -1 if the first or second system of a pair is significantly better, else 0.

        Lower values are better if ``scores.greater_is_better`` is False. `alpha` is the level of
        significance; None takes that of the comparison. The result has shape (n_pairs,) and dtype
        int8.
        """
        sign = 1 if self.scores.greater_is_better else -1
        return (sign * np.sign(self.effect_size) * self.significant(alpha)).astype(np.int8)

    def systems(self, alpha: float | None = None) -> pd.DataFrame:
        """Return mean and interval of each system, and its numbers of significant wins and losses.

        Parameters
        ----------
        alpha : float or None, default=None
            Level of significance for the adjusted p values; None takes that of the comparison.

        Returns
        -------
        DataFrame of shape (n_systems, 5)
            Index "system", the best mean first.

            mean : float
                Mean over queries.
            low, high : float
                Student's t interval of the mean of this system alone, with the confidence 1 -
                `alpha` of the comparison. It is cut at the ends of the range that the measure has
                for any gains. If much is cut, there are too few queries for a t interval. By drawn
                label sets it includes the error of the draws. Intervals of two systems may overlap
                although the systems differ significantly: hard queries make both means uncertain,
                but not the difference of the means.
            n_wins, n_losses : int
                Number of compared systems that are significantly worse than this system, and
                number of compared systems that are significantly better.

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
        sets = scores.sets
        found = drawn_means(sets.mean(axis=2), sets.std(axis=2, ddof=1), scores.n_queries)
        means, error = found.mean, found.total / np.sqrt(scores.n_queries)
        reach = t.ppf(1 - self.alpha / 2, found.degrees) * error
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
        """Return a table of the pairs, with the better system of each pair first.

        The sign of ``effect_size`` decides which system is better; if it is 0, the means decide.
        The sign test can find the system with the worse mean better. "difference" then
        has the opposite sign of "effect_size".

        Parameters
        ----------
        alpha : float or None, default=None
            Level of significance for the adjusted p values; None takes that of the comparison.
        most : int or None, default=None
            Largest number of pairs to return, from 1 up; None returns all. The first significant
            pair of each better system is kept first, then other significant pairs, then the rest.

        Returns
        -------
        DataFrame of shape (n_pairs, 9), or (n_pairs, 12) by drawn label sets
            "first" and "second" are the names of the better and the worse system. "difference",
            "low", "high", "effect_size", "p_value" and "p_adjusted" are as in the attributes, with
            changed signs if the pair was turned around. "significant" is True if the first system
            is significantly better. Rows are sorted by the rank of the first system in the order
            of means, then by the rank of the second system.

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
        sides, ends = ["first", "second"], [name for name in _MIRRORED if name in table]
        mirrored = [_MIRRORED[name] for name in ends]
        table.loc[turned, sides] = table.loc[turned, sides[::-1]].to_numpy()
        table.loc[turned, ends] = -table.loc[turned, mirrored].to_numpy()
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
        """Warnings for the reader of the results, as a list of sentences.

        They say one of three things: all systems have equal values; the difference of a pair is the
        same for every query; or even the smallest possible p value would not be significant.
        """
        if self._is_all_tied():
            return [
                "The systems have equal values for every query, so no test can tell them apart. "
                "Check that they are different systems, or take another measure."
            ]
        n_constant = int(np.count_nonzero(np.isinf(self.effect_size)))
        if not n_constant or self.test not in ("t", "bootstrap", "tukey"):
            return self._too_few()
        return [
            *self._too_few(),
            Message(
                f"The systems of {counted(n_constant, 'pair')} differ by the same amount for every "
                "query. A test that divides by the spread cannot be used then, so p is that of a "
                "sign test. Check these values, or take {test='sign'}.",
                "test='sign'",
            ),
        ]

    def matrix(self, what: str = "p_adjusted") -> pd.DataFrame:
        """Return one quantity of all pairs as a square table of systems.

        Parameters
        ----------
        what : {"p_adjusted", "p_value", "difference", "effect_size", "low", "high"}, \
                default="p_adjusted"
            Quantity in the cells. P values are symmetric, with 1 on the diagonal. Differences and
            effect sizes are those of row minus column, with 0 on the diagonal. "low" and "high" are
            the interval of row minus column.

        Returns
        -------
        DataFrame of shape (n_systems, n_systems)
            Rows and columns are in the order of ``scores.systems``. Cells of pairs that were not
            compared are NaN.
        """
        check_choice(what, "what", _OF_MATRIX)
        is_p = what.startswith("p_")
        table = np.full((self.scores.n_systems,) * 2, np.nan)
        np.fill_diagonal(table, 1.0 if is_p else 0.0)
        table[self.first, self.second] = getattr(self, what)
        mirrored = getattr(self, _MIRRORED.get(what, what))
        table[self.second, self.first] = (mirrored if is_p else -mirrored) + 0.0
        systems = pd.Index(self.scores.systems, name="system")
        return pd.DataFrame(table, index=systems, columns=systems.rename("other"))

    def to_frame(self) -> pd.DataFrame:
        """Return the attributes of the pairs as a DataFrame with one row per pair.

        "first" and "second" hold the names of the systems.
        """
        names = np.array(self.scores.systems, dtype=object)
        of_draws = ("low_these", "high_these", "share_of_draws") * (self.low_these is not None)
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
            | {name: getattr(self, name) for name in of_draws}
        )

    @property
    def interval_name(self) -> str:
        """Title of the intervals in tables: confidence, and quantity if it is not the difference.

        Examples are "95 % interval" and "95 % interval of the effect".
        """
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
        against = f", against {self.baseline}" if self.baseline is not None else ""
        lines = [
            f"{self.scores.measure}: {self.title} of {self.scores.n_systems} systems for "
            f"{self.scores.n_queries} queries, {self.correction_text()}",
            f"{n_significant:,} of {n_pairs:,} {differ} significantly at {self.alpha:g}{against}",
            *self.notes,
        ]
        return "\n".join(lines)

    def _places(self, n_rows):
        order = np.lexsort((-np.abs(self.effect_size), self.p_value, self.p_adjusted))
        return order[super()._places(n_rows)]

    def _table(self):
        names = np.array(self.scores.systems, dtype=object)
        decimal = f"{{:.{_digits(self.difference)}f}}".format

        def intervals(lows, highs):
            return [f"[{decimal(low)}, {decimal(high)}]" for low, high in zip(lows, highs)]

        table = {
            "first": names[self.first],
            "second": names[self.second],
            "difference": list(map(decimal, self.difference)),
            self.interval_name: intervals(self.low, self.high),
        }
        if self.low_these is not None:
            table["these queries"] = intervals(self.low_these, self.high_these)
        table |= {
            self.effect_name: list(map("{:.2f}".format, self.effect_size)),
            "p": list(map(p_text, self.p_value)),
        }
        if self.correction is not None and len(self.first) > 1:
            table["adjusted p"] = list(map(p_text, self.p_adjusted))
        return pd.DataFrame(table)

    def test_text(self) -> str:
        """Return the name of the test and of its correction, as a text for tables."""
        return f"{self.title}, {self.correction_text()}"

    def correction_text(self) -> str:
        """Return a text that says how the p values are corrected."""
        if self.is_family_wise:
            return "which corrects for all systems"
        if self.correction is None or len(self.first) == 1:
            return "p values not corrected"
        return f"{CORRECTION_NAMES[self.correction]} for {len(self.first):,} pairs"

    def contradiction_text(self, alpha: float | None = None) -> str:
        """Return a text on pairs whose significantly better system has the worse mean, or ""."""
        sign = 1 if self.scores.greater_is_better else -1
        n_pairs = int(np.count_nonzero(self.better(alpha) * sign * self.difference < 0))
        which = "pair the system" if n_pairs == 1 else "pairs the systems"
        means = "mean is" if n_pairs == 1 else "means are"
        return (
            f"of {n_pairs:,} {which} with the worse {means} significantly better, because the test "
            f"uses the {self.effect_name}, not means"
        ) * bool(n_pairs)

    def _is_all_tied(self):
        return bool((self.n_tied == self.scores.n_queries).all())

    def _too_few(self):
        """Return a list of one sentence if no possible p value is significant, else of none."""
        best = adjust_p_values(np.full(len(self.first), self.smallest_p), self.correction)[0]
        if best <= self.alpha:
            return []
        # The smallest p value is limited by the number of queries (sign patterns) or of resamples.
        by_queries = self.smallest_p <= 0.5 ** (self.scores.n_queries - 1)
        remedy = "Take more queries" if by_queries else "Raise {n_resamples}"
        corrected = f" ({best:.3g} corrected)" if best > self.smallest_p else ""
        what = f"{self.scores.n_queries} queries" if by_queries else "these resamples"
        fewer = ", or name a baseline to compare fewer pairs" * bool(corrected)
        return [
            Message(
                f"No difference could be significant: the smallest p value of {what} is "
                f"{self.smallest_p:.3g}{corrected}. {remedy}{fewer}.",
                "n_resamples",
            )
        ]


def _digits(difference):
    """Return the number of decimals with which the largest difference shows three digits."""
    greatest = np.abs(difference).max(initial=0.0)
    return int(np.clip(2 - np.floor(np.log10(greatest)), 0, 9)) if greatest > 0 else 3


def range_of(scores):
    """Return the smallest and greatest possible value of the measure, by its name.

    They are -inf and inf if the name is unknown, or if the values exceed the known range.
    """
    known = known_measure(scores.measure)
    if known is None:
        return -np.inf, np.inf
    least, greatest = known.range_for()
    # Values outside the range are of another measure with that name, or are percentages.
    fits = scores.values.min() >= least - 1e-9 and scores.values.max() <= greatest + 1e-9
    return (least, greatest) if fits else (-np.inf, np.inf)


# Each test is a function (values, pairs, settings) -> PairFigures.
TESTS = {
    "t": paired_t,
    "sign": sign_test,
    "randomization": randomization_test,
    "bootstrap": bootstrap_test,
    "tukey": tukey_hsd_blocked,
}


def compare_systems(
    scores,
    *,
    measure: str | None = None,
    test: str | None = None,
    correction: str | None = "holm",
    baseline: str | None = None,
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    random_state=None,
    verbose: int = 0,
) -> PairwiseComparison:
    """Test each pair of systems for a significant difference over the same queries.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Value of each system for each query; at least two of each. Values by drawn label sets are
        compared by "t" only.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    test : {"t", "sign", "randomization", "bootstrap", "tukey"}, default=None
        Significance test; see Notes. None takes "sign" for preferences, because the sizes of their
        differences mean nothing, and "t" for all other values.
    correction : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        Correction of the p values for the number of pairs: Holm's [4]_, Bonferroni's, or Benjamini
        and Hochberg's [5]_. "tukey" ignores it, because it corrects for all pairs of systems by
        itself.
    baseline : str, default=None
        Name of a system that each other system is compared with; it is the second system of each
        pair. P values are corrected for these pairs only, but "tukey" still corrects for all
        pairs of systems. None compares all pairs.
    alpha : float, default=0.05
        Level of significance, between 0 and 1. Intervals have the confidence 1 - `alpha`. They are
        not corrected for the number of pairs, except for "tukey".
    n_resamples : int, default=10000
        Number of random resamples of the resampling tests, at least 100.
    random_state : int, RandomState instance or None, default=None
        Source of the resamples, which all pairs share. Pass an int for results that can be
        repeated.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    PairwiseComparison
        Difference, interval, effect size and p values of each pair. Printing it shows a table.

    Raises
    ------
    ValueError
        If there are fewer than two systems or queries, or a parameter has a value that is not
        described above.

    See Also
    --------
    discriminative_power : Share of pairs for which a measure finds a significant difference.
    conflicts : Pairs for which the tests of two measures disagree.

    Notes
    -----
    Let d be the differences (first minus second) of the values of a pair for the n queries.

    - "t": the paired t test compares mean(d) with Student's t distribution with n - 1 degrees of
      freedom. The effect size is Cohen's d_z, mean(d) / sd(d). The interval is that of the mean
      difference.
    - "sign": an exact binomial test of the number of positive d; zeros are ignored. The effect size
      is the net share of queries, (number of d > 0 - number of d < 0) / (number of d other than 0).
      Its interval follows from the Clopper-Pearson interval of the share of positive d.
    - "randomization": compares mean(d) with means after signs of d are flipped at random [1]_. If
      there are no more than `n_resamples` patterns of signs (2^n), all are used. Otherwise p =
      (b + 1) / (n_resamples + 1), where b counts the resamples whose mean is at least as extreme.
      So no p value is below 1 / (n_resamples + 1), and with the corrections of Bonferroni and Holm
      for m pairs, significance at 0.05 needs about 20 m resamples. Effect size and interval are
      those of "t".
    - "bootstrap": Sakai's test [2]_ draws queries with replacement from d - mean(d). p = (b + 1) /
      (n_resamples + 1), where b counts the resamples whose t statistic is at least as extreme as
      that of d. As for "randomization", corrections for many pairs need many resamples. A resample
      without spread has an infinite t, or 0 if its mean is 0. The effect size is that of "t". The
      interval is mean(d) plus and minus the standard error times the quantile of abs(t) over the
      resamples; it is unbounded if too many resamples have no spread.
    - "tukey": Tukey's honestly significant differences with queries as blocks [3]_ compare the
      difference of two means with the studentized range of the means of all systems. All pairs
      share one variance, MSE, the residual variance of the two-way layout of systems and queries.
      The effect size is difference / sqrt(MSE). Intervals are those of the mean differences, and
      hold simultaneously for all pairs.

    By drawn label sets, the difference is the mean over sets of the mean difference of the queries.
    Its variance for queries in general is W + (1 + 1 / m) B, and (1 + 1 / m) B for these queries: W
    is the mean over the m sets of the squared standard error, and B the variance of the m mean
    differences (Rubin's rules [6]_; degrees of freedom of [7]_, or m - 1).

    The values of preferences are shares of beaten systems. "t" and the resampling tests use these
    shares as numbers.

    Values that differ by less than 2**-47 times the largest of all values are rounding errors
    apart, and count as equal. If all differences of a pair are 0, its p value is 1, its effect size
    0 and its interval (0, 0); intervals of "tukey" keep the width that they have for all pairs.

    If the difference of a pair is the same for every query, and not 0, it has no spread: t and d_z
    are infinite for any number of queries, and so are no evidence. "t" and "bootstrap" then give
    the p value of n equal signs, 2 / 2**n.
    "tukey" multiplies this p value by the number of all pairs, if no pair has any spread. The
    printed comparison mentions such pairs.

    The time is proportional to n_pairs * n_queries * n_resamples; without resamples, to n_pairs *
    n_queries. Pairs are compared in blocks, so memory does not grow with the number of systems;
    "bootstrap" keeps one byte for each query of each resample.

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
    .. [6] Rubin, D. B. Multiple Imputation for Nonresponse in Surveys. Wiley 1987.
    .. [7] Barnard, J. and Rubin, D. B. Small-sample degrees of freedom with multiple imputation.
       Biometrika 86(4), 1999.

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
    scores = SystemScores.of(scores, measure, least=(2, 2), may_have_draws=True)
    if test is None:
        test = "sign" if scores.is_preference else "t"
    check_choice(test, "test", tuple(TESTS))
    if test != "t" and scores.draws is not None:
        raise InputError(
            f"{{test}} must be 't' for values by drawn label sets, got {brief(test)}: only "
            "the t test counts how far the drawn sets differ.",
            argument="test",
        )
    is_family_wise = test == "tukey"
    check_correction(correction)
    alpha = check_share(alpha, "alpha")
    # With fewer resamples, the smallest possible p value would be above 0.01.
    n_resamples = check_count(n_resamples, "n_resamples", least=100)
    if baseline is None:
        pairs = Pairs.all(scores.n_systems)
    else:
        (place,) = known_places([baseline], scores.systems, "baseline")
        baseline = scores.systems[place]
        pairs = Pairs.against(place, scores.n_systems)
    settings = Settings(1 - alpha, n_resamples, random_state, verbose)
    values = merge_values(scores.values)
    given = values if scores.draws is None else merge_values(scores.draws)
    figures = TESTS[test](given, pairs, settings)
    if figures.interval_of == "mean difference":
        figures = _cut(figures, range_of(scores))
    correction = None if is_family_wise else correction
    return PairwiseComparison(
        scores=scores,
        test=test,
        correction=correction,
        alpha=alpha,
        baseline=baseline,
        **vars(pairs),
        **vars(figures),
        difference=mean_differences(values, pairs),
        p_adjusted=adjust_p_values(figures.p_value, correction),
        n_tied=count_ties(values, pairs),
        title=TEST_TITLES[test]
        + ("" if scores.draws is None else f" over {len(scores.draws)} drawn label sets"),
        is_family_wise=is_family_wise,
    )


def _cut(figures, ends):
    """Limit intervals of mean differences to the differences that the measure's range allows."""
    most = ends[1] - ends[0]
    names = ("low", "high", "low_these", "high_these")
    found = {name: end for name in names if (end := getattr(figures, name)) is not None}
    # An unbounded interval means too few queries, so it stays unbounded.
    cut = {
        name: np.where(np.isinf(end), end, np.clip(end, -most, most)) for name, end in found.items()
    }
    return replace(figures, **cut)


def comparison_table(
    comparisons: PairwiseComparison | Mapping[str, PairwiseComparison],
    *,
    format: str = "latex",
    digits: int = 3,
    name: str = "system",
) -> str:
    r"""Return a table of the systems' means for a paper, with marks of significance.

    Parameters
    ----------
    comparisons : PairwiseComparison or dict of str to PairwiseComparison
        Result of :func:`compare_systems`, or a dict from names of measures to such results. All
        must have the same systems, baseline and `alpha`.
    format : {"latex", "markdown"}, default="latex"
        A LaTeX `tabular` with the rules of the package booktabs, or a Markdown table as on GitHub.
    digits : int, default=3
        Digits after the decimal point, from 1 up.
    name : str, default="system"
        Word for a system in the head of the table and in the note below it, such as "run".

    Returns
    -------
    str
        Text of the table, with a row for each system, a column for each measure, and a note that
        explains the marks and names the tests. The best means of a measure are bold. With a
        baseline, "+" and "-" mark systems that are significantly better and worse than the
        baseline. Without a baseline, each system has a letter, or a number if there are more than
        26 systems. A mean is marked with the letters of the systems that are significantly worse.

    Raises
    ------
    ValueError
        If `comparisons` is empty or mixes systems, baselines or `alpha`, or if `format` is unknown.

    See Also
    --------
    compare_systems : Make the comparisons; the marks use their `alpha` and `correction`.

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
            "comparisons must be a result of compare_systems, or a dict from names of measures to "
            f"such results, got {brief(comparisons)}."
        )
    first, *others = comparisons.values()
    systems = list(first.scores.systems)
    for each in others:
        how = each.baseline, each.alpha
        if list(each.scores.systems) != systems or how != (first.baseline, first.alpha):
            raise InputError(
                "comparisons must all have the same systems in the same order, and the same "
                "baseline and alpha: pass results of compare_systems for the same systems."
            )
    letters = _letters(len(systems))
    names = [f"{letter} {system}" for system, letter in zip(systems, letters)]
    if first.baseline is not None:
        names = [f"{each}{' (baseline)' * (each == first.baseline)}" for each in systems]
    columns = [_cells(each, letters, digits) for each in comparisons.values()]
    table = paper_table([name, *comparisons], list(zip(names, *columns)), format)
    return table + paper_note(_note(comparisons, name), format)


def _letters(n):
    """Return a distinct mark for each of n systems: letters up to 26 systems, else numbers."""
    if n <= len(ascii_lowercase):
        return list(ascii_lowercase[:n])
    return [str(i + 1) for i in range(n)]


def _cells(comparison, letters, digits):
    """Return a table cell for each system: its mean, its marks of significance, bold if best."""
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
    """Return the note below the table, which explains the marks and names the tests."""
    first = next(iter(comparisons.values()))
    what = f"Letters: significantly better than these {name}s"
    if first.baseline is not None:
        what = f"+ and -: significantly better and worse than {first.baseline}"
    elif first.scores.n_systems > len(ascii_lowercase):
        what = f"Numbers: significantly better than these {name}s"
    measures: dict[str, list[str]] = {}
    for name, each in comparisons.items():
        test = f"{each.test_text()}, {counted(each.scores.n_queries, 'query')}"
        measures.setdefault(test, []).append(str(name))
    tests = "; ".join(f"{', '.join(names)}: {test}" for test, names in measures.items())
    return f"Bold: the best. {what} (p <= {first.alpha:g}; {tests})."
