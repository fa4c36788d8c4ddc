"""Judgments and runs that hold a document of a query more than once."""

import numpy as np
import pandas as pd

from skfilterrank._base.results import counted
from skfilterrank._base.words import warn_user
from skfilterrank._files.kinds import QRELS
from skfilterrank._files.tokens import mix
from skfilterrank.exceptions import DataWarning, InputError, brief

# Choices of the parameter `duplicates`.
WAYS = ("raise", "max", "first")
_PAIR = ["list", "docno"]
# Arguments that errors name.
_ARGUMENTS = (
    *("subtopic='max'", "duplicates='max'", "duplicates='first'"),
    *(", of read_qrels", ", to read_qrels"),
)


def check_no_repeats(content, rows) -> None:
    """Raise if a run holds a document of a query twice."""
    again = _repeated(rows)
    if again is not None:
        _fail(content, rows, again, _PAIR)


def without_repeats(content, rows, duplicates, subtopic):
    """Return judgments with each document of a query once (in each drawn set).

    The same line twice counts once, with a warning. The parameters are those of `read_qrels`.
    """
    if subtopic is not None and not content.has("iteration"):
        raise InputError(
            f"{{subtopic=}} is for judgments with a second column ({QRELS.columns}) or a column "
            f"'subtopic', which {content.name} has not: leave it out.",
            argument="subtopic=",
        )
    again = _repeated(rows)
    if again is None:
        return rows
    same = np.zeros(len(rows.codes))
    second = content.words("iteration")[0] if content.has("iteration") else same
    judges = same if rows.judges is None else rows.judges.codes
    chances = same if rows.probabilities is None else rows.probabilities
    columns = {"label": rows.values, "second": second, "judge": judges, "chance": chances}
    again = again.assign(**{name: values[again.index] for name, values in columns.items()})
    kept = np.ones(len(rows.codes), dtype=bool)
    kept[again.index] = False
    # Repetitions within a subtopic are treated first, and then subtopics are folded.
    steps = [(_PAIR, duplicates)] if subtopic is None else [([*_PAIR, "second"], duplicates)]
    for keys, how in [*steps, (_PAIR, subtopic or duplicates)]:
        if how == "raise":
            again = _without_same_lines(content, rows, again)
            if again.duplicated(keys).any():
                _fail(content, rows, again, keys)
        elif how == "max":
            again = again.sort_values("label", ascending=False, kind="stable")
        again = again[~again.duplicated(keys)]
    kept[again.index] = True
    return rows.take(np.flatnonzero(kept))


def _repeated(rows):
    """Return a table of the rows whose pair of query and document occurs again; None without."""
    lists = rows.codes
    if rows.draws is not None:
        lists = lists + len(rows.queries) * (rows.draws + 1)
    keys = pair_keys(lists, rows.docnos)
    if are_distinct(keys):
        return None
    places = np.flatnonzero(pd.Series(keys).duplicated(keep=False))
    pairs = {"list": lists[places], "docno": rows.docnos.take(places).tolist()}
    again = pd.DataFrame(pairs, index=places)
    # Different pairs may have equal hashes.
    again = again[again.duplicated(_PAIR, keep=False)]
    return again if len(again) else None


def _without_same_lines(content, rows, again):
    """Return the rows without those that repeat a whole line, with a warning."""
    is_same = again.duplicated()
    if is_same.any():
        docno, query, place, _ = _told(content, rows, again, is_same, _PAIR)
        warn_user(
            f"{content.name} holds {counted(int(is_same.sum()), 'judgment')} a second time, with "
            f"the same label, such as that of document {docno} in query {query}{place}; each "
            "counts once.",
            DataWarning,
        )
    return again[~is_same]


def _told(content, rows, again, is_second, keys):
    """Return words for the first repetition, and its two rows.

    `is_second` is a mask of repetitions of the columns `keys`.
    """
    row = again.index[is_second.argmax()]
    before = again.index[(again[keys] == again.loc[row, keys]).all(axis=1).argmax()]
    line = before if content.line_of is None else content.line_of(before)
    where = "row" if content.line_of is None else "line"
    place = "" if line is None else f" (first in {where} {line})"
    query = rows.queries[rows.codes[row]]
    return brief(again.loc[row, "docno"]), brief(query), place, (before, row)


def _fail(content, rows, again, keys):
    """Raise for the first pair that occurs twice, and say what may be meant."""
    docno, query, place, (before, row) = _told(content, rows, again, again.duplicated(keys), keys)
    rest = "; keep one of the two."
    if "label" in again and again.loc[before, "judge"] == again.loc[row, "judge"]:
        one, other = again.loc[before], again.loc[row]
        if one["second"] != other["second"]:
            rest = (
                ". If the second column holds subtopics (diversity judgments), {subtopic='max'} "
                "takes the highest label, and ir_measures has alpha-nDCG; if it holds groups of "
                "assessors (qrels_jg), {duplicates='max'} does{, of read_qrels}."
            )
        elif one["label"] != other["label"]:
            rest = (
                f", with the labels {one['label']:g} and {other['label']:g}; keep one of them, or "
                "give {duplicates='max'} or {duplicates='first'}{, to read_qrels}."
            )
    what = f"document {docno} twice in query {query}"
    content.fail(int(row), what, f"{place}{rest}", _ARGUMENTS)


def pair_keys(codes, docnos, salt=0):
    """Hash each pair of query and document to 64 bits.

    Equal hashes of different pairs are very rare, but callers must allow for them.
    """
    return mix(docnos.hashes(salt), codes.astype(np.uint64))


def are_distinct(keys):
    """Return True if no number occurs twice."""
    keys = np.sort(keys)
    return not (keys[1:] == keys[:-1]).any()
