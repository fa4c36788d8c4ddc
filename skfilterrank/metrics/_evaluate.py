"""Many measures of one system in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import check_choice, check_scores, check_share
from skfilterrank._base.results import Result
from skfilterrank._base.words import counted
from skfilterrank._files.files import is_path
from skfilterrank._files.rows import Rows, check_rows
from skfilterrank._lists.gains import Gains, as_gains
from skfilterrank._lists.lists import UNJUDGED, RankedLists
from skfilterrank._lists.measure import MEASURES, ParsedMeasure, warn_of_forbidden, warn_of_unjudged
from skfilterrank._lists.measure_names import parse_measure, parse_measures
from skfilterrank._lists.queries import GroupIndex, check_groups, check_same_index
from skfilterrank._lists.scoring import (
    QueryWeight,
    check_undefined,
    drawn_means,
    given_weights,
    mean_of_sets,
    number_over_queries,
    with_undefined,
)
from skfilterrank.exceptions import InputError, InputTypeError, brief
from skfilterrank.metrics._rows_evaluation import (
    RowsEvaluation,
    RowsMeasuring,
    measure_rows,
    split_options,
)

Means = TypeVar("Means", pd.Series, pd.DataFrame)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result, Generic[Means]):
    """Values of measures for every query, and the means over queries.

    Attributes
    ----------
    per_query : DataFrame, dtype float64
        One column for each measure. The index is "qid", sorted; for runs its levels are "run", in
        the order given, and "qid".
    means : Series or DataFrame
        The mean of each measure over queries, unless the measure defines another average; for runs
        one row for each run.
    per_draw : DataFrame or None
        The values in each drawn label set, with an index level "draw" before "qid". `per_query` and
        `means` are then means over the sets. None for other judgments.
    condensed : DataFrame or None
        As `per_query`, by the labels that are not drawn and lists without the other documents; 0
        where it is undefined.
    """

    per_query: pd.DataFrame
    means: Means
    per_draw: pd.DataFrame | None = None
    condensed: pd.DataFrame | None = None

    @staticmethod
    def of_draws(
        sets: list[Evaluation[pd.Series]], condensed: pd.DataFrame
    ) -> Evaluation[pd.Series]:
        """Combine the evaluations of a run by each drawn label set."""
        first = sets[0]
        values = mean_of_sets(np.array([each.per_query for each in sets]))
        means = mean_of_sets(np.array([each.means for each in sets]))
        return Evaluation(
            pd.DataFrame(values, first.per_query.index, first.per_query.columns),
            pd.Series(means, first.means.index, name=first.means.name),
            pd.concat(dict(enumerate(each.per_query for each in sets)), names=["draw"]),
            condensed,
        )

    @staticmethod
    def of_runs(found: dict[str, Evaluation[pd.Series]]) -> Evaluation[pd.DataFrame]:
        """Combine the evaluations of runs by the same judgments."""

        def joined(name) -> Any:
            tables = {run: getattr(values, name) for run, values in found.items()}
            is_there = {table is not None for table in tables.values()}
            if len(is_there) > 1:
                raise InputError(
                    "runs must be aligned with the same judgments, but only some have drawn label "
                    "sets: align all with one QrelsIndex."
                )
            return pd.concat(tables, names=["run"]) if is_there == {True} else None

        means = pd.DataFrame({run: values.means for run, values in found.items()})
        return Evaluation(
            joined("per_query"),
            means.T.rename_axis("run"),
            joined("per_draw"),
            joined("condensed"),
        )

    def intervals(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return intervals of the means by drawn label sets, by the rules of Rubin.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Level of both intervals.

        Returns
        -------
        DataFrame
            A row for each measure, for runs with index levels "run" and "measure".

            value : float
                The mean of the measure, as in `means`.
            low_these, high_these : float
                Interval for these queries: only the drawn labels are uncertain. Both intervals are
                cut at the ends of the range that the measure has for any gains.
            low_general, high_general : float
                Interval for queries in general, of which these are a sample. NaN for a measure that
                is no mean over queries, such as a count.
            share_of_draws : float
                Share of the variance for queries in general that the draws cause, from 0 to 1.

        Raises
        ------
        ValueError
            If the judgments are no drawn label sets.

        Notes
        -----
        Let W be the mean over the m sets of the squared standard error of the mean over queries,
        and B the variance of the m means. The variance is (1 + 1 / m) B for these queries, and W +
        (1 + 1 / m) B in general. Intervals are Student's, with m - 1 degrees of freedom and with
        those of Barnard and Rubin (1999). With ``undefined="drop"`` each set leaves out the queries
        that are undefined in it, and the mean of a query is that over the other sets.

        Examples
        --------
        >>> import pandas as pd
        >>> from skfilterrank.metrics import evaluate_runs
        >>> qrels = pd.DataFrame(
        ...     {"qid": ["1", "2", "2", "2"], "docno": ["a", "a", "b", "b"], "label": [1, 1, 0, 1],
        ...      "draw": [None, None, 0, 1]})
        >>> run = {"qid": ["1", "2", "2"], "docno": ["a", "b", "a"], "score": [1, 2, 1]}
        >>> values = evaluate_runs(qrels, {"words": pd.DataFrame(run)}, "ap")
        >>> values.intervals().round(2).iloc[:, :3]
                       value  low_these  high_these
        run   measure
        words ap        0.88        0.0         1.0
        """
        if self.per_draw is None:
            raise InputError(
                "intervals are for drawn label sets, and these judgments have one label of each "
                "document. compare_systems(values).systems() has intervals over queries."
            )
        check_share(confidence_level, "confidence_level")
        runs: Any = [(None, self.per_draw)]
        if "run" in self.per_draw.index.names:
            runs = self.per_draw.groupby(level="run", sort=False)
        tables = {name: _intervals(table, confidence_level) for name, table in runs}
        return tables[None] if None in tables else pd.concat(tables, names=["run"])

    def sets_by_run(self, measure: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return `per_draw` and `condensed` by one measure, with a column for each run."""
        assert self.per_draw is not None
        assert self.condensed is not None
        runs = list(self.per_draw.index.unique("run"))
        draws, condensed = (
            each[measure].unstack("run")  # noqa: PD010
            for each in (self.per_draw, self.condensed)
        )
        return draws[runs], condensed[runs]

    def to_frame(self) -> pd.DataFrame:
        """Return the means."""
        return pd.DataFrame(self.means)

    def _summary(self):
        words = {"run": "run", "qid": "query"}
        levels = self.per_query.index.names
        numbers = [counted(len(self.per_query.index.unique(name)), words[name]) for name in levels]
        text = f"{counted(self.per_query.shape[1], 'measure')} of {', '.join(numbers)}"
        if self.per_draw is None:
            return text
        return f"{text}; labels drawn in {self.per_draw.index.unique('draw').size} sets"

    def _table(self):
        return self.to_frame() if self.per_draw is None else self.intervals()


def _intervals(per_draw, confidence_level):
    """Return the table of `Evaluation.intervals` for one run."""
    measures = per_draw.columns
    values = per_draw.to_numpy().reshape(per_draw.index.unique("draw").size, -1, len(measures))
    wanted = [parse_measure(text) for text in measures]
    known = [each.measure for each in wanted]
    means = [means_of(wanted, some) for some in values]
    n_queries = np.count_nonzero(~np.isnan(values), axis=1).mean(axis=0)
    with warnings.catch_warnings():
        # A set may have one defined query, or none: their deviation is NaN.
        warnings.simplefilter("ignore", RuntimeWarning)
        deviations = np.nanstd(values, axis=1, ddof=1)
    is_mean = np.array([each.over_queries == "mean" for each in known])
    found = drawn_means(np.array(means), np.where(is_mean, deviations, np.nan), n_queries)
    least, most = np.transpose([each.range_for() for each in known])
    columns = {"value": found.mean}
    for name, ends in (("these", found.interval_of_these), ("general", found.interval)):
        low, high = ends(confidence_level)
        # Values outside the range are those of `undefined=`.
        columns[f"low_{name}"] = np.maximum(low, np.minimum(least, found.mean))
        columns[f"high_{name}"] = np.minimum(high, np.maximum(most, found.mean))
    columns["share_of_draws"] = found.share_of_draws
    return pd.DataFrame(columns, index=measures.rename("measure"))


@overload
def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    measures: str | Callable | Iterable[str | Callable],
    *,
    groups: ArrayLike | None = ...,
    gains: Gains = ...,
    ties: str | ArrayLike | None = ...,
    unjudged: str = ...,
    undefined: float | str = ...,
    like: str | None = ...,
    query_weight: QueryWeight = ...,
    **options: Any,
) -> Evaluation[pd.Series]: ...
@overload
def evaluate(
    y_true: Rows, y_score=..., measures=..., *, like: str | None = ..., out=..., **options: Any
) -> RowsEvaluation: ...
def evaluate(
    y_true,
    y_score=None,
    measures=None,
    *,
    groups: ArrayLike | None = None,
    gains: Gains = None,
    ties: str | ArrayLike | None = None,
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    like: str | None = None,
    query_weight: QueryWeight = None,
    out=None,
    **options: Any,
) -> Evaluation[pd.Series] | RowsEvaluation:
    """Compute several measures of every query, and their means, at once.

    The lists are checked, grouped and sorted once for all measures, which makes this several times
    faster than one call after the other.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), or Rows
        Label of each (query, document) row; any order. NaN means unjudged. A Series may carry
        the query ids in an index level named "qid". :class:`skfilterrank.io.Rows` need not fit into
        memory and are read once. They hold scores and query ids too, so the measures are the second
        argument: ``evaluate(rows, measures)``.
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf means hidden or not retrieved. Left out with
        Rows.
    measures : str, callable or list of these
        Names of the measure table with a cut-off and options where wanted, such as "ap",
        "ndcg_f@20" or "rbp(persistence=0.95)", see :func:`get_measure_names`; or functions of
        measures, such as :func:`ndcg_f_score`, whose columns have the names in the table.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    ties : None, {"average", "stable", "worst", "best"} or array-like of shape (n_rows,), \
