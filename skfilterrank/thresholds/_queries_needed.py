"""Number of queries that must be judged to certify a risk."""

import numpy as np
from scipy.special import bdtr
from scipy.stats import binom

from skfilterrank._base.checks import check_flag, check_number, check_share
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds._risks import BettingBound, allowed_error, least_count

# Most queries that are tried for binomial tests, and for bets, whose power is drawn.
_MOST, _MOST_BETS = 100_000, 10_000
# Number of draws of a power, and of losses that are drawn and tested together.
_N_DRAWS, _CELLS = 400, 1 << 14


def queries_needed(
    max_risk: float,
    expected_risk: float,
    *,
    confidence_level: float = 0.95,
    power: float = 0.8,
    is_binary: bool = True,
) -> int:
    """Compute how many queries people must judge to certify a risk, before the first label.

    Parameters
    ----------
    max_risk : float
        Level of the risk, between 0 and 1.
    expected_risk : float
        Expected risk at the threshold, below `max_risk`.
    confidence_level : float, default=0.95
        Confidence level of the certificate.
    power : float, default=0.8
        Probability of getting the certificate if only a threshold with the expected risk is tested.
    is_binary : bool, default=True
        True for a risk whose losses are 0 or 1, such as "any_forbidden@5", which gets binomial
        tests. False for others, such as "forbidden@5", and for risks of clusters, which get bets.
        Their losses are planned as 0 or 1, which have the largest variance there can be, so that
        fewer queries often do.

    Returns
    -------
    int
        Smallest number of queries at which the power is reached. Some larger numbers have a little
        less power, since counts are whole numbers.

    Raises
    ------
    ValueError
        If a share is out of range, the expected risk is not below the level, or more than 100,000
        queries would be needed (10,000 for bets).

    See Also
    --------
    CertifiedThreshold : Makes the certificate.

    Notes
    -----
    The power of the binomial test is exact. Powers of bets are shares of 400 draws of a fixed seed.

    Examples
    --------
    >>> from skfilterrank.thresholds import queries_needed
    >>> queries_needed(0.1, 0.06, confidence_level=0.9)
    210
    >>> queries_needed(0.1, 0.06, confidence_level=0.9, is_binary=False)
    375
    """
    level = check_share(max_risk, "max_risk")
    confidence = check_share(confidence_level, "confidence_level")
    goal = check_share(power, "power")
    if not 0 <= check_number(expected_risk, "expected_risk") < level:
        raise InputError(
            f"expected_risk must be at least 0 and below max_risk={level:g}, got {expected_risk}. "
            "A risk that is as high as its level cannot be certified."
        )
    check_flag(is_binary, "is_binary")
    most = _MOST if is_binary else _MOST_BETS
    if is_binary:
        needed = None
        for highest in (1000, most):
            sizes = np.arange(1, highest + 1)
            is_enough = power_of_binomial_test(sizes, level, confidence, expected_risk) >= goal
            if is_enough.any():
                needed = int(sizes[np.argmax(is_enough)])
                break
    else:
        needed = least_count(
            lambda n: _power_of_bets(n, level, confidence, expected_risk) >= goal, most
        )
    if needed is None:
        raise InputError(
            f"more than {most:,} queries are needed for a risk of at most {level:g} that is "
            f"{expected_risk:g}: choose a higher max_risk, or lower "
            "confidence_level or power."
        )
    return needed


def power_of_binomial_test(n_queries, level, confidence, rate):
    """Compute the power of the binomial test; `n_queries` may be an array."""
    error = allowed_error(confidence)
    most = binom.ppf(error, n_queries, level)
    most = np.where(bdtr(most, n_queries, level) > error, most - 1, most)
    return np.where(most >= 0, bdtr(np.maximum(most, 0), n_queries, rate), 0.0)


def _power_of_bets(n_queries, level, confidence, rate):
    """Draw the power of bets on losses that are 0 or 1."""
    losses = (np.random.default_rng(0).random((_N_DRAWS, n_queries)) < rate).astype(np.float64)
    bound = BettingBound(n_queries, level, confidence)
    parts = np.array_split(losses, -(-losses.size // _CELLS))
    return float(np.concatenate([bound.rules_out(part) for part in parts]).mean())
