"""Reading and merging of answers from the judging page or from labelling tools."""

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pandas as pd

from skfilterrank._files.files import (
    check_target,
    decode,
    is_path,
    open_for_writing,
    parse_json,
    read_bytes,
)
from skfilterrank._files.forms import name_of_path
from skfilterrank._lists.checks import as_list, check_choice, is_finite_number
from skfilterrank._lists.results import Result, counted
from skfilterrank.exceptions import FileFormatError, InputError, brief, brief_list
from skfilterrank.judgments._judging_tasks import (
    TOOLS,
    grade_texts,
    logged_grades,
    named_grades,
    pool_pairs,
)
from skfilterrank.judgments._judgment_log import Event, Pool, header_of, line_of, read_events
from skfilterrank.judgments._label_quality import AssessorAgreement, assessor_agreement
from skfilterrank.judgments._label_table import KEY, key_columns

_COLUMNS = [*KEY, "label", "assessor", "note"]
_QUERY_NAMES, _DOCUMENT_NAMES = ("query", "query text"), ("docid", "doc id", "doc_id")


def read_judging_answers(path, *, tool: str = "page", grades=None, queries=None) -> pd.DataFrame:
    """Read the answers of a judgment log, or of the export of a labelling tool.

    Parameters
    ----------
    path : str or PathLike
        The log of the page or of :func:`judge`; the JSON of Label Studio, not its short form
        "JSON-MIN"; the JSON lines of doccano, one file for each user, named after the user; the
        output of Argilla's `to_json`; or Quepid's book as JSON, or its ratings as CSV.
    tool : {"page", "label-studio", "doccano", "argilla", "quepid"}, default="page"
        Tool that wrote the file.
    grades : list of numbers, or dict {number: name}, default=None
        The allowed labels, with their names; other labels are an error. None allows any text that
        begins with a number.
    queries : dict, default=None
        Texts of the queries by id, for ratings of Quepid as CSV, which have only texts. None uses
        the texts as ids.

    Returns
    -------
    DataFrame of shape (n_answers, 5)
        Columns "qid", "docno", "label" (float, NaN for skipped documents and for notes without a
        grade), "assessor" and "note" (None without a note).

    Raises
    ------
    FileFormatError
        A ValueError that names the file, and the line or the number of the entry.

    See Also
    --------
    write_judging_tasks : Writes what is judged.
    merge_answers : Brings several assessors together.

    Examples
    --------
    >>> import os, tempfile
    >>> from skfilterrank.judgments import read_judging_answers
    >>> line = '{"id": 7, "text": "flutter", "qid": "1", "docno": "d1", "label": ["2 highly"]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "anna.jsonl")
    ...     with open(path, "w") as file:
    ...         _ = file.write(line)
    ...     print(read_judging_answers(path, tool="doccano"))
      qid docno  label assessor  note
    0   1    d1    2.0     anna  None
    """
    check_target(path, "read_judging_answers(path)", may_be_open=False)
    check_choice(tool, "tool", TOOLS)
    entries = _Entries(os.fspath(path), _label_reader(grades), _ids_of(queries))
    text = "" if tool == "page" else decode(read_bytes(path), entries.name).removeprefix("\ufeff")
    try:
        rows = list(_READERS[tool](entries, text))
    except (AttributeError, LookupError, TypeError) as error:
        entries.fail(f"it is not an export of {tool}: {error} is missing or of another type.")
    frame = pd.DataFrame(rows, columns=_COLUMNS, dtype=object)
    return frame.astype({"qid": "str", "docno": "str", "label": "float64"})


class _Entries:
    """Entries of a file, with positions for errors."""

    def __init__(self, name, label_of, ids):
        self.name, self.label_of, self.ids = name, label_of, ids
        self.line, self.place = None, ""

    def fail(self, message) -> NoReturn:
        """Raise an error about the current entry."""
        raise FileFormatError(f"{self.place}{message}", self.name, self.line)

    def pair(self, record):
        """Return query and document of an object, as written in the task."""
        for key in KEY:
            if not isinstance(record.get(key), str):
                self.fail(f"{key!r} is missing or of another type, got {brief(record.get(key))}.")
        return record["qid"], record["docno"]

    def label(self, value):
        """Return the label of an entry."""
        try:
            return self.label_of(value)
        except InputError as error:
            self.fail(str(error))

    def only(self, values, what):
        """Return the only value of a list, None if it is empty."""
        if len(values) > 1:
            self.fail(f"{what} has {len(values)} values, expected one: choose one of them.")
        return values[0] if values else None

    def qid(self, text):
        """Return the id of a query from its text."""
        if self.ids is None:
            return text.strip()
        if text.strip() not in self.ids:
            self.fail(f"no query of queries= has the text {brief(text.strip())}.")
        return self.ids[text.strip()]

    def parsed(self, text):
        """Parse the file as JSON."""
        try:
            return parse_json(text)
        except InputError as error:
            self.fail(f"it is not JSON: {error}.")

    def of_list(self, records):
        """Yield the entries of a list, and count them from 1 for errors."""
        if not isinstance(records, list):
            self.fail(f"a list of entries is missing or of another type, got {brief(records)}.")
        for number, record in enumerate(records, 1):
            self.place = f"entry {number}: "
            yield record


