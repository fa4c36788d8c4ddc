"""Selectors that need no answers: prior, pooling, random order, statAP sampling."""

from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import bdtrc, gammaln
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice, check_container, check_count, check_number
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.gains import check_gains
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError
from skfilterrank.judgments._rank_table import are_runs, as_rank_table
from skfilterrank.judgments._selector import (
    QuerySelector,
    RunSelector,
    all_labels,
    named_budgets,
    round_half_up,
)


class PriorSelector(QuerySelector):
    """Judge the documents with the highest prior first.

    This is the baseline for strategies that use a prior and further information.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its query.
    gains_ : ndarray of shape (n_rows,), dtype float64
        The prior of each document.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    See Also
    --------
    StatAPSelector : Its attribute `prior_` is a prior from ranks in runs.
    PoolingSelector : From ranks in runs without a prior.

    Notes
    -----
    Documents of equal prior are judged in the order of their rows. Only the number of rows of X is
    used.

    Examples
    --------
    >>> from skfilterrank.judgments import PriorSelector
    >>> texts, queries = ["a cat", "two cats", "no dog"], ["1", "1", "1"]
    >>> selector = PriorSelector().fit(texts, groups=queries, prior=[0.2, 0.5, 0.3])
    >>> selector.ranking_
    array([3, 1, 2])
    >>> selector.select(n_per_query=2)
    array([1, 2])
    """

    _looks_at_documents = False

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> Self:
        """Rank the documents of each query by their prior.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, queries in any order.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,)
            How likely each document is to be relevant, up to a factor; at least 0. A Series with
            queries in its index must have the index of X.

        Returns
        -------
        self : PriorSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If there is no prior, it is negative or not finite, queries are missing, or the index of
            X holds a document twice in a query.
        """
        if prior is None:
            raise InputError(
                "prior is missing, and PriorSelector needs it. Pass prior=; for runs, for "
                "example, prior=StatAPSelector().fit(runs).prior_ and X=rank_table(runs)."
            )
        return super().fit(X, y, groups=groups, prior=prior)

    def _rank_query(self, X, prior, random_state):
        """Rank the highest prior first, ties by row."""
        order = np.argsort(-prior, kind="stable")
        return order, prior[order]


class PoolingSelector(RunSelector):
    """Pooling: judge the documents first that are ranked highest in any run.

    Incremental pooling takes all documents at rank 1 of some run, then all at rank 2 of some run,
    and so on.

    Parameters
    ----------
    depth : int, default=None
        Depth of the pool that ``select()`` returns without a budget. The order of judging does not
        depend on it: for any depth, the pool comes before all other documents.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its query.
    gains_ : ndarray of shape (n_rows,), dtype float64
        NaN: pooling has no objective.
    best_rank_ : ndarray of shape (n_rows,), dtype float64
        Best rank of each document in any run; inf if no run returns it.
    pool_ : MultiIndex of length n_rows
        Query and document of each row, levels "qid" and "docno".
    n_features_in_ : int
        Number of runs.
    feature_names_in_ : ndarray of str
        Names of the runs, where all are strings.

    See Also
    --------
    rank_table : The ranks in all runs.
    StatAPSelector : A sample that prefers what stands high.

    Notes
    -----
    Documents are ordered by the best rank in any run, then by the mean rank over all runs, then by
    their row, which in a rank table is the order of their ids. In the mean, a document that a run
    does not return has the rank after the last document that the run returns for the query. So a
    run without documents for a query has no influence. This is the incremental pooling of section
    4.2 of [1]_, which does not specify the rank of documents that a run does not return.

    References
    ----------
    .. [1] Hui and Berberich, "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation".

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import PoolingSelector
    >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [9.0, 7.0]})
    >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d1"], "score": [2.0, 1.0]})
    >>> selector = PoolingSelector(depth=1).fit({"a": a, "b": b})

    Both d1 and d3 are first somewhere, but d1 has the better mean rank, (1 + 2) / 2; of d3 it is
    (3 + 1) / 2.

    >>> pd.Series(selector.ranking_, index=selector.pool_)
    qid  docno
    1    d1       1
         d2       3
         d3       2
    dtype: int64

    The pool of depth 1, and the first document alone:

    >>> selector.pool_[selector.select()].get_level_values("docno").tolist()
    ['d1', 'd3']
    >>> selector.pool_[selector.select(n_per_query=1)].get_level_values("docno").tolist()
    ['d1']
    """

    best_rank_: Any

    def __init__(self, depth: int | None = None) -> None:
        self.depth = depth

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> Self:
        """Rank the documents of each query by their ranks in the runs.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_runs), or dict of str to DataFrame
            A rank table, or runs as :func:`rank_table` takes them. Then the rows are those of
            ``rank_table(X)``, as `pool_` has them.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid".
        prior : array-like of shape (n_rows,), default=None
            Not used, but checked.

        Returns
        -------
        self : PoolingSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If X is neither a rank table nor runs, has a document twice in a query, or `depth` is
            not a positive integer.
        """
        check_count(self.depth, "depth", or_none=True)
        return super().fit(X, y, groups=groups, prior=prior)

    def _is_selected(self, budgets):
        """Return a mask of the selected rows; without a budget, the pool down to `depth`."""
        if budgets is not None or self.depth is None:
            return super()._is_selected(budgets)
        return self.best_rank_ <= check_count(self.depth, "depth")

    def _prepare(self, X, y, index):
        """Return ranks as an array."""
        ranks = super()._prepare(X, y, index)
        self.best_rank_ = best_ranks(ranks)
        return ranks

    def _rank_query(self, X, prior, random_state):
        """Sort by best rank, then mean rank, then row."""
        order = np.lexsort((_rank_sums(X), best_ranks(X)))
        return order, np.full(len(order), np.nan)


