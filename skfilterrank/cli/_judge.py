"""Work of ``skfilterrank judge``: what is asked about, and what becomes of the answers."""

import os
import warnings
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from skfilterrank import judgments
from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.results import counted
from skfilterrank._files.files import read_bytes
from skfilterrank._files.locks import locked
from skfilterrank._files.named_runs import name_of_path
from skfilterrank.cli._documents import joined, read_document_texts, read_pool, read_topics
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
from skfilterrank.cli.judge import DEPTH, GRADES, MEASURES, TOOLS, _grades
from skfilterrank.estimation import RankedPool, draw_sample
from skfilterrank.estimation._sample import finished_sample
from skfilterrank.exceptions import DataWarning, InputError, JudgmentLogError, brief
from skfilterrank.io import read_qrels, write_prels, write_qrels
from skfilterrank.judgments import Answer

_KEY = ["qid", "docno"]
_OF_RUNS = {
    "pooling": judgments.PoolingSelector,
    "mtf": judgments.MoveToFrontSelector,
    "mtc": judgments.MTCSelector,
}
_NEED_RUNS = (*_OF_RUNS, "prior", "statap")
_SAMPLES = ("statap", "sample")
_SHOWN = 20
# As many as digits: more are scores.
_MOST_GRADES = 10


class Judging:
    """What is asked about, in the order of a strategy, and what was judged before.

    Parameters
    ----------
    given : Namespace
        Values of the options.
    """

    def __init__(self, given):
        self.given, self.log = given, Path(f"{given.out}.log")
        self.holes = Holes.of(given.holes, only=("unjudged_label",), predicted="use")
        self._check_files()
        if isinstance(given.gains, dict):
            numbered_gains(given.gains)
        machines = {}
        if given.strategy == "sample":
            machines = {
                name: read_qrels(path, unjudged_label=None, predicted="use")
                for name, path in named_paths(given.machine_qrels or []).items()
            }
        self.grades = given.grades or _chosen_grades(given.gains, machines)
        self._check_options()
        topics = None if given.topics is None else read_topics(given.topics)
        self.judged = _read_judged(given, self.grades, self.holes, topics)
        table = draw = None
        if given.strategy == "sample":
            self.sample, draw = _drawn_sample(given, self.grades, self.judged, machines)
            self.index = pd.MultiIndex.from_frame(self.sample[_KEY])
            self.finished = partial(finished_sample, self.sample, draw=draw, unit=given.unit)
        else:
            self.index, table = _pool(given, self.judged)
        self.strategy = given.strategy or ("maxrep" if table is None else "pooling")
        if self.strategy in _NEED_RUNS and table is None:
            raise InputError(
                f"--strategy {self.strategy} looks at runs. Name them by --runs, or choose maxrep "
                "or random."
            )
        documents = read_document_texts(given.docs, text=given.text)
        if given.second_look:
            self.judged.doubt(joined(documents), given.second_look, given.random_state)
        self.documents = documents[documents.index.isin(self.index.unique("docno"))]
        self.topics = self._known_topics(topics)
        texts = joined(self.documents).reindex(self.index.get_level_values("docno")).fillna("")
        texts, is_known = self._leave_out(texts, self.index.isin(self.judged.known.index))
        self.selector = self._fitted(table, texts, is_known)

    def _check_files(self):
        """Check what is written."""
        given = self.given
        if sum(each is not None for each in (given.out, given.page, given.export)) != 1:
            raise InputError("one of --out, --page and --export is needed. Give it alone.")
        if given.out is not None and os.path.exists(given.out) and not self.log.exists():
            raise InputError(
                f"{given.out} is there already, but not its log {self.log}, and would be "
                "overwritten. Move it away, or name another file by --out."
            )

    def _check_options(self):
        """Check the grade that means unjudged, and options that need others."""
        given, label = self.given, self.holes.written_unjudged
        is_sample = given.strategy == "sample"
        if label in self.grades:
            raise InputError(
                f"--holes unjudged-label={label:g} is one of --grades. Choose another."
            )
        if given.strategy in _SAMPLES and label is not None:
            raise InputError(
                f"--strategy {given.strategy} writes probabilities, which say of the pool what is "
                "needed. Leave out --holes."
            )
        for name in ("machine_qrels", "gains", "n_total", "measure"):
            if getattr(given, name) not in (None, MEASURES) and not is_sample:
                option = name.replace("_", "-")
                raise InputError(f"--{option} says what a sample is for. Add --strategy sample.")
        if is_sample and given.n_per_query is not None:
            raise InputError(
                "--strategy sample is drawn over all topics. Give --n-total, not --n-per-query."
            )
        if given.second_look and not given.judged:
            raise InputError("--second-look looks at the labels of --judged. Add it.")

    def _known_topics(self, topics):
        """Return texts of the topics; tell what is missing."""
        ids = self.index.unique("qid")
        if unknown := [topic for topic in self.given.only or [] if topic not in ids]:
            raise InputError(f"--only {', '.join(unknown)}: the pool holds no such topic.")
        if topics is not None and (missing := [each for each in ids if each not in topics.index]):
            tell(
                f"{len(missing):,} of {len(ids):,} topics have no text in {self.given.topics}: "
                f"{_listed(missing)}"
            )
        return topics

    def _leave_out(self, texts, is_known):
        """Note the rows that have no text and cannot be judged; return what is left."""
        path, rows = self.given.docs, (texts.str.strip() == "").to_numpy() & ~is_known
        self.without = np.flatnonzero(rows)
        if not rows.any():
            return texts, is_known
        if self.strategy == "sample":
            shown = ", ".join(brief(docno) for docno in self.sample["docno"][rows][:3])
            raise InputError(
                f"{path} holds no text of {counted(len(self.without), 'document')} of the sample, "
                f"such as {shown}: without all of its labels a sample gives no interval. Add the "
                "texts."
            )
        if rows.all():
            raise InputError(
                f"{path} holds no text of any document of the pool. Compare their ids."
            )
        tell(
            f"{len(self.without):,} of {len(rows):,} documents of the pool have no text in {path} "
            f"and are left out: {_listed(self.index[rows].unique('docno'))}"
        )
        if self.strategy == "statap":
            # A sample of what can be judged, by the priors of all.
            self.index, self.without = self.index[~rows], self.without[:0]
            texts, is_known = texts[~rows], is_known[~rows]
        return texts, is_known

    def _fitted(self, table, texts, is_known):
        """Return the strategy, fitted on the pool."""
        seed, strategy = self.given.random_state, self.strategy
        X, groups = np.zeros((len(self.index), 1)), self.index.get_level_values("qid")
        prior = None
        if strategy in _OF_RUNS:
            return _OF_RUNS[strategy]().fit(table)
        if strategy == "random":
            return judgments.RandomSelector(random_state=seed).fit(X, groups=groups)
        if strategy == "sample":
            prior = np.arange(len(self.index), 0, -1)
        elif table is not None:
            prior = judgments.statap_prior(table).loc[self.index].to_numpy()
        if strategy == "maxrep":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # texts are counted above
                selector = judgments.MaxRepSelector(verbose=progress())
                return selector.fit(texts.tolist(), groups=groups, prior=prior, judged=is_known)
        is_drawn = strategy == "statap"
        made = (
            judgments.StatAPSelector(random_state=seed) if is_drawn else judgments.PriorSelector()
        )
        return made.fit(X, groups=groups, prior=prior)

    def _judge(self, assessor, **log):
        """Ask an assessor about everything in the order of the strategy."""
        # A sample in its own order, whatever the topic: what is judged is a smaller sample.
        in_order = self.strategy == "sample" and not self.given.only
        judgments.judge(
            self.selector,
            assessor,
            n_per_query=self.given.n_per_query,
            topics=self.given.only,
            order=np.arange(len(self.index)) if in_order else None,
            pool=self.index,
            leave_out=self.without,
            grades=self.grades,
            known=self.judged.known.reset_index(),
            **log,
        )

    def write_tasks(self, tool, path):
        """Write what would be asked about, in this order, as a page or for a tool."""
        from skfilterrank.judgments import write_judging_tasks

        asked = {}

        def skip(question):
            asked[question.topic, question.docno] = question
            return Answer.SKIP

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
        self.n_before = self._n_judged_before()
        try:
            self._judge(self.assessor, log=self.log, assessor_name=self.given.assessor)
        except JudgmentLogError:
            raise
        except BaseException:
            if self.log.exists():
                self._write()
            raise
        self._write()

    def _n_judged_before(self):
        """Return how many judgments the log holds already; what is wrong with it, judge tells."""
        if not self.log.exists() or not self.log.stat().st_size:
            return 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            try:
                n_before = len(judgments.read_judgment_log(self.log))
            except ValueError:
                return 0
        if n_before:
            tell(f"going on behind {n_before:,} judgments of {self.log}")
        return n_before

    def _write(self):
        """Write the judgments of the log, and those that were there."""
        path = self.given.out
        # Another process may go on behind this log meanwhile, and write what it holds then.
        with locked(path):
            labels, kept = self.judged.labels.iloc[:0], self.judged.labels
            if self.log.exists():
                labels = judgments.read_judgment_log(self.log).set_index(_KEY)["label"]
            n_new = max(len(labels) - self.n_before, 0)
            kept = kept[~kept.index.isin(labels.index)]
            # pandas before 3 warns of empty parts.
            parts = [part for part in (kept, labels) if len(part)]
            if not parts:
                # An earlier file would keep what has been undone.
                Path(path).unlink(missing_ok=True)
                tell(f"nothing is judged; {path} is not written")
                return
            labels = pd.concat(parts)
            if self.strategy == "sample":
                self._write_sample(labels)
                return
            if n_open := self.assessor.n_open:
                tell(
                    f"{n_open:,} of {counted(self.assessor.n_total, 'document')} are not yet "
                    "judged: give the same command again to go on"
                )
            if self.strategy == "statap":
                self._write_statap(labels)
                return
            self._write_pool(labels)
            tell(f"{counted(len(labels), 'judgment')} in {path}, {n_new:,} of them new")

    def _write_pool(self, labels):
        """Write judgments; of judged topics with the rest of the pool, where a label says so."""
        unjudged = self.holes.written_unjudged
        rest = self.index.difference(labels.index, sort=False)
        rest = rest[rest.isin(labels.index.unique("qid"), level="qid")]
        if unjudged is not None:
            labels = pd.concat([labels, pd.Series(np.nan, index=rest)])
        elif self.strategy == "random" and len(rest):
            tell(
                f"infap needs the {len(rest):,} documents of these topics that are not judged, "
                "too: have them written by --holes unjudged-label=-1 or the like"
            )
        qrels = labels.rename("label").rename_axis(_KEY).reset_index()
        qrels = qrels.sort_values("qid", kind="stable")
        write_qrels(self.given.out, qrels, unjudged_label=unjudged)

    def _write_statap(self, labels):
        """Write the judgments of a sample with their probabilities, of topics that are finished."""
        path, n = self.given.out, self.given.n_per_query
        budget = {"share" if isinstance(n, float) else "n_per_query": n}
        selected = self.selector.select(**budget)
        probability = self.selector.inclusion_probability(**budget)
        sample = pd.DataFrame({"inclusion_probability": probability}, index=self.index)
        sample = sample.iloc[selected].assign(label=labels.reindex(self.index[selected]))
        is_open = sample["label"].isna().groupby(level="qid").transform("any")
        if n_open := is_open.index[is_open].unique("qid").size:
            tell(f"{counted(n_open, 'topic')} whose sample is not yet judged: left out")
        if n_outside := int((~labels.index.isin(sample.index)).sum()):
            tell(f"{counted(n_outside, 'judgment')} outside of the sample: left out")
        finished = sample[~is_open].reset_index()
        if finished.empty:
            Path(path).unlink(missing_ok=True)
            tell(f"no topic is finished; {path} is not written")
            return
        if n_never := int((probability == 0).sum()):
            tell(
                f"{counted(n_never, 'document')} that no run ranks can never be drawn: stat_ap is "
                "the average precision over the others"
            )
        write_prels(path, finished)
        tell(f"{len(finished):,} judgments with their probabilities in {path}")

    def _write_sample(self, labels):
        """Write the labels with their probabilities; of what is not finished, a smaller sample."""
        path = self.given.out
        table = self.sample.assign(label=labels.reindex(self.index).to_numpy())
        n_all, n_open = len(table), int(table["label"].isna().sum())
        if n_open:
            tell(
                f"{n_open:,} of {counted(n_all, 'document')} of the sample are not yet judged: "
                "give the same command again to go on"
            )
            try:
                table = self.finished(labels)
            except InputError as error:
                Path(path).unlink(missing_ok=True)
                tell(f"{path} is not written: {error}")
                return
        write_prels(path, table)
        which = f", a sample by themselves: the first of {n_all:,} documents" if n_open else ""
        tell(f"{len(table):,} judgments with their probabilities in {path}{which}")


