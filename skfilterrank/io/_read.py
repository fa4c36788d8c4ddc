"""Readers of judgments and runs in any form."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from skfilterrank._files.files import is_path, read_bytes, source_name
from skfilterrank._files.forms import (
    LINES,
    ORDER,
    are_several_runs,
    as_table,
    errors_of,
    form_of,
    is_frame,
    n_columns,
    named_runs,
    read_form,
)
from skfilterrank._files.tokens import distinct_column, text_column
from skfilterrank._lists.checks import check_choice, is_finite_number
from skfilterrank._lists.results import counted
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, InputError, InputTypeError, brief
from skfilterrank.io._columns import MS_MARCO_RUN, PRELS, QRELS, RUN, TrecLines
from skfilterrank.io._pairs import (
    DocumentPairs,
    Table,
    qrels_rows_of,
    run_rows_of,
    scores_of,
)

# Choices of `predicted`.
_WAYS = ("warn", "use", "drop")
# Largest number of counts in a message.
_MOST = 5
# Attribute of frames whose labels need no warning.
_SAID, _SAID_OF_MACHINES = "unjudged_label", "predicted"
# Content of a layout, and the value of a row.
_KINDS = {
    QRELS: ("judgments", "label"),
    PRELS: ("judgments of a sample", "label"),
    RUN: ("a run", "score"),
}


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
        Use of the labels that a machine gave, as the judgments say: they count, with a warning
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
        that is not a finite number, a document that is twice in a query, bytes that are not UTF-8,
        a file without lines, a damaged packed file. What a file looks like that is none of
        judgments is named.
    ImportError
        Parquet or Arrow without pyarrow, zstd without zstandard.

    Warns
    -----
    DataWarning
        For labels below 0 whose meaning was not passed; for labels of machines.

    See Also
    --------
    write_qrels : Write such a file.
    align : Join judgments with a run.

    Notes
    -----
    Columns of TREC's format stand between blanks, any number of them: space, tab, vertical tab and
    form feed, as in trec_eval. Blank lines and lines that begin with "#" are skipped. Qrels of MS
    MARCO are of this format. Ids stay as they are written: "01" and "1" are two queries. The second
    column of a machine's label is "predicted" or "predicted:NAME"; whatever else stands there,
    people judged.

    Other files are tables: CSV, TSV or columns between single spaces whose first line names the
    columns, as that of BEIR does; JSON lines, a JSON list of objects, Parquet and Arrow; and a
    JSON object ``{query: {document: label}}``. Columns are "qid", "query_id", "topic", "query" and
    their like; "docno", "doc_id", "document_id", "passage_id", "pid" and their like; "label",
    "relevance" or "rel"; beside "corpus-id" or "q_id" a column "score" holds labels. A missing
    label is NaN: pooled, but not judged. A column "judged_by" is of the form of that which is
    returned, empty for people; a column "iteration" is the second one of TREC's format.

    In memory the same is a data frame of pandas or polars, an Arrow table, a dict of dicts, an
    object of ranx, or rows of ir_measures or ir_datasets, as a list or an iterator.

    The attribute `attrs` of the result marks its labels as settled: no other function warns of
    them again.

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
        # The gain of each label also settles the meaning of labels below 0.
        unjudged_label = None if unjudged_label == "warn" else unjudged_label
    said = {"unjudged_label": unjudged_label, "predicted": predicted}
    rows = qrels_rows(source, "source", gains=gains, **said)
    return mark_as_said(_qrels_frame(rows))


def qrels_rows(
    source, argument="qrels", *, unjudged_label="warn", predicted="warn", gains=None
) -> DocumentPairs:
    """Read judgments in any form."""
    unjudged_label = check_unjudged_label(unjudged_label)
    check_choice(predicted, "predicted", _WAYS)
    content = _opened(source, QRELS, argument)
    rows = qrels_rows_of(content, gains)
    return settled(rows, source, unjudged_label, predicted, content.name)


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
    content = _opened(source, PRELS, "source")
    rows = qrels_rows_of(content)
    if rows.probabilities is None:
        raise InputError(
            f"{content.name} has no column 'inclusion_probability', the probability with which "
            "each document was drawn to be judged."
        )
    return _qrels_frame(rows)


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
        or score that is not a number, NaN or +inf, a document that is twice in a query, bytes that
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
    Ids stay as they are written: "01" and "1" are two queries. Lines of three columns are those of
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


def read_runs(runs) -> dict[str, pd.DataFrame]:
    r"""Read runs into data frames, in all forms of a parameter `runs`.

    Parameters
    ----------
    runs : path, list of paths, or dict {name: path, open file, data frame or other run}
        The runs, each in any form that `read_run` takes. A folder stands for all files in it. Paths
        are named by their files' names without endings such as ".gz", ".txt" and ".parquet"; runs
        of ranx by their own names. A data frame, of pandas or polars, has the columns or index
        levels "qid" (or "query_id"), "docno" (or "doc_id") and "score".

    Returns
    -------
    frames : dict of str to DataFrame
        Columns "qid" and "docno", ids of data frames as they came, and "score" (float64), -inf
        where filtered.

    Raises
    ------
    ValueError, FileFormatError
        `runs` is anything else or empty, two files have one name, a column is missing, a row has
        no id, a score is NaN, +inf or no number; a note names the run.

    See Also
    --------
    read_run : One run.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_runs
    >>> read_runs({"bm25": io.StringIO("1 Q0 d7 1 12.5 x\n1 Q0 d2 2 11 x\n")})["bm25"]
      qid docno  score
    0   1    d7   12.5
    1   1    d2   11.0
    """
    frames = {}
    for name, run in named_runs(runs).items():
        with errors_of(name, run):
            frames[name] = _run_columns(run)
    return frames


def _run_columns(run):
    """Read the scores of a run, with unconverted columns of queries and documents."""
    if not is_frame(run):
        return run_frame(run, "run")[["qid", "docno", "score"]]
    table = Table(as_table(run, "score"), "run")
    scores = scores_of(table)
    columns = {name: table.column(name) for name in ("qid", "docno")}
    for name, column in columns.items():
        if (missing := column.isna().to_numpy()).any():
            what = f"no id in column {brief(name)}"
            table.fail(int(missing.argmax()), what, "; every row needs one.")
    return pd.DataFrame(columns | {"score": scores}, copy=False)


def run_frame(source, argument) -> pd.DataFrame:
    """Read a run in any form as a data frame."""
    content = _opened(source, RUN, argument, also=("rank",))
    rows = run_rows_of(content)
    columns = {"qid": distinct_column(rows.codes, rows.queries), "docno": text_column(rows.docnos)}
    if isinstance(content, Table):
        others = {name: content.column(name) for name in ("rank", "run") if content.has(name)}
    else:
        others = {"rank": _whole_numbers(content.numbers("rank", "the rank"))}
        if content.layout is RUN:
            others["run"] = distinct_column(*content.words("run"))
    columns |= others | {"score": rows.values}
    names = [name for name in ("qid", "docno", "rank", "score", "run") if name in columns]
    return pd.DataFrame({name: columns[name] for name in names})


def run_rows(source) -> DocumentPairs:
    """Read a run in any form."""
    return run_rows_of(_opened(source, RUN, "run"))


def _qrels_frame(rows):
    """Make a data frame of judgments, with probabilities and judges if present."""
    columns = {
        "qid": distinct_column(rows.codes, rows.queries),
        "docno": text_column(rows.docnos),
        "label": _whole_numbers(rows.values),
    }
    if rows.probabilities is not None:
        columns["inclusion_probability"] = rows.probabilities
    if rows.judges is not None:
        columns["judged_by"] = distinct_column(rows.judges.codes, rows.judges.names)
    return pd.DataFrame(columns)


def _whole_numbers(values):
    """Convert values to int64 if all are integers."""
    # Beyond 2**53, float64 does not represent every integer.
    is_whole = (np.floor(values) == values) & (np.abs(values) <= 2**53)
    return values.astype(np.int64) if is_whole.all() else values


def _of_the_other_role(source, value):
    """Describe an argument in the wrong role (runs or judgments); else None."""
    name = type(source).__name__
    if value == "score":
        is_other = name in ("Qrels", "QrelsIndex")  # the first is of ranx
        return f"judgments ({name})" if is_other else None
    if name in ("AlignedRun", "RankedPool") or (name == "Run" and hasattr(source, "to_dict")):
        return f"runs ({name})"
    return f"several runs ({name})" if are_several_runs(source) else None


def _opened(source, layout, argument, *, also=()) -> TrecLines | Table:
    """Read the rows of a path, an open file, a data frame or any other object."""
    what, value = _KINDS[layout]
    if got := _of_the_other_role(source, value):
        raise InputTypeError(f"{argument} must be {what}, got {got}: {ORDER}")
    if not is_path(source) and not hasattr(source, "read"):
        frame = as_table(source, value)
        if frame is None:
            got = brief(source) if isinstance(source, Mapping) else type(source).__name__
            raise InputTypeError(
                f"{argument} must be a data frame, a path or an open file, got {got}. A dict "
                f"{{query: {{document: {value}}}}}, an Arrow table and the objects of ranx, "
                "ir_measures and ir_datasets are taken too."
            )
        return Table(frame, argument)
    name = source_name(source)
    content = read_bytes(source).removeprefix(b"\xef\xbb\xbf")
    width = n_columns(content)
    if layout is RUN and not width:
        # An empty run is valid: a filter may hide every document.
        return Table(pd.DataFrame({"qid": [], "docno": [], "score": []}), name, lambda row: None)
    form = form_of(content)
    if form != LINES:
        frame, line_of = read_form(form, content, name)
        return Table(frame, name, line_of)
    if layout is RUN and width == len(MS_MARCO_RUN.names):
        return TrecLines(content, name, MS_MARCO_RUN, MS_MARCO_RUN.names)
    wanted = {"qid", "iteration", "docno", "label", "inclusion_probability", "score", "run", *also}
    return TrecLines(content, name, layout, wanted)


def check_unjudged_label(label):
    """Check the value of `unjudged_label`."""
    if label is None or (isinstance(label, str) and label in ("warn", "trec")):
        return label
    if not is_finite_number(label):
        raise InputError(
            "unjudged_label must be the label that means unjudged, 'trec' for all labels below 0, "
            f"or None where every label is a judgment, got {brief(label)}."
        )
    return float(label)


def mark_as_said(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark a frame so that no other function warns of its labels."""
    frame.attrs[_SAID] = True
    if "judged_by" in frame:
        # The mark is set only here, so that labels that are changed later cause the warning.
        frame.attrs[_SAID_OF_MACHINES] = True
    return frame


