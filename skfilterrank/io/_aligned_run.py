"""A run joined with judgments, and the order of its rows."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._lists.arrays import cached_property
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.results import Result, counted


@dataclass(frozen=True, eq=False, repr=False)
class AlignedRun(Result):
    """A run joined with judgments, as the three arrays that the measures take.

    It unpacks into them: ``y_true, y_score, groups = aligned``. Rows stand topic by topic, topics
    in the order of their ids as text; within each, documents by score, higher first, ties in the
    order of `ties`, then the documents of the judgments that the run does not
    retrieve.

    Attributes
    ----------
    y_true : ndarray of shape (n_rows,), float64
        Labels, NaN where nobody judged the document.
    y_score : ndarray of shape (n_rows,), float64
        Scores, -inf where the run does not retrieve the document.
    groups : ndarray of shape (n_rows,), object (str)
        Topic of each row.
    docnos : ndarray of shape (n_rows,), object (str)
        Document of each row.
    pooled : ndarray of shape (n_rows,), bool
        Whether the judgments list the document, with a label or with NaN.
    inclusion_probability : ndarray of shape (n_rows,), float64, or None
        Probability with which the document was drawn to be judged, NaN where it was not pooled;
        None where the judgments do not say. It is what ``stat_ap_score`` needs.
    index : GroupIndex
        The rows of each topic. Every measure takes it as `groups`, and then has no need to look
        for them again.
    name : str or None
        Name of the run, None where it has none or several.
    ties : str
        Order of documents with equal scores: "docno" or "stable", see :func:`align`.
    missing_topics : tuple of str
        Topics of the judgments that are not in the run.
    keeps_missing_topics : bool
        Whether they are kept, as lists that hold nothing (``missing="empty"``).
    unjudged_topics : tuple of str
        Topics of the run that are not in the judgments; their rows are left out.
    n_left_out : int
        Number of these rows.
    n_filtered : int
        Rows of the run with score -inf in the other topics; the documents count as not retrieved.
    n_retrieved : int
        Rows of the run that are kept.
    n_retrieved_unjudged : int
        How many of them have no label.
    n_judged_not_retrieved : int
        Judgments of documents that the run does not retrieve.

    See Also
    --------
    align : Makes it.
    """

    y_true: np.ndarray
    y_score: np.ndarray
    pooled: np.ndarray
    inclusion_probability: np.ndarray | None
    index: GroupIndex
    name: str | None
    ties: str
    missing_topics: tuple[str, ...]
    keeps_missing_topics: bool
    unjudged_topics: tuple[str, ...]
    n_left_out: int
    n_filtered: int
    n_retrieved: int
    n_retrieved_unjudged: int
    n_judged_not_retrieved: int
    # (Tokens, their rows, places in ours): few callers want the documents as text.
    _documents: tuple

    def _table(self) -> None:
        return None

    def __iter__(self):
        return iter((self.y_true, self.y_score, self.groups))

    @cached_property
    def groups(self) -> np.ndarray:
        """Topic of each row."""
        return np.repeat(self.index.query_ids, self.index.sizes)

    @cached_property
    def docnos(self) -> np.ndarray:
        """Document of each row."""
        docnos = np.empty(len(self.y_true), dtype=object)
        for tokens, rows, places in self._documents:
            docnos[places] = np.array(tokens.take(rows).tolist(), dtype=object)
        return docnos

    def to_series(self) -> tuple[pd.Series, pd.Series]:
        """`y_true` and `y_score` as Series whose index has the levels "qid" and "docno".

        Measures and scorers find the topics there by themselves.
        """
        index = pd.MultiIndex.from_arrays([self.groups, self.docnos], names=["qid", "docno"])
        return pd.Series(self.y_true, index, name="label"), pd.Series(
            self.y_score, index, name="score"
        )

    def to_frame(self) -> pd.DataFrame:
        """Columns "label", "score" and "pooled", index levels "qid" and "docno"."""
        y_true, y_score = self.to_series()
        return pd.DataFrame({"label": y_true, "score": y_score, "pooled": self.pooled})

    def _summary(self):
        n_missing = len(self.missing_topics)
        topics = counted(self.index.n_queries, "topic")
        if n_missing and self.keeps_missing_topics:
            topics += f", {n_missing:,} of them not in the run"
        elif n_missing:
            topics += f"; {counted(n_missing, 'topic')} not in the run left out"
        retrieved = f"{counted(self.n_retrieved, 'document')} retrieved"
        if self.n_retrieved_unjudged:
            retrieved += f", {self.n_retrieved_unjudged:,} of them not judged"
        parts = [topics, retrieved]
        if self.n_judged_not_retrieved:
            parts.append(f"{counted(self.n_judged_not_retrieved, 'judged document')} not retrieved")
        if self.n_filtered:
            parts.append(f"{counted(self.n_filtered, 'document')} filtered out")
        if self.unjudged_topics:
            parts.append(
                f"{counted(len(self.unjudged_topics), 'topic')} without judgments left out, with "
                f"{counted(self.n_left_out, 'row')}"
            )
        return (f"{self.name}: " if self.name else "") + "; ".join(parts)


def rank_order(codes, scores, docnos):
    """Rows by topic, score descending, and document id descending or, without ids, as they come.

    A slice of all rows where they stand so.
    """
    order = _order_of_stretches(codes, scores)
    if order is None:
        order = np.lexsort((-scores, codes))
    if docnos is None:
        return order
    codes, scores = codes[order], scores[order]
    tied = (scores[1:] == scores[:-1]) & (codes[1:] == codes[:-1])
    second = np.flatnonzero(tied) + 1
    if not second.size:
        return order
    # Only rows that share their score with another are sorted by document.
    members = np.union1d(second, second - 1)
    spans = np.cumsum((members == 0) | ~tied[members - 1])
    rows = members if isinstance(order, slice) else order[members]
    by_document = np.lexsort([*(~key for key in docnos.take(rows).sort_keys()), spans])
    if (by_document == np.arange(len(rows))).all():
        return order
    order = np.arange(len(codes))[order]
    order[members] = rows[by_document]
    return order


def _order_of_stretches(codes, scores):
    """Rows by topic and score, where each topic's rows stand together in order; else None.

    A slice of all rows where the topics stand in order, too.
    """
    new_topic = codes[1:] != codes[:-1]
    if ((scores[1:] > scores[:-1]) & ~new_topic).any():
        return None
    heads = np.concatenate(([0], np.flatnonzero(new_topic) + 1))[: len(codes)]
    if (codes[heads[1:]] > codes[heads[:-1]]).all():
        return slice(None)
    by_topic = np.argsort(codes[heads])
    heads, sizes = heads[by_topic], np.diff(heads, append=len(codes))[by_topic]
    if (np.diff(codes[heads]) == 0).any():
        return None
    return np.repeat(heads - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(codes))
