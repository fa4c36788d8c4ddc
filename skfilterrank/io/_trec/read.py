"""Judgments and runs in any form, of which that of TREC is read the fastest."""

import re

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import as_floats, as_number_array
from skfilterrank._files.run_folders import StoredRun, as_stored
from skfilterrank._files.text_columns import distinct_column, text_column
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, brief
from skfilterrank.io._trec.frames import (
    Table,
    columns_of,
    qrels_rows_of_table,
    run_rows_of_table,
)
from skfilterrank.io._trec.gains import ADVICE, check_gains_of_texts, gains_of_texts
from skfilterrank.io._trec.judges import judges_of_iterations, settle_predicted
from skfilterrank.io._trec.lines import MS_MARCO_RUN, PRELS, QRELS, RUN, TrecLines
from skfilterrank.io._trec.pairs import Rows, find_repeated, pair_keys
from skfilterrank.io._trec.sources import opened
from skfilterrank.io._trec.unjudged import (
    mark_as_said,
    mark_unjudged,
    said_of,
    said_of_machines,
)


def read_qrels(
    source,
    *,
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
    gains: dict | None = None,
) -> pd.DataFrame:
    r"""Read judgments, in TREC format (``qid iteration docno label``) or any other form.

    Parameters
    ----------
    source : str, PathLike, file object, data frame, dict or other object
        Where to read: UTF-8, plain or packed (gzip, bzip2, xz, zstd); a handle may be open as text
        or binary. Or judgments in memory. The form is told from the content, see Notes.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels that mark a document as pooled but not judged, and become NaN. None: none does, and
        labels below 0 mean forbidden. A number: this one does, such as the -1 of trec_eval's infAP.
        "trec": all labels below 0 do, as in trec_eval. "warn" is None, with a warning where labels
        below 0 occur.
    predicted : {"warn", "use", "drop"}, default="warn"
        What becomes of labels that a machine gave, as the judgments say: they count, with a warning
        or without one; or their documents are pooled, but not judged (NaN).
    gains : dict or None, default=None
        Gain of each label, by its text or number; the column "label" holds the gains. It reads
        labels that are texts, such as "Bad", for which a gain of NaN means unjudged. None reads
        numbers as they are.

    Returns
    -------
    qrels : DataFrame of shape (n_judgments, 3 to 5)
        Columns "qid" and "docno" (str) and "label", in the order of the file. Labels are int64
        where all are whole numbers, else float64. A table's column "inclusion_probability" is the
        fourth. The last is "judged_by" (str), where some label is said to be a machine's, or a
        table has this column: "people", or the name of the machine, "predicted" where it has none.
        Other columns are left out.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line: another number of columns, a label
        that is not a finite number, a document that is twice in a topic, bytes that are not UTF-8,
        a file without lines, a damaged packed file. What a file looks like that is none of
        judgments is named.
    ImportError
        Parquet or Arrow without pyarrow, zstd without zstandard.

    Warns
    -----
    DataWarning
        For labels below 0 of which it was not said what they mean; for labels of machines.

    See Also
    --------
    write_qrels : Write such a file.
    align : Join judgments with a run.

    Notes
    -----
    Columns of TREC's format stand between blanks, any number of them: space, tab, vertical tab and
    form feed, as in trec_eval. Blank lines and lines that begin with "#" are skipped. Qrels of MS
    MARCO are of this format. Ids stay as they are written: "01" and "1" are two topics. The second
    column of a machine's label is "predicted" or "predicted:NAME"; whatever else stands there,
    people judged.

    Other files are tables: CSV, TSV or columns between single spaces whose first line names the
    columns, as that of BEIR does; JSON lines, a JSON list of objects, Parquet and Arrow; and a
    JSON object ``{topic: {document: label}}``. Columns are "qid", "query_id", "topic", "query" and
    their like; "docno", "doc_id", "document_id", "passage_id", "pid" and their like; "label",
    "relevance" or "rel"; beside "corpus-id" or "q_id" a column "score" holds labels. A missing
    label is NaN: pooled, but not judged. A column "judged_by" is of the form of that which is
    returned, empty for people; a column "iteration" is the second one of TREC's format.

    In memory the same is a data frame of pandas or polars, an Arrow table, a dict of dicts, an
    object of ranx, or rows of ir_measures or ir_datasets, as a list or an iterator.

    The attribute `attrs` of the result says that its labels have been asked about, and no other
    function warns of them again.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_qrels
    >>> read_qrels(io.StringIO("1 0 d7 2\n1 0 d2 -1\n2 0 d7 0\n"), unjudged_label=None)
      qid docno  label
    0   1    d7      2
    1   1    d2     -1
    2   2    d7      0
    >>> read_qrels(io.StringIO("query-id\tcorpus-id\tscore\n1\td7\t2\n"))
      qid docno  label
    0   1    d7      2
    >>> read_qrels(io.StringIO("1 0 d7 Good\n1 0 d2 Bad\n"), gains={"Good": 1, "Bad": -1})
      qid docno  label
    0   1    d7      1
    1   1    d2     -1
    >>> read_qrels({"1": {"d7": 2}})
      qid docno  label
    0   1    d7      2
    >>> read_qrels(io.StringIO("1 0 d7 2\n1 predicted:large d2 1\n"), predicted="use")
      qid docno  label judged_by
    0   1    d7      2    people
    1   1    d2      1     large
    """
    if gains is not None:
        # Whoever names the gain of each label says what labels below 0 mean.
        unjudged_label = None if unjudged_label == "warn" else unjudged_label
        check_gains_of_texts(gains)
    said = {"unjudged_label": unjudged_label, "predicted": predicted}
    rows = qrels_rows(source, "source", gains=gains, **said)
    return mark_as_said(_qrels_frame(rows))


