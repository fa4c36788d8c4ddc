"""Intervals where queries have few relevant documents, with a useful and a useless machine.

    python benchmarks/few_relevant.py --repetitions 20

Made-up collections of 30 queries with 40 documents each, of which 1, 2, 4 or 8 are relevant. Six
runs rank by the truth and noise. The machine sees the truth and noise, too, or gives each document
one of three labels at random. Each repetition makes a new collection and draws one sample of it.
"""

import numpy as np
import pandas as pd
from _common import run_parts, write_report

from skfilterrank.judgments import draw_sample, estimate
from skfilterrank.metrics import evaluate_runs

N_QUERIES, N_DOCUMENTS = 30, 40
NOISE = 0.3, 0.7, 0.9, 1.0, 1.5, 3.0
RELEVANT, MACHINES, SHARES = (1, 2, 4, 8), ("useful", "useless"), (0.1, 0.2, 0.4)
MEASURES = ["dcg@10", "ndcg@10", "ap"]


def collection(n_relevant, machine, random_state):
    """People's labels of all documents, a machine's labels, and runs."""
    shape = N_QUERIES, N_DOCUMENTS
    quality = random_state.normal(size=shape)
    place = (-quality).argsort(axis=1).argsort(axis=1)
    query, number = np.indices(shape)
    table = pd.DataFrame(
        {
            "qid": [f"q{each}" for each in query.ravel()],
            "docno": [f"d{each}-{other}" for each, other in zip(query.ravel(), number.ravel())],
            "label": (place < n_relevant).ravel().astype(int),
        }
    )
    said = random_state.randint(0, 3, size=shape)
    if machine == "useful":
        seen = quality + random_state.normal(scale=0.5, size=shape)
        rank = (-seen).argsort(axis=1).argsort(axis=1)
        said = (rank < n_relevant).astype(int) + (rank < 3 * n_relevant)
    runs = {
        f"noise {sd}": table[["qid", "docno"]].assign(
            score=(quality + random_state.normal(scale=sd, size=shape)).ravel()
        )
        for sd in NOISE
    }
    return table, table.assign(label=said.ravel()), runs


def held(people, machine, runs, share, seed):
    """Figures of one sample, a row for each measure."""
    true = evaluate_runs(people, runs, MEASURES).means
    sample = draw_sample(machine, runs, MEASURES, n_total=share, random_state=seed)
    sample = sample.drop(columns="label").merge(people, on=["qid", "docno"])
    found = estimate(sample, runs, MEASURES, machine_qrels=machine)
    rows = []
    for measure in MEASURES:
        own, pairs = found.to_frame().loc[measure], found.compare(measure, correction=None)
        values = true[measure].reindex(own.index).to_numpy()
        gap = values[pairs.first] - values[pairs.second]
        rows.append(
            {
                "measure": measure,
                "coverage": ((own["low"] <= values) & (values <= own["high"])).mean(),
                "of differences": ((pairs.low <= gap) & (gap <= pairs.high)).mean(),
                "half-width": (own["high"] - own["low"]).mean() / 2,
                "bias": (own["value"] - values).mean(),
            }
        )
    return rows


def few_relevant(args):
    """Report on each number of relevant documents, machine and share."""
    rows = []
    for n_relevant in RELEVANT:
        for machine in MACHINES:
            for share in SHARES:
                cell = {"relevant": n_relevant, "machine": machine, "judged": share}
                for seed in range(args.repetitions):
                    random_state = np.random.RandomState(seed)
                    people, said, runs = collection(n_relevant, machine, random_state)
                    rows += [cell | row for row in held(people, said, runs, share, seed)]
    table = pd.DataFrame(rows).groupby(["measure", "relevant", "machine", "judged"], sort=False)
    table = table.mean().reset_index().sort_values("measure", kind="stable")
    text = table.to_string(index=False, float_format="{:.3f}".format)
    parts = []
    for name, measures in (("ratios", ["ndcg@10", "ap"]), ("sums", ["dcg@10"])):
        for what in ("coverage", "of differences"):
            cells = table.loc[table["measure"].isin(measures), what]
            parts.append(
                f"* {what} of {name}: {100 * cells.min():.1f} to {100 * cells.max():.1f} %, "
                f"{np.count_nonzero(cells < 0.92)} of {len(cells)} below 92 %"
            )
    write_report(
        "few_relevant",
        "Intervals where queries have few relevant documents",
        f"{N_QUERIES} made-up queries, {N_DOCUMENTS} documents each, {len(NOISE)} runs; "
        f"{args.repetitions} collections and samples for each row. Nominal 95 %, for these "
        "queries. `relevant`: relevant documents of each query; `judged`: share of the documents; "
        "`coverage`: share of the true values in their intervals; `bias`: mean error of the "
        "values.\n\n" + "\n".join(parts) + f"\n\n```\n{text}\n```",
    )


if __name__ == "__main__":
    run_parts(__doc__, {"few_relevant": few_relevant}, repetitions=20)
