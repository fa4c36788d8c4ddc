"""Answers that come back from the page or from labelling tools."""

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from skfilterrank._files.files import (
    check_target,
    decode,
    is_path,
    open_for_writing,
    parse_json,
    read_bytes,
)
from skfilterrank._files.named_runs import name_of_path
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

_COLUMNS = ["qid", "docno", "label", "assessor", "note"]
_QUERY_NAMES, _DOCUMENT_NAMES = ("query", "query text"), ("docid", "doc id", "doc_id")


def read_judging_answers(path, *, tool: str = "page", grades=None, queries=None) -> pd.DataFrame:
    """Read the answers of a judgment log, or those that a labelling tool exports.

    Parameters
    ----------
    path : str or PathLike
        The log of the page or of :func:`judge`; the JSON of Label Studio, not its short form
        "JSON-MIN"; the JSON lines of doccano, a file for each user, after whom it is named; what
        Argilla's `to_json` writes; or Quepid's book as JSON, or its ratings as CSV.
    tool : {"page", "label-studio", "doccano", "argilla", "quepid"}, default="page"
        Where the answers come from.
    grades : list of numbers, or dict {number: name}, default=None
        The labels that could be given, with their names: others are an error. None takes any text
        that begins with a number.
    queries : dict, default=None
        Texts of the queries by their ids, for ratings of Quepid as CSV, which know texts alone.
        None takes the texts for ids.

    Returns
    -------
    DataFrame of shape (n_answers, 5)
        Columns "qid", "docno", "label" (float, NaN for what was skipped or left without a grade
        but has a note), "assessor" and "note" (None where there is none).

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
    name = os.fspath(path)
    label_of, ids = _label_reader(grades), _ids_of(queries)
    text = "" if tool == "page" else decode(read_bytes(path), name).removeprefix("\ufeff")
    rows = _READERS[tool](_Entries(text, name), label_of, ids)
    frame = pd.DataFrame(rows, columns=_COLUMNS, dtype=object)
    return frame.astype({"qid": "str", "docno": "str", "label": "float64"})


class _Entries:
    """The entries of a file, each with its place for errors."""

    def __init__(self, text, name):
        self.text, self.name, self.line, self.place = text, name, None, ""

    def fail(self, message):
        """Raise the error of the entry that is read."""
        raise FileFormatError(f"{self.place}{message}", self.name, self.line)

    def check(self, value, kind, what):
        """Return a value of this type; other types are an error."""
        if not isinstance(value, kind):
            self.fail(f"{what} is missing or of another type, got {brief(value)}.")
        return value

    def ids(self, record):
        """Query and document of an object, which came with the task."""
        return tuple(self.check(record.get(key), str, f"{key!r}") for key in ("qid", "docno"))

    def _parsed(self, text):
        try:
            return parse_json(text)
        except InputError as error:
            self.fail(f"it is no JSON: {error}.")

    def of_list(self, records):
        """Objects of a list of JSON, from 1."""
        for number, record in enumerate(self.check(records, list, "a list of entries"), 1):
            self.place = f"entry {number}: "
            yield self.check(record, dict, "an object")

    def whole(self):
        """Content of a JSON file."""
        return self._parsed(self.text)

    def of_lines(self):
        """Objects of lines of JSON."""
        for number, line in enumerate(self.text.split("\n"), 1):
            if line.strip():
                self.line = number
                yield self.check(self._parsed(line), dict, "an object")


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
            raise InputError(f"the grade {brief(value)} is none: expected {shown}.")
        return float(found)

    return label_of


def _ids_of(queries):
    """Return ids of queries by their texts."""
    if queries is None:
        return None
    if not isinstance(queries, Mapping | pd.Series):
        raise InputError(f"queries must be a dict {{id: text}} or None, got {brief(queries)}.")
    ids = {str(text).strip(): str(key) for key, text in queries.items()}
    if len(ids) < len(queries):
        raise InputError("two queries have one text, by which Quepid knows them.")
    return ids


def _label(entries, label_of, value):
    """Return the label of an entry, whose error names the entry."""
    try:
        return label_of(value)
    except InputError as error:
        return entries.fail(str(error))


def _only(entries, values, what):
    """Return the one value of a list, None where it is empty."""
    values = entries.check(values, list, what)
    if len(values) > 1:
        entries.fail(f"{what} has {len(values)} values, expected one: choose one of them.")
    return values[0] if values else None


def _note(value):
    """Return a note that holds something, or None."""
    return value.strip() or None if isinstance(value, str) else None


def _log(entries, label_of, ids):
    # A document that was skipped before its answer has several events.
    last = {event[1:3]: event for event in read_events(entries.name)}
    for pair, event in last.items():
        entries.place = f"document {brief(event.docno)} of query {brief(event.qid)}: "
        yield *pair, _label(entries, label_of, event.label), event.assessor, event.note


def _label_studio(entries, label_of, ids):
    for task in entries.of_list(entries.whole()):
        pair = entries.ids(entries.check(task.get("data"), dict, "'data'"))
        for annotation in entries.check(task.get("annotations"), list, "'annotations'"):
            annotation = entries.check(annotation, dict, "an annotation")
            who = annotation.get("completed_by")
            if isinstance(who, dict):
                who = who.get("email") or who.get("id")
            found: dict = {"grade": [], "note": []}
            for part in entries.check(annotation.get("result"), list, "'result'"):
                value = part.get("value", {}) if isinstance(part, dict) else {}
                if "choices" in value:
                    found["grade"] += entries.check(value["choices"], list, "'choices'")
                if "text" in value:
                    text = value["text"]
                    found["note"] += text if isinstance(text, list) else [text]
            grade = _only(entries, found["grade"], "the grade")
            # A task that was passed over has no grade, whatever was chosen before.
            grade = None if annotation.get("was_cancelled") else grade
            label = _label(entries, label_of, grade)
            note = _note("\n".join(map(str, found["note"])))
            yield *pair, label, None if who is None else str(who), note


def _doccano(entries, label_of, ids):
    who = Path(entries.name).stem
    who = None if who == "all" else who
    for record in entries.of_lines():
        label = _label(entries, label_of, _only(entries, record.get("label", []), "'label'"))
        note = _note("\n".join(map(str, record.get("Comments") or [])))
        if label is not None or note:
            yield *entries.ids(record), label, who, note


def _argilla(entries, label_of, ids):
    for record in entries.of_list(entries.whole()):
        try:
            qid, docno = json.loads(record.get("id"))
        except (TypeError, ValueError):
            entries.fail(f"the id {brief(record.get('id'))} does not hold query and document.")
        pair = entries.ids({"qid": qid, "docno": docno})
        responses = entries.check(record.get("responses"), dict, "'responses'")
        by_user: dict = {}
        for question in ("grade", "note"):
            for each in entries.check(responses.get(question, []), list, f"{question!r}"):
                each = entries.check(each, dict, "a response")
                who = by_user.setdefault(each.get("user_id"), {})
                if question in who:
                    entries.fail(f"user {brief(each.get('user_id'))} answers {question!r} twice.")
                who[question] = each.get("value")
        for who, found in by_user.items():
            label = _label(entries, label_of, found.get("grade"))
            yield *pair, label, None if who is None else str(who), _note(found.get("note"))


def _quepid(entries, label_of, ids):
    if not entries.text.lstrip().startswith("{"):
        yield from _quepid_ratings(entries, label_of, ids)
        return
    book = entries.whole()
    for record in entries.of_list(book.get("query_doc_pairs")):
        fields = record.get("document_fields")
        fields = entries._parsed(fields) if isinstance(fields, str) and fields else fields
        fields = fields if isinstance(fields, dict) else {}
        qid = fields.get("qid") or _qid(entries, record.get("query_text"), ids)
        pair = entries.ids({"qid": qid, "docno": record.get("doc_id")})
        for each in entries.check(record.get("judgements"), list, "'judgements'"):
            each = entries.check(each, dict, "a judgement")
            is_open = each.get("unrateable") or each.get("judge_later")
            label = None if is_open else _label(entries, label_of, each.get("rating"))
            yield *pair, label, each.get("user_email"), _note(each.get("explanation"))


def _quepid_ratings(entries, label_of, ids):
    """Ratings of a case as CSV; they are of nobody in particular."""
    lines = csv.reader(io.StringIO(entries.text, newline=""))
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
        # A query without ratings has a row of its own, which ends behind it.
        query, docno, rating = (row[place].strip() if place < len(row) else "" for place in places)
        if docno and rating:
            yield _qid(entries, query, ids), docno, _label(entries, label_of, rating), None, None


def _qid(entries, text, ids):
    """Id of a query by its text."""
    text = entries.check(text, str, "the text of the query").strip()
    if ids is None:
        return text
    return ids.get(text) or entries.fail(f"no query of queries= has the text {brief(text)}.")


_READERS = {
    "page": _log,
    "label-studio": _label_studio,
    "doccano": _doccano,
    "argilla": _argilla,
    "quepid": _quepid,
}


_KEY = ["qid", "docno"]


@dataclass(frozen=True, eq=False, repr=False)
class MergedAnswers(Result):
    """Answers of several assessors, as `merge_answers` returns them.

    Attributes
    ----------
    answers : DataFrame of shape (n_answers, 5)
        Every answer: columns "qid", "docno", "label" (NaN where there is none), "assessor" and
        "note".
    agreement : AssessorAgreement or None
        How far the assessors agree; None where no document has labels of two.
    """

    answers: pd.DataFrame
    agreement: AssessorAgreement | None

    @property
    def qrels(self) -> pd.DataFrame:
        """Documents whose labels are all the same: columns "qid", "docno" and "label"."""
        labels = self.answers.dropna(subset="label")
        found = labels.groupby(_KEY, sort=False)["label"].agg(["min", "max"])
        found = found[found["min"] == found["max"]]
        return found["min"].rename("label").reset_index()

    @property
    def conflicts(self) -> pd.DataFrame:
        """The answers to documents with different labels, the greatest differences first."""
        labels = self.answers.dropna(subset="label")
        by_document = labels.groupby(_KEY, sort=False)["label"]
        spread = by_document.transform("max") - by_document.transform("min")
        # Answers to one document stay together.
        order = pd.DataFrame({"spread": -spread, "document": by_document.ngroup()})
        order = order[spread > 0].sort_values(["spread", "document"], kind="stable")
        return labels.loc[order.index].reset_index(drop=True)

    def to_frame(self) -> pd.DataFrame:
        """Return the answers."""
        return self.answers.copy()

    def write_log(self, path, pool, *, grades=None, assessor: str | None = None) -> None:
        """Write the answers of one assessor as a log that :func:`judge` goes on with.

        Parameters
        ----------
        path : str or PathLike
            The log.
        pool : DataFrame or MultiIndex
            Columns or index levels "qid" and "docno": what is judged.
        grades : list of numbers, or dict {number: name}, default=None
            The labels that can be given. None takes any.
        assessor : str, default=None
            Whose answers to write. None takes those of the only assessor.

        Raises
        ------
        ValueError
            If there is no such assessor, an answer is to no document of the pool, or a label is
            none of the grades.
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
                raise InputError(f"the label {label:g} of {assessor} is none of the grades.")
            label = int(label) if is_label and label.is_integer() else label
            event = Event("label" if is_label else "skip", qid, docno, label, who, note)
            lines.append(line_of(event))
        with open_for_writing(path) as write:
            write(b"".join(lines).decode())

    def _summary(self):
        n_assessors = self.answers["assessor"].nunique()
        n_documents = len(self.answers.drop_duplicates(_KEY))
        n_conflicts = len(self.conflicts.drop_duplicates(_KEY))
        return (
            f"{counted(len(self.answers), 'answer')} of {counted(n_assessors, 'assessor')} to "
            f"{counted(n_documents, 'document')}, {n_conflicts:,} with different labels"
        )

    def _head(self):
        # Without disagreement there is no table.
        return f"{self._summary()}\n{self.agreement}" if len(self.conflicts) else self._summary()

    def _table(self):
        conflicts = self.conflicts
        if conflicts["note"].isna().all():
            conflicts = conflicts.drop(columns="note")
        return conflicts.fillna("") if len(conflicts) else None


