"""Named thresholds: a fixed score, a fixed list length, and the best level for a measure."""

from typing import Any, Self

import numpy as np

from skfilterrank._base.checks import check_choice, is_level
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import warn_of_forbidden
from skfilterrank._lists.scoring import QueryWeight
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._curves import ThresholdCurve, search_rows
from skfilterrank.thresholds._cuts import RULES, ByPlace, ByScore, Everything
from skfilterrank.thresholds._judged_scores import JudgedScores, usual_sizes, warn_without_good
from skfilterrank.thresholds._threshold import BaseThreshold


class FixedThreshold(BaseThreshold):
    """A given threshold on the score; caps can be added.

    Parameters
    ----------
    threshold : float or None, default=None
        Rows with ``score >= threshold`` are shown; None shows all. With None and without caps,
        `decision_function` returns the scores themselves.
    measure : str or None, default=None
        Measure that `score` returns: a name such as "ndcg_f@10", or a measure function. None means
        "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query. Of documents of equal score, the
        first in the input are shown.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    threshold_ : float
        The threshold; -inf if `threshold` is None.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold : The best threshold for a measure.

    Examples
    --------
    >>> from skfilterrank.thresholds import FixedThreshold
    >>> cut = FixedThreshold(0.3, max_shown=2).fit()
    >>> cut.rank([0.9, 0.2, 0.5, 0.4], groups=["a", "a", "a", "a"])
    array([1, 0, 2, 0])
    """

    def __init__(
        self,
        threshold: float | None = None,
        *,
        measure: Any = None,
        max_shown: int | None = None,
        min_shown: int | None = None,
        gains: Gains = None,
    ) -> None:
        super().__init__(measure, max_shown=max_shown, min_shown=min_shown, gains=gains)
        self.threshold = threshold

    def _cut_of(self, n_more):
        return Everything() if self.threshold is None else ByScore()

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self,
        scores=None,
        y=None,
        groups=None,
        *,
        clusters=None,
        query_weight: QueryWeight = None,
    ) -> Self:
        """Check the parameters; rows are checked if there are scores and labels.

        Parameters
        ----------
        scores, y, groups, clusters, query_weight
            As in :meth:`TunedThreshold.fit`; none is needed.

        Returns
        -------
        self : FixedThreshold
            The fitted threshold.
        """
        if scores is not None and y is not None:
            given = {"clusters": clusters, "query_weight": query_weight}
            return super().fit(scores, y, groups, **given)
        self.check_parameters()
        self._set_given()
        return self

    def fit_judged(self, judged: JudgedScores) -> Self:
        """Set the threshold, and count rows without a label.

        Parameters
        ----------
        judged : JudgedScores
            The rows.

        Returns
        -------
        self : FixedThreshold
        """
        self._set_given()
        self.n_unjudged_ = int(np.count_nonzero(np.isnan(judged.gains)))
        return self

    def check_parameters(self) -> None:
        """Raise a ValueError for parameters that are out of range or exclude each other."""
        check_level(self.threshold)
        super().check_parameters()

    def _fit_rows(self, rows):
        return self.fit()

    def _set_given(self):
        """Set the level that the parameter gives."""
        self._set_level(self._cut_of(0), check_level(self.threshold))


def check_level(threshold) -> float:
    """Check a threshold and return it as float; None becomes -inf, which hides nothing."""
    if threshold is None:
        return -np.inf
    if not is_level(threshold):
        raise InputError(f"threshold must be a number or None, got {brief(threshold)}.")
    return float(threshold)


class FirstK(BaseThreshold):
    """A cut of all lists after the same number of documents, the best one for a measure.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the number maximises: a name such as "ndcg_f@10", or a measure function. None
        means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; lists shorter than `min_shown`
        are shown whole.
    keep_if : "better" or None, default=None
        As in :class:`TunedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    level_ : float
        Places down to minus the level are shown, two for -2.5; all for -inf, none for +inf.
    threshold_curve_ : ThresholdCurve
        The measure at every level, which is minus a number of documents.
    best_score_, held_out_, comparability_
        See :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    TunedThreshold : One threshold on the score.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import FirstK
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> first = FirstK("ndcg_f").fit(scores, y, groups=groups)
    >>> first.rank([0.9, 0.1, 0.5], groups=["a", "a", "a"])
    array([1, 3, 2])
    """

    def _cut_of(self, n_more):
        return ByPlace()


class RuledThreshold(BaseThreshold):
    """Base class of thresholds on one score, or on two by the parameter `rule`."""

    rule: str | None

    def _cut_of(self, n_more):
        check_choice(self.rule, "rule", (*RULES, None))
        return RULES[self.rule or "ratio"]() if n_more else ByScore()

    def _most_more(self):
        return 1

    def fit_judged(self, judged: JudgedScores) -> Self:
        """Fit on rows that were checked already, as in :meth:`BaseThreshold.fit_judged`."""
        if self.rule is not None and not judged.more.shape[1]:
            raise InputError(
                f"rule={self.rule!r} hides by a second score, but scores has one column. Give two "
                "columns, or leave rule out."
            )
        return super().fit_judged(judged)


