"""Intervals from a sample of people's labels and machine labels: coverage, width, order.

37 runs of TREC 2019 Deep Learning, 9,260 passages judged by NIST and by seven language models. Each
cell of the tables draws samples, takes NIST's labels of them, and asks how often the intervals hold
the values by all of NIST's labels, how wide they are, and how the order agrees with the true one.

    python benchmarks/intervals_dl2019.py --repetitions 300

Finished cells are kept in results/intervals_dl2019.csv, and not computed again.
"""

import glob
import time

import numpy as np
import pandas as pd
from _common import RESULTS, arguments, write_report
from scipy.stats import kendalltau

from skfilterrank.estimation import RankedPool, draw_sample, estimate
from skfilterrank.estimation._calibration import Prediction
from skfilterrank.estimation._sums import SumOfLabels
from skfilterrank.estimation._variance import covariance_of_total
from skfilterrank.io import read_qrels
from skfilterrank.trec import evaluate_runs

CELLS = RESULTS / "intervals_dl2019.csv"
KEY = ["judge", "gains", "measures", "design", "share"]
STRONG = {0: 0, 1: 0, 2: 1, 3: 1}
FORBIDDEN = {0: -1, 1: 1, 2: 2, 3: 3}
GAINS = {"labels": None, "2 and 3": STRONG, "0 is -1": FORBIDDEN}
BEST_JUDGE = "llama3-70b_4prompts"
SHARES = (0.05, 0.1, 0.2)


def judges(folder, qrels, runs):
    """Labels of every judge by name, and some that no one should trust."""
    found = {}
    for path in sorted(glob.glob(f"{folder}/llm-qrels/*.txt.gz")):
        found[path.rsplit("/", 1)[1].removesuffix(".txt.gz")] = path
    rng = np.random.RandomState(0)
    chance = qrels.assign(label=rng.randint(0, 4, len(qrels)))
    # Circular: as the first run ranks.
    first = RankedPool.read(runs[:1], None, pool=qrels)
    score = np.zeros(len(first))
    score[first.row] = 1.0 / first.place
    circular = first.index.to_frame(index=False)
    circular["label"] = np.digitize(score, [0.01, 0.03, 0.1])
    return {
        "people alone": None,
        **found,
        "all seven": dict(found),
        "chance": chance,
        "circular": circular,
    }


def unmodelled(pool, sample, measure, gains):
    """Half-width of people's labels alone, divided by their probabilities and nothing else."""
    from skfilterrank._core.gains import as_gains
    from skfilterrank._core.measure_names import parse_measure

    label = as_gains(sample["label"].to_numpy(), gains)
    grades, codes = np.unique(np.append(label, 0.0), return_inverse=True)
    form = SumOfLabels(parse_measure(measure), pool, grades)
    if not form.is_linear:
        return np.nan
    nothing = np.tile((grades == 0.0).astype(float), (len(pool), 1))
    rows = pool.rows_of(pd.MultiIndex.from_frame(sample[["qid", "docno"]]), "sample")
    changes = form.expand(Prediction.sure(pool, nothing)).changes(rows, codes[:-1])
    covariance, _ = covariance_of_total(
        changes / len(pool.topics), sample["inclusion_probability"].to_numpy()
    )
    return 1.96 * np.sqrt(np.diag(covariance)).mean()


def cell(pool, labels, truth, measures, gains, design, share, n_repetitions):
    """Figures of one cell, a row for each measure."""
    found = {measure: [] for measure in measures}
    begin = time.perf_counter()
    for seed in range(n_repetitions):
        sample = draw_sample(
            pool, None, measures, n_select=share, aim=design, gains=gains, random_state=seed
        )
        pairs = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
        sample["label"] = labels.reindex(pairs).to_numpy()
        estimates = estimate(pool, sample, measures, gains=gains)
        values = estimates.to_frame()
        for measure in measures:
            own, true = values.loc[measure], truth[measure].to_numpy()
            pairs = estimates.compare(measure)
            gap = true[pairs.first] - true[pairs.second]
            order = estimates.results[measure].order_values
            found[measure].append(
                {
                    "coverage": ((own["low"] <= true) & (true <= own["high"])).mean(),
                    "of differences": ((pairs.low <= gap) & (gap <= pairs.high)).mean(),
                    "half-width": (own["high"] - own["low"]).mean() / 2,
                    "of differences ": (pairs.high - pairs.low).mean() / 2,
                    "bias": (own["value"] - true).mean(),
                    "rmse": np.sqrt(((own["value"] - true) ** 2).mean()),
                    "tau of values": kendalltau(own["value"], true).statistic,
                    "tau of order": kendalltau(order, true).statistic,
                    "no model": unmodelled(pool, sample, measure, gains),
                    "predicted": _predicted(estimates, measure, share),
                }
            )
    seconds = (time.perf_counter() - begin) / n_repetitions
    rows = []
    for measure, each in found.items():
        table = pd.DataFrame(each)
        rows.append(
            {
                "measure": measure,
                "labels": len(sample),
                "repetitions": n_repetitions,
                "seconds": seconds,
                **table.mean(),
                "sd of coverage": table["coverage"].std() / np.sqrt(n_repetitions),
            }
        )
    return rows