@dataclass
class _Judged:
    """Judgments that were there.

    Attributes
    ----------
    labels : Series
        The labels that stand unless there are new ones, by topic and document.
    pool : MultiIndex
        Every document that was judged, or had to be.
    remarks : dict of (str, str) to str
        Text beside documents that are asked about again.
    """

    labels: pd.Series
    pool: pd.Index
    remarks: dict = field(default_factory=dict)

    @property
    def known(self):
        """The labels that are not asked about again."""
        return self.labels[~self.labels.index.isin(list(self.remarks))]

    def doubt(self, texts, n_most, random_state):
        """Ask again about the most doubtful labels."""
        table = self.labels.reset_index()
        table["text"] = texts.reindex(table["docno"]).fillna("").to_numpy(dtype=object)
        found = judgments.likely_errors(table, random_state=random_state)
        n_labels = counted(len(found), "label")
        tell(f"{n_labels} of {len(table):,} that a model and similar documents contradict")
        for row in found.head(n_most).itertuples():
            said = f"label {row.label:g}; a model says {row.predicted:g}, "
            said += f"similar documents {row.neighbors:.1f}"
            self.remarks[row.qid, row.docno] = said
            tell(f"topic {row.qid}, document {row.docno}: {said}")


def _read_judged(given, grades, holes, topics):
    """Read the judgments of --judged; of several assessors, those on which they agree."""
    sources, answers, notes = {}, {}, {}
    for name, path in named_paths(given.judged or []).items():
        tool, _, file = path.partition("=")
        if tool not in TOOLS:
            tool, file = "page", path
        if tool == "page" and not read_bytes(file).startswith(b'{"log"'):
            qrels = read_judgments(path, None, holes)
            sources[name] = without_machines(qrels, path)
        else:
            from skfilterrank.judgments import read_judging_answers

            queries = None if topics is None else topics.iloc[:, 0]
            read = read_judging_answers(file, tool=tool, grades=grades, queries=queries)
            answers[name_of_path(file.removesuffix(".log"))] = read
    if answers:
        from skfilterrank.judgments import merge_answers

        table = merge_answers(answers).answers
        sources |= {name: rows[[*_KEY, "label"]] for name, rows in table.groupby("assessor")}
        noted = table.dropna(subset="note")[[*_KEY, "assessor", "note"]]
        notes = {tuple(row[:3]): f" ({row[3]})" for row in noted.itertuples(index=False)}
    for name, qrels in sources.items():
        _check_labels(qrels["label"].dropna(), name, grades)
    if len(sources) < 2:
        empty = pd.DataFrame({"qid": [], "docno": [], "label": []}).astype({"label": np.float64})
        labels = next(iter(sources.values()), empty).set_index(_KEY)["label"]
        return _Judged(labels.dropna(), labels.index)
    found = judgments.assessor_agreement(sources)
    for line in str(found).splitlines():
        tell(line)
    pool = pd.concat([frame[_KEY] for frame in sources.values()]).drop_duplicates()
    remarks = {
        pair: ", ".join(
            f"{name}: {label:g}{notes.get((*pair, name), '')}"
            for name, label in row.dropna().items()
        )
        for pair, row in found.disagreements.iterrows()
    }
    agreed = found.agreed.set_index(_KEY)["label"]
    return _Judged(agreed, pd.MultiIndex.from_frame(pool), remarks)


