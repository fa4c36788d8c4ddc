"""Base classes of selectors, and checks of their input."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._base.checks import (
    check_count,
    check_number,
    check_numbers,
    check_random_state,
    count_rows,
    is_finite_number,
    is_whole_number,
)
from skfilterrank._base.sklearn_compat import safe_indexing
from skfilterrank._base.words import in_parallel, progress_bar, warn_user
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.content import hash_rows, keys_of_queries
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.queries import check_groups, check_same_index
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list
from skfilterrank.judgments._rank_table import are_runs, as_rank_table

# Seeds are below this number.
_SEEDS = np.iinfo(np.int32).max
_SHOWN = 5
# Number of queries that a process gets at a time, since most are ranked faster than they are sent.
_QUERIES_AT_ONCE = 32


class QuerySelector(BaseEstimator):
    """Base class of strategies that rank the documents of each query.

    A subclass defines `__init__` and `_rank_query`, and `_prepare` if it uses the documents. This
    class handles the constructor parameters `n_jobs`, `verbose` and `random_state` if a strategy
    has them.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its query.
    gains_ : ndarray of shape (n_rows,), dtype float64
        Increase of the strategy's objective by each document at its place; NaN if the strategy has
        no objective.
    seed_ : int
        Seed of the queries' random generators, drawn from `random_state` if the strategy has this
        parameter.
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

    # False if X may be anything with rows; contents decide random draws alone.
    _looks_at_documents = True
    # Mask of judged rows, for strategies that leave them out.
    _judged: Any = None

    # By default, scikit-learn's metadata routing passes both.
    __metadata_request__fit = {"groups": True, "prior": True}  # noqa: RUF012

    def _rank_query(self, X, prior, random_state):
        """Rank one query (to be overridden).

        Parameters
        ----------
        X : object
            Result of `_query_rows` for the query.
        prior : ndarray of shape (n_rows_of_query,), dtype float64, or None
            Prior of the rows, None if `fit` got no prior.
        random_state : RandomState or None
            Random state of the query, independent of other queries; None if the strategy has no
            such parameter.

        Returns
        -------
        order : ndarray of shape (n_rows_of_query,), dtype int
            Row numbers within the query, in the order of judging.
        gains : ndarray of shape (n_rows_of_query,), dtype float64
            Gain of each row, in this order.

        Notes
        -----
        It runs on a clone, possibly in another process, with the constructor parameters and its
        arguments but without fitted attributes.
        """
        raise NotImplementedError

    def _read(self, X):
        """Convert X before rows are counted (to be overridden)."""
        if are_runs(X):
            raise InputError(
                f"X must hold the documents for {type(self).__name__}, one in each row, but is a "
                "dict of runs: rank_table(runs) has their documents in its index, and "
                "prior=StatAPSelector().fit(runs).prior_ is a prior from the runs."
            )
        return X

    def _prepare(self, X, y, index):
        """Compute features for all queries from checked input, or None (to be overridden)."""
        return None

    def _query_rows(self, X, rows):
        """Return a query's part of the result of `_prepare` (to be overridden)."""
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
        draws = "random_state" in self.get_params(deep=False)
        if draws:
            self.seed_ = int(check_random_state(self.random_state).randint(_SEEDS))
        features = self._prepare(X, y, index)
        queries, streams = index.rows_by_query(), [None] * index.n_queries
        if draws:
            # Draws depend on the documents, and neither on ids nor on the order of rows.
            hashes = hash_rows(X, *([] if prior is None else [prior]))
            order = np.lexsort((hashes, index.codes()))
            queries = np.split(order, np.cumsum(index.sizes)[:-1])
            self._query_keys = keys_of_queries(index, hashes)
            streams = self._streams()
        # A clone has no fitted attributes, which need not be sent to workers.
        rank = delayed(clone(self)._rank_query)
        jobs = (
            rank(self._query_rows(features, rows), None if prior is None else prior[rows], stream)
            for rows, stream in zip(queries, streams)
        )
        ranking = np.empty(index.n_rows, dtype=np.int64)
        gains = np.empty(index.n_rows)
        for (places, gain), rows in zip(query_by_query(jobs, self, len(queries)), queries):
            ranking[rows[places]] = np.arange(1, len(rows) + 1)
            gains[rows[places]] = gain
        self.ranking_ = ranking
        self.gains_ = gains
        self._index, self._queries = index, queries
        return self

    def _checked(self, X, groups, prior):
        """Return checked documents and prior, and the index of queries."""
        X = self._read(X)
        n_rows = count_rows(X)
        check_same_rows(X, prior)
        index = check_groups(
            groups,
            X,
            prior,
            n_rows=n_rows,
            names=("X", "prior"),
            carrier="X or prior as a pandas object",
        )
        check_no_duplicates(X, index)
        check_no_duplicates(prior, index, "prior")
        prior = check_prior(prior, n_rows)
        validate_data(self, X, skip_check_array=True)
        return X, prior, index

    def select(self, *, n_per_query=None, n_total=None, share=None) -> np.ndarray:
        """Select the rows to judge for a budget.

        Parameters
        ----------
        n_per_query : int, default=None
            Number of documents of each query, at least 1.
        n_total : int, default=None
            Number of documents of all queries together, divided as evenly as the query sizes allow;
            the remainder goes to the longest queries. Judged rows that a strategy leaves out do not
            count.
        share : float, default=None
            Share of the documents of each query, in (0, 1], rounded half up, but at least one.

        Returns
        -------
        rows : ndarray of shape (n_selected,), dtype int64
            Numbers of the selected rows, ascending: the first documents of each query's ranking.
            Without a budget, all rows are selected. Exceptions: without a budget,
            :class:`PoolingSelector` selects down to its `depth`, and :class:`FeedbackSelector` the
            next round; :class:`MaxRepSelector` and :class:`FeedbackSelector` never select judged
            rows; and :class:`StatAPSelector` draws a sample, which is always the same for a budget.

        Raises
        ------
        InputError
            If more than one budget is given, or a budget is invalid.

        Warns
        -----
        DataWarning
            If `n_per_query` is above the number of documents of some queries, or `n_total` above
            the number of all documents: all of them are selected.
        """
        check_is_fitted(self)
        sizes = self._index.sizes
        if self._judged is not None:
            sizes = self._index.sums((~self._judged).astype(np.int64))
        budgets = named_budgets(self._index, n_per_query, n_total, share, sizes=sizes)
        return np.flatnonzero(self._is_selected(budgets))

    def _is_selected(self, budgets) -> np.ndarray:
        """Return a mask of the selected rows for the budgets of queries; None selects all."""
        if budgets is None:
            return np.ones(self._index.n_rows, dtype=bool)
        return self.ranking_ <= budgets[self._index.codes()]

    def _streams(self):
        """Make a random generator for each query, which other queries have no influence on."""
        seeds = (np.random.SeedSequence([self.seed_, int(key)]) for key in self._query_keys)
        return [np.random.RandomState(np.random.MT19937(seed)) for seed in seeds]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = tags.no_validation = not self._looks_at_documents
        return tags


