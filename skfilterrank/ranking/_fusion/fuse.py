"""Fuse the lists of several systems into one: by ranks or by scores, without learning."""

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import check_count, check_groups
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import read_runs
from skfilterrank.ranking._fusion.lists import (
    as_score_matrix,
    check_fusion,
    check_weights,
    fuse,
)


def fuse_scores(
    y_scores,
    *,
    groups=None,
    method: str = "rrf",
    normalize: str | None = "minmax",
    rrf_k: float = 60,
    persistence: float = 0.8,
    weights=None,
    filtered: str = "all",
) -> np.ndarray:
    r"""Fuse several systems' scores of the same rows into one score per row.

    Systems that err differently mend each other's lists: the fused list is often better than the
    best of them, without any labels.

    Parameters
    ----------
    y_scores : dict of str to array-like, DataFrame, or array of shape (n_rows, n_systems)
        Scores of each system, higher is better, -inf where a system does not retrieve the row or
        filters it.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type and in any order. None looks for an index level "qid" on
        a DataFrame.
    method : str, default="rrf"
        How a row's places or scores become one, see Notes: "rrf", "isr", "log_isr", "rbc",
        "borda" and "condorcet" read ranks alone, "combsum", "combmnz", "combanz", "combmed",
        "combmax" and "combmin" scores.
    normalize : {"minmax", "zscore", "max", "sum", "rank", "borda"} or None, default="minmax"
        How each system's scores for a query are brought to one scale before the methods that read
        scores combine them:

        - "minmax": to 0 for its lowest and 1 for its highest;
        - "zscore": to mean 0 and standard deviation 1 (ZMUV);
        - "max": divided by its highest, which must be above 0;
        - "sum": less its lowest, and divided so that the list sums to 1;
        - "rank": to 1 for its first row, falling by 1 / n with every rank of a list of n rows;
        - "borda": to its points of "borda", divided by the number of rows that some system
          retrieves; a row that the system leaves out has points too, and counts as retrieved;
        - None: taken as they are.
    rrf_k : float, default=60
        Constant of "rrf", from 0 up: the lower, the more the first places count.
    persistence : float, default=0.8
        Constant of "rbc", between 0 and 1: the chance of going on from one place to the next.
    weights : dict {system: weight}, or array-like of shape (n_systems,), default=None
        Weight of each system, from 0 up, by which all that it gives is multiplied, with
        "condorcet" its votes; 0 leaves it out altogether. None means 1 for each.
    filtered : {"all", "any", "majority"}, default="all"
        Which rows stay filtered: those that all systems filter, that any does, or that more than
        half of them do.

    Returns
    -------
    ndarray of shape (n_rows,), dtype float64
        Fused scores, higher is better, -inf where filtered.

    Raises
    ------
    ValueError
        If a parameter is out of range, query ids are missing, a score is NaN or +inf, systems
        score different numbers of rows, or with "max" a list has no score above 0.

    See Also
    --------
    fuse_runs : The same for TREC runs.
    RankFusion : The same as an estimator, whose method can be tuned.
    LinearRankFusion : Learns the weights from labels.

    Notes
    -----
    With :math:`r_s(d)` the rank of document d in the list of system s for the query, from 1,
    :math:`x_s(d)` its normalised score, :math:`w_s` the weight of the system, and n the number of
    systems that retrieve d, over which sums, medians, ... are taken:

    ============  ==========================================================================
    "rrf"         sum of :math:`w_s / (k + r_s(d))` [1]_
    "isr"         n times the sum of :math:`w_s / r_s(d)^2` [4]_
    "log_isr"     :math:`\log n` times the same sum: 0 where one system retrieves d alone [4]_
    "rbc"         sum of :math:`w_s (1 - p) p^{r_s(d) - 1}`, p being the persistence [5]_
    "borda"       sum of :math:`w_s (N + 1 - r_s(d))` [3]_
    "condorcet"   1, and 1 for each document that a majority of votes puts behind d, 1/2 for each
                  on a par [6]_
    "combsum"     sum of :math:`w_s x_s(d)` [2]_
    "combmnz"     n times this sum [2]_
    "combanz"     this sum divided by n [2]_
    "combmed"     median of :math:`w_s x_s(d)` [2]_
    "combmax"     highest :math:`w_s x_s(d)` [2]_
    "combmin"     lowest :math:`w_s x_s(d)` [2]_
    ============  ==========================================================================

    N is the number of rows of the query that some system retrieves. Of "borda", those that s does
    not retrieve share the points that are left, as if they were tied behind its list. Of
    "condorcet", they are tied behind its list, and a system has no vote on two that it ties.
    Where majorities go round in a circle, their documents have the same number of others behind
    them, or nearly so; where they do not, each has N places in a row, and the last one has 1.

    Rows to which a system gives the same score have the mean of their ranks. Where all scores of a
    list are equal, "minmax" makes them 1, "sum" equal shares, and "zscore" 0.

    A row that a system filters gets nothing from it (save for the rest of the points of "borda").
    With "minmax" that is as little as for the last row of the list; with "zscore" it is as much as
    for an average row, and "combmnz" multiplies sums below 0 too: prefer "zscore" where every
    system scores every row. A query that a system leaves out counts as filtered by it.

    The systems' order does not change a bit of the result.

    References
    ----------
    .. [1] G. Cormack, C. Clarke, S. Büttcher. "Reciprocal Rank Fusion Outperforms Condorcet and
       Individual Rank Learning Methods". SIGIR 2009.
    .. [2] E. Fox, J. Shaw. "Combination of Multiple Searches". TREC-2, 1994.
    .. [3] J. Aslam, M. Montague. "Models for Metasearch". SIGIR 2001.
    .. [4] A. Mourao, F. Martins, J. Magalhaes. "Multimodal Medical Information Retrieval with
       Unsupervised Rank Fusion". Computerized Medical Imaging and Graphics 39, 2015.
    .. [5] P. Bailey, A. Moffat, F. Scholer, P. Thomas. "Retrieval Consistency in the Presence of
       Query Variations". SIGIR 2017.
    .. [6] M. Montague, J. Aslam. "Condorcet Fusion for Improved Retrieval". CIKM 2002; documents
       are ordered by the majorities that they win, which no order of sorting can change.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.ranking import fuse_scores
    >>> y_scores = {"words": [9.0, 4.0, -np.inf, 1.0], "links": [0.2, 0.3, -np.inf, -np.inf]}

    The first two rows are first once and second once; nobody shows the third:

    >>> fuse_scores(y_scores, groups=[7, 7, 7, 7])
    array([0.03252247, 0.03252247,       -inf, 0.01587302])

    Scores tell how far apart they are:

    >>> fuse_scores(y_scores, groups=[7, 7, 7, 7], method="combsum")
    array([1.   , 1.375,  -inf, 0.   ])

    A row that any system filters stays filtered:

    >>> fuse_scores(y_scores, groups=[7, 7, 7, 7], method="combsum", filtered="any")
    array([1.   , 1.375,  -inf,  -inf])
    """
    settings = check_fusion(method, normalize, rrf_k, persistence, filtered)
    matrix = as_score_matrix(y_scores, groups)
    index = check_groups(
        groups, y_scores, n_rows=len(matrix.values), carrier="y_scores as a DataFrame"
    )
    return fuse(
        matrix.values,
        check_weights(weights, matrix.names),
        index,
        method=method,
        settings=settings,
        filtered=filtered,
    )


