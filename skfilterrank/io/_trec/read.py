"""Judgments and runs in TREC format."""

import numpy as np
import pandas as pd

from skfilterrank._core.checks import check_number
from skfilterrank._files.text_columns import distinct_column, text_column
from skfilterrank.exceptions import brief
from skfilterrank.io._trec.decimals import parse_decimals
from skfilterrank.io._trec.lines import TrecLines
from skfilterrank.io._trec.pairs import Rows, find_repeated, pair_keys


def read_qrels(source, *, unjudged_label: float | None = None) -> pd.DataFrame:
    r"""Read judgments in TREC format, ``qid iteration docno label``.

    Parameters
    ----------
    source : str, PathLike or file object
        Where to read: UTF-8, plain or gzip. A handle may be open as text or binary.
    unjudged_label : float, default=None
        Label that marks a document as pooled but not judged, such as the -1 of trec_eval's infAP.
        It becomes NaN. By default every label is a judgment, as negative ones mean forbidden here.

    Returns
    -------
    qrels : DataFrame of shape (n_judgments, 3)
        Columns "qid" and "docno" (str) and "label", in the order of the file. Labels are int64
        where all are whole numbers, else float64. The second column of the file is left out.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line: another number of columns, a label
        that is not a finite number, a document that is twice in a topic, bytes that are not UTF-8,
        a file without lines, a damaged gzip file.

    See Also
    --------
    write_qrels : Write such a file.
    align : Join judgments with a run.

    Notes
    -----
    Columns stand between spaces or tabs, any number of them; blank lines are skipped. Ids stay as
    they are written: "01" and "1" are two topics.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_qrels
    >>> read_qrels(io.StringIO("1 0 d7 2\n1 0 d2 -1\n2 0 d7 0\n"))
      qid docno  label
    0   1    d7      2
    1   1    d2     -1
    2   2    d7      0
    """
    unjudged = check_unjudged_label(unjudged_label)
    lines = TrecLines(source, 4, (0, 2, 3))
    codes, topics = lines.column(0).factorize()
    docnos = lines.column(2)
    _check_unique(lines, codes, topics, docnos)
    labels = lines.numbers(3, "a label")
    if not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        lines.fail(
            f"a label must be a finite number, got {labels[row]}; for documents that nobody "
            "judged, write some number and name it as the unjudged label.",
            row,
        )
    if unjudged is not None:
        labels[labels == unjudged] = np.nan
    return pd.DataFrame(
        {
            "qid": distinct_column(codes, topics),
            "docno": text_column(docnos),
            "label": _whole_numbers(labels),
        }
    )


def read_prels(source) -> pd.DataFrame:
    r"""Read judgments of a sample, ``qid docno label method inclusion_probability``.

    The format of TREC's Million Query tracks, for average precision estimated by statAP.

    Parameters
    ----------
    source : str, PathLike or file object
        Where to read: UTF-8, plain or gzip. A handle may be open as text or binary.

    Returns
    -------
    prels : DataFrame of shape (n_judgments, 4)
        Columns "qid", "docno" (str), "label" and "inclusion_probability" (float64), in the order
        of the file. Labels are int64 where all are whole numbers. The column that says by which
        method a document was chosen is left out.

    Raises
    ------
    FileFormatError
        As `read_qrels`; also for a probability that is not above 0 and at most 1.

    See Also
    --------
    read_qrels : Judgments without probabilities.
    align : Join judgments with a run; the result carries the probabilities along.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_prels
    >>> read_prels(io.StringIO("10 d7 2 1 0.25\n10 d2 0 1 1.0\n"))
      qid docno  label  inclusion_probability
    0  10    d7      2                   0.25
    1  10    d2      0                   1.00
    """
    lines = TrecLines(source, 5, (0, 1, 2, 4))
    codes, topics = lines.column(0).factorize()
    docnos = lines.column(1)
    _check_unique(lines, codes, topics, docnos)
    labels = lines.numbers(2, "a label")
    probabilities = lines.numbers(4, "an inclusion probability")
    for values, good, what in (
        (labels, np.isfinite(labels), "a label must be a finite number"),
        (
            probabilities,
            (probabilities > 0) & (probabilities <= 1),
            "an inclusion probability must be above 0 and at most 1",
        ),
    ):
        if not good.all():
            row = int(np.argmin(good))
            lines.fail(f"{what}, got {values[row]}.", row)
    return pd.DataFrame(
        {
            "qid": distinct_column(codes, topics),
            "docno": text_column(docnos),
            "label": _whole_numbers(labels),
            "inclusion_probability": probabilities,
        }
    )


