"""TunedThreshold: the best threshold on a score, optionally with a second score for hiding."""

from collections.abc import Mapping

import numpy as np
from scipy.stats import rankdata

from skfilterrank._files.states import POSITIVE, check_curve, number, numbers, record
from skfilterrank._lists.checks import check_choice
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import warn_of_forbidden
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._hide_rules import (
    RULES,
    HidePath,
    RisingCurve,
    Worth,
    fit_worths,
    leads,
)
from skfilterrank.thresholds._judged_scores import (
    FILTER_SCORE,
    N_FOLDS,
    JudgedScores,
    usual_sizes,
    values_shown,
    warn_without_good,
)
from skfilterrank.thresholds._threshold_curve import ThresholdCurve, search_rows

# Number of forbidden rows below which the curve of harm is too uncertain.
FEW_FORBIDDEN = 50
# Largest number of rows for the comparison of filter scores.
_MOST_RANKED = 100_000
# Smallest number of rows, and smallest share of clusters, for learning a certificate's curves.
_LEARNED_ROWS, _LEAST_LEARNED = 1000, 0.1
# Number of deals of queries to folds over which out-of-fold curves are averaged.
N_DEALS = 3
_CURVE = record(
    {"x": numbers(1), "y": numbers(1), "centre": number(), "scale": number(POSITIVE)},
)
_CURVES = ("gain", "harm", "harm_by_lead")
_WEIGHTS = {"direction": number(-1.0, 1.0), "weights": numbers(3, 3)}