default=None
        Order of rows with equal scores, as in :func:`ndcg_f_score`. None takes each measure's own
        default: the mean over all orders, or for lexicographic measures the worst.
    unjudged : {"zero", "drop"}, default="zero"
        Whether an unjudged row stands in the list as a document of gain 0, or is taken out of it
        first. Measures whose definition covers unjudged documents follow their definition.
    undefined : float or "drop", default=0.0
        Value of a query for which a measure is undefined; "drop" gives NaN, which pandas leaves
        out of means.
    like : None, "lightgbm", "xgboost", "catboost", "scikit-learn" or "trec_eval9", default=None
        Measure as that library does, so that the number is the one it reports: sets `gains`, `ties`
        and `undefined`, and how "ap" is normalised. LightGBM and XGBoost know "ndcg" and "ap",
        CatBoost also "recall" and "rr", scikit-learn "ndcg" and "dcg". "trec_eval9" sets the recall
        levels of "iprec" and "eleven_points", and leaves other measures as they are. See
        ``docs/other_libraries.md``.
    query_weight : dict, Series or array-like of shape (n_rows,), default=None
        Weight of each query in the means, as in :func:`ndcg_f_score`. Not possible with Rows.
    out : path or None, default=None
        Only with Rows: path of a Parquet file for the values of every query, with a column "qid"
        and a column for each measure. Queries are in the order in which their rows end. The file
        appears when it is complete. It must not be a file that rows are read from, or lie in a
        folder of such files.
    **options
        Options of single measures, such as ``n_items=100_000`` or ``pooled=mask``: each goes to
        the measures that have it and do not set it in their name. With Rows, options that hold one
        entry per row are the names of columns.

    Returns
    -------
    Evaluation
        ``per_query``, a DataFrame of shape (n_queries, n_measures), dtype float64, with the index
        "qid", sorted; and ``means``, a Series of shape (n_measures,). Measures are named and
        ordered as in `measures`. Printed as the means. For Rows, a :class:`RowsEvaluation`: the
        same ``means``, with the sums that are needed to add other rows.

    Raises
    ------
    ValueError
        For an unknown measure, a measure that is named twice, an option that no measure has, and
        for the errors of each measure. With Rows also if the rows of a query are not together, a
        query id is missing, files differ, or there are no rows; no file is written then.

    Notes
    -----
    With Rows, sums over queries are exact and rounded only once, so the order in which parts are
    merged does not change them. The last bit of a query's value may depend on the other queries of
    its block: means agree to about 1e-15 for every division into blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.metrics import evaluate
    >>> values = evaluate(
    ...     [2, -1, 0, 1], [0.9, 0.5, 0.8, 0.1], ["ndcg_f@2", "forbidden@2"], groups=list("aabb")
    ... )
    >>> values.means.round(2)
    ndcg_f@2       0.71
    forbidden@2    0.25
    Name: mean, dtype: float64
    >>> values.per_query
         ndcg_f@2  forbidden@2
    qid
    a    0.789...          0.5
    b    0.630...          0.0

    Rows that come in parts:

    >>> from skfilterrank.io import Rows
    >>> rng = np.random.default_rng(0)
    >>> days = [
    ...     {
    ...         "qid": 100 * day + np.repeat(np.arange(100), 20),
    ...         "label": rng.choice([-1, 0, 1, 2], 2000),
    ...         "score": rng.normal(size=2000),
    ...     }
    ...     for day in range(3)
    ... ]
    >>> print(evaluate(Rows(days), ["ndcg_f@10", "forbidden@10"]))
    2 measures of 300 queries, 6,000 rows
                   mean     sd  n_queries  n_undefined
    ndcg_f@10    0.5114 0.1420        300            0
    forbidden@10 0.2567 0.1338        300            0
    """
    is_of_rows = isinstance(y_true, Rows)
    if is_of_rows and measures is None:
        y_score, measures = None, y_score
    if not is_of_rows:
        _refuse_tables(y_true, y_score, measures)
    wanted = parse_measures(measures)
    _check_options(wanted, options)
    if like is not None:
        given = {"gains": gains, "ties": ties, "undefined": undefined or None}
        named = {name for name, value in given.items() if value is not None} | options.keys()
        wanted = {text: each.like(like, named) for text, each in wanted.items()}
    if is_of_rows:
        of_rows = {"y_score": y_score, "groups": groups, "query_weight": query_weight}
        of_rows["an array as ties"] = None if isinstance(ties, str) else ties
        rows = check_rows(y_true, "evaluate", **of_rows)
        check_undefined(undefined)
        columns = split_options(options, wanted)
        how: Any = (gains, ties, unjudged, undefined, *columns, values_of_queries)
        return measure_rows(rows, RowsMeasuring(wanted, *how), out)
    if out is not None:
        raise InputError(
            "out is only for Rows, and y_true is an array: write the per_query of the result."
        )
    # A caller that passes parsed names, such as `evaluate_runs`, has warned already.
    if not isinstance(measures, dict):
        warn_of_forbidden(wanted.values(), y_true, gains)
    values, index, n_unjudged = values_of_queries(
        wanted,
        y_true,
        y_score,
        groups=groups,
        gains=gains,
        ties=ties,
        unjudged=unjudged,
        undefined=undefined,
        options=options,
    )
    warn_of_unjudged(wanted.values(), n_unjudged, index.n_queries, undefined)
    # Copy the cached index, so that naming the index of one table does not change another table.
    names = _columns(tuple(wanted)).copy()
    means = means_of(wanted.values(), values, given_weights(query_weight, index))
    return Evaluation(
        pd.DataFrame(values, index=index.labels.copy(), columns=names),
        # pandas resets the registers of warnings where a dtype is passed: users heard them twice.
        pd.Series(np.array(means, dtype=np.float64), index=names.copy(), name="mean"),
    )


def values_of_queries(
    wanted, y_true, y_score, *, groups, gains, ties, unjudged, undefined, options
) -> tuple[np.ndarray, GroupIndex, int]:
    """Return a column for each parsed measure, the query ids, and the number of unjudged ones."""
    check_undefined(undefined)
    check_choice(unjudged, "unjudged", UNJUDGED)
    gained = as_gains(y_true, gains)
    check_same_index(y_true, y_score, groups)
    y_score = check_scores(y_score, n_rows=len(gained))
    index = None
    if len(gained):
        index = check_groups(groups, y_true, n_rows=len(gained), names=("y_true",))
    shared: dict[tuple, tuple[RankedLists, dict]] = {}
    for text, (entry, k, own) in wanted.items():
        rule = entry.ties[0] if ties is None else ties
        entry.check_ties(rule)
        key = (
            rule if isinstance(rule, str) else "ids",
            "zero" if entry.reads_unjudged else unjudged,
        )
        if key not in shared:
            lists = RankedLists(gained, y_score, groups=index, ties=rule, unjudged=key[1])
            shared[key] = lists, {}
        lists, kernels = shared[key]
        options_of_both = {**options, **own}
        if columns := entry.row_columns(options_of_both, len(gained)):
            lists = lists.replace(columns=lists.columns | columns)
            shared[key] = lists, kernels
        kernels[text] = entry.bind(k, options_of_both)
    column = {text: i for i, text in enumerate(wanted)}
    values = np.empty((lists.index.n_queries, len(wanted)))
    for lists, kernels in shared.values():
        for block in lists.blocks():
            for text, kernel in kernels.items():
                values[block.queries, column[text]] = kernel(block)
    return with_undefined(values, undefined), lists.index, lists.count_unjudged_queries()


def means_of(measures: Iterable[ParsedMeasure], values, weights=None) -> list[float]:
    """Combine the values of queries, in a column for each measure, into one number of each."""
    return [
        number_over_queries(column, each.measure.over_queries, weights)
        for each, column in zip(measures, values.T, strict=True)
    ]


@lru_cache(maxsize=32)
def _columns(names):
    """Return the measures as columns of a table; cached for many runs."""
    return pd.Index(names)


def _refuse_tables(y_true, y_score, measures):
    """Raise for a file, a table or batches in place of labels, which Rows take."""
    is_table = is_path(y_true) or hasattr(y_true, "__next__")
    if not is_table and (y_score is None or measures is not None):
        return
    got = f"the path {brief(y_true)}" if is_path(y_true) else f"a {type(y_true).__name__}"
    if not is_table:
        got += " without both scores and measures"
    raise InputTypeError(
        f"y_true must hold labels, got {got}. For a file, a table or batches with the columns qid, "
        "label and score write evaluate(Rows(data), measures), after `from skfilterrank import "
        "Rows`; for runs, evaluate_runs(qrels, runs, measures)."
    )


def _check_options(wanted, options):
    """Check that every option belongs to one of the measures."""
    known = {name for entry, *_ in wanted.values() for name in (*entry.options, *entry.columns)}
    for name in options:
        if name in known:
            continue
        owners = [m.name for m in MEASURES.values() if name in m.options or name in m.columns]
        hint = f"it belongs to {', '.join(owners)}" if owners else "no measure has it"
        if name == "k":
            hint = "write the cut-off into the name, such as 'ap@10'"
        raise InputError(
            f"{name} is not an option of any of the measures {', '.join(wanted)}: {hint}."
        )
