"""What ``skfilterrank judge`` does."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from skfilterrank import judgments
from skfilterrank._core.results import counted
from skfilterrank._files.locks import locked
from skfilterrank._files.named_runs import name_of_path
from skfilterrank.cli._documents import joined, read_document_texts, read_pool, read_topics
from skfilterrank.cli._label_gains import numbered_gains
from skfilterrank.cli._run_files import read_named_runs
from skfilterrank.cli._streams import progress, tell
from skfilterrank.cli.judge.judged import read_judged
from skfilterrank.cli.judge.options import DEPTH, GRADES, grades
from skfilterrank.cli.judge.terminal import TerminalAssessor
from skfilterrank.exceptions import DataWarning, InputError, JudgmentLogError
from skfilterrank.io import write_prels, write_qrels
from skfilterrank.judgments import judge, rank_table, read_judgment_log

_NEED_RUNS = ("pooling", "prior", "mtf", "mtc", "statap")
_SHOWN = 20


def run(arguments) -> int:
    """Ask about the pool's documents, and write what was answered."""
    log = Path(f"{arguments.out}.log")
    if os.path.exists(arguments.out) and not log.exists():
        raise InputError(
            f"{arguments.out} is there already, but not its log {log}, and would be overwritten: "
            "move it away, or name another file by --out."
        )
    if isinstance(arguments.gains, dict):
        numbered_gains(arguments.gains)
    machines = _settle_grades(arguments)
    _check_labels(arguments)
    judged = read_judged(arguments)
    sample = None
    if arguments.strategy == "sample":
        from skfilterrank.cli.judge.sample import drawn_sample

        strategy, sample = "sample", drawn_sample(arguments, judged, machines)
        index, table = sample.index, None
    else:
        index, table = _pool(arguments, judged)
        strategy = _strategy(arguments, table)
    documents = read_document_texts(arguments.docs, text=arguments.text)
    judged = judged.doubted(documents, arguments)
    documents = documents[documents.index.isin(index.unique("docno"))]
    topics = _topics(arguments, index)
    texts = joined(documents).reindex(index.get_level_values("docno")).fillna("")
    is_known = index.isin(judged.known.index)
    without = np.flatnonzero((texts.str.strip() == "").to_numpy() & ~is_known)
    if sample is not None:
        sample.check_texts(without, arguments.docs)
    _tell_of_missing_texts(index, without, arguments.docs)
    if strategy == "statap" and len(without):
        # A sample of what can be judged, by the priors of all.
        kept = np.delete(np.arange(len(index)), without)
        index, texts, without = index[kept], texts.iloc[kept], without[:0]
    if sample is not None:
        selector = sample.selector()
    else:
        selector = _fitted(strategy, arguments, index, table, texts, is_known)
    assessor = _Asked(TerminalAssessor(documents, topics, arguments.grades, remarks=judged.remarks))
    write = _writer(
        strategy, arguments, selector, index, judged, log, _tell_of_log(log), sample, assessor
    )
    try:
        judge(
            selector,
            assessor,
            log=log,
            n_per_query=arguments.n_per_query,
            topics=arguments.only,
            # Whatever the topic, so that what is judged is always a smaller sample.
            order=None if sample is None or arguments.only else np.arange(len(index)),
            pool=index,
            leave_out=without,
            grades=arguments.grades,
            known=judged.known.reset_index(),
            assessor_name=arguments.assessor,
        )
    except JudgmentLogError:
        raise
    except BaseException:
        if log.exists():
            write()
        raise
    write()
    return 0


class _Asked:
    """An assessor, and how many documents had no label yet when it was asked for the last time."""

    def __init__(self, assessor):
        self._assessor, self.n_open, self.n_total = assessor, 0, 0

    def __getattr__(self, name):
        return getattr(self._assessor, name)

    def __call__(self, question):
        self.n_total = question.n_total
        self.n_open = question.n_total - question.n_answered
        answer = self._assessor(question)
        self.n_open -= not isinstance(answer, judgments.Answer)
        return answer