def qrels_rows(
    source, argument="qrels", *, unjudged_label="warn", predicted="warn", gains=None
) -> Rows:
    """Rows of judgments in any form."""
    unjudged = said_of(source, unjudged_label)
    predicted = said_of_machines(source, predicted)
    content = opened(source, QRELS, argument)
    if isinstance(content, Table):
        rows = qrels_rows_of_table(content, gains)
    else:
        rows = _rows_of_qrels(content, gains)
    name = content.name or argument
    rows = rows._replace(values=mark_unjudged(rows.values, unjudged, name))
    return settle_predicted(rows, predicted, name)


def _rows_of_qrels(lines, gains):
    """Rows of lines of judgments."""
    codes, topics, docnos = _pairs(lines)
    if gains is not None:
        labels = gains_of_texts(*lines.column("label").factorize(), gains, lines.name)
    else:
        try:
            labels = lines.numbers("label", "a label")
        except FileFormatError as error:
            error.add_note(ADVICE)
            raise
    if gains is None and not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        lines.fail(
            f"a label must be a finite number, got {labels[row]}; for documents that nobody "
            "judged, write some number and name it as the unjudged label.",
            row,
        )
    iterations = lines.column("iteration")
    # Nearly all files have one word throughout.
    if iterations.repeats().all():
        iterations = iterations.take([0])
    judges = judges_of_iterations(*iterations.factorize())
    if judges is not None and len(iterations) < len(labels):
        judges = judges._replace(codes=np.repeat(judges.codes, len(labels)))
    return Rows(topics, codes, docnos, labels, judges=judges)


