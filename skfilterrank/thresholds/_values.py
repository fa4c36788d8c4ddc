"""Values of lists with hidden documents, and warnings about filters that do not pay."""

import numpy as np

from skfilterrank._core.lists import RankedLists
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.scoring import with_undefined
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import FitWarning

NOT_SHOWN_TO_PAY = "filtering is not shown to pay"


def values_shown(lists: RankedLists, shown: np.ndarray, parsed: ParsedMeasure) -> np.ndarray:
    """Measure each query where some rows are shown, higher being better.

    In place of a mask, `shown` may be scores that order the rows, equal ones as they came.
    """
    entry = parsed.measure
    if shown.dtype == bool:
        part = lists.with_ties(entry.ties[0]).with_scores(np.where(shown, lists.scores, -np.inf))
    else:
        part = lists.with_ties("stable").with_scores(shown)
    part.has_filtered = True
    values = with_undefined(part.per_query(entry.bind(parsed.k, parsed.options)), 0.0)
    return values if entry.greater_is_better else 0.0 - values


def worth_of_answers(lists: RankedLists, shown: np.ndarray, parsed: ParsedMeasure) -> np.ndarray:
    """Compute what each query gains in the measure by its shown rows, compared with nothing."""
    nothing = np.zeros(len(shown), dtype=bool)
    return values_shown(lists, shown, parsed) - values_shown(lists, nothing, parsed)


def warn_without_good(gains: np.ndarray) -> None:
    """Warn where labels forbid documents and call none good, so that hiding all is best."""
    if (gains < 0).any() and not (gains > 0).any():
        remedy = "Check y and gains=."
        if (gains == 0).any():
            remedy = (
                "Where 0 is harmless and not bad, say so by gains, such as gains={0: 1, -1: -1}."
            )
        warn_user(
            "no label has a gain above 0, and some are below: to show nothing is best then. "
            f"{remedy}",
            FitWarning,
        )


def warn_unless_filter_pays(
    filtered: float, unfiltered: float, difference: float, error: float, *, instead: str
) -> None:
    """Warn unless held-out queries gain more by a filter than a standard error.

    `difference` is the mean over queries of what each gains, and `error` its standard error.
    """
    if difference > error or not (difference or error):
        return
    warn_user(
        f"{NOT_SHOWN_TO_PAY}: queries that it was not chosen on score {filtered:.4f} "
        f"with it and {unfiltered:.4f} without it (standard error of the difference {error:.4f}). "
        f"Use {instead}, or judge more queries.",
        FitWarning,
    )
