"""Pairs of systems: differences of their values, resamples, test results and corrections."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv
from scipy.stats import false_discovery_control

from skfilterrank._base.checks import check_choice, check_numbers, check_random_state
from skfilterrank._base.rounding import ROUNDING_OF_MEANS, ROUNDING_OF_VALUES
from skfilterrank._base.words import progress_bar
from skfilterrank.exceptions import InputError

# Number of queries that are drawn at a time, and bytes of the differences of a block of pairs.
_DRAWN, BLOCK_BYTES = 2**20, 2**24


def seeds_of(random_state) -> list[int]:
    """Draw seeds for numpy generators from a random_state as scikit-learn takes it."""
    return check_random_state(random_state).randint(2**31, size=4).tolist()


def draw_resamples(n_queries: int, n_resamples: int, random_state) -> np.ndarray:
    """Count each query in each resample, shape (n_resamples, n_queries), dtype uint8."""
    generator = np.random.default_rng(seeds_of(random_state))
    # No query is drawn 256 times: the probability is below 1 / 256!.
    counts = np.empty((n_resamples, n_queries), dtype=np.uint8)
    step = max(1, _DRAWN // n_queries)
    for start in range(0, n_resamples, step):
        some = counts[start : start + step]
        drawn = generator.integers(n_queries, size=some.shape)
        drawn += n_queries * np.arange(len(some))[:, None]
        some[:] = np.bincount(drawn.ravel(), minlength=some.size).reshape(some.shape)
    return counts


@dataclass(frozen=True)
class Pairs:
    """Numbers of the systems in each pair: ``first[p]`` is compared with ``second[p]``."""

    first: np.ndarray
    second: np.ndarray

    def __len__(self):
        return len(self.first)

    def __getitem__(self, block):
        return Pairs(self.first[block], self.second[block])

    @classmethod
    def all(cls, n_systems: int):
        """Return all pairs of systems; the system with the lower number is first."""
        return cls(*np.triu_indices(n_systems, 1))

    @classmethod
    def against(cls, baseline: int, n_systems: int):
        """Return pairs of every other system (first) with the baseline (second)."""
        others = np.delete(np.arange(n_systems), baseline)
        return cls(others, np.full_like(others, baseline))


@dataclass(frozen=True)
class Settings:
    """Parameters that all tests have."""

    confidence: float = 0.95
    n_resamples: int = 10_000
    random_state: object = 0
    verbose: int = 0

    def generator(self) -> np.random.Generator:
        """Return a random generator that depends only on the random state."""
        return np.random.default_rng(seeds_of(self.random_state))


@dataclass(frozen=True, eq=False)
class PairFigures:
    """Test results for each pair; arrays of shape (n_pairs,)."""

    p_value: np.ndarray
    effect_size: np.ndarray
    low: np.ndarray
    high: np.ndarray
    effect_name: str
    interval_of: str = "mean difference"
    # Smallest p value that the test can give with this number of queries.
    smallest_p: float = 0.0
    # Smallest significant difference of two means, if it is the same for all pairs.
    critical_difference: float | None = None
    # Interval for these queries and share of variance by drawn label sets; None for other values.
    low_these: np.ndarray | None = None
    high_these: np.ndarray | None = None
    share_of_draws: np.ndarray | None = None

    @classmethod
    def join(cls, parts):
        """Concatenate the results of consecutive blocks of pairs."""
        first, *others = parts
        arrays = {
            name: np.concatenate([value, *(getattr(each, name) for each in others)])
            for name, value in vars(first).items()
            if isinstance(value, np.ndarray)
        }
        return replace(first, **arrays)


def pair_blocks(pairs: Pairs, numbers_per_pair: int, *, verbose=0) -> Iterator[slice]:
    """Yield slices of pairs, so that `numbers_per_pair` float64 per pair fit into memory."""
    size = max(1, BLOCK_BYTES // (8 * max(1, numbers_per_pair)))
    with progress_bar(
        total=len(pairs), desc="pairs", unit="pair", verbose=verbose, leave=None
    ) as bar:
        for start in range(0, len(pairs), size):
            block = slice(start, min(start + size, len(pairs)))
            yield block
            bar.update(block.stop - block.start)


def differences(values: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Subtract the second system's value from the first's; shape (n_pairs, n_queries)."""
    return values[pairs.first] - values[pairs.second]


