"""Large data: time, memory and growth of streams of rows, and XGBoost's external memory.

    python benchmarks/large_data.py [streams] [external_memory] [--rows 10000000]

`streams`: beside arrays, polars and DuckDB, where it can be imported. `--rows` is the largest
number of rows, generated on the fly and in Parquet; 1e9 of them take 10 times what 1e8 take.
`external_memory`: is the model of a ranking that of memory, whatever batches cut? Writes
results/streams.md and external_memory.md.
"""

import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from functools import partial

import numpy as np
from _common import run_parts, write_report

from skfilterrank import metrics, thresholds
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate
from skfilterrank.thresholds import threshold_curve

MEASURES = [
    *("ndcg_f@10", "ndcg_0@10", "ap", "forbidden@10", "rr"),
    *("p@10", "recall@10", "false_reject_rate", "rbp@10", "any_forbidden@10"),
]
PER_QUERY = 100
FRAME_QUERIES = 5000
ROW_GROUP = 1 << 20


def frames(n_rows):
    """Rows of queries of 100 documents, 500,000 rows at a time."""
    rng = np.random.default_rng(0)
    n_queries = n_rows // PER_QUERY
    for first in range(0, n_queries, FRAME_QUERIES):
        ids = np.arange(first, min(first + FRAME_QUERIES, n_queries))
        size = len(ids) * PER_QUERY
        label = rng.choice(np.array([-1.0, 0.0, 1.0, 2.0]), size, p=[0.2, 0.4, 0.3, 0.1])
        score = rng.random(size) + 0.5 * label
        yield {"qid": np.repeat(ids, PER_QUERY), "label": label, "score": score}


def cpu(function):
    """CPU seconds of a call, in all threads, and what it returns."""
    before = os.times()
    result = function()
    after = os.times()
    return sum(after[:2]) - sum(before[:2]), result


def drain(iterator):
    """Read to the end."""
    for _ in iterator:
        pass


def in_memory(path, n_rows):
    """The columns of a file as arrays."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    return [table[name].to_numpy() for name in ("qid", "label", "score")]


def decode(path):
    """Read a file as the streams do, and do nothing."""
    from pyarrow import parquet

    file = parquet.ParquetFile(path, buffer_size=1 << 20)
    for batch in file.iter_batches(1 << 19, columns=["qid", "label", "score"]):
        for column in batch.columns:
            column.to_numpy()


def by_polars(path):
    """nDCG_f@10 by polars' streaming engine."""
    import polars as pl

    label, score = pl.col("label"), pl.col("score")

    def dcg(ordered):
        top = ordered.head(10)
        return (top * (1 / (pl.int_range(top.len()) + 2).log(2))).sum()

    found = (
        pl.scan_parquet(path)
        .group_by("qid")
        .agg(
            dcg(label.sort_by(score, descending=True)).alias("dcg"),
            dcg(label.clip(lower_bound=0).sort(descending=True)).alias("ideal"),
            dcg(label.clip(upper_bound=0).sort()).alias("worst"),
        )
        .select(
            pl.when(pl.col("ideal") > pl.col("worst"))
            .then((pl.col("dcg") - pl.col("worst")) / (pl.col("ideal") - pl.col("worst")))
            .otherwise(0.0)
            .mean()
        )
        .collect(engine="streaming")
    )
    return found.item()


def by_duckdb(path):
    """nDCG_f@10 by DuckDB."""
    import duckdb

    query = f"""
    with ranked as (
        select qid, label,
            row_number() over (partition by qid order by score desc) as place,
            row_number() over (partition by qid order by label desc) as best,
            row_number() over (partition by qid order by label) as worst
        from read_parquet('{path}')),
    sums as (
        select
            sum(case when place <= 10 then label / log2(place + 1) else 0 end) as dcg,
            sum(case when best <= 10 then greatest(label, 0) / log2(best + 1) else 0 end) as ideal,
            sum(case when worst <= 10 then least(label, 0) / log2(worst + 1) else 0 end) as low
        from ranked group by qid)
    select avg(case when ideal > low then (dcg - low) / (ideal - low) else 0 end) from sums
    """
    return duckdb.connect().execute(query).fetchone()[0]