def best_ranks(ranks) -> np.ndarray:
    """Return each row's best rank in any run; inf if no run returns the document."""
    best = np.fmin.reduce(ranks, axis=1)
    return np.where(np.isnan(best), np.inf, best)


def _rank_sums(ranks):
    """Sum the ranks in all runs; a document that is not returned has rank last + 1."""
    last = np.nan_to_num(np.fmax.reduce(ranks, axis=0))
    return np.where(np.isnan(ranks), last + 1, ranks).sum(axis=1)


class RandomSelector(QuerySelector):
    """Judge the documents of each query in random order.

    The baseline that every strategy should beat. With ``oracle=True`` it knows which documents are
    relevant, which is impossible in practice, and judges relevant and other documents in the
    proportion of the pool.

    Parameters
    ----------
    oracle : bool, default=False
        True uses the true labels `y`, which `fit` then needs. Only for experiments on documents
        that are all judged.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains for ``oracle=True``; a document is relevant if its gain is above 0.
        None uses the label as the gain.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order. With an int, every fit has the same order of the same documents,
        whatever queries are called and however rows are sorted.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its query.
    gains_ : ndarray of shape (n_rows,), dtype float64
        NaN: a random order has no objective.
    seed_ : int
        Seed of the queries' random generators, drawn from `random_state` by `fit`.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    See Also
    --------
    StatAPSelector : A random sample that prefers what stands high in the runs.

    Notes
    -----
    Without the oracle all orders of a query's documents are equally likely.

    With the oracle, if r of a query's n documents are relevant, ``floor(m * r / n + 1 / 2)`` of the
    first m are relevant, for every m: the proportional number, rounded half up, and at least 1 if
    something is relevant. The order within relevant and within other documents is random. Sampling
    retrospectively from relevant and irrelevant documents is how uniform samples are drawn in
    section 4.2 of [1]_, after [2]_. Forbidden documents count as not relevant.

    Each query has its own random generator, which depends on the contents of its documents. Rows of
    equal content are in random order, too.

    References
    ----------
    .. [1] Hui and Berberich, "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation".
    .. [2] Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004.

    Examples
    --------
    >>> from skfilterrank.judgments import RandomSelector
    >>> texts, queries = ["cat", "dog", "cow", "hen", "fox", "owl"], [1, 1, 1, 1, 2, 2]
    >>> selector = RandomSelector(random_state=0).fit(texts, groups=queries)
    >>> len(selector.select(n_per_query=1))
    2

    In query 1 every second document is relevant, and so it is in any half of its pool:

    >>> truth = [1, 0, 1, 0, 0, 0]
    >>> selector = RandomSelector(oracle=True, random_state=0).fit(texts, truth, groups=queries)
    >>> sorted(truth[row] for row in selector.select(share=0.5) if row < 4)
    [0, 1]
    """

    _looks_at_documents = False

    def __init__(
        self, *, oracle: bool = False, gains: Any = None, random_state: Any = None
    ) -> None:
        self.oracle = oracle
        self.gains = gains
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> Self:
        """Rank the documents of each query at random.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, queries in any order.
        y : array-like of shape (n_rows,), default=None
            True label of each document, only for ``oracle=True``.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,), default=None
            Not used, but checked.

        Returns
        -------
        self : RandomSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If queries are missing, the index of X holds a document twice in a query, or
            ``oracle=True`` and some true label is missing.
        """
        check_choice(self.oracle, "oracle", (False, True))
        check_gains(self.gains)
        return super().fit(X, y, groups=groups, prior=prior)

    def _prepare(self, X, y, index):
        """Return a mask of the relevant documents for the oracle; else None."""
        if not self.oracle:
            return np.zeros(index.n_rows, dtype=bool)
        if y is None:
            raise InputError("y is missing: with oracle=True, pass the true label of each row.")
        return all_labels(y, self.gains, index.n_rows, "y") > 0

    def _rank_query(self, X, prior, random_state):
        """Rank at random; with the oracle, relevant documents are spread in proportion."""
        n_rows, n_relevant = len(X), np.count_nonzero(X)
        shuffled = random_state.permutation(n_rows)
        places = np.arange(n_rows + 1)
        n_relevant_first = (2 * places * n_relevant + n_rows) // (2 * n_rows)
        n_relevant_first[1:] = np.maximum(n_relevant_first[1:], min(n_relevant, 1))
        is_relevant = np.diff(n_relevant_first) > 0
        order = np.empty(n_rows, dtype=np.int64)
        order[is_relevant] = shuffled[X[shuffled]]
        order[~is_relevant] = shuffled[~X[shuffled]]
        return order, np.full(n_rows, np.nan)