def fuse_runs(
    runs,
    *,
    method: str = "rrf",
    normalize: str | None = "minmax",
    rrf_k: float = 60,
    persistence: float = 0.8,
    weights=None,
    filtered: str = "all",
    depth: int | None = None,
) -> pd.DataFrame:
    """Fuse TREC runs into one.

    Parameters
    ----------
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them.
    method, normalize, rrf_k, persistence, weights, filtered
        As in :func:`fuse_scores`; `weights` as a dict goes by the names of the runs.
    depth : int or None, default=None
        Number of documents of each topic that are returned; None returns them all.

    Returns
    -------
    DataFrame with columns "qid", "docno" and "score"
        The fused run, topics sorted, the best document first, ready for
        :func:`skfilterrank.io.write_run`. What is filtered is left out; a topic of which nothing
        is left is not in it.

    Raises
    ------
    ValueError
        If a parameter is out of range, a run lacks a column or holds a document twice in a topic,
        a score is NaN or +inf, or nothing is left of any topic.

    See Also
    --------
    fuse_scores : The formulas.
    fuse_learned : Learns the weights of the runs from judgments.

    Notes
    -----
    Ranks are those of trec_eval, in the given runs and in the fused one: by score, documents of
    equal score by their id, descending.

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
    """
    settings = check_fusion(method, normalize, rrf_k, persistence, filtered)
    check_count(depth, "depth", or_none=True)
    table = score_table(runs)
    weights = check_weights(weights, list(table.columns))
    index, docno_codes = table_index(table)
    fused = fuse(
        table.to_numpy(),
        weights,
        index,
        method=method,
        settings=settings,
        filtered=filtered,
        tie_keys=docno_codes,
    )
    return as_run(table, fused, depth=depth)


