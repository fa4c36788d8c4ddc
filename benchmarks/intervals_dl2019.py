"""Intervals from a sample of people's labels and machine labels: coverage, width, order.

37 runs of TREC 2019 Deep Learning, 9,260 passages judged by NIST and by seven language models. Each
cell of the tables draws samples, takes NIST's labels of them, and asks how often the intervals hold
the values by all of NIST's labels, how wide they are, and how the order agrees with the true one.

    python benchmarks/intervals_dl2019.py --repetitions 300

Finished cells are kept in results/intervals_dl2019.csv; with `--resume` they are not made again.
All cells get 50 repetitions before one gets more.
"""

import glob
from functools import cache, partial

import numpy as np
import pandas as pd
from _common import RESULTS, arguments, write_report
from _intervals import Study, in_rounds, true_values

from skfilterrank.estimation import RankedPool
from skfilterrank.io import read_qrels
from skfilterrank.judgments import LabelPredictor, pseudo_qrels

CELLS = RESULTS / "intervals_dl2019.csv"
KEY = ["judge", "gains", "measures", "design", "share"]
GAINS = {"labels": None, "2 and 3": {0: 0, 1: 0, 2: 1, 3: 1}, "0 is -1": {0: -1, 1: 1, 2: 2, 3: 3}}
OTHERS = (
    ("labels", "ndcg@10 rbp"),
    ("2 and 3", "precision@10 ap"),
    ("0 is -1", "ndcg_f@10"),
)
BEST = "llama3-70b_4prompts"
# Share of the documents whose labels `LabelPredictor` learns from.
LEARNED = 0.1


def judges(folder, qrels, runs):
    """Labels of every judge by name, and some that no one should trust."""
    found = {}
    for path in sorted(glob.glob(f"{folder}/llm-qrels/*.txt.gz")):
        found[path.rsplit("/", 1)[1].removesuffix(".txt.gz")] = path
    rng = np.random.RandomState(0)
    chance = qrels.assign(label=rng.randint(0, 4, len(qrels)))
    first = RankedPool.read(None, runs[:1], pool=qrels)
    top = np.zeros(len(first))
    top[first.row[first.place <= 10]] = 1.0
    return {
        "people alone": None,
        **found,
        "LabelPredictor": partial(predicted, folder, qrels),
        "all seven": dict(found),
        "chance": chance,
        "top 10 of a run": first.index.to_frame(index=False).assign(label=top),
        "runs' own scores": partial(pseudo_qrels, runs),
    }


def predicted(folder, qrels):
    """Labels from those of a tenth of the documents; of that tenth, from those of another."""
    texts = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=False)
    table = qrels[["qid", "docno", "label"]].astype({"label": float})
    table = table.merge(texts[["docno", "text"]], how="left")
    part = np.random.RandomState(0).permutation(len(table)) / len(table)
    halves = [
        LabelPredictor(one_class="pool", unjudged_topic="pool", output="soft").fit_transform(
            table.assign(label=table["label"].where(mine))
        )["label"]
        for mine in (part < LEARNED, part >= 1 - LEARNED)
    ]
    return table[["qid", "docno"]].assign(label=halves[0].where(part >= LEARNED, halves[1]))


def plan(judges):
    """Cells in the order of their weight: judge, gains, measures, design, share."""
    dcg = "labels", "dcg@10"
    designs = [
        (design, share) for share in (0.1, 0.2, 0.05) for design in ("differences", "uniform")
    ]
    useless = ("chance", "top 10 of a run", "runs' own scores")
    rest = [judge for judge in judges if judge not in (BEST, "people alone", *useless)]
    for judge in (BEST, "people alone"):
        for design in designs[:2]:
            yield judge, *dcg, *design
    for judge in useless:
        yield judge, *dcg, *designs[0]
    for which in OTHERS:
        yield BEST, *which, *designs[0]
    for design in designs[2:]:
        yield BEST, *dcg, *design
    for judge in rest:
        yield judge, *dcg, *designs[0]
    for design in designs[1:]:
        for which in OTHERS:
            yield BEST, *which, *design
    for which in OTHERS:
        for judge in rest:
            yield judge, *which, *designs[0]


def main():
    args = arguments(__doc__, repetitions=300, resume=False)
    folder = args.data / "trec-dl2019-llm"
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    labels = qrels.set_index(["qid", "docno"])["label"]
    machines = judges(folder, qrels, runs)

    @cache
    def pool_of(judge):
        machine = machines[judge]
        return RankedPool.read(machine() if callable(machine) else machine, runs, pool=qrels)

    @cache
    def study(judge, gains, names):
        return Study(pool_of(judge), labels, truth(gains, names))

    @cache
    def truth(gains, names):
        return true_values(runs, qrels, names, GAINS[gains], pool_of(BEST).runs)

    def figures(judge, gains, measures, design, share, seeds):
        names = tuple(measures.split())
        return study(judge, gains, names).figures(names, GAINS[gains], design, share, seeds)

    cells = list(plan(machines))
    in_rounds(CELLS, KEY, cells, args.repetitions, figures, report, resume=args.resume)


def report(done):
    """Write the tables as they stand."""
    columns = [name for name in done if name not in ("gains", "measures", "measure")]
    parts = []
    for (measure, gains), table in done.groupby(["measure", "gains"], sort=False):
        parts.append(f"## {measure}, gains: {gains}\n\n```\n")
        parts.append(table[columns].to_string(index=False, float_format="{:.3f}".format))
        parts.append("\n```\n")
    text = (
        "Means over repetitions and 37 runs (or 666 pairs), nominal 95 %. `no model`: half-width "
        "of people's labels of the same sample, divided by their probabilities, without any "
        "prediction, with quantiles found in the same way, and with the normal one. `tau of "
        "values`: of the unbiased values with the truth; `tau of order`: of what `order` ranks "
        "by. `people alone` draws and estimates without any machine. `LabelPredictor` learned "
        "from a tenth of the labels, none of which it predicts. `chance`, the `top 10 of a run` "
        "and the `runs' own scores` (pseudo-qrels) are judges to distrust.\n\n" + "\n".join(parts)
    )
    write_report("intervals_dl2019", "Intervals from mostly predicted labels", text)


if __name__ == "__main__":
    main()
