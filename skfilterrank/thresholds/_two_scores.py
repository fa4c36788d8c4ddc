"""Thresholds that are given two scores: one to order by, and one to hide by."""

from collections.abc import Mapping

import numpy as np
from scipy.stats import rankdata

from skfilterrank._core.checks import check_choice, check_groups
from skfilterrank._core.entry_steps import Changes, Entries
from skfilterrank._core.entry_values import EntryValues
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.prefixes import ties_worst_first
from skfilterrank._core.scoring import mean_over_queries, with_undefined
from skfilterrank._files.states import number, numbers, record
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._drift import Calibration, scored_sizes, usual_sizes
from skfilterrank.thresholds._hide_rules import (
    KEY_RULES,
    RULES,
    HidePath,
    PathValues,
    RisingCurve,
    Worth,
    fit_worths,
    levels_of,
    order_of,
    ordered_scores,
    path_values,
)
from skfilterrank.thresholds._judged_scores import (
    FILTER_SCORE,
    N_FOLDS,
    JudgedScores,
    margins_of,
    warn_without_good,
)
from skfilterrank.thresholds._threshold_curve import curve_of

# Forbidden rows below which curves of harm are guesses.
FEW_FORBIDDEN = 50
# Rows by which filter scores are compared at most.
_MOST_RANKED = 100_000
# Rows, and share of the queries, that a certificate's path is learned from at least.
_LEARNED_ROWS, _LEAST_LEARNED = 1000, 0.2
_CURVE = record(
    {"x": numbers(1), "y": numbers(1), "centre": number(), "scale": number(least=0)},
)