def _settle_grades(arguments):
    """Take the grades that are not given; the labels of machines, whose grades they may be."""
    machines, found = {}, None
    if arguments.strategy == "sample":
        from skfilterrank.cli.judge.sample import machine_grades, read_machines

        machines = read_machines(arguments)
        found = machine_grades(machines)
    if arguments.grades is None:
        whose = "as in --machine-qrels" if found else "since --machine-qrels holds no grades"
        if is_said := isinstance(arguments.gains, dict):
            found = dict.fromkeys(sorted(numbered_gains(arguments.gains)), "")
            whose = "as in --gains"
        arguments.grades = found or grades(GRADES)
        if machines or is_said:
            shown = ",".join(f"{grade:g}" for grade in arguments.grades)
            tell(f"grades {shown}, {whose}; --grades chooses others")
    return machines


def _check_labels(arguments):
    """A grade that means unjudged, and options that need others."""
    if arguments.unjudged_label in arguments.grades:
        raise InputError(
            f"--unjudged-label {arguments.unjudged_label:g} is one of --grades: choose another."
        )
    if arguments.strategy in ("statap", "sample") and arguments.unjudged_label is not None:
        raise InputError(
            f"--strategy {arguments.strategy} writes probabilities, which say of the pool what is "
            "needed: leave out --unjudged-label."
        )
    for name in ("measures", "machine_qrels", "gains", "n_total"):
        if getattr(arguments, name) and arguments.strategy != "sample":
            option = name.replace("measures", "measure").replace("_", "-")
            raise InputError(f"--{option} says what a sample is for: add --strategy sample.")
    if arguments.strategy == "sample" and arguments.n_per_query is not None:
        raise InputError(
            "--strategy sample is drawn over all topics: give --n-total, not --n-per-query."
        )
    if arguments.second_look and not arguments.judged:
        raise InputError("--second-look looks at the labels of --judged: add it.")


def _pool(arguments, judged):
    """Topic and document of each row, and the ranks in runs, if there are any."""
    if arguments.pool is None and not arguments.runs:
        if not arguments.judged:
            raise InputError("there is nothing to judge: name POOL, or runs by --runs.")
        return judged.pool, None
    runs = read_named_runs(arguments.runs, arguments)
    if arguments.pool is None:
        depth = DEPTH if arguments.depth == 0 else arguments.depth
        table = rank_table(runs, depth=depth)
        return table.index, table
    index, run = read_pool(arguments.pool)
    if run is not None and not runs:
        runs = {name_of_path(arguments.pool): run}
    if not runs:
        return index, None
    table = rank_table(runs, depth=arguments.depth or None).reindex(index)
    n_unknown = int(table.isna().all(axis=1).sum())
    if n_unknown == len(table):
        raise InputError(
            f"no run returns a document of {arguments.pool}: their ids of topics or documents "
            "differ."
        )
    if n_unknown:
        tell(f"{n_unknown:,} of {len(table):,} documents of {arguments.pool} are in no run")
    return index, table


def _topics(arguments, index):
    """Texts of the topics; what is missing is told."""
    ids = index.unique("qid")
    unknown = [topic for topic in arguments.only or [] if topic not in ids]
    if unknown:
        raise InputError(f"--only {', '.join(unknown)}: the pool holds no such topic.")
    if arguments.topics is None:
        return None
    topics = read_topics(arguments.topics)
    missing = [topic for topic in ids if topic not in topics.index]
    if missing:
        tell(
            f"{len(missing):,} of {len(ids):,} topics have no text in {arguments.topics}: "
            f"{_listed(missing)}"
        )
    return topics


def _tell_of_missing_texts(index, rows, path):
    """Count and list the documents that cannot be judged."""
    if not len(rows):
        return
    if len(rows) == len(index):
        raise InputError(f"{path} holds no text of any document of the pool: compare their ids.")
    docnos = index[rows].unique("docno")
    tell(
        f"{len(rows):,} of {len(index):,} documents of the pool have no text in {path} and are "
        f"left out: {_listed(docnos)}"
    )


def _listed(names):
    """The first names, and how many more there are."""
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")


def _strategy(arguments, table):
    """Name of the strategy, which may need runs."""
    strategy = arguments.strategy or ("maxrep" if table is None else "pooling")
    if strategy in _NEED_RUNS and table is None:
        raise InputError(
            f"--strategy {strategy} looks at runs: name them by --runs, or choose maxrep or random."
        )
    return strategy


