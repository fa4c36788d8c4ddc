"""The prefix of the highest expected nDCG_f, from calibrated probabilities of the gains."""

from functools import lru_cache

import numpy as np
from scipy.special import ndtri
from sklearn.isotonic import IsotonicRegression

from skfilterrank._core.queries import GroupIndex
from skfilterrank._files.states import listed, number, numbers, pair, record
from skfilterrank.exceptions import InputError
from skfilterrank._core.calibrators import fit_calibrator
from skfilterrank.thresholds._cuts import Cut, folds_of_queries
from skfilterrank._core.prefixes import best_prefix, places

# Draws of all gains of a list, of which E[gain / (I - W)] is the mean.
_N_DRAWS = 128
# Draws of a block of queries stay in the cache.
_MOST_CELLS = 1 << 12
_MOST_CORRELATION = 0.95
# More levels than this are joined to as many of about the same number of rows.
_MOST_LEVELS = 10
# What a file holds of it.
_FIELDS = record(
    {
        "gains": numbers(1),
        "correlation": number(0, _MOST_CORRELATION),
        "curves": listed(pair(numbers(1), numbers(1))),
    }
)


class ExpectedGain(Cut):
    """Stop each list where showing more is expected to lower nDCG_f.

    What a document adds is ``gain / (I - W)``, discounted by its place. How probable each gain is
    given the score is learned over all rows, and says the same in lists of any size; the sum I - W
    follows from the probabilities of all documents of the list, and from how much those of one
    query go together: where they do, a good document often stands among others, which it shares
    the sum with, and a forbidden one among others, too.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off of nDCG_f.

    Attributes
    ----------
    gains_ : ndarray of shape (n_levels,)
        The gains that occur, ascending; of more than ten, the means of ten bins.
    curves_ : list of (scores, probabilities)
        P(gain >= level) at scores, linear between and constant beyond them; one for each level but
        the lowest.
    correlation_ : float
        How the gains of two documents of a query go together beyond what their scores say, from 0
        to 0.95: that of a normal variable behind each gain, which the query shifts for all.
    """

    level = 0.0

    def fit(self, gains, scores, index, units=None):
        learned = ~np.isnan(gains) & (scores > -np.inf)
        self._learn(gains[learned], scores[learned], index.codes()[learned])
        keys = self.keys(scores, index)
        codes = index.codes()
        for train, test in folds_of_queries(index, units):
            train = train[learned[train]]
            if len(train):
                inner = ExpectedGain(self.k)
                inner._learn(gains[train], scores[train], codes[train])
                keys[test] = inner.keys(scores[test], GroupIndex.from_groups(codes[test]))
        self.out_of_fold_keys_ = keys
        return self

    def _learn(self, gains, scores, codes):
        """The curves of rows that are judged and scored, and how rows of a query go together."""
        levels = np.unique(gains) if len(gains) else np.zeros(1)
        lows = levels
        if len(levels) > _MOST_LEVELS:
            lows = np.unique(np.quantile(gains, np.arange(_MOST_LEVELS) / _MOST_LEVELS))
        bins = np.searchsorted(lows, gains, side="right") - 1
        count = np.maximum(np.bincount(bins, minlength=len(lows)), 1)
        self.gains_ = np.bincount(bins, gains, len(lows)) / count
        self.curves_ = [_curve(scores, gains >= low) for low in lows[1:]]
        self.correlation_ = _correlation(
            [gains >= low for low in lows[1:]], self._chances(scores), codes
        )

    def keys(self, scores, index):
        worth = self.expected(scores, index)
        shown = scores >= best_prefix(worth, scores, index, self.k)
        return np.where(shown, 1.0, -1.0)

    def expected(self, scores, index) -> np.ndarray:
        """E[gain / (I - W)] of each row; 0 where it scores -inf."""
        chances = self._chances(scores)
        is_listed = scores > -np.inf
        chances[:, ~is_listed] = 0.0
        place = places(scores, index)
        worth = np.zeros(len(scores))
        steps = np.diff(self.gains_)
        for block in index.blocks(max_cells=_MOST_CELLS):
            # Draws, queries, documents: whether the gain of each reaches each level but the lowest.
            # A few lengths serve all lists.
            depth = 1 << (block.width - 1).bit_length()
            drawn = _uniform(depth, self.correlation_)[:, index.take(place, block, 0)]
            reached = [drawn < index.take(row, block, 0.0) for row in chances]
            n_listed = index.take(is_listed, block, False).sum(axis=-1)
            inverse = self._inverse_span([each.sum(axis=-1) for each in reached], n_listed)
            mean = np.repeat(self.gains_[0] * inverse.mean(axis=0)[:, None], block.width, axis=1)
            for step, each in zip(steps, reached):
                mean += step / _N_DRAWS * np.einsum("dq,dqn->qn", inverse, each)
            index.put(worth, block, mean)
        worth[~is_listed] = 0.0
        return worth

    def _chances(self, scores):
        """P(gain >= level) of each row, for each level but the lowest."""
        chances = np.empty((len(self.curves_), len(scores)))
        for row, (nodes, values) in zip(chances, self.curves_):
            row[:] = np.interp(scores, nodes, values)
        return np.minimum.accumulate(chances, axis=0, out=chances)

    def _inverse_span(self, n_reached, n_listed):
        """1 / (I - W) of each draw of each list, 0 where no gain differs from 0.

        I sums, level by level, what the level adds to the one below it over as many of the first
        places as there are documents that reach it; W the same from the lowest level up.
        """
        deepest = int(n_listed.max(initial=0))
        discount = 1.0 / np.log2(np.arange(deepest) + 2.0)
        discount[deepest if self.k is None else self.k :] = 0.0
        summed = np.append(0.0, np.cumsum(discount))
        good, bad = np.maximum(self.gains_, 0.0), np.minimum(self.gains_, 0.0)
        span = np.zeros((_N_DRAWS, len(n_listed)))
        span += (good[0] - bad[-1]) * summed[n_listed]
        for level, reached in enumerate(n_reached, 1):
            span += (good[level] - good[level - 1]) * summed[reached]
            span += (bad[level] - bad[level - 1]) * summed[n_listed - reached]
        return np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)

    def state(self):
        return {
            "gains": self.gains_.tolist(),
            "correlation": self.correlation_,
            "curves": [[nodes.tolist(), values.tolist()] for nodes, values in self.curves_],
        }

    def restore(self, state, name):
        state = _FIELDS(state, name)
        self.gains_, self.correlation_ = state["gains"], state["correlation"]
        self.curves_ = state["curves"]
        if len(self.curves_) != len(self.gains_) - 1 or any(
            len(nodes) != len(values) for nodes, values in self.curves_
        ):
            raise InputError(f"{name}.curves must hold as many values as scores for each gain.")


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


@lru_cache(maxsize=8)
def _uniform(n_places, correlation):
    """Numbers of (0, 1) for each draw and place, each place's spread evenly over the draws.

    Those of a place are the same for lists of any length.
    """
    even = (np.arange(_N_DRAWS) + 0.5) / _N_DRAWS
    shared = np.sqrt(correlation) * ndtri(even)
    columns = np.empty((_N_DRAWS, n_places))
    for place in range(n_places):
        own = np.random.RandomState(place).permutation(ndtri(even))
        mixed = shared + np.sqrt(1.0 - correlation) * own
        columns[np.argsort(mixed, kind="stable"), place] = even
    return columns
