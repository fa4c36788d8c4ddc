"""Comparison of lists and scores with those on which a threshold was chosen."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.results import Result
from skfilterrank._base.words import counted, warn_user
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import DataWarning, Message
from skfilterrank.thresholds._judged_scores import effective_number, scored_sizes

# A list size counts as different beyond the usual sizes times or divided by this factor.
_SIZE_FACTOR = 1.5
# Up to a tenth of ordinary lists have a different size. A warning needs more than `_FEW` of at
# least `ENOUGH` lists: 8 of 30 occur in less than 1 % of samples.
_ORDINARY, _FEW, ENOUGH = 0.1, 0.25, 30
# Share of ordinary batches whose share of shown documents may lie beyond its bounds.
_ERROR = 0.01
# Rows without query ids are one list, with a warning beyond the usual sizes times this factor.
_LIST_FACTOR = 3.0
# Levels of the quantiles of the scores.
LEVELS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
# Positions of the quantiles whose difference is the spread; the outer pair is used if the inner
# quantiles are equal.
_INNER, _OUTER = (3, 7), (1, 9)
# Factor between spreads of different scales. A logistic function divides every spread by at least
# 4, and the spreads of ordinary batches of 30 lists differ by a factor of 2 at most.
_SPREAD_FACTOR = 3.0


class Fact(NamedTuple):
    """A number of new scores beside that of the calibration; NaN where one is not known."""

    name: str
    observed: float = np.nan
    calibration: float = np.nan
    lower: float = np.nan
    upper: float = np.nan

    @property
    def warns(self) -> bool:
        """Tell whether the number lies beyond its bounds."""
        return bool(self.observed < self.lower or self.observed > self.upper)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Description of the scores on which a threshold was chosen.

    Attributes
    ----------
    quantiles : ndarray of shape (11,), dtype float64, or None
        Quantiles 0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99 and 1 of the scores; None if
        later scores need not be on their scale, as inside RankAndFilter.
    share_shown : float
        Share of documents that the threshold shows.
    n_queries : float
        Effective number of lists: if one list has nearly all rows, it is close to 1.
    """

    quantiles: np.ndarray | None
    share_shown: float
    n_queries: float

    @classmethod
    def of(cls, scores, shown, sizes, *, has_scale: bool = True) -> "Calibration | None":
        """Describe the scores of lists and the share of shown rows; None without scores."""
        is_scored = scores > -np.inf
        if not is_scored.any():
            return None
        quantiles = np.quantile(scores[is_scored], LEVELS) if has_scale else None
        share_shown = float(np.count_nonzero(shown & is_scored) / np.count_nonzero(is_scored))
        return cls(quantiles, share_shown, effective_number(sizes))

    def scale(self, scores, sizes, threshold=None) -> tuple[list[Fact], str | None]:
        """Compare median, spread, and the share at or above a threshold; describe a difference.

        A threshold with at least a quarter of the calibration scores on each side has some new
        scores on each side, too.
        """
        scores, own = scores[scores > -np.inf], self.quantiles
        found = np.quantile(scores, LEVELS) if len(scores) else np.full(len(LEVELS), np.nan)
        low, high = _INNER if own is None or own[_INNER[0]] < own[_INNER[1]] else _OUTER
        median = Fact("median_score", float(found[5]))
        spread = Fact("score_spread", float(found[high] - found[low]))
        above = Fact("share_above")
        if threshold is not None and len(scores):
            above = above._replace(observed=np.count_nonzero(scores >= threshold) / len(scores))
        if own is None or not np.isfinite(own).all() or own[0] == own[-1]:
            return [median, spread, above], None
        usual = float(own[high] - own[low])
        median = median._replace(calibration=float(own[5]))
        spread = spread._replace(calibration=usual)
        if threshold is not None:
            above = above._replace(calibration=1.0 - float(np.interp(threshold, own, LEVELS)))
        text = None
        if len(scores) and min(self.n_queries, effective_number(sizes)) >= ENOUGH:
            median = median._replace(lower=float(own[1]), upper=float(own[9]))
            if usual > 0:
                spread = spread._replace(lower=usual / _SPREAD_FACTOR, upper=usual * _SPREAD_FACTOR)
            if threshold is not None and own[4] < threshold <= own[6]:
                n = len(scores)
                above = above._replace(lower=1 / n, upper=(n - 1) / n)
            if median.warns or spread.warns:
                text = (
                    f"{100 * (LEVELS[high] - LEVELS[low]):.0f} % of them lie from {found[low]:.4g} "
                    f"to {found[high]:.4g}, with median {found[5]:.4g}; in the fit from "
                    f"{own[low]:.4g} to {own[high]:.4g}, with median {own[5]:.4g}"
                )
            elif above.warns:
                text = (
                    f"all of them are {'below' if above.observed == 0 else 'at or above'} the "
                    f"threshold {threshold:.4g}, which had at least a quarter of those scores on "
                    "each side"
                )
        return [median, spread, above], text and (
            "The scores are not on the scale of those that the threshold was chosen on: "
            f"{text}. Give scores of the same kind, such as probabilities for probabilities and "
            "logits for logits, or fit again."
        )

    def of_shown(self, shown, scores, sizes) -> Fact:
        """Compare the share of shown documents, by Hoeffding's bound for means over lists."""
        found = self.of(scores, shown, sizes, has_scale=False)
        if found is None:
            return Fact("share_shown", calibration=self.share_shown)
        variance = 1 / self.n_queries + 1 / found.n_queries
        limit = float(np.sqrt(variance * np.log(2 / _ERROR) / 2))
        lower, upper = max(self.share_shown - limit, 0.0), min(self.share_shown + limit, 1.0)
        return Fact("share_shown", found.share_shown, self.share_shown, lower, upper)


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCheck(Result):
    """New scores beside those on which a threshold was chosen; :meth:`TunedThreshold.check`.

    Attributes
    ----------
    facts : DataFrame
        A row for each number that is watched, in columns "observed", "calibration", "lower",
        "upper" and "warns". A number warns beyond its bounds; there are none (NaN) where nothing
        can be said, as with fewer than 30 lists.
    warns : bool
        True if any of the numbers warns.
    sentences : tuple of str
        A sentence for each warning.
    n_queries, n_rows : int
        Number of queries and rows that were checked.
    """

    facts: pd.DataFrame
    warns: bool
    sentences: tuple[str, ...]
    n_queries: int
    n_rows: int

    @classmethod
    def of(cls, model, scores, shown, index: GroupIndex | None) -> "ThresholdCheck":
        """Compare scores and shown rows with the calibration; queries are None without rows."""
        sizes = np.empty(0) if index is None else scored_sizes(scores, index)
        known = vars(model).get("calibration_") or Calibration(None, np.nan, np.nan)
        others, *told = _compared_sizes(model, sizes)
        scale, *more = known.scale(scores, sizes, model.threshold_)
        sentences = [each for each in (*told, *more) if each]
        share = known.of_shown(shown, scores, sizes)
        if share.warns:
            sentences.append(
                f"The threshold shows {100 * share.observed:.3g} % of the documents, and "
                f"{100 * share.calibration:.3g} % of those it was chosen on: fewer than 1 % of "
                f"batches like these lie outside {100 * share.lower:.3g} to "
                f"{100 * share.upper:.3g} %. Look at the scores and the queries."
            )
        facts = [others, *scale, share]
        table = pd.DataFrame(facts).set_index("name").rename_axis("fact")
        table["warns"] = [each.warns for each in facts]
        n_queries = 0 if index is None else index.n_queries
        return cls(table, bool(sentences), tuple(sentences), n_queries, len(scores))

    def to_frame(self) -> pd.DataFrame:
        """Make a table with a row for each number that is watched."""
        return self.facts.copy()

    def _summary(self):
        names = self.facts.index[self.facts["warns"]].tolist()
        told = f"{', '.join(names)} differ from" if names else "nothing differs clearly from"
        return (
            f"{told} the calibration ({counted(self.n_queries, 'query')}, "
            f"{counted(self.n_rows, 'row')})"
        )

    def _head(self):
        told, facts = list(self.sentences), self.facts
        if not told:
            told.append(f"{self._summary().capitalize()}.")
        if facts["calibration"].isna().all():
            return "The threshold has no calibration to compare with."
        is_compared = facts["calibration"].notna() & facts["lower"].isna()
        if is_compared[["other_sizes", "median_score"]].any():
            told.append(
                f"Here or in the calibration are fewer than {ENOUGH} lists (or few hold most of "
                "the documents), too few to judge sizes and scale."
            )
        return " ".join(told)