def mean_differences(values: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return the mean over queries of the differences, shape (n_pairs,)."""
    blocks = (pairs[block] for block in pair_blocks(pairs, 4 * values.shape[1]))
    return np.concatenate(
        [
            _without_rounding(differences(values, some).mean(axis=1), rounding_errors(values, some))
            for some in blocks
        ]
    )


def count_ties(values: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Count the queries at which the systems of a pair do not differ, shape (n_pairs,)."""
    blocks = pair_blocks(pairs, 4 * values.shape[1])
    equal = [(differences(values, pairs[block]) == 0).sum(axis=1) for block in blocks]
    return np.concatenate(equal)


def rounding_errors(values: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return the largest rounding error of the differences, shape (n_pairs,)."""
    largest = np.abs(values).max(axis=1)
    return ROUNDING_OF_VALUES * np.maximum(largest[pairs.first], largest[pairs.second])


def mean_and_deviation(difference: np.ndarray, rounding=0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and standard deviation (n - 1) of the differences of each pair."""
    mean = _without_rounding(difference.mean(axis=1), rounding)
    deviation = difference.std(axis=1, ddof=1)
    # The deviation of equal differences may be above 0, by rounding of the differences or of the
    # values, which may be much larger.
    least = np.maximum(ROUNDING_OF_MEANS * np.abs(difference).max(axis=1), rounding)
    deviation[deviation <= least] = 0.0
    return mean, deviation


def _without_rounding(mean, rounding):
    """Set means to 0 that are not larger than the rounding error."""
    return np.where(np.abs(mean) <= rounding, 0.0, mean)


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide without warnings: 0 / 0 is 0, and x / 0 is infinity with the sign of x."""
    limit = np.where(numerator == 0, 0.0, np.copysign(np.inf, numerator))
    return np.divide(numerator, denominator, out=limit, where=denominator > 0)


def sign_patterns(n_queries: int, start: int = 0, stop: int | None = None) -> np.ndarray:
    """Return rows start to stop of the 2**n_queries patterns of 1 and -1, as float64."""
    rows = np.arange(start, 2**n_queries if stop is None else stop)[:, None]
    return 1.0 - 2.0 * ((rows >> np.arange(n_queries)) & 1)


def clopper_pearson(hits, n, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute exact intervals of rates; rates are beyond each end with chance `tail` at most."""
    hits, n = np.asarray(hits, dtype=float), np.asarray(n, dtype=float)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, tail), 0.0)
    rest = np.maximum(n - hits, 1e-300)
    return low, np.where(hits < n, betaincinv(hits + 1, rest, 1 - tail), 1.0)


def smallest_flip_p(n_queries: int) -> float:
    """Return the p value if all differences have one sign, and both signs are equally likely."""
    return 0.5 ** (n_queries - 1)


def without_spread_p(mean: np.ndarray, n_queries: int) -> np.ndarray:
    """Return the p value of equal differences, which is 1 if they are 0."""
    return np.where(mean != 0, smallest_flip_p(n_queries), 1.0)


def holm(p_value):
    """Multiply the k-th smallest of m p values by m - k + 1, keeping the order (Holm's method)."""
    order = np.argsort(p_value, kind="stable")
    steps = p_value[order] * np.arange(len(p_value), 0, -1)
    adjusted = np.empty_like(p_value)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def bonferroni(p_value):
    """Multiply p values by their number."""
    return np.minimum(p_value * len(p_value), 1.0)


CORRECTIONS = {"holm": holm, "bonferroni": bonferroni, "fdr_bh": false_discovery_control}


def adjust_p_values(p_value, correction: str | None = "holm") -> np.ndarray:
    """Correct p values for their number.

    Parameters
    ----------
    p_value : array-like of shape (n_pairs,)
        P values, from 0 to 1.
    correction : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
        Holm's step-down and Bonferroni's correction keep the chance of any false claim below the
        level; "fdr_bh", Benjamini and Hochberg's, keeps the expected share of false claims below
        it. None leaves the p values as they are.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Adjusted p values, at most 1: reject where they are at most the level.

    Raises
    ------
    ValueError
        If a p value is not in [0, 1] or the correction is unknown.

    References
    ----------
    Holm, S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 1979. Benjamini, Y. and Hochberg, Y. Controlling the false discovery rate: a
    practical and powerful approach to multiple testing. Journal of the Royal Statistical Society B
    57, 1995.

    Examples
    --------
    >>> from skfilterrank._base.system_pairs import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust_p_values([0.01, 0.04, 0.03], "fdr_bh")
    array([0.03, 0.04, 0.04])
    """
    check_correction(correction)
    p_value = check_numbers(p_value, "p_value").astype(np.float64)
    if not ((p_value >= 0) & (p_value <= 1)).all():
        raise InputError("p_value must be a list of numbers from 0 to 1, none of them missing.")
    if correction is None or not len(p_value):
        return p_value
    return CORRECTIONS[correction](p_value)


def check_correction(correction):
    """Raise for an unknown correction."""
    check_choice(correction, "correction", (*CORRECTIONS, None))
