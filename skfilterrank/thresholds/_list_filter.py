"""What of each list is shown: a cut, queries that are not answered, and caps."""

from dataclasses import replace

import numpy as np

from skfilterrank._core.entry_values import EntryValues
from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.scoring import with_undefined
from skfilterrank.thresholds._abstention import Confidence, best_level
from skfilterrank.thresholds._cuts import Cut
from skfilterrank._core.prefixes import ends_behind, places, shown_at_most
from skfilterrank.thresholds._threshold_curve import ThresholdCurve, utility_curve

# Folds by query for what levels are worth on queries that they were not chosen by.
_FOLDS = 5


class ListFilter:
    """Show the rows of each list whose key reaches a level, if the query is answered at all.

    Parameters
    ----------
    cut : Cut
        Gives the keys.
    abstain : str or None, default=None
        Name of the confidence in a list below which nothing of it is shown.
    max_shown, min_shown : int or None, default=None
        Documents of each query that are shown at most, and at least.
    counts_worst : bool, default=False
        Whether `fit` takes lists as if of tied documents the worst were shown, as promises need it.

    Attributes
    ----------
    level_ : float
        Rows whose key is at least this are shown.
    curve_ : ThresholdCurve
        The measure at every level, or at every threshold on the score where the cut has its level.
    confidence_ : Confidence or None
        What was learned of the confidence in a list.
    answer_level_ : float
        Queries whose confidence is at least this are answered.
    """

    def __init__(
        self, cut: Cut, *, abstain=None, max_shown=None, min_shown=None, counts_worst=False
    ):
        self.cut = cut
        self.abstain = abstain
        self.max_shown = max_shown
        self.min_shown = min_shown
        self.counts_worst = counts_worst

    def fit(
        self, lists: RankedLists, parsed: ParsedMeasure, choose=None, units=None
    ) -> "ListFilter":
        """Find the levels on out-of-fold scores.

        `choose` takes the curve and the lists and gives the level where it does not depend on
        the measure alone. `units` numbers the query of each list, as a query that is held out
        twice makes two; what is tried on a list is learned from other queries.
        """
        whole = lists
        if self.counts_worst:
            lists = shown_at_most(lists, self.max_shown)
        self.cut.fit(lists.gains, lists.scores, lists.index, units)
        keys = self._capped(self.cut.out_of_fold_keys_, lists.scores, lists.index)
        on_scores = self._capped(lists.scores, lists.scores, lists.index)
        if self.counts_worst and ends_behind(self.max_shown, parsed):
            self.curve_ = utility_curve(whole, parsed)
        else:
            self.curve_ = level_curve(lists, keys if self.cut.level is None else on_scores, parsed)
        if choose is not None:
            self.level_ = choose(self.curve_, lists)
        elif self.cut.level is None:
            self.level_ = self.curve_.best_threshold
        else:
            self.level_ = self.cut.level
        shown = _reached(keys, self.level_)
        self.confidence_, self.answer_level_ = None, -np.inf
        if self.abstain is not None:
            worth = worth_of_answers(lists, shown, parsed)
            confidence = Confidence(self.abstain)
            self.confidence_ = confidence.fit(worth, lists.scores, lists.index, units)
            sure = self.confidence_.out_of_fold_
            self.answer_level_ = best_level(sure, worth, lists.weights)
            shown &= (sure >= self.answer_level_)[lists.index.codes()]
        self.out_of_fold_shown_ = shown
        return self

    def of_level(self) -> "ListFilter":
        """The filter of a cut that has its level and learns nothing."""
        self.level_, self.confidence_, self.answer_level_ = self.cut.level, None, -np.inf
        return self

    def shown(self, scores, index) -> np.ndarray:
        """Whether each row of whole lists is shown."""
        shown = _reached(self._capped(self.cut.keys(scores, index), scores, index), self.level_)
        if self.confidence_ is not None:
            sure = self.confidence_.of(scores, index) >= self.answer_level_
            shown &= sure[index.codes()]
        return shown

    def _capped(self, keys, scores, index):
        """Keys, +inf where a row is shown and -inf where it is hidden whatever the level."""
        capped = np.where(np.isneginf(scores), -np.inf, keys)
        if self.max_shown is None and self.min_shown is None:
            return capped
        place = places(scores, index)
        if self.min_shown is not None:
            capped[(place < self.min_shown) & (scores > -np.inf)] = np.inf
        if self.max_shown is not None:
            capped[place >= self.max_shown] = -np.inf
        return capped


def _reached(keys, level):
    return (keys >= level) & (keys > -np.inf)


def level_curve(lists, keys, parsed) -> ThresholdCurve:
    """The measure at every level of the keys, higher being better.

    Keys never rise down a list. Rows at -inf are never shown, those at +inf always.
    """
    entries = EntryValues.of(lists.with_ties(parsed.measure.ties[0]), parsed, keys)
    curve = ThresholdCurve(*entries.curve(), *entries.best())
    if parsed.measure.greater_is_better:
        return curve
    return replace(curve, values=0.0 - curve.values, best_value=0.0 - curve.best_value)


def values_shown(lists, shown, parsed) -> np.ndarray:
    """The measure of each query where some rows are shown, higher being better."""
    entry = parsed.measure
    part = lists.with_ties(entry.ties[0]).with_scores(np.where(shown, lists.scores, -np.inf))
    part.has_filtered = True
    values = with_undefined(part.per_query(entry.bind(parsed.k, parsed.options)), 0.0)
    return values if entry.greater_is_better else 0.0 - values


def worth_of_answers(lists, shown, parsed) -> np.ndarray:
    """What each query gains in the measure by being shown its rows instead of nothing."""
    nothing = np.zeros(len(shown), dtype=bool)
    return values_shown(lists, shown, parsed) - values_shown(lists, nothing, parsed)


def held_out_shown(make, lists, parsed, units) -> np.ndarray:
    """Whether each row is shown by a filter that was fitted without its query.

    `units` numbers the queries of the lists: two lists may be of one query.
    """
    codes = lists.index.codes()
    shown = np.zeros(len(codes), dtype=bool)
    known = np.flatnonzero(np.bincount(units))
    fold = np.empty(units.max() + 1, dtype=np.int8)
    parts = np.array_split(np.random.RandomState(0).permutation(known), min(_FOLDS, len(known)))
    for number, part in enumerate(parts):
        fold[part] = number
    of_list = fold[units]
    of_row = of_list[codes]
    for number in range(len(parts)):
        rest, held_out = (
            _lists_of(lists, codes, np.flatnonzero(rows))
            for rows in (of_row != number, of_row == number)
        )
        found = make().fit(rest, parsed, units=units[of_list != number])
        shown[of_row == number] = found.shown(held_out.scores, held_out.index)
    return shown


def _lists_of(lists, codes, rows) -> RankedLists:
    """Some queries of the lists, by their rows."""
    codes = codes[rows]
    part = RankedLists(
        lists.gains[rows], lists.scores[rows], groups=type(lists.index).from_groups(codes)
    )
    if lists.weights is not None:
        part.weights = lists.weights[np.unique(codes)]
    return part
