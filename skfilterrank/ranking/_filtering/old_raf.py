"""RankAndFilter: any estimator, and the threshold that makes it a filter."""

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from skfilterrank._all_or_nothing import all_or_nothing
from skfilterrank._core.arrays import is_dask, label_array
from skfilterrank._core.checks import check_groups, is_level
from skfilterrank._core.cut_queries import count_known_queries
from skfilterrank._core.inside import fitted_end
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.query_weights import QueryWeight, query_weights
from skfilterrank._core.same_value import value_tolerance
from skfilterrank._core.scoring import mean_over_queries
from skfilterrank._core.student_t import mean_and_error
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.ranking._filtering.cluster_fit import fit_on_partitions
from skfilterrank.thresholds._cuts import ScoreCut
from skfilterrank.ranking._filtering.filtering_ranker import FilteringRanker
from skfilterrank.thresholds._list_filter import held_out_shown, values_shown
from skfilterrank.thresholds._list_sizes import scored_sizes, size_range
from skfilterrank.ranking._filtering.parameters import (
    check_parameters,
    is_search,
    last_place,
    make_list_filter,
)
from skfilterrank._core.prefixes import places, ties_worst_first
from skfilterrank.thresholds._certify import certify, machine_labels
from skfilterrank.thresholds._score_scale import Calibration
from skfilterrank.thresholds._threshold_curve import (
    measure_and_places,
    utility_curve,
    warn_unless_filter_pays,
    warn_without_good,
)
from skfilterrank.ranking._filtering.tuning import fold_results, tuning_scores
from skfilterrank.ranking._fitting.score_column import ScoreColumn
from skfilterrank.ranking._fitting.targets import learns_labels
from skfilterrank.ranking._fitting.training_data import prepare_rows
from skfilterrank.ranking._fitting.wrapping import estimators_inside

_RISK_WITHOUT_GROUPS = (
    "threshold='risk' certifies a rate over queries, so it needs query ids: pass groups=, the "
    "query id of each row, or give y as a Series with an index level named 'qid'. Where each row "
    "really is a query of its own, say so with groups=np.arange(len(y))."
)
_TUNED_ATTRIBUTES = (
    "threshold_curve_",
    "fold_threshold_curves_",
    "query_threshold_",
    "risk_certificate_",
    "best_score_",
    "held_out_score_",
    "held_out_score_unfiltered_",
    "cv_results_",
    "list_sizes_",
    "calibration_",
)


def _instead(threshold, abstain):
    """Name the parameters that filter nothing."""
    if not is_search(threshold):
        return "abstain=None to answer every query"
    both = "" if abstain is None else " and abstain=None"
    return f"threshold=None{both} to show every document"


