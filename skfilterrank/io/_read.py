"""Readers of judgments and runs, from files of several formats and from objects in memory."""

import numbers
from collections.abc import Mapping

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_choice, is_finite_number
from skfilterrank._base.words import counted, warn_user
from skfilterrank._files.files import is_path, read_bytes, source_name
from skfilterrank._files.forms import (
    OF_SERIES,
    are_several_runs,
    as_table,
    errors_of,
    is_frame,
    named_runs,
    read_form,
    read_format,
)
from skfilterrank._files.kinds import (
    LINES,
    ORDER,
    ROLES,
    RUN,
    SEPARATORS,
    Role,
    advice_on_names,
    doubtful_queries,
    find_column,
    form_of,
    is_number,
    n_columns,
    roles_of,
    seems,
)
from skfilterrank._files.tables import SUFFIXES, format_of_name, text_ids
from skfilterrank._files.tokens import check_ids_given, distinct_column, text_column
from skfilterrank.exceptions import (
    DataWarning,
    FileFormatError,
    InputError,
    InputTypeError,
    brief,
    brief_list,
)
from skfilterrank.io._columns import TrecLines
from skfilterrank.io._pairs import (
    DocumentPairs,
    Table,
    hidden_by_rank,
    qrels_rows_of,
    run_rows_of,
    scores_of,
)
from skfilterrank.io._repeats import WAYS

# Choices of the parameter `predicted`.
_WAYS = ("warn", "use", "drop")
# Largest number of counts in a message.
_MOST = 5
# Keys in DataFrame.attrs. They mark data frames for which a warning about labels below 0 or about
# labels of machines is not needed any more.
_SAID, _SAID_OF_MACHINES = "unjudged_label", "predicted"
# Words for the expected file, by its column of values.
_EXPECTED = {"label": "judgments", "score": "a run"}
# Roles of columns of judged rows.
_JUDGED = ("qid", "label", "docno")


