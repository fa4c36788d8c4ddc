"""Cuts: how the scores of lists become keys, of which those at or above a level are shown."""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np

from skfilterrank._base.results import counted
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.prefixes import places, thresholds_of
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds._judged_scores import JudgedScores


class Caps(NamedTuple):
    """Smallest and largest number of shown documents of each query; None for no bound."""

    least: int | None = None
    most: int | None = None


class Keys(NamedTuple):
    """Key of each row, and the score by which shown rows are ordered."""

    keys: np.ndarray
    order: np.ndarray


class Cut:
    """Base class of cuts, which turn scores into keys.

    Rows with keys at or above a level are shown. A subclass computes keys in `keys`, and learns in
    `learn`. Keys never rise down a list, so that a list is cut once.

    Attributes
    ----------
    level : float or None
        Level of the keys; None if the level with the best mean of the measure is searched for.
    is_score : bool
        True if the key of each row is its score.
    n_more : int or None
        Largest number of columns that are read besides the score; None means any.
    columns : list or None
        Names of these columns; None means all that are there.
    rule : str or None
        Name of the rule that hides by a second score.
    takes_weights : bool
        True if weights of queries change the level as they should.
    learns_sizes : bool
        True if it learns from the size of a list, and serves longer lists worse.
    needs_lists : bool
        True if the key of a row depends on other rows of its list.
    shows_all : bool
        True if no row is hidden, whatever its score.

    Examples
    --------
    Show documents down to a share of the best score of their list; the share is tuned.

    >>> import numpy as np
    >>> from skfilterrank.thresholds import Cut, Threshold
    >>> class ShareOfBest(Cut):
    ...     def keys(self, scores, more, index):
    ...         best = np.full(index.n_queries, -np.inf)
    ...         np.maximum.at(best, index.codes(), scores)
    ...         return scores / best[index.codes()]
    >>> scores, labels = [9.0, 8.0, 1.0, 2.0, 0.5, 0.1], [1, 1, -1, 1, 0, -1]
    >>> cut = Threshold(ShareOfBest()).fit(scores, labels, groups=[1, 1, 1, 2, 2, 2])
    >>> round(cut.level_, 3), cut.rank(scores, groups=[1, 1, 1, 2, 2, 2]).tolist()
    (0.181, [1, 2, 0, 1, 2, 0])
    """

    level: float | None = None
    is_score = False
    n_more: int | None = 0
    columns: list | None = None
    rule: str | None = None
    takes_weights = True
    needs_lists = True
    learns_sizes = False
    shows_all = False

    def keys(self, scores: np.ndarray, more: np.ndarray, index: GroupIndex) -> np.ndarray:
        """Compute the key of each row of whole lists.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores; -inf where a row is not ranked.
        more : ndarray of shape (n_rows, n_more)
            Other columns of the scores.
        index : GroupIndex
            The queries: `index.codes()` is the number of the query of each row, and
            `index.n_queries` their number.

        Returns
        -------
        ndarray of shape (n_rows,)
            Keys.
        """
        raise NotImplementedError(f"{type(self).__name__} must define keys(scores, more, index).")

    def learn(self, judged: JudgedScores, parsed: ParsedMeasure) -> np.ndarray:
        """Learn from judged rows; return keys of these rows, each learned from other queries."""
        return self.keys(judged.scores, judged.more, judged.index)

    def check_measure(self, parsed: ParsedMeasure) -> None:
        """Raise for a measure that the cut cannot work with."""

    def check(self, judged: JudgedScores, caps: Caps) -> None:
        """Raise for judged rows from which nothing can be learned."""

    def check_columns(self, more: np.ndarray, names: list) -> np.ndarray:
        """Return the columns that `fit` had; raise if there are others."""
        if more.shape[1] != self.n_more:
            raise InputError(
                f"scores has {counted(1 + more.shape[1], 'column')}, and this threshold was fitted "
                f"on {1 + (self.n_more or 0)}. Give the columns of fit."
            )
        return more

    def best_level(self, judged: JudgedScores, keys, entries: EntryValues, among) -> float:
        """Choose the level by the queries of a mask; None means all."""
        return entries.best(among)[0]

    def learn_apart(self, judged: JudgedScores) -> tuple[JudgedScores, int]:
        """Learn from some queries; return the rows of the others, and how many queries taught it.

        A cut that learns nothing keeps all rows.
        """
        return judged, 0

    # Steps of a fit and of serving, which cuts by two scores do in another way.

    def learned_keys(self, judged: JudgedScores, parsed: ParsedMeasure) -> Keys:
        """Learn; return keys of the judged rows, and the scores that order them."""
        return self._checked(self.learn(judged, parsed), judged.scores)

    def served_keys(self, scores, more, index) -> Keys:
        """Return keys and ordering scores of new rows."""
        return self._checked(self.keys(scores, more, index), scores)

    def _checked(self, keys, scores) -> Keys:
        """Check the keys of rows that are ordered by their scores."""
        keys = np.asarray(keys)
        if keys.shape != scores.shape or keys.dtype.kind not in "biuf":
            raise InputError(
                f"keys of {type(self).__name__} must be one number for each of {len(scores)} rows, "
                f"got shape {keys.shape} and dtype {keys.dtype}."
            )
        keys = keys.astype(np.float64, copy=False)
        if (is_missing := np.isnan(keys) & (scores > -np.inf)).any():
            raise InputError(
                f"keys of {type(self).__name__} must be numbers, got NaN at row "
                f"{int(is_missing.argmax())}. Return -inf for rows that are never shown."
            )
        return Keys(keys, scores)

    def capped(self, found: Keys, index, caps: Caps) -> Keys:
        """Set keys to +inf for rows shown in any case, and to -inf for rows never shown."""
        keys = np.where(np.isneginf(found.order), -np.inf, found.keys)
        least, most = caps
        if most is None and least is None:
            return found._replace(keys=keys)
        place = places(found.order, index)
        if least is not None:
            keys[(place < least) & (found.order > -np.inf)] = np.inf
        if most is not None:
            keys[place >= most] = -np.inf
        return found._replace(keys=keys)

    def lists_of(self, judged: JudgedScores, found: Keys) -> RankedLists:
        """Return judged lists in the order of shown rows, without rows that are never shown."""
        return judged.lists.replace(scores=np.where(np.isneginf(found.keys), -np.inf, found.order))

    def entries(self, judged: JudgedScores, found: Keys, parsed, caps: Caps) -> EntryValues:
        """Measure each list as its rows enter in falling order of capped keys."""
        lists = judged.lists.with_ties(parsed.measure.ties[0])
        by_score = self.is_score and caps == Caps()
        return EntryValues.of(lists, parsed, None if by_score else found.keys)

    def shown(self, found: Keys, level, index, caps: Caps) -> np.ndarray:
        """Return the ordering scores of rows at or above the level, -inf for others."""
        is_shown = (found.keys >= level) & (found.keys > -np.inf)
        return np.where(is_shown, found.order, -np.inf)

    def measured(self, shown: np.ndarray) -> np.ndarray:
        """Return a mask of the shown rows, or scores that order them."""
        return shown > -np.inf

    def thresholds(self, scores, index, shown) -> np.ndarray:
        """Return a threshold on the score of each row that hides the same rows of its list."""
        return thresholds_of(shown > -np.inf, scores, index)

    def why_hidden(self, level: float) -> str:
        """Say why a row below the level is hidden; "" names the threshold."""
        return ""

    # Files.

    def state(self) -> dict:
        """Return what was learned, in dicts, lists and arrays."""
        return {name: vars(self)[name] for name in ("n_more", "columns") if name in vars(self)}

    @classmethod
    def restored(cls, state: Mapping, parsed: ParsedMeasure) -> Self:
        """Make the cut from its state, of which JSON has made lists and texts."""
        found = cls()
        vars(found).update(state)
        return found


class ByScore(Cut):
    """The key of a row is its score."""

    is_score = True
    needs_lists = False

    def keys(self, scores, more, index):
        """Return the scores."""
        return scores

    def why_hidden(self, level):
        """Name the threshold."""
        return f"score below the threshold {level:.6g}"


class Everything(ByScore):
    """Every row is shown, so that margins are the scores."""

    shows_all = True


class ByPlace(Cut):
    """The key of a row is its place, negated: all lists are cut after the same number of rows."""

    def keys(self, scores, more, index):
        """Return -1 for the first row of a list, -2 for the second, and so on."""
        return -1.0 - places(scores, index)

    def why_hidden(self, level):
        """Name the number of documents."""
        return f"beyond the first {max(-level, 0):g}"


def known_cuts() -> dict[str, type[Cut]]:
    """Return the cuts of this library by their names."""
    found, open_classes = {}, [Cut]
    while open_classes:
        open_classes += (kind := open_classes.pop()).__subclasses__()
        if kind.__module__.startswith(__package__):
            found[kind.__name__] = kind
    return found