class TunedThreshold(RuledThreshold):
    """The threshold on the score that maximises a measure exactly.

    All thresholds are evaluated in one pass, for any measure.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the threshold maximises: a name such as "ndcg_f@10", or a measure function.
        None means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; lists shorter than `min_shown`
        are shown whole. Of documents of equal score, the first in the input are shown. `min_shown`
        is an error with two columns of scores.
    rule : {"ratio", "harm"} or None, default=None
        Rule for hiding by a second column of scores; None means "ratio" if there is one. Let h =
        P(forbidden) and r = E[gain], with gain 0 for forbidden documents, so r falls with h.
        "ratio" shows documents with r / h at or above the level, in the order of r. "harm" shows
        documents with a second score of at most minus the level, in the order of the score.
        Documents below the cut-off of the measure do not change it and may be shown; set
        `max_shown` to hide them.
    keep_if : "better" or None, default=None
        "better" takes the row of `held_out_` with the highest value: the threshold, everything,
        nothing, the first k, or hiding below 0. None takes the threshold, and may warn.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. A gain below 0
        marks a forbidden document.

    Attributes
    ----------
    threshold_ : float or None
        Rows with ``score >= threshold_`` are shown, apart from caps. It is the middle between the
        lowest score to show and the next lower one.
    threshold_curve_ : ThresholdCurve
        The measure at every threshold.
    best_score_ : float
        The measure at the threshold, negated if lower is better; optimistic for new queries.
    held_out_ : DataFrame
        Mean "value" of held-out queries, whose levels were chosen on other queries, and that of
        answers that need no threshold: show "everything" (that `max_shown` leaves), "nothing", the
        "first k", and if scores are expected gains, as within a RankAndFilter of a regressor, "hide
        below 0". "difference" is that of the threshold to each, "error" its standard error, and
        "low" and "high" its interval (95 %, Student's t), paired by query or cluster: unequal
        clusters or weights count as their effective number, and a single cluster has NaN. `fit`
        warns unless the threshold beats the best of the first three by a standard error. Of at most
        10,000 queries; not set for a single one.
    summary_ : str
        A line with the shares of documents, good ones and forbidden ones that are shown, with
        ``false_reject_rate@k`` of :func:`skfilterrank.metrics.rank_filter_report` if `measure` has
        a cut-off, and with `held_out_`. With ``keep_if="better"`` also which answer was kept.
    list_sizes_ : ndarray of shape (2,), dtype float64
        Usual list sizes: 5 % and 95 % quantiles. `predict` warns of other sizes, and `check` too.
    comparability_ : ScoreComparability
        Whether scores compare between queries, by :func:`score_comparability`. If so, the warning
        of other sizes names thresholds that adapt to them. Not set without query ids.
    calibration_ : Calibration
        Quantiles of the scores and share of shown documents, with which `predict` and `check`
        compare new scores.
    cut_ : Cut
        How scores become keys. Of two columns of scores, `cut_.rule` is the rule, and `cut_.worth`
        computes r and h of "ratio"; then `threshold_` is None, and the thresholds of
        `threshold_curve_` are levels of the rule.
    measure_ : str
        Name of the measure with its cut-off.
    n_unjudged_ : int
        Number of rows with a NaN label, which count as gain 0.

    See Also
    --------
    CertifiedThreshold : The best threshold at which risks are kept.
    threshold_curve : The values at all thresholds, without an estimator.
    skfilterrank.ranking.RankAndFilter : Trains a ranker and fits the threshold.

    Notes
    -----
    Section 5 of [1]_ tunes the threshold on a validation set; this class computes the exact
    optimum. Among equally good thresholds, the lowest is chosen. Ties are handled by the measure's
    default rule; with caps, tied documents are ordered worst first.

    With :class:`skfilterrank.io.Rows` the threshold is found in three passes at most.
    `threshold_curve_` then has at most 64 thresholds for each doubling of the score, with exact
    values, and `held_out_`, `calibration_` and `comparability_` are not set.

    **Two scores.** Let r be the expected gain of a document, with gain 0 for forbidden documents,
    and h the probability that it is forbidden. r before h is an isotonic function of the score. The
    log odds of h are a weighted sum of those of two isotonic functions: of the second score, and of
    the score minus the mean score of the list. So h knows of spam that looks relevant, and of
    forbidden documents that do not. All are learned in `fit`, so scores may be logits, ranks or
    probabilities. The level is chosen exactly, with out-of-fold r and h: means over three deals of
    the queries to five folds.

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

    def __init__(
        self,
        measure: str | None = None,
        *,
        rule: str | None = None,
        max_shown: int | None = None,
        min_shown: int | None = None,
        keep_if: str | None = None,
        gains: Gains = None,
    ) -> None:
        super().__init__(
            measure, max_shown=max_shown, min_shown=min_shown, keep_if=keep_if, gains=gains
        )
        self.rule = rule

    def _fit_rows(self, rows) -> Self:
        for name in ("rule", "max_shown", "min_shown", "keep_if"):
            if (value := getattr(self, name)) is not None:
                raise InputError(
                    f"{name}={value!r} is not possible where {type(self).__name__} is fitted on "
                    "Rows. Leave it out, or give rows in memory."
                )
        parsed = self.parsed_measure()
        found, noted = search_rows(rows, parsed, self.gains)
        warn_without_good(noted.some_gains())
        self._set_level(ByScore(), found.best_threshold)
        self.fitted_with_groups_ = True
        self.threshold_curve_ = ThresholdCurve(*found, self.measure_)
        self.best_score_ = found.best_value
        self.list_sizes_ = usual_sizes(noted.every_size())
        self.n_unjudged_ = noted.n_unjudged
        warn_of_forbidden([parsed], noted.some_gains())
        return self