class TwoScores(BaseThreshold):
    """Base class of thresholds that can hide documents by a second score.

    Without filter scores, these are thresholds on the score.
    """

    _column_names = (FILTER_SCORE,)
    rule: str | None
    rule_: str

    def _fit_shown(self, judged, parsed):
        if not self._has_two:
            return super()._fit_shown(judged, parsed)
        return self._fit_two_scores(judged, parsed)

    def _fit_two_scores(self, judged, parsed):
        """Find the level of the rule; return what `_fit_shown` does."""
        path = self._learn_path(judged)
        lists = path.lists_of(judged.lists)
        entries = path.values(lists, parsed)
        self.threshold_curve_ = ThresholdCurve.of(entries, parsed)
        shown = self._shown_at(path, self.threshold_curve_.best_threshold)
        return judged, shown, None, entries

    def _shown_at(self, path, level):
        """Set the level; return the scores that order the shown rows."""
        self.level_ = level
        return path.at(level)

    def _learn_path(self, judged):
        """Learn the curves; return the path of the rule with out-of-fold curves."""
        self.worth_, worth, harm = self._learn_worth(judged)
        return self._path(judged, worth, harm)

    def _path(self, judged, worth, harm):
        """Make the path of the rule for some rows."""
        _, most = self._caps()
        return HidePath(self.rule_, judged.scores, worth, harm, judged.index, most=most)

    def _learn_worth(self, judged):
        """Learn curves from all rows; return them and out-of-fold gains and harms."""
        filter_scores = judged.columns[FILTER_SCORE]
        if self.rule_ == "harm":
            return None, judged.scores, filter_scores
        # The means of several deals depend less on chance than one deal.
        folds = [
            test for deal in range(N_DEALS) for _, test in judged.fold_rows(N_FOLDS, seed=deal)
        ]
        parts: list = [slice(None)]
        for held_out in folds:
            parts.append(np.ones(len(judged.scores), dtype=bool))
            parts[-1][held_out] = False
        given = judged.scores, filter_scores, leads(judged.scores, judged.index)
        curves = fit_worths(judged.gains, *judged.two_scores, parts)
        if not folds:
            return curves[0], *curves[0].of_rows(*given)
        found = np.zeros((2, len(judged.scores)))
        for own, rows in zip(curves[1:], folds):
            found[:, rows] += np.array(own.of_rows(*(each[rows] for each in given))) / N_DEALS
        return curves[0], *found

    def _measure(self, judged, parsed, entries, shown, keys):
        if not self._has_two or judged.clusters.min() == judged.clusters.max():
            return super()._measure(judged, parsed, entries, shown, keys)
        values, plain = values_shown(judged.lists, parsed, shown, self._unfiltered(judged))
        # Levels are chosen with the same folds as the curves.
        held_out = np.empty(len(values))
        for _, rows in judged.fold_rows(N_FOLDS):
            tried = np.zeros(len(values), dtype=bool)
            tried[judged.codes[rows]] = True
            held_out[tried] = entries.at(entries.best(~tried)[0])[tried]
        if not parsed.measure.greater_is_better:
            held_out = 0.0 - held_out
        self._compare_held_out(judged, held_out, plain)
        return values

    def _check_columns(self, judged):
        """Store the rule; raise for useless filter scores, warn of few forbidden rows."""
        if FILTER_SCORE not in judged.columns:
            if self.rule is not None:
                raise InputError(
                    f"rule={self.rule!r} hides by a second score, but none was given. Pass "
                    "filter_scores=, or leave rule out."
                )
            return
        check_choice(self.rule, "rule", (*RULES, None))
        if self.min_shown is not None:
            raise InputError(
                f"min_shown={self.min_shown} is not possible with filter_scores. Leave min_shown "
                "out."
            )
        filter_scores = judged.columns[FILTER_SCORE]
        _check_finite(filter_scores)
        if filter_scores.min() == filter_scores.max():
            raise InputError(
                f"filter_scores has one value, {filter_scores[0]:g}, for all rows. Give higher "
                "scores to documents that are more likely to be hidden, or none."
            )
        n_forbidden = int(np.count_nonzero(judged.gains < 0))
        if not n_forbidden:
            raise InputError(
                "filter_scores need forbidden documents to learn the probability of harm, but no "
                "gain is below 0. Judge forbidden documents, pass gains, or leave filter_scores "
                "out."
            )
        warn_of_wrong_way(judged.gains, filter_scores)
        # RankAndFilter itself warns of few rows.
        if n_forbidden < FEW_FORBIDDEN and judged.watches_scale:
            warn_user(
                f"only {n_forbidden} of the rows are forbidden, fewer than {FEW_FORBIDDEN}: hiding "
                "by filter_scores may be chance. Judge more forbidden documents.",
                FitWarning,
            )
        self._has_two, self.rule_ = True, self.rule or "ratio"

    # Serving.

    def _looks_at_lists(self):
        # The probability of harm depends on the mean score of the list.
        return (self._has_two and self.rule_ != "harm") or super()._looks_at_lists()

    def _checked(self, scores, groups, filter_scores):
        scores, index, columns = super()._checked(scores, groups, filter_scores)
        if self._has_two:
            if FILTER_SCORE not in columns:
                raise InputError(
                    f"filter_scores is missing: rule={self.rule_!r} hides by a second score. Pass "
                    "filter_scores=, as in fit."
                )
            _check_finite(columns[FILTER_SCORE])
        elif FILTER_SCORE in columns:
            raise InputError(
                f"filter_scores is given, and {type(self).__name__} was fitted without. Leave it "
                "out, or fit with filter_scores=."
            )
        return scores, index, columns

    def _ordered(self, scores, index, columns, *, capped=True):
        if not self._has_two:
            return super()._ordered(scores, index, columns, capped=capped)
        worth, harm = scores, columns[FILTER_SCORE]
        if self.worth_ is not None:
            worth, harm = self.worth_.of(scores, harm, index)
        most = self._caps()[1] if capped else None
        return HidePath(self.rule_, scores, worth, harm, index, most=most).at(self.level_)

    def _thresholds(self, scores, index, shown):
        if not self._has_two:
            return super()._thresholds(scores, index, shown)
        return np.where(shown, -np.inf, np.inf)

    def _why_below_level(self, level):
        if not self._has_two:
            return super()._why_below_level(level)
        return f"hidden by the rule {self.rule_!r}"

    # Saving.

    def _state(self) -> dict:
        if not self._has_two:
            return super()._state()
        state = {"rule": self.rule_}
        if self.worth_ is not None:
            of_worth = self.worth_._asdict()
            state |= of_worth | {name: of_worth[name]._asdict() for name in _CURVES}
        return state

    def _restore(self, state: Mapping, name: str) -> None:
        if not state:
            return
        rule = {"rule": lambda value, name: check_choice(value, name, RULES) or value}
        of_rule = record(rule)(state, name)["rule"]
        fields = {} if of_rule == "harm" else dict.fromkeys(_CURVES, _rising_curve) | _WEIGHTS
        state = record(rule | fields)(state, name)
        self._has_two, self.rule_, self.worth_ = True, state["rule"], None
        if self.rule_ != "harm":
            self.worth_ = Worth(**{name: state[name] for name in Worth._fields})


def _rising_curve(value, name):
    """Make a curve from JSON."""
    curve = RisingCurve(**_CURVE(value, name))
    check_curve(curve.x, curve.y, f"{name}.x and y")
    return curve


def learned_and_tested(judged: JudgedScores) -> tuple[np.ndarray, np.ndarray]:
    """Split rows by cluster: one part to learn curves, the other to test.

    Clusters are numbered in a random order, and the first are learned from: a tenth of them, or up
    to a half if a tenth has fewer than 1,000 rows.
    """
    clusters = np.unique(judged.clusters)
    if len(clusters) < 2:
        raise InputError(
            "scores are of one query, but a certificate with filter_scores learns from some "
            "queries and tests others. Pass more queries."
        )
    share = min(max(_LEARNED_ROWS / len(judged.codes), _LEAST_LEARNED), 0.5)
    n_learned = max(int(share * len(clusters)), 1)
    is_learned = np.isin(judged.clusters, clusters[:n_learned])[judged.codes]
    return np.flatnonzero(is_learned), np.flatnonzero(~is_learned)


