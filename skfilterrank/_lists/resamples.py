"""Seeds of random generators, and resamples of queries drawn with replacement."""

import numpy as np

from skfilterrank._lists.checks import check_random_state

# Number of queries drawn at a time.
_DRAWN = 2**20


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
