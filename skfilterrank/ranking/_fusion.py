"""fuse_runs: fusion of several runs, or of several systems' scores of the same rows."""

import os
from collections.abc import Mapping, Sequence
from typing import IO, Any, cast, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import (
    check_choice,
    check_count,
    check_level_scores,
    check_number,
    check_numbers,
    columns_of,
)
from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._files.forms import are_runs
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.io import read_runs

_Path = str | os.PathLike
METHODS = ("rrf", "borda", "condorcet", "combsum", "combmnz")
# Number of pairs of documents that are compared at a time.
_CELLS = 1 << 20


@overload
def fuse_runs(
    runs: _Path | Sequence[_Path] | Mapping[Any, _Path | IO | pd.DataFrame],
    method: str = "rrf",
    *,
    depth: int | None = None,
    normalize: str | None = "minmax",
    rrf_k: float = 60,
    weights: Any = None,
) -> pd.DataFrame: ...
@overload
def fuse_runs(
    runs: np.ndarray | pd.DataFrame | Mapping[Any, ArrayLike],
    method: str = "rrf",
    *,
    groups: Any = None,
    normalize: str | None = "minmax",
    rrf_k: float = 60,
    weights: Any = None,
) -> np.ndarray: ...
def fuse_runs(
    runs,
    method="rrf",
    *,
    groups=None,
    depth=None,
    normalize="minmax",
    rrf_k=60,
    weights=None,
) -> pd.DataFrame | np.ndarray:
    r"""Fuse runs, or several systems' scores of the same rows.

    If systems make different errors, the fused list is often better than the best system. No labels
    are needed.

    Parameters
    ----------
    runs : path, list of paths, dict of runs, or table of scores
        Runs in a form that :func:`skfilterrank.io.read_runs` accepts: a path, a list of paths, or a
        dict of names and paths, open files or DataFrames. Or scores of the same rows by systems,
        -inf where a system does not retrieve the row or hides it: a dict of arrays, a DataFrame,
        or an array of shape (n_rows, n_systems).
    method : {"rrf", "borda", "condorcet", "combsum", "combmnz"}, default="rrf"
        Method of fusion, see Notes. The first three use only ranks.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row of scores, in any order; None looks for an index level "qid". Runs have
        their own query ids.
    depth : int or None, default=None
        Number of documents of each query in a fused run; None keeps them all.
    normalize : "minmax" or None, default="minmax"
        Normalisation of each system's scores within a query, for "combsum" and "combmnz". With
        "minmax" the lowest score becomes 0 and the highest 1; None leaves scores unchanged.
    rrf_k : float, default=60
        Constant of "rrf", at least 0; lower values give the first places more weight.
    weights : dict {system: weight}, or array-like of shape (n_systems,), default=None
        Weight of each system, at least 0; a dict has the names of the systems as keys. It
        multiplies the system's contributions, with "condorcet" its votes; 0 leaves the system out.
        None means 1 for each.

    Returns
    -------
    DataFrame with columns "qid", "docno" and "score", or ndarray of shape (n_rows,)
        For runs the fused run, queries sorted, the best document first, ready for
        :func:`skfilterrank.io.write_run`; hidden documents, and queries without other documents,
        are left out. For scores the fused scores, higher is better, -inf where hidden: where no
        system retrieves the row.

    Raises
    ------
    ValueError
        If a parameter is out of range, query ids are missing, a score is NaN or +inf, systems score
        different numbers of rows, a run holds a document twice in a query, or all documents are
        hidden.

    See Also
    --------
    skfilterrank.judgments.rank_table : Ranks of several runs side by side.

    Notes
    -----
    With :math:`r_s(d)` the rank of document d in the list of system s for the query, from 1,
    :math:`x_s(d)` its normalised score, :math:`w_s` the weight of the system, and n the number of
    systems that retrieve d, over which sums are taken:

    ============  ==========================================================================
    "rrf"         sum of :math:`w_s / (k + r_s(d))` [1]_
    "borda"       sum of :math:`w_s (N + 1 - r_s(d))` [3]_
    "condorcet"   1, and 1 for each document that a majority of votes puts behind d, 1/2 for each
                  on a par [4]_
    "combsum"     sum of :math:`w_s x_s(d)` [2]_
    "combmnz"     n times this sum [2]_
    ============  ==========================================================================

    N is the number of rows of the query that some system retrieves. For "borda", rows that s does
    not retrieve share the remaining points, as if they were tied after its list. For "condorcet",
    they are tied after its list, and a system does not vote on tied documents. Without cyclic
    majorities, the scores of "condorcet" are N for the best document down to 1 for the last.
    Documents in a cycle have equal or nearly equal scores.

    In given and fused runs, documents are ranked as in trec_eval: by score, ties by id, descending.
    In tables of scores, rows of equal score get the mean of their ranks. If all scores of a list
    are equal, "minmax" makes them 1.

    A row that a system does not retrieve gets 0 from the system (except for the remaining points of
    "borda"). With "minmax", the last row of the list gets 0, too. Results are bit-equal for any
    order of the systems.

    References
    ----------
    .. [1] G. Cormack, C. Clarke, S. Büttcher. "Reciprocal Rank Fusion Outperforms Condorcet and
       Individual Rank Learning Methods". SIGIR 2009.
    .. [2] E. Fox, J. Shaw. "Combination of Multiple Searches". TREC-2, 1994.
    .. [3] J. Aslam, M. Montague. "Models for Metasearch". SIGIR 2001.
    .. [4] M. Montague, J. Aslam. "Condorcet Fusion for Improved Retrieval". CIKM 2002; documents
       are ordered by the majorities that they win, which no order of sorting can change.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.ranking import fuse_runs
    >>> runs = {
    ...     "words": pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "score": [9.0, 4.0, 1.0]}),
    ...     "links": pd.DataFrame({"qid": "1", "docno": ["b", "d"], "score": [0.3, 0.2]}),
    ... }
    >>> fuse_runs(runs)
      qid docno     score
    0   1     b  0.032522
    1   1     a  0.016393
    2   1     d  0.016129
    3   1     c  0.015873

    Scores of the same rows; the third row is hidden by both systems:

    >>> import numpy as np
    >>> scores = {"words": [9.0, 4.0, -np.inf, 1.0], "links": [0.2, 0.3, -np.inf, -np.inf]}
    >>> fuse_runs(scores, groups=[7, 7, 7, 7])
    array([0.03252247, 0.03252247,       -inf, 0.01587302])
    >>> fuse_runs(scores, "combsum", groups=[7, 7, 7, 7])
    array([1.   , 1.375,  -inf, 0.   ])
    """
    check_choice(method, "method", METHODS)
    check_choice(normalize, "normalize", ("minmax", None))
    check_count(depth, "depth", or_none=True)
    settings = {
        "method": method,
        "normalize": normalize,
        "rrf_k": check_number(rrf_k, "rrf_k", least=0),
    }
    if _is_score_table(runs, groups):
        if depth is not None:
            raise InputError("depth is for runs: leave it out, a score is returned for each row.")
        scores, names = _score_matrix(runs, groups)
        index = check_groups(
            groups,
            runs,
            n_rows=len(scores),
            names=("runs",),
            carrier="the scores as a DataFrame",
        )
        return fuse(scores, _check_weights(weights, names), index, **settings)
    if groups is not None:
        raise InputError("groups is for scores: runs hold their queries themselves, leave it out.")
    table, queries, documents = score_table(runs)
    index = GroupIndex.from_groups(queries)
    used = _check_weights(weights, list(table.columns))
    fused = fuse(table.to_numpy(), used, index, tie_keys=documents, **settings)
    kept = np.flatnonzero(fused > -np.inf)
    if not len(kept):
        raise InputError(
            "the fused run is empty: every run hides every document. Give runs that "
            "retrieve documents."
        )
    kept = kept[np.lexsort((-documents[kept], -fused[kept], queries[kept]))]
    query_ids, document_ids = cast(pd.MultiIndex, table.index).levels
    run = pd.DataFrame(
        {
            "qid": query_ids.take(queries[kept]),
            "docno": document_ids.take(documents[kept]),
            "score": fused[kept],
        }
    )
    if depth is not None:
        run = run.groupby("qid", sort=False).head(depth).reset_index(drop=True)
    return run