def _check_finite(filter_scores):
    if not np.isfinite(filter_scores).all():
        row = int(np.argmin(np.isfinite(filter_scores)))
        raise InputError(
            f"filter_scores must be finite, got {filter_scores[row]} at row {row}. Give a low "
            "score to documents that are never to be hidden."
        )


def warn_of_wrong_way(gains, filter_scores) -> None:
    """Warn if filter scores of forbidden documents are not higher than those of others."""
    # A sample is enough if there are many rows.
    sample = slice(None, None, len(gains) // _MOST_RANKED + 1)
    gains, ranks = gains[sample], rankdata(filter_scores[sample])
    bad, others = ranks[gains < 0], ranks[gains >= 0]
    if len(bad) and len(others) and bad.mean() <= others.mean():
        warn_user(
            "filter_scores of forbidden documents are not higher than others, so hiding by them "
            "is no better than chance. Give higher scores to documents to hide.",
            FitWarning,
        )


class TunedThreshold(TwoScores):
    """The threshold on the score that maximises a measure exactly.

    All thresholds are evaluated in one pass, for any measure.

    Parameters
    ----------
    measure : str or None, default=None
        Measure that the threshold maximises: a name such as "ndcg_f@10", or a
        measure function. None means "ndcg_f", and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; shorter lists are shown whole. Of
        documents of equal score, the first in the input are shown.
    rule : {"ratio", "harm"} or None, default=None
        Rule for hiding by `filter_scores`; None means "ratio" if they are given. Let h =
        P(forbidden) and r = E[gain], with gain 0 for forbidden documents, so r falls with h.
        "ratio" shows documents with r / h at or above the level, in the order of r. "harm" shows
        documents with a filter score of at most minus the level, in the order of the score.
        Documents below the cut-off of the measure do not change it and may be shown; set
        `max_shown` to hide them.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. A gain below 0
        marks a forbidden document.

    Attributes
    ----------
    threshold_ : float
        Rows with ``score >= threshold_`` are shown, apart from caps. It is the middle between the
        lowest score to show and the next lower one.
    threshold_curve_ : ThresholdCurve
        The measure at every threshold.
    best_score_ : float
        The measure at the threshold, negated if lower is better; optimistic for new queries.
    held_out_score_ : float
        The measure when the threshold for each fifth of the queries is chosen on the other queries.
        Not set for a single query.
    held_out_score_unfiltered_ : float
        The measure of the same queries when only `max_shown` hides documents. `fit` warns unless
        `held_out_score_` is higher by more than a standard error of the difference.
    list_sizes_ : ndarray of shape (2,), dtype float64
        Usual list sizes: 5 % and 95 % quantiles. `predict` warns of other sizes, and `check` too.
    calibration_ : Calibration
        Quantiles of the scores and share of shown documents, with which `predict` and `check`
        compare new scores.
    rule_, worth_
        The rule, and what r and h are computed from, or None. Only with `filter_scores`; then
        `threshold_` is None, and the thresholds of `threshold_curve_` are levels of the rule.
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
    values, and `held_out_score_`, `held_out_score_unfiltered_` and `calibration_` are not set.

    **Two scores.** Let r be the expected gain of a document, with gain 0 for forbidden documents,
    and h the probability that it is forbidden. r before h is an isotonic function of the score. The
    log odds of h are a weighted sum of those of two isotonic functions: of the filter score, and of
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

    _is_by_score = True
    _takes_weights = True

    def __init__(
        self,
        measure: str | None = None,
        *,
        rule: str | None = None,
        max_shown: int | None = None,
        min_shown: int | None = None,
        gains: Gains = None,
    ) -> None:
        super().__init__(measure, max_shown=max_shown, min_shown=min_shown, gains=gains)
        self.rule = rule

    def _fit_rows(self, rows):
        for name in ("rule", "max_shown", "min_shown"):
            if (value := getattr(self, name)) is not None:
                raise InputError(
                    f"{name}={value!r} is not possible where {type(self).__name__} is fitted on "
                    "Rows. Leave it out, or give rows in memory."
                )
        parsed = self._parsed()
        found, noted = search_rows(rows, parsed, self.gains)
        values, value = found.values, found.best_value
        if not parsed.measure.greater_is_better:
            values, value = 0.0 - values, 0.0 - value
        warn_without_good(noted.some_gains())
        self._set_level(found.best_threshold)
        self.fitted_with_groups_ = True
        self.threshold_curve_ = ThresholdCurve(
            found.thresholds, values, self.level_, value, self.measure_
        )
        self.best_score_ = value
        self.list_sizes_ = usual_sizes(noted.every_size())
        self.n_unjudged_ = noted.n_unjudged
        warn_of_forbidden([parsed], noted.some_gains())
        return self
