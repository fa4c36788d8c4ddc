"""Rank tables: ranks of all documents that some run returns."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank._base.checks import check_container, check_count
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import read_runs


def rank_table(runs, *, depth: int | None = None) -> pd.DataFrame:
    """Return ranks of all documents that some run returns.

    The table has one row for each query and document of the pool, and a column for each run.
    Functions that work on runs accept this table, so that it needs to be made only once.

    Parameters
    ----------
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs in a form that :func:`skfilterrank.io.read_runs` accepts.
    depth : int, default=None
        Number of first documents of each run and query that count. None means all.

    Returns
    -------
    table : DataFrame of shape (n_documents_of_all_pools, n_runs)
        Index levels "qid" and "docno", sorted. One float64 column for each run, in the order of
        `runs`, the axis named "run": the rank of the document, from 1, NaN where the run does not
        return it.

    Raises
    ------
    ValueError
        If there is no run; if a run has no rows, lacks columns, has a document twice in a query,
        has a score that is NaN or +inf, or shares no query with any other run.

    See Also
    --------
    PoolingSelector : Judge what stands high in some run.
    StatAPSelector : Its `prior_` says how likely each document is to be relevant, by its ranks.

    Notes
    -----
    Rank 1 is the highest score; a column "rank" of a run is ignored. Documents of equal score are
    ranked by their id, descending, as in trec_eval. A score of -inf means that the document is
    hidden: it is not returned.

    The table holds 8 bytes for each document and run.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import rank_table
    >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [9.0, 7.0]})
    >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d1"], "score": [0.5, 0.5]})
    >>> rank_table({"a": a, "b": b})
    run          a    b
    qid docno
    1   d1     1.0  2.0
        d2     2.0  NaN
        d3     NaN  1.0
    """
    depth = check_count(depth, "depth", or_none=True)
    frames = {name: run[run["score"] > -np.inf] for name, run in read_runs(runs).items()}
    lengths = list(map(len, frames.values()))
    queries, query_ids = _factorize([run["qid"] for run in frames.values()], "qid")
    documents, document_ids = _factorize([run["docno"] for run in frames.values()], "docno")
    if len(queries) == 0:
        raise InputError("the runs return no document: they are empty, or hide all.")
    names, offsets = list(frames), np.cumsum([0, *lengths])
    stretches = [slice(*ends) for ends in pairwise(offsets)]
    _check_common_queries([np.unique(queries[rows]) for rows in stretches], names, query_ids)
    pairs = queries.astype(np.int64) * len(document_ids) + documents
    ranked = []
    for (name, run), rows in zip(frames.items(), stretches):
        _check_no_duplicates(pairs[rows], name, query_ids, document_ids)
        ranked.append(_ranks(pairs[rows], queries[rows], run["score"].to_numpy(), depth))
    pool, places = np.unique(np.concatenate([pair for pair, _ in ranked]), return_inverse=True)
    ranks = np.full((len(ranked), len(pool)), np.nan)
    offset = 0
    for row, (own, rank) in zip(ranks, ranked):
        row[places[offset : offset + len(own)]] = rank
        offset += len(own)
    index = pd.MultiIndex(
        levels=[query_ids, document_ids],
        codes=np.divmod(pool, len(document_ids)),  # type: ignore[arg-type]  # arrays do, too
        names=["qid", "docno"],
        verify_integrity=False,
    )
    # Transposed, so that each column of the frame is contiguous in memory.
    table = pd.DataFrame(ranks.T, columns=pd.Index(names, name="run"), copy=False)
    return table.set_axis(index.remove_unused_levels(), axis=0)


def are_runs(X) -> bool:
    """Tell whether X is a dict of runs; scipy's dictionary-of-keys arrays are not."""
    return isinstance(X, Mapping) and not sparse.issparse(X)


