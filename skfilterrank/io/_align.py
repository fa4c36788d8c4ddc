"""Join of runs with judgments into arrays for the measures."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import pandas as pd

from skfilterrank._files.named_runs import ORDER, is_by_query
from skfilterrank._lists.checks import cached_property, check_choice
from skfilterrank._lists.gains import Gains, is_sample
from skfilterrank._lists.measure import ParsedMeasure, counts_forbidden
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.words import MISSING, PRECISIONS, TIES, warn_user
from skfilterrank.exceptions import DataWarning, InputError, MissingValuesError, brief
from skfilterrank.io._pairs import are_distinct, pair_keys
from skfilterrank.io._read import check_unjudged_label, qrels_rows, run_rows

# Integers above this are taken for scores, not grades.
_LARGEST_GRADE = 10


@dataclass(frozen=True, eq=False, repr=False)
class AlignedRun(Result):
    """A run joined with judgments, made by :func:`align`."""

    y_true: np.ndarray
    y_score: np.ndarray
    pooled: np.ndarray
    inclusion_probability: np.ndarray | None
    index: GroupIndex
    name: str | None
    ties: str
    missing_queries: tuple[str, ...]
    keeps_missing_queries: bool
    unjudged_queries: tuple[str, ...]
    n_left_out: int
    n_filtered: int
    n_retrieved: int
    n_retrieved_unjudged: int
    n_judged_not_retrieved: int
    # Document tokens, their rows, and positions; converted to text only when needed.
    _documents: tuple

    def _table(self) -> None:
        return None

    def __iter__(self):
        return iter((self.y_true, self.y_score, self.groups))

    @cached_property
    def groups(self) -> np.ndarray:
        """Query of each row."""
        return np.repeat(self.index.query_ids, self.index.sizes)

    @cached_property
    def docnos(self) -> np.ndarray:
        """Document of each row."""
        docnos = np.empty(len(self.y_true), dtype=object)
        for tokens, rows, places in self._documents:
            docnos[places] = np.array(tokens.take(rows).tolist(), dtype=object)
        return docnos

    def to_series(self) -> tuple[pd.Series, pd.Series]:
        """Return `y_true` and `y_score` as Series whose index has the levels "qid" and "docno".

        Measures and scorers read the query ids from the index.
        """
        index = pd.MultiIndex.from_arrays([self.groups, self.docnos], names=["qid", "docno"])
        return pd.Series(self.y_true, index, name="label"), pd.Series(
            self.y_score, index, name="score"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return "label", "score" and "pooled" as a table with index levels "qid" and "docno"."""
        y_true, y_score = self.to_series()
        return pd.DataFrame({"label": y_true, "score": y_score, "pooled": self.pooled})

    def _summary(self):
        n_missing, n_left_out = len(self.missing_queries), len(self.unjudged_queries)
        queries = counted(self.index.n_queries, "query", "queries")
        if n_missing and self.keeps_missing_queries:
            queries += f", {n_missing:,} of them not in the run"
        elif n_missing:
            queries += f"; {counted(n_missing, 'query', 'queries')} not in the run left out"
        retrieved = f"{counted(self.n_retrieved, 'document')} retrieved"
        if self.n_retrieved_unjudged:
            retrieved += f", {self.n_retrieved_unjudged:,} of them not judged"
        left_out = f"{counted(n_left_out, 'query', 'queries')} without judgments left out, with "
        others = (
            (self.n_judged_not_retrieved, "judged document", "not retrieved"),
            (self.n_filtered, "document", "filtered out"),
        )
        parts = [queries, retrieved, *(f"{counted(n, of)} {how}" for n, of, how in others if n)]
        parts += [left_out + counted(self.n_left_out, "row")] if n_left_out else []
        return (f"{self.name}: " if self.name else "") + "; ".join(parts)


