"""Values of several systems for the same queries."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skfilterrank._base.checks import (
    as_list,
    as_number_array,
    check_choice,
    check_flag,
    check_number,
    is_finite_number,
    is_hashable,
    is_whole_number,
)
from skfilterrank._base.results import Result
from skfilterrank._base.rounding import merge_means, merge_values, value_tolerance
from skfilterrank._base.words import counted, warn_user
from skfilterrank._files.files import source_name
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.positions import PreferenceMatrix
from skfilterrank._lists.scoring import mean_of_sets
from skfilterrank.comparison._score_tables import (
    choose_measure,
    is_long,
    one_measure,
    read_values,
    systems_by_queries,
    turned,
    warn_of_shape,
)
from skfilterrank.exceptions import DataWarning, InputError, MissingValuesError, brief

_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SystemScores(Result):
    """Values of systems for queries by one measure: the input of comparisons.

    The class takes a matrix or table of systems x queries. :meth:`of` reads what other functions
    return, :meth:`read` reads files of ``skfilterrank evaluate --per-query`` and trec_eval, and
    :func:`score_systems` measures runs.

    Parameters
    ----------
    values : array-like or DataFrame of shape (n_systems, n_queries)
        Value of each system for each query. NaN means that the system has no value for the query.
        The index of a DataFrame names the systems and its columns name the queries. If the axes
        have the names "qid", "query" or "topic", and "run" or "system", these decide, so queries
        may also be the rows.
    systems : sequence of length n_systems, default=None
        Distinct names of the systems, which are kept as text. None takes the names in the
        DataFrame, or numbers from 0.
    queries : sequence of length n_queries, default=None
        Distinct query ids of any type. None takes the ids in the DataFrame, or numbers from 0.
    measure : str, default="score"
        Name of the measure.
    greater_is_better : bool or None, default=None
        False if lower values are better, as by "recall_error". None uses the direction of the
        known measure with the name `measure`, or True if the name is unknown.
    is_preference : bool or None, default=None
        True if values only order the systems of a query, so that the size of a difference means
        nothing. Comparisons then use the sign test by default. None is True for
        "lexirecall(scale=preference)" and "lexiprecision(scale=preference)", and False for all
        other measures.
    missing : {"raise", "drop"} or float, default="raise"
        Treatment of a query for which some system has no value. "raise" is an error. "drop" leaves
        the query out for all systems. A number is used as the missing value.
    dropped_queries : tuple, default=()
        Ids of queries that were left out earlier, for the attribute `dropped_queries`.

    Attributes
    ----------
    values : ndarray of shape (n_systems, n_queries), dtype float64
        Values, all finite; read only.
    systems : tuple of str
        Names of the systems.
    queries : tuple
        Query ids, in the order given.
    measure : str
        Name of the measure.
    greater_is_better, is_preference : bool
        Value of the parameter.
    dropped_queries : tuple
        Ids of the queries that were left out because of `missing`, or earlier.
    draws : ndarray of shape (n_draws, n_systems, n_queries), or None
        Values in each drawn label set, whose means are `values`; None for other judgments.
    condensed : ndarray of shape (n_systems, n_queries), or None
        With `draws`, values by the labels that are not drawn and lists without other documents.

    Raises
    ------
    ValueError
        If names or query ids repeat, if their number does not fit the values, if a value is
        infinite, or if a value is missing and `missing` is "raise".

    Warns
    -----
    DataWarning
        If an array has more rows than columns and neither systems nor queries have names, because
        rows and columns may be swapped.

    See Also
    --------
    compare_systems : Significance tests of the differences between systems.
    score_systems : Measure runs by several measures.

    Notes
    -----
    In the printed table, "wins" counts the queries for which only this system has the best value.

    Examples
    --------
    >>> from skfilterrank.comparison import SystemScores
    >>> scores = SystemScores(
    ...     [[0.5, 0.7, 0.2], [0.4, 0.9, 0.6]], systems=["old", "new"], measure="ap")
    >>> scores.means
    new    0.633333
    old    0.466667
    Name: ap, dtype: float64
    >>> print(scores)
    ap of 2 systems for 3 queries
         mean     sd  wins
    new 0.633  0.252     2
    old 0.467  0.252     1
    """

    values: np.ndarray
    systems: tuple[str, ...]
    queries: tuple
    measure: str
    greater_is_better: bool
    is_preference: bool
    dropped_queries: tuple
    draws: np.ndarray | None = None
    condensed: np.ndarray | None = None

    _digits = 3

    def __init__(
        self,
        values,
        *,
        systems: Iterable[Hashable] | None = None,
        queries: Iterable[Hashable] | None = None,
        measure: str = "score",
        greater_is_better: bool | None = None,
        is_preference: bool | None = None,
        missing: str | float = "raise",
        dropped_queries: tuple = (),
    ):
        is_named = systems is not None or queries is not None
        if isinstance(values, pd.DataFrame) or is_long(values):
            is_table = is_named and not is_long(values)
            values = turned(values) if is_table else systems_by_queries(values)
            systems = values.index if systems is None else systems
            queries = values.columns if queries is None else queries
            is_named = True
        array = _numbers(values)
        if not is_named:
            warn_of_shape(array.shape)
        systems = _names(systems, array.shape[0], "systems", "rows", as_text=True)
        queries = _names(queries, array.shape[1], "queries", "columns")
        known = known_measure(measure)
        if greater_is_better is None:
            greater_is_better = getattr(known, "greater_is_better", True)
        if is_preference is None:
            only_orders = getattr(known, "preference", "")
            is_preference = bool(only_orders) and "scale=preference" in measure
        check_flag(greater_is_better, "greater_is_better")
        check_flag(is_preference, "is_preference")
        dropped_queries = tuple(as_list(dropped_queries, "dropped_queries", "query ids"))
        array, is_dropped = _settled(array, systems, queries, missing)
        array.flags.writeable = False
        vars(self).update(
            values=array,
            systems=systems,
            queries=tuple(compress(queries, ~is_dropped)),
            measure=measure,
            greater_is_better=bool(greater_is_better),
            is_preference=bool(is_preference),
            dropped_queries=(*compress(queries, is_dropped), *dropped_queries),
            draws=None,
            condensed=None,
        )

    @classmethod
    def of(
        cls,
        scores,
        measure: str | None = None,
        *,
        missing: str | float = "raise",
        least: tuple[int, int] = (1, 1),
        name: str = "scores",
        may_have_draws: bool = False,
    ) -> Self:
        """Convert values of systems in any form that this package returns into SystemScores.

        Every function of this package with a parameter `scores` uses this method.

        Parameters
        ----------
        scores : SystemScores, dict, DataFrame, Series, PreferenceMatrix or array-like
            SystemScores are returned unchanged. A dict {measure: SystemScores}, as
            :func:`score_systems` returns; a DataFrame or Series with index levels or columns "run"
            (or "system") and "qid" (or "query", "topic") and a column for each measure, as
            :func:`~skfilterrank.metrics.evaluate_runs` returns; or a matrix or table of systems x
            queries, as the class takes it.
        measure : str or None, default=None
            Name of the measure to read if there are several; None if there is only one. For a
            matrix, which has no names of measures, it becomes the attribute `measure`.
        missing : {"raise", "drop"} or float, default="raise"
            Treatment of missing values, as in the class. In a long table, a pair of system and
            query without a row is a missing value.
        least : (int, int), default=(1, 1)
            Smallest allowed number of systems and of queries.
        name : str, default="scores"
            Name of the values in error messages.
        may_have_draws : bool, default=False
            Whether values by drawn label sets are accepted: False where a statistic would take
            their means for values that are known.

        Returns
        -------
        SystemScores
            The values by one measure.

        Raises
        ------
        ValueError
            If there are several measures and `measure` is None, if `measure` is not among them, if
            a system has two values for a query, if there are fewer systems or queries than `least`,
            and in the same cases as the class.

        Examples
        --------
        >>> import pandas as pd
        >>> from skfilterrank.comparison import SystemScores
        >>> frame = pd.DataFrame(
        ...     {"run": ["a", "a", "b"], "qid": ["1", "2", "1"], "ap": [0.5, 0.7, 0.4]})
        >>> SystemScores.of(frame, missing="drop").dropped_queries
        ('2',)
        """
        try:
            scores = cls._read(scores, measure, missing, name)
        except ValueError as error:
            error.add_note(f"The error concerns {name}.")
            raise
        scores._check_size(least, name)
        if scores.draws is not None and not may_have_draws:
            raise InputError(
                f"{name} are values by drawn label sets, whose errors this function does not take "
                "into account: pass values by labels that people made. compare_systems (test 't'), "
                "order_systems and kendall_tau take drawn ones."
            )
        return scores

    @classmethod
    def of_draws(
        cls,
        draws: pd.DataFrame,
        condensed: pd.DataFrame,
        measure: str,
        *,
        missing: str | float = "raise",
    ) -> Self:
        """Make SystemScores of values by drawn label sets.

        Parameters
        ----------
        draws : DataFrame
            A column for each system; index levels "draw" and "qid", every query in every draw.
        condensed : DataFrame
            The same by the labels that are not drawn; index "qid".
        measure : str
            Name of the measure.
        missing : {"raise", "drop"} or float, default="raise"
            Treatment of a query for which a system has no value in some set, as in the class: it is
            missing in all sets.

        Returns
        -------
        SystemScores
            Means over the sets, with `draws` and `condensed`.
        """
        condensed = condensed.reindex(draws.index.unique("qid"))
        sets = draws.to_numpy().reshape(-1, *condensed.shape).swapaxes(1, 2)
        if not isinstance(missing, str):
            sets = np.where(np.isnan(sets), missing, sets)
        means = np.where(np.isnan(sets).any(axis=0), np.nan, mean_of_sets(sets))
        table = pd.DataFrame(means, index=draws.columns, columns=condensed.index)
        scores = cls(
            table.rename_axis(index="system", columns="qid"), measure=measure, missing=missing
        )
        kept = ~np.isnan(means).any(axis=0)
        own = np.nan_to_num(condensed.to_numpy().T)
        # In this layout sums over queries are those of ordinary values, to the last bit.
        vars(scores).update(draws=np.ascontiguousarray(sets[..., kept]), condensed=own[:, kept])
        return scores

    @classmethod
    def read(cls, source, *, measures=None, missing: str | float = "raise") -> dict[str, Self]:
        r"""Read values that ``skfilterrank evaluate --per-query`` or ``trec_eval -q`` wrote.

        Parameters
        ----------
        source : str, PathLike or file object, or list of these
            Files to read. Each may be output of ``skfilterrank evaluate`` with ``--format`` csv or
            trec, or of trec_eval; the first line decides. Files may be compressed with gzip.
            Several files must hold different systems.
        measures : str, list of str or None, default=None
            Names of measures to keep; None keeps all. Counts of trec_eval, such as num_rel, are not
            measures and are ignored.
        missing : {"raise", "drop"} or float, default="raise"
            Treatment of a query for which some system has no value, as in the class.

        Returns
        -------
        dict of str to SystemScores
            The values by the name of each measure, as it is written in the file. Systems and
            queries have the order of the file. A system without a name (trec_eval without the line
            "runid") gets the name of the file.

        Raises
        ------
        FileFormatError
            If a line does not have the format of the file, if a system has two values for a query,
            or if a value is not a number. The error names file and line.
        ValueError
            If a measure is not in the file, or if a value is missing and `missing` is "raise".

        See Also
        --------
        score_systems : Measure runs; preferences are then exact.

        Notes
        -----
        ``--format trec`` and trec_eval round values to four digits, so close values may become
        tied. csv keeps all digits.

        Examples
        --------
        >>> import io
        >>> from skfilterrank.comparison import SystemScores
        >>> text = "run,qid,ap\nold,1,0.5\nold,2,0.25\nnew,1,0.75\nnew,2,0.5\n"
        >>> SystemScores.read(io.StringIO(text))["ap"].means
        new    0.625
        old    0.375
        Name: ap, dtype: float64
        """
        table = read_values(source, measures)
        try:
            return {
                str(name): cls.of(table[name], missing=missing, name="source") for name in table
            }
        except InputError as error:
            sources = source if isinstance(source, list | tuple) else [source]
            error.add_note(f"The values are those of {', '.join(map(source_name, sources[:3]))}.")
            raise

    @classmethod
    def _read(cls, scores, measure, missing, name):
        """Convert values in any form, without the checks of :meth:`of`."""
        if (draws := getattr(scores, "per_draw", None)) is not None:
            measure = choose_measure(draws.columns, measure, name)
            return cls.of_draws(*scores.sets_by_run(measure), measure, missing=missing)
        scores = getattr(scores, "per_query", scores)  # a result of evaluate_runs
        if isinstance(scores, PreferenceMatrix):
            scores = cls.from_preferences(scores)
        if isinstance(scores, cls):
            choose_measure([scores.measure], measure, name)
            return scores
        if isinstance(scores, Mapping) and has_queries(scores):
            return scores[choose_measure(scores, measure, name)]
        if is_long(scores):
            scores, measure = one_measure(scores, measure, name)
            return cls._measured(scores, measure, missing)
        if measure is None:
            return cls(scores, missing=missing)
        return cls._measured(scores, measure, missing)

    @classmethod
    def _measured(cls, table, measure, missing):
        """Make SystemScores from values by a measure.

        Values by a measure with scale=preference are replaced by the share of the other systems
        that the system beats.
        """
        scores = cls(table, measure=measure, missing=missing)
        if not scores.is_preference or scores.n_systems < 2:
            return scores
        shares = (rankdata(scores.oriented, axis=0) - 1) / (scores.n_systems - 1)
        return scores.with_values(shares, greater_is_better=True, is_preference=True)

    @classmethod
    def from_preferences(cls, preferences: PreferenceMatrix) -> Self:
        """Make SystemScores from the exact order of the systems for each query.

        Parameters
        ----------
        preferences : PreferenceMatrix
            The order of the systems for each query. Queries without relevant documents, for which
            no system is preferred, are dropped (see `dropped_queries`).

        Returns
        -------
        SystemScores
            The value of a system for a query is the share of the other systems that it beats; a tie
            counts as half. It is the mid-rank scaled to [0, 1], so a difference of two values has
            exactly the sign of the preference.

        Raises
        ------
        ValueError
            If there are fewer than two systems.

        Examples
        --------
        >>> from skfilterrank.comparison import SystemScores
        >>> from skfilterrank._lists.positions import PreferenceMatrix, positions_of_systems
        >>> systems = {"a": [4, 1, 3, 2], "b": [3, 2, 4, 1], "c": [4, 3, 2, 1]}
        >>> how = {"groups": ["q"] * 4, "gains": None, "ties": "worst", "unjudged": "zero"}
        >>> positions = positions_of_systems([1, 1, 0, 0], systems, **how)
        >>> SystemScores.from_preferences(PreferenceMatrix.from_positions(positions)).means
        c    1.0
        b    0.5
        a    0.0
        Name: lexirecall(scale=preference), dtype: float64
        """
        ranks = preferences.ranks
        if ranks.shape[1] < 2:
            raise InputError(
                f"preferences must hold at least 2 systems to compare, got {ranks.shape[1]}."
            )
        decided = preferences.n_relevant > 0
        beaten = (ranks.shape[1] - ranks[decided]) / (ranks.shape[1] - 1)
        return cls(
            beaten.T,
            measure=f"lexi{preferences.kind}(scale=preference)",
            is_preference=True,
            dropped_queries=tuple(ranks.index[~decided]),
        )

    def with_values(self, values, **changes) -> Self:
        """Return SystemScores with other values, but the same systems and queries.

        Parameters
        ----------
        values : array-like of shape (n_systems, n_queries)
            The other values, without NaN.
        **changes
            New values of the parameters `measure`, `greater_is_better` and `is_preference`.

        Returns
        -------
        SystemScores
            A new object; this one does not change.
        """
        return self._part(values, self.systems, self.queries, **changes)

    def _part(self, values, systems, queries, **changes):
        """Make SystemScores with the settings of these, but other values, systems and queries."""
        params = {
            "measure": self.measure,
            "greater_is_better": self.greater_is_better,
            "is_preference": self.is_preference,
            "dropped_queries": self.dropped_queries,
        }
        return SystemScores(values, systems=systems, queries=queries, **(params | changes))

    @property
    def sets(self) -> np.ndarray:
        """Values in each label set; ordinary values are one set, (n_sets, n_systems, n_queries)."""
        return self.values[None] if self.draws is None else self.draws

    @property
    def oriented(self) -> np.ndarray:
        """Values with greater as better: negated if lower is better; (n_systems, n_queries)."""
        return self.values if self.greater_is_better else -self.values

    @property
    def n_systems(self) -> int:
        """Number of systems, the number of rows of `values`."""
        return len(self.systems)

    @property
    def n_queries(self) -> int:
        """Number of queries, the number of columns of `values`."""
        return len(self.queries)

    @property
    def means(self) -> pd.Series:
        """Mean over queries of each system, the best first."""
        means = pd.Series(self.values.mean(axis=1), list(self.systems), name=self.measure)
        # Systems whose means differ only by rounding errors keep their order.
        return means.iloc[np.argsort(-merge_means(self.oriented), kind="stable")]

    def select(self, *, systems=None, queries=None) -> Self:
        """Return the values of some systems or queries, in the given order.

        Parameters
        ----------
        systems : sequence of str or None, default=None
            Names of systems; None keeps all.
        queries : sequence or None, default=None
            Query ids; None keeps all.

        Returns
        -------
        SystemScores
            The selected values.

        Raises
        ------
        ValueError
            If a name or query id is unknown or repeats.
        """
        rows = known_places(self.systems if systems is None else systems, self.systems, "systems")
        columns = known_places(
            self.queries if queries is None else queries, self.queries, "queries"
        )
        cells = np.ix_(rows, columns)
        part = self._part(
            self.values[cells],
            [self.systems[row] for row in rows],
            [self.queries[column] for column in columns],
        )
        if self.draws is not None and self.condensed is not None:
            vars(part).update(draws=self.draws[:, *cells], condensed=self.condensed[cells])
        return part

    def aligned_to(self, other: Self) -> Self:
        """Return these values with systems and queries in the order of other scores.

        Parameters
        ----------
        other : SystemScores
            Values of the same systems for the same queries, by any measure.

        Returns
        -------
        SystemScores
            The reordered values.

        Raises
        ------
        ValueError
            If a system or query is in one of the two only.

        Examples
        --------
        >>> from skfilterrank.comparison import SystemScores
        >>> ap = SystemScores([[0.5, 0.7], [0.4, 0.9]], systems=["old", "new"])
        >>> rr = SystemScores([[1.0, 0.5], [0.2, 0.3]], systems=["new", "old"])
        >>> rr.aligned_to(ap).systems
        ('old', 'new')
        """
        check_same("systems", other.systems, self.systems, ("first", "second"))
        check_same("queries", other.queries, self.queries, ("first", "second"))
        if other.systems == self.systems and other.queries == self.queries:
            return self
        return self.select(systems=other.systems, queries=other.queries)

    def fraction_tied(self, *, tolerance: float = 0.0) -> float:
        """Compute the share of ties among all comparisons of two systems for one query.

        Parameters
        ----------
        tolerance : float, default=0.0
            Two values are tied if they differ by at most this much, in the unit of the measure.
            Values that differ only by rounding errors are tied even for a tolerance of 0.

        Returns
        -------
        float
            Share of ties among all combinations of a query and a pair of systems, in [0, 1].

        Raises
        ------
        ValueError
            If there are fewer than two systems, or `tolerance` is negative or not a number.

        References
        ----------
        Diaz, F. and Mitra, B. Recall, robustness, and lexicographic evaluation, section 6.2.2.

        Examples
        --------
        Three systems make three pairs. One pair is tied for the first query, all are tied for the
        second, and none for the third: 4 of 9 comparisons.

        >>> from skfilterrank.comparison import SystemScores
        >>> scores = SystemScores([[0.5, 1.0, 0.9], [0.5, 1.0, 0.8], [0.2, 1.0, 0.7]])
        >>> scores.fraction_tied()
        0.444...
        """
        tolerance = check_number(tolerance, "tolerance", least=0)
        self._check_size((2, 1))
        values = np.sort(merge_values(self.values), axis=0)
        tolerance += value_tolerance(values)
        n_tied = 0
        for column in values.T:
            last = np.searchsorted(column, column + tolerance, side="right")
            n_tied += int(last.sum()) - (len(column) * (len(column) + 1)) // 2
        return n_tied / (self.n_queries * self.n_systems * (self.n_systems - 1) / 2)

    def percentage_differences(self, *, divide_by: str = "size") -> np.ndarray:
        r"""Compute the difference of each pair of means in percent of the greater mean.

        The mean of the returned values shows how far apart a measure puts the systems. It depends
        on the scale of the measure: the same difference is a larger percentage of smaller means.
        :func:`sensitivity_curve` and :func:`compare_systems` compare differences with chance
        variation instead.

        Parameters
        ----------
        divide_by : {"size", "letter"}, default="size"
            Divisor of a difference: "size" is the absolute value of the greater mean, and "letter"
            is the greater mean itself, as in the printed formula. They differ only if both means
            are negative.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Percentages of the pairs, in the order of ``np.triu_indices(n_systems, 1)``. If no mean
            is negative, they are between 0 and 100. A pair of two means of 0 has 0.

        Raises
        ------
        ValueError
            If there are fewer than two systems.

        Warns
        -----
        DataWarning
            If a mean is negative.

        Notes
        -----
        The mean of the returned array is equation 8 of [1]_.

        References
        ----------
        .. [1] Karmaker and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022.

        Examples
        --------
        For the means 0.5, 0.4 and 0.3, the mean is (0.1 / 0.5 + 0.2 / 0.5 + 0.1 / 0.4) / 3.

        >>> from skfilterrank.comparison import SystemScores
        >>> scores = SystemScores([[0.5], [0.4], [0.3]], systems=["a", "b", "c"])
        >>> float(scores.percentage_differences().mean().round(2))
        28.33
        """
        check_choice(divide_by, "divide_by", ("size", "letter"))
        self._check_size((2, 1))
        means = self.values.mean(axis=1)
        if means.min() < 0:
            warn_user(
                f"{np.count_nonzero(means < 0)} of {len(means)} means are negative, so percentages "
                "may be above 100 and say little. Use sensitivity_curve for measures that can be "
                "negative.",
                DataWarning,
            )
        first, second = np.triu_indices(len(means), 1)
        size, greater = (
            np.abs(means[first] - means[second]),
            np.maximum(means[first], means[second]),
        )
        if divide_by == "size":
            greater = np.abs(greater)
        limit = np.where(size > 0, np.inf, 0.0)
        return 100 * np.divide(size, greater, out=limit, where=greater != 0)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with systems as rows ("system") and queries as columns ("qid")."""
        return pd.DataFrame(
            self.values,
            index=pd.Index(self.systems, name="system"),
            columns=pd.Index(self.queries, name="qid", tupleize_cols=False),
        )

    def plot(self, ax=None, **kwargs) -> Any:
        """Compare systems and draw the groups of those that are not significantly different.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed to :meth:`skfilterrank.plot.CriticalDifferenceDisplay.from_scores`.

        Returns
        -------
        CriticalDifferenceDisplay
            The drawn display; its artists are attributes.

        Raises
        ------
        ValueError, ImportError
            In the same cases as :meth:`skfilterrank.plot.CriticalDifferenceDisplay.from_scores`.
        """
        return self._find_display().from_scores(self, ax=ax, **kwargs)

    def _check_size(self, least, name="scores"):
        """Raise if there are fewer systems or queries than the pair `least` requires."""
        for what, number, enough in zip(
            ("systems", "queries"), (self.n_systems, self.n_queries), least
        ):
            if number < enough:
                raise InputError(f"{name} must hold at least {enough} {what}, got {number}.")

    def _summary(self):
        systems = counted(self.n_systems, "system")
        return f"{self.measure} of {systems} for {counted(self.n_queries, 'query')}"

    def _head(self):
        head = self._summary()
        if self.is_preference:
            head += ", share of the other systems beaten"
        if self.dropped_queries:
            head += f" ({len(self.dropped_queries):,} dropped)"
        if self.draws is not None:
            head += f"; labels drawn in {len(self.draws)} sets"
        return head

    def _table(self):
        values = merge_values(self.oriented)
        best = values == values.max(axis=0, initial=-np.inf)
        # Nobody wins a query for which several systems have the best value.
        best &= best.sum(axis=0) == 1
        table = pd.DataFrame(
            {
                "mean": self.values.mean(axis=1),
                "sd": self.values.std(axis=1, ddof=1) if self.n_queries > 1 else np.nan,
                "wins": best.sum(axis=1),
            },
            index=list(self.systems),
        )
        return table.loc[self.means.index]


