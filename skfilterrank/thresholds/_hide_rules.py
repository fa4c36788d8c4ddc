"""Rules that order lists by one score and hide documents by a second score.

A rule has one parameter, the level. At +inf nothing is shown, and at 0 everything is. With r the
expected gain and h the probability of harm, a level is gain per unit of harm, comparable across
lists:

* "ratio": show documents with r / h at or above the level, in the order of r;
* "price": show documents with r - level * h above 0, in the order of this difference;
* "subset": show the subset, in the order of r, with the highest DCG of r minus level * h.

The rule "harm" needs no probabilities: it shows documents with minus the filter score at or above
the level, in the order of the score. Its levels go from +inf to -inf.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from skfilterrank._lists.entry_steps import PathOfSets, nonzero_of_rows
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.prefixes import places

RULES = ("ratio", "price", "subset", "harm")
# Rules that keep the order of documents, so that documents enter lists one by one.
KEY_RULES = ("harm", "ratio")
_IN_WORDS = {
    "harm": "Documents with a second score of {opposite:.6g} or less are shown",
    "ratio": "Documents are shown whose expected gain is at least {level:.6g} times their "
    "probability of harm",
    "price": "Documents are shown whose expected gain is above {level:.6g} times their probability "
    "of harm",
    "subset": "Of each list the subset is shown with the highest DCG of expected gain, less "
    "{level:.6g} times the probability of harm of its documents",
}
# Number of levels of the other rules.
N_LEVELS = 106
# Largest number of bins for learning curves.
_N_BINS = 2000
# Relative rise that is added to flat parts of a curve.
_TIE_BREAK = 1e-6
# Largest width of scores, in units of their interquartile range.
_MOST_MIDDLES = 10.0
# Lowest worth relative to the mean, and lowest probability of harm.
_LEAST_WORTH, _LEAST_HARM = 1e-3, 1e-9
# Number of queries whose best subsets are searched together.
_N_TOGETHER = 2048


def rule_in_words(rule: str | None, level: float) -> str:
    """Say which documents are shown at a level of a rule, or of the score if there is no rule."""
    if np.isposinf(level):
        return "No document is shown"
    if np.isneginf(level):
        return "Every document with a score is shown"
    text = "Documents with a score of {level:.6g} or more are shown"
    return _IN_WORDS.get(rule or "", text).format(level=level, opposite=0.0 - level)


class RisingCurve(NamedTuple):
    """A strictly rising function of a score: centred isotonic regression.

    Attributes
    ----------
    x, y : ndarray of shape (n_knots,)
        Knots; the curve is linear between them. Flat parts, and the parts beyond the knots, rise by
        about a millionth of the value.
    centre, scale : float
        Median and width of the training scores.
    """

    x: np.ndarray
    y: np.ndarray
    centre: float
    scale: float

    @classmethod
    def fit(cls, scores: np.ndarray, values: np.ndarray, least: float) -> "RisingCurve":
        """Fit the curve to values at sorted scores; `least` is its lowest value.

        Each constant part of the isotonic fit becomes a knot at its mean score. The mean of all
        values is added to each part as one more row, so that parts with few rows are not extreme.
        """
        if not len(scores):
            return cls(np.zeros(1), np.full(1, least), 0.0, 1.0)
        x, y, n = _binned(scores, values)
        fitted = isotonic_regression(y, sample_weight=n)
        first = np.flatnonzero(np.append(True, fitted[1:] != fitted[:-1]))
        weights = np.add.reduceat(n, first)
        knots = np.add.reduceat(x * n, first) / weights
        mean = np.average(y, weights=n)
        levels = (fitted[first] * weights + mean) / (weights + 1.0)
        levels = np.maximum(np.maximum.accumulate(levels), least)
        centre, scale = float(scores[len(scores) // 2]), float(np.std(scores))
        # Outliers, such as scores of documents that were not retrieved, must not dominate the
        # width.
        middle = float(scores[3 * len(scores) // 4] - scores[len(scores) // 4])
        if middle > 0:
            scale = min(scale, _MOST_MIDDLES * middle)
        return cls(knots, levels, centre, scale if scale > 0 else 1.0)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the value at each score."""
        z = (scores - self.centre) / self.scale
        return np.interp(scores, self.x, self.y) * (1.0 + _TIE_BREAK * z / (1.0 + np.abs(z)))


def _binned(scores, values):
    """Average sorted scores and values in bins; equal scores share a bin. Return sizes, too."""
    first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    if len(first) > _N_BINS:
        places = np.linspace(0, len(scores), _N_BINS, endpoint=False).astype(np.intp)
        # Move each bin's start to the first row of the same score.
        first = np.unique(first[np.searchsorted(first, places, side="right") - 1])
    n = np.diff(first, append=len(scores)).astype(np.float64)
    return np.add.reduceat(scores, first) / n, np.add.reduceat(values, first) / n, n


