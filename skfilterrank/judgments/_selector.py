"""Base classes of selectors, and checks of their input."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import (
    check_count,
    check_numbers,
    check_random_state,
    count_rows,
    is_finite_number,
    is_whole_number,
)
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.lazy_names import suggests
from skfilterrank._lists.queries import check_groups, check_same_index
from skfilterrank._lists.sklearn_compat import safe_indexing
from skfilterrank._lists.words import progress_bar, warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list
from skfilterrank.judgments._pairs import refuse_repeated
from skfilterrank.judgments._rank_table import are_runs, as_rank_table

# Message for guessed names of the budget.
BUDGET = "n_total= (documents of all queries together), n_per_query= or share="
_SEEDS = np.iinfo(np.int32).max
_SHOWN = 5
# Queries that a process takes at a time: most are ranked faster than they are sent.
QUERIES_AT_ONCE = 32


class QuerySelector(BaseEstimator):
    """Base class of the strategies: each ranks the documents of one query at a time.

    A strategy defines `__init__` and `_rank_query`, and where it looks at the documents,
    `_prepare`. Constructor parameters `n_jobs`, `verbose` and `random_state` are served here where
    a strategy has them.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its query.
    gains_ : ndarray of shape (n_rows,), dtype float64
        What each document adds to the strategy's objective when it is chosen at its place; NaN
        where the strategy has no such number.
    seed_ : int
        Seed of the queries' random generators, drawn from `random_state` where there is one.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.
    """

    ranking_: Any
    gains_: Any
    seed_: int
    n_features_in_: int
    feature_names_in_: np.ndarray

    # False where only the number of rows counts.
    _looks_at_documents = True

    # scikit-learn's metadata routing brings both without being asked to.
    __metadata_request__fit = {"groups": True, "prior": True}  # noqa: RUF012

    def _rank_query(self, X, prior, random_state):
        """Rank one query: hook of each strategy.

        Parameters
        ----------
        X : object
            What `_query_rows` gives for the query's rows.
        prior : ndarray of shape (n_rows_of_query,), dtype float64, or None
            Prior of the rows, None where `fit` was given none.
        random_state : RandomState or None
            The query's own, whatever the other queries draw; None without such a parameter.

        Returns
        -------
        order : ndarray of shape (n_rows_of_query,), dtype int
            The query's rows by their number within the query, first to be judged first.
        gains : ndarray of shape (n_rows_of_query,), dtype float64
            Gain of each, in this order.

        Notes
        -----
        It runs on a clone, maybe in another process: it sees constructor parameters and its
        arguments, no fitted attributes.
        """
        raise NotImplementedError

    def _read(self, X):
        """X as the strategy wants it, before rows are counted: hook."""
        if are_runs(X):
            raise InputError(
                f"X must hold the documents for {type(self).__name__}, one in each row, and is a "
                "dict, of runs: rank_table(runs) has their documents in its index, and "
                "prior=statap_prior(runs) tells what the runs say of each."
            )
        return X

    def _prepare(self, X, y, index):
        """Features for all queries at once, from checked input: hook. None where none are used."""
        return None

    def _query_rows(self, X, rows):
        """Return the part of what `_prepare` gave that belongs to a query: hook."""
        return None if X is None else safe_indexing(X, rows)

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> Self:
        """Rank the documents of each query.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, queries in any order: texts or features.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,), default=None
            How likely each document is to be relevant, up to a factor; at least 0. A Series with
            queries in its index must have the index of X.

        Returns
        -------
        self : QuerySelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If queries are missing, a prior is negative or not finite, or the index of X holds a
            document twice in a query.
        """
        X, prior, index = self._checked(X, groups, prior)
        features = self._prepare(X, y, index)
        queries = index.rows_by_query()
        # The clone leaves behind what an earlier fit has found, which workers need not be sent.
        rank = delayed(clone(self)._rank_query)
        jobs = (
            rank(self._query_rows(features, rows), None if prior is None else prior[rows], stream)
            for rows, stream in zip(queries, self._streams(len(queries)))
        )
        ranking = np.empty(index.n_rows, dtype=np.int64)
        gains = np.empty(index.n_rows)
        for (places, gain), rows in zip(query_by_query(jobs, self, len(queries)), queries):
            ranking[rows[places]] = np.arange(1, len(rows) + 1)
            gains[rows[places]] = gain
        self.ranking_ = ranking
        self.gains_ = gains
        self._index = index
        return self

    def _checked(self, X, groups, prior):
        """Return documents and prior of `fit`, and the rows of each query."""
        X = self._read(X)
        n_rows = count_rows(X)
        check_same_rows(X, prior)
        index = check_groups(
            groups, X, prior, n_rows=n_rows, carrier="X or prior as a pandas object"
        )
        check_no_duplicates(X, index)
        check_no_duplicates(prior, index, "prior")
        prior = check_prior(prior, n_rows)
        validate_data(self, X, skip_check_array=True)
        return X, prior, index

    @suggests(by_place=f"Name the budget: {BUDGET}.", n=BUDGET, budget=BUDGET)
    def select(self, *, n_per_query=None, n_total=None, share=None) -> np.ndarray:
        """Choose the rows to judge under a budget.

        Parameters
        ----------
        n_per_query : int, default=None
            Number of documents of each query, at least 1.
        n_total : int, default=None
            Number of documents of all queries together, spread as evenly as their sizes allow; what
            is left over goes to the longest queries.
        share : float, default=None
            Share of the documents of each query, in (0, 1], rounded half up, but at least one.

        Returns
        -------
        rows : ndarray of shape (n_selected,), dtype int64
            Numbers of the selected rows of what `fit` saw, ascending: the first documents of each
            query's ranking. Without a budget all rows are selected. :class:`PoolingSelector` then
            takes its `depth`; :class:`MaxRepSelector` never takes rows that are judged; and
            :class:`StatAPSelector` draws a sample, one and the same for the same budget.

        Raises
        ------
        InputError
            If more than one budget is given, or one is no number as above.

        Warns
        -----
        DataWarning
            If `n_per_query` is above the number of documents of some queries, or `n_total` above
            that of all: all of their documents are selected.
        """
        check_is_fitted(self)
        budgets = named_budgets(self._index, n_per_query, n_total, share)
        return np.flatnonzero(self._is_selected(budgets))

    def _is_selected(self, budgets) -> np.ndarray:
        """Select rows under a budget of each query, or None, as a mask."""
        if budgets is None:
            return np.ones(self._index.n_rows, dtype=bool)
        return self.ranking_ <= budgets[self._index.codes()]

    def _streams(self, n_queries):
        """Return a random generator for each query, or None for all."""
        if "random_state" not in self.get_params(deep=False):
            return [None] * n_queries
        self.seed_ = int(check_random_state(self.random_state).randint(_SEEDS))
        return query_streams(self.seed_, n_queries)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = tags.no_validation = not self._looks_at_documents
        return tags


class RunSelector(QuerySelector):
    """Base class of the strategies that look at ranks in runs.

    X is a rank table, or the runs that :func:`rank_table` makes one of; `_rank_query` gets the
    ranks of the query's documents, float64 of shape (n_rows_of_query, n_runs), NaN where a run does
    not return a document.

    Attributes
    ----------
    pool_ : MultiIndex of length n_rows
        Query and document of each row, levels "qid" and "docno".
    """

    pool_: Any

    def _read(self, X):
        """Return the rank table of X."""
        return as_rank_table(X, name="X")

    def _prepare(self, X, y, index):
        """Return ranks as an array."""
        self.pool_ = X.index
        return X.to_numpy(dtype=np.float64, na_value=np.nan)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.string = False
        tags.input_tags.allow_nan = True
        return tags


def query_by_query(jobs, estimator, n_queries: int, batch_size=QUERIES_AT_ONCE):
    """Yield results of delayed calls, one for each query, by `n_jobs` and `verbose`."""
    n_jobs = getattr(estimator, "n_jobs", None)
    return progress_bar(
        Parallel(n_jobs=n_jobs, return_as="generator", batch_size=batch_size)(jobs),
        total=n_queries,
        desc="queries",
        unit="query",
        disable=not getattr(estimator, "verbose", 0),
        leave=None,
    )


def query_streams(seed: int, n_queries: int) -> list[np.random.RandomState]:
    """Independent random generators, one for each query by its number."""
    seeds = np.random.SeedSequence(seed).spawn(n_queries)
    return [np.random.RandomState(np.random.MT19937(child)) for child in seeds]


def query_budgets(n_per_query, index, warn: bool = True, name: str = "n_per_query") -> np.ndarray:
    """Number of documents to select in each query, of None all; more than there are warns."""
    if n_per_query is None:
        return index.sizes
    is_whole = is_whole_number(n_per_query)
    if is_whole and n_per_query >= 1:
        n_above = np.count_nonzero(index.sizes < n_per_query)
        if n_above and warn:
            warn_user(
                f"{name}={brief(n_per_query)} is above the number of documents of {n_above} of "
                f"{index.n_queries} queries: all of their documents are selected.",
                DataWarning,
            )
        return np.minimum(index.sizes, min(int(n_per_query), index.n_rows))
    if not is_whole and is_finite_number(n_per_query) and 0 < n_per_query <= 1:
        return np.maximum(round_half_up(n_per_query, index.sizes), 1)
    raise InputError(
        "n_per_query must be None (all), a number of documents per query (an int from 1 on) or a "
        f"share of them (a float in (0, 1]), got {brief(n_per_query)}."
    )


def named_budgets(index, n_per_query, n_total, share, *, warn: bool = True):
    """Number of documents to select of each query, by the one budget that is given, or None."""
    given = {"n_per_query": n_per_query, "n_total": n_total, "share": share}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    if len(given) > 1:
        raise InputError(
            f"{brief_list(given)} are several budgets: give one of n_per_query, n_total and share."
        )
    if share is not None:
        if not is_finite_number(share) or not 0 < share <= 1:
            raise InputError(f"share must be a number in (0, 1], got {brief(share)}.")
        return query_budgets(float(share), index)
    if n_per_query is not None:
        return query_budgets(check_count(n_per_query, "n_per_query"), index, warn, "n_per_query")
    n_total = check_count(n_total, "n_total")
    if n_total >= index.n_rows:
        if n_total > index.n_rows and warn:
            warn_user(
                f"n_total={n_total} is above the number of documents, {index.n_rows}: all of them "
                "are selected.",
                DataWarning,
            )
        return index.sizes
    # The largest number of documents that each query can have without more than the total.
    sizes = np.sort(index.sizes)
    spent = np.cumsum(sizes) + sizes * np.arange(len(sizes) - 1, -1, -1)
    n_whole = np.searchsorted(spent, n_total, side="right")
    level = (n_total - sizes[:n_whole].sum()) // (len(sizes) - n_whole)
    budgets = np.minimum(index.sizes, level)
    names = np.argsort(np.argsort([str(query) for query in index.query_ids]))
    longest = np.lexsort((names, -index.sizes))[: n_total - budgets.sum()]
    budgets[longest] += 1
    return budgets


def round_half_up(share: float, sizes) -> np.ndarray:
    """Return the share of each size as a whole number, by the decimal digits of the share."""
    # 0.29 * 50 is 14.499999999999998 as a product of floats.
    exact = Fraction(str(float(share)))
    distinct, places = np.unique(sizes, return_inverse=True)
    rounded = [int(exact * size + Fraction(1, 2)) for size in distinct.tolist()]
    return np.array(rounded, dtype=np.int64)[places]


def check_prior(prior, n_rows: int) -> np.ndarray | None:
    """Check a prior: one finite number from 0 up for each row; return it as float64."""
    if prior is None:
        return None
    values = check_numbers(prior, "prior", n_rows=n_rows).astype(np.float64, copy=False)
    for bad, what, advice in (
        (np.isnan(values), "NaN", "give documents that nothing is known of a prior of 0"),
        (values < 0, "negative", "a prior says how likely a document is to be relevant"),
        (np.isinf(values), "infinite", "give such documents a large, but finite prior"),
    ):
        if bad.any():
            raise InputError(
                f"prior must be finite and at least 0, but it is {what} at "
                f"{np.count_nonzero(bad)} row(s), the first is row {bad.argmax()}: {advice}."
            )
    return values


def all_labels(labels, gains, n_rows: int, name: str) -> np.ndarray:
    """Return gains of the labels of all rows, none of which may be missing."""
    found = as_gains(labels, gains, name=name)
    if len(found) != n_rows:
        raise InputError(f"{name} has {len(found)} labels but X has {n_rows} rows.")
    if (unknown := np.isnan(found)).any():
        raise InputError(
            f"{name} has {unknown.sum()} NaN, the first at row {unknown.argmax()}: the true label "
            "of every row is needed. Leave unjudged rows out, or take their documents as not "
            f"relevant by {name}.fillna(0)."
        )
    return found


def check_same_rows(X, values, name: str = "prior") -> None:
    """Raise an error if two pandas objects with query ids have different indexes."""
    try:
        check_same_index(X, values)
    except ValueError:
        nothing = "0" if name == "prior" else "False"
        raise InputError(
            f"X and {name} have different indexes: rows are compared by position, so align them "
            f"first, e.g. {name} = {name}.reindex(X.index).fillna({nothing})."
        ) from None


def check_no_duplicates(X, index, name: str = "X") -> None:
    """Raise if a document is twice in a query, where the index has a level "docno"."""
    if "docno" in getattr(getattr(X, "index", None), "names", ()):
        queries = index.query_ids[index.codes()]
        refuse_repeated(queries, X.index.get_level_values("docno"), name)


def is_texts(X) -> bool:
    """Tell whether X is a list, an array or a Series of texts."""
    if isinstance(X, Mapping) or hasattr(X, "get_column") or getattr(X, "ndim", 1) != 1:
        return False
    return any(isinstance(text, str) for text in X)


def check_texts(texts) -> list[str]:
    """Return texts as a list of str; missing ones become empty, with a warning that lists them."""
    values = list(texts)
    is_text = np.array([isinstance(text, str) for text in values], dtype=bool)
    without = np.flatnonzero(~is_text)
    for row in without:
        if not pd.isna(values[row]):
            raise InputError(f"X must hold texts, got {brief(values[row])} at row {row}.")
        values[row] = ""
    if len(without):
        warn_user(
            f"{len(without)} of {len(values)} documents have no text and are taken as empty: "
            f"{shown_rows(texts, without)}.",
            DataWarning,
        )
    return values


def shown_rows(X, rows) -> str:
    """Return the first of some rows, by their index where X has one."""
    labels = X.index[rows[:_SHOWN]].tolist() if isinstance(X, pd.Series) else rows[:_SHOWN].tolist()
    rest = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return "rows " + ", ".join(map(str, labels)) + rest
