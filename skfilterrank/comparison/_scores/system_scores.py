"""Values of several systems for the same queries."""

from collections.abc import Hashable, Iterable

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import as_number_array
from skfilterrank._core.checks import as_list, is_finite_number, is_hashable
from skfilterrank._core.measure import MEASURES
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.same_value import merge_means, merge_values
from skfilterrank.comparison._scores.text import counted
from skfilterrank.exceptions import InputError, MissingValuesError, brief, brief_list

_SHOWN = 3


class SystemScores:
    """Values of systems for queries by one measure: what every comparison starts from.

    Make it from an array or a table of systems x queries; of predictions, runs or preferences by
    one of its methods; of many measures at once by :func:`score_systems`; of what
    ``skfilterrank evaluate --per-query`` wrote by :func:`read_system_scores`.

    Parameters
    ----------
    values : array-like or DataFrame of shape (n_systems, n_queries)
        Value of each system for each query. A DataFrame names systems by its index and queries by
        its columns. NaN means that the system has no value for the query.
    systems : sequence of length n_systems, default=None
        Names of the systems, each another; kept as text. None takes those of the DataFrame, or
        numbers from 0.
    queries : sequence of length n_queries, default=None
        Query ids, each another, of any type. None takes those of the DataFrame, or numbers from 0.
    measure : str, default="score"
        Name of the measure.
    greater_is_better : bool, default=True
        False where a lower value is better, as with "recall_error".
    is_preference : bool, default=False
        Whether values only order the systems of a query, so that the size of a difference means
        nothing. Comparisons then use tests of signs and ranks unless told otherwise.
    missing : {"raise", "drop"} or float, default="raise"
        What becomes of a query for which some system has no value: an error; the query is left
        out for all systems; the system gets this number.

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
        As given.
    dropped_queries : tuple
        Queries that were left out because of `missing`.
    n_filled : int
        Number of values that `missing` filled in.

    Raises
    ------
    ValueError
        If names or queries repeat or do not fit the values, if a value is infinite, or if one is
        missing and `missing` names no way out.

    See Also
    --------
    compare_systems : Which differences are more than chance.
    score_systems : Values of runs by several measures.

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

    def __init__(
        self,
        values,
        *,
        systems: Iterable[Hashable] | None = None,
        queries: Iterable[Hashable] | None = None,
        measure: str = "score",
        greater_is_better: bool = True,
        is_preference: bool = False,
        missing: str | float = "raise",
    ):
        if isinstance(values, pd.DataFrame):
            systems = values.index if systems is None else systems
            queries = values.columns if queries is None else queries
        array = _numbers(values)
        self.systems = _names(systems, array.shape[0], "systems", "rows", as_text=True)
        self.queries = _names(queries, array.shape[1], "queries", "columns")
        self.measure = measure
        for name, value in (
            ("greater_is_better", greater_is_better),
            ("is_preference", is_preference),
        ):
            if not isinstance(value, bool | np.bool_):
                raise InputError(f"{name} must be True or False, got {brief(value)}.")
        self.greater_is_better = bool(greater_is_better)
        self.is_preference = bool(is_preference)
        self.dropped_queries = ()
        # Which values `missing` filled in; None for none of them.
        self._is_filled = None
        self.values = self._settle(array, missing)
        self.values.flags.writeable = False

    @classmethod
    def of(cls, scores, *, min_systems: int = 2, min_queries: int = 2, name: str = "scores"):
        """Take SystemScores as they are, or make them of a matrix or table, of enough values.

        Parameters
        ----------
        scores : SystemScores, array-like or DataFrame of shape (n_systems, n_queries)
            The values.
        min_systems, min_queries : int, default=2
            How many there must be.
        name : str, default="scores"
            What messages call them.

        Returns
        -------
        SystemScores
            The values of at least so many systems for so many queries.

        Raises
        ------
        ValueError
            If there are fewer, or as the class.
        """
        if not isinstance(scores, cls):
            try:
                scores = cls(scores)
            except ValueError as error:
                error.add_note(f"This came up with {name}.")
                raise
        if scores.n_systems < min_systems:
            raise InputError(
                f"{name} must hold at least {min_systems} systems to compare, got "
                f"{scores.n_systems} ({', '.join(scores.systems)})."
            )
        if scores.n_queries < min_queries:
            raise InputError(
                f"{name} must hold at least {min_queries} queries, got {scores.n_queries}: nothing "
                "can be said about chance with fewer."
            )
        return scores

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        measure: str | None = None,
        *,
        missing: str | float = "raise",
        **params,
    ):
        """Take one measure of a long table, such as :func:`~skfilterrank.trec.evaluate_runs` makes.

        Parameters
        ----------
        frame : DataFrame of shape (n_values, n_measures)
            A row for each system and query, which index levels or columns "run" and "qid" name; a
            column for each measure.
        measure : str or None, default=None
            Which column; None where there is only one.
        missing : {"raise", "drop"} or float, default="raise"
            As for the class; a missing row is a missing value.
        **params
            `greater_is_better` and `is_preference`, as for the class. Where the column is the
            name of a known measure, whether greater is better is known too.

        Returns
        -------
        SystemScores

        Raises
        ------
        ValueError
            If "run" or "qid" is not there, the measure is not a column, or a run has two values
            for a query; and as for the class.

        Examples
        --------
        >>> import pandas as pd
        >>> from skfilterrank.comparison import SystemScores
        >>> frame = pd.DataFrame(
        ...     {"run": ["a", "a", "b"], "qid": ["1", "2", "1"], "ap": [0.5, 0.7, 0.4]})
        >>> SystemScores.from_frame(frame, missing="drop").dropped_queries
        ('2',)
        """
        table = frame.reset_index() if set(frame.index.names) & {"run", "qid"} else frame
        for name in ("run", "qid"):
            if name not in table.columns:
                raise InputError(
                    f"frame must have 'run' and 'qid' as columns or index levels, and has no "
                    f"{brief(name)}: it has {brief_list(table.columns)}."
                )
        measures = [name for name in table.columns if name not in ("run", "qid")]
        if measure is None and len(measures) == 1:
            (measure,) = measures
        if measure not in measures:
            raise InputError(
                f"measure must name a column of frame, got {brief(measure)}: choose from "
                f"{brief_list(measures)}."
            )
        repeated = table[table.duplicated(["run", "qid"])]
        if len(repeated):
            run, query = repeated[["run", "qid"]].astype(object).iloc[0]
            raise InputError(
                f"frame has several rows for run {brief(run)} and qid {brief(query)}: "
                "expected one value for each run and query; are two runs named alike?"
            )
        runs, queries = pd.unique(table["run"]), pd.unique(table["qid"])
        wide = table.set_index(["run", "qid"])[measure].unstack()  # noqa: PD010
        wide = wide.reindex(index=runs, columns=queries)
        params.setdefault("greater_is_better", greater_is_better(measure))
        return cls(wide, measure=str(measure), missing=missing, **params)

    @classmethod
    def from_preferences(cls, preferences):
        """Take the exact order of the systems of each query.

        Parameters
        ----------
        preferences : PreferenceMatrix
            What :func:`skfilterrank.metrics.preference_matrix` returns. Queries without relevant
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
        >>> from skfilterrank.metrics import preference_matrix
        >>> systems = {"a": [4, 1, 3, 2], "b": [3, 2, 4, 1], "c": [4, 3, 2, 1]}
        >>> preferences = preference_matrix([1, 1, 0, 0], systems, groups=["q"] * 4)
        >>> SystemScores.from_preferences(preferences).means
        c    1.0
        b    0.5
        a    0.0
        Name: lexirecall, dtype: float64
        """
        ranks = preferences.ranks
        if ranks.shape[1] < 2:
            raise InputError("preferences of one system compare nothing: give at least two.")
        decided = preferences.n_relevant > 0
        beaten = (ranks.shape[1] - ranks[decided]) / (ranks.shape[1] - 1)
        scores = cls(beaten.T, measure=f"lexi{preferences.kind}", is_preference=True)
        scores.dropped_queries = tuple(ranks.index[~decided])
        return scores

    @property
    def oriented(self) -> np.ndarray:
        """Values with a sign that makes the greater the better, shape (n_systems, n_queries)."""
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
        # Equal means keep the order of the systems, whatever their last digits are.
        return means.iloc[np.argsort(-merge_means(self.oriented), kind="stable")]

    def select(self, *, systems=None, queries=None):
        """Keep some systems or queries, in the order asked for.

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
        rows, columns = slice(None), slice(None)
        if systems is not None:
            rows = _known(systems, self.systems, "systems")
        if queries is not None:
            columns = _known(queries, self.queries, "queries")
        table = self.to_frame().iloc[rows, columns]
        chosen = SystemScores(
            table,
            measure=self.measure,
            greater_is_better=self.greater_is_better,
            is_preference=self.is_preference,
        )
        chosen.dropped_queries = self.dropped_queries
        if self._is_filled is not None:
            chosen._is_filled = self._is_filled[rows][:, columns]
        return chosen

    def to_frame(self) -> pd.DataFrame:
        """Values as a table, systems as rows (level "system") and queries as columns ("qid")."""
        return pd.DataFrame(
            self.values,
            index=pd.Index(self.systems, name="system"),
            columns=pd.Index(self.queries, name="qid", tupleize_cols=False),
        )

    def __repr__(self) -> str:
        return f"<SystemScores: {self._headline()}>"

    def __str__(self) -> str:
        values = merge_values(self.oriented)
        best = values == values.max(axis=0, initial=-np.inf)
        table = pd.DataFrame(
            {
                "mean": self.values.mean(axis=1),
                "sd": self.values.std(axis=1, ddof=1) if self.n_queries > 1 else np.nan,
                "wins": best.sum(axis=1),
            },
            index=list(self.systems),
        ).loc[self.means.index]
        head = self._headline()
        if self.dropped_queries:
            head += f" ({len(self.dropped_queries):,} left out)"
        if self.n_filled:
            head += f", {counted(self.n_filled, 'missing value')} filled in"
        return f"{head}\n{table.to_string(float_format='{:.3f}'.format)}"

    def _headline(self):
        systems = counted(self.n_systems, "system")
        return f"{self.measure} of {systems} for {counted(self.n_queries, 'query', 'queries')}"

    def _settle(self, array, missing):
        """Values without holes, by the policy that was named."""
        is_missing = np.isnan(array)
        if not (
            missing in ("raise", "drop") if isinstance(missing, str) else is_finite_number(missing)
        ):
            raise InputError(f"missing must be 'raise', 'drop' or a number, got {brief(missing)}.")
        if not is_missing.any():
            return array
        if missing == "drop":
            keep = ~is_missing.any(axis=0)
            if not keep.any():
                raise InputError(
                    "missing='drop' leaves no query: no query has a value of every system. Leave "
                    "out systems, or give missing= a number that stands for a missing value."
                )
            self.dropped_queries = tuple(q for q, kept in zip(self.queries, keep) if not kept)
            self.queries = tuple(q for q, kept in zip(self.queries, keep) if kept)
            return array[:, keep]
        if missing == "raise":
            system, query = np.argwhere(is_missing)[0]
            raise MissingValuesError(
                f"{counted(np.count_nonzero(is_missing), 'value is', 'values are')} missing "
                f"(NaN): system {brief(self.systems[system])} has none for query "
                f"{brief(self.queries[query])}. Systems are compared on the same queries: give "
                "missing='drop' to leave out such queries for all systems, or a number that "
                "stands for a missing value.",
                {
                    name: tuple(np.array(self.queries, dtype=object)[lacks])
                    for name, lacks in zip(self.systems, is_missing)
                    if lacks.any()
                },
            )
        self._is_filled = is_missing
        return np.where(is_missing, float(missing), array)