def read_qrels(
    source,
    *,
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
    gains: dict | None = None,
    columns: dict[str, str] | None = None,
    duplicates: str = "raise",
    subtopic: str | None = None,
) -> pd.DataFrame:
    r"""Read judgments, in TREC format (``qid iteration docno label``) or any other form.

    Judgments of a sample, ``qid docno label method inclusion_probability``, have this format in
    TREC's Million Query tracks.

    Parameters
    ----------
    source : str, PathLike, file object, data frame, dict or other object
        File to read, in UTF-8, plain or compressed (gzip, bzip2, xz, zstd); a file object may be
        open as text or binary. Alternatively, judgments in memory. The format is recognized from
        the content, see Notes.
    unjudged_label : None, float, "trec" or "warn", default="warn"
        Labels that mean "pooled, but not judged"; they become NaN. A number is one such label, such
        as -1 for trec_eval's infAP. "trec" treats all labels below 0 as unjudged, as trec_eval
        does. None treats no label as unjudged, so that labels below 0 mean forbidden. "warn" is
        like None, but warns if there are labels below 0.
    predicted : {"warn", "use", "drop"}, default="warn"
        Use of labels that a machine gave, according to the judgments. "use" treats them like labels
        of people, "warn" does so with a warning, and "drop" makes them unjudged (NaN).
    gains : dict or None, default=None
        Gain of each label, with texts or numbers as keys. The column "label" then holds the gains.
        Use it for labels that are texts, such as "Bad". A gain of NaN means unjudged. None reads
        numeric labels as they are.
    columns : dict or None, default=None
        Names of columns in a table by our names, such as ``{"qid": "question", "label": "grade"}``.
        None looks for the known names, see Notes. If a column is named, the others need sure names.
    duplicates : {"raise", "max", "first"}, default="raise"
        Treatment of a document that a query holds twice: "max" takes the highest label, and "first"
        the first one. "raise" is an error, but the same line twice counts once, with a warning.
    subtopic : None or "max", default=None
        Use of diversity judgments (``qid subtopic docno label``), in which a document has a label
        for each subtopic: "max" takes the highest one. None is an error if a document has several.

    Returns
    -------
    qrels : DataFrame of shape (n_judgments, 3 to 6)
        Columns "qid" and "docno" (str) and "label", with rows in the order of the file. Labels are
        int64 if all are whole numbers, else float64. A column "inclusion_probability" follows if
        the source has it. A column "judged_by" (str) follows if the source has it, or if some label
        comes from a machine: it holds "people", the name of the machine, or "predicted" for a
        machine without a name. A column "draw" (Int64) follows if the source has it, as tables of
        drawn label sets do (:func:`skfilterrank.judgments.complete_qrels`). Other columns are left
        out.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line: if the number of columns is wrong, a
        label is not a finite number, a probability is not above 0 and at most 1, a query holds a
        document twice, bytes are not UTF-8, the file has no lines, or a compressed file is damaged.
        If the file looks like another kind of file, the message says so.
    ImportError
        If pyarrow (for Parquet), openpyxl (for Excel) or zstandard (for zstd) is not installed.

    Warns
    -----
    DataWarning
        If there are labels below 0 and `unjudged_label` is "warn", labels of machines and
        `predicted` is "warn", or the same line twice.

    See Also
    --------
    write_qrels : Write such a file.
    align : Join judgments with a run.

    Notes
    -----
    TREC format: columns are separated by one or more blanks, which are space, tab, vertical tab and
    form feed, as in trec_eval. Blank lines and lines that begin with "#" are skipped. Qrels of MS
    MARCO have this format. Ids stay as they are written, so "01" and "1" are two queries. The
    second column is "predicted" or "predicted:NAME" for labels of machines; any other value means
    that people judged. Lines of five columns are a sample, with the probability with which each
    document was drawn; the column of the method of selection is left out.

    Other files are tables. CSV, TSV and files with single spaces between columns need the names of
    the columns in the first line, as files of BEIR have them. CSV of spreadsheets may have
    semicolons or vertical bars, decimal commas and rows of empty fields. JSON lines, JSON lists of
    objects, Parquet, Excel (one sheet, with openpyxl) and a JSON object ``{query: {document:
    label}}`` are read, too. Known names of columns, in any case and with blanks for "_", are "qid",
    "query_id", "topic", "question_id", "query" or "user"; "docno", "doc_id", "document_id",
    "passage_id", "pid" or "item"; "label", "relevance", "rel", "rating" or "grade"; and some
    variants of these. Two columns of one meaning are an error, unless one is called "qid", "docno"
    or "label", or may be a text, such as "query" beside "query_id". Doubtful names, such as
    "query", "user" and "item", count only if `columns` names nothing. In a table with "corpus-id"
    or "q_id", the column "score" holds labels. A missing label is NaN (pooled, but not judged). A
    column "judged_by" has the form that is described above, and may be empty for people. A column
    "iteration" is read like the second column of TREC format.

    In memory, judgments may be a data frame of pandas or polars, an Arrow table, a dict of dicts,
    an object of ranx, or rows of ir_measures or ir_datasets as a list or an iterator.

    The result is marked (in `DataFrame.attrs`), so that no other function warns about its labels
    again.

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
    >>> read_qrels(io.StringIO("10 d7 2 1 0.25\n10 d2 0 1 1.0\n"))
      qid docno  label  inclusion_probability
    0  10    d7      2                   0.25
    1  10    d2      0                   1.00
    """
    if gains is not None:
        # Gains define the meaning of every label, so no warning about labels below 0 is needed.
        unjudged_label = None if unjudged_label == "warn" else unjudged_label
    frame = qrels_frame(
        source,
        "source",
        unjudged_label=unjudged_label,
        predicted=predicted,
        gains=gains,
        columns=columns,
        duplicates=duplicates,
        subtopic=subtopic,
        may_have_draws=True,
    )
    return mark_as_said(frame)


def qrels_rows(
    source,
    argument="qrels",
    *,
    unjudged_label="warn",
    predicted="warn",
    gains=None,
    columns=None,
    duplicates="raise",
    subtopic=None,
    may_have_draws=False,
) -> DocumentPairs:
    """Read judgments in any form; the parameters are those of `read_qrels`.

    `argument` is the name of the argument in messages. Drawn label sets are an error unless
    `may_have_draws` is True.
    """
    unjudged_label = check_unjudged_label(unjudged_label)
    check_choice(predicted, "predicted", _WAYS)
    check_choice(duplicates, "duplicates", WAYS)
    if subtopic not in (None, "max"):
        raise InputError(f"subtopic must be None or 'max', got {brief(subtopic)}.")
    content = _opened(source, "label", argument, columns)
    rows = qrels_rows_of(content, gains, duplicates, subtopic)
    if rows.draws is not None and not may_have_draws:
        refuse_draws(argument)
    return settled(rows, source, unjudged_label, predicted, content.name)