def statap_prior(runs, form: str = "exact") -> pd.Series:
    """Return the probability with which statAP draws each document of a rank table or of runs."""
    shares = _shares if form == "exact" else _approximate_shares
    table = as_rank_table(runs)
    queries = GroupIndex.from_groups(table.index.get_level_values("qid")).codes()
    total = np.zeros(len(table))
    for column in range(table.shape[1]):
        ranks = table.iloc[:, column].to_numpy(dtype=np.float64, na_value=np.nan)
        rows = np.flatnonzero(~np.isnan(ranks))
        if len(rows) == 0:
            continue
        own, own_queries = ranks[rows].astype(np.int64), queries[rows]
        lengths = np.zeros(queries.max() + 1, dtype=np.int64)
        np.maximum.at(lengths, own_queries, own)
        total[rows] += shares(own, lengths[own_queries])
    return pd.Series(total / table.shape[1], index=table.index, name="prior")


def _shares(ranks, lengths):
    """Compute W(r) for each rank in a list of the given length."""
    harmonic = np.cumsum(np.append(0.0, 1 / np.arange(1.0, lengths.max() + 1)))
    return (1 + harmonic[lengths] - harmonic[ranks - 1]) / (2 * lengths)


def _approximate_shares(ranks, lengths):
    """Compute log(n / r) divided by its sum over r; 1 if the list has one document."""
    is_only = lengths == 1
    # The sum of log(n / r) over r is n log(n) - log(n!).
    sums = lengths * np.log(lengths) - gammaln(lengths + 1)
    return np.where(is_only, 1.0, np.log(lengths / ranks) / np.where(is_only, 1.0, sums))


