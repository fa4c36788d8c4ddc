"""Intervals of the 143 runs of TREC-COVID round 1 from a sample of labels: speed and coverage.

The machine is none that read a document: `pseudo_qrels` of the runs themselves, a circular judge.
All judged documents are the pool.
"""

import glob
import time

import pandas as pd
from _common import arguments, write_report
from scipy.stats import kendalltau

from skfilterrank.estimation import RankedPool, draw_sample, estimate
from skfilterrank.io import read_qrels, read_run
from skfilterrank.judgments import pseudo_qrels
from skfilterrank.trec import evaluate_runs

SHARE = 0.2


def main():
    args = arguments(__doc__, repetitions=30)
    folder = args.data / "trec-covid-round1"
    paths = sorted(glob.glob(f"{folder}/runs/*"))
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    qrels = qrels[qrels["label"] >= 0].drop_duplicates(["qid", "docno"])
    runs = {path.rsplit("/", 1)[1].removesuffix(".gz"): read_run(path) for path in paths}
    guessed = pseudo_qrels(runs)
    pools = {
        "people alone": RankedPool.read(runs, None, pool=qrels),
        "pseudo-qrels": RankedPool.read(runs, guessed, pool=qrels),
    }
    labels = qrels.set_index(["qid", "docno"])["label"]

    def draw(pool, measures, seed):
        sample = draw_sample(pool, None, measures, n_select=SHARE, random_state=seed)
        pairs = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
        return sample.assign(label=labels.reindex(pairs).to_numpy())

    lines = ["## Speed", ""]
    for measure in ("dcg@10", "ndcg@10", "ap"):
        pool = pools["pseudo-qrels"]
        sample = draw(pool, measure, 0)
        begin, processor = time.perf_counter(), time.process_time()
        estimates = estimate(pool, sample, measure)
        pairs = estimates.compare()
        seconds, processor = time.perf_counter() - begin, time.process_time() - processor
        lines.append(
            f"* {measure}: {len(sample):,} labels, {len(pairs.first):,} pairs with intervals: "
            f"{processor:.1f} s of one processor ({seconds:.1f} s on the clock)"
        )
    lines += ["", f"## Coverage, {100 * SHARE:g} % of the labels", ""]
    truth = evaluate_runs(runs, qrels, "dcg@10").groupby("run", sort=False)["dcg@10"].mean()
    rows = []
    for name, pool in pools.items():
        for seed in range(args.repetitions):
            estimates = estimate(pool, draw(pool, "dcg@10", seed), "dcg@10")
            own = estimates.to_frame().loc["dcg@10"]
            true = truth.loc[own.index]
            order = estimates.results["dcg@10"].order_values
            pairs = estimates.compare()
            gap = true.to_numpy()[pairs.first] - true.to_numpy()[pairs.second]
            rows.append(
                {
                    "judge": name,
                    "coverage": ((own["low"] <= true) & (true <= own["high"])).mean(),
                    "of differences": ((pairs.low <= gap) & (gap <= pairs.high)).mean(),
                    "half-width": (own["high"] - own["low"]).mean() / 2,
                    "tau of order": kendalltau(order, true).statistic,
                }
            )
    table = pd.DataFrame(rows).groupby("judge", sort=False).mean()
    lines += ["```", table.to_string(float_format="{:.3f}".format), "```"]
    lines.append(f"\nDCG@10, {args.repetitions} repetitions.")
    write_report("intervals_trec_covid", "Intervals of TREC-COVID runs", "\n".join(lines))


if __name__ == "__main__":
    main()