def _settled(array, systems, queries, missing):
    """Apply the parameter `missing` to an array with NaN.

    Returns the values without NaN, and a mask of the dropped queries.
    """
    is_missing, is_dropped = np.isnan(array), np.zeros(len(queries), dtype=bool)
    if not (
        missing in ("raise", "drop") if isinstance(missing, str) else is_finite_number(missing)
    ):
        raise InputError(f"missing must be 'raise', 'drop' or a number, got {brief(missing)}.")
    if not is_missing.any():
        return array, is_dropped
    if missing == "drop":
        is_dropped = is_missing.any(axis=0)
        if is_dropped.all():
            raise InputError(
                "{missing='drop'} leaves no query, because no query has a value of every system. "
                "Leave out systems{, or pass missing= a number to use as the missing value}.",
                argument=(
                    "missing='drop'",
                    ", or pass missing= a number to use as the missing value",
                ),
            )
        return array[:, ~is_dropped], is_dropped
    if missing == "raise":
        system, query = np.argwhere(is_missing)[0]
        raise MissingValuesError(
            f"{counted(np.count_nonzero(is_missing), 'value is', 'values are')} missing "
            f"(NaN): system {brief(systems[system])} has none for query "
            f"{brief(queries[query])}. Systems are compared on the same queries: give "
            "missing='drop' to leave out such queries for all systems, or a number to use as the "
            "missing value.",
            {
                name: tuple(compress(queries, lacks))
                for name, lacks in zip(systems, is_missing)
                if lacks.any()
            },
        )
    return np.where(is_missing, float(missing), array), is_dropped


