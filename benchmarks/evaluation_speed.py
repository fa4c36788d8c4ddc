"""Evaluation of the 143 runs of TREC-COVID round 1 from files to values, beside other packages.

Every way starts at packed files and ends at eight measures of every topic of every run, in one
process and thread. Each measures a run as its documentation shows.
"""

import gzip
import time
from importlib.metadata import version

import ir_measures
import numpy as np
import pytrec_eval
from _common import arguments, write_report

from skfilterrank.trec import evaluate_runs

# Our name, trec_eval's, that of ir_measures.
MEASURES = [
    ("ap", "map", "AP"),
    ("ndcg_0@10", "ndcg_cut_10", "nDCG@10"),
    ("ndcg_0", "ndcg", "nDCG"),
    ("precision@10", "P_10", "P@10"),
    ("recall@1000", "recall_1000", "R@1000"),
    ("rr", "recip_rank", "RR"),
    ("bpref", "bpref", "Bpref"),
    ("r_precision", "Rprec", "Rprec"),
]


def by_skfilterrank(qrels, runs):
    """Values by run, topic and our name of the measure."""
    ours = [name for name, *_ in MEASURES]
    values = evaluate_runs(qrels, runs, ours, missing="drop", precision="single")
    return {
        (run.removesuffix(".txt.gz"), topic): row
        for (run, topic), row in zip(values.index, values.to_numpy().tolist())
    }


def by_pytrec_eval(qrels, runs):
    """The same, read by its own functions."""
    theirs = [name for _, name, _ in MEASURES]
    with gzip.open(qrels, "rt") as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(theirs))
    values = {}
    for path in runs:
        with gzip.open(path, "rt") as file:
            topics = evaluator.evaluate(pytrec_eval.parse_run(file))
        for topic, row in topics.items():
            values[path.name.removesuffix(".txt.gz"), topic] = [row[name] for name in theirs]
    return values


def by_ir_measures(qrels, runs):
    """The same, read by its own functions; it counts topics that a run lacks as 0."""
    measures = [ir_measures.parse_measure(name) for *_, name in MEASURES]
    evaluator = ir_measures.evaluator(measures, list(ir_measures.read_trec_qrels(str(qrels))))
    values = {}
    for path in runs:
        for value in evaluator.iter_calc(ir_measures.read_trec_run(str(path))):
            key = path.name.removesuffix(".txt.gz"), value.query_id
            values.setdefault(key, [None] * len(measures))[measures.index(value.measure)] = (
                value.value
            )
    return values


WAYS = {
    "skfilterrank: `evaluate_runs(qrels, paths, measures)`": by_skfilterrank,
    "pytrec_eval: `parse_run`, `RelevanceEvaluator.evaluate`": by_pytrec_eval,
    "ir_measures: `read_trec_run`, `evaluator.iter_calc`": by_ir_measures,
}


def main():
    options = arguments(__doc__, repeats=3)
    folder = options.data / "trec-covid-round1"
    runs, qrels = sorted(folder.glob("runs/*.txt.gz")), folder / "qrels.txt.gz"
    wall, cpu, values = {}, {}, {}
    for _ in range(options.repeats):
        for name, way in WAYS.items():
            begin, begin_cpu = time.perf_counter(), time.process_time()
            values[name] = way(qrels, runs)
            wall.setdefault(name, []).append(time.perf_counter() - begin)
            cpu.setdefault(name, []).append(time.process_time() - begin_cpu)
    ours, *others = WAYS
    largest = max(
        np.abs(np.subtract(row, values[other][key])).max()
        for other in others
        for key, row in values[ours].items()
    )
    lines = [
        f"| {name} | {min(wall[name]):.2f} s | {min(wall[name]) / min(wall[ours]):.1f} | "
        f"{min(cpu[name]):.2f} s | {min(cpu[name]) / min(cpu[ours]):.1f} |"
        for name in WAYS
    ]
    text = f"""
pytrec_eval-terrier {version("pytrec_eval-terrier")}, ir_measures {version("ir_measures")}.
{len(runs)} runs, gzip, from files to the values of every topic of {len(MEASURES)} measures
({", ".join(name for name, *_ in MEASURES)}), in one process and thread, imports not counted.
Shortest of {options.repeats} rounds in which all ways take turns. The largest difference between
any two values of the {len(values[ours]):,} topics of runs is {largest:.1e}.

| | wall | times ours | processor | times ours |
| --- | --- | --- | --- | --- |
{chr(10).join(lines)}
"""
    write_report("evaluation_speed", "Evaluating runs, from files to values", text)


if __name__ == "__main__":
    main()