def _check_labels(labels, name, grades):
    """Check that labels are those that are given now."""
    others = np.unique(labels[~labels.isin(list(grades))])
    if len(others):
        mark = f"Say --holes unjudged-label={others[0]:g} where it means not judged, or add"
        raise InputError(
            f"{name} holds the label {others[0]:g}, which is none of --grades. "
            f"{mark if others[0] < 0 else 'Add'} it to --grades."
        )


def _chosen_grades(gains, machines):
    """Return the grades where none are given: those of the gains, of the machines or any."""
    found, whose = None, ""
    if machines:
        found = _machine_grades(machines)
        whose = "as in --machine-qrels" if found else "since --machine-qrels holds no grades"
    if isinstance(gains, dict):
        found, whose = dict.fromkeys(sorted(numbered_gains(gains)), ""), "as in --gains"
    grades = found or _grades(GRADES)
    if whose:
        shown = ",".join(f"{grade:g}" for grade in grades)
        tell(f"grades {shown}, {whose}; --grades chooses others")
    return grades


def _machine_grades(machines):
    """Return grades as machines give them, and those between; None where they are no grades."""
    found = np.unique([label for table in machines.values() for label in table["label"].unique()])
    found = found[~np.isnan(found)]
    # A grade between that no machine gave is one nevertheless.
    found = np.union1d(found, np.arange(found.max(initial=0).clip(max=_MOST_GRADES) + 1))
    if not 1 < len(found) <= _MOST_GRADES or (found % 1).any():
        return None
    return dict.fromkeys(found.tolist(), "")