def _is_score_table(runs, groups) -> bool:
    """Tell whether the argument is a table of scores rather than runs."""
    # The columns of a table of Arrow are arrays.
    columns: Any = getattr(runs, "column_names", None) or getattr(runs, "columns", ())
    if are_runs(runs) or hasattr(runs, "read") or {"qid", "docno"} <= set(columns):
        return False
    if groups is not None:
        return True
    if isinstance(runs, Mapping):
        return bool(runs) and all(hasattr(scores, "__len__") for scores in runs.values())
    return hasattr(runs, "shape") or bool(isinstance(runs, list | tuple) and runs)


def score_table(runs) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return scores of runs side by side, -inf where not retrieved, with codes of both ids.

    The table has index levels "qid" and "docno", sorted, and a column for each run.
    """
    columns = read_runs(runs)
    if not any(map(len, columns.values())):
        raise InputError("the runs hold no document. Give runs that retrieve documents.")
    queries, documents = (_number_ids(columns, key) for key in ("qid", "docno"))
    pairs = queries.codes().astype(np.int64) * documents.n_queries + documents.codes()
    pool, rows = np.unique(pairs, return_inverse=True)
    values = np.full((len(columns), len(pool)), -np.inf)
    ends = np.cumsum([len(run) for run in columns.values()])
    for column, (name, run), own in zip(values, columns.items(), np.split(rows, ends)):
        repeated = pd.Series(own).duplicated()
        if repeated.any():
            row = int(repeated.argmax())
            raise InputError(
                f"run {brief(name)} holds document {brief(run['docno'].iloc[row])} twice in query "
                f"{brief(run['qid'].iloc[row])}: keep one of the rows."
            )
        column[own] = run["score"]
    # The index is built from codes, which avoids factorizing the ids again.
    index = pd.MultiIndex(
        levels=[queries.query_ids, documents.query_ids],
        codes=np.divmod(pool, documents.n_queries),  # type: ignore[arg-type]  # arrays do, too
        names=["qid", "docno"],
        verify_integrity=False,
    )
    table = pd.DataFrame(values.T, index=index, columns=list(columns), copy=False)
    # Narrow integers are sorted faster.
    query_codes, document_codes = map(np.asarray, index.codes)
    return table, query_codes, document_codes


def _number_ids(columns, key) -> GroupIndex:
    """Number the ids of all runs in sorted order."""
    parts = [run[key] for run in columns.values()]
    ids = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    try:
        return GroupIndex.from_groups(ids)
    except ValueError as error:
        raise InputError(f"column {brief(key)} of the runs: {error}") from None


def _score_matrix(scores, groups):
    """Return a score matrix with one column per system, and the names of the systems."""
    columns = columns_of(scores, "runs")
    named = {f"runs[{brief(name)}]": column for name, column in columns.items()}
    carriers = named if isinstance(scores, Mapping) else {"runs": scores}
    find_groups(groups, *carriers.values(), names=list(carriers))
    if not columns:
        raise InputError("runs holds no system: expected at least one column of scores.")
    checked = [check_level_scores(column, name=name) for name, column in named.items()]
    lengths = {name: len(column) for name, column in zip(columns, checked)}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"runs holds different numbers of scores: {brief_list(lengths)}; every system "
            "scores all rows, with -inf where it does not retrieve."
        )
    if not len(checked[0]):
        raise InputError("runs is empty: expected at least one row.")
    matrix = np.column_stack([column.astype(np.float64, copy=False) for column in checked])
    return matrix, list(columns)


def _check_weights(weights, names) -> np.ndarray:
    """Return one weight per system, in the order of the systems."""
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping | pd.Series):
        weights = dict(weights)
        if set(weights) != set(names):
            raise InputError(
                f"weights must name every system and no other, {brief_list(names)}, got those of "
                f"{brief_list(list(weights))}."
            )
        weights = [weights[name] for name in names]
    checked = check_numbers(weights, "weights", entry="number").astype(np.float64)
    if len(checked) != len(names):
        raise InputError(
            f"weights must hold one number for each of the {len(names)} systems, got "
            f"{brief(weights)}."
        )
    if not (np.isfinite(checked) & (checked >= 0)).all() or not checked.any():
        raise InputError(
            f"weights must be finite, from 0 up and not all 0, got {brief(weights)}; 0 leaves a "
            "system out."
        )
    return checked


def fuse(
    scores, weights, index: GroupIndex, *, method, normalize, rrf_k, tie_keys=None
) -> np.ndarray:
    """Compute the fused score of each row, -inf where hidden.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_systems), dtype float64
        -inf where a system does not retrieve the row.
    weights : ndarray of shape (n_systems,)
        Weight of each system; 0 leaves it out.
    index : GroupIndex
        Queries of the rows.
    method, normalize, rrf_k
        As in :func:`fuse_runs`.
    tie_keys : ndarray of shape (n_rows,), default=None
        Order of rows of equal score, descending. None gives them the mean of their ranks.
    """
    used = weights > 0
    scores, weights = scores[:, used], weights[used]
    retrieved = scores > -np.inf
    values, codes = pd.DataFrame(np.where(retrieved, scores, np.nan)), index.codes()
    if method in ("combsum", "combmnz"):
        given = values.to_numpy() if normalize is None else _scaled(values, codes)
    else:
        given = _ranks(values, codes, tie_keys)
    if method == "rrf":
        given = 1.0 / (rrf_k + given)
    elif method == "borda":
        given = _borda_points(given, codes)
    if method == "condorcet":
        fused = _majorities(given, weights, index)
    else:
        # Terms are sorted, so that results are bit-equal for any order of systems.
        fused = np.sort(np.nan_to_num(given * weights, nan=0.0), axis=1).sum(axis=1)
    if method == "combmnz":
        fused *= np.count_nonzero(retrieved, axis=1)
    fused[~retrieved.any(axis=1)] = -np.inf
    return fused


# The functions below take and return arrays with a column for each system, NaN where it does not
# retrieve the row; `codes` numbers the query of each row.


def _scaled(values, codes):
    """Scale the scores of each list from 0 to 1; those of a list of equal scores are 1."""
    # Scores are halved, because the difference of two large scores may overflow.
    queries = values.groupby(codes)
    low, high = ((queries.transform(end) / 2).to_numpy() for end in ("min", "max"))
    halves, spread = values.to_numpy() / 2, high - low
    ones = np.where(np.isnan(halves), np.nan, 1.0)
    return np.divide(halves - low, spread, where=high > low, out=ones)


def _ranks(values, codes, tie_keys):
    """Rank the rows of each list from 1."""
    if tie_keys is None:
        return values.groupby(codes).rank(ascending=False).to_numpy()
    order = np.argsort(-tie_keys, kind="stable")
    ordered = values.iloc[order].groupby(codes[order])
    return ordered.rank(ascending=False, method="first").sort_index().to_numpy()


def _borda_points(ranks, codes):
    """Compute Borda points; candidates that a system does not retrieve share the rest."""
    is_retrieved = ~np.isnan(ranks)
    is_candidate = is_retrieved.any(axis=1, keepdims=True)
    counts = pd.DataFrame(np.column_stack([is_candidate, is_retrieved])).groupby(codes)
    n_candidates, lengths = np.split(counts.transform("sum").to_numpy(), [1], axis=1)
    points = np.where(is_retrieved, n_candidates + 1 - ranks, (n_candidates - lengths + 1) / 2)
    return np.where(is_candidate, points, np.nan)


def _majorities(ranks, weights, index):
    """Return 1, plus 1 for each row that a majority ranks lower, plus 1/2 for each even vote."""
    result, behind_all = np.ones(len(ranks)), len(ranks) + 1.0
    for rows in index.rows_by_query():
        rows = rows[~np.isnan(ranks[rows]).all(axis=1)]
        places = np.nan_to_num(ranks[rows], nan=behind_all)
        for begin in range(0, len(rows), size := max(1, _CELLS // max(1, len(rows)))):
            block = places[begin : begin + size]
            margins = np.zeros((len(block), len(rows)))
            # Systems of equal weight are counted, so that results are bit-equal for any order.
            for weight in np.unique(weights):
                votes = np.zeros(margins.shape, dtype=np.int32)
                for column in np.flatnonzero(weights == weight):
                    votes += places[:, column] > block[:, column, None]
                    votes -= places[:, column] < block[:, column, None]
                margins += weight * votes
            margins[np.abs(margins) <= ROUNDING_OF_MEANS * weights.sum()] = 0
            behind = np.count_nonzero(margins > 0, axis=1)
            on_par = np.count_nonzero(margins == 0, axis=1) - 1  # itself
            result[rows[begin : begin + size]] = 1 + behind + on_par / 2
    return result
