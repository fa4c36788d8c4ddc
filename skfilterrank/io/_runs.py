"""Several runs, however they are given."""

import pandas as pd

from skfilterrank._files.named_runs import errors_of, named_runs
from skfilterrank._files.objects import is_frame
from skfilterrank.exceptions import InputError
from skfilterrank.io._trec.frames import Table, run_columns
from skfilterrank.io._trec.read import run_frame

_COLUMNS = ("qid", "docno", "score")


def read_runs(runs) -> dict[str, pd.DataFrame]:
    r"""Read runs into data frames, as every function does that has a parameter `runs`.

    Parameters
    ----------
    runs : path, list of paths, or dict {name: path, open file, data frame or other run}
        The runs, each in any form that `read_run` takes. Paths are named by their files' names
        without endings such as ".gz", ".txt" and ".parquet"; runs of ranx by their own names. The
        path of a folder that `write_runs` made stands for all runs in it, by their names there. A
        data frame, of pandas or polars, has the columns or index levels "qid" (or "query_id"),
        "docno" (or "doc_id") and "score".

    Returns
    -------
    frames : dict of str to DataFrame
        Columns "qid" and "docno", ids of data frames as they came, and "score" (float64), -inf
        where filtered.

    Raises
    ------
    ValueError, FileFormatError
        `runs` is anything else or empty, two files have one name, a column is missing, a row has
        no id, a score is NaN, +inf or no number; a note names the run.

    See Also
    --------
    read_run : One run.
    write_runs : Write runs into a folder that is read fast.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_runs
    >>> read_runs({"bm25": io.StringIO("1 Q0 d7 1 12.5 x\n1 Q0 d2 2 11 x\n")})["bm25"]
      qid docno  score
    0   1    d7   12.5
    1   1    d2   11.0
    """
    frames = {}
    for name, run in named_runs(runs).items():
        with errors_of(name, run):
            frames[name] = _frame(run)
    return frames


def _frame(run):
    """The three columns of a run."""
    if not is_frame(run):
        return run_frame(run, "run")[list(_COLUMNS)]
    table = Table(run, "run")
    columns, scores = run_columns(table)
    for column in _COLUMNS[:2]:
        if (missing := columns[column].isna().to_numpy()).any():
            raise InputError(
                f"column {column!r} of run holds no id in row {int(missing.argmax())}; every row "
                "needs one."
            )
    ids = {name: columns[name] for name in _COLUMNS[:2]}
    return pd.DataFrame(ids | {"score": scores}, copy=False)
