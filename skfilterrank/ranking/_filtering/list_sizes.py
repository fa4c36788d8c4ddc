"""Whether lists are as long as those on which a threshold was chosen."""

import numpy as np

from skfilterrank._core.queries import GroupIndex
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning

# Lists within these quantiles of the sizes are usual; others may be longer or shorter by so much.
_USUAL = (0.05, 0.95)
_FACTOR = 1.5
# Share of the lists that may be of another size.
_FEW = 0.25


def size_range(scores: np.ndarray, index: GroupIndex) -> np.ndarray:
    """The usual sizes of these lists: from, to; NaN where nothing is scored."""
    sizes = _sizes(scores, index)
    return np.quantile(sizes, _USUAL) if len(sizes) else np.full(2, np.nan)


def warn_of_other_sizes(usual, scores, groups, threshold) -> None:
    """Warn where many lists are clearly shorter or longer than usual."""
    sizes = _sizes(scores, GroupIndex.from_groups(groups))
    low, high = usual
    is_other = (sizes * _FACTOR < low) | (sizes > high * _FACTOR)
    if is_other.sum() <= _FEW * len(sizes):
        return
    warn_user(
        f"{100 * is_other.mean():.0f} % of the lists have other sizes (median "
        f"{np.median(sizes[is_other]):g} documents) than those the threshold was chosen on "
        f"({low:g} to {high:g}). The best threshold depends on the size of a list: give whole "
        f"lists, or use threshold='expected', which follows it, instead of {threshold!r}.",
        DataWarning,
    )


def _sizes(scores, index):
    """Number of documents of each list, without rows that score -inf as what was not retrieved."""
    sizes = np.bincount(index.codes(), scores > -np.inf, index.n_queries)
    return sizes[sizes > 0]
