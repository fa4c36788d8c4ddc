"""Rows that need not fit into memory, and passes over them."""

import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_count, is_dask
from skfilterrank._base.words import check_n_jobs, in_parallel, progress_bar
from skfilterrank._files.files import is_path
from skfilterrank._files.frames_of_rows import (
    Files,
    Frames,
    Wanted,
    block_of,
    check_columns,
    is_frame,
    read_only_once,
)
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.row_blocks import ClosedQueries, Pieces, merged
from skfilterrank.exceptions import InputError, InputTypeError, brief

# Function of a block of whole queries that returns a state with ``merge(other)``. Any, because mypy
# does not see that a named tuple with ``__call__`` is callable.
Work = Any
# Number of results that are merged at a time.
_FAN_IN = 8


class Rows:
    """Rows of queries that need not fit into memory, in files, frames or Dask partitions.

    :func:`skfilterrank.metrics.evaluate` and the thresholds
    :class:`~skfilterrank.thresholds.TunedThreshold`,
    :class:`~skfilterrank.thresholds.CertifiedThreshold` and
    :class:`~skfilterrank.thresholds.FixedThreshold` accept them in place of arrays. Only these
    functions read the rows, in chunks, and once unless their documentation says otherwise.

    Parameters
    ----------
    source : path, list of paths, frame, dict of columns, iterable of frames, callable or Dask's
        One of the following:

        - a Parquet file, a folder of such files, or a list of such paths. Files of a
          folder and of its subfolders are read in the order of their names. Names that begin with
          "." or "_" are skipped, except partitions such as ``_day=1``.
        - any object with ``__arrow_c_stream__``, such as a table of pyarrow, a frame of polars or a
          relation of DuckDB.
        - a LazyFrame of polars or a dataset of pyarrow, which is evaluated again for each pass.
        - a pandas DataFrame, or a dict of columns, which may be NumPy memory maps.
        - an iterable of frames, or a function without arguments that returns an iterable of frames.
          A generator can be read only once; functions with several passes need a list or a
          function.
        - a Dask DataFrame: the workers read its partitions, and only sums are sent back.
    query : str, default="qid"
        Column (of pandas also index level) of query ids: numbers or text, never missing or empty.
    label : str, default="label"
        Column of labels, missing or NaN where unjudged.
    score : str, default="score"
        Column of scores, higher is better; -inf where hidden or not retrieved.
    chunk_rows : int, default=524288
        Approximate number of rows in memory at a time, besides the rows of the longest query.
    n_jobs : int or None, default=None
        Number of processes that read parts of the rows and compute with them, through joblib and so
        through its backend; -1 means all processors. Dask's rows are read by its own workers.
    verbose : int, default=0
        1 shows the progress over rows.

    Raises
    ------
    TypeError, ValueError
        If `source` names no rows, or a parameter is out of range.
    ImportError
        For files and Arrow tables without pyarrow.

    See Also
    --------
    skfilterrank.metrics.evaluate : Measures of the rows.

    Notes
    -----
    A query stays in memory until its last row is read. For each query 8 bytes are stored, to detect
    a query that occurs again.

    Results do not depend on the division of rows into files, row groups or frames.
    Dictionary-encoded columns are read as values. If a file lacks a column or has another type in
    it, an error names the file before anything is computed.

    Examples
    --------
    >>> from skfilterrank.io import Rows
    >>> from skfilterrank.metrics import evaluate
    >>> first = {"qid": ["a", "a", "b"], "label": [2, -1, 0], "score": [0.9, 0.5, 0.8]}
    >>> second = {"qid": ["b"], "label": [1], "score": [0.1]}
    >>> evaluate(Rows([first, second]), "ndcg_f@2").means.round(3)
    ndcg_f@2    0.71
    Name: mean, dtype: float64
    """

    def __init__(
        self,
        source,
        *,
        query: str = "qid",
        label: str = "label",
        score: str = "score",
        chunk_rows: int = 1 << 19,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        for name, column in {"query": query, "label": label, "score": score}.items():
            check_column(column, name)
        self.query, self.label, self.score = query, label, score
        self.chunk_rows = check_count(chunk_rows, "chunk_rows")
        check_n_jobs(n_jobs)
        self.n_jobs, self.verbose = n_jobs, verbose
        self.source = source
        self._source: Any = _source_of(source, self.chunk_rows)

    @property
    def is_on_cluster(self) -> bool:
        """Tell whether Dask's workers read the rows."""
        return isinstance(self._source, DaskPartitions)

    def are_in(self, path) -> bool:
        """Tell whether a path is one of the files that are read, or is in a folder that is read.

        Parameters
        ----------
        path : path
            The path.

        Returns
        -------
        bool
            True if the path is among the files or in a folder of the rows.
        """
        return isinstance(self._source, Files) and self._source.holds(path)

    def __repr__(self):
        return f"Rows({brief(self.source)}, query={self.query!r}, label={self.label!r})"


def check_passes(rows: Rows, n_passes: int) -> None:
    """Raise for rows that cannot be read so many times."""
    if isinstance(rows._source, Frames) and not rows._source.is_repeatable:
        raise read_only_once(f"{n_passes} times")


def states_of(
    rows: Rows,
    work: Work,
    *,
    others: Mapping | None = None,
    closed: ClosedQueries | None = None,
    what: str = "",
) -> Generator[Any]:
    """Yield the state that `work` returns for each block of whole queries, in order.

    Parameters
    ----------
    rows : Rows
        The rows.
    work : callable
        Function of a block of whole queries; with `n_jobs` it runs in other processes.
    others : dict or None
        Names of other columns than those of labels and scores, by their keys in blocks.
    closed : ClosedQueries or None
        Set to which finished queries are added, to raise for one that comes back.
    what : str
        Name of the pass, for the progress bar.
    """
    source = rows._source
    closed = ClosedQueries() if closed is None else closed
    wanted = Wanted(rows.query, rows.label, rows.score, others or {})
    if isinstance(source, DaskPartitions):
        yield source.fold(work, wanted, closed)
        return
    pieces = source.pieces(wanted)
    n_seen = 0
    with progress_bar(
        total=source.n_rows,
        unit="row",
        unit_scale=True,
        desc=what or None,
        # Terminals get a moving bar, log files an occasional line.
        mininterval=0.1 if sys.stderr.isatty() else 10,
        verbose=rows.verbose,
    ) as bar:
        for n_of_part, ids, state in _of_pieces(pieces, work, rows.n_jobs):
            for some in ids:
                closed.add(some)
            n_seen += n_of_part
            bar.update(n_of_part)
            if state is not None:
                yield state
    if not n_seen:
        raise InputError("rows holds no rows: expected at least one.")


def total_of(rows: Rows, work: Work, what: str = "") -> Any:
    """Merge the results of `work` on all rows, in one pass."""
    with closing(states_of(rows, work, what=what)) as states:
        return merged(states)


def rows_in_memory(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read all rows: query ids, labels and scores."""
    ids, labels, scores = zip(*total_of(rows, _copied))
    return np.concatenate(ids), np.concatenate(labels), np.concatenate(scores)


def _copied(block):
    """Copy the columns of a block, so that the table it is a slice of can be freed."""
    ids = np.repeat(block.ids, block.sizes)
    return Pieces([(ids, block.columns["label"].copy(), block.columns["score"].copy())])


def check_rows(rows, function: str, **others) -> Rows:
    """Raise for the first of `others` that is not None: it cannot be combined with Rows."""
    if given := [name for name, value in others.items() if value is not None]:
        raise InputError(
            f"{given[0]} is not possible where {function} reads Rows. Leave it out, or pass arrays "
            "in memory."
        )
    return rows


def check_column(column, name: str) -> str:
    """Check the name of a column."""
    if not isinstance(column, str):
        raise InputError(f"{name} must be the name of a column, got {brief(column)}.")
    return column


def _source_of(source, chunk_rows: int) -> "Files | Frames | DaskPartitions":
    """Return the reader for a source of rows."""
    if is_dask(source):
        return DaskPartitions(source)
    if is_path(source):
        return Files([source], chunk_rows)
    if not is_frame(source):
        source = _batches_of(source)
    if isinstance(source, list | tuple) and source and all(map(is_path, source)):
        return Files(source, chunk_rows)
    is_iterable = isinstance(source, Iterable) and not isinstance(
        source, np.ndarray | pd.Series | pd.Index | str | bytes
    )
    is_function = callable(source) and not isinstance(source, type)
    is_other = hasattr(source, "read") or hasattr(source, "__dask_graph__")
    if is_other or not (is_frame(source) or is_iterable or is_function):
        raise InputTypeError(
            f"source must name rows, got {brief(source)}: expected a Parquet file or "
            "folder, a list of files, a frame of pandas, polars, pyarrow or Dask, a dict of "
            "columns, an iterable of frames, or a function that returns one."
        )
    return Frames(source, chunk_rows)


def _batches_of(source):
    """Return a function that yields frames of a LazyFrame or dataset; else the source."""
    for name in ("collect_batches", "to_batches"):
        if hasattr(source, name):
            return getattr(source, name)
    return source


def _of_pieces(pieces, work, n_jobs):
    """Process pieces, in `n_jobs` processes, and join queries that continue in the next piece."""
    import joblib  # imported here, since reading files does not need it

    if joblib.effective_n_jobs(n_jobs) > 1:
        folded = in_parallel((joblib.delayed(_fold)(piece, work) for piece in pieces), n_jobs)
    else:
        folded = (_fold(piece, work) for piece in pieces)
    last = None
    for head, n_rows, ids, state, tail in folded:
        if head is None:
            continue
        first = head if last is None else last.join(head)
        # The piece holds one or two queries, the last of which may continue.
        done, last = first.split(len(first.ids) - (tail is None))
        if len(done.ids):
            yield done.n_rows, [done.ids], work(done)
        if tail is not None:
            yield n_rows, ids, state
            last = tail
    if last is not None:
        yield last.n_rows, [last.ids], work(last)


def _fold(piece, work):
    """Return rows of the first query, results of the queries between, and rows of the last."""
    head = rows = state = None
    n_rows, ids = 0, []
    for block in piece():
        if not len(block.ids):
            continue
        rows = block if rows is None else rows.join(block)
        if head is None and len(rows.ids) > 1:
            head, rows = rows.split(1)
        if head is not None and len(rows.ids) > 1:
            whole, rows = rows.split(len(rows.ids) - 1)
            made = work(whole)
            state = made if state is None else state.merge(made)
            n_rows += whole.n_rows
            ids.append(whole.ids)
    if head is None:
        return rows, 0, [], None, None
    return head, n_rows, ids, state, rows


def plain_ids(number: int, ids, dtype, name: str) -> pd.Series:
    """Return query ids without categories, since partitions may have different categories."""
    if isinstance(ids.dtype, pd.CategoricalDtype):
        ids = ids.astype(ids.cat.categories.dtype)
    elif not (isinstance(dtype, pd.CategoricalDtype) or _are_alike(ids.dtype, dtype)):
        raise InputError(
            f"{name} has dtype {ids.dtype} in partition {number}, expected {dtype} as in the other "
            "partitions: bring the partitions to one type with astype, categories with "
            ".cat.as_known()."
        )
    missing = ids.isna().to_numpy()
    if missing.any():
        raise InputError(
            f"{name} holds {np.count_nonzero(missing)} null(s) in partition {number}, the first at "
            f"its row {missing.argmax()}: every row needs a query id."
        )
    return ids.reset_index(drop=True)


def _are_alike(dtype, expected):
    is_text = (
        each == np.dtype(object) or isinstance(each, pd.StringDtype) for each in (dtype, expected)
    )
    return dtype == expected or all(is_text)


class DaskPartitions:
    """A Dask DataFrame whose partitions hold whole queries; results are computed on the workers."""

    def __init__(self, source):
        self._source = source
        if source.ndim != 2:
            raise InputTypeError(
                "source is a Dask Series, but rows need several columns: pass the frame."
            )

    def fold(self, work, wanted: Wanted, closed: ClosedQueries):
        """Merge the states of all partitions; the client gets only the merged state."""
        import dask

        frame = self._frame(wanted)
        measure, merge = dask.delayed(_measure), dask.delayed(_merged)
        given = work, wanted, frame.dtypes[wanted.query]
        shared = [dask.delayed(each, traverse=False) for each in given]
        parts = [measure(part, number, *shared) for number, part in enumerate(frame.to_delayed())]
        while len(parts) > 1:
            parts = [
                merge(parts[first : first + _FAN_IN]) for first in range(0, len(parts), _FAN_IN)
            ]
        (total,) = dask.compute(*parts)
        if total is None:
            raise InputError("rows holds no rows: expected at least one.")
        closed.take(total.closed)
        return total.state

    def _frame(self, wanted):
        """Return a Dask DataFrame of the wanted columns."""
        source = self._source
        if wanted.query not in source.columns and source.index.name == wanted.query:
            source = source.reset_index()
        check_columns(source.columns, wanted.names, "rows")
        return source[wanted.names]


class _Measured(NamedTuple):
    """State that was computed from some queries, with the ids of these queries."""

    state: Any
    closed: ClosedQueries

    def merge(self, other: "_Measured") -> "_Measured":
        return _Measured(self.state.merge(other.state), self.closed.merge(other.closed))


def _measure(part, number, work, wanted, dtype):
    """Return the state and the ids of a partition's queries; None for an empty partition."""
    if not len(part):
        return None
    where = f"partition {number}"
    ids = plain_ids(number, part[wanted.query], dtype, f"column {brief(wanted.query)}")
    part = part.reset_index(drop=True).assign(**{wanted.query: ids})
    block = block_of(part, wanted, where)
    if len(np.unique(block.ids)) < len(block.ids):
        order = GroupIndex.from_groups(ids.to_numpy()).row_order()
        block = block_of(part.iloc[order], wanted, where)
    closed = ClosedQueries()
    closed.add(block.ids)
    return _Measured(work(block), closed)


def _merged(parts):
    parts = [each for each in parts if each is not None]
    return merged(parts) if parts else None
