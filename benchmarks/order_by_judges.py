"""Orders of runs with good judges, judges by chance and judges that favour runs.

37 runs of TREC 2019 Deep Learning and every fourth run of TREC-COVID, round 1. Each row draws
samples and compares the order of the plain values, that of the machine's calibrated labels and
that of `Estimates.order` with the order by all labels of people. Without a machine, plain values
are all that there is to compare with.

    python benchmarks/order_by_judges.py --repetitions 10
"""

import glob

import numpy as np
import pandas as pd
from _common import arguments, write_report
from _intervals import Study, true_values
from scipy.sparse import csr_array
from scipy.stats import kendalltau

from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.io import read_qrels
from skfilterrank.judgments import RankedPool, _estimate, estimate, pseudo_qrels
from skfilterrank.judgments._label_model import LabelModel
from skfilterrank.judgments._sum_of_labels import SumOfLabels

MEASURES = ("dcg@10", "ndcg@10", "ap")
SHARES = (0.05, 0.1, 0.2)
ALONE = "people alone"


def judges(qrels, runs, files):
    """Labels by some good judges, by chance, and by judges that favour some runs."""
    rng = np.random.RandomState(0)
    grades = np.unique(qrels["label"])
    chance = qrels.assign(label=rng.choice(grades, len(qrels)))
    half = rng.uniform(size=len(qrels)) < 0.5
    first = RankedPool.read(None, runs[:1], pool=qrels)
    top = np.zeros(len(first))
    top[first.row[first.place <= 10]] = 1.0
    return (
        {ALONE: None}
        | files
        | {
            "half right": qrels.assign(label=np.where(half, qrels["label"], chance["label"])),
            "chance": chance,
            "top 10 of a run": first.index.to_frame(index=False).assign(label=top),
            "runs' own scores": pseudo_qrels(runs),
        }
    )


def collections(data):
    """Name, runs, people's labels and judges of each collection."""
    folder = data / "trec-dl2019-llm"
    files = {
        name: f"{folder}/llm-qrels/{name}.txt.gz"
        for name in ("llama3-70b_4prompts", "llama3-8b_query-similarity")
    }
    for name, place, step, llm in (
        ("DL 2019", folder, 1, files),
        ("TREC-COVID", data / "trec-covid-round1", 4, {}),
    ):
        qrels = read_qrels(place / "qrels.txt.gz").astype({"qid": str, "docno": str})
        qrels = qrels[qrels["label"] >= 0]
        runs = sorted(glob.glob(f"{place}/runs/*.gz"))[::step]
        yield name, runs, qrels, judges(qrels, runs, llm)


def by_machine(pool, measure, sample):
    """Values by judged labels and by a machine's labels, calibrated, of all runs alike."""
    labels = sample["label"].to_numpy()
    grades, codes = np.unique(labels, return_inverse=True)
    form = SumOfLabels(parse_measures(measure)[measure], pool, grades)
    nothing_of_runs = csr_array((len(pool), 0))
    model = LabelModel(pool, nothing_of_runs, form.influential(), use_means=False)
    rows = pool.rows_of(pd.MultiIndex.from_frame(sample[["qid", "docno"]]), "sample")
    weights = sample["inclusion_probability"].to_numpy() ** (-0.5 if form.is_linear else -1.0)
    known = np.full(len(rows), True)
    prediction = model.fit(rows, codes, len(grades), known, weights).predict()
    return form.expand(prediction.with_known(rows, codes)).base.mean(axis=1)


def row(study, measure, share, true, seeds, names):
    """Means over samples, and the distance from the better of some orders."""
    predicted = []

    def spy(values, covariance, steady):
        predicted.append(steady)
        return shrink(values, covariance, steady)

    shrink, _estimate.shrink = _estimate.shrink, spy
    found = []
    for seed in seeds:
        sample, _ = study.sample((measure,), None, "differences", share, seed)
        estimates = estimate(sample, study.pool, measure)
        result, frame = estimates.results[measure], estimates.to_frame()
        # Found when it is asked for, which the spy sees.
        order = result.order_values
        orders = {
            "values": result.values,
            "machine": by_machine(study.pool, measure, sample),
            "predicted": predicted[-1],
            "order": order,
        }
        found.append(
            {name: kendalltau(each, true).statistic for name, each in orders.items()}
            | {"coverage": ((frame["low"] <= true) & (true <= frame["high"])).mean()}
            | {"bias": (result.values - true).mean()}
        )
    _estimate.shrink = shrink
    table = pd.DataFrame(found)
    means = table.mean()
    lost = table["order"] - table[means[names].idxmax()]
    return dict(means) | {"less best": lost.mean(), "se": lost.std() / np.sqrt(len(lost))}


def in_words(table):
    """How far the order is from the better of the others."""
    lost, gained = table["less best"], table["order"] - table["values"]
    worse = (lost < -2 * table["se"]).sum()
    return (
        f"`order` is {lost.min():+.3f} to {lost.max():+.3f} from the better one, "
        f"{lost.mean():+.3f} in the mean of {len(table)} rows, and worse by more than two "
        f"standard errors in {worse}; "
        f"{gained.min():+.3f} to {gained.max():+.3f} from the plain values"
    )


def report(table):
    """Write the rows that there are."""
    parts = {"With a judge": table["judge"] != ALONE, "People alone": table["judge"] == ALONE}
    summary = "\n".join(f"* {name}: {in_words(table[mine])}" for name, mine in parts.items())
    text = (
        "Kendall's tau with the order by all labels, means over samples. `values`: of the unbiased "
        "values; `machine`: of those by judged and calibrated machine labels; `predicted`: the "
        "same where the sample also says how much each run is favoured; `order`: of what "
        "`Estimates.order` ranks by. `less best`: `order` less the better of values and machine, "
        "which nobody knows beforehand, with its standard error. `coverage`: share of the true "
        "values in their 95 % intervals; `bias`: mean error of the values.\n\n"
        f"{summary}\n\n```\n" + table.to_string(index=False, float_format="{:.3f}".format) + "\n```"
    )
    write_report("order_by_judges", "Orders with good and bad judges", text)


def main():
    args = arguments(__doc__, repetitions=10)
    rows = []
    for name, runs, qrels, of_collection in collections(args.data):
        labels = qrels.set_index(["qid", "docno"])["label"]
        for judge, machine in of_collection.items():
            pool = RankedPool.read(machine, runs, pool=qrels)
            study = Study(pool, labels, None)
            names = ["values"] if judge == ALONE else ["values", "machine"]
            for measure in MEASURES:
                true = true_values(runs, qrels, (measure,), None, pool.runs)(measure)
                for share in SHARES:
                    key = {"collection": name, "judge": judge, "measure": measure, "share": share}
                    seeds = range(args.repetitions)
                    rows.append(key | row(study, measure, share, true, seeds, names))
                    print(rows[-1], flush=True)
            report(pd.DataFrame(rows))


if __name__ == "__main__":
    main()