def _predicted(estimates, measure, share):
    """Labels predicted for half the width that 10 % give; compared with what 20 % give."""
    if share != 0.1:
        return np.nan
    frame = estimates.to_frame().loc[measure]
    width = (frame["high"] - frame["low"]).mean() / 2
    return estimates.labels_needed(measure, half_width=0.6 * width) / estimates.n_possible


def plan(repetitions, others):
    """Cells in the order of their weight: judge, gains, measures, design, share, repetitions."""
    ratios = ("labels", "ndcg@10"), ("2 and 3", "precision@10 ap"), ("0 is -1", "ndcg_f@10")
    ratios = (*ratios, ("labels", "rbp"))
    shares = ((0.1, "differences"), (0.1, "uniform"), (0.2, "differences"), (0.2, "uniform"))
    shares = (*shares, (0.05, "differences"), (0.05, "uniform"))
    for share, design in shares:
        n = repetitions if (share, design) == shares[0] else others
        yield BEST_JUDGE, "labels", "dcg@10", design, share, n
    for share, design in shares[:2]:
        yield "people alone", "labels", "dcg@10", design, share, others
    for gains, measures in ratios:
        yield BEST_JUDGE, gains, measures, shares[0][1], shares[0][0], others
    for judge in ("chance", "circular", "all seven"):
        yield judge, "labels", "dcg@10", "differences", 0.1, others
    for share, design in shares[1:3]:
        for gains, measures in ratios:
            yield BEST_JUDGE, gains, measures, design, share, others
    for judge in (
        "flan-t5-large_4prompts",
        "flan-t5-large_sun-decomposed",
        "llama3-8b_4prompts",
        "llama3-8b_direct",
        "llama3-8b_query-similarity",
        "llama3-8b_sun-decomposed",
    ):
        yield judge, "labels", "dcg@10", "differences", 0.1, others
    for share, design in shares[3:]:
        for gains, measures in ratios:
            yield BEST_JUDGE, gains, measures, design, share, others
    for share, design in shares[2:]:
        yield "people alone", "labels", "dcg@10", design, share, others


def main():
    args = arguments(__doc__, repetitions=300, others=300)
    folder = args.data / "trec-dl2019-llm"
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    labels = qrels.set_index(["qid", "docno"])["label"]
    of_judge = judges(folder, qrels, runs)
    pools, truths = {}, {}
    done = pd.read_csv(CELLS) if CELLS.exists() else pd.DataFrame(columns=KEY)
    for judge, gains, measures, design, share, n in plan(args.repetitions, args.others):
        key = (judge, gains, measures, design, share)
        if (done[KEY] == list(key)).all(axis=1).any():
            continue
        if judge not in pools:
            machine = of_judge[judge]
            pools[judge] = RankedPool.read(runs, machine, pool=qrels)
        names = measures.split()
        if (gains, measures) not in truths:
            values = evaluate_runs(runs, qrels, names, gains=GAINS[gains])
            truths[gains, measures] = values.groupby("run", sort=False).mean()
        truth = truths[gains, measures].loc[list(pools[judge].runs)]
        rows = cell(pools[judge], labels, truth, names, GAINS[gains], design, share, n)
        rows = pd.DataFrame([dict(zip(KEY, key)) | row for row in rows])
        done = rows if done.empty else pd.concat([done, rows])
        done.to_csv(CELLS, index=False, float_format="%.5g")
        report(done)


def report(done):
    """Write the tables as they stand."""
    columns = [
        "judge",
        "design",
        "share",
        "labels",
        "coverage",
        "of differences",
        "half-width",
        "of differences ",
        "bias",
        "rmse",
        "tau of values",
        "tau of order",
        "no model",
        "predicted",
        "repetitions",
    ]
    parts = []
    for (measure, gains), table in done.groupby(["measure", "gains"], sort=False):
        parts.append(f"## {measure}, gains: {gains}\n\n```\n")
        parts.append(table[columns].to_string(index=False, float_format="{:.3f}".format))
        parts.append("\n```\n")
    text = (
        "Means over repetitions and 37 runs (or 666 pairs), nominal 95 %. `no model`: half-width "
        "of people's labels of the same sample, divided by their probabilities, without any "
        "prediction (normal quantile). `tau of values`: of the unbiased values with the truth; "
        "`tau of order`: of what `order` ranks by. `predicted`: share of the labels that should "
        "bring the half-width down to 0.6 of what it is.\n\n" + "\n".join(parts)
    )
    write_report("intervals_dl2019", "Intervals from mostly predicted labels", text)


if __name__ == "__main__":
    main()
