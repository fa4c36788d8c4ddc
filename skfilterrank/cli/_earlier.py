"""Judgments and labels of machines that are there before the judging begins."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank.exceptions import InputError, brief_list
from skfilterrank.judgments import assessor_agreement, likely_errors, merge_answers

_KEY = ["qid", "docno"]
# As many as digits: more are scores.
_MOST_GRADES = 10


@dataclass
class EarlierJudgments:
    """Judgments of assessors, and which of them are asked about again.

    Attributes
    ----------
    labels : Series
        The labels that stand unless there are new ones, by topic and document.
    pool : MultiIndex
        Every document that was judged, or had to be.
    remarks : dict of (str, str) to str
        Text beside documents that are asked about again.
    agreement : object or None
        How far several assessors agree.
    """

    labels: pd.Series
    pool: pd.Index
    remarks: dict = field(default_factory=dict)
    agreement: Any = None

    @classmethod
    def of(cls, sources, answers) -> "EarlierJudgments":
        """Return the labels of one assessor, or those on which several agree.

        Sources are judgments by the assessor's name, answers are tables of `read_judging_answers`
        by the file's name, of any number of assessors; their notes are among the remarks.
        """
        notes = {}
        if answers:
            table = merge_answers(answers).answers
            own = {name: rows[[*_KEY, "label"]] for name, rows in table.groupby("assessor")}
            if both := sorted(sources.keys() & own.keys()):
                raise InputError(
                    f"two files hold judgments of {brief_list(both)}: give each assessor's once, "
                    "and name assessors apart."
                )
            sources = sources | own
            noted = table.dropna(subset="note")[[*_KEY, "assessor", "note"]]
            notes = {tuple(row[:3]): f" ({row[3]})" for row in noted.itertuples(index=False)}
        if len(sources) < 2:
            empty = pd.DataFrame({"qid": [], "docno": [], "label": np.array([], dtype=float)})
            labels = next(iter(sources.values()), empty).set_index(_KEY)["label"]
            return cls(labels.dropna(), labels.index)
        found = assessor_agreement(sources)
        pool = pd.concat([frame[_KEY] for frame in sources.values()]).drop_duplicates()
        rows = found.disagreements
        remarks = {
            pair: ", ".join(
                f"{name}: {label:g}{notes.get((*pair, name), '')}"
                for name, label in row.dropna().items()
            )
            for pair, (_, row) in zip(rows.index.tolist(), rows.iterrows())
        }
        agreed = found.agreed.set_index(_KEY)["label"]
        return cls(agreed, pd.MultiIndex.from_frame(pool), remarks, found)

    @property
    def known(self) -> pd.Series:
        """The labels that are not asked about again."""
        return self.labels[~self.labels.index.isin(list(self.remarks))]

    def doubt(self, texts, n_most, random_state) -> tuple[int, dict]:
        """Ask again about the most doubtful labels; return how many there are, and remarks."""
        table = self.labels.reset_index()
        table["text"] = texts.reindex(table["docno"]).fillna("").to_numpy(dtype=object)
        found = likely_errors(table, random_state=random_state)
        remarks = {
            (row.qid, row.docno): f"label {row.label:g}; a model says {row.predicted:g}, "
            f"similar documents {row.neighbors:.1f}"
            for row in found.head(n_most).itertuples()
        }
        self.remarks |= remarks
        return len(found), remarks


def machine_grades(machines) -> list | None:
    """Return grades as machines give them, and those between; None where they are no grades."""
    found = np.unique([label for table in machines for label in table["label"].unique()])
    found = found[~np.isnan(found)]
    # A grade between that no machine gave is one nevertheless.
    found = np.union1d(found, np.arange(found.max(initial=0).clip(max=_MOST_GRADES) + 1))
    if not 1 < len(found) <= _MOST_GRADES or (found % 1).any():
        return None
    return found.tolist()
