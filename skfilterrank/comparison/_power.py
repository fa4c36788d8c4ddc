"""Power of tests of systems by the number of queries."""

import numpy as np
from scipy import stats

_BLOCK_NUMBERS = 2**20
# scipy before 1.14 divides by zero on its way to some tails.
_of_tails = np.errstate(divide="ignore")


@_of_tails
def paired_power(n_queries, difference, variance, alpha):
    """Power of the two-sided paired t test, `variance` being that of the paired differences."""
    n = np.asarray(n_queries, dtype=np.float64)
    shift = np.sqrt(n * difference**2 / variance)
    critical = stats.t.isf(alpha / 2, n - 1)
    near = stats.nct.sf(critical, n - 1, shift)
    far = stats.nct.cdf(-critical, n - 1, np.minimum(shift, 4))
    # The far tail adds nothing but where power is near alpha, and loses digits elsewhere.
    return _settled(near + np.where(shift < 4, far, 0.0), shift**2)


@_of_tails
def anova_power(n_queries, difference, variance, alpha, n_systems, *, blocked):
    """Power of the F test when best and worst of the systems differ by `difference`.

    All other systems lie half way between: of all layouts, the one with the least power. `variance`
    is that of a value about its system's mean; of what queries leave unexplained, if blocked.
    """
    n = np.asarray(n_queries, dtype=np.float64)
    numerator = n_systems - 1
    denominator = numerator * (n - 1) if blocked else n_systems * (n - 1)
    noncentrality = n * difference**2 / (2 * variance)
    critical = stats.f.isf(alpha, numerator, denominator)
    power = stats.ncf.sf(critical, numerator, denominator, noncentrality)
    return _settled(power, noncentrality)


def smallest_n(power_at, power, most):
    """Smallest number of queries whose power is at least `power`; None above `most`."""
    low, high = 1, 2
    while power_at(high) < power:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if power_at(middle) < power:
            low = middle
        else:
            high = middle
    return high


def simulated_power(residuals, difference, alpha, n_max, n_trials, generator):
    """Share of trials in which the paired t test is significant, for 2 to n_max queries.

    Parameters: `residuals` of shape (n_pairs, n_queries), differences of pairs without their mean.
    A trial draws a pair, then queries with replacement; the trial of n + 1 queries is that of n
    and one more, so that the curve has little noise between neighbours.
    """
    n_pairs, n_pilot = residuals.shape
    n = np.arange(2, n_max + 1)
    critical = stats.t.isf(alpha / 2, n - 1)
    scale = np.abs(residuals).max() + difference
    n_significant = np.zeros(len(n), dtype=np.int64)
    size = max(1, _BLOCK_NUMBERS // n_max)
    for start in range(0, n_trials, size):
        n_here = min(size, n_trials - start)
        pair = generator.integers(n_pairs, size=n_here)
        # Which system of the pair is the better one is as good as chance.
        sign = generator.choice([-1.0, 1.0], size=n_here)
        drawn = generator.integers(n_pilot, size=(n_here, n_max))
        x = residuals[pair[:, np.newaxis], drawn] * sign[:, np.newaxis]
        total, squares = np.cumsum(x, axis=1)[:, 1:], np.cumsum(x * x, axis=1)[:, 1:]
        mean = total / n
        deviation = np.sqrt(np.maximum(squares - n * mean**2, 0.0) / (n - 1))
        # Draws of one and the same query show no variation, and are no evidence.
        varied = deviation > 1e-7 * scale
        t = np.abs(mean + difference) * np.sqrt(n)
        n_significant += np.count_nonzero(varied & (t >= critical * deviation), axis=0)
    return n_significant / n_trials


def _settled(power, noncentrality):
    """Power in [0, 1]; 1 where scipy returns NaN for a very large shift."""
    return np.where(np.isnan(power) & (noncentrality > 100), 1.0, np.clip(power, 0.0, 1.0))
