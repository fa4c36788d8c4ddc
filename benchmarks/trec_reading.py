"""Speed and memory of reading TREC runs and joining them with judgments, on one core."""

import gzip
import tempfile
import time
import tracemalloc
from importlib.metadata import version
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.io import QrelsIndex, read_run

COLUMNS = ["qid", "q0", "docno", "rank", "score", "run"]


def by_ir_measures(path, index):
    """What ir_measures' reader takes to fill dictionaries."""
    run = {}
    for row in ir_measures.read_trec_run(str(path)):
        run.setdefault(row.query_id, {})[row.doc_id] = row.score


def by_pandas(path, index):
    """Reading alone, at its fastest: columns of numbers stay numbers, ids too."""
    pd.read_csv(path, sep=" ", header=None, names=COLUMNS)


def by_pandas_with_ids(path, index):
    """Reading alone, ids as they are written."""
    pd.read_csv(path, sep=r"\s+", header=None, names=COLUMNS, dtype={"qid": str, "docno": str})


def unzipping(path, index):
    """What no reader can do without."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        gzip.decompress(data)


def by_frame(path, index):
    """read_run, then align."""
    index.align(read_run(path))


def by_path(path, index):
    """Align straight from the file."""
    index.align(path)


WAYS = {
    "ir_measures: `read_trec_run` into dictionaries": by_ir_measures,
    "`pandas.read_csv`, ids parsed as numbers": by_pandas,
    "`pandas.read_csv`, ids as text": by_pandas_with_ids,
    "`gzip.decompress`": unzipping,
    "`index.align(read_run(path))`": by_frame,
    "`index.align(path)`": by_path,
}


def table(paths, index, repeats, ways=WAYS):
    """Seconds of each way, shortest of several rounds that take turns."""
    seconds = dict.fromkeys(ways, np.inf)
    for _ in range(repeats):
        for name in ways:
            begin = time.perf_counter()
            for path in paths:
                ways[name](path, index)
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    slowest = next(iter(seconds.values()))
    rows = [f"| {name} | {s:.2f} s | {slowest / s:.1f} |" for name, s in seconds.items()]
    return "\n".join(["| | seconds | times faster |", "| --- | --- | --- |", *rows])


def generated_run(folder, n_rows, kind):
    """A run of 1,000 documents a topic with 25-character ids, and judgments of 1 % of them."""
    rng = np.random.default_rng(0)
    topics = np.repeat(np.arange(n_rows // 1000) + 1, 1000)
    numbers = rng.permutation(50_000_000)[: len(topics)]
    score = np.sort(rng.normal(size=(len(topics) // 1000, 1000)))[:, ::-1].ravel() * 5 + 20
    texts = {"6 decimals": [f"{s:.6f}" for s in score], "full precision": map(repr, score.tolist())}
    rows = zip(topics.tolist(), numbers.tolist(), texts[kind], strict=True)
    path = folder / f"{kind}.txt"
    with open(path, "w") as file:
        for i, (topic, number, text) in enumerate(rows):
            docno = f"clueweb09-en{number // 100000:04}-{number // 1000 % 100:02}-{number:05}"
            file.write(f"{topic} Q0 {docno} {i % 1000 + 1} {text} generated\n")
    qrels = read_run(path).iloc[::100]
    return path, QrelsIndex(qrels.assign(label=rng.integers(0, 3, len(qrels))))


def memory(path, index):
    """Peak memory of both ways of ours, in multiples of the file."""
    size = path.stat().st_size
    for way in (by_frame, by_path):
        tracemalloc.start()
        way(path, index)
        yield tracemalloc.get_traced_memory()[1] / size
        tracemalloc.stop()


def main():
    options = arguments(__doc__, rows=1_000_000, repeats=3)
    folder = options.data / "trec-covid-round1"
    paths = sorted(folder.glob("runs/*.txt.gz"))
    index = QrelsIndex(folder / "qrels.txt.gz")
    n_lines = sum(gzip.decompress(path.read_bytes()).count(b"\n") for path in paths)
    parts = [
        f"ir_measures {version('ir_measures')}. Shortest of {options.repeats} rounds in which all "
        "ways take turns, one thread. The judgments are indexed once, before.",
        f"## The {len(paths)} runs of TREC-COVID round 1, {n_lines:,} lines, gzip",
        table(paths, index, options.repeats),
    ]
    with tempfile.TemporaryDirectory() as temporary:
        for kind in ("6 decimals", "full precision"):
            path, index = generated_run(Path(temporary), options.rows, kind)
            by_frame_peak, by_path_peak = memory(path, index)
            parts += [
                f"## One run of {options.rows:,} lines, scores with {kind}, "
                f"{path.stat().st_size / 1e6:.0f} MB, plain text",
                table([path], index, options.repeats),
                f"Peak memory that Python traces: {by_frame_peak:.1f} times the file for "
                f"`index.align(read_run(path))`, {by_path_peak:.1f} times for `index.align(path)`.",
            ]
    write_report("trec_reading", "Reading TREC runs", "\n\n".join(parts))


if __name__ == "__main__":
    main()