class StatAPSelector(QuerySelector):
    """statAP: judge a random sample with known probabilities that prefers high priors.

    Every document can be drawn, so :func:`skfilterrank.metrics.stat_ap_score` can estimate the
    average precision of the fully judged pool from the judgments of the sample and
    `inclusion_probability`.

    Parameters
    ----------
    pooled : float, default=0.0
        Share of each query's budget, from 0 to 1 and rounded half up, for the first documents of
        incremental pooling, which are always judged. The sample is drawn from the other documents.
        Needs runs.
    form : {"exact", "approximate"}, default="exact"
        Form of the prior that is taken from runs where `fit` gets none, see Notes.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples. With an int, every fit has the same samples of the same documents,
        whatever queries are called and however rows are sorted.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its query, from 1, in an order of successive draws in
        proportion to the prior. `select` does *not* return its first documents: see Notes.
    gains_ : ndarray of shape (n_rows,), dtype float64
        NaN: a sample has no objective.
    prior_ : ndarray of shape (n_rows,), dtype float64
        The prior with which documents are drawn.
    pool_ : MultiIndex of length n_rows, or None
        Query and document of each row, levels "qid" and "docno", if X is runs or has these levels
        in its index; else None.
    seed_ : int
        Seed of the queries' random generators, drawn from `random_state` by `fit`.
    n_features_in_ : int
        Number of features or runs, if X has these.
    feature_names_in_ : ndarray of str
        Names of the features or runs, if all are strings.

    See Also
    --------
    skfilterrank.metrics.stat_ap_score : Average precision from such a sample.

    Notes
    -----
    Without a given prior, it is the sampling distribution of statAP. In a run that returns n
    documents for a query, the one at rank r has the probability [1]_

    ``W(r) = 1 / (2 * n) * (1 + 1 / r + 1 / (r + 1) + ... + 1 / n)``

    whose sum over the ranks 1 to n is 1. For large n it is about ``log(n / r) / (2 * n)`` plus a
    constant, which the formula in [2]_ omits. ``form="approximate"`` is the logarithm of [2]_
    divided by its sum over the list, which is 0 for the last document. The prior is the mean over
    the runs. A run without documents for a query adds 0: if k of m runs return documents for a
    query, its priors sum to k / m. The length n is the last rank of the run in the query, so fit on
    the whole rank table.

    This is the stratified sampling of [1]_. To draw m documents of a query, its documents are
    sorted by prior (ties by contents) and divided into buckets of m. Then m buckets are drawn with
    replacement, with probabilities proportional to the sum of their priors. From a bucket that was
    drawn k times, k documents are drawn uniformly without replacement.

    The last bucket may have fewer than m documents and be drawn more often than it has documents.
    The surplus is drawn from the other buckets, so every sample has m distinct documents. With s
    documents in the last bucket and P its share of the priors, it contributes ``L = E[min(K, s)]``
    documents on average, where K is binomial with m and P; another bucket with share Q contributes
    ``(m - L) * Q / (1 - P)``. Divided by the size of the bucket, these are the inclusion
    probabilities. They sum to m. Sums over the sample with each term divided by its probability are
    unbiased estimates of sums over the pool, except if a whole bucket has prior 0: its documents
    are never drawn. If all priors of a query are 0, all its documents are equally likely.

    Buckets depend on the budget, so samples for two budgets are not nested: `select` draws a
    separate sample for each budget. With the same budget and the same fit, it always returns the
    same sample. For tools that need one order for all budgets, `ranking_` is the order of
    successive draws without replacement, with probabilities proportional to the prior. The
    inclusion probabilities of its first m documents have no simple form.

    References
    ----------
    .. [1] Aslam and Pavlu, "A Practical Sampling Strategy for Efficient Retrieval Evaluation",
       technical report, Northeastern University, 2007.
    .. [2] Hui and Berberich, "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation", section 2.1.

    Examples
    --------
    Ten documents, returned by one run:

    >>> import pandas as pd
    >>> from skfilterrank.judgments import StatAPSelector
    >>> run = pd.DataFrame(
    ...     {"qid": "1", "docno": list("abcdefghij"), "score": range(10, 0, -1)}
    ... )
    >>> selector = StatAPSelector(random_state=0).fit({"run": run})
    >>> len(selector.select(n_per_query=4))
    4

    The first four make up a bucket, likewise the next four, then two:

    >>> selector.inclusion_probability(n_per_query=4).round(2)
    array([0.57, 0.57, 0.57, 0.57, 0.32, 0.32, 0.32, 0.32, 0.23, 0.23])
    """

    prior_: Any
    pool_: Any

    _looks_at_documents = False

    def __init__(
        self, *, pooled: float = 0.0, form: str = "exact", random_state: Any = None
    ) -> None:
        self.pooled = pooled
        self.form = form
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> Self:
        """Prepare the sampling.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_runs), or dict of str to DataFrame
            A rank table, or runs as :func:`rank_table` takes them. Then the rows are those of
            ``rank_table(X)``. With a prior, X may be anything of length n_rows.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,), default=None
            How likely each document is to be relevant, up to a factor; at least 0. A Series with
            queries in its index must have the index of X. None takes the prior of statAP from
            the ranks in X, see Notes.

        Returns
        -------
        self : StatAPSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If there is no prior and X is neither a rank table nor runs, a prior is negative or not
            finite, queries are missing, X has a document twice in a query, `pooled` is not
            between 0 and 1, or `form` is unknown.
        """
        check_number(self.pooled, "pooled", least=0, most=1)
        check_choice(self.form, "form", ("exact", "approximate"))
        check_container(X)
        if prior is None and not (are_runs(X) or isinstance(X, pd.DataFrame)):
            raise InputError(
                "prior is missing: pass prior=, or runs (a dict of names and DataFrames, or their "
                f"rank table) as X to take the prior of statAP. X is of type {type(X).__name__}."
            )
        if prior is None or self.pooled > 0 or are_runs(X):
            X = as_rank_table(X, name="X")
        names = getattr(getattr(X, "index", None), "names", ())
        pool = X.index if {"qid", "docno"} <= set(names) else None
        if prior is None:
            prior = statap_prior(X, self.form)
        super().fit(X, y, groups=groups, prior=prior)
        self.pool_ = pool
        self._pooled = self.pooled
        self.prior_ = np.array(prior, dtype=np.float64)
        self._pooling_places = None
        if self.pooled > 0:
            queries = self._index.query_ids[self._index.codes()]
            self._pooling_places = PoolingSelector().fit(X, groups=queries).ranking_
        return self

    def _rank_query(self, X, prior, random_state):
        """Rank by successive draws in proportion to the prior; prior 0 comes last, at random."""
        # Exponential times divided by weights have the order of successive draws (a Poisson race).
        times = random_state.exponential(size=len(prior))
        with np.errstate(divide="ignore", over="ignore"):
            order = np.lexsort((times, np.where(prior > 0, times / prior, np.inf)))
        return order, np.full(len(order), np.nan)

    def _is_selected(self, budgets):
        """Draw rows for each query's budget; return a mask."""
        budgets = self._index.sizes if budgets is None else budgets
        selected = np.zeros(self._index.n_rows, dtype=bool)
        for (certain, rest, n_draws), stream in zip(self._parts(budgets), self._streams()):
            selected[certain] = True
            selected[rest[draw(self.prior_[rest], n_draws, stream)]] = True
        return selected

    def inclusion_probability(self, *, n_per_query=None, n_total=None, share=None) -> np.ndarray:
        """Compute the probability with which `select` selects each document.

        Parameters
        ----------
        n_per_query, n_total, share
            The budget, as in `select`.

        Returns
        -------
        probability : ndarray of shape (n_rows,), dtype float64
            Probabilities from 0 to 1, over all seeds; above 0 for selected documents. Within each
            query they sum to the number of selected documents.
        """
        check_is_fitted(self)
        budgets = named_budgets(self._index, n_per_query, n_total, share, warn=False)
        budgets = self._index.sizes if budgets is None else budgets
        probability = np.empty(self._index.n_rows)
        for certain, rest, n_draws in self._parts(budgets):
            probability[certain] = 1.0
            probability[rest] = draw_probability(self.prior_[rest], n_draws)
        return probability

    def _parts(self, budgets):
        """Yield for each query the certain rows, other rows by prior, and the number of draws."""
        n_certain = round_half_up(self._pooled, budgets)
        for rows, budget, first in zip(self._queries, budgets, n_certain):
            rows = rows[np.argsort(-self.prior_[rows], kind="stable")]
            certain = rows[:0]
            if first:
                is_certain = self._pooling_places[rows] <= first
                certain, rows = rows[is_certain], rows[~is_certain]
            yield certain, rows, budget - first