def settled(rows, source, unjudged_label, predicted, name):
    """Apply `unjudged_label` and `predicted` to judgments, with warnings for "warn"."""
    said = getattr(source, "attrs", {})
    if unjudged_label == "warn" and _SAID not in said:
        _warn_of_labels_below_0(rows.values, name)
    elif unjudged_label not in ("warn", None):
        labels = rows.values
        is_unjudged = labels < 0 if unjudged_label == "trec" else labels == unjudged_label
        rows = rows._replace(values=np.where(is_unjudged, np.nan, labels))
    machines = {} if rows.judges is None else rows.judges.counts(rows.values)
    if machines and predicted == "drop":
        values = np.where(rows.judges.is_machine, np.nan, rows.values)
        return rows._replace(values=values, judges=None)
    if machines and predicted == "warn" and _SAID_OF_MACHINES not in said:
        n_labels = int(np.count_nonzero(~np.isnan(rows.values)))
        warn_user(
            f"{name} holds {counted(n_labels, 'label')}, of which machines gave "
            f"{sum(machines.values()):,} ({_shown(machines)}); they count like people's, and "
            "values from them may be far off. Say predicted 'use' where this is meant, 'drop' to "
            "take them for not judged; a sample of people's labels gives values with intervals "
            "(skfilterrank.judgments).",
            DataWarning,
        )
    return rows


def _warn_of_labels_below_0(labels, name):
    """Warn if labels below 0 may mean forbidden or unjudged."""
    below, counts = np.unique(labels[labels < 0], return_counts=True)
    if len(below):
        shown = _shown({f"{label:g}": n for label, n in zip(below[::-1], counts[::-1])})
        warn_user(
            f"{name} holds labels below 0 ({shown}), which are taken for forbidden documents. To "
            "trec_eval they are pooled documents that nobody judged, which changes values such as "
            "bpref, infAP and nDCG. Say unjudged_label=None where they are forbidden, 'trec' where "
            "they are not judged, or the one label that means unjudged, to read_qrels or "
            "QrelsIndex, whose result every function takes.",
            DataWarning,
        )


def _shown(counts):
    """Return the first of some counts by name, as text."""
    shown = [f"{name}: {n:,}" for name, n in counts.items()]
    return ", ".join(shown[:_MOST]) + (", ..." if len(shown) > _MOST else "")