def _fitted(strategy, arguments, index, table, texts, is_known):
    """The strategy on the pool."""
    groups = index.get_level_values("qid")
    prior = None
    if table is not None and strategy in ("prior", "maxrep", "statap"):
        prior = judgments.statap_prior(table).loc[index].to_numpy()
    if strategy == "maxrep":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # texts are counted above
            selector = judgments.MaxRepSelector(verbose=progress(arguments))
            return selector.fit(texts.tolist(), groups=groups, prior=prior, judged=is_known)
    if strategy == "random":
        selector = judgments.RandomSelector(random_state=arguments.seed)
        return selector.fit(np.zeros((len(index), 1)), groups=groups)
    if strategy == "statap":
        selector = judgments.StatAPSelector(random_state=arguments.seed)
        return selector.fit(np.zeros((len(index), 1)), groups=groups, prior=prior)
    if strategy == "prior":
        return judgments.PriorSelector().fit(np.zeros((len(index), 1)), groups=groups, prior=prior)
    names = {"pooling": "PoolingSelector", "mtf": "MoveToFrontSelector", "mtc": "MTCSelector"}
    return getattr(judgments, names[strategy])().fit(table)


def _tell_of_log(log):
    """Number of judgments that are there already."""
    if not log.exists() or not log.stat().st_size:
        return 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # judge repairs the log and tells
        n_before = _n_judgments(log)
    if n_before:
        tell(f"going on behind {n_before:,} judgments of {log}")
    return n_before


def _n_judgments(log):
    """Judgments in a log; what is wrong with it, judge tells."""
    try:
        return len(read_judgment_log(log))
    except ValueError:
        return 0


def _writer(strategy, arguments, selector, index, judged, log, n_before, sample, asked):
    """What writes the judgments of a log, and those that were there."""
    path = arguments.out

    def write():
        # Another process may go on behind this log meanwhile, and write what it holds then.
        with locked(path):
            write_answers()

    def write_answers():
        answers = read_judgment_log(log) if log.exists() else judged.labels.iloc[:0].reset_index()
        labels = answers.set_index(["qid", "docno"])["label"]
        n_new = max(len(labels) - n_before, 0)
        kept = judged.labels[~judged.labels.index.isin(labels.index)]
        # pandas before 3 warns of empty parts.
        parts = [part for part in (kept, labels) if len(part)]
        labels = pd.concat(parts) if parts else labels
        if labels.empty:
            # An earlier file would keep what has been undone.
            Path(path).unlink(missing_ok=True)
            tell(f"nothing is judged; {path} is not written")
        elif sample is not None:
            sample.write(path, labels)
        else:
            if asked.n_open:
                tell(
                    f"{asked.n_open:,} of {counted(asked.n_total, 'document')} are not yet judged: "
                    "give the same command again to go on"
                )
            if strategy == "statap":
                _write_sample(path, labels, selector, index, arguments)
                return
            _write_pool(path, labels, index, strategy, arguments)
            tell(f"{counted(len(labels), 'judgment')} in {path}, {n_new:,} of them new")

    return write


def _write_pool(path, labels, index, strategy, arguments):
    """Write judgments; of judged topics with the rest of the pool, where a label says so."""
    rest = index.difference(labels.index, sort=False)
    rest = rest[rest.isin(labels.index.unique("qid"), level="qid")]
    if arguments.unjudged_label is not None:
        labels = pd.concat([labels, pd.Series(np.nan, index=rest)])
    elif strategy == "random" and len(rest):
        tell(
            f"infap needs the {len(rest):,} documents of these topics that are not judged, too: "
            "have them written by --unjudged-label, such as -1"
        )
    qrels = labels.rename("label").rename_axis(["qid", "docno"]).reset_index()
    qrels = qrels.sort_values("qid", kind="stable")
    write_qrels(path, qrels, unjudged_label=arguments.unjudged_label)


def _write_sample(path, labels, selector, index, arguments):
    """Write the judgments of a sample with their probabilities, of topics that are finished."""
    is_share = isinstance(arguments.n_per_query, float)
    budget = {"share" if is_share else "n_per_query": arguments.n_per_query}
    selected = selector.select(**budget)
    probability = selector.inclusion_probability(**budget)
    sample = pd.DataFrame({"inclusion_probability": probability}, index=index).iloc[selected]
    sample["label"] = labels.reindex(sample.index)
    is_open = sample["label"].isna().groupby(level="qid").transform("any")
    n_open = is_open.index[is_open].unique("qid").size
    finished = sample[~is_open].reset_index()
    if n_open:
        tell(f"{counted(n_open, 'topic')} whose sample is not yet judged: left out")
    if n_outside := int((~labels.index.isin(index[selected])).sum()):
        tell(f"{counted(n_outside, 'judgment')} outside of the sample: left out")
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
