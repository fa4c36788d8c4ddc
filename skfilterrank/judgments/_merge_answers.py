"""Answers of several assessors as one table, with their agreement."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from skfilterrank._files.files import check_target, is_path, open_for_writing
from skfilterrank._files.named_runs import name_of_path
from skfilterrank._lists.checks import as_list
from skfilterrank._lists.results import Result, counted
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.judgments._assessor_agreement import AssessorAgreement, assessor_agreement
from skfilterrank.judgments._judging_answers import read_judging_answers
from skfilterrank.judgments._judging_tasks import logged_grades, named_grades, pool_pairs
from skfilterrank.judgments._judgment_log import Event, Pool, header_of, line_of

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
        """The answers."""
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
                    f"{assessor} answers to document {brief(docno)} of topic {brief(qid)}, which "
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
        # Where nobody disagrees there is no table.
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
        All answers, the agreement, and the documents with different labels.

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
            f"of topic {brief(row['qid'])}: keep the file that was saved last."
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
