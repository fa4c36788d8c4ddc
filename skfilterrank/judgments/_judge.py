"""The judging loop: ask an assessor, save each answer, and resume from the log."""

from collections.abc import Callable, Collection
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfilterrank._lists.checks import (
    as_list,
    check_numbers,
    is_finite_number,
    is_hashable,
    is_whole_number,
)
from skfilterrank._lists.words import progress_bar
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.judgments._active_selectors import ActiveSelector
from skfilterrank.judgments._judging_tasks import logged_grades, named_grades
from skfilterrank.judgments._judgment_log import (
    Event,
    JudgmentLog,
    Pool,
    judgments_of,
    qrels_of,
)
from skfilterrank.judgments._label_table import key_columns, refuse_repeated
from skfilterrank.judgments._selector import QuerySelector, query_budgets


class Question(NamedTuple):
    """A document to be judged.

    Attributes
    ----------
    query : object
        Id of the query.
    docno : object
        Id of the document.
    row : int
        Row of the document in the data that the selector was fitted on.
    place : int
        Number of documents of the query that are finished including this one, from 1.
    n_query : int
        Number of documents of the query to judge.
    n_answered : int
        Number of documents that have a label already, over all queries.
    n_total : int
        Number of documents to judge, over all queries.
    before : float, "skip" or None
        Earlier answer to this document: an undone label, "skip", or None.
    """

    query: object
    docno: object
    row: int
    place: int
    n_query: int
    n_answered: int
    n_total: int
    before: object = None