def as_rank_table(runs, *, depth: int | None = None, name: str = "runs") -> pd.DataFrame:
    """Return the rank table of runs, or a given table after checks; cut at `depth`."""
    if not isinstance(runs, pd.DataFrame):
        check_container(runs, name)
        if name == "X" and not are_runs(runs):  # the list may contain texts
            raise InputError(
                "X must be a rank table, or a dict {name: path, open file or data frame} of runs, "
                f"got {type(runs).__name__}. rank_table makes one of a path or a list of paths."
            )
        return rank_table(runs, depth=depth)
    depth = check_count(depth, "depth", or_none=True)
    if not {"qid", "docno"} <= set(runs.index.names):
        raise InputError(
            "a rank table must have index levels named 'qid' and 'docno', got "
            f"{list(runs.index.names)}: make it by rank_table; from one frame with several runs, "
            "by "
            "rank_table(dict(list(frame.groupby('run'))))."
        )
    if runs.shape[1] == 0 or len(runs) == 0:
        raise InputError(f"the rank table is empty, its shape is {runs.shape}.")
    ranks = rank_values(runs)
    if runs.index.has_duplicates:
        query_and_docno = runs.index[runs.index.duplicated()][0]
        raise InputError(f"the rank table holds {query_and_docno} twice: keep one of the rows.")
    if depth is None:
        return runs
    table = runs.where(ranks <= depth)
    return table[~np.isnan(rank_values(table)).all(axis=1)]


def rank_values(table) -> np.ndarray:
    """Return the ranks of a rank table, float64 of shape (n_documents, n_runs)."""
    if not all(pd.api.types.is_numeric_dtype(dtype) for dtype in table.dtypes.unique()):
        raise InputError("a rank table must hold numbers, NaN where not returned.")
    ranks = table.to_numpy(dtype=np.float64, na_value=np.nan)
    is_rank = np.isnan(ranks) | ((ranks >= 1) & (np.floor(ranks) == ranks) & (ranks < np.inf))
    if not is_rank.all():
        bad = ranks[~is_rank][0]
        raise InputError(
            f"a rank table must hold whole numbers from 1 on, NaN where not returned, got {bad:g}; "
            "from scores, make one by rank_table."
        )
    return ranks


def _factorize(columns, name):
    """Return codes over all runs, and the sorted distinct ids."""
    is_text = [pd.api.types.is_string_dtype(column.dtype) for column in columns]
    if len(set(is_text)) > 1:
        raise InputError(
            f"column {brief(name)} is text in some runs and not in others: convert them, e.g. by "
            f"run[{brief(name)}].astype(str)."
        )
    # Factorize each run first, because concatenating long text columns is slow.
    parts = [pd.factorize(column) for column in columns]
    distinct = pd.concat([pd.Series(ids) for _, ids in parts], ignore_index=True)
    codes, ids = pd.factorize(distinct, sort=True)
    offsets = np.cumsum([0, *(len(part) for _, part in parts)])
    return np.concatenate(
        [codes[offset:][own] for offset, (own, _) in zip(offsets, parts)]
    ), pd.Index(ids)


def _check_common_queries(queries_of_runs, names, query_ids):
    """Raise if a run has no query in common with other runs, as with ids in another form."""
    if sum(len(queries) > 0 for queries in queries_of_runs) < 2:
        return
    counts = np.bincount(np.concatenate(queries_of_runs), minlength=len(query_ids))
    for name, queries in zip(names, queries_of_runs):
        if len(queries) and counts[queries].max() < 2:
            others = np.setdiff1d(np.arange(len(query_ids)), queries)
            raise InputError(
                f"run {brief(name)} has no query in common with the other runs: its queries are "
                f"such as {brief(query_ids[queries[0]])}, theirs such as "
                f"{brief(query_ids[others[0]])}. Leave it out, or give it their ids."
            )


def _check_no_duplicates(pairs, name, query_ids, document_ids):
    """Raise for the first document that occurs twice in its query."""
    again = pd.Series(pairs).duplicated().to_numpy()
    if again.any():
        query, document = np.divmod(pairs[again.argmax()], len(document_ids))
        raise InputError(
            f"run {brief(name)} holds document {brief(document_ids[document])} twice in query "
            f"{brief(query_ids[query])}: keep one of the two rows."
        )


def _ranks(pairs, queries, scores, depth):
    """Return the (query, document) pairs of one run up to `depth`, and their ranks."""
    order = np.lexsort((-pairs, -scores, queries))
    sorted_queries = queries[order]
    starts = np.flatnonzero(np.append(True, sorted_queries[1:] != sorted_queries[:-1]))[
        : len(order)
    ]
    sizes = np.diff(starts, append=len(order))
    ranks = np.arange(1, len(order) + 1) - np.repeat(starts, sizes)
    if depth is not None:
        order, ranks = order[ranks <= depth], ranks[ranks <= depth]
    return pairs[order], ranks