def read_run(source, *, columns: dict[str, str] | None = None) -> pd.DataFrame:
    r"""Read a retrieval run, in TREC format (``qid Q0 docno rank score run``) or any other form.

    Parameters
    ----------
    source : str, PathLike, file object, data frame, dict or other object
        File to read, in UTF-8, plain or compressed (gzip, bzip2, xz, zstd); a file object may be
        open as text or binary. Alternatively, a run in memory. The format is recognized from the
        content, see Notes.
    columns : dict or None, default=None
        Names of columns in a table by our names, such as ``{"qid": "question", "score": "logit"}``.
        None looks for the known names, see Notes.

    Returns
    -------
    run : DataFrame of shape (n_rows, 3 to 5)
        Columns "qid" and "docno" (str) and "score" (float64), with rows in the order of the file.
        Columns "rank" (int64, or float64 if a rank is not a whole number) and "run" (str) are there
        if the source has them. The second column of TREC format is left out, and so are ranks that
        are 0 in several places of a list, or behind the first.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line: if the number of columns is wrong, a
        rank or score is not a number, a score is NaN or +inf, a query holds a document twice, bytes
        are not UTF-8, or a compressed file is damaged. If the file looks like another kind of file,
        the message says so.
    ImportError
        If pyarrow (for Parquet), openpyxl (for Excel) or zstandard (for zstd) is not installed.

    Warns
    -----
    DataWarning
        If the run holds no document, or if its scores rise from rank to rank, as distances do.

    See Also
    --------
    write_run : Write such a file.
    align : Join a run with judgments.

    Notes
    -----
    As in trec_eval, scores decide the order, higher first; the ranks of a file in TREC format are
    not used. A score of -inf means that the document is hidden. In a table, False in a column
    "shown" or "kept" also means this. Without such a column, rank 0 means it, unless all ranks
    count from 0. The score of such rows becomes -inf. A file without lines is a run that shows
    nothing, and causes a warning.

    Columns are separated by one or more blanks, which are space, tab, vertical tab and form feed,
    as in trec_eval; other control bytes are part of an id. Blank lines and lines that begin with
    "#" are skipped, as in trec_eval 10. Unlike in trec_eval, a line must have exactly six columns
    and the rank must be a number. So a blank within an id is an error, and does not shift
    columns. Ids stay as they are written, so "01" and "1" are two queries. Lines with three columns
    have the format of MS MARCO, ``qid docno rank``. The score is then the negative rank, as in a
    table with ranks but without scores. Lines with four columns are ``qid docno rank score``, if
    the ranks of the first two count and the first score is a fraction. They are ``qid Q0 docno
    score``, if the first two have Q0 and scores that are fractions.

    Tables, JSON and objects in memory may have all forms that `read_qrels` reads, with scores
    instead of labels. Known names of their column are "score" and "prediction".

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
    return run_frame(source, "source", columns)


def read_runs(runs, *, columns: dict[str, str] | None = None) -> dict[str, pd.DataFrame]:
    r"""Read several runs into data frames; functions with a parameter `runs` take the same forms.

    Parameters
    ----------
    runs : path, list of paths, or dict {name: path, open file, data frame or other run}
        The runs, each in a form that `read_run` takes. A folder stands for all files in it. The
        name of a run is its key in the dict, its own name for a run of ranx, or the name of the
        file without endings such as ".gz", ".txt" and ".parquet". A data frame of pandas or polars
        has the columns or index levels "qid" (or "query_id"), "docno" (or "doc_id") and "score".
    columns : dict or None, default=None
        Names of columns in tables by our names, as in `read_run`.

    Returns
    -------
    frames : dict of str to DataFrame
        Data frames with the columns "qid", "docno" and "score" (float64, -inf for hidden
        documents). Ids of data frames are not converted.

    Raises
    ------
    ValueError, FileFormatError
        If `runs` has another form or is empty, if two files have the same name, if a column or an
        id is missing, or if a score is not a number, NaN or +inf. A note names the run.

    See Also
    --------
    read_run : Read a single run.

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
            frames[name] = _run_columns(run, columns)
    return frames


