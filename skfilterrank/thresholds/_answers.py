"""Comparison of a threshold with answers that need no threshold, on held-out queries."""

import numpy as np
import pandas as pd

from skfilterrank._base.rounding import value_tolerance
from skfilterrank._base.words import warn_user
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.prefixes import places
from skfilterrank._lists.scoring import mean_over_queries, t_interval
from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import false_rejects_of_first
from skfilterrank.thresholds._cuts import ByPlace, Caps
from skfilterrank.thresholds._judged_scores import JudgedScores, mean_of_clusters, values_shown

EVERYTHING, NOTHING, FIRST, BELOW = "everything", "nothing", "first", "hide below 0"
AS_GOOD = "as good on held-out queries"
COLUMNS = ["value", "difference", "error", "low", "high"]
# Level of the intervals of differences.
CONFIDENCE = 0.95


def compared(
    judged: JudgedScores, parsed: ParsedMeasure, values: np.ndarray, most: int | None
) -> tuple[pd.DataFrame, float]:
    """Compare a threshold with showing everything, nothing, and the first k documents.

    Parameters
    ----------
    judged : JudgedScores
        The rows; the number k is chosen for each fold on the other ones.
    parsed : ParsedMeasure
        The measure.
    values : ndarray of shape (n_lists,)
        Value of each list under the threshold, chosen on other queries; higher is better.
    most : int or None
        Largest number of shown documents of a query.

    Returns
    -------
    table : DataFrame
        Mean "value" of the threshold and of each answer, "difference" of the threshold to it, its
        standard "error", and "low" and "high" of its interval.
    level : float
        Level of places (-1, -2, ...) down to which the first documents are best shown: -2.5
        for two documents.
    """
    # Places of tied rows must not depend on the order of the input.
    judged = judged.in_order()
    names = [EVERYTHING, NOTHING, *([BELOW] if judged.are_gains else [])]
    shown = shown_by(names, judged.scores, judged.index, most)
    every, nothing, *below = values_shown(judged.lists, parsed, *shown.values())
    first, level = _of_first(judged, parsed, most)
    # The level lies between two places.
    k = int(min(max(-level, 0), judged.index.sizes.max()))
    answers = {EVERYTHING: every, NOTHING: nothing, f"{FIRST} {k}": first}
    answers |= dict(zip([BELOW], below))
    weights = judged.lists.weights
    rows = {"threshold": (mean_over_queries(values, weights), *[np.nan] * 4)}
    for name, others in answers.items():
        differences, of_units = judged.by_cluster(values - others)
        differences[np.abs(differences) <= value_tolerance(others)] = 0.0
        mean, error, n = mean_of_clusters(differences, of_units)
        interval = t_interval(mean, error, n, CONFIDENCE)
        rows[name] = mean_over_queries(others, weights), mean, error, *interval
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS)
    return table.rename_axis("answer"), level


def shown_by(answers, scores, index, most: int | None) -> dict[str, np.ndarray]:
    """Return a mask of the rows that each answer shows: at most `most` documents of each query."""
    ranked = scores > -np.inf
    within = {EVERYTHING: ranked, NOTHING: np.zeros_like(ranked), BELOW: ranked & (scores >= 0.0)}
    largest = np.inf if most is None else most
    caps = {
        each: min(largest, int(each.removeprefix(FIRST))) if each.startswith(FIRST) else largest
        for each in answers
    }
    # Lists are sorted once, and only if an answer is capped.
    place = places(scores, index) if min(caps.values()) < np.inf else np.zeros(len(scores))
    return {each: within.get(each, ranked) & (place < k) for each, k in caps.items()}


def _of_first(judged, parsed, most):
    """Measure the first k documents of held-out lists; return the level of all lists, too."""
    cut, caps = ByPlace(), Caps(None, most)
    found = cut.capped(
        cut.served_keys(judged.scores, judged.more, judged.index), judged.index, caps
    )
    entries = cut.entries(judged, found, parsed, caps)
    return held_out_values(judged, cut, found.keys, entries), entries.best()[0]


def held_out_values(judged: JudgedScores, cut, keys, entries) -> np.ndarray:
    """Measure each list at the level that is best on the lists of other folds."""
    values = np.empty(judged.index.n_queries)
    of_list, n_folds = judged.deal_folds()
    for number in range(n_folds):
        held_out = of_list == number
        values[held_out] = entries.at(cut.best_level(judged, keys, entries, ~held_out))[held_out]
    return np.nan_to_num(values)