def align(
    qrels,
    run,
    *,
    missing: str = "empty",
    precision: str = "double",
    ties: str = "docno",
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
) -> AlignedRun:
    """Join a run with judgments.

    Parameters
    ----------
    qrels : QrelsIndex, str, PathLike, file object, data frame, dict or other object
        Judgments in any form that `read_qrels` takes; a data frame has "qid" (or "query_id"),
        "docno" (or "doc_id") and "label" (or "relevance"). A label of NaN says that the document is
        pooled, but not judged. A column "inclusion_probability", as `read_prels` gives it, is
        carried along. For many runs, pass one `QrelsIndex`.
    run : str, PathLike, file object, data frame, dict or other object
        A run in any form that `read_run` takes; a data frame has "qid" (or "query_id"), "docno" (or
        "doc_id") and "score" as columns or index levels. The order of the rows does not matter. A
        score of -inf says that the document is filtered out; `read_run` describes other ways.
    missing : {"raise", "drop", "empty"}, default="empty"
        Treatment of queries of the judgments that are not in the run: raise an error, leave them
        out (trec_eval's default), or keep them as lists that hold nothing (``trec_eval -c``).
    precision : {"double", "single"}, default="double"
        "single" rounds scores as trec_eval 9 and pytrec_eval keep them: scores that differ by less
        are ties to them. trec_eval 10 keeps doubles.
    ties : {"docno", "average", "worst", "best", "stable"}, default="docno"
        Tie rule of the measures to come. With "stable" documents of equal scores stand in the order
        of their rows, with any other by document id, descending, as in trec_eval.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels of `qrels` that mean unjudged, as in `read_qrels`. It is not passed with a
        `QrelsIndex`, and causes no warning for the result of `read_qrels`.
    predicted : {"warn", "use", "drop"}, default="warn"
        Use of the labels of `qrels` that a machine gave, as in `read_qrels`; passed as
        `unjudged_label` is.

    Returns
    -------
    aligned : AlignedRun
        The arrays, ``y_true, y_score, groups = aligned``, and what was left out. Queries stand in
        the order of their ids as text; within each, documents by score, higher first, ties in the
        order of `ties`, then those judged but not retrieved. So ``ties="stable"`` is this order in
        every measure.

        y_true : ndarray of shape (n_rows,), float64
            Labels, NaN where nobody judged the document.
        y_score : ndarray of shape (n_rows,), float64
            Scores, -inf where the run does not retrieve the document.
        groups : ndarray of shape (n_rows,), object (str)
            Query of each row.
        docnos : ndarray of shape (n_rows,), object (str)
            Document of each row.
        pooled : ndarray of shape (n_rows,), bool
            Whether the judgments list the document, with a label or with NaN.
        inclusion_probability : ndarray of shape (n_rows,), float64, or None
            Probability with which the document was drawn to be judged, NaN where it was not pooled;
            None where the judgments do not say. It is what ``stat_ap_score`` needs.
        index : GroupIndex
            The rows of each query. Every measure takes it as `groups`, and then has no need to look
            for them again.
        name : str or None
            Name of the run, None where it has none or several.
        ties : str
            Order of documents with equal scores: "docno" or "stable", see :func:`align`.
        missing_queries : tuple of str
            Queries of the judgments that are not in the run.
        keeps_missing_queries : bool
            Whether they are kept, as lists that hold nothing (``missing="empty"``).
        unjudged_queries : tuple of str
            Queries of the run that are not in the judgments; their rows are left out.
        n_left_out : int
            Number of these rows.
        n_filtered : int
            Rows of the run with score -inf in the other queries; the documents count as not
            retrieved.
        n_retrieved : int
            Rows of the run that are kept.
        n_retrieved_unjudged : int
            How many of them have no label.
        n_judged_not_retrieved : int
            Judgments of documents that the run does not retrieve.

    Raises
    ------
    ValueError
        Missing columns, ids that are missing, labels or scores that are no numbers, scores of NaN
        or +inf, a document that is twice in a query, no query in common.
    MissingValuesError
        A ValueError: the run lacks queries, with ``missing="raise"``.
    FileFormatError
        The same in a file.

    Warns
    -----
    DataWarning
        If no document that the run retrieves is judged: every measure takes it for a run that found
        nothing. If the judgments hold no label at all.

    See Also
    --------
    QrelsIndex : Judgments made ready for many runs.

    Notes
    -----
    Ids are compared as text, so that query 7 of one frame is query "7" of the other.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.io import align
    >>> from skfilterrank.metrics import ndcg_score
    >>> qrels = pd.DataFrame({"qid": [1, 1, 2], "docno": ["a", "b", "a"], "label": [2, 0, 1]})
    >>> run = pd.DataFrame({"qid": "1", "docno": ["b", "c", "a"], "score": [0.5, 0.7, 0.9]})
    >>> aligned = align(qrels, run)
    >>> aligned.to_frame()
               label  score  pooled
    qid docno
    1   a        2.0    0.9    True
        c        NaN    0.7   False
        b        0.0    0.5    True
    2   a        1.0   -inf    True
    >>> print(aligned)
    2 queries, 1 of them not in the run; 3 documents retrieved, 1 of them not judged; 1 judged \
document not retrieved
    >>> y_true, y_score, groups = aligned
    >>> ndcg_score(y_true, y_score, groups=groups, average=None)
    array([1., 0.])
    """
    index = QrelsIndex.of(qrels, unjudged_label=unjudged_label, predicted=predicted)
    return index.align(run, missing=missing, precision=precision, ties=ties)


