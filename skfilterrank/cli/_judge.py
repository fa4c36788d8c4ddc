"""Work of ``skfilterrank judge``: documents to ask about, and the judgments that are written."""

import contextlib
import os
import warnings
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank._files.files import read_bytes
from skfilterrank._files.locks import locked
from skfilterrank._files.named_runs import name_of_path
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank._lists.results import counted
from skfilterrank.cli._documents import joined, read_document_texts, read_pool, read_topics
from skfilterrank.cli._errors import refuse
from skfilterrank.cli._inputs import (
    Holes,
    match_gains,
    named_paths,
    numbered_gains,
    read_judgments,
    read_named_runs,
    with_other_labels,
    without_machines,
)
from skfilterrank.cli._output import progress, tell
from skfilterrank.cli._terminal import TerminalAssessor
from skfilterrank.cli._types import GRADES, POOL_DEPTH
from skfilterrank.exceptions import DataWarning, InputError, JudgmentLogError, brief_list
from skfilterrank.io import read_qrels, write_prels, write_qrels
from skfilterrank.judgments import (
    MaxRepSelector,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    RankedPool,
    StatAPSelector,
    assessor_agreement,
    draw_sample,
    judge,
    likely_errors,
    merge_answers,
    rank_table,
    read_judging_answers,
    read_judgment_log,
    statap_prior,
    write_judging_tasks,
)

_OF_RANKS: dict[str, Any] = {
    "pooling": PoolingSelector,
    "mtf": MoveToFrontSelector,
    "mtc": MTCSelector,
}
NEED_RANKS = (*_OF_RANKS, "prior", "statap")


def fit_strategy(
    name, pool, *, ranks=None, texts=None, judged=None, prior=None, random_state=0, verbose=0
):
    """Return the strategy of a name, fitted on a pool.

    The pool is a MultiIndex with levels "qid" and "docno". The ranks of its documents in runs, or
    a prior, are what all but "maxrep" and "random" look at; texts and what is judged are for
    "maxrep".
    """
    if name in _OF_RANKS:
        return _OF_RANKS[name]().fit(ranks)
    X, groups = np.zeros((len(pool), 1)), pool.get_level_values("qid")
    if name == "random":
        return RandomSelector(random_state=random_state).fit(X, groups=groups)
    if prior is None and ranks is not None:
        prior = statap_prior(ranks).loc[pool].to_numpy()
    if name == "maxrep":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of documents without text
            selector = MaxRepSelector(verbose=verbose)
            return selector.fit(list(texts), groups=groups, prior=prior, judged=judged)
    selector = StatAPSelector(random_state=random_state) if name == "statap" else PriorSelector()
    return selector.fit(X, groups=groups, prior=prior)


def finished_sample(sample, labels, *, draw, unit: str = "document") -> pd.DataFrame:
    """Return the largest sample at the begin of another one of which all is judged.

    Documents are those that `draw_sample` returned, labels a Series by query and document, and
    `draw` makes such a table of a smaller number, in the order of the first one.
    """
    labelled = _with_labels(sample, labels)
    drawn = labelled[sample["label"].isna()]
    is_open = drawn["label"].isna()
    if unit == "query":
        is_open = is_open.groupby(drawn["qid"], sort=False).any()
    n_done = int(is_open.to_numpy().argmax())

    def is_sample(n_total):
        try:
            draw(n_total=n_total)
        except InputError:
            return False
        return True

    # With few, some documents of the pool could not be drawn.
    least = bisect_left(range(1, len(is_open)), True, key=is_sample) + 1
    if n_done < least:
        what = "document" if unit == "document" else "whole query"
        raise InputError(
            f"so few are no sample from which an interval can be had; judge at least "
            f"{counted(least - n_done, f'more {what}')}, in the order of the sample"
        )
    return _with_labels(draw(n_total=n_done), labels)


def _with_labels(sample, labels):
    """Return a sample with the labels of its documents."""
    index = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
    return sample.assign(label=labels.reindex(index).to_numpy())


_KEY = ["qid", "docno"]
# One for each digit key; more grades are scores.
_MOST_GRADES = 10
# Measures of a sample that count forbidden documents alone.
_OF_HARM = ("any_forbidden", "forbidden")


