"""How the cost of every measure, reader, writer and estimator grows from 1e3 to 1e6.

Each cell is the processor time of one call at sizes of 1e3, 1e4, 1e5 and 1e6, the best of two, as
long as a call takes no more than `--most` seconds. The exponent is the slope of a line through the
logarithms of the three largest sizes, of those that took half a millisecond.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(1, str(Path(__file__).parents[1]))  # for _common

import io
import json
import subprocess
import time
import warnings
import zlib
from functools import partial
from math import log10

import numpy as np
import pandas as pd
from _common import HERE, arguments, write_report
from sklearn.linear_model import LogisticRegression

from skfilterrank import comparison, judgments, metrics, ranking, thresholds
from skfilterrank import io as files
from skfilterrank._lists.measure import MEASURES

SIZES = (10**3, 10**4, 10**5, 10**6)
N_FEATURES = 4
EXPONENT = 1.1
# What a gzip member begins with that holds one block that is not compressed.
MEMBER = b"\x1f\x8b\x08" + bytes(6) + b"\xff\x01"
# What an exponent above 1.1 is due to, by the beginning of the cell.
REASONS = {
    "align": "sorts and joins ids: n log n",
    "fuse_runs": "sorts the lists of each system: n log n",
    "read csv, columns": "pandas makes each column by itself",
    "tau_ap": "counts in a merge sort: n log(n)**2",
}
SORT = "sorts one list: n log n, and larger than the cache"


# --- data -------------------------------------------------------------------------------------


def judged(axis, n):
    """Labels, scores and queries of n rows."""
    rng = np.random.default_rng(0)
    y_true = rng.choice([0.0, 1.0, 2.0], size=n, p=[0.7, 0.2, 0.1])
    y_score = rng.normal(size=n)
    if axis == "rows":
        return y_true, y_score, np.arange(n) // 100
    if axis == "queries":
        return y_true, y_score, np.arange(n) // 4
    if axis == "ties":
        y_score = rng.integers(0, 5, n).astype(float)
    return y_true, y_score, np.zeros(n, dtype=int)


def features(axis, n):
    """Features, labels and queries of n rows."""
    rng = np.random.default_rng(1)
    y_true, _, groups = judged("rows" if axis == "rows" else "documents", n)
    X = rng.normal(size=(n, N_FEATURES)).round(3)
    X[:, 0] += y_true
    return X, y_true, groups


def lines_of(kind, n, per_topic=100):
    """Lines of a file, as bytes."""
    templates = {
        "run": "{q} Q0 doc{i} {p} {s} run\n",
        "qrels": "{q} 0 doc{i} {b}\n",
        "sample": "{q} doc{i} {b} 1 0.5\n",
        "letor": "{b} qid:{q} 1:{s} 2:0.5 3:{p} #docid = doc{i}\n",
        "csv": "{q},doc{i},{b},{s},word{p}\n",
        "jsonl": '{{"qid": "{q}", "docno": "doc{i}", "label": {b}, "a": {s}}}\n',
    }
    head = "qid,docno,label,a,text\n" if kind == "csv" else ""
    rows = (
        templates[kind].format(q=i // per_topic, i=i, p=i % per_topic, s=(n - i) / 8, b=i % 3 % 2)
        for i in range(n)
    )
    return (head + "".join(rows)).encode()


def runs(n, n_runs=4):
    """Runs of 50 documents a topic that share most of them, n rows in all."""
    rng = np.random.default_rng(2)
    n_topics = max(1, n // (50 * n_runs))
    found = {}
    for number in range(n_runs):
        docnos = np.concatenate([rng.permutation(70)[:50] for _ in range(n_topics)])
        found[f"run{number}"] = pd.DataFrame(
            {
                "qid": np.repeat(np.arange(n_topics), 50).astype(str),
                "docno": docnos.astype(str),
                "score": np.tile(np.arange(50.0, 0, -1), n_topics),
            }
        )
    return found


def texts(n, n_topics=None):
    """A table of short texts with labels, NaN in half of the rows."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 5000, (n, 8))
    topic = np.arange(n) // 100 if n_topics is None else np.arange(n) % n_topics
    label = np.where(rng.random(n) < 0.5, (words[:, 0] < 2500).astype(float), np.nan)
    lines = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    return pd.DataFrame(
        {"qid": topic, "docno": np.arange(n).astype(str), "text": lines, "label": label}
    )


def completed(table):
    """The labels of a table of texts, completed."""
    return judgments.LabelPredictor().fit_transform(table["text"], table["label"], table["qid"])


# --- cells ------------------------------------------------------------------------------------