def read_prels(source) -> pd.DataFrame:
    r"""Read judgments of a sample, ``qid docno label method inclusion_probability``.

    The format of TREC's Million Query tracks, for average precision estimated by statAP.

    Parameters
    ----------
    source : str, PathLike, file object, data frame or other object
        As in `read_qrels`; a table has a column "inclusion_probability".

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
    write_prels : Write such a file.
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
    content = opened(source, PRELS, "source")
    rows = (
        _rows_of_prels(content) if isinstance(content, TrecLines) else qrels_rows_of_table(content)
    )
    if rows.probabilities is None:
        raise InputError(
            f"{content.name} has no column 'inclusion_probability', the probability with which "
            "each document was drawn to be judged."
        )
    return _qrels_frame(rows)


def _qrels_frame(rows):
    """Judgments as a data frame, with probabilities and judges where there are any."""
    columns = {
        "qid": distinct_column(rows.codes, rows.topics),
        "docno": text_column(rows.docnos),
        "label": _whole_numbers(rows.values),
    }
    if rows.probabilities is not None:
        columns["inclusion_probability"] = rows.probabilities
    if rows.judges is not None:
        columns["judged_by"] = distinct_column(rows.judges.codes, rows.judges.names)
    return pd.DataFrame(columns)


def _rows_of_prels(lines):
    """Rows of lines of judgments with probabilities."""
    codes, topics, docnos = _pairs(lines)
    labels = lines.numbers("label", "a label")
    probabilities = lines.numbers("inclusion_probability", "an inclusion probability")
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
    return Rows(topics, codes, docnos, labels, probabilities=probabilities)


def read_run(source) -> pd.DataFrame:
    r"""Read a retrieval run, in TREC format (``qid Q0 docno rank score run``) or any other form.

    Parameters
    ----------
    source : str, PathLike, file object, data frame, dict or other object
        Where to read: UTF-8, plain or packed (gzip, bzip2, xz, zstd); a handle may be open as text
        or binary. Or a run in memory. The form is told from the content, see Notes.

    Returns
    -------
    run : DataFrame of shape (n_rows, 3 to 5)
        Columns "qid" and "docno" (str), "rank" (int64; float64 where some rank is not whole),
        "score" (float64) and "run" (str), in the order of the file; "rank" and "run" where the
        source has them. The second column of TREC's format is left out.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line: another number of columns, a rank
        or score that is not a number, NaN or +inf, a document that is twice in a topic, bytes that
        are not UTF-8, a damaged packed file. The message names a file of another kind.
    ImportError
        Parquet or Arrow without pyarrow, zstd without zstandard.

    Warns
    -----
    DataWarning
        For a run without documents.

    See Also
    --------
    write_run : Write such a file.
    align : Join a run with judgments.

    Notes
    -----
    As in trec_eval, scores decide the order, higher first; the rank column is carried along and
    used by nothing in TREC format. A score of -inf says that the document is filtered out. In a
    table so does False in a column "shown" or "kept", and, where there is no such column, a rank
    of 0, unless all ranks count from 0: the score becomes -inf. A file without lines is a run that
    shows nothing, and is warned of.

    Columns stand between blanks, any number of them; blank lines and lines that begin with "#" are
    skipped, as in trec_eval 10. Blanks are those of trec_eval: space, tab, vertical tab and form
    feed; other control bytes are part of an id. Other than in trec_eval, a line has exactly six
    columns and the rank is a number, so that a blank within an id is an error and shifts no column.
    Ids stay as they are written: "01" and "1" are two topics. Lines of three columns are those of
    MS MARCO, ``qid docno rank``: there, as in a table with ranks and without scores, the score is
    the negative rank.

    Tables, JSON and objects in memory are taken in the forms that `read_qrels` knows, with scores
    in place of labels.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_run
    >>> read_run(io.StringIO("1\td7\t1\n1\td2\t2\n"))
      qid docno  rank  score
    0   1    d7     1   -1.0
    1   1    d2     2   -2.0
    >>> read_run(io.StringIO("1 Q0 d7 1 12.5 bm25\n1 Q0 d2 2 11 bm25\n"))
      qid docno  rank  score   run
    0   1    d7     1   12.5  bm25
    1   1    d2     2   11.0  bm25
    """
    return run_frame(source, "source")


def run_frame(source, argument) -> pd.DataFrame:
    """A run in any form as a data frame."""
    source = as_stored(source)
    content = opened(source, RUN, argument, also=("rank",))
    rows = _rows_of_run(content)
    columns = {"qid": distinct_column(rows.codes, rows.topics), "docno": text_column(rows.docnos)}
    if isinstance(content, Table):
        others = columns_of(content, (), optional=("rank", "run"), may_be_empty=True)
    else:
        others = {"rank": _whole_numbers(content.numbers("rank", "a rank"))}
        if content.layout is RUN:
            others["run"] = distinct_column(*content.column("run").factorize())
    columns |= others | {"score": rows.values}
    names = [name for name in ("qid", "docno", "rank", "score", "run") if name in columns]
    return pd.DataFrame({name: columns[name] for name in names})


def run_rows(source) -> Rows:
    """Rows of a run in any form."""
    source = as_stored(source)
    if isinstance(source, StoredRun):
        topics, codes, documents, scores, tag = source.rows()
        return Rows(topics, codes, documents, scores, tag)
    return _rows_of_run(opened(source, RUN, "run"))


def _rows_of_run(content):
    """Rows of lines or of a table."""
    if isinstance(content, Table):
        rows = run_rows_of_table(content)
        if not len(rows.values):
            warn_user(
                f"{content.name} holds no document: it is read as a run that shows nothing for "
                "any query. Write it again if no filter made it so.",
                DataWarning,
            )
        return rows
    scores = _scores(content)
    codes, topics, docnos = _pairs(content)
    if content.layout is not RUN:
        return Rows(topics, codes, docnos, scores)
    names = content.column("run")
    name = names.take([0]).tolist()[0] if names.repeats().all() else None
    return Rows(topics, codes, docnos, scores, name)


def _scores(lines):
    """Scores of the lines of a run; where it has ranks alone, the first has the highest."""
    if lines.layout is MS_MARCO_RUN:
        ranks = lines.numbers("rank", "a rank")
        wrong = ~((ranks >= 0) & (ranks % 1 == 0))
        if wrong.any():
            row = int(wrong.argmax())
            lines.fail(
                f"a rank must be a whole number, got {ranks[row]}: a run with 3 columns is one of "
                f"MS MARCO ({MS_MARCO_RUN.columns}); scores stand in runs with 6 ({RUN.columns}).",
                row,
            )
        return -ranks
    scores = lines.numbers("score", "a score")
    if not scores.max() < np.inf:
        bad = np.isnan(scores) | (scores == np.inf)
        row = int(bad.argmax())
        lines.fail(
            f"a score must be finite, or -inf for a document that is filtered out, got "
            f"{scores[row]}; repair the model that gave it.",
            row,
        )
    large = np.flatnonzero(np.isfinite(scores) & (np.abs(scores) >= 2**53))
    if len(large):
        # Beyond 2**53 float64 does not tell neighbours apart.
        texts = lines.column("score").take(large).tolist()
        whole = [int(text) for text in texts if re.fullmatch(r"[+-]?[0-9]{16,300}", text)]
        name = f"column 'score' of {lines.name}"
        as_floats(as_number_array(whole, name), name)
    return scores


def _pairs(lines):
    """Topics and documents of lines; a document that is twice in its topic is an error."""
    codes, topics = lines.column("topic").factorize()
    docnos = lines.column("docno")
    repeated = find_repeated(codes, docnos, pair_keys(codes, docnos))
    if repeated is not None:
        row, before = repeated
        docno = docnos.take([row]).tolist()[0]
        lines.fail(
            f"document {brief(docno)} is a second time in topic {brief(topics[codes[row]])} "
            f"(first in line {lines.line_of(before)}); keep one of the two lines.",
            row,
        )
    return codes, topics, docnos


def _whole_numbers(values):
    """The values as int64 where this changes none of them."""
    # Beyond 2**53 float64 does not tell neighbours apart.
    is_whole = (np.floor(values) == values) & (np.abs(values) <= 2**53)
    return values.astype(np.int64) if is_whole.all() else values