class RankAndFilter(FilteringRanker, BaseEstimator):
    """Rank each query's documents by an estimator's score and filter those under a threshold.

    The estimator learns from judged (query, document) rows; the threshold is the exact optimum of
    a measure, nDCG_f unless told otherwise, over the scores that query-grouped cross-validation
    gives to rows its models have not seen.

    Parameters
    ----------
    estimator : estimator
        A classifier (learns which gains are above 0 and scores by their probability), a regressor
        (learns the gain), a ranker such as LGBMRanker, XGBRanker, CatBoostRanker or
        LambdaRankRanker (learns the order of the gains), or a Pipeline that ends in one. Where
        there are scores already, as those of a cross-encoder or an API, "passthrough": X is one
        score per row, in one dimension or in one column, or a table with a column "score", and
        nothing is learned but the threshold, from all rows (`cv` is None) or fold by fold.
    target : {"auto", "binary", "gain", "grade", "label"}, default="auto"
        What the estimator is given to learn. "binary": 1 where the gain is above 0. "gain": the
        gain. "grade": the rank of the gain among the distinct gains, 0 for the lowest. "label":
        the label as it is. "auto" decides by the kind of estimator.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents. Where `estimator` has a parameter `gains`, too, set this one
        alone: what is inside is given gains.
    k : int or None, default=None
        Number of places of the returned list that count for the threshold and for the risk; None
        means all.
    measure : str, default="ndcg_f"
        Measure the threshold maximises and :meth:`score` returns: a name of the measure table
        such as "ndcg_f@10", or one of the measure functions.
    threshold : str, float or None, default="tune"
        Where each list is cut. By one threshold on the score: "tune", the best one, exactly for
        any measure; "risk", the best at which `risk` on new queries is guaranteed to be low; a
        float is used as it is; None filters nothing. For each query its own, for nDCG_f alone:
        "per_query", learned from the scores of its documents; "expected", the prefix of the
        highest expected nDCG_f by calibrated probabilities of the gains, for lists of other sizes
        than those of `fit`. By the rules of the literature: "first_k", the same number of
        documents for all, the best one; "largest_gap", before the largest gap between two scores;
        "surprise", the best level of how unlikely a score is among those of its list.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing of a query whose scores are less sure than a level, which is the best for the
        measure once the lists are cut; as in :func:`answer_curve`.
    max_shown, min_shown : int or None, default=None
        Documents of each query that are shown at most, and at least, where there are as many. Of
        documents of equal score those that come first are shown.
    risk : str, callable, dict or None, default=None
        For ``threshold="risk"``, the rate to keep low: "forbidden", the share of the shown top k
        that is forbidden; "false_reject_rate", the share of a query's good documents that is
        filtered; "any_forbidden", the share of queries that show any forbidden document in the top
        k; a function ``loss(y_true, shown, groups)``; or a dict of several with their levels. See
        :func:`risk_threshold`.
    max_risk : float, default=0.05
        Highest value of that rate, where it is one.
    confidence : float, default=0.9
        Probability, over the draw of the calibration queries, that no rate is higher.
    guarantee : {"confidence", "expectation"}, default="confidence"
        Whether rates are kept with that probability, or on average over the draws.
    show_beyond_k : bool, default=False
        Whether to show more documents of a query than the cut-offs of the promised rates cover. If
        not, lists end at the smallest of these cut-offs.
    cv : int, float, splitter, iterable, "prefit" or None, default=None
        How out-of-fold scores come about. None: 5 folds by query (GroupKFold, shuffled with a
        fixed seed), with ``threshold="risk"`` one split that holds out 0.3 of the queries. An int:
        that many folds. A float between 0 and 1: one split that holds out that share of the
        queries. A splitter or an iterable of (train, test) row numbers is used as it is; a query
        that it holds out several times counts as often, except with ``threshold="risk"``, where
        that is an error. "prefit": `estimator` is fitted already, and all rows given to `fit` tune
        the threshold.
    refit : bool or "auto", default="auto"
        Whether to fit the estimator on all rows after the threshold is found. False needs a `cv`
        of one split and keeps that split's model. "auto" refits, except where
        ``threshold="risk"`` has one split.
    rescale : {"auto", True, False}, default="auto"
        Whether to bring each fold's scores to the scale of the refitted model, before the
        threshold is tuned on them, by the mean and the standard deviation of the scores each model
        gives to rows it was trained on. "auto" rescales scores of rankers, whose loss leaves their
        scale open, and neither probabilities nor predicted gains.
    n_jobs : int or None, default=None
        Folds fitted at a time; results do not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over folds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    threshold_ : float or None
        Rows with ``score >= threshold_`` are kept; None where nothing is filtered or each query
        has its own.
    threshold_curve_ : ThresholdCurve
        The measure at every threshold, over all out-of-fold scores; with "first_k" and "surprise"
        at every level of what they look at: the place, negated, and the surprise. Only after
        tuning.
    fold_threshold_curves_ : list of ThresholdCurve
        The measure at every threshold on the score for each fold alone, without caps.
    query_threshold_ : ListFilter
        What is shown of each list, where that depends on more than each score by itself.
    risk_certificate_ : RiskCertificate
        What is guaranteed of the threshold; its `str` says it. Only with ``threshold="risk"``.
    tuned_measure_ : str
        Name of the measure with its cut-off, such as "ndcg_f@3".
    best_score_ : float
        The measure of the out-of-fold scores at the chosen threshold; like all its values here,
        negated where lower is better. Where a level was chosen as the best of these scores, an
        optimistic number for new queries.
    held_out_score_ : float
        The same where the level for each fifth of the queries is chosen on the others: what to
        expect of new ones. Not with ``threshold="risk"``, and not of a single query.
    held_out_score_unfiltered_ : float
        The same without what was chosen: all is shown but for `max_shown` and a fixed threshold.
        `fit` warns unless `held_out_score_` is higher by more than a standard error of the
        difference, paired by query.
    list_sizes_ : ndarray of shape (2,), dtype float64
        Usual sizes of the lists on which a level was chosen, from and to (5 and 95 %); rows that
        score -inf are no part of a list.
    calibration_ : Calibration or None
        The scores that were given with "passthrough" and that the threshold was chosen on: their
        ``quantiles``, the ``share_shown``, and ``n_queries``. None for other estimators; not set
        where `threshold` is a number or None, nor by a fit on Dask DataFrames.
    cv_results_ : dict of ndarrays of shape (n_folds,)
        For each fold ``n_queries``, ``fit_time`` and ``score_time`` in seconds, ``test_score`` at
        the chosen threshold, and ``best_threshold`` and ``best_score`` of the fold alone; of a fit
        on Dask DataFrames ``n_queries``, ``fit_time`` and ``test_score``.
    n_unjudged_ : int
        Rows with a NaN label, which are scored but not learned from.
    feature_importances_, coef_ : ndarray of shape (n_features_in_,), dtype float64
        Of the last step inside, where it has them.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    threshold_curve : The tuning alone, for scores from anywhere.
    risk_threshold : The threshold with a guarantee, for scores from anywhere.
    skfilterrank.metrics.make_ranking_scorer : Scorers for GridSearchCV.

    Notes
    -----
    The learning to rank and filter framework of section 5 in [1]_; there the threshold is tuned
    on one validation set. Fitted without any query ids, each row is its own query (pure
    filtering), with a warning; estimators that learn within queries and ``threshold="risk"`` raise.

    The guarantee of ``threshold="risk"`` is exact where the model that is used has given the
    scores of the calibration queries without having seen them: with one split and without refit,
    as by default, or with ``cv="prefit"`` and queries that the estimator was not fitted on. With
    several folds, or ``refit=True``, a model fitted on all rows takes the place of those that were
    calibrated. Then the guarantee is an approximation, for which no theorem speaks: it gains
    training and calibration queries, and ``risk_certificate_.exact`` is False.

    Two things the certificate cannot know. What a "prefit" estimator was fitted on is up to you,
    and the certificate says so. And settings that were chosen with the help of the same queries, as
    by a GridSearchCV around this, have seen them as well: whatever ``exact`` says, the guarantee is
    then an approximation. Choose settings on some queries, and fit the chosen model on others.

    Fit parameters other than `groups` go to the estimator: per-row ones are cut to each fold, and
    ``eval_set=[(X, y)]`` with ``eval_groups=[groups]`` reaches rankers that stop early, whatever
    names and order they want. In a Pipeline, "step__parameter" names the step and plain names go
    to the last.

    The best single threshold depends on how long lists are, since nDCG_f is normalised within each
    query: for lists of one document it is where P(good) = 1/2 whatever a forbidden one costs. So
    `predict` warns once where more than a quarter of at least 30 lists are clearly other than those
    the level was chosen on, shorter or longer; ``threshold="expected"`` follows the size.

    A threshold is of no use for scores of another kind, such as logits where it was chosen on
    probabilities. So `predict` and `rank` warn once after a fit, as soon as they were asked about
    at least 30 lists since they last looked, if the middle 80 % of all scores spread over less than
    a third or more than three times of what they did in `fit`, or if their median lies outside of
    the middle 98 %. A logistic function divides every spread by at least 4. Fewer lists, there or
    here, are never warned of; it takes more than 30 where a few lists hold most documents.

    **On a cluster.** Where X is a Dask DataFrame, `y` and `groups` are Dask Series of the same
    partitions, and the estimator is XGBoost's or LightGBM's for Dask, such as DaskXGBRanker, or
    is fitted already. Whole queries are brought together first, in whatever order rows come, folds
    are by a hash of the query id, and the exact threshold is found without collecting scores.
    `estimator_` is then the same library's model for one process. Thresholds are "tune", a number
    or None, and there are no curves, caps, `abstain`, weights and held-out sets. `predict` and
    `decision_function` of any model give a Dask Series of a Dask DataFrame.

    With `min_shown` nothing is promised, and ``threshold="risk"`` raises. With `max_shown` the
    promise holds of the lists that the cap leaves, and the threshold is the best for these. A
    promise of the top k covers no document behind it: the filter shows at most k documents, by the
    smallest cut-off where several rates are promised, so that `predict` and the others need query
    ids. With ``show_beyond_k=True`` it shows all above the threshold, and the certificate says so.

    Of documents of equal score a cap shows those that come first. `fit` counts as if the worst of
    them came first, so that no order of its rows makes a threshold or a score look better.

    Rows may come in any order, but LightGBM's, XGBoost's and CatBoost's rankers break ties by the
    order of a query's rows, so that another order gives other trees and scores; CatBoost's by the
    order of the queries too, which are sorted by their ids.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022, https://doi.org/10.1145/3477495.3532006.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import RankAndFilter
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=400, random_state=0)
    >>> model = RankAndFilter(LogisticRegression(), k=3).fit(X, y, groups=groups)
    >>> scores = model.predict(X)  # -inf where filtered
    >>> model.rank(X, groups=groups)[:3]  # places in each query's list, 0 where filtered
    array([...])
    >>> model.score(X, y, groups=groups) > RankAndFilter(
    ...     LogisticRegression(), k=3, threshold=None
    ... ).fit(X, y, groups=groups).score(X, y, groups=groups)
    True

    A threshold for scores from anywhere:

    >>> scores = model.decision_function(X)
    >>> cut = RankAndFilter("passthrough", k=3).fit(scores, y, groups=groups)
    >>> bool(cut.threshold_ == cut.threshold_curve_.best_threshold)
    True

    Nothing for queries whose best score is low, and three documents at most:

    >>> shy = RankAndFilter("passthrough", k=3, abstain="best_score", max_shown=3)
    >>> shown = shy.fit(scores, y, groups=groups).rank(scores, groups=groups)
    >>> int(shown.max())
    3

    At most one query in ten is to show a forbidden document in its top 3:

    >>> safe = RankAndFilter(
    ...     LogisticRegression(), k=3, threshold="risk", risk="any_forbidden", max_risk=0.1
    ... ).fit(X, y, groups=groups)
    >>> print(safe.risk_certificate_)
    With confidence 0.9, the share of queries with a forbidden document in the shown top 3 is at
    most 0.1 on new queries, at threshold ...: on 120 calibration queries it is ...
    """

    # Labels of machines are to be told by `judged_by`.
    takes_judged_by = True

    __metadata_request__fit = {"query_weight": True, "judged_by": True}  # noqa: RUF012

    def __init__(
        self,
        estimator,
        *,
        target="auto",
        gains=None,
        k=None,
        measure="ndcg_f",
        threshold="tune",
        abstain=None,
        max_shown=None,
        min_shown=None,
        risk=None,
        max_risk=0.05,
        confidence=0.9,
        guarantee="confidence",
        show_beyond_k=False,
        cv=None,
        refit="auto",
        rescale="auto",
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.target = target
        self.gains = gains
        self.k = k
        self.measure = measure
        self.threshold = threshold
        self.abstain = abstain
        self.max_shown = max_shown
        self.min_shown = min_shown
        self.risk = risk
        self.max_risk = max_risk
        self.confidence = confidence
        self.guarantee = guarantee
        self.show_beyond_k = show_beyond_k
        self.cv = cv
        self.refit = refit
        self.rescale = rescale
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __setstate__(self, state):
        # Models of version 0.1.0.dev0 lack the parameter.
        super().__setstate__({"show_beyond_k": False} | state)

    @all_or_nothing
    def fit(
        self,
        X,
        y,
        groups=None,
        *,
        eval_set=None,
        eval_groups=None,
        query_weight: QueryWeight = None,
        judged_by=None,
        **fit_params,
    ) -> "RankAndFilter":
        """Fit the estimator and find the threshold.

        Parameters
        ----------
        {X}
        {y}
        {groups}
        {eval_set}
        {eval_groups}
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            What each query counts in the mean that the threshold makes best, as in
            :func:`skfilterrank.metrics.ndcg_f_score`. The estimator does not get it.
        judged_by : array-like of shape (n_rows,), default=None
            Who gave each label, as in :func:`risk_threshold`; `risk_certificate_` states how many
            labels are of machines.
        {fit_params}

        Returns
        -------
        self : RankAndFilter
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of range, arrays have different lengths, a label has no gain, a
            ranker or ``threshold="risk"`` is given no queries, a classifier nothing to tell apart,
            or there are fewer queries than folds, or than `risk` needs.
        """
        parsed, k = measure_and_places(self.measure, self.k)
        check_parameters(self, parsed.measure)
        for name in _TUNED_ATTRIBUTES:
            self.__dict__.pop(name, None)
        if is_dask(X):
            of_rows = {"query_weight": query_weight, "judged_by": judged_by, "eval_set": eval_set}
            if given := [name for name, value in of_rows.items() if value is not None]:
                raise InputError(
                    f"{given[0]} is not possible where X is a Dask DataFrame: leave it out, or fit "
                    "on rows in memory."
                )
            self.tuned_measure_, self._k = parsed.text, k
            fit_on_partitions(self, X, y, groups, self._inside_parameters(fit_params))
            return self
        groups = self._find_groups(X, y, groups)
        if self.threshold == "risk" and groups is None:
            raise InputError(_RISK_WITHOUT_GROUPS)
        inner, is_prefit = self._unfitted_inner(), self._is_prefit()
        data = prepare_rows(
            inner,
            X,
            y,
            groups,
            gains=self.gains,
            target=self.target,
            prefit=is_prefit,
            eval_set=eval_set,
            eval_groups=eval_groups,
            fit_params=self._inside_parameters(fit_params),
            without_groups="RankAndFilter was fitted without query ids: each row is taken for a "
            "query of its own (pure filtering).",
        )
        weights = self._query_weights(query_weight, groups, len(data.groups))
        # Labels of machines among the rows that a promise is made from.
        machines = None if judged_by is None else machine_labels(judged_by, data.gains)
        self.n_unjudged_ = data.n_unjudged
        as_labels = learns_labels(inner, self.target, prefit=is_prefit)
        self._score_gains = self.gains if as_labels else None
        self.tuned_measure_, self._k = parsed.text, k
        if is_search(self.threshold) or self.abstain is not None:
            ids = data.groups if groups is None else np.asarray(groups)
            self._tune(data, label_array(y), weights, ids, machines)
        else:
            self.threshold_ = None if self.threshold is None else float(self.threshold)
            self.estimator_ = inner if is_prefit else data.fit(inner)
            if self._looks_at_lists():
                self.query_threshold_ = make_list_filter(self).of_level()
        return self

    def _query_weights(self, query_weight, groups, n_rows):
        """Weight of each query by its number in the data, or None."""
        if query_weight is None:
            return None
        if isinstance(self.threshold, str) and self.threshold != "tune":
            raise InputError(
                f"query_weight is not possible with threshold={brief(self.threshold)}, which "
                "counts each query once: use threshold='tune', or leave query_weight out."
            )
        index = check_groups(np.arange(n_rows) if groups is None else groups, n_rows=n_rows)
        return query_weights(query_weight, index)

    def _tune(self, data, labels, weights, ids, machines):
        """Find the threshold from out-of-fold scores, and fit the final model."""

        def weights_of(index):
            # A query that is held out several times has as many numbers.
            return None if weights is None else weights[index.query_ids % len(weights)]

        def curve_of(gains, scores, index):
            lists = RankedLists(gains, scores, groups=index)
            lists.weights = weights_of(index)
            return utility_curve(lists, self._score_measure())

        tuning = tuning_scores(self, data, self._score_gains, labels, threshold=self.threshold)
        self.estimator_ = tuning.estimator
        scores, index = tuning.scores, tuning.index
        if self._looks_at_lists():
            # The order of rows breaks ties: that in which they came must not matter.
            worst_first = ties_worst_first(data.gains[tuning.rows], scores, index)
            tuning = tuning._replace(rows=tuning.rows[worst_first])
        truth = data.gains[tuning.rows]
        lists = RankedLists(truth, scores, groups=index)
        lists.weights = weights_of(index)
        warn_without_good(truth)
        # Several lists may be of one query.
        units = index.query_ids % (int(data.groups.max()) + 1)
        parsed, choose = self._score_measure(), None
        if self.threshold == "risk":
            if n_repeated := np.count_nonzero(np.bincount(units) > 1):
                raise InputError(
                    f"cv={brief(self.cv)} holds out {n_repeated} queries several times, and a "
                    "promise counts each once: use splits that hold out a query once at most, "
                    "such as cv=0.3 or GroupKFold."
                )
            inner = self._unfitted_inner()
            fitted = [fitted_end(inner), *estimators_inside(inner)] if self._is_prefit() else []
            n_known = count_known_queries(fitted, data.X, ids)

            def choose(curve, lists):
                certificate = self._certificate(curve, lists, tuning, labels, ids, n_known)
                if machines is not None:
                    n_machine = int(np.count_nonzero(machines[np.unique(tuning.rows)]))
                    certificate = replace(certificate, n_machine=n_machine)
                self.risk_certificate_ = certificate
                return certificate.threshold

        found = make_list_filter(self).fit(lists, parsed, choose, units)
        self.threshold_curve_ = found.curve_
        if self._looks_at_lists():
            self.query_threshold_ = found
        if found.cut.level is None and self.fitted_with_groups_:
            self.list_sizes_ = size_range(scores, index)
        # Scores out of fold and those of the model fitted on all rows may differ in spread.
        self.calibration_ = None
        if isinstance(self._unfitted_inner(), ScoreColumn):
            sizes = scored_sizes(scores, index)
            self.calibration_ = Calibration.of(scores, found.out_of_fold_shown_, sizes)
        is_by_score = isinstance(found.cut, ScoreCut) and self.threshold is not None
        self.threshold_ = found.level_ if is_by_score else None

        kept = np.where(found.out_of_fold_shown_, scores, -np.inf)
        per_query = parsed.utility(truth, kept, groups=index, average=None)
        self.best_score_ = mean_over_queries(per_query, lists.weights)
        if self.threshold != "risk" and units.min() < units.max():
            # What has no level was learned out of fold by itself.
            values = per_query
            if found.cut.level is None or self.abstain is not None:
                held_out = held_out_shown(lambda: make_list_filter(self), lists, parsed, units)
                values = values_shown(lists, held_out, parsed)
            self.held_out_score_ = mean_over_queries(values, lists.weights)
            self._compare_with_unfiltered(lists, values, units)
        self.fold_threshold_curves_, self.cv_results_ = fold_results(
            tuning.folds, data.gains, data.groups, per_query, curve_of, weights_of
        )

    def _compare_with_unfiltered(self, lists, values, units):
        """Measure held-out queries without the filter; warn where the filter does not pay.

        `values` has the measure of each list with the filter.
        """
        unfiltered = lists.scores > -np.inf
        if is_level(self.threshold):
            unfiltered &= lists.scores >= self.threshold
        if self.max_shown is not None:
            unfiltered &= places(lists.scores, lists.index) < self.max_shown
        plain = values_shown(lists, unfiltered, self._score_measure())
        self.held_out_score_unfiltered_ = mean_over_queries(plain, lists.weights)
        # Lists of one query, which is held out several times, count as one.
        n_lists = np.bincount(units)
        differences = (np.bincount(units, values - plain) / np.maximum(n_lists, 1))[n_lists > 0]
        differences[np.abs(differences) <= value_tolerance(plain)] = 0.0
        weights = None
        if lists.weights is not None:
            weights = (np.bincount(units, lists.weights) / np.maximum(n_lists, 1))[n_lists > 0]
        warn_unless_filter_pays(
            self.held_out_score_,
            self.held_out_score_unfiltered_,
            *mean_and_error(differences, weights)[:2],
            instead=_instead(self.threshold, self.abstain),
        )

    def _certificate(self, curve, lists, tuning, labels, ids, n_known):
        """The threshold with a guarantee."""
        try:
            certificate = certify(
                curve,
                lists,
                risk=self.risk,
                max_risk=self.max_risk,
                confidence=self.confidence,
                guarantee=self.guarantee,
                k=self._k,
                labels=labels[tuning.rows],
                parsed=self._score_measure(),
                scores=tuning.scores,
                most=last_place(self),
                names=(ids[tuning.rows], tuning.rows),
            )
        except ValueError as error:
            if tuning.folds:
                error.add_note(
                    f"cv={brief(self.cv)} gives {tuning.index.n_queries} queries to calibrate on."
                )
            raise
        exact = tuning.is_calibrated
        if n_known:
            exact = False
            warn_user(
                f"{n_known} of {tuning.index.n_queries} calibration queries are queries that the "
                "estimator was fitted on, so that the promise need not hold of new ones. Calibrate "
                "on queries that it has not seen.",
                FitWarning,
            )
        return replace(certificate, exact=exact, assumes_unseen=self._is_prefit())
