"""Judging a sample of known probabilities, from which values with intervals are estimated."""

from bisect import bisect_left
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from skfilterrank import judgments
from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.results import counted
from skfilterrank.cli._documents import read_pool
from skfilterrank.cli._label_gains import match_gains, with_other_labels
from skfilterrank.cli._run_files import named_paths, read_named_runs
from skfilterrank.cli._streams import tell
from skfilterrank.cli.judge.options import DEPTH, MEASURES
from skfilterrank.estimation import RankedPool, draw_sample
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import read_qrels, write_prels

_KEY = ["qid", "docno"]
# As many as digits: more are scores.
_MOST_GRADES = 10


@dataclass(frozen=True)
class DrawnSample:
    """A sample, and how to draw a smaller one.

    Attributes
    ----------
    table : DataFrame
        What `draw_sample` returned.
    draw : callable
        From a number of documents (or topics) to such a table.
    unit : {"document", "query"}
        What was drawn.
    """

    table: pd.DataFrame
    draw: object
    unit: str

    @property
    def index(self) -> pd.MultiIndex:
        """Topic and document of each row."""
        return pd.MultiIndex.from_frame(self.table[_KEY])

    def selector(self):
        """The order of the sample as a strategy."""
        prior = np.arange(len(self.table), 0, -1)
        return judgments.PriorSelector().fit(
            prior[:, None], groups=self.table["qid"].to_numpy(), prior=prior
        )

    def check_texts(self, rows, path) -> None:
        """All must be judged, and so there must be a text of each."""
        if len(rows):
            shown = ", ".join(brief(docno) for docno in self.table["docno"].iloc[rows[:3]])
            raise InputError(
                f"{path} holds no text of {counted(len(rows), 'document')} of the sample, such as "
                f"{shown}: without all of its labels a sample gives no interval; add the texts."
            )

    def write(self, path, labels) -> None:
        """Write the labels with their probabilities; of what is not finished, a smaller sample."""
        table = self._labelled(self.table, labels)
        n_all, n_open = len(table), int(table["label"].isna().sum())
        if n_open:
            tell(
                f"{n_open:,} of {counted(n_all, 'document')} of the sample are not yet judged: "
                "give the same command again to go on"
            )
            try:
                table = self._finished(labels)
            except InputError as error:
                Path(path).unlink(missing_ok=True)
                tell(f"{path} is not written: {error}")
                return
        write_prels(path, table)
        which = f", a sample by themselves: the first of {n_all:,} documents" if n_open else ""
        tell(f"{len(table):,} judgments with their probabilities in {path}{which}")

    def _labelled(self, table, labels):
        index = pd.MultiIndex.from_frame(table[_KEY])
        return table.assign(label=labels.reindex(index).to_numpy())

    def _finished(self, labels):
        """The largest sample at the begin of this one of which all is judged."""
        table = self._labelled(self.table, labels)
        drawn = table[self.table["label"].isna()]
        is_open = drawn["label"].isna()
        if self.unit == "query":
            is_open = is_open.groupby(drawn["qid"], sort=False).any()
        n_done = int(is_open.to_numpy().argmax())
        # Of few, some documents of the pool could not be drawn.
        least = bisect_left(range(1, len(is_open)), True, key=self._is_sample) + 1
        if n_done < least:
            what = "document" if self.unit == "document" else "whole topic"
            raise InputError(
                f"so few are no sample from which an interval can be had; judge at least "
                f"{counted(least - n_done, f'more {what}')}, in the order of the sample"
            )
        return self._labelled(self.draw(n_total=n_done), labels)

    def _is_sample(self, n_total):
        """Whether every document of the pool could be among so many."""
        try:
            self.draw(n_total=n_total)
        except InputError:
            return False
        return True


def read_machines(arguments) -> dict:
    """Labels of each machine, by name."""
    return {
        name: read_qrels(path, unjudged_label=None, predicted="use")
        for name, path in named_paths(arguments.machine_qrels).items()
    }


def machine_grades(machines) -> dict | None:
    """Grades as the machines give them, and those between; None where they are no grades."""
    found = np.unique([label for table in machines.values() for label in table["label"].unique()])
    found = found[~np.isnan(found)]
    # A grade between that no machine gave is one nevertheless.
    found = np.union1d(found, np.arange(found.max(initial=0).clip(max=_MOST_GRADES) + 1))
    if not 1 < len(found) <= _MOST_GRADES or (found % 1).any():
        return None
    return dict.fromkeys(found.tolist(), "")


def drawn_sample(arguments, judged, machines) -> DrawnSample:
    """Draw what `arguments` ask for; what is judged already is kept."""
    if not arguments.runs:
        raise InputError("--strategy sample draws what decides between runs: name them by --runs.")
    if arguments.n_total is None:
        raise InputError(
            "--strategy sample needs --n-total, the number or share of documents to judge over "
            "all topics."
        )
    runs = read_named_runs(arguments.runs, arguments)
    documents = None
    if arguments.pool is not None:
        documents = read_pool(arguments.pool)[0].to_frame(index=False)
    elif not machines:
        depth = DEPTH if arguments.depth == 0 else arguments.depth
        documents = judgments.rank_table(runs, depth=depth).index.to_frame(index=False)
    if arguments.depth != 0 and (arguments.pool or machines):
        raise InputError(
            "--depth makes a pool of the runs: leave out it, or POOL and --machine-qrels, whose "
            "documents are the pool."
        )
    known = judged.labels.rename("label").reset_index()
    grades = {"--grades": pd.Series(list(arguments.grades), dtype=float)}
    draw = partial(
        draw_sample,
        None,
        RankedPool.read(machines or None, runs, pool=documents),
        parse_measures(arguments.measures or MEASURES),
        unit=arguments.unit,
        judged=known if len(known) else None,
        gains=with_other_labels(match_gains(arguments.gains, grades), arguments.gains),
        random_state=arguments.seed,
    )
    sample = DrawnSample(draw(n_total=arguments.n_total), draw, arguments.unit)
    n_new = int(sample.table["label"].isna().sum())
    n_topics = sample.table["qid"].nunique()
    before = f", beside {len(known):,} judged before" if len(known) else ""
    tell(f"a sample of {counted(n_new, 'document')} of {counted(n_topics, 'topic')}{before}")
    return sample
