"""Judgments and runs that hold a document of a query more than once.

Such a document is repeated by mistake, has several assessors or subtopics, or a label in each of
several drawn label sets.
"""

import numpy as np
import pandas as pd

from skfilterrank._base.words import counted, warn_user
from skfilterrank._files.kinds import QRELS
from skfilterrank._files.tokens import mix
from skfilterrank._lists.gains import is_sample
from skfilterrank.exceptions import DataWarning, InputError, brief

# Choices of the parameter `duplicates`.
WAYS = ("raise", "max", "first")
_PAIR = ["list", "docno"]
# Arguments that errors name.
_ARGUMENTS = (
    ", and subtopic='max' takes the highest label",
    *(", as duplicates='max' does", ", or give duplicates='max' or duplicates='first'"),
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
                ". If the second column holds subtopics (diversity judgments), ir_measures has "
                "alpha-nDCG{, and subtopic='max' takes the highest label}; if it holds groups of "
                "assessors (qrels_jg), keep one label{, as duplicates='max' does}{, of read_qrels}."
            )
        elif one["label"] != other["label"]:
            rest = (
                f", with the labels {one['label']:g} and {other['label']:g}; keep one of them"
                "{, or give duplicates='max' or duplicates='first'}{, to read_qrels}."
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


def folded(rows):
    """Return each pair of query and document once, and its label in each drawn set.

    Parameters
    ----------
    rows : DocumentPairs
        Judgments, with drawn label sets or without.

    Returns
    -------
    rows : DocumentPairs
        Without sets the same. Else a row for each pair; a drawn label is NaN, since nobody judged
        the document.
    labels : ndarray of shape (n_draws, n_pairs), or None
        Label of these pairs in each set.

    Raises
    ------
    ValueError
        If there are fewer than two draws, draws are not numbered from 0 on, a document lacks a
        label in some draw or has labels with and without a draw, or labels are a sample.
    """
    if rows.draws is None:
        return rows, None
    if is_sample(rows.values, rows.probabilities):
        raise InputError(
            "{qrels} holds drawn label sets (column 'draw') and labels with an inclusion "
            "probability below 1: take one of the two. Drop the column 'inclusion_probability' to "
            "use the sets.",
            argument="qrels",
        )
    is_drawn = rows.draws >= 0
    draws = rows.draws[is_drawn]
    numbers = np.unique(draws)
    n_draws = len(numbers)
    if n_draws < 2 or numbers[-1] != n_draws - 1:
        raise InputError(
            "{qrels} must hold at least two drawn label sets, numbered 0, 1, 2, ... in the column "
            f"'draw', got {counted(n_draws, 'draw')}: {brief(numbers.tolist())}. Write all sets "
            "into one table, or leave out the column 'draw' of a single set.",
            argument="qrels",
        )
    pairs, first = _numbered(rows)
    n_of_each = np.bincount(pairs[is_drawn], minlength=len(first))
    is_common = np.bincount(pairs[~is_drawn], minlength=len(first)) > 0
    if (is_both := is_common & (n_of_each > 0)).any():
        raise InputError(
            f"{_named(rows, first[is_both.argmax()])} has a drawn label, and one that holds in "
            "every set (empty 'draw'): keep one of the two."
        )
    if (is_short := ~is_common & (n_of_each < n_draws)).any():
        pair = int(is_short.argmax())
        raise InputError(
            f"{_named(rows, first[pair])} has a drawn label in {n_of_each[pair]} of {n_draws} "
            "draws: each needs one in every draw, or one without a draw."
        )
    if (is_empty := is_drawn & np.isnan(rows.values)).any():
        row = int(is_empty.argmax())
        raise InputError(
            f"{_named(rows, row)} has no label in draw {rows.draws[row]}: each drawn document "
            "needs one in every draw."
        )
    labels = np.empty((n_draws, len(first)))
    labels[:, pairs[~is_drawn]] = rows.values[~is_drawn]
    labels[draws, pairs[is_drawn]] = rows.values[is_drawn]
    values = np.where(is_common, labels[0], np.nan)
    return rows.take(first)._replace(values=values, probabilities=None), labels


def _numbered(rows):
    """Number the pairs of query and document; return each row's number, and first rows."""
    salt = 0
    while True:
        pairs, distinct = pd.factorize(pair_keys(rows.codes, rows.docnos, salt))
        first = np.empty(len(distinct), dtype=np.intp)
        first[pairs[::-1]] = np.arange(len(pairs))[::-1]
        same = first[pairs]
        is_same = rows.codes[same] == rows.codes
        # Different pairs may have equal hashes, which another salt changes.
        if is_same.all() and rows.docnos.take(same).equal(rows.docnos).all():
            return pairs, first
        salt += 1 << 32


def _named(rows, row):
    (document,) = rows.docnos.take([row]).tolist()
    return f"document {brief(document)} of query {brief(rows.queries[rows.codes[row]])}"
