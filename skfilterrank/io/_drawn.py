"""Tables of drawn label sets: labels that nobody made, drawn several times."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._files.files import is_path, read_bytes
from skfilterrank._files.forms import LINES, form_of
from skfilterrank._lists.results import counted
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io._read import read_qrels

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
    table = read_qrels(qrels, unjudged_label=unjudged_label, predicted="use")
    if _DRAW not in table:
        return None
    draws = table[_DRAW].fillna(-1).to_numpy(dtype=np.int64)
    is_common = draws < 0
    common = table[is_common].drop(columns=_DRAW).reset_index(drop=True)
    rows = table[~is_common]
    draws = draws[~is_common]
    numbers = np.unique(draws)
    n_draws = len(numbers)
    if n_draws < 2 or numbers[-1] != n_draws - 1:
        raise InputError(
            "qrels must hold at least two drawn label sets, numbered 0, 1, 2, ... in the column "
            f"'draw', got {counted(n_draws, 'draw')}: {brief(numbers.tolist())}. Write all sets "
            "into one table, or leave out the column 'draw' of a single set."
        )
    pairs = pd.MultiIndex.from_frame(rows[["qid", "docno"]])
    codes, drawn = pairs.factorize()
    if len(rows) != n_draws * len(drawn):
        code = int(np.argmax(np.bincount(codes) != n_draws))
        there = draws[codes == code]
        query, document = drawn[code]
        raise InputError(
            f"document {brief(document)} of query {brief(query)} has a drawn label in "
            f"{len(there)} of {n_draws} draws: each needs one in every draw, or one without a draw."
        )
    judged = pd.MultiIndex.from_frame(common[["qid", "docno"]])
    if (is_both := drawn.isin(judged)).any():
        query, document = drawn[int(is_both.argmax())]
        raise InputError(
            f"document {brief(document)} of query {brief(query)} has a drawn label, and one that "
            "holds in every set (empty 'draw'): keep one of the two."
        )
    labels = np.empty((n_draws, len(drawn)))
    labels[draws, codes] = rows["label"].to_numpy(dtype=np.float64)
    return DrawnLabelSets(common, drawn.to_frame(index=False, name=["qid", "docno"]), labels)


def _may_have_draws(qrels) -> bool:
    """Tell whether judgments may have a column of draws, without parsing files of TREC lines."""
    if is_path(qrels):
        content = read_bytes(qrels).removeprefix(b"\xef\xbb\xbf")
        return _DRAW.encode() in content and form_of(content) != LINES
    # Arrow tables have `column_names`, data frames of pandas and polars `columns`.
    return _DRAW in getattr(qrels, "column_names", getattr(qrels, "columns", ()))
