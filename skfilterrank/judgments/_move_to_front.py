"""Move-to-front pooling: stay with a run as long as it returns relevant documents."""

import heapq

import numpy as np

from skfilterrank.judgments._active_selector import ActiveSelector


class MoveToFrontSelector(ActiveSelector):
    """Judge what the run at the front returns next, as long as it is relevant.

    Move-to-front pooling finds relevant documents early: a run that has just returned one is asked
    for more, a run that has not steps back behind the others. It needs the answers one at a time,
    see :func:`judge`.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        Gain of each label; a document is relevant where its gain is above 0. None takes the label
        as the gain.
    n_jobs : int, default=None
        Topics that `simulate` works on at a time.
    verbose : int, default=0
        Whether `simulate` shows progress.

    Attributes
    ----------
    answers_ : ndarray of shape (n_rows,), dtype float64
        Gains of the answers, NaN where there is none.
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its topic, from 1: those that were answered in the order of
        the answers, then the others in the order of ``next_rows(n)``.
    gains_ : ndarray of shape (n_rows,), dtype float64
        NaN: the strategy has no objective.
    pool_ : MultiIndex of length n_rows
        Topic and document of each row, levels "qid" and "docno".

    See Also
    --------
    MTCSelector : Judge what decides between runs.
    PoolingSelector : By the best rank, without asking.
    judge : The loop that asks and saves.

    Notes
    -----
    The variant is the one for each topic by itself, with whole priorities. All runs start with the
    same priority. The run at the front is that of the highest priority that has unjudged documents;
    of equal ones, the first in the order of the table's columns. Its highest ranked unjudged
    document is judged. Where the answer is relevant, nothing changes, and so the run stays in
    front; where it is not, its priority falls by 1. As only the run at the front ever falls, and by
    1, this is the same as a list of runs whose first one moves to the end.

    * A document that was judged because of another run is passed over, and costs its run nothing.
    * An answer falls to the account of the run of the highest priority that returns the document;
      for documents that `next_rows` proposed one at a time, this is the run at the front.
    * ``next_rows(n)`` proposes what would be asked if each answer was not relevant.
    * Documents that no run returns come last, by row.

    References
    ----------
    Cormack, Palmer and Clarke, "Efficient construction of large test collections", SIGIR 1998.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import MoveToFrontSelector, rank_table
    >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0]})
    >>> b = pd.DataFrame({"qid": "1", "docno": ["d4", "d5"], "score": [3.0, 2.0]})
    >>> table = rank_table({"a": a, "b": b})
    >>> selector = MoveToFrontSelector().fit(table)
    >>> table.index[selector.next_rows()].tolist()
    [('1', 'd1')]

    As d1 is not relevant, the other run comes to the front, and stays there with d4.

    >>> selector = selector.update(0, 0).update(3, 1)
    >>> table.index[selector.next_rows()].tolist()
    [('1', 'd5')]
    """

    def __init__(self, *, gains=None, n_jobs=None, verbose=0):
        self.gains = gains
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _topic_state(self, ranks):
        """The runs in a row."""
        return _Front(ranks)


class _Front:
    """Runs of one topic by priority."""

    def __init__(self, ranks):
        self.returned = ~np.isnan(ranks)
        # NaN sorts last; of equal ranks, which rank_table does not make, the first row is first.
        by_rank = np.argsort(ranks, axis=0, kind="stable")
        self.lists = [
            by_rank[:length, run].tolist() for run, length in enumerate(self.returned.sum(axis=0))
        ]
        self.falls = np.zeros(len(self.lists), dtype=np.int64)
        self.orphans = np.flatnonzero(~self.returned.any(axis=1))

    def propose(self, n, allowed):
        """Rows that are asked if no answer is relevant."""
        free = allowed.tolist()
        begins = [0] * len(self.lists)
        line = [(falls, run) for run, falls in enumerate(self.falls.tolist())]
        heapq.heapify(line)
        rows = []
        while line and len(rows) < n:
            falls, run = line[0]
            documents, place = self.lists[run], begins[run]
            while place < len(documents) and not free[documents[place]]:
                place += 1
            begins[run] = place
            if place == len(documents):
                heapq.heappop(line)
                continue
            rows.append(documents[place])
            free[documents[place]] = False
            heapq.heapreplace(line, (falls + 1, run))
        rest = self.orphans[allowed[self.orphans]][: n - len(rows)]
        rows = np.concatenate([np.array(rows, dtype=np.int64), rest])
        return rows, np.full(len(rows), np.nan)

    def answer(self, row, is_relevant):
        """The first run that returns the document stays or falls."""
        runs = np.flatnonzero(self.returned[row])
        if len(runs) and not is_relevant:
            self.falls[runs[self.falls[runs].argmin()]] += 1
