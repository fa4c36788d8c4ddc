"""Judgments that are there before the judging begins."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from skfilterrank._core.results import counted
from skfilterrank.cli._documents import joined
from skfilterrank.cli._run_files import named_paths, read_judgments, without_machines
from skfilterrank.cli._streams import tell
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import assessor_agreement, likely_errors

_KEY = ["qid", "docno"]


@dataclass(frozen=True)
class Judged:
    """What others judged.

    Attributes
    ----------
    labels : Series
        The labels that stand unless there are new ones, by topic and document.
    known : Series
        Those of them that are not asked about again.
    pool : MultiIndex
        Every document that they judged, or had to judge.
    remarks : dict of (str, str) to str
        What is said beside documents that are asked about again.
    """

    labels: pd.Series
    known: pd.Series
    pool: pd.Index
    remarks: dict = field(default_factory=dict)

    def doubted(self, documents, arguments) -> "Judged":
        """The same with the most doubtful labels no longer known."""
        if not arguments.second_look:
            return self
        texts = joined(documents)
        table = self.labels.reset_index()
        table["text"] = texts.reindex(table["docno"]).fillna("").to_numpy(dtype=object)
        found = likely_errors(table, random_state=arguments.seed)
        tell(
            f"{counted(len(found), 'label')} of {len(table):,} that a model and similar documents "
            "contradict"
        )
        remarks = dict(self.remarks)
        for row in found.head(arguments.second_look).itertuples():
            said = f"label {row.label:g}; a model says {row.predicted:g}, "
            said += f"similar documents {row.neighbors:.1f}"
            remarks[row.qid, row.docno] = said
            tell(f"topic {row.qid}, document {row.docno}: {said}")
        asked = self.known.index.isin(list(remarks))
        return replace(self, known=self.known[~asked], remarks=remarks)


def _read(path, arguments):
    """The judgments of a file, whose labels must be those that are given now."""
    qrels = read_judgments(path, arguments, predicted="use")
    qrels = without_machines(qrels, path)
    labels = qrels["label"].dropna()
    others = np.unique(labels[~labels.isin(list(arguments.grades))])
    if len(others):
        mark = f"say --unjudged-label={others[0]:g} where it means not judged, or "
        raise InputError(
            f"{path} holds the label {others[0]:g}, which is none of --grades: "
            f"{mark if others[0] < 0 else ''}add it to --grades."
        )
    return qrels


def read_judged(arguments) -> Judged:
    """The judgments of --judged; of several assessors, those on which they agree."""
    sources = {name: _read(path, arguments) for name, path in named_paths(arguments.judged).items()}
    if len(sources) < 2:
        empty = pd.DataFrame({"qid": [], "docno": [], "label": []}).astype({"label": np.float64})
        labels = next(iter(sources.values()), empty).set_index(_KEY)["label"]
        return Judged(labels.dropna(), labels.dropna(), labels.index)
    found = assessor_agreement(sources)
    for line in str(found).splitlines():
        tell(line)
    labels = found.agreed.set_index(_KEY)["label"]
    pool = pd.concat([frame[_KEY] for frame in sources.values()]).drop_duplicates()
    remarks = {
        pair: ", ".join(f"{name}: {label:g}" for name, label in row.dropna().items())
        for pair, row in found.disagreements.iterrows()
    }
    return Judged(labels, labels, pd.MultiIndex.from_frame(pool), remarks)