def _label_reader(grades):
    """Return a function from a number or a text such as "2 highly" to a label; None stays None."""
    known = None if grades is None else named_grades(grades)
    texts = {} if known is None else grade_texts(known)

    def label_of(value):
        if value is None or value == "":
            return None
        found = texts.get(value) if isinstance(value, str) else value
        if found is None:
            word = value.split()[0] if value.split() else ""
            try:
                found = float(word)
            except ValueError:
                found = value
        if not is_finite_number(found) or (known is not None and found not in known):
            shown = (
                "a number, or a text that begins with one" if known is None else ", ".join(texts)
            )
            raise InputError(f"the grade {brief(value)} is not valid: expected {shown}.")
        return float(found)

    return label_of


def _ids_of(queries):
    """Return {text: id} of the queries."""
    if queries is None:
        return None
    if not isinstance(queries, Mapping | pd.Series):
        raise InputError(f"queries must be a dict {{id: text}} or None, got {brief(queries)}.")
    ids = {str(text).strip(): str(key) for key, text in queries.items()}
    if len(ids) < len(queries):
        raise InputError("two queries have the same text, but Quepid identifies queries by text.")
    return ids


def _note(value):
    """Return a note, or None if it is empty."""
    return value.strip() or None if isinstance(value, str) else None


def _user(name):
    return None if name is None else str(name)


def _log(entries, text):
    # A document that was first skipped has several events.
    last = {event[1:3]: event for event in read_events(entries.name)}
    for pair, event in last.items():
        entries.place = f"document {brief(event.docno)} of query {brief(event.qid)}: "
        yield *pair, entries.label(event.label), event.assessor, event.note


def _label_studio(entries, text):
    for task in entries.of_list(entries.parsed(text)):
        pair = entries.pair(task["data"])
        for annotation in task["annotations"]:
            who = annotation.get("completed_by")
            if isinstance(who, dict):
                who = who.get("email") or who.get("id")
            grades, notes = [], []
            for value in (part.get("value", {}) for part in annotation["result"]):
                grades += value.get("choices", [])
                note = value.get("text", [])
                notes += note if isinstance(note, list) else [note]
            grade = entries.only(grades, "the grade")
            # A skipped task has no grade, even if one was chosen before.
            label = entries.label(None if annotation.get("was_cancelled") else grade)
            yield *pair, label, _user(who), _note("\n".join(map(str, notes)))


def _doccano(entries, text):
    who = Path(entries.name).stem
    who = None if who == "all" else who
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        entries.line = number
        record = entries.parsed(line)
        label = entries.label(entries.only(record.get("label", []), "'label'"))
        note = _note("\n".join(map(str, record.get("Comments") or [])))
        if label is not None or note:
            yield *entries.pair(record), label, who, note


def _argilla(entries, text):
    for record in entries.of_list(entries.parsed(text)):
        try:
            qid, docno = json.loads(record.get("id"))
        except (TypeError, ValueError):
            entries.fail(f"the id {brief(record.get('id'))} does not hold query and document.")
        pair = entries.pair({"qid": qid, "docno": docno})
        by_user: dict = {}
        for question in ("grade", "note"):
            for each in record["responses"].get(question, []):
                found = by_user.setdefault(each.get("user_id"), {})
                if question in found:
                    entries.fail(f"user {brief(each.get('user_id'))} answers {question!r} twice.")
                found[question] = each.get("value")
        for who, found in by_user.items():
            label = entries.label(found.get("grade"))
            yield *pair, label, _user(who), _note(found.get("note"))


def _quepid(entries, text):
    if not text.lstrip().startswith("{"):
        yield from _quepid_ratings(entries, text)
        return
    for record in entries.of_list(entries.parsed(text).get("query_doc_pairs")):
        fields = record.get("document_fields")
        fields = entries.parsed(fields) if isinstance(fields, str) and fields else fields
        qid = fields.get("qid") if isinstance(fields, dict) else None
        qid = qid or entries.qid(record["query_text"])
        pair = entries.pair({"qid": qid, "docno": record.get("doc_id")})
        for each in record["judgements"]:
            is_open = each.get("unrateable") or each.get("judge_later")
            label = entries.label(None if is_open else each.get("rating"))
            yield *pair, label, each.get("user_email"), _note(each.get("explanation"))


