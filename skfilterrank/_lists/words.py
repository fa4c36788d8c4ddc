"""Warnings, text for screens, and words that several rooms and the command line share."""

import functools
import os
import re
import sys
import warnings
from functools import partial
from types import FrameType

from skfilterrank.exceptions import InputError, SkfilterrankWarning

# Queries of the judgments that are not in a run.
MISSING = ("raise", "drop", "empty")
PRECISIONS = ("double", "single")
# Order of documents with equal scores; "stable" is that of the rows.
TIES = ("docno", "average", "worst", "best", "stable")
# Positions of documents that a run does not retrieve need the size of the collection. Of any two
# rankings of a query every size prefers the same one; one size for all keeps values comparable.
N_ITEMS = 1_000_000
# Tests of the differences between systems, and corrections of their p values.
TEST_TITLES = {
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed rank test",
    "sign": "sign test",
    "randomization": "randomization test",
    "bootstrap": "studentized bootstrap test",
    "tukey": "Tukey's HSD",
    "randomized_tukey": "randomized HSD",
}
# Tests whose p values come from resamples.
RESAMPLING_TESTS = ("randomization", "bootstrap", "randomized_tukey")
CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "fdr_bh": "Benjamini and Hochberg's correction",
}


# A column, the word of people's labels, and that of a machine without a name.
JUDGED_BY, PEOPLE, PREDICTED = "judged_by", "people", "predicted"


def is_of_machine(judged_by):
    """Find the rows of a column whose label a machine gave; without an entry, people judged."""
    return judged_by.notna() & (judged_by != PEOPLE)


# Letters that are no commands of the page, for grades that have no key of their own.
_LETTERS = "acdfhijklqrstwxyz"


def keys_of_grades(grades, letters=_LETTERS) -> dict:
    """Return a key for each grade: its digit, - for the negative one next to 0, else a letter."""
    negative = max((grade for grade in grades if grade < 0), default=None)
    keys, letters = {}, iter(letters)
    for grade in grades:
        if grade == negative:
            keys[grade] = "-"
        else:
            keys[grade] = f"{grade:g}" if grade in range(10) else next(letters, "")
        if not keys[grade]:
            raise InputError(f"grades must be at most one for each key, got {len(grades)} of them.")
    return keys


_NOT_PLAIN = re.compile(r"[^ -~]")
# Printable characters to Python that Unicode shows as nothing, and the empty Braille cell.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def printable(text, keep="") -> str:
    r"""Return text with codes, such as \x1b and \u202e, for control and invisible characters.

    Line ends, tabs and unusual spaces are codes too; characters of `keep` stay as they are.
    """
    return _NOT_PLAIN.sub(
        lambda match: match[0] if match[0] in keep else _shown(match[0]), str(text)
    )


@functools.lru_cache(maxsize=1 << 12)
def _shown(character):
    """Return a character, or its code."""
    if character.isprintable() and not _UNSEEN.match(character):
        return character
    return ascii(character)[1:-1]


# joblib and tqdm stand between where they call, or ask for the next of, what they were given.
_PACKAGES = (__name__.partition(".")[0], "joblib", "tqdm")


def warn_user(text: str, category: type[SkfilterrankWarning]) -> None:
    """Warn the nearest caller outside of the package, however deep this is."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _PACKAGES:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def collecting_warnings(function):
    """Return a function that collects its warnings when it runs in another process.

    Parameters
    ----------
    function : callable
        The function that another process may call.

    Returns
    -------
    callable
        Called in the same way, it returns what the function returns, and a list of text and
        category of the package's warnings in another process, for `repeat_warnings`. In this
        process, which shows them at once, the list is empty.
    """
    return partial(_with_warnings, os.getpid(), function)


def _with_warnings(parent, function, *arguments):
    if os.getpid() == parent:
        return function(*arguments), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkfilterrankWarning)
        result = function(*arguments)
    collected = []
    for each in caught:
        if issubclass(each.category, SkfilterrankWarning):
            collected.append((str(each.message), each.category))
        else:
            # Warnings of other packages appear where they arise.
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return result, collected


def repeat_warnings(collected) -> None:
    """Warn the caller of what another process has collected."""
    for text, category in dict.fromkeys(collected):
        warn_user(text, category)


def progress_bar(*args, **options):
    """Make a bar of tqdm, which is imported here alone: most calls show none."""
    from tqdm.auto import tqdm

    return tqdm(*args, **options)
