"""QueryRanker: estimators of other libraries, fitted with one query id per row."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from skfilterrank._all_or_nothing import all_or_nothing
from skfilterrank._core.checks import count_rows, find_groups
from skfilterrank._response import document_scores, final_step
from skfilterrank._sklearn_compat import metadata_routing_enabled
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking._fitting.adapters import needs_groups
from skfilterrank.ranking._fitting.check_features import check_finite_columns
from skfilterrank.ranking._fitting.delegation import FitsInner
from skfilterrank.ranking._fitting.training_data import training_rows


class QueryRanker(FitsInner, MetaEstimatorMixin, BaseEstimator):
    """Fit any classifier, regressor or ranker with one query id per row.

    LightGBM's ranker wants the sizes of consecutive queries, XGBoost's and CatBoost's a number per
    row and sorted rows, a classifier to be told which documents are good. Inside this, all of them
    are fitted with the labels as they are and with `groups`, rows in any order, so that
    scikit-learn's model selection can fit them. Nothing is filtered.

    Parameters
    ----------
    estimator : estimator
        A classifier (learns which gains are above 0 and scores by their probability), a regressor
        (learns the gain), a ranker such as LGBMRanker, XGBRanker or CatBoostRanker (learns the
        order of the gains), or a Pipeline that ends in one.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    n_unjudged_ : int
        Rows with a NaN label, which were left out of the training.
    feature_importances_, coef_ : ndarray of shape (n_features_in_,), dtype float64
        Of the last step, where it has them.
    n_features_in_ : int
        Number of features, where the estimator knows it.
    feature_names_in_ : ndarray of str
        Names of the features, where the estimator knows them.

    See Also
    --------
    RankAndFilter : Adds the threshold; takes these estimators with or without this around them.
    make_ranking_method : Ready-made methods, many of them in a QueryRanker.

    Notes
    -----
    Queries of one document, or of documents that all have one label, are kept and do no harm. Where
    all gains of all queries are equal, regressors score all documents the same, and rankers and
    classifiers, which have nothing to tell apart, raise. NaN in X is for the estimator to accept;
    where it does not, the error names the columns.

    Examples
    --------
    >>> from lightgbm import LGBMRanker
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> import pandas as pd
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.metrics import make_ranking_scorer
    >>> from skfilterrank.ranking import QueryRanker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=300, random_state=0)
    >>> y = pd.Series(y, index=pd.Index(groups, name="qid"))
    >>> cross_val_score(
    ...     QueryRanker(LGBMRanker(n_estimators=10, verbose=-1)), X, y, groups=groups,
    ...     cv=GroupKFold(3), scoring=make_ranking_scorer("ndcg_f@3"),
    ... ).round(2)
    array([...])
    """

    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True}  # noqa: RUF012
    # What RankAndFilter gives it to learn; what the estimator inside wants is made of that here.
    _ranking_target = "gain"

    def __init__(self, estimator, *, gains=None):
        self.estimator = estimator
        self.gains = gains

    @all_or_nothing
    def fit(
        self, X, y, groups=None, *, eval_set=None, eval_groups=None, **fit_params
    ) -> "QueryRanker":
        """Fit the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Whatever the estimator takes; rows in any order.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning. A Series may carry the
            query ids in an index level "qid".
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, of any type. None looks for an index level "qid" on `y`, then on
            `X`. Classifiers and regressors do without.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out sets for estimators that stop early, with labels as in `y`.
        eval_groups : array-like or list of array-like, default=None
            Query ids of each held-out set; None looks for an index level "qid".
        **fit_params
            Passed to the estimator's `fit`, such as `sample_weight`; entries with one value per
            row lose those of unjudged rows and follow the order in which the estimator wants the
            rows. XGBoost's ranker weighs whole queries: one weight for all rows of a query. In a
            Pipeline "step__parameter" names the step, and plain names go to the last. With
            scikit-learn's metadata routing, what the estimator requests.

        Returns
        -------
        self : QueryRanker
            The fitted model.

        Raises
        ------
        ValueError
            If arrays have different lengths, a label has no gain, a ranker is given no queries, a
            ranker or classifier nothing to tell apart, or the estimator does not accept what X
            holds.
        """
        if y is None:
            raise InputError("QueryRanker requires y to be passed, but the target y is None.")
        if metadata_routing_enabled():
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        found = find_groups(groups, y, X)
        self._has_queries = found is not None
        if found is None and not needs_groups(self.estimator):
            # Without this, training_rows would warn of what does not matter here.
            found = np.arange(count_rows(X))
        data, gains, _ = training_rows(
            self.estimator,
            X,
            y,
            found,
            target="auto",
            gains=self.gains,
            prefit=False,
            eval_set=eval_set,
            eval_groups=eval_groups,
            fit_params=fit_params,
        )
        self.n_unjudged_ = int(np.count_nonzero(~data.judged))
        judged_gains = gains[data.judged]
        if needs_groups(self.estimator) and (judged_gains == judged_gains[0]).all():
            raise InputError(
                f"all {len(judged_gains)} judged rows have the gain {judged_gains[0]:g}: "
                f"{type(final_step(self.estimator)).__name__} has no order to learn. Check y and "
                "gains=."
            )
        try:
            self.estimator_ = data.fit(self.estimator)
        except ValueError as error:
            found = _bad_columns(error, X, self.estimator)
            if found is None:
                raise
            raise found from None
        return self

    def predict(self, X) -> np.ndarray:
        """Score the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better; of a classifier the probability that the gain is above 0.
        """
        check_is_fitted(self)
        try:
            scores = document_scores(self.estimator_, X)
        except ValueError as error:
            found = _bad_columns(error, X, self.estimator)
            if found is None:
                raise
            raise found from None
        return scores.astype(np.float64, copy=False)

    def score(self, X, y, groups=None) -> float:
        """Mean nDCG_f over the queries of X, whatever the estimator's own score is.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents.
        y : array-like of shape (n_rows,)
            Labels, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`; where
            there is none and there was none in `fit`, all rows are one list.

        Returns
        -------
        float
            :func:`skfilterrank.metrics.ndcg_f_score` of whole lists, with the ranker's `gains`.
            For another measure or a cut-off give model selection a scorer, such as
            ``make_ranking_scorer("ndcg_f@10")``.

        Raises
        ------
        ValueError
            If query ids are missing though there were some in `fit`, or a label has no gain.
        """
        check_is_fitted(self)
        found = find_groups(groups, y, X)
        if found is None and not self._has_queries:
            found = np.zeros(count_rows(X), dtype=np.int64)
        return make_ranking_scorer("ndcg_f", gains=self.gains)(self, X, y, groups=found)

    @property
    def feature_importances_(self):
        """Importances of the features, where the last step has them."""
        return self._of_last("feature_importances_")

    @property
    def coef_(self):
        """Weights of the features, as the last step saw them, where it is linear."""
        return np.ravel(self._of_last("coef_"))

    def _of_last(self, name):
        """An attribute of the last fitted step."""
        inner = self._fitted_inner()
        if inner is None:
            raise AttributeError(f"QueryRanker has no fitted estimator: no {name}.")
        return getattr(final_step(inner), name)


def _bad_columns(error, X, estimator):
    """An error that names the columns, where NaN or infinity is what was complained of, or None."""
    message = str(error)
    # XGBoost, which takes NaN, says `inf`.
    if not any(word in message for word in ("NaN", "infinity", "`inf`")):
        return None
    final = type(final_step(estimator)).__name__
    has_names = isinstance(X, pd.DataFrame) and all(isinstance(name, str) for name in X.columns)
    names = {"feature_names_in_": np.asarray(X.columns)} if has_names else {}
    try:
        values = check_array(X, dtype=np.float64, accept_sparse=True, ensure_all_finite=False)
    except (TypeError, ValueError):
        return None
    try:
        # Its class and its names are all that the message takes from an estimator, and one that
        # could not be fitted has no names.
        inner = type(final, (), names)()
        check_finite_columns(values, estimator=inner, allow_nan="NaN" not in message)
    except ValueError as found:
        return found
    if "`inf`" in message:
        largest = np.finfo(np.float32).max
        return InputError(
            f"X, or an X of eval_set, contains infinity or a number beyond {largest:.3g}, which is "
            f"the largest that {final} takes: replace it by a smaller one."
        )
    return None