def draw(weights, n_draws, random_state) -> np.ndarray:
    """Draw documents, sorted by descending weight; return their numbers."""
    if n_draws == 0 or n_draws >= len(weights):
        return np.arange(min(n_draws, len(weights)))
    shares, sizes = _buckets(weights, n_draws)
    counts = np.zeros(len(sizes), dtype=np.int64)
    # The last bucket is drawn first, limited by its size; the others share the rest.
    counts[-1] = min(random_state.binomial(n_draws, shares[-1]), sizes[-1])
    full = shares[:-1] / shares[:-1].sum()
    counts[:-1] = random_state.multinomial(n_draws - counts[-1], full)
    buckets = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.lexsort((random_state.uniform(size=len(weights)), buckets))
    place = np.arange(len(weights)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return shuffled[place < counts[buckets]]


def draw_probability(weights, n_draws) -> np.ndarray:
    """Return the probability with which :func:`draw` draws each document."""
    if n_draws == 0 or n_draws >= len(weights):
        return np.full(len(weights), float(n_draws > 0))
    shares, sizes = _buckets(weights, n_draws)
    # E[min(K, s)] is the sum of P(K > x) over x below s.
    last = bdtrc(np.arange(sizes[-1]), n_draws, shares[-1]).sum()
    full = shares[:-1] / shares[:-1].sum()
    expected = np.append((n_draws - last) * full, last)
    return np.repeat(np.minimum(expected / sizes, 1.0), sizes)


def _buckets(weights, size):
    """Return the share of the weights and the number of documents of each bucket."""
    starts = np.arange(0, len(weights), size)
    sizes = np.diff(starts, append=len(weights))
    if weights[0] > 0:
        # Weights are divided by the largest, so that their sum is finite.
        sums = np.add.reduceat(weights / weights[0], starts)
    else:
        sums = sizes.astype(np.float64)
    return sums / sums.sum(), sizes