def judge(
    selector,
    assessor: Callable,
    *,
    log=None,
    n_per_query=None,
    queries=None,
    order=None,
    pool=None,
    leave_out: Collection[int] = (),
    grades=None,
    known=None,
    assessor_name: str | None = None,
    verbose: int = 0,
) -> pd.DataFrame:
    r"""Ask an assessor about one document at a time, and save every answer.

    Parameters
    ----------
    selector : QuerySelector or ActiveSelector
        A fitted strategy. An active strategy chooses again after each answer; its earlier answers
        are removed first. For other strategies, the documents of ``select(n_per_query)`` are asked
        about in the order of `ranking_`.
    assessor : callable
        Called with a question, whose attributes are `query`, `docno`, `row` (of what the selector
        was fitted on), `place` among the `n_query` documents of the query to judge, `n_answered` of
        `n_total` over all queries, and `before`, an earlier answer or None. It returns a label (a
        finite number; negative means forbidden), "skip" to be asked about this document later,
        "undo" to remove the previous answer, or "stop" to end. If it has a method `at_end`, this is
        called when everything is judged; it may return "undo", and any other value ends the loop.
    log : str or PathLike, default=None
        File of the answers, one line of JSON each. Each answer is on disk before the next question.
        If the file exists, its answers count, and the loop continues after them. None saves
        nothing.
    n_per_query : int or float, default=None
        Documents per query, or their share, as in `QuerySelector.select`. None asks about all
        that ``select()`` gives, which a :class:`PoolingSelector` may limit.
    queries : list, default=None
        Ids of the queries to judge, in this order. None means all queries, sorted by id.
    order : array-like of float of shape (n_rows,), default=None
        A number for each row. The next question is about the query whose next document has the
        lowest number; ties go to the query that is earlier in `queries`. Skipped documents come
        after all others. None finishes one query before the next.
    pool : DataFrame or MultiIndex of length n_rows, default=None
        Columns or index levels "qid" and "docno": query and document of each row that the selector
        was fitted on. None means `selector.pool_`, which strategies for runs have.
    leave_out : collection of int, default=()
        Rows that are never asked about, such as documents without text.
    grades : collection of numbers, or dict {number: name}, default=None
        The allowed labels. None allows any finite number. They are stored in the log, which cannot
        be continued with other grades.
    known : DataFrame, default=None
        Existing judgments, with columns (or index levels) "qid", "docno" and "label" (NaN where
        missing). They count as given, are passed to the strategy, and their documents are not asked
        about. They are not written to the log or returned, and cannot be undone. If the log has an
        answer to the same document, the answer is used. Documents outside the pool are ignored.
    assessor_name : str, default=None
        Name of the assessor, stored in the log with each answer.
    verbose : int, default=0
        Whether to show a progress bar.

    Returns
    -------
    qrels : DataFrame of shape (n_judgments, 3)
        Columns "qid" and "docno" (str) and "label", in the order of the answers, including those of
        the log. Labels are int64 if all are integers, else float64. If there are names of
        assessors, they are in a column "assessor".

    Raises
    ------
    ValueError
        If the assessor returns an invalid answer, a query is not in the pool, or the pool is
        missing, has another length or holds a document twice in a query. Earlier answers are saved.
    JudgmentLogError
        A ValueError that names file and line: the log is damaged before its last line, holds an
        answer to a document that is not in the pool or was begun with other grades, or is in use
        by another process.

    Warns
    -----
    DataWarning
        If the last line of the log is incomplete: it is removed, and the answers before it count.

    See Also
    --------
    read_judging_answers : The answers in a log.
    MTCSelector.simulate : The same with known labels, faster.

    Notes
    -----
    A query is finished when `n_per_query` of its documents are labelled or skipped twice. A skipped
    document counts among these, and is asked about again when all others have an answer. If it is
    skipped again, it stays without a label until the loop is started again with the same log.

    "undo" removes the last answer (a label or a skip), and asks about that document next. It can be
    repeated back to the beginning of the log, and does nothing if no answer is left. Nothing is
    erased from the log: an undo is written as a new line.

    The strategy may change between sessions, and the pool may grow, as long as it holds all
    documents with an answer in the log. Labelled documents count towards `n_per_query`, whichever
    strategy chose them, and documents in `leave_out` are replaced by the next ones of the ranking.
    An exception are strategies such as :class:`StatAPSelector`, whose selection is not the first
    part of a ranking: there, exactly the documents of ``select(n_per_query=...)`` are asked about,
    without those that have a label or are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import MoveToFrontSelector, judge, rank_table
    >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0]})
    >>> b = pd.DataFrame({"qid": "1", "docno": ["d4", "d5"], "score": [3.0, 2.0]})
    >>> selector = MoveToFrontSelector().fit(rank_table({"a": a, "b": b}))
    >>> truth = {"d1": 0, "d2": 1, "d3": -1, "d4": 2, "d5": 0}
    >>> judge(selector, lambda question: truth[question.docno], n_per_query=3)
      qid docno  label
    0   1    d1      0
    1   1    d4      2
    2   1    d5      0
    """
    if not isinstance(selector, QuerySelector):
        raise InputError(
            "selector must be a fitted strategy, such as MaxRepSelector() or MTCSelector(), got "
            f"{brief(selector)}."
        )
    if not callable(assessor) or isinstance(assessor, type):
        raise InputError(
            f"assessor must be a function from a question to a label, got {brief(assessor)}."
        )
    if assessor_name is not None and not (isinstance(assessor_name, str) and assessor_name):
        raise InputError(f"assessor_name must be a name or None, got {brief(assessor_name)}.")
    check_is_fitted(selector)
    qids, docnos = _pool_columns(selector, pool)
    identity = Pool.of(map(str, qids), map(str, docnos))
    grades = None if grades is None else named_grades(grades)
    kept = grades and logged_grades(grades)
    opened = nullcontext() if log is None else JudgmentLog(log, identity, kept)
    with opened as file:
        session = _Session(selector, qids, docnos, n_per_query, queries, order, leave_out)
        events = () if file is None else file.events
        session.know(known, events)
        session.replay(events)
        bar = progress_bar(
            total=session.n_total,
            initial=session.n_answered,
            desc="judging",
            unit="doc",
            disable=not verbose,
        )
        with bar:
            at_end = getattr(assessor, "at_end", None)
            while True:
                question = session.question()
                if question is not None:
                    answer = assessor(question)
                elif at_end is None or (answer := at_end()) != "undo":
                    break
                if isinstance(answer, str) and answer == "stop":
                    break
                event = session.event_of(answer, question, grades, assessor_name)
                if event is None:
                    continue
                if file is not None:
                    file.append(event)
                session.take(event)
                bar.update(session.n_answered - bar.n)
    return qrels_of(judgments_of(session.events).values())


