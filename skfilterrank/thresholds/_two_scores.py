"""Cuts by two scores: lists are ordered by relevance, and documents hidden by harm, too."""

import numpy as np
from scipy.stats import rankdata

from skfilterrank._files.states import POSITIVE, check_curve, number, numbers, record
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.prefixes import places, ties_worst_first
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.thresholds._cuts import Cut, Keys
from skfilterrank.thresholds._hide_rules import RisingCurve, Worth, fit_worths, leads
from skfilterrank.thresholds._judged_scores import N_FOLDS, JudgedScores

# Number of forbidden rows below which the curve of harm is too uncertain.
FEW_FORBIDDEN = 50
# Number of deals of queries to folds over which out-of-fold curves are averaged.
N_DEALS = 3
# Largest number of rows for the comparison of second scores.
_MOST_RANKED = 100_000
_CURVES = ("gain", "harm", "harm_by_lead")
_CURVE = record(
    {"x": numbers(1), "y": numbers(1), "centre": number(), "scale": number(POSITIVE)},
)


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
        if not more.shape[1]:
            raise InputError(
                f"scores has one column, but rule={self.rule!r} hides by a second score. Give two "
                "columns, as in fit."
            )
        check_finite(more[:, 0])
        return more

    def state(self):
        """Return nothing, as nothing is learned."""
        return {}

    @classmethod
    def restored(cls, state, name, parsed):
        """Make the cut."""
        record({})(state, name)
        return cls()

    def lists_of(self, judged: JudgedScores, found: Keys):
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
        """Learn from all rows; return keys by what was learned of other queries."""
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

    def learn_apart(self, judged: JudgedScores) -> tuple[JudgedScores, int]:
        """Learn from some queries; return the rows of the others, and the number of queries."""
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
    def restored(cls, state, name, parsed):
        """Make the cut from JSON."""
        found = cls()
        found.worth = Worth(**_WORTH(state, name))
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


def _rising_curve(value, name):
    """Make a curve from JSON."""
    curve = RisingCurve(**_CURVE(value, name))
    check_curve(curve.x, curve.y, f"{name}.x and y")
    return curve


_WORTH = record(
    dict.fromkeys(_CURVES, _rising_curve)
    | {"direction": number(-1.0, 1.0), "weights": numbers(3, 3)}
)
