"""Warnings if lists or scores of a prediction differ from those of the fit."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning
from skfilterrank.thresholds._judged_scores import scored_sizes

# A list size counts as different beyond the usual sizes times or divided by this factor.
_SIZE_FACTOR = 1.5
# A warning needs more than this share of lists of different size, and at least this number of
# lists. Up to a tenth of ordinary lists have a different size, so 8 of 30 occur in less than 1 % of
# samples.
_FEW = 0.25
_ENOUGH = 30


@dataclass
class _SeenSizes:
    """Sizes of lists that a model has predicted since its fit, until enough are collected."""

    fitted_on: object
    waiting: tuple = ()
    has_warned: bool = False

    @classmethod
    def of(cls, seen: "WeakKeyDictionary[object, _SeenSizes]", model, fitted_on) -> "_SeenSizes":
        """Return the collected sizes of a model, emptied after each fit."""
        found = seen.get(model)
        if found is None or found.fitted_on is not fitted_on:
            seen[model] = found = cls(fitted_on)
        return found


# Stored outside of the models, so that it is not saved with them.
_SEEN_SIZES: "WeakKeyDictionary[object, _SeenSizes]" = WeakKeyDictionary()
_SEEN_SCORES: "WeakKeyDictionary[object, _SeenSizes]" = WeakKeyDictionary()


def warn_of_other_sizes(model, scores, index) -> None:
    """Warn once after a fit if many predicted lists are much shorter or longer than in the fit."""
    seen = _SeenSizes.of(_SEEN_SIZES, model, model.list_sizes_)
    if seen.has_warned:
        return
    waiting = (*seen.waiting, scored_sizes(scores, index))
    sizes = np.concatenate(waiting)
    if len(sizes) < _ENOUGH:
        seen.waiting = waiting
        return
    seen.waiting = ()
    low, high = model.list_sizes_
    others = sizes[(sizes * _SIZE_FACTOR < low) | (sizes > high * _SIZE_FACTOR)]
    if len(others) <= _FEW * len(sizes):
        return
    seen.has_warned = True
    advice = (
        "The best threshold depends on the size of a list: pass whole lists, or use "
        f"ExpectedThreshold, which adapts to it, instead of {type(model).__name__}."
    )
    if hasattr(model, "certificate_"):
        advice = (
            "The guarantee need not hold for such lists: pass lists as in calibration, or "
            "calibrate again on judged queries with lists like these."
        )
    warn_user(
        f"{100 * len(others) / len(sizes):.0f} % of the lists have other sizes (median "
        f"{np.median(others):g} documents) than those the threshold was chosen on "
        f"({low:g} to {high:g}). {advice}",
        DataWarning,
    )


def sizes_of_lists(model, scores: np.ndarray, index: GroupIndex | None) -> np.ndarray:
    """Count the documents of each list; without query ids, assume lists of the usual size."""
    if index is not None:
        return scored_sizes(scores, index)
    if not model.fitted_with_groups_:
        return np.ones(len(scores))
    longest = getattr(model, "list_sizes_", [np.nan, np.nan])[1]
    n_lists = max(int(len(scores) / longest), 1) if longest > 0 else 1
    return np.full(n_lists, len(scores) / n_lists)


# Levels of the quantiles of the scores.
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
# Positions of the quantiles whose difference is the spread; the outer pair is used if the inner
# quantiles are equal.
_INNER, _OUTER = (3, 7), (1, 9)
# Factor between spreads of different scales. A logistic function divides every spread by at least
# 4, and the spreads of ordinary batches of 30 lists differ by a factor of 2 at most.
_SPREAD_FACTOR = 3.0
# Largest number of rows that are stored until there are enough lists.
_MOST_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class Calibration:
    """Description of the scores on which a threshold was chosen.

    Attributes
    ----------
    quantiles : ndarray of shape (11,), dtype float64
        Quantiles 0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99 and 1 of the scores.
    share_shown : float
        Share of documents that the threshold shows.
    n_queries : float
        Effective number of lists: if one list has nearly all rows, it is close to 1.
    """

    quantiles: np.ndarray
    share_shown: float
    n_queries: float

    @classmethod
    def of(cls, scores, shown, sizes) -> "Calibration | None":
        """Describe the scores of lists and the share of shown rows; None without scores."""
        is_scored = scores > -np.inf
        if not is_scored.any():
            return None
        quantiles = np.quantile(scores[is_scored], LEVELS)
        share_shown = float(np.count_nonzero(shown & is_scored) / np.count_nonzero(is_scored))
        return cls(quantiles, share_shown, effective_lists(sizes))

    def can_compare(self, sizes) -> bool:
        """Tell whether both the fit and the new data have enough lists."""
        return min(self.n_queries, effective_lists(sizes)) >= _ENOUGH

    def difference(self, scores, sizes, threshold=None) -> str | None:
        """Describe a clear difference in scale; None without one, or with too few lists.

        If a threshold has at least a quarter of the old scores on each side, all new scores on one
        side is a difference, too.
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
                f"median {found[5]:.4g}; in the fit from {own[low]:.4g} to {own[high]:.4g}, with "
                f"median {own[5]:.4g}"
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
    """Return the effective number of lists for a mean over rows, given list sizes or weights."""
    sizes = np.asarray(sizes, dtype=np.float64)
    return float(sizes.sum() ** 2 / np.square(sizes).sum()) if sizes.any() else 0.0


def is_few(n_effective: float, n_queries: int) -> bool:
    """Tell if weights leave few queries, and fewer than half of all."""
    return n_effective < min(_ENOUGH, n_queries / 2)


def warn_of_other_scale(model, scores, sizes) -> None:
    """Warn once after a fit if the scores of enough lists are clearly on another scale."""
    calibration = model.calibration_
    seen = _SeenSizes.of(_SEEN_SCORES, model, calibration)
    if seen.has_warned:
        return
    # The state is replaced by a new one, since several threads may use the model.
    waiting = (*seen.waiting, (scores, sizes))
    scores, sizes = map(np.concatenate, zip(*waiting))
    is_enough = effective_lists(sizes) >= _ENOUGH
    threshold = getattr(model, "threshold_", None)
    if is_enough and (text := calibration.difference(scores, sizes, threshold)):
        seen.has_warned = True
        warn_user(
            f"The scores are not on the scale of those that the threshold was chosen on: {text}. "
            "Give scores of the same kind, such as probabilities for probabilities and logits for "
            "logits, or fit again.",
            DataWarning,
        )
    seen.waiting = () if is_enough or seen.has_warned or sizes.sum() > _MOST_ROWS else waiting
