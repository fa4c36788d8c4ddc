"""Warnings of lists that are shorter or longer than those of a fit."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from skfilterrank._core.queries import GroupIndex
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning

# Lists within these quantiles of the sizes are usual; others may be longer or shorter by so much.
_USUAL = (0.05, 0.95)
_FACTOR = 1.5
# Share of the lists that may be of another size, and how many lists a share is told of: of usual
# ones up to a tenth are others, and 8 of 30 are then in less than one of a hundred samples.
_FEW = 0.25
_ENOUGH = 30


@dataclass
class _Seen:
    """The last lists that a model was asked about since its fit, however few at once."""

    usual: np.ndarray
    sizes: np.ndarray
    is_told: bool = False


# Apart from the models, which are saved without what they served.
_SEEN: "WeakKeyDictionary[object, _Seen]" = WeakKeyDictionary()


def size_range(scores: np.ndarray, index: GroupIndex) -> np.ndarray:
    """The usual sizes of these lists: from, to; NaN where nothing is scored."""
    return usual_sizes(scored_sizes(scores, index))


def usual_sizes(sizes: np.ndarray) -> np.ndarray:
    """From and to, of the sizes of lists; NaN of none."""
    return np.quantile(sizes, _USUAL) if len(sizes) else np.full(2, np.nan)


def warn_of_other_sizes(model, scores, index) -> None:
    """Warn once after a fit, where many of the last lists are clearly shorter or longer."""
    seen = _SEEN.get(model)
    if seen is None or seen.usual is not model.list_sizes_:
        _SEEN[model] = seen = _Seen(model.list_sizes_, np.empty(0))
    if seen.is_told:
        return
    sizes = np.append(seen.sizes, scored_sizes(scores, index))
    if len(sizes) < _ENOUGH:
        seen.sizes = sizes
        return
    seen.sizes = sizes[:0]
    low, high = seen.usual
    others = sizes[(sizes * _FACTOR < low) | (sizes > high * _FACTOR)]
    if len(others) <= _FEW * len(sizes):
        return
    seen.is_told = True
    advice = (
        "The best threshold depends on the size of a list: give whole lists, or use "
        f"ExpectedThreshold, which follows it, instead of {type(model).__name__}."
    )
    if hasattr(model, "certificate_"):
        advice = (
            "The promise need not hold for such lists: give lists as they were in calibration, or "
            "calibrate anew on judged queries with lists like these."
        )
    warn_user(
        f"{100 * len(others) / len(sizes):.0f} % of the lists have other sizes (median "
        f"{np.median(others):g} documents) than those the threshold was chosen on "
        f"({low:g} to {high:g}). {advice}",
        DataWarning,
    )


def scored_sizes(scores, index):
    """Number of documents of each list, without rows that score -inf as what was not retrieved."""
    sizes = np.bincount(index.codes(), scores > -np.inf, index.n_queries)
    return sizes[sizes > 0]
