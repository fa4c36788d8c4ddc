"""Cuts: how the scores of lists become keys, and the curves of gain and harm that two scores need.

Documents with keys at or above a level are shown. By two scores, lists are ordered by relevance,
and documents hidden by harm, too. Rules:

* "ratio": show documents with r / h at or above the level, in the order of r. Here r is the
  expected gain and h the probability of harm: a level is gain per unit of harm, comparable across
  lists. At 0 everything is shown.
* "harm": show documents with minus the second score at or above the level, in the order of the
  score. No probabilities are needed. At -inf everything is shown.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from scipy.special import expit, logit
from scipy.stats import rankdata
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression

from skfilterrank._base.words import counted, warn_user
from skfilterrank._files.states import array
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.prefixes import places, thresholds_of, ties_worst_first
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.thresholds._judged_scores import HUGE, N_FOLDS, JudgedScores

# Largest number of bins for learning curves.
_N_BINS = 2000
# Relative rise that is added to flat parts of a curve.
_TIE_BREAK = 1e-6
# Largest width of scores, in units of their interquartile range.
_MOST_MIDDLES = 10.0
# Lowest worth relative to the mean, and lowest probability of harm.
_LEAST_WORTH, _LEAST_HARM = 1e-3, 1e-9
# Largest number of rows that the weights of two curves are learned from.
_MOST_REGRESSED = 100_000
# Number of forbidden rows below which the curve of harm is too uncertain.
FEW_FORBIDDEN = 50
# Number of deals of queries to folds over which out-of-fold curves are averaged.
N_DEALS = 3
_CURVES = ("gain", "harm", "harm_by_lead")
# Largest number of rows for the comparison of second scores.
_MOST_RANKED = 100_000


class Caps(NamedTuple):
    """Smallest and largest number of shown documents of each query; None for no bound."""

    least: int | None = None
    most: int | None = None


class Keys(NamedTuple):
    """Key of each row, and the score by which shown rows are ordered."""

    keys: np.ndarray
    order: np.ndarray


class Cut:
    """Base class of cuts, which turn scores into keys.

    Rows with keys at or above a level are shown. A subclass computes keys in `keys`, and learns in
    `learn`. Keys never rise down a list, so that a list is cut once.

    Attributes
    ----------
    level : float or None
        Level of the keys; None if the level with the best mean of the measure is searched for.
    is_score : bool
        True if the key of each row is its score.
    n_more : int or None
        Largest number of columns that are read besides the score; None means any.
    columns : list or None
        Names of these columns; None means all that are there.
    rule : str or None
        Name of the rule that hides by a second score.
    takes_weights : bool
        True if the level takes account of weights of queries.
    learns_sizes : bool
        True if it learns from the size of a list, and serves longer lists worse.
    needs_lists : bool
        True if the key of a row depends on other rows of its list.
    shows_all : bool
        True if no row is hidden, whatever its score.

    Examples
    --------
    Show documents down to a share of the best score of their list; the share is tuned.

    >>> import numpy as np
    >>> from skfilterrank.thresholds import Cut, Threshold
    >>> class ShareOfBest(Cut):
    ...     def keys(self, scores, more, index):
    ...         best = np.full(index.n_queries, -np.inf)
    ...         np.maximum.at(best, index.codes(), scores)
    ...         return scores / best[index.codes()]
    >>> scores, labels = [9.0, 8.0, 1.0, 2.0, 0.5, 0.1], [1, 1, -1, 1, 0, -1]
    >>> cut = Threshold(ShareOfBest()).fit(scores, labels, groups=[1, 1, 1, 2, 2, 2])
    >>> round(cut.level_, 3), cut.rank(scores, groups=[1, 1, 1, 2, 2, 2]).tolist()
    (0.181, [1, 2, 0, 1, 2, 0])
    """

    level: float | None = None
    is_score = False
    n_more: int | None = 0
    columns: list | None = None
    rule: str | None = None
    takes_weights = True
    needs_lists = True
    learns_sizes = False
    shows_all = False

    def keys(self, scores: np.ndarray, more: np.ndarray, index: GroupIndex) -> np.ndarray:
        """Compute the key of each row of whole lists.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores; -inf where a row is not ranked.
        more : ndarray of shape (n_rows, n_more)
            Other columns of the scores.
        index : GroupIndex
            The queries: `index.codes()` is the number of the query of each row, and
            `index.n_queries` their number.

        Returns
        -------
        ndarray of shape (n_rows,)
            Keys.
        """
        raise NotImplementedError(f"{type(self).__name__} must define keys(scores, more, index).")

    def learn(self, judged: JudgedScores, parsed: ParsedMeasure) -> np.ndarray:
        """Learn from judged rows; return keys of these rows, each learned from other queries."""
        return self.keys(judged.scores, judged.more, judged.index)

    def check_measure(self, parsed: ParsedMeasure) -> None:
        """Raise for a measure that the cut cannot work with."""

    def check(self, judged: JudgedScores, caps: Caps) -> None:
        """Raise for judged rows from which nothing can be learned."""

    def check_columns(self, more: np.ndarray, names: list) -> np.ndarray:
        """Return the columns that `fit` had; raise if there are others."""
        if more.shape[1] != self.n_more:
            raise InputError(
                f"scores has {counted(1 + more.shape[1], 'column')}, and this threshold was fitted "
                f"on {1 + (self.n_more or 0)}. Give the columns of fit."
            )
        return more

    def best_level(self, judged: JudgedScores, keys, entries: EntryValues, among) -> float:
        """Choose the level by the queries of a mask; None means all."""
        return entries.best(among)[0]

    def learn_apart(self, judged: JudgedScores) -> tuple[JudgedScores, int]:
        """Learn from some queries; return the rows of the others, and how many queries taught it.

        A cut that learns nothing keeps all rows.
        """
        return judged, 0

    # Steps of a fit and of serving; cuts by two scores override some.

    def learned_keys(self, judged: JudgedScores, parsed: ParsedMeasure) -> Keys:
        """Learn; return keys of the judged rows, and the scores that order them."""
        return self._checked(self.learn(judged, parsed), judged.scores)

    def served_keys(self, scores, more, index) -> Keys:
        """Return keys and ordering scores of new rows."""
        return self._checked(self.keys(scores, more, index), scores)

    def _checked(self, keys, scores) -> Keys:
        """Check the keys of rows that are ordered by their scores."""
        keys = np.asarray(keys)
        if keys.shape != scores.shape or keys.dtype.kind not in "biuf":
            raise InputError(
                f"keys of {type(self).__name__} must be one number for each of {len(scores)} rows, "
                f"got shape {keys.shape} and dtype {keys.dtype}."
            )
        keys = keys.astype(np.float64, copy=False)
        if (is_missing := np.isnan(keys) & (scores > -np.inf)).any():
            raise InputError(
                f"keys of {type(self).__name__} must be numbers, got NaN at row "
                f"{int(is_missing.argmax())}. Return -inf for rows that are never shown."
            )
        return Keys(keys, scores)

    def capped(self, found: Keys, index, caps: Caps) -> Keys:
        """Set keys to +inf for rows shown in any case, and to -inf for rows never shown."""
        keys = np.where(np.isneginf(found.order), -np.inf, found.keys)
        least, most = caps
        if most is None and least is None:
            return found._replace(keys=keys)
        place = places(found.order, index)
        if least is not None:
            keys[(place < least) & (found.order > -np.inf)] = np.inf
        if most is not None:
            keys[place >= most] = -np.inf
        return found._replace(keys=keys)

    def lists_of(self, judged: JudgedScores, found: Keys) -> RankedLists:
        """Return judged lists in the order of shown rows, without rows that are never shown."""
        return judged.lists.replace(scores=np.where(np.isneginf(found.keys), -np.inf, found.order))

    def entries(self, judged: JudgedScores, found: Keys, parsed, caps: Caps) -> EntryValues:
        """Measure each list as its rows enter in falling order of capped keys."""
        lists = judged.lists.with_ties(parsed.measure.ties[0])
        by_score = self.is_score and caps == Caps()
        return EntryValues.of(lists, parsed, None if by_score else found.keys)

    def shown(self, found: Keys, level, index, caps: Caps) -> np.ndarray:
        """Return the ordering scores of rows at or above the level, -inf for others."""
        is_shown = (found.keys >= level) & (found.keys > -np.inf)
        return np.where(is_shown, found.order, -np.inf)

    def measured(self, shown: np.ndarray) -> np.ndarray:
        """Return a mask of the shown rows, or scores that order them."""
        return shown > -np.inf

    def thresholds(self, scores, index, shown) -> np.ndarray:
        """Return a threshold on the score of each row that hides the same rows of its list."""
        return thresholds_of(shown > -np.inf, scores, index)

    def why_hidden(self, level: float) -> str:
        """Say why a row below the level is hidden; for "" the class of the threshold is named."""
        return ""

    # Files.

    def state(self) -> dict:
        """Return the learned state, in dicts, lists and arrays."""
        return {name: vars(self)[name] for name in ("n_more", "columns") if name in vars(self)}

    @classmethod
    def restored(cls, state: Mapping, parsed: ParsedMeasure) -> Self:
        """Make the cut from its state, of which JSON has made lists and texts."""
        found = cls()
        vars(found).update(state)
        return found


class ByScore(Cut):
    """The key of a row is its score."""

    is_score = True
    needs_lists = False

    def keys(self, scores, more, index):
        """Return the scores."""
        return scores

    def why_hidden(self, level):
        """Name the threshold."""
        return f"score below the threshold {level:.6g}"


class Everything(ByScore):
    """Every row is shown, so that margins are the scores."""

    shows_all = True


class ByPlace(Cut):
    """The key of a row is its place, negated: all lists are cut after the same number of rows."""

    def keys(self, scores, more, index):
        """Return -1 for the first row of a list, -2 for the second, and so on."""
        return -1.0 - places(scores, index)

    def why_hidden(self, level):
        """Name the number of documents."""
        return f"beyond the first {np.floor(max(-level, 0)):g}"


def known_cuts() -> dict[str, type[Cut]]:
    """Return the cuts of this library by their names."""
    found, open_classes = {}, [Cut]
    while open_classes:
        open_classes += (kind := open_classes.pop()).__subclasses__()
        if kind.__module__.startswith(__package__):
            found[kind.__name__] = kind
    return found


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
    """Expected gain and probability of harm of documents, as functions of two scores.

    The log odds of harm are a weighted sum of those of two curves: by the second score, and by the
    lead, which is the score of a document minus the mean score of its list. Documents that are made
    to look relevant, such as spam, have a high lead. Mean scores of lists say nothing of harm: some
    rankers give all documents of a query high scores.

    Attributes
    ----------
    gain : RisingCurve
        Expected gain of a document that is not forbidden, by its score.
    harm : RisingCurve
        Probability that a document is forbidden, by its second score.
    harm_by_lead : RisingCurve
        The same by the lead times `direction`.
    direction : float
        1 if forbidden documents have higher leads than others, else -1.
    weights : ndarray of shape (3,)
        Weights of the log odds of `harm` and of `harm_by_lead`, and a constant.
    """

    gain: RisingCurve
    harm: RisingCurve
    harm_by_lead: RisingCurve
    direction: float
    weights: np.ndarray

    @classmethod
    def fit(cls, gains, scores, second, index: GroupIndex) -> "Worth":
        """Learn from judged rows of whole queries; gains are NaN where unjudged."""
        ((worth),) = fit_worths(gains, scores, second, index, [slice(None)])
        return worth

    def of(self, scores, second, index: GroupIndex) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected gain r (0 if forbidden) and the probability of harm h of each row."""
        return self.of_rows(scores, second, leads(scores, index))

    def of_rows(self, scores, second, lead) -> tuple[np.ndarray, np.ndarray]:
        """Return the same for rows with their leads."""
        finite = np.where(np.isneginf(scores), self.gain.centre, scores)
        harm = expit(self.log_odds(second, lead) @ self.weights)
        harm = harm.clip(_LEAST_HARM, 1.0 - _LEAST_HARM)
        return self.gain(finite) * (1.0 - harm), harm

    def log_odds(self, second, lead) -> np.ndarray:
        """Return the log odds of harm by each of the two curves, and a column of ones."""
        found = np.ones((len(lead), 3))
        by_each = self.harm(second), self.harm_by_lead(self.direction * lead)
        for place, each in enumerate(by_each):
            found[:, place] = logit(each.clip(_LEAST_HARM, 1.0 - _LEAST_HARM))
        return found


