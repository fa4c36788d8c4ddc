"""The log file of judging, to which every answer is written at once."""

import hashlib
import json
import os
from datetime import UTC, datetime
from typing import NamedTuple

import pandas as pd

from skfilterrank._files.files import is_path, parse_json, try_lock
from skfilterrank._lists.checks import is_finite_number
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, InputError, InputTypeError, JudgmentLogError, brief

_MARK = "skfilterrank judgments"
_VERSION = 1


class Event(NamedTuple):
    """An answer with an optional note; the label is None for a skip or an undo."""

    kind: str
    qid: str
    docno: str
    label: float | int | None = None
    assessor: str | None = None
    note: str | None = None


def read_judgment_log(path) -> pd.DataFrame:
    """Read the judgments of a log that :func:`judge` writes.

    Parameters
    ----------
    path : str or PathLike
        The log.

    Returns
    -------
    qrels : DataFrame of shape (n_judgments, 3)
        Columns "qid", "docno" and "label", in the order of the answers, without undone and skipped
        ones. Labels are int64 if all are integers, else float64. If there are names of assessors,
        they are in a last column "assessor", None for answers without a name.

    Raises
    ------
    JudgmentLogError
        A ValueError that names the first damaged line; its attribute `judgments` has the judgments
        of the lines before it.

    Warns
    -----
    DataWarning
        If the last line is incomplete and left out; the warning has its number.

    Examples
    --------
    >>> import tempfile, os
    >>> import pandas as pd
    >>> from skfilterrank.judgments import MTCSelector, judge, rank_table
    >>> from skfilterrank.judgments._judgment_log import read_judgment_log
    >>> run = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [9.0, 7.0]})
    >>> selector = MTCSelector().fit(rank_table({"a": run}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = os.path.join(folder, "log.jsonl")
    ...     _ = judge(selector, lambda question: 2 if question.docno == "d1" else -1, log=log)
    ...     print(read_judgment_log(log))
      qid docno  label
    0   1    d1      2
    1   1    d2     -1
    """
    return qrels_of(judgments_of(read_events(path)).values())


def read_events(path) -> list:
    """Read the answers and skips of a log that were not undone."""
    with open(path, "rb") as handle:
        content = _read(handle.read(), os.fspath(path))
    _warn_of_torn_line(content)
    return content.events


def line_of(event, time=None) -> bytes:
    """Return the line of an answer."""
    record = {} if time is None else {"time": time}
    record |= {} if event.assessor is None else {"assessor": event.assessor}
    record |= {"qid": event.qid, "docno": event.docno}
    record |= {"label": event.label} if event.kind == "label" else {event.kind: True}
    return _as_line(record | ({} if event.note is None else {"note": event.note}))


class JudgmentLog:
    """Log that is open for judging: its earlier answers, and a method to append answers.

    The first line describes the pool. Each other line is an answer, or describes the pool from
    there on. An incomplete last line is removed; a damaged line before it is an error, and the file
    is not changed. Grades are {label: name}, or None if any label is allowed.
    """

    def __init__(self, path, pool, grades=None):
        if not is_path(path):
            raise InputTypeError(f"log must be a path or None, got {brief(path)}.")
        self.path = os.fspath(path)
        header = header_of(pool, grades)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o666)
        try:
            # The lock is released when the process ends.
            if try_lock(self._file) is False:
                raise JudgmentLogError(
                    "another process is writing to this log; end it, or name another log.",
                    self.path,
                )
            with open(self._file, "rb", closefd=False) as handle:
                data = handle.read()
            if header.startswith(data):
                # The file is empty, or its first line is incomplete.
                os.ftruncate(self._file, 0)
                self._write(header)
                _sync_folder(self.path)
                self.events = []
                return
            content = _read(data, self.path, pool)
            _check_grades(content, grades)
            if content.length < len(data):
                os.ftruncate(self._file, content.length)
            if content.lacks_line_end:
                self._write(b"\n")
            if content.pool.digest != pool.digest or content.grades != grades:
                self._write(header)
            _warn_of_torn_line(content)
            self.events = content.events
        except BaseException:
            os.close(self._file)
            raise

    def append(self, event):
        """Write an answer to disk."""
        self._write(line_of(event, datetime.now(UTC).isoformat(timespec="seconds")))

    def close(self):
        """Close the file and release the lock."""
        os.close(self._file)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _write(self, data):
        """Append bytes and wait for the disk; after an error, none of them remain."""
        length = os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, length)
            error.filename = self.path
            raise