def measure_cells():
    """Every measure of the table, on three arrays; and what they all do first."""
    yield (
        "numpy.argsort",
        "documents a query",
        lambda n: partial(np.argsort, np.random.default_rng(0).random(n)),
    )
    for name, measure in MEASURES.items():
        forms = [name] + ([f"{name}@10"] if measure.takes_k else [])
        for form in forms:
            params = {"k": 10} if form != name else {}
            for axis in ("rows", "queries", "documents a query", "ties"):

                def make(n, axis=axis, measure=measure, params=params, name=name):
                    y_true, y_score, groups = judged(axis.split()[0], n)
                    more = dict(params)
                    if name == "stat_ap":
                        more["inclusion_probability"] = np.full(n, 0.5)
                    return lambda: measure(y_true, y_score, groups=groups, **more)

                yield f"measure {form}", axis, make


def reading(read, content):
    """A call that reads bytes."""
    return lambda: read(io.BytesIO(content))


def zipped_members(n):
    """A run of n lines, each a gzip member of its own, not compressed, as that would take long."""
    parts = []
    for line in lines_of("run", n).splitlines(keepends=True):
        size = len(line).to_bytes(2, "little")
        other = (len(line) ^ 0xFFFF).to_bytes(2, "little")
        crc = zlib.crc32(line).to_bytes(4, "little")
        parts += (MEMBER, size, other, line, crc, size, bytes(2))
    return b"".join(parts)


def long_id(n):
    """A run in which one topic has an id of 20 kB."""
    return lines_of("run", n) + b"x" * 20_000 + b" Q0 d 1 1 run\n"


def wide_csv(n):
    """A table of n columns and three rows."""
    names = ",".join(f"c{i}" for i in range(n))
    row = ",".join(["0.5"] * n)
    return f"qid,label,{names}\nq,1,{row}\nq,0,{row}\nr,1,{row}\n".encode()


def wide_json(n):
    """Two lines of n keys."""
    row = {"qid": "q", "label": 1} | {f"c{i}": 0.5 for i in range(n)}
    return f"{json.dumps(row)}\n{json.dumps(row)}\n".encode()


def long_lines(kind, n):
    """Lines of one topic."""
    return lines_of(kind, n, per_topic=n)


def file_cells():
    """Readers, then writers."""

    def table(format, **options):
        def read(source):
            source.name = f"table.{format}"
            return files.read_judged_table(source, **options)

        return read

    csv, jsonl = (table(format, columns={"docno": "docno"}) for format in ("csv", "jsonl"))
    readers = {"run": files.read_run, "qrels": files.read_qrels, "sample": files.read_qrels}
    readers |= {"letor": files.read_letor, "csv": csv, "jsonl": jsonl}
    for kind, read in readers.items():
        yield f"read {kind}", "rows", lambda n, k=kind, r=read: reading(r, lines_of(k, n))
        yield (
            f"read {kind}",
            "documents a query",
            lambda n, k=kind, r=read: reading(r, long_lines(k, n)),
        )
    yield "read run, gzip", "members", lambda n: reading(files.read_run, zipped_members(n))
    yield "read run, one id of 20 kB", "rows", lambda n: reading(files.read_run, long_id(n))
    yield (
        "read csv",
        "columns",
        lambda n: reading(table("csv"), wide_csv(n)),
    )
    yield (
        "read jsonl",
        "keys",
        lambda n: reading(table("jsonl"), wide_json(n)),
    )
    for axis, lines in (("rows", lines_of), ("documents a query", long_lines)):

        def join(n, lines=lines):
            index = files.QrelsIndex(io.BytesIO(lines("qrels", n)))
            return reading(index.align, lines("run", n))

        yield "QrelsIndex", axis, lambda n, f=lines: reading(files.QrelsIndex, f("qrels", n))
        yield "align", axis, join
        for name in ("run", "qrels"):

            def write(n, name=name, lines=lines):
                frame = readers[name](io.BytesIO(lines(name, n)))
                writer = getattr(files, f"write_{name}")
                return lambda: writer(io.StringIO(), frame)

            yield f"write {name}", axis, write
    yield (
        "write letor",
        "rows",
        lambda n: partial(files.write_letor, io.StringIO(), *features("rows", n)),
    )


