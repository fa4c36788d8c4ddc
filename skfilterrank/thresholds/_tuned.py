"""The best threshold on a score, exactly."""

from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import warn_of_forbidden
from skfilterrank.thresholds._judged_scores import usual_sizes, warn_without_good
from skfilterrank.thresholds._of_rows import search_rows
from skfilterrank.thresholds._threshold_curve import ThresholdCurve
from skfilterrank.thresholds._two_scores import TwoScores


class TunedThreshold(TwoScores):
    """The best threshold on the score for a measure, exactly.

    Every threshold is tried at once, for every measure of the table.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the threshold maximises: a name such as "ndcg_f@10", or a
        measure function. None means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Documents of each query that are shown at most, and at least, where there are as many. Of
        documents of equal score those that come first are shown.
    rule : {"ratio", "price", "subset", "harm"} or None, default=None
        How to hide with the help of `filter_scores`; None is "ratio" where they are given. With
        h = P(forbidden), r = E[gain] and a level: "ratio" shows where r / h reaches the level, in
        the order of r. "price" shows where r - level * h is above 0, in the order of this
        difference. "subset" shows, in the order of r, the subset with the highest DCG of r minus
        level * h. "harm" shows where the filter score is at most minus the level, in the order of
        the score. All but "harm" order lists by expected gain, to which both scores contribute: r
        counts 0 where a document is forbidden, so that it falls with h. Documents behind the
        cut-off of the measure do not count and may be shown. To hide them, set `max_shown`.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing of a query whose scores are less sure than a level. That level is the best for
        the measure once the lists are cut, as in :func:`risk_coverage_curve`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. A gain below 0
        marks a forbidden document.

    Attributes
    ----------
    threshold_ : float
        Rows with ``score >= threshold_`` are shown, apart from caps and abstention. It lies in the
        middle between the lowest score to show and the next lower one.
    threshold_curve_ : ThresholdCurve
        The measure at every threshold.
    best_score_ : float
        The measure at the threshold, negated where lower is better; optimistic for new queries.
    held_out_score_ : float
        The measure where the threshold for each fifth of the queries is chosen on the others. Not
        set for a single query.
    held_out_score_unfiltered_ : float
        The same where nothing is hidden but what `max_shown` hides. `fit` warns unless
        `held_out_score_` is higher by more than a standard error of the difference.
    list_sizes_ : ndarray of shape (2,), dtype float64
        Usual sizes of the lists, from and to (5 and 95 %). `predict` warns of others.
    calibration_ : Calibration
        Quantiles of the scores, by which `predict` warns of scores on another scale.
    rule_, worth_
        The rule, and the curves of r and h by the two scores, or None. Only with `filter_scores`;
        `threshold_` is None then, and thresholds of `threshold_curve_` are levels of the rule.
    measure_ : str
        Name of the measure with its cut-off.
    n_unjudged_ : int
        Rows with a NaN label, which count as gain 0 where they stand.

    See Also
    --------
    CertifiedThreshold : The best threshold at which risks are kept.
    threshold_curve : The values at all thresholds, without an estimator.
    skfilterrank.ranking.RankAndFilter : Trains a ranker and fits the threshold.

    Notes
    -----
    Section 5 of [1]_ tunes the threshold on a validation set; this is the exact optimum. Among
    equally good thresholds the one that shows most is taken. Ties count as is the measure's
    default; with caps as if the worst of tied documents came first.

    Of :class:`skfilterrank.io.Rows` the same threshold is found in three passes at most.
    `threshold_curve_` then has at most 64 thresholds for each doubling of the score, with exact
    values, and `held_out_score_`, `held_out_score_unfiltered_` and `calibration_` are not set.

    **Two scores.** r is the expected gain of a document, counting 0 where it is forbidden. Both
    curves are isotonic and are learned here, so that scores may be logits, ranks or probabilities.
    The level is chosen by curves that have not seen the query, in five folds. "ratio" and "harm"
    are tuned exactly. "price" and "subset" are tuned among a hundred levels, chosen by the scores
    alone. "subset" solves, for each list and exactly, ``V(i, j) = max(V(i + 1, j),
    d(j + 1) r_i - level h_i + V(i + 1, j + 1))`` with at most `max_shown` documents.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022, https://doi.org/10.1145/3477495.3532006.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import TunedThreshold
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> cut = TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups)
    >>> round(cut.threshold_, 3), round(cut.best_score_, 3)
    (..., ...)
    >>> cut.rank([0.8, -0.9, 0.3], groups=["a", "a", "a"])
    array([1, 0, 2])
    """

    _is_by_score = True
    _takes_weights = True

    def __init__(
        self,
        measure=None,
        *,
        rule: str | None = None,
        max_shown: int | None = None,
        min_shown: int | None = None,
        abstain: str | None = None,
        gains: Gains = None,
    ):
        super().__init__(
            measure, max_shown=max_shown, min_shown=min_shown, abstain=abstain, gains=gains
        )
        self.rule = rule

    def _keys(self, scores, index, columns):
        return scores

    def _fit_rows(self, rows, gains="own"):
        """Fit on rows; "own" gains are those of the parameter."""
        self._refuse_with_rows("rule", "abstain", "max_shown", "min_shown")
        parsed = self._parsed()
        found, noted = search_rows(rows, parsed, self.gains if gains == "own" else gains)
        values, value = found.values, found.best_value
        if not parsed.measure.greater_is_better:
            values, value = 0.0 - values, 0.0 - value
        warn_without_good(noted.some_gains())
        self._set_level(found.best_threshold)
        self.fitted_with_groups_ = True
        self.threshold_curve_ = ThresholdCurve(found.thresholds, values, self.level_, value)
        self.best_score_ = value
        self.list_sizes_ = usual_sizes(noted.every_size())
        self.n_unjudged_ = noted.n_unjudged
        warn_of_forbidden([parsed], noted.some_gains())
        return self
