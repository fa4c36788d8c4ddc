"""Judgments that are there before the judging begins."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from skfilterrank.judgments._assessors.agreement import AssessorAgreement, assessor_agreement
from skfilterrank.judgments._assessors.likely_errors import likely_errors

_KEY = ["qid", "docno"]


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
    agreement : AssessorAgreement or None
        How far several assessors agree.
    """

    labels: pd.Series
    pool: pd.Index
    remarks: dict = field(default_factory=dict)
    agreement: AssessorAgreement | None = None

    @classmethod
    def of(cls, sources, notes) -> "EarlierJudgments":
        """Return the labels of one assessor, or those on which several by name agree.

        Notes are texts by topic, document and name, for what is said beside other documents.
        """
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
