"""Strategies that look at each answer before they say which document to judge next."""

from collections import OrderedDict
from collections.abc import Collection

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm.auto import tqdm

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import check_count, check_groups, check_numbers, is_whole_number
from skfilterrank._lists.gains import as_gains, check_gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._selector import (
    RunSelector,
    check_no_duplicates,
    check_prior,
    check_same_rows,
    topic_budgets,
)

# Topics whose state stays in memory; that of others is made again from their answers.
_KEPT_TOPICS = 8


class ActiveSelector(RunSelector):
    """Base class of the strategies that choose by the answers so far.

    After `fit`, `next_rows` says what to judge, `update` takes the answer, and `retract` takes one
    back; :func:`judge` is the loop around them. `simulate` answers from labels that are known.

    A strategy defines `__init__` with a parameter `gains`, and `_topic_state`, which gives an
    object with the methods ``propose(n, allowed)`` and ``answer(row, is_relevant)``.

    Attributes
    ----------
    answers_ : ndarray of shape (n_rows,), dtype float64
        Gains of the answers, NaN where there is none.
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its topic, from 1: those that were answered in the order of
        the answers, then the others in the order of ``next_rows(n_per_query)``.
    gains_ : ndarray of shape (n_rows,), dtype float64
        What the strategy promised itself from each document when it was answered, and from the
        others now; NaN where the strategy has no such number.
    pool_ : MultiIndex of length n_rows
        Topic and document of each row, levels "qid" and "docno".
    """

    def _topic_state(self, ranks):
        """What a strategy knows of a topic before the first answer: hook.

        Parameters
        ----------
        ranks : ndarray of shape (n_rows_of_topic, n_runs), dtype float64
            Ranks of the topic's documents, NaN where a run does not return one.

        Returns
        -------
        state : object
            ``propose(n, allowed)`` gives at most n of the rows that the mask `allowed` marks, the
            best first, and the gain of each; ``answer(row, is_relevant)`` takes a judgment.
        """
        raise NotImplementedError

    def _check_parameters(self):
        """Raise for bad constructor parameters: hook."""

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> "ActiveSelector":
        """Take the pool, and forget all answers.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_runs) or dict of DataFrames
            The table of :func:`rank_table`, or the runs that it makes one of.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Topic of each row. None takes the index level "qid" of X.
        prior : array-like of shape (n_rows,), default=None
            Not used, but checked as in the other strategies.

        Returns
        -------
        self : ActiveSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If the table holds no ranks, or a document twice in a topic, or the prior is negative
            or not finite.
        """
        self._check_parameters()
        check_gains(self.gains)
        X = self._read(X)
        check_same_rows(X, prior)
        index = check_groups(groups, X, n_rows=len(X), carrier="X as a pandas object")
        check_no_duplicates(X, index)
        check_prior(prior, len(X))
        validate_data(self, X, skip_check_array=True)
        self._ranks = self._prepare(X, index)
        self._rows = np.split(index.row_order(), np.cumsum(index.sizes)[:-1])
        self._codes = index.codes()
        self._index = index
        return self.reset()

    @all_or_nothing
    def reset(self) -> "ActiveSelector":
        """Forget all answers.

        Returns
        -------
        self : ActiveSelector
            The strategy, as it was after `fit`.
        """
        check_is_fitted(self, "_index")
        n_rows = self._index.n_rows
        self.answers_ = np.full(n_rows, np.nan)
        self._promised = np.full(n_rows, np.nan)
        self._answered: list[list[int]] = [[] for _ in self._rows]
        self._states: OrderedDict = OrderedDict()
        return self

    def next_rows(
        self, n_per_query: int = 1, *, topic=None, leave_out: Collection[int] = ()
    ) -> np.ndarray:
        """Say which documents to judge next.

        Parameters
        ----------
        n_per_query : int, default=1
            How many. More than one are chosen without knowing each other's answers.
        topic : object, default=None
            Id of the topic. None takes the first one, by id, that has documents left.
        leave_out : collection of int, default=()
            Rows not to propose.

        Returns
        -------
        rows : ndarray of shape (at most n_per_query,), dtype int64
            Rows of X, all of one topic, the first to be judged first; empty where none is left.

        Raises
        ------
        ValueError
            If `n_per_query` is no number of documents, or the topic is not in the pool.
        """
        check_is_fitted(self, "_index")
        n_per_query = check_count(n_per_query, "n_per_query")
        open_rows = np.isnan(self.answers_)
        open_rows[np.fromiter(leave_out, dtype=np.int64, count=len(leave_out))] = False
        codes = range(len(self._rows)) if topic is None else [self._code_of(topic)]
        for code in codes:
            rows = self._rows[code]
            allowed = open_rows[rows]
            if allowed.any():
                return rows[self._state(code).propose(n_per_query, allowed)[0]].astype(np.int64)
        return np.empty(0, dtype=np.int64)

    @all_or_nothing
    def update(self, rows, labels) -> "ActiveSelector":
        """Take answers.

        Parameters
        ----------
        rows : int or array-like of int
            Rows of X that were judged, whether they were proposed or not.
        labels : number or array-like of the same length
            Their labels.

        Returns
        -------
        self : ActiveSelector
            The strategy, which knows them now.

        Raises
        ------
        ValueError
            If a row is not in the pool, there twice or has an answer already, or a label is missing
            or none. No answer is taken then.
        """
        check_is_fitted(self, "_index")
        rows = check_numbers([rows] if np.isscalar(rows) else rows, "rows", entry="row number")
        if rows.dtype.kind not in "iu":
            raise InputError(f"rows must be row numbers of X, got {brief(rows.tolist())}.")
        gains = self.check_label(labels)
        if len(rows) != len(gains):
            raise InputError(f"labels must hold one label for each of {len(rows)} row(s).")
        taken = set()
        for row in rows.tolist():
            self._check_row(row)
            if not np.isnan(self.answers_[row]):
                raise InputError(f"row {row} has an answer already: retract({row}) first.")
            if row in taken:
                raise InputError(f"rows holds row {row} twice: give one answer for each document.")
            taken.add(row)
        self._own_answers()
        changed = {}
        for row, gain in zip(rows.tolist(), gains.tolist()):
            code = self._codes[row]
            if code not in changed:
                changed[code] = self._state(code)
                # An answer changes a state in place: it stays away until all answers are taken.
                del self._states[code]
                self._answered[code] = self._answered[code].copy()
            place, state = self._place(row), changed[code]
            self._promised[row] = _promise(state, np.isnan(self.answers_[self._rows[code]]), place)
            state.answer(place, gain > 0)
            self.answers_[row] = gain
            self._answered[code].append(row)
        # In a copy: who is stopped here has the old answers, and no state that knows the new ones.
        self._states = self._states.copy()
        for code, state in changed.items():
            self._keep_state(code, state)
        return self

    def check_label(self, labels) -> np.ndarray:
        """Check labels before `update` gets them.

        Parameters
        ----------
        labels : number or array-like
            Labels of any documents.

        Returns
        -------
        gains : ndarray of shape (n_labels,), dtype float64
            Their gains.

        Raises
        ------
        ValueError
            If a label is missing, or none that has a gain.
        """
        gains = as_gains([labels] if np.isscalar(labels) else labels, self.gains, name="labels")
        if np.isnan(gains).any():
            raise InputError("labels holds NaN: an answer is a label; leave unjudged rows out.")
        return gains

    @all_or_nothing
    def retract(self, row: int) -> "ActiveSelector":
        """Take an answer back, as if it had never been given.

        Parameters
        ----------
        row : int
            A row that has an answer.

        Returns
        -------
        self : ActiveSelector
            The strategy, without this answer.

        Raises
        ------
        ValueError
            If the row has no answer.
        """
        check_is_fitted(self, "_index")
        self._check_row(row)
        if np.isnan(self.answers_[row]):
            raise InputError(f"row {row} has no answer to take back.")
        code = self._codes[row]
        self._states.pop(code, None)
        self._own_answers()
        self.answers_[row] = self._promised[row] = np.nan
        self._answered[code] = [other for other in self._answered[code] if other != row]
        return self

    @all_or_nothing
    def simulate(self, y_true, *, n_per_query=None) -> "ActiveSelector":
        """Answer from known labels, from the start, topic by topic.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Label of each row of X.
        n_per_query : int or float, default=None
            Number of answers per topic, as in `select`: the rest of each ranking is what the
            strategy proposes after them. None answers all.

        Returns
        -------
        self : ActiveSelector
            The strategy with these answers: `ranking_`, `gains_` and `select` as in a strategy
            that asks for no answers.

        Raises
        ------
        ValueError
            If a label is missing, or there is not one for each row.
        """
        check_is_fitted(self, "_index")
        n_rows = self._index.n_rows
        gains = as_gains(y_true, self.gains)
        if len(gains) != n_rows:
            raise InputError(
                f"y_true needs one label per row: expected {n_rows}, got {len(gains)}."
            )
        if (missing := np.isnan(gains)).any():
            raise InputError(
                f"y_true has {missing.sum()} NaN, the first at row {missing.argmax()}: answers "
                "need every label; to take unjudged documents as not relevant, pass "
                "y_true.fillna(0)."
            )
        budgets = topic_budgets(n_per_query, self._index)
        self.reset()
        jobs = (
            delayed(_simulated)(self._topic_state(self._ranks[rows]), gains[rows] > 0, budget)
            for rows, budget in zip(self._rows, budgets.tolist())
        )
        selections = Parallel(n_jobs=getattr(self, "n_jobs", None), return_as="generator")(jobs)
        selections = tqdm(
            selections,
            total=len(self._rows),
            desc="topics",
            unit="topic",
            disable=not getattr(self, "verbose", 0),
            leave=None,
        )
        for code, (places, promised) in enumerate(selections):
            rows = self._rows[code][places]
            self._answered[code] = rows.tolist()
            self.answers_[rows] = gains[rows]
            self._promised[rows] = promised
        return self

    @property
    def ranking_(self) -> np.ndarray:  # type: ignore[override]  # as the answers stand
        """Place of each row within its topic, from 1."""
        return self._ranking()[0]

    @property
    def gains_(self) -> np.ndarray:  # type: ignore[override]  # as the answers stand
        """Gain of each row when it was answered, or now."""
        return self._ranking()[1]

    def _ranking(self):
        """Places and gains of all rows: the answered ones, then the others as they stand now."""
        check_is_fitted(self, "_index")
        ranking = np.empty(self._index.n_rows, dtype=np.int64)
        gains = self._promised.copy()
        for code, rows in enumerate(self._rows):
            answered = np.array(self._answered[code], dtype=np.int64)
            open_rows = np.isnan(self.answers_[rows])
            if open_rows.any():
                places, promised = self._state(code).propose(len(rows), open_rows)
                gains[rows[places]] = promised
                answered = np.concatenate([answered, rows[places]])
            ranking[answered] = np.arange(1, len(rows) + 1)
        return ranking, gains

    def _state(self, code):
        """State of a topic, made from its answers where it is not at hand."""
        if code not in self._states:
            rows = self._rows[code]
            state = self._topic_state(self._ranks[rows])
            for row in self._answered[code]:
                state.answer(self._place(row), self.answers_[row] > 0)
            self._keep_state(code, state)
        self._states.move_to_end(code)
        return self._states[code]

    def _keep_state(self, code, state):
        """Keep the state of a topic at hand, in the place of another's."""
        self._states[code] = state
        if len(self._states) > _KEPT_TOPICS:
            self._states.popitem(last=False)

    def _own_answers(self):
        """Go on with copies of what is known of the answers; a failure puts the old ones back."""
        self.answers_, self._promised = self.answers_.copy(), self._promised.copy()
        self._answered = self._answered.copy()

    def _place(self, row):
        """Number of a row within its topic, whose rows ascend."""
        return int(np.searchsorted(self._rows[self._codes[row]], row))

    def _code_of(self, topic):
        """Number of a topic."""
        ids = self._index.query_ids
        places = np.flatnonzero(ids == topic)
        if not len(places):
            raise InputError(
                f"topic {brief(topic)} is not in the pool; its topics are {_some(ids)}."
            )
        return int(places[0])

    def _check_row(self, row):
        """Raise on what is no row of the pool."""
        if not is_whole_number(row) or not 0 <= row < self._index.n_rows:
            raise InputError(f"row {brief(row)} is not in the pool of {self._index.n_rows} rows.")

    def __getstate__(self):
        # States can be made again, and are as large as the pool.
        state = super().__getstate__()
        return {**state, "_states": OrderedDict()} if "_states" in state else state


def _promise(state, open_rows, place):
    """What the strategy promises itself from one row."""
    allowed = np.zeros(len(open_rows), dtype=bool)
    allowed[place] = True
    return state.propose(1, allowed)[1][0]


def _simulated(state, relevant, budget):
    """Rows in the order in which they are answered, and their gains."""
    open_rows = np.ones(len(relevant), dtype=bool)
    places = np.empty(budget, dtype=np.int64)
    promised = np.empty(budget)
    for step in range(budget):
        (place,), (promised[step],) = state.propose(1, open_rows)
        places[step] = place
        open_rows[place] = False
        state.answer(place, bool(relevant[place]))
    return places, promised


def _some(ids):
    """The first few ids."""
    shown = ", ".join(map(brief, ids[:5].tolist()))
    return shown + (", ..." if len(ids) > 5 else "")
