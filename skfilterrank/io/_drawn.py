"""Tables of drawn label sets: labels that nobody made, drawn several times."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._files.files import is_path, read_bytes
from skfilterrank._files.forms import LINES, form_of
from skfilterrank._lists.gains import is_sample
from skfilterrank._lists.results import counted
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io._pairs import DocumentPairs, pair_keys
from skfilterrank.io._read import mark_as_said, qrels_frame, qrels_rows

_DRAW = "draw"


@dataclass(frozen=True, eq=False)
class DrawnLabelSets:
    """Labels that hold in every set once, and drawn labels of the other documents.

    Attributes
    ----------
    common : DataFrame of shape (n_common, 3 to 5)
        The rows that hold in every set, as :func:`read_qrels` returns them, without "draw".
    drawn : DataFrame of shape (n_drawn, 2)
        "qid" and "docno" of the documents with drawn labels, in the order of the table.
    labels : ndarray of shape (n_draws, n_drawn), dtype float64
        Their label in each set.
    """

    common: pd.DataFrame
    drawn: pd.DataFrame
    labels: np.ndarray

    def qrels_of(self, draw: int) -> pd.DataFrame:
        """Return "qid", "docno" and "label" of all documents in one set."""
        columns = ["qid", "docno", "label"]
        qrels = pd.concat(
            [self.common[columns], self.drawn.assign(label=self.labels[draw])], ignore_index=True
        )
        qrels.attrs = dict(self.common.attrs)
        return qrels


def drawn_label_sets(qrels, *, unjudged_label: float | str | None = "warn"):
    """Return the drawn label sets of judgments; None if the judgments hold no drawn labels.

    Parameters
    ----------
    qrels : path, data frame or other judgments
        Judgments in a form that :func:`read_qrels` takes. Judgments with a column "draw" hold drawn
        label sets. Open files are not looked into.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels that mean unjudged, as in :func:`read_qrels`.

    Returns
    -------
    DrawnLabelSets or None
        The sets.

    Raises
    ------
    ValueError
        If there are fewer than two draws, draws are not numbered from 0 on, a document lacks a
        label in some draw, or has labels with and without a draw.
    """
    if not _may_have_draws(qrels):
        return None
    said = {"unjudged_label": unjudged_label, "predicted": "use"}
    rows, labels = folded(qrels_rows(qrels, may_have_draws=True, **said))
    if labels is None or rows.draws is None:
        return None
    table, is_drawn = qrels_frame(rows).drop(columns=_DRAW), rows.draws >= 0
    common = mark_as_said(table[~is_drawn].reset_index(drop=True))
    drawn = table.loc[is_drawn, ["qid", "docno"]].reset_index(drop=True)
    return DrawnLabelSets(common, drawn, labels[:, is_drawn])


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
        As :func:`drawn_label_sets`.
    """
    if rows.draws is None:
        return rows, None
    if is_sample(rows.values, rows.probabilities):
        raise InputError(
            "qrels holds drawn label sets (column 'draw') and labels with an inclusion probability "
            "below 1: take one of the two. Drop the column 'inclusion_probability' to use the sets."
        )
    is_drawn = rows.draws >= 0
    draws = rows.draws[is_drawn]
    numbers = np.unique(draws)
    n_draws = len(numbers)
    if n_draws < 2 or numbers[-1] != n_draws - 1:
        raise InputError(
            "qrels must hold at least two drawn label sets, numbered 0, 1, 2, ... in the column "
            f"'draw', got {counted(n_draws, 'draw')}: {brief(numbers.tolist())}. Write all sets "
            "into one table, or leave out the column 'draw' of a single set."
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
    labels = np.empty((n_draws, len(first)))
    labels[:, pairs[~is_drawn]] = rows.values[~is_drawn]
    labels[draws, pairs[is_drawn]] = rows.values[is_drawn]
    return rows._replace(
        codes=rows.codes[first],
        docnos=rows.docnos.take(first),
        values=np.where(is_common, labels[0], np.nan),
        probabilities=None,
        judges=rows.judges and rows.judges._replace(codes=rows.judges.codes[first]),
        draws=rows.draws[first],
    ), labels


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


def _may_have_draws(qrels) -> bool:
    """Tell whether judgments may have a column of draws, without parsing files of TREC lines."""
    if is_path(qrels):
        content = read_bytes(qrels).removeprefix(b"\xef\xbb\xbf")
        return _DRAW.encode() in content and form_of(content) != LINES
    # Arrow tables have `column_names`, data frames of pandas and polars `columns`.
    return _DRAW in getattr(qrels, "column_names", getattr(qrels, "columns", ()))