def write(path, n_rows):
    """The rows as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    tables = map(pa.table, frames(n_rows))
    first = next(tables)
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first, row_group_size=ROW_GROUP)
        for table in tables:
            writer.write_table(table, row_group_size=ROW_GROUP)


PARTS = {
    "generate": lambda path, n: drain(frames(n)),
    "generated": lambda path, n: evaluate(Rows(lambda: frames(n)), MEASURES).means.tolist(),
    "decode": lambda path, n: decode(path),
    "stream": lambda path, n: evaluate(Rows(path), MEASURES).means.tolist(),
    "stream one": lambda path, n: evaluate(Rows(path), "ndcg_f@10").means.iloc[0],
    "threshold": lambda path, n: best(threshold_curve(Rows(path), measure="ndcg_f@10")),
    "polars": lambda path, n: by_polars(path),
    "DuckDB": lambda path, n: by_duckdb(path),
    "write": lambda path, n: write(path, n),
}


def best(curve):
    """The threshold and its value."""
    return curve.best_threshold, curve.best_value


def arrays_part(path, n_rows, what):
    """The same of arrays, which are in memory before the time begins."""
    qid, label, score = in_memory(path, n_rows)
    if what == "threshold of arrays":
        curve = partial(thresholds.threshold_curve, groups=qid, measure="ndcg_f@10")
        return cpu(lambda: best(curve(label, score)))
    names = MEASURES if what == "arrays" else "ndcg_f@10"
    seconds, means = cpu(lambda: metrics.evaluate(label, score, names, groups=qid).means)
    return seconds, means.tolist()


def run_part(what, path, n_rows):
    """One part in this process, as JSON: CPU seconds, result, and the peak of memory in MB."""
    warnings.simplefilter("ignore")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if what in PARTS:
        seconds, result = cpu(lambda: PARTS[what](path, n_rows))
    else:
        seconds, result = arrays_part(path, n_rows, what)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "result": result, "peak": peak, "before": before}))


def part(what, path, n_rows, repeats):
    """The best of several processes."""
    command = [sys.executable, __file__, "--one", what, path, str(n_rows)]
    found = []
    for _ in range(repeats):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return min(found, key=lambda each: each["seconds"])


def exponent(sizes, seconds):
    """Slope of the times in logarithms."""
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def streams(options):
    """Report on streams of rows."""
    sizes = [10**power for power in range(6, 11) if 10**power <= options.rows]
    lines, times = [], []
    for size in sizes:
        repeats = options.repeats if size <= 10**7 else 1
        alone, whole = (part(what, "", size, repeats) for what in ("generate", "generated"))
        times.append(whole["seconds"] - alone["seconds"])
        lines.append(
            f"| {size:,} | {alone['seconds']:.2f} | {times[-1]:.2f} | "
            f"{1e9 * times[-1] / size:.0f} | {whole['peak']:.0f} |"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.parquet")
        size = min(options.in_files, options.rows)
        in_files = in_parquet(path, size, options.others, options.repeats)
    slope = ""
    if len(sizes) > 1:
        slope = (
            f"Time grows as rows to the power {exponent(sizes, times):.3f} from {sizes[0]:,} to "
            f"{sizes[-1]:,} rows."
        )
    text = f"""
CPU seconds of all threads, best of {options.repeats} processes up to 1e7 rows and one beyond; all
from one run, on a machine that others used at the same time: compare ratios. Queries have 100
documents and are sorted together. Memory is the peak of the whole process in MB, the interpreter
and its packages included (about 200).

## Rows that are made on the fly: 10 measures

{", ".join(MEASURES)}. Making the rows is timed by itself and taken away.

| rows | making them | measures | nanoseconds a row | peak memory |
| --- | --- | --- | --- | --- |
{chr(10).join(lines)}

{slope}

## Parquet

*Decoding* reads the three columns as NumPy arrays and does nothing; *arrays* is
`metrics.evaluate` of arrays that are in memory, up to {options.others:,} rows. The ratio is the
stream's time over decoding plus arrays.

