"""Warnings of lists and scores that are not like those of a fit."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning
from skfilterrank.thresholds._judged_scores import scored_sizes

# Lists of other than the usual sizes may be longer or shorter by so much.
_SIZE_FACTOR = 1.5
# Share of the lists that may be of another size, and how many lists a share is told of: of usual
# ones up to a tenth are others, and 8 of 30 are then in less than one of a hundred samples.
_FEW = 0.25
_ENOUGH = 30


@dataclass
class _SeenSizes:
    """The last lists that a model was asked about since its fit, however few at once."""

    usual: np.ndarray
    sizes: np.ndarray
    is_told: bool = False


# Apart from the models, which are saved without what they served.
_SEEN_SIZES: "WeakKeyDictionary[object, _SeenSizes]" = WeakKeyDictionary()


def warn_of_other_sizes(model, scores, index) -> None:
    """Warn once after a fit, where many of the last lists are clearly shorter or longer."""
    seen = _SEEN_SIZES.get(model)
    if seen is None or seen.usual is not model.list_sizes_:
        _SEEN_SIZES[model] = seen = _SeenSizes(model.list_sizes_, np.empty(0))
    if seen.is_told:
        return
    sizes = np.append(seen.sizes, scored_sizes(scores, index))
    if len(sizes) < _ENOUGH:
        seen.sizes = sizes
        return
    seen.sizes = sizes[:0]
    low, high = seen.usual
    others = sizes[(sizes * _SIZE_FACTOR < low) | (sizes > high * _SIZE_FACTOR)]
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


def sizes_of_lists(model, scores: np.ndarray, index: GroupIndex | None) -> np.ndarray:
    """Count documents of each list; without query ids, of as few lists as the rows can be."""
    if index is not None:
        return scored_sizes(scores, index)
    if not model.fitted_with_groups_:
        return np.ones(len(scores))
    longest = getattr(model, "list_sizes_", [np.nan, np.nan])[1]
    n_lists = max(int(len(scores) / longest), 1) if longest > 0 else 1
    return np.full(n_lists, len(scores) / n_lists)


# Shares of the rows below the quantiles that are kept.
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
# The spread of scores is that of the middle 80 %, and where these are all equal of the middle 98 %.
_INNER, _OUTER = (3, 7), (1, 9)
# A logistic function divides every spread by 4 or more. Ordinary batches of this many lists of one
# size have spreads that differ by a factor of 2 at most.
_SPREAD_FACTOR = 3.0
# Scores that wait for more lists.
_MOST_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class Calibration:
    """The scores on which a threshold was chosen.

    Attributes
    ----------
    quantiles : ndarray of shape (11,), dtype float64
        Quantiles 0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99 and 1 of the scores.
    share_shown : float
        Share of the documents that the threshold shows.
    n_queries : float
        Number of lists, of which long ones count for more: one list of nearly all rows is one.
    """

    quantiles: np.ndarray
    share_shown: float
    n_queries: float

    @classmethod
    def of(cls, scores, shown, sizes) -> "Calibration | None":
        """Describe scores of lists of some sizes, and which rows are shown; None without scores."""
        is_scored = scores > -np.inf
        if not is_scored.any():
            return None
        quantiles = np.quantile(scores[is_scored], LEVELS)
        share_shown = float(np.count_nonzero(shown & is_scored) / np.count_nonzero(is_scored))
        return cls(quantiles, share_shown, effective_lists(sizes))

    def can_compare(self, sizes) -> bool:
        """Tell whether there are enough lists, there and of these sizes."""
        return min(self.n_queries, effective_lists(sizes)) >= _ENOUGH

    def difference(self, scores, sizes, threshold=None) -> str | None:
        """Say how scores clearly differ in scale; None where they do not, or there are too few.

        A threshold that had a quarter of the scores on each side must divide these, too.
        """
        own = self.quantiles
        scores = scores[scores > -np.inf]
        if not np.isfinite(own).all() or own[0] == own[-1] or not len(scores):
            return None
        if not self.can_compare(sizes):
            return None
        found = np.quantile(scores, LEVELS)
        low, high = _INNER if own[_INNER[0]] < own[_INNER[1]] else _OUTER
        usual, spread = own[high] - own[low], found[high] - found[low]
        is_outside = found[5] < own[1] or found[5] > own[9]
        if (
            usual > 0 and (spread * _SPREAD_FACTOR < usual or spread > usual * _SPREAD_FACTOR)
        ) or is_outside:
            share = 100 * (LEVELS[high] - LEVELS[low])
            return (
                f"{share:.0f} % of them lie from {found[low]:.4g} to {found[high]:.4g}, with "
                f"median {found[5]:.4g}; there from {own[low]:.4g} to {own[high]:.4g}, with median "
                f"{own[5]:.4g}"
            )
        if threshold is not None and own[4] < threshold <= own[6]:
            is_above = scores >= threshold
            if is_above.all() or not is_above.any():
                side = "below" if not is_above.any() else "at or above"
                return (
                    f"all of them are {side} the threshold {threshold:.4g}, which had at least a "
                    "quarter of those scores on each side"
                )
        return None


def effective_lists(sizes) -> float:
    """Number of lists of one size that say as much of a mean over rows as lists of these sizes."""
    sizes = np.asarray(sizes, dtype=np.float64)
    return float(sizes.sum() ** 2 / np.square(sizes).sum()) if sizes.any() else 0.0


@dataclass
class _SeenScores:
    """Scores that a model was asked about since its fit and that are not yet enough."""

    calibration: Calibration
    waiting: tuple = ()
    is_told: bool = False


# Apart from the models, which are saved without the scores that they served.
_SEEN_SCORES: "WeakKeyDictionary[object, _SeenScores]" = WeakKeyDictionary()


def warn_of_other_scale(model, scores, sizes) -> None:
    """Warn once after a fit, where scores of enough lists are clearly on another scale."""
    calibration = model.calibration_
    seen = _SEEN_SCORES.get(model)
    if seen is None or seen.calibration is not calibration:
        _SEEN_SCORES[model] = seen = _SeenScores(calibration)
    if seen.is_told:
        return
    # Threads that serve one model may change what waits, so that each works on its own.
    waiting = (*seen.waiting, (scores, sizes))
    scores, sizes = map(np.concatenate, zip(*waiting))
    is_enough = effective_lists(sizes) >= _ENOUGH
    threshold = getattr(model, "threshold_", None)
    if is_enough and (text := calibration.difference(scores, sizes, threshold)):
        seen.is_told = True
        warn_user(
            f"The scores are not on the scale of those that the threshold was chosen on: {text}. "
            "Give scores of the same kind, such as probabilities for probabilities and logits for "
            "logits, or fit again.",
            DataWarning,
        )
    seen.waiting = () if is_enough or seen.is_told or sizes.sum() > _MOST_ROWS else waiting