def leads(scores: np.ndarray, index: GroupIndex) -> np.ndarray:
    """Subtract from each score the mean of its list; 0 for documents that were not retrieved."""
    is_there, codes = ~np.isneginf(scores), index.codes()
    scores = np.asarray(scores, dtype=np.float64).clip(-HUGE, HUGE)
    n_there = np.bincount(codes, is_there, index.n_queries)
    shares = np.where(is_there, scores / np.maximum(n_there, 1.0)[codes], 0.0)
    means = np.bincount(codes, shares, index.n_queries)
    return np.where(is_there, scores - means[codes], 0.0)


def fit_worths(gains, scores, second, index: GroupIndex, parts) -> list[Worth]:
    """Learn from several parts of the rows, given as masks of whole queries, with one sort."""
    is_judged = ~np.isnan(gains) & ~np.isneginf(scores)
    judged, harmless = np.flatnonzero(is_judged), np.flatnonzero(is_judged & (gains >= 0))
    lead = leads(scores, index)
    by_score = harmless[np.argsort(scores[harmless], kind="stable")]
    by_second = judged[np.argsort(second[judged], kind="stable")]
    by_lead = judged[np.argsort(lead[judged], kind="stable")]
    is_bad = (gains < 0).astype(np.float64)
    worths = []
    for part in parts:
        one, two, three = (
            rows if isinstance(part, slice) else rows[part[rows]]
            for rows in (by_score, by_second, by_lead)
        )
        least = _LEAST_WORTH * float(gains[one].mean()) if len(one) else 0.0
        gain = RisingCurve.fit(scores[one], gains[one], least if least > 0 else _LEAST_WORTH)
        harm = RisingCurve.fit(second[two], is_bad[two], _LEAST_HARM)
        # Forbidden documents may have high leads or low ones.
        bad = np.flatnonzero(is_bad[three])
        direction = -1.0 if len(bad) and bad.mean() < (len(three) - 1) / 2 else 1.0
        three = three[:: int(direction)]
        by_lead_curve = RisingCurve.fit(direction * lead[three], is_bad[three], _LEAST_HARM)
        worth = Worth(gain, harm, by_lead_curve, direction, np.array([1.0, 0.0, 0.0]))
        if 0 < len(bad) < len(three):
            some = two[:: len(two) // _MOST_REGRESSED + 1]
            features = worth.log_odds(second[some], lead[some])
            model = LogisticRegression(fit_intercept=False).fit(features, is_bad[some] > 0)
            worth = worth._replace(weights=model.coef_[0])
        worths.append(worth)
    return worths


class ByHarm(Cut):
    """Documents are shown in the order of the first score, unless the second score is too high.

    The key of a row is its second score, negated.
    """

    rule = "harm"
    n_more = 1
    needs_lists = False

    def keys(self, scores, more, index):
        """Return the second scores, negated."""
        return -more[:, 0]

    def capped(self, found, index, caps):
        """Set keys to -inf for rows that are not ranked; `shown` and `entries` cap lists."""
        return found._replace(keys=np.where(np.isneginf(found.order), -np.inf, found.keys))

    def check(self, judged, caps):
        """Raise for useless second scores, and for a cap that would show what is hidden."""
        if caps.least is not None:
            raise InputError(
                f"min_shown={caps.least} is not possible with two columns of scores, as it would "
                "show documents whatever their harm. Leave min_shown out."
            )
        check_second_scores(judged)

    def check_columns(self, more, names):
        """Return the second scores; raise if they are missing or not finite."""
        more = super().check_columns(more, names)
        check_finite(more[:, 0])
        return more

    def lists_of(self, judged: JudgedScores, found: Keys) -> RankedLists:
        """Return judged lists in the order of shown rows."""
        return super().lists_of(judged, found).with_ties("stable")

    def entries(self, judged, found, parsed, caps):
        """Measure each list as rows enter at their places."""
        lists = self.lists_of(judged, found)
        return EntryValues.of(lists, parsed, found.keys, most=caps.most)

    def shown(self, found, level, index, caps):
        """Return the ordering scores of the first rows at or above the level, -inf for others."""
        scores = np.where(found.keys >= level, found.order, -np.inf)
        if caps.most is not None:
            scores[places(scores, index) >= caps.most] = -np.inf
        return scores

    def measured(self, shown):
        """Return the scores that order the shown rows."""
        return shown

    def thresholds(self, scores, index, shown):
        """Return -inf for shown rows and +inf for others, as no score tells them apart."""
        return np.where(shown > -np.inf, -np.inf, np.inf)

    def why_hidden(self, level):
        """Name the rule."""
        return f"hidden by the rule {self.rule!r}"


class ByRatio(ByHarm):
    """Documents are shown if their expected gain is high for their probability of harm.

    The key of a row is r / h and rows are ordered by r, where h is the probability of harm and r
    the expected gain. Both are learned functions of the scores.
    """

    rule = "ratio"
    # The probability of harm depends on the mean score of the list.
    needs_lists = True
    worth: Worth

    def keys(self, scores, more, index):
        """Return r / h."""
        return self.served_keys(scores, more, index).keys

    def served_keys(self, scores, more, index):
        """Return r / h and r."""
        return _of_worth(scores, *self.worth.of(scores, more[:, 0], index))

    def learned_keys(self, judged, parsed):
        """Learn from all rows; return the keys of each query as learned from other queries."""
        # The means of several deals depend less on chance than one deal.
        folds = [
            test for deal in range(N_DEALS) for _, test in judged.fold_rows(N_FOLDS, seed=deal)
        ]
        parts: list = [slice(None)]
        for held_out in folds:
            parts.append(np.ones(len(judged.scores), dtype=bool))
            parts[-1][held_out] = False
        given = judged.scores, judged.more[:, 0], leads(judged.scores, judged.index)
        self.worth, *others = fit_worths(judged.gains, *judged.two_scores, parts)
        if not folds:
            return _of_worth(judged.scores, *self.worth.of_rows(*given))
        found = np.zeros((2, len(judged.scores)))
        for own, rows in zip(others, folds):
            found[:, rows] += np.array(own.of_rows(*(each[rows] for each in given))) / N_DEALS
        return _of_worth(judged.scores, *found)

    def learn_apart(self, judged):
        """Learn from a tenth of the queries, or more if these are few."""
        learned, tested = (judged.take(rows) for rows in judged.split())
        self.worth = Worth.fit(learned.gains, *learned.two_scores)
        order, _ = self.worth.of(*tested.two_scores)
        # Worths may tie where scores do not, so that the order of ties is found again.
        tested = tested.take(ties_worst_first(tested.gains, order, tested.index))
        return tested, learned.index.n_queries

    def state(self):
        """Return the curves and the weights."""
        state = self.worth._asdict()
        return state | {name: state[name]._asdict() for name in _CURVES}

    @classmethod
    def restored(cls, state, parsed):
        """Make the cut from JSON."""
        found, state = cls(), dict(state)
        for name in _CURVES:
            curve = state[name]
            state[name] = RisingCurve(**curve | {each: array(curve[each]) for each in "xy"})
        found.worth = Worth(**state | {"weights": array(state["weights"])})
        return found


RULES = {"ratio": ByRatio, "harm": ByHarm}


def _of_worth(scores, worth, harm) -> Keys:
    """Return r / h and r, -inf where a row is not ranked."""
    order = np.where(np.isneginf(scores), -np.inf, worth)
    return Keys(np.where(np.isneginf(order), -np.inf, order / harm), order)


def check_second_scores(judged: JudgedScores) -> None:
    """Raise for useless second scores; warn of few forbidden rows."""
    harm = judged.more[:, 0]
    check_finite(harm)
    if harm.min() == harm.max():
        raise InputError(
            f"the second column of scores has one value, {harm[0]:g}, for all rows. Give higher "
            "scores to documents that are more likely to be hidden, or give one column."
        )
    n_forbidden = int(np.count_nonzero(judged.gains < 0))
    if not n_forbidden:
        raise InputError(
            "a second column of scores needs forbidden documents to learn the probability of harm, "
            "but no gain is below 0. Judge forbidden documents, pass gains, or give one column."
        )
    _warn_of_wrong_way(judged.gains, harm)
    # RankAndFilter itself warns of few rows.
    if n_forbidden < FEW_FORBIDDEN and judged.watches_scale:
        warn_user(
            f"only {n_forbidden} of the rows are forbidden, fewer than {FEW_FORBIDDEN}: hiding "
            "by a second score may be chance. Judge more forbidden documents.",
            FitWarning,
        )


def check_finite(harm) -> None:
    """Raise for second scores that are not finite."""
    if not np.isfinite(harm).all():
        row = int(np.argmin(np.isfinite(harm)))
        raise InputError(
            f"the second column of scores must be finite, got {harm[row]} at row {row}. Give a low "
            "score to documents that are never to be hidden."
        )


def _warn_of_wrong_way(gains, harm) -> None:
    """Warn if second scores of forbidden documents are not higher than those of others."""
    # A sample is enough if there are many rows.
    sample = slice(None, None, len(gains) // _MOST_RANKED + 1)
    gains, ranks = gains[sample], rankdata(harm[sample])
    bad, others = ranks[gains < 0], ranks[gains >= 0]
    if len(bad) and len(others) and bad.mean() <= others.mean():
        warn_user(
            "the second scores of forbidden documents are not higher than others, so hiding by "
            "them is no better than chance. Give higher scores to documents to hide.",
            FitWarning,
        )
