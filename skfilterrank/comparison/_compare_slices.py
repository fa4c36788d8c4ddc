"""Comparison of the mean of a measure for slices of the queries with the other queries."""

from dataclasses import dataclass
from math import comb

import numpy as np
import pandas as pd
from scipy.special import stdtr

from skfilterrank._lists.checks import check_choice, check_count, check_share
from skfilterrank._lists.groupings import Slices, read_slices
from skfilterrank._lists.results import Result, counted, interval_text
from skfilterrank._lists.system_pairs import (
    BLOCK_BYTES,
    adjust_p_values,
    check_correction,
    ratio,
    seeds_of,
)
from skfilterrank._lists.ties import ROUNDING_OF_MEANS, ROUNDING_OF_VALUES, merge_values
from skfilterrank._lists.words import CORRECTION_NAMES
from skfilterrank.comparison._compare_systems import range_of
from skfilterrank.comparison._system_scores import SystemScores
from skfilterrank.comparison._system_tests import t_interval

_TESTS = {"randomization": "randomization test", "t": "Welch's t test"}


@dataclass(frozen=True, eq=False, repr=False)
class SliceComparison(Result):
    """Values of slices and tests against the other queries, from :func:`compare_slices`."""

    slices: pd.DataFrame
    measure: str
    n_queries: int
    test: str
    correction: str | None
    alpha: float

    def significant(self, alpha: float | None = None) -> np.ndarray:
        """Return, for each row of `slices`, if its adjusted p value is at most `alpha`.

        None takes the `alpha` of the comparison. The result has shape (n_rows,) and dtype bool.
        """
        alpha = self.alpha if alpha is None else check_share(alpha, "alpha")
        return self.slices["p_adjusted"].to_numpy() <= alpha

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of `slices`."""
        return self.slices.copy()

    def _summary(self):
        n_different = np.count_nonzero(self.significant())
        return (
            f"{self.measure} of {counted(len(self.slices), 'slice')} of "
            f"{counted(self.n_queries, 'query', 'queries')}, {n_different} different"
        )

    def _head(self):
        correction = CORRECTION_NAMES.get(str(self.correction), "p values not corrected")
        n_tests = int(self.slices["p_value"].notna().sum())
        return (
            f"{self.measure} by slices of {counted(self.n_queries, 'query', 'queries')}: "
            f"{_TESTS[self.test]} against the other queries, {correction}\n"
            f"{np.count_nonzero(self.significant())} of {counted(n_tests, 'slice')} significantly "
            f"different at {self.alpha:g}"
        )

    def _table(self):
        table = self.slices
        low, high = (table[name].map("{:.4f}".format) for name in ("low", "high"))
        shown = table[["slicing", "slice", "system", "n_queries", "value"]].copy()
        shown[interval_text(1 - self.alpha)] = "[" + low + ", " + high + "]"
        shown["difference"], shown["p_adjusted"] = table["difference"], table["p_adjusted"]
        alike = [name for name in ("slicing", "system") if len(set(table[name])) == 1]
        return shown.drop(columns=alike)


def compare_slices(
    scores,
    slices: Slices,
    *,
    measure: str | None = None,
    test: str = "randomization",
    correction: str | None = "holm",
    alpha: float = 0.05,
    missing: str | float = "raise",
    n_resamples: int = 10_000,
    random_state=None,
) -> SliceComparison:
    """Compare slices of the queries, such as languages, sources or lengths, with all queries.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Value of each system for each query, by any measure, such as :func:`score_predictions`
        and :func:`score_systems` return; one system suffices.
    slices : dict, Series or DataFrame
        The slice of each query. A dict maps query ids to slices. A Series has the query ids in its
        index or in an index level "qid"; if a query has several rows, they must agree. A DataFrame
        has the query ids in its index or in a column "qid", and each other column is one way to
        slice the queries. Every query of `scores` must be there; None or NaN puts a query in no
        slice. Cut numbers such as lengths into intervals first, for example with
        :func:`pandas.qcut`.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    test : {"randomization", "t"}, default="randomization"
        Test that compares the queries of a slice with all other queries, see Notes.
    correction : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        Correction of the p values for the number of slices and systems, see
        :func:`compare_systems`.
    alpha : float, default=0.05
        Level of significance, between 0 and 1. Each interval has the confidence 1 - `alpha`; the
        correction does not widen the intervals.
    missing : {"raise", "drop"} or float, default="raise"
        Treatment of a query for which some system has no value, as in :class:`SystemScores`.
    n_resamples : int, default=10000
        Number of random resamples of the randomization test, at least 100.
    random_state : int, RandomState instance or None, default=None
        Source of the resamples, which all slices and systems share. Pass an int for results that
        can be repeated.

    Returns
    -------
    SliceComparison
        Value, interval, number of queries, difference to the whole and p values of each slice.

        slices : DataFrame
            A row for each slice and system: "slicing", "slice" and "system" name it; "n_queries";
            "value", the mean over the queries of the slice, with "low" and "high" of its interval;
            "whole", the mean over all queries; "difference", value minus whole; "p_value", and
            "p_adjusted", corrected for the number of rows.
        measure : str
            Name of the measure.
        n_queries : int
            Number of all queries.
        test : str
            Value of the parameter.
        correction : str or None
            Value of the parameter.
        alpha : float
            Level of significance; intervals have the confidence 1 - `alpha`.

    Raises
    ------
    ValueError
        If `slices` lacks a query of `scores` or puts it in two slices of one column, if no query
        is in any slice, or if a parameter has a value that is not described above.

    See Also
    --------
    compare_systems : Compare systems with each other on the same queries.
    skfilterrank.metrics.rank_filter_report : Report all figures of a filter; ``slices=`` adds
        them for each slice.

    Notes
    -----
    Each slice is tested against all queries that are not in it. The null hypothesis is the same as
    for a test against all queries: the slice has the mean of all queries exactly if it has the mean
    of the other queries.

    - "randomization": each resample draws as many queries as the slice has, at random from all
      queries. p = (b + 1) / (n_resamples + 1), where b counts the resamples whose mean is at least
      as far from the mean of all queries as the mean of the slice. The test is valid for any number
      of queries if slices are independent of the values.
    - "t": Welch's test, which allows a different variance in the slice. Its p values are too small
      if the slice has few queries with equal values, which is common for rates. The p value is NaN
      if the slice or the rest has only one query.

    Intervals are Student's t intervals, limited to the range of the measure. The interval of a
    slice with one query is NaN. The p value of a slice that holds all queries is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.comparison import compare_slices
    >>> values = [0.9, 0.8, 0.7, 0.9, 0.8, 0.2, 0.3, 0.1, 0.4, 0.3]
    >>> languages = dict(enumerate(["en"] * 5 + ["fr"] * 5))
    >>> print(compare_slices([values], languages, random_state=0))
    score by slices of 10 queries: randomization test against the other queries, Holm's correction
    2 of 2 slices significantly different at 0.05
    slice  n_queries  value  95 % interval difference p_adjusted
    ...
    """
    scores = SystemScores.of(scores, measure, missing=missing)
    check_choice(test, "test", tuple(_TESTS))
    check_correction(correction)
    alpha = check_share(alpha, "alpha")
    n_resamples = check_count(n_resamples, "n_resamples", least=100)
    parts = read_slices(slices, scores.queries)
    members = np.array([part.members for part in parts])
    values = merge_values(scores.values)
    if test == "t":
        p_values = _welch(values, members)
    else:
        p_values = _randomization(values, members, n_resamples, random_state)
    least, greatest = range_of(scores)
    rows = []
    for place, part in enumerate(parts):
        for number, system in enumerate(scores.systems):
            own, whole = values[number, part.members], float(values[number].mean())
            low, high = _interval(own, 1 - alpha)
            rows.append(
                {
                    "slicing": part.slicing,
                    "slice": part.name,
                    "system": system,
                    "n_queries": len(own),
                    "value": float(own.mean()),
                    "low": max(low, least),
                    "high": min(high, greatest),
                    "whole": whole,
                    "difference": float(own.mean()) - whole,
                    "p_value": p_values[place, number],
                }
            )
    table = pd.DataFrame(rows)
    tested = table["p_value"].notna()
    table["p_adjusted"] = np.nan
    table.loc[tested, "p_adjusted"] = adjust_p_values(table.loc[tested, "p_value"], correction)
    return SliceComparison(table, scores.measure, scores.n_queries, test, correction, alpha)


def _interval(values, confidence):
    """Compute Student's t interval of the mean; NaN for a single value."""
    if len(values) < 2:
        return np.nan, np.nan
    low, high = t_interval(values.mean(), values.std(ddof=1), len(values), confidence)
    return float(low), float(high)


