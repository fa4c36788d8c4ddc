"""complete_qrels: label sets drawn for the unjudged documents of runs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_count, check_random_state
from skfilterrank._base.results import Result
from skfilterrank._base.words import DRAWN, JUDGED_BY, PEOPLE, counted, is_of_machine, warn_user
from skfilterrank._lists.content import hash_rows
from skfilterrank._lists.gains import PROBABILITY
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list
from skfilterrank.io import mark_as_said, qrels_frame
from skfilterrank.judgments._document_vectors import VECTOR, columns_by_id
from skfilterrank.judgments._pair_features import PairFeatures
from skfilterrank.judgments._predictor_models import rows_by_content, sample_labels
from skfilterrank.judgments._rank_table import as_rank_table
from skfilterrank.judgments._ranked_pool import judges_of

_SHOWN = 5
_KEY = ["qid", "docno"]
# Beginnings of the names of columns.
_RANK, _MACHINE = "rank in ", "label by "
# Least number of relevant, and of other judged documents. From three judged documents, 73 of 75
# drawn labels were relevant.
_MIN_ROWS = 5
# Least number of labels. With as many, after pooling, drawn labels order systems better than
# `rank_systems` does (benchmarks/results/drawn_labels.md); after random judging it takes 100.
_MIN_LABELS = 30
# With fewer labels, the order of systems is right more often than their values are close.
_FEW_LABELS = 50
# Log-odds of a label above 0 that documents lose per unit of log(rank / judged depth) beyond the
# judged depth. Tau of AP and nDCG@10 gain .01 over no such loss.
_SLOPE = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class CompletedQrels(Result):
    """Judgments with drawn label sets, the result of :func:`complete_qrels`.

    Attributes
    ----------
    qrels : DataFrame of shape (n_judgments + n_draws * n_drawn, 5)
        "qid", "docno" (str), "label" (int64 if all are whole numbers, else float64), "judged_by"
        and "draw" (Int64). Rows of the judgments come first, in their order, with a missing draw:
        they hold in every set. Then each set has a row for each drawn document, "judged_by" is
        "drawn", and "draw" counts from 0. Documents that no run returns keep a missing label.
    n_judged : int
        Number of labels of people that were learned from.
    n_drawn : int
        Number of pairs of query and document whose labels are drawn.
    n_draws : int
        Number of label sets.
    columns : tuple of str
        Names of the columns that labels were predicted from, as of :class:`PairFeatures`.
    n_not_returned : int
        Number of pairs of query and document that stay unjudged, because no run returns them.
    n_without_text : int
        Number of documents of runs or judgments that `documents` lacks, or has no text of.
    unknown_queries : list of str
        Queries of the runs without judgments, which are left out.

    See Also
    --------
    complete_qrels : Makes it.
    """

    qrels: pd.DataFrame
    n_judged: int
    n_drawn: int
    n_draws: int
    columns: tuple[str, ...]
    n_not_returned: int
    n_without_text: int
    unknown_queries: list

    def to_frame(self) -> pd.DataFrame:
        """Return the table of drawn label sets, which functions take as judgments."""
        return self.qrels

    def _summary(self) -> str:
        sets, drawn = counted(self.n_draws, "label set"), counted(self.n_drawn, "document")
        return f"{sets} of {drawn}, learned from {self.n_judged:,} judged ones"


def complete_qrels(
    qrels,
    runs,
    documents=None,
    topics=None,
    machine_qrels=None,
    *,
    n_draws: int = 20,
    random_state=None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> CompletedQrels:
    """Draw labels, several times, for the documents of runs that nobody judged.

    One model of all judged pairs of query and document gives each unjudged document the chance of
    each label; labels are drawn by these chances. :func:`skfilterrank.metrics.evaluate_runs` and
    :func:`skfilterrank.comparison.score_systems` take the table, and give means over the sets.

    Parameters
    ----------
    qrels : path, open file, DataFrame or other judgments
        Judgments in a form that :func:`skfilterrank.io.read_qrels` accepts. Labels by a machine,
        according to a column "judged_by", are not learned from, and are drawn anew. Where a label
        such as -1 means unjudged, pass ``read_qrels(path, unjudged_label=-1)``.
    runs : path, list of paths, dict {name: path, open file or DataFrame}, or rank table
        The runs, as :func:`skfilterrank.io.read_runs` takes them, or a result of
        :func:`rank_table`, which can cut them at a depth. Each is a column of the model.
    documents : dict or Series {docno: text}, DataFrame, or None, default=None
        Texts by document id. A DataFrame, of pandas or polars, has the id in a column or index
        level "docno", and the texts in a column "text"; or in all other columns the numbers of a
        vector, such as an embedding. Without them, documents are similar that the same runs return
        at like ranks.
    topics : dict or Series {qid: text}, DataFrame, or None, default=None
        Texts of queries by query id, a DataFrame in a column "query" or "text". They are compared
        with the texts of documents.
    machine_qrels : qrels, dict {name: qrels}, or None, default=None
        Labels of one machine, or of several by name. Each machine is a column of the model.
    n_draws : int, default=20
        Number of label sets, at least 2.
    random_state : int, RandomState instance or None, default=None
        Seed. Pass an int for results that can be repeated.
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over sets.

    Returns
    -------
    CompletedQrels
        Its method `to_frame` gives the table of label sets.

    Raises
    ------
    ValueError
        If fewer than 30 documents are judged, fewer than five of them relevant, or fewer than five
        not relevant; if no document of the runs is unjudged; if documents, topics, machine labels
        or runs have no id in common with the judgments and the runs; if ids occur twice, or a
        parameter is out of range.
    TypeError
        If `documents` or `topics` are of another kind.

    Warns
    -----
    DataWarning
        If fewer than 50 labels are known, or labels of one query alone; about labels by machines in
        `qrels`, queries of the runs without judgments, and documents that no run returns.

    See Also
    --------
    PairFeatures : The columns of the model.
    skfilterrank.judgments.estimate : Values with intervals of single systems from labels of a
        random sample.

    Notes
    -----
    The model is a logistic regression (multinomial for graded labels) on the columns of
    :class:`PairFeatures`. For each set it is fitted again, on queries drawn with replacement, so
    that the spread between sets also holds how much a model of other queries would differ. Beyond
    the judged depth of a query, the log-odds of relevance fall by ``0.25 * log(rank / depth)``, and
    normal noise in each set, of standard deviation 0.45, disturbs the coefficients of the runs: how
    a run ranks its first documents says little of the others.

    The sets depend neither on the names of queries, documents and runs, nor on any order. Documents
    of queries without a judged document are completed if `qrels` names the query, with a document
    without a label; other queries of the runs are left out. Forbidden labels, below 0, are drawn as
    any other label.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import complete_qrels
    >>> docnos, qids = [f"d{i}" for i in range(100)], ["1", "2"] * 50
    >>> run = pd.DataFrame({"qid": qids, "docno": docnos, "score": range(100, 0, -1)})
    >>> other = run.assign(score=[-((37 * i) % 100) for i in range(100)])
    >>> labels = [1] * 20 + [0] * 40
    >>> qrels = pd.DataFrame({"qid": qids[:60], "docno": docnos[:60], "label": labels})
    >>> completed = complete_qrels(qrels, {"a": run, "b": other}, n_draws=2, random_state=0)
    >>> completed
    <CompletedQrels: 2 label sets of 40 documents, learned from 60 judged ones>
    >>> completed.to_frame().iloc[[0, 60, 100]]
        qid docno  label judged_by  draw
    0     1    d0      1    people  <NA>
    60    1   d60      0     drawn     0
    100   1   d60      0     drawn     1
    """
    check_count(n_draws, "n_draws", 2)
    random_state = check_random_state(random_state)
    judged = _judgments(qrels)
    ranks, unknown = _ranks_of_judged_queries(as_rank_table(runs), judged)
    known = judged["label"].dropna()
    _check_enough(known)
    pairs = ranks.index.append(known.index.difference(ranks.index, sort=False))
    labels = known.reindex(pairs).to_numpy()
    is_drawn = np.isnan(labels)
    if not is_drawn.any():
        raise InputError(
            "no document of the runs is unjudged: name the label that means unjudged in "
            "{read_qrels(qrels, unjudged_label=)}, or pass runs with other documents.",
            argument="read_qrels(qrels, unjudged_label=)",
        )
    X, n_lacking = _table_of_pairs(pairs, ranks, documents, topics, machine_qrels)
    queries = pd.factorize(pairs.get_level_values("qid"))[0]
    X, rows, keys = _in_order_of_content(X, queries, labels)
    vectors = [name for name in X if name.startswith(VECTOR)]
    features = PairFeatures(
        ranks=[name for name in X if name.startswith(_RANK)], similarity=vectors or None
    )
    best = X[features.ranks].min(axis=1).to_numpy()
    offset = depth_offset(best, labels[rows], queries[rows])
    values = features.fit_transform(X, labels[rows], queries[rows])
    of_runs = [name in features.ranks for name in features.get_feature_names_out()]
    drawn = np.empty((n_draws, len(rows)))
    drawn[:, rows] = sample_labels(
        values,
        labels[rows],
        queries[rows],
        n_draws=n_draws,
        random_state=random_state,
        n_jobs=n_jobs,
        offset=offset,
        tail=values[:, of_runs] * (offset < 0)[:, np.newaxis],
        keys=keys,
        verbose=verbose,
    )
    table = _label_sets(judged, pairs[is_drawn], drawn[:, is_drawn])
    completed = CompletedQrels(
        table,
        n_judged=len(known),
        n_drawn=int(np.count_nonzero(is_drawn)),
        n_draws=n_draws,
        columns=tuple(features.get_feature_names_out().tolist()),
        n_not_returned=int(table["label"].isna().sum()),
        n_without_text=n_lacking,
        unknown_queries=unknown,
    )
    _warn_of(completed)
    return completed


def _judgments(qrels) -> pd.DataFrame:
    """Read judgments by query and document, with labels of people alone."""
    judged = qrels_frame(qrels, "qrels", predicted="use")
    judged = judged.set_index(_KEY).astype({"label": np.float64})
    if JUDGED_BY not in judged:
        return judged.assign(**{JUDGED_BY: PEOPLE})
    is_machine = is_of_machine(judged[JUDGED_BY]) & judged["label"].notna()
    if n_machine := int(is_machine.sum()):
        names = sorted(map(str, judged[JUDGED_BY][is_machine].unique()))
        warn_user(
            f"{{qrels}} holds {counted(n_machine, 'label')} that machines gave (column "
            f"{brief(JUDGED_BY)}: {', '.join(names[:_SHOWN])}): they are not learned from, and are "
            "drawn anew. Pass a machine's labels as {machine_qrels}.",
            DataWarning,
            argument=("qrels", "machine_qrels"),
        )
    return judged.assign(label=judged["label"].mask(is_machine))


def _ranks_of_judged_queries(ranks, judged) -> tuple[pd.DataFrame, list]:
    """Return the ranks of judged queries, with ids as texts, and the ids of other queries."""
    ids = ranks.index.to_frame(index=False).astype(str)
    is_known = ids["qid"].isin(judged.index.unique("qid")).to_numpy()
    if not is_known.any():
        raise InputError(
            "the runs have no query of the judgments: the runs have queries such as "
            f"{brief(ids['qid'].iloc[0])}, the judgments such as {brief(judged.index[0][0])}."
        )
    unknown = ids["qid"][~is_known].unique().tolist()
    if unknown:
        warn_user(
            f"{counted(len(unknown), 'query')} of the runs without judgments: left "
            f"out, such as {brief_list(unknown[:_SHOWN])}. To complete a query of which nothing is "
            "judged, give {qrels} one of its documents without a label (NaN).",
            DataWarning,
            argument="qrels",
        )
    index = pd.MultiIndex.from_frame(ids[is_known])
    return ranks[is_known].set_axis(index, axis=0), unknown


def _check_enough(labels) -> None:
    """Raise if people judged too few documents to learn from."""
    n_relevant = int((labels > 0).sum())
    n_others = len(labels) - n_relevant
    if min(n_relevant, n_others) < _MIN_ROWS or len(labels) < _MIN_LABELS:
        raise InputError(
            f"{{qrels}} holds labels of {n_relevant} relevant and {n_others} other documents by "
            f"people, but {_MIN_LABELS} are needed to draw labels, and {_MIN_ROWS} of each kind. "
            "Judge more documents, which 'skfilterrank select' chooses. Fewer labels order systems "
            "worse than {rank_systems}, which needs none.",
            argument=("qrels", "rank_systems"),
        )


def _table_of_pairs(pairs, ranks, documents, topics, machine_qrels):
    """Return a table with a row for each pair, and the number of documents without a text."""
    if topics is not None and documents is None:
        raise InputError(
            "{topics} are compared with {documents}: pass {documents}, too, or no {topics}.",
            argument=("topics", "documents"),
        )
    X = ranks.reindex(pairs).reset_index(drop=True)
    X.columns = pd.Index([f"{_RANK}{name}" for name in ranks])
    machines = {
        f"{_MACHINE}{name}": labels.reindex(pairs).to_numpy(dtype=np.float64)
        for name, labels in judges_of(machine_qrels).items()
    }
    if absent := [name for name, labels in machines.items() if np.isnan(labels).all()]:
        raise InputError(
            f"{{machine_qrels}} has no {absent[0]} of a document of the runs: bring queries and "
            "documents to one form first.",
            argument="machine_qrels",
        )
    parts, n_lacking = [X, pd.DataFrame(machines, X.index)], 0
    for name, table, key in (("documents", documents, "docno"), ("topics", topics, "qid")):
        if table is None:
            continue
        ids = pairs.get_level_values(key)
        found, lacks = columns_by_id(table, ids, name, key)
        if key == "docno":
            n_lacking = ids[lacks].nunique()
        parts.append(found)
    if topics is not None and "text" not in parts[2]:
        raise InputError("topics are compared with texts, but documents holds vectors of numbers.")
    return pd.concat(parts, axis=1), n_lacking


def _in_order_of_content(X, queries, labels):
    """Sort rows, and columns of one kind, by content, so that names and orders do not count.

    Returns the table, the numbers of the sorted rows, and a hash of the content of each row.
    """
    kinds = [[name for name in X if name.startswith(kind)] for kind in (_RANK, _MACHINE, VECTOR)]
    in_any_order = hash_rows(np.sort(X[kinds[0]].to_numpy(), axis=1))
    names = []
    for kind in kinds:
        contents = [hash_rows(X[name].to_numpy(), in_any_order).sum() for name in kind]
        names += [kind[place] for place in np.argsort(contents, kind="stable")]
    X = X[[*names, *X.columns.difference(names, sort=False)]]
    keys = hash_rows(X)
    rows, _ = rows_by_content(GroupIndex.from_groups(queries), keys, labels)
    return X.iloc[rows].reset_index(drop=True), rows, keys[rows]


def depth_offset(ranks, y, groups) -> np.ndarray:
    """Return how much the log-odds of relevance fall beyond the judged depth of a query.

    Parameters
    ----------
    ranks : ndarray of shape (n_rows,)
        The best rank of each document in any run, NaN if no run returns it.
    y : ndarray of shape (n_rows,)
        Labels, NaN where unjudged.
    groups : ndarray of shape (n_rows,), dtype int
        Number of the query of each row.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers up to 0; 0 for documents that no run returns.
    """
    depth = np.ones(groups.max() + 1)
    known = ~np.isnan(y) & ~np.isnan(ranks)
    np.maximum.at(depth, groups[known], ranks[known])
    return -_SLOPE * np.nan_to_num(np.maximum(np.log(ranks / depth[groups]), 0.0))


def _label_sets(judged, pairs, drawn) -> pd.DataFrame:
    """Return the table of label sets: rows that hold in every set, then those of each draw."""
    n_draws, n_drawn = drawn.shape
    common = judged[~judged.index.isin(pairs)].reset_index()
    common[JUDGED_BY] = common[JUDGED_BY].fillna(PEOPLE).where(common["label"].notna(), None)
    common = common.drop(columns=PROBABILITY, errors="ignore")
    rows = np.tile(np.arange(n_drawn), n_draws)
    sets = pd.DataFrame({name: pairs.get_level_values(name).take(rows) for name in _KEY})
    sets = sets.assign(**{"label": drawn.ravel(), JUDGED_BY: DRAWN})
    draws = np.append(np.full(len(common), -1), np.repeat(np.arange(n_draws), n_drawn))
    table = pd.concat([common, sets], ignore_index=True)
    table["draw"] = pd.array(draws, dtype="Int64")
    table.loc[draws < 0, "draw"] = pd.NA
    if (table["label"] % 1 == 0).all() and table["label"].abs().max() < 2**53:
        table = table.astype({"label": np.int64})
    return mark_as_said(table)


def _warn_of(completed) -> None:
    """Warn of few labels, and of documents that stay unjudged."""
    if completed.n_judged < _FEW_LABELS:
        warn_user(
            f"only {counted(completed.n_judged, 'document')} are judged: drawn labels then order "
            f"systems, but values may be far off. Judge at least {_FEW_LABELS} to report values.",
            DataWarning,
        )
    judged = completed.qrels["draw"].isna() & completed.qrels["label"].notna()
    if completed.qrels["qid"][judged].nunique() < 2:
        warn_user(
            "all labels are of one query: the sets cannot show how much a model of other queries "
            "would differ, so that intervals are too narrow. Judge documents of more queries.",
            DataWarning,
        )
    if completed.n_not_returned:
        warn_user(
            f"{counted(completed.n_not_returned, 'document')} that no run returns: left unjudged. "
            "They count as not relevant.",
            DataWarning,
        )
