"""Values of several systems for the same queries."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skfilterrank._files.files import source_name
from skfilterrank._lists.checks import (
    as_list,
    as_number_array,
    check_choice,
    check_flag,
    check_number,
    is_finite_number,
    is_hashable,
    is_whole_number,
)
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.positions import PreferenceMatrix
from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.ties import merge_means, merge_values, value_tolerance
from skfilterrank._lists.words import warn_user
from skfilterrank.comparison._score_tables import (
    choose_measure,
    is_long,
    one_measure,
    read_values,
    systems_by_queries,
    warn_of_shape,
)
from skfilterrank.exceptions import DataWarning, InputError, MissingValuesError, brief

# Measures that only order the systems of a query by scale=preference.
_PREFERENCES = ("lexirecall", "lexiprecision")
_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False, init=False)
class SystemScores(Result):
    """Values of systems for queries by one measure: the input of comparisons.

    Make it from an array or a table of systems x queries; of what other functions return by
    :meth:`of`; of runs by several measures by :func:`score_systems`; of what
    ``skfilterrank evaluate --per-query`` wrote by :meth:`read`.

    Parameters
    ----------
    values : array-like or DataFrame of shape (n_systems, n_queries)
        Value of each system for each query. A DataFrame names systems by its index and queries by
        its columns, or the other way round where its axes are named so: "qid", "query" or "topic",
        "run" or "system". NaN means that the system has no value for the query.
    systems : sequence of length n_systems, default=None
        Names of the systems, each another; kept as text, and asked for as text or number. None
        takes those of the DataFrame, or numbers from 0.
    queries : sequence of length n_queries, default=None
        Query ids, each another, of any type. None takes those of the DataFrame, or numbers from 0.
    measure : str, default="score"
        Name of the measure.
    greater_is_better : bool or None, default=None
        False where a lower value is better, as with "recall_error". None asks the measure table,
        and is True for a name that is not in it.
    is_preference : bool or None, default=None
        Whether values only order the systems of a query, so that the size of a difference means
        nothing. Comparisons then use tests of signs and ranks unless told otherwise. None is True
        for "lexirecall(scale=preference)" and "lexiprecision(scale=preference)", and False for all
        others.
    missing : {"raise", "drop"} or float, default="raise"
        Treatment of a query for which some system has no value: an error; the query is left
        out for all systems; the system gets this number.
    dropped_queries : tuple, default=()
        Queries that were left out before.

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
        Queries that were left out, because of `missing` and before.
    n_filled : int
        Number of values that `missing` filled in.

    Raises
    ------
    ValueError
        If names or queries repeat or do not fit the values, if a value is infinite, or if one is
        missing and `missing` names no way out.

    Warns
    -----
    DataWarning
        If nothing names the axes, and there are more systems than queries.

    See Also
    --------
    compare_systems : Which differences are more than chance.
    score_systems : Values of runs by several measures.

    Notes
    -----
    Printed, "wins" are the queries for which the system alone has the best value.

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
    # Mask of the values that `missing` filled in; None if there are none.
    _is_filled: np.ndarray | None

    _digits = 3
    _display = "CriticalDifferenceDisplay"

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
            values = values if is_named else systems_by_queries(values)
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
            only_orders = getattr(known, "name", None) in _PREFERENCES
            is_preference = only_orders and "scale=preference" in measure
        check_flag(greater_is_better, "greater_is_better")
        check_flag(is_preference, "is_preference")
        dropped_queries = tuple(as_list(dropped_queries, "dropped_queries", "query ids"))
        array, is_filled, is_dropped = _settled(array, systems, queries, missing)
        array.flags.writeable = False
        vars(self).update(
            values=array,
            systems=systems,
            queries=tuple(compress(queries, ~is_dropped)),
            measure=measure,
            greater_is_better=bool(greater_is_better),
            is_preference=bool(is_preference),
            dropped_queries=(*compress(queries, is_dropped), *dropped_queries),
            _is_filled=is_filled,
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
    ) -> Self:
        """Read values of systems by one measure, in any form that this package returns.

        Every function of this package that takes `scores` reads them so.

        Parameters
        ----------
        scores : SystemScores, dict, DataFrame, Series, PreferenceMatrix or array-like
            SystemScores are returned unchanged. A dict {measure: SystemScores}, as
            :func:`score_systems` returns; a DataFrame or Series with index levels or columns "run"
            (or "system") and "qid" (or "query", "topic") and a column for each measure, as
            :func:`~skfilterrank.metrics.evaluate_runs` returns; or a matrix or table of systems x
            queries, as the class takes it.
        measure : str or None, default=None
            Which measure, where there are several; None where there is only one. Of a matrix it
            is the name of the measure.
        missing : {"raise", "drop"} or float, default="raise"
            As for the class; a missing row is a missing value.
        least : (int, int), default=(1, 1)
            Smallest number of systems and of queries.
        name : str, default="scores"
            Name of the values in messages.

        Returns
        -------
        SystemScores
            The values of at least so many systems for so many queries. Where `measure` names a
            known measure, whether greater is better is known too.

        Raises
        ------
        ValueError
            If there are several measures and none is chosen, if the one that is chosen is not
            there, if a system has two values for a query, if there are too few, or as the class.

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
        return scores

    @classmethod
    def read(cls, source, *, measures=None, missing: str | float = "raise") -> dict[str, Self]:
        r"""Read values that ``skfilterrank evaluate --per-query`` or ``trec_eval -q`` wrote.

        Parameters
        ----------
        source : str, PathLike or file object, or list of these
            Where to read: text of ``--format csv``, ``json`` or ``trec``, or of trec_eval; which of
            them it is, is seen from the first line. gzip is unzipped. Of several files, each holds
            other systems.
        measures : str, list of str or None, default=None
            Names of measures to keep; None keeps all. The counts of trec_eval, such as num_rel, are
            no measures.
        missing : {"raise", "drop"} or float, default="raise"
            Treatment of a query for which some system has no value, as in the class.

        Returns
        -------
        dict of str to SystemScores
            By the names of the measures as written. Systems and queries stand in the order of the
            file. A system without a name (trec_eval without the line "runid") gets that of the
            file.

        Raises
        ------
        FileFormatError
            If a line is not of its format, a system has two values for a query, a value is no
            number. The error names file and line.
        ValueError
            If a measure is not there, or a value is missing and `missing` names no way out.

        See Also
        --------
        score_systems : Values from runs and judgments, preferences exactly.

        Notes
        -----
        ``--format trec`` and trec_eval write four digits, which makes ties of values that differ by
        less; csv and json keep all digits.

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
        """Read values in any form; `measure` selects one, or names unnamed values."""
        scores = getattr(scores, "per_query", scores)  # what evaluate_runs returns
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
        """Make scores from a measure's values; lexicographic values become preferences."""
        scores = cls(table, measure=measure, missing=missing)
        if not scores.is_preference or scores.n_systems < 2:
            return scores
        shares = (rankdata(scores.oriented, axis=0) - 1) / (scores.n_systems - 1)
        return scores.with_values(shares, greater_is_better=True, is_preference=True)

    @classmethod
    def from_preferences(cls, preferences: PreferenceMatrix) -> Self:
        """Make scores from the exact order of the systems of each query.

        Parameters
        ----------
        preferences : PreferenceMatrix
            The order of the systems of each query. Queries without relevant
            documents, for which no system is preferred, are left out and counted.

        Returns
        -------
        SystemScores
            The value of a system for a query is the share of the other systems that it is
            preferred to, with halves for equal ones: the mid-rank, turned to [0, 1]. Differences
            have the sign of the preference exactly.

        Raises
        ------
        ValueError
            If there are fewer than two systems.

        Examples
        --------
        >>> from skfilterrank.comparison import SystemScores
        >>> from skfilterrank._lists.positions import preference_matrix
        >>> systems = {"a": [4, 1, 3, 2], "b": [3, 2, 4, 1], "c": [4, 3, 2, 1]}
        >>> preferences = preference_matrix([1, 1, 0, 0], systems, groups=["q"] * 4)
        >>> SystemScores.from_preferences(preferences).means
        c    1.0
        b    0.5
        a    0.0
        Name: lexirecall(scale=preference), dtype: float64
        """
        ranks = preferences.ranks
        if ranks.shape[1] < 2:
            raise InputError("preferences of one system compare nothing: give at least two.")
        decided = preferences.n_relevant > 0
        beaten = (ranks.shape[1] - ranks[decided]) / (ranks.shape[1] - 1)
        return cls(
            beaten.T,
            measure=f"lexi{preferences.kind}(scale=preference)",
            is_preference=True,
            dropped_queries=tuple(ranks.index[~decided]),
        )

    def with_values(self, values, **changes) -> Self:
        """Return scores with other values for the same systems and queries.

        Parameters
        ----------
        values : array-like of shape (n_systems, n_queries)
            The other values, none of them missing.
        **changes
            `measure`, `greater_is_better` and `is_preference` of these values, where they change.

        Returns
        -------
        SystemScores
        """
        return self._part(values, self.systems, self.queries, self._is_filled, **changes)

    def _part(self, values, systems, queries, is_filled, **changes):
        """Return values of some of the systems and queries."""
        params = {
            "measure": self.measure,
            "greater_is_better": self.greater_is_better,
            "is_preference": self.is_preference,
            "dropped_queries": self.dropped_queries,
        }
        part = SystemScores(values, systems=systems, queries=queries, **(params | changes))
        vars(part)["_is_filled"] = is_filled
        return part

    @property
    def oriented(self) -> np.ndarray:
        """Values, negated if lower is better; shape (n_systems, n_queries)."""
        return self.values if self.greater_is_better else -self.values

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.queries)

    @property
    def n_filled(self) -> int:
        """Number of values that `missing` filled in."""
        return 0 if self._is_filled is None else int(np.count_nonzero(self._is_filled))

    @property
    def means(self) -> pd.Series:
        """Mean over queries of each system, the best first."""
        means = pd.Series(self.values.mean(axis=1), list(self.systems), name=self.measure)
        # Means that are equal up to rounding keep the order of the systems.
        return means.iloc[np.argsort(-merge_means(self.oriented), kind="stable")]

    def select(self, *, systems=None, queries=None) -> Self:
        """Select systems or queries, in the given order.

        Parameters
        ----------
        systems : sequence of str or None, default=None
            Names of systems; None keeps all.
        queries : sequence or None, default=None
            Query ids; None keeps all.

        Returns
        -------
        SystemScores

        Raises
        ------
        ValueError
            If a name or query is unknown, or asked for twice.
        """
        rows = known_places(self.systems if systems is None else systems, self.systems, "systems")
        columns = known_places(
            self.queries if queries is None else queries, self.queries, "queries"
        )
        return self._part(
            self.values[np.ix_(rows, columns)],
            [self.systems[row] for row in rows],
            [self.queries[column] for column in columns],
            None if self._is_filled is None else self._is_filled[np.ix_(rows, columns)],
        )

    def aligned_to(self, other: Self, *, names: tuple[str, str] = ("first", "second")) -> Self:
        """Reorder systems and queries like other scores, which must have the same ones.

        Parameters
        ----------
        other : SystemScores
            Values of the same systems for the same queries, by any measure.
        names : (str, str), default=("first", "second")
            Names of `other` and of these values in messages.

        Returns
        -------
        SystemScores

        Raises
        ------
        ValueError
            If only one of the two holds a system or query.

        Examples
        --------
        >>> from skfilterrank.comparison import SystemScores
        >>> ap = SystemScores([[0.5, 0.7], [0.4, 0.9]], systems=["old", "new"])
        >>> rr = SystemScores([[1.0, 0.5], [0.2, 0.3]], systems=["new", "old"])
        >>> rr.aligned_to(ap).systems
        ('old', 'new')
        """
        check_same("systems", other.systems, self.systems, names)
        check_same("queries", other.queries, self.queries, names)
        if other.systems == self.systems and other.queries == self.queries:
            return self
        return self.select(systems=other.systems, queries=other.queries)

    def fraction_tied(self, *, tolerance: float = 0.0) -> float:
        """Compute the share of ties among comparisons of two systems for a query.

        Parameters
        ----------
        tolerance : float, default=0.0
            Values that differ by at most this much are tied, in the unit of the measure. 0 ties
            values that only rounding keeps apart.

        Returns
        -------
        float
            Share of tied (query, pair of systems), in [0, 1].

        Raises
        ------
        ValueError
            If there are fewer than two systems, or `tolerance` is negative or not a number.

        References
        ----------
        Diaz, F. and Mitra, B. Recall, robustness, and lexicographic evaluation, section 6.2.2.

        Examples
        --------
        Of three pairs one is tied for the first query, all for the second, none for the third: 4
        of 9.

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
        r"""Compute the difference of the means of every two systems in percent of the greater one.

        The mean of the values shows how far apart a measure puts systems. It depends on the scale:
        with smaller means it is larger for the same differences. :func:`sensitivity_curve` and
        :func:`compare_systems` compare differences with chance variation.

        Parameters
        ----------
        divide_by : {"size", "letter"}, default="size"
            Divisor of a difference: the size of the greater mean, or, as the formula is printed,
            the greater mean itself. They differ where both means are negative.

        Returns
        -------
        ndarray of shape (n_pairs,)
            In percent; pairs as ``np.triu_indices(n_systems, 1)``. Means that are not negative
            give values from 0 to 100, and a pair of two means of 0 gives 0.

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
        Equation 8 of [1]_ is the mean over pairs.

        References
        ----------
        .. [1] Karmaker and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022.

        Examples
        --------
        Of means 0.5, 0.4 and 0.3: (0.1 / 0.5 + 0.2 / 0.5 + 0.1 / 0.4) / 3.

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
                f"{np.count_nonzero(means < 0)} of {len(means)} means are negative, and a "
                "percentage of a mean that may be negative says little: values may be above 100. "
                "Compare measures that may be negative by sensitivity_curve.",
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
        """Values as a table, systems as rows (level "system") and queries as columns ("qid")."""
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
            As :meth:`skfilterrank.plot.CriticalDifferenceDisplay.from_scores`.
        """
        return self._find_display().from_scores(self, ax=ax, **kwargs)

    def _check_size(self, least, name="scores"):
        """Raise if there are too few systems or queries."""
        for what, number, enough in zip(
            ("systems", "queries"), (self.n_systems, self.n_queries), least
        ):
            if number < enough:
                raise InputError(f"{name} must hold at least {enough} {what}, got {number}.")

    def _summary(self):
        systems = counted(self.n_systems, "system")
        return f"{self.measure} of {systems} for {counted(self.n_queries, 'query', 'queries')}"

    def _head(self):
        head = self._summary()
        if self.is_preference:
            head += ", share of the other systems beaten"
        if self.dropped_queries:
            head += f" ({len(self.dropped_queries):,} dropped)"
        if self.n_filled:
            head += f", {counted(self.n_filled, 'missing value')} filled in"
        return head

    def _table(self):
        values = merge_values(self.oriented)
        best = values == values.max(axis=0, initial=-np.inf)
        # A query with several best systems has no winner.
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
    """Return complete values, a mask of filled values (or None), and dropped queries."""
    is_missing, is_dropped = np.isnan(array), np.zeros(len(queries), dtype=bool)
    if not (
        missing in ("raise", "drop") if isinstance(missing, str) else is_finite_number(missing)
    ):
        raise InputError(f"missing must be 'raise', 'drop' or a number, got {brief(missing)}.")
    if not is_missing.any():
        return array, None, is_dropped
    if missing == "drop":
        is_dropped = is_missing.any(axis=0)
        if is_dropped.all():
            raise InputError(
                "missing='drop' leaves no query: no query has a value of every system. Leave "
                "out systems, or give missing= a number that stands for a missing value."
            )
        return array[:, ~is_dropped], None, is_dropped
    if missing == "raise":
        system, query = np.argwhere(is_missing)[0]
        raise MissingValuesError(
            f"{counted(np.count_nonzero(is_missing), 'value is', 'values are')} missing "
            f"(NaN): system {brief(systems[system])} has none for query "
            f"{brief(queries[query])}. Systems are compared on the same queries: give "
            "missing='drop' to leave out such queries for all systems, or a number that "
            "stands for a missing value.",
            {
                name: tuple(compress(queries, lacks))
                for name, lacks in zip(systems, is_missing)
                if lacks.any()
            },
        )
    return np.where(is_missing, float(missing), array), is_missing, is_dropped


def _numbers(values):
    """Return a copy as a matrix of numbers without infinite ones."""
    numbers = as_number_array(values, "values")
    if numbers is None:
        raise InputError(
            f"values must be numbers in a matrix of systems x queries, got {brief(values)}."
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
    """Check names: distinct, and as many as expected."""
    names = tuple(range(n_expected)) if names is None else tuple(as_list(names, argument, "names"))
    for name in names:
        if not is_hashable(name) or (not isinstance(name, tuple) and pd.isna(name)):
            raise InputError(
                f"{argument} must be names such as texts or numbers, none of them missing, and one "
                f"is {brief(name)}."
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
            f"{argument} must all have different names, and {shown} {occur} more than once: "
            "rename them, or leave out copies."
        )
    return names


def known_places(names, known, argument):
    """Return positions of known names; None means all."""
    if names is None:
        return range(len(known))
    names = [names] if isinstance(names, str) else as_list(names, argument, "names")
    places = {name: place for place, name in enumerate(known)}
    # Names of systems are kept as text, whatever was given.
    names = [str(name) if is_whole_number(name) and name not in places else name for name in names]
    unknown = [name for name in names if not is_hashable(name) or name not in places]
    if unknown:
        raise InputError(
            f"{argument}: {brief(unknown[0])} is not among {len(known)} known ones, such as "
            f"{', '.join(map(brief, known[:_SHOWN]))}."
        )
    return [places[name] for name in names]


def check_same(what, ours, theirs, names):
    """Raise if only one of two has a name."""
    odd = sorted(set(ours) ^ set(theirs), key=str)
    if odd:
        holder = names[0] if odd[0] in set(ours) else names[1]
        hint = " Take the common ones with select(queries=...)." * (what == "queries")
        raise InputError(
            f"{names[0]} and {names[1]} must have the same {what}, and "
            f"{counted(len(odd), 'is', 'are')} in one of them only, such as {brief(odd[0])} in "
            f"{holder}.{hint}"
        )


def has_queries(values) -> bool:
    """Test for values of systems query by query, by one or several measures."""
    if isinstance(values, Mapping):
        return bool(values) and all(isinstance(each, SystemScores) for each in values.values())
    return isinstance(values, SystemScores | PreferenceMatrix) or is_long(values)
