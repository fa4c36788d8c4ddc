"""Means over drawn rankings, for measures that have no closed form over all of them."""

from zlib import crc32

import numpy as np

from skfilterrank._lists.checks import check_count, check_random_state, is_whole_number
from skfilterrank._lists.lists import ListBlock, RankedLists
from skfilterrank._lists.queries import BLOCK_CELLS, GroupIndex


class SimulatedRankings:
    """Mean and standard error of a kernel over random rankings, once for each distinct pool.

    Parameters
    ----------
    kernel : callable
        From a block to the value of each query.
    n_samples : int
        Number of rankings per pool.
    seed : int
        With the gains of a pool, what its rankings depend on.
    """

    def __init__(self, kernel, n_samples: int, seed: int):
        self._kernel, self._n_samples, self._seed = kernel, n_samples, seed
        self._numbers: dict[bytes, int] = {}
        self._results: list[tuple[float, float]] = []

    def pool_numbers(self, block: ListBlock) -> np.ndarray:
        """Number of each query's pool, the row of its result."""
        return np.array(
            [self._number_of(pool[:n]) for pool, n in zip(block.pool, block.n_judged)],
            dtype=np.intp,
        )

    @property
    def results(self) -> np.ndarray:
        """Mean and its standard error, NaN where undefined; shape (n_pools, 2)."""
        return np.array(self._results).reshape(-1, 2)

    def _number_of(self, pool):
        # Adding 0 makes -0.0 and 0.0 one gain.
        key = (pool + 0.0).tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self._results)
            values = self._values_of(pool, np.random.default_rng([self._seed, crc32(key)]))
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            self._results.append((values.mean(), error))
        return self._numbers[key]

    def _values_of(self, pool, rng):
        """Value of each drawn ranking."""
        if len(pool) == 0:
            # Nothing to rank: one unjudged document that is not retrieved.
            return RankedLists([np.nan], [-np.inf], groups=[0]).per_query(self._kernel)
        values, step = [], max(1, BLOCK_CELLS // len(pool))
        for begin in range(0, self._n_samples, step):
            n = min(step, self._n_samples - begin)
            lists = RankedLists(
                np.tile(pool, n),
                rng.random(n * len(pool)),
                groups=_equal_groups(n, len(pool)),
                ties="stable",
            )
            values.append(lists.per_query(self._kernel))
        return np.concatenate(values)


def _equal_groups(n_groups, size):
    """Index of consecutive groups of one size."""
    numbers = np.arange(n_groups)
    return GroupIndex(numbers, np.full(n_groups, size), numbers * size, None, n_groups * size)


def check_seed(random_state, name: str = "random_state") -> int:
    """A seed that stays the same for all blocks of one call."""
    if is_whole_number(random_state):
        return check_count(random_state, name, least=0)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