def score_table(runs) -> pd.DataFrame:
    """Scores of several runs side by side.

    Parameters
    ----------
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        As in :func:`fuse_runs`.

    Returns
    -------
    DataFrame of shape (n_documents_of_all_topics, n_runs), dtype float64
        Index levels "qid" and "docno", sorted; a column for each run, -inf where it does not
        retrieve the document. :func:`fuse_scores`, :class:`RankFusion` and
        :class:`LinearRankFusion` take it as it is.

    Raises
    ------
    ValueError
        If a run lacks a column or holds a document twice in a topic, ids are missing or of
        different types, or a score is NaN or +inf.

    See Also
    --------
    skfilterrank.judgments.rank_table : The same for ranks.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.ranking import score_table
    >>> words = pd.DataFrame({"qid": "1", "docno": ["a", "b"], "score": [9.0, 4.0]})
    >>> links = pd.DataFrame({"qid": "1", "docno": ["b"], "score": [0.3]})
    >>> score_table({"words": words, "links": links})
               words  links
    qid docno
    1   a        9.0   -inf
        b        4.0    0.3
    """
    columns = read_runs(runs)
    topics = _index_of(columns, "qid")
    documents = _index_of(columns, "docno")
    pairs = topics.codes().astype(np.int64) * documents.n_queries + documents.codes()
    pool, rows = np.unique(pairs, return_inverse=True)
    values = np.full((len(columns), len(pool)), -np.inf)
    begin = 0
    for column, (name, own) in zip(values, columns.items()):
        end = begin + len(own["score"])
        mine = rows[begin:end]
        _check_no_duplicates(mine, own, name)
        column[mine] = own["score"]
        begin = end
    # Levels as wide as the data: the codes are those of the sorted ids.
    index = pd.MultiIndex(
        levels=[topics.query_ids, documents.query_ids],
        codes=np.divmod(pool, documents.n_queries),  # type: ignore[arg-type]  # arrays do, too
        names=["qid", "docno"],
        verify_integrity=False,
    )
    return pd.DataFrame(values.T, index=index, columns=list(columns), copy=False)


def table_index(table: pd.DataFrame) -> tuple[GroupIndex, np.ndarray]:
    """Queries of a score table, and a number for each document that sorts as its id does."""
    assert isinstance(table.index, pd.MultiIndex)
    topics, documents = table.index.codes
    return GroupIndex.from_groups(np.asarray(topics)), np.asarray(documents)


def as_run(table: pd.DataFrame, fused: np.ndarray, *, depth: int | None = None) -> pd.DataFrame:
    """The fused run of a score table, in trec_eval's order."""
    assert isinstance(table.index, pd.MultiIndex)
    topics, documents = (np.asarray(codes) for codes in table.index.codes)
    kept = np.flatnonzero(fused > -np.inf)
    if not len(kept):
        raise InputError(
            "the fused run is empty: every document is filtered. Use filtered='all', which keeps "
            "what any run retrieves."
        )
    kept = kept[np.lexsort((-documents[kept], -fused[kept], topics[kept]))]
    if depth is not None:
        heads = np.append(True, topics[kept][1:] != topics[kept][:-1])
        first = np.maximum.accumulate(np.where(heads, np.arange(len(kept)), 0))
        kept = kept[np.arange(len(kept)) - first < depth]
    topic_ids, document_ids = table.index.levels
    return pd.DataFrame(
        {
            "qid": topic_ids.take(topics[kept]),
            "docno": document_ids.take(documents[kept]),
            "score": fused[kept],
        }
    )


def _index_of(columns, key):
    """The ids of all runs, numbered in sorted order."""
    parts = [own[key] for own in columns.values()]
    ids = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    try:
        return GroupIndex.from_groups(ids)
    except ValueError as error:
        raise InputError(f"column {brief(key)} of the runs: {error}") from None


def _check_no_duplicates(rows, own, name):
    """A run may hold a document once in a topic."""
    repeated = pd.Series(rows).duplicated()
    if repeated.any():
        row = int(repeated.argmax())
        raise InputError(
            f"run {brief(name)} holds document {brief(own['docno'].iloc[row])} twice in topic "
            f"{brief(own['qid'].iloc[row])}: keep one of the rows."
        )
