"""Tables of drawn label sets: labels that nobody made, drawn several times."""

import numpy as np
import pandas as pd

from skfilterrank._base.results import counted
from skfilterrank._lists.gains import is_sample
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io._pairs import DocumentPairs
from skfilterrank.io._repeats import pair_keys


def folded(rows: DocumentPairs) -> tuple[DocumentPairs, np.ndarray | None]:
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
