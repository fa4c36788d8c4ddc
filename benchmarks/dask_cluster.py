"""Measures and RankAndFilter on a Dask cluster of two processes, against one process.

    python benchmarks/dask_cluster.py [--rows 10000000] [--train-rows 1000000] [--trees 30]

Writes results/dask_cluster.md, of measures, and results/dask_training.md; 0 rows leave one out.
Times are of the clock, and so of a machine with nothing else to do, or only ratios; CPU seconds
stand beside them.
"""

import os
import resource
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import xgboost
import xgboost.dask
from _common import arguments, write_report
from distributed import Client, LocalCluster

from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate, ndcg_f_score
from skfilterrank.ranking import RankAndFilter

MEASURES = ["ndcg_f@10", "ndcg_0@10", "ap", "rr", "precision@5", "forbidden@10", "lexirecall"]
PART_ROWS = 500_000
FEATURES = [f"f{i}" for i in range(20)]
# Dask has glibc give memory back whenever 64 kB are free, and every large array is faulted in anew.
KEEPS_MEMORY = {
    "distributed.nanny.pre-spawn-environ": {
        **dict.fromkeys(["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"], 1 << 30),
        **dict.fromkeys(["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"], 1),
    }
}


def queries_of(part, n_rows):
    """Query ids of a part of the rows: whole queries of 10 to 40 documents."""
    rng = np.random.default_rng([part, 0])
    sizes = rng.integers(10, 41, n_rows // 25 + 1)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n_rows) + 1]
    return np.repeat(part * n_rows + np.arange(len(sizes)), sizes)


def scored_part(part, n_rows=PART_ROWS):
    """Rows to measure."""
    rng = np.random.default_rng([part, 1])
    query = queries_of(part, n_rows)
    label = rng.choice([-1.0, 0.0, 1.0, 2.0], len(query), p=[0.2, 0.5, 0.2, 0.1])
    score = rng.normal(size=len(query)) + 0.5 * label
    return pd.DataFrame({"qid": query, "label": label, "score": score})


def training_part(part, n_rows=PART_ROWS // 5):
    """Rows to learn from, in no order."""
    rng = np.random.default_rng([part, 2])
    query = queries_of(part, n_rows)
    X = rng.normal(size=(len(query), len(FEATURES))).astype(np.float32)
    worth = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3]) + rng.normal(size=len(query))
    label = np.digitize(worth, [-0.8, 0.8, 2.0]) - 1.0
    frame = pd.DataFrame(X, columns=FEATURES).assign(label=label, qid=query)
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