@dataclass
class EarlierJudgments:
    """Judgments of assessors, and which of them are asked about again.

    Attributes
    ----------
    labels : Series
        The labels that stand unless there are new ones, by query and document.
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


_KEY = ["qid", "docno"]
_SHOWN = 20


class JudgingSession:
    """Documents to ask about, in the order of a strategy, and earlier judgments.

    Parameters
    ----------
    given : Namespace
        Values of the options.
    """

    def __init__(self, given):
        self.given, self.log = given, Path(f"{given.out}.log")
        self.is_sample = given.strategy == "sample"
        self.holes = Holes.of(given.holes, only=("unjudged_label",), predicted="use")
        machines = {}
        if self.is_sample:
            machines = {
                name: read_qrels(path, unjudged_label=None, predicted="use")
                for name, path in named_paths(given.machine_qrels or []).items()
            }
        self.grades = given.grades or _chosen_grades(given.gains, machines)
        self._check()
        self.topics = None if given.topics is None else read_topics(given.topics)
        self.judged = self._read_judged()
        self.index, ranks = self._pool(machines)
        self.strategy = given.strategy or ("maxrep" if ranks is None else "pooling")
        if self.strategy in NEED_RANKS and ranks is None:
            raise InputError(
                f"--strategy {self.strategy} looks at runs. Name runs, or choose maxrep or random."
            )
        documents = read_document_texts(given.docs, text=given.text)
        if given.second_look:
            self._look_again(joined(documents))
        self.documents = documents[documents.index.isin(self.index.unique("docno"))]
        self._check_queries()
        texts = joined(self.documents).reindex(self.index.get_level_values("docno")).fillna("")
        is_known = self.index.isin(self.judged.known.index)
        rows = (texts.str.strip() == "").to_numpy() & ~is_known
        self._tell_of_missing(rows)
        self.without = np.flatnonzero(rows)
        if self.strategy == "statap":
            # A sample of what can be judged, by the priors of all.
            self.index, self.without = self.index[~rows], self.without[:0]
        self.selector = fit_strategy(
            "prior" if self.is_sample else self.strategy,
            self.index,
            ranks=ranks,
            texts=texts,
            judged=is_known,
            prior=np.arange(len(self.index), 0, -1) if self.is_sample else None,
            random_state=given.random_state,
            verbose=progress(),
        )

    def _check(self):
        """Check options that need others, and files that would be lost."""
        given, label = self.given, self.holes.written_unjudged
        if sum(each is not None for each in (given.out, given.page, given.export)) != 1:
            raise InputError("give one of --out, --page and --export.")
        if given.out is not None and os.path.exists(given.out) and not self.log.exists():
            raise InputError(
                f"{given.out} is there already, but not its log {self.log}, and would be "
                "overwritten. Move it away, or name another file by --out."
            )
        if label in self.grades:
            raise InputError(
                f"--holes unjudged-label={label:g} is one of --grades. Choose another."
            )
        if given.strategy in ("statap", "sample") and label is not None:
            raise InputError(
                f"--strategy {given.strategy} writes probabilities, which say of the pool what is "
                "needed. Leave out --holes."
            )
        if not (given.strategy in ("random", "statap", "sample") or given.second_look):
            refuse(["random_state"], "has no effect on this strategy. Leave it out.")
        if not given.judged:
            refuse(["second_look"], "looks at the labels of --judged. Add it.")
        if not (given.pool or given.runs or given.judged):
            raise InputError("there is nothing to judge. Name runs, or --pool.")
        if not self.is_sample:
            size = "is the size of a sample. Add --strategy sample, or give --n-per-query."
            refuse(["n_total"], size)
            refuse(
                ("machine_qrels", "gains", "measure", "unit"),
                "says what a sample is for. Add --strategy sample.",
            )
            return
        if given.n_per_query is not None or given.n_total is None:
            raise InputError(
                "--strategy sample is drawn over all queries. Give --n-total, not --n-per-query."
            )
        if not given.runs:
            raise InputError("--strategy sample draws what decides between runs. Name runs.")
        if given.pool or given.machine_qrels:
            refuse(
                ["depth"],
                "makes a pool of the runs. Leave out it, or --pool and --machine-qrels, whose "
                "documents are the pool.",
            )

    def _read_judged(self):
        """Read the judgments of --judged; of several assessors, those on which they agree."""
        sources, answers = {}, {}
        for name, path in named_paths(self.given.judged or []).items():
            tool = getattr(path, "tool", "page")
            if tool == "page" and not read_bytes(path).startswith(b'{"log"'):
                sources[name] = self._judgments(path)
                continue
            queries = None if self.topics is None else self.topics.iloc[:, 0]
            answers[name_of_path(path.removesuffix(".log"))] = read_judging_answers(
                path, tool=tool, grades=self.grades, queries=queries
            )
        judged = EarlierJudgments.of(sources, answers)
        for line in str(judged.agreement or "").splitlines():
            tell(line)
        return judged

    def _judgments(self, path):
        """Read judgments of people, whose labels must be those that are given now."""
        qrels = without_machines(read_judgments(path, None, self.holes), path)
        others = sorted(set(qrels["label"].dropna()) - set(self.grades))
        if others:
            mark = f"Say --holes unjudged-label={others[0]:g} where it means not judged, or add"
            raise InputError(
                f"{path} holds the label {others[0]:g}, which is none of --grades. "
                f"{mark if others[0] < 0 else 'Add'} it to --grades."
            )
        return qrels

    def _pool(self, machines):
        """Return query and document of each row, and the ranks in runs, if there are any."""
        given, pool, ranks = self.given, None, None
        runs = read_named_runs(given.runs or [])
        if given.pool is not None:
            pool, run = read_pool(given.pool)
            if run is not None and not runs:
                runs = {name_of_path(given.pool): run}
        elif not runs:
            pool = self.judged.pool
        elif not machines:
            ranks = rank_table(
                runs, depth=POOL_DEPTH if given.depth is None else given.depth or None
            )
            pool = ranks.index
        if self.is_sample:
            return self._drawn(runs, machines, pool), None
        if ranks is None and runs:
            ranks = rank_table(runs, depth=given.depth or None).reindex(pool)
            n_unknown = int(ranks.isna().all(axis=1).sum())
            if n_unknown == len(ranks):
                raise InputError(
                    f"no run returns a document of {given.pool}. Their ids of queries or documents "
                    "differ."
                )
            if n_unknown:
                tell(f"{n_unknown:,} of {len(ranks):,} documents of {given.pool} are in no run")
        return pool, ranks

    def _drawn(self, runs, machines, pool):
        """Draw a sample, in which what is judged is kept; return query and document of each row."""
        given, known = self.given, self.judged.labels.rename("label").reset_index()
        labels = {"--grades": pd.Series(list(self.grades), dtype=float)}
        pool = None if pool is None else pool.to_frame(index=False)
        measures = parse_measures(list(given.measure))
        gains = with_other_labels(match_gains(given.gains, labels), given.gains)
        check_harm_can_be_told(measures, self.grades, gains)
        draw = partial(
            draw_sample,
            None,
            RankedPool.read(machines or None, runs, pool=pool),
            measures,
            unit=given.unit,
            judged=known if len(known) else None,
            gains=gains,
            random_state=given.random_state,
        )
        self.sample = draw(n_total=given.n_total)
        self.finished = partial(finished_sample, self.sample, draw=draw, unit=given.unit)
        n_new = counted(int(self.sample["label"].isna().sum()), "document")
        before = f", beside {len(known):,} judged before" if len(known) else ""
        n_queries = counted(self.sample["qid"].nunique(), "query", "queries")
        tell(f"a sample of {n_new} of {n_queries}{before}")
        return pd.MultiIndex.from_frame(self.sample[_KEY])

    def _look_again(self, texts):
        """Ask again about labels that a model contradicts, and tell of them."""
        n_found, remarks = self.judged.doubt(texts, self.given.second_look, self.given.random_state)
        of_all = f"{counted(n_found, 'label')} of {len(self.judged.labels):,}"
        tell(f"{of_all} that a model and similar documents contradict")
        for (qid, docno), said in remarks.items():
            tell(f"query {qid}, document {docno}: {said}")

    def _check_queries(self):
        """Tell of queries without text, and of those that are not there."""
        ids = self.index.unique("qid")
        if unknown := [query for query in self.given.only or [] if query not in ids]:
            raise InputError(f"--only {', '.join(unknown)}: the pool holds no such query.")
        missing = [] if self.topics is None else ids[~ids.isin(self.topics.index)]
        if len(missing):
            of_all = f"{len(missing):,} of {len(ids):,} queries"
            tell(f"{of_all} have no text in {self.given.topics}: {_listed(missing)}")

    def _tell_of_missing(self, rows):
        """Tell of the rows that have no text and cannot be judged."""
        if not rows.any():
            return
        path, docnos = self.given.docs, self.index[rows].unique("docno")
        if self.is_sample:
            raise InputError(
                f"{path} holds no text of {counted(rows.sum(), 'document')} of the sample "
                f"({brief_list(docnos)}), and without all of its labels a sample gives no "
                "interval. Add the texts."
            )
        if rows.all():
            raise InputError(
                f"{path} holds no text of any document of the pool. Compare their ids."
            )
        tell(
            f"{rows.sum():,} of {len(rows):,} documents of the pool have no text in {path} and are "
            f"left out: {_listed(docnos)}"
        )

    def _judge(self, assessor, **log):
        """Ask an assessor about everything in the order of the strategy."""
        # A sample in its own order, whatever the query: what is judged is a smaller sample.
        in_order = self.is_sample and not self.given.only
        judge(
            self.selector,
            assessor,
            n_per_query=self.given.n_per_query,
            queries=self.given.only,
            order=np.arange(len(self.index)) if in_order else None,
            pool=self.index,
            leave_out=self.without,
            grades=self.grades,
            known=self.judged.known.reset_index(),
            **log,
        )

    def write_tasks(self, path, tool):
        """Write what would be asked about, in this order, as a page or for a tool."""
        asked = {}

        def skip(question):
            asked[question.query, question.docno] = question
            return "skip"

        self._judge(skip)
        if not asked:
            raise InputError("all is judged: there is nothing to ask about.")
        write_judging_tasks(
            path,
            pd.MultiIndex.from_tuples(asked, names=_KEY),
            self.documents,
            queries=self.topics,
            grades=self.grades,
            tool=tool,
            assessor_name=self.given.assessor,
        )
        tell(f"{counted(len(asked), 'document')} to judge in {path}")

    def ask(self):
        """Ask at the terminal, and write what was answered, also after an interruption."""
        self.assessor = TerminalAssessor(
            self.documents, self.topics, self.grades, remarks=self.judged.remarks
        )
        self.n_before = 0
        if self.log.exists() and self.log.stat().st_size:
            # judge says what is wrong with it.
            quiet = warnings.catch_warnings(action="ignore", category=DataWarning)
            with quiet, contextlib.suppress(ValueError):
                self.n_before = len(read_judgment_log(self.log))
        if self.n_before:
            tell(f"going on behind {self.n_before:,} judgments of {self.log}")
        try:
            self._judge(self.assessor, log=self.log, assessor_name=self.given.assessor)
        except JudgmentLogError:
            raise
        except BaseException:
            if self.log.exists():
                self._write()
            raise
        self._write()

    def _write(self):
        """Write the judgments of the log, and those that were there."""
        path = self.given.out
        # Another process may go on behind this log meanwhile, and write what it holds then.
        with locked(path):
            new, kept = self.judged.labels.iloc[:0], self.judged.labels
            if self.log.exists():
                new = read_judgment_log(self.log).set_index(_KEY)["label"]
            kept = kept[~kept.index.isin(new.index)]
            # pandas before 3 warns of empty parts.
            labels = pd.concat([part for part in (kept, new) if len(part)] or [new])
            if self.assessor.n_open:
                n_total = counted(self.assessor.n_total, "document")
                tell(
                    f"{self.assessor.n_open:,} of {n_total} are not yet judged: give the same "
                    "command again to go on"
                )
            table, of_what = self._table_of(labels)
            if isinstance(table, str):
                # An earlier file would keep what has been undone.
                Path(path).unlink(missing_ok=True)
                tell(f"{path} is not written: {table}")
                return
            if "inclusion_probability" in table:
                write_prels(path, table)
                tell(f"{len(table):,} judgments with their probabilities in {path}{of_what}")
                return
            write_qrels(path, table, unjudged_label=self.holes.written_unjudged)
            n_new = max(len(new) - self.n_before, 0)
            tell(f"{counted(len(labels), 'judgment')} in {path}, {n_new:,} of them new")

    def _table_of(self, labels):
        """Return what is written and a word on it, or why there is nothing to write."""
        if labels.empty:
            return "nothing is judged", ""
        if self.is_sample:
            table = self.sample.assign(label=labels.reindex(self.index).to_numpy())
            if table["label"].notna().all():
                return table, ""
            try:
                which = f", a sample by themselves: the first of {len(table):,} documents"
                return self.finished(labels), which
            except InputError as error:
                return str(error), ""
        if self.strategy == "statap":
            return self._statap(labels), ""
        rest = self.index.difference(labels.index, sort=False)
        rest = rest[rest.isin(labels.index.unique("qid"), level="qid")]
        if self.holes.written_unjudged is not None:
            labels = pd.concat([labels, pd.Series(np.nan, index=rest)])
        elif self.strategy == "random" and len(rest):
            tell(
                f"infap needs the {len(rest):,} documents of these queries that are not judged, "
                "too: have them written by --holes unjudged-label, such as -1"
            )
        table = labels.rename("label").rename_axis(_KEY).reset_index()
        return table.sort_values("qid", kind="stable"), ""

    def _statap(self, labels):
        """Return the sample of the queries that are finished, with its probabilities."""
        n = self.given.n_per_query
        budget = {"share" if isinstance(n, float) else "n_per_query": n}
        probability = self.selector.inclusion_probability(**budget)
        selected = self.selector.select(**budget)
        sample = pd.DataFrame({"inclusion_probability": probability}, index=self.index)
        sample = sample.iloc[selected].assign(label=labels.reindex(self.index[selected]))
        is_open = sample["label"].isna().groupby(level="qid").transform("any")
        if n_open := is_open.index[is_open].unique("qid").size:
            tell(f"{counted(n_open, 'query', 'queries')} whose sample is not yet judged: left out")
        if n_outside := int((~labels.index.isin(sample.index)).sum()):
            tell(f"{counted(n_outside, 'judgment')} outside of the sample: left out")
        if is_open.all():
            return "no query is finished"
        if n_never := int((probability == 0).sum()):
            tell(
                f"{counted(n_never, 'document')} that no run ranks can never be drawn: stat_ap is "
                "the average precision over the others"
            )
        return sample[~is_open].reset_index()


def check_harm_can_be_told(measures, grades, gains):
    """Raise where a measure counts forbidden documents and no grade stands for one."""
    of_harm = [text for text, each in measures.items() if each.measure.name in _OF_HARM]
    if of_harm and as_gains(list(grades), gains).min() >= 0:
        raise InputError(
            f"--measure {of_harm[0]} counts documents with a gain below 0, and none of the grades "
            f"{brief_list(list(grades))} has one. Give a grade below 0 by --grades, or such gains "
            "as --gains 0=-1,1=1."
        )


def _chosen_grades(gains, machines):
    """Return the grades where none are given: those of the gains, of the machines or any."""
    found, whose = None, ""
    if machines:
        found = machine_grades(machines.values())
        whose = "as in --machine-qrels" if found else "since --machine-qrels holds no grades"
    if isinstance(gains, dict):
        found, whose = sorted(numbered_gains(gains)), "as in --gains"
    found = found or GRADES
    if whose:
        shown = ",".join(f"{grade:g}" for grade in found)
        tell(f"grades {shown}, {whose}; --grades chooses others")
    return dict.fromkeys(map(float, found), "")


def _listed(names):
    """Return the first names, and how many more there are."""
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")