def _numbers(values):
    """A matrix of numbers that are not infinite, not shared with the caller."""
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
    """Different names, as many as expected."""
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
    repeated = [
        name for name, count in pd.Series(names, dtype=object).value_counts().items() if count > 1
    ]
    if repeated:
        shown = ", ".join(map(brief, repeated[:_SHOWN]))
        occur = "occurs" if len(repeated) == 1 else "occur"
        raise InputError(
            f"{argument} must all have different names, and {shown} {occur} more than once: "
            "rename them, or leave out copies."
        )
    return names


def _known(names, known, argument):
    """Places of the names, all of which must be known."""
    names = [names] if isinstance(names, str) else as_list(names, argument, "names")
    places = {name: place for place, name in enumerate(known)}
    unknown = [name for name in names if not is_hashable(name) or name not in places]
    if unknown:
        raise InputError(
            f"{argument}: {brief(unknown[0])} is not among {len(known)} known ones such as "
            f"{', '.join(map(brief, known[:_SHOWN]))}."
        )
    return [places[name] for name in names]


def greater_is_better(measure) -> bool:
    """What the measure table says; True for what is not in it."""
    name = str(measure).partition("(")[0].partition("@")[0]
    return parse_measure(measure).measure.greater_is_better if name in MEASURES else True