def better_answer(table: pd.DataFrame) -> str | None:
    """Return the best answer, or None if the threshold pays.

    It pays if it beats everything, nothing and the first k by a standard error. It need not beat
    hiding below 0, which filters as well.
    """
    names = table.index[1:]
    values, differences, errors = _of_answers(table, "value", "difference", "error")
    # Hiding below 0 is the last row.
    place = values[: len(values) - (names[-1] == BELOW)].argmax()
    difference, error = differences[place], errors[place]
    # With a single cluster the error is NaN, and nothing can be said.
    pays = not difference <= error or not (difference or error)
    return None if pays else str(names[int(np.nanargmax(values))])


def highest_answer(table: pd.DataFrame) -> str | None:
    """Return the answer with the highest value, or None if the threshold's is as high."""
    values, differences = _of_answers(table, "value", "difference")
    place = values.argmax()
    return str(table.index[1:][place]) if differences[place] < 0 else None


def _of_answers(table, *columns):
    """Return columns without their first row, which is the threshold's."""
    return [table[column].to_numpy()[1:] for column in columns]


def warn_of_answer(table: pd.DataFrame, answer: str, inside: bool) -> None:
    """Warn that an answer is as good; with `inside`, name parameters of RankAndFilter."""
    own, best = table.loc["threshold"], table.loc[answer]
    use = {
        EVERYTHING: ("FixedThreshold()", "threshold=None"),
        NOTHING: ("FixedThreshold(np.inf)", "threshold=np.inf"),
        FIRST: ("FirstK()", "threshold=FirstK()"),
        BELOW: ("FixedThreshold(0.0)", "threshold=0.0"),
    }[answer if answer == BELOW else answer.partition(" ")[0]][inside]
    told = "hiding what is below 0" if answer == BELOW else f"showing {answer}"
    told = told.replace(FIRST, f"the {FIRST}")
    keep = "threshold='better'" if inside else "keep_if='better'"
    advice = f"Use {{{use}}}, or {{{keep}}} to take the highest, or judge more queries."
    if own["value"] > best["value"]:
        advice = "The threshold is higher by less than one error: keep it, or judge more queries."
    warn_user(
        f"{told} is {AS_GOOD}: they have {best['value']:.4f} by it and {own['value']:.4f} with the "
        f"threshold (standard error of the difference {best['error']:.4f}). {advice}",
        FitWarning,
        argument=(use, keep),
    )


def shown_in_words(judged: JudgedScores, shown: np.ndarray, k: int | None) -> str:
    """Say which share of the documents a mask shows, and of the good and the forbidden ones.

    With a number k, false_reject_rate@k follows.
    """
    gains = judged.gains
    kinds = {"documents": np.ones(len(gains), dtype=bool), "good ones": gains > 0}
    kinds["forbidden ones"] = gains < 0
    words = "shows " + ", ".join(
        f"{100 * shown[rows].mean():.0f} % of the {kind}"
        for kind, rows in kinds.items()
        if rows.any()
    )
    if k is None:
        return words
    # A share in whole percent needs no more queries.
    if (rows := judged.enough_rows()) is not None:
        judged, shown = judged.take(rows), shown[rows]
    rejects = false_rejects_of_first(judged.lists, np.where(shown, 0.0, -np.inf), k)
    lost = mean_over_queries(rejects, judged.lists.weights)
    told = f"{words}; hides {100 * lost:.0f} % of the good ones among the first {k}"
    return words if np.isnan(lost) else told


def compared_in_words(table: pd.DataFrame, measure: str, kept: str | None) -> str:
    """Say the values of the threshold and of the answers, and which was kept if one was chosen."""
    own, *others = (f"{name} {value:.3f}" for name, value in table["value"].items())
    numbers = zip(*_of_answers(table, "difference", "low", "high"))
    gains = ("{:+.3f}, {:+.3f} to {:+.3f}".format(*each) for each in numbers)
    words = ", ".join(f"{other} ({gain})" for other, gain in zip(others, gains))
    words = f"; {measure} of held-out queries: {own}, {words}"
    return words if kept is None else f"{words}; kept: {kept}"