class Worth(NamedTuple):
    """Curves of the expected gain and of the probability of harm as functions of two scores.

    Attributes
    ----------
    gain : RisingCurve
        Expected gain of a document that is not forbidden, by its score.
    harm : RisingCurve
        Probability that a document is forbidden, by its filter score.
    """

    gain: RisingCurve
    harm: RisingCurve

    @classmethod
    def fit(cls, gains, scores, filter_scores) -> "Worth":
        """Learn both curves from judged rows; gains are NaN where unjudged."""
        ((worth),) = fit_worths(gains, scores, filter_scores, [slice(None)])
        return worth

    def of(self, scores, filter_scores) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected gain r (0 if forbidden) and the probability of harm h of each row."""
        harm = np.minimum(self.harm(filter_scores), 1.0 - 1e-9)
        finite = np.where(np.isneginf(scores), self.gain.centre, scores)
        return self.gain(finite) * (1.0 - harm), harm


def fit_worths(gains, scores, filter_scores, parts) -> list[Worth]:
    """Learn curves from several parts of the rows, given as masks, with a single sort."""
    judged = ~np.isnan(gains) & ~np.isneginf(scores)
    harmless = np.flatnonzero(judged & (gains >= 0))
    by_score = harmless[np.argsort(scores[harmless], kind="stable")]
    judged = np.flatnonzero(judged)
    by_filter = judged[np.argsort(filter_scores[judged], kind="stable")]
    is_bad = (gains < 0).astype(np.float64)
    worths = []
    for part in parts:
        one, two = (
            rows if isinstance(part, slice) else rows[part[rows]] for rows in (by_score, by_filter)
        )
        least = _LEAST_WORTH * float(gains[one].mean()) if len(one) else 0.0
        gain = RisingCurve.fit(scores[one], gains[one], least if least > 0 else _LEAST_WORTH)
        worths.append(Worth(gain, RisingCurve.fit(filter_scores[two], is_bad[two], _LEAST_HARM)))
    return worths


class HidePath:
    """Lists that a rule shows at each of its levels.

    Parameters
    ----------
    rule : {"ratio", "price", "subset", "harm"}
        The rule.
    scores, worth, harm : ndarray of shape (n_rows,)
        Score, expected gain and probability of harm of each row; for the rule "harm" the score, the
        score again, and the filter score.
    index : GroupIndex or None
        The queries, which `most` and the rule "subset" need.
    most : int or None
        Largest number of shown documents of each list.
    levels : ndarray or None
        Levels of the rules "price" and "subset", descending to 0.
    """

    def __init__(self, rule, scores, worth, harm, index=None, *, most=None, levels=None):
        self.rule, self.harm, self.most, self.levels = rule, harm, most, levels
        self.order = np.where(np.isneginf(scores), -np.inf, worth)
        self._index = index

    def keys(self) -> np.ndarray:
        """Return the highest level at which each row is shown."""
        keys = -self.harm if self.rule == "harm" else self.order / self.harm
        return np.where(np.isneginf(self.order), -np.inf, keys)

    def at(self, level: float) -> np.ndarray:
        """Return the score by which each list is ordered at a level, -inf where hidden."""
        scores = self._scores_at(level)
        if self.most is not None and self.rule != "subset":
            scores[places(scores, self._index) >= self.most] = -np.inf
        return scores

    def _scores_at(self, level):
        """Return the scores of `at` without a limit on the number of documents."""
        if self.rule in KEY_RULES:
            return np.where(self.keys() >= level, self.order, -np.inf)
        if self.rule == "subset":
            return np.where(self._in_subset(level), self.order, -np.inf)
        scores = self.order - level * self.harm
        scores[self.order <= level * self.harm] = -np.inf
        return scores

    def lists_of(self, lists: RankedLists) -> RankedLists:
        """Return judged lists in the order of the rule's scores."""
        ordered = lists.with_scores(self.order)
        ordered.has_filtered = lists.has_filtered
        return ordered.with_ties("stable")

    def given(self, lists: RankedLists, rates) -> dict:
        """Return the arguments that EntryValues needs to measure lists along this path."""
        if self.rule in KEY_RULES:
            return {"keys": self.keys(), "most": self.most}
        depth = _deepest(rates) if self.most is None else self.most
        at = self._in_subset if self.rule == "subset" else self._scores_at
        return {"sets": PathOfSets.of(lists, map(at, self.levels), self.levels, depth)}

    def _in_subset(self, level):
        """Return a mask of the rows in the best subset of their list."""
        shown = np.zeros(len(self.order) + 1, dtype=bool)
        for worth, harm, rows, depth in self._lists:
            columns = _best_subsets(worth, harm, level, depth)
            shown[np.take_along_axis(rows, columns, axis=1)] = True
        return shown[:-1]

    @cached_property
    def _lists(self):
        """Yield worth, harm, row numbers and depth of blocks of lists, by descending worth."""
        n_rows = len(self.order)
        lists = RankedLists(np.zeros(n_rows), self.order, groups=self._index, ties="stable")
        found = []
        for block in lists.blocks():
            depth = block.depth(self.most)
            worth, harm, rows = (
                block.in_order(self._index.take(values, block.layout, fill))
                for values, fill in ((self.order, -1.0), (self.harm, 1.0), (np.arange(n_rows), -1))
            )
            worth[np.isneginf(worth) | _is_beaten(harm, depth)] = -1.0
            rows = np.column_stack([rows, np.full(len(rows), n_rows)])
            found.append((worth, harm, rows, depth))
        return found


