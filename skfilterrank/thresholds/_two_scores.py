"""Thresholds that are given two scores: one to order by, and one to hide by."""

from collections.abc import Mapping

import numpy as np
from scipy.stats import rankdata

from skfilterrank._files.states import number, numbers, record
from skfilterrank._lists.checks import check_choice
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._hide_rules import (
    KEY_RULES,
    RULES,
    HidePath,
    RisingCurve,
    Worth,
    fit_worths,
    levels_of,
    measured,
)
from skfilterrank.thresholds._judged_scores import (
    FILTER_SCORE,
    N_FOLDS,
    JudgedScores,
    curve_of,
    values_shown,
)

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

    @property
    def _has_two(self):
        return hasattr(self, "rule_")

    def _begin_with_two_scores(self, judged):
        self._check_two_scores(judged)
        self.rule_ = self.rule or "ratio"

    def _fit_levels(self, judged, parsed):
        if not self._has_two:
            return super()._fit_levels(judged, parsed)
        path = self._learn_path(judged)
        lists = path.lists_of(judged.lists)
        entries = measured(lists, parsed, path.given(lists, [parsed]))
        self.threshold_curve_ = curve_of(entries, parsed)
        return self._shown_at(path, self.threshold_curve_.best_threshold), entries

    def _shown_at(self, path, level):
        """Take over a level; return the scores that order what is shown."""
        self.level_, self.confidence_, self.answer_level_ = level, None, -np.inf
        return path.at(level)

    def _learn_path(self, judged):
        """Learn the curves; return the path by those that have not seen the clusters of a row."""
        self.worth_, worth, harm = self._learn_worth(judged)
        levels = None
        if self.rule_ not in KEY_RULES:
            levels = levels_of(worth, harm, self._most_of_rule())
        return self._path(judged, worth, harm, levels)

    def _path(self, judged, worth, harm, levels=None):
        """Make the path of the rule for some rows."""
        return HidePath(
            self.rule_,
            judged.scores,
            worth,
            harm,
            judged.index,
            most=self._most_of_rule(),
            levels=levels,
        )

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

    def _measure(self, judged, parsed, entries, shown):
        if not self._has_two or judged.clusters.min() == judged.clusters.max():
            return super()._measure(judged, parsed, entries, shown)
        values, plain = values_shown(judged.lists, parsed, shown, self._unfiltered(judged))
        # The folds of the curves.
        held_out = np.empty(len(values))
        for _, rows in judged.fold_rows(N_FOLDS):
            tried = np.zeros(len(values), dtype=bool)
            tried[judged.codes[rows]] = True
            held_out[tried] = entries.at(entries.best(~tried)[0])[tried]
        if not parsed.measure.greater_is_better:
            held_out = 0.0 - held_out
        self._compare_held_out(judged, held_out, plain)
        return values

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

    def _checked(self, scores, groups, filter_scores):
        scores, index, columns = super()._checked(scores, groups, filter_scores)
        has_two = self._has_two
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
        if not self._has_two:
            return super()._ordered(scores, index, columns)
        worth, harm = scores, columns[FILTER_SCORE]
        if self.worth_ is not None:
            worth, harm = self.worth_.of(scores, harm)
        path = HidePath(self.rule_, scores, worth, harm, index, most=self._most_of_rule())
        return path.at(self.level_)

    def _shown(self, scores, index, columns):
        if not self._has_two:
            return super()._shown(scores, index, columns)
        return self._ordered(scores, index, columns) > -np.inf

    def _thresholds(self, scores, index, shown):
        if not self._has_two:
            return super()._thresholds(scores, index, shown)
        return np.where(shown, -np.inf, np.inf)

    # Saving.

    def _state(self) -> dict:
        if not self._has_two:
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
