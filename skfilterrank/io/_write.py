"""Writers of runs and judgments in TREC format."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._base.checks import as_column, as_floats, check_number, check_scores
from skfilterrank._base.results import Result
from skfilterrank._files.files import check_target, write_lines
from skfilterrank._files.forms import as_table, is_frame
from skfilterrank.exceptions import InputError, InputTypeError, brief
from skfilterrank.io._align import rank_order
from skfilterrank.io._pairs import Table, iterations_of, pair_rows, qrels_rows_of

_DEFAULT_NAME = "skfilterrank"
# Largest number of rows in memory as texts.
_CHUNK_ROWS = 1 << 15
# Characters that separate columns, or that cannot be written to UTF-8 and read back.
_FORBIDDEN = re.compile(r"[\s\x00-\x20\ufeff\ud800-\udfff]")


@dataclass(frozen=True, eq=False, repr=False)
class RunCounts(Result):
    """Numbers of rows that `write_run` wrote and left out.

    Attributes
    ----------
    written : int
        Number of rows in the file.
    hidden : int
        Number of rows with score -inf, which are not in the file.
    empty_queries : int
        Number of queries without a row in the file.
    """

    written: int
    hidden: int
    empty_queries: int


def write_run(path, run, *, docnos=None, y_score=None, name: str | None = None) -> RunCounts:
    r"""Write ranked lists as a TREC run, ``qid Q0 docno rank score run``.

    Rows with score -inf are hidden and not written. A query without remaining documents is
    not in the file; the returned counts include such queries.

    Parameters
    ----------
    path : str, PathLike or file object
        File to write. It is compressed with gzip if its name ends in ".gz". An existing file is
        replaced only when the new file is complete.
    run : data frame, dict, other object, or array-like of shape (n_rows,)
        Run in memory in any form that `read_run` takes. A data frame has the columns or index
        levels "qid", "docno", "score" and optionally "run"; a column "rank" is ignored if there are
        scores. Alternatively, the query id of each row, with `docnos` and `y_score`. Rows may have
        any order; queries are written in sorted order.
    docnos : array-like of shape (n_rows,), default=None
        Document id of each row, if `run` holds query ids.
    y_score : array-like of shape (n_rows,), default=None
        Score of each row, if `run` holds query ids; higher is better, -inf hides a document.
    name : str, default=None
        Name of the run for the last column. None takes the column "run" of a data frame that has
        it, else "skfilterrank".

    Returns
    -------
    counts : RunCounts
        Numbers of rows that were written (`written`) and left out (`hidden`), and number of
        queries without a row (`empty_queries`).

    Raises
    ------
    ValueError
        If lengths differ, there are no rows, a score is NaN or +inf, an id is missing or holds
        white space, or a query holds a document twice.
    TypeError
        If `path` is neither a path nor an open file.

    See Also
    --------
    read_run : Read such a file.
    write_qrels : Write judgments.

    Notes
    -----
    Ranks count from 1 in the order of the scores, with ties by document id, descending, as in
    trec_eval. Scores are written so that they can be read back exactly. trec_eval 9 rounds scores
    to single precision, which can create ties.

    Examples
    --------
    >>> import sys
    >>> from skfilterrank.io import write_run
    >>> hidden = -float("inf")
    >>> write_run(sys.stdout, [7, 7, 7, 8], docnos=["a", "b", "c", "a"],
    ...           y_score=[0.5, hidden, 0.75, hidden], name="demo")
    7 Q0 c 1 0.75 demo
    7 Q0 a 2 0.5 demo
    <RunCounts: written 2, hidden 2, empty_queries 1>
    """
    check_target(path, "write_run(path, run)")
    if is_frame(run) and not (docnos is None and y_score is None):
        raise InputError(
            "docnos and y_score must be None if run is a data frame, which holds documents and "
            "scores itself: leave them out."
        )
    frame = as_table(run, "score") if docnos is None and y_score is None else None
    if frame is None:
        frame = _frame_of_columns(run, docnos, y_score)
    table = Table(frame, "run")
    rows = pair_rows(table)
    y_score = rows.values
    of_rows = table.column("run") if name is None and table.has("run") else None
    name_codes, names = _run_names(of_rows, _DEFAULT_NAME if name is None else name, len(y_score))
    codes, queries = _sorted_queries(rows, table.column("qid"))
    _check_ids(queries, "run", begins_line=True)
    _check_tokens(rows.docnos, "docnos")

    kept = np.flatnonzero(y_score > -np.inf)
    order = kept[rank_order(codes[kept], y_score[kept], rows.docnos.take(kept))]
    sizes = np.bincount(codes[kept], minlength=len(queries))
    ranks = np.arange(1, len(kept) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)

    def lines():
        for begin in range(0, len(order), _CHUNK_ROWS):
            chunk = slice(begin, begin + _CHUNK_ROWS)
            of = order[chunk]
            ids = zip(queries[codes[of]], rows.docnos.take(of).tolist(), names[name_codes[of]])
            numbers = zip(ranks[chunk].tolist(), y_score[of].tolist())
            yield from [
                f"{qid} Q0 {docno} {rank} {score!r} {run}\n"
                for (qid, docno, run), (rank, score) in zip(ids, numbers)
            ]

    write_lines(path, lines())
    return RunCounts(len(kept), len(y_score) - len(kept), int(np.count_nonzero(sizes == 0)))


def write_qrels(path, qrels, *, unjudged_label: float | None = None) -> None:
    r"""Write judgments in TREC format, ``qid 0 docno label``.

    Judgments of a sample are written as ``qid docno label 1 inclusion_probability``.

    Parameters
    ----------
    path : str, PathLike or file object
        File to write. It is compressed with gzip if its name ends in ".gz". An existing file is
        replaced only when the new file is complete.
    qrels : data frame, dict or other object
        Judgments in memory in any form that `read_qrels` takes. A data frame has the columns or
        index levels "qid" (or "query_id"), "docno" (or "doc_id") and "label" (or "relevance"). Rows
        are written in their order. A column "judged_by", as from `read_qrels`, names the judges;
        for a machine, the second column of the file is "predicted" or "predicted:NAME". If there
        is a column "inclusion_probability", lines have the format of samples, in which people
        give all labels; leave the column out to write judgments without it.
    unjudged_label : float, default=None
        Label to write for NaN, that is for documents that are pooled but not judged. An example is
        -1, as for trec_eval's infAP. With None, NaN is an error.

    Raises
    ------
    ValueError
        If a column is missing or there are no rows; if a label is not a finite number, or is NaN
        and `unjudged_label` is None, or equals `unjudged_label`; if an id or the name of a machine
        is missing or holds white space; if a query holds a document twice. Of a sample also if a
        probability is not above 0 and at most 1, or a machine gave a label.
    TypeError
        If `path` is neither a path nor an open file, or `qrels` holds no judgments in memory.

    See Also
    --------
    read_qrels : Read such a file.
    skfilterrank.judgments.StatAPSelector : Draw a sample and compute the probabilities.

    Notes
    -----
    Whole numbers are written without a decimal point, because trec_eval reads only such labels.
    Other numbers are written so that they can be read back exactly. In files of samples, the column
    of the method of selection is always 1.

    Examples
    --------
    >>> import sys
    >>> import pandas as pd
    >>> from skfilterrank.io import write_qrels
    >>> labels = [2, -1.0, float("nan")]
    >>> qrels = pd.DataFrame({"qid": [7, 7, 8], "docno": ["a", "b", "a"], "label": labels})
    >>> write_qrels(sys.stdout, qrels, unjudged_label=-9)
    7 0 a 2
    7 0 b -1
    8 0 a -9
    >>> write_qrels(sys.stdout, qrels[:2].assign(judged_by=["people", "large"]))
    7 0 a 2
    7 predicted:large b -1
    >>> write_qrels(sys.stdout, qrels[:2].assign(inclusion_probability=[0.25, 1.0]))
    7 a 2 1 0.25
    7 b -1 1 1
    """
    check_target(path, "write_qrels(path, qrels)")
    unjudged = None if unjudged_label is None else check_number(unjudged_label, "unjudged_label")
    rows, docnos = _judged_rows(qrels, may_lack=unjudged is not None)
    labels = rows.values
    missing = np.isnan(labels)
    if unjudged is not None and (same := labels == unjudged).any():
        raise InputError(
            f"qrels holds the label {unjudged:g} in row {int(same.argmax())}, which could not be "
            "distinguished from unjudged documents in the file; choose another unjudged_label."
        )
    labels = np.where(missing, unjudged, labels) if missing.any() else labels
    _check_ids([] if rows.judges is None else rows.judges.names, "judged_by")
    queries, texts = np.array(rows.queries, dtype=object)[rows.codes], _number_texts(labels)
    if rows.probabilities is None:
        iterations = iterations_of(rows.judges, len(labels))
        write_lines(path, map("{} {} {} {}\n".format, queries, iterations, docnos, texts))
    else:
        _check_sample(rows)
        probabilities = _number_texts(rows.probabilities)
        write_lines(path, map("{} {} {} 1 {}\n".format, queries, docnos, texts, probabilities))


def _check_sample(rows):
    """Raise for labels of machines or without a probability, which files of samples cannot hold."""
    leave_out = "or leave the column 'inclusion_probability' out"
    if rows.judges is not None and (is_machine := rows.judges.is_machine).any():
        row = int(is_machine.argmax())
        name = rows.judges.names[rows.judges.codes[row]]
        raise InputError(
            f"qrels holds inclusion probabilities, but the machine {brief(name)} gave the label in "
            f"row {row}, and files of samples have no column for judges: leave such rows out, "
            f"{leave_out}."
        )
    if (missing := np.isnan(rows.probabilities)).any():
        raise InputError(
            f"qrels holds no inclusion probability in row {int(missing.argmax())}: leave such rows "
            f"out, {leave_out}."
        )


def _judged_rows(frame, *, may_lack):
    """Read a data frame of judgments; raise if an id cannot be written or a label is missing.

    Returns the rows and the list of document ids. ``may_lack=True`` allows missing labels.
    """
    table = as_table(frame, "label")
    if table is None:
        raise InputTypeError(
            f"qrels must be a data frame, got {type(frame).__name__}: read files by read_qrels."
        )
    rows = qrels_rows_of(Table(table, "qrels"))
    if rows.draws is not None:
        raise InputError(
            "qrels holds drawn label sets (column 'draw'), and TREC format has no column for them: "
            "write them as a table, such as qrels.to_csv(path, index=False)."
        )
    docnos = rows.docnos.tolist()
    _check_ids(rows.queries, "qid", begins_line=True)
    _check_ids(docnos, "docno")
    if not may_lack and (missing := np.isnan(rows.values)).any():
        raise InputError(
            f"qrels holds no label in row {int(missing.argmax())}; leave such rows out, or pass "
            "unjudged_label=, the label to write for them."
        )
    return rows, docnos


def _number_texts(numbers):
    """Return numbers as texts that can be read back exactly, whole numbers without ".0"."""
    codes, distinct = pd.factorize(numbers)
    shown = [repr(int(number) if number.is_integer() else number) for number in distinct.tolist()]
    return np.array(shown, dtype=object)[codes]


def _run_names(column, name, n_rows):
    """Return for each row the number of the name of its run, and the distinct names.

    Names are those of a column, or of all rows if it is None.
    """
    if column is not None:
        codes, distinct = pd.factorize(column, use_na_sentinel=False)
    else:
        codes, distinct = np.zeros(n_rows, dtype=np.int64), [name]
    for name in distinct:
        if not isinstance(name, str) or not name or _FORBIDDEN.search(name):
            raise InputError(
                f"name must be a text without white space that is not empty, got {brief(name)}."
            )
    return codes, np.array(distinct, dtype=object)


def _frame_of_columns(run, docnos, y_score):
    """Make a data frame from the arguments `run` (query ids), `docnos` and `y_score`."""
    if docnos is None or y_score is None:
        raise InputError(
            "run must be a data frame, or query ids together with docnos= and y_score=, got "
            f"{type(run).__name__} without both of them."
        )
    columns = {
        "qid": as_column(run, "run", "query id"),
        "docno": as_column(docnos, "docnos", "document id"),
        "score": as_floats(check_scores(y_score), "y_score"),
    }
    n_run, n_docnos, n_scores = map(len, columns.values())
    if not n_run == n_docnos == n_scores > 0:
        raise InputError(
            "run, docnos and y_score must have the same length and not be empty, got "
            f"lengths {n_run}, {n_docnos} and {n_scores}; pass one entry per row."
        )
    return pd.DataFrame(columns, copy=False)


def _sorted_queries(rows, column):
    """Return the sorted query ids, and for each row the number of its query among them.

    Ids are sorted as integers if `column` is numeric, else as text. The result is the pair
    (numbers, queries).
    """
    key = int if pd.api.types.is_numeric_dtype(column.dtype) else str
    queries = sorted(rows.queries, key=key)
    place = {query: i for i, query in enumerate(queries)}
    codes = np.array([place[query] for query in rows.queries], dtype=np.int64)[rows.codes]
    return codes, np.array(queries, dtype=object)


def _check_tokens(tokens, name):
    """Raise if an id holds white space; ids are given as bytes of a buffer."""
    if not len(tokens):
        return
    text = np.frombuffer(tokens.packed(), dtype=np.uint8)
    # For speed, the bytes of all ids are checked at once; only unusual bytes need a closer look.
    if text.min() <= ord(" ") or text.max() > 127:
        _check_ids(tokens.tolist(), name)


def _check_ids(texts, name, *, begins_line=False):
    """Raise if an id holds white space; `begins_line` also forbids a leading "#"."""
    # For speed, all ids are checked at once, because problems are very rare.
    if _FORBIDDEN.search("".join(texts)):
        text = next(filter(_FORBIDDEN.search, texts))
        raise InputError(
            f"{name} holds {brief(text)}, but ids in a TREC file must not hold white space. Rename "
            "it."
        )
    comment = next((text for text in texts if text.startswith("#")), None) if begins_line else None
    if comment is not None:
        raise InputError(
            f"{name} holds the query {brief(comment)}, but a line of a TREC file that begins with "
            "'#' is a comment. Rename it."
        )
