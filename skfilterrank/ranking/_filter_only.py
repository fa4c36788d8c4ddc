"""FilterOnly: a baseline that hides like a model, and ranks at random."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags, indexable

from skfilterrank._base.checks import check_random_state, count_rows
from skfilterrank._base.sklearn_compat import final_step
from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._estimators.wrapping import WrappingRanker, takes_unjudged
from skfilterrank._lists.content import hash_rows
from skfilterrank._lists.cut_queries import note_documents
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import check_groups, check_one_order
from skfilterrank.ranking._fit_with_groups import cut_rows, fit_clone
from skfilterrank.ranking._training_rows import tell_unjudged

_SEEDS = np.iinfo(np.int32).max


class FilterOnly(WrappingRanker, BaseEstimator):
    """A baseline that hides what a model hides, and shows the rest in random order.

    The difference to the model's value shows what its ranking contributes.

    Parameters
    ----------
    estimator : estimator
        RankAndFilter, or any estimator whose `predict` gives -inf where it hides a row. It is
        cloned and fitted; wrap it in :class:`sklearn.frozen.FrozenEstimator` to use one that is
        fitted already.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order. With an int, a document always gets the same random score.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    seed_ : int
        Seed of the random scores, drawn from `random_state` by `fit`.
    n_unjudged_ : int
        Number of rows with a NaN label, which are not used for fitting.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    RankAndFilter : With ``threshold=None`` it ranks only.

    Notes
    -----
    This is the "filter-only" baseline of section 5.4 of [1]_. The score of a document is a hash of
    its features and `seed_`, uniform in [0, 1). So it depends neither on other documents nor on the
    order of rows, and documents with equal features have equal scores. To get the mean over all
    shuffles without randomness, give all shown rows equal scores and use a measure that averages
    over ties.

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
    >>> model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3")
    >>> shuffled = FilterOnly(model, random_state=0).fit(X, y, groups=groups)
    >>> kept = np.isfinite(shuffled.predict(X))
    >>> bool((kept == np.isfinite(shuffled.estimator_.predict(X))).all())
    True
    """

    seed_: int

    def __init__(self, estimator: Any, *, random_state: Any = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    @property
    def measure(self) -> str | Callable:  # type: ignore[override]  # the estimator decides
        """Measure of `score`: the estimator's measure, or nDCG_f."""
        return self._ranker_inside().measure

    @property
    def gains(self) -> Gains:  # type: ignore[override]  # the estimator decides
        """Gains of labels in `score`: the estimator's gains."""
        return self._ranker_inside().gains

    def _ranker_inside(self):
        """Return the inner ranker, or a RankerMixin with defaults."""
        inner = final_step(self.estimator)
        return inner if isinstance(inner, RankerMixin) else RankerMixin

    def _score_measure(self) -> ParsedMeasure:
        """Return the measure of the estimator, with the cut-off it was tuned for."""
        inner = final_step(self._fitted_inner())
        if isinstance(inner, RankerMixin):
            return inner._score_measure()
        return super()._score_measure()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.target_tags = inner.target_tags
        tags.no_validation = inner.no_validation
        return tags

    @all_or_nothing
    def fit(self, X, y, groups=None, **fit_params) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
        y : array-like of shape (n_rows,)
            Labels in a form that the estimator accepts. Rows with a NaN label are left out, with a
            warning, unless the estimator takes them.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
        **fit_params
            Passed to the `fit` of the estimator inside, as in :meth:`RankerMixin.fit`.

        Returns
        -------
        self : FilterOnly
            The fitted baseline.
        """
        self.seed_ = int(check_random_state(self.random_state).randint(_SEEDS))
        fit_params = self._inside_parameters(fit_params)
        queries = self._find_groups(X, y, groups)
        check_one_order(y=y, X=X, sample_weight=fit_params.get("sample_weight"))
        note_documents(self, None)
        if queries is not None:
            index = check_groups(queries, n_rows=count_rows(X))
            queries = index.row_ids()
            note_documents(self, index.sums(hash_rows(X)))
        judged = ~np.asarray(pd.isna(y))
        # Labels that are lists are refused by the estimator itself.
        self.n_unjudged_ = int(np.count_nonzero(~judged)) if judged.ndim == 1 else 0
        if self.n_unjudged_ and not takes_unjudged(self.estimator):
            tell_unjudged(judged)
            (X,) = indexable(X)
            X, y, queries, fit_params = cut_rows(np.flatnonzero(judged), X, y, queries, fit_params)
        self.estimator_ = fit_clone(self.estimator, X, y, queries, fit_params)
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Draw a random score for each row that the estimator shows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores in [0, 1), -inf where the estimator hides the row.
        """
        scores = self._scores_inside(X, groups)
        # The first 53 bits of a hash are a number in [0, 1), which only the document decides.
        hashes = hash_rows(X, np.full(len(scores), self.seed_))
        drawn = (hashes >> np.uint64(11)) * 2.0**-53
        return np.where(np.isneginf(scores), -np.inf, drawn)