def measured(lists: RankedLists, parsed: ParsedMeasure, given: dict) -> EntryValues:
    """Measure judged lists at each level of a path."""
    of = EntryValues.of_path if "sets" in given else EntryValues.of
    return of(lists, parsed, **given)


def _deepest(rates):
    """Return the number of places that the measure reads; None for all."""
    if not all(isinstance(rate, ParsedMeasure) and rate.measure.takes_k for rate in rates):
        return None
    # Measures of judged documents may read places below their cut-off.
    if any(rate.k is None or rate.measure.reads_unjudged for rate in rates):
        return None
    return max(rate.k for rate in rates)


def _best_subsets(worth, harm, price, depth):
    """Find the subset of each list with the highest DCG of worth minus price times harm.

    Rows are in descending order of worth; j rows are shown before row i, and at most `depth` in
    all: ``V(i, j) = max(V(i + 1, j), d(j + 1) r_i - price h_i + V(i + 1, j + 1))``.
    """
    width = worth.shape[1]
    result = np.full((len(worth), depth), width)
    # A row that is not worth showing at the first place is not at any other place.
    candidates = worth > price * harm
    discounts = 1.0 / np.log2(np.arange(2, depth + 2))
    for begin in range(0, len(worth), _N_TOGETHER):
        part = slice(begin, begin + _N_TOGETHER)
        query, column = nonzero_of_rows(candidates[part])
        if not len(query):
            continue
        n_of_query = np.bincount(query, minlength=min(_N_TOGETHER, len(worth) - begin))
        place = np.arange(len(query)) - np.repeat(np.cumsum(n_of_query) - n_of_query, n_of_query)
        shape = (int(n_of_query.max()), len(n_of_query))
        gain, cost, columns = np.zeros(shape), np.ones(shape), np.full(shape, width)
        found, cells = place * shape[1] + query, query * width + column
        gain.put(found, worth[part].take(cells))
        columns.put(found, column)
        cost.put(found, price * harm[part].take(cells))
        result[part] = _solve(gain, cost, columns, discounts, width)
    return result


def _is_beaten(harm, depth):
    """Return a mask of rows with at least `depth` earlier rows of at most their harm.

    Worth falls along the lists. Such a row is in no best subset at any price: one of the earlier
    rows is not in the subset, and would be better in its place.
    """
    beaten = np.zeros(harm.shape, dtype=bool)
    lowest = np.full((len(harm), depth), np.inf)
    before = np.full((len(harm), depth), -np.inf)
    for column in range(harm.shape[1]):
        own = harm[:, column]
        beaten[:, column] = lowest[:, -1] <= own
        before[:, 1:] = lowest[:, :-1]
        lowest = np.minimum(lowest, np.maximum(before, own[:, None]))
    return beaten


def _solve(gain, cost, columns, discounts, width):
    """Find the best subsets of lists, which are the columns of matrices."""
    n_rows, n_queries = gain.shape
    depth = len(discounts)
    values = np.zeros((depth + 1, n_queries))
    takes = np.zeros((n_rows, depth, n_queries), dtype=bool)
    for row in range(n_rows - 1, -1, -1):
        # Largest number of rows that can have been shown before, plus one.
        n = min(row + 1, depth)
        taken = discounts[:n, None] * gain[row]
        taken -= cost[row]
        taken += values[1 : n + 1]
        np.greater(taken, values[:n], out=takes[row, :n])
        np.maximum(values[:n], taken, out=values[:n])
    result = np.full((n_queries, depth + 1), width)
    n_shown = np.zeros(n_queries, dtype=np.intp)
    every = np.arange(n_queries)
    for row in range(n_rows):
        is_taken = takes[row, np.minimum(n_shown, depth - 1), every] & (n_shown < depth)
        result[every, n_shown] = np.where(is_taken, columns[row], result[every, n_shown])
        n_shown += is_taken
    return result[:, :depth]


def levels_of(worth: np.ndarray, harm: np.ndarray, depth: int | None) -> np.ndarray:
    """Choose descending levels for the rules "price" and "subset" without using labels.

    Half of the levels are quantiles of r / h, the levels at which rows enter. The other half get
    denser towards the levels at which almost nothing is shown. Some levels are below the lowest r /
    h, since a row may enter only there because the last place has a small discount. The last level
    is 0.
    """
    keys = np.sort(worth / harm)[::-1]
    n = len(keys)
    n_each = (N_LEVELS - 20) // 2
    shares = np.concatenate([np.linspace(0, 1, n_each), np.geomspace(1.0 / n, 1, n_each)])
    found = keys[np.minimum((shares * n).astype(np.intp), n - 1)]
    last = 1.0 / np.log2((depth or n) + 1)
    below = keys[-1] * np.geomspace(1.0, min(last, 0.5), 20)
    # The rule "price" shows a row only below its level, not at it.
    return np.append(np.unique(np.append(found, below))[::-1] * (1 - 1e-9), 0.0)
