"""Joining of runs with judgments into the arrays that measures take."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import pandas as pd

from skfilterrank._base.checks import cached_property, check_choice
from skfilterrank._base.results import Result
from skfilterrank._base.words import MISSING, OWN, PRECISIONS, TIES, counted, warn_user
from skfilterrank._files.forms import is_by_query
from skfilterrank._files.kinds import ORDER
from skfilterrank._files.tokens import Tokens
from skfilterrank._lists.gains import Gains, check_sample, is_sample
from skfilterrank._lists.measure import ParsedMeasure, counts_forbidden
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import DataWarning, InputError, MissingValuesError, brief
from skfilterrank.io._read import check_unjudged_label, qrels_rows, refuse_draws, run_rows
from skfilterrank.io._repeats import are_distinct, folded, pair_keys

# Greatest integer that is plausible as a label of relevance.
_LARGEST_GRADE = 10


@dataclass(frozen=True, eq=False, repr=False)
class AlignedRun(Result):
    """A run joined with judgments, from :func:`align`."""

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
    n_hidden: int
    n_retrieved: int
    n_retrieved_unjudged: int
    n_judged_not_retrieved: int
    n_own_first: int
    draws: np.ndarray | None
    # Parts (ids as bytes, their rows, their positions here); converted to text only when needed.
    _documents: tuple

    def _table(self) -> None:
        return None

    def __iter__(self):
        return iter((self.y_true, self.y_score, self.groups))

    @property
    def label_sets(self) -> np.ndarray:
        """Labels of each set, shape (n_sets, n_rows); `y_true` is the only one if none is drawn."""
        return self.y_true[None] if self.draws is None else self.draws

    @cached_property
    def groups(self) -> np.ndarray:
        """Query id of each row, shape (n_rows,)."""
        return np.repeat(self.index.query_ids, self.index.sizes)

    @cached_property
    def docnos(self) -> np.ndarray:
        """Document id of each row, shape (n_rows,)."""
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
        queries = counted(self.index.n_queries, "query")
        if n_missing and self.keeps_missing_queries:
            queries += f", {n_missing:,} of them not in the run"
        elif n_missing:
            queries += f"; {counted(n_missing, 'query')} not in the run left out"
        retrieved = f"{counted(self.n_retrieved, 'document')} retrieved"
        if self.n_retrieved_unjudged:
            retrieved += f", {self.n_retrieved_unjudged:,} of them not judged"
        left_out = f"{counted(n_left_out, 'query')} without judgments left out, with "
        others = (
            (self.n_judged_not_retrieved, "judged document", "not retrieved"),
            (self.n_hidden, "document", "hidden"),
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
) -> AlignedRun:
    """Join a run with judgments, as the arrays that measures take.

    Parameters
    ----------
    qrels : QrelsIndex, str, PathLike, file object, data frame, dict or other object
        Judgments in any form that `read_qrels` takes. A data frame has "qid" (or "query_id"),
        "docno" (or "doc_id") and "label" (or "relevance"). A label of NaN means that the document
        is pooled, but not judged. An optional column "inclusion_probability", as from `read_qrels`,
        is kept. For many runs, pass one `QrelsIndex`, whose parameters also say which labels mean
        unjudged, whether labels of machines count, and whether a query is its own document.
    run : str, PathLike, file object, data frame, dict or other object
        A run in any form that `read_run` takes. A data frame has "qid" (or "query_id"), "docno" (or
        "doc_id") and "score" as columns or index levels; its rows may have any order. A score of
        -inf means that the document is hidden; `read_run` describes other ways to say this.
    missing : {"raise", "drop", "empty"}, default="empty"
        Treatment of judged queries that are not in the run. "raise" is an error. "drop" leaves them
        out, as trec_eval does by default. "empty" keeps them as empty lists, as ``trec_eval -c``.
    precision : {"double", "single"}, default="double"
        "single" rounds scores to single precision, as trec_eval 9 and pytrec_eval do, which can
        create ties. trec_eval 10 uses double precision.
    ties : {"docno", "average", "worst", "best", "stable"}, default="docno"
        Tie rule of the measures that will use the result. With "stable", documents with equal
        scores keep the order of their rows. With any other rule, they are sorted by document id,
        descending, as in trec_eval.

    Returns
    -------
    aligned : AlignedRun
        The arrays, which can be unpacked as ``y_true, y_score, groups = aligned``, and counts of
        rows that were left out. Rows are sorted by query id as text. Within a query, retrieved
        documents come first, sorted by score (highest first) with ties as `ties` says; judged
        documents that the run does not retrieve follow. ``ties="stable"`` in a measure keeps this
        order.

        y_true : ndarray of shape (n_rows,), float64
            Labels, NaN for unjudged documents.
        y_score : ndarray of shape (n_rows,), float64
            Scores, -inf for documents that the run does not retrieve.
        groups : ndarray of shape (n_rows,), object (str)
            Query id of each row.
        docnos : ndarray of shape (n_rows,), object (str)
            Document id of each row.
        pooled : ndarray of shape (n_rows,), bool
            True for documents that are in the judgments, with a label or with NaN.
        inclusion_probability : ndarray of shape (n_rows,), float64, or None
            Probability with which the document was drawn to be judged, NaN if it was not pooled.
            None if the judgments have no probabilities. ``stat_ap_score`` needs it.
        index : GroupIndex
            Rows of each query. Pass it to measures as `groups`, which is faster than query ids.
        name : str or None
            Name of the run, or None if there is no name or there are several.
        ties : str
            Order of documents with equal scores in these arrays: "docno" or "stable".
        missing_queries : tuple of str
            Judged queries that are not in the run.
        keeps_missing_queries : bool
            True if `missing_queries` are kept as empty lists (``missing="empty"``).
        unjudged_queries : tuple of str
            Queries of the run that are not in the judgments. Their rows are left out.
        n_left_out : int
            Number of rows of the run that are left out because of `unjudged_queries`.
        n_hidden : int
            Number of rows of the run with score -inf, in judged queries. These documents count as
            not retrieved.
        n_retrieved : int
            Number of rows of the run that are kept.
        n_retrieved_unjudged : int
            Number of kept rows of the run without a label.
        n_judged_not_retrieved : int
            Number of judged documents that the run does not retrieve.
        n_own_first : int
            Number of queries whose first document has the id of the query.
        draws : ndarray of shape (n_draws, n_rows), float64, or None
            Labels of each set, for a `QrelsIndex` of drawn label sets; `y_true` is NaN where they
            are drawn. None for other judgments.

    Raises
    ------
    ValueError
        If a column or an id is missing, if a label or a score is not a number, if a score is NaN or
        +inf, if a query holds a document twice, if run and judgments have no query in common, or if
        judged queries are not in the run and `missing` is "raise".
    FileFormatError
        A ValueError: if these errors are in a file.

    Warns
    -----
    DataWarning
        If no retrieved document is judged, so that the run gets the values of a run that found
        nothing. Also if the judgments hold no label at all.

    See Also
    --------
    QrelsIndex : Index judgments once for many runs.

    Notes
    -----
    Ids are compared as text, so query 7 of one data frame is query "7" of another.

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
    >>> ndcg_score.per_query(y_true, y_score, groups=groups)
    array([1., 0.])
    """
    index = index_of_qrels(qrels)
    return index.align(run, missing=missing, precision=precision, ties=ties)


class QrelsIndex:
    """Judgments that are indexed once to be joined with many runs.

    Parameters
    ----------
    qrels : str, PathLike, file object, data frame, dict or other object
        Judgments, as in `align`.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels that mean unjudged, as in `read_qrels`.
    predicted : {"warn", "use", "drop"}, default="warn"
        Use of labels that a machine gave, as in `read_qrels`.
    own : {"warn", "keep", "drop"}, default="warn"
        Treatment of a document whose id is that of the query, as where questions are the documents:
        "drop" leaves it out of run and judgments, the others keep it; measures of runs warn with
        "warn" where it is the first document of many queries.
    may_have_draws : bool, default=False
        Whether drawn label sets (:func:`skfilterrank.judgments.complete_qrels`) are accepted. Only
        `evaluate_runs` and `score_systems` take their index.

    Attributes
    ----------
    queries : ndarray of shape (n_queries,), object (str)
        Query ids, sorted as text.
    n_judged : int
        Number of judgments with a label.
    n_pooled : int
        Number of all judgments, including documents that are pooled but not judged (label NaN).
    labels : ndarray of shape (n_labels,), float64
        Distinct labels, ascending.
    is_sample : bool
        True if some label was drawn with an inclusion probability below 1.
    n_predicted : dict of str to int
        Number of used labels that each machine gave, by the name of the machine; empty if people
        gave all labels.

    See Also
    --------
    align : Join a single run with judgments.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.io import QrelsIndex
    >>> index = QrelsIndex(pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [1]}))
    >>> for score in (3.5, float("-inf")):
    ...     run = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [score]})
    ...     print(index.align(run))
    1 query; 1 document retrieved
    1 query; 0 documents retrieved; 1 judged document not retrieved; 1 document hidden
    """

    def __init__(
        self,
        qrels,
        *,
        unjudged_label: float | str | None = "warn",
        predicted: str = "warn",
        own: str = "warn",
        may_have_draws: bool = False,
    ):
        self.own = check_choice(own, "own", OWN)
        said = {"unjudged_label": unjudged_label, "predicted": predicted}
        rows, draws = folded(qrels_rows(qrels, may_have_draws=may_have_draws, **said))
        order = np.argsort(np.array(rows.queries, dtype=object), kind="stable")
        self.queries = np.array(rows.queries, dtype=object)[order]
        self._labels_of_queries = pd.Index(self.queries, name="qid")
        self._query_numbers = {query: i for i, query in enumerate(self.queries)}
        codes = np.empty_like(order)
        codes[order] = np.arange(len(order))
        codes = codes[rows.codes]
        self._query_tokens = Tokens.from_texts(self.queries.tolist())
        by_query = np.lexsort([*(~key for key in rows.docnos.sort_keys()), codes])
        if own == "drop":
            is_own = rows.docnos.equal(self._query_tokens.take(codes))
            by_query = by_query[~is_own[by_query]]
        self._codes, self._labels = codes[by_query], rows.values[by_query]
        # Labels that are not drawn are the only set.
        self._label_sets = self._labels[None] if draws is None else draws[:, by_query]
        self._docnos = rows.docnos.take(by_query)
        self._probabilities = None if rows.probabilities is None else rows.probabilities[by_query]
        self._judges = rows.judges and rows.judges._replace(codes=rows.judges.codes[by_query])
        self.n_predicted = {} if self._judges is None else self._judges.counts(self._labels)
        self.n_pooled = len(by_query)
        self._is_by_query = is_by_query(qrels)
        self._is_known = ~np.isnan(self._label_sets[0])
        self.n_judged = int(np.count_nonzero(self._is_known))
        # Pairs of query and document are found by their hashes. If two hashes are equal, the salt
        # is changed.
        self._salt = 0
        while not are_distinct(keys := pair_keys(self._codes, self._docnos, self._salt)):
            self._salt += 1 << 32
        self._index = pd.Index(keys)

    @property
    def has_draws(self) -> bool:
        """True if labels are drawn label sets."""
        return len(self._label_sets) > 1

    @cached_property
    def is_sample(self) -> bool:
        """True if some label was drawn with an inclusion probability below 1."""
        return is_sample(self._labels, self._probabilities)

    def check_sample(self, measures) -> None:
        """Raise if the labels are a sample and a measure would treat them as complete.

        Parameters
        ----------
        measures : dict of str to ParsedMeasure
            Measures by the texts that named them.

        Warns
        -----
        DataWarning
            If documents of a sample have no label: they may have been drawn.
        """
        check_sample(measures, self._labels, self._probabilities)

    @cached_property
    def labels(self) -> np.ndarray:
        """Distinct labels of the judgments, ascending."""
        return np.unique(self._label_sets[~np.isnan(self._label_sets)])

    def __repr__(self):
        return f"QrelsIndex({len(self.queries)} queries, {self.n_pooled} documents)"

    def to_frame(self) -> pd.DataFrame:
        """Return the judgments as a table, with ids of queries and documents as text.

        Returns
        -------
        DataFrame of shape (n_pooled, 1 to 3)
            Column "label", NaN for documents that are pooled but not judged, and, if the judgments
            have them, "inclusion_probability" and "judged_by". The index levels are "qid", sorted,
            and "docno".
        """
        if self.has_draws:
            refuse_draws("qrels")
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
        """Join a run with these judgments, as the arrays that measures take.

        Parameters
        ----------
        run, missing, precision, ties
            Parameters of `skfilterrank.io.align`.

        Returns
        -------
        aligned : AlignedRun
            Result of `skfilterrank.io.align` for this run.

        Warns
        -----
        DataWarning
            In the same cases as `skfilterrank.io.align`.
        """
        check_choice(missing, "missing", MISSING)
        check_choice(precision, "precision", PRECISIONS)
        check_choice(ties, "ties", TIES)
        rows = run_rows(run)
        scores = rows.values
        if self._is_by_query and is_by_query(run) and self._looks_swapped(run, scores):
            raise InputError(
                "qrels and run look swapped, because qrels holds a different fraction for each "
                f"document and run holds whole numbers: {ORDER} If they are not swapped, pass run "
                "as a data frame."
            )
        if precision == "single":
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)

        numbers = np.array(
            [self._query_numbers.get(query, -1) for query in rows.queries], dtype=int
        )
        if not len(numbers) and missing == "drop":
            raise InputError(
                "the run holds no document, so {missing='drop'} leaves out all queries; pass "
                "{missing='empty'} to count every query as an empty list.",
                argument=("missing='drop'", "missing='empty'"),
            )
        if len(numbers) and (numbers < 0).all():
            raise InputError(
                "the run and the judgments must have queries in common, but have none: an id in "
                f"the run is {brief(rows.queries[0])}, and one in the judgments is "
                f"{brief(self.queries[0])}. Use the same form of ids in both."
            )
        codes, docnos = numbers[rows.codes], rows.docnos
        is_hidden = scores == -np.inf
        kept = (codes >= 0) & ~is_hidden
        if self.own == "drop":
            kept &= ~docnos.equal(self._query_tokens.take(np.maximum(codes, 0)))
        n_hidden = int(np.count_nonzero(is_hidden & (codes >= 0)))
        n_left_out = int(np.count_nonzero(codes < 0))
        if not kept.all():
            codes, scores, docnos = codes[kept], scores[kept], docnos.take(kept)

        in_run = np.zeros(len(self.queries), dtype=bool)
        in_run[numbers[numbers >= 0]] = True
        if missing == "raise" and not in_run.all():
            queries, name = list(self.queries[~in_run]), _name_of(rows.name)
            raise MissingValuesError(
                f"{name} lacks {counted(len(queries), 'query')} of the judgments, such "
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
            n_hidden=n_hidden,
            n_left_out=n_left_out,
            unjudged_queries=tuple(t for t, n in zip(rows.queries, numbers, strict=True) if n < 0),
            name=rows.name,
            ties="stable" if ties == "stable" else "docno",
        )
        if not self.n_judged:
            warn_user(
                f"the judgments hold no label: none of their {counted(self.n_pooled, 'document')} "
                "is judged.",
                DataWarning,
            )
        elif aligned.n_retrieved and aligned.n_retrieved == aligned.n_retrieved_unjudged:
            # Examples for the message: the first document of the run, and the first judged document
            # of the same query.
            (own,) = docnos.take([0]).tolist()
            (theirs,) = self._docnos.take([np.searchsorted(self._codes, codes[0])]).tolist()
            self._warn_of_other_documents(aligned, self.queries[codes[0]], own, theirs)
        return aligned

    def _looks_swapped(self, run, scores):
        """Return True if the arguments look swapped.

        This is the case if labels are distinct fractions and scores are small integers.
        """
        pairs = pd.DataFrame({"query": self._codes, "label": self._labels}).dropna()
        return (
            bool((pairs["label"] % 1 != 0).any() and not pairs.duplicated().any())
            and bool((np.abs(scores) <= _LARGEST_GRADE).all())
            and all(isinstance(each, Integral) for rows in run.values() for each in rows.values())
        )

    def _warn_of_other_documents(self, aligned, query, own, theirs):
        """Warn that no retrieved document is judged, with a document id of run and judgments."""
        warn_user(
            f"none of the {counted(aligned.n_retrieved, 'document')} that "
            f"{_name_of(aligned.name)} retrieves is "
            f"judged: for query {brief(query)}, it holds {brief(own)}, and the judgments hold "
            f"{brief(theirs)}. If their ids have different forms, use the same form in both.",
            DataWarning,
        )

    def _lay_out(self, codes, scores, docnos, in_run, *, keep_missing, **counts):
        """Make the AlignedRun: by query, retrieved rows and then judged rows not retrieved."""
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

        # Usually only few rows are judged. For speed, only their labels are written by position.
        order = rank_order(codes, scores, None if counts["ties"] == "stable" else docnos)
        before = np.cumsum(retrieved) - retrieved
        answered = np.flatnonzero(retrieved)
        is_own = docnos.take(order[before[answered]]).equal(self._query_tokens.take(answered))
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
            laid = np.full((*values.shape[:-1], n_rows), other)
            laid[..., found], laid[..., absent_places] = values[..., judged], values[..., absent]
            return laid

        filled, known = sizes > 0, self._is_known
        return AlignedRun(
            y_true=laid_out(self._labels, np.nan),
            draws=laid_out(self._label_sets, np.nan) if self.has_draws else None,
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
            n_retrieved_unjudged=len(codes) - int(np.count_nonzero(known[judged])),
            n_judged_not_retrieved=int(np.count_nonzero(known[absent])),
            n_own_first=int(np.count_nonzero(is_own)),
            keeps_missing_queries=keep_missing,
            _documents=(
                (docnos, order, is_retrieved),
                (self._docnos, absent, absent_places),
            ),
            **counts,
        )

    def _match(self, codes, docnos):
        """Find the rows of a run whose documents are in the judgments.

        Returns these rows, and for each of them the row in the judgments.
        """
        matches = self._index.get_indexer(pair_keys(codes, docnos, self._salt))
        hits = np.flatnonzero(matches >= 0)
        judged = matches[hits]
        same = (self._codes[judged] == codes[hits]) & docnos.take(hits).equal(
            self._docnos.take(judged)
        )
        return hits[same], judged[same]


def index_of_qrels(
    qrels,
    *,
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
    own: str = "warn",
    gains: Gains = None,
    measures: Iterable[ParsedMeasure] = (),
    may_have_draws: bool = False,
) -> QrelsIndex:
    """Index judgments; a QrelsIndex is returned unchanged, and takes no further parameters.

    Gains that are a dict or a function define the meaning of labels below 0, and so do measures of
    forbidden documents, such as "any_forbidden@5": then there is no warning about them.
    """
    if isinstance(qrels, QrelsIndex):
        said = {"unjudged_label": unjudged_label, "predicted": predicted, "own": own}
        for name, given in said.items():
            if not (isinstance(given, str) and given == "warn"):
                raise InputError(
                    f"{name} must not be given for a QrelsIndex, got {brief(given)}: pass it "
                    "to QrelsIndex(...)."
                )
        if qrels.has_draws and not may_have_draws:
            refuse_draws("qrels")
        return qrels
    label = check_unjudged_label(unjudged_label)
    has_gains = not (gains is None or isinstance(gains, str))
    is_said = label == "warn" and (has_gains or counts_forbidden(measures))
    label = None if is_said else label
    how = {"predicted": predicted, "own": own}
    return QrelsIndex(qrels, unjudged_label=label, may_have_draws=may_have_draws, **how)


def _name_of(name):
    return "the run" if name is None else f"the run {brief(name)}"


def rank_order(codes, scores, docnos):
    """Return the order of rows by query, then score (descending), then document id (descending).

    If `docnos` is None, rows with equal scores keep their order.
    """
    order = np.lexsort((-scores, codes))
    if docnos is None:
        return order
    codes, scores = codes[order], scores[order]
    tied = (scores[1:] == scores[:-1]) & (codes[1:] == codes[:-1])
    second = np.flatnonzero(tied) + 1
    if not second.size:
        return order
    # For speed, only rows with tied scores are sorted by document id.
    members = np.union1d(second, second - 1)
    spans = np.cumsum((members == 0) | ~tied[members - 1])
    rows = order[members]
    order[members] = rows[np.lexsort([*(~key for key in docnos.take(rows).sort_keys()), spans])]
    return order