class Pool(NamedTuple):
    """Description of a log's pool: its size and a hash."""

    n_documents: int
    n_queries: int
    digest: str
    pairs: frozenset = frozenset()

    @classmethod
    def of(cls, qids, docnos):
        """Describe the pool of some queries and documents, in any order."""
        pairs = sorted(zip(qids, docnos, strict=True))
        text = "".join(f"{qid}\0{docno}\n" for qid, docno in pairs)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return cls(len(pairs), len({qid for qid, _ in pairs}), digest[:32], frozenset(pairs))


class _Content(NamedTuple):
    """Content of a log without undone answers; the first `length` bytes are complete lines."""

    pool: Pool
    grades: dict | None
    events: list
    length: int
    lacks_line_end: bool
    torn_line: int | None
    file: str


def judgments_of(events) -> dict:
    """Return {(query, document): label} without undone labels, in order."""
    answers: list = []
    for event in events:
        if event.kind == "undo":
            answers.pop()
        else:
            answers.append(event)
    return {(event.qid, event.docno): event for event in answers if event.kind == "label"}


def qrels_of(events) -> pd.DataFrame:
    """Return labels as a table."""
    events = list(events)
    labels = pd.Series([event.label for event in events], dtype="float64")
    if (labels == labels.round()).all() and (labels.abs() <= 2**53).all():
        labels = labels.astype("int64")
    qids = pd.Series([event.qid for event in events], dtype="str")
    docnos = pd.Series([event.docno for event in events], dtype="str")
    qrels = pd.DataFrame({"qid": qids, "docno": docnos, "label": labels})
    assessors = [event.assessor for event in events]
    if any(assessor is not None for assessor in assessors):
        qrels["assessor"] = pd.Series(assessors, dtype=object)
    return qrels


def header_of(pool, grades) -> bytes:
    """Return the first line of the log of a pool."""
    header = {
        "log": _MARK,
        "version": _VERSION,
        "documents": pool.n_documents,
        "queries": pool.n_queries,
        "pool": pool.digest,
    }
    return _as_line(header | ({} if grades is None else {"grades": grades}))


