"""The prefix of the highest expected value, from calibrated probabilities of the gains."""

import numpy as np
from scipy.special import ndtri
from sklearn.isotonic import IsotonicRegression

from skfilterrank._files.states import listed, number, numbers, pair, record
from skfilterrank._lists.calibrators import fit_calibrator
from skfilterrank._lists.prefixes import best_prefix
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds._base import BaseThreshold
from skfilterrank.thresholds._expected_values import (
    best_prefix_of_steps,
    check_has_prefix_values,
    expected_steps,
    expected_worth,
    is_plain_ndcg_f,
)

_MOST_CORRELATION = 0.95
# More levels than this are joined to as many of about the same number of rows.
_MOST_LEVELS = 10
_FIELDS = record(
    {
        "gains": numbers(1),
        "correlation": number(0, _MOST_CORRELATION),
        "curves": listed(pair(numbers(1), numbers(1))),
    }
)


class ExpectedThreshold(BaseThreshold):
    """A cut of each list where showing more is expected to lower the measure.

    The probability of each gain given the score is learned over all rows, and holds in lists of
    any size. The expected value of every prefix of a list follows from the probabilities of all of
    its documents, and from how much documents of one query go together.

    Parameters
    ----------
    measure : str or None, default=None
        Measure whose expected value is maximised: any name of the measure table with a value for
        each prefix of a list, such as "ndcg_f@10", "f", "dcg", "ap" or "rbp".
    max_shown, min_shown : int or None, default=None
        Documents of each query that are shown at most, and at least, where there are as many.
    abstain : {"best_score", "score_gap", "score_std", "score_regression"} or None, default=None
        Show nothing of a query whose scores are less sure than a level, which is the best for the
        measure once the lists are cut.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    gains_ : ndarray of shape (n_levels,)
        Gains that occur, ascending; of more than ten, the means of ten bins.
    curves_ : list of (scores, probabilities)
        P(gain >= level) at scores, linear between and constant beyond them; one for each level but
        the lowest.
    correlation_ : float
        Correlation of the gains of two documents of a query beyond what their scores say, from 0
        to 0.95: that of a normal variable behind each gain, which the query shifts for all.
    best_score_, held_out_score_, held_out_score_unfiltered_ : float
        As of :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    LearnedThreshold : Learns the probabilities from the whole list, and tunes the cut.
    PerQueryThreshold : Learns what documents add to the measure.

    Notes
    -----
    Sums over documents, such as DCG and RBP, have exact expected values. All others are averaged
    over draws of all gains of a list, which are the same in every call. Measures that are computed
    prefix by prefix, such as ERR and lexirecall, take a pass for each prefix. Of lists with more
    than 48 prefixes that count, they are computed at 48: at each of the first 16, and at steps of
    growing length behind. Such lists end at one of these, so that a cut-off such as "err@20" is
    both faster and more exact. Their tied documents count as ranked worst first.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import ExpectedThreshold
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> cut = ExpectedThreshold("ndcg_f@3").fit(scores, y, groups=groups)
    >>> cut.rank([0.8, -0.9, 0.3], groups=["a", "a", "a"])
    array([1, 0, 2])
    """

    _level = 0.0

    def _parsed(self):
        parsed = super()._parsed()
        check_has_prefix_values(parsed, type(self).__name__)
        return parsed

    def _learn(self, judged, parsed):
        gains, scores, codes = judged.gains, judged.scores, judged.codes
        learned = ~np.isnan(gains) & (scores > -np.inf)
        self._learned_for = parsed
        self._learn_rows(gains[learned], scores[learned], codes[learned])
        keys = self._keys(scores, judged.index, {})
        for train, test in judged.fold_rows():
            train = train[learned[train]]
            if len(train):
                inner = type(self)()
                inner._learned_for = parsed
                inner._learn_rows(gains[train], scores[train], codes[train])
                of_test = type(judged.index).from_groups(codes[test])
                keys[test] = inner._keys(scores[test], of_test, {})
        return keys

    def _learn_rows(self, gains, scores, codes):
        """Learn from rows that are judged and scored."""
        lows, self.gains_ = levels_of(gains)
        self.curves_ = [_curve(scores, gains >= low) for low in lows[1:]]
        self.correlation_ = _correlation(
            [gains >= low for low in lows[1:]], self._chances(scores), codes
        )

    def _keys(self, scores, index, columns):
        parsed = vars(self).get("_learned_for") or self._score_measure()
        chances, correlation = self._chances(scores), self.correlation_
        if is_plain_ndcg_f(parsed):
            worth = expected_worth(
                self.gains_, chances, scores, index, k=parsed.k, correlation=correlation
            )
            thresholds = best_prefix(worth, scores, index, parsed.k)
        else:
            steps = expected_steps(
                parsed, self.gains_, chances, scores, index, correlation=correlation
            )
            thresholds = best_prefix_of_steps(steps, scores, index)
        return np.where(scores >= thresholds, 1.0, -1.0)

    def _chances(self, scores):
        """P(gain >= level) of each row, for each level but the lowest."""
        chances = np.empty((len(self.curves_), len(scores)))
        for row, (nodes, values) in zip(chances, self.curves_):
            row[:] = np.interp(scores, nodes, values)
        return np.minimum.accumulate(chances, axis=0, out=chances)

    def _state(self):
        return {
            "gains": self.gains_.tolist(),
            "correlation": self.correlation_,
            "curves": [[nodes.tolist(), values.tolist()] for nodes, values in self.curves_],
        }

    def _restore(self, state, name):
        state = _FIELDS(state, name)
        self.gains_, self.correlation_ = state["gains"], state["correlation"]
        self.curves_ = state["curves"]
        if len(self.curves_) != len(self.gains_) - 1 or any(
            len(nodes) != len(values) for nodes, values in self.curves_
        ):
            raise InputError(f"{name}.curves must hold as many values as scores for each gain.")