def read_run(source) -> pd.DataFrame:
    r"""Read a retrieval run in TREC format, ``qid Q0 docno rank score run``.

    Parameters
    ----------
    source : str, PathLike or file object
        Where to read: UTF-8, plain or gzip. A handle may be open as text or binary.

    Returns
    -------
    run : DataFrame of shape (n_rows, 5)
        Columns "qid" and "docno" (str), "rank" (int64; str where some rank is not a whole number),
        "score" (float64) and "run" (str), in the order of the file. The second column of the file
        is left out.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line: another number of columns, a score
        that is not a number, NaN or +inf, a document that is twice in a topic, bytes that are not
        UTF-8, a file without lines, a damaged gzip file.

    See Also
    --------
    write_run : Write such a file.
    align : Join a run with judgments.

    Notes
    -----
    As in trec_eval, scores decide the order, higher first; the rank column is carried along and
    used by nothing. A score of -inf says that the document is filtered out.

    Columns stand between spaces or tabs, any number of them; blank lines are skipped. Ids stay as
    they are written: "01" and "1" are two topics.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_run
    >>> read_run(io.StringIO("1 Q0 d7 1 12.5 bm25\n1 Q0 d2 2 11 bm25\n"))
      qid docno  rank  score   run
    0   1    d7     1   12.5  bm25
    1   1    d2     2   11.0  bm25
    """
    lines = TrecLines(source, 6, (0, 2, 3, 4, 5))
    codes, topics, docnos, scores = _ranked_rows(lines)
    _check_unique(lines, codes, topics, docnos)
    return pd.DataFrame(
        {
            "qid": distinct_column(codes, topics),
            "docno": text_column(docnos),
            "rank": _ranks(lines.column(3)),
            "score": scores,
            "run": distinct_column(*lines.column(5).factorize()),
        }
    )


def run_rows(source) -> Rows:
    """Rows of a run without a data frame around them."""
    lines = TrecLines(source, 6, (0, 2, 4, 5))
    codes, topics, docnos, scores = _ranked_rows(lines)
    _check_unique(lines, codes, topics, docnos)
    names = lines.column(5).factorize()[1]
    return Rows(topics, codes, docnos, scores, names[0] if len(names) == 1 else None)


def check_unjudged_label(label):
    """None, or the label that stands for a missing one."""
    if label is None:
        return None
    return check_number(label, "unjudged_label")


def _ranked_rows(lines):
    """Topics, documents and scores of the lines of a run."""
    scores = lines.numbers(4, "a score")
    highest = scores.max()
    if not highest < np.inf:
        bad = np.isnan(scores) | (scores == np.inf)
        row = int(bad.argmax())
        lines.fail(
            f"a score must be finite, or -inf for a document that is filtered out, got "
            f"{scores[row]}; repair the model that gave it.",
            row,
        )
    codes, topics = lines.column(0).factorize()
    return codes, topics, lines.column(2), scores


def _check_unique(lines, codes, topics, docnos):
    """Raise on the first document that is a second time in its topic, as trec_eval does."""
    repeated = find_repeated(codes, docnos, pair_keys(codes, docnos))
    if repeated is not None:
        row, before = repeated
        docno = docnos.take([row]).tolist()[0]
        lines.fail(
            f"document {brief(docno)} is a second time in topic {brief(topics[codes[row]])} "
            f"(first in line {lines.line_of(before)}); keep one of the two lines.",
            row,
        )


def _ranks(tokens):
    """Ranks as integers where all are, else as they are written."""
    values, _ = parse_decimals(tokens)
    ranks = _whole_numbers(values)
    return ranks if ranks.dtype == np.int64 else text_column(tokens)


def _whole_numbers(values):
    """The values as int64 where this changes none of them."""
    # Beyond 2**53 float64 does not tell neighbours apart.
    is_whole = (np.floor(values) == values) & (np.abs(values) <= 2**53)
    return values.astype(np.int64) if is_whole.all() else values
