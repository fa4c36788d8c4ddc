"""What ``skfilterrank judge`` does."""

import contextlib
import os
import signal
import threading
import warnings
from pathlib import Path

import numpy as np

from skfilterrank import judgments
from skfilterrank._files.named_runs import name_of_path
from skfilterrank.cli._documents import joined, read_document_texts, read_pool, read_topics
from skfilterrank.cli._run_files import read_named_runs
from skfilterrank.cli._streams import progress, tell
from skfilterrank.cli.judge.options import DEPTH
from skfilterrank.cli.judge.terminal import TerminalAssessor
from skfilterrank.exceptions import DataWarning, InputError, JudgmentLogError
from skfilterrank.io import write_qrels
from skfilterrank.judgments import judge, rank_table, read_judgment_log

_NEED_RUNS = ("pooling", "prior", "mtf", "mtc")
_SHOWN = 20


def run(arguments) -> int:
    """Ask about the pool's documents, and write what was answered."""
    log = Path(f"{arguments.out}.log")
    if os.path.exists(arguments.out) and not log.exists():
        raise InputError(
            f"{arguments.out} is there already, but not its log {log}, and would be overwritten: "
            "move it away, or name another file by --out."
        )
    index, table = _pool(arguments)
    strategy = _strategy(arguments, table)
    documents = read_document_texts(arguments.docs, text=arguments.text)
    documents = documents[documents.index.isin(index.unique("docno"))]
    topics = _topics(arguments, index)
    texts = joined(documents).reindex(index.get_level_values("docno")).fillna("")
    without = np.flatnonzero((texts.str.strip() == "").to_numpy())
    _tell_of_missing_texts(index, without, arguments.docs)
    selector = _fitted(strategy, arguments, index, table, texts)
    assessor = TerminalAssessor(documents, topics, arguments.grades)
    n_before = _tell_of_log(log)
    with _signals_as_exits():
        try:
            judge(
                selector,
                assessor,
                log=log,
                n_select=arguments.n_select,
                topics=arguments.only,
                pool=index,
                leave_out=without,
                grades=list(arguments.grades),
            )
        except JudgmentLogError:
            raise
        except BaseException:
            if log.exists():
                _write(arguments.out, log, n_before)
            raise
    _write(arguments.out, log, n_before)
    return 0


@contextlib.contextmanager
def _signals_as_exits():
    """Leave by SystemExit when the process is told to end, so that the terminal is put right."""
    before = {}

    def leave(number, frame):
        # The next one shall not keep the judgments from being written.
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    try:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)  # Windows has no SIGHUP
                # What is ignored, as by nohup, stays so.
                if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                    before[number] = signal.signal(number, leave)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _pool(arguments):
    """Topic and document of each row, and the ranks in runs, if there are any."""
    if arguments.pool is None and not arguments.runs:
        raise InputError("there is nothing to judge: name POOL, or runs by --runs.")
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


def _fitted(strategy, arguments, index, table, texts):
    """The strategy on the pool."""
    groups = index.get_level_values("qid")
    prior = None
    if table is not None and strategy in ("prior", "maxrep"):
        prior = judgments.statap_prior(table).to_numpy()
    if strategy == "maxrep":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # texts are counted above
            selector = judgments.MaxRepSelector(verbose=progress(arguments))
            return selector.fit(texts.tolist(), groups=groups, prior=prior)
    if strategy == "random":
        selector = judgments.RandomSelector(random_state=arguments.seed)
        return selector.fit(np.zeros((len(index), 1)), groups=groups)
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


def _write(path, log, n_before):
    """Write the judgments of a log."""
    qrels = read_judgment_log(log)
    if qrels.empty:
        # An earlier file would keep what has been undone.
        Path(path).unlink(missing_ok=True)
        tell(f"nothing is judged; {path} is not written")
        return
    qrels = qrels.sort_values("qid", kind="stable")
    write_qrels(path, qrels)
    tell(f"{len(qrels):,} judgments in {path}, {max(len(qrels) - n_before, 0):,} of them new")