def _numbers(values):
    """Copy values into a float64 matrix; raise if they are no matrix of numbers or infinite."""
    numbers = as_number_array(values, "values")
    if numbers is None:
        raise InputError(
            f"values must be numbers in a matrix of systems x queries, got {brief(values)}. Of a "
            "dict {system: values}, make a table: pandas.DataFrame(values).T."
        )
    array = np.array(numbers, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(
            "values must be a matrix of systems x queries with at least one of each, got shape "
            f"{array.shape}."
        )
    if np.isinf(array).any():
        system, query = np.argwhere(np.isinf(array))[0]
        raise InputError(
            f"values must be finite, got {array[system, query]} in row {system}, column {query}."
        )
    return array


def _names(names, n_expected, argument, what, *, as_text=False):
    """Return names as a tuple; raise if they repeat, are missing or are not `n_expected` names.

    None stands for numbers from 0. `what` names the axis of the values in the message.
    """
    names = tuple(range(n_expected)) if names is None else tuple(as_list(names, argument, "names"))
    for name in names:
        if not is_hashable(name) or (not isinstance(name, tuple) and pd.isna(name)):
            raise InputError(
                f"{argument} must be names such as texts or numbers without missing ones, got "
                f"{brief(name)}."
            )
    if as_text:
        names = tuple(map(str, names))
    if len(names) != n_expected:
        raise InputError(
            f"{argument} must name the {n_expected} {what} of values, got {len(names)} names."
        )
    if len(set(names)) < len(names):
        counts = pd.Series(names, dtype=object).value_counts()
        repeated = [name for name, count in counts.items() if count > 1]
        shown = ", ".join(map(brief, repeated[:_SHOWN]))
        occur = "occurs" if len(repeated) == 1 else "occur"
        raise InputError(
            f"{argument} must all have different names, but {shown} {occur} more than once: "
            "rename them, or leave out copies."
        )
    return names


def known_places(names, known, argument):
    """Return the positions of `names` in `known`; raise for an unknown name."""
    names = [names] if isinstance(names, str) else as_list(names, argument, "names")
    places = {name: place for place, name in enumerate(known)}
    # Names of systems are kept as text, so a number is looked up as text.
    names = [str(name) if is_whole_number(name) and name not in places else name for name in names]
    unknown = [name for name in names if not is_hashable(name) or name not in places]
    if unknown:
        raise InputError(
            f"{argument}: {brief(unknown[0])} is not among the {len(known)} known names, such as "
            f"{', '.join(map(brief, known[:_SHOWN]))}."
        )
    return [places[name] for name in names]


def check_same(what, ours, theirs, names):
    """Raise if the names in `ours` and `theirs` are not the same set.

    `what` says in the message what is named; `names` are the two arguments.
    """
    odd = sorted(set(ours) ^ set(theirs), key=str)
    if odd:
        holder = names[0] if odd[0] in set(ours) else names[1]
        hint = " Select the common queries with select(queries=...)." * (what == "queries")
        raise InputError(
            f"{names[0]} and {names[1]} must have the same {what}, but "
            f"{counted(len(odd), 'is', 'are')} in only one of the two, such as {brief(odd[0])} in "
            f"{holder}.{hint}"
        )


def has_queries(values) -> bool:
    """Return True for values of systems for single queries, as :meth:`SystemScores.of` reads."""
    if isinstance(values, Mapping):
        return bool(values) and all(isinstance(each, SystemScores) for each in values.values())
    return isinstance(values, SystemScores | PreferenceMatrix) or is_long(values)