def frame_of(make, n_rows, part_rows):
    """A Dask DataFrame whose partitions the workers make."""
    return dd.from_map(make, range(max(1, n_rows // part_rows)), meta=make(0).iloc[:0])


def seconds():
    """CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak():
    """Highest resident size of this process in MB."""
    status = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


@contextmanager
def cluster(n_workers):
    """A client of workers that are processes."""
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as workers,
        Client(workers) as client,
    ):
        client.run(np.zeros, 1)
        yield client


def timed(function, client=None):
    """What a function returns, clock seconds, and CPU seconds of workers, or of this process."""
    cpu = lambda: sum(client.run(seconds).values()) if client else seconds()  # noqa: E731
    before, begin = cpu(), time.perf_counter()
    result = function()
    return result, time.perf_counter() - begin, cpu() - before


def warm_up():
    """What a worker imports with its first partition."""
    evaluate(Rows(scored_part(0, 1000)), MEASURES)


def measured(n_rows):
    """Times by number of workers, and the largest difference of a mean."""
    n_parts = max(1, n_rows // PART_ROWS)
    rows = Rows(lambda: (scored_part(part) for part in range(n_parts)))
    times, means = {}, {}
    found, clock, cpu = timed(lambda: evaluate(rows, MEASURES))
    times["this process, without Dask"], means[0] = (clock, cpu), found.means
    for settings, config in (("", {}), (", which keep memory", KEEPS_MEMORY)):
        for n_workers in (1, 2):
            with dask.config.set(config), cluster(n_workers) as client:
                frame = frame_of(scored_part, n_rows, PART_ROWS)
                rows = Rows(frame, scattered="raise")
                client.run(warm_up)
                found, clock, cpu = timed(lambda rows=rows: evaluate(rows, MEASURES), client)
                name = f"Dask, {n_workers} worker{'s' * (n_workers > 1)}{settings}"
                times[name], means[name] = (clock, cpu), found.means
    same = max(abs(each - means[0]).max() for each in means.values())
    return found.n_rows, times, means[0], same


def with_a_loss(n_rows, means):
    """Whether a worker was killed in the middle, and the largest difference of a mean."""
    with cluster(2) as client:
        before = client.run(os.getpid)
        rows = Rows(frame_of(scored_part, n_rows, PART_ROWS), scattered="raise")
        pid = min(before.values())
        timer = threading.Timer(3.0, os.kill, [pid, signal.SIGKILL])
        timer.start()
        found = evaluate(rows, MEASURES)
        lost = not timer.is_alive()
        timer.cancel()
    return lost, abs(found.means - means).max()


def in_memory(n_rows, trees):
    """The fit of one process: nDCG_f@10 of new queries, threshold, seconds, peak memory."""
    n_parts = max(1, n_rows // (PART_ROWS // 5))
    rows = pd.concat([training_part(part) for part in range(n_parts)], ignore_index=True)
    model = RankAndFilter(
        xgboost.XGBRanker(n_estimators=trees, n_jobs=2), measure="ndcg_f@10", cv=3
    )
    _, clock, cpu = timed(lambda: model.fit(rows[FEATURES], rows["label"], groups=rows["qid"]))
    return *quality(model), clock, cpu, peak()


def quality(model):
    """nDCG_f@10 of new queries, and the threshold."""
    new = training_part(10**6)
    shown = model.predict(new[FEATURES])
    return ndcg_f_score(new["label"], shown, groups=new["qid"], k=10), model.threshold_


def on_cluster(n_rows, trees):
    """The same on two workers; the peak is of the larger one."""
    with cluster(2) as client:
        frame = frame_of(training_part, n_rows, PART_ROWS // 5)
        inner = xgboost.dask.DaskXGBRanker(n_estimators=trees)
        model = RankAndFilter(inner, measure="ndcg_f@10", cv=3)
        _, clock, cpu = timed(
            lambda: model.fit(frame[FEATURES], frame["label"], groups=frame["qid"]), client
        )
        peaks = client.run(peak).values()
    return *quality(model), clock, cpu, max(peaks), peak()


def alone(function, *arguments):
    """Call a function in a process of its own, whose peak memory is its own."""
    return joblib.Parallel(n_jobs=2, backend="loky")([joblib.delayed(function)(*arguments)])[0]


def report_measures(n_rows):
    load = os.getloadavg()[0]
    n_measured, times, means, same = measured(n_rows)
    print(times, same)
    lost, same_after_loss = with_a_loss(n_rows, means)
    lines = ["| | clock, s | CPU, s | times this process |", "| --- | --- | --- | --- |"]
    here = times["this process, without Dask"][0]
    for name, (clock, cpu) in times.items():
        lines.append(f"| {name} | {clock:.1f} | {cpu:.1f} | {here / clock:.2f} |")
    text = f"""
{load:.1f} processes were running or waiting on average when this began: the clock is worth little
where that is more than 1, unless this went before them.

{len(MEASURES)} measures of {n_measured:,} rows that are made as they are read, in partitions of
about {PART_ROWS:,}; "times this process" is how many times as fast. Making them is part of all
times.
Workers "which keep memory" were started with the settings of `KEEPS_MEMORY`: by default Dask has
them give back memory whenever 64 kB are free.

{chr(10).join(lines)}

Means differ by at most {same:.0e}. One of two workers was
{"killed in the middle" if lost else "to be killed, but all was done before"}: means differ by at
most {same_after_loss:.0e} from those of this process.
"""
    write_report("dask_cluster", "Measures on a Dask cluster", text)


def report_training(n_rows, trees):
    load = os.getloadavg()[0]
    here = alone(in_memory, n_rows, trees)
    there = on_cluster(n_rows, trees)
    text = f"""
{load:.1f} processes were running or waiting on average when this began: the clock is worth little
where that is more than 1.

`RankAndFilter(DaskXGBRanker(n_estimators={trees}), measure="ndcg_f@10", cv=3)` on {n_rows:,}
rows of 20 features (float32, in no order within partitions), two workers, against `XGBRanker` in
one process with two threads. nDCG_f@10 is of about {PART_ROWS // 5:,} rows of new queries.

| | nDCG_f@10 | threshold | clock, s | CPU, s | peak, MB |
| --- | --- | --- | --- | --- | --- |
| one process | {here[0]:.4f} | {here[1]:.4f} | {here[2]:.0f} | {here[3]:.0f} | {here[4]:.0f} |
| two workers | {there[0]:.4f} | {there[1]:.4f} | {there[2]:.0f} | {there[3]:.0f} | {there[4]:.0f} |

The difference of nDCG_f@10 is {there[0] - here[0]:+.4f}. Peaks are of resident memory: of the one
process, with the rows; of the larger of the workers. The client's was {there[5]:.0f} MB.
"""
    write_report("dask_training", "Training on a Dask cluster", text)


if __name__ == "__main__":
    options = arguments(__doc__, rows=10_000_000, train_rows=1_000_000, trees=30)
    if options.rows:
        report_measures(options.rows)
    if options.train_rows:
        report_training(options.train_rows, options.trees)