class QrelsIndex:
    """Indexed judgments, for joining with many runs.

    Parameters
    ----------
    qrels : str, PathLike, file object, data frame, dict or other object
        Judgments, as in `align`.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels that mean unjudged, as in `read_qrels`.
    predicted : {"warn", "use", "drop"}, default="warn"
        Use of the labels that a machine gave, as in `read_qrels`.

    Attributes
    ----------
    queries : ndarray of shape (n_queries,), object (str)
        The queries, sorted as text.
    n_judged : int
        Number of judgments.
    n_pooled : int
        Number of judgments and of documents that are pooled, but not judged (label NaN).
    labels : ndarray of shape (n_labels,), float64
        The labels that occur, ascending.
    is_sample : bool
        Whether some label was drawn with an inclusion probability below 1.
    n_predicted : dict of str to int
        Number of labels that count and that a machine gave, by its name; empty where people gave
        all of them.

    See Also
    --------
    align : The same for one run.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.io import QrelsIndex
    >>> index = QrelsIndex(pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [1]}))
    >>> for score in (3.5, float("-inf")):
    ...     run = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [score]})
    ...     print(index.align(run))
    1 query; 1 document retrieved
    1 query; 0 documents retrieved; 1 judged document not retrieved; 1 document filtered out
    """

    def __init__(
        self, qrels, *, unjudged_label: float | str | None = "warn", predicted: str = "warn"
    ):
        rows = qrels_rows(qrels, unjudged_label=unjudged_label, predicted=predicted)
        order = np.argsort(np.array(rows.queries, dtype=object), kind="stable")
        self.queries = np.array(rows.queries, dtype=object)[order]
        self._labels_of_queries = pd.Index(self.queries, name="qid")
        self._query_numbers = {query: i for i, query in enumerate(self.queries)}
        codes = np.empty_like(order)
        codes[order] = np.arange(len(order))
        codes = codes[rows.codes]
        by_query = np.lexsort([*(~key for key in rows.docnos.sort_keys()), codes])
        self._codes, self._labels = codes[by_query], rows.values[by_query]
        self._docnos = rows.docnos.take(by_query)
        self._probabilities = None if rows.probabilities is None else rows.probabilities[by_query]
        self._judges = rows.judges and rows.judges._replace(codes=rows.judges.codes[by_query])
        self.n_predicted = {} if rows.judges is None else rows.judges.counts(rows.values)
        self.n_pooled = len(by_query)
        self._is_by_query = is_by_query(qrels)
        self.n_judged = int(np.count_nonzero(~np.isnan(self._labels)))
        # If different pairs have equal hashes, another salt is tried.
        self._salt = 0
        while not are_distinct(keys := pair_keys(self._codes, self._docnos, self._salt)):
            self._salt += 1 << 32
        self._index = pd.Index(keys)

    @classmethod
    def of(
        cls,
        qrels,
        *,
        unjudged_label: float | str | None = "warn",
        predicted: str = "warn",
        gains: Gains = None,
        measures: Iterable[ParsedMeasure] = (),
    ) -> "QrelsIndex":
        """Index judgments; a QrelsIndex is returned unchanged.

        Parameters
        ----------
        qrels, unjudged_label, predicted
            As in the class.
        gains : None, "exp2", dict or callable, default=None
            Gains of the labels. A dict or callable says what labels below 0 mean.
        measures : iterable of ParsedMeasure, default=()
            Measures that the judgments are for. One of forbidden documents, such as
            "any_forbidden@5", says that labels below 0 mean them.

        Returns
        -------
        index : QrelsIndex
            The judgments.

        Raises
        ------
        ValueError
            If `qrels` is an index and another parameter is passed; as the class.
        """
        if isinstance(qrels, cls):
            for name, given in (("unjudged_label", unjudged_label), ("predicted", predicted)):
                if not (isinstance(given, str) and given == "warn"):
                    raise InputError(
                        f"{name}={brief(given)}, but qrels is a QrelsIndex: pass it to "
                        "QrelsIndex(...)."
                    )
            return qrels
        label = check_unjudged_label(unjudged_label)
        has_gains = not (gains is None or isinstance(gains, str))
        is_said = label == "warn" and (has_gains or counts_forbidden(measures))
        return cls(qrels, unjudged_label=None if is_said else label, predicted=predicted)

    @cached_property
    def is_sample(self) -> bool:
        """True if some label was drawn with an inclusion probability below 1."""
        return is_sample(self._labels, self._probabilities)

    @cached_property
    def labels(self) -> np.ndarray:
        """The labels that occur, ascending."""
        return np.unique(self._labels[~np.isnan(self._labels)])

    def __repr__(self):
        return f"QrelsIndex({len(self.queries)} queries, {self.n_pooled} documents)"

    def to_frame(self) -> pd.DataFrame:
        """Return the judgments as a table, queries and documents as text.

        Returns
        -------
        DataFrame of shape (n_pooled, 1 to 3)
            Column "label", NaN where a document is pooled, but not judged; and, where the judgments
            say it, "inclusion_probability" and "judged_by". Index levels "qid", sorted, and
            "docno".
        """
        index = pd.MultiIndex.from_arrays(
            [self.queries[self._codes], self._docnos.tolist()], names=["qid", "docno"]
        )
        columns = {"label": self._labels}
        if self._probabilities is not None:
            columns["inclusion_probability"] = self._probabilities
        if self._judges is not None:
            columns["judged_by"] = np.array(self._judges.names, dtype=object)[self._judges.codes]
        return pd.DataFrame(columns, index)

    def align(
        self, run, *, missing: str = "empty", precision: str = "double", ties: str = "docno"
    ) -> AlignedRun:
        """Join a run with these judgments.

        Parameters
        ----------
        run, missing, precision, ties
            As in `skfilterrank.io.align`.

        Returns
        -------
        aligned : AlignedRun
            As from `skfilterrank.io.align`.

        Warns
        -----
        DataWarning
            As `skfilterrank.io.align`.
        """
        check_choice(missing, "missing", MISSING)
        check_choice(precision, "precision", PRECISIONS)
        check_choice(ties, "ties", TIES)
        rows = run_rows(run)
        scores = rows.values
        if self._is_by_query and is_by_query(run) and self._looks_swapped(run, scores):
            raise InputError(
                "qrels holds fractions, another for each document, and run holds whole numbers, "
                f"so they look swapped: {ORDER} If they are not, pass run as a data frame."
            )
        if precision == "single":
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)

        numbers = np.array(
            [self._query_numbers.get(query, -1) for query in rows.queries], dtype=int
        )
        if not len(numbers) and missing == "drop":
            raise InputError(
                "the run holds no document, so that missing='drop' leaves out all queries; pass "
                "missing='empty' to count each of them as an empty list."
            )
        if len(numbers) and (numbers < 0).all():
            raise InputError(
                "the run and the judgments have no query in common: the run's are such as "
                f"{brief(rows.queries[0])}, the judgments' such as {brief(self.queries[0])}; bring "
                "them to one form first."
            )
        codes, docnos = numbers[rows.codes], rows.docnos
        is_filtered = scores == -np.inf
        kept = (codes >= 0) & ~is_filtered
        n_filtered = int(np.count_nonzero(is_filtered & (codes >= 0)))
        n_left_out = int(np.count_nonzero(codes < 0))
        if not kept.all():
            codes, scores, docnos = codes[kept], scores[kept], docnos.take(kept)

        in_run = np.zeros(len(self.queries), dtype=bool)
        in_run[numbers[numbers >= 0]] = True
        if missing == "raise" and not in_run.all():
            queries, name = list(self.queries[~in_run]), _name_of(rows.name)
            raise MissingValuesError(
                f"{name} lacks {counted(len(queries), 'query', 'queries')} of the judgments, such "
                f"as {brief(queries[0])}: count them as empty lists (missing 'empty'), or leave "
                "them out (missing 'drop').",
                {name: queries},
            )
        aligned = self._lay_out(
            codes,
            scores,
            docnos,
            in_run,
            keep_missing=missing == "empty",
            n_filtered=n_filtered,
            n_left_out=n_left_out,
            unjudged_queries=tuple(t for t, n in zip(rows.queries, numbers, strict=True) if n < 0),
            name=rows.name,
            ties="stable" if ties == "stable" else "docno",
        )
        if not self.n_judged:
            warn_user(
                f"the judgments hold no label: of their {counted(self.n_pooled, 'document')} none "
                "is judged.",
                DataWarning,
            )
        elif aligned.n_retrieved and aligned.n_retrieved == aligned.n_retrieved_unjudged:
            # Example ids: the first document of the run, and the first judged document of its
            # query.
            (own,) = docnos.take([0]).tolist()
            (theirs,) = self._docnos.take([np.searchsorted(self._codes, codes[0])]).tolist()
            self._warn_of_other_documents(aligned, self.queries[codes[0]], own, theirs)
        return aligned

    def _looks_swapped(self, run, scores):
        """Tell whether run and judgments look swapped: integer scores and fractional labels."""
        pairs = pd.DataFrame({"query": self._codes, "label": self._labels}).dropna()
        return (
            bool((pairs["label"] % 1 != 0).any() and not pairs.duplicated().any())
            and bool((np.abs(scores) <= _LARGEST_GRADE).all())
            and all(isinstance(each, Integral) for rows in run.values() for each in rows.values())
        )

    def _warn_of_other_documents(self, aligned, query, own, theirs):
        """Warn that no retrieved document is judged, with an example of both kinds of ids."""
        warn_user(
            f"none of the {counted(aligned.n_retrieved, 'document')} that "
            f"{_name_of(aligned.name)} retrieves is "
            f"judged: of query {brief(query)} it holds {brief(own)}, and the judgments hold "
            f"{brief(theirs)}. Where ids differ in form, bring them to one.",
            DataWarning,
        )

    def _lay_out(self, codes, scores, docnos, in_run, *, keep_missing, **counts):
        """Arrange the retrieved rows, and the judged rows that were not retrieved, by query."""
        hits, judged = self._match(codes, docnos)
        is_absent = np.ones(self.n_pooled, dtype=bool)
        is_absent[judged] = False
        if not keep_missing:
            is_absent &= in_run[self._codes]
        absent = np.flatnonzero(is_absent)

        n_queries = len(self.queries)
        retrieved = np.bincount(codes, minlength=n_queries)
        missed = np.bincount(self._codes[absent], minlength=n_queries)
        sizes = retrieved + missed
        starts = np.cumsum(sizes) - sizes
        n_rows = int(sizes.sum())

        # Usually few rows are judged: only these are scattered, the others are copied in order.
        order = rank_order(codes, scores, None if counts["ties"] == "stable" else docnos)
        before = np.cumsum(retrieved) - retrieved
        positions = np.empty(len(codes), dtype=np.int64)
        positions[order] = np.arange(len(codes))
        found = positions[hits] + (starts - before)[codes[hits]]
        is_retrieved = np.repeat(
            np.tile([True, False], n_queries), np.column_stack((retrieved, missed)).ravel()
        )
        behind = np.arange(len(absent)) - np.repeat(np.cumsum(missed) - missed, missed)
        absent_places = np.repeat(starts + retrieved, missed) + behind

        y_score = np.full(n_rows, -np.inf)
        y_score[is_retrieved] = scores[order]

        def laid_out(values, other):
            laid = np.full(n_rows, other)
            laid[found], laid[absent_places] = values[judged], values[absent]
            return laid

        filled = sizes > 0
        return AlignedRun(
            y_true=laid_out(self._labels, np.nan),
            y_score=y_score,
            pooled=laid_out(np.ones(self.n_pooled, dtype=bool), False),
            inclusion_probability=None
            if self._probabilities is None
            else laid_out(self._probabilities, np.nan),
            index=GroupIndex(
                self.queries[filled],
                sizes[filled],
                starts[filled],
                None,
                n_rows,
                labels=self._labels_of_queries if filled.all() else None,
            ),
            missing_queries=tuple(self.queries[~in_run]),
            n_retrieved=len(codes),
            n_retrieved_unjudged=len(codes)
            - int(np.count_nonzero(~np.isnan(self._labels[judged]))),
            n_judged_not_retrieved=int(np.count_nonzero(~np.isnan(self._labels[absent]))),
            keeps_missing_queries=keep_missing,
            _documents=(
                (docnos, order, is_retrieved),
                (self._docnos, absent, absent_places),
            ),
            **counts,
        )

    def _match(self, codes, docnos):
        """Find the rows of a run that are in the judgments, and their rows there."""
        matches = self._index.get_indexer(pair_keys(codes, docnos, self._salt))
        hits = np.flatnonzero(matches >= 0)
        judged = matches[hits]
        same = (self._codes[judged] == codes[hits]) & docnos.take(hits).equal(
            self._docnos.take(judged)
        )
        return hits[same], judged[same]


def _name_of(name):
    return "the run" if name is None else f"the run {brief(name)}"


def rank_order(codes, scores, docnos):
    """Order rows by query, score descending, and document id descending or as they come.

    The result is a slice of all rows if they are in order already.
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
    # Only rows with tied scores are sorted by document.
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
    """Sort rows by query and score if each query's rows are consecutive and sorted; else None.

    The result is a slice of all rows if the queries are in order, too.
    """
    new_query = codes[1:] != codes[:-1]
    if ((scores[1:] > scores[:-1]) & ~new_query).any():
        return None
    heads = np.concatenate(([0], np.flatnonzero(new_query) + 1))[: len(codes)]
    if (codes[heads[1:]] > codes[heads[:-1]]).all():
        return slice(None)
    by_query = np.argsort(codes[heads])
    heads, sizes = heads[by_query], np.diff(heads, append=len(codes))[by_query]
    if (np.diff(codes[heads]) == 0).any():
        return None
    return np.repeat(heads - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(codes))