def _run_columns(run, columns):
    """Read a run as the columns "qid", "docno" and "score"; ids of data frames stay as they are."""
    if not is_frame(run):
        return run_frame(run, "run", columns)[["qid", "docno", "score"]]
    table = Table(as_table(run, "score"), "run", roles=roles_of(columns))
    scores = scores_of(table)
    ids = {name: table.column(name) for name in ("qid", "docno")}
    for column in ids.values():
        missing = (column.isna() | (column == "")).to_numpy(dtype=bool)
        check_ids_given(missing, column.name, table.fail)
    return pd.DataFrame(ids | {"score": scores}, copy=False)


def run_frame(source, argument, columns=None) -> pd.DataFrame:
    """Read a run in any form as the data frame that `read_run` returns."""
    content = _opened(source, "score", argument, columns)
    rows = run_rows_of(content)
    columns = {"qid": distinct_column(rows.codes, rows.queries), "docno": text_column(rows.docnos)}
    if isinstance(content, Table):
        others = {name: content.column(name) for name in ("rank", "run") if content.has(name)}
    else:
        others = {}
        if content.has("rank"):
            ranks = content.numbers("rank", "the rank")
            # In a data frame, other ranks 0 would hide documents.
            if not hidden_by_rank(rows.codes, ranks == 0, rows.values).any():
                others["rank"] = _whole_numbers(ranks)
        if content.layout is RUN:
            others["run"] = distinct_column(*content.words("run"))
    columns |= others | {"score": rows.values}
    names = [name for name in ("qid", "docno", "rank", "score", "run") if name in columns]
    return pd.DataFrame({name: columns[name] for name in names})


def run_rows(source) -> DocumentPairs:
    """Read a run in any form as DocumentPairs, which hold ids and scores."""
    return run_rows_of(_opened(source, "score", "run"))


def qrels_frame(source, argument, **reading) -> pd.DataFrame:
    """Read judgments as `read_qrels` does, with the parameters of `qrels_rows`."""
    rows = qrels_rows(source, argument, **reading)
    columns = {
        "qid": distinct_column(rows.codes, rows.queries),
        "docno": text_column(rows.docnos),
        "label": _whole_numbers(rows.values),
    }
    if rows.probabilities is not None:
        columns["inclusion_probability"] = rows.probabilities
    if rows.judges is not None:
        columns["judged_by"] = distinct_column(rows.judges.codes, rows.judges.names)
    if rows.draws is not None:
        columns["draw"] = pd.array(rows.draws, dtype="Int64")
        columns["draw"][rows.draws < 0] = pd.NA
    return pd.DataFrame(columns)


def refuse_draws(argument):
    """Raise for drawn label sets where one label for each document is needed."""
    raise InputError(
        f"{argument} holds drawn label sets (column 'draw'), but one label of each document is "
        "needed. Pass the set of one draw, or the judgments before {complete_qrels}; "
        "{evaluate_runs} and {score_systems} take all sets.",
        argument=("complete_qrels", "evaluate_runs", "score_systems"),
    )


def _whole_numbers(values):
    """Return values as int64 if all are whole numbers, else unchanged."""
    # Beyond 2**53, float64 does not represent every integer.
    is_whole = (np.floor(values) == values) & (np.abs(values) <= 2**53)
    return values.astype(np.int64) if is_whole.all() else values


def _of_the_other_role(source, value):
    """Describe an object that is a run although judgments are expected, or the reverse.

    `value` is "score" if a run is expected, else "label". Returns None for other objects.
    """
    name = type(source).__name__
    if value == "score":
        is_other = name in ("Qrels", "QrelsIndex")  # Qrels is the class of ranx for judgments
        return f"judgments ({name})" if is_other else None
    if name in ("AlignedRun", "RankedPool") or (name == "Run" and hasattr(source, "to_dict")):
        return f"runs ({name})"
    return f"several runs ({name})" if are_several_runs(source) else None


