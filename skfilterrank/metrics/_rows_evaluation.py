"""Evaluation of Rows, with sums to which other rows can be added."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.results import Result
from skfilterrank._base.words import counted
from skfilterrank._files.files import check_writable, is_path, open_replacing
from skfilterrank._files.rows import Rows, check_column, states_of
from skfilterrank._files.tables import import_pyarrow
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure, forbidden_seen, warn_of, warn_of_unjudged
from skfilterrank._lists.row_blocks import Block, ClosedQueries
from skfilterrank._lists.scoring import Moments, with_undefined
from skfilterrank.exceptions import InputError, InputTypeError, brief

# Lower limit of values in a geometric mean, as in trec_eval.
_LEAST = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class RowsEvaluation(Result):
    """Measures over the queries of Rows; evaluations of other rows can be merged.

    Attributes
    ----------
    measures : tuple of str
        Names of the measures, as given.
    n_rows, n_queries : int
        Number of rows and of queries that were read.
    n_undefined : ndarray of shape (n_measures,), dtype int64
        Number of queries for which each measure is undefined, whatever the value of `undefined`.
    """

    measures: tuple[str, ...]
    n_rows: int
    n_queries: int
    n_undefined: np.ndarray
    _over_queries: tuple[str, ...] = field(default=())
    _moments: tuple[Moments, ...] = field(default=())
    _closed: ClosedQueries = field(default_factory=ClosedQueries)
    _forbidden: frozenset = frozenset()
    _kept: tuple = ()
    _n_unjudged: int = 0

    @property
    def means(self) -> pd.Series:
        """Mean of each measure over the queries, as :func:`evaluate` computes it from arrays."""
        means = [_FINISH[how](each) for how, each in zip(self._over_queries, self._moments)]
        names = pd.Index(list(self.measures))
        return pd.Series(means, index=names, name="mean", dtype=np.float64)

    def merge(self, other: "RowsEvaluation") -> "RowsEvaluation":
        """Add the rows of another evaluation, as if all had been read at once.

        Parameters
        ----------
        other : RowsEvaluation
            Evaluation of the same measures for other queries.

        Returns
        -------
        RowsEvaluation
            Evaluation of all rows; every order of merging gives exactly the same numbers.

        Raises
        ------
        ValueError
            If the measures differ, or a query has rows in both: measures need whole queries.
        """
        if not isinstance(other, RowsEvaluation) or other.measures != self.measures:
            raise InputError(
                f"other must be a RowsEvaluation of {', '.join(self.measures)}, got {brief(other)}."
            )
        return RowsEvaluation(
            self.measures,
            self.n_rows + other.n_rows,
            self.n_queries + other.n_queries,
            self.n_undefined + other.n_undefined,
            self._over_queries,
            tuple(mine.merge(theirs) for mine, theirs in zip(self._moments, other._moments)),
            self._closed.merge(other._closed),
            self._forbidden | other._forbidden,
            self._kept + other._kept,
            self._n_unjudged + other._n_unjudged,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each measure: "mean", "sd", "n_queries" with a value, "n_undefined"."""
        return pd.DataFrame(
            {
                "mean": self.means,
                "sd": [each.sd for each in self._moments],
                "n_queries": [each.n for each in self._moments],
                "n_undefined": self.n_undefined,
            }
        )

    def warn(self, work: "RowsMeasuring") -> None:
        """Warn of forbidden documents that measures do not support, and of unjudged queries."""
        warn_of([each for text, each in work.wanted.items() if text in self._forbidden])
        warn_of_unjudged(work.wanted.values(), self._n_unjudged, self.n_queries, work.undefined)

    def _summary(self):
        return (
            f"{counted(len(self.measures), 'measure')} of "
            f"{counted(self.n_queries, 'query')}, {counted(self.n_rows, 'row')}"
        )


# Functions that turn moments of values over queries into one number.
_FINISH: dict[str, Callable[[Moments], float]] = {
    "mean": lambda moments: moments.mean,
    "sum": lambda moments: moments.sum,
    "geometric mean": lambda moments: float(np.exp(moments.mean)),
}