def levels_of(gains) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest gain and the mean gain of each level; ten bins stand for more gains."""
    levels = np.unique(gains) if len(gains) else np.zeros(1)
    lows = levels
    if len(levels) > _MOST_LEVELS:
        lows = np.unique(np.quantile(gains, np.arange(_MOST_LEVELS) / _MOST_LEVELS))
    bins = np.searchsorted(lows, gains, side="right") - 1
    count = np.maximum(np.bincount(bins, minlength=len(lows)), 1)
    return lows, np.bincount(bins, gains, len(lows)) / count


def _curve(scores, is_above):
    """A rising curve from score to probability, by its corners."""
    curve: IsotonicRegression = fit_calibrator("isotonic", scores, is_above)
    return curve.X_thresholds_, curve.y_thresholds_


def _correlation(reached, chances, codes):
    """Correlation of what lies behind the gains of two documents of a query, from 0 up.

    Behind each gain stands a normal variable, which the query shifts for all of its documents. Of
    two documents the covariance of reaching a level is, to first order, the correlation times the
    normal densities where each reaches it. So it is told by how much the numbers of documents that
    reach the level vary between queries, beyond what they would if documents were independent.
    """
    excess, most = 0.0, 0.0
    for hit, chance in zip(reached, chances):
        chance = np.clip(chance, 1e-6, 1.0 - 1e-6)
        spread = np.bincount(codes, hit - chance) ** 2 - np.bincount(codes, chance * (1 - chance))
        density = np.exp(-0.5 * ndtri(chance) ** 2) / np.sqrt(2.0 * np.pi)
        excess += spread.sum()
        most += (np.bincount(codes, density) ** 2 - np.bincount(codes, density**2)).sum()
    return float(np.clip(excess / most, 0.0, _MOST_CORRELATION)) if most > 0 else 0.0