def estimator_cells():
    """Rankers, filters and fusions; all learn for a fixed number of rounds."""
    few = {"random_state": 0}
    makers = {
        "CoordinateAscentRanker": lambda: ranking.CoordinateAscentRanker(max_iter=1, **few),
        "CoordinateAscentRanker, ap": lambda: ranking.CoordinateAscentRanker(
            measure="ap", max_iter=1, **few
        ),
        "CoordinateAscentRanker, err": lambda: ranking.CoordinateAscentRanker(
            measure="err", max_iter=1, **few
        ),
        "CoordinateAscentRanker, filter": lambda: ranking.CoordinateAscentRanker(
            filter=True, max_iter=1, **few
        ),
        "AdaRankRanker": lambda: ranking.AdaRankRanker(n_estimators=5),
        "RankBoostRanker": lambda: ranking.RankBoostRanker(n_estimators=5),
        "LambdaRankRanker": lambda: ranking.LambdaRankRanker(n_estimators=5),
        "OrdinalRanker": lambda: ranking.OrdinalRanker(LogisticRegression()),
        "RankAndFilter": lambda: ranking.RankAndFilter(LogisticRegression()),
        "RankAndFilter, per_query": lambda: ranking.RankAndFilter(
            LogisticRegression(), thresholds.PerQueryThreshold()
        ),
        "CalibratedRanker": lambda: ranking.CalibratedRanker(LogisticRegression()),
        "FilterOnly": lambda: ranking.FilterOnly(LogisticRegression()),
    }
    folds = ("RankAndFilter", "CalibratedRanker")
    for name, make in makers.items():
        for axis in ("rows", "documents a query"):

            def fit(n, make=make, axis=axis, name=name):
                X, y, groups = features(axis, n)
                if axis != "rows" and name.startswith(folds):
                    groups = np.arange(n) % 5  # as many as there are folds
                return partial(
                    make().fit, X, y, **({} if name == "OrdinalRanker" else {"groups": groups})
                )

            yield f"{name}.fit", axis, fit
    for axis in ("rows", "documents a query"):

        def arrays(n, axis=axis):
            y_true, y_score, groups = judged("rows" if axis == "rows" else "documents", n)
            return y_true, y_score, groups

        def curve(n, arrays=arrays):
            y_true, y_score, groups = arrays(n)
            return lambda: thresholds.threshold_curve(y_true, y_score, groups=groups)

        yield "threshold_curve", axis, curve
        for method in ("rrf", "combmnz", "borda"):

            def fuse(n, arrays=arrays, method=method):
                _, y_score, groups = arrays(n)
                scores = {"a": y_score, "b": y_score[::-1]}
                return lambda: ranking.fuse_runs(scores, method, groups=groups)

            yield f"fuse_runs {method}", axis, fuse

    def risk(n):
        y_true, y_score, groups = judged("rows", n)
        safe = thresholds.CertifiedThreshold({"forbidden@3": 0.5}, confidence_level=0.9)
        return lambda: safe.fit(y_score, y_true, groups=groups)

    def learned(n):
        y_true, y_score, groups = judged("rows", n)
        cut = thresholds.LearnedThreshold("ndcg_f", random_state=0)
        return lambda: cut.fit(y_score, y_true, groups=groups)

    def expected(n):
        y_true, y_score, groups = judged("rows", 1000)
        cut = thresholds.ExpectedThreshold("ndcg_f").fit(y_score, y_true, groups=groups)
        _, new, queries = judged("documents", n)
        return lambda: cut.predict(new, groups=queries)

    yield "CertifiedThreshold.fit", "rows", risk
    yield "LearnedThreshold.fit", "rows", learned
    yield "ExpectedThreshold.predict", "documents a query", expected
    for name in ("ap", "ndcg_f"):

        def bounds(n, name=name):
            y_true, y_score, groups = judged("documents", n)
            some = np.where(np.arange(n) % 3 == 0, y_true, np.nan)
            return lambda: metrics.unjudged_bounds(some, y_score, name, groups=groups)

        yield f"unjudged_bounds {name}", "documents a query", bounds
    yield "fuse_runs", "rows", lambda n: partial(ranking.fuse_runs, runs(n))