def _as_line(record):
    """Return a record as a line of bytes; JSON has no line ends within a record."""
    return (json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def _read(data, file, pool=None) -> _Content:
    """Read a log; raise if an answer is about a document outside the pool."""
    # A power failure can leave zero bytes at the end of a file.
    whole = data.rstrip(b"\0")
    lines = whole.split(b"\n")
    torn = None
    if lines[-1].strip():
        if len(lines) > 1 and _record(lines[-1]) is None:
            torn = len(lines)
    elif len(whole) < len(data):
        torn = len(lines)
    header = None
    stack: list[tuple] = []
    judged: set[tuple] = set()
    for number, line in enumerate(lines, 1):
        if number == torn or not line.strip():
            continue
        try:
            record = _record(line)
            if record is None:
                raise InputError("it is not a JSON object")
            if header is None or record.get("log") == _MARK:
                header = _header(record)
            else:
                _add_event(record, stack, judged, number)
        except InputError as error:
            if header is None:
                raise JudgmentLogError(
                    "the file is not a judgment log: its first line does not begin with "
                    f'{{"log": "{_MARK}"; name another file.',
                    file,
                    number,
                ) from None
            raise _damage(error, stack, file, number) from None
    if header is None:
        raise JudgmentLogError("the log is empty.", file)
    pool_of_log, grades = header
    if pool is not None:
        _check_pool(pool_of_log, pool, stack, file)
    events = [event for event, _ in stack]
    length = len(whole) - (0 if torn is None else len(lines[-1]))
    lacks_line_end = torn is None and not whole.endswith(b"\n")
    return _Content(pool_of_log, grades, events, length, lacks_line_end, torn, file)


def _record(line):
    """Return the JSON object of a line, or None."""
    try:
        record = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _header(record):
    """Return pool and grades of a header line."""
    if record.get("log") != _MARK or record.get("version") != _VERSION:
        raise InputError("it is of another version")
    pool = Pool(record.get("documents"), record.get("queries"), record.get("pool"))
    return pool, record.get("grades")


def _add_event(record, stack, judged, number):
    """Add an answer to the stack, or remove the last one for an undo."""
    pair = record.get("qid"), record.get("docno")
    if not all(isinstance(each, str) for each in pair):
        raise InputError("it has no query and document")
    kinds = [kind for kind in ("label", "skip", "undo") if kind in record]
    if len(kinds) != 1:
        raise InputError("it holds no answer")
    for name in ("assessor", "note"):
        if not isinstance(record.get(name), str | None):
            raise InputError(f"the {name} {brief(record[name])} is not a text")
    event = Event(kinds[0], *pair, record.get("label"), record.get("assessor"), record.get("note"))
    if event.kind == "undo":
        if not stack or stack[-1][0][1:3] != pair:
            raise InputError("it undoes an answer that is not the last one")
        stack.pop()
        judged.discard(pair)
        return
    if pair in judged:
        raise InputError(
            f"document {brief(event.docno)} of query {brief(event.qid)} has a label already"
        )
    if event.kind == "label":
        if not is_finite_number(event.label):
            raise InputError(f"the label {brief(event.label)} is not a finite number")
        judged.add(pair)
    stack.append((event, number))


def _check_pool(logged, pool, stack, file):
    """Raise if an answer is about a document outside the pool."""
    places = (place for place, (event, _) in enumerate(stack) if event[1:3] not in pool.pairs)
    if (place := next(places, None)) is None:
        return
    event, number = stack[place]
    _, qid, docno, *_ = event
    if logged.digest == pool.digest:
        error = f"document {brief(docno)} of query {brief(qid)} is not in the pool"
        raise _damage(error, stack[:place], file, number)
    raise JudgmentLogError(
        f"the log belongs to another pool: it has {logged.n_documents} documents of "
        f"{logged.n_queries} queries, this pool has {pool.n_documents} of {pool.n_queries} and "
        f"lacks document {brief(docno)} of query {brief(qid)}, which is answered there"
        "; name another log, or a pool that holds all documents of its answers.",
        file,
    )


def _check_grades(content, grades):
    """Raise if the answers had other grades, or grades with other names."""
    if grades is None:
        return
    before = content.grades or {}
    labels = {f"{event.label:.17g}" for event in content.events if event.kind == "label"}
    named = [(before[label], grades[label]) for label in before.keys() & grades.keys()]
    is_renamed = any(was and now and was != now for was, now in named)
    if before.keys() in (set(), grades.keys()) and labels <= grades.keys() and not is_renamed:
        return
    was, now = (
        ", ".join(f"{k}={v}" if v else k for k, v in found.items())
        for found in (before or dict.fromkeys(sorted(labels), ""), grades)
    )
    raise JudgmentLogError(
        f"the answers were chosen from other grades, {was}, than those that are given now, {now}: "
        "give the same grades again, or name another log.",
        content.file,
    )


def _damage(error, stack, file, number):
    """Return the error for a damaged line, with the answers before it."""
    kept = qrels_of(judgments_of(event for event, _ in stack).values())
    return JudgmentLogError(
        f"the line is damaged ({error}): correct it, or delete it and what follows it. The "
        f"{len(kept)} judgment(s) before it are kept.",
        file,
        number,
        kept,
    )


def _warn_of_torn_line(content):
    """Warn of an incomplete last line."""
    if content.torn_line is not None:
        warn_user(
            f"{content.file}:{content.torn_line}: the last line is incomplete and left out; the "
            "answer before it is the last one.",
            DataWarning,
        )


def _sync_folder(path):
    """Wait until the directory entry of a new file is on disk."""
    if os.name != "posix":
        return
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError:  # not supported by some network drives
        pass
    finally:
        os.close(folder)