class _Session:
    """State of the judging: questions, answers and the next question."""

    def __init__(self, selector, qids, docnos, n_per_query, queries, order, leave_out):
        is_active = isinstance(selector, ActiveSelector)
        index = selector._index
        if is_active:
            self.budgets = query_budgets(n_per_query, index)
            self.counts = np.ones(index.n_rows, dtype=bool)
        else:
            self.budgets, self.counts = _selected(selector, n_per_query)
        self.qids, self.docnos = qids, docnos
        self.row_of = {
            (str(qid), str(docno)): row for row, (qid, docno) in enumerate(zip(qids, docnos))
        }
        self.codes = index.codes()
        self.query_ids = index.query_ids.tolist()
        self.never = set(_checked_rows(leave_out, index.n_rows))
        can_be_asked = self.counts.copy()
        can_be_asked[sorted(self.never)] = False
        sizes = np.bincount(self.codes[can_be_asked], minlength=index.n_queries)
        self.budgets = np.minimum(sizes, self.budgets)
        self.order = _query_codes(queries, self.query_ids)
        self.turns = None
        if order is not None:
            self.turns = check_numbers(order, "order", n_rows=index.n_rows)
            if np.isnan(self.turns).any():
                raise InputError("order must hold a number for each row, got NaN.")
        # Cached next rows of each query; an answer changes only those of its query.
        self.nexts = {}
        self.events, self.stack = [], []
        self.n_labels = np.zeros(index.n_queries, dtype=np.int64)
        # Number of skips of each row: rows skipped once are asked about again, rows skipped twice
        # are not.
        self.skips = [{} for _ in range(index.n_queries)]
        # Row of an undone answer, and the answer.
        self.undone = None
        # Done last, so that an error before it does not change the strategy.
        self.queue = selector.reset() if is_active else _RankedQueue(selector, self.counts)

    @property
    def n_total(self):
        """Number of documents to judge."""
        return int(np.maximum(self.budgets, self.n_labels)[self.order].sum())

    @property
    def n_answered(self):
        """Number of documents that have a label."""
        return int(self.n_labels[self.order].sum())

    def know(self, known, events):
        """Add existing judgments, except for documents that have answers."""
        if known is None:
            return
        answered = {event[1:3] for event in events}
        for pair, label in _known_labels(known):
            row = self.row_of.get(pair)
            if row is not None and pair not in answered:
                self.queue.check_label(label)
                self.queue.update(row, label)
                if row not in self.never:
                    self.n_labels[self.codes[row]] += self.counts[row]

    def replay(self, events):
        """Add the answers of earlier sessions."""
        for event in events:
            self.take(event)
        self.undone = None
        for skips in self.skips:
            for row in sorted(row for row, times in skips.items() if times == 2):
                del skips[row]
                skips[row] = 1

    def question(self):
        """Return the next question; None if none is left."""
        if self.undone is not None:
            return self._question(*self.undone)
        if self.turns is None:
            found = next(filter(None, map(self._next_of, self.order)), None)
        else:
            for code in self.order:
                if code not in self.nexts:
                    self.nexts[code] = self._next_of(code)
            nexts = (self.nexts[code] for code in self.order)
            found = min(filter(None, nexts), key=self._turn, default=None)
        return None if found is None else self._question(*found)

    def _turn(self, following):
        """Return the sort key of a query: skipped documents come last."""
        row, before = following
        return before is not None, self.turns[row]

    def _next_of(self, code):
        """Return the next row of a query and the earlier answer to it; None if there is none."""
        skips = self.skips[code]
        if self.n_labels[code] + len(skips) < self.budgets[code]:
            settled = {*skips, *self.never}
            rows = self.queue.next_rows(1, query=self.query_ids[code], leave_out=settled)
            if len(rows):
                return int(rows[0]), None
        return next(((row, "skip") for row, times in skips.items() if times == 1), None)

    def _question(self, row, before):
        """Make the question about a row."""
        code = self.codes[row]
        place = 1 + int(self.n_labels[code]) + list(self.skips[code].values()).count(2)
        n_query = max(int(self.budgets[code]), place)
        ids = self.query_ids[code], self.docnos[row]
        return Question(*ids, row, place, n_query, self.n_answered, self.n_total, before)

    def event_of(self, answer, question, grades, assessor):
        """Return the event to save for an answer; None for an undo without an earlier answer."""
        if isinstance(answer, str) and answer == "undo":
            return Event("undo", *self.stack[-1][1:3], None, assessor) if self.stack else None
        pair = str(self.qids[question.row]), str(self.docnos[question.row])
        if isinstance(answer, str) and answer == "skip":
            return Event("skip", *pair, None, assessor)
        label = _checked_label(answer, question, grades)
        self.queue.check_label(label)
        return Event("label", *pair, label, assessor)

    def take(self, event):
        """Apply an answer."""
        self.events.append(event)
        row = self.row_of[event.qid, event.docno]
        code = self.codes[row]
        self.nexts.pop(code, None)
        skips = self.skips[code]
        times, self.undone = skips.pop(row, 0), None
        if event.kind == "undo":
            event = self.stack.pop()
            if self.counts[row] and ("skip", *event[1:3]) in (each[:3] for each in self.stack):
                skips[row] = 1
            if event.kind == "label":
                self.n_labels[code] -= self.counts[row]
                self.queue.retract(row)
            self.undone = row, event.label if event.kind == "label" else "skip"
            return
        self.stack.append(event)
        if event.kind == "label":
            self.n_labels[code] += self.counts[row]
            self.queue.update(row, event.label)
        elif self.counts[row]:
            skips[row] = 2 if times == 1 else 1