{in_files}
"""
    write_report("streams", "Streams of rows", text)


def in_parquet(path, size, others, repeats):
    """A table for one size."""
    part("write", path, size, 1)
    repeats = repeats if size <= 10**7 else 1
    found = {what: part(what, path, size, repeats) for what in ("decode", "stream", "stream one")}
    found["threshold"] = part("threshold", path, size, repeats)
    compared = ["arrays", "arrays one", "threshold of arrays", "polars"]
    if importlib.util.find_spec("duckdb") is not None:
        compared.append("DuckDB")
    if size <= others:
        found |= {what: part(what, path, size, repeats) for what in compared}
    names = {
        "decode": "decoding",
        "stream": "stream, 10 measures",
        "arrays": "arrays, 10 measures",
        "stream one": "stream, nDCG_f@10",
        "arrays one": "arrays, nDCG_f@10",
        "polars": "polars (streaming), nDCG_f@10",
        "DuckDB": "DuckDB, nDCG_f@10",
        "threshold": "stream, threshold_curve",
        "threshold of arrays": "arrays, threshold_curve",
    }
    lines = [
        f"### {size:,} rows",
        "",
        "| what | CPU seconds | peak memory |",
        "| --- | --- | --- |",
    ]
    for what, name in names.items():
        if what in found:
            lines.append(f"| {name} | {found[what]['seconds']:.2f} | {found[what]['peak']:.0f} |")
    if "arrays" in found:
        lines += ["", ratios(found)]
    return "\n".join([*lines, ""])


def ratios(found):
    """What the figures of one size say."""
    seconds = {what: each["seconds"] for what, each in found.items()}
    many = seconds["stream"] / (seconds["decode"] + seconds["arrays"])
    one = seconds["stream one"] / (seconds["decode"] + seconds["arrays one"])
    stream, arrays = found["threshold"]["result"], found["threshold of arrays"]["result"]
    same = "the same" if stream[0] == arrays[0] else "ANOTHER"
    values = [found[what]["result"] for what in ("stream one", "polars", "DuckDB") if what in found]
    spread = max(values) - min(values)
    others = ", ".join(
        f"{what} {seconds[what] / seconds['stream one']:.1f} times"
        for what in ("polars", "DuckDB")
        if what in found
    )
    return (
        f"Ratio for 10 measures {many:.2f}, for one {one:.2f}. For nDCG_f@10 {others} the time of "
        f"the stream; values differ by at most {spread:.1e}. The threshold of the stream is {same} "
        f"as that of arrays, its value within {abs(stream[1] - arrays[1]):.1e}."
    )


LOSSES = [
    {"objective": "rank:ndcg"},
    {"objective": "rank:ndcg", "lambdarank_pair_method": "mean"},
    {"objective": "reg:squarederror"},
]


def rows_in_batches(X, y, groups, ends, folder):
    """Rows for XGBoost that are cut at some places."""
    import xgboost

    class Batches(xgboost.DataIter):
        def __init__(self):
            self.at = 0
            super().__init__(cache_prefix=os.path.join(folder, "cache"))

        def reset(self):
            self.at = 0

        def next(self, input_data):
            if self.at == len(ends) - 1:
                return False
            part = slice(ends[self.at], ends[self.at + 1])
            input_data(data=X[part], label=y[part], qid=groups[part])
            self.at += 1
            return True

    return Batches()


def external_memory(options):
    """Report on models of batches and of memory."""
    # The streams' memory is measured without it.
    import xgboost

    X, y, groups, _ = make_rank_and_filter(n_queries=options.queries, random_state=0)
    X, y = X.astype(np.float32), np.unique(y, return_inverse=True)[1]
    between = np.searchsorted(groups, np.linspace(0, options.queries, 5).astype(int))
    again = np.flatnonzero(groups[1:] == groups[:-1]) + 1
    within = between.copy()
    within[1:-1] = [again[np.searchsorted(again, place)] for place in between[1:-1]]
    rows = xgboost.DMatrix(X)
    lines = ["| | batches of whole queries | batches that cut 3 queries | sd of scores |"]
    lines.append("| --- | --- | --- | --- |")
    for loss in LOSSES:
        settings = {"tree_method": "hist", "nthread": 2, **loss}
        known = xgboost.QuantileDMatrix(X, y, qid=groups)
        memory = xgboost.train(settings, known, options.trees).predict(rows)
        differences = []
        for ends in (between, within):
            with tempfile.TemporaryDirectory() as folder:
                data = xgboost.ExtMemQuantileDMatrix(rows_in_batches(X, y, groups, ends, folder))
                found = xgboost.train(settings, data, options.trees).predict(rows)
                del data
            differences.append(np.abs(found - memory).max())
        name = ", ".join(loss.values())
        lines.append(
            f"| {name} | {differences[0]:.2g} | {differences[1]:.2g} | {memory.std():.2g} |"
        )
    text = f"""
Largest difference of a score between XGBoost {xgboost.__version__} on `ExtMemQuantileDMatrix` in
four batches and on `QuantileDMatrix` in memory: {len(y):,} rows of {options.queries:,} queries,
{options.trees} trees.

{chr(10).join(lines)}
"""
    write_report("external_memory", "XGBoost's external memory for ranking", text)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_part(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        sizes = dict.fromkeys(("rows", "in_files", "others"), 10_000_000)
        parts = {"streams": streams, "external_memory": external_memory}
        run_parts(__doc__, parts, **sizes, repeats=1, queries=20_000, trees=8)
