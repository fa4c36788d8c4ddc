"""Warnings, words for numbers, printable text, progress bars, and names of several rooms."""

import functools
import inspect
import os
import re
import warnings
from functools import partial
from numbers import Integral
from types import FrameType
from typing import Any

from skfilterrank.exceptions import InputError, Message, SkfilterrankWarning, brief

# Treatments of queries that are in the judgments but not in a run.
MISSING = ("raise", "drop", "empty")
OWN = ("warn", "keep", "drop")
PRECISIONS = ("double", "single")
# Orders of documents with equal scores; "stable" keeps the order of the rows.
TIES = ("docno", "average", "worst", "best", "stable")
# Size of the collection, for the positions of documents that a run does not retrieve. Every size
# gives the same preference between two rankings of a query; one common size keeps values
# comparable.
N_ITEMS = 1_000_000
# Tests of the differences between systems, and corrections of their p values.
TEST_TITLES = {
    "t": "paired t test",
    "sign": "sign test",
    "randomization": "randomization test",
    "bootstrap": "studentized bootstrap test",
    "tukey": "Tukey's HSD",
}
# Tests whose p values come from resamples.
RESAMPLING_TESTS = ("randomization", "bootstrap")
CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "fdr_bh": "Benjamini and Hochberg's correction",
}


# Name of a column, and its values for labels by people and by an unnamed machine, and drawn ones.
JUDGED_BY, PEOPLE, PREDICTED, DRAWN = "judged_by", "people", "predicted", "drawn"


def is_of_machine(judged_by):
    """Return a mask of the rows labelled by a machine; a missing entry means people judged."""
    return judged_by.notna() & (judged_by != PEOPLE)


_NOT_PLAIN = re.compile(r"[^ -~]")
# Characters that Python calls printable but that are invisible, such as the empty Braille cell.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def printable(text, keep="") -> str:
    r"""Replace control and invisible characters by codes such as \x1b and \u202e.

    Line ends, tabs and unusual spaces are replaced too; characters in `keep` are not.
    """
    return _NOT_PLAIN.sub(
        lambda match: match[0] if match[0] in keep else _shown(match[0]), str(text)
    )


@functools.lru_cache(maxsize=1 << 12)
def _shown(character):
    """Return a printable character unchanged, and the code of another one."""
    if character.isprintable() and not _UNSEEN.match(character):
        return character
    return ascii(character)[1:-1]


# joblib and tqdm are skipped, since they may be on the stack between the package and its caller.
_PACKAGES = (__name__.partition(".")[0], "joblib", "tqdm")


def warn_user(text: str, category: type[SkfilterrankWarning], argument=()) -> None:
    """Issue a warning for the nearest caller outside of the package.

    `argument` has the arguments that stand in braces in the text.
    """
    level = 1
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _PACKAGES:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(Message(text, argument) if argument else text, category, stacklevel=level)


def collecting_warnings(function):
    """Wrap a function so that another process returns its warnings with the result.

    Parameters
    ----------
    function : callable
        The function that another process may call.

    Returns
    -------
    callable
        Function with the same arguments. It returns the result, and a list of (text, category) of
        the package's warnings for `repeat_warnings`. In the main process warnings are shown at
        once, and the list is empty.
    """
    return partial(_with_warnings, os.getpid(), function)


def _with_warnings(parent, function, *arguments):
    if os.getpid() == parent:
        return function(*arguments), []
    return with_warnings(function, *arguments)


def with_warnings(function, *arguments) -> tuple:
    """Call a function; return its result, and a list of (text, category) of our warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkfilterrankWarning)
        result = function(*arguments)
    collected = []
    for each in caught:
        if issubclass(each.category, SkfilterrankWarning):
            message: Any = each.message
            collected.append((message.args[0], each.category))
        else:
            # Warnings of other packages are issued where they occur.
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return result, collected


def repeat_warnings(collected) -> None:
    """Issue warnings that were collected in another process."""
    for text, category in dict.fromkeys(collected):
        warn_user(text, category)


def in_parallel(jobs, n_jobs, parallel=None, **options):
    """Yield the results of delayed calls in their order.

    Parameters
    ----------
    jobs : iterable
        Calls made by `delayed` of joblib, or of scikit-learn, whose class `parallel` then is.
    n_jobs : int or None
        Number of processes or threads; None takes that of joblib's context.
    parallel : class or None, default=None
        None means `joblib.Parallel`, which is imported only here.
    **options
        Other parameters of the class.
    """
    from joblib import Parallel

    check_n_jobs(n_jobs)
    parallel = Parallel if parallel is None else parallel
    try:
        running = parallel(n_jobs=n_jobs, return_as="generator", **options)
    except ValueError:
        # joblib's backend "multiprocessing" returns all results at once, and cannot send functions
        # that stand inside of others: threads take them.
        if options.get("prefer") == "threads":
            options["require"] = "sharedmem"
        running = parallel(n_jobs=n_jobs, **options)
    yield from running(jobs)


def check_n_jobs(n_jobs) -> None:
    """Check a number of processes: None, or a whole number other than 0."""
    is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0 or abs(n_jobs) >= 1 << 31):
        raise InputError(
            f"n_jobs must be None or a whole number other than 0, such as 2, or -1 for all "
            f"processors; got {brief(n_jobs)}."
        )


def progress_bar(*args, verbose, **options):
    """Return a tqdm progress bar; tqdm is imported only here, because most calls show none."""
    from tqdm.auto import tqdm

    from skfilterrank._base.checks import check_verbose

    return tqdm(*args, disable=not check_verbose(verbose), **options)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as "1 pair" and "1,200 queries"."""
    return f"{number:,} {one if number == 1 else many or plural(one)}"


def plural(noun: str) -> str:
    """Return the plural of an English noun: "families", "boxes", "users"; "users" stays."""
    if re.search("[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    if re.search("(ss|us|is|x|z|ch|sh)$", noun):
        return f"{noun}es"
    return noun if noun.endswith("s") else f"{noun}s"


def p_text(value: float) -> str:
    """Return a p value with four digits, or "<0.0001"."""
    return f"{value:.4f}" if value >= 1e-4 else "<0.0001"


def interval_text(confidence: float) -> str:
    """Return the name of an interval, such as "95 % interval"."""
    return f"{100 * confidence:.4g} % interval"