def _welch(values, members):
    """Run Welch's t test of each slice; return p values of shape (n_slices, n_systems)."""
    p_values = np.full((len(members), len(values)), np.nan)
    for place, is_in in enumerate(members):
        sides = values[:, is_in], values[:, ~is_in]
        sizes = [side.shape[1] for side in sides]
        if min(sizes) < 2:
            continue
        first, second = (_variance(side) / side.shape[1] for side in sides)
        difference = sides[0].mean(axis=1) - sides[1].mean(axis=1)
        difference[np.abs(difference) <= ROUNDING_OF_MEANS * np.abs(values).max(axis=1)] = 0.0
        freedom = ratio(
            (first + second) ** 2, first**2 / (sizes[0] - 1) + second**2 / (sizes[1] - 1)
        )
        t = ratio(difference, np.sqrt(first + second))
        found = np.minimum(2 * stdtr(np.maximum(freedom, 1.0), -np.abs(t)), 1.0)
        # If no values vary, t is infinite for any number of queries. The p value is then
        # 2 / (number of ways to choose as many queries), as for an exact two-sided permutation
        # test.
        by_chance = min(2 / comb(sum(sizes), min(sizes)), 1.0)
        p_values[place] = np.where(np.isinf(t), by_chance, found)
    return p_values


def _variance(values):
    """Compute the variance of each row, or 0 if its values differ only by rounding errors."""
    largest = np.abs(values).max(axis=1)
    return np.where(
        np.ptp(values, axis=1) > ROUNDING_OF_VALUES * largest, values.var(axis=1, ddof=1), 0.0
    )


def _randomization(values, members, n_resamples, random_state):
    """Run the randomization test of each slice; return p values of shape (n_slices, n_systems).

    All slices and systems use the same resamples.
    """
    n_queries = values.shape[1]
    # The p values do not depend on the systems' means, but sums of smaller numbers are more exact.
    centered = values - values.mean(axis=1, keepdims=True)
    weights = members.astype(np.float64)
    observed = np.abs(weights @ centered.T)
    observed -= ROUNDING_OF_MEANS * np.abs(values).sum(axis=1)
    counts = np.zeros(observed.shape, dtype=np.int64)
    generator = np.random.default_rng(seeds_of(random_state))
    step = max(1, BLOCK_BYTES // (8 * n_queries * (1 + len(members))))
    for start in range(0, n_resamples, step):
        rows = np.tile(np.arange(n_queries), (min(step, n_resamples - start), 1))
        drawn = weights[:, generator.permuted(rows, axis=1)]
        counts += (np.abs(drawn @ centered.T) >= observed[:, np.newaxis]).sum(axis=1)
    p_values = (counts + 1) / (n_resamples + 1)
    p_values[members.all(axis=1)] = np.nan
    return p_values
