"""Measures of rows that need not fit into memory."""

from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.gains import Gains
from skfilterrank._core.measure import ParsedMeasure, forbidden_seen, warn_of
from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.moments import Moments
from skfilterrank._core.results import Result, counted
from skfilterrank._core.row_blocks import Block
from skfilterrank._core.scoring import check_undefined, with_undefined
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics import evaluate as evaluate_rows
from skfilterrank.stream._closed import ClosedQueries
from skfilterrank.stream._frames import Wanted
from skfilterrank.stream._passes import run_pass
from skfilterrank.stream._rows import Rows, check_column, check_rows, opened
from skfilterrank.stream._values import ValuesFile

# Of the lowest value that a geometric mean sees, as trec_eval takes it.
_LEAST = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class StreamEvaluation(Result):
    """Measures over the queries of some rows, which those of other rows can be added to.

    Attributes
    ----------
    measures : tuple of str
        The measures as they were named.
    n_rows, n_queries : int
        Rows and queries that were read.
    n_undefined : ndarray of shape (n_measures,), dtype int64
        Queries for which each measure is undefined, whatever `undefined` made of them.
    """

    measures: tuple[str, ...]
    n_rows: int
    n_queries: int
    n_undefined: np.ndarray
    _over_queries: tuple[str, ...] = field(default=())
    _moments: tuple[Moments, ...] = field(default=())
    _closed: ClosedQueries = field(default_factory=ClosedQueries)

    @property
    def means(self) -> pd.Series:
        """One number of each measure over the queries, as ``evaluate(..., average="mean")``."""
        means = [_FINISH[how](each) for how, each in zip(self._over_queries, self._moments)]
        names = pd.Index(list(self.measures))
        return pd.Series(means, index=names, name="mean", dtype=np.float64)

    def merge(self, other: "StreamEvaluation") -> "StreamEvaluation":
        """Those of the rows of both, as if all had been read at once.

        Parameters
        ----------
        other : StreamEvaluation
            Of the same measures, for other queries.

        Returns
        -------
        StreamEvaluation
            The same to the bit in whatever order parts are merged.

        Raises
        ------
        ValueError
            If the measures differ, or a query has rows in both: measures need whole queries.
        """
        if not isinstance(other, StreamEvaluation) or other.measures != self.measures:
            raise InputError(
                f"other must be a StreamEvaluation of {', '.join(self.measures)}, got "
                f"{brief(other)}."
            )
        return StreamEvaluation(
            self.measures,
            self.n_rows + other.n_rows,
            self.n_queries + other.n_queries,
            self.n_undefined + other.n_undefined,
            self._over_queries,
            tuple(mine.merge(theirs) for mine, theirs in zip(self._moments, other._moments)),
            self._closed.merge(other._closed),
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each measure: "mean", "sd", "n_queries" with a value, "n_undefined"."""
        return pd.DataFrame(
            {
                "mean": self.means,
                "sd": [each.sd for each in self._moments],
                "n_queries": [each.n for each in self._moments],
                "n_undefined": self.n_undefined,
            }
        )

    def _summary(self):
        return (
            f"{counted(len(self.measures), 'measure')} of "
            f"{counted(self.n_queries, 'query', 'queries')}, {counted(self.n_rows, 'row')}"
        )


# The state of a mean over queries, and what becomes of it.
_FINISH: dict[str, Callable[[Moments], float]] = {
    "mean": lambda moments: moments.mean,
    "sum": lambda moments: moments.sum,
    "geometric mean": lambda moments: float(np.exp(moments.mean)),
}


def evaluate(
    rows: Rows,
    measures: str | Callable | Iterable[str | Callable],
    *,
    gains: Gains = None,
    ties: str | None = None,
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    like: str | None = None,
    out=None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options: Any,
) -> StreamEvaluation:
    """Several measures of rows that are read once, some at a time.

    Parameters
    ----------
    rows : Rows
        The rows. A query stays in memory until its last row has come.
    measures : str, callable or list of these
        As in :func:`skfilterrank.metrics.evaluate`; a scorer's measure goes by its name.
    gains, ties, unjudged, undefined, like
        As in :func:`skfilterrank.metrics.evaluate`, `ties` by the name of a rule.
    out : path or None, default=None
        Parquet file to write the values of every query to: columns "qid" and one for each measure,
        queries in the order in which they end. It is written beside and renamed at the end, and
        is neither a file of rows nor in a folder of them.
    n_jobs : int or None, default=None
        Number of processes that read and measure parts of the rows, through joblib and so through
        its backend; -1 means all processors.
    verbose : int, default=0
        1 shows the progress over rows.
    **options
        Options of single measures, as in :func:`skfilterrank.metrics.evaluate`; those that hold one
        entry per row, such as ``pooled="in_pool"``, by the name of their column.

    Returns
    -------
    StreamEvaluation
        The means over queries, with what is needed to add those of other rows.

    Raises
    ------
    ValueError
        As :func:`skfilterrank.metrics.evaluate`; and if a query comes back after others, a query id
        is missing, files differ, or there are no rows. Nothing is written then.
    TypeError
        If `rows` are not :class:`Rows`.

    See Also
    --------
    skfilterrank.metrics.evaluate : The same for arrays, as one table.

    Notes
    -----
    Sums over queries are kept without any rounding, and rounded once, so that it makes no
    difference in which order parts are merged. The value of a query may differ in its last bit with
    the queries that it is computed beside, in arrays too: means agree to some 1e-15 however rows
    are cut, and for any `n_jobs`. For each query 8 bytes are kept, by which one that comes back is
    noticed.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.stream import Rows, evaluate
    >>> def days():
    ...     rng = np.random.default_rng(0)
    ...     for day in range(3):
    ...         yield {
    ...             "qid": 100 * day + np.repeat(np.arange(100), 20),
    ...             "label": rng.choice([-1, 0, 1, 2], 2000),
    ...             "score": rng.normal(size=2000),
    ...         }
    >>> print(evaluate(Rows(days), ["ndcg_f@10", "forbidden@10"]))
    2 measures of 300 queries, 6,000 rows
                   mean     sd  n_queries  n_undefined
    ndcg_f@10    0.5114 0.1420        300            0
    forbidden@10 0.2567 0.1338        300            0
    """
    check_rows(rows)
    wanted = parse_measures(measures)
    check_undefined(undefined)
    if like is not None:
        given = {"gains": gains, "ties": ties, "undefined": undefined or None}
        named = {name for name, value in given.items() if value is not None} | options.keys()
        wanted = {text: each.like(like, named) for text, each in wanted.items()}
    work: Any = Measuring(wanted, gains, ties, unjudged, undefined, *split_options(options, wanted))
    if out is not None and rows.is_on_cluster:
        raise InputError(
            "out is not possible where rows are Dask's, whose values stay on the workers: write "
            "those of each partition by map_partitions and metrics.evaluate."
        )
    columns = Wanted(rows.query, rows.label, {"score": rows.score}, work.columns)
    closed = ClosedQueries()
    total: Any = None
    with opened(rows, columns) as source, _writing(out, wanted, rows) as file:
        if file is not None:
            work = work._replace(keeps=True)
        passing = run_pass(
            source.pieces(),
            work,
            closed=closed,
            n_jobs=n_jobs,
            verbose=verbose,
            n_rows=source.n_rows,
        )
        with closing(passing):
            for state in passing:
                if file is not None:
                    file.write(state.ids, state.values)
                state = state._replace(ids=(), values=())
                total = state if total is None else total.merge(state)
    warn_of([wanted[text] for text in wanted if text in total.forbidden])
    return StreamEvaluation(
        tuple(wanted),
        total.n_rows,
        total.n_queries,
        total.n_undefined,
        tuple(each.measure.over_queries for each in wanted.values()),
        total.moments,
        closed,
    )


def _writing(out, wanted, rows):
    """The file of values, or None."""
    return nullcontext() if out is None else ValuesFile.open(out, tuple(wanted), rows)


def split_options(options, wanted) -> tuple[dict, dict]:
    """Options that are values, and those that name a column."""
    in_columns = {name for each in wanted.values() for name in each.measure.columns}
    columns = {
        name: check_column(value, name)
        for name, value in options.items()
        if name in in_columns and value is not None
    }
    return {name: value for name, value in options.items() if name not in columns}, columns


class MeasuredBlocks(NamedTuple):
    """What is known of the queries of some blocks."""

    n_rows: int
    n_queries: int
    n_undefined: np.ndarray
    moments: tuple[Moments, ...]
    forbidden: frozenset
    ids: tuple = ()
    values: tuple = ()

    def merge(self, other: "MeasuredBlocks") -> "MeasuredBlocks":
        """Of both."""
        return MeasuredBlocks(
            self.n_rows + other.n_rows,
            self.n_queries + other.n_queries,
            self.n_undefined + other.n_undefined,
            tuple(mine.merge(theirs) for mine, theirs in zip(self.moments, other.moments)),
            self.forbidden | other.forbidden,
            self.ids + other.ids,
            self.values + other.values,
        )


class Measuring(NamedTuple):
    """Measures a block of whole queries; may go to another process."""

    wanted: dict[str, ParsedMeasure]
    gains: Gains
    ties: str | None
    unjudged: str
    undefined: float | str
    options: dict
    columns: dict[str, str]
    keeps: bool = False
    score: Any = "score"

    def __call__(self, block: Block) -> MeasuredBlocks:
        """The values of its queries, and what is kept of them."""
        values = self.values(block)
        n_undefined = np.count_nonzero(np.isnan(values), axis=0)
        values = with_undefined(values, self.undefined)
        if np.isinf(values).any():
            column = np.isinf(values).any(axis=0).argmax()
            raise InputError(
                f"{list(self.wanted)[column]} is infinite for a query of these rows: it has no "
                "mean."
            )
        moments = []
        for parsed, column in zip(self.wanted.values(), values.T):
            if parsed.measure.over_queries == "geometric mean":
                column = np.log(np.maximum(column, _LEAST))
            moments.append(Moments.of(column))
        kept = ((block.ids,), (values,)) if self.keeps else ()
        return MeasuredBlocks(
            block.n_rows, len(block.ids), n_undefined, tuple(moments), self.forbidden(block), *kept
        )

    def forbidden(self, block: Block) -> frozenset:
        """Measures that are not made for the gains below 0 which the block has."""
        seen = forbidden_seen(self.wanted.values(), block.columns["label"], self.gains)
        return frozenset(text for text, each in self.wanted.items() if each in seen)

    def values(self, block: Block) -> np.ndarray:
        """One row for each query in their order, one column for each measure; NaN: undefined."""
        options = {name: block.columns[name] for name in self.columns}
        measures: Any = self.wanted
        groups: Any = block.group_index()
        table = evaluate_rows(
            block.columns["label"],
            block.columns[self.score],
            measures,
            groups=groups,
            gains=self.gains,
            ties=self.ties,
            unjudged=self.unjudged,
            undefined="drop",
            **{**self.options, **options},
        )
        return table.to_numpy(copy=True)