def _quepid_ratings(entries, text):
    """Read the ratings of a case as CSV, which have no assessor."""
    lines = csv.reader(io.StringIO(text, newline=""))
    head = [name.strip().lower() for name in next(lines, [])]
    places = [
        next((head.index(name) for name in names if name in head), None)
        for names in (_QUERY_NAMES, _DOCUMENT_NAMES, ("rating",))
    ]
    entries.line = 1
    if None in places:
        entries.fail(
            f"the columns must be query, docid and rating, got {brief_list(head) or 'none'}."
        )
    for row in lines:
        entries.line = lines.line_num
        # A query without ratings has a row with empty other fields.
        query, docno, rating = (row[place].strip() if place < len(row) else "" for place in places)
        if docno and rating:
            yield entries.qid(query), docno, entries.label(rating), None, None


_READERS = {
    "page": _log,
    "label-studio": _label_studio,
    "doccano": _doccano,
    "argilla": _argilla,
    "quepid": _quepid,
}


@dataclass(frozen=True, eq=False, repr=False)
class MergedAnswers(Result):
    """Answers of several assessors, as `merge_answers` returns them.

    Attributes
    ----------
    answers : DataFrame of shape (n_answers, 5)
        Every answer: columns "qid", "docno", "label" (NaN where there is none), "assessor" and
        "note".
    agreement : AssessorAgreement or None
        Agreement of the assessors; None if no document has labels of two assessors.
    """

    answers: pd.DataFrame
    agreement: AssessorAgreement | None

    @property
    def qrels(self) -> pd.DataFrame:
        """Documents whose labels are all the same: columns "qid", "docno" and "label"."""
        labels = self.answers.dropna(subset="label")
        found = labels.groupby(KEY, sort=False)["label"].agg(["min", "max"])
        found = found[found["min"] == found["max"]]
        return found["min"].rename("label").reset_index()

    @property
    def conflicts(self) -> pd.DataFrame:
        """Answers to documents with different labels, the largest differences first."""
        labels = self.answers.dropna(subset="label")
        by_document = labels.groupby(KEY, sort=False)["label"]
        spread = by_document.transform("max") - by_document.transform("min")
        # Answers to one document are sorted together.
        order = pd.DataFrame({"spread": -spread, "document": by_document.ngroup()})
        order = order[spread > 0].sort_values(["spread", "document"], kind="stable")
        return labels.loc[order.index].reset_index(drop=True)

    def to_frame(self) -> pd.DataFrame:
        """Return the answers."""
        return self.answers.copy()

    def write_log(self, path, pool, *, grades=None, assessor: str | None = None) -> None:
        """Write the answers of one assessor as a log that :func:`judge` can continue.

        Parameters
        ----------
        path : str or PathLike
            The log.
        pool : DataFrame or MultiIndex
            Columns or index levels "qid" and "docno": the documents to judge.
        grades : list of numbers, or dict {number: name}, default=None
            The allowed labels. None allows any.
        assessor : str, default=None
            Name of the assessor. None means the only assessor.

        Raises
        ------
        ValueError
            If there is no such assessor, an answer is about a document outside the pool, or a label
            is not one of the grades.
        """
        check_target(path, "merged.write_log(path, pool)", may_be_open=False)
        names = self.answers["assessor"].unique().tolist()
        if assessor is None and len(names) == 1:
            assessor = names[0]
        if assessor not in names:
            raise InputError(f"assessor must be one of {brief_list(names)}, got {brief(assessor)}.")
        pairs = pool_pairs(pool)
        known, grades = set(pairs), None if grades is None else named_grades(grades)
        lines = [header_of(Pool.of(*zip(*pairs)), grades and logged_grades(grades))]
        mine = self.answers[self.answers["assessor"] == assessor]
        for qid, docno, label, who, note in mine.itertuples(index=False, name=None):
            if (qid, docno) not in known:
                raise InputError(
                    f"{assessor} answers to document {brief(docno)} of query {brief(qid)}, which "
                    "is not in the pool: pass the pool that was judged."
                )
            is_label = label == label
            if is_label and grades is not None and label not in grades:
                raise InputError(f"the label {label:g} of {assessor} is not one of the grades.")
            label = int(label) if is_label and label.is_integer() else label
            event = Event("label" if is_label else "skip", qid, docno, label, who, note)
            lines.append(line_of(event))
        with open_for_writing(path) as write:
            write(b"".join(lines).decode())

    def _summary(self):
        n_assessors = self.answers["assessor"].nunique()
        n_documents = len(self.answers.drop_duplicates(KEY))
        n_conflicts = len(self.conflicts.drop_duplicates(KEY))
        return (
            f"{counted(len(self.answers), 'answer')} of {counted(n_assessors, 'assessor')} to "
            f"{counted(n_documents, 'document')}, {n_conflicts:,} with different labels"
        )

    def _head(self):
        # The table shows only disagreements.
        return f"{self._summary()}\n{self.agreement}" if len(self.conflicts) else self._summary()

    def _table(self):
        conflicts = self.conflicts
        if conflicts["note"].isna().all():
            conflicts = conflicts.drop(columns="note")
        return conflicts.fillna("") if len(conflicts) else None