def _no_documents():
    """Return an empty run, which is valid because a filter may hide every document."""
    return pd.DataFrame({"qid": [], "docno": [], "score": []})


def _opened(source, value, argument, columns=None) -> TrecLines | Table:
    """Read a path, an open file, a data frame or another object as lines or as a table.

    `value` is "label" for judgments and "score" for a run, and `argument` the name of the argument
    in messages. `columns` are names of columns that the caller gave.
    """
    roles = roles_of(columns)
    if got := _of_the_other_role(source, value):
        raise InputTypeError(f"{argument} must be {_EXPECTED[value]}, got {got}: {ORDER}")
    if not is_path(source) and not hasattr(source, "read"):
        frame = as_table(source, value)
        if value == "score" and isinstance(source, Mapping) and not source:
            frame = _no_documents()
        if frame is None:
            got = brief(source) if isinstance(source, Mapping) else type(source).__name__
            raise InputTypeError(
                f"{argument} must be a data frame, a path or an open file, got {got}. A dict "
                f"{{query: {{document: {value}}}}}, an Arrow table and objects of ranx, "
                "ir_measures and ir_datasets are also accepted."
                + f" {OF_SERIES}"
                * isinstance(source, pd.Series)
            )
        return Table(frame, argument, roles=roles)
    name = source_name(source)
    content = read_bytes(source).removeprefix(b"\xef\xbb\xbf")
    if value == "score" and not n_columns(content):
        return Table(_no_documents(), name, lambda row: None)
    form = form_of(content, [roles["qid"], roles["docno"]])
    if form != LINES:
        frame, line_of = read_form(form, content, name, [roles["qid"].names, roles["docno"].names])
        return Table(frame, name, line_of, roles)
    # Commands have one name for labels and one for scores, of which a file needs one.
    other = "score" if value == "label" else "label"
    own = [given for role, given in (columns or {}).items() if role != other]
    if own and n_columns(content):
        raise FileFormatError(
            f"the first line names no columns such as {brief_list(own)}: leave out "
            f"{{columns=}}, or put names of the columns into the first line{seems(content)}.",
            name,
            argument="columns=",
        )
    return TrecLines(content, name, value)


def check_unjudged_label(label):
    """Return the parameter `unjudged_label`, with numbers as float; raise if it is not valid."""
    if label is None or (isinstance(label, str) and label in ("warn", "trec")):
        return label
    if not is_finite_number(label):
        raise InputError(
            "unjudged_label must be the label that means unjudged, 'trec' (all labels below 0 mean "
            f"unjudged) or None (no label means unjudged), got {brief(label)}."
        )
    return float(label)


