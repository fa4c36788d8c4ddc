"""RankFusion and fuse_runs: fusion of several systems' scores or runs."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Self, cast, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._estimators.wrapping import check_finite_columns, group_parameter, refuse_dates
from skfilterrank._files.forms import ORDER, are_runs, is_by_query
from skfilterrank._lists.checks import (
    check_choice,
    check_container,
    check_count,
    check_number,
    check_numbers,
    check_random_state,
    check_scores,
    check_share,
    columns_of,
)
from skfilterrank._lists.gains import PROBABILITY, Gains, as_gains, is_sample, refuse_sample
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups
from skfilterrank._lists.sklearn_compat import final_step
from skfilterrank._lists.words import progress_bar, warn_user
from skfilterrank.exceptions import (
    FitWarning,
    InputError,
    InputTypeError,
    UnjudgedWarning,
    brief,
    brief_list,
)
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._fusion_methods import (
    FILTERED,
    METHODS,
    NORMALIZATIONS,
    fuse,
    is_filtered,
    normalized,
)
from skfilterrank.ranking._out_of_fold import (
    check_each_held_out_once,
    is_prefit,
    make_splits,
)
from skfilterrank.ranking._training_rows import prepare_rows

LEARNED = ("coordinate_ascent", "logistic")
_NO_WEIGHT = "the learned weights are all 0, so that fused scores order nothing"
_INSTEAD = (
    " Either no query has documents of different gain, or systems score all documents of a query "
    "alike, or the penalty of the learner is too strong. Check labels, gains and query ids, give "
    "more judged queries, or use a fixed method such as 'combsum'."
)


class RankFusion(RankerMixin, BaseEstimator):
    r"""Fusion of several systems' scores by a fixed method or by learned weights.

    Each column of X holds the scores of a system. If systems make different errors, the fused list
    is often better than the best system, even without labels.

    Parameters
    ----------
    method : str or linear estimator, default="rrf"
        Fixed methods, see Notes: "rrf", "isr", "log_isr", "rbc", "borda" and "condorcet" use only
        ranks; "combsum", "combmnz", "combanz", "combmed", "combmax" and "combmin" use scores.
        Methods with learned weights of a sum of scores [7]_: "coordinate_ascent" optimizes
        `measure`, starting from equal weights ("combsum"); "logistic" is a logistic regression of
        ``gain > 0``; or any estimator that has a `coef_` after `fit`, such as
        ``Ridge(positive=True)``.
    normalize : {"minmax", "zscore", "max", "sum", "rank", "borda"} or None, default="minmax"
        Normalisation of each system's scores within a query, for methods that use scores and for
        learned weights:

        - "minmax": the lowest score becomes 0 and the highest 1;
        - "zscore": mean 0 and standard deviation 1 (ZMUV);
        - "max": divided by the highest score, which must be above 0;
        - "sum": minus the lowest score, then divided so that the list sums to 1;
        - "rank": 1 for the first row, decreasing by 1 / n with every rank of a list of n rows;
        - "borda": the points of the method "borda", divided by the number of rows that some
          system retrieves; a row that the system does not retrieve has points, too, and counts as
          retrieved;
        - None: unchanged.
    rrf_k : float, default=60
        Constant of "rrf", at least 0; lower values give the first places more weight.
    persistence : float, default=0.8
        Constant of "rbc", between 0 and 1: the probability of continuing to the next place.
    weights : dict {system: weight}, or array-like of shape (n_systems,), default=None
        Weight of each system for a fixed method, at least 0; a dict has the columns of X as keys.
        It multiplies the system's contributions, with "condorcet" its votes; 0 leaves the system
        out. None means 1 for each.
    filtered : {"all", "any", "majority"}, default="all"
        Rows that are filtered in the result: filtered by all systems, by any system, or by more
        than half of them.
    measure : str, default="ndcg_f@10"
        Measure that coordinate ascent optimizes, see :class:`CoordinateAscentRanker`, and that
        `score` returns.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    random_state : int, RandomState instance or None, default=None
        Seed of coordinate ascent.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,), dtype float64
        Weight of each system. Weights of coordinate ascent may be negative, and their common factor
        is arbitrary.
    intercept_ : float
        Intercept of the fitted learner; 0.0 if it has none.
    learner_ : estimator
        The fitted learner, only with learned weights.
    n_unjudged_ : int
        Number of rows with a NaN label, which were left out when weights were learned.
    n_features_in_ : int
        Number of systems.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the systems, where X is a DataFrame.

    See Also
    --------
    fuse_runs : Fuses runs or scores in one call, with weights from other queries.
    RankAndFilter : Adds a threshold.

    Notes
    -----
    With :math:`r_s(d)` the rank of document d in the list of system s for the query, from 1,
    :math:`x_s(d)` its normalised score, :math:`w_s` the weight of the system, and n the number of
    systems that retrieve d, over which sums, medians, ... are taken:

    ============  ==========================================================================
    "rrf"         sum of :math:`w_s / (k + r_s(d))` [1]_
    "isr"         n times the sum of :math:`w_s / r_s(d)^2` [4]_
    "log_isr"     :math:`\log n` times the same sum: 0 where one system retrieves d alone [4]_
    "rbc"         sum of :math:`w_s (1 - p) p^{r_s(d) - 1}`, p being the persistence [5]_
    "borda"       sum of :math:`w_s (N + 1 - r_s(d))` [3]_
    "condorcet"   1, and 1 for each document that a majority of votes puts behind d, 1/2 for each
                  on a par [6]_
    "combsum"     sum of :math:`w_s x_s(d)` [2]_
    "combmnz"     n times this sum [2]_
    "combanz"     this sum divided by n [2]_
    "combmed"     median of :math:`w_s x_s(d)` [2]_
    "combmax"     highest :math:`w_s x_s(d)` [2]_
    "combmin"     lowest :math:`w_s x_s(d)` [2]_
    learned       intercept, plus the sum of :math:`w_s x_s(d)` [7]_
    ============  ==========================================================================

    N is the number of rows of the query that some system retrieves. For "borda", rows that s does
    not retrieve share the remaining points, as if they were tied after its list. For "condorcet",
    they are tied after its list, and a system does not vote on tied documents. Without cyclic
    majorities, the scores of "condorcet" are N for the best document down to 1 for the last.
    Documents in a cycle have equal or nearly equal scores.

    Rows with equal scores of a system get the mean of their ranks. If all scores of a list are
    equal, "minmax" makes them 1, "sum" equal shares, and "zscore" 0.

    NaN and -inf in X mean that the system does not retrieve the row, or filters it. The row then
    gets 0 from the system (except for the remaining points of "borda"). With "minmax", the last row
    of the list gets 0, too. With "zscore", 0 is the score of an average row, and "combmnz" also
    multiplies sums below 0, so use "zscore" only if every system scores every row. A row that no
    system retrieves has score -inf.

    Scores are normalised over all given rows of a query, in `fit` including unjudged rows;
    therefore `predict` needs whole queries. Within a RankAndFilter, which removes unjudged rows,
    training uses only judged rows: label unjudged rows 0 there if most rows are unjudged. Results
    of fixed methods are bit-equal for any order of the systems.

    If all gains are equal, coordinate ascent gives all systems weight 0, with a warning, and
    logistic regression raises.

    References
    ----------
    .. [1] G. Cormack, C. Clarke, S. Büttcher. "Reciprocal Rank Fusion Outperforms Condorcet and
       Individual Rank Learning Methods". SIGIR 2009.
    .. [2] E. Fox, J. Shaw. "Combination of Multiple Searches". TREC-2, 1994.
    .. [3] J. Aslam, M. Montague. "Models for Metasearch". SIGIR 2001.
    .. [4] A. Mourao, F. Martins, J. Magalhaes. "Multimodal Medical Information Retrieval with
       Unsupervised Rank Fusion". Computerized Medical Imaging and Graphics 39, 2015.
    .. [5] P. Bailey, A. Moffat, F. Scholer, P. Thomas. "Retrieval Consistency in the Presence of
       Query Variations". SIGIR 2017.
    .. [6] M. Montague, J. Aslam. "Condorcet Fusion for Improved Retrieval". CIKM 2002; documents
       are ordered by the majorities that they win, which no order of sorting can change.
    .. [7] C. Vogt, G. Cottrell. "Fusion via a Linear Combination of Scores". Information Retrieval
       1(3), 1999.

    Examples
    --------
    Weights that are learned:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from skfilterrank.ranking import RankFusion
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(50), 20)
    >>> y = pd.Series(rng.integers(0, 3, size=1000), index=pd.Index(groups, name="qid"))
    >>> X = y.to_numpy()[:, None] + rng.normal(size=(1000, 3)) * [1, 2, 20]
    >>> fusion = RankFusion("coordinate_ascent", random_state=0).fit(X, y)
    >>> fusion.score(X, y) > RankFusion("combsum").fit(X, y).score(X, y)
    True

    A method that is chosen by grouped cross-validation:

    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from skfilterrank.metrics import make_ranking_scorer
    >>> search = GridSearchCV(
    ...     RankFusion(),
    ...     {"method": ["rrf", "combsum", "combmax"], "weights": [[1, 1, 1], [2, 1, 0]]},
    ...     scoring=make_ranking_scorer("ap"),
    ...     cv=GroupKFold(5),
    ... )
    >>> search.fit(X, y, groups=groups).best_params_
    {'method': 'combsum', 'weights': [2, 1, 0]}
    """

    weights_: Any
    intercept_: float
    learner_: Any
    n_unjudged_: int
    n_features_in_: int
    feature_names_in_: Any

    needs_groups = True
    takes_unjudged = True

    def __init__(
        self,
        method: Any = "rrf",
        *,
        normalize: str | None = "minmax",
        rrf_k: float = 60,
        persistence: float = 0.8,
        weights: Any = None,
        filtered: str = "all",
        measure: str | Callable = "ndcg_f@10",
        gains: Gains = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.normalize = normalize
        self.rrf_k = rrf_k
        self.persistence = persistence
        self.weights = weights
        self.filtered = filtered
        self.measure = measure
        self.gains = gains
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y, groups=None) -> Self:  # type: ignore[override]  # fewer parameters
        """Learn the weights, or check the parameters of a fixed method.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_systems)
            Scores of each system, rows in any order; NaN or -inf where a system does not retrieve a
            row.
        y : array-like of shape (n_rows,)
            Labels. Weights are learned from rows whose label is not NaN, with a warning for others;
            fixed methods do not use labels.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, of any type. None looks for an index level "qid" on `y`, then on
            `X`. Without query ids each row is its own query, with a warning; this is possible only
            with ``normalize=None`` and a learner that does not use queries.

        Returns
        -------
        self : RankFusion
            The fitted fusion.

        Raises
        ------
        ValueError
            If a parameter is out of range, a score is +inf, arrays have different lengths, a label
            has no gain, query ids are missing; for learned weights also if no row is judged, or if
            the learner is not linear or cannot learn from these rows.
        """
        settings = self._check_parameters()
        groups = self._find_groups(X, y, groups)
        scores = self._check_X(X, reset=True)
        # Changes of the parameters have no effect before the next fit.
        self._settings = settings
        if not self._is_learned():
            n_labels = len(as_gains(y, self.gains, name="y"))
            if n_labels != len(scores):
                raise InputError(f"y has {n_labels} labels but X has {len(scores)} rows.")
            check_groups(groups, n_rows=len(scores), carrier="y as a Series")
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            self.weights_ = _check_weights(self.weights, list(names))
            return self
        learner = self._make_learner()
        if groups is None:
            self._check_single_rows(learner)
            groups = np.arange(len(scores))
        index = check_groups(groups, n_rows=len(scores))
        X = normalized(scores, index, self.normalize)
        data = prepare_rows(learner, X, y, index, gains=self.gains)
        self.n_unjudged_ = data.n_unjudged
        self.learner_ = data.fit(learner)
        coef = np.ravel(getattr(self.learner_, "coef_", ()))
        if coef.shape != (self.n_features_in_,):
            raise InputError(
                "method must be a linear estimator, which has a coef_ with one weight for each "
                f"of the {self.n_features_in_} systems once it is fitted; "
                f"{type(final_step(self.learner_)).__name__} has none."
            )
        self.weights_ = coef.astype(np.float64)
        # Without this, CoordinateAscentRanker would subtract its threshold from the scores.
        intercept = getattr(self.learner_, "intercept_", -getattr(self.learner_, "threshold_", 0.0))
        self.intercept_ = float(np.ravel(intercept)[0])
        if not self.weights_.any():
            warn_user(f"{_NO_WEIGHT}.{_INSTEAD}", FitWarning)
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Fuse the rows of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_systems)
            Scores of each system, whole queries in any order of rows.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`. Not needed by learned
            weights with ``normalize=None``.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Fused scores, higher is better, -inf where filtered.

        Raises
        ------
        ValueError
            If query ids are missing, a score is +inf, or the number of systems is another.
        """
        check_is_fitted(self)
        scores = self._check_X(X, reset=False)
        groups = find_groups(groups, X)
        if not len(scores):
            return np.empty(0)
        is_learned, normalize = self._settings["method"] is None, self._settings["normalize"]
        if groups is None and is_learned and normalize is None:
            groups = np.arange(len(scores))
        index = check_groups(groups, n_rows=len(scores), carrier="X as a DataFrame")
        if not is_learned:
            return fuse(scores, self.weights_, index, **self._settings)
        fused = normalized(scores, index, normalize) @ self.weights_ + self.intercept_
        fused[is_filtered(scores > -np.inf, self._settings["filtered"])] = -np.inf
        return fused

    def _check_parameters(self) -> dict[str, Any]:
        """Check the parameters, and return those of `fuse`."""
        if isinstance(self.method, str):
            check_choice(self.method, "method", [*METHODS, *LEARNED])
        elif isinstance(self.method, type) or not hasattr(self.method, "fit"):
            raise InputError(
                "method must be a name, such as 'rrf' or 'coordinate_ascent', or a linear "
                f"estimator, got {brief(self.method)}."
            )
        check_choice(self.normalize, "normalize", NORMALIZATIONS)
        check_choice(self.filtered, "filtered", FILTERED)
        settings = {
            "method": None if self._is_learned() else self.method,
            "normalize": self.normalize,
            "rrf_k": check_number(self.rrf_k, "rrf_k", least=0),
            "persistence": check_share(self.persistence, "persistence"),
            "filtered": self.filtered,
        }
        if self.weights is not None and self._is_learned():
            raise InputError(
                f"weights are learned by method={brief(self.method)}, got {brief(self.weights)}: "
                "leave weights out, or take a fixed method such as 'combsum'."
            )
        return settings

    def _is_learned(self):
        return not isinstance(self.method, str) or self.method in LEARNED

    def _make_learner(self):
        """Return the unfitted learner of the weights."""
        if self.method == "logistic":
            return LogisticRegression(max_iter=1000)
        if self.method == "coordinate_ascent":
            return CoordinateAscentRanker(
                measure=cast(str, self.measure), init="uniform", random_state=self.random_state
            )
        return self.method

    def _check_X(self, X, *, reset):
        """Return the scores, -inf where not retrieved."""
        check_container(X)
        refuse_dates(X)
        if are_runs(X):
            raise InputError(
                "X must be an array or DataFrame of scores by systems, but holds runs: "
                "fuse_runs(runs, method, qrels=qrels) learns from runs and fuses them."
            )
        scores = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=int(reset),
        )
        retrieved = scores > -np.inf
        names = getattr(self, "feature_names_in_", None)
        finite = np.where(retrieved, scores, 0.0)
        check_finite_columns(finite, owner=type(self).__name__, names=names)
        return np.where(retrieved, scores, -np.inf)

    def _check_single_rows(self, learner):
        """Raise if query ids are missing and needed; otherwise warn."""
        has_order = group_parameter(final_step(learner)) is not None
        if has_order or self.normalize is not None:
            why = (
                f"{type(final_step(learner)).__name__} orders the documents of a query"
                if has_order
                else f"normalize={brief(self.normalize)} compares the scores of a query's documents"
            )
            raise InputError(
                f"groups is missing: {why}. Pass groups=, the query id of each row, or give y as a "
                "pandas Series whose index has a level named 'qid'; or use normalize=None and "
                "method='logistic', which learns from single documents."
            )
        warn_user(
            "RankFusion was given no query ids: each row is its own query, and its scores are "
            "used unchanged. Pass groups=, the query id of each row, or give y an "
            "index level named 'qid'.",
            FitWarning,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


_Path = str | os.PathLike


@overload
def fuse_runs(
    runs: _Path | Sequence[_Path] | Mapping[Any, _Path | IO | pd.DataFrame],
    method: Any = "rrf",
    **settings: Any,
) -> pd.DataFrame: ...
@overload
def fuse_runs(
    runs: np.ndarray | pd.DataFrame | Mapping[Any, ArrayLike], method: Any = "rrf", **settings: Any
) -> np.ndarray: ...
def fuse_runs(
    runs,
    method="rrf",
    *,
    qrels=None,
    groups=None,
    depth: int | None = None,
    cv=5,
    unjudged: str = "zero",
    random_state=None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **settings,
) -> pd.DataFrame | np.ndarray:
    """Fuse runs, or several systems' scores of the same rows.

    Queries with judgments are fused with weights that were learned from other queries, so the fused
    list can be evaluated with the same judgments. Queries without judgments are fused with weights
    from all queries with judgments. This also holds for settings that a search selects.

    Parameters
    ----------
    runs : path, list of paths, dict of runs, or table of scores
        Runs in a form that :func:`skfilterrank.io.read_runs` accepts: a path, a list of paths, or a
        dict of names and paths, open files or DataFrames. Or scores of the same rows by systems,
        -inf where a system does not retrieve the row or filters it: a dict of arrays, a DataFrame,
        or an array of shape (n_rows, n_systems).
    method : str, linear estimator, RankFusion or search, default="rrf"
        The `method` of :class:`RankFusion`: one of the fixed methods, which need no judgments, or
        one that learns weights from `qrels`, "coordinate_ascent", "logistic" or a linear estimator.
        Or a RankFusion with its own settings, or a scikit-learn search around one, such as a
        GridSearchCV with :func:`skfilterrank.metrics.make_ranking_scorer` and ``cv=GroupKFold()``,
        which selects settings on the training queries. It is cloned. Coordinate ascent may take a
        minute where "logistic" takes a second.
    qrels : path, open file or DataFrame, or array-like of shape (n_rows,), default=None
        Judgments to learn from, None for fixed methods. For runs as
        :func:`skfilterrank.io.read_qrels` reads them; a DataFrame has the columns (or index levels)
        "qid", "docno" and "label". For scores the label of each row, NaN where unjudged; a Series
        may carry the query ids in an index level "qid".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row of scores, in any order; None looks for an index level "qid". Runs have
        their own query ids.
    depth : int or None, default=None
        Number of documents of each query in a fused run; None keeps them all.
    cv : int, float, splitter, iterable or None, default=5
        Cross-validation of the queries with judgments, as in :class:`RankAndFilter`; each must be
        held out once. With None, all judgments are used to learn weights for all queries.
    unjudged : {"zero", "drop"}, default="zero"
        Treatment of unjudged documents in training, for queries with judgments: gain 0, as in
        measures, or left out.
    random_state : int, RandomState instance or None, default=None
        Seed of coordinate ascent, if `method` has none. None draws a new one at every call.
    n_jobs : int or None, default=None
        Folds fitted at a time; results do not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over folds.
    **settings
        Parameters of :class:`RankFusion`: `normalize`, `rrf_k`, `persistence`, `weights`,
        `filtered`, `measure` and `gains`. The keys of `weights` as a dict are the names of the
        systems.

    Returns
    -------
    DataFrame with columns "qid", "docno" and "score", or ndarray of shape (n_rows,)
        For runs the fused run, queries sorted, the best document first, ready for
        :func:`skfilterrank.io.write_run`; filtered documents, and queries without other documents,
        are left out. For scores the fused scores, higher is better, -inf where filtered.
        ``attrs["learned"]`` of a fused run is a list with a dict for each model that was fitted:
        "n_queries" that it fused, its "weights" by run, and the "params" that a search selected.

    Raises
    ------
    ValueError
        If a parameter is out of range, query ids or judgments are missing, a score is NaN or +inf,
        systems score different numbers of rows, a run or the judgments hold a document twice in a
        query, all documents are filtered, or `cv` does not hold out every query once.

    See Also
    --------
    RankFusion : The formulas, and the estimator with the weights.
    skfilterrank.judgments.rank_table : Ranks of several runs side by side.

    Notes
    -----
    In given and fused runs, documents are ranked as in trec_eval: by score, ties by id, descending.
    In tables of scores, and for learned weights, rows of equal score get the mean of their ranks.

    Learned scores of queries from different folds come from different models, so they are
    comparable only within a query; a :class:`RankAndFilter` around a RankFusion finds a common
    threshold. Judged documents that no run retrieves are not used for fitting.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.ranking import fuse_runs
    >>> runs = {
    ...     "words": pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "score": [9.0, 4.0, 1.0]}),
    ...     "links": pd.DataFrame({"qid": "1", "docno": ["b", "d"], "score": [0.3, 0.2]}),
    ... }
    >>> fuse_runs(runs)
      qid docno     score
    0   1     b  0.032522
    1   1     a  0.016393
    2   1     d  0.016129
    3   1     c  0.015873

    Scores of the same rows; the third row is filtered by both systems:

    >>> import numpy as np
    >>> scores = {"words": [9.0, 4.0, -np.inf, 1.0], "links": [0.2, 0.3, -np.inf, -np.inf]}
    >>> fuse_runs(scores, groups=[7, 7, 7, 7])
    array([0.03252247, 0.03252247,       -inf, 0.01587302])
    >>> fuse_runs(scores, "combsum", groups=[7, 7, 7, 7], filtered="any")
    array([1.   , 1.375,  -inf,  -inf])

    Weights that are learned from labels, on other queries than those that they fuse:

    >>> from skfilterrank.metrics import ndcg_score
    >>> rng = np.random.default_rng(0)
    >>> groups, y = np.repeat(np.arange(50), 20), rng.integers(0, 3, size=1000)
    >>> systems = y[:, None] + rng.normal(size=(1000, 3)) * [1, 2, 20]
    >>> plain = fuse_runs(systems, groups=groups)
    >>> learned = fuse_runs(systems, "coordinate_ascent", qrels=y, groups=groups, random_state=0)
    >>> ndcg_score(y, learned, groups=groups) > ndcg_score(y, plain, groups=groups)
    True
    """
    check_choice(unjudged, "unjudged", ("zero", "drop"))
    check_random_state(random_state)
    check_count(depth, "depth", or_none=True)
    fusion = _as_fusion(method, settings)
    is_fixed = isinstance(fusion, RankFusion) and not fusion._is_learned()
    if is_fixed and qrels is not None:
        raise InputError(
            f"qrels has no effect on method={brief(fusion.method)}, which learns nothing: leave "
            f"it out, or use {', '.join(map(repr, LEARNED))}, a linear estimator or a search."
        )
    if not is_fixed and qrels is None:
        raise InputError(
            f"method={brief(method)} learns from judgments: pass qrels=, the judgments of runs or "
            "the label of each row of scores."
        )
    if isinstance(qrels, Mapping) and not is_by_query(qrels):
        raise InputTypeError(f"qrels must be labels or judgments, got a dict of systems: {ORDER}")
    is_table = _is_score_table(runs, groups)
    if is_table:
        if depth is not None:
            raise InputError("depth is for runs: leave it out, a score is returned for each row.")
        scores, names = _score_matrix(runs, groups, qrels)
        carriers = [qrels, runs] if qrels is not None else [runs]
        index = check_groups(
            groups,
            *carriers,
            n_rows=len(scores),
            names=("qrels", "runs")[-len(carriers) :],
            carrier="the scores as a DataFrame",
        )
        labels, documents = qrels, None
    else:
        if groups is not None:
            raise InputError(
                "groups is for scores: runs hold their queries themselves, leave it out."
            )
        table, queries, documents = score_table(runs)
        scores, names = table.to_numpy(), list(table.columns)
        index = GroupIndex.from_groups(queries)
        labels = qrels if is_fixed else _labels(table, qrels)
    learned = []
    if is_fixed:
        weights = _check_weights(fusion.weights, names)
        fused = fuse(scores, weights, index, tie_keys=documents, **fusion._check_parameters())
    else:
        if isinstance(fusion, RankFusion) and fusion.random_state is None:
            fusion.set_params(random_state=random_state)
        fused, learned = _fuse_held_out(
            fusion, scores, labels, index, cv, unjudged, n_jobs, verbose
        )
    if documents is None:
        return fused
    kept = np.flatnonzero(fused > -np.inf)
    if not len(kept):
        raise InputError(
            "the fused run is empty: every document is filtered. Use filtered='all', which keeps "
            "documents that any run retrieves."
        )
    kept = kept[np.lexsort((-documents[kept], -fused[kept], queries[kept]))]
    query_ids, document_ids = cast(pd.MultiIndex, table.index).levels
    run = pd.DataFrame(
        {
            "qid": query_ids.take(queries[kept]),
            "docno": document_ids.take(documents[kept]),
            "score": fused[kept],
        }
    )
    if depth is not None:
        run = run.groupby("qid", sort=False).head(depth).reset_index(drop=True)
    if learned:
        run.attrs["learned"] = [
            model | {"weights": dict(zip(names, model["weights"], strict=True))}
            for model in learned
        ]
    return run


def _is_score_table(runs, groups) -> bool:
    """Tell whether the argument is a table of scores rather than runs."""
    columns = getattr(runs, "columns", ())
    if are_runs(runs) or hasattr(runs, "read") or {"qid", "docno"} <= set(columns):
        return False
    if groups is not None:
        return True
    if isinstance(runs, Mapping):
        return bool(runs) and all(hasattr(scores, "__len__") for scores in runs.values())
    return hasattr(runs, "shape") or bool(isinstance(runs, list | tuple) and runs)


def score_table(runs) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return scores of runs side by side, -inf where not retrieved, with codes of both ids.

    The table has index levels "qid" and "docno", sorted, and a column for each run.
    """
    columns = read_runs(runs)
    queries, documents = (_number_ids(columns, key) for key in ("qid", "docno"))
    pairs = queries.codes().astype(np.int64) * documents.n_queries + documents.codes()
    pool, rows = np.unique(pairs, return_inverse=True)
    values = np.full((len(columns), len(pool)), -np.inf)
    ends = np.cumsum([len(run) for run in columns.values()])
    for column, (name, run), own in zip(values, columns.items(), np.split(rows, ends)):
        repeated = pd.Series(own).duplicated()
        if repeated.any():
            row = int(repeated.argmax())
            raise InputError(
                f"run {brief(name)} holds document {brief(run['docno'].iloc[row])} twice in query "
                f"{brief(run['qid'].iloc[row])}: keep one of the rows."
            )
        column[own] = run["score"]
    # The index is built from codes, which avoids factorizing the ids again.
    index = pd.MultiIndex(
        levels=[queries.query_ids, documents.query_ids],
        codes=np.divmod(pool, documents.n_queries),  # type: ignore[arg-type]  # arrays do, too
        names=["qid", "docno"],
        verify_integrity=False,
    )
    table = pd.DataFrame(values.T, index=index, columns=list(columns), copy=False)
    # Narrow integers are sorted faster.
    query_codes, document_codes = map(np.asarray, index.codes)
    return table, query_codes, document_codes


def _number_ids(columns, key) -> GroupIndex:
    """Number the ids of all runs in sorted order."""
    parts = [run[key] for run in columns.values()]
    ids = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    try:
        return GroupIndex.from_groups(ids)
    except ValueError as error:
        raise InputError(f"column {brief(key)} of the runs: {error}") from None


def _as_fusion(method, settings):
    """Return a new RankFusion, or a search around one."""
    is_type = isinstance(method, type)
    if not is_type and isinstance(getattr(method, "estimator", method), RankFusion):
        if settings:
            raise InputError(
                f"{', '.join(settings)} of a given {type(method).__name__} must be set in it, as "
                "in fuse_runs(runs, RankFusion('combsum', normalize='zscore'))."
            )
        return clone(method)
    fusion = RankFusion(method, **settings)
    fusion._check_parameters()
    return fusion


def _score_matrix(scores, groups, qrels):
    """Return a score matrix with one column per system, and the names of the systems."""
    columns = columns_of(scores, "runs")
    carriers = [qrels, *(columns.values() if isinstance(scores, Mapping) else [scores])]
    find_groups(groups, *carriers, names=("qrels", *["runs"] * (len(carriers) - 1)))
    if not columns:
        raise InputError("runs holds no system: expected at least one column of scores.")
    checked = []
    for name, column in columns.items():
        try:
            checked.append(check_scores(column, name="y_score"))
        except ValueError as error:
            error.add_note(f"The error concerns the scores of {brief(name)}.")
            raise
    lengths = {name: len(column) for name, column in zip(columns, checked)}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"runs holds different numbers of scores: {brief_list(lengths)}; every system "
            "scores all rows, with -inf where it does not retrieve."
        )
    if not len(checked[0]):
        raise InputError("runs is empty: expected at least one row.")
    matrix = np.column_stack([column.astype(np.float64, copy=False) for column in checked])
    return matrix, list(columns)


def _check_weights(weights, names) -> np.ndarray:
    """Return one weight per system, in the order of the systems."""
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping | pd.Series):
        weights = dict(weights)
        if set(weights) != set(names):
            raise InputError(
                f"weights must name every system and no other, {brief_list(names)}, got those of "
                f"{brief_list(list(weights))}."
            )
        weights = [weights[name] for name in names]
    checked = check_numbers(weights, "weights", entry="number").astype(np.float64)
    if len(checked) != len(names):
        raise InputError(
            f"weights must hold one number for each of the {len(names)} systems, got "
            f"{brief(weights)}."
        )
    if not (np.isfinite(checked) & (checked >= 0)).all() or not checked.any():
        raise InputError(
            f"weights must be finite, from 0 up and not all 0, got {brief(weights)}; 0 leaves a "
            "system out."
        )
    return checked


def _fuse_held_out(fusion, scores, labels, index, cv, unjudged, n_jobs, verbose):
    """Fuse judged queries with out-of-fold models, and other queries with a model of all."""
    gains = as_gains(labels, getattr(fusion, "gains", None), name="qrels")
    if len(gains) != len(scores):
        raise InputError(f"qrels has {len(gains)} labels but runs score {len(scores)} rows.")
    codes, judged = index.codes(), ~np.isnan(gains)
    if not judged.any():
        raise InputError("qrels holds no judged row: expected at least one label that is not NaN.")
    if isinstance(fusion, RankFusion):
        fusion.set_params(gains=None)
    has_judged = np.bincount(codes, judged, minlength=index.n_queries)[codes] > 0
    if unjudged == "zero":
        gains = np.where(has_judged & ~judged, 0.0, gains)
    # Folds keep unjudged rows, since scores are normalised over all rows of a query.
    rows = np.flatnonzero(has_judged)
    fused, folds = np.empty(len(scores)), []
    if cv is not None:
        numbers = GroupIndex.from_groups(codes[rows]).codes()
        splits = _checked_splits(cv, gains[rows], numbers)
        folds = [(rows[train], rows[test]) for train, test in splits]
    rest = np.ones(len(scores), dtype=bool)
    for _, test in folds:
        rest[test] = False
    if rest.any():
        folds.append((rows, np.flatnonzero(rest)))
    parts = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit_and_fuse)(fusion, scores, gains, codes, train, test) for train, test in folds
    )
    bar = progress_bar(
        parts, total=len(folds), desc="folds", unit="fold", disable=not verbose, leave=None
    )
    learned = []
    for (_, test), (values, weights, chosen) in zip(folds, bar):
        fused[test] = values
        n_queries = len(np.unique(codes[test]))
        learned.append({"n_queries": n_queries, "weights": weights, "params": chosen})
    if n_without := sum(not any(model["weights"]) for model in learned):
        warn_user(f"{_NO_WEIGHT}, in {n_without} of {len(learned)} fits.{_INSTEAD}", FitWarning)
    return fused, learned


def _fit_and_fuse(fusion, scores, gains, codes, train, test):
    """Fuse some rows with weights learned from other rows."""
    how = {"groups": codes[test]}
    X_train, X, y = scores[train], scores[test], gains[train]
    if not isinstance(fusion, RankFusion):
        # The index has the query ids, because a search passes no groups in predict.
        of_train, of_test = (pd.Index(codes[rows], name="qid") for rows in (train, test))
        X_train, y = pd.DataFrame(X_train, index=of_train), pd.Series(y, index=of_train)
        X, how = pd.DataFrame(X, index=of_test), {}
    with warnings.catch_warnings():
        # No warning about left-out rows: the user chose unjudged="drop".
        warnings.simplefilter("ignore", UnjudgedWarning)
        # All folds are warned of at once, also those that other processes fit.
        warnings.filterwarnings("ignore", _NO_WEIGHT, FitWarning)
        model = clone(fusion).fit(X_train, y, groups=codes[train])
    chosen = getattr(model, "best_params_", {})
    weights = getattr(model, "best_estimator_", model).weights_.tolist()
    return model.predict(X, **how), weights, chosen


def _checked_splits(cv, gains, numbers):
    """Return splits that hold out every row once and do not divide queries."""
    if is_prefit(cv):
        raise InputError("cv='prefit' is not for fuse_runs: call predict of a fitted RankFusion.")
    splits = make_splits(cv, gains, numbers, single=False)
    check_each_held_out_once(cv, splits, len(numbers))
    return splits


def _labels(table, qrels):
    """Return the label of each row of a score table, NaN where unjudged."""
    is_frame = isinstance(qrels, pd.DataFrame)
    if not is_frame or "qid" not in [*qrels.columns, *qrels.index.names] or "judged_by" in qrels:
        try:
            qrels = read_qrels(qrels)
        except InputTypeError as error:
            raise InputError(f"qrels must be judgments for runs: {error}") from None
    levels = [level for level in qrels.index.names if level not in (None, *qrels.columns)]
    frame = qrels.reset_index(level=levels) if levels else qrels
    missing = {"qid", "docno", "label"} - set(frame.columns)
    if missing:
        raise InputError(
            f"qrels has no column {', '.join(map(repr, sorted(missing)))}; its columns are "
            f"{brief_list(frame.columns)}."
        )
    if is_sample(frame["label"], frame.get(PROBABILITY)):
        refuse_sample("qrels")
    labels = frame.set_index(["qid", "docno"])["label"]
    if labels.index.has_duplicates:
        query, document = labels.index[labels.index.duplicated()][0]
        raise InputError(
            f"qrels holds document {brief(document)} twice in query {brief(query)}: keep one of "
            "the rows."
        )
    of_rows = labels.reindex(table.index)
    if of_rows.isna().all():
        raise InputError(
            "no document that a run retrieves is judged: the runs hold queries and documents such "
            f"as {table.index[0]}, the judgments {labels.index[0]}; bring them to one form."
        )
    return of_rows.to_numpy()