class TwoScores(BaseThreshold):
    """Part of a threshold that orders by one score and hides with the help of a second one.

    Without filter scores it leaves everything to the threshold itself.
    """

    _column_names = (FILTER_SCORE,)
    _hides_by_second_score = True

    def _fit_two_scores(self, judged, parsed):
        self._check_two_scores(judged)
        self.rule_ = self.rule or "ratio"
        # Row order breaks ties: the order in which rows came must not matter.
        judged = judged.take(ties_worst_first(judged.gains, judged.scores, judged.index))
        warn_without_good(judged.gains)
        self.confidence_, self.answer_level_, self.threshold_ = None, -np.inf, None
        if self.fitted_with_groups_:
            self.list_sizes_ = usual_sizes(scored_sizes(judged.scores, judged.index))
        self._fit_rule(judged, parsed)

    def _fit_rule(self, judged, parsed):
        """Learn the curves and find the level on out-of-fold probabilities."""
        self.worth_, worth, harm = self._learn_worth(judged)
        path = self._path(worth, harm)
        lists = order_of(path.rule, judged.lists, worth)
        (values,) = path_values(path, lists, [parsed])
        values = values._replace(values=with_undefined(values.values, 0.0))
        entries = entries_of(values, path, lists, parsed)
        self.threshold_curve_ = curve_of(entries, parsed)
        self.level_ = self.threshold_curve_.best_threshold
        own = utility_at(values, self.level_, parsed)
        self._describe_shown(judged, worth, harm)
        self.best_score_ = mean_over_queries(own, judged.lists.weights)
        self._hold_out(judged, parsed, entries, values, len(own))
        if judged.folds is not None:
            self._describe_folds(judged, parsed, entries, own)

    def _most_of_rule(self):
        """Return the number of documents that are shown at most; subsets end at the cut-off."""
        _, most = self._caps()
        if self.rule_ != "subset":
            return most
        k = parse_measure(self.measure_).k
        return min((each for each in (most, k) if each is not None), default=None)

    def _learn_worth(self, judged):
        """Learn curves of all rows; return them, and what rows are worth by other clusters."""
        filter_scores = judged.columns[FILTER_SCORE]
        if self.rule_ == "harm":
            return None, judged.scores, filter_scores
        folds = list(judged.fold_rows(N_FOLDS))
        parts: list = [slice(None)]
        for rows, _ in folds:
            part = np.zeros(len(judged.scores), dtype=bool)
            part[rows] = True
            parts.append(part)
        curves = fit_worths(judged.gains, judged.scores, filter_scores, parts)
        worth, harm = curves[0].of(judged.scores, filter_scores)
        for own, (_, held_out) in zip(curves[1:], folds):
            worth[held_out], harm[held_out] = own.of(
                judged.scores[held_out], filter_scores[held_out]
            )
        return curves[0], worth, harm

    def _learn_path(self, judged):
        """Learn curves, and choose the levels of the rule, from all rows."""
        filter_scores = judged.columns[FILTER_SCORE]
        worth = Worth.fit(judged.gains, judged.scores, filter_scores)
        levels = None
        if self.rule_ not in KEY_RULES:
            levels = levels_of(*worth.of(judged.scores, filter_scores), self._most_of_rule())
        return worth, levels

    def _path(self, worth, harm, levels=None):
        """Make the path of the rule."""
        if levels is None and self.rule_ not in KEY_RULES:
            levels = levels_of(worth, harm, self._most_of_rule())
        return HidePath(self.rule_, worth, harm, most=self._most_of_rule(), levels=levels)

    def _describe_shown(self, judged, worth, harm):
        """Keep by which scores `predict` tells that scores are on another scale."""
        if judged.watches_scale:
            ordered = ordered_scores(
                self.rule_,
                self.level_,
                judged.scores,
                worth,
                harm,
                judged.index,
                self._most_of_rule(),
            )
            sizes = scored_sizes(judged.scores, judged.index)
            self.calibration_ = Calibration.of(judged.scores, ordered > -np.inf, sizes)

    def _hold_out(self, judged, parsed, entries, values, n_lists):
        """Measure queries that the level was not chosen on, with the filter and without it."""
        clusters = judged.clusters
        if clusters.min() == clusters.max():
            return
        held_out = np.empty(n_lists)
        for _, rows in judged.fold_rows(N_FOLDS):
            tried = np.zeros(n_lists, dtype=bool)
            tried[judged.codes[rows]] = True
            level, _ = entries.best(~tried)
            held_out[tried] = utility_at(values, level, parsed)[tried]
        self._compare_held_out(judged, parsed, held_out)

    def _check_two_scores(self, judged):
        """Raise a ValueError for filter scores that cannot tell what to hide; warn of few rows."""
        check_choice(self.rule, "rule", (*RULES, None))
        for name in ("abstain", "min_shown"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"{name}={getattr(self, name)!r} is not possible with filter_scores. Leave "
                    f"{name} out."
                )
        filter_scores = judged.columns[FILTER_SCORE]
        _check_finite(filter_scores)
        if filter_scores.min() == filter_scores.max():
            raise InputError(
                f"filter_scores has one value, {filter_scores[0]:g}, for all rows, so that it "
                "tells nothing apart. Give higher scores to what is to be hidden, or none."
            )
        n_forbidden = int(np.count_nonzero(judged.gains < 0))
        if not n_forbidden:
            raise InputError(
                "filter_scores have not seen a forbidden document: no gain is below 0, so that the "
                "probability of harm cannot be learned. Judge forbidden documents, give gains, or "
                "leave filter_scores out."
            )
        warn_of_wrong_way(judged.gains, filter_scores)
        # RankAndFilter warns of few rows itself.
        if n_forbidden < FEW_FORBIDDEN and judged.watches_scale:
            warn_user(
                f"only {n_forbidden} of the rows are forbidden, fewer than {FEW_FORBIDDEN}: what "
                "is hidden by filter_scores may be chance. Judge more forbidden documents.",
                FitWarning,
            )

    # Serving.

    def predict(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Return the score by which each list is ordered, -inf where the row is hidden.

        Parameters
        ----------
        scores : array-like of shape (n_rows,) or (n_rows, 1), or DataFrame
            Scores of whole lists, on the scale of those of `fit`; of a table the column "score".
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, which caps and the rule "subset" need. None looks for an index
            level "qid" on `scores`.
        filter_scores : array-like of shape (n_rows,), default=None
            The second score of each row, where `fit` had one. It may also be the second column of
            `scores`, or a column "filter_score".

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The worth r of a row, r - level * h by the rule "price" and the score by "harm", where
            the row is shown, else -inf.

        Raises
        ------
        ValueError
            If query ids or filter scores are missing and needed, or scores are NaN or +inf.
        """
        if not hasattr(self, "rule_"):
            return super().predict(scores, groups, filter_scores=filter_scores)
        scores, index, columns = self._checked(scores, groups, filter_scores)
        return self._ordered(scores, index, columns) if len(scores) else scores

    def decision_function(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Return finite margins, at least 0 exactly where the row is shown.

        Parameters
        ----------
        scores, groups, filter_scores
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The score minus the threshold of its list. With filter scores, margins between 0 and 1
            where a row is shown, or -1 and 0 where it is hidden, in the order of the scores.
        """
        if not hasattr(self, "rule_"):
            return super().decision_function(scores, groups, filter_scores=filter_scores)
        scores, index, columns = self._checked(scores, groups, filter_scores)
        if not len(scores):
            return scores
        ordered = self._ordered(scores, index, columns)
        shown = ordered > -np.inf
        thresholds = np.where(shown, -np.inf, np.inf)
        return margins_of(np.where(shown, ordered, scores), thresholds, shown)

    def _checked(self, scores, groups, filter_scores):
        scores, index, columns = super()._checked(scores, groups, filter_scores)
        has_two = hasattr(self, "rule_")
        if has_two and FILTER_SCORE not in columns:
            raise InputError(
                f"filter_scores is missing: rule={self.rule_!r} hides by a second score. Pass "
                "filter_scores=, as in fit."
            )
        if has_two:
            _check_finite(columns[FILTER_SCORE])
        elif FILTER_SCORE in columns:
            raise InputError(
                f"filter_scores is given, and {type(self).__name__} was fitted without. Leave it "
                "out, or fit with filter_scores=."
            )
        return scores, index, columns

    def _ordered(self, scores, index, columns):
        """Return the score by which rows are ordered, -inf where hidden."""
        if index is None:
            index = check_groups(np.zeros(len(scores), dtype=np.intp), n_rows=len(scores))
        worth, harm = scores, columns[FILTER_SCORE]
        if self.worth_ is not None:
            worth, harm = self.worth_.of(scores, harm)
        return ordered_scores(
            self.rule_, self.level_, scores, worth, harm, index, self._most_of_rule()
        )

    def _shown(self, scores, index, columns):
        if not hasattr(self, "rule_"):
            return super()._shown(scores, index, columns)
        return self._ordered(scores, index, columns) > -np.inf

    # Saving.

    def _state(self) -> dict:
        if not hasattr(self, "rule_"):
            return super()._state()
        state = {"rule": self.rule_}
        if self.worth_ is not None:
            for name, curve in self.worth_._asdict().items():
                state[name] = {
                    "x": curve.x.tolist(),
                    "y": curve.y.tolist(),
                    "centre": curve.centre,
                    "scale": curve.scale,
                }
        return state

    def _restore(self, state: Mapping, name: str) -> None:
        if not state:
            return
        fields = {"rule": lambda value, name: check_choice(value, name, RULES) or value}
        if state.get("rule") != "harm":
            fields |= {"gain": _CURVE, "harm": _CURVE}
        state = record(fields)(state, name)
        self.rule_, self.worth_ = state["rule"], None
        if self.rule_ != "harm":
            gain, harm = (RisingCurve(**state[each]) for each in ("gain", "harm"))
            self.worth_ = Worth(gain, harm)


def learned_and_tested(judged: JudgedScores) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into those that curves are learned from and those that are tested, by cluster.

    The split looks at the number of rows, and at no label: a fifth is learned from, or as much more
    as makes a thousand rows, up to a half.
    """
    clusters = np.unique(judged.clusters)
    if len(clusters) < 2:
        raise InputError(
            "scores are of one query, and a certificate of two scores learns from some queries and "
            "tests others. Give more queries."
        )
    share = min(max(_LEARNED_ROWS / len(judged.codes), _LEAST_LEARNED), 0.5)
    n_learned = max(int(share * len(clusters)), 1)
    learned = np.random.RandomState(0).permutation(clusters)[:n_learned]
    is_learned = np.isin(judged.clusters, learned)[judged.codes]
    return np.flatnonzero(is_learned), np.flatnonzero(~is_learned)


def entries_of(
    values: PathValues, path: HidePath, lists: RankedLists, parsed: ParsedMeasure
) -> EntryValues:
    """Make entry values of what a measure is along a path, without NaN."""
    changes = Changes(
        np.arange(lists.index.n_queries),
        -values.levels,
        values.values[:, 0],
        np.diff(values.values, axis=1),
    )
    keys, levels = None, None
    if path.rule in KEY_RULES:
        keys = np.where(np.isneginf(lists.scores), -np.inf, path.keys())
    else:
        levels = path.levels[::-1]
    better = parsed.measure.greater_is_better
    return EntryValues([changes], Entries(lists, keys), better, levels)


def utility_at(values: PathValues, level: float, parsed: ParsedMeasure) -> np.ndarray:
    """Return the value of each list at a level, negated where lower is better."""
    n_reached = np.count_nonzero(values.levels >= level, axis=1)
    found = values.values[np.arange(len(n_reached)), n_reached]
    return found if parsed.measure.greater_is_better else 0.0 - found


def _check_finite(filter_scores):
    if not np.isfinite(filter_scores).all():
        row = int(np.argmin(np.isfinite(filter_scores)))
        raise InputError(
            f"filter_scores must be finite, got {filter_scores[row]} at row {row}. Give a low "
            "score to what is never to be hidden."
        )


def warn_of_wrong_way(gains, filter_scores) -> None:
    """Warn of filter scores that are no higher where documents are forbidden."""
    # A sample of many rows is enough.
    sample = slice(None, None, len(gains) // _MOST_RANKED + 1)
    gains, ranks = gains[sample], rankdata(filter_scores[sample])
    bad, others = ranks[gains < 0], ranks[gains >= 0]
    if len(bad) and len(others) and bad.mean() <= others.mean():
        warn_user(
            "filter_scores are no higher where documents are forbidden, so that they hide nothing "
            "better than chance. Give higher scores to what is to be hidden.",
            FitWarning,
        )