def _depth(given):
    """Return how deep runs make a pool."""
    return DEPTH if given.depth is None else given.depth or None


def _pool(given, judged):
    """Return topic and document of each row, and the ranks in runs, if there are any."""
    if given.pool is None and not given.runs:
        if not given.judged:
            raise InputError("there is nothing to judge. Name POOL, or runs by --runs.")
        return judged.pool, None
    runs = read_named_runs(given.runs or [])
    if given.pool is None:
        table = judgments.rank_table(runs, depth=_depth(given))
        return table.index, table
    index, run = read_pool(given.pool)
    if run is not None and not runs:
        runs = {name_of_path(given.pool): run}
    if not runs:
        return index, None
    table = judgments.rank_table(runs, depth=given.depth or None).reindex(index)
    n_unknown = int(table.isna().all(axis=1).sum())
    if n_unknown == len(table):
        raise InputError(
            f"no run returns a document of {given.pool}. Their ids of topics or documents differ."
        )
    if n_unknown:
        tell(f"{n_unknown:,} of {len(table):,} documents of {given.pool} are in no run")
    return index, table


def _drawn_sample(given, grades, judged, machines):
    """Draw a sample; return it, and how to draw a smaller one. What is judged is kept."""
    if not given.runs:
        raise InputError("--strategy sample draws what decides between runs. Name them by --runs.")
    if given.n_total is None:
        raise InputError(
            "--strategy sample needs --n-total, the number or share of documents to judge over "
            "all topics."
        )
    if given.depth is not None and (given.pool or machines):
        raise InputError(
            "--depth makes a pool of the runs. Leave out it, or POOL and --machine-qrels, whose "
            "documents are the pool."
        )
    runs = read_named_runs(given.runs)
    documents = None
    if given.pool is not None:
        documents = read_pool(given.pool)[0].to_frame(index=False)
    elif not machines:
        table = judgments.rank_table(runs, depth=_depth(given))
        documents = table.index.to_frame(index=False)
    known = judged.labels.rename("label").reset_index()
    labels = {"--grades": pd.Series(list(grades), dtype=float)}
    draw = partial(
        draw_sample,
        None,
        RankedPool.read(machines or None, runs, pool=documents),
        parse_measures(list(given.measure)),
        unit=given.unit,
        judged=known if len(known) else None,
        gains=with_other_labels(match_gains(given.gains, labels), given.gains),
        random_state=given.random_state,
    )
    sample = draw(n_total=given.n_total)
    n_new = int(sample["label"].isna().sum())
    before = f", beside {len(known):,} judged before" if len(known) else ""
    n_topics = counted(sample["qid"].nunique(), "topic")
    tell(f"a sample of {counted(n_new, 'document')} of {n_topics}{before}")
    return sample, draw


def _listed(names):
    """Return the first names, and how many more there are."""
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")
