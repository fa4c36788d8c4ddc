"""Baselines that every ranker and filter should beat."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from skfilterrank._all_or_nothing import all_or_nothing
from skfilterrank._core.checks import check_groups, check_random_state, count_rows, find_groups
from skfilterrank._response import document_scores
from skfilterrank._sklearn_compat import metadata_routing_enabled
from skfilterrank.ranking._fitting.adapters import cut_rows, fit_clone, takes_unjudged
from skfilterrank.ranking._fitting.delegation import FeaturesOfInner
from skfilterrank.ranking._fitting.rows import count_unjudged

_SEEDS = np.iinfo(np.int32).max


class FilterAll(BaseEstimator):
    """Show nothing: every document is filtered.

    Its nDCG_f is the score of the empty list, which any filter should beat. It learns nothing and
    looks at nothing.

    See Also
    --------
    FilterOnly : Filters like a model but ranks at random.
    skfilterrank.metrics.filtering_difficulty : The score of the empty list by itself.

    Notes
    -----
    The "filter-all" baseline of section 5.4 of [1]_. "rank-only" is
    ``RankAndFilter(estimator, threshold=None)``.

    References
    ----------
    .. [1] D. Carmel, N. Cohen, A. Ingber, E. Kravi. "IR Evaluation and Learning in the Presence
       of Forbidden Documents". SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.ranking import FilterAll
    >>> FilterAll().fit([[0.5], [2.0]], [1, -1], groups=["a", "a"]).predict([[1.0], [3.0]])
    array([-inf, -inf])
    """

    # scikit-learn's metadata routing brings `groups` without being asked to.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012

    def fit(self, X, y=None, groups=None) -> "FilterAll":
        """Do nothing.

        Parameters
        ----------
        X : object
            Not used.
        y : object, default=None
            Not used.
        groups : object, default=None
            Not used.

        Returns
        -------
        self : FilterAll
            The baseline.
        """
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Filter every row.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents; only their number counts.
        groups : object, default=None
            Not used.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            -inf for each row.
        """
        return np.full(count_rows(X), -np.inf)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.no_validation = True
        tags.requires_fit = False
        return tags


class FilterOnly(FeaturesOfInner, MetaEstimatorMixin, BaseEstimator):
    """Filter as a model does, and show what it keeps in random order.

    What is lost against the model is what its ranking is worth.

    Parameters
    ----------
    estimator : estimator
        RankAndFilter, or any estimator whose `predict` gives -inf where it filters. It is cloned
        and fitted; wrap it in :class:`sklearn.frozen.FrozenEstimator` to use one that is fitted
        already.
    random_state : int, RandomState instance or None, default=None
        Where the random order comes from. An int repeats it in every fit.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    seed_ : int
        Seed of the random scores, drawn from `random_state` by `fit`.
    n_unjudged_ : int
        Rows with a NaN label, which nothing was learned from.
    n_features_in_ : int
        Number of features, where the estimator knows it.
    feature_names_in_ : ndarray of str
        Names of the features, where the estimator knows them.

    See Also
    --------
    FilterAll : Shows nothing.
    RankAndFilter : With ``threshold=None`` it ranks only.

    Notes
    -----
    The "filter-only" baseline of section 5.4 of [1]_. `predict` draws one uniform score from
    [0, 1) for each row of X, kept or not, from a generator started with `seed_`: the same rows in
    the same order get the same scores however often it is called, and another order of the rows
    another shuffle. The mean over all shuffles needs no randomness: give all that is kept one
    score and let a measure average over ties.

    References
    ----------
    .. [1] D. Carmel, N. Cohen, A. Ingber, E. Kravi. "IR Evaluation and Learning in the Presence
       of Forbidden Documents". SIGIR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import FilterOnly, RankAndFilter
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=200, random_state=0)
    >>> model = RankAndFilter(LogisticRegression(), k=3)
    >>> shuffled = FilterOnly(model, random_state=0).fit(X, y, groups=groups)
    >>> kept = np.isfinite(shuffled.predict(X))
    >>> bool((kept == np.isfinite(shuffled.estimator_.predict(X))).all())
    True
    """

    # scikit-learn's metadata routing brings `groups` without being asked to.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012

    def __init__(self, estimator, *, random_state=None):
        self.estimator = estimator
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y, groups=None, **fit_params) -> "FilterOnly":
        """Fit the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Whatever the estimator takes; rows in any order.
        y : array-like of shape (n_rows,)
            Labels, as the estimator takes them. Rows with a NaN label are left out, with a
            warning, where the estimator is none of this package.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
        **fit_params
            Passed to the estimator's `fit`.

        Returns
        -------
        self : FilterOnly
            The fitted baseline.
        """
        self.seed_ = int(check_random_state(self.random_state).randint(_SEEDS))
        if metadata_routing_enabled():
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        found = find_groups(groups, y, X)
        if found is not None:
            check_groups(found, n_rows=count_rows(X))
        judged = ~np.asarray(pd.isna(y))
        # Lists of labels per row and the like are for the estimator to refuse.
        self.n_unjudged_ = np.count_nonzero(~judged) if judged.ndim == 1 else 0
        if self.n_unjudged_ and not takes_unjudged(self.estimator):
            count_unjudged(judged)
            (X,) = indexable(X)
            X, y, found, fit_params = cut_rows(np.flatnonzero(judged), X, y, found, fit_params)
        self.estimator_ = fit_clone(self.estimator, X, y, found, fit_params)
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Give rows that the estimator keeps a random score.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, where the estimator wants it to predict.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores in [0, 1), -inf where the estimator filters.
        """
        check_is_fitted(self)
        scores = document_scores(self.estimator_, X, groups=find_groups(groups, X))
        drawn = np.random.RandomState(self.seed_).uniform(size=len(scores))
        return np.where(np.isneginf(scores), -np.inf, drawn)

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn where `groups` and fit parameters go.

        Returns
        -------
        MetadataRouter
            Routing of this estimator and of the one inside.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=self.estimator,
                method_mapping=MethodMapping()
                .add(caller="fit", callee="fit")
                .add(caller="predict", callee="predict"),
            )
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        tags.no_validation = inner.no_validation
        return tags