class _RankedQueue:
    """Adapter that gives a ranking strategy the interface of an active one."""

    def __init__(self, selector, counts):
        self.index, self.counts = selector._index, counts
        order = self.index.row_order()
        by_rank = order[np.lexsort((selector.ranking_[order], self.index.codes()[order]))]
        lists = np.split(by_rank, np.cumsum(self.index.sizes)[:-1])
        self.lists = dict(zip(self.index.query_ids.tolist(), lists))
        self.is_open = counts.copy()

    def next_rows(self, n_per_query, *, query, leave_out):
        """Return the first open rows of a query's ranking."""
        rows = self.lists[query]
        rows = rows[self.is_open[rows]]
        return rows[~np.isin(rows, list(leave_out))][:n_per_query]

    def check_label(self, label):
        """Accept any label."""

    def update(self, row, label):
        """Mark a row as answered."""
        self.is_open[row] = False

    def retract(self, row):
        """Mark a row as not answered."""
        self.is_open[row] = self.counts[row]


def _known_labels(known):
    """Return query, document and label of judgments, without missing labels."""
    frame = key_columns(known, "known", "label")
    labels = check_numbers(frame["label"], "labels of known", n_rows=len(frame))
    judged = ~np.isnan(labels)
    pairs = zip(frame["qid"].astype(str)[judged], frame["docno"].astype(str)[judged])
    return list(zip(pairs, labels[judged].tolist()))


def _selected(selector, n_per_query):
    """Return the budget of each query, and a mask of the rows that count towards it."""
    index = selector._index
    budgets = None if n_per_query is None else query_budgets(n_per_query, index)
    selected = selector._is_selected(budgets)
    budgets = np.bincount(index.codes()[selected], minlength=index.n_queries)
    first = selector.ranking_ <= budgets[index.codes()]
    # A sample may equal the first documents by chance.
    is_nested = getattr(selector, "_select_is_nested", n_per_query is not None)
    is_nested = is_nested and (first == selected).all()
    return budgets, np.ones(index.n_rows, dtype=bool) if is_nested else selected


def _pool_columns(selector, pool):
    """Return query and document of each row, as lists."""
    if pool is None:
        pool = getattr(selector, "pool_", None)
        if pool is None:
            raise InputError(
                "pool is missing: pass pool=, the query and document of each row that the "
                f"{type(selector).__name__} was fitted on, as a DataFrame with columns 'qid' and "
                "'docno'."
            )
    pool = key_columns(pool, "pool")
    index = selector._index
    if len(pool) != index.n_rows:
        raise InputError(
            f"pool has {len(pool)} rows, but the selector was fitted on {index.n_rows}: pass the "
            "query and document of each of these, in their order."
        )
    qids, docnos = pool["qid"].tolist(), pool["docno"].tolist()
    if qids != index.query_ids[index.codes()].tolist():
        raise InputError("pool has other queries than the data that the selector was fitted on.")
    refuse_repeated(list(map(str, qids)), list(map(str, docnos)), "pool")
    return qids, docnos


def _query_codes(queries, ids):
    """Return numbers of the queries to judge, in order."""
    if queries is None:
        return list(range(len(ids)))
    codes = {query: code for code, query in enumerate(ids)}
    queries = as_list(queries, "queries", "queries of the pool")
    unknown = [query for query in queries if not is_hashable(query) or query not in codes]
    if unknown:
        raise InputError(
            f"queries holds {brief(unknown[0])}, which is not in the pool: {brief_list(ids)}."
        )
    if not queries:
        raise InputError("queries is empty: name some, or None for all.")
    return list(dict.fromkeys(codes[query] for query in queries))


def _checked_rows(rows, n_rows):
    """Check row numbers; return them as a list of int."""
    rows = as_list(rows, "leave_out", "row numbers")
    if not all(is_whole_number(row) and 0 <= row < n_rows for row in rows):
        raise InputError(f"leave_out must hold rows from 0 to {n_rows - 1}, got {brief(rows)}.")
    return [int(row) for row in rows]


def _checked_label(answer, question, grades):
    """Check a label: a finite number; return whole ones as int."""
    document, query = brief(question.docno), brief(question.query)
    who = f"the assessor's answer to document {document} of query {query}"
    if not is_finite_number(answer):
        raise InputError(
            f"{who} must be a finite number, 'skip', 'undo' or 'stop', got {brief(answer)}; the "
            "answers before it are saved."
        )
    label = float(answer)
    if grades is not None and label not in grades:
        shown = ", ".join(f"{grade:g}" for grade in grades)
        raise InputError(f"{who} must be one of {shown}, got {label:g}.")
    return int(label) if label.is_integer() else label
