"""Widths of intervals that are planned before anybody judged, and those that are reached.

37 runs of TREC 2019 Deep Learning with seven language models and without a machine, and every
fourth run of TREC-COVID, round 1, with a machine and without. `draw_sample(half_width=)` plans from
labels that it makes up; then samples of the same sizes are drawn, with the labels of people.

    python benchmarks/planned_widths.py --repetitions 2
"""

import glob

import numpy as np
import pandas as pd
from _common import arguments, write_report

from skfilterrank.io import read_qrels
from skfilterrank.judgments import RankedPool, draw_sample, estimate, pseudo_qrels

MEASURES = ("dcg@10", "ndcg@10", "ap")
ALONE = "people alone"


def collections(data):
    """Name, runs, people's labels and machines of each collection."""
    folder = data / "trec-dl2019-llm"
    models = {
        path.rsplit("/", 1)[1].removesuffix(".txt.gz"): path
        for path in sorted(glob.glob(f"{folder}/llm-qrels/*.txt.gz"))
    }
    for name, place, step in (
        ("DL 2019", folder, 1),
        ("TREC-COVID", data / "trec-covid-round1", 4),
    ):
        qrels = read_qrels(place / "qrels.txt.gz").astype({"qid": str, "docno": str})
        qrels = qrels[qrels["label"] >= 0]
        runs = sorted(glob.glob(f"{place}/runs/*.gz"))[::step]
        machines = models if step == 1 else {"pseudo-qrels": pseudo_qrels(runs)}
        yield name, runs, qrels, {ALONE: None, **machines}


def mean_widths(estimates, measure):
    """Mean half-widths of values and of differences."""
    frame, pairs = estimates.to_frame().loc[measure], estimates.compare(correction=None)
    return {
        "values": (frame["high"] - frame["low"]).mean() / 2,
        "differences": (pairs.high - pairs.low).mean() / 2,
    }


def compared(pool, qrels, measure, gains, seeds):
    """Rows of one pool and measure: what was planned for each size, and what was reached."""
    labels = qrels.set_index(["qid", "docno"])["label"]
    plan = draw_sample(None, pool, measure, half_width=1e9, gains=gains, random_state=0)
    for n_total, planned in plan.attrs["half_widths"].items():
        reached = []
        for seed in seeds:
            sample = draw_sample(None, pool, measure, n_total=n_total, random_state=seed)
            pairs = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
            sample["label"] = labels.reindex(pairs).to_numpy(dtype=float)
            reached.append(mean_widths(estimate(sample, pool, measure), measure))
        reached = pd.DataFrame(reached).mean()
        for what, width in planned[measure].items():
            yield {
                "measure": measure,
                "labels": n_total,
                "of": what,
                "planned": width,
                "reached": reached[what],
                "ratio": width / reached[what],
            }


def report(table):
    """Write the rows that there are."""
    lines = []
    for measure, rows in table.groupby("measure", sort=False):
        for who, mine in (
            ("with a machine", rows["judge"] != ALONE),
            (ALONE, rows["judge"] == ALONE),
        ):
            ratio = rows.loc[mine, "ratio"]
            if len(ratio):
                low, middle, high = ratio.quantile([0.1, 0.5, 0.9])
                lines.append(
                    f"* {measure}, {who}: median {middle:.2f}, the middle 80 % of {len(ratio)} "
                    f"rows {low:.2f} to {high:.2f}, all {ratio.min():.2f} to {ratio.max():.2f}"
                )
    text = (
        "Mean half-widths of 95 % intervals, planned by `draw_sample(half_width=)` before anybody "
        "judged, and reached by people's labels, means over samples. `ratio`: planned over "
        "reached; below 1 the plan was too hopeful. Shares of the documents are 5, 10, 20, 40 and "
        "70 %. The weights by which labels are made up were chosen by looking at three models of "
        "DL 2019 and at the widths reached by people alone there: the table is partly no test of "
        "them. It has the collections and models that were finished.\n\nRatios:\n\n"
        + "\n".join(lines)
        + "\n\n```\n"
        + table.to_string(index=False, float_format="{:.3f}".format)
        + "\n```"
    )
    write_report("planned_widths", "Planned and reached widths of intervals", text)


def main():
    args = arguments(__doc__, repetitions=2)
    rows = []
    for name, runs, qrels, machines in collections(args.data):
        for judge, machine in machines.items():
            pool = RankedPool.read(machine, runs, pool=qrels)
            grades = np.unique(qrels["label"]).tolist()
            gains = None if machine is not None else dict(zip(grades, grades))
            for measure in MEASURES:
                found = compared(pool, qrels, measure, gains, range(args.repetitions))
                rows += [{"collection": name, "judge": judge} | row for row in found]
                print(judge, measure, flush=True)
            report(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