def merge_answers(answers, *, scale: str = "ordinal", gains=None) -> MergedAnswers:
    """Merge the answers of several assessors.

    Parameters
    ----------
    answers : list of paths and DataFrames, or dict {name: path or DataFrame}
        Logs of :func:`judge` or of its page, or results of `read_judging_answers`. Answers without
        an assessor's name get the name from the dict or the file.
    scale, gains :
        As in :func:`assessor_agreement`.

    Returns
    -------
    MergedAnswers
        `answers`, all of them; `agreement`, as :func:`assessor_agreement` returns it, or None;
        `qrels` and `conflicts`, the documents with equal and with different labels. Its method
        `write_log` writes one assessor's answers as a log that :func:`judge` can continue.

    Raises
    ------
    ValueError
        If a table has no names of assessors and none is passed, or if an assessor has two answers
        to a document.

    See Also
    --------
    read_judging_answers : Reads the answers of one file.
    assessor_agreement : The agreement alone.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import merge_answers
    >>> documents = pd.DataFrame({"qid": "1", "docno": list("abc")})
    >>> merged = merge_answers(
    ...     {"anna": documents.assign(label=[2, 1, 0]), "bob": documents.assign(label=[2, 0, 0])}
    ... )
    >>> print(merged)
    6 answers of 2 assessors to 3 documents, 1 with different labels
    ordinal alpha 0.7778 of 2 assessors, 1 of 3 documents with different labels
    first second  n_both  agreement  unweighted kappa  overlap
     anna    bob       3     0.6667            0.5000   0.5000
    qid docno  label assessor
      1     b 1.0000     anna
      1     b 0.0000      bob
    >>> merged.qrels
      qid docno  label
    0   1     a    2.0
    1   1     c    0.0
    """
    if isinstance(answers, Mapping):
        sources = list(answers.items())
    else:
        if is_path(answers) or isinstance(answers, pd.DataFrame):
            answers = [answers]
        found = as_list(answers, "answers", "paths or DataFrames")
        sources = [(_name_of(each), each) for each in found]
    if not sources:
        raise InputError("answers is empty: pass at least one log or table.")
    table = pd.concat([_table_of(name, source) for name, source in sources], ignore_index=True)
    # Equal answers of one assessor, as in a log saved twice, are allowed.
    table = table.drop_duplicates(ignore_index=True)
    again = table.duplicated([*KEY, "assessor"])
    if again.any():
        row = table[again].iloc[0]
        raise InputError(
            f"assessor {brief(row['assessor'])} has two answers to document {brief(row['docno'])} "
            f"of query {brief(row['qid'])}: keep the file that was saved last."
        )
    labelled = table.dropna(subset="label")
    if not labelled.duplicated(KEY).any():
        return MergedAnswers(table, None)
    labels = dict(iter(labelled.groupby("assessor", sort=False)))
    return MergedAnswers(table, assessor_agreement(labels, scale=scale, gains=gains))


def _name_of(source):
    """Return an assessor's name from the name of a log; None for a table."""
    return name_of_path(os.fspath(source).removesuffix(".log")) if is_path(source) else None


def _table_of(name, source):
    """Return the answers of a source, with names of assessors."""
    if is_path(source):
        source = read_judging_answers(source)
    frame = key_columns(source, "each of answers", "label")
    frame = frame.reindex(columns=_COLUMNS).astype(
        {"qid": "str", "docno": "str", "label": "float64", "assessor": object, "note": object}
    )
    unnamed = frame["assessor"].isna()
    if unnamed.any() and name is None:
        raise InputError("a table of answers has no names of assessors: pass a dict {name: table}.")
    frame["assessor"] = frame["assessor"].where(~unnamed, name)
    frame["note"] = frame["note"].where(frame["note"].notna(), None)
    return frame
