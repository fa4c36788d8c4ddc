"""Active strategies, which choose the next document to judge from the answers so far."""

import heapq
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import (
    check_count,
    check_numbers,
    check_share,
    is_whole_number,
)
from skfilterrank._base.system_pairs import ratio
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.gains import as_gains, check_gains
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.judgments._selector import (
    RunSelector,
    all_labels,
    named_budgets,
    query_by_query,
)

# Number of queries whose state is cached; other states are rebuilt from the answers.
_KEPT_QUERIES = 8
# Number of array entries in memory at a time.
_CELLS = 1 << 21
# Relative tolerance for equal weights: sums of the same fractions in another order differ by
# rounding.
_TOLERANCE = 1e-10


class ActiveSelector(RunSelector):
    """Base class of strategies that choose documents from the answers so far.

    After `fit`, `next_rows` returns the documents to judge next, and `update` adds answers.
    `simulate` takes the answers from known labels.

    A subclass defines `_query_state`, which returns an object with the methods
    ``propose(n, allowed)`` and ``answer(row, is_relevant)``.

    Attributes
    ----------
    answers_ : ndarray of shape (n_rows,), dtype float64
        Gains of the answers, NaN for documents without an answer.
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its query, from 1: first the answered documents in the order
        of the answers, then the others in the order of ``next_rows(n_per_query)``.
    gains_ : ndarray of shape (n_rows,), dtype float64
        Expected benefit of judging each document: at the time of its answer, or now if it has none.
        NaN if the strategy has no such number.
    pool_ : MultiIndex of length n_rows
        Query and document of each row, levels "qid" and "docno".
    """

    answers_: Any

    def __init__(self, *, gains: Any = None, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.gains = gains
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _query_state(self, ranks):
        """Return the state of a query before the first answer (to be overridden).

        Parameters
        ----------
        ranks : ndarray of shape (n_rows_of_query, n_runs), dtype float64
            Ranks of the query's documents, NaN where a run does not return one.

        Returns
        -------
        state : object
            ``propose(n, allowed)`` returns at most n of the rows in the mask `allowed`, the best
            first, and the gain of each; ``answer(row, is_relevant)`` adds a judgment.
        """
        raise NotImplementedError

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> Self:
        """Read the pool, and remove all answers.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_runs) or dict of DataFrames
            A table of :func:`rank_table`, or runs from which it can be made.
        y : object, default=None
            Not used; present for scikit-learn's conventions.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of X.
        prior : array-like of shape (n_rows,), default=None
            Not used, but checked as in the other strategies.

        Returns
        -------
        self : ActiveSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If the table holds no ranks, or a document twice in a query, or the prior is negative
            or not finite.
        """
        check_gains(self.gains)
        X, _, index = self._checked(X, groups, prior)
        self._ranks, self._runs = self._prepare(X, y, index), X.columns
        self._rows = index.rows_by_query()
        self._codes = index.codes()
        self._index = index
        return self.reset()

    @all_or_nothing
    def reset(self) -> Self:
        """Remove all answers.

        Returns
        -------
        self : ActiveSelector
            The strategy, as it was after `fit`.
        """
        check_is_fitted(self, "_index")
        n_rows = self._index.n_rows
        self.answers_ = np.full(n_rows, np.nan)
        self._answer_gains = np.full(n_rows, np.nan)
        self._answered: list[list[int]] = [[] for _ in self._rows]
        self._states: dict = {}
        return self

    def next_rows(self, n_per_query: int = 1, *, query=None) -> np.ndarray:
        """Return the documents to judge next.

        Parameters
        ----------
        n_per_query : int, default=1
            Number of documents. If more than one, they are chosen without knowing each other's
            answers.
        query : object, default=None
            Id of the query. None takes the first query (by id) that has unanswered documents.

        Returns
        -------
        rows : ndarray of shape (at most n_per_query,), dtype int64
            Rows of X, all of one query, in the order of judging; empty if none is left.

        Raises
        ------
        ValueError
            If `n_per_query` is not a positive integer, or the query is not in the pool.
        """
        check_is_fitted(self, "_index")
        n_per_query = check_count(n_per_query, "n_per_query")
        open_rows = np.isnan(self.answers_)
        codes = range(len(self._rows)) if query is None else [self._code_of(query)]
        for code in codes:
            rows = self._rows[code]
            allowed = open_rows[rows]
            if allowed.any():
                return rows[self._state(code).propose(n_per_query, allowed)[0]].astype(np.int64)
        return np.empty(0, dtype=np.int64)

    @all_or_nothing
    def update(self, rows, labels) -> Self:
        """Add answers.

        Parameters
        ----------
        rows : int or array-like of int
            Rows of X that were judged, whether they were proposed or not.
        labels : number or array-like of the same length
            Their labels.

        Returns
        -------
        self : ActiveSelector
            The strategy with these answers.

        Raises
        ------
        ValueError
            If a row is not in the pool, occurs twice or has an answer already, or a label is
            missing or invalid. No answer is added then.
        """
        check_is_fitted(self, "_index")
        rows = check_numbers([rows] if np.isscalar(rows) else rows, "rows", entry="row number")
        if rows.dtype.kind not in "iu":
            raise InputError(f"rows must be row numbers of X, got {brief(rows.tolist())}.")
        gains = as_gains([labels] if np.isscalar(labels) else labels, self.gains, name="labels")
        if np.isnan(gains).any():
            raise InputError("labels holds NaN: leave out rows without a label.")
        if len(rows) != len(gains):
            raise InputError(f"labels must hold one label for each of {len(rows)} row(s).")
        taken = set()
        for row in rows.tolist():
            self._check_row(row)
            if not np.isnan(self.answers_[row]):
                raise InputError(f"row {row} has an answer already: leave it out.")
            if row in taken:
                raise InputError(f"rows holds row {row} twice: give one answer for each document.")
            taken.add(row)
        self._own_answers()
        for row, gain in zip(rows.tolist(), gains.tolist()):
            code, place = self._codes[row], self._place(row)
            state = self._state(code)
            alone = np.arange(len(self._rows[code])) == place
            self._answer_gains[row] = state.propose(1, alone)[1][0]
            # A state with another number of answers is rebuilt, also after an error in between.
            state.n_answers += 1
            state.answer(place, gain > 0)
            self.answers_[row] = gain
            self._answered[code] = [*self._answered[code], row]
        return self

    @all_or_nothing
    def simulate(self, y_true, *, n_per_query=None, n_total=None, share=None) -> Self:
        """Restart, and answer from known labels, query by query.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Label of each row of X.
        n_per_query, n_total, share : int, int and float, default=None
            Number of answers, as in `select`. The rest of each ranking is the proposal after these
            answers. Without a number, all are answered.

        Returns
        -------
        self : ActiveSelector
            The strategy with these answers; `ranking_`, `gains_` and `select` work as in strategies
            that need no answers.

        Raises
        ------
        ValueError
            If a label is missing, or the number of labels is wrong.
        """
        check_is_fitted(self, "_index")
        gains = all_labels(y_true, self.gains, self._index.n_rows, "y_true")
        budgets = named_budgets(self._index, n_per_query, n_total, share)
        budgets = self._index.sizes if budgets is None else budgets
        self.reset()
        jobs = (
            delayed(_simulated)(self._query_state(self._ranks[rows]), gains[rows] > 0, budget)
            for rows, budget in zip(self._rows, budgets.tolist())
        )
        simulated = query_by_query(jobs, self, len(self._rows), "auto")
        for code, (places, gain) in enumerate(simulated):
            rows = self._rows[code][places]
            self._answered[code] = rows.tolist()
            self.answers_[rows] = gains[rows]
            self._answer_gains[rows] = gain
        return self

    @property
    def ranking_(self) -> np.ndarray:
        """Place of each row within its query, from 1."""
        return self._ranking()[0]

    @property
    def gains_(self) -> np.ndarray:
        """Gain of each row at the time of its answer, or now."""
        return self._ranking()[1]

    def _ranking(self):
        """Return places and gains of all rows: answered rows first, then the current proposal."""
        check_is_fitted(self, "_index")
        ranking = np.empty(self._index.n_rows, dtype=np.int64)
        gains = self._answer_gains.copy()
        for code, rows in enumerate(self._rows):
            answered = np.array(self._answered[code], dtype=np.int64)
            open_rows = np.isnan(self.answers_[rows])
            if open_rows.any():
                places, gain = self._state(code).propose(len(rows), open_rows)
                gains[rows[places]] = gain
                answered = np.concatenate([answered, rows[places]])
            ranking[answered] = np.arange(1, len(rows) + 1)
        return ranking, gains

    def _state(self, code):
        """Return the state of a query; rebuild it from the answers if it is not cached."""
        state = self._states.pop(code, None)
        if state is None or state.n_answers != len(self._answered[code]):
            state = self._query_state(self._ranks[self._rows[code]])
            for row in self._answered[code]:
                state.answer(self._place(row), self.answers_[row] > 0)
            state.n_answers = len(self._answered[code])
        if len(self._states) >= _KEPT_QUERIES:
            del self._states[next(iter(self._states))]
        self._states[code] = state
        return state

    def _own_answers(self):
        """Replace the answers by copies, so that an error leaves the old ones as they were."""
        self.answers_, self._answer_gains = self.answers_.copy(), self._answer_gains.copy()
        self._answered = self._answered.copy()

    def _place(self, row):
        """Return the position of a row within its query."""
        return int(np.searchsorted(self._rows[self._codes[row]], row))

    def _code_of(self, query):
        """Return the number of a query id."""
        ids = self._index.query_ids
        places = np.flatnonzero(ids == query)
        if not len(places):
            raise InputError(
                f"query {brief(query)} is not in the pool; its queries are {brief_list(ids)}."
            )
        return int(places[0])

    def _check_row(self, row):
        """Raise if a value is not a row of the pool."""
        if not is_whole_number(row) or not 0 <= row < self._index.n_rows:
            raise InputError(f"row {brief(row)} is not in the pool of {self._index.n_rows} rows.")

    def __getstate__(self):
        # States are not pickled: they are as large as the pool and can be rebuilt.
        state = super().__getstate__()
        return {**state, "_states": {}} if "_states" in state else state


def _simulated(state, relevant, budget):
    """Simulate the answers of a query; return the rows in order, and their gains."""
    open_rows = np.ones(len(relevant), dtype=bool)
    places = np.empty(budget, dtype=np.int64)
    gain = np.empty(budget)
    for step in range(budget):
        (place,), (gain[step],) = state.propose(1, open_rows)
        places[step] = place
        open_rows[place] = False
        state.answer(place, bool(relevant[place]))
    return places, gain


class MoveToFrontSelector(ActiveSelector):
    """Move-to-front pooling: judge documents of one run as long as they are relevant.

    This finds relevant documents early: after a relevant document, the next one comes from the same
    run; after another document, the run moves behind the other runs. The strategy needs the answers
    one at a time: give each to `update`.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        Gain of each label; a document is relevant if its gain is above 0. None uses the label as
        the gain.
    n_jobs : int, default=None
        Number of queries that `simulate` processes in parallel.
    verbose : int, default=0
        Above 0 shows the progress of `simulate`.

    Attributes
    ----------
    answers_ : ndarray of shape (n_rows,), dtype float64
        Gains of the answers, NaN for documents without an answer.
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its query, from 1: first the answered documents in the order
        of the answers, then the others in the order of ``next_rows(n)``.
    gains_ : ndarray of shape (n_rows,), dtype float64
        NaN: the strategy has no objective.
    pool_ : MultiIndex of length n_rows
        Query and document of each row, levels "qid" and "docno".

    See Also
    --------
    MTCSelector : Judge what decides between runs.
    PoolingSelector : By the best rank, without asking.

    Notes
    -----
    This is the variant that treats each query separately and has integer priorities. All runs start
    with the same priority. The run at the front is that of the highest priority that has unjudged
    documents; of equal ones, the first in the order of the table's columns. Its highest ranked
    unjudged document is judged. If it is relevant, nothing changes, and the run stays in front;
    otherwise its priority falls by 1. Only the priority of the run at the front falls, so this is
    equivalent to a list of runs whose first run moves to the end.

    * A document that was judged for another run is skipped, without changing the priority.
    * An answer changes the priority of the highest-priority run that returns the document. For
      documents that `next_rows` proposed one at a time, this is the run at the front.
    * ``next_rows(n)`` proposes the documents that would be asked about if no answer were relevant.
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

    def _query_state(self, ranks):
        """Return the initial priorities of the runs."""
        return _Front(ranks)


class _Front:
    """Priorities of the runs for one query."""

    n_answers = 0

    def __init__(self, ranks):
        self.returned = ~np.isnan(ranks)
        # NaN sorts last. Equal ranks, which rank_table never has, keep the order of rows.
        by_rank = np.argsort(ranks, axis=0, kind="stable")
        self.lists = [
            by_rank[:length, run].tolist() for run, length in enumerate(self.returned.sum(axis=0))
        ]
        self.falls = np.zeros(len(self.lists), dtype=np.int64)
        self.orphans = np.flatnonzero(~self.returned.any(axis=1))

    def propose(self, n, allowed):
        """Return the rows that would be asked about if no answer were relevant."""
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
        """Lower the priority of the document's run if it is not relevant."""
        runs = np.flatnonzero(self.returned[row])
        if len(runs) and not is_relevant:
            self.falls[runs[self.falls[runs].argmin()]] += 1


class MTCSelector(ActiveSelector):
    r"""Minimal test collections: judge the document that can change AP differences most.

    Runs are compared with few judgments: a document at the same rank in all runs does not affect
    which run is better, and is judged last. The strategy needs the answers one at a time: give each
    to `update`.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        Gain of each label; a document is relevant if its gain is above 0. None uses the label as
        the gain.
    n_jobs : int, default=None
        Number of queries that `simulate` processes in parallel.
    verbose : int, default=0
        Above 0 shows the progress of `simulate`.

    Attributes
    ----------
    answers_ : ndarray of shape (n_rows,), dtype float64
        Gains of the answers, NaN for documents without an answer.
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its query, from 1: first the answered documents in the order
        of the answers, then the others in the order of ``next_rows(n)``.
    gains_ : ndarray of shape (n_rows,), dtype float64
        Weight of each document at the time of its answer, or now if it has none.
    pool_ : MultiIndex of length n_rows
        Query and document of each row, levels "qid" and "docno".

    See Also
    --------
    MoveToFrontSelector : Judge what is likely to be relevant.

    Notes
    -----
    Let :math:`x_i` be 1 where document i is relevant, else 0, and :math:`r_s(i)` its rank in run s,
    infinite where s does not return it. Average precision times the number of relevant documents is

    .. math:: SP_s = \sum_{i \le j} a^s_{ij} x_i x_j, \qquad
        a^s_{ij} = 1 / \max(r_s(i), r_s(j)),

    one term for each document and each unordered pair. For two runs,
    :math:`\Delta SP = \sum_{i \le j} c_{ij} x_i x_j` with :math:`c_{ij} = a^s_{ij} - a^t_{ij}`.
    With R the documents judged relevant and U those not yet judged, an unjudged document i has two
    weights for the pair of runs:

    .. math:: w^R_i = \Big| \sum_{j \in R \cup \{i\}} c_{ij} \Big|, \qquad
        w^N_i = \Big| \sum_{j \in R \cup U} c_{ij} \Big|.

    :math:`w^R_i` is the change of :math:`\Delta SP` if i is relevant and all unjudged documents
    count as not relevant. :math:`w^N_i` is the change if i is not relevant and all unjudged
    documents count as relevant. Each is summed over all pairs of runs, and the weight of the
    document is the larger of the two sums. For two runs this is the pairwise algorithm, with two
    details as interpreted here: the effect of an answer is the absolute value of the sum of all its
    terms, and both weights omit the factor 1 / (number of relevant documents), which is the same
    for all runs.
    The sum over pairs of more than two runs is a choice of this library.

    :meth:`order_probability` is the stopping rule: stop if each pair of runs has a probability of
    at least 0.95 on one side.

    Documents of equal weight are judged by row. With a single run all weights are 0.

    The sum is computed by sorting the runs for each document: for values :math:`v_1 \le ... \le
    v_m` the sum of the differences of all pairs is :math:`\sum_k (2k - m - 1) v_k`. Each answer
    costs O(n m log m) for n documents and m runs.

    References
    ----------
    Carterette, Allan and Sitaraman, "Minimal test collections for retrieval evaluation", SIGIR
    2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import MTCSelector, rank_table
    >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0]})
    >>> b = pd.DataFrame({"qid": "1", "docno": ["d1", "d4", "d2"], "score": [3.0, 2.0, 1.0]})
    >>> table = rank_table({"a": a, "b": b})
    >>> selector = MTCSelector().fit(table)
    >>> selector.ranking_
    array([4, 3, 2, 1])

    Only b returns d4, at rank 2: if all are relevant, it adds 1/2 together with d1, 1/3 with d2,
    and 1/2 by itself.

    >>> selector.gains_.round(3)
    array([0.   , 0.333, 1.   , 1.333])

    If d4 is relevant, b is better with a probability of 0.81:

    >>> selector.update(3, 1).order_probability().round(2)
    other     a     b
    run
    a      0.50  0.19
    b      0.81  0.50
    """

    def _query_state(self, ranks):
        """Return the initial sums of coefficients of each document."""
        return _Effects(ranks)

    def order_probability(self, *, chance: float | None = None) -> pd.DataFrame:
        """Compute how likely each run has a higher mean average precision than each other run.

        Parameters
        ----------
        chance : float or None, default=None
            Probability that a document without an answer is relevant, between 0 and 1, both
            excluded; documents are independent. None takes the share of relevant documents among
            all answers, with one answer of each kind added. The paper's 0.5 is too sure of the
            order where relevant documents are rare.

        Returns
        -------
        DataFrame of shape (n_runs, n_runs)
            Probability that the run of the row ("run") is better than that of the column ("other"),
            given the answers; 0.5 on the diagonal and for runs that cannot differ.

        Notes
        -----
        The rule of the paper: the difference of the sums of precisions of two runs is taken as
        normal, with its exact mean and variance. It is divided by the expected number of relevant
        documents of the query; a query that has none is left out. Time grows with the squares of
        the documents of a query and of the runs.
        """
        check_is_fitted(self, "_index")
        if chance is None:
            known = self.answers_[~np.isnan(self.answers_)]
            chance = (np.count_nonzero(known > 0) + 1) / (len(known) + 2)
        chance = check_share(chance, "chance")
        n_runs = self._ranks.shape[1]
        means, covariance = np.zeros(n_runs), np.zeros((n_runs, n_runs))
        for rows in self._rows:
            answers = self.answers_[rows]
            chances = np.where(np.isnan(answers), chance, answers > 0)
            if expected := chances.sum():
                mean, spread = _moments_of_sums(self._ranks[rows], chances)
                means += mean / expected
                covariance += spread / expected**2
        own = np.diag(covariance)
        variance = np.maximum(own[:, None] + own - 2 * covariance, 0.0)
        # Differences and variances that are only rounding errors become 0.
        variance[variance <= _TOLERANCE * (own[:, None] + own)] = 0.0
        difference = means[:, None] - means
        difference[np.abs(difference) <= _TOLERANCE * np.abs(means).max()] = 0.0
        index = pd.Index(self._runs, name="run")
        return pd.DataFrame(
            ndtr(ratio(difference, np.sqrt(variance))), index, index.rename("other")
        )


class _Effects:
    """Effects of each document of a query on the differences of all pairs of runs."""

    n_answers = 0

    def __init__(self, ranks):
        self.ranks = np.where(np.isnan(ranks), np.inf, ranks)
        self.is_open = np.ones(len(ranks), dtype=bool)
        # Sums of a_ij over R and i itself, and over R and U.
        self.if_relevant = 1 / self.ranks
        self.if_not = _sums_over_all(self.ranks)
        self.weights_if_relevant = _sum_of_differences(self.if_relevant)
        self.weights_if_not = _sum_of_differences(self.if_not)
        self.tolerance = _TOLERANCE * self.weights().max(initial=0.0)

    def weights(self):
        """Return the weight of each row; it means nothing for answered rows."""
        return np.maximum(self.weights_if_relevant, self.weights_if_not)

    def propose(self, n, allowed):
        """Return the rows with the largest weights."""
        rows = np.flatnonzero(allowed)
        weights = self.weights()[rows]
        if n == 1:
            best = int((weights >= weights.max() - self.tolerance).argmax())
            return rows[[best]], weights[[best]]
        order = _descending(weights, self.tolerance)[:n]
        return rows[order], weights[order]

    def answer(self, row, is_relevant):
        """Remove a row from U, and add it to R if it is relevant."""
        self.is_open[row] = False
        rows = np.flatnonzero(self.is_open)
        shared = 1 / np.maximum(self.ranks[rows], self.ranks[row])
        if is_relevant:
            sums = self.if_relevant[rows] + shared
            self.if_relevant[rows] = sums
            self.weights_if_relevant[rows] = _sum_of_differences(sums)
        else:
            sums = self.if_not[rows] - shared
            self.if_not[rows] = sums
            self.weights_if_not[rows] = _sum_of_differences(sums)


def _moments_of_sums(ranks, chances):
    """Compute mean and covariance of the runs' sums of precisions; documents are independent.

    The sum of run s is ``sum over i <= j of a_ij x_i x_j``, with a as in :class:`MTCSelector`. Its
    parts by single documents and by pairs (Hoeffding's decomposition) are not correlated.
    """
    ranks = np.where(np.isnan(ranks), np.inf, ranks)
    n_rows, n_runs = ranks.shape
    inverse, spread = 1 / ranks, chances * (1 - chances)
    mean, covariance = np.zeros(n_runs), np.zeros((n_runs, n_runs))
    step = max(1, _CELLS // (n_rows * n_runs))
    for begin in range(0, n_rows, step):
        some = np.arange(begin, min(begin + step, n_rows))
        shared = 1 / np.maximum(ranks[some, None], ranks)
        shared[np.arange(len(some)), some] = 0.0
        with_others = np.einsum("ijs,j->is", shared, chances)
        mean += chances[some] @ (inverse[some] + with_others / 2)
        alone = inverse[some] + with_others
        covariance += (alone * spread[some, None]).T @ alone
        pairs = shared.reshape(-1, n_runs)
        weights = (spread[some, None] * spread).reshape(-1, 1)
        covariance += (pairs * weights).T @ pairs / 2
    return mean, covariance


def _sums_over_all(ranks):
    """Sum 1 / max(rank of i, rank of j) over all j (including i), for each i and run."""
    order = np.argsort(ranks, axis=0, kind="stable")
    inverse = 1 / np.take_along_axis(ranks, order, axis=0)
    above = np.arange(1, len(ranks) + 1)[:, None] * inverse
    below = np.cumsum(inverse[::-1], axis=0)[::-1] - inverse
    sums = np.empty_like(inverse)
    np.put_along_axis(sums, order, above + below, axis=0)
    return sums


def _sum_of_differences(values):
    """Sum the absolute differences of all pairs of columns, for each row."""
    n_runs = values.shape[1]
    return np.sort(values, axis=1) @ (2.0 * np.arange(n_runs) - n_runs + 1)


def _descending(weights, tolerance):
    """Return positions sorted by descending weight; equal weights keep their order."""
    order = np.argsort(-weights, kind="stable")
    # Neighbours within the tolerance form a class, in which positions ascend.
    steps = -np.diff(weights[order], prepend=weights[order[:1]]) > tolerance
    return order[np.lexsort((order, np.cumsum(steps)))]