class RunSelector(QuerySelector):
    """Base class of strategies that use ranks in runs.

    X is a rank table, or runs for :func:`rank_table`. `_rank_query` gets the ranks of the query's
    documents, float64 of shape (n_rows_of_query, n_runs), NaN if a run does not return a document.

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


def query_by_query(jobs, estimator, n_queries: int, batch_size=_QUERIES_AT_ONCE):
    """Yield the results of delayed calls, one for each query, in `n_jobs` processes."""
    n_jobs = getattr(estimator, "n_jobs", None)
    return progress_bar(
        in_parallel(jobs, n_jobs, Parallel, batch_size=batch_size),
        total=n_queries,
        desc="queries",
        unit="query",
        verbose=getattr(estimator, "verbose", 0),
        leave=None,
    )


def named_budgets(index, n_per_query, n_total, share, *, sizes=None, warn: bool = True):
    """Return the number of documents to select in each query, or None without a budget.

    `n_total` is divided between `sizes`, the numbers of documents that are not judged.
    """
    sizes = index.sizes if sizes is None else sizes
    given = {"n_per_query": n_per_query, "n_total": n_total, "share": share}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    if len(given) > 1:
        raise InputError(
            f"{brief_list(given)} are several budgets: give one of n_per_query, n_total and share."
        )
    if share is not None:
        return np.maximum(round_half_up(check_share_of_documents(share), index.sizes), 1)
    if n_per_query is not None:
        n_per_query = check_number_of_documents(n_per_query, "n_per_query")
        n_above = np.count_nonzero(index.sizes < n_per_query)
        if n_above and warn:
            warn_user(
                f"{{n_per_query={n_per_query}}} is above the number of documents of {n_above} of "
                f"{index.n_queries} queries: all of their documents are selected.",
                DataWarning,
                argument=f"n_per_query={n_per_query}",
            )
        return np.minimum(index.sizes, n_per_query)
    n_total, n_open = check_number_of_documents(n_total, "n_total"), sizes.sum()
    if n_total >= n_open:
        if n_total > n_open and warn:
            warn_user(
                f"{{n_total={n_total}}} is above the number of documents to select from, {n_open}: "
                "all of them are selected.",
                DataWarning,
                argument=f"n_total={n_total}",
            )
        return sizes
    # Largest number of documents for each query that does not exceed the total.
    ascending = np.sort(sizes)
    spent = np.cumsum(ascending) + ascending * np.arange(len(sizes) - 1, -1, -1)
    n_whole = np.searchsorted(spent, n_total, side="right")
    level = (n_total - ascending[:n_whole].sum()) // (len(sizes) - n_whole)
    budgets = np.minimum(sizes, level)
    names = np.argsort(np.argsort([str(query) for query in index.query_ids]))
    longest = np.lexsort((names, -sizes))[: n_total - budgets.sum()]
    budgets[longest] += 1
    return budgets


def check_share_of_documents(share) -> float:
    """Check a share of documents, in (0, 1]."""
    return check_number(share, "share", above=0, most=1)


def check_number_of_documents(number, name: str) -> int:
    """Check a number of documents, at least 1."""
    if not is_whole_number(number) and is_finite_number(number) and 0 < number < 1:
        raise InputError(
            f"{name} must be a whole number, got {brief(number)}: pass share= instead."
        )
    return check_count(number, name)


def round_half_up(share: float, sizes) -> np.ndarray:
    """Return the share of each size, rounded half up using the decimal digits of the share."""
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
    bad = ~(values >= 0) | np.isinf(values)
    if bad.any():
        raise InputError(
            "prior must be finite and at least 0, but is "
            f"{values[bad][0]:g} in row {bad.argmax()}, and bad in {np.count_nonzero(bad)} "
            "row(s): a prior is a probability of relevance up to a factor. Give documents without "
            "a known one the prior 0."
        )
    return values


def row_gains(labels, gains, n_rows: int, name: str) -> np.ndarray:
    """Return the gains of all rows, NaN where a label is missing."""
    found = as_gains(labels, gains, name=name)
    if len(found) != n_rows:
        raise InputError(f"{name} has {len(found)} labels but X has {n_rows} rows.")
    return found


def all_labels(labels, gains, n_rows: int, name: str) -> np.ndarray:
    """Return the gains of all rows; raise if a label is missing."""
    found = row_gains(labels, gains, n_rows, name)
    if (unknown := np.isnan(found)).any():
        raise InputError(
            f"{name} has {unknown.sum()} NaN, the first at row {unknown.argmax()}: the true "
            "label of every row is needed. Leave unjudged rows out, or treat them as not "
            f"relevant by {name}.fillna(0)."
        )
    return found


def check_same_rows(X, values, name: str = "prior") -> None:
    """Raise an error if two pandas objects with query ids have different indexes."""
    try:
        check_same_index(X, values)
    except ValueError:
        filled = {"prior": ".fillna(0)", "judged": ".fillna(False)"}.get(name, "")
        raise InputError(
            f"X and {name} have different indexes: rows are compared by position, so align them "
            f"first, e.g. {name} = {name}.reindex(X.index){filled}."
        ) from None


def check_no_duplicates(X, index, name: str = "X") -> None:
    """Raise if a document occurs twice in a query, if the index has a level "docno"."""
    if "docno" in getattr(getattr(X, "index", None), "names", ()):
        queries = index.query_ids[index.codes()]
        refuse_repeated(queries, X.index.get_level_values("docno"), name)


def refuse_repeated(queries, documents, name: str) -> None:
    """Raise for the first document that occurs twice in its query; missing ids are ignored."""
    pairs = pd.DataFrame({"query": queries, "document": documents}, dtype=object)
    again = (pairs.duplicated() & pairs["document"].notna()).to_numpy()
    if again.any():
        row = int(again.argmax())
        query, document = pairs.iloc[row]
        raise InputError(
            f"{name} holds document {brief(document)} twice in query {brief(query)}, again in row "
            f"{row}: keep one row of each."
        )


def is_texts(X) -> bool:
    """Tell whether X is a list, an array or a Series of texts."""
    if isinstance(X, Mapping) or hasattr(X, "get_column") or getattr(X, "ndim", 1) != 1:
        return False
    return any(isinstance(text, str) for text in X)


def check_texts(texts) -> list[str]:
    """Return texts as a list of str; missing texts become empty, with a warning."""
    values = list(texts)
    is_text = np.array([isinstance(text, str) for text in values], dtype=bool)
    without = np.flatnonzero(~is_text)
    for row in without:
        if not pd.isna(values[row]):
            raise InputError(f"X must hold texts, got {brief(values[row])} at row {row}.")
        values[row] = ""
    if len(without):
        warn_user(
            f"{len(without)} of {len(values)} documents have no text and count as empty: "
            f"{shown_rows(texts, without)}.",
            DataWarning,
        )
    return values


def shown_rows(X, rows) -> str:
    """Describe the first of some rows, by index if X has one."""
    labels = X.index[rows[:_SHOWN]].tolist() if isinstance(X, pd.Series) else rows[:_SHOWN].tolist()
    rest = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return "rows " + ", ".join(map(str, labels)) + rest
