"""Intervals from a sample of labels on TREC-COVID and MQ2007: speed, coverage, width.

TREC-COVID round 1: 143 runs; the machine is none that read a document: `pseudo_qrels` of the runs
themselves, a circular judge. MQ2007: the part S5; the runs are its 46 features and a ridge
regression that learned from S4; the machine is gradient boosting that learned from S1 to S3.

    python benchmarks/intervals_other_collections.py --repetitions 300

Finished cells are kept in results/intervals_other_collections.csv; with `--resume` they are not
computed again.
"""

import glob
import time

import numpy as np
import pandas as pd
from _common import RESULTS, arguments, write_report
from _intervals import Study, in_rounds, true_values
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from skfilterrank.estimation import RankedPool, estimate
from skfilterrank.io import read_letor, read_qrels, read_run
from skfilterrank.judgments import pseudo_qrels

CELLS = RESULTS / "intervals_other_collections.csv"
KEY = ["collection", "judge", "share"]
SHARES = {"TREC-COVID": 0.2, "MQ2007": 0.1}
MEASURE = "dcg@10"
ALONE = "people alone"


def trec_covid(data):
    """Runs, labels and machines of TREC-COVID."""
    folder = data / "trec-covid-round1"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    qrels = qrels[qrels["label"] >= 0].drop_duplicates(["qid", "docno"])
    paths = sorted(glob.glob(f"{folder}/runs/*"))
    runs = {path.rsplit("/", 1)[1].removesuffix(".gz"): read_run(path) for path in paths}
    return runs, qrels, {ALONE: None, "pseudo-qrels": pseudo_qrels(runs)}


def mq2007(data):
    """Rankings by single features and by a model, labels, and another model's labels."""
    parts = [read_letor(data / "mq2007" / f"S{i}.txt.gz", n_features=46) for i in range(1, 6)]
    test = parts[4]
    rows = pd.DataFrame(
        {"qid": test.groups.astype(str), "docno": np.arange(len(test.y)).astype(str)}
    )
    scores = {f"feature {i + 1}": test.X[:, i] for i in range(46)}
    scores["ridge"] = Ridge().fit(parts[3].X, parts[3].y).predict(test.X)
    X, y = (np.concatenate([getattr(part, name) for part in parts[:3]]) for name in "Xy")
    guess = HistGradientBoostingRegressor(random_state=0).fit(X, y).predict(test.X).clip(0)
    runs = {name: rows.assign(score=score) for name, score in scores.items()}
    qrels = rows.assign(label=test.y.astype(int))
    return runs, qrels, {ALONE: None, "boosting": rows.assign(label=guess)}


def speed(study, measures=("dcg@10", "ndcg@10", "ap"), share=0.2):
    """Lines about the time of one estimate and all pairs."""
    for measure in measures:
        sample, _ = study.sample((measure,), None, "differences", share, 0)
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            pairs = estimate(sample, study.pool, measure).compare()
            seconds.append(time.process_time() - begin)
        yield (
            f"* {measure}: {len(sample):,} labels, {len(pairs.first):,} pairs with intervals: "
            f"{min(seconds):.1f} s of one processor, the best of three"
        )


def main():
    args = arguments(__doc__, repetitions=300, resume=False)
    collections = {"TREC-COVID": trec_covid(args.data), "MQ2007": mq2007(args.data)}
    studies = {}
    for name, (runs, qrels, machines) in collections.items():
        labels = qrels.set_index(["qid", "docno"])["label"]
        for judge, machine in machines.items():
            pool = RankedPool.read(machine, runs, pool=qrels)
            truth = true_values(runs, qrels, (MEASURE,), None, pool.runs)
            studies[name, judge] = Study(pool, labels, truth)
    lines = list(speed(studies["TREC-COVID", "pseudo-qrels"]))

    def figures(name, judge, share, seeds):
        return studies[name, judge].figures((MEASURE,), None, "differences", share, seeds)

    cells = [(name, judge, SHARES[name]) for name, judge in studies]
    in_rounds(
        CELLS,
        KEY,
        cells,
        args.repetitions,
        figures,
        lambda table: report(table, lines),
        resume=args.resume,
    )


def report(done, lines):
    """Write what there is."""
    text = "\n".join(
        [
            "## Speed",
            "",
            "TREC-COVID, 143 runs, 20 % of the labels:",
            "",
            *lines,
            "",
            "## Coverage",
            "",
            'DCG@10, samples by `aim="differences"`; columns as in intervals_dl2019.md.',
            "",
            "```",
            done.to_string(index=False, float_format="{:.3f}".format),
            "```",
        ]
    )
    write_report("intervals_other_collections", "Intervals on other collections", text)


if __name__ == "__main__":
    main()
