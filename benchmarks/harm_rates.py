"""Intervals of harm rates: whole queries for any_forbidden@5, documents for forbidden@5.

    python benchmarks/harm_rates.py

Part `queries`: 200 made-up queries, of which a share has a forbidden document in the first five of
a run. People judge some queries; a machine is absent, useful (right in 90 % of the documents) or
says nothing. Runs return other documents each, and their bad queries are drawn independently, so
that each run is a draw of its own. Part `documents`: every third run of TREC 2019 Deep Learning,
where documents of NIST's label 0 are forbidden.
"""

import glob
import time

import numpy as np
import pandas as pd
from _common import run_parts, write_report
from _intervals import Study, studies_of_deep_learning, true_values
from scipy.stats import t

from skfilterrank.io import read_qrels
from skfilterrank.judgments import RankedPool, draw_sample, estimate

N_QUERIES, N_SHOWN, N_RUNS = 200, 2, 20
JUDGED = 20, 40, 80
MEASURE = "any_forbidden@5"
GAINS = {0: -1, 1: 1, 2: 2, 3: 3}
# Half of the runs have the rate, and half of them half of it.
CELLS = [
    (machine, rate, n) for machine in ("none", "useful") for rate in (0.04, 0.2) for n in JUDGED
]
# So many bad queries that the machine's labels are used.
CELLS += [(machine, 0.6, 120) for machine in ("useful", "chance")]
SHARES = (0.05, 0.1, 0.2, 0.4)
JUDGES = ("llama3-70b_4prompts", "llama3-8b_query-similarity")


def collection(rate, machine, random_state):
    """Arguments, a pool of runs with so many bad queries, people's labels, and true rates."""
    bad = np.zeros((N_RUNS, N_QUERIES), dtype=bool)
    for number, row in enumerate(bad):
        n_bad = round(rate * N_QUERIES / (1 if number < N_RUNS / 2 else 2))
        row[random_state.permutation(N_QUERIES)[:n_bad]] = True
    shape = N_RUNS, N_QUERIES, N_SHOWN
    labels = np.ones(shape, dtype=int)
    labels[:, :, 0] = ~bad
    run, query, place = (each.ravel() for each in np.indices(shape))
    table = pd.DataFrame(
        {
            "qid": [f"q{number:03}" for number in query],
            "docno": [f"r{number}-{other}" for number, other in zip(run, place)],
            "score": -place,
            "label": labels.ravel(),
        }
    )
    runs = {f"r{number}": table[run == number] for number in range(N_RUNS)}
    said = None
    if machine != "none":
        is_right = random_state.uniform(size=len(table)) < (0.9 if machine == "useful" else 0.0)
        guess = random_state.permutation(table["label"].to_numpy())
        said = table.assign(label=np.where(is_right, table["label"], guess))
    given = {"machine_qrels": said, "runs": runs, "pool": table[["qid", "docno"]]}
    labels = table.set_index(["qid", "docno"])["label"]
    return given, RankedPool.read(**given), labels, bad.mean(axis=1)


def held(given, pool, labels, true, n_judged, seed):
    """Means of one sample: do intervals hold, and how wide are they?"""
    how = {"measures": MEASURE, "unit": "query", "gains": GAINS}
    sample = draw_sample(None, pool, **how, n_total=n_judged, random_state=seed)
    places = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
    sample["label"] = labels.reindex(places).to_numpy()
    found = estimate(sample, **given, **how)
    frame, pairs = found.to_frame(), found.compare(correction=None)
    gap = true[pairs.first] - true[pairs.second]
    inside = (frame["low"] <= true + 1e-12) & (true - 1e-12 <= frame["high"])
    of_student = t.ppf(0.975, n_judged - 1) * frame["standard_error"]
    is_near = (frame["value"] - true).abs() <= of_student + 1e-12
    own = np.arange(len(true)) < len(true) / 2
    return {
        "exact": found.results[MEASURE].rates is not None,
        "coverage": inside[own].mean(),
        "Student's": is_near[own].mean(),
        "of half the rate": inside[~own].mean(),
        "Student's ": is_near[~own].mean(),
        "of differences": ((pairs.low <= gap + 1e-12) & (gap - 1e-12 <= pairs.high)).mean(),
        "without width": (frame["high"] == frame["low"]).mean(),
        "half-width": (frame["high"] - frame["low"])[own].mean() / 2,
        "of differences ": (pairs.high - pairs.low).mean() / 2,
    }


def of_queries(args):
    """Coverage for rates of whole queries."""
    rows, begin = [], time.process_time()
    n_samples = -(-2 * args.repetitions // N_RUNS)
    for machine, rate, n_judged in CELLS:
        random_state = np.random.RandomState(0)
        made = [collection(rate, machine, random_state) for _ in range(2)]
        found = [held(*made[i % 2], n_judged=n_judged, seed=i) for i in range(n_samples)]
        key = {"machine": machine, "rate": rate, "judged": n_judged}
        rows.append(key | dict(pd.DataFrame(found).astype(float).mean()))
        print(rows[-1], f"{time.process_time() - begin:.0f} s", flush=True)
    text = (
        f"{N_QUERIES} queries, {N_RUNS} runs with lists of {N_SHOWN} documents, {n_samples} "
        f"samples of queries: {args.repetitions} draws for each of two rates, as runs have bad "
        "queries of their own. Nominal 95 %, for these queries. `rate`: of half of the runs; the "
        "others have half of it. `exact`: share of the samples with exact intervals. "
        "`Student's`: coverage of plain ones. `without width`: share without any.\n\n"
        + _as_text(rows)
    )
    write_report("harm_rates", "Intervals of rates of queries with a forbidden document", text)


def of_documents(args):
    """Coverage of the share of forbidden documents by samples of documents."""
    folder, measure = args.data / "trec-dl2019-llm", "forbidden@5"
    qrels = read_qrels(folder / "qrels.txt.gz").astype({"qid": str, "docno": str})
    runs = sorted(glob.glob(f"{folder}/runs/*.gz"))[::3]
    rows = []
    for judge, _, study, _ in studies_of_deep_learning(args.data, JUDGES, ("dcg@10",)):
        true = true_values(runs, qrels, (measure,), GAINS, study.pool.runs)(measure)
        labels = qrels.set_index(["qid", "docno"])["label"]
        study = Study(study.pool, labels, {measure: true}.get)
        for share in SHARES:
            seeds = range(args.documents)
            (row,) = study.figures((measure,), GAINS, "differences", share, seeds)
            shown = ("labels", "coverage", "least", "of differences", "half-width", "bias")
            rows.append({"judge": judge, "share": share} | {name: row[name] for name in shown})
            print(rows[-1], flush=True)
    text = (
        f"TREC 2019 Deep Learning, {len(runs)} runs, {args.documents} samples of documents, "
        f"nominal 95 %. Documents of label 0 are forbidden; true values are {true.min():.3f} to "
        f"{true.max():.3f}. `least`: coverage of the worst run.\n\n" + _as_text(rows)
    )
    write_report("forbidden_documents", "Intervals of the share of forbidden documents", text)


def _as_text(rows):
    table = pd.DataFrame(rows).to_string(index=False, float_format="{:.3f}".format)
    return f"```\n{table}\n```"


if __name__ == "__main__":
    run_parts(
        __doc__, {"queries": of_queries, "documents": of_documents}, repetitions=500, documents=10
    )
