"""One name for rows that need not fit into memory."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from skfilterrank._core.checks import check_choice, check_count
from skfilterrank._core.row_blocks import merged
from skfilterrank.exceptions import InputError, InputTypeError, brief
from skfilterrank.stream._closed import ClosedQueries
from skfilterrank.stream._cluster import DaskPartitions
from skfilterrank.stream._files_of_rows import Files
from skfilterrank.stream._partition import partitioned
from skfilterrank.stream._passes import run_pass
from skfilterrank.stream._sources import folder_for, source_of


class Rows:
    """Rows of queries, wherever they are: what the functions of this module read.

    Nothing is read when it is made. Each function reads the rows once, or as often as it says, some
    at a time.

    Parameters
    ----------
    source : path, list of paths, frame, dict of columns, iterable of frames, callable or Dask's
        A Parquet or Arrow IPC file, a folder of them (read in the order of their names, those of
        folders inside too, but nothing whose name begins with "." or "_", except partitions such as
        ``_day=1``), or a list of such paths; anything with ``__arrow_c_stream__``, such as
        tables of pyarrow, frames of polars and relations of DuckDB; a LazyFrame of polars or a
        dataset of pyarrow, run anew for each reading; a pandas DataFrame; a dict of columns, which
        may be NumPy memory maps; an iterable of frames; or a function without
        arguments that returns an iterable of frames. A generator can be read once only; what reads
        more than once wants a list or a function. Also a Dask DataFrame, or a Dask bag of frames:
        its partitions are read by the workers, and nothing but sums comes from there.
    query : str, default="qid"
        Column (of pandas also index level) of query ids: numbers or text, never missing.
    label : str, default="label"
        Column of labels, missing or NaN where unjudged.
    score : str, default="score"
        Column of scores, higher is better; -inf where filtered or not retrieved.
    scattered : {"raise", "partition"} or None, default=None
        What to do where the rows of a query do not stand together. "raise" reads everything once,
        and a query that comes back after others is an error: none is missed. "partition" writes the
        columns that are needed to a temporary folder first, split by a hash of the query id, and
        reads from there; that takes about as much disk as the columns take as float64. Of Dask
        collections, "raise" makes an error of a query with rows in several partitions, and
        "partition" shuffles the rows by query, as Dask is set up to, where there is any. None is
        "partition" for those, and "raise" else.
    folder : path or None, default=None
        Where temporary folders are made; None: where the system has them. They are removed in any
        case.
    chunk_rows : int, default=524288
        Number of rows to hold at a time, about; besides, the rows of the longest query.

    Raises
    ------
    TypeError, ValueError
        If `source` names no rows, or a parameter is out of range.
    ImportError
        For files and Arrow tables without pyarrow.

    See Also
    --------
    evaluate : Measures of the rows.

    Notes
    -----
    Nothing depends on how rows are cut into files, row groups or frames. Columns that are encoded
    by dictionaries are read by their values. Files that lack a column, or have another type in it,
    are named in an error before anything is computed.

    Examples
    --------
    >>> from skfilterrank.stream import Rows, evaluate
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
        scattered: str | None = None,
        folder=None,
        chunk_rows: int = 1 << 19,
    ):
        for name, column in {"query": query, "label": label, "score": score}.items():
            check_column(column, name)
        check_choice(scattered, "scattered", ("raise", "partition", None))
        self.query, self.label, self.score = query, label, score
        self.scattered, self.folder = scattered, folder_for(folder)
        self.chunk_rows = check_count(chunk_rows, "chunk_rows")
        self.source = source
        self._source = source_of(source, self.chunk_rows)

    @property
    def is_on_cluster(self) -> bool:
        """Whether Dask's workers read the rows."""
        return isinstance(self._source, DaskPartitions)

    def are_in(self, path) -> bool:
        """Whether a path is a file that is read, or in a folder that is read."""
        return isinstance(self._source, Files) and self._source.holds(path)

    def __repr__(self):
        return f"Rows({brief(self.source)}, query={self.query!r}, label={self.label!r})"


class ReadableRows:
    """Rows as passes read them: whole queries stand together, in parts."""

    def __init__(self, source, wanted):
        self._source, self._wanted = source, wanted

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known."""
        return self._source.n_rows

    def pieces(self):
        """Read them once."""
        return self._source.pieces(self._wanted)


@contextmanager
def opened(rows: Rows, wanted, *, n_passes: int = 1) -> Iterator[ReadableRows]:
    """The wanted columns of rows, with temporary files as long as the block lasts."""
    source = rows._source
    if isinstance(source, DaskPartitions):
        yield ReadableRows(source.whole_queries(wanted, told=rows.scattered == "raise"), wanted)
        return
    if n_passes > 1 and not source.is_repeatable and rows.scattered != "partition":
        raise InputError(
            f"rows can be read once only, and are to be read {n_passes} times: pass a list of "
            "frames, a file, or a function without arguments that returns an iterator of frames."
        )
    if rows.scattered != "partition":
        yield ReadableRows(source, wanted)
    else:
        with partitioned(source, wanted, rows.folder) as parts:
            yield ReadableRows(parts, wanted)


def read_once(rows: Rows, wanted, work: Any, *, n_jobs, verbose) -> Any:
    """What `work` makes of all rows, in one pass."""
    with opened(rows, wanted) as source:
        passing = run_pass(
            source.pieces(),
            work,
            closed=ClosedQueries(),
            n_jobs=n_jobs,
            verbose=verbose,
            n_rows=source.n_rows,
        )
        with closing(passing):
            return merged(passing)


def check_rows(rows) -> Rows:
    """Rows, as functions of this module take them."""
    if not isinstance(rows, Rows):
        raise InputTypeError(
            f"rows must be skfilterrank.stream.Rows, got {type(rows).__name__}: write "
            "Rows(source, query=..., label=..., score=...)."
        )
    return rows


def check_column(column, name: str) -> str:
    """Name of a column."""
    if not isinstance(column, str):
        raise InputError(f"{name} must be the name of a column, got {brief(column)}.")
    return column
