"""Upper confidence bounds of a mean that lies between 0 and 1, exact for any number of queries."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom

# The bets of a betting bound are made for losses whose variance is this share of the largest that
# the level allows.
_VARIANCE_SHARES = np.array([1.0, 0.5, 0.25])


class BinomialBound:
    """Clopper-Pearson bound, for losses that are 0 or 1.

    Parameters
    ----------
    n_queries : int
        Number of independent losses.
    level : float
        The mean that is to be ruled out, between 0 and 1.
    confidence : float
        Probability with which a larger mean is ruled out falsely at most is one minus this.
    """

    def __init__(self, n_queries, level, confidence):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        counts = np.arange(n_queries + 1)
        self._n_allowed = np.count_nonzero(
            binom.cdf(counts, n_queries, level) <= _error(confidence)
        )

    def rules_out(self, losses) -> bool:
        """Whether the mean of these losses is below the level, with the confidence."""
        return np.count_nonzero(losses) < self._n_allowed

    def upper(self, losses) -> float:
        """The smallest level that these losses rule out."""
        n_bad = np.count_nonzero(losses)
        if n_bad == self.n_queries:
            return 1.0
        return float(beta.ppf(self.confidence, n_bad + 1, self.n_queries - n_bad))


class BettingBound:
    """Bound of Waudby-Smith and Ramdas, for losses between 0 and 1.

    Somebody bets, loss by loss, that the mean is below the level: from a capital of 1, each loss
    multiplies it by ``1 + bet * (level - loss)``. If the mean is not below, the capital can be
    expected not to grow, and reaches ``1 / (1 - confidence)`` at any time with a probability of at
    most one minus the confidence. The capital is spread over three bets, which are best for losses
    of large, of medium and of small variance; they depend on nothing but the number of losses.

    The losses are taken in a shuffled order of a fixed seed, so that ids which say something about
    their queries make no difference. Larger losses never make more capital: what rules the level
    out for the larger of two vectors of losses does so for the smaller.

    Parameters
    ----------
    n_queries, level, confidence
        As for :class:`BinomialBound`.
    """

    def __init__(self, n_queries, level, confidence):
        self.n_queries, self.level, self.confidence = n_queries, level, confidence
        self._order = np.random.default_rng(0).permutation(n_queries)
        variances = level * (1 - level) * _VARIANCE_SHARES
        self._bets = np.sqrt(-2 * np.log(_error(confidence)) / (max(n_queries, 1) * variances))

    def rules_out(self, losses) -> bool:
        """Whether the mean of these losses is below the level, with the confidence."""
        goal = -np.log(_error(self.confidence))
        # Capital won on the way may be lost at the end: then the losses do not speak for less.
        return bool(losses.sum() <= self.level * self.n_queries) and (
            self._log_capital(losses, self.level) >= goal
        )

    def upper(self, losses) -> float:
        """The smallest level that these losses rule out, with the bets made for this one."""
        goal = -np.log(_error(self.confidence))
        # At a level of 1 no bet can lose more than it is worth.
        if self._log_capital(losses, 1.0) < goal:
            return 1.0
        upper = brentq(lambda level: self._log_capital(losses, level) - goal, 0, 1)
        return max(float(upper), float(losses.mean()))

    def _log_capital(self, losses, level):
        """Logarithm of the largest capital on the way."""
        # A bet beyond this one could lose more than there is.
        bets = np.minimum(self._bets, 1 / (1 - level)) if level < 1 else self._bets
        with np.errstate(divide="ignore"):
            steps = np.log(np.maximum(1 + bets[:, None] * (level - losses[self._order]), 0.0))
        paths = np.cumsum(steps, axis=1)
        capitals = np.logaddexp.reduce(paths, axis=0) - np.log(len(bets))
        return float(np.max(capitals, initial=0.0))


class MeanBound:
    """Bound of conformal risk control: the mean if one more query lost all there is to lose.

    A rate that never falls from the safest threshold on, cut where this is at most the level, has
    an expectation of at most the level for a new query, over the draw of all of them.

    Parameters
    ----------
    n_queries, level, confidence
        As for :class:`BinomialBound`; the confidence plays no part.
    """

    def __init__(self, n_queries, level, confidence=None):
        self.n_queries, self.level = n_queries, level

    def rules_out(self, losses) -> bool:
        """Whether the level is kept in expectation."""
        return bool(losses.sum() + 1.0 <= self.level * (self.n_queries + 1) * (1 + 1e-12))

    def upper(self, losses) -> float:
        """The smallest level that is kept."""
        return float(losses.sum() + 1.0) / (self.n_queries + 1)


def queries_needed(bound, level, confidence) -> int:
    """The fewest losses, all of them 0, that rule the level out."""

    def suffices(n):
        return bound(n, level, confidence).rules_out(np.zeros(n))

    high = 1
    while not suffices(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _error(confidence):
    """One minus the confidence, without the rounding of 0.1 to a little less."""
    return (1.0 - confidence) * (1 + 1e-12)
