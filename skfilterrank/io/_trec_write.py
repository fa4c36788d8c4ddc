"""Runs in TREC format."""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank.io._files import open_for_writing


class RunCounts(NamedTuple):
    """What `write_run` did.

    Attributes
    ----------
    written : int
        Rows in the file.
    filtered : int
        Rows with score -inf, which are left out.
    empty_queries : int
        Queries of which no row is left.
    """

    written: int
    filtered: int
    empty_queries: int


def write_run(path, groups, docnos, y_score, *, run: str = "skfilterrank") -> RunCounts:
    r"""Write ranked and filtered lists as a TREC run, ``qid Q0 docno rank score run``.

    Rows with score -inf are filtered out and do not appear. A query of which nothing is left does
    not appear either; the counts say how many there are.

    Parameters
    ----------
    path : str, PathLike or file object
        Where to write; zipped if the name ends in ".gz".
    groups : array-like of shape (n_rows,)
        Query of each row, any order. Queries are written in sorted order.
    docnos : array-like of shape (n_rows,)
        Document id of each row.
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better, -inf where filtered.
    run : str, default="skfilterrank"
        Name of the run, the last column.

    Returns
    -------
    counts : RunCounts
        Named tuple ``(written, filtered, empty_queries)``.

    Raises
    ------
    ValueError
        Lengths that differ, no rows, a score that is NaN or +inf, an id that is missing or holds
        white space, a document that is twice in a query.

    Notes
    -----
    Ranks count from 1, by score, ties by document id in descending order as trec_eval does. Scores
    are written so that they read back exactly. trec_eval itself keeps scores in single precision:
    scores that differ by less than that are ties to it.

    Examples
    --------
    >>> import sys
    >>> from skfilterrank.io import write_run
    >>> write_run(sys.stdout, [7, 7, 7, 8], ["a", "b", "c", "a"], [0.5, -float("inf"), 0.75,
    ...           -float("inf")], run="demo")
    7 Q0 c 1 0.75 demo
    7 Q0 a 2 0.5 demo
    RunCounts(written=2, filtered=2, empty_queries=1)
    """
    groups, docnos = np.asarray(groups), np.asarray(docnos, dtype=object)
    y_score = np.asarray(y_score, dtype=np.float64)
    lengths = {"groups": groups.shape, "docnos": docnos.shape, "y_score": y_score.shape}
    if len(set(lengths.values())) != 1 or y_score.ndim != 1 or not y_score.size:
        shapes = ", ".join(f"{name} {shape}" for name, shape in lengths.items())
        raise ValueError(
            f"groups, docnos and y_score must be 1-dimensional, of one length and not empty, "
            f"got shapes {shapes}; pass one entry per row."
        )
    if (bad := np.isnan(y_score) | (y_score == np.inf)).any():
        row = int(bad.argmax())
        raise ValueError(
            f"y_score must be finite, or -inf where filtered, got {y_score[row]} in row {row}; "
            "repair the model that gave it."
        )
    if not isinstance(run, str) or not run or re.search(r"\s", run):
        raise ValueError(f"run must be a name without white space, got {run!r}.")

    query_codes, queries = _factorize(groups, "groups")
    docno_codes, documents = _factorize(docnos, "docnos")
    _check_unique(query_codes, docno_codes, queries, documents)

    kept = np.flatnonzero(y_score > -np.inf)
    kept = kept[np.lexsort((-docno_codes[kept], -y_score[kept], query_codes[kept]))]
    codes = query_codes[kept]
    sizes = np.bincount(codes, minlength=len(queries))
    ranks = np.arange(1, len(kept) + 1) - (np.cumsum(sizes) - sizes)[codes]
    rows = zip(
        queries[codes],
        documents[docno_codes[kept]],
        ranks.tolist(),
        y_score[kept].tolist(),
        strict=True,
    )
    with open_for_writing(path) as write:
        write(
            "".join([f"{qid} Q0 {doc} {rank} {score!r} {run}\n" for qid, doc, rank, score in rows])
        )
    return RunCounts(len(kept), len(y_score) - len(kept), int(np.count_nonzero(sizes == 0)))


def _factorize(ids, name):
    """Codes in sorted order of the ids, and the ids as text; objects sort as text."""
    missing = pd.isna(ids)
    if missing.any():
        raise ValueError(f"{name} holds no id in row {int(missing.argmax())}; every row needs one.")
    if ids.dtype == object:
        ids = np.array([str(item) for item in ids], dtype=object)
    codes, uniques = pd.factorize(ids, sort=True)
    texts = np.array([str(item) for item in uniques], dtype=object)
    for text in texts:
        if not text or re.search(r"\s", text):
            raise ValueError(
                f"{name} holds {text!r}, which a TREC run cannot carry; "
                "ids must not be empty or hold white space. Rename it."
            )
    return codes, texts


def _check_unique(query_codes, docno_codes, queries, documents):
    """Raise on the first document that is a second time in its query."""
    twice = pd.DataFrame({"query": query_codes, "docno": docno_codes}).duplicated().to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise ValueError(
            f"document {documents[docno_codes[row]]!r} is twice in query "
            f"{queries[query_codes[row]]!r} (again in row {row}); "
            "a run holds a document once per query."
        )