def judgment_cells():
    """Strategies, predictions and systems without judgments."""
    for name in ("RandomSelector", "PriorSelector", "StatAPSelector"):
        for axis in ("rows", "documents a query"):

            def fit(n, name=name, axis=axis):
                groups = judged("rows" if axis == "rows" else "documents", n)[2]
                prior = np.random.default_rng(4).uniform(0.01, 0.9, n)
                cls = getattr(judgments, name)
                return lambda: cls().fit(groups, groups=groups, prior=prior)

            yield f"{name}.fit", axis, fit

    def pool(n):
        """Ranks of n documents of one topic by four runs."""
        rng = np.random.default_rng(5)
        ranks = {f"run{i}": rng.permutation(n) + 1.0 for i in range(4)}
        index = pd.MultiIndex.from_product(
            [["q"], np.arange(n).astype(str)], names=["qid", "docno"]
        )
        return pd.DataFrame(ranks, index=index)

    def pools(n):
        """The same of topics of 100 documents."""
        table = pool(n)
        rng = np.random.default_rng(6)
        for column in table:
            table[column] = np.concatenate([rng.permutation(100) + 1.0 for _ in range(n // 100)])
        table.index = pd.MultiIndex.from_arrays(
            [(np.arange(n) // 100).astype(str), np.arange(n).astype(str)], names=["qid", "docno"]
        )
        return table

    for axis, make in (("rows", pools), ("documents a query", pool)):
        yield (
            "PoolingSelector.fit",
            axis,
            lambda n, m=make: partial(judgments.PoolingSelector().fit, m(n)),
        )
        for name in ("MoveToFrontSelector", "MTCSelector"):

            def ask(n, name=name, make=make):
                table = make(n)
                labels = (np.arange(n) % 3 == 0).astype(float)
                cls = getattr(judgments, name)
                return lambda: cls().fit(table, labels)

            yield f"{name}.fit", axis, ask
    for axis, n_topics in (("rows", None), ("documents a query", 1)):

        def maxrep(n, n_topics=n_topics):
            table = texts(n, n_topics)
            prior = np.random.default_rng(7).uniform(0.01, 0.9, n)
            return lambda: judgments.MaxRepSelector().fit(
                table["text"], groups=table["qid"], prior=prior
            )

        yield "MaxRepSelector.fit", axis, maxrep
        yield (
            "LabelPredictor.fit_transform",
            axis,
            lambda n, t=n_topics: partial(completed, texts(n, t)),
        )
    yield "rank_table", "rows", lambda n: partial(judgments.rank_table, runs(n))
    yield "pseudo_qrels", "rows", lambda n: partial(judgments.pseudo_qrels, runs(n))
    yield (
        "rank_systems condorcet",
        "rows",
        lambda n: partial(judgments.rank_systems, runs(n), method="condorcet"),
    )


def order_cells():
    """Measures of two orders."""

    def two(n, tied=False):
        rng = np.random.default_rng(8)
        names = [f"d{i}" for i in range(n)]
        values = rng.integers(0, 5, (2, n)) if tied else rng.random((2, n))
        return [pd.Series(each, index=names) for each in values]

    for name in ("kendall_tau", "tau_ap"):
        function = getattr(comparison, name)
        yield name, "items", lambda n, f=function: partial(f, *two(n))
    yield (
        "tau_ap(symmetric)",
        "ties",
        lambda n: partial(comparison.tau_ap, *two(n, True), symmetric=True),
    )


# --- the table --------------------------------------------------------------------------------


def measured(make, most):
    """Seconds at each size, as far as they are measured; None and a message where a call fails."""
    seconds = []
    for n in SIZES:
        call, best = make(n), np.inf
        for _ in range(2):
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()
            best = min(best, time.process_time() - begin)
            if best > most / 3:
                break
        seconds.append(best)
        if best > most / 12:  # ten times as many would take too long
            break
    return seconds


def exponent(seconds):
    """Slope through the three largest sizes of those that took half a millisecond; or NaN."""
    points = [(log10(n), log10(t)) for n, t in zip(SIZES, seconds) if t >= 5e-4][-3:]
    return np.polyfit(*zip(*points), 1)[0] if len(points) > 1 else np.nan


def reason(name, axis, value):
    """Why an exponent is above 1.1."""
    if not value > EXPONENT:
        return ""
    for start, text in REASONS.items():
        if f"{name}, {axis}".startswith(start):
            return text
    return SORT if axis in ("documents a query", "ties", "items") and value < 1.35 else "?"


def main():
    parts = {
        "measures": measure_cells,
        "files": file_cells,
        "estimators": estimator_cells,
        "judgments": judgment_cells,
        "orders": order_cells,
    }
    options = arguments(__doc__, tuple(parts), most=12.0)
    cells = [cell for name in options.parts or parts for cell in parts[name]()]
    lines = [
        "| | axis | 1e3 | 1e4 | 1e5 | 1e6 | exponent | why |",
        "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    begin = time.time()
    for name, axis, make in cells:
        try:
            seconds = measured(make, options.most)
        except ValueError as error:
            print(f"{name}, {axis}: {error}", flush=True)
            continue
        shown = [f"{value:.4f}" for value in seconds] + [""] * (len(SIZES) - len(seconds))
        value = exponent(seconds)
        text = "" if np.isnan(value) else f"{value:.2f}"
        line = f"| {name} | {axis} | {' | '.join(shown)} | {text} | {reason(name, axis, value)} |"
        print(line, flush=True)
        lines.append(line)
    if options.parts:
        return
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True
    ).stdout.strip()
    write_report(
        "growth",
        "Growth of cost",
        f"`python benchmarks/maintainers/growth.py`, commit {commit}, {time.strftime('%Y-%m-%d')}, "
        f"{(time.time() - begin) / 60:.0f} minutes beside other work. Processor seconds of a call, "
        f"the best of two. A cell ends where ten times as many would take longer than "
        f"{options.most:g} s. The exponent is the slope through the three largest sizes, of those "
        "that took half a millisecond.\n\n" + "\n".join(lines),
    )


if __name__ == "__main__":
    main()