def mark_as_said(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark a data frame of judgments so that no other function warns about its labels again."""
    frame.attrs[_SAID] = True
    if "judged_by" in frame:
        # Without labels of machines there is no mark, so that machine labels that are added later
        # cause a warning.
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
    # Drawn labels are no machine's: the spread of their sets says how far off they may be.
    given = rows.values if rows.draws is None else np.where(rows.draws < 0, rows.values, np.nan)
    machines = {} if rows.judges is None else rows.judges.counts(given)
    if machines and predicted == "drop":
        values = np.where(rows.judges.is_machine & ~np.isnan(given), np.nan, rows.values)
        return rows._replace(values=values, judges=None)
    if machines and predicted == "warn" and _SAID_OF_MACHINES not in said:
        n_labels = int(np.count_nonzero(~np.isnan(given)))
        warn_user(
            f"{name} holds {counted(n_labels, 'label')}, of which machines gave "
            f"{sum(machines.values()):,} ({_shown(machines)}). They count like people's labels, "
            "but values from them may be far off. Say {predicted='use'} to accept this, or "
            "{predicted='drop'} to treat their documents as unjudged. With a sample of people's "
            "labels, values can be estimated with intervals by {skfilterrank.judgments.estimate}.",
            DataWarning,
            argument=("predicted='use'", "predicted='drop'", "skfilterrank.judgments.estimate"),
        )
    return rows


def _warn_of_labels_below_0(labels, name):
    """Warn if there are labels below 0, which may mean forbidden or unjudged."""
    below, counts = np.unique(labels[labels < 0], return_counts=True)
    if len(below):
        shown = _shown({f"{label:g}": n for label, n in zip(below[::-1], counts[::-1])})
        one = f"unjudged_label={below[-1]:g}"
        where = (
            ", a parameter of functions that measure runs, and of read_qrels and QrelsIndex, whose "
            "results every function accepts"
        )
        warn_user(
            f"{name} holds labels below 0 ({shown}), which are treated as forbidden documents. "
            "trec_eval treats them as unjudged documents, which changes values such as bpref, "
            "infAP and nDCG. Say {unjudged_label=None} if they are forbidden, "
            f"{{unjudged_label='trec'}} if they are not judged, or {{{one}}} if this one label "
            f"means unjudged{{{where}}}.",
            DataWarning,
            argument=("unjudged_label=None", "unjudged_label='trec'", one, where),
        )


def _shown(counts):
    """Return the first five of some counts as text, such as "a: 5, b: 3"."""
    shown = [f"{name}: {n:,}" for name, n in counts.items()]
    return ", ".join(shown[:_MOST]) + (", ..." if len(shown) > _MOST else "")


def read_judged_table(
    source, *, columns: dict[str, str] | None = None, labelled: bool = True, documents=()
) -> pd.DataFrame:
    r"""Read a file that holds a table with one row per judged document.

    Parameters
    ----------
    source : str, PathLike or file object
        File to read: CSV, TSV, JSON or JSON lines in UTF-8, Parquet or Excel (with openpyxl), as
        the end of its name says: .csv, .tsv, .json, .jsonl or .ndjson, .parquet or .pq, .xlsx. It
        may be compressed with gzip, bzip2, xz or zstd, with another ending for this, such as .gz.
        Without such an ending, its first line must name the column of queries.
    columns : dict or None, default=None
        Names of columns by our names, such as ``{"qid": "question", "label": "verdict"}``. "qid"
        holds the query id, which becomes the index level "qid". "label" holds the labels, as
        numbers or strings; missing labels become NaN (unjudged). Without a name for them, the names
        that `read_qrels` knows are tried, such as "query_id" and "relevance", and the column of
        labels is called "label". Doubtful names of the query, such as "user", are tried only if no
        column is named. "docno" holds the document id, which becomes the second index
        level, "docno"; without a name, there is no such level.
    labelled : bool, default=True
        False is for a table without labels.
    documents : sequence of str, default=()
        Names of a column of document ids, the first of which counts if `columns` names none. The
        table may lack all of them.

    Returns
    -------
    table : DataFrame
        Rows in the order of the file, indexed by "qid" or ("qid", "docno"). Query and document ids
        are in the index only.

    Raises
    ------
    FileFormatError
        A ValueError whose message starts with file and line (for Parquet, the row): if a line is
        broken, an id of a query or document is empty, a query holds a document twice, bytes are not
        UTF-8, or the file has no rows.
    ValueError
        If a column is missing, or `columns` names one twice or has other keys.
    ImportError
        If pyarrow (for Parquet), openpyxl (for Excel) or zstandard (for zstd) is not installed.

    Notes
    -----
    Ids of queries and documents are always strings, even if all are integers. So "001" and "1" stay
    two queries, and the index has the same type for every file. In CSV and TSV, an empty field is a
    missing value, and so is "nan" or "NaN" in a column of numbers. Other words, such as "None",
    "NA" or "null", are text.

    Examples
    --------
    >>> import io
    >>> from skfilterrank.io import read_judged_table
    >>> file = io.StringIO("qid,docno,label,text\n001,a,Good,some words\n001,b,,more words\n")
    >>> read_judged_table(file, columns={"docno": "docno"})
              label        text
    qid docno
    001 a      Good  some words
        b       NaN  more words
    """
    name = source_name(source)
    roles_of(columns)
    named = {"qid": "qid", "label": "label"} | dict(columns or {})
    if unknown := [role for role in named if role not in _JUDGED]:
        raise InputError(
            f"{{columns=}} of judged rows must have keys among {brief_list(_JUDGED)}, got "
            f"{brief(unknown[0])}.",
            argument="columns=",
        )
    if not labelled:
        del named["label"]
    roles_of(named)
    query, label, document = map(named.get, _JUDGED)

    data = read_bytes(source).removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise FileFormatError("the file is empty; a table of judged documents was expected.", name)
    taken = [each for each in (query, label, document) if each is not None]
    queries, labels = (
        _role(given, ours, taken, takes_doubtful=not columns)
        for given, ours in ((query, "qid"), (label, "label"))
    )
    free = [each for each in documents if find_column(taken, [each]) is None]
    perhaps = free if document is None else [document]
    ids = [queries.names, perhaps]
    if (form := format_of_name(name)) is not None:
        table, line_of = read_format(data, name, ids, form)
    elif (form := form_of(data, [queries])) != LINES:
        table, line_of = read_form(form, data, name, ids)
    else:
        raise InputError(
            f"{name} ends in none of {brief_list(list(SUFFIXES))}, and its first line names no "
            f"column such as {brief(query)}{seems(data)}."
        )
    table = table.rename(columns={labels.column(table.columns): label})
    ids = [queries.column(table.columns) or query]
    if document is None:
        document = find_column(table.columns, perhaps)
    ids += [] if document is None else [document]
    wanted = ids if label is None else [*ids, label]
    absent = [column for column in wanted if column not in table.columns]
    if absent == wanted and form in SEPARATORS and any(map(is_number, table.columns)):
        raise FileFormatError(
            f"the first line, {brief_list(table.columns)}, seems to hold values: put names of the "
            f"columns into a first line, such as {brief_list(wanted)}.",
            name,
        )
    is_doubtful = bool(queries.doubtful) and not queries.is_sure(ids[0])
    if absent:
        if is_doubtful and query not in absent:
            # A caller who names what lacks must name a column of a doubtful name, too.
            absent, wanted = [query, *absent], wanted[1:]
        roles = {"qid": queries, "label": labels, "docno": Role((document,))}
        lacking = {role: roles[role] for role in named if named[role] in absent}
        others = [column for column in table.columns if column not in wanted]
        advice, given = advice_on_names(lacking, others)
        raise InputError(
            f"{name} has no column {brief_list(absent)}; its columns are "
            f"{brief_list(table.columns)}. {advice}",
            argument=("columns=", given),
        )
    if table.empty:
        raise FileFormatError("the file holds no rows, only column names.", name)
    keys = [text_ids(table[column], name, line_of) for column in ids]
    index = pd.MultiIndex.from_arrays(keys, names=["qid", "docno"][: len(ids)])
    if document is not None and (twice := index.duplicated()).any():
        row = int(twice.argmax())
        qid, docno = map(brief, index[row])
        raise FileFormatError(
            f"document {docno} occurs a second time in query {qid}; keep one judgment for each "
            "pair of query and document.",
            name,
            line_of(row),
        )
    table = table.drop(columns=ids)
    if label is not None:
        table[label] = _as_labels(table[label], name, line_of)
    table.index = pd.Index(keys[0], name="qid") if document is None else index
    if is_doubtful:
        doubtful_queries.get()(name, ids[0])
    return table


def _role(name, ours, taken, takes_doubtful):
    """Return the names of a role for our name, without those of other columns; else the name."""
    if name != ours:
        return Role((name,))
    sure, doubtful = (
        tuple(each for each in names if each == ours or each not in taken)
        for names in (ROLES[ours].sure, ROLES[ours].doubtful)
    )
    return Role(sure, doubtful, takes_doubtful)


def _as_labels(values, name, line_of):
    """Return labels with NaN for missing ones; raise for a label that is no text or number."""
    if values.dtype == object:
        labels = values.to_numpy(copy=True)
        labels[pd.isna(labels)] = np.nan
        for row, label in enumerate(labels):
            if not isinstance(label, str | bool | np.bool_) and not _is_float(label):
                raise FileFormatError(
                    f"the label {brief(label)} in column {brief(values.name)} must be a text or a "
                    "number in the range of float64; correct it.",
                    name,
                    line_of(row),
                )
        return pd.Series(labels, index=values.index, dtype=object).infer_objects()
    is_numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if is_numeric and pd.api.types.is_extension_array_dtype(values.dtype):
        return values.astype(np.float64)
    return values


def _is_float(label):
    """Return True if a label is NaN or a number in the range of float64."""
    try:
        return isinstance(label, numbers.Number) and not np.isinf(float(label))
    except (OverflowError, TypeError):
        return False