def merge_answers(answers, *, scale: str = "ordinal", gains=None) -> MergedAnswers:
    """Bring the answers of several assessors together.

    Parameters
    ----------
    answers : list of paths and DataFrames, or dict {name: path or DataFrame}
        Logs of :func:`judge` or of its page, or what `read_judging_answers` returns. Answers
        without an assessor's name get that of the dict, or of the file.
    scale, gains :
        What `assessor_agreement` takes.

    Returns
    -------
    MergedAnswers
        `answers`, all of them; `agreement`, as :func:`assessor_agreement` returns it, or None;
        `qrels` and `conflicts`, the documents with equal and with different labels. Its method
        `write_log` writes one assessor's answers as a log that :func:`judge` goes on with.

    Raises
    ------
    ValueError
        If a table has no names of assessors and gets none, or one assessor gives a document two
        answers.

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
    # A log that was saved twice is no conflict.
    table = table.drop_duplicates(ignore_index=True)
    again = table.duplicated([*_KEY, "assessor"])
    if again.any():
        row = table[again].iloc[0]
        raise InputError(
            f"assessor {brief(row['assessor'])} has two answers to document {brief(row['docno'])} "
            f"of query {brief(row['qid'])}: keep the file that was saved last."
        )
    labels = {
        name: rows[[*_KEY, "label"]]
        for name, rows in table.dropna(subset="label").groupby("assessor", sort=False)
    }
    shared = pd.concat([*labels.values()]) if labels else table.iloc[:0]
    has_both = len(labels) > 1 and shared.duplicated(_KEY).any()
    agreement = assessor_agreement(labels, scale=scale, gains=gains) if has_both else None
    return MergedAnswers(table, agreement)


def _name_of(source):
    """Name of an assessor after a log, such as anna of anna.txt.log; None for a table."""
    return name_of_path(os.fspath(source).removesuffix(".log")) if is_path(source) else None


def _table_of(name, source):
    """Answers of a source, all with a name."""
    if is_path(source):
        source = read_judging_answers(source)
    if not isinstance(source, pd.DataFrame) or not {*_KEY, "label"} <= set(source.columns):
        raise InputError(
            "answers must be paths, or DataFrames with columns 'qid', 'docno' and 'label', got "
            f"{brief(source)}."
        )
    frame = source.reindex(columns=[*_KEY, "label", "assessor", "note"]).astype(
        {"qid": "str", "docno": "str", "label": "float64", "assessor": object, "note": object}
    )
    unnamed = frame["assessor"].isna()
    if unnamed.any() and name is None:
        raise InputError("a table of answers has no names of assessors: pass a dict {name: table}.")
    frame["assessor"] = frame["assessor"].where(~unnamed, name)
    frame["note"] = frame["note"].where(frame["note"].notna(), None)
    return frame