def measure_rows(rows: Rows, work: "RowsMeasuring", out=None) -> RowsEvaluation:
    """Measure rows in one pass, and write the values of every query where `out` is given."""
    wanted = work.wanted
    if out is not None and rows.is_on_cluster:
        raise InputError(
            "out is not possible for rows of Dask, because values stay on the workers: write "
            "the values of each partition with map_partitions and evaluate(...).per_query."
        )
    closed = ClosedQueries()
    total: Any = None
    with _writing(out, wanted, rows) as write:
        work = work._replace(keeps=write is not None)
        with closing(states_of(rows, work, others=work.columns, closed=closed)) as states:
            for state in states:
                for kept in state._kept:
                    write(*kept)
                state = replace(state, _kept=())
                total = state if total is None else total.merge(state)
    total.warn(work)
    return replace(total, _closed=closed)


def split_options(options, wanted) -> tuple[dict, dict]:
    """Split options into values and names of columns."""
    in_columns = {name for each in wanted.values() for name in each.measure.columns}
    columns = {
        name: check_column(value, name)
        for name, value in options.items()
        if name in in_columns and value is not None
    }
    return {name: value for name, value in options.items() if name not in columns}, columns


class RowsMeasuring(NamedTuple):
    """Work of a pass over Rows: measure a block of whole queries."""

    wanted: dict[str, ParsedMeasure]
    gains: Gains
    ties: str | None
    unjudged: str
    undefined: float | str
    options: dict
    columns: dict[str, str]
    measure: Callable
    keeps: bool = False

    def __call__(self, block: Block) -> RowsEvaluation:
        """Measure the queries of a block, and add up their values."""
        values, _, n_unjudged = self.measure(
            self.wanted,
            block.columns["label"],
            block.columns["score"],
            groups=block.group_index(),
            gains=self.gains,
            ties=self.ties,
            unjudged=self.unjudged,
            undefined="drop",
            options={**self.options, **{name: block.columns[name] for name in self.columns}},
        )
        n_undefined = np.count_nonzero(np.isnan(values), axis=0)
        values = with_undefined(values, self.undefined)
        if np.isinf(values).any():
            column = np.isinf(values).any(axis=0).argmax()
            raise InputError(
                f"{list(self.wanted)[column]} is infinite for a query of these rows: it has no "
                "mean."
            )
        over_queries = tuple(each.measure.over_queries for each in self.wanted.values())
        columns = (
            np.log(np.maximum(column, _LEAST)) if how == "geometric mean" else column
            for how, column in zip(over_queries, values.T)
        )
        seen = forbidden_seen(self.wanted.values(), block.columns["label"], self.gains)
        return RowsEvaluation(
            tuple(self.wanted),
            block.n_rows,
            len(block.ids),
            n_undefined,
            over_queries,
            tuple(map(Moments.of, columns)),
            _forbidden=frozenset(text for text, each in self.wanted.items() if each in seen),
            _kept=((block.ids, values),) if self.keeps else (),
            _n_unjudged=n_unjudged,
        )


@contextmanager
def _writing(path, measures, rows) -> Iterator[Any]:
    """Write values per query to a Parquet file in this context; it appears if no error occurs.

    It yields a function ``write(ids, values)``, or None without a path.
    """
    if path is None:
        yield None
        return
    if not is_path(path):
        raise InputTypeError(f"out must be a path, got {brief(path)}.")
    if rows.are_in(path):
        raise InputError(
            f"out is {brief(path)}, where rows are read from: pass the path of another file."
        )
    if "qid" in measures:
        raise InputError("out has a column 'qid' of query ids: no measure can have that name.")
    pa = import_pyarrow("writing values to Parquet")
    from pyarrow import parquet

    check_writable(path)
    with open_replacing(path) as handle, ExitStack() as stack:
        writers: list = []

        def write(ids, values):
            columns = map(np.ascontiguousarray, values.T)
            batch = pa.table({"qid": pa.array(ids)} | dict(zip(measures, map(pa.array, columns))))
            if not writers:
                writers.append(stack.enter_context(parquet.ParquetWriter(handle, batch.schema)))
            writers[0].write_table(batch)

        yield write
