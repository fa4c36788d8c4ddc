"""Judging what stands high: in some run, or by a prior."""

import numpy as np

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank.exceptions import InputError
from skfilterrank.judgments._rank_table import check_depth
from skfilterrank.judgments._selector import RunSelector, TopicSelector


class PriorSelector(TopicSelector):
    """Judge the documents of the highest prior first.

    The baseline for strategies that start from a prior and look at more than that: what they gain
    is what looking further was worth.

    Parameters
    ----------
    n_jobs : int, default=None
        Number of topics that are ranked at once. The ranking is the same for any.
    verbose : int, default=0
        Above 0 shows the progress over topics.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its topic.
    gains_ : ndarray of shape (n_rows,), dtype float64
        The prior of each document.
    n_features_in_ : int
        Number of features, where X has features.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    See Also
    --------
    statap_prior : A prior from ranks in runs.
    PoolingSelector : From ranks in runs without a prior.

    Notes
    -----
    Documents of equal prior are judged in the order of their rows. Of X only the number of rows
    counts.

    Examples
    --------
    >>> from skfilterrank.judgments import PriorSelector
    >>> texts, topics = ["a cat", "two cats", "no dog"], ["1", "1", "1"]
    >>> selector = PriorSelector().fit(texts, groups=topics, prior=[0.2, 0.5, 0.3])
    >>> selector.ranking_
    array([3, 1, 2])
    >>> selector.select(n_per_query=2)
    array([1, 2])
    """

    def __init__(self, *, n_jobs=None, verbose=0):
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _prepare(self, X, index):
        """Nothing: the prior says it all."""
        return None

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> "PriorSelector":
        """Rank the documents of each topic by their prior.

        Parameters
        ----------
        X : list or Series of str, array-like, sparse matrix or DataFrame of length n_rows
            One document per row, topics in any order.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Topic of each row. None takes the index level "qid" of X, or else of `prior`.
        prior : array-like of shape (n_rows,)
            How likely each document is to be relevant, up to a factor; at least 0. A Series with
            topics in its index must have the index of X.

        Returns
        -------
        self : PriorSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If there is no prior, it is negative or not finite, topics are missing, or the index of
            X holds a document twice in a topic.
        """
        if prior is None:
            raise InputError(
                "prior is missing: PriorSelector ranks by nothing else. Pass prior=, such as, for "
                "runs, fit(table, prior=statap_prior(table)) of table = rank_table(runs)."
            )
        return super().fit(X, y, groups=groups, prior=prior)

    def _rank_topic(self, X, prior, random_state):
        """Highest prior first, ties by row."""
        order = np.argsort(-prior, kind="stable")
        return order, prior[order]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.no_validation = True
        return tags


class PoolingSelector(RunSelector):
    """Judge what stands highest in any run first.

    Incremental pooling: all documents that some run has at rank 1, then all that some run has at
    rank 2, and so on.

    Parameters
    ----------
    depth : int, default=None
        How deep the pool is that ``select()`` takes. The order of judging does not depend on it:
        the pool of any depth comes before everything deeper.
    n_jobs : int, default=None
        Number of topics that are ranked at once. The ranking is the same for any.
    verbose : int, default=0
        Above 0 shows the progress over topics.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document in the order of judging, from 1, within its topic.
    gains_ : ndarray of shape (n_rows,), dtype float64
        NaN: pooling has no objective.
    best_rank_ : ndarray of shape (n_rows,), dtype float64
        Best rank of each document in any run; inf where no run returns it.
    pool_ : MultiIndex of length n_rows
        Topic and document of each row, levels "qid" and "docno".
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
    their row, which in a rank table is the order of their ids. In the mean, a run that does not
    return a document counts with the rank after the last one it returns for the topic. A run
    without any document for a topic so says nothing about it. This is the incremental pooling of
    section 4.2 of [1]_, which leaves open what documents that a run does not return count with.

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

    def __init__(self, depth=None, *, n_jobs=None, verbose=0):
        self.depth = depth
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y=None, *, groups=None, prior=None) -> "PoolingSelector":
        """Rank the documents of each topic by their ranks in the runs.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_runs), or dict of str to DataFrame
            A rank table, or runs as :func:`rank_table` takes them. Then the rows are those of
            ``rank_table(X)``, as `pool_` has them.
        y : object, default=None
            Not used; there by scikit-learn's convention.
        groups : array-like of shape (n_rows,), default=None
            Topic of each row. None takes the index level "qid".
        prior : array-like of shape (n_rows,), default=None
            Not used, but checked.

        Returns
        -------
        self : PoolingSelector
            The strategy, fitted.

        Raises
        ------
        ValueError
            If X is no rank table and no runs, holds a document twice in a topic, or `depth` is not
            a positive integer.
        """
        check_depth(self.depth)
        return super().fit(X, y, groups=groups, prior=prior)

    def _is_selected(self, budgets):
        """Select rows, without a budget those at most `depth` deep, as a mask."""
        if budgets is not None or self.depth is None:
            return super()._is_selected(budgets)
        return self.best_rank_ <= check_depth(self.depth)

    def _prepare(self, X, index):
        """Ranks as an array."""
        ranks = super()._prepare(X, index)
        self.best_rank_ = best_ranks(ranks)
        return ranks

    def _rank_topic(self, X, prior, random_state):
        """Best rank, then mean rank, then row."""
        order = np.lexsort((_rank_sums(X), best_ranks(X)))
        return order, np.full(len(order), np.nan)


def best_ranks(ranks) -> np.ndarray:
    """Best rank of each row of a rank table; inf where no run returns the document."""
    best = np.fmin.reduce(ranks, axis=1)
    return np.where(np.isnan(best), np.inf, best)


def _rank_sums(ranks):
    """Sum of the ranks in all runs, of which those that do not return a document say last + 1."""
    last = np.nan_to_num(np.fmax.reduce(ranks, axis=0))
    return np.where(np.isnan(ranks), last + 1, ranks).sum(axis=1)
