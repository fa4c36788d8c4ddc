"""Facts of a measure as a risk: whether losses are only 0 or 1, and which labels change them.

The facts are found from values of many small lists, so that they hold under any name.
"""

import warnings
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure

# Number of lists that are tried, and largest length.
_N_LISTS, _LONGEST = 200, 6
_GAINS = np.array([-1.0, 0.0, 1.0, 2.0, np.nan])


class RiskFacts(NamedTuple):
    """Facts about a risk.

    Attributes
    ----------
    is_binary : bool
        True if a loss can only be 0 or 1.
    reads : {"none", "shown", "all"}
        Labels that can change a loss: none, those of shown documents, or those of hidden ones, too.
    """

    is_binary: bool = False
    reads: str = "all"

    @classmethod
    def of(cls, parsed: ParsedMeasure) -> "RiskFacts":
        """Find the facts about a measure from its values of lists that are drawn once for all."""
        draws = np.random.default_rng(0)
        sizes = draws.integers(1, _LONGEST + 1, _N_LISTS)
        groups = np.repeat(np.arange(_N_LISTS), sizes)
        scores = draws.permutation(len(groups)).astype(np.float64)
        scores[draws.random(len(groups)) < 0.4] = -np.inf
        hidden = np.isneginf(scores)
        gains, others = (draws.choice(_GAINS, len(groups)) for _ in range(2))
        relabelled = gains, np.where(hidden, others, gains), np.where(hidden, gains, others)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                first, of_hidden, of_shown = (
                    _values(parsed, each, scores, groups) for each in relabelled
                )
        except Exception:
            # Nothing is known of a function that refuses these lists.
            return cls()
        every = np.concatenate([first, of_hidden, of_shown])
        reads = "none" if np.array_equal(first, of_shown, equal_nan=True) else "shown"
        if not np.array_equal(first, of_hidden, equal_nan=True):
            reads = "all"
        return cls(bool(np.isin(every[~np.isnan(every)], (0, 1)).all()), reads)


def _values(parsed, gains, scores, groups):
    """Compute the measure of each list."""
    lists = RankedLists(gains, scores, groups=groups)
    return lists.per_query(parsed.measure.bind(parsed.k, parsed.options))