def _compared_sizes(model, sizes) -> tuple[Fact, str | None]:
    """Compare the share of lists that are clearly longer or shorter; describe a difference."""
    low, high = getattr(model, "list_sizes_", (np.nan, np.nan))
    if not len(sizes) or np.isnan(low):
        return Fact("other_sizes"), None
    others = sizes[(sizes * _SIZE_FACTOR < low) | (sizes > high * _SIZE_FACTOR)]
    share = len(others) / len(sizes)
    if len(sizes) < ENOUGH:
        return Fact("other_sizes", share, _ORDINARY), None
    fact = Fact("other_sizes", share, _ORDINARY, 0.0, _FEW)
    if not fact.warns:
        return fact, None
    names = "{ExpectedThreshold}"
    if np.median(others) < low and not model.cut_.learns_sizes:
        # LearnedThreshold does worse in lists that are longer than those of its fit.
        names += " or {LearnedThreshold}"
    found = vars(model).get("comparability_")
    advice = (
        "The best threshold depends on the size of a list: pass whole lists, or fit again on lists "
        "like these"
    ) + {
        True: f". Scores compare between queries, so that {names} may be better.",
        False: ". {ExpectedThreshold} needs scores that compare between queries, and these do not. "
        "Compare with {FirstK} on judged queries.",
        None: ". {ExpectedThreshold} may help if scores compare between queries. "
        + ("" if found is None else found.sentence),
    }[None if found is None else found.compares].rstrip()
    if hasattr(model, "certificate_"):
        advice = (
            "The certificate need not hold for such lists: pass lists as in calibration, or "
            "calibrate again on judged queries with lists like these."
        )
    return fact, Message(
        f"{100 * share:.0f} % of the lists have other sizes (median {np.median(others):g} "
        f"documents) than those the threshold was chosen on ({low:g} to {high:g}). {advice}",
        ("ExpectedThreshold", "LearnedThreshold", "FirstK"),
    )


def differences(model, scores: np.ndarray, index: GroupIndex | None) -> list[str]:
    """Return sentences on sizes of lists and scale of scores that differ from those of the fit."""
    sizes = _sizes_of_lists(model, scores, index)
    if len(sizes) < ENOUGH:
        return []
    found = [] if index is None else [_compared_sizes(model, sizes)[1]]
    if (calibration := vars(model).get("calibration_")) is not None:
        found.append(calibration.scale(scores, sizes, model.threshold_)[1])
    return [each for each in found if each]


def _sizes_of_lists(model, scores: np.ndarray, index: GroupIndex | None) -> np.ndarray:
    """Count the documents of each list; without query ids, assume lists of the usual size."""
    if index is not None:
        return scored_sizes(scores, index)
    if not model.fitted_with_groups_:
        return np.ones(len(scores))
    longest = getattr(model, "list_sizes_", [np.nan, np.nan])[1]
    n_lists = max(int(len(scores) / longest), 1) if longest > 0 else 1
    return np.full(n_lists, len(scores) / n_lists)


def one_list(model, rows, n_rows: int) -> GroupIndex:
    """Index the rows of one request as one query; warn if they seem to be of several."""
    high = getattr(model, "list_sizes_", (np.nan, np.nan))[1]
    index = getattr(rows, "index", None)
    why = None
    if isinstance(index, pd.Index) and not index.is_unique:
        why = "their index repeats labels"
    elif n_rows > high * _LIST_FACTOR:
        why = f"lists of fit had {model.list_sizes_[0]:g} to {high:g} documents"
    if why is not None:
        warn_user(
            f"groups is missing: {n_rows} rows are taken as one query, although {why}. Pass "
            "groups=, the query id of each row, if they are of several queries.",
            DataWarning,
        )
    return GroupIndex.of_one(n_rows)
